/* SPDX-License-Identifier: MIT */
/* fake_device.c - the verbs half: device, memory, completion and work queues. */
#include "tests/support/fake_device.h"

#include "tests/support/fake_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

enum { FAKE_QUEUE_MAX = 4096, FAKE_CQ_MAX = 65536, FAKE_SGE_MAX = 4, FAKE_EVENTS_MAX = 64 };

struct fake_request {
    uint64_t wr_id;
    enum ibv_wc_opcode opcode;
    bool signaled;
};

struct fake_queue { /* of held requests */
    struct fake_request *requests;
    unsigned size, head, count;
};

struct fake_cq {
    struct ibv_cq cq;
    struct fake_cq *older;
    struct ibv_wc *entries;
    unsigned size, head, count, users;
    bool armed, solicited_only, dead;
    uint32_t events; /* delivered by get_cq_event */
};

struct fake_qp {
    struct ibv_qp qp;
    struct fake_qp *older;
    struct fake_queue send, receive;
    bool all_signaled;
};

struct fake_channel {
    struct ibv_comp_channel channel;
    struct fake_cq *fired[FAKE_EVENTS_MAX]; /* ring */
    unsigned head, count;
};

static struct ibv_device fake_ibv_device = {
    .node_type = IBV_NODE_CA,
    .transport_type = IBV_TRANSPORT_IB,
    .name = FAKE_DEVICE_NAME,
    .dev_name = "uverbs_fake0",
};

atomic_flag fake_lock_word = ATOMIC_FLAG_INIT;
struct fake_state fake = { .port_state = IBV_PORT_ACTIVE, .link_layer = IBV_LINK_LAYER_ETHERNET };

static struct fake_cq *fake_cqs; /* newest first */
static struct fake_qp *fake_qps;
static struct ibv_async_event fake_async[FAKE_EVENTS_MAX];
static unsigned fake_async_head, fake_async_count;
static uint32_t fake_next_number = 0x11;

void fake_abort(const char *what)
{
    fprintf(stderr, "fake device: %s\n", what);
    abort();
}

int fake_descriptor(void)
{
    int fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);

    if (fd < 0)
        fake_abort("no descriptor");
    return fd;
}

void *fake_new(size_t octets)
{
    void *object = calloc(1, octets);

    if (!object)
        fake_abort("out of memory");
    fake_lock();
    fake.live++;
    fake_unlock();
    return object;
}

void fake_free(void *object)
{
    fake_lock();
    fake.live--;
    fake_unlock();
    free(object);
}

static bool fake_gone(void)
{
    if (fake.removed)
        errno = EIO;
    return fake.removed;
}

bool fake_fails(enum fake_call call)
{
    int error;

    fake_lock();
    error = fake.error[call];
    fake_unlock();
    if (fake_gone())
        return true;
    if (error)
        errno = error;
    return error;
}

void fake_break(enum fake_call call, int error)
{
    fake_lock();
    fake.error[call] = error;
    fake_unlock();
}

void fake_set_port(enum ibv_port_state state, uint8_t link_layer)
{
    fake_lock();
    fake.port_state = state;
    fake.link_layer = link_layer;
    fake_unlock();
}

void fake_set_memory_lock(bool counts)
{
    fake_lock();
    fake.memory_lock = counts;
    fake_unlock();
}

/* ------------------------------------------------------------------------------------------------
 * device */

static int fake_poll_cq(struct ibv_cq *ibv_cq, int num_entries, struct ibv_wc *wc);
static int fake_req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only);
static int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
static int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

static struct ibv_mw *fake_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    struct ibv_mw *mw;

    if (fake_gone())
        return NULL;
    mw = fake_new(sizeof *mw);
    *mw = (struct ibv_mw){ .context = pd->context, .pd = pd, .rkey = 0x7700, .type = type };
    return mw;
}

static int fake_dealloc_mw(struct ibv_mw *mw)
{
    fake_free(mw);
    return 0;
}

