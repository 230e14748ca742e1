/* SPDX-License-Identifier: MIT */
/*
 * fixture_v1.h - what rows over version 1 alone need beside the shared fixture: requests with ND_RESULTs of their own.
 *
 * A row either posts through the verbs and takes results with expect_result, or posts on the interfaces and takes them
 * with expect_own; a queue that has both kinds on it breaches.
 */
#ifndef TESTS_CONFORMANCE_FIXTURE_V1_H
#define TESTS_CONFORMANCE_FIXTURE_V1_H

#include "fixture.h"

ND_SGE sge_v1(const struct end *end, SIZE_T offset, SIZE_T length);

/* On one entry of the end's own memory. */
HRESULT send_v1(struct end *end, ND_RESULT *result, SIZE_T offset, SIZE_T length, DWORD flags);
HRESULT receive_v1(struct end *end, ND_RESULT *result, SIZE_T offset, SIZE_T length);
HRESULT read_v1(struct end *end, ND_RESULT *result, SIZE_T offset, SIZE_T length,
    const ND_MW_DESCRIPTOR *remote, ULONGLONG remote_offset, DWORD flags);
HRESULT write_v1(struct end *end, ND_RESULT *result, SIZE_T offset, SIZE_T length,
    const ND_MW_DESCRIPTOR *remote, ULONGLONG remote_offset, DWORD flags);

/* A window over a part of the end's memory, bound and its completion taken. flags: ND_OP_FLAG_ALLOW_* */
ND_MW_DESCRIPTOR bind_v1(
    struct end *end, INDMemoryWindow *window, SIZE_T offset, SIZE_T length, DWORD flags);
/* result: completes when the peer invalidates the window; NULL: none */
INDMemoryWindow *new_window_v1(struct node *node, ND_RESULT *result);

/* Returns the ND_RESULT of the queue's next completion. Waits by Notify, or polls with --poll. */
ND_RESULT *next_own(struct cq *cq);
/* The next completion is of this result, with this status and length. */
#define expect_own(cq, result, status, octets)                                                     \
    check_own(__FILE__, __LINE__, cq, result, status, octets)
void check_own(const char *file, int line, struct cq *cq, const ND_RESULT *result, HRESULT status,
    SIZE_T octets);
/* Nothing is there. */
void expect_none_own(struct cq *cq);

/* A message between two connected ends of version 1 and both its results. */
void exchange_v1(struct end *from, struct end *to);

/* A 64-bit number of eight octets in network order, wherever they are. */
UINT64 number_at(const void *octets);

#endif
