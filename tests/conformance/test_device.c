/* SPDX-License-Identifier: MIT */
/*
 * test_device.c - what a device promises as a whole: limits in combination, several adapters, forms of addresses.
 */
#include "fixture.h"

/* Limits */

static HRESULT create_qp(struct node *node, struct cq *cq, ULONG receives, ULONG initiators,
    ULONG receive_sge, ULONG initiator_sge, ULONG inline_bytes)
{
    struct qp qp;
    const struct qp_options options = { .receive_cq = cq,
        .initiator_cq = cq,
        .receive_depth = receives,
        .initiator_depth = initiators,
        .receive_sge = receive_sge,
        .initiator_sge = initiator_sge,
        .inline_bytes = inline_bytes };
    HRESULT hr = CALL(node, CreateQueuePair, &options, &qp);
    if (hr == ND_SUCCESS)
        keep_object(qp.unknown);
    return hr;
}

static void two_queues_of_the_greatest_depth(void)
{
    struct node *node = new_node();
    ULONG depth = node->info.MaxCompletionQueueDepth;
    struct cq *cq = new_cq(node, depth);
    new_cq(node, depth);
    if (depth > node->info.MaxReceiveQueueDepth)
        depth = node->info.MaxReceiveQueueDepth;
    ULONG initiators =
        node->info.MaxInitiatorQueueDepth < depth ? node->info.MaxInitiatorQueueDepth : depth;
    expect_status(ND_SUCCESS,
        create_qp(node, cq, depth, initiators, 1, 1, node->info.InlineRequestThreshold));
    expect_status(
        ND_SUCCESS, create_qp(node, cq, depth, initiators, node->info.MaxReceiveSge > 1 ? 2 : 1,
                        node->info.MaxInitiatorSge > 1 ? 2 : 1, node->info.InlineRequestThreshold));
}

/* Programs take the smaller of the limits of completion queues and receive queues for initiator queues as well. */
static void one_depth_for_both_queues(void)
{
    struct node *node = new_node();
    ULONG depth = node->info.MaxCompletionQueueDepth;
    struct cq *cq = new_cq(node, depth);
    if (depth > node->info.MaxReceiveQueueDepth)
        depth = node->info.MaxReceiveQueueDepth;
    expect_status(
        ND_SUCCESS, create_qp(node, cq, depth, depth, 1, 1, node->info.InlineRequestThreshold));
    expect_status(ND_SUCCESS, create_qp(node, cq, depth, depth, 1, 1, 0));
}

static void limits_hold_together(void)
{
    struct node *node = new_node();
    const ND2_ADAPTER_INFO *info = &node->info;
    struct cq *cq = new_cq(node, info->MaxCompletionQueueDepth);
    expect_status(
        ND_SUCCESS, create_qp(node, cq, info->MaxReceiveQueueDepth, info->MaxInitiatorQueueDepth,
                        info->MaxReceiveSge, info->MaxInitiatorSge, info->MaxInlineDataSize));
    expect_status(V2_V1(ND_INVALID_PARAMETER_5, ND_INVALID_PARAMETER_3),
        create_qp(node, cq, info->MaxReceiveQueueDepth + 1, 1, 1, 1, 0));
    expect_status(ND_SUCCESS, create_qp(node, new_cq(node, 2), 64, 64, 1, 1, 0));
}

/* A queue pair of the greatest size works, to its last entry. */
static void greatest_queue_pair_works(void)
{
    struct node *node = new_node();
    struct pair *pair = connected_pair(
        &(struct pair_options){ .active = { .node = node,
                                    .cq_depth = node->info.MaxCompletionQueueDepth,
                                    .receive_depth = node->info.MaxReceiveQueueDepth,
                                    .initiator_depth = node->info.MaxInitiatorQueueDepth,
                                    .sge = node->info.MaxInitiatorSge < node->info.MaxReceiveSge
                                               ? node->info.MaxInitiatorSge
                                               : node->info.MaxReceiveSge } });
    struct end *a = &pair->active;
    for (ULONG i = 0; i < node->info.MaxReceiveQueueDepth; i++)
        expect_status(ND_SUCCESS, post_receive(a, TAG(i), 0, 8));
    expect_status(ND_NO_MORE_ENTRIES, post_receive(a, TAG(0), 0, 8));
    for (ULONG i = 0; i < 100; i++) {
        expect_status(ND_SUCCESS, post_send(&pair->passive, TAG(i), 0, 8, 0));
        expect_result(a, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS);
        expect_result(&pair->passive, Nd2RequestTypeSend, TAG(i), ND_SUCCESS);
    }
    disconnect(a);
    for (ULONG i = 100; i < node->info.MaxReceiveQueueDepth; i++)
        expect_result(a, Nd2RequestTypeReceive, TAG(i), ND_CANCELED);
}

/* Many objects of each kind on one adapter. */
static void many_objects(void)
{
    struct node *node = new_node();
    for (int i = 0; i < 100; i++) {
        struct cq *cq = new_cq(node, 16);
        new_qp(node, cq, NULL, 4);
        new_qp(node, cq, NULL, 4);
        new_mr(node);
        new_mw(node);
        new_connector(node);
        if (!row_is_v1()) {
            new_srq(node, 4, 1, 0);
            new_listener(node);
        }
    }
}

