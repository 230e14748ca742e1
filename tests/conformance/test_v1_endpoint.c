/* SPDX-License-Identifier: MIT */
/*
 * test_v1_endpoint.c - INDEndpoint: results as the clients' own structures, lengths, inline data, flags, batches.
 */
#include "fixture_v1.h"

/* Results */

/* As in client programs: the result first, their own data about the request behind it. */
struct client_request {
    ND_RESULT result;
    int number;
    BYTE behind[12];
};

/* GetResults gives back addresses, in order; the structure is touched then and at no other time. */
static void result_is_the_clients_own(void)
{
    enum { COUNT = 8 };
    struct pair *pair = connected_pair(&(struct pair_options){ .passive = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    struct client_request *requests = keep_memory(COUNT * sizeof(*requests));
    ND_RESULT *results[COUNT + 1], sent;
    memset(requests, 0x3C, COUNT * sizeof(*requests));
    struct client_request untouched = requests[0];
    for (int i = 0; i < COUNT; i++) {
        requests[i].number = i;
        expect_status(ND_SUCCESS, receive_v1(p, &requests[i].result, 0, 100));
    }
    /* Where a Send ends before its message is there, all results have come once the last message is told. */
    struct op *last = new_op();
    expect_status(ND_PENDING, CALL(p->cq, Notify, ND_CQ_NOTIFY_SOLICITED, &last->overlapped));
    for (int i = 0; i < COUNT; i++) {
        const DWORD flags = i == COUNT - 1 ? ND_OP_FLAG_SEND_AND_SOLICIT_EVENT : 0;
        expect_status(ND_SUCCESS, send_v1(a, &sent, 0, (SIZE_T)i, flags));
        expect_own(a->cq, &sent, ND_SUCCESS, (SIZE_T)i);
    }
    expect_status(ND_SUCCESS, wait_op(p->cq, last));
    for (int i = 0; i < COUNT; i++)
        expect_equal(0, memcmp(&requests[i].result, &untouched.result, sizeof(ND_RESULT)));
    memset(results, 0, sizeof(results));
    expect_equal(3, CALL(p->cq->v1, GetResults, results, 3));
    expect_equal(COUNT - 3, CALL(p->cq->v1, GetResults, results + 3, COUNT - 2));
    expect_pointer(NULL, results[COUNT]);
    for (int i = 0; i < COUNT; i++) {
        const struct client_request *got = (const void *)results[i];
        expect_pointer(&requests[i], got);
        expect_equal(i, got->number);
        expect_status(ND_SUCCESS, got->result.Status);
        expect_equal(i, got->result.BytesTransferred);
        expect_equal(0, memcmp(got->behind, untouched.behind, sizeof(got->behind)));
    }
}

/* Of entries that follow each other, as fit_entries. */
static SIZE_T fit_v1(const struct end *end, ND_SGE *sge, SIZE_T n)
{
    for (; n > end->node->info.MaxInitiatorSge; n--)
        sge[n - 2].Length += sge[n - 1].Length;
    return n;
}

/* Sent, fetched and stored octets for the maker, received ones for the other side; none for the window's requests. */
static void lengths_of_each_kind(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .passive = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    INDMemoryWindow *window = new_window_v1(p->node, NULL);
    ND_MW_DESCRIPTOR there =
        bind_v1(p, window, 0, 4096, ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE);
    ND_RESULT r[6], received[2];
    ND_SGE sge[3] = { sge_v1(a, 0, 10), sge_v1(a, 500, 20), sge_v1(a, 900, 3) };
    ND_SGE fetched[2] = { sge[0], sge[1] };
    SIZE_T n = fit_v1(a, sge, 3);
    for (int i = 0; i < 2; i++)
        expect_status(ND_SUCCESS, receive_v1(p, &received[i], 8192, 1000));
    expect_status(ND_SUCCESS, CALL(a->qp->v1, Send, &r[0], sge, n, 0));
    expect_status(
        ND_SUCCESS, CALL(a->qp->v1, Read, &r[1], fetched, fit_v1(a, fetched, 2), &there, 5, 0));
    expect_status(ND_SUCCESS, CALL(a->qp->v1, Write, &r[2], sge, n, &there, 0, 0));
    expect_status(ND_SUCCESS, CALL(a->qp->v1, Send, &r[3], NULL, 0, 0));
    expect_own(a->cq, &r[0], ND_SUCCESS, 33);
    expect_own(a->cq, &r[1], ND_SUCCESS, 30);
    expect_own(a->cq, &r[2], ND_SUCCESS, 33);
    expect_own(a->cq, &r[3], ND_SUCCESS, 0);
    expect_own(p->cq, &received[0], ND_SUCCESS, 33);
    expect_own(p->cq, &received[1], ND_SUCCESS, 0);
    expect_status(ND_SUCCESS, CALL(p->qp->v1, Invalidate, &r[4], window, 0));
    expect_own(p->initiator_cq, &r[4], ND_SUCCESS, 0);
}

static void failed_results_tell_no_length(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .active = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    ND_MW_DESCRIPTOR nowhere = { 0, ~(UINT64)0, 0x01020304 };
    ND_RESULT written, sent, received, far_received;
    expect_status(ND_SUCCESS, receive_v1(a, &received, 0, 100));
    expect_status(ND_SUCCESS, receive_v1(p, &far_received, 0, 100));
    expect_status(ND_SUCCESS, write_v1(a, &written, 0, 64, &nowhere, 8, 0));
    expect_status(ND_SUCCESS, send_v1(a, &sent, 0, 64, ND_OP_FLAG_SILENT_SUCCESS));
    expect_own(a->initiator_cq, &written, ND_REMOTE_ERROR, 0);
    expect_own(a->initiator_cq, &sent, ND_CANCELED, 0);
    expect_own(a->cq, &received, ND_CANCELED, 0);
    expect_own(p->cq, &far_received, ND_CANCELED, 0);
}

/* A request without a result has no identity. */
static void no_result_given(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    ND_MW_DESCRIPTOR there = { 0, 0, 0 };
    expect_true(FAILED(send_v1(a, NULL, 0, 8, 0)));
    expect_true(FAILED(receive_v1(a, NULL, 0, 8)));
    expect_true(FAILED(write_v1(a, NULL, 0, 8, &there, 0, 0)));
    exchange_v1(a, &pair->passive);
}

/* Arguments */

static void flags_of_each_kind(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    INDEndpoint *endpoint = a->qp->v1;
    INDMemoryWindow *window = new_window_v1(a->node, NULL);
    ND_SGE sge = sge_v1(a, 0, 8);
    ND_MW_DESCRIPTOR there = { 0, 0, 0 }, out;
    ND_RESULT r;
    for (int bit = 0; bit < 32; bit++) {
        DWORD flag = (DWORD)1 << bit;
        note("flag 0x%x", (unsigned)flag);
        if (!(flag & 0x07)) {
            expect_status(ND_INVALID_PARAMETER_4, CALL(endpoint, Send, &r, &sge, 1, flag));
            expect_status(ND_INVALID_PARAMETER_5,
                CALL(endpoint, SendAndInvalidate, &r, &sge, 1, &there, flag));
        }
        if (!(flag & 0x1B))
            expect_status(ND_INVALID_PARAMETER_6, CALL(endpoint, Bind, &r, a->memory.mr->handle,
                                                      window, a->memory.bytes, 8, flag, &out));
        if (!(flag & 0x03)) {
            expect_status(ND_INVALID_PARAMETER_3, CALL(endpoint, Invalidate, &r, window, flag));
            expect_status(
                ND_INVALID_PARAMETER_6, CALL(endpoint, Read, &r, &sge, 1, &there, 0, flag));
            expect_status(
                ND_INVALID_PARAMETER_6, CALL(endpoint, Write, &r, &sge, 1, &there, 0, flag));
        }
    }
    exchange_v1(a, &pair->passive);
}

/* Lengths are pointer-sized here; what a request carries is not. */
static void one_entry_beyond_32_bits(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    ND_MW_DESCRIPTOR there = { 0, ~(UINT64)0, 0 };
    ND_RESULT r;
    if (sizeof(SIZE_T) < 8)
        return; /* such a length cannot be said */
    SIZE_T length = (SIZE_T)1 << (sizeof(SIZE_T) * 4);
    expect_status(ND_BUFFER_OVERFLOW, send_v1(a, &r, 0, length, 0));
    expect_status(ND_BUFFER_OVERFLOW, receive_v1(a, &r, 0, length));
    expect_status(ND_BUFFER_OVERFLOW, read_v1(a, &r, 0, length, &there, 0, 0));
    expect_status(ND_BUFFER_OVERFLOW, write_v1(a, &r, 0, length + 8, &there, 0, 0));
    ND_SGE sge[2] = { sge_v1(a, 0, (SIZE_T)-8), sge_v1(a, 0, 16) }; /* 8 when it wraps */
    expect_status(a->node->info.MaxInitiatorSge < 2 ? ND_DATA_OVERRUN : ND_BUFFER_OVERFLOW,
        CALL(a->qp->v1, Send, &r, sge, 2, 0));
    exchange_v1(a, &pair->passive);
}

/* A handle that is none, of another adapter, or no longer one: refused in the call by every request. */
static void stale_and_foreign_handles(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    struct memory stale = new_memory(a->node, 64, 0), foreign = new_memory(new_node(), 64, 0);
    struct op *op = new_op();
    expect_status(ND_SUCCESS, finish(stale.mr, CALL(stale.mr, Deregister, &op->overlapped), op));
    const ND_MR_HANDLE bad[] = { stale.mr->handle, foreign.mr->handle,
        (ND_MR_HANDLE)(uintptr_t)0xDEADBEEF, (ND_MR_HANDLE)(uintptr_t)1,
        (ND_MR_HANDLE)a->memory.bytes };
    ND_MW_DESCRIPTOR there = { 0, ~(UINT64)0, 0 }, out;
    INDMemoryWindow *window = new_window_v1(a->node, NULL);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ND_SGE sge[2] = { sge_v1(a, 0, 8), { a->memory.bytes, 8, bad[i] } };
        SIZE_T n = least(2, a->node->info.MaxInitiatorSge);
        ND_SGE *last = sge + 2 - n;
        ND_RESULT r;
        note("handle %d", (int)i);
        expect_status(ND_INVALID_HANDLE, CALL(a->qp->v1, Send, &r, last, n, 0));
        expect_status(ND_INVALID_HANDLE, CALL(a->qp->v1, Receive, &r, sge, 2));
        expect_status(ND_INVALID_HANDLE, CALL(a->qp->v1, Read, &r, last, n, &there, 0, 0));
        expect_status(ND_INVALID_HANDLE, CALL(a->qp->v1, Write, &r, last, n, &there, 0, 0));
        expect_status(ND_INVALID_HANDLE,
            CALL(a->qp->v1, Bind, &r, bad[i], window, a->memory.bytes, 8, 0, &out));
        expect_status(
            ND_INVALID_HANDLE, CALL(a->node->v1, DeregisterMemory, bad[i], &op->overlapped));
    }
    exchange_v1(a, &pair->passive);
}

/* Inline data */

/* A NULL handle: the data is taken in the call, and nothing is registered. */
static void null_handle_is_inline(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    BYTE data[24];
    ND_SGE sge[2] = { { data, 16, NULL }, { data + 16, 8, NULL } };
    SIZE_T n = fit_v1(a, sge, 2);
    ND_RESULT sent, received, written;
    ND_MW_DESCRIPTOR there =
        bind_v1(p, new_window_v1(p->node, NULL), 2000, 100, ND_OP_FLAG_ALLOW_WRITE);
    fill(data, 24, 5);
    expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 24));
    expect_status(ND_SUCCESS, CALL(a->qp->v1, Write, &written, sge, n, &there, 50, 0));
    expect_status(ND_SUCCESS, CALL(a->qp->v1, Send, &sent, sge, n, 0));
    memset(data, 0, sizeof(data));
    expect_own(p->cq, &received, ND_SUCCESS, 24);
    expect_own(a->cq, &written, ND_SUCCESS, 24);
    expect_own(a->cq, &sent, ND_SUCCESS, 24);
    expect_filled(p->memory.bytes, 24, 5);
    expect_filled(p->memory.bytes + 2050, 24, 5);
}

