/* SPDX-License-Identifier: MIT */
/*
 * cm_ep.c - what librdmacm makes out of its own calls: endpoints, their requests, shared receive queues on an id,
 * devices.
 */
#include "softrdma/cm.h"

#include <errno.h>
#include <stdlib.h>

/* rdma_create_ep(3): how long resolving may take. */
enum { RESOLVE_MS = 2000 };

static int make_listening(struct srd_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
    const struct ibv_qp_init_attr *attr)
{
    if (attr) {
        id->child_attr = malloc(sizeof(*attr));
        if (!id->child_attr)
            return -1;
        *id->child_attr = *attr;
        id->child_attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
    }
    if (srd_bind_addr(&id->ibv, res->ai_src_addr))
        return -1;
    if (pd)
        id->ibv.pd = pd;
    return 0;
}

static int make_connecting(struct rdma_cm_id *id, const struct rdma_addrinfo *res,
    struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    if (srd_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr, RESOLVE_MS) ||
        srd_resolve_route(id, RESOLVE_MS))
        return -1;
    if (!attr)
        return 0;
    attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
    return srd_create_id_qp(id, pd, attr);
}

int srd_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *res, struct ibv_pd *pd,
    struct ibv_qp_init_attr *attr)
{
    struct rdma_cm_id *id;
    int error;

    if (srd_create_id(NULL, &id, NULL, (enum rdma_port_space)res->ai_port_space))
        return -1;
    if (res->ai_flags & RAI_PASSIVE ? make_listening(srd_id_from(id), res, pd, attr)
                                    : make_connecting(id, res, pd, attr)) {
        error = errno;
        srd_destroy_ep(id);
        errno = error;
        return -1;
    }
    *out = id;
    return 0;
}

void srd_destroy_ep(struct rdma_cm_id *id)
{
    if (id->qp)
        srd_destroy_id_qp(id);
    if (id->srq)
        srd_destroy_id_srq(id);
    srd_destroy_id(id);
}

int srd_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
    struct rdma_cm_event *event;
    struct ibv_qp_init_attr attr;
    int error = 0;

    if (!srd_id_from(listen)->tail.sync) {
        errno = EINVAL;
        return -1;
    }
    srd_id_forget_event(listen);
    if (srd_get_cm_event(listen->channel, &event))
        return -1;
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        listen->event = event;
        errno = EINVAL;
        return -1;
    }
    if (srd_id_from(listen)->child_attr) {
        attr = *srd_id_from(listen)->child_attr;
        if (srd_create_id_qp(event->id, listen->pd, &attr))
            error = errno;
    }
    if (error) {
        srd_destroy_id(event->id); /* refuses it */
        srd_ack_cm_event(event);
        errno = error;
        return -1;
    }
    *id = event->id;
    (*id)->event = event;
    return 0;
}

int srd_create_id_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct ibv_srq *srq;

    if (!id->verbs || id->srq || (pd && pd->context->device != id->verbs->device)) {
        errno = EINVAL;
        return -1;
    }
    srq = srd_create_srq(pd ? pd : id->pd, attr);
    if (!srq)
        return -1;
    id->srq = srq;
    id->pd = srq->pd;
    return 0;
}

void srd_destroy_id_srq(struct rdma_cm_id *id)
{
    if (id->srq)
        srd_destroy_srq(id->srq);
    id->srq = NULL;
}

struct ibv_context **srd_get_devices(int *num_devices)
{
    struct ibv_context **contexts;
    struct ibv_device **devices;
    struct ibv_pd *pd;
    int count;

    devices = srd_get_device_list(&count);
    contexts = devices ? calloc((size_t)count + 1, sizeof(struct ibv_context *)) : NULL;
    for (int i = 0; contexts && i < count; i++) {
        contexts[i] = srd_device_shared((struct srd_device *)devices[i], &pd);
        if (!contexts[i]) {
            free(contexts);
            contexts = NULL;
        }
    }
    srd_free_device_list(devices);
    if (contexts && num_devices)
        *num_devices = count;
    return contexts;
}

void srd_free_devices(struct ibv_context **list)
{
    free(list);
}
