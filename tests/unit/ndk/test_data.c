/* SPDX-License-Identifier: MIT */
/* test_data.c - requests of connected queue pairs, their results, and notifications. */
#include "tests/unit/ndk/pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the next result; waits for it by polling. */
static NDK_RESULT_EX next(NDK_CQ *cq)
{
    NDK_RESULT_EX result;

    memset(&result, 0xEE, sizeof(result));
    while (!cq->Dispatch->NdkGetCqResultsEx(cq, &result, 1))
        sched_yield();
    return result;
}

#define assert_result(cq, status, context, type, octets)                                           \
    do {                                                                                           \
        NDK_RESULT_EX result_ = next(cq);                                                          \
        assert_int_equal(result_.Status, (NTSTATUS)(status));                                      \
        assert_ptr_equal(result_.RequestContext, context);                                         \
        assert_int_equal(result_.Type, type);                                                      \
        assert_int_equal(result_.BytesTransferred, octets);                                        \
    } while (0)

static void assert_no_result(NDK_CQ *cq)
{
    NDK_RESULT result;

    assert_int_equal(cq->Dispatch->NdkGetCqResults(cq, &result, 1), 0);
}

static NTSTATUS post_receive(struct side *side, void *context, ULONG offset, ULONG length)
{
    NDK_SGE entry = sge(side->memory + offset, length, side->token);

    return side->qp->Dispatch->NdkReceive(side->qp, context, &entry, 1);
}

static NTSTATUS post_send(struct side *side, void *context, ULONG offset, ULONG length, ULONG flags)
{
    NDK_SGE entry = sge(side->memory + offset, length, side->token);

    return side->qp->Dispatch->NdkSend(side->qp, context, &entry, 1, flags);
}

enum { RECEIVE = 1, SEND = 2, BIND = 8, INVALIDATE = 16, READ = 32, WRITE = 64 };

static void messages_arrive(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_SGE list[4];
    NDK_RESULT plain;
    int a, b, c, d;

    memcpy(from->memory, "abcdefghij", 10);
    assert_int_equal(post_receive(to, &a, 0, 100), 0);
    assert_int_equal(post_send(from, &b, 0, 10, 0), 0);
    assert_result(to->receive_cq, 0, &a, RECEIVE, 10);
    assert_result(from->initiator_cq, 0, &b, SEND, 0);
    assert_memory_equal(to->memory, "abcdefghij", 10);
    /* Several pieces, empty ones among them. */
    list[0] = sge(from->memory + 5, 5, from->token);
    list[1] = sge(NULL, 0, 0);
    list[2] = sge(from->memory, 2, from->token);
    list[3] = sge(from->memory + 2, 1, from->token);
    assert_int_equal(post_receive(to, &c, 0, 8), 0);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, &d, list, 4, 0), 0);
    while (!to->receive_cq->Dispatch->NdkGetCqResults(to->receive_cq, &plain, 1))
        sched_yield();
    assert_int_equal(plain.Status, 0);
    assert_int_equal(plain.BytesTransferred, 8);
    assert_ptr_equal(plain.QPContext, to);
    assert_ptr_equal(plain.RequestContext, &c);
    assert_memory_equal(to->memory, "fghijabc", 8);
    assert_result(from->initiator_cq, 0, &d, SEND, 0);
    /* Nothing at all. */
    assert_int_equal(to->qp->Dispatch->NdkReceive(to->qp, &c, NULL, 0), 0);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, &d, NULL, 0, 0), 0);
    assert_result(to->receive_cq, 0, &c, RECEIVE, 0);
    assert_result(from->initiator_cq, 0, &d, SEND, 0);
}

static NTSTATUS post_both(struct side *side, NDK_SGE *entry)
{
    NTSTATUS status = side->qp->Dispatch->NdkReceive(side->qp, NULL, entry, 1);

    assert_int_equal(side->qp->Dispatch->NdkSend(side->qp, NULL, entry, 1, 0), status);
    return status;
}

