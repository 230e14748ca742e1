/* SPDX-License-Identifier: MIT */
/*
 * test_notice.c - what a consumer is told of arms that end: once for all that end before its callback runs, once more
 * for those that end while it does; and which failure, of several. The thread that calls it is the test's here.
 *
 * That a queue keeps its first failure is our reading: the pages name the codes, and not what comes of two.
 */
#include "ndk/queue/cq.h"

#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

#include <string.h>

/* ---- the worker and the pins of the test ---- */

static struct ndk_call *queued;
static int given, unpinned;

void ndk_worker_give(struct ndk_worker *worker, struct ndk_call *call)
{
    (void)worker;
    assert_null(queued);
    queued = call;
    given++;
}

static void run_queued(void)
{
    struct ndk_call *call = queued;

    assert_non_null(call);
    queued = NULL;
    call->run(call);
}

/* ---- a notice ---- */

static struct ndk_notice notice;
static struct nd_object object;
static int told;
static NTSTATUS last;
static HRESULT ends_meanwhile[2]; /* arms end so while the consumer's function runs */
static int n_meanwhile;

static void end(HRESULT status)
{
    notice.core.end(&notice.core, status);
}

static void tell(struct ndk_notice *of, NTSTATUS status)
{
    assert_ptr_equal(of, &notice);
    told++;
    last = status;
    while (n_meanwhile > 0)
        end(ends_meanwhile[--n_meanwhile]);
}

static void destroy(struct nd_object *of)
{
    (void)of;
    unpinned++;
}

static int set_up(void **state)
{
    (void)state;
    memset(&notice, 0, sizeof(notice));
    nd_object_init(&object, destroy);
    ndk_notice_init(&notice, NULL, &object, tell);
    queued = NULL;
    given = told = unpinned = n_meanwhile = 0;
    last = 0;
    return 0;
}

/* Nothing is pinned but by the test. */
static int tear_down(void **state)
{
    (void)state;
    assert_null(queued);
    assert_int_equal(unpinned, 0);
    nd_object_unpin(&object);
    assert_int_equal(unpinned, 1);
    return 0;
}

/* ---- rows ---- */

static void arms_that_end_before_it_runs_are_told_once(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        end(0);
    assert_int_equal(given, 1);
    run_queued();
    assert_int_equal(told, 1);
    assert_int_equal(last, 0);
    end(0);
    run_queued();
    assert_int_equal(told, 2);
}

static void arms_that_end_while_it_runs_are_told_once_more(void **state)
{
    (void)state;
    n_meanwhile = 2;
    end(0);
    run_queued();
    assert_int_equal(told, 1);
    assert_int_equal(given, 2);
    run_queued();
    assert_int_equal(told, 2);
    assert_int_equal(given, 2);
}

static void of_two_failures_the_first_is_told(void **state)
{
    (void)state;
    end((HRESULT)SPEC_STATUS_BUFFER_OVERFLOW);
    end((HRESULT)SPEC_STATUS_DEVICE_REMOVED);
    assert_int_equal(given, 1);
    run_queued();
    assert_int_equal(told, 1);
    assert_int_equal(last, (NTSTATUS)SPEC_STATUS_BUFFER_OVERFLOW);
}

/* The queue has failed for good. */
static void a_failure_is_told_with_every_later_arm(void **state)
{
    (void)state;
    end(0);
    end((HRESULT)SPEC_STATUS_DEVICE_REMOVED); /* before the callback has told of the success */
    run_queued();
    assert_int_equal(last, (NTSTATUS)SPEC_STATUS_DEVICE_REMOVED);
    end(0);
    run_queued();
    assert_int_equal(last, (NTSTATUS)SPEC_STATUS_DEVICE_REMOVED);
    end((HRESULT)SPEC_STATUS_BUFFER_OVERFLOW);
    run_queued();
    assert_int_equal(last, (NTSTATUS)SPEC_STATUS_DEVICE_REMOVED);
    assert_int_equal(told, 3);
}

static void an_arm_that_the_close_cancels_is_not_told(void **state)
{
    (void)state;
    end((HRESULT)SPEC_STATUS_CANCELLED);
    assert_int_equal(given, 0);
    end(0);
    end((HRESULT)SPEC_STATUS_CANCELLED);
    run_queued();
    assert_int_equal(told, 1);
    assert_int_equal(last, 0);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ROW(arms_that_end_before_it_runs_are_told_once),
        ROW(arms_that_end_while_it_runs_are_told_once_more),
        ROW(of_two_failures_the_first_is_told),
        ROW(a_failure_is_told_with_every_later_arm),
        ROW(an_arm_that_the_close_cancels_is_not_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
