/* SPDX-License-Identifier: MIT */
/*
 * test_v1_window.c - memory windows of version 1: descriptors, offsets, and the peer that takes a window back.
 */
#include "fixture_v1.h"

#define BIND_BOTH (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)

/* Descriptors */

/* 20 octets, big endian, stored at an odd address, there before the completion is. */
static void descriptor_is_big_endian_wherever_it_stands(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    INDMemoryWindow *window = new_window_v1(p->node, NULL);
    ND_RESULT bound;
    BYTE place[32];
    UINT64 base = (UINT64)(uintptr_t)(p->memory.bytes + 4097);
    memset(place, 0xEE, sizeof(place));
    expect_equal(20, sizeof(ND_MW_DESCRIPTOR));
    expect_status(ND_SUCCESS,
        CALL(p->qp->v1, Bind, &bound, p->memory.mr->handle, window, p->memory.bytes + 4097, 0x1234,
            ND_OP_FLAG_ALLOW_READ, (ND_MW_DESCRIPTOR *)(void *)(place + 3)));
    expect_equal(base, number_at(place + 3));
    expect_equal(0x1234, number_at(place + 11));
    expect_equal(0x12, place[17]);
    expect_equal(0x34, place[18]);
    for (int i = 0; i < 3; i++)
        expect_equal(0xEE, place[i]);
    for (int i = 23; i < 32; i++)
        expect_equal(0xEE, place[i]);
    expect_own(p->cq, &bound, ND_SUCCESS, 0);
}

/* As it travels: in the middle of a message, at an odd place on both sides. */
static void descriptor_travels_as_it_is(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT sent, received, read;
    ND_MW_DESCRIPTOR descriptor =
        bind_v1(p, new_window_v1(p->node, NULL), 8192, 5000, ND_OP_FLAG_ALLOW_READ);
    memcpy(p->memory.bytes + 11, &descriptor, sizeof(descriptor));
    expect_status(ND_SUCCESS, receive_v1(a, &received, 0, 64));
    expect_status(ND_SUCCESS, send_v1(p, &sent, 0, 31, ND_OP_FLAG_READ_FENCE));
    expect_own(a->cq, &received, ND_SUCCESS, 31);
    expect_own(p->cq, &sent, ND_SUCCESS, 31);
    const ND_MW_DESCRIPTOR *there = (const void *)(a->memory.bytes + 11);
    expect_equal(5000, number_at(a->memory.bytes + 19));
    fill(p->memory.bytes + 8192, 5000, 3);
    expect_status(ND_SUCCESS, read_v1(a, &read, 1000, 5000, there, 0, 0));
    expect_own(a->cq, &read, ND_SUCCESS, 5000);
    expect_filled(a->memory.bytes + 1000, 5000, 3);
}

static void offsets_count_from_the_base(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT result;
    ND_MW_DESCRIPTOR there = bind_v1(p, new_window_v1(p->node, NULL), 100, 4000, BIND_BOTH);
    static const SIZE_T offsets[] = { 0, 1, 7, 1999, 3900 };
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        fill(a->memory.bytes, 100, (unsigned)i);
        expect_status(ND_SUCCESS, write_v1(a, &result, 0, 100, &there, offsets[i], 0));
        expect_own(a->cq, &result, ND_SUCCESS, 100);
        expect_status(ND_SUCCESS, read_v1(a, &result, 500, 100, &there, offsets[i], 0));
        expect_own(a->cq, &result, ND_SUCCESS, 100);
        expect_filled(a->memory.bytes + 500, 100, (unsigned)i);
        expect_filled(p->memory.bytes + 100 + offsets[i], 100, (unsigned)i);
    }
}

/* Beyond what the descriptor says: refused in the call, or by the peer. */
static void read_beyond_the_descriptor(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT result;
    ND_MW_DESCRIPTOR there = bind_v1(p, new_window_v1(p->node, NULL), 0, 64, BIND_BOTH);
    HRESULT hr =
        expect_one_of(read_v1(a, &result, 0, 8, &there, 57, 0), ND_SUCCESS, ND_REMOTE_ERROR);
    if (hr == ND_SUCCESS)
        expect_own(a->cq, &result, ND_REMOTE_ERROR, 0);
    else
        exchange_v1(a, p);
}

