/* SPDX-License-Identifier: MIT */
/*
 * test_mw.c - memory windows: Bind, Invalidate, rights, rebinding, and what they forbid their region.
 */
#include "fixture.h"

#define BIND_BOTH (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)

static HRESULT bind_window(struct end *end, void *context, struct memory *m, struct mw *mw,
    SIZE_T offset, SIZE_T length, ULONG flags)
{
    return CALL(end->qp, Bind, context, m->mr, mw, m->bytes + offset, length, flags);
}

static HRESULT invalidate_window(struct end *end, void *context, struct mw *mw, ULONG flags)
{
    return CALL(end->qp, Invalidate, context, mw, flags);
}

/* Bound and its completion taken; returns the token. */
static UINT32 bound(
    struct end *end, struct memory *m, struct mw *mw, SIZE_T offset, SIZE_T length, ULONG flags)
{
    expect_status(ND_SUCCESS, bind_window(end, TAG(700), m, mw, offset, length, flags));
    expect_result(end, Nd2RequestTypeBind, TAG(700), ND_SUCCESS);
    return CALL(mw, GetRemoteToken);
}

static void invalidated(struct end *end, struct mw *mw)
{
    expect_status(ND_SUCCESS, invalidate_window(end, TAG(701), mw, 0));
    expect_result(end, Nd2RequestTypeInvalidate, TAG(701), ND_SUCCESS);
}

static HRESULT deregister(struct memory *m)
{
    struct op *op = new_op();
    return finish(m->mr, CALL(m->mr, Deregister, &op->overlapped), op);
}

static void can_write(struct end *a, const void *remote, ULONG length, UINT32 token)
{
    expect_status(ND_SUCCESS, post_write(a, TAG(702), 0, length, remote, token, 0));
    expect_result(a, Nd2RequestTypeWrite, TAG(702), ND_SUCCESS);
}

/*
 * A test that takes the target of a Write away first has to know that the Write arrived: on iWARP it completes when it
 * has been sent. A message behind it shows that.
 */
static void has_written(
    struct end *a, struct end *p, const void *remote, ULONG length, UINT32 token)
{
    can_write(a, remote, length, token);
    exchange(a, p);
}

static void can_read(struct end *a, const void *remote, ULONG length, UINT32 token)
{
    expect_status(ND_SUCCESS, post_read(a, TAG(703), 32768, length, remote, token, 0));
    expect_result(a, Nd2RequestTypeRead, TAG(703), ND_SUCCESS);
}

static void bind_completes_and_token_is_known_at_once(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    UINT32 other = remote_token(p);
    expect_status(ND_SUCCESS, bind_window(p, TAG(1), &p->memory, mw, 4096, 4096, BIND_BOTH));
    UINT32 token = CALL(mw, GetRemoteToken);
    expect_true(token != other);
    expect_result(p, Nd2RequestTypeBind, TAG(1), ND_SUCCESS);
    expect_equal(token, CALL(mw, GetRemoteToken));
    fill(a->memory.bytes, 4096, 6);
    can_write(a, p->memory.bytes + 4096, 4096, token);
    can_read(a, p->memory.bytes + 4096, 4096, token);
    expect_filled(a->memory.bytes + 32768, 4096, 6);
}

static void active_side_owns_the_window(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct mw *mw = new_mw(a->node);
    UINT32 token = bound(a, &a->memory, mw, 0, 1000, BIND_BOTH);
    can_write(p, a->memory.bytes, 1000, token);
    can_read(p, a->memory.bytes + 999, 1, token);
}

static void large_window_at_any_offset(void)
{
    enum { SIZE = 64 * 1024 * 1024 };
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory big = new_memory(p->node, SIZE, MR_LOCAL);
    UINT32 token = bound(p, &big, new_mw(p->node), 0, SIZE, BIND_BOTH);
    SIZE_T offset = 0;
    for (ULONG n = 4; n <= 16384; n *= 2, offset = (offset * 5 + 7654321) % (SIZE - 16384)) {
        fill(a->memory.bytes, n, n);
        can_write(a, big.bytes + offset, n, token);
        can_read(a, big.bytes + offset, n, token);
        expect_filled(a->memory.bytes + 32768, n, n);
    }
    can_read(a, big.bytes + SIZE - 4, 4, token);
}