static void fake_context_init(struct ibv_context *context)
{
    context->device = &fake_ibv_device;
    context->ops.alloc_mw = fake_alloc_mw;
    context->ops.dealloc_mw = fake_dealloc_mw;
    context->ops.poll_cq = fake_poll_cq;
    context->ops.req_notify_cq = fake_req_notify_cq;
    context->ops.post_send = fake_post_send;
    context->ops.post_recv = fake_post_recv;
    context->async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    context->num_comp_vectors = 1;
    if (context->async_fd < 0)
        fake_abort("no descriptor");
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
    struct ibv_device **list = fake_new(2 * sizeof *list);

    list[0] = &fake_ibv_device;
    if (num_devices)
        *num_devices = 1;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    fake_free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
    (void)device;
    return htobe64(0xfa6e000000000001);
}

/* librdmacm has a context of its own for the ids; ours is the one the program opened, or this. */
struct ibv_context *fake_cm_context(void)
{
    static struct ibv_context context;

    fake_lock();
    if (!context.device)
        fake_context_init(&context);
    fake_unlock();
    return &context;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct ibv_context *context;

    (void)device;
    if (fake_fails(FAKE_OPEN_DEVICE))
        return NULL;
    context = fake_new(sizeof *context);
    fake_context_init(context);
    fake_lock();
    fake.context = context;
    fake_unlock();
    return context;
}

int ibv_close_device(struct ibv_context *context)
{
    fake_lock();
    if (fake.context == context)
        fake.context = NULL;
    fake_async_count = 0;
    fake_unlock();
    close(context->async_fd);
    fake_free(context);
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    *attr = (struct ibv_device_attr){
        .fw_ver = "1",
        .node_guid = htobe64(0xfa6e000000000001),
        .max_mr_size = UINT64_MAX,
        .page_size_cap = 4096,
        .vendor_id = 0xfa6e,
        .vendor_part_id = 1,
        .max_qp = 1024,
        .max_qp_wr = FAKE_QUEUE_MAX,
        .device_cap_flags =
            IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS,
        .max_sge = FAKE_SGE_MAX,
        .max_sge_rd = FAKE_SGE_MAX,
        .max_cq = 1024,
        .max_cqe = FAKE_CQ_MAX,
        .max_mr = 1024,
        .max_pd = 64,
        .max_qp_rd_atom = 16,
        .max_qp_init_rd_atom = 16,
        .max_res_rd_atom = 1024,
        .max_mw = 1024,
        .phys_port_cnt = 1,
    };
    return 0;
}

int ibv_query_port(
    struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *compat)
{
    struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;

    (void)context;
    if (port_num != 1)
        return EINVAL;
    fake_lock();
    attr->state = fake.port_state;
    attr->link_layer = fake.link_layer;
    fake_unlock();
    attr->max_mtu = attr->active_mtu = IBV_MTU_4096;
    attr->gid_tbl_len = attr->pkey_tbl_len = 1;
    attr->max_msg_sz = 1u << 30;
    return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
    (void)context;
    if (port_num != 1 || index != 0)
        return EINVAL;
    memset(gid, 0, sizeof *gid);
    memcpy(gid->raw + 10, "\xff\xff\x7f\x00\x00\x01", 6); /* ::ffff:127.0.0.1 */
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
    (void)context;
    *pkey = 0xffff;
    return port_num == 1 && index == 0 ? 0 : EINVAL;
}

static void fake_async_raise(const struct ibv_async_event *event)
{
    uint64_t one = 1;

    fake_lock();
    if (fake_async_count == FAKE_EVENTS_MAX || !fake.context)
        fake_abort("nobody takes asynchronous events");
    fake_async[(fake_async_head + fake_async_count++) % FAKE_EVENTS_MAX] = *event;
    if (write(fake.context->async_fd, &one, sizeof one) != sizeof one)
        fake_abort("eventfd");
    fake_unlock();
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    uint64_t one;

    if (read(context->async_fd, &one, sizeof one) != sizeof one)
        return -1;
    fake_lock();
    *event = fake_async[fake_async_head];
    fake_async_head = (fake_async_head + 1) % FAKE_EVENTS_MAX;
    fake_async_count--;
    fake.async_unacked++;
    fake_unlock();
    return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
    fake_lock();
    if (fake.async_unacked-- == 0)
        fake_abort("acknowledged an asynchronous event that was not taken");
    fake_unlock();
}

