/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndspi/core_fake.h"

#include "ndspi/verbs/shim/objects.h"
#include "tests/unit/util/cmocka_test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct fake_device fake_device;

static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER; /* of completion queues */

/* ---- device ---- */

static void *new_object(size_t size)
{
    void *object = calloc(1, size);

    if (object)
        fake_device.objects++;
    else
        errno = ENOMEM;
    return object;
}

static int free_object(void *object)
{
    fake_device.objects--;
    free(object);
    return 0;
}

static struct fake_cq *queues[4]; /* of the device's, for the channel */

static struct ibv_cq *create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector)
{
    struct fake_cq *cq;

    (void)comp_vector;
    errno = ENOMEM;
    if ((fake_device.cq_most && (uint32_t)cqe > fake_device.cq_most) ||
        !(cq = new_object(sizeof(*cq))))
        return NULL;
    cq->ibv = (struct ibv_cq){
        .context = context, .channel = channel, .cq_context = cq_context, .cqe = cqe
    };
    for (unsigned i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
        if (!queues[i]) {
            queues[i] = cq;
            break;
        }
    return &cq->ibv;
}

static int destroy_cq(struct ibv_cq *cq)
{
    for (unsigned i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
        if (queues[i] == (struct fake_cq *)cq)
            queues[i] = NULL;
    return free_object(cq);
}

static int resize_cq(struct ibv_cq *cq, int cqe)
{
    void (*before)(void) = fake_device.before_resize;

    fake_device.before_resize = NULL;
    if (before)
        before();
    cq->cqe = cqe;
    return 0;
}

/* The channel: an event of any queue. */
static int get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
    (void)channel;
    for (unsigned i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        if (!queues[i] || !queues[i]->event)
            continue;
        queues[i]->event = false;
        *cq = &queues[i]->ibv;
        *context = queues[i]->ibv.cq_context;
        return 0;
    }
    errno = EAGAIN;
    return -1;
}

static void ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    (void)cq;
    (void)count;
}

static int poll_cq(struct ibv_cq *ibv, int room, struct ibv_wc *wc)
{
    struct fake_cq *cq = (struct fake_cq *)ibv;
    unsigned count;

    pthread_mutex_lock(&entries_lock);
    count = cq->count < (unsigned)room ? cq->count : (unsigned)room;
    memcpy(wc, cq->entries, count * sizeof(*wc));
    memmove(cq->entries, cq->entries + count, (cq->count - count) * sizeof(*wc));
    cq->count -= count;
    pthread_mutex_unlock(&entries_lock);
    return count ? (int)count : fake_device.poll_error;
}

static int req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
    struct fake_cq *cq = (struct fake_cq *)ibv;
    void (*before)(void *context) = cq->before_arming;

    cq->before_arming = NULL;
    if (before)
        before(cq->before_arming_context);
    cq->armed_solicited_only = solicited_only && (!cq->armed || cq->armed_solicited_only);
    cq->armed = true;
    cq->armings++;
    return 0;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    static uint32_t numbers;
    struct fake_qp *qp;

    errno = fake_device.qp_error;
    if (fake_device.qp_error || !(qp = new_object(sizeof(*qp))))
        return NULL;
    qp->ibv =
        (struct ibv_qp){ .context = pd->context, .pd = pd, .qp_num = ++numbers, .srq = attr->srq };
    qp->send.depth = attr->cap.max_send_wr;
    return &qp->ibv;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    void (*during)(void) = fake_device.during_error;

    if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR && during) {
        fake_device.during_error = NULL;
        during();
    }
    if (mask & IBV_QP_STATE)
        qp->state = attr->qp_state;
    return 0;
}

static int destroy_qp(struct ibv_qp *qp)
{
    return free_object(qp);
}

