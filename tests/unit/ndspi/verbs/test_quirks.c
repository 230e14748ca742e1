/* SPDX-License-Identifier: MIT */
/*
 * test_quirks.c - the repairs for devices that do otherwise than verbs say, each quirk shown by the device that the
 * test plays, except windows' (test_quirks_windows.c); and the table of the devices' quirks.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/verbs/quirks.h"

#include "ndspi/core/queue/batch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

/* ---- requests the device would forget ---- */

#define LATE_BOTH (ND_QUIRK_BIT(LATE_RECEIVES) | ND_QUIRK_BIT(LATE_SENDS) | ND_QUIRK_BIT(FORGOTTEN))

static void test_late_receives_end_behind_those_the_device_flushes(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(LATE_RECEIVES), ND_WINDOWS_REAL);
    assert_int_equal(receive_it(1), 0);
    assert_int_equal(receive_it(2), 0);
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    assert_int_equal(receive_it(3), 0);
    assert_int_equal(receives()->count, 2); /* it was not given this one */
    expect_nothing();
    device_ends(receives(), 2, IBV_WC_WR_FLUSH_ERR);
    expect(Nd2RequestTypeReceive, 1, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeReceive, 2, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeReceive, 3, SPEC_ND_CANCELED);
    assert_int_equal(receive_it(4), 0);
    expect(Nd2RequestTypeReceive, 4, SPEC_ND_CANCELED);
    assert_int_equal(send_it(5, 0), 0); /* these it flushes */
    assert_int_equal(sends()->count, 1);
    device_ends(sends(), 1, IBV_WC_WR_FLUSH_ERR);
    expect(Nd2RequestTypeSend, 5, SPEC_ND_CANCELED);
    for (uintptr_t i = 1; i <= DEPTH; i++)
        assert_int_equal(receive_it(i), 0);
    assert_int_equal(receive_it(99), SPEC_ND_NO_MORE_ENTRIES); /* limits hold */
    for (uintptr_t i = 1; i <= DEPTH; i++)
        expect(Nd2RequestTypeReceive, i, SPEC_ND_CANCELED);
    end();
}

static void test_late_sends_end_too_and_nothing_waits_for_a_marker(void **state)
{
    struct nd_remote remote = { .address = 0, .token = 0 };

    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REGISTERED);
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    assert_int_equal(send_it(1, 0), 0);
    assert_int_equal(send_it(2, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal((uint32_t)nd_qp_write(f.qp, (void *)3, NULL, 0, &remote, 0), 0);
    assert_int_equal(bind_it(4, 0), 0);
    assert_int_equal(receive_it(5), 0);
    assert_int_equal(sends()->count + receives()->count, 0);
    expect(Nd2RequestTypeSend, 1, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeSend, 2, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeWrite, 3, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeBind, 4, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeReceive, 5, SPEC_ND_CANCELED);
    assert_int_equal(deregister_it(), SPEC_ND_PENDING);
    end();
}

static void test_before_the_connection_sends_are_refused_all_the_same(void **state)
{
    struct nd_qp *qp;

    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REAL);
    qp = f.qp;
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    assert_int_equal(receive_it(1), 0);
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    assert_int_equal(send_it(2, 0), SPEC_ND_CONNECTION_INVALID);
    expect(Nd2RequestTypeReceive, 1, SPEC_ND_CANCELED);
    nd_qp_close(qp);
    end();
}

/* What was posted just before our flush into a queue pair that had failed by itself. */
static void test_forgotten_requests_end_with_the_flush(void **state)
{
    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REAL);
    assert_int_equal(receive_it(1), 0);
    assert_int_equal(receive_it(2), 0);
    assert_int_equal(send_it(3, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(send_it(4, 0), 0);
    assert_int_equal(send_it(5, ND_OP_FLAG_SILENT_SUCCESS), 0);
    device_ends(receives(), 1, IBV_WC_SUCCESS);
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    /* Silent ones before the first lost one had succeeded. */
    expect(Nd2RequestTypeReceive, 1, 0);
    expect(Nd2RequestTypeSend, 4, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeSend, 5, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeReceive, 2, SPEC_ND_CANCELED);
    expect_nothing();
    end();
}

/* Posts and polls while the queue pair enters the error state, before the device has completed all it will. */
static void post_and_look(void)
{
    assert_int_equal(receive_it(2), 0);
    assert_int_equal(send_it(4, 0), 0);
    expect_nothing();
}

static void another_posts_and_looks(void)
{
    fake_thread_run(post_and_look);
    fake_thread_join();
}

static void test_posts_during_the_flush_end_behind_those_before(void **state)
{
    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REAL);
    assert_int_equal(receive_it(1), 0);
    assert_int_equal(send_it(3, 0), 0);
    fake_device.during_error = another_posts_and_looks;
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    assert_int_equal(receives()->count + sends()->count, 2);
    assert_int_equal(send_it(5, 0), 0);
    expect(Nd2RequestTypeSend, 3, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeSend, 4, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeSend, 5, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeReceive, 1, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeReceive, 2, SPEC_ND_CANCELED);
    expect_nothing();
    end();
}

