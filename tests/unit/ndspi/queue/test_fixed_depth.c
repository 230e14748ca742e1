/* SPDX-License-Identifier: MIT */
/*
 * test_fixed_depth.c - Resize and Modify on a device that can do neither: within what its queues were made with, over a
 * device that the test plays.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 200 };

struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    struct nd_srq *srq;
    char data[64];
};

/* A device that cannot resize, with limits far away. */
static int setup(void **state)
{
    static struct fixture f;

    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open();
    f.adapter->port.caps.cq_resize = f.adapter->port.caps.srq_resize = false;
    f.adapter->limits.max_cq_depth = 100000;
    f.adapter->limits.max_srq_depth = 10000;
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    if (f->qp)
        nd_qp_close(f->qp);
    if (f->cq)
        nd_cq_close(f->cq);
    if (f->srq)
        nd_srq_close(f->srq);
    fake_adapter_close(f->adapter);
    return 0;
}

static void make_cq(struct fixture *f, uint32_t depth)
{
    assert_non_null(f->cq = fake_make_cq(f->adapter, depth));
}

static int device_entries(const struct fixture *f)
{
    return f->cq->poll.ibv->cqe;
}

static uint32_t resize(struct fixture *f, uint32_t depth)
{
    return (uint32_t)nd_cq_resize(f->cq, depth);
}

/* Results in the device's queue, contexts from `first` on. */
static void add_results(struct fixture *f, uintptr_t first, unsigned count)
{
    ND2_SGE sge = { f->data, 8, 0 };

    if (!f->qp) {
        assert_non_null(f->qp = fake_make_qp(f->adapter, f->cq, NULL, DEPTH));
        nd_qp_set_sendable(f->qp);
    }
    for (uintptr_t i = first; i < first + count; i++)
        assert_int_equal(nd_queue_send_v2(&f->qp->initiator, (void *)i, &sge, 1, 0), 0);
    fake_complete(f->cq, &fake_qp_of(f->qp)->send, f->qp->ibv, count, IBV_WC_SUCCESS);
}