/* The endpoint says how much; one octet more is too much. Nothing can be received or fetched into no memory. */
static void inline_limits(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    SIZE_T limit = a->qp->inline_bytes;
    BYTE *data = keep_memory(limit + 1);
    ND_SGE sge = { data, limit + 1, NULL };
    ND_MW_DESCRIPTOR there = { 0, ~(UINT64)0, 0 };
    ND_RESULT sent, received;
    expect_true(limit > 0);
    fill(data, limit + 1, 9);
    expect_status(ND_BUFFER_OVERFLOW, CALL(a->qp->v1, Send, &sent, &sge, 1, 0));
    expect_status(ND_BUFFER_OVERFLOW, CALL(a->qp->v1, Write, &sent, &sge, 1, &there, 0, 0));
    sge.Length = limit;
    expect_status(ND_SUCCESS, receive_v1(p, &received, 0, limit));
    expect_status(ND_SUCCESS, CALL(a->qp->v1, Send, &sent, &sge, 1, 0));
    expect_own(p->cq, &received, ND_SUCCESS, limit);
    expect_own(a->cq, &sent, ND_SUCCESS, limit);
    expect_filled(p->memory.bytes, limit, 9);
    /* The number of entries is the endpoint's, inline or not. */
    ND_SGE many[5] = { { data, 1, NULL }, { data, 1, NULL }, { data, 1, NULL }, { data, 1, NULL },
        { data, 1, NULL } };
    expect_status(ND_DATA_OVERRUN, CALL(a->qp->v1, Send, &sent, many, 5, 0));
    sge.Length = 8;
    expect_true(FAILED(CALL(a->qp->v1, Receive, &received, &sge, 1)));
    expect_true(FAILED(CALL(a->qp->v1, Read, &received, &sge, 1, &there, 0, 0)));
    exchange_v1(a, p);
}

