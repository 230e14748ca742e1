/* SPDX-License-Identifier: MIT */
#include "ndspi/verbs/port.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

enum { RXE_VENDOR = 0xffffff, SIW_VENDOR = 0x626d74 };

/* What trying cannot find out. */
struct quirk {
    const char *family;
    bool soft;          /* the embedded device, or ... */
    uint32_t vendor_id; /* ... of this vendor; 0 = any */
    void (*apply)(struct nd_caps *caps);
};

static void soft_quirks(struct nd_caps *caps)
{
    caps->two_phase_connect = true;
    caps->exact_cq = true;
    caps->sink_remote_write = false;
    caps->flush_first = false;
    caps->slow_destroy = false;
    caps->iwarp_kernel = false;
    caps->rnr = true;
}

/* Linux 6.1: a window's key reaches the whole region; an error raises no event when only solicited was asked for. */
static void rxe_quirks(struct nd_caps *caps)
{
    caps->windows = false;
    caps->solicited_events = false;
}

/* Linux 6.1: solicited-only notification never fires; the opcodes of windows exist, windows do not. */
static void siw_quirks(struct nd_caps *caps)
{
    caps->windows = false;
    caps->solicited_events = false;
}

static const struct quirk quirks[] = {
    { "softrdma", true, 0, soft_quirks },
    { "rxe", false, RXE_VENDOR, rxe_quirks },
    { "siw", false, SIW_VENDOR, siw_quirks },
};

static bool try_windows(struct nd_port *port)
{
    struct ibv_mw *mw;

    if (!(port->attr.device_cap_flags &
            (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)))
        return false;
    mw = ibv_alloc_mw(port->pd, IBV_MW_TYPE_2);
    if (!mw)
        return false;
    ibv_dealloc_mw(mw);
    return true;
}

static void try_cq(struct nd_port *port)
{
    struct ibv_cq *cq = port->verbs->create_cq(port->context, 3, NULL, NULL, 0);

    if (!cq)
        return;
    port->caps.exact_cq = cq->cqe == 3;
    port->caps.cq_resize = !port->verbs->resize_cq(cq, 7);
    port->verbs->destroy_cq(cq);
}

static void try_srq(struct nd_port *port)
{
    struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
    struct ibv_srq_attr attr = { .max_wr = 16 };
    struct ibv_srq *srq;

    if (!port->attr.max_srq || !(srq = port->verbs->create_srq(port->pd, &init)))
        return;
    port->caps.srq = true;
    port->caps.srq_resize = !port->verbs->modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
    port->verbs->destroy_srq(srq);
}

static void find_caps(struct nd_port *port, bool soft)
{
    struct nd_caps *caps = &port->caps;
    bool iwarp = port->context->device->transport_type == IBV_TRANSPORT_IWARP;

    *caps = (struct nd_caps){
        .family = iwarp ? "iWARP" : "InfiniBand or RoCE",
        .windows = try_windows(port),
        .send_invalidate = port->attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS,
        .two_phase_connect = !iwarp,
        .sink_remote_write = iwarp,
        .solicited_events = true,
        .flush_first = !iwarp,
        .slow_destroy = true,
        .iwarp_kernel = iwarp,
        .rnr = !iwarp,
    };
    try_cq(port);
    try_srq(port);
    for (size_t i = 0; i < sizeof(quirks) / sizeof(quirks[0]); i++)
        if (quirks[i].soft == soft && (soft || quirks[i].vendor_id == port->attr.vendor_id)) {
            caps->family = quirks[i].family;
            quirks[i].apply(caps);
        }
}

int nd_port_init(struct nd_port *port, const struct nd_verbs *verbs, struct ibv_context *context,
    uint8_t number, bool soft)
{
    int rc;

    memset(port, 0, sizeof(*port));
    port->verbs = verbs;
    port->context = context;
    port->number = number;
    if ((rc = verbs->query_device(context, &port->attr)) ||
        (rc = verbs->query_port(context, number, &port->port_attr)))
        return rc > 0 ? -rc : -EIO;
    if (!(port->pd = verbs->alloc_pd(context)))
        return errno ? -errno : -ENOMEM;
    find_caps(port, soft);
    if (!port->caps.windows)
        log_write(LOG_INFO, LOG_DEVICE,
            "%s port %u (%s): no usable memory windows; creating one gives ND_NOT_SUPPORTED",
            verbs->get_device_name(context->device), number, port->caps.family);
    return 0;
}

void nd_port_fini(struct nd_port *port)
{
    int rc = port->verbs->dealloc_pd(port->pd);

    if (rc)
        log_write(LOG_ERROR, LOG_DEVICE, "a protection domain does not go: %s", strerror(rc));
    if (port->verbs->close_device(port->context))
        log_write(LOG_ERROR, LOG_DEVICE, "closing the device: %s", strerror(errno));
}
