/* SPDX-License-Identifier: MIT */
/*
 * test_nd1_data.c - the data path of version 1 over a device that the test plays: results by address, handles, inline
 * and mixed lists, and windows that the peer takes back.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake_v1.h"

#include <string.h>

enum { DEPTH = 24 };

static int setup(void **state)
{
    return fake_v1_set_up(state, DEPTH);
}

static uint32_t send_list(struct fake_v1 *f, unsigned n, const ND_SGE *list, size_t count)
{
    return (uint32_t)nd_queue_send_v1(&f->qp->initiator, &f->results[n], list, count, 0);
}

static uint32_t receive_list(struct fake_v1 *f, unsigned n, const ND_SGE *list, size_t count)
{
    return (uint32_t)nd_queue_receive_v1(&f->qp->receive, &f->results[n], list, count);
}

/* ---- results ---- */

/* One by one, several at once, and through the software queue: the same addresses, filled when they are handed out. */
static void test_results_are_the_clients_own(void **state)
{
    struct fake_v1 *f = *state;
    const ND_SGE sge = { f->memory, 40, f->mr };
    const struct nd_remote remote = { .address = 0x1000, .token = 1 };
    ND_RESULT *results[8];

    for (int way = 0; way < 3; way++) {
        assert_int_equal(send_list(f, 0, &sge, 1), 0);
        assert_int_equal((uint32_t)nd_qp_write(f->qp, &f->results[1], &sge, 1, &remote, 0), 0);
        assert_int_equal((uint32_t)nd_qp_read(f->qp, &f->results[2], &sge, 1, &remote, 0), 0);
        assert_int_equal(receive_list(f, 3, &sge, 1), 0);
        assert_int_equal(
            (uint32_t)nd_qp_send_invalidate(f->qp, &f->results[4], &sge, 1, 0x44332211, 0), 0);
        assert_int_equal(f->device->send.requests[3].opcode, IBV_WR_SEND_WITH_INV);
        assert_int_equal(f->device->send.requests[3].invalidate_rkey, 0x11223344);
        memset(f->results, 0x55, sizeof(f->results));
        fake_v1_sends_end(f, 3, IBV_WC_SUCCESS);
        fake_complete(f->cq, &f->device->receive, &f->device->ibv, 1, IBV_WC_SUCCESS);
        fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
        if (way == 2)
            nd_cq_look(f->cq);
        assert_int_equal(f->results[0].Status, 0x55555555); /* not before they are handed out */
        for (size_t got = 0; got < 5;)
            got += fake_v1_fetch(f, results + got, way == 1 ? 8 : 1);
        for (unsigned i = 0; i < 5; i++) {
            assert_ptr_equal(results[i], &f->results[i]);
            assert_int_equal(results[i]->Status, 0);
            assert_int_equal(results[i]->BytesTransferred, i == 3 ? 8 : 40);
        }
    }
}

