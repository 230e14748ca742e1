/* SPDX-License-Identifier: MIT */
/*
 * fixture_objects.c - adapters, queues, connectors and memory for the rows.
 */
#include "fixture.h"

/* Adapters */

struct node *new_node_of(const struct dialect *dialect, const struct address *address)
{
    struct node *node = keep_memory(sizeof(*node));
    expect_status(ND_SUCCESS, dialect->OpenAdapter(address, node));
    keep_object(node->unknown);
    struct address *kept = keep_memory(sizeof(*kept));
    *kept = with_port(*address, 0);
    node->address = kept;
    expect_true(node->file != NULL && node->file != INVALID_HANDLE_VALUE);
    if (dialect == &dialect_v2)
        keep_handle(node->file);
    return node;
}

struct node *new_node_on(const struct address *address)
{
    return new_node_of(row_dialect(), address);
}

struct node *new_node(void)
{
    struct address address = test_address();
    return new_node_on(&address);
}

void close_file(struct node *node)
{
    node->file_closed = true;
    if (node->lpVtbl == &dialect_v2)
        close_now(node->file);
    else
        expect_true(CloseHandle(node->file));
}

/* What a node makes */

struct cq *new_cq(struct node *node, ULONG depth)
{
    struct cq *cq = keep_memory(sizeof(*cq));
    expect_status(ND_SUCCESS, CALL(node, CreateCompletionQueue, depth, cq));
    keep_object(cq->unknown);
    return cq;
}

struct mr *new_mr(struct node *node)
{
    struct mr *mr = keep_memory(sizeof(*mr));
    expect_status(ND_SUCCESS, CALL(node, CreateMemoryRegion, mr));
    if (node->lpVtbl == &dialect_v2)
        keep_object(mr->unknown);
    return mr;
}

struct mw *new_mw(struct node *node)
{
    struct mw *mw = keep_memory(sizeof(*mw));
    expect_status(ND_SUCCESS, CALL(node, CreateMemoryWindow, mw));
    keep_object(mw->unknown);
    return mw;
}

struct connector *new_connector(struct node *node)
{
    struct connector *connector = keep_memory(sizeof(*connector));
    expect_status(ND_SUCCESS, CALL(node, CreateConnector, connector));
    keep_object(connector->unknown);
    return connector;
}

void bind_connector(struct connector *connector, const struct address *address)
{
    if (connector->lpVtbl == &dialect_v2)
        expect_status(ND_SUCCESS, CALL(connector->v2, Bind, &address->any, address->length));
    else
        connector->local_port = htons((USHORT)port_of(address));
}

struct connector *new_bound_connector(struct node *node)
{
    struct connector *connector = new_connector(node);
    bind_connector(connector, node->address);
    return connector;
}

struct listener *new_listening(struct node *node, ULONG backlog, struct address *at)
{
    struct listener *listener = keep_memory(sizeof(*listener));
    expect_status(ND_SUCCESS, CALL(node, Listen, node->address, backlog, at, listener));
    keep_object(listener->unknown);
    expect_true(port_of(at) != 0);
    return listener;
}

struct qp *new_qp(struct node *node, struct cq *cq, void *context, ULONG depth)
{
    struct qp *qp = keep_memory(sizeof(*qp));
    const struct qp_options options = { .receive_cq = cq,
        .initiator_cq = cq,
        .context = context,
        .receive_depth = depth,
        .initiator_depth = depth,
        .receive_sge = 1,
        .initiator_sge = 1,
        .inbound_reads = 8,
        .outbound_reads = 8 };
    expect_status(ND_SUCCESS, CALL(node, CreateQueuePair, &options, qp));
    keep_object(qp->unknown);
    return qp;
}

struct srq *new_srq(struct node *node, ULONG depth, ULONG sge, ULONG threshold)
{
    struct srq *srq = keep_memory(sizeof(*srq));
    *srq = (struct srq){ .lpVtbl = &dialect_v2, .node = node };
    expect_status(ND_SUCCESS, CALL(node->v2, CreateSharedReceiveQueue, &IID_IND2SharedReceiveQueue,
                                  node->file, depth, sge, threshold, 0, 0, (void **)&srq->v2));
    keep_object(srq->unknown);
    return srq;
}

struct listener *new_listener(struct node *node)
{
    struct listener *listener = keep_memory(sizeof(*listener));
    *listener = (struct listener){ .lpVtbl = &dialect_v2, .node = node };
    expect_status(ND_SUCCESS,
        CALL(node->v2, CreateListener, &IID_IND2Listener, node->file, (void **)&listener->v2));
    keep_object(listener->unknown);
    return listener;
}

/* Memory */

void register_memory(struct mr *mr, void *bytes, SIZE_T length, ULONG flags)
{
    struct op *op = new_op();
    HRESULT started = CALL(mr, Register, bytes, length, flags, &op->overlapped);
    expect_status(ND_SUCCESS, finish(mr, started, op));
}

struct memory new_memory(struct node *node, SIZE_T length, ULONG flags)
{
    struct memory memory = { new_mr(node), keep_memory(length), length, 0, 0 };
    register_memory(memory.mr, memory.bytes, length, flags);
    memory.local = CALL(memory.mr, GetLocalToken);
    if (node->lpVtbl == &dialect_v2)
        memory.remote = CALL(memory.mr->v2, GetRemoteToken);
    return memory;
}

static BYTE pattern(SIZE_T i, unsigned seed)
{
    return (BYTE)((i * 2654435761u + seed * 40503u) >> 11);
}

void fill(BYTE *bytes, SIZE_T length, unsigned seed)
{
    for (SIZE_T i = 0; i < length; i++)
        bytes[i] = pattern(i, seed);
}

void expect_filled(const BYTE *bytes, SIZE_T length, unsigned seed)
{
    for (SIZE_T i = 0; i < length; i++)
        if (bytes[i] != pattern(i, seed))
            fail_row("octet %llu of %llu is 0x%02x, expected 0x%02x", (unsigned long long)i,
                (unsigned long long)length, bytes[i], pattern(i, seed));
}
