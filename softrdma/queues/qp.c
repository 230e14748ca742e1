/* SPDX-License-Identifier: MIT */
/*
 * qp.c - a queue pair as an object: its memory, made with its queues and its stream and freed by the last pin;
 * its number; its connection.
 *
 * A number is a slot of the device's table and, in the 7 bits above, how often the slot was used before: so the number
 * of a destroyed queue pair finds nothing for a long time. A number with the highest of the 24 bits set names a TCP
 * port instead (cm/exchange.h).
 */
#include "softrdma/queues/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void srd_stream_init(struct srd_stream *stream)
{
    memset(stream, 0, sizeof(*stream));
    stream->rx.send_msn = stream->rx.read_msn = stream->rx.atomic_msn = 1;
    stream->tx.send_msn = stream->tx.read_msn = stream->tx.atomic_msn = 1;
    stream->tx.response_fault = SRD_FAULT_NONE;
    atomic_init(&stream->rnr_deadline_ms, UINT64_MAX);
    atomic_init(&stream->end_deadline_ms, UINT64_MAX);
}

void srd_stream_fini(struct srd_stream *stream)
{
    srd_buffer_unmap(stream->rx.staging, SRD_RX_STAGING);
    free(stream->rx.hold);
    srd_buffer_unmap(stream->tx.batch, sizeof(*stream->tx.batch) + stream->tx.room);
    free(stream->tx.salvage);
    free(stream->reads_in);
    free(stream->reads_out);
}

static void qp_free(struct srd_qp *qp)
{
    if (qp->exchange)
        qp->exchange->ops->free(qp->exchange);
    srd_stream_fini(&qp->stream);
    srd_sq_fini(&qp->sq);
    srd_rq_fini(&qp->own_rq);
    free(qp->drafts.memory);
    pthread_mutex_destroy(&qp->qp.mutex);
    pthread_cond_destroy(&qp->qp.cond);
    free(qp);
}

void srd_qp_unpin(struct srd_qp *qp)
{
    if (atomic_fetch_sub_explicit(&qp->pins, 1, memory_order_acq_rel) == 1)
        qp_free(qp);
}

/* Fills the public structure, and init_attr with what the queues granted. */
static void fill_public(struct srd_qp *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
    qp->qp.context = pd->context;
    qp->qp.qp_context = attr->qp_context;
    qp->qp.pd = pd;
    qp->qp.send_cq = attr->send_cq;
    qp->qp.recv_cq = attr->recv_cq;
    qp->qp.srq = attr->srq;
    qp->qp.state = IBV_QPS_RESET;
    qp->qp.qp_type = attr->qp_type;
    qp->init_attr = *attr;
    qp->attr.qp_access_flags =
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    atomic_init(&qp->remote_access, (int)qp->attr.qp_access_flags);
    qp->attr.port_num = 1;
    qp->rq = attr->srq ? &((struct srd_srq *)attr->srq)->rq : &qp->own_rq;
}