static void test_failed_results_have_no_length(void **state)
{
    struct fake_v1 *f = *state;
    const ND_SGE sge = { f->memory, 40, f->mr };
    ND_RESULT *results[2];

    assert_int_equal(send_list(f, 0, &sge, 1), 0);
    assert_int_equal(send_list(f, 1, &sge, 1), 0);
    fake_v1_sends_end(f, 1, IBV_WC_REM_ACCESS_ERR);
    fake_v1_sends_end(f, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(fake_v1_fetch(f, results, 2), 2);
    assert_ptr_equal(results[0], &f->results[0]);
    assert_int_equal((uint32_t)results[0]->Status, SPEC_ND_REMOTE_ERROR);
    assert_int_equal(results[0]->BytesTransferred, 0);
    assert_int_equal((uint32_t)results[1]->Status, SPEC_ND_CANCELED);
    assert_int_equal(results[1]->BytesTransferred, 0);
}

/* ---- handles and lists ---- */

/* On every form of post, and without anything happening. */
static void expect_bad_handle(struct fake_v1 *f, void *handle)
{
    const ND_SGE one = { f->memory, 8, handle };
    const ND_SGE two[2] = { { f->memory, 8, f->mr }, { f->memory, 8, handle } };
    const struct nd_remote remote = { .address = 0x1000, .token = 1 };

    assert_int_equal(send_list(f, 0, &one, 1), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(send_list(f, 0, two, 2), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(receive_list(f, 0, &one, 1), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(receive_list(f, 0, two, 2), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(
        (uint32_t)nd_qp_read(f->qp, f->results, &one, 1, &remote, 0), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(
        (uint32_t)nd_qp_write(f->qp, f->results, &one, 1, &remote, 0), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(
        (uint32_t)nd_qp_send_invalidate(f->qp, f->results, &one, 1, 0, 0), SPEC_ND_INVALID_HANDLE);
    assert_null(nd_region_pin(f->adapter, handle));
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, handle), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(f->device->send.count, 0);
    assert_int_equal(f->device->receive.count, 0);
}

static void test_what_is_no_handle_is_told(void **state)
{
    struct fake_v1 *f = *state;
    uintptr_t good = (uintptr_t)f->mr;
    void *stale, *again;

    for (unsigned bit = 0; bit < sizeof(void *) * 8; bit++)
        expect_bad_handle(f, (void *)(good ^ (uintptr_t)1 << bit));
    expect_bad_handle(f, (void *)UINTPTR_MAX);
    expect_bad_handle(f, (void *)(uintptr_t)1);
    expect_bad_handle(f, f); /* a pointer */
    assert_int_equal(nd_region_register(f->adapter, f->memory, 8, &stale), ND_SUCCESS);
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, stale), 0);
    expect_bad_handle(f, stale);
    assert_int_equal(nd_region_register(f->adapter, f->memory, 8, &again), ND_SUCCESS);
    assert_ptr_not_equal(again, stale); /* in the same place of the table */
    expect_bad_handle(f, stale);
}

static void test_another_adapters_handle_is_told(void **state)
{
    struct fake_v1 *f = *state;
    struct nd_adapter other = *f->adapter;
    void *foreign;

    assert_int_equal(nd_regions_init(&other.regions), 0);
    assert_int_equal(nd_region_register(&other, f->memory, 8, &foreign), ND_SUCCESS);
    expect_bad_handle(f, foreign);
    assert_int_equal((uint32_t)nd_region_deregister(&other, foreign), 0);
    nd_regions_fini(&other.regions);
}

static void test_what_is_left_registered_goes_with_the_table(void **state)
{
    struct fake_v1 *f = *state;
    unsigned before = fake_device.objects;
    struct nd_adapter other = *f->adapter;
    void *handles[100];

    assert_int_equal(nd_regions_init(&other.regions), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(nd_region_register(&other, f->memory, 8, &handles[i]), ND_SUCCESS);
    for (int i = 0; i < 100; i += 3)
        assert_int_equal((uint32_t)nd_region_deregister(&other, handles[i]), 0);
    nd_regions_fini(&other.regions);
    assert_int_equal(fake_device.objects, before);
}

static void test_lengths_and_counts_are_checked(void **state)
{
    struct fake_v1 *f = *state;
    ND_SGE list[3] = { { f->memory, 8, f->mr }, { f->memory, 8, f->mr }, { f->memory, 8, f->mr } };

    assert_int_equal(send_list(f, 0, list, 3), SPEC_ND_DATA_OVERRUN);
    assert_int_equal(send_list(f, 0, list, (size_t)1 << 32 | 1), SPEC_ND_DATA_OVERRUN);
    assert_int_equal(receive_list(f, 0, list, (size_t)1 << 32 | 1), SPEC_ND_DATA_OVERRUN);
    assert_int_equal(send_list(f, 0, NULL, 1), SPEC_ND_INVALID_PARAMETER_2);
    assert_int_equal(send_list(f, 0, NULL, 0), 0);
    assert_int_equal(receive_list(f, 0, NULL, 0), 0);
    list[0].Length = (size_t)1 << 32; /* 0 in 32 bits */
    assert_int_equal(send_list(f, 0, list, 1), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(receive_list(f, 0, list, 1), SPEC_ND_BUFFER_OVERFLOW);
    list[0].Length = list[1].Length = (1 << 20) - 1;
    assert_int_equal(send_list(f, 0, list, 2), SPEC_ND_BUFFER_OVERFLOW);
    list[0].Length = SIZE_MAX;
    list[1].Length = 2; /* the sum is 1 */
    assert_int_equal(send_list(f, 0, list, 2), SPEC_ND_BUFFER_OVERFLOW);
    list[0].Length = 8;
    assert_int_equal((uint32_t)nd_queue_send_v1(&f->qp->initiator, NULL, list, 1, 0),
        SPEC_ND_INVALID_PARAMETER_1);
    assert_int_equal(
        (uint32_t)nd_queue_receive_v1(&f->qp->receive, NULL, list, 1), SPEC_ND_INVALID_PARAMETER_1);
    for (uint32_t flag = 8; flag; flag <<= 1)
        assert_int_equal((uint32_t)nd_queue_send_v1(&f->qp->initiator, f->results, list, 1, flag),
            SPEC_ND_INVALID_PARAMETER_4);
    f->device->send.count = f->device->receive.count = 0;
}

/* An endpoint made for lists of no entries. */
static void test_where_no_entry_is_allowed_one_is_too_many(void **state)
{
    struct fake_v1 *f = *state;
    const struct nd_qp_params params = {
        .receive_cq = f->cq, .initiator_cq = f->cq, .receive_depth = 1, .initiator_depth = 1
    };
    struct nd_qp *qp = nd_object_alloc(sizeof(*qp));
    const ND_SGE lists[] = { { f->memory, 8, f->mr }, { f->memory, 0, f->mr }, { NULL, 0, NULL } };
    ND_RESULT *fetched[2];
    struct fake_qp *device;

    assert_non_null(qp);
    assert_int_equal((uint32_t)nd_qp_init(qp, f->adapter, &params, f->qp->object.destroy), 0);
    device = fake_qp_of(qp);
    nd_qp_set_sendable(qp);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
            assert_int_equal(
                (uint32_t)nd_queue_send_v1(&qp->initiator, f->results, &lists[i], 1, 0),
                SPEC_ND_DATA_OVERRUN);
            assert_int_equal((uint32_t)nd_queue_receive_v1(&qp->receive, f->results, &lists[i], 1),
                SPEC_ND_DATA_OVERRUN);
        }
        assert_int_equal(device->send.count, 0);
        assert_int_equal(device->receive.count, 0);
        assert_int_equal((uint32_t)nd_queue_send_v1(&qp->initiator, f->results, NULL, 0, 0), 0);
        assert_int_equal((uint32_t)nd_queue_receive_v1(&qp->receive, f->results, NULL, 0), 0);
        assert_int_equal((uint32_t)nd_queue_send_v1(&qp->initiator, f->results, NULL, 0, 0),
            SPEC_ND_NO_MORE_ENTRIES);
        fake_complete(f->cq, &device->send, &device->ibv, 1, IBV_WC_SUCCESS);
        fake_complete(f->cq, &device->receive, &device->ibv, 1, IBV_WC_SUCCESS);
        assert_int_equal(fake_v1_fetch(f, fetched, 2), 2);
    }
    nd_qp_close(qp);
    fake_complete(f->cq, &device->send, &device->ibv, 1, IBV_WC_WR_FLUSH_ERR);
}

static void test_reads_and_writes_keep_to_their_bounds(void **state)
{
    struct fake_v1 *f = *state;
    const ND_SGE sge = { f->memory, 9, f->mr };
    struct nd_remote remote = { .address = 0x1000, .bounded = true, .room = 8 };

    assert_int_equal(
        (uint32_t)nd_qp_read(f->qp, f->results, &sge, 1, &remote, 0), SPEC_ND_REMOTE_ERROR);
    assert_int_equal(
        (uint32_t)nd_qp_write(f->qp, f->results, &sge, 1, &remote, 0), SPEC_ND_REMOTE_ERROR);
    remote.room = 9;
    assert_int_equal((uint32_t)nd_qp_read(f->qp, f->results, &sge, 1, &remote, 0), 0);
    f->device->send.count = 0;
}

/* ---- inline ---- */

static void test_entries_without_a_handle_are_inline(void **state)
{
    struct fake_v1 *f = *state;
    char text[65] = "no registration";
    ND_SGE list[2] = { { text, 15, NULL }, { f->memory, 4, f->mr } };
    const struct nd_remote remote = { .address = 0x1000, .token = 1 };
    const struct fake_request *posted = f->device->send.requests;

    memcpy(f->memory, "mixed", 5);
    assert_int_equal(send_list(f, 0, list, 1), 0);
    assert_int_equal(send_list(f, 1, list, 2), 0); /* 19 bytes: all of it fits */
    assert_int_equal(posted[0].send_flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    assert_memory_equal(posted[0].data, "no registration", 15);
    assert_int_equal(posted[1].send_flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    assert_memory_equal(posted[1].data, "no registrationmixe", 19);
    list[0].Length = 64;
    assert_int_equal((uint32_t)nd_qp_write(f->qp, f->results, list, 1, &remote, 0), 0);
    list[0].Length = 65;
    assert_int_equal(send_list(f, 2, list, 1), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(
        (uint32_t)nd_qp_read(f->qp, f->results, list, 1, &remote, 0), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(receive_list(f, 2, list, 1), SPEC_ND_INVALID_HANDLE);
    f->device->send.count = 0;
}

/* More than the device's inline room in all: the inline part is copied, the rest is not. */
static void test_long_mixed_lists_are_staged(void **state)
{
    struct fake_v1 *f = *state;
    char text[] = "staged";
    const ND_SGE list[2] = { { text, 6, NULL }, { f->memory, 100, f->mr } };
    const ND_SGE reversed[2] = { { f->memory, 100, f->mr }, { text, 6, NULL } };
    const struct fake_request *posted = f->device->send.requests;
    ND_RESULT *results[DEPTH];
    uint32_t token;

    assert_true(nd_region_token(f->adapter->regions.table, &f->mr, &token));
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(send_list(f, i, i & 1 ? reversed : list, 2), 0);
        assert_int_equal(send_list(f, 16, list, 2), SPEC_ND_NO_MORE_ENTRIES); /* no slot */
        memset(text, 'x', 6);
        for (unsigned i = 0; i < 16; i++) {
            const struct ibv_sge *copied = i & 1 ? &posted[i].second_sge : &posted[i].first_sge;
            const struct ibv_sge *own = i & 1 ? &posted[i].first_sge : &posted[i].second_sge;

            assert_int_equal(posted[i].num_sge, 2);
            assert_int_equal(posted[i].send_flags, IBV_SEND_SIGNALED);
            assert_int_equal(copied->length, 6);
            assert_memory_equal((void *)(uintptr_t)copied->addr, "staged", 6);
            assert_int_equal(copied->lkey, f->qp->initiator.staging_mr->lkey);
            assert_ptr_equal((void *)(uintptr_t)own->addr, f->memory);
            assert_int_equal(own->lkey, token);
        }
        memcpy(text, "staged", 6);
        fake_v1_sends_end(f, 16, IBV_WC_SUCCESS);
        assert_int_equal(fake_v1_fetch(f, results, DEPTH), 16);
        assert_int_equal(results[3]->BytesTransferred, 106);
    }
    /* A silent one is signaled for its slot's sake, and swallowed; a look at the completion queue finds it. */
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal((uint32_t)nd_queue_send_v1(
                             &f->qp->initiator, f->results, list, 2, ND_OP_FLAG_SILENT_SUCCESS),
            0);
        fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
    }
    assert_int_equal(fake_v1_fetch(f, results, DEPTH), 0);
}

static void test_refused_inline_data_give_their_slot_back(void **state)
{
    struct fake_v1 *f = *state;
    char text[] = "staged";
    const ND_SGE list[2] = { { text, 6, NULL }, { f->memory, 100, f->mr } };
    ND_RESULT *results[DEPTH];

    fake_device.post_error = EINVAL;
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(send_list(f, 0, list, 2), SPEC_ND_INVALID_DEVICE_REQUEST);
    fake_device.post_error = 0;
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(send_list(f, i, list, 2), 0);
    fake_v1_sends_end(f, 16, IBV_WC_SUCCESS);
    assert_int_equal(fake_v1_fetch(f, results, DEPTH), 16);
}

/* ---- windows taken back by the peer ---- */

struct window {
    struct nd_mw *mw;
    struct nd_mr *mr;
    ND_RESULT taken_back;
};

static void bind_window(struct fake_v1 *f, struct window *window)
{
    ND_RESULT *bound;

    memset(&window->taken_back, 0x55, sizeof(window->taken_back));
    window->mw = fake_make_mw(f->adapter);
    window->mw->invalidate_result = &window->taken_back;
    window->mr = nd_region_pin(f->adapter, f->mr);
    assert_int_equal(
        nd_qp_bind(f->qp, &f->results[0], window->mr, window->mw, f->memory, 8, 0), ND_SUCCESS);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal(fake_v1_fetch(f, &bound, 1), 1);
    assert_ptr_equal(bound, &f->results[0]);
    assert_int_equal(bound->BytesTransferred, 0);
}

static void drop_window(struct window *window)
{
    nd_object_unpin(&window->mr->object);
    if (window->mw)
        nd_mw_close(window->mw);
}

/* The peer's Send with this key takes the n-th Receive. */
static void taken_back_with(struct fake_v1 *f, unsigned n, uint32_t rkey)
{
    const ND_SGE sge = { f->memory, 8, f->mr };
    struct ibv_wc wc = { .wc_flags = IBV_WC_WITH_INV, .byte_len = 3, .invalidated_rkey = rkey };

    assert_int_equal(receive_list(f, n, &sge, 1), 0);
    wc.wr_id = f->device->receive.requests[--f->device->receive.count].wr_id;
    fake_cq_push(f->cq, &wc, false);
}

static void test_window_taken_back_is_told_right_after_the_receive(void **state)
{
    struct fake_v1 *f = *state;
    struct window window;
    ND_RESULT *results[4];

    for (size_t room = 1; room <= 4; room++) {
        const ND_SGE sge = { f->memory, 8, f->mr };

        bind_window(f, &window);
        taken_back_with(f, 1, window.mw->ibv->rkey);
        assert_int_equal(receive_list(f, 2, &sge, 1), 0);
        fake_complete(f->cq, &f->device->receive, &f->device->ibv, 1, IBV_WC_SUCCESS);
        for (size_t got = 0; got < 3;)
            got += fake_v1_fetch(f, results + got, room < 3 - got ? room : 3 - got);
        assert_ptr_equal(results[0], &f->results[1]);
        assert_int_equal(results[0]->BytesTransferred, 3);
        assert_ptr_equal(results[1], &window.taken_back);
        assert_int_equal(results[1]->Status, 0);
        assert_int_equal(results[1]->BytesTransferred, 0);
        assert_ptr_equal(results[2], &f->results[2]);
        assert_int_equal(fake_v1_fetch(f, results, 4), 0);
        drop_window(&window);
    }
}

/* It counts as a completion: for the depth, and for a Notify. */
static void test_window_taken_back_needs_its_own_place(void **state)
{
    struct fake_v1 *f = *state;
    OVERLAPPED overlapped = { 0 };
    struct window window;
    ND_RESULT *results[4];

    bind_window(f, &window);
    f->cq->adapter->limits.max_cq_depth = 1; /* so that it is not rounded up */
    assert_int_equal((uint32_t)nd_cq_resize(f->cq, 1), 0);
    taken_back_with(f, 1, window.mw->ibv->rkey);
    assert_int_equal(
        (uint32_t)nd_cq_notify(f->cq, ND_CQ_NOTIFY_ANY, &overlapped), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(fake_v1_fetch(f, results, 4), 0);
    drop_window(&window);
}

static void test_window_without_a_result_is_taken_back_silently(void **state)
{
    struct fake_v1 *f = *state;
    struct window window;
    ND_RESULT *results[4];

    bind_window(f, &window);
    window.mw->invalidate_result = NULL;
    taken_back_with(f, 1, window.mw->ibv->rkey);
    assert_int_equal(fake_v1_fetch(f, results, 4), 1);
    assert_null(window.mw->mr);
    drop_window(&window);
}

/* The client may free the result with the window. */
static void test_released_window_has_no_result_any_more(void **state)
{
    struct fake_v1 *f = *state;
    struct window window;
    ND_RESULT *results[4];

    bind_window(f, &window);
    taken_back_with(f, 1, window.mw->ibv->rkey);
    nd_cq_look(f->cq);
    nd_mw_close(window.mw);
    window.mw = NULL;
    assert_int_equal(fake_v1_fetch(f, results, 4), 1);
    assert_ptr_equal(results[0], &f->results[1]);
    assert_int_equal(window.taken_back.Status, 0x55555555);
    drop_window(&window);
}

/* This side of the border: seen already, so the local call fails, and nothing is lost. */
static void test_invalidate_after_the_peers_is_refused(void **state)
{
    struct fake_v1 *f = *state;
    struct window window;
    ND_RESULT *results[4];

    bind_window(f, &window);
    taken_back_with(f, 1, window.mw->ibv->rkey);
    nd_cq_look(f->cq);
    assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, &f->results[2], window.mw, 0),
        SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal(fake_v1_fetch(f, results, 4), 2);
    assert_ptr_equal(results[1], &window.taken_back);
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, f->mr), 0);
    drop_window(&window);
}

/*
 * That side: posted first, overtaken on the device. The peer's is reported, the local one fails; also when the window
 * has been bound again meanwhile.
 */
static void test_invalidate_overtaken_by_the_peers_fails(void **state)
{
    struct fake_v1 *f = *state;

    for (int again = 0; again < 2; again++) {
        struct window window;
        ND_RESULT *results[5];
        uint32_t rkey;

        bind_window(f, &window);
        rkey = window.mw->ibv->rkey;
        assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, &f->results[2], window.mw, 0), 0);
        if (again)
            assert_int_equal(
                nd_qp_bind(f->qp, &f->results[3], window.mr, window.mw, f->memory, 8, 0),
                ND_SUCCESS);
        taken_back_with(f, 1, rkey);
        fake_v1_sends_end(f, 1, IBV_WC_MW_BIND_ERR);
        if (again)
            fake_v1_sends_end(f, 1, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(fake_v1_fetch(f, results, 5), 3 + (size_t)again);
        assert_ptr_equal(results[0], &f->results[1]);
        assert_ptr_equal(results[1], &window.taken_back);
        assert_ptr_equal(results[2], &f->results[2]);
        assert_int_equal((uint32_t)results[2]->Status, SPEC_ND_INVALID_DEVICE_REQUEST);
        assert_null(window.mw->mr);
        drop_window(&window);
    }
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, f->mr), 0);
}

/* The same, with the failure fetched before the Receive: the peer's Invalidate is reported with the Receive, once. */
static void test_invalidate_overtaken_is_fetched_first(void **state)
{
    static const struct {
        enum ibv_wc_status of_device;
        uint32_t told;
    } ends[] = { { IBV_WC_MW_BIND_ERR, SPEC_ND_INVALID_DEVICE_REQUEST },
        { IBV_WC_WR_FLUSH_ERR, SPEC_ND_CANCELED } };
    struct fake_v1 *f = *state;

    for (unsigned i = 0; i < 2; i++) {
        struct window window;
        ND_RESULT *results[4];
        uint32_t rkey;

        bind_window(f, &window);
        rkey = window.mw->ibv->rkey;
        assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, &f->results[2], window.mw, 0), 0);
        fake_v1_sends_end(f, 1, ends[i].of_device);
        assert_int_equal(fake_v1_fetch(f, results, 4), 1);
        assert_int_equal((uint32_t)results[0]->Status, ends[i].told);
        taken_back_with(f, 1, rkey);
        assert_int_equal(fake_v1_fetch(f, results, 4), 2);
        assert_ptr_equal(results[0], &f->results[1]);
        assert_ptr_equal(results[1], &window.taken_back);
        assert_int_equal(results[1]->Status, 0);
        taken_back_with(f, 1, rkey);
        assert_int_equal(fake_v1_fetch(f, results, 4), 1);
        drop_window(&window);
    }
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, f->mr), 0);
}