/* Some by value, some by handle, in one request, as long as the latter are within the limit or not. */
static void inline_and_registered_entries_mixed(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    SIZE_T limit = a->qp->inline_bytes, large = limit + 1000, lengths[] = { 8, large };
    expect_true(large + 32 <= 32768);
    for (int i = 0; i < 2; i++) {
        SIZE_T n = lengths[i], total = n + 16 + 4;
        BYTE head[16], tail[4], *all = keep_memory(total);
        ND_RESULT sent, received;
        note("%llu registered octets", (unsigned long long)n);
        fill(all, total, (unsigned)i);
        memcpy(head, all, 16);
        memcpy(a->memory.bytes, all + 16, n);
        memcpy(tail, all + 16 + n, 4);
        ND_SGE sge[3] = { { head, 16, NULL }, sge_v1(a, 0, n), { tail, 4, NULL } };
        expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 40000));
        expect_status(ND_SUCCESS, CALL(a->qp->v1, Send, &sent, sge, 3, 0));
        memset(head, 0, sizeof(head));
        memset(tail, 0, sizeof(tail));
        expect_own(p->cq, &received, ND_SUCCESS, total);
        expect_own(a->cq, &sent, ND_SUCCESS, total);
        expect_filled(p->memory.bytes, total, (unsigned)i);
    }
}

