/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/limits.h"

#include "util/clock.h"
#include "util/fork.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/shortage.h"

#include <errno.h>
#include <string.h>

enum {
    DEPTH_CAP = 16384, /* a deeper queue gains no speed and costs memory in every queue pair */
    CQ_CAP = 1 << 18,
    SGE_CAP = 64,
    INLINE_CAP = 1024,
    INLINE_ADVISED = 256,
    LARGE_ADVISED = 16384,
    READS_CAP = 254, /* 8 bits on the wire; 255 means "maximum" to librdmacm */
    UNCERTAIN_MS = 1000,
    CALLER_DATA = 56,
    CALLEE_DATA = 148, /* Accept could carry more on some transports, Reject not */
};

static uint32_t clamp(uint64_t value, uint32_t cap)
{
    return value < cap ? (uint32_t)value : cap;
}

/* Judges by errno why a creation failed. Returns 0: something smaller may work; or a negative errno. */
static int refused(struct nd_limits *limits)
{
    if (errno == EMFILE || errno == ENFILE)
        return -errno;
    limits->uncertain |= errno_is_shortage(errno);
    return 0;
}

static bool try_qp(const struct nd_port *port, struct ibv_cq *cq, const struct nd_limits *limits)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = { .max_send_wr = limits->max_initiator_depth + ND_QP_RESERVE,
            .max_recv_wr = limits->max_receive_depth,
            .max_send_sge = limits->max_initiator_sge,
            .max_recv_sge = limits->max_receive_sge,
            .max_inline_data = limits->max_inline },
        .qp_type = IBV_QPT_RC,
    };
    struct ibv_qp *qp = port->verbs->create_qp(port->pd, &init);

    if (!qp)
        return false;
    port->verbs->destroy_qp(qp);
    return true;
}

/* Halves inline data and entries beyond the usual needs first, then the depths, which cost a device most. */
static bool shrink(struct nd_limits *limits)
{
    if (limits->max_inline > INLINE_ADVISED)
        limits->max_inline /= 2;
    else if (limits->max_initiator_sge > 16)
        limits->max_initiator_sge /= 2;
    else if (limits->max_initiator_depth > 1024)
        limits->max_initiator_depth /= 2;
    else if (limits->max_receive_depth > 1024)
        limits->max_receive_depth /= 2;
    else if (limits->max_inline)
        limits->max_inline /= 2;
    else if (limits->max_initiator_depth > 1)
        limits->max_initiator_depth /= 2;
    else if (limits->max_receive_depth > 1)
        limits->max_receive_depth /= 2;
    else if (limits->max_initiator_sge > 1)
        limits->max_initiator_sge /= 2;
    else if (limits->max_receive_sge > 1)
        limits->max_receive_sge /= 2;
    else
        return false;
    return true;
}

static int find_qp(const struct nd_port *port, struct nd_limits *limits)
{
    struct ibv_cq *cq = port->verbs->create_cq(port->context, 1, NULL, NULL, 0);
    int rc = 0;

    if (!cq)
        return errno ? -errno : -ENOMEM;
    while (!rc && !try_qp(port, cq, limits))
        if (!(rc = refused(limits)) && !shrink(limits))
            rc = errno ? -errno : -ENOMEM;
    limits->max_read_sge = limits->max_initiator_sge;
    if (port->attr.max_sge_rd > 0)
        limits->max_read_sge = clamp((uint64_t)port->attr.max_sge_rd, limits->max_initiator_sge);
    port->verbs->destroy_cq(cq);
    return rc;
}

static int find_srq(const struct nd_port *port, struct nd_limits *limits)
{
    struct ibv_srq_init_attr init = { 0 };
    int rc;

    if (!port->caps.srq)
        return 0;
    init.attr.max_wr = clamp((uint64_t)port->attr.max_srq_wr, DEPTH_CAP);
    init.attr.max_sge = clamp((uint64_t)port->attr.max_srq_sge, SGE_CAP);
    while (init.attr.max_wr && init.attr.max_sge) {
        struct ibv_srq_init_attr asked = init;
        struct ibv_srq *srq = port->verbs->create_srq(port->pd, &asked);

        if (srq) {
            port->verbs->destroy_srq(srq);
            limits->max_srq_depth = init.attr.max_wr;
            limits->max_srq_sge = init.attr.max_sge;
            return 0;
        }
        if ((rc = refused(limits)))
            return rc;
        if (init.attr.max_wr > 256 || init.attr.max_sge == 1)
            init.attr.max_wr /= 2;
        else
            init.attr.max_sge /= 2;
    }
    return 0;
}

/* Two of the deepest queues exist together. */
static bool try_cqs(const struct nd_port *port, int cqe)
{
    struct ibv_cq *first = port->verbs->create_cq(port->context, cqe, NULL, NULL, 0);
    struct ibv_cq *second =
        first ? port->verbs->create_cq(port->context, cqe, NULL, NULL, 0) : NULL;
    int error;

    if (second)
        port->verbs->destroy_cq(second);
    error = errno;
    if (first)
        port->verbs->destroy_cq(first);
    errno = error;
    return second;
}

static int find_cq(const struct nd_port *port, struct nd_limits *limits)
{
    uint32_t cqe = clamp((uint64_t)port->attr.max_cqe, CQ_CAP);
    int rc;

    while (cqe > ND_CQ_RESERVE && !try_cqs(port, (int)cqe)) {
        if ((rc = refused(limits)))
            return rc;
        cqe /= 2;
    }
    if (cqe <= ND_CQ_RESERVE)
        return -ENOMEM;
    limits->max_cq_depth = cqe - ND_CQ_RESERVE;
    return 0;
}