/* Whether the device takes one more; errors come after fake_device.taken ones. */
static int take_one(const struct fake_queue *queue)
{
    if (fake_device.post_error && fake_device.taken == 0) {
        int error = fake_device.post_error;

        if (fake_device.refuse_once)
            fake_device.post_error = 0;
        return error;
    }
    if (fake_device.taken)
        fake_device.taken--;
    assert_true(queue->count < FAKE_QUEUE);
    return 0;
}

static void keep_data(struct fake_request *request, const struct ibv_sge *sges, int count)
{
    uint8_t *at = request->data;

    for (int i = 0; i < count; at += sges[i++].length) {
        assert_true(at + sges[i].length <= request->data + sizeof(request->data));
        memcpy(at, (void *)(uintptr_t)sges[i].addr, sges[i].length);
    }
}

static void keep_bind(struct fake_request *request, const struct ibv_send_wr *wr)
{
    const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;

    request->bind.mw = wr->bind_mw.mw;
    request->bind.mr = info->mr;
    request->bind.old_rkey = wr->bind_mw.mw->rkey;
    request->bind.rkey = wr->bind_mw.rkey;
    request->bind.addr = info->addr;
    request->bind.length = info->length;
    request->bind.access = info->mw_access_flags;
}

static int end_at_once(const struct ibv_send_wr *wr)
{
    for (; wr; wr = wr->next)
        fake_cq_push(fake_device.complete_at_once, &(struct ibv_wc){ .wr_id = wr->wr_id }, false);
    return 0;
}

static int post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct fake_queue *queue = &((struct fake_qp *)ibv)->send;

    fake_device.post_calls++;
    if (fake_device.complete_at_once)
        return end_at_once(wr);
    for (; wr; wr = wr->next) {
        bool bare = wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV;
        struct fake_request *request = &queue->requests[queue->count];
        int error = queue->count == queue->depth ? ENOMEM : take_one(queue);

        *bad = wr;
        if (error)
            return error;
        *request = (struct fake_request){ .wr_id = wr->wr_id,
            .opcode = wr->opcode,
            .send_flags = wr->send_flags,
            .num_sge = bare ? 0 : wr->num_sge,
            .invalidate_rkey = wr->invalidate_rkey,
            .remote = wr->wr.rdma.remote_addr };
        if (wr->opcode == IBV_WR_BIND_MW)
            keep_bind(request, wr);
        if (request->num_sge > 0)
            request->first_sge = wr->sg_list[0];
        if (request->num_sge > 1)
            request->second_sge = wr->sg_list[1];
        if (wr->send_flags & IBV_SEND_INLINE && wr->num_sge && wr->sg_list[0].addr)
            keep_data(request, wr->sg_list, wr->num_sge);
        queue->count++;
    }
    *bad = NULL;
    return fake_device.wake_error;
}

static int post_fast_reg(struct ibv_qp *ibv, const struct nd_fast_reg *reg)
{
    struct fake_queue *queue = &((struct fake_qp *)ibv)->send;
    int error = queue->count == queue->depth ? ENOMEM : take_one(queue);

    fake_device.post_calls++;
    if (error)
        return error;
    queue->requests[queue->count++] = (struct fake_request){ .wr_id = reg->wr_id,
        .opcode = (enum ibv_wr_opcode)FAKE_FAST_REG,
        .send_flags = reg->send_flags,
        .fast = *reg };
    return 0;
}

static int keep_receive(struct fake_queue *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    fake_device.post_calls++;
    for (; wr; wr = wr->next) {
        int error = take_one(queue);

        *bad = wr;
        if (error)
            return error;
        queue->requests[queue->count] = (struct fake_request){
            .wr_id = wr->wr_id, .send_flags = IBV_SEND_SIGNALED, .num_sge = wr->num_sge
        };
        if (wr->num_sge > 0)
            queue->requests[queue->count].first_sge = wr->sg_list[0];
        queue->count++;
    }
    return 0;
}