/* Batches */

enum { BATCH = 6 };

static void start_batch(struct pair *pair, ND_RESULT *sent, ND_RESULT *received)
{
    struct end *a = &pair->active, *p = &pair->passive;
    for (int i = 0; i < BATCH; i++)
        expect_status(ND_SUCCESS, receive_v1(p, &received[i], (SIZE_T)i * 64, 64));
    CALL(a->qp->v1, StartRequestBatch);
    for (int i = 0; i < BATCH; i++) {
        fill(a->memory.bytes + i * 64, 64, (unsigned)i);
        ND_SGE sge = sge_v1(a, (SIZE_T)i * 64, 64);
        expect_status(ND_SUCCESS, CALL(a->qp->v1, Send, &sent[i], &sge, 1, 0));
        memset(&sge, 0xEE, sizeof(sge)); /* copied in the call */
    }
}

static void batch_arrives(struct pair *pair, ND_RESULT *sent, ND_RESULT *received)
{
    for (int i = 0; i < BATCH; i++) {
        expect_own(pair->passive.cq, &received[i], ND_SUCCESS, 64);
        expect_filled(pair->passive.memory.bytes + i * 64, 64, (unsigned)i);
    }
    for (int i = 0; i < BATCH; i++)
        expect_own(pair->active.cq, &sent[i], ND_SUCCESS, 64);
}

static void batch_is_submitted(void)
{
    struct pair *pair = connected_pair(NULL);
    ND_RESULT sent[BATCH], received[BATCH];
    for (int round = 0; round < 5; round++) {
        start_batch(pair, sent, received);
        CALL(pair->active.qp->v1, SubmitRequestBatch);
        batch_arrives(pair, sent, received);
    }
    CALL(pair->active.qp->v1, SubmitRequestBatch); /* nothing is open: nothing happens */
    exchange_v1(&pair->active, &pair->passive);
}