/* The queue, its queue pair and the memory are of one domain, and not of the adapter's own. */
static void messages_arrive_by_a_shared_receive_queue(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_SGE entry = sge(to->memory + 32, 32, to->token);
    NDK_SRQ *srq = NULL;
    struct told told;
    int a, b;

    told_init(&told);
    srq = made(&told,
        to->pd->Dispatch->NdkCreateSrq(to->pd, 4, 1, 0, NULL, NULL, NULL, tell_create, &told, &srq),
        &srq);
    assert_non_null(srq);
    close_qp(to->qp);
    told_init(&told);
    to->qp = made(&told,
        to->pd->Dispatch->NdkCreateQpWithSrq(to->pd, to->receive_cq, to->initiator_cq, srq, to, 4,
            1, 0, tell_create, &told, &to->qp),
        &to->qp);
    assert_non_null(to->qp);
    pair_connect(pair);
    memcpy(from->memory, "abcdefghij", 10);
    assert_int_equal(srq->Dispatch->NdkSrqReceive(srq, &a, &entry, 1), 0);
    assert_int_equal(post_send(from, &b, 0, 10, 0), 0);
    assert_result(to->receive_cq, 0, &a, RECEIVE, 10);
    assert_result(from->initiator_cq, 0, &b, SEND, 0);
    assert_memory_equal(to->memory + 32, "abcdefghij", 10);
    close_connector(to->connector);
    to->connector = NULL;
    close_qp(to->qp);
    to->qp = NULL;
    close_srq(srq);
}