static int post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return keep_receive(&((struct fake_qp *)ibv)->receive, wr, bad);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct fake_srq *srq;

    errno = ENOMEM;
    if ((fake_device.srq_most && attr->attr.max_wr > fake_device.srq_most) ||
        !(srq = new_object(sizeof(*srq))))
        return NULL;
    srq->depth = attr->attr.max_wr;
    srq->ibv =
        (struct ibv_srq){ .context = pd->context, .srq_context = attr->srq_context, .pd = pd };
    return &srq->ibv;
}

static int modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    if (mask & IBV_SRQ_LIMIT && fake_device.before_limit)
        fake_device.before_limit(attr->srq_limit);
    if (mask & IBV_SRQ_LIMIT)
        ((struct fake_srq *)srq)->limit = attr->srq_limit;
    if (mask & IBV_SRQ_MAX_WR)
        ((struct fake_srq *)srq)->depth = attr->max_wr;
    return 0;
}

static int destroy_srq(struct ibv_srq *srq)
{
    return free_object(srq);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return keep_receive(&((struct fake_srq *)srq)->receive, wr, bad);
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    static uint32_t keys = 0x100;
    struct ibv_mr *mr;

    fake_device.access = access;
    if (fake_device.reg_error) {
        errno = fake_device.reg_error;
        return NULL;
    }
    if (!(mr = new_object(sizeof(*mr))))
        return NULL;
    keys += 0x100;
    *mr = (struct ibv_mr){ .context = pd->context,
        .pd = pd,
        .addr = addr,
        .length = length,
        .lkey = keys,
        .rkey = keys + 1 };
    return mr;
}

static struct ibv_mr *reg_mr_iova(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    fake_device.iova = iova;
    return reg_mr(pd, addr, length, access);
}

static struct ibv_mr *alloc_fast_mr(struct ibv_pd *pd, uint32_t max_pages)
{
    struct ibv_mr *mr = reg_mr(pd, NULL, max_pages, 0);

    if (mr)
        mr->lkey = mr->rkey;
    return mr;
}

static int dereg_mr(struct ibv_mr *mr)
{
    void (*before)(void) = fake_device.before_dereg;

    fake_device.before_dereg = NULL;
    if (before)
        before();
    return fake_device.dereg_error ? fake_device.dereg_error : free_object(mr);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    static uint32_t keys = 0x70000042;
    struct ibv_mw *mw = new_object(sizeof(*mw));

    if (mw)
        *mw = (struct ibv_mw){
            .context = pd->context, .pd = pd, .type = type, .rkey = keys += 0x100
        };
    return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
    return free_object(mw);
}

static void mark_solicited(struct ibv_cq *cq)
{
    (void)cq;
}

static struct ibv_comp_channel *create_comp_channel(struct ibv_context *context)
{
    struct ibv_comp_channel *channel = new_object(sizeof(*channel));

    if (channel)
        *channel = (struct ibv_comp_channel){ .context = context, .fd = -1 };
    return channel;
}

static int destroy_comp_channel(struct ibv_comp_channel *channel)
{
    return free_object(channel);
}

static struct ibv_pd *alloc_pd(struct ibv_context *context);
static int dealloc_pd(struct ibv_pd *pd);

static int close_device(struct ibv_context *context)
{
    close(context->async_fd);
    return 0;
}

static struct nd_verbs fake_verbs = { .name = "fake",
    .close_device = close_device,
    .alloc_pd = alloc_pd,
    .dealloc_pd = dealloc_pd,
    .create_comp_channel = create_comp_channel,
    .destroy_comp_channel = destroy_comp_channel,
    .create_cq = create_cq,
    .destroy_cq = destroy_cq,
    .resize_cq = resize_cq,
    .get_cq_event = get_cq_event,
    .ack_cq_events = ack_cq_events,
    .create_qp = create_qp,
    .modify_qp = modify_qp,
    .destroy_qp = destroy_qp,
    .create_srq = create_srq,
    .modify_srq = modify_srq,
    .destroy_srq = destroy_srq,
    .reg_mr = reg_mr,
    .reg_mr_iova = reg_mr_iova,
    .dereg_mr = dereg_mr,
    .alloc_fast_mr = alloc_fast_mr,
    .post_fast_reg = post_fast_reg };

