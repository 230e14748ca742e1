/* SPDX-License-Identifier: MIT */
/* fake_internal.h - what the two halves of the fake device share. */
#ifndef TESTS_SUPPORT_FAKE_INTERNAL_H
#define TESTS_SUPPORT_FAKE_INTERNAL_H

#include "tests/support/fake_device.h"

#include <stdatomic.h>

struct fake_state {
    enum fake_mode mode;
    _Atomic bool removed;
    bool no_answer;
    unsigned connects; /* calls of rdma_connect */
    unsigned live;
    unsigned async_unacked;
    struct ibv_context *context; /* the one opened last, while open */
    int error[FAKE_CALLS];       /* errno of a call that is to fail */
    enum ibv_port_state port_state;
    uint8_t link_layer;
    bool memory_lock;
};

extern struct fake_state fake;
extern atomic_flag fake_lock_word;

/* One lock for everything; inline, so that its cost is the device's when instructions are counted.
 */
static inline void fake_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&fake_lock_word, memory_order_acquire))
        __builtin_ia32_pause();
}

static inline void fake_unlock(void)
{
    atomic_flag_clear_explicit(&fake_lock_word, memory_order_release);
}

/* Whether the device is gone or the call is to fail; errno then says how. */
bool fake_fails(enum fake_call call);

_Noreturn void fake_abort(const char *what);

/* Objects of the device: counted, zeroed. Never NULL. */
void *fake_new(size_t octets);
void fake_free(void *object);
/* For a queue of events: readable while one is in it. Never -1. */
int fake_descriptor(void);

/* The context of every id. */
struct ibv_context *fake_cm_context(void);

#endif