/* GetResults posts an open batch, so its results come. */
static void get_results_submits_the_batch(void)
{
    struct pair *pair = connected_pair(NULL);
    ND_RESULT sent[BATCH], received[BATCH];
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    start_batch(pair, sent, received);
    for (int i = 0; i < BATCH; i++) {
        ND_RESULT *got = NULL;
        while (CALL(pair->active.cq->v1, GetResults, &got, 1) == 0) {
            expect_true(GetTickCount64() < end);
            SwitchToThread();
        }
        expect_pointer(&sent[i], got);
        expect_status(ND_SUCCESS, got->Status);
    }
    for (int i = 0; i < BATCH; i++)
        expect_own(pair->passive.cq, &received[i], ND_SUCCESS, 64);
    CALL(pair->active.qp->v1, SubmitRequestBatch);
}

/* Limits are looked at in the call, not when the batch is submitted. */
static void batch_does_not_outgrow_the_queue(void)
{
    ULONG most = new_node()->info.MaxInitiatorSge, n = most < 2 ? most : 2;
    struct pair *pair =
        connected_pair(&(struct pair_options){ .active = { .initiator_depth = BATCH, .sge = n } });
    struct end *a = &pair->active;
    ND_RESULT sent[BATCH], received[BATCH], more;
    ND_SGE sge[3] = { sge_v1(a, 0, 1), sge_v1(a, 1, 1), sge_v1(a, 2, 1) };
    start_batch(pair, sent, received);
    expect_status(ND_NO_MORE_ENTRIES, send_v1(a, &more, 0, 8, 0));
    batch_arrives(pair, sent, received); /* a full queue submits */
    CALL(a->qp->v1, StartRequestBatch);
    expect_status(ND_DATA_OVERRUN, CALL(a->qp->v1, Send, &more, sge, n + 1, 0));
    expect_status(ND_INVALID_PARAMETER_4, send_v1(a, &more, 0, 8, 0x80));
    CALL(a->qp->v1, SubmitRequestBatch);
    exchange_v1(a, &pair->passive);
}

/* Requests in an open batch end like all others. */
static void flush_ends_the_batch(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    ND_RESULT sent[BATCH];
    CALL(a->qp->v1, StartRequestBatch);
    for (int i = 0; i < BATCH; i++)
        expect_status(ND_SUCCESS, send_v1(a, &sent[i], 0, 64, 0));
    expect_status(ND_SUCCESS, CALL(a->qp, Flush));
    for (int i = 0; i < BATCH; i++)
        expect_own(a->cq, &sent[i], ND_CANCELED, 0);
    CALL(a->qp->v1, SubmitRequestBatch);
}

static void release_ends_the_batch(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    ND_RESULT sent[BATCH];
    CALL(a->qp->v1, StartRequestBatch);
    for (int i = 0; i < BATCH; i++)
        expect_status(ND_SUCCESS, send_v1(a, &sent[i], 0, 64, 0));
    expect_equal(0, release_now(a->qp));
    for (int i = 0; i < BATCH; i++) {
        ND_RESULT *got = next_own(a->cq);
        expect_pointer(&sent[i], got);
        expect_one_of(got->Status, ND_CANCELED, ND_SUCCESS);
    }
}

/* Receives before the connection, in a batch, as a message-passing library posts them. */
static void batch_of_receives_before_connecting(void)
{
    struct pair *pair = new_pair(NULL);
    ND_RESULT received[BATCH], sent[BATCH];
    CALL(pair->passive.qp->v1, StartRequestBatch);
    for (int i = 0; i < BATCH; i++)
        expect_status(ND_SUCCESS, receive_v1(&pair->passive, &received[i], (SIZE_T)i * 64, 64));
    CALL(pair->passive.qp->v1, SubmitRequestBatch);
    connect_ends(pair);
    for (int i = 0; i < BATCH; i++) {
        fill(pair->active.memory.bytes + i * 64, 64, (unsigned)i);
        expect_status(ND_SUCCESS, send_v1(&pair->active, &sent[i], (SIZE_T)i * 64, 64, 0));
    }
    batch_arrives(pair, sent, received);
}

SUITE(v1_endpoint);
