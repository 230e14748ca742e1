/* SPDX-License-Identifier: MIT */
/*
 * qp_table.c - a device's queue pairs by number, and which connection one has.
 *
 * A number is a slot and, in its upper octet, how often the slot was given away: the number of a destroyed queue pair
 * finds nothing for a long time.
 */
#include "softrdma/qp_table.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOT_BITS = 16, FIRST_SLOTS = 64, MAX_SLOTS = 1 << SLOT_BITS };
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

void srd_device_remove_qp(struct ibv_context *context, uint32_t qp_num)
{
    struct srd_device *device = srd_device_of(context);
    struct srd_qp_slot *slot;

    if (srd_stale(context))
        return;
    lock_acquire(&device->qp_lock);
    slot = slot_locked(device, qp_num);
    if (slot) {
        slot->qp = NULL;
        slot->generation++;
        slot->next_free = device->free_qp;
        device->free_qp = (uint32_t)(slot - device->qps);
    }
    lock_release(&device->qp_lock);
}

struct srd_qp *srd_device_find_qp(struct srd_device *device, uint32_t qp_num)
{
    struct srd_qp_slot *slot;
    struct srd_qp *qp = NULL;

    lock_acquire(&device->qp_lock);
    slot = slot_locked(device, qp_num);
    if (slot) {
        qp = slot->qp;
        srd_qp_pin(qp);
    }
    lock_release(&device->qp_lock);
    return qp;
}

int srd_device_bind_conn(struct srd_device *device, struct srd_qp *qp, struct srd_conn *conn)
{
    struct srd_qp_slot *slot;
    int error = 0;

    lock_acquire(&qp->sq.lock);
    lock_acquire(&device->qp_lock);
    slot = slot_locked(device, qp->qp.qp_num);
    if (!slot || slot->qp != qp) {
        error = EINVAL; /* destroyed since */
    } else if (qp->conn) {
        error = EISCONN;
    } else {
        srd_conn_ref(conn);
        conn->qp = qp;
        qp->conn = conn;
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
