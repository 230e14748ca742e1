/* SPDX-License-Identifier: MIT */
/*
 * fixture_v1.c - requests and windows of version 1 on its interfaces themselves.
 */
#include "fixture_v1.h"

ND_SGE sge_v1(const struct end *end, SIZE_T offset, SIZE_T length)
{
    return (ND_SGE){ end->memory.bytes + offset, length, end->memory.mr->handle };
}

HRESULT send_v1(struct end *end, ND_RESULT *result, SIZE_T offset, SIZE_T length, DWORD flags)
{
    ND_SGE sge = sge_v1(end, offset, length);
    return CALL(end->qp->v1, Send, result, &sge, 1, flags);
}

HRESULT receive_v1(struct end *end, ND_RESULT *result, SIZE_T offset, SIZE_T length)
{
    ND_SGE sge = sge_v1(end, offset, length);
    return CALL(end->qp->v1, Receive, result, &sge, 1);
}

HRESULT read_v1(struct end *end, ND_RESULT *result, SIZE_T offset, SIZE_T length,
    const ND_MW_DESCRIPTOR *remote, ULONGLONG remote_offset, DWORD flags)
{
    ND_SGE sge = sge_v1(end, offset, length);
    return CALL(end->qp->v1, Read, result, &sge, 1, remote, remote_offset, flags);
}

HRESULT write_v1(struct end *end, ND_RESULT *result, SIZE_T offset, SIZE_T length,
    const ND_MW_DESCRIPTOR *remote, ULONGLONG remote_offset, DWORD flags)
{
    ND_SGE sge = sge_v1(end, offset, length);
    return CALL(end->qp->v1, Write, result, &sge, 1, remote, remote_offset, flags);
}

INDMemoryWindow *new_window_v1(struct node *node, ND_RESULT *result)
{
    INDMemoryWindow *window = NULL;
    expect_status(ND_SUCCESS, CALL(node->v1, CreateMemoryWindow, result, &window));
    keep_object(window);
    return window;
}

ND_MW_DESCRIPTOR bind_v1(
    struct end *end, INDMemoryWindow *window, SIZE_T offset, SIZE_T length, DWORD flags)
{
    ND_RESULT result;
    ND_MW_DESCRIPTOR descriptor;
    expect_status(ND_SUCCESS, CALL(end->qp->v1, Bind, &result, end->memory.mr->handle, window,
                                  end->memory.bytes + offset, length, flags, &descriptor));
    expect_own(end->initiator_cq, &result, ND_SUCCESS, 0);
    return descriptor;
}

ND_RESULT *next_own(struct cq *cq)
{
    ND_RESULT *result = NULL;
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    struct op *op = harness_polls() ? NULL : new_op();
    while (CALL(cq->v1, GetResults, &result, 1) == 0) {
        if (!op) {
            if (GetTickCount64() > end)
                fail_row("no result came (polling)");
            SwitchToThread();
            continue;
        }
        expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
        expect_status(ND_SUCCESS, wait_op(cq, op));
    }
    return result;
}

void check_own(const char *file, int line, struct cq *cq, const ND_RESULT *result, HRESULT status,
    SIZE_T octets)
{
    ND_RESULT *got = next_own(cq);
    check_pointer(file, line, "the result's address", result, got);
    check_status(file, line, "its status", status, got->Status);
    check_equal(file, line, "its length", octets, got->BytesTransferred);
}

void expect_none_own(struct cq *cq)
{
    ND_RESULT *result = NULL;
    if (CALL(cq->v1, GetResults, &result, 1) != 0)
        fail_row("unexpected result %p with %s", (void *)result, status_name(result->Status));
}

void exchange_v1(struct end *from, struct end *to)
{
    ND_RESULT sent, received;
    fill(from->memory.bytes, 100, 78);
    memset(to->memory.bytes + 1000, 0, 100);
    expect_status(ND_SUCCESS, receive_v1(to, &received, 1000, 100));
    expect_status(ND_SUCCESS, send_v1(from, &sent, 0, 100, 0));
    expect_own(to->cq, &received, ND_SUCCESS, 100);
    expect_own(from->initiator_cq, &sent, ND_SUCCESS, 100);
    expect_filled(to->memory.bytes + 1000, 100, 78);
}

UINT64 number_at(const void *octets)
{
    UINT64 value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | ((const BYTE *)octets)[i];
    return value;
}