static void outside_the_window(void)
{
    for (int way = 0; way < 4; way++) {
        struct pair *pair = connected_pair(NULL);
        struct memory *m = &pair->passive.memory;
        UINT32 token = bound(&pair->passive, m, new_mw(pair->passive.node), 100, 100, BIND_BOTH);
        note("%s %s", way & 1 ? "Read" : "Write", way & 2 ? "before" : "behind");
        expect_no_access(pair, way & 1 ? Nd2RequestTypeRead : Nd2RequestTypeWrite,
            m->bytes + (way & 2 ? 99 : 193), 8, token);
    }
}

/* Also when the local entry is too long as well. */
static void after_invalidate(void)
{
    for (int way = 0; way < 2; way++) {
        struct pair *pair = connected_pair(NULL);
        struct end *p = &pair->passive;
        struct mw *mw = new_mw(p->node);
        UINT32 token = bound(p, &p->memory, mw, 0, 4096, BIND_BOTH);
        has_written(&pair->active, p, p->memory.bytes, 8, token);
        invalidated(p, mw);
        note("%s", way ? "Read" : "Write");
        expect_no_access(
            pair, way ? Nd2RequestTypeRead : Nd2RequestTypeWrite, p->memory.bytes, 8, token);
    }
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    UINT32 token = bound(p, &p->memory, mw, 0, 64, BIND_BOTH);
    invalidated(p, mw);
    note("longer than the window had been");
    expect_no_access(pair, Nd2RequestTypeWrite, p->memory.bytes, 4096, token);
}

static void rights_of_the_window(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    UINT32 token = bound(p, &p->memory, new_mw(p->node), 0, 64, ND_OP_FLAG_ALLOW_READ);
    can_read(&pair->active, p->memory.bytes, 64, token);
    expect_no_access(pair, Nd2RequestTypeWrite, p->memory.bytes, 8, token);

    pair = connected_pair(NULL);
    p = &pair->passive;
    token = bound(p, &p->memory, new_mw(p->node), 0, 64, ND_OP_FLAG_ALLOW_WRITE);
    can_write(&pair->active, p->memory.bytes, 64, token);
    if (row_holds_in_full())
        expect_no_access(pair, Nd2RequestTypeRead, p->memory.bytes, 8, token);
}

static void window_without_rights(void)
{
    for (int way = 0; way < (row_holds_in_full() ? 2 : 1); way++) {
        struct pair *pair = connected_pair(NULL);
        struct end *p = &pair->passive;
        UINT32 token = bound(p, &p->memory, new_mw(p->node), 0, 64, 0);
        expect_no_access(
            pair, way ? Nd2RequestTypeRead : Nd2RequestTypeWrite, p->memory.bytes, 8, token);
    }
}

static void window_grants_what_its_region_does_not(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory m = new_memory(p->node, 4096, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
    UINT32 token = bound(p, &m, new_mw(p->node), 0, 4096, BIND_BOTH);
    fill(a->memory.bytes, 4096, 3);
    can_write(a, m.bytes, 4096, token);
    expect_status(ND_SUCCESS, post_receive(p, TAG(2), 0, 0));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(1), NULL, 0, 0));
    expect_result(p, Nd2RequestTypeReceive, TAG(2), ND_SUCCESS);
    expect_result(a, Nd2RequestTypeSend, TAG(1), ND_SUCCESS);
    expect_filled(m.bytes, 4096, 3);
    expect_no_access(pair, Nd2RequestTypeWrite, m.bytes, 8, m.remote);
}

static void write_right_needs_local_write(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    struct memory m = new_memory(p->node, 64, 0);
    expect_status(
        ND_ACCESS_VIOLATION, bind_window(p, TAG(1), &m, mw, 0, 64, ND_OP_FLAG_ALLOW_WRITE));
    /* Reading needs nothing, and the window is still free. */
    UINT32 token = bound(p, &m, mw, 0, 64, ND_OP_FLAG_ALLOW_READ);
    can_read(&pair->active, m.bytes, 64, token);
}

