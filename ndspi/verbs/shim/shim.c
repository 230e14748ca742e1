/* SPDX-License-Identifier: MIT */
/* shim.c - the shim's context and tables, and the calls that it only passes on. */
#include "ndspi/verbs/shim/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- context ---- */

static struct shim *shim_of(struct ibv_context *context)
{
    return (struct shim *)context;
}

static int query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    return shim_of(context)->below->query_device(shim_of(context)->device, attr);
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
    return shim_of(context)->below->query_port(shim_of(context)->device, port, attr);
}

static int query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    return shim_of(context)->below->query_gid(shim_of(context)->device, port, index, gid);
}

static int query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    return shim_of(context)->below->query_pkey(shim_of(context)->device, port, index, pkey);
}

static void free_shim(struct shim *shim)
{
    close(shim->ibv.async_fd);
    close(shim->event_fd);
    free(shim);
}

static int close_device(struct ibv_context *context)
{
    struct shim *shim = shim_of(context);
    int rc = shim->below->close_device(shim->device);

    if (!rc)
        free_shim(shim);
    return rc;
}

/* ---- protection domains and what is made in them ---- */

static struct ibv_pd *device_pd(struct ibv_pd *pd)
{
    return ((struct shim_pd *)pd)->device;
}

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
    struct shim *shim = shim_of(context);
    struct shim_pd *pd = calloc(1, sizeof(*pd));

    if (!pd || !(pd->device = shim->below->alloc_pd(shim->device))) {
        free(pd);
        return NULL;
    }
    pd->ibv.context = context;
    return &pd->ibv;
}

static int dealloc_pd(struct ibv_pd *pd)
{
    int rc = shim_of(pd->context)->below->dealloc_pd(device_pd(pd));

    if (!rc)
        free(pd);
    return rc;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
    return shim_of(pd->context)->below->reg_mr(device_pd(pd), address, length, access);
}

static struct ibv_mr *reg_mr_iova(
    struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access)
{
    return shim_of(pd->context)->below->reg_mr_iova(device_pd(pd), address, length, iova, access);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    return ibv_alloc_mw(device_pd(pd), type);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct shim_srq *srq = calloc(1, sizeof(*srq));
    struct ibv_srq_init_attr init = *attr;

    if (!srq) {
        errno = ENOMEM;
        return NULL;
    }
    init.srq_context = srq;
    if (!(srq->device = shim_of(pd->context)->below->create_srq(device_pd(pd), &init))) {
        free(srq);
        return NULL;
    }
    attr->attr = init.attr;
    srq->ibv =
        (struct ibv_srq){ .context = pd->context, .srq_context = attr->srq_context, .pd = pd };
    return &srq->ibv;
}

static struct ibv_srq *device_srq(struct ibv_srq *srq)
{
    return ((struct shim_srq *)srq)->device;
}

static int modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    return shim_of(srq->context)->below->modify_srq(device_srq(srq), attr, mask);
}

static int query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    return shim_of(srq->context)->below->query_srq(device_srq(srq), attr);
}

static int destroy_srq(struct ibv_srq *srq)
{
    int rc = shim_of(srq->context)->below->destroy_srq(device_srq(srq));

    if (!rc)
        free(srq);
    return rc;
}

/* ---- tables ---- */

static void fill_tables(struct shim *shim)
{
    struct nd_verbs *verbs = &shim->verbs;

    *verbs = *shim->below;
    verbs->close_device = close_device;
    verbs->query_device = query_device;
    verbs->query_port = query_port;
    verbs->query_gid = query_gid;
    verbs->query_pkey = query_pkey;
    verbs->get_async_event = shim_get_async_event;
    verbs->ack_async_event = shim_ack_async_event;
    verbs->alloc_pd = alloc_pd;
    verbs->dealloc_pd = dealloc_pd;
    verbs->reg_mr = reg_mr;
    if (verbs->reg_mr_iova)
        verbs->reg_mr_iova = reg_mr_iova;
    verbs->create_comp_channel = shim_create_comp_channel;
    verbs->destroy_comp_channel = shim_destroy_comp_channel;
    verbs->create_cq = shim_create_cq;
    verbs->resize_cq = shim_resize_cq;
    verbs->destroy_cq = shim_destroy_cq;
    verbs->get_cq_event = shim_get_cq_event;
    verbs->ack_cq_events = shim_ack_cq_events;
    verbs->create_srq = create_srq;
    verbs->modify_srq = modify_srq;
    verbs->query_srq = query_srq;
    verbs->destroy_srq = destroy_srq;
    verbs->create_qp = shim_create_qp;
    verbs->modify_qp = shim_modify_qp;
    verbs->query_qp = shim_query_qp;
    verbs->destroy_qp = shim_destroy_qp;
    verbs->attempt_ended = shim_attempt_ended;
    shim->ibv.ops.alloc_mw = alloc_mw;
    shim->ibv.ops.poll_cq = shim_poll_cq;
    shim->ibv.ops.req_notify_cq = shim_req_notify_cq;
    shim->ibv.ops.post_send = shim_post_send;
    shim->ibv.ops.post_recv = shim_post_recv;
    shim->ibv.ops.post_srq_recv = shim_post_srq_recv;
}

static int watch(int set, int fd)
{
    return epoll_ctl(set, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN });
}

/* One descriptor for the device's asynchronous events, rare as they are, and the shim's completion events. */
static int open_descriptors(struct shim *shim)
{
    int devices = shim->device->async_fd, flags = fcntl(devices, F_GETFL);

    shim->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    shim->ibv.async_fd = epoll_create1(EPOLL_CLOEXEC);
    if (shim->event_fd < 0 || shim->ibv.async_fd < 0 || flags < 0 ||
        fcntl(devices, F_SETFL, flags | O_NONBLOCK) || watch(shim->ibv.async_fd, devices) ||
        watch(shim->ibv.async_fd, shim->event_fd))
        return errno;
    return 0;
}

int nd_shim_open(const struct nd_verbs **verbs, struct ibv_context **context, nd_quirk_set quirks)
{
    struct shim *shim = calloc(1, sizeof(*shim));
    int error;

    if (!shim)
        return -ENOMEM;
    shim->below = *verbs;
    shim->device = *context;
    shim->quirks = quirks;
    shim->ibv.device = shim->device->device;
    shim->ibv.cmd_fd = shim->device->cmd_fd;
    shim->ibv.num_comp_vectors = shim->device->num_comp_vectors;
    fill_tables(shim);
    if ((error = open_descriptors(shim))) {
        free_shim(shim);
        return -error;
    }
    *verbs = &shim->verbs;
    *context = &shim->ibv;
    return 0;
}

void nd_shim_remove(const struct nd_verbs **verbs, struct ibv_context **context)
{
    struct shim *shim = shim_of(*context);

    *verbs = shim->below;
    *context = shim->device;
    free_shim(shim);
}