/* ---- adapter ---- */

static struct ibv_context the_context;
static struct ibv_pd the_pd = { .context = &the_context };
static const struct nd_device the_device = { .name = "fake0", .verbs = &fake_verbs };
static struct nd_adapter the_adapter;

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = new_object(sizeof(*pd));

    if (pd)
        pd->context = context;
    return pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
    return free_object(pd);
}

static void adapter_gone(struct nd_object *object)
{
    (void)object;
    fail_msg("the adapter lost its last pin");
}

struct nd_adapter *fake_adapter_open(void)
{
    struct nd_adapter *adapter = &the_adapter;

    memset(adapter, 0, sizeof(*adapter));
    memset(&fake_device, 0, sizeof(fake_device));
    memset(&fake_sink_counts, 0, sizeof(fake_sink_counts));
    fake_device_marks(false);
    fake_file_open();
    the_context.ops.poll_cq = poll_cq;
    the_context.ops.req_notify_cq = req_notify_cq;
    the_context.ops.post_send = post_send;
    the_context.ops.post_recv = post_recv;
    the_context.ops.post_srq_recv = post_srq_recv;
    the_context.ops.alloc_mw = alloc_mw;
    the_context.ops.dealloc_mw = dealloc_mw;
    nd_object_init(&adapter->object, adapter_gone);
    adapter->dialect = &nd_dialect_v2;
    adapter->sink = &fake_sink;
    adapter->device = &the_device;
    adapter->verbs = &fake_verbs;
    adapter->port = (struct nd_port){
        .verbs = &fake_verbs, .context = &the_context, .pd = &the_pd, .number = 1
    };
    adapter->port.caps = (struct nd_caps){ .family = "fake",
        .windows = ND_WINDOWS_REAL,
        .cq_resize = true,
        .srq = true,
        .srq_resize = true };
    adapter->limits = (struct nd_limits){ .max_registration = 1 << 30,
        .max_initiator_sge = 4,
        .max_receive_sge = 4,
        .max_read_sge = 2,
        .max_transfer = 1 << 20,
        .max_inline = 64,
        .max_initiator_depth = 64,
        .max_receive_depth = 64,
        .max_srq_depth = 64,
        .max_srq_sge = 4,
        .max_cq_depth = 128 };
    lock_init(&adapter->lock, LOCK_ADAPTER, "adapter");
    lock_init(&adapter->memory_lock, LOCK_MEMORY, "memory");
    list_init(&adapter->children);
    list_init(&adapter->bound_windows);
    list_init(&adapter->invalidating_windows);
    return adapter;
}

struct nd_adapter *fake_adapter_open_v1(void)
{
    struct nd_adapter *adapter = fake_adapter_open();

    adapter->dialect = &nd_dialect_v1;
    adapter->port.caps.send_invalidate = true;
    assert_int_equal(nd_regions_init(&adapter->regions), 0);
    return adapter;
}

struct nd_adapter *fake_adapter_open_kernel(void)
{
    struct nd_adapter *adapter = fake_adapter_open();

    adapter->dialect = &nd_dialect_kernel;
    adapter->port.caps.send_invalidate = true;
    return adapter;
}

void fake_device_marks(bool marks)
{
    fake_device.marks = marks;
    fake_verbs.mark_solicited = marks ? mark_solicited : NULL;
}

static void remove_shim(struct nd_adapter *adapter);