/* A window keeps no pointer to a queue pair that is gone, however its Invalidate there ended. */
static void test_window_leaves_with_its_queue_pair(void **state)
{
    struct fake_v1 *f = *state;
    ND_RESULT *results[4];

    for (unsigned failed = 0; failed < 2; failed++) {
        struct window window;

        bind_window(f, &window);
        assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, &f->results[2], window.mw, 0), 0);
        if (failed) {
            fake_v1_sends_end(f, 1, IBV_WC_MW_BIND_ERR);
            assert_int_equal(fake_v1_fetch(f, results, 4), 1);
        }
        assert_ptr_equal(window.mw->invalidating, f->qp);
        nd_cq_close(f->cq);
        nd_qp_close(f->qp);
        assert_null(window.mw->invalidating);
        f->cq = fake_make_cq(f->adapter, 64);
        f->qp = fake_make_qp(f->adapter, f->cq, NULL, 8);
        f->device = fake_qp_of(f->qp);
        nd_qp_set_sendable(f->qp);
        drop_window(&window);
    }
}

/* The owner's is done before the peer's arrives: the device refuses the peer's, and the owner sees nothing of it. */
static void test_invalidate_before_the_peers_is_the_only_one(void **state)
{
    struct fake_v1 *f = *state;
    struct window window;
    ND_RESULT *results[4];
    uint32_t rkey;

    bind_window(f, &window);
    rkey = window.mw->ibv->rkey;
    assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, &f->results[2], window.mw, 0), 0);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal(fake_v1_fetch(f, results, 4), 1);
    taken_back_with(f, 1, rkey); /* even if it said so: the window has left */
    assert_int_equal(fake_v1_fetch(f, results, 4), 1);
    assert_ptr_equal(results[0], &f->results[1]);
    drop_window(&window);
}

