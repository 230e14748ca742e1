/* SPDX-License-Identifier: MIT */
/*
 * harness.h - what the tests of NDKPI have in common: an adapter of the loopback interface, and callbacks that keep
 * what they were told.
 */
#ifndef TESTS_UNIT_NDK_HARNESS_H
#define TESTS_UNIT_NDK_HARNESS_H

#include "tests/unit/util/cmocka_test.h"

#include <ndkl.h>
#include <ndkwdm.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Calls with callbacks end as by default; all by their callback; all by it inside the call. */
enum mode { BY_DEFAULT, FORCE_PENDING, FORCE_INLINE, MODES };

/* For adapters that are opened from now on. */
void mode_set(enum mode mode);

NDK_ADAPTER *adapter_open(USHORT major, USHORT minor);

/* What one callback was told. */
struct told {
    KEVENT event; /* set by the callback */
    atomic_uint count;
    NTSTATUS status;
    NDK_OBJECT_HEADER *object;
    pthread_t thread;
    KIRQL level;
};

void told_init(struct told *told);
/* Waits for it. */
void told_wait(struct told *told);

/* The callbacks; the context is a struct told. */
VOID tell_close(PVOID context);
VOID tell_request(PVOID context, NTSTATUS status);
VOID tell_create(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object);

/*
 * A create function's outcome in any mode: the object of an inline success, which is stored at out, or of the callback.
 * NULL: it failed.
 */
void *made(struct told *told, NTSTATUS status, void *out);
/* The same of a request: its final status. */
NTSTATUS ended(struct told *told, NTSTATUS status);

/* Calls a close function and waits for its end. */
void close_object(NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_OBJECT close);
#define close_pd(pd) close_object(&(pd)->Header, (pd)->Dispatch->NdkClosePd)

/* Fails the test where it cannot be made. */
NDK_PD *pd_create(NDK_ADAPTER *adapter);

/* Runs the tests in each mode. Returns the number of failures. */
#define run_in_modes(tests) run_in_modes_(tests, sizeof(tests) / sizeof((tests)[0]))
int run_in_modes_(const struct CMUnitTest *tests, size_t count);

#endif