void fake_adapter_close(struct nd_adapter *adapter)
{
    nd_regions_fini(&adapter->regions);
    assert_int_equal(atomic_load(&adapter->object.pins), 1);
    assert_true(list_empty(&adapter->children));
    assert_true(list_empty(&adapter->bound_windows));
    assert_true(list_empty(&adapter->invalidating_windows));
    assert_int_equal(atomic_load(&adapter->frmr_count), 0);
    remove_shim(adapter);
    assert_int_equal(fake_device.objects, 0);
    assert_int_equal(fake_file_pins(), 0);
    assert_int_equal(fake_sink_counts.started, fake_sink_counts.completed);
}

/* ---- what the device does ---- */

struct fake_cq *fake_cq_of(struct nd_cq *cq)
{
    struct ibv_cq *ibv = cq->poll.ibv;

    return (struct fake_cq *)(ibv->context == &the_context ? ibv : ((struct shim_cq *)ibv)->device);
}

struct fake_qp *fake_qp_of(struct nd_qp *qp)
{
    struct ibv_qp *ibv = qp->ibv;

    return (struct fake_qp *)(ibv->context == &the_context ? ibv : ((struct shim_qp *)ibv)->device);
}

struct fake_srq *fake_srq_of(struct nd_srq *srq)
{
    struct ibv_srq *ibv = srq->ibv;

    return (
        struct fake_srq *)(ibv->context == &the_context ? ibv : ((struct shim_srq *)ibv)->device);
}

void fake_adapter_shim(struct nd_adapter *adapter, nd_quirk_set quirks)
{
    struct nd_port *port = &adapter->port;

    the_context.async_fd = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(nd_shim_open(&port->verbs, &port->context, quirks), 0);
    adapter->verbs = port->verbs;
    assert_non_null(port->pd = port->verbs->alloc_pd(port->context));
    assert_non_null(adapter->channel = port->verbs->create_comp_channel(port->context));
}

static void remove_shim(struct nd_adapter *adapter)
{
    struct nd_port *port = &adapter->port;

    if (port->context == &the_context)
        return;
    assert_int_equal(port->verbs->destroy_comp_channel(adapter->channel), 0);
    assert_int_equal(port->verbs->dealloc_pd(port->pd), 0);
    assert_int_equal(port->verbs->close_device(port->context), 0);
}

void fake_cq_push(struct nd_cq *cq, const struct ibv_wc *wc, bool solicited)
{
    struct fake_cq *fake = fake_cq_of(cq);

    pthread_mutex_lock(&entries_lock);
    assert_true(fake->count < FAKE_QUEUE && fake->count < (unsigned)fake->ibv.cqe);
    fake->entries[fake->count] = *wc;
    if (fake_device.marks && solicited && wc->status == IBV_WC_SUCCESS)
        fake->entries[fake->count].wc_flags |= 1 << 30;
    fake->count++;
    pthread_mutex_unlock(&entries_lock);
    if (fake->armed && (!fake->armed_solicited_only || solicited || wc->status != IBV_WC_SUCCESS)) {
        fake->armed = false;
        fake->event = true;
    }
}

bool fake_cq_deliver(struct nd_cq *cq)
{
    struct fake_cq *fake = fake_cq_of(cq);

    if (!fake->event)
        return false;
    fake->event = false;
    nd_cq_event(cq);
    return true;
}

void fake_complete(struct nd_cq *cq, struct fake_queue *queue, struct ibv_qp *qp, unsigned count,
    enum ibv_wc_status status)
{
    assert_true(count <= queue->count);
    for (unsigned i = 0; i < count; i++) {
        struct ibv_wc wc = {
            .wr_id = queue->requests[i].wr_id, .status = status, .qp_num = qp->qp_num, .byte_len = 8
        };

        if (status != IBV_WC_SUCCESS || queue->requests[i].send_flags & IBV_SEND_SIGNALED)
            fake_cq_push(cq, &wc, false);
    }
    memmove(queue->requests, queue->requests + count,
        (queue->count - count) * sizeof(queue->requests[0]));
    queue->count -= count;
}
