/* SPDX-License-Identifier: MIT */
/*
 * fixture_pair.c - two ends in one process: making, connecting, posting, results.
 */
#include "fixture.h"

static ULONG reads(ULONG option)
{
    return option == READS_NONE ? 0 : option ? option : 8;
}

static void make_end(struct end *end, const struct end_options *options, struct node *node)
{
    struct end_options o = *options;
    o.cq_depth = o.cq_depth ? o.cq_depth : 64;
    o.receive_depth = o.receive_depth ? o.receive_depth : 16;
    o.initiator_depth = o.initiator_depth ? o.initiator_depth : 16;
    o.sge = o.sge ? o.sge : 4;
    end->options = o;
    end->node = o.node ? o.node : node;
    end->cq = new_cq(end->node, o.cq_depth);
    if (o.empty_srq)
        o.srq = new_srq(end->node, 16, 1, 0);
    end->initiator_cq = o.two_cqs ? new_cq(end->node, o.cq_depth) : end->cq;
    IUnknown *receive = (IUnknown *)end->cq, *initiator = (IUnknown *)end->initiator_cq;
    if (o.srq)
        expect_status(
            ND_SUCCESS, CALL(end->node->adapter, CreateQueuePairWithSrq, &IID_IND2QueuePair,
                            receive, initiator, (IUnknown *)o.srq, end, o.initiator_depth, o.sge,
                            o.inline_bytes, (void **)&end->qp));
    else
        expect_status(ND_SUCCESS, CALL(end->node->adapter, CreateQueuePair, &IID_IND2QueuePair,
                                      receive, initiator, end, o.receive_depth, o.initiator_depth,
                                      o.sge, o.sge, o.inline_bytes, (void **)&end->qp));
    keep_object(end->qp);
    end->memory = new_memory(end->node, END_MEMORY, MR_REMOTE);
}

struct pair *new_pair(const struct pair_options *options)
{
    static const struct pair_options defaults;
    struct pair *pair = keep_memory(sizeof(*pair));
    struct address address = test_address();
    if (!options)
        options = &defaults;
    pair->options = *options;
    struct node *node = options->active.node ? options->active.node : new_node();
    bool one = options->one_adapter || harness_one_adapter();
    make_end(&pair->active, &options->active, node);
    make_end(&pair->passive, &options->passive, one || options->passive.node ? node : new_node());
    pair->listener = new_listening(pair->passive.node, 0, &pair->listen);
    pair->active.connector = new_connector(pair->active.node);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, Bind, &address.any, address.length));
    pair->passive.connector = new_connector(pair->passive.node);
    return pair;
}

void stop_listening(struct pair *pair)
{
    for (;;) {
        expect_equal(0, release_now(pair->listener));
        /* Bound and not listening, so that no other process gets the port and answers there. */
        IND2Listener *keeper = new_listener(pair->passive.node);
        HRESULT hr = CALL(keeper, Bind, &pair->listen.any, pair->listen.length);
        pair->listener = NULL;
        if (hr == ND_SUCCESS)
            return;
        expect_status(ND_SHARING_VIOLATION, hr);
        pair->listener = new_listening(pair->passive.node, 0, &pair->listen);
    }
}

HRESULT start_connect(struct pair *pair, struct op *op)
{
    struct end *end = &pair->active;
    return CALL(end->connector, Connect, (IUnknown *)end->qp, &pair->listen.any,
        pair->listen.length, reads(end->options.inbound_reads), reads(end->options.outbound_reads),
        pair->options.connect_data, pair->options.connect_length, &op->overlapped);
}

HRESULT start_accept(struct pair *pair, struct op *op)
{
    struct end *end = &pair->passive;
    return CALL(end->connector, Accept, (IUnknown *)end->qp, reads(end->options.inbound_reads),
        reads(end->options.outbound_reads), pair->options.accept_data, pair->options.accept_length,
        &op->overlapped);
}

