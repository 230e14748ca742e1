/* SPDX-License-Identifier: MIT */
/*
 * fixture_pair.c - two ends in one process: making and connecting them.
 */
#include "fixture.h"

static ULONG reads(ULONG option)
{
    return option == READS_NONE ? 0 : option ? option : 8;
}

/* Defaults shrink to the device's limits; only values that the row asks for may fail. */
static ULONG entries(ULONG option, ULONG most)
{
    return option ? option : most < 4 ? most : 4;
}

static void make_end(
    struct end *end, const struct end_options *options, struct node *node, bool active)
{
    struct end_options o = *options;
    o.cq_depth = o.cq_depth ? o.cq_depth : 64;
    o.receive_depth = o.receive_depth ? o.receive_depth : 16;
    o.initiator_depth = o.initiator_depth ? o.initiator_depth : 16;
    end->options = o;
    end->node = node;
    end->cq = new_cq(end->node, o.cq_depth);
    if (o.empty_srq)
        o.srq = new_srq(end->node, 16, 1, 0);
    end->initiator_cq = o.two_cqs ? new_cq(end->node, o.cq_depth) : end->cq;
    end->connector = active ? new_bound_connector(end->node) : new_connector(end->node);
    const struct qp_options qp = { .receive_cq = end->cq,
        .initiator_cq = end->initiator_cq,
        .srq = o.srq,
        .connector = end->connector,
        .context = end,
        .receive_depth = o.receive_depth,
        .initiator_depth = o.initiator_depth,
        .receive_sge = entries(o.sge, node->info.MaxReceiveSge),
        .initiator_sge = entries(o.sge, node->info.MaxInitiatorSge),
        .inline_bytes = o.inline_bytes,
        .inbound_reads = reads(o.inbound_reads),
        .outbound_reads = reads(o.outbound_reads) };
    end->qp = keep_memory(sizeof(*end->qp));
    expect_status(ND_SUCCESS, CALL(end->node, CreateQueuePair, &qp, end->qp));
    keep_object(end->qp->unknown);
    end->options.inline_bytes = end->qp->inline_bytes;
    end->memory = new_memory(end->node, END_MEMORY, MR_REMOTE);
}

/* An end with an SRQ is of version 2, in rows of version 1 too. */
static struct node *passive_node(const struct pair_options *options, struct node *active)
{
    struct address address = peer_address();
    if (options->passive.node)
        return options->passive.node;
    if (options->passive.empty_srq)
        return new_node_of(&dialect_v2, &address);
    return options->one_adapter || harness_one_adapter() ? active : new_node_on(&address);
}

struct pair *new_pair(const struct pair_options *options)
{
    static const struct pair_options defaults;
    struct pair *pair = keep_memory(sizeof(*pair));
    if (!options)
        options = &defaults;
    pair->options = *options;
    struct node *node = options->active.node ? options->active.node : new_node();
    make_end(&pair->active, &options->active, node, true);
    make_end(&pair->passive, &options->passive, passive_node(options, node), false);
    pair->listener = new_listening(pair->passive.node, 0, &pair->listen);
    return pair;
}

void stop_listening(struct pair *pair)
{
    struct node *node = new_node_of(&dialect_v2, pair->passive.node->address);
    for (;;) {
        expect_equal(0, release_now(pair->listener));
        /* Bound and not listening, so that no other process gets the port and answers there. */
        struct listener *keeper = new_listener(node);
        HRESULT hr = CALL(keeper->v2, Bind, &pair->listen.any, pair->listen.length);
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
    return CALL(end->connector, Connect, end->qp, &pair->listen.any, pair->listen.length,
        reads(end->options.inbound_reads), reads(end->options.outbound_reads),
        pair->options.connect_data, pair->options.connect_length, &op->overlapped);
}

HRESULT start_accept(struct pair *pair, struct op *op)
{
    struct end *end = &pair->passive;
    return CALL(end->connector, Accept, end->qp, reads(end->options.inbound_reads),
        reads(end->options.outbound_reads), pair->options.accept_data, pair->options.accept_length,
        &op->overlapped);
}

void pair_request(struct pair *pair)
{
    pair->request = new_op();
    pair->connect = new_op();
    HRESULT hr = CALL(
        pair->listener, GetConnectionRequest, pair->passive.connector, &pair->request->overlapped);
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