/* Queues keep the last token's key; not beyond the region's registration, nor for a token that is like it. */
static void tokens_are_forgotten(void **state)
{
    struct pair *pair = breaks_rules(state);
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_MR *first = mr_register(from->pd, from->memory, 100, NDK_MR_FLAG_ALLOW_LOCAL_WRITE);
    NDK_SGE entry = sge(from->memory, 10, first->Dispatch->NdkGetLocalTokenFromMr(first));
    NDK_SGE other = sge(from->memory, 10, from->token), bad = entry;

    for (int i = 0; i < 10; i++)
        assert_int_equal(post_receive(to, NULL, 0, 100), 0);
    assert_int_equal(post_both(from, &entry), 0); /* looked up */
    assert_int_equal(post_both(from, &entry), 0); /* known */
    bad.MemoryRegionToken++;
    assert_int_equal(post_both(from, &bad), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, NULL, NULL, 1, 0),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(from->qp->Dispatch->NdkReceive(from->qp, NULL, NULL, 1),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(post_both(from, &other), 0);
    assert_int_equal(post_both(from, &entry), 0);
    for (int i = 0; i < 4; i++)
        assert_result(from->initiator_cq, 0, NULL, SEND, 0);
    close_mr(first); /* flushes nothing: its Receives stay posted, and are not used */
    assert_int_equal(post_both(from, &entry), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(post_both(from, &other), 0);
    assert_result(from->initiator_cq, 0, NULL, SEND, 0);
    entry = other;
    entry.Length = 0x80000001; /* known, but too long */
    assert_int_equal(post_both(from, &entry), (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
}

static void inline_data_is_copied(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    char letters[] = "0123456789";
    NDK_SGE list[80];
    int a;

    for (int i = 0; i < 80; i++) /* more entries than the queue pair's or the device's limit */
        list[i] = sge(&letters[i % 10], i < 64, 0xFFFFFFFF);
    assert_int_equal(post_receive(to, &a, 0, 100), 0);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, &a, list, 80, NDK_OP_FLAG_INLINE), 0);
    memset(letters, 'x', 10);
    assert_result(to->receive_cq, 0, &a, RECEIVE, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(to->memory[i], '0' + i % 10);
    assert_result(from->initiator_cq, 0, &a, SEND, 0);
    list[64] = sge(letters, 1, 0); /* a byte too many */
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, &a, list, 65, NDK_OP_FLAG_INLINE),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, &a, NULL, 1, NDK_OP_FLAG_INLINE),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    list[0] = sge(letters, 10, 0);
    assert_int_equal(from->qp->Dispatch->NdkWrite(from->qp, &a, list, 1,
                         (UINT64)(ULONG_PTR)to->memory, to->remote_token, NDK_OP_FLAG_INLINE),
        0);
    assert_result(from->initiator_cq, 0, &a, WRITE, 0);
}

static void peers_memory_is_read_and_written(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_SGE entry = sge(from->memory, 4096, from->token);
    UINT64 there = (UINT64)(ULONG_PTR)to->memory;
    const NDK_QP_DISPATCH *qp = from->qp->Dispatch;
    int a, b;

    memset(from->memory, 'w', 4096);
    memset(to->memory + 8192, 'r', 4096);
    assert_int_equal(qp->NdkWrite(from->qp, &a, &entry, 1, there, to->remote_token, 0), 0);
    assert_result(from->initiator_cq, 0, &a, WRITE, 0);
    assert_int_equal(
        qp->NdkRead(from->qp, &b, &entry, 1, there + 8192, to->remote_token,
            NDK_OP_FLAG_READ_FENCE | NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE | NDK_OP_FLAG_INLINE),
        0);
    assert_result(from->initiator_cq, 0, &b, READ, 0);
    for (int i = 0; i < 4096; i++) {
        assert_int_equal(to->memory[i], 'w');
        assert_int_equal(from->memory[i], 'r');
    }
    assert_no_result(to->receive_cq);
    assert_no_result(to->initiator_cq);
}

/* Until the queue has room: taking results makes it, though there are none. */
static void write_silently(struct side *from, void *context, struct side *to, UINT32 token)
{
    NDK_SGE entry = sge(from->memory, 8, from->token);
    NTSTATUS status;

    while ((status = from->qp->Dispatch->NdkWrite(from->qp, context, &entry, 1,
                (UINT64)(ULONG_PTR)to->memory, token, NDK_OP_FLAG_SILENT_SUCCESS)) ==
           STATUS_INSUFFICIENT_RESOURCES)
        assert_no_result(from->initiator_cq);
    assert_int_equal(status, 0);
}

static void silent_requests_tell_failures_alone(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    int a, b;

    for (int i = 0; i < 1000; i++) /* more than the queue takes at once */
        write_silently(from, &a, to, to->remote_token);
    /* A token of nothing: the request fails, silent or not. */
    write_silently(from, &b, to, 0x01020304);
    if (row_holds_in_full())
        assert_result(from->initiator_cq, SPEC_STATUS_ACCESS_VIOLATION, &b, WRITE, 0);
    told_wait(&from->disconnect);
    told_wait(&to->disconnect);
    assert_int_equal(atomic_load(&from->disconnect.count), 1);
    assert_int_equal(atomic_load(&to->disconnect.count), 1);
}

/* The failed one is told as itself, and each after it as flushed, silent or not; those before it are not told. */
static void failure_in_a_silent_run_is_told_in_its_place(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_SGE entry = sge(from->memory, 8, from->token);
    int contexts[8];

    for (int i = 0; i < 8; i++)
        assert_int_equal(from->qp->Dispatch->NdkWrite(from->qp, &contexts[i], &entry, 1,
                             (UINT64)(ULONG_PTR)to->memory, i == 4 ? 0x01020304 : to->remote_token,
                             NDK_OP_FLAG_SILENT_SUCCESS | (i < 7 ? NDK_OP_FLAG_DEFER : 0)),
            0);
    assert_result(from->initiator_cq, SPEC_STATUS_ACCESS_VIOLATION, &contexts[4], WRITE, 0);
    for (int i = 5; i < 8; i++)
        assert_result(from->initiator_cq, SPEC_STATUS_CANCELLED, &contexts[i], WRITE, 0);
    assert_no_result(from->initiator_cq);
    told_wait(&from->disconnect);
    told_wait(&to->disconnect);
}

/* Those that were deferred, too: each ends, once, in its place. */
static void flush_ends_deferred_requests(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active;
    NDK_SGE entry = sge(from->memory, 8, from->token);
    NDK_RESULT_EX result;
    int contexts[5];

    for (int i = 0; i < 5; i++)
        assert_int_equal(
            from->qp->Dispatch->NdkSend(from->qp, &contexts[i], &entry, 1, NDK_OP_FLAG_DEFER), 0);
    from->qp->Dispatch->NdkFlush(from->qp);
    for (int i = 0; i < 5; i++) {
        result = next(from->initiator_cq);
        if (row_holds_in_full() || result.Status)
            assert_int_equal(result.Status, (NTSTATUS)SPEC_STATUS_CANCELLED);
        assert_ptr_equal(result.RequestContext, &contexts[i]);
        assert_int_equal(result.Type, SEND);
    }
    assert_no_result(from->initiator_cq);
    assert_int_equal(
        post_send(from, NULL, 0, 8, NDK_OP_FLAG_DEFER), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    from->qp->Dispatch->NdkFlush(from->qp); /* again: nothing is left */
    assert_no_result(from->initiator_cq);
}

static void too_long_messages_fail_at_the_receiver(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_RESULT_EX result;
    int a, b;

    assert_int_equal(post_receive(to, &a, 0, 9), 0);
    assert_int_equal(post_send(from, &b, 0, 10, 0), 0);
    result = next(to->receive_cq);
    assert_int_equal(result.Status, (NTSTATUS)SPEC_STATUS_BUFFER_OVERFLOW);
    assert_ptr_equal(result.RequestContext, &a);
    assert_int_equal(result.Type, RECEIVE);
    if (row_holds_in_full())
        assert_int_not_equal(result.ProviderErrorCode, 0);
}

static void flush_cancels_and_closes_without_disconnect(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    int contexts[16];

    for (int i = 0; i < 16; i++)
        assert_int_equal(post_receive(side, &contexts[i], 0, 1), 0);
    side->qp->Dispatch->NdkFlush(side->qp);
    for (int i = 0; i < 16; i++)
        assert_result(side->receive_cq, SPEC_STATUS_CANCELLED, &contexts[i], RECEIVE, 0);
    assert_int_equal(post_send(side, NULL, 0, 1, 0), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(post_receive(side, NULL, 0, 1), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    close_connector(side->connector);
    side->connector = NULL;
    told_wait(&pair->passive.disconnect);
}

/* ---- windows ---- */

static void window_is_bound_and_invalidated(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_SGE entry = sge(from->memory, 16, from->token);
    UINT64 there = (UINT64)(ULONG_PTR)to->memory + 100;
    const NDK_QP_DISPATCH *qp = to->qp->Dispatch;
    NDK_MR *closed = mr_register(to->pd, to->memory, 4096, NDK_MR_FLAG_ALLOW_LOCAL_READ);
    NDK_PD *other = pd_create(to->adapter);
    NDK_MW *mw = mw_create(to->pd), *foreign = mw_create(other);
    UINT32 token;
    int a, b;

#define BIND_WINDOW(mr, mw, flags) qp->NdkBind(to->qp, &a, mr, mw, to->memory + 100, 16, flags)
    assert_int_equal(BIND_WINDOW(NULL, mw, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(BIND_WINDOW(to->mr, NULL, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(BIND_WINDOW(to->mr, foreign, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(BIND_WINDOW(from->mr, mw, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(BIND_WINDOW(closed, mw, NDK_OP_FLAG_ALLOW_REMOTE_WRITE),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(qp->NdkBind(to->qp, &a, to->mr, mw, to->memory + MEMORY, 1, 0x08),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(qp->NdkInvalidate(to->qp, &a, &mw->Header, 0),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE); /* not bound */
    assert_int_equal(
        qp->NdkInvalidate(to->qp, &a, &to->mr->Header, 0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        qp->NdkInvalidate(to->qp, &a, NULL, 0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);

    assert_int_equal(BIND_WINDOW(to->mr, mw, NDK_OP_FLAG_ALLOW_REMOTE_WRITE), 0);
    token = mw->Dispatch->NdkGetRemoteTokenFromMw(mw);
    assert_int_not_equal(token, 0);
    assert_int_equal(BIND_WINDOW(to->mr, mw, NDK_OP_FLAG_ALLOW_REMOTE_WRITE),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_result(to->initiator_cq, 0, &a, BIND, 0);
    memset(from->memory, 'm', 16);
    assert_int_equal(from->qp->Dispatch->NdkWrite(from->qp, &b, &entry, 1, there, token, 0), 0);
    assert_result(from->initiator_cq, 0, &b, WRITE, 0);
    assert_int_equal(to->memory[115], 'm');
    assert_int_equal(qp->NdkInvalidate(to->qp, &b, &mw->Header, 0), 0);
    assert_result(to->initiator_cq, 0, &b, INVALIDATE, 0);
    /* The token is nothing now: whoever uses it loses the connection. */
    assert_int_equal(from->qp->Dispatch->NdkWrite(from->qp, &b, &entry, 1, there, token, 0), 0);
    if (row_holds_in_full())
        assert_result(from->initiator_cq, SPEC_STATUS_ACCESS_VIOLATION, &b, WRITE, 0);
    told_wait(&to->disconnect);
    close_mw(mw);
    close_mw(foreign);
    close_pd(other);
    close_mr(closed);
}

static void send_invalidates_at_the_peer(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_MW *mw = mw_create(to->pd);
    NDK_RESULT_EX result;
    NDK_RESULT plain;
    NDK_SGE entry = sge(from->memory, 4, from->token);
    UINT32 token;
    int a, b;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(to->qp->Dispatch->NdkBind(
                             to->qp, &a, to->mr, mw, to->memory, 16, NDK_OP_FLAG_ALLOW_REMOTE_READ),
            0);
        assert_result(to->initiator_cq, 0, &a, BIND, 0);
        token = mw->Dispatch->NdkGetRemoteTokenFromMw(mw);
        assert_int_equal(post_receive(to, &a, 32, 16), 0);
        assert_int_equal(from->qp->Dispatch->NdkSendAndInvalidate(
                             from->qp, &b, &entry, 1, i ? NDK_OP_FLAG_INLINE : 0, token),
            0);
        assert_result(from->initiator_cq, 0, &b, SEND, 0);
        if (i == 0) {
            result = next(to->receive_cq);
            assert_int_equal(result.Status, 0);
            assert_int_equal(result.Type, 0x8001);
            assert_int_equal(result.TypeSpecificCompletionOutput, token);
            assert_int_equal(result.BytesTransferred, 4);
            assert_ptr_equal(result.RequestContext, &a);
        } else { /* it invalidates as well where nothing tells of it */
            while (!to->receive_cq->Dispatch->NdkGetCqResults(to->receive_cq, &plain, 1))
                sched_yield();
            assert_int_equal(plain.Status, 0);
            assert_ptr_equal(plain.RequestContext, &a);
        }
        assert_int_equal(to->qp->Dispatch->NdkInvalidate(to->qp, &a, &mw->Header, 0),
            (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    }
    /* A token that is none any more ends the connection at the receiver. */
    assert_int_equal(post_receive(to, &a, 32, 16), 0);
    assert_int_equal(
        from->qp->Dispatch->NdkSendAndInvalidate(from->qp, &b, &entry, 1, 0, token), 0);
    if (row_holds_in_full()) {
        told_wait(&to->disconnect);
        told_wait(&from->disconnect);
    }
    close_mw(mw);
}

/* ---- deferred requests ---- */

static void deferred_requests_go_with_the_next(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    int contexts[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(post_receive(to, &contexts[i], 0, 16), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(post_send(from, &contexts[i], 0, 16, NDK_OP_FLAG_DEFER), 0);
    assert_int_equal(post_send(from, &contexts[3], 0, 16, 0), 0);
    for (int i = 0; i < 4; i++) {
        assert_result(to->receive_cq, 0, &contexts[i], RECEIVE, 16);
        assert_result(from->initiator_cq, 0, &contexts[i], SEND, 0);
    }
}

/* A request without a sense, of each kind. */
static NTSTATUS post_bad(struct side *side, int kind)
{
    const NDK_SGE bad = sge(side->memory, 16, side->token ^ 1);
    NDK_QP *qp = side->qp;

    switch (kind) {
    case 0: return qp->Dispatch->NdkSend(qp, NULL, &bad, 1, NDK_OP_FLAG_DEFER);
    case 1: return qp->Dispatch->NdkSendAndInvalidate(qp, NULL, &bad, 1, NDK_OP_FLAG_DEFER, 1);
    case 2: return qp->Dispatch->NdkRead(qp, NULL, &bad, 1, 0, 1, NDK_OP_FLAG_DEFER);
    case 3: return qp->Dispatch->NdkWrite(qp, NULL, &bad, 1, 0, 1, NDK_OP_FLAG_DEFER);
    case 4: return qp->Dispatch->NdkBind(qp, NULL, NULL, NULL, side->memory, 16, NDK_OP_FLAG_DEFER);
    case 5: return qp->Dispatch->NdkInvalidate(qp, NULL, NULL, NDK_OP_FLAG_DEFER);
    case 6: return qp->Dispatch->NdkInvalidate(qp, NULL, &side->mr->Header, NDK_OP_FLAG_DEFER);
    default:
        return qp->Dispatch->NdkFastRegister(
            qp, NULL, NULL, 1, NULL, 0, 16, NULL, NDK_OP_FLAG_DEFER);
    }
}

static void refused_request_sends_the_deferred_ones(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    int contexts[8];

    for (int i = 0; i < 8; i++) {
        assert_int_equal(post_receive(to, &contexts[i], 0, 16), 0);
        assert_int_equal(post_send(from, &contexts[i], 0, 16, NDK_OP_FLAG_DEFER), 0);
        assert_int_equal(post_bad(from, i),
            (NTSTATUS)(i < 4 ? SPEC_STATUS_ACCESS_VIOLATION : SPEC_STATUS_INVALID_PARAMETER));
        assert_result(to->receive_cq, 0, &contexts[i], RECEIVE, 16);
        assert_result(from->initiator_cq, 0, &contexts[i], SEND, 0);
    }
}

/* ---- notifications ---- */

/* What becomes of a plain message, a solicited one, and a failure. */
static void what_an_arm_fires_on(void **state)
{
    static const struct {
        ULONG type;
        bool fires[2]; /* on a plain Receive, on a solicited one */
    } rows[] = {
        { NDK_CQ_NOTIFY_ERRORS, { false, false } },
        { NDK_CQ_NOTIFY_ANY, { true, true } },
        { NDK_CQ_NOTIFY_SOLICITED, { false, true } },
    };
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_CQ *cq = to->receive_cq;
    int a;

    for (int row = 0; row < 3; row++) {
        for (int solicited = 0; solicited < 2; solicited++) {
            unsigned before = atomic_load(&to->received.count);

            cq->Dispatch->NdkArmCq(cq, rows[row].type);
            assert_int_equal(post_receive(to, &a, 0, 16), 0);
            assert_int_equal(
                post_send(from, &a, 0, 16, solicited ? NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT : 0), 0);
            assert_result(from->initiator_cq, 0, &a, SEND, 0);
            if (rows[row].fires[solicited])
                told_wait(&to->received);
            assert_result(cq, 0, &a, RECEIVE, 16);
            if (row_holds_in_full()) /* in part: it may have fired without a reason, which is allowed */
                assert_int_equal(
                    atomic_load(&to->received.count), before + rows[row].fires[solicited]);
            if (rows[row].fires[solicited])
                continue;
            /* Still armed: made stronger, it fires on the next one. */
            cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
            assert_int_equal(post_receive(to, &a, 0, 16), 0);
            assert_int_equal(post_send(from, &a, 0, 16, 0), 0);
            assert_result(from->initiator_cq, 0, &a, SEND, 0);
            told_wait(&to->received);
            assert_result(cq, 0, &a, RECEIVE, 16);
        }
    }
}

/* Two arms: the stronger counts, whichever came first. The table's rows: first, second, what a plain Receive does. */
static void stronger_arm_wins(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_CQ *cq = to->receive_cq;
    int a;

    for (ULONG first = 0; first < 3; first++) {
        for (ULONG second = 0; second < 3; second++) {
            bool any = first == NDK_CQ_NOTIFY_ANY || second == NDK_CQ_NOTIFY_ANY;
            bool solicited = first == NDK_CQ_NOTIFY_SOLICITED || second == NDK_CQ_NOTIFY_SOLICITED;
            unsigned before = atomic_load(&to->received.count);

            cq->Dispatch->NdkArmCq(cq, first);
            cq->Dispatch->NdkArmCq(cq, second);
            assert_int_equal(post_receive(to, &a, 0, 16), 0);
            assert_int_equal(post_send(from, &a, 0, 16, 0), 0);
            assert_result(from->initiator_cq, 0, &a, SEND, 0);
            if (any)
                told_wait(&to->received);
            assert_result(cq, 0, &a, RECEIVE, 16);
            if (!any && solicited) {
                assert_int_equal(post_receive(to, &a, 0, 16), 0);
                assert_int_equal(post_send(from, &a, 0, 16, NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT), 0);
                assert_result(from->initiator_cq, 0, &a, SEND, 0);
                told_wait(&to->received);
                assert_result(cq, 0, &a, RECEIVE, 16);
            }
            assert_int_equal(atomic_load(&to->received.count), before + (any || solicited));
        }
    }
}

static void arm_fires_for_what_is_there(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_CQ *cq = to->receive_cq;
    int a, b;

    assert_int_equal(post_receive(to, &a, 0, 16), 0);
    assert_int_equal(post_receive(to, &b, 0, 16), 0);
    assert_int_equal(post_send(from, &a, 0, 16, 0), 0);
    assert_result(from->initiator_cq, 0, &a, SEND, 0);
    cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
    told_wait(&to->received);
    /* The result is older than that call: one arm more waits for the next. */
    cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    assert_int_equal(atomic_load(&to->received.count), 1);
    assert_int_equal(post_send(from, &b, 0, 16, 0), 0);
    assert_result(from->initiator_cq, 0, &b, SEND, 0);
    told_wait(&to->received);
    assert_int_equal(atomic_load(&to->received.count), 2);
    assert_result(cq, 0, &a, RECEIVE, 16);
    assert_result(cq, 0, &b, RECEIVE, 16);
}

/* One callback for all of them, when enough have come or the time is over. */
static void moderated_notification_comes(void **state)
{
    static const struct {
        ULONG interval, count;
    } rows[] = { { 200, 0xFFFFFFFF }, { 0xFFFFFFFF, 8 }, { 1000, 8 }, { 0, 0 } };
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_CQ *cq = to->receive_cq;
    int a;

    if (!row_holds_in_full()) {
        assert_int_equal(cq->Dispatch->NdkControlCqInterruptModeration(cq, 200, 8),
            (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
        return;
    }
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        unsigned before = atomic_load(&to->received.count);

        assert_int_equal(
            cq->Dispatch->NdkControlCqInterruptModeration(cq, rows[row].interval, rows[row].count),
            0);
        for (int i = 0; i < 8; i++)
            assert_int_equal(post_receive(to, &a, 0, 16), 0);
        cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(post_send(from, &a, 0, 16, 0), 0);
            assert_result(from->initiator_cq, 0, &a, SEND, 0);
        }
        told_wait(&to->received);
        assert_int_equal(to->received.status, 0);
        for (int i = 0; i < 8; i++)
            assert_result(cq, 0, &a, RECEIVE, 16);
        assert_int_equal(atomic_load(&to->received.count), before + 1);
    }
}

/* Nothing else comes: the failure of a request is told of at once. */
static void moderation_holds_no_failure(void **state)
{
    struct pair *pair = *state;
    struct side *to = &pair->passive;
    int a;

    assert_int_equal(
        to->receive_cq->Dispatch->NdkControlCqInterruptModeration(to->receive_cq, 0xFFFFFFFF, 64),
        0);
    assert_int_equal(post_receive(to, &a, 0, 16), 0);
    to->receive_cq->Dispatch->NdkArmCq(to->receive_cq, NDK_CQ_NOTIFY_SOLICITED);
    to->qp->Dispatch->NdkFlush(to->qp);
    told_wait(&to->received);
    assert_result(to->receive_cq, SPEC_STATUS_CANCELLED, &a, RECEIVE, 0);
}

/* ---- a consumer that works in its callback ---- */

enum { MESSAGES = 3000 };

struct worker {
    struct side *side;
    NDK_CQ *cq;
    atomic_uint inside, posted; /* callbacks that run; Receives */
    EX_RUNDOWN_REF users;       /* of the queue, which is closed when they are gone */
    unsigned received;
    KEVENT end;
};

/* In a callback there is no assert of cmocka's: that belongs to the test's own thread. */
static void expect_in_callback(NTSTATUS status, NTSTATUS expected, const char *what)
{
    if (status == expected)
        return;
    fprintf(stderr, "%s: 0x%08x, not 0x%08x\n", what, (unsigned)status, (unsigned)expected);
    abort();
}

static VOID drain(PVOID context, NTSTATUS status)
{
    struct worker *worker = context;
    NDK_RESULT results[4];
    ULONG count;

    if (!ExAcquireRundownProtection(&worker->users))
        return;
    expect_in_callback(status, 0, "notification");
    expect_in_callback((NTSTATUS)atomic_fetch_add(&worker->inside, 1), 0, "callbacks beside it");
    while ((count = worker->cq->Dispatch->NdkGetCqResults(worker->cq, results, 4)) > 0) {
        for (ULONG i = 0; i < count; i++) {
            if (results[i].Status == STATUS_CANCELLED) /* the test closes the queue pair */
                continue;
            expect_in_callback(results[i].Status, 0, "Receive");
            expect_in_callback(post_receive(worker->side, NULL, 0, 16), 0, "NdkReceive");
            atomic_fetch_add(&worker->posted, 1);
            worker->received++;
        }
    }
    if (worker->received == MESSAGES)
        KeSetEvent(&worker->end, 0, FALSE);
    atomic_fetch_sub(&worker->inside, 1);
    worker->cq->Dispatch->NdkArmCq(worker->cq, NDK_CQ_NOTIFY_ANY);
    ExReleaseRundownProtection(&worker->users);
}

/*
 * Each message has its Receive before it is sent: the callback may run late, but if it does not run at all, the test
 * does not end.
 */
static void consumer_lives_in_its_callback(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    static struct worker worker; /* callbacks outlive a test that fails */
    struct told told;

    close_qp(to->qp);
    to->qp = NULL;
    close_cq(to->receive_cq);
    worker = (struct worker){ .side = to };
    ExInitializeRundownProtection(&worker.users);
    KeInitializeEvent(&worker.end, NotificationEvent, FALSE);
    told_init(&told);
    worker.cq = made(&told,
        to->adapter->Dispatch->NdkCreateCq(
            to->adapter, 64, drain, &worker, NULL, tell_create, &told, &worker.cq),
        &worker.cq);
    to->receive_cq = worker.cq;
    to->qp = qp_create(to->pd, worker.cq, to->initiator_cq, to);
    for (; worker.posted < 16; worker.posted++)
        assert_int_equal(post_receive(to, NULL, 0, 16), 0);
    pair_connect(pair);
    worker.cq->Dispatch->NdkArmCq(worker.cq, NDK_CQ_NOTIFY_ANY);
    for (unsigned i = 0; i < MESSAGES; i++) {
        NTSTATUS status;
        NDK_RESULT result;

        while (i == atomic_load(&worker.posted) ||
               (status = post_send(from, NULL, 0, 16, 0)) == STATUS_INSUFFICIENT_RESOURCES)
            from->initiator_cq->Dispatch->NdkGetCqResults(from->initiator_cq, &result, 1);
        assert_int_equal(status, 0);
    }
    assert_int_equal(KeWaitForSingleObject(&worker.end, Executive, KernelMode, FALSE, NULL), 0);
    /* From here on its callback leaves the queue alone, which is closed with all else. */
    ExWaitForRundownProtectionRelease(&worker.users);
}

int main(void)
{
#define ROW(test)       cmocka_unit_test_setup_teardown(test, pair_set_up, pair_tear_down)
#define CONNECTED(test) cmocka_unit_test_setup_teardown(test, pair_set_up_connected, pair_tear_down)
    const struct CMUnitTest tests[] = {
        CONNECTED(messages_arrive),
        CONNECTED(tokens_are_forgotten),
        CONNECTED(inline_data_is_copied),
        CONNECTED(peers_memory_is_read_and_written),
        CONNECTED(silent_requests_tell_failures_alone),
        CONNECTED(failure_in_a_silent_run_is_told_in_its_place),
        CONNECTED(flush_ends_deferred_requests),
        CONNECTED(too_long_messages_fail_at_the_receiver),
        CONNECTED(flush_cancels_and_closes_without_disconnect),
        CONNECTED(window_is_bound_and_invalidated),
        CONNECTED(send_invalidates_at_the_peer),
        CONNECTED(deferred_requests_go_with_the_next),
        CONNECTED(refused_request_sends_the_deferred_ones),
        CONNECTED(what_an_arm_fires_on),
        CONNECTED(stronger_arm_wins),
        CONNECTED(arm_fires_for_what_is_there),
        CONNECTED(moderated_notification_comes),
        CONNECTED(moderation_holds_no_failure),
        ROW(messages_arrive_by_a_shared_receive_queue),
        ROW(consumer_lives_in_its_callback),
    };

    return run_in_modes("data", tests);
}