/* They complete before Flush returns, as the device holds no request. */
static void post_and_fetch(void)
{
    assert_int_equal(receive_it(1), 0);
    expect(Nd2RequestTypeReceive, 1, SPEC_ND_CANCELED);
    assert_int_equal(receive_it(2), 0);
}

static void another_posts_and_fetches(void)
{
    fake_thread_run(post_and_fetch);
    fake_thread_join();
}

static void test_posts_that_end_during_the_flush_end_once(void **state)
{
    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REAL);
    fake_device.during_error = another_posts_and_fetches;
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    assert_int_equal(receive_it(3), 0);
    expect(Nd2RequestTypeReceive, 2, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeReceive, 3, SPEC_ND_CANCELED);
    expect_nothing();
    end();
}

/* The event of a completion that the device has no part in. */
static bool shim_event(void)
{
    struct ibv_cq *cq;
    void *context;

    if (f.adapter->verbs->get_cq_event(f.adapter->channel, &cq, &context))
        return false;
    assert_ptr_equal(cq, f.cq->poll.ibv);
    assert_ptr_equal(context, &f.cq->child);
    nd_cq_event(f.cq);
    return true;
}

static void test_late_completion_wakes_who_waits(void **state)
{
    static OVERLAPPED waits;

    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REAL);
    assert_int_equal((uint32_t)nd_cq_notify(f.cq, ND_CQ_NOTIFY_ANY, &waits), SPEC_ND_PENDING);
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    while (shim_event())
        ; /* of the flush, which ended nothing */
    assert_int_equal(waits.Internal, SPEC_ND_PENDING);
    assert_int_equal(receive_it(1), 0);
    assert_true(shim_event());
    assert_int_equal(waits.Internal, 0);
    expect(Nd2RequestTypeReceive, 1, SPEC_ND_CANCELED);
    end();
}

static void test_first_failure_leads_to_the_flush(void **state)
{
    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REAL);
    assert_int_equal(send_it(1, 0), 0);
    assert_int_equal(receive_it(2), 0);
    device_ends(sends(), 1, IBV_WC_REM_ACCESS_ERR);
    expect(Nd2RequestTypeSend, 1, SPEC_ND_ACCESS_VIOLATION);
    assert_int_equal(f.qp->ibv->state, IBV_QPS_ERR);
    expect(Nd2RequestTypeReceive, 2, SPEC_ND_CANCELED);
    assert_int_equal(receive_it(3), 0);
    expect(Nd2RequestTypeReceive, 3, SPEC_ND_CANCELED);
    end();
}

static void test_batch_kept_over_the_flush_ends(void **state)
{
    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REAL);
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    nd_queue_start_batch(&f.qp->receive);
    assert_int_equal(receive_it(1), 0);
    assert_int_equal(receive_it(2), 0);
    nd_queue_end_batch(&f.qp->receive);
    assert_int_equal(receives()->count, 0);
    expect(Nd2RequestTypeReceive, 1, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeReceive, 2, SPEC_ND_CANCELED);
    end();
}

/* ---- a queue pair that the device flushes when its peer disconnects ---- */