static void buffer_outside_the_region(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    struct memory inner = { p->memory.mr, p->memory.bytes, 0, 0, 0 };
    expect_status(ND_INVALID_PARAMETER_4,
        CALL(p->qp, Bind, TAG(1), inner.mr, mw, inner.bytes - 1, 8, BIND_BOTH));
    expect_status(
        ND_INVALID_PARAMETER_5, bind_window(p, TAG(1), &inner, mw, END_MEMORY - 7, 8, BIND_BOTH));
    expect_status(
        ND_INVALID_PARAMETER_5, bind_window(p, TAG(1), &inner, mw, 8, (SIZE_T)-4, BIND_BOTH));
    expect_status(
        ND_INVALID_PARAMETER_4, bind_window(p, TAG(1), &inner, mw, END_MEMORY + 8, 8, BIND_BOTH));
    exchange(p, &pair->active);
    bound(p, &p->memory, mw, 0, END_MEMORY, BIND_BOTH);
}

static void unregistered_region(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct memory m = { new_mr(p->node), p->memory.bytes, 64, 0, 0 };
    expect_true(FAILED(bind_window(p, TAG(1), &m, new_mw(p->node), 0, 8, BIND_BOTH)));
    exchange(p, &pair->active);
}

static void window_is_bound_already(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    UINT32 token = bound(p, &p->memory, mw, 0, 64, BIND_BOTH);
    expect_status(
        ND_INVALID_DEVICE_REQUEST, bind_window(p, TAG(1), &p->memory, mw, 0, 64, BIND_BOTH));
    expect_equal(token, CALL(mw, GetRemoteToken));
    can_write(&pair->active, p->memory.bytes, 64, token);
}

static void invalidate_of_an_unbound_window(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    expect_status(ND_INVALID_DEVICE_REQUEST, invalidate_window(p, TAG(1), mw, 0));
    bound(p, &p->memory, mw, 0, 64, BIND_BOTH);
    invalidated(p, mw);
    expect_status(ND_INVALID_DEVICE_REQUEST, invalidate_window(p, TAG(1), mw, 0));
    exchange(p, &pair->active);
}

