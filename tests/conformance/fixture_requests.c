/* SPDX-License-Identifier: MIT */
/*
 * fixture_requests.c - requests of one end and their results.
 */
#include "fixture.h"

struct sge sge_of(const struct end *end, SIZE_T offset, ULONG length)
{
    return (struct sge){ end->memory.bytes + offset, length, end->memory.local };
}

HRESULT post_send(struct end *end, void *context, SIZE_T offset, ULONG length, ULONG flags)
{
    struct sge sge = sge_of(end, offset, length);
    return CALL(end->qp, Send, context, &sge, 1, flags);
}

HRESULT post_receive(struct end *end, void *context, SIZE_T offset, ULONG length)
{
    struct sge sge = sge_of(end, offset, length);
    return CALL(end->qp, Receive, context, &sge, 1);
}

HRESULT post_read(struct end *end, void *context, SIZE_T offset, ULONG length, const void *remote,
    UINT32 token, ULONG flags)
{
    struct sge sge = sge_of(end, offset, length);
    return CALL(end->qp, Read, context, &sge, 1, (UINT64)(uintptr_t)remote, token, flags);
}

HRESULT post_write(struct end *end, void *context, SIZE_T offset, ULONG length, const void *remote,
    UINT32 token, ULONG flags)
{
    struct sge sge = sge_of(end, offset, length);
    return CALL(end->qp, Write, context, &sge, 1, (UINT64)(uintptr_t)remote, token, flags);
}

/* Bound when it is first asked for, anew for each queue pair. */
UINT32 remote_token(struct end *end)
{
    if (end->node->lpVtbl == &dialect_v2)
        return end->memory.remote;
    if (end->window_of != end->qp) {
        end->window = new_mw(end->node);
        end->window_of = end->qp;
        expect_status(
            ND_SUCCESS, CALL(end->qp, Bind, end, end->memory.mr, end->window, end->memory.bytes,
                            end->memory.length, ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE));
        expect_result(end, Nd2RequestTypeBind, end, ND_SUCCESS);
    }
    return CALL(end->window, GetRemoteToken);
}

/* Results */

ND2_RESULT poll_result(struct cq *cq)
{
    ND2_RESULT result;
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    while (CALL(cq, GetResults, &result, 1) == 0) {
        if (GetTickCount64() > end)
            fail_row("no result came (polling)");
        SwitchToThread();
    }
    return result;
}

/* One per row is enough: it has ended whenever next_result returns. */
static struct op *result_op(void)
{
    static struct op *op;
    static unsigned row;
    if (row != harness_row_number()) {
        row = harness_row_number();
        op = new_op();
    }
    return op;
}

ND2_RESULT next_result(struct cq *cq)
{
    ND2_RESULT result;
    if (harness_polls() || cq->node->file_closed)
        return poll_result(cq);
    while (CALL(cq, GetResults, &result, 1) == 0) {
        struct op *op = result_op();
        expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
        if (WaitForSingleObject(op->event, DEADLINE_MS) != WAIT_OBJECT_0)
            fail_row("no Notify came; %s",
                CALL(cq, GetResults, &result, 1) ? "a result is there" : "nor did a result");
        expect_status(ND_SUCCESS, result_of(cq, op));
    }
    return result;
}

ULONG next_results(struct cq *cq, ND2_RESULT *results, ULONG room, ULONG n)
{
    ULONG taken = CALL(cq, GetResults, results, room);

    while (taken < n) {
        results[taken++] = next_result(cq);
        taken += CALL(cq, GetResults, results + taken, room - taken);
    }
    return taken;
}

const char *type_name(ND2_REQUEST_TYPE type)
{
    static const char *const names[] = { "Receive", "Send", "Bind", "Invalidate", "Read", "Write" };
    return (unsigned)type < 6 ? names[type] : "of no known type";
}

/* The next result, which is the request's and has one of two statuses. */
static ULONG expect_either(
    struct end *end, ND2_REQUEST_TYPE type, void *context, HRESULT status, HRESULT other)
{
    bool receive = type == Nd2RequestTypeReceive;
    ND2_RESULT result = next_result(receive ? end->cq : end->initiator_cq);
    if (result.RequestType != type || result.RequestContext != context ||
        (result.Status != status && result.Status != other) || result.QueuePairContext != end)
        fail_row("expected %s %p of queue pair %p with %s, got %s %p of %p with %s",
            type_name(type), context, (void *)end, status_name(status),
            type_name(result.RequestType), result.RequestContext, result.QueuePairContext,
            status_name(result.Status));
    return receive ? result.BytesTransferred : 0;
}

ULONG expect_result(struct end *end, ND2_REQUEST_TYPE type, void *context, HRESULT status)
{
    return expect_either(end, type, context, status, status);
}

void expect_no_result(struct cq *cq)
{
    ND2_RESULT result;
    if (CALL(cq, GetResults, &result, 1) != 0)
        fail_row("unexpected result: %s %p with %s", type_name(result.RequestType),
            result.RequestContext, status_name(result.Status));
}

void expect_lost(struct end *end)
{
    expect_status(ND_SUCCESS, post_receive(end, TAG(910), 0, 8));
    expect_result(end, Nd2RequestTypeReceive, TAG(910), ND_CANCELED);
}

void expect_refused(struct end *end, ND2_REQUEST_TYPE type, void *context, HRESULT status)
{
    if (row_holds_in_full()) {
        expect_result(end, type, context, status);
        return;
    }
    if (type == Nd2RequestTypeRead)
        expect_result(end, type, context, ND_CANCELED);
    else
        expect_either(end, type, context, ND_SUCCESS, ND_INTERNAL_ERROR);
    expect_lost(end);
}

void expect_no_access(
    struct pair *pair, ND2_REQUEST_TYPE type, const void *remote, ULONG length, UINT32 token)
{
    struct end *a = &pair->active, *p = &pair->passive;
    BYTE *before = keep_memory(END_MEMORY);
    fill(a->memory.bytes, END_MEMORY, 0x51);
    memcpy(before, p->memory.bytes, END_MEMORY);
    expect_status(ND_SUCCESS, post_receive(p, TAG(920), 0, 8));
    expect_status(ND_SUCCESS, type == Nd2RequestTypeRead
                                  ? post_read(a, TAG(921), 0, length, remote, token, 0)
                                  : post_write(a, TAG(921), 0, length, remote, token, 0));
    expect_refused(a, type, TAG(921), REMOTE_ACCESS_REFUSED);
    expect_result(p, Nd2RequestTypeReceive, TAG(920), ND_CANCELED);
    expect_filled(a->memory.bytes, END_MEMORY, 0x51);
    expect_equal(0, memcmp(before, p->memory.bytes, END_MEMORY));
}

void exchange(struct end *from, struct end *to)
{
    fill(from->memory.bytes, 100, 77);
    memset(to->memory.bytes + 1000, 0, 100);
    expect_status(ND_SUCCESS, post_receive(to, TAG(900), 1000, 100));
    expect_status(ND_SUCCESS, post_send(from, TAG(901), 0, 100, 0));
    expect_equal(100, expect_result(to, Nd2RequestTypeReceive, TAG(900), ND_SUCCESS));
    expect_result(from, Nd2RequestTypeSend, TAG(901), ND_SUCCESS);
    expect_filled(to->memory.bytes + 1000, 100, 77);
}