static void test_flush_by_the_device_is_kept_back_until_ours(void **state)
{
    (void)state;
    begin(LATE_BOTH | ND_QUIRK_BIT(FLUSHES_AT_END) | ND_QUIRK_BIT(ONE_ATTEMPT),
        ND_WINDOWS_REGISTERED);
    assert_int_equal(receive_it(1), 0);
    assert_int_equal(receive_it(2), 0);
    assert_int_equal(send_it(3, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(send_it(4, 0), 0);
    device_ends(receives(), 2, IBV_WC_WR_FLUSH_ERR);
    device_ends(sends(), 2, IBV_WC_WR_FLUSH_ERR);
    expect_nothing();
    assert_int_equal(receive_it(5), 0); /* the device takes them, and forgets them */
    assert_int_equal(send_it(6, ND_OP_FLAG_SILENT_SUCCESS), 0);
    expect_nothing();
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    for (unsigned i = 0; i < 6; i++) {
        ND2_RESULT result;

        assert_int_equal(nd_cq_results_v2(&f.cq->poll, &result, 1), 1);
        assert_int_equal((uint32_t)result.Status, SPEC_ND_CANCELED);
    }
    expect_nothing();
    assert_int_equal(receive_it(7), 0);
    expect(Nd2RequestTypeReceive, 7, SPEC_ND_CANCELED);
    end();
}

/* What has failed is told, and what was flushed behind it. */
static void test_failure_ends_the_keeping(void **state)
{
    (void)state;
    begin(LATE_BOTH | ND_QUIRK_BIT(FLUSHES_AT_END), ND_WINDOWS_REGISTERED);
    assert_int_equal(send_it(1, 0), 0);
    assert_int_equal(send_it(2, 0), 0);
    assert_int_equal(receive_it(3), 0);
    device_ends(receives(), 1, IBV_WC_WR_FLUSH_ERR);
    expect_nothing();
    device_ends(sends(), 1, IBV_WC_REM_ACCESS_ERR);
    device_ends(sends(), 1, IBV_WC_WR_FLUSH_ERR);
    expect(Nd2RequestTypeSend, 1, SPEC_ND_ACCESS_VIOLATION);
    expect(Nd2RequestTypeReceive, 3, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeSend, 2, SPEC_ND_CANCELED);
    end();
}

/* ---- a queue pair whose connection was refused ---- */

static void test_refused_queue_pair_is_replaced_with_its_receives(void **state)
{
    uint32_t number, before;

    (void)state;
    begin(ND_QUIRK_BIT(ONE_ATTEMPT), ND_WINDOWS_REAL);
    nd_qp_close(f.qp);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    before = fake_device.objects;
    number = f.qp->ibv->qp_num;
    assert_int_equal(receive_it(1), 0);
    assert_int_equal(receive_it(2), 0);
    device_ends(receives(), 1, IBV_WC_WR_FLUSH_ERR); /* refused: some are seen before, ... */
    expect_nothing();
    device_ends(receives(), 1, IBV_WC_WR_FLUSH_ERR);
    nd_queue_start_batch(&f.qp->receive);
    assert_int_equal(receive_it(3), 0);
    nd_qp_attempt_failed(f.qp); /* ... some after */
    assert_int_not_equal(f.qp->ibv->qp_num, number);
    assert_int_equal(fake_device.objects, before);
    assert_int_equal(receives()->count, 2);
    nd_queue_end_batch(&f.qp->receive);
    assert_int_equal(receives()->count, 3);
    expect_nothing();
    assert_int_equal(receives()->requests[1].first_sge.addr, (uintptr_t)f.memory);
    assert_int_equal(receive_it(4), 0);
    assert_int_equal(send_it(5, 0), SPEC_ND_CONNECTION_INVALID);
    nd_qp_set_sendable(f.qp);
    assert_int_equal(receive_it(6), 0);
    device_ends(receives(), 4, IBV_WC_SUCCESS);
    for (uintptr_t i = 1; i <= 4; i++)
        expect(Nd2RequestTypeReceive, i, 0);
    assert_int_equal(send_it(7, 0), 0);
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeSend, 7, 0);
    nd_qp_attempt_failed(f.qp); /* connected: nothing to renew */
    assert_int_equal(receives()->count, 1);
    device_ends(receives(), 1, IBV_WC_WR_FLUSH_ERR);
    expect(Nd2RequestTypeReceive, 6, SPEC_ND_CANCELED);
    end();
}

static void test_without_another_queue_pair_the_old_one_stays(void **state)
{
    uint32_t number;

    (void)state;
    begin(ND_QUIRK_BIT(ONE_ATTEMPT) | LATE_BOTH, ND_WINDOWS_REAL);
    nd_qp_close(f.qp);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    number = f.qp->ibv->qp_num;
    assert_int_equal(receive_it(1), 0);
    fake_device.qp_error = ENOMEM;
    nd_qp_attempt_failed(f.qp);
    fake_device.qp_error = 0;
    assert_int_equal(f.qp->ibv->qp_num, number);
    device_ends(receives(), 1, IBV_WC_WR_FLUSH_ERR);
    expect_nothing();
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    expect(Nd2RequestTypeReceive, 1, SPEC_ND_CANCELED);
    assert_int_equal(receive_it(2), 0);
    expect(Nd2RequestTypeReceive, 2, SPEC_ND_CANCELED);
    end();
}

/* ---- events and statuses ---- */

static void test_solicited_is_asked_for_as_any(void **state)
{
    static OVERLAPPED waits;

    (void)state;
    begin(ND_QUIRK_BIT(SOLICITED), ND_WINDOWS_REAL);
    assert_int_equal(receive_it(1), 0);
    assert_int_equal(send_it(2, 0), 0);
    assert_int_equal((uint32_t)nd_cq_notify(f.cq, ND_CQ_NOTIFY_SOLICITED, &waits), SPEC_ND_PENDING);
    assert_false(fake_cq_of(f.cq)->armed_solicited_only);
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    assert_true(fake_cq_deliver(f.cq));
    assert_int_equal(
        waits.Internal, SPEC_ND_PENDING); /* not what was waited for, and the wait goes on */
    device_ends(receives(), 1, IBV_WC_SUCCESS);
    assert_true(fake_cq_deliver(f.cq));
    assert_int_equal(waits.Internal, 0);
    expect(Nd2RequestTypeSend, 2, 0);
    expect(Nd2RequestTypeReceive, 1, 0);
    end();
}

static void test_local_errors_are_named(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(LOCAL_STATUS), ND_WINDOWS_REAL);
    assert_int_equal(receive_it(1), 0);
    assert_int_equal(send_it(2, 0), 0);
    device_ends(receives(), 1, IBV_WC_LOC_QP_OP_ERR);
    device_ends(sends(), 1, IBV_WC_LOC_QP_OP_ERR);
    expect(Nd2RequestTypeReceive, 1, SPEC_ND_BUFFER_OVERFLOW);
    expect(Nd2RequestTypeSend, 2, SPEC_ND_ACCESS_VIOLATION);
    end();
}