/* Several */

static void several_adapters_in_one_process(void)
{
    struct pair *pairs[4];
    for (int i = 0; i < 4; i++)
        pairs[i] = connected_pair(NULL);
    for (int i = 0; i < 4; i++) {
        exchange(&pairs[i]->active, &pairs[i]->passive);
        exchange(&pairs[3 - i]->passive, &pairs[3 - i]->active);
    }
}

/* One port for all files; each event of each connection comes out once. */
static void one_port_for_everything(void)
{
    struct pair *pairs[3];
    HANDLE port = new_port();
    struct op *ops[3];
    for (int i = 0; i < 3; i++) {
        pairs[i] = connected_pair(NULL);
        ops[i] = new_op_without_event();
        attach(port, pairs[i]->passive.node->file, 200 + (ULONG_PTR)i);
        expect_status(
            ND_PENDING, CALL(pairs[i]->passive.connector, NotifyDisconnect, &ops[i]->overlapped));
    }
    for (int i = 2; i >= 0; i--) {
        disconnect(&pairs[i]->active);
        expect_packet(port, 200 + (ULONG_PTR)i, ops[i], 0);
    }
    expect_no_packet(port);
}

static void connections_share_one_queue(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 64);
    struct pair *pairs[3];
    for (int i = 0; i < 3; i++) {
        pairs[i] = new_pair(&(struct pair_options){ .passive = { .node = node } });
        struct end *p = &pairs[i]->passive;
        release_now(p->qp);
        p->cq = p->initiator_cq = cq;
        p->qp = new_qp(node, cq, p, 8);
        connect_ends(pairs[i]);
    }
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < 3; i++)
            exchange(&pairs[i]->active, &pairs[i]->passive);
}

/* Address forms */

static void connect_on(const struct address *address)
{
    struct node *active = new_node_on(address), *passive = new_node_on(address);
    struct cq *cq[2] = { new_cq(active, 8), new_cq(passive, 8) };
    struct qp *qp[2] = { new_qp(active, cq[0], NULL, 4), new_qp(passive, cq[1], NULL, 4) };
    struct connector *c[2] = { new_connector(active), new_connector(passive) };
    struct listener listener;
    struct op *request = new_op(), *connect = new_op(), *accept = new_op(), *complete = new_op();
    struct address at, told;
    told.length = sizeof(told.v6);
    expect_status(ND_SUCCESS, CALL(passive, Listen, address, 0, &at, &listener));
    keep_object(listener.unknown);
    expect_equal(address->length, at.length);
    expect_true(same_ip(address, &at));
    expect_status(ND_PENDING, CALL(&listener, GetConnectionRequest, c[1], &request->overlapped));
    bind_connector(c[0], address);
    expect_status(ND_PENDING,
        CALL(c[0], Connect, qp[0], &at.any, at.length, 1, 1, NULL, 0, &connect->overlapped));
    expect_status(ND_SUCCESS, wait_op(&listener, request));
    expect_status(ND_PENDING, CALL(c[1], Accept, qp[1], 1, 1, NULL, 0, &accept->overlapped));
    expect_status(ND_SUCCESS, wait_op(c[0], connect));
    HRESULT hr = CALL(c[0], CompleteConnect, &complete->overlapped);
    expect_status(ND_SUCCESS, finish(c[0], hr, complete));
    expect_status(ND_SUCCESS, wait_op(c[1], accept));
    expect_status(ND_SUCCESS, CALL(c[1], GetPeerAddress, &told.any, &told.length));
    expect_equal(address->any.sa_family, told.any.sa_family);
    expect_equal(address->length, told.length);
    expect_true(same_ip(address, &told));
    expect_status(ND_SUCCESS, CALL(qp[1], Receive, TAG(1), NULL, 0));
    expect_status(ND_SUCCESS, CALL(qp[0], Send, TAG(2), NULL, 0, 0));
    expect_status(ND_SUCCESS, next_result(cq[1]).Status);
    expect_status(ND_SUCCESS, next_result(cq[0]).Status);
}

static void every_address_connects(void)
{
    SIZE_T size = 0;
    expect_status(ND_BUFFER_OVERFLOW, NdQueryAddressList(2, NULL, &size));
    SOCKET_ADDRESS_LIST *list = keep_memory(size);
    expect_status(ND_SUCCESS, NdQueryAddressList(2, list, &size));
    for (int i = 0; i < list->iAddressCount; i++) {
        struct address address;
        memset(&address, 0, sizeof(address));
        address.length = (ULONG)list->Address[i].iSockaddrLength;
        memcpy(&address.any, list->Address[i].lpSockaddr, address.length);
        note("address %d of %d, family %d", i, list->iAddressCount, address.any.sa_family);
        connect_on(&address);
    }
}

/* Skipped by a host without IPv6: then no such address is in the list. */
static void ipv6_loopback(void)
{
    struct address address = make_address("::1", 0);
    if (NdCheckAddress(&address.any, address.length) != ND_INVALID_ADDRESS)
        connect_on(&address);
}

SUITE(device);