/* ------------------------------------------------------------------------------------------------
 * memory */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd;

    if (fake_gone())
        return NULL;
    pd = fake_new(sizeof *pd);
    pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    fake_free(pd);
    return 0;
}

static bool fake_locks_too_much(size_t length)
{
    struct rlimit limit;

    if (!fake.memory_lock || getrlimit(RLIMIT_MEMLOCK, &limit) || length <= limit.rlim_cur)
        return false;
    errno = ENOMEM;
    return true;
}

struct ibv_mr *ibv_reg_mr_iova2(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
    struct ibv_mr *mr;

    (void)iova;
    (void)access;
    if (fake_fails(FAKE_REG_MR) || fake_locks_too_much(length))
        return NULL;
    mr = fake_new(sizeof *mr);
    *mr = (struct ibv_mr){ .context = pd->context,
        .pd = pd,
        .addr = addr,
        .length = length,
        .lkey = 0x100,
        .rkey = 0x200 };
    return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    fake_free(mr);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * completion */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct fake_channel *channel;

    if (fake_gone())
        return NULL;
    channel = fake_new(sizeof *channel);
    channel->channel.context = context;
    channel->channel.fd = fake_descriptor();
    return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    if (channel->refcnt != 0)
        return EBUSY;
    close(channel->fd);
    fake_free(channel);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector)
{
    struct fake_cq *cq;

    (void)comp_vector;
    if (fake_gone())
        return NULL;
    if (cqe < 1 || cqe > FAKE_CQ_MAX) {
        errno = EINVAL;
        return NULL;
    }
    cq = fake_new(sizeof *cq);
    cq->size = 1;
    while (cq->size < (unsigned)cqe)
        cq->size *= 2;
    cq->entries = calloc(cq->size, sizeof *cq->entries);
    if (!cq->entries)
        fake_abort("out of memory");
    cq->cq = (struct ibv_cq){
        .context = context, .channel = channel, .cq_context = cq_context, .cqe = (int)cq->size
    };
    fake_lock();
    if (channel)
        channel->refcnt++;
    cq->older = fake_cqs;
    fake_cqs = cq;
    fake_unlock();
    return &cq->cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
    (void)cq;
    (void)cqe;
    return ENOSYS;
}

int ibv_destroy_cq(struct ibv_cq *ibv_cq)
{
    struct fake_cq *cq = (struct fake_cq *)ibv_cq;
    struct fake_channel *channel = (struct fake_channel *)ibv_cq->channel;
    struct fake_cq **link = &fake_cqs;

    fake_lock();
    if (cq->users) {
        fake_unlock();
        return EBUSY;
    }
    if (cq->events != ibv_cq->comp_events_completed)
        fake_abort("a completion queue is destroyed with events not acknowledged");
    while (*link != cq)
        link = &(*link)->older;
    *link = cq->older;
    if (channel) {
        unsigned kept = 0;

        /* As the kernel does, its undelivered events go with it; the descriptor may show one too
         * many. */
        for (unsigned i = 0; i < channel->count; i++) {
            struct fake_cq *fired = channel->fired[(channel->head + i) % FAKE_EVENTS_MAX];

            if (fired != cq)
                channel->fired[(channel->head + kept++) % FAKE_EVENTS_MAX] = fired;
        }
        channel->count = kept;
        channel->channel.refcnt--;
    }
    fake_unlock();
    free(cq->entries);
    fake_free(cq);
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *ibv_channel, struct ibv_cq **cq, void **cq_context)
{
    struct fake_channel *channel = (struct fake_channel *)ibv_channel;
    struct fake_cq *fired = NULL;
    uint64_t one;

    if (read(ibv_channel->fd, &one, sizeof one) != sizeof one)
        return -1;
    fake_lock();
    if (channel->count > 0) {
        fired = channel->fired[channel->head];
        channel->head = (channel->head + 1) % FAKE_EVENTS_MAX;
        channel->count--;
        fired->events++;
    }
    fake_unlock();
    if (!fired) {
        errno = EAGAIN;
        return -1;
    }
    *cq = &fired->cq;
    *cq_context = fired->cq.cq_context;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
    fake_lock();
    cq->comp_events_completed += nevents;
    if (cq->comp_events_completed > ((struct fake_cq *)cq)->events)
        fake_abort("more completion events acknowledged than taken");
    fake_unlock();
}