/* The owner's side refuses an access beyond the window by a peer that made its descriptor longer. */
static void lengthened_descriptor(void)
{
    for (int writing = 0; writing < 2; writing++) {
        struct pair *pair = connected_pair(NULL);
        struct end *a = &pair->active, *p = &pair->passive;
        ND_RESULT result, flushed;
        ND_MW_DESCRIPTOR there = bind_v1(p, new_window_v1(p->node, NULL), 0, 64, BIND_BOTH);
        ((BYTE *)&there)[14] = 1; /* 64 KiB more */
        memset(p->memory.bytes + 60, 0x77, 8);
        expect_status(ND_SUCCESS, receive_v1(p, &flushed, 1000, 8));
        expect_status(ND_SUCCESS, writing ? write_v1(a, &result, 0, 8, &there, 60, 0)
                                          : read_v1(a, &result, 0, 8, &there, 60, 0));
        if (row_holds_in_full())
            expect_own(a->cq, &result, ND_REMOTE_ERROR, 0);
        else
            expect_own(a->cq, &result, writing ? ND_SUCCESS : ND_CANCELED, writing ? 8 : 0);
        expect_own(p->cq, &flushed, ND_CANCELED, 0);
        for (int i = 0; i < 8; i++)
            expect_equal(0x77, p->memory.bytes[60 + i]);
    }
}

/* The peer takes a window back */

static HRESULT send_and_invalidate(struct end *end, ND_RESULT *result, SIZE_T length,
    const ND_MW_DESCRIPTOR *descriptor, DWORD flags)
{
    ND_SGE sge = sge_v1(end, 0, length);
    return CALL(end->qp->v1, SendAndInvalidate, result, &sge, 1, descriptor, flags);
}

static HRESULT invalidate(struct end *end, ND_RESULT *result, INDMemoryWindow *window)
{
    return CALL(end->qp->v1, Invalidate, result, window, 0);
}

/* The message arrives as always; one more result, on the inbound queue, reports the window. */
static void peer_invalidates(void)
{
    struct pair *pair = connected_pair(
        &(struct pair_options){ .active = { .two_cqs = true }, .passive = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT told, received, sent, again;
    INDMemoryWindow *window = new_window_v1(p->node, &told);
    for (int i = 0; i < 20; i++) {
        ND_MW_DESCRIPTOR there = bind_v1(p, window, 0, 4096, BIND_BOTH);
        expect_status(ND_SUCCESS, write_v1(a, &again, 0, 64, &there, 0, 0));
        expect_own(a->initiator_cq, &again, ND_SUCCESS, 64);
        expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 64));
        memset(&told, 0x5A, sizeof(told));
        expect_status(ND_SUCCESS, send_and_invalidate(a, &sent, 48, &there, 0));
        expect_own(p->cq, &received, ND_SUCCESS, 48);
        expect_own(p->cq, &told, ND_SUCCESS, 0);
        expect_own(a->initiator_cq, &sent, ND_SUCCESS, 48);
        expect_none_own(p->initiator_cq);
        expect_status(ND_INVALID_DEVICE_REQUEST, invalidate(p, &again, window)); /* it is free */
    }
    exchange_v1(a, p);
}

/* A window made without a result: nothing reports the invalidation. */
static void peer_invalidates_silently(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT received, sent, again;
    INDMemoryWindow *window = new_window_v1(p->node, NULL);
    for (int i = 0; i < 5; i++) {
        ND_MW_DESCRIPTOR there = bind_v1(p, window, 0, 4096, BIND_BOTH);
        expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 64));
        expect_status(ND_SUCCESS,
            send_and_invalidate(a, &sent, 8, &there, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
        expect_own(p->cq, &received, ND_SUCCESS, 8);
        expect_own(a->cq, &sent, ND_SUCCESS, 8);
        exchange_v1(a, p); /* the next result is the next message's */
        expect_status(ND_INVALID_DEVICE_REQUEST, invalidate(p, &again, window));
    }
}

