/* SPDX-License-Identifier: MIT */
/* qp_table.h - a device's queue pairs by number, and the connection each has. */
#ifndef SOFTRDMA_QP_TABLE_H
#define SOFTRDMA_QP_TABLE_H

#include "softrdma/conn.h"
#include "softrdma/device.h"
#include "softrdma/qp.h"

/*
 * srd_device_add_qp - give a queue pair its 24-bit number. Returns 0 or ENOMEM (table full too).
 * srd_device_remove_qp - from here on it is not found any more.
 * srd_device_find_qp - by number, pinned (srd_qp_pin); NULL when there is none.
 */
int srd_device_add_qp(struct ibv_context *context, struct srd_qp *qp, uint32_t *qp_num);
void srd_device_remove_qp(struct ibv_context *context, uint32_t qp_num);
struct srd_qp *srd_device_find_qp(struct srd_device *device, uint32_t qp_num);

/*
 * srd_device_bind_conn - make conn the connection of a queue pair that was found: conn->qp has the caller's pin now,
 * qp->conn a reference. Returns 0, EINVAL (it was destroyed since), EISCONN.
 * srd_device_unbind_conn - take it off; the caller has the reference. NULL: there was none.
 */
int srd_device_bind_conn(struct srd_device *device, struct srd_qp *qp, struct srd_conn *conn);
struct srd_conn *srd_device_unbind_conn(struct srd_qp *qp);

/*
 * srd_qp_conn - the queue pair's connection, with a reference of the caller's (srd_conn_unref, no lock held); NULL:
 * there is none, or none any more. Another thread may end it meanwhile: the queue pair's own reference keeps nothing
 * alive.
 */
struct srd_conn *srd_qp_conn(struct srd_qp *qp);

static inline struct srd_conn *srd_qp_conn_locked(struct srd_qp *qp)
{
    lock_assert_held(&qp->sq.lock);
    if (qp->conn)
        srd_conn_ref(qp->conn);
    return qp->conn;
}

#endif