static void fake_cq_push_locked(struct fake_cq *cq, const struct ibv_wc *wc)
{
    struct fake_channel *channel = (struct fake_channel *)cq->cq.channel;
    uint64_t one = 1;

    if (cq->dead)
        return;
    if (cq->count == cq->size)
        fake_abort("a completion queue overran");
    cq->entries[(cq->head + cq->count++) & (cq->size - 1)] = *wc;
    if (__builtin_expect(!cq->armed, 1) || (cq->solicited_only && wc->status == IBV_WC_SUCCESS))
        return;
    cq->armed = false;
    if (channel->count == FAKE_EVENTS_MAX)
        fake_abort("nobody takes completion events");
    channel->fired[(channel->head + channel->count++) % FAKE_EVENTS_MAX] = cq;
    if (write(channel->channel.fd, &one, sizeof one) != sizeof one)
        fake_abort("eventfd");
}

static int fake_poll_cq(struct ibv_cq *ibv_cq, int num_entries, struct ibv_wc *wc)
{
    struct fake_cq *cq = (struct fake_cq *)ibv_cq;
    int count = 0;

    fake_lock();
    while (count < num_entries && cq->count > 0) {
        wc[count++] = cq->entries[cq->head];
        cq->head = (cq->head + 1) & (cq->size - 1);
        cq->count--;
    }
    fake_unlock();
    return count;
}

static int fake_req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only)
{
    struct fake_cq *cq = (struct fake_cq *)ibv_cq;

    if (!ibv_cq->channel)
        return EINVAL;
    fake_lock();
    cq->solicited_only = solicited_only && (!cq->armed || cq->solicited_only);
    cq->armed = true;
    fake_unlock();
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * work */

static enum ibv_wc_opcode fake_wc_opcode(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_INV: return IBV_WC_SEND;
    case IBV_WR_RDMA_WRITE: return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ: return IBV_WC_RDMA_READ;
    case IBV_WR_BIND_MW: return IBV_WC_BIND_MW;
    case IBV_WR_LOCAL_INV: return IBV_WC_LOCAL_INV;
    default: fake_abort("a request of unknown kind");
    }
    return 0;
}

static void fake_finish_locked(struct fake_qp *qp, struct ibv_cq *cq,
    const struct fake_request *request, enum ibv_wc_status status, uint32_t byte_len)
{
    struct ibv_wc wc = {
        .wr_id = request->wr_id,
        .status = status,
        .opcode = request->opcode,
        .byte_len = byte_len,
        .qp_num = qp->qp.qp_num,
    };

    if (status != IBV_WC_SUCCESS) {
        memset(&wc, 0xee, sizeof wc);
        wc.wr_id = request->wr_id;
        wc.status = status;
        wc.vendor_err = 1;
        wc.qp_num = qp->qp.qp_num;
    } else if (!request->signaled) {
        return;
    }
    fake_cq_push_locked((struct fake_cq *)cq, &wc);
}

static void fake_hold_locked(struct fake_queue *queue, const struct fake_request *request)
{
    if (queue->count == queue->size)
        fake_abort("more requests posted than the queue is deep");
    queue->requests[(queue->head + queue->count++) % queue->size] = *request;
}

static bool fake_take_locked(struct fake_queue *queue, struct fake_request *request)
{
    if (queue->count == 0)
        return false;
    *request = queue->requests[queue->head];
    queue->head = (queue->head + 1) % queue->size;
    queue->count--;
    return true;
}

