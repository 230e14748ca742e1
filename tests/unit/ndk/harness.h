/* SPDX-License-Identifier: MIT */
/*
 * harness.h - what the tests of NDKPI have in common: adapters, callbacks that keep what they were told, rows in each
 * mode.
 *
 * The rows run on any device: NDSPI_ADDRESS has the own end's IPv4 address (127.0.0.1 unless it is set), NDSPI_PEER the
 * peer's (the same), NDSPI_CONFORMANCE_DEVICE the device whose exceptions hold (tests/conformance/devices.h: rows are
 * named "ndk.suite.row").
 */
#ifndef TESTS_UNIT_NDK_HARNESS_H
#define TESTS_UNIT_NDK_HARNESS_H

#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

#include <ndkl.h>
#include <ndkwdm.h>

#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Calls with callbacks end as by default; all by their callback; all by it inside the call. */
enum mode { BY_DEFAULT, FORCE_PENDING, FORCE_INLINE, MODES };

/* For adapters that are opened from now on. */
void mode_set(enum mode mode);
/* The last one that was set. */
enum mode mode_now(void);

/*
 * The state of a test that breaks rules on purpose, to see what the library answers: where NDK_VERIFIER is set, the
 * test is skipped here.
 */
void *breaks_rules(void **state);

/* The two ends; port in host order, 0: any. */
struct sockaddr_in own_address(USHORT port);
struct sockaddr_in peer_address(USHORT port);

/*
 * What the device has: 2.1, or 1.1 where it cannot register fast. Tables of an adapter of 1.1 have the slots of later
 * versions, too; rows about something else use them.
 */
NDK_VERSION newest_version(void);

/* Whether both ends are on one device: then their objects go together. */
bool one_device(void);

/* Of the own end, and by default of the newest version. */
NET_IFINDEX own_interface(void);
NDK_ADAPTER *adapter_open(USHORT major, USHORT minor);
NDK_ADAPTER *adapter_open_newest(void);
NDK_ADAPTER *adapter_open_at(const struct sockaddr_in *address, USHORT major, USHORT minor);

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
#define close_pd(pd)   close_object(&(pd)->Header, (pd)->Dispatch->NdkClosePd)
#define close_mr(mr)   close_object(&(mr)->Header, (mr)->Dispatch->NdkCloseMr)
#define close_mw(mw)   close_object(&(mw)->Header, (mw)->Dispatch->NdkCloseMw)
#define close_cq(cq)   close_object(&(cq)->Header, (cq)->Dispatch->NdkCloseCq)
#define close_srq(srq) close_object(&(srq)->Header, (srq)->Dispatch->NdkCloseSrq)
#define close_qp(qp)   close_object(&(qp)->Header, (qp)->Dispatch->NdkCloseQp)

/* They fail the test where the object cannot be made. */
NDK_PD *pd_create(NDK_ADAPTER *adapter);
NDK_MR *mr_create(NDK_PD *pd);
/* Registered, with a chain of two MDLs. flags in: NDK_MR_FLAG_* */
NDK_MR *mr_register(NDK_PD *pd, void *memory, SIZE_T length, ULONG flags);
NDK_MW *mw_create(NDK_PD *pd);
/* Its notifications go to told, as tell_request. */
NDK_CQ *cq_create(NDK_ADAPTER *adapter, ULONG depth, struct told *told);
/* 16 requests of 4 entries each way, 64 bytes inline; the context is that of its results. */
NDK_QP *qp_create(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, void *context);

/* One entry of a list. */
static inline NDK_SGE sge(void *memory, ULONG length, UINT32 token)
{
    NDK_SGE sge = { .Length = length, .MemoryRegionToken = token };

    sge.VirtualAddress = memory;
    return sge;
}

/* The device whose exceptions hold; "": none. */
const char *device_name(void);

/* Whether the row that runs has to hold in full on this device. */
bool row_holds_in_full(void);

/*
 * Runs the rows of a suite once, or in each mode. Returns the number of failures.
 * suite  in: as in tests/conformance/ndk_rows.h; NULL: it runs on the embedded device alone
 */
#define run_rows(suite, tests)     run_rows_(suite, tests, sizeof(tests) / sizeof((tests)[0]))
#define run_in_modes(suite, tests) run_in_modes_(suite, tests, sizeof(tests) / sizeof((tests)[0]))
int run_rows_(const char *suite, const struct CMUnitTest *tests, size_t count);
int run_in_modes_(const char *suite, const struct CMUnitTest *tests, size_t count);

#endif