void pair_request(struct pair *pair)
{
    pair->request = new_op();
    pair->connect = new_op();
    HRESULT hr = CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector,
        &pair->request->overlapped);
    expect_status(ND_PENDING, start_connect(pair, pair->connect));
    expect_status(ND_SUCCESS, finish(pair->listener, hr, pair->request));
}

void pair_accept(struct pair *pair)
{
    pair->accept = new_op();
    expect_status(ND_PENDING, start_accept(pair, pair->accept));
    expect_status(ND_SUCCESS, wait_op(pair->active.connector, pair->connect));
}

void pair_complete(struct pair *pair)
{
    pair->complete = new_op();
    HRESULT hr = CALL(pair->active.connector, CompleteConnect, &pair->complete->overlapped);
    expect_status(ND_SUCCESS, finish(pair->active.connector, hr, pair->complete));
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, pair->accept));
}

void connect_ends(struct pair *pair)
{
    pair_request(pair);
    pair_accept(pair);
    pair_complete(pair);
}

struct pair *connected_pair(const struct pair_options *options)
{
    struct pair *pair = new_pair(options);
    connect_ends(pair);
    return pair;
}

void disconnect(struct end *end)
{
    struct op *op = new_op();
    HRESULT hr = CALL(end->connector, Disconnect, &op->overlapped);
    expect_status(ND_SUCCESS, finish(end->connector, hr, op));
}

/* Requests */

ND2_SGE sge_of(const struct end *end, SIZE_T offset, ULONG length)
{
    return (ND2_SGE){ end->memory.bytes + offset, length, end->memory.local };
}

HRESULT post_send(struct end *end, void *context, SIZE_T offset, ULONG length, ULONG flags)
{
    ND2_SGE sge = sge_of(end, offset, length);
    return CALL(end->qp, Send, context, &sge, 1, flags);
}

HRESULT post_receive(struct end *end, void *context, SIZE_T offset, ULONG length)
{
    ND2_SGE sge = sge_of(end, offset, length);
    return CALL(end->qp, Receive, context, &sge, 1);
}

HRESULT post_read(struct end *end, void *context, SIZE_T offset, ULONG length, const void *remote,
    UINT32 token, ULONG flags)
{
    ND2_SGE sge = sge_of(end, offset, length);
    return CALL(end->qp, Read, context, &sge, 1, (UINT64)(uintptr_t)remote, token, flags);
}

HRESULT post_write(struct end *end, void *context, SIZE_T offset, ULONG length, const void *remote,
    UINT32 token, ULONG flags)
{
    ND2_SGE sge = sge_of(end, offset, length);
    return CALL(end->qp, Write, context, &sge, 1, (UINT64)(uintptr_t)remote, token, flags);
}

/* Results */

ND2_RESULT poll_result(IND2CompletionQueue *cq)
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

ND2_RESULT next_result(IND2CompletionQueue *cq)
{
    ND2_RESULT result;
    if (harness_polls())
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

const char *type_name(ND2_REQUEST_TYPE type)
{
    static const char *const names[] = { "Receive", "Send", "Bind", "Invalidate", "Read", "Write" };
    return (unsigned)type < 6 ? names[type] : "of no known type";
}

ULONG expect_result(struct end *end, ND2_REQUEST_TYPE type, void *context, HRESULT status)
{
    bool receive = type == Nd2RequestTypeReceive;
    ND2_RESULT result = next_result(receive ? end->cq : end->initiator_cq);
    if (result.RequestType != type || result.RequestContext != context || result.Status != status ||
        result.QueuePairContext != end)
        fail_row("expected %s %p of queue pair %p with %s, got %s %p of %p with %s",
            type_name(type), context, (void *)end, status_name(status),
            type_name(result.RequestType), result.RequestContext, result.QueuePairContext,
            status_name(result.Status));
    return receive ? result.BytesTransferred : 0;
}

void expect_no_result(IND2CompletionQueue *cq)
{
    ND2_RESULT result;
    if (CALL(cq, GetResults, &result, 1) != 0)
        fail_row("unexpected result: %s %p with %s", type_name(result.RequestType),
            result.RequestContext, status_name(result.Status));
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