static void fake_error_locked(struct fake_qp *qp)
{
    struct fake_request request;

    qp->qp.state = IBV_QPS_ERR;
    while (fake_take_locked(&qp->send, &request))
        fake_finish_locked(qp, qp->qp.send_cq, &request, IBV_WC_WR_FLUSH_ERR, 0);
    while (fake_take_locked(&qp->receive, &request))
        fake_finish_locked(qp, qp->qp.recv_cq, &request, IBV_WC_WR_FLUSH_ERR, 0);
}

static void fake_post_locked(struct fake_qp *qp, struct fake_queue *queue, struct ibv_cq *cq,
    const struct fake_request *request)
{
    if (__builtin_expect(fake.mode == FAKE_IMMEDIATE && qp->qp.state != IBV_QPS_ERR, 1))
        fake_finish_locked(qp, cq, request, IBV_WC_SUCCESS, 8);
    else if (qp->qp.state == IBV_QPS_ERR)
        fake_finish_locked(qp, cq, request, IBV_WC_WR_FLUSH_ERR, 0);
    else
        fake_hold_locked(queue, request);
}

static int fake_post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct fake_qp *qp = (struct fake_qp *)ibv_qp;

    for (; wr; wr = wr->next) {
        struct fake_request request = {
            .wr_id = wr->wr_id,
            .opcode = fake_wc_opcode(wr->opcode),
            .signaled = qp->all_signaled || (wr->send_flags & IBV_SEND_SIGNALED),
        };

        int error = fake.removed ? EIO : 0;

        fake_lock();
        if (ibv_qp->state < IBV_QPS_RTS)
            error = EINVAL;
        if (error == 0)
            fake_post_locked(qp, &qp->send, ibv_qp->send_cq, &request);
        fake_unlock();
        if (error != 0) {
            *bad = wr;
            return error;
        }
    }
    return 0;
}

static int fake_post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct fake_qp *qp = (struct fake_qp *)ibv_qp;

    for (; wr; wr = wr->next) {
        struct fake_request request = {
            .wr_id = wr->wr_id, .opcode = IBV_WC_RECV, .signaled = true
        };

        int error = fake.removed ? EIO : 0;

        fake_lock();
        if (ibv_qp->state == IBV_QPS_RESET)
            error = EINVAL;
        if (error == 0)
            fake_post_locked(qp, &qp->receive, ibv_qp->recv_cq, &request);
        fake_unlock();
        if (error != 0) {
            *bad = wr;
            return error;
        }
    }
    return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    (void)pd;
    (void)attr;
    errno = ENOSYS;
    return NULL;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask)
{
    (void)srq;
    (void)attr;
    (void)attr_mask;
    return ENOSYS;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    (void)srq;
    (void)attr;
    return ENOSYS;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    (void)srq;
    return ENOSYS;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_cap *cap = &attr->cap;
    struct fake_qp *qp;

    if (fake_fails(FAKE_CREATE_QP))
        return NULL;
    if (cap->max_send_wr > FAKE_QUEUE_MAX || cap->max_recv_wr > FAKE_QUEUE_MAX ||
        cap->max_send_sge > FAKE_SGE_MAX || cap->max_recv_sge > FAKE_SGE_MAX ||
        cap->max_inline_data > 256) {
        errno = EINVAL;
        return NULL;
    }
    qp = fake_new(sizeof *qp);
    qp->all_signaled = attr->sq_sig_all;
    qp->send.size = cap->max_send_wr + 1;
    qp->receive.size = cap->max_recv_wr + 1;
    qp->send.requests = calloc(qp->send.size, sizeof *qp->send.requests);
    qp->receive.requests = calloc(qp->receive.size, sizeof *qp->receive.requests);
    if (!qp->send.requests || !qp->receive.requests)
        fake_abort("out of memory");
    qp->qp = (struct ibv_qp){
        .context = pd->context,
        .qp_context = attr->qp_context,
        .pd = pd,
        .send_cq = attr->send_cq,
        .recv_cq = attr->recv_cq,
        .qp_type = attr->qp_type,
    };
    fake_lock();
    qp->qp.qp_num = fake_next_number++;
    ((struct fake_cq *)attr->send_cq)->users++;
    ((struct fake_cq *)attr->recv_cq)->users++;
    qp->older = fake_qps;
    fake_qps = qp;
    fake_unlock();
    return &qp->qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
    if (fake.removed)
        return EIO;
    if (!(attr_mask & IBV_QP_STATE))
        return 0;
    fake_lock();
    if (attr->qp_state == IBV_QPS_ERR)
        fake_error_locked((struct fake_qp *)qp);
    else
        qp->state = attr->qp_state;
    fake_unlock();
    return 0;
}