static void test_local_error_of_a_flushed_send_is_its_flush(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(FLUSH_STATUS), ND_WINDOWS_REAL);
    assert_int_equal(send_it(2, 0), 0);
    assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    device_ends(sends(), 1, IBV_WC_LOC_QP_OP_ERR);
    expect(Nd2RequestTypeSend, 2, SPEC_ND_CANCELED);
    end();
}

static void test_empty_receive_gets_an_entry_of_nothing(void **state)
{
    struct nd_srq *srq;

    (void)state;
    begin(ND_QUIRK_BIT(EMPTY_RECEIVES), ND_WINDOWS_REAL);
    assert_int_equal(nd_queue_receive_v2(&f.qp->receive, NULL, NULL, 0), ND_SUCCESS);
    assert_int_equal(receives()->requests[0].num_sge, 1);
    assert_int_equal(receives()->requests[0].first_sge.length, 0);
    srq = fake_make_srq(f.adapter, 4, 0);
    assert_int_equal(nd_srq_receive(srq, NULL, NULL, 0), ND_SUCCESS);
    assert_int_equal(fake_srq_of(srq)->receive.requests[0].num_sge, 1);
    nd_srq_close(srq);
    device_ends(receives(), 1, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeReceive, 0, 0);
    end();
}

static void test_empty_entries_do_not_reach_the_device(void **state)
{
    ND2_SGE list[] = { { NULL, 0, 0xbad }, { f.memory, 3, 7 } };

    (void)state;
    begin(ND_QUIRK_BIT(EMPTY_ENTRIES), ND_WINDOWS_REAL);
    for (uintptr_t i = 0; i < 2; i++) {
        ND2_SGE both[] = { list[i], list[!i] };

        assert_int_equal(nd_queue_send_v2(&f.qp->initiator, (void *)i, both, 2, 0), ND_SUCCESS);
        assert_int_equal(sends()->requests[i].num_sge, 1);
        assert_int_equal(sends()->requests[i].first_sge.length, 3);
        assert_int_equal(sends()->requests[i].first_sge.lkey, 7);
    }
    device_ends(sends(), 2, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeSend, 0, 0);
    expect(Nd2RequestTypeSend, 1, 0);
    end();
}

