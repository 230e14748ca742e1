/* SPDX-License-Identifier: MIT */
/* quirks.h - objects on a played device that has quirks, for tests that look at one quirk each. */
#ifndef TESTS_UNIT_NDSPI_VERBS_QUIRKS_H
#define TESTS_UNIT_NDSPI_VERBS_QUIRKS_H

#include "tests/unit/ndspi/core_fake.h"

enum { DEPTH = 8 };

struct quirks_fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    struct nd_mr *mr;
    struct nd_mw *mw;
    char memory[256];
    OVERLAPPED overlapped;
};
extern struct quirks_fixture f;

/* With the device's quirks; windows as they follow from them. */
void begin(nd_quirk_set quirks, enum nd_windows windows);
void end(void);

/* What the device holds. */
struct fake_queue *sends(void);
struct fake_queue *receives(void);
void device_ends(struct fake_queue *queue, unsigned count, enum ibv_wc_status status);

/* Post requests, each identified by its context; return the status of the call. */
uint32_t bind_it(uintptr_t context, uint32_t flags);
uint32_t invalidate_it(uintptr_t context, uint32_t flags);
uint32_t deregister_it(void);
uint32_t receive_it(uintptr_t context);
uint32_t send_it(uintptr_t context, uint32_t flags);

/* The next result, the only one there is room for; or that there is none. */
void expect(ND2_REQUEST_TYPE type, uintptr_t context, uint32_t status);
void expect_nothing(void);

#endif