static void expect_results(struct fixture *f, uintptr_t first, unsigned count)
{
    ND2_RESULT results[DEPTH + 1];

    assert_int_equal(nd_cq_results_v2(&f->cq->poll, results, DEPTH + 1), count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal((uintptr_t)results[i].RequestContext, first + i);
}

static uint32_t receive_it(struct fixture *f, uintptr_t context)
{
    ND2_SGE sge = { f->data, 8, 0 };

    return (uint32_t)nd_srq_receive(f->srq, (void *)context, &sge, 1);
}

static uint32_t modify(struct fixture *f, uint32_t depth)
{
    return (uint32_t)nd_srq_modify(f->srq, depth, 0);
}

static uint32_t device_receives(const struct fixture *f)
{
    return ((struct fake_srq *)f->srq->ibv)->depth;
}

/* What a call says in the log. */
static uint32_t logged(
    uint32_t (*call)(struct fixture *, uint32_t), struct fixture *f, uint32_t depth, char line[512])
{
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    uint32_t status;
    size_t length;

    assert_non_null(file);
    assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    status = call(f, depth);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    rewind(file);
    length = fread(line, 1, 511, file);
    line[length] = '\0';
    fclose(file);
    return status;
}

/* ---- completion queues ---- */

static void test_small_queues_are_made_deeper(void **state)
{
    struct fixture *f = *state;

    make_cq(f, 4);
    assert_int_equal(device_entries(f), 4096);
    nd_cq_close(f->cq);
    make_cq(f, 3967);
    assert_int_equal(device_entries(f), 4096);
    nd_cq_close(f->cq);
    make_cq(f, 3968); /* as on a device that resizes */
    assert_int_equal(device_entries(f), 8191);
}

static void test_no_deeper_than_the_device_makes_them(void **state)
{
    struct fixture *f = *state;

    f->adapter->limits.max_cq_depth = 100;
    make_cq(f, 4);
    assert_int_equal(device_entries(f), 164);
    assert_int_equal(resize(f, 101), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal(resize(f, 100), 0);
}

static void test_device_that_resizes_rounds_completion_queues_up_alone(void **state)
{
    struct fixture *f = *state;

    f->adapter->port.caps.cq_resize = f->adapter->port.caps.srq_resize = true;
    make_cq(f, 4);
    assert_int_equal(device_entries(f), 255);
    assert_int_equal(resize(f, 9000), 0);
    assert_int_equal(device_entries(f), 16383);
    assert_non_null(f->srq = fake_make_srq(f->adapter, 4, 0));
    assert_int_equal(device_receives(f), 4);
    assert_int_equal(modify(f, 5000), 0);
    assert_int_equal(device_receives(f), 5000);
}

static void test_resize_with_results_waiting(void **state)
{
    struct fixture *f = *state;

    make_cq(f, 4);
    for (uintptr_t round = 1; round < 20; round += 6) { /* the ring's start moves */
        add_results(f, round, 4);
        assert_int_equal(resize(f, 3), SPEC_ND_BUFFER_OVERFLOW);
        assert_int_equal(resize(f, 16), 0);
        add_results(f, round + 4, 12);
        assert_int_equal(resize(f, 15), SPEC_ND_BUFFER_OVERFLOW);
        expect_results(f, round, 16);
        assert_int_equal(resize(f, 4), 0);
    }
    assert_int_equal(device_entries(f), 4096);
}

static void test_resize_beyond_what_there_is_changes_nothing(void **state)
{
    struct fixture *f = *state;
    char line[512];

    make_cq(f, 4);
    add_results(f, 1, 4);
    assert_int_equal(logged(resize, f, 4033, line), SPEC_ND_INSUFFICIENT_RESOURCES);
    assert_string_equal(line,
        "ndspi: warn: cq: adapter fake0: a completion queue cannot become 4033 deep: the device "
        "cannot make this one deeper than 4032; create it with the greatest depth needed\n");
    assert_int_equal(f->cq->depth, 4);
    expect_results(f, 1, 4);
    assert_int_equal(logged(resize, f, 4032, line), 0);
    assert_string_equal(line, "");
    assert_int_equal(resize(f, 0), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal(resize(f, 100001), SPEC_ND_INVALID_PARAMETER);
}

/* However many entries the device has. */
static void test_overrun_is_of_the_rounded_depth(void **state)
{
    struct fixture *f = *state;
    OVERLAPPED overlapped = { 0 };

    make_cq(f, 50);
    assert_int_equal(resize(f, 3), 0);
    add_results(f, 1, 191);
    nd_cq_look(f->cq); /* full is no overrun */
    assert_int_equal(nd_cq_notify(f->cq, ND_CQ_NOTIFY_ERRORS, &overlapped), SPEC_ND_PENDING);
    assert_int_equal(overlapped.Internal, SPEC_ND_PENDING);
    add_results(f, 192, 1);
    assert_true(fake_cq_deliver(f->cq)); /* armed for errors, too */
    assert_int_equal((uint32_t)overlapped.Internal, SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(resize(f, 16), SPEC_ND_BUFFER_OVERFLOW);
}

static void test_queue_as_asked_for_where_a_deeper_one_cannot_be_had(void **state)
{
    struct fixture *f = *state;
    char line[512];

    fake_device.cq_most = 100;
    make_cq(f, 16);
    assert_int_equal(device_entries(f), 80);
    assert_int_equal(logged(resize, f, 17, line), SPEC_ND_INSUFFICIENT_RESOURCES);
    assert_non_null(strstr(line, "17 deep"));
    assert_non_null(strstr(line, "deeper than 16;"));
    assert_int_equal(resize(f, 8), 0);
    assert_int_equal(resize(f, 16), 0);
    fake_device.cq_most = 79;
    assert_null(fake_make_cq(f->adapter, 16));
}

/* ---- shared receive queues ---- */

static void test_shared_receive_queue_grows_within_what_it_was_made_with(void **state)
{
    struct fixture *f = *state;
    char line[512];

    assert_non_null(f->srq = fake_make_srq(f->adapter, 4, 0)); /* of two entries */
    assert_int_equal(device_receives(f), 2048);
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(receive_it(f, i), 0);
    assert_int_equal(receive_it(f, 4), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(modify(f, 6), 0);
    assert_int_equal(receive_it(f, 4), 0);
    assert_int_equal(receive_it(f, 5), 0);
    assert_int_equal(receive_it(f, 6), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(modify(f, 5), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(logged(modify, f, 2049, line), SPEC_ND_INSUFFICIENT_RESOURCES);
    assert_string_equal(line,
        "ndspi: warn: qp: adapter fake0: a shared receive queue cannot become 2049 deep: the "
        "device cannot make this one deeper than 2048; create it with the greatest depth needed\n");
    assert_int_equal(receive_it(f, 6), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(modify(f, 10001), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal(modify(f, 2048), 0);
    assert_int_equal(receive_it(f, 6), 0);
    assert_int_equal(device_receives(f), 2048);
}

static void test_shared_receive_queue_of_the_device_s_depths(void **state)
{
    struct fixture *f = *state;

    assert_non_null(f->srq = fake_make_srq(f->adapter, 2049, 0));
    assert_int_equal(device_receives(f), 2049);
    nd_srq_close(f->srq);
    f->adapter->limits.max_srq_depth = 40;
    assert_non_null(f->srq = fake_make_srq(f->adapter, 4, 0));
    assert_int_equal(device_receives(f), 40);
}

static void test_shared_receive_queue_as_asked_for_where_a_deeper_one_cannot_be_had(void **state)
{
    struct fixture *f = *state;
    char line[512];

    fake_device.srq_most = 10;
    assert_non_null(f->srq = fake_make_srq(f->adapter, 8, 0));
    assert_int_equal(device_receives(f), 8);
    assert_int_equal(modify(f, 4), 0);
    assert_int_equal(modify(f, 8), 0);
    assert_int_equal(logged(modify, f, 9, line), SPEC_ND_INSUFFICIENT_RESOURCES);
    assert_non_null(strstr(line, "deeper than 8;"));
    assert_null(fake_make_srq(f->adapter, 11, 0));
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_small_queues_are_made_deeper),
        ROW(test_no_deeper_than_the_device_makes_them),
        ROW(test_device_that_resizes_rounds_completion_queues_up_alone),
        ROW(test_resize_with_results_waiting),
        ROW(test_resize_beyond_what_there_is_changes_nothing),
        ROW(test_overrun_is_of_the_rounded_depth),
        ROW(test_queue_as_asked_for_where_a_deeper_one_cannot_be_had),
        ROW(test_shared_receive_queue_grows_within_what_it_was_made_with),
        ROW(test_shared_receive_queue_of_the_device_s_depths),
        ROW(test_shared_receive_queue_as_asked_for_where_a_deeper_one_cannot_be_had),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