static void bind_and_invalidate_keep_the_order(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct mw *mw = new_mw(p->node), *other = new_mw(p->node);
    UINT32 token = remote_token(a);
    expect_status(ND_SUCCESS, post_receive(a, TAG(9), 0, 64));
    expect_status(ND_SUCCESS, bind_window(p, TAG(1), &p->memory, mw, 0, 64, BIND_BOTH));
    expect_status(ND_SUCCESS, post_send(p, TAG(2), 0, 64, 0));
    expect_status(ND_SUCCESS, bind_window(p, TAG(3), &p->memory, other, 0, 64, BIND_BOTH));
    expect_status(ND_SUCCESS, invalidate_window(p, TAG(4), mw, 0));
    expect_status(ND_SUCCESS, post_write(p, TAG(5), 0, 8, a->memory.bytes + 100, token, 0));
    expect_status(ND_SUCCESS, invalidate_window(p, TAG(6), other, ND_OP_FLAG_READ_FENCE));
    expect_result(p, Nd2RequestTypeBind, TAG(1), ND_SUCCESS);
    expect_result(p, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    expect_result(p, Nd2RequestTypeBind, TAG(3), ND_SUCCESS);
    expect_result(p, Nd2RequestTypeInvalidate, TAG(4), ND_SUCCESS);
    expect_result(p, Nd2RequestTypeWrite, TAG(5), ND_SUCCESS);
    expect_result(p, Nd2RequestTypeInvalidate, TAG(6), ND_SUCCESS);
}

/* A request is done once, also if one before it is sent again: our reading. Linux' rxe_req.c does a Bind twice. */
static void bind_behind_a_send_whose_receive_comes_late(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    UINT32 token = remote_token(p); /* version 1 binds a window for it */
    expect_status(ND_SUCCESS, post_send(p, TAG(1), 0, 8, 0));
    expect_status(ND_SUCCESS, bind_window(p, TAG(2), &p->memory, mw, 0, 64, BIND_BOTH));
    for (int i = 0; i < 3;
         i++) /* meanwhile the Send has come, and the device knows that nothing receives it */
        can_read(a, p->memory.bytes, 8, token);
    expect_status(ND_SUCCESS, post_receive(a, TAG(3), 0, 8));
    expect_result(p, Nd2RequestTypeSend, TAG(1), ND_SUCCESS);
    expect_result(p, Nd2RequestTypeBind, TAG(2), ND_SUCCESS);
    expect_equal(8, expect_result(a, Nd2RequestTypeReceive, TAG(3), ND_SUCCESS));
    can_write(a, p->memory.bytes, 64, CALL(mw, GetRemoteToken));
}

static void silent_bind_and_invalidate(void)
{
    struct pair *pair = connected_pair(
        &(struct pair_options){ .passive = { .initiator_depth = 4, .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    for (int i = 0; i < 40; i++) {
        expect_status(ND_SUCCESS,
            bind_window(p, TAG(1), &p->memory, mw, 0, 64, BIND_BOTH | ND_OP_FLAG_SILENT_SUCCESS));
        UINT32 token = CALL(mw, GetRemoteToken);
        expect_status(ND_SUCCESS, post_receive(a, TAG(2), 0, 64));
        expect_status(ND_SUCCESS, post_send(p, TAG(3), 0, 4, 0));
        expect_result(p, Nd2RequestTypeSend, TAG(3), ND_SUCCESS);
        expect_result(a, Nd2RequestTypeReceive, TAG(2), ND_SUCCESS);
        has_written(a, p, p->memory.bytes, 8, token);
        expect_status(ND_SUCCESS, invalidate_window(p, TAG(4), mw, ND_OP_FLAG_SILENT_SUCCESS));
        expect_no_result(p->initiator_cq);
    }
}

static void token_changes_with_each_bind(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    UINT32 last = 0;
    for (int i = 0; i < 300; i++) {
        UINT32 token = bound(p, &p->memory, mw, 0, 64, BIND_BOTH);
        expect_true(i == 0 || token != last);
        last = token;
        invalidated(p, mw);
    }
    can_write(&pair->active, p->memory.bytes, 8, bound(p, &p->memory, mw, 0, 64, BIND_BOTH));
}

/* After an Invalidate a window may serve another region and another queue pair of its adapter. */
static void rebind_to_another_queue_pair_and_region(void)
{
    struct pair *first = connected_pair(NULL);
    struct pair *second = connected_pair(&(struct pair_options){
        .active = { .node = first->active.node }, .passive = { .node = first->passive.node } });
    struct memory other = new_memory(first->passive.node, 4096, MR_LOCAL);
    struct mw *mw = new_mw(first->passive.node);
    for (int i = 0; i < 3; i++) {
        UINT32 token = bound(&first->passive, &first->passive.memory, mw, 0, 4096, BIND_BOTH);
        has_written(&first->active, &first->passive, first->passive.memory.bytes, 64, token);
        invalidated(&first->passive, mw);
        token = bound(&second->passive, &other, mw, 0, 4096, BIND_BOTH);
        fill(second->active.memory.bytes, 64, 70 + (unsigned)i);
        can_write(&second->active, other.bytes, 64, token);
        can_read(&second->active, other.bytes, 64, token);
        expect_filled(second->active.memory.bytes + 32768, 64, 70 + (unsigned)i);
        invalidated(&second->passive, mw);
    }
}

/* A window belongs to the queue pair it was bound on. */
static void window_serves_its_own_queue_pair_only(void)
{
    struct pair *first = connected_pair(NULL);
    struct pair *second = connected_pair(&(struct pair_options){
        .active = { .node = first->active.node }, .passive = { .node = first->passive.node } });
    UINT32 token = bound(
        &first->passive, &first->passive.memory, new_mw(first->passive.node), 0, 4096, BIND_BOTH);
    can_write(&first->active, first->passive.memory.bytes, 64, token);
    expect_no_access(second, Nd2RequestTypeWrite, first->passive.memory.bytes, 8, token);
    can_write(&first->active, first->passive.memory.bytes, 64, token);
}

static void overlapping_windows_with_different_rights(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    UINT32 reading = bound(p, &p->memory, new_mw(p->node), 0, 4096, ND_OP_FLAG_ALLOW_READ);
    UINT32 writing = bound(p, &p->memory, new_mw(p->node), 2048, 4096, ND_OP_FLAG_ALLOW_WRITE);
    fill(a->memory.bytes, 2048, 5);
    can_write(a, p->memory.bytes + 2048, 2048, writing);
    can_read(a, p->memory.bytes + 2048, 2048, reading);
    expect_filled(a->memory.bytes + 32768, 2048, 5);
    expect_no_access(pair, Nd2RequestTypeWrite, p->memory.bytes + 2048, 8, reading);
}

/* Regions and their windows */

static void deregister_with_a_bound_window(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory m = new_memory(p->node, 4096, MR_LOCAL);
    struct mw *mw = new_mw(p->node);
    struct op *op = new_op();
    UINT32 token = bound(p, &m, mw, 0, 4096, BIND_BOTH);
    expect_status(ND_DEVICE_BUSY, CALL(m.mr, Deregister, &op->overlapped));
    has_written(a, p, m.bytes, 64, token); /* nothing has changed */
    invalidated(p, mw);
    expect_status(ND_SUCCESS, deregister(&m));
}

static void deregister_after_the_window_has_gone(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct memory m = new_memory(p->node, 4096, MR_LOCAL);
    struct mw *mw = new_mw(p->node);
    UINT32 token = bound(p, &m, mw, 0, 4096, BIND_BOTH);
    expect_equal(0, release_now(mw));
    expect_status(ND_SUCCESS, deregister(&m));
    expect_no_access(pair, Nd2RequestTypeWrite, m.bytes, 8, token);
}

/* The region's object goes first, as one conformance program does it. */
static void region_is_released_before_its_window(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct memory m = new_memory(p->node, 4096, MR_LOCAL);
    struct mw *mw = new_mw(p->node);
    bound(p, &m, mw, 0, 4096, BIND_BOTH);
    struct op *op = new_op();
    expect_status(ND_DEVICE_BUSY, CALL(m.mr, Deregister, &op->overlapped));
    disconnect(p);
    (void)finish(m.mr, CALL(m.mr, Deregister, &op->overlapped), op);
    expect_equal(0, release_now(m.mr));
    expect_equal(0, release_now(mw));
}

static void bound_region_is_released_and_access_goes_on(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory m = new_memory(p->node, 4096, MR_LOCAL);
    struct mw *mw = new_mw(p->node);
    UINT32 token = bound(p, &m, mw, 0, 4096, BIND_BOTH);
    expect_equal(0, release_now(m.mr));
    fill(a->memory.bytes, 100, 8);
    can_write(a, m.bytes, 100, token);
    can_read(a, m.bytes, 100, token);
    expect_filled(a->memory.bytes + 32768, 100, 8);
    invalidated(p, mw);
    expect_no_access(pair, Nd2RequestTypeWrite, m.bytes, 8, token);
}

static void window_of_another_adapter(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct node *node = new_node();
    struct memory foreign = new_memory(node, 64, MR_LOCAL);
    struct mw *mw = new_mw(node);
    expect_status(ND_INVALID_PARAMETER_3, bind_window(p, TAG(1), &p->memory, mw, 0, 8, BIND_BOTH));
    expect_status(V2_V1(ND_INVALID_PARAMETER_2, ND_INVALID_HANDLE),
        bind_window(p, TAG(1), &foreign, new_mw(p->node), 0, 8, BIND_BOTH));
    expect_status(ND_INVALID_PARAMETER_2, invalidate_window(p, TAG(1), mw, 0));
    exchange(p, &pair->active);
}

SUITE(mw);
