/* SPDX-License-Identifier: MIT */
/* test_quirks_windows.c - windows on devices that have none, or unusable ones. */
#include "tests/unit/ndspi/verbs/quirks.h"

#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/batch.h"

#include <endian.h>
#include <errno.h>

/* ---- windows ---- */

static void test_without_windows_a_bind_registers_its_range(void **state)
{
    unsigned before;

    (void)state;
    begin(ND_QUIRK_BIT(NO_WINDOWS), ND_WINDOWS_REGISTERED);
    assert_null(f.mw->ibv);
    before = fake_device.objects;
    assert_int_equal(send_it(1, 0), 0);
    assert_int_equal(bind_it(2, 0), 0);
    assert_int_equal(fake_device.objects, before + 1);
    assert_ptr_equal(f.mw->own_mr->ibv->addr, f.memory + 16);
    assert_int_equal(f.mw->own_mr->ibv->length, 64);
    assert_int_equal(fake_device.access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    assert_int_equal(atomic_load(&f.mw->token), htobe32(f.mw->own_mr->ibv->rkey));
    /* Its place in the send queue is held by a Write of nothing. */
    assert_int_equal(sends()->count, 2);
    assert_int_equal(sends()->requests[1].opcode, IBV_WR_RDMA_WRITE);
    assert_int_equal(sends()->requests[1].num_sge, 0);
    assert_int_equal(sends()->requests[1].send_flags, IBV_SEND_SIGNALED);
    assert_int_equal(bind_it(3, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal(fake_device.objects, before + 1);
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeSend, 1, 0);
    expect_nothing();
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeBind, 2, 0);
    end();
}

static void test_invalidate_takes_the_registration_back_before_it_is_seen(void **state)
{
    unsigned before;

    (void)state;
    begin(ND_QUIRK_BIT(NO_WINDOWS), ND_WINDOWS_REGISTERED);
    before = fake_device.objects;
    assert_int_equal(send_it(0, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(bind_it(1, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(sends()->requests[1].send_flags, 0);
    assert_int_equal(invalidate_it(2, ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE), 0);
    assert_int_equal(sends()->requests[2].opcode, IBV_WR_RDMA_WRITE);
    assert_int_equal(sends()->requests[2].send_flags, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
    assert_int_equal(deregister_it(), SPEC_ND_DEVICE_BUSY);
    /* Bound again while that is under way: another registration, another key. */
    uint32_t token = atomic_load(&f.mw->token);
    assert_int_equal(bind_it(3, 0), 0);
    assert_int_not_equal(atomic_load(&f.mw->token), token);
    assert_int_equal(fake_device.objects, before + 2);
    fake_device.before_dereg = expect_nothing; /* another thread polls just then */
    device_ends(sends(), 4, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeBind, 3, 0);
    assert_null(fake_device.before_dereg);
    assert_int_equal(fake_device.objects, before + 1);
    assert_int_equal(invalidate_it(4, 0), 0);
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeInvalidate, 4, 0);
    assert_int_equal(deregister_it(), SPEC_ND_PENDING);
    end();
}

/* The accepting side of a connection of iWARP must not speak first, and a Write of nothing would. */
static void test_bind_with_nothing_before_it_needs_no_device(void **state)
{
    OVERLAPPED told;

    (void)state;
    begin(ND_QUIRK_BIT(NO_WINDOWS), ND_WINDOWS_REGISTERED);
    assert_int_equal((uint32_t)nd_cq_notify(f.cq, ND_CQ_NOTIFY_ANY, &told), SPEC_ND_PENDING);
    assert_int_equal(bind_it(1, 0), 0);
    assert_int_equal(told.Internal, 0);
    assert_int_equal(send_it(2, 0), 0);
    assert_int_equal(sends()->count, 1);
    assert_int_equal(sends()->requests[0].opcode, IBV_WR_SEND);
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeBind, 1, 0);
    expect(Nd2RequestTypeSend, 2, 0);
    expect_nothing();
    end();
}

static void test_silent_bind_with_nothing_before_it_is_not_told_of(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(NO_WINDOWS), ND_WINDOWS_REGISTERED);
    assert_int_equal(bind_it(1, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(sends()->count, 0);
    expect_nothing();
    for (unsigned i = 0; i < DEPTH; i++) /* it is not counted any more */
        assert_int_equal(send_it(2 + i, 0), 0);
    assert_int_equal(send_it(99, 0), SPEC_ND_NO_MORE_ENTRIES);
    device_ends(sends(), DEPTH, IBV_WC_SUCCESS);
    for (unsigned i = 0; i < DEPTH; i++)
        expect(Nd2RequestTypeSend, 2 + i, 0);
    end();
}

static void test_bind_in_a_batch_keeps_its_place_in_it(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(NO_WINDOWS), ND_WINDOWS_REGISTERED);
    nd_queue_start_batch(&f.qp->initiator);
    assert_int_equal(bind_it(1, 0), 0);
    assert_int_equal(send_it(2, 0), 0);
    assert_int_equal(sends()->count, 0);
    nd_queue_end_batch(&f.qp->initiator);
    assert_int_equal(sends()->count, 2);
    assert_int_equal(sends()->requests[0].opcode, IBV_WR_RDMA_WRITE);
    device_ends(sends(), 2, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeBind, 1, 0);
    expect(Nd2RequestTypeSend, 2, 0);
    end();
}

static OVERLAPPED waits;

/* Completions come, and a Notify, while a registration is taken back. */
static void something_arrives(void)
{
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    assert_int_equal((uint32_t)nd_cq_notify(f.cq, ND_CQ_NOTIFY_ANY, &waits), SPEC_ND_PENDING);
    assert_int_equal(waits.Internal, SPEC_ND_PENDING);
}

static void test_notify_during_the_taking_back_misses_nothing(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(NO_WINDOWS), ND_WINDOWS_REGISTERED);
    assert_int_equal(bind_it(1, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(invalidate_it(2, 0), 0);
    assert_int_equal(send_it(3, 0), 0);
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    fake_device.before_dereg = something_arrives;
    expect(Nd2RequestTypeInvalidate, 2, 0);
    assert_int_equal(waits.Internal, 0);
    expect(Nd2RequestTypeSend, 3, 0);
    end();
}

static void test_failed_binds_and_posts_leave_no_registration(void **state)
{
    unsigned before;

    (void)state;
    begin(ND_QUIRK_BIT(NO_WINDOWS), ND_WINDOWS_REGISTERED);
    before = fake_device.objects;
    assert_int_equal(send_it(0, ND_OP_FLAG_SILENT_SUCCESS), 0);
    fake_device.post_error = EINVAL;
    assert_int_equal(bind_it(1, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    fake_device.post_error = 0;
    assert_int_equal(fake_device.objects, before);
    fake_device.reg_error = ENOMEM;
    assert_int_equal(bind_it(1, 0), SPEC_ND_INSUFFICIENT_RESOURCES);
    fake_device.reg_error = EFAULT;
    assert_int_equal(bind_it(1, 0), SPEC_ND_ACCESS_VIOLATION);
    fake_device.reg_error = 0;
    assert_int_equal(bind_it(2, 0), 0);
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    device_ends(sends(), 1, IBV_WC_WR_FLUSH_ERR);
    expect(Nd2RequestTypeBind, 2, SPEC_ND_CANCELED);
    assert_int_equal(fake_device.objects, before);
    assert_int_equal(deregister_it(), SPEC_ND_PENDING);
    end();
}

static void test_unchecked_windows_lie_over_exact_registrations(void **state)
{
    unsigned before;

    (void)state;
    begin(ND_QUIRK_BIT(WINDOW_BOUNDS), ND_WINDOWS_EXACT);
    before = fake_device.objects;
    assert_int_equal(bind_it(1, 0), 0);
    assert_int_equal(fake_device.objects, before + 2); /* registration and window */
    assert_int_equal(fake_device.access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    assert_int_equal(sends()->requests[0].opcode, IBV_WR_BIND_MW);
    assert_ptr_equal(f.mw->own_mr->ibv->addr, f.memory + 16);
    assert_int_equal(f.mw->own_mr->ibv->length, 64);
    assert_int_equal(atomic_load(&f.mw->token), htobe32(ibv_inc_rkey(f.mw->own_mr->window->rkey)));
    assert_int_equal(invalidate_it(2, 0), 0);
    assert_int_equal(sends()->requests[1].opcode, IBV_WR_RDMA_WRITE); /* no local invalidation */
    device_ends(sends(), 2, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeBind, 1, 0);
    expect(Nd2RequestTypeInvalidate, 2, 0);
    assert_int_equal(fake_device.objects, before);
    assert_int_equal(deregister_it(), SPEC_ND_PENDING);
    end();
}

/* Also in the order of release that leaves most of the work to later releases. */
static void test_bound_windows_of_their_own_go_in_any_order(void **state)
{
    static const enum nd_windows kinds[] = { ND_WINDOWS_REGISTERED, ND_WINDOWS_EXACT };

    (void)state;
    for (int i = 0; i < 4; i++) {
        begin(0, kinds[i % 2]);
        assert_int_equal(bind_it(1, 0), 0);
        if (i < 2)
            assert_int_equal(invalidate_it(2, 0), 0);
        nd_mr_close(f.mr);
        nd_mw_close(f.mw);
        nd_cq_close(f.cq); /* no request's completion is fetched */
        nd_qp_close(f.qp);
        fake_adapter_close(f.adapter);
    }
}

static void test_kernel_bit_tells_of_a_peers_invalidation(void **state)
{
    struct ibv_wc wc = { .status = IBV_WC_SUCCESS, .wc_flags = 4, .byte_len = 3 };

    (void)state;
    for (int quirky = 0; quirky < 2; quirky++) {
        begin(quirky ? ND_QUIRK_BIT(INVALIDATED_BIT) : 0, ND_WINDOWS_EXACT);
        assert_int_equal(bind_it(1, 0), 0);
        device_ends(sends(), 1, IBV_WC_SUCCESS);
        expect(Nd2RequestTypeBind, 1, 0);
        assert_int_equal(receive_it(2), 0);
        wc.wr_id = receives()->requests[0].wr_id;
        wc.invalidated_rkey = be32toh(atomic_load(&f.mw->token));
        fake_cq_push(f.cq, &wc, false);
        expect(Nd2RequestTypeReceive, 2, 0);
        assert_int_equal(deregister_it(), quirky ? SPEC_ND_PENDING : SPEC_ND_DEVICE_BUSY);
        end();
    }
}

static void test_peer_was_faster_than_an_invalidate_without_a_device(void **state)
{
    struct ibv_wc wc = { .status = IBV_WC_SUCCESS, .wc_flags = IBV_WC_WITH_INV };

    (void)state;
    begin(ND_QUIRK_BIT(WINDOW_BOUNDS) | ND_QUIRK_BIT(NO_MOVE), ND_WINDOWS_EXACT);
    assert_int_equal(bind_it(1, 0), 0);
    assert_int_equal(receive_it(2), 0);
    assert_int_equal(invalidate_it(3, 0), 0);
    wc.wr_id = receives()->requests[0].wr_id;
    wc.invalidated_rkey = be32toh(atomic_load(&f.mw->token));
    receives()->count = 0;
    fake_cq_push(f.cq, &wc, false);
    device_ends(sends(), 2, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeReceive, 2, 0);
    expect(Nd2RequestTypeBind, 1, 0);
    expect(Nd2RequestTypeInvalidate, 3, SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal(f.qp->ibv->state, IBV_QPS_ERR); /* which ends the connection */
    assert_int_equal(deregister_it(), SPEC_ND_PENDING);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_windows_a_bind_registers_its_range),
        cmocka_unit_test(test_invalidate_takes_the_registration_back_before_it_is_seen),
        cmocka_unit_test(test_bind_with_nothing_before_it_needs_no_device),
        cmocka_unit_test(test_silent_bind_with_nothing_before_it_is_not_told_of),
        cmocka_unit_test(test_bind_in_a_batch_keeps_its_place_in_it),
        cmocka_unit_test(test_notify_during_the_taking_back_misses_nothing),
        cmocka_unit_test(test_failed_binds_and_posts_leave_no_registration),
        cmocka_unit_test(test_unchecked_windows_lie_over_exact_registrations),
        cmocka_unit_test(test_bound_windows_of_their_own_go_in_any_order),
        cmocka_unit_test(test_kernel_bit_tells_of_a_peers_invalidation),
        cmocka_unit_test(test_peer_was_faster_than_an_invalidate_without_a_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