/*
 * Released in hostile order with an Invalidate pending whose completion is never fetched: it does not hold the region
 * for ever.
 */
static void test_invalidate_nobody_sees_the_end_of_lets_its_region_go(void **state)
{
    struct fake_v1 *f = *state;
    struct window window;

    bind_window(f, &window);
    assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, &f->results[2], window.mw, 0), 0);
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, f->mr), SPEC_ND_DEVICE_BUSY);
    nd_cq_close(f->cq);
    f->cq = NULL;
    nd_qp_close(f->qp);
    f->qp = NULL;
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, f->mr), 0);
    drop_window(&window);
}

/* One that has ended is not ended again with its queue pair: the region is there still. */
static void test_invalidate_ends_once(void **state)
{
    struct fake_v1 *f = *state;
    struct window window;
    ND_RESULT *results[2];
    unsigned pins;

    bind_window(f, &window);
    assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, &f->results[2], window.mw, 0), 0);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal(fake_v1_fetch(f, results, 2), 1);
    pins = atomic_load(&window.mr->object.pins);
    nd_qp_close(f->qp);
    f->qp = NULL;
    fake_v1_sends_end(f, 1, IBV_WC_WR_FLUSH_ERR); /* the marker */
    assert_int_equal(fake_v1_fetch(f, results, 2), 0);
    assert_int_equal(atomic_load(&window.mr->object.pins), pins);
    drop_window(&window);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, fake_v1_tear_down)
    const struct CMUnitTest tests[] = {
        ROW(test_results_are_the_clients_own),
        ROW(test_failed_results_have_no_length),
        ROW(test_what_is_no_handle_is_told),
        ROW(test_another_adapters_handle_is_told),
        ROW(test_what_is_left_registered_goes_with_the_table),
        ROW(test_lengths_and_counts_are_checked),
        ROW(test_where_no_entry_is_allowed_one_is_too_many),
        ROW(test_reads_and_writes_keep_to_their_bounds),
        ROW(test_entries_without_a_handle_are_inline),
        ROW(test_long_mixed_lists_are_staged),
        ROW(test_refused_inline_data_give_their_slot_back),
        ROW(test_window_taken_back_is_told_right_after_the_receive),
        ROW(test_window_taken_back_needs_its_own_place),
        ROW(test_window_without_a_result_is_taken_back_silently),
        ROW(test_released_window_has_no_result_any_more),
        ROW(test_invalidate_after_the_peers_is_refused),
        ROW(test_invalidate_overtaken_by_the_peers_fails),
        ROW(test_invalidate_overtaken_is_fetched_first),
        ROW(test_window_leaves_with_its_queue_pair),
        ROW(test_invalidate_before_the_peers_is_the_only_one),
        ROW(test_invalidate_nobody_sees_the_end_of_lets_its_region_go),
        ROW(test_invalidate_ends_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
