/* SPDX-License-Identifier: MIT */
/* receive_side.h - an end that receives nothing for a while, as if a thread stood still in it. */
#ifndef TESTS_UNIT_SOFTRDMA_RECEIVE_SIDE_H
#define TESTS_UNIT_SOFTRDMA_RECEIVE_SIDE_H

#include "tests/unit/softrdma/pair.h"

#include "softrdma/connection/conn.h"
#include "softrdma/queues/qp.h"

static inline void end_stop_receiving(struct end *end)
{
    lock_acquire(&srd_qp_from(end->qp)->rx_lock);
}

/* The same thread, which reads if others came to meanwhile. */
static inline void end_let_receive(struct end *end)
{
    struct srd_qp *qp = srd_qp_from(end->qp);
    unsigned actions = srd_stream_leave_rx(qp);

    srd_conn_apply(qp->conn, actions);
}

#endif