/* The device ends the request at this place of those it holds, out of order. */
static void device_ends_one(unsigned at, enum ibv_wc_status status)
{
    struct ibv_wc wc = { .wr_id = sends()->requests[at].wr_id, .status = status };

    fake_cq_push(f.cq, &wc, false);
}

static uint32_t read_it(uintptr_t context, uint32_t flags)
{
    ND2_SGE sge = { f.memory, 8, 0 };

    return (uint32_t)nd_qp_read(f.qp, (void *)context, &sge, 1, &(struct nd_remote){ 0 }, flags);
}

static void test_what_overtakes_a_read_waits_for_it(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(OVERTAKES), ND_WINDOWS_REAL);
    assert_int_equal(send_it(1, 0), 0);
    assert_int_equal(read_it(2, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(
        sends()->requests[1].send_flags, IBV_SEND_SIGNALED); /* its end has to be known */
    assert_int_equal(send_it(3, 0), 0);
    assert_int_equal(read_it(4, 0), 0);
    assert_int_equal(send_it(5, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(send_it(6, 0), 0);
    device_ends_one(0, IBV_WC_SUCCESS);
    device_ends_one(2, IBV_WC_SUCCESS);
    device_ends_one(5, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeSend, 1, 0);
    expect_nothing();
    device_ends_one(1, IBV_WC_SUCCESS); /* silent */
    expect(Nd2RequestTypeSend, 3, 0);
    expect_nothing();
    device_ends_one(3, IBV_WC_WR_FLUSH_ERR);
    expect(Nd2RequestTypeRead, 4, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeSend, 6, 0);
    sends()->count = 0;
    end();
}

static void test_reads_are_not_fenced_where_they_are_in_order(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(READ_FENCE), ND_WINDOWS_REAL);
    assert_int_equal(read_it(1, ND_OP_FLAG_READ_FENCE), 0);
    assert_int_equal(send_it(2, ND_OP_FLAG_READ_FENCE), 0);
    assert_int_equal(sends()->requests[0].send_flags, IBV_SEND_SIGNALED);
    assert_int_equal(sends()->requests[1].send_flags, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
    device_ends(sends(), 2, IBV_WC_SUCCESS);
    expect(Nd2RequestTypeRead, 1, 0);
    expect(Nd2RequestTypeSend, 2, 0);
    end();
}

/* The peer invalidated the window first, and the device has nothing to do with the Invalidate that was posted. */
static void test_negative_errno_of_a_post(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(NEGATIVE_ERRNO), ND_WINDOWS_REAL);
    fake_device.post_error = -EINVAL;
    assert_int_equal(send_it(1, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    fake_device.post_error = -ENOMEM;
    assert_int_equal(receive_it(1), SPEC_ND_NO_MORE_ENTRIES);
    fake_device.post_error = 0;
    end();
}

enum { MANY = 2000 };

static void *post_many(void *unused)
{
    for (uintptr_t i = 0; i < MANY; i++)
        while (send_it(i, 0))
            sched_yield(); /* full */
    return unused;
}

/* One thread posts while another fetches what the device completes at once, and flushes the queue pair midway. */
static void test_threads_that_post_and_fetch_lose_nothing(void **state)
{
    ND2_RESULT result;
    pthread_t thread;

    (void)state;
    begin(LATE_BOTH | ND_QUIRK_BIT(OVERTAKES), ND_WINDOWS_REAL);
    fake_device.complete_at_once = f.cq;
    assert_int_equal(pthread_create(&thread, NULL, post_many, NULL), 0);
    for (uintptr_t next = 0; next < MANY; next++) {
        while (!nd_cq_results_v2(&f.cq->poll, &result, 1))
            sched_yield();
        assert_int_equal((uintptr_t)result.RequestContext, next);
        if (next < MANY / 2)
            assert_int_equal((uint32_t)result.Status, 0);
        if (next == MANY / 2)
            assert_int_equal((uint32_t)nd_qp_flush(f.qp), 0);
    }
    assert_int_equal((uint32_t)result.Status, SPEC_ND_CANCELED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    end();
}

/*
 * A request that the device refuses leaves no trace: the ring has as much room as before, and later completions come.
 */
static void test_refused_requests_leave_no_trace(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(OVERTAKES), ND_WINDOWS_REAL);
    for (int i = 0; i < 4 * DEPTH; i++) {
        fake_device.post_error = ENOMEM;
        assert_int_equal(send_it(99, 0), SPEC_ND_NO_MORE_ENTRIES);
        assert_int_equal(receive_it(99), SPEC_ND_NO_MORE_ENTRIES);
    }
    fake_device.post_error = 0;
    for (uintptr_t i = 0; i < DEPTH; i++)
        assert_int_equal(send_it(i, 0), 0);
    device_ends(sends(), DEPTH, IBV_WC_SUCCESS);
    for (uintptr_t i = 0; i < DEPTH; i++)
        expect(Nd2RequestTypeSend, i, 0);
    end();
}

/* Work requests are the client's: the shim changes them only while the device has them. */
static void test_work_requests_come_back_as_they_were(void **state)
{
    struct ibv_sge sge = { .addr = 1, .length = 2, .lkey = 3 };
    struct ibv_send_wr second = { .wr_id = 2, .opcode = IBV_WR_SEND }, *bad_send;
    struct ibv_send_wr first = { .wr_id = 4,
        .next = &second,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_READ,
        .send_flags = IBV_SEND_FENCE };
    struct ibv_recv_wr receive = { .wr_id = 6 }, *bad_receive;

    (void)state;
    begin(ND_QUIRK_BIT(OVERTAKES) | ND_QUIRK_BIT(READ_FENCE) | ND_QUIRK_BIT(EMPTY_RECEIVES),
        ND_WINDOWS_REAL);
    assert_int_equal(ibv_post_send(f.qp->ibv, &first, &bad_send), 0);
    assert_int_equal(ibv_post_recv(f.qp->ibv, &receive, &bad_receive), 0);
    assert_int_equal(sends()->requests[0].send_flags, IBV_SEND_SIGNALED);
    assert_int_equal(receives()->requests[0].num_sge, 1);
    assert_int_equal(first.wr_id, 4);
    assert_int_equal(first.send_flags, IBV_SEND_FENCE);
    assert_ptr_equal(first.next, &second);
    assert_int_equal(second.wr_id, 2);
    assert_null(second.next);
    assert_int_equal(receive.wr_id, 6);
    assert_int_equal(receive.num_sge, 0);
    sends()->count = receives()->count = 0;
    end();
}

/* A chain that is longer than the queue has room for is taken as far as that goes. */
static void test_posts_beyond_the_ring_are_refused(void **state)
{
    struct ibv_send_wr wr[DEPTH + 3], *bad;

    (void)state;
    begin(LATE_BOTH, ND_WINDOWS_REAL);
    for (int late = 0; late < 2; late++) {
        for (unsigned i = 0; i < DEPTH + 3; i++)
            wr[i] = (struct ibv_send_wr){ .wr_id = 2 * i,
                .next = i < DEPTH + 2 ? &wr[i + 1] : NULL,
                .opcode = IBV_WR_SEND,
                .send_flags = IBV_SEND_SIGNALED };
        assert_int_equal(ibv_post_send(f.qp->ibv, wr, &bad), ENOMEM);
        assert_ptr_equal(bad, &wr[DEPTH + 1]); /* one is the library's own */
        assert_ptr_equal(wr[DEPTH].next, bad);
        for (unsigned i = 0; i < DEPTH + 3; i++)
            assert_int_equal(wr[i].wr_id, 2 * i);
        assert_int_equal(sends()->count, late ? 0 : DEPTH + 1);
        if (late)
            break;
        sends()->count = 0;
        assert_int_equal(f.adapter->verbs->modify_qp(f.qp->ibv,
                             &(struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR }, IBV_QP_STATE),
            0);
        for (unsigned i = 0; i < DEPTH + 1; i++) {
            struct ibv_wc wc;

            assert_int_equal(ibv_poll_cq(f.cq->poll.ibv, 1, &wc), 1);
            assert_int_equal(wc.wr_id, 2 * i);
            assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
        }
    }
    for (unsigned i = 0; i < DEPTH + 1; i++) {
        struct ibv_wc wc;

        assert_int_equal(ibv_poll_cq(f.cq->poll.ibv, 1, &wc), 1);
        assert_int_equal(wc.wr_id, 2 * i);
    }
    end();
}

/* An error that names no request: the device has them all. */
static void test_error_after_all_were_taken_is_none(void **state)
{
    (void)state;
    begin(ND_QUIRK_BIT(OVERTAKES) | ND_QUIRK_BIT(UNWAKED), ND_WINDOWS_REAL);
    fake_device.wake_error = -ENOTCONN;
    assert_int_equal(send_it(1, 0), 0);
    nd_queue_start_batch(&f.qp->initiator);
    assert_int_equal(send_it(2, 0), 0);
    assert_int_equal(send_it(3, 0), 0);
    nd_queue_end_batch(&f.qp->initiator);
    fake_device.wake_error = 0;
    assert_int_equal(sends()->count, 3);
    device_ends(sends(), 1, IBV_WC_SUCCESS);
    device_ends(sends(), 2, IBV_WC_WR_FLUSH_ERR);
    expect(Nd2RequestTypeSend, 1, 0);
    expect(Nd2RequestTypeSend, 2, SPEC_ND_CANCELED);
    expect(Nd2RequestTypeSend, 3, SPEC_ND_CANCELED);
    end();
}

/* ---- the table ---- */

static const struct nd_family *family(uint32_t vendor, uint32_t part, bool iwarp, bool soft)
{
    struct ibv_device_attr attr = { .vendor_id = vendor, .vendor_part_id = part };

    return nd_family_of(&attr, iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB, soft);
}

static void test_devices_are_found_in_the_table(void **state)
{
    (void)state;
    assert_string_equal(family(0xffffff, 0, false, false)->name, "rxe");
    assert_string_equal(family(0x626d74, 0, true, false)->name, "siw");
    assert_string_equal(family(0x02c9, 4099, false, false)->name, "mlx4");
    assert_string_equal(family(0x02c9, 4113, false, false)->name, "mlx5");
    assert_string_equal(family(0x02c9, 0xa2d6, false, false)->name, "mlx5");
    assert_string_equal(family(0x8086, 0x37d2, true, false)->name, "irdma, iWARP");
    assert_string_equal(family(0x8086, 0x1592, false, false)->name, "irdma, RoCE");
    assert_string_equal(family(0x14e4, 0x16d7, false, false)->name, "bnxt_re");
    assert_string_equal(family(0x19e5, 0xa222, false, false)->name, "hns");
    assert_string_equal(family(0x1425, 0x5410, true, false)->name, "cxgb4");
    assert_string_equal(family(0x1d0f, 0xefa0, false, false)->name, "efa");
    assert_string_equal(family(0x1234, 1, true, false)->name, "another iWARP device");
    assert_string_equal(family(0x1234, 1, false, false)->name, "another InfiniBand or RoCE device");
    assert_string_equal(family(0x626d74, 0, true, true)->name, "softrdma");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_receives_end_behind_those_the_device_flushes),
        cmocka_unit_test(test_late_sends_end_too_and_nothing_waits_for_a_marker),
        cmocka_unit_test(test_before_the_connection_sends_are_refused_all_the_same),
        cmocka_unit_test(test_forgotten_requests_end_with_the_flush),
        cmocka_unit_test(test_posts_during_the_flush_end_behind_those_before),
        cmocka_unit_test(test_posts_that_end_during_the_flush_end_once),
        cmocka_unit_test(test_late_completion_wakes_who_waits),
        cmocka_unit_test(test_first_failure_leads_to_the_flush),
        cmocka_unit_test(test_batch_kept_over_the_flush_ends),
        cmocka_unit_test(test_flush_by_the_device_is_kept_back_until_ours),
        cmocka_unit_test(test_failure_ends_the_keeping),
        cmocka_unit_test(test_refused_queue_pair_is_replaced_with_its_receives),
        cmocka_unit_test(test_without_another_queue_pair_the_old_one_stays),
        cmocka_unit_test(test_solicited_is_asked_for_as_any),
        cmocka_unit_test(test_local_errors_are_named),
        cmocka_unit_test(test_local_error_of_a_flushed_send_is_its_flush),
        cmocka_unit_test(test_empty_receive_gets_an_entry_of_nothing),
        cmocka_unit_test(test_empty_entries_do_not_reach_the_device),
        cmocka_unit_test(test_what_overtakes_a_read_waits_for_it),
        cmocka_unit_test(test_reads_are_not_fenced_where_they_are_in_order),
        cmocka_unit_test(test_negative_errno_of_a_post),
        cmocka_unit_test(test_threads_that_post_and_fetch_lose_nothing),
        cmocka_unit_test(test_refused_requests_leave_no_trace),
        cmocka_unit_test(test_work_requests_come_back_as_they_were),
        cmocka_unit_test(test_posts_beyond_the_ring_are_refused),
        cmocka_unit_test(test_error_after_all_were_taken_is_none),
        cmocka_unit_test(test_devices_are_found_in_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