int ibv_query_qp(
    struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr)
{
    (void)attr_mask;
    *attr = (struct ibv_qp_attr){ .qp_state = qp->state };
    *init_attr = (struct ibv_qp_init_attr){ .send_cq = qp->send_cq, .recv_cq = qp->recv_cq };
    return 0;
}

int ibv_destroy_qp(struct ibv_qp *ibv_qp)
{
    struct fake_qp *qp = (struct fake_qp *)ibv_qp;
    struct fake_qp **link = &fake_qps;

    fake_lock();
    while (*link != qp)
        link = &(*link)->older;
    *link = qp->older;
    ((struct fake_cq *)ibv_qp->send_cq)->users--;
    ((struct fake_cq *)ibv_qp->recv_cq)->users--;
    fake_unlock();
    free(qp->send.requests);
    free(qp->receive.requests);
    fake_free(qp);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * for the tests */

static struct fake_qp *fake_find_locked(uint32_t qp_num)
{
    struct fake_qp *qp = fake_qps;

    while (qp && qp_num && qp->qp.qp_num != qp_num)
        qp = qp->older;
    return qp;
}

void fake_set_mode(enum fake_mode mode)
{
    fake_lock();
    fake.mode = mode;
    fake_unlock();
}

bool fake_complete(uint32_t qp_num, bool receive, enum ibv_wc_status status, uint32_t byte_len)
{
    struct fake_request request;
    struct fake_qp *qp;
    bool taken;

    fake_lock();
    qp = fake_find_locked(qp_num);
    taken = qp && fake_take_locked(receive ? &qp->receive : &qp->send, &request);
    if (taken) {
        fake_finish_locked(
            qp, receive ? qp->qp.recv_cq : qp->qp.send_cq, &request, status, byte_len);
        if (status != IBV_WC_SUCCESS)
            fake_error_locked(qp);
    }
    fake_unlock();
    return taken;
}

unsigned fake_held(uint32_t qp_num, bool receive)
{
    struct fake_qp *qp;
    unsigned count;

    fake_lock();
    qp = fake_find_locked(qp_num);
    count = !qp ? 0 : receive ? qp->receive.count : qp->send.count;
    fake_unlock();
    return count;
}

void fake_raise_device_fatal(void)
{
    fake_async_raise(&(struct ibv_async_event){ .event_type = IBV_EVENT_DEVICE_FATAL });
}

void fake_raise_cq_error(void)
{
    struct ibv_async_event event = { .event_type = IBV_EVENT_CQ_ERR };

    fake_lock();
    if (!fake_cqs)
        fake_abort("there is no completion queue");
    fake_cqs->dead = true;
    event.element.cq = &fake_cqs->cq;
    fake_unlock();
    fake_async_raise(&event);
}

void fake_remove(void)
{
    fake_lock();
    fake.removed = true;
    fake_unlock();
}

unsigned fake_live(void)
{
    unsigned live;

    fake_lock();
    live = fake.live;
    fake_unlock();
    return live;
}

void fake_reset(void)
{
    fake_lock();
    fake.mode = FAKE_IMMEDIATE;
    fake.removed = false;
    fake.no_answer = false;
    memset(fake.error, 0, sizeof fake.error);
    fake.port_state = IBV_PORT_ACTIVE;
    fake.link_layer = IBV_LINK_LAYER_ETHERNET;
    fake.memory_lock = false;
    fake_unlock();
}