/* The window's end is the end of the right, and of what it holds. */
static void access_after_the_peer_has_invalidated(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT told, received, sent, written, flushed;
    struct memory m = new_memory(p->node, 4096, 0);
    struct op *op = new_op();
    ND_RESULT bound;
    ND_MW_DESCRIPTOR there;
    INDMemoryWindow *window = new_window_v1(p->node, &told);
    expect_status(ND_SUCCESS,
        CALL(p->qp->v1, Bind, &bound, m.mr->handle, window, m.bytes, 4096, BIND_BOTH, &there));
    expect_own(p->cq, &bound, ND_SUCCESS, 0);
    expect_status(ND_DEVICE_BUSY, CALL(m.mr, Deregister, &op->overlapped));
    expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 64));
    expect_status(ND_SUCCESS, send_and_invalidate(a, &sent, 8, &there, 0));
    expect_own(p->cq, &received, ND_SUCCESS, 8);
    expect_own(p->cq, &told, ND_SUCCESS, 0);
    expect_own(a->cq, &sent, ND_SUCCESS, 8);
    expect_status(ND_SUCCESS, receive_v1(p, &flushed, 0, 8));
    expect_status(ND_SUCCESS, write_v1(a, &written, 0, 8, &there, 0, 0));
    expect_own(a->cq, &written, ND_REMOTE_ERROR, 0);
    expect_own(p->cq, &flushed, ND_CANCELED, 0);
    expect_status(ND_SUCCESS, finish(m.mr, CALL(m.mr, Deregister, &op->overlapped), op));
}

/* The Send fails, unless the row holds in part on this device. */
static void expect_invalidation_failed(const ND_RESULT *sent)
{
    if (!row_holds_in_full()) {
        expect_status(ND_SUCCESS, sent->Status);
        return;
    }
    expect_one_of(sent->Status, ND_REMOTE_ERROR, ND_INVALIDATION_ERROR);
    expect_equal(0, sent->BytesTransferred);
}

/* Invalidating a window that is not bound fails on both sides. */
static void peer_invalidates_nothing(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT received, second, sent;
    ND_MW_DESCRIPTOR there = { 0, 0, 0x5A5A5A5A };
    expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 64));
    expect_status(ND_SUCCESS, receive_v1(p, &second, 0, 64));
    expect_status(ND_SUCCESS, send_and_invalidate(a, &sent, 8, &there, 0));
    ND_RESULT *got = next_own(a->cq);
    expect_pointer(&sent, got);
    expect_invalidation_failed(got);
    got = next_own(p->cq);
    expect_pointer(&received, got);
    expect_true(FAILED(got->Status));
    expect_own(p->cq, &second, ND_CANCELED, 0);
}

/* Own Invalidates say nothing there. */
static void own_invalidate_is_not_told_of(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT told, result;
    INDMemoryWindow *window = new_window_v1(p->node, &told);
    memset(&told, 0x5A, sizeof(told));
    ND_RESULT before = told;
    bind_v1(p, window, 0, 64, BIND_BOTH);
    expect_status(ND_SUCCESS, invalidate(p, &result, window));
    expect_own(p->cq, &result, ND_SUCCESS, 0);
    exchange_v1(a, p);
    expect_none_own(p->cq);
    expect_equal(0, memcmp(&before, &told, sizeof(told)));
}

/* Both take it back */