struct srd_qp *srd_qp_alloc(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
    struct srd_qp *qp = calloc(1, sizeof(*qp));

    if (!qp)
        return NULL;
    pthread_mutex_init(&qp->qp.mutex, NULL);
    pthread_cond_init(&qp->qp.cond, NULL);
    lock_init(&qp->rx_lock, LOCK_SRD_RX, "srd_rx");
    lock_init(&qp->tx_lock, LOCK_SRD_TX, "srd_tx");
    atomic_init(&qp->pins, 1);
    list_node_init(&qp->waiting_node);
    srd_stream_init(&qp->stream);
    if (srd_sq_init(&qp->sq, &attr->cap, attr->sq_sig_all) ||
        srd_rq_init(&qp->own_rq, attr->srq ? 0 : attr->cap.max_recv_wr, attr->cap.max_recv_sge)) {
        qp_free(qp);
        return NULL;
    }
    fill_public(qp, pd, attr);
    return qp;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

enum {
    SLOT_BITS = 16,
    FIRST_SLOTS = 64,
    MAX_SLOTS = 1 << SLOT_BITS,
    GENERATIONS = 1 << 7,
    PORT_BITS = 8
};
#define NO_SLOT UINT32_MAX

static bool grow_locked(struct srd_device *device)
{
    uint32_t old = device->n_qps, count = old ? old * 2 : FIRST_SLOTS;
    struct srd_qp_slot *slots;

    if (count > MAX_SLOTS || !(slots = realloc(device->qps, count * sizeof(*slots))))
        return false;
    for (uint32_t i = old; i < count; i++)
        slots[i] = (struct srd_qp_slot){ .next_free = i + 1 < count ? i + 1 : NO_SLOT };
    /* Number 0 is no queue pair; number 1 is special on InfiniBand. */
    device->free_qp = old ? old : 2;
    device->last_free_qp = count - 1;
    device->qps = slots;
    device->n_qps = count;
    return true;
}

int srd_device_add_qp(struct ibv_context *context, struct srd_qp *qp, uint32_t *qp_num)
{
    struct srd_device *device = srd_device_of(context);
    struct srd_qp_slot *slot;

    lock_acquire(&device->qp_lock);
    if (device->free_qp == NO_SLOT && !grow_locked(device)) {
        lock_release(&device->qp_lock);
        return ENOMEM;
    }
    *qp_num = device->free_qp;
    slot = &device->qps[device->free_qp];
    *qp_num |= (uint32_t)slot->generation << SLOT_BITS;
    device->free_qp = slot->next_free;
    slot->qp = qp;
    lock_release(&device->qp_lock);
    return 0;
}

static struct srd_qp_slot *slot_locked(struct srd_device *device, uint32_t qp_num)
{
    uint32_t index = qp_num & (MAX_SLOTS - 1);
    struct srd_qp_slot *slot = index < device->n_qps ? &device->qps[index] : NULL;

    lock_assert_held(&device->qp_lock);
    return slot && slot->qp && slot->generation == qp_num >> SLOT_BITS ? slot : NULL;
}

/* Finds the place of the queue pair whose number names a port. NULL: there is no such port here. */
static struct srd_qp **place_locked(struct srd_device *device, uint32_t qp_num)
{
    struct srd_qp_port *port = device->ports;

    lock_assert_held(&device->qp_lock);
    while (port && port->number != qp_num >> PORT_BITS)
        port = port->next;
    return port ? &port->qps[qp_num & (SRD_QP_PORT_QPS - 1)] : NULL;
}

static struct srd_qp *find_locked(struct srd_device *device, uint32_t qp_num)
{
    struct srd_qp_slot *slot = slot_locked(device, qp_num);
    struct srd_qp **place = slot ? NULL : place_locked(device, qp_num);

    return slot ? slot->qp : place ? *place : NULL;
}

static void remove_locked(struct srd_device *device, uint32_t qp_num)
{
    struct srd_qp_slot *slot = slot_locked(device, qp_num);
    struct srd_qp **place = slot ? NULL : place_locked(device, qp_num);

    if (slot) {
        slot->qp = NULL;
        slot->generation = (slot->generation + 1) % GENERATIONS;
        slot->next_free = NO_SLOT;
        if (device->free_qp == NO_SLOT)
            device->free_qp = (uint32_t)(slot - device->qps);
        else
            device->qps[device->last_free_qp].next_free = (uint32_t)(slot - device->qps);
        device->last_free_qp = (uint32_t)(slot - device->qps);
    } else if (place) {
        *place = NULL;
    }
}

void srd_device_remove_qp(struct ibv_context *context, uint32_t qp_num)
{
    struct srd_device *device = srd_device_of(context);

    if (srd_stale(context))
        return;
    lock_acquire(&device->qp_lock);
    remove_locked(device, qp_num);
    lock_release(&device->qp_lock);
}

struct srd_qp *srd_device_find_qp(struct srd_device *device, uint32_t qp_num)
{
    struct srd_qp *qp;

    lock_acquire(&device->qp_lock);
    qp = find_locked(device, qp_num);
    if (qp)
        srd_qp_pin(qp);
    lock_release(&device->qp_lock);
    return qp;
}

void srd_device_add_port(struct srd_device *device, struct srd_qp_port *port)
{
    lock_acquire(&device->qp_lock);
    port->next = device->ports;
    device->ports = port;
    lock_release(&device->qp_lock);
}

struct srd_qp_port *srd_device_join_port(struct srd_qp *qp)
{
    struct srd_device *device = srd_device_of(qp->qp.context);
    struct srd_qp_port *port;

    lock_acquire(&device->qp_lock);
    for (port = device->ports; port && port->users == SRD_QP_PORT_QPS; port = port->next)
        ;
    if (port) {
        while (port->qps[port->at])
            port->at++;
        remove_locked(device, qp->qp.qp_num);
        qp->qp.qp_num = (uint32_t)port->number << PORT_BITS | port->at;
        port->qps[port->at++] = qp;
        port->users++;
    }
    lock_release(&device->qp_lock);
    return port;
}

bool srd_device_leave_port(struct srd_device *device, struct srd_qp_port *port)
{
    struct srd_qp_port **link = &device->ports;
    bool last;

    lock_acquire(&device->qp_lock);
    last = !--port->users;
    if (last) {
        while (*link != port)
            link = &(*link)->next;
        *link = port->next;
    }
    lock_release(&device->qp_lock);
    return last;
}

/* --- its connection ----------------------------------------------------------------------------------------------- */

int srd_device_bind_conn(struct srd_device *device, struct srd_qp *qp, struct srd_conn *conn)
{
    int error = 0;

    lock_acquire(&qp->sq.lock);
    lock_acquire(&device->qp_lock);
    if (find_locked(device, qp->qp.qp_num) != qp) {
        error = EINVAL; /* it was destroyed since */
    } else if (qp->conn) {
        error = EISCONN;
    } else {
        qp->conn = conn;
        srd_qp_conn_locked(qp);
    }
    lock_release(&device->qp_lock);
    lock_release(&qp->sq.lock);
    return error;
}

struct srd_conn *srd_device_unbind_conn(struct srd_qp *qp)
{
    struct srd_conn *conn;

    if (srd_stale(qp->qp.context))
        return NULL;
    lock_acquire(&qp->sq.lock);
    conn = qp->conn;
    qp->conn = NULL;
    lock_release(&qp->sq.lock);
    return conn;
}

struct srd_conn *srd_qp_conn(struct srd_qp *qp)
{
    struct srd_conn *conn;

    lock_acquire(&qp->sq.lock);
    conn = srd_qp_conn_locked(qp);
    lock_release(&qp->sq.lock);
    return conn;
}
