/* SPDX-License-Identifier: MIT */
/* core_fake_v1.h - a queue pair of version 1 on the played device, with some registered memory: a fixture. */
#ifndef TESTS_UNIT_NDSPI_CORE_FAKE_V1_H
#define TESTS_UNIT_NDSPI_CORE_FAKE_V1_H

#include "tests/unit/ndspi/core_fake.h"

struct fake_v1 {
    struct nd_adapter *adapter;
    struct nd_cq *cq; /* NULL: the test has released it; the same for qp */
    struct nd_qp *qp;
    struct fake_qp *device;
    char memory[256];
    void *mr; /* the handle of memory */
    ND_RESULT results[48];
};

/* Ready to send; depth in requests, of both queues. state out: the fixture. */
int fake_v1_set_up(void **state, uint32_t depth);
/* Fails also when anything of the device is left. */
int fake_v1_tear_down(void **state);

size_t fake_v1_fetch(struct fake_v1 *f, ND_RESULT **results, size_t room);
/* The oldest initiator requests. */
void fake_v1_sends_end(struct fake_v1 *f, unsigned count, enum ibv_wc_status status);

#endif