/* The peer's has been seen: the own one is refused, and nothing is lost. */
static void own_invalidate_comes_too_late(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT told, received, sent, result;
    INDMemoryWindow *window = new_window_v1(p->node, &told);
    ND_MW_DESCRIPTOR there = bind_v1(p, window, 0, 64, BIND_BOTH);
    expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 64));
    expect_status(ND_SUCCESS, send_and_invalidate(a, &sent, 8, &there, 0));
    expect_own(p->cq, &received, ND_SUCCESS, 8);
    expect_status(ND_INVALID_DEVICE_REQUEST, invalidate(p, &result, window));
    expect_own(p->cq, &told, ND_SUCCESS, 0);
    expect_own(a->cq, &sent, ND_SUCCESS, 8);
    exchange_v1(a, p);
    exchange_v1(p, a);
}

/* The own one was first: the peer's fails, and the connection is gone. */
static void peers_invalidate_comes_too_late(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT told, received, sent, result;
    INDMemoryWindow *window = new_window_v1(p->node, &told);
    ND_MW_DESCRIPTOR there = bind_v1(p, window, 0, 64, BIND_BOTH);
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(p->connector, NotifyDisconnect, &op->overlapped));
    expect_status(ND_SUCCESS, invalidate(p, &result, window));
    expect_own(p->cq, &result, ND_SUCCESS, 0);
    expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 64));
    expect_status(ND_SUCCESS, send_and_invalidate(a, &sent, 8, &there, 0));
    ND_RESULT *got = next_own(a->cq);
    expect_pointer(&sent, got);
    expect_invalidation_failed(got);
    got = next_own(p->cq);
    expect_pointer(&received, got);
    expect_true(FAILED(got->Status));
    expect_one_of(wait_op(p->connector, op), ND_SUCCESS, ND_CANCELED);
}

/* The peer's Invalidate is done, unnoticed when the owner posts its own: that fails, and the window's result comes. */
static void own_invalidate_is_overtaken(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .passive = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    ND_RESULT told, received, sent, own;
    INDMemoryWindow *window = new_window_v1(p->node, &told);
    ND_MW_DESCRIPTOR there = bind_v1(p, window, 0, 64, BIND_BOTH);
    expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 64));
    expect_status(ND_SUCCESS, send_and_invalidate(a, &sent, 8, &there, 0));
    expect_own(a->cq, &sent, ND_SUCCESS, 8);
    expect_status(ND_SUCCESS, invalidate(p, &own, window));
    expect_own(p->initiator_cq, &own, ND_INVALID_DEVICE_REQUEST, 0);
    expect_own(p->cq, &received, ND_SUCCESS, 8);
    expect_own(p->cq, &told, ND_SUCCESS, 0);
}

/* At once: exactly one wins, whichever. */
static void both_invalidate_at_once(void)
{
    for (int i = 0; i < 20; i++) {
        struct pair *pair =
            connected_pair(&(struct pair_options){ .passive = { .two_cqs = true } });
        struct end *a = &pair->active, *p = &pair->passive;
        ND_RESULT told, received, sent, own;
        INDMemoryWindow *window = new_window_v1(p->node, &told);
        ND_MW_DESCRIPTOR there = bind_v1(p, window, 0, 64, BIND_BOTH);
        note("round %d", i);
        expect_status(ND_SUCCESS, receive_v1(p, &received, 0, 64));
        expect_status(ND_SUCCESS, send_and_invalidate(a, &sent, 8, &there, 0));
        if (i % 2)
            expect_none_own(p->initiator_cq); /* the passive side makes progress */
        HRESULT called =
            expect_one_of(invalidate(p, &own, window), ND_SUCCESS, ND_INVALID_DEVICE_REQUEST);
        bool own_won = called == ND_SUCCESS && next_own(p->initiator_cq)->Status == ND_SUCCESS;
        ND_RESULT *peers = next_own(a->cq);
        expect_pointer(&sent, peers);
        expect_true(own_won != (peers->Status == ND_SUCCESS));
        expect_pointer(&received, next_own(p->cq));
        expect_equal(own_won, FAILED(received.Status));
        if (own_won)
            continue;
        expect_own(p->cq, &told, ND_SUCCESS, 0);
        if (called == ND_INVALID_DEVICE_REQUEST)
            exchange_v1(a, p);
    }
}

SUITE(v1_window);