int nd_limits_find(const struct nd_port *port, struct nd_limits *limits)
{
    const struct ibv_device_attr *attr = &port->attr;
    /* One limit for both queues, since programs use one for the other: the library's own entries are taken off both. */
    uint32_t depth = attr->max_qp_wr > ND_QP_RESERVE
                         ? clamp((uint64_t)attr->max_qp_wr - ND_QP_RESERVE, DEPTH_CAP)
                         : 1;
    int rc;

    *limits = (struct nd_limits){
        .vendor_id = attr->vendor_id,
        .device_id = attr->vendor_part_id,
        .max_registration = attr->max_mr_size,
        .max_initiator_sge = clamp((uint64_t)attr->max_sge, SGE_CAP),
        .max_receive_sge = clamp((uint64_t)attr->max_sge, SGE_CAP),
        .max_transfer =
            port->port_attr.max_msg_sz ? clamp(port->port_attr.max_msg_sz, 1u << 31) : 1u << 31,
        .max_inline = INLINE_CAP,
        .max_inbound_reads = clamp((uint64_t)attr->max_qp_rd_atom, READS_CAP),
        .max_outbound_reads = clamp((uint64_t)attr->max_qp_init_rd_atom, READS_CAP),
        .max_receive_depth = depth,
        .max_initiator_depth = depth,
        .large_threshold = LARGE_ADVISED,
        .max_caller_data = CALLER_DATA,
        .max_callee_data = CALLEE_DATA,
    };
    if ((rc = find_qp(port, limits)) || (rc = find_cq(port, limits)) ||
        (rc = find_srq(port, limits)))
        return rc;
    /* Clients get one limit for both kinds of receive queue. */
    if (limits->max_srq_sge)
        limits->max_srq_sge = limits->max_receive_sge =
            clamp(limits->max_srq_sge, limits->max_receive_sge);
    limits->inline_threshold = clamp(limits->max_inline, INLINE_ADVISED);
    log_write(LOG_DEBUG, LOG_DEVICE,
        "limits: queue pair %u+%u requests of %u/%u entries, inline %u; completion queue %u; "
        "shared receive queue %u",
        limits->max_initiator_depth, limits->max_receive_depth, limits->max_initiator_sge,
        limits->max_receive_sge, limits->max_inline, limits->max_cq_depth, limits->max_srq_depth);
    return 0;
}

void nd_limits_describe(const struct nd_limits *limits, uint64_t adapter_id, ND2_ADAPTER_INFO *info)
{
    *info = (ND2_ADAPTER_INFO){
        .VendorId = (UINT16)limits->vendor_id,
        .DeviceId = (UINT16)limits->device_id,
        .AdapterId = adapter_id,
        .MaxRegistrationSize = limits->max_registration,
        .MaxWindowSize = limits->max_registration,
        .MaxInitiatorSge = limits->max_initiator_sge,
        .MaxReceiveSge = limits->max_receive_sge,
        .MaxReadSge = limits->max_read_sge,
        .MaxTransferLength = limits->max_transfer,
        .MaxInlineDataSize = limits->max_inline,
        .MaxInboundReadLimit = limits->max_inbound_reads,
        .MaxOutboundReadLimit = limits->max_outbound_reads,
        .MaxReceiveQueueDepth = limits->max_receive_depth,
        .MaxInitiatorQueueDepth = limits->max_initiator_depth,
        .MaxSharedReceiveQueueDepth = limits->max_srq_depth,
        .MaxCompletionQueueDepth = limits->max_cq_depth,
        .InlineRequestThreshold = limits->inline_threshold,
        .LargeRequestThreshold = limits->large_threshold,
        .MaxCallerData = limits->max_caller_data,
        .MaxCalleeData = limits->max_callee_data,
        .AdapterFlags =
            ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED | ND_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED |
            ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED | ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED,
    };
}

/* Limits of the devices used most recently; the key is all that a device reports of itself. */
static struct {
    struct lock lock;
    unsigned next;
    struct known {
        struct ibv_device_attr attr;
        uint8_t port;
        struct nd_limits limits;
        uint64_t until_ms; /* clock_now_ms; 0: for good */
    } known[8];
} cache = { .lock = LOCK_INIT(LOCK_PROVIDER, "limits") };

FORK_HOLDS(&cache.lock, LOCK_PROVIDER);

static struct known *find_known_locked(const struct nd_port *port)
{
    for (size_t i = 0; i < sizeof(cache.known) / sizeof(cache.known[0]); i++)
        if (cache.known[i].port == port->number &&
            (!cache.known[i].until_ms || cache.known[i].until_ms > clock_now_ms()) &&
            /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): padding can only cost a look */
            !memcmp(&cache.known[i].attr, &port->attr, sizeof(port->attr)))
            return &cache.known[i];
    return NULL;
}

int nd_limits_recall(const struct nd_port *port, struct nd_limits *limits)
{
    struct known *known;
    int rc;

    lock_acquire(&cache.lock);
    if ((known = find_known_locked(port)))
        *limits = known->limits;
    lock_release(&cache.lock);
    if (known)
        return 0;
    if ((rc = nd_limits_find(port, limits)))
        return rc;
    lock_acquire(&cache.lock);
    if (!find_known_locked(port)) {
        known = &cache.known[cache.next++ % (sizeof(cache.known) / sizeof(cache.known[0]))];
        known->attr = port->attr;
        known->port = port->number;
        known->limits = *limits;
        known->until_ms = limits->uncertain ? clock_now_ms() + UNCERTAIN_MS : 0;
    }
    lock_release(&cache.lock);
    return 0;
}
