/* SPDX-License-Identifier: MIT */
/* test_work.c - work for the threads of the pool. */
#include "tests/support/win32_test.h"

#ifndef _WIN32
#include <pthread.h>
#endif

static HANDLE done, go;
static volatile LONG calls;
static LONG expected;
static PVOID seen;

static void reset(LONG count)
{
    calls = 0;
    expected = count;
    seen = NULL;
}

/* Reads nothing of the test's once it has counted, unless it is the last call: the test may go on by then. */
static void count_call(PVOID context)
{
    LONG last = expected;

    InterlockedExchangePointer(&seen, context);
    if (InterlockedIncrement(&calls) == last)
        SetEvent(done);
}

static DWORD WINAPI item(LPVOID context)
{
    count_call(context);
    return 0;
}

static VOID CALLBACK simple(PTP_CALLBACK_INSTANCE instance, PVOID context)
{
    if (instance)
        count_call(context);
}

static PTP_WORK created;

static VOID CALLBACK work_call(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK work)
{
    if (instance && work == created)
        count_call(context);
}

static VOID CALLBACK blocked_call(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK work)
{
    (void)instance;
    (void)work;
    WaitForSingleObject(go, LONG_MS);
    count_call(context);
}

static void test_items(void **state)
{
    (void)state;
    reset(100);
    for (int i = 0; i < 100; i++)
        assert_true(
            QueueUserWorkItem(item, &go, i % 2 ? WT_EXECUTEDEFAULT : WT_EXECUTELONGFUNCTION));
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(calls, 100);
    assert_ptr_equal(seen, &go);
    reset(1);
    assert_true(TrySubmitThreadpoolCallback(simple, &done, NULL));
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_ptr_equal(seen, &done);
#ifndef _WIN32 /* Wine takes any function and flag */
    assert_fails(QueueUserWorkItem(NULL, NULL, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(QueueUserWorkItem(item, NULL, 0x2), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(TrySubmitThreadpoolCallback(NULL, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(TrySubmitThreadpoolCallback(simple, NULL, (PTP_CALLBACK_ENVIRON)&done),
        SPEC_ERROR_INVALID_PARAMETER);
#endif
}

static void test_work_is_called_as_often_as_submitted(void **state)
{
    (void)state;
    reset(-1);
    assert_non_null(created = CreateThreadpoolWork(work_call, &go, NULL));
    for (int i = 0; i < 200; i++)
        SubmitThreadpoolWork(created);
    WaitForThreadpoolWorkCallbacks(created, FALSE);
    assert_int_equal(calls, 200);
    assert_ptr_equal(seen, &go);
    SubmitThreadpoolWork(created);
    WaitForThreadpoolWorkCallbacks(created, FALSE);
    assert_int_equal(calls, 201);
    CloseThreadpoolWork(created);
#ifndef _WIN32 /* Wine takes any function */
    assert_fails(CreateThreadpoolWork(NULL, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateThreadpoolWork(work_call, NULL, (PTP_CALLBACK_ENVIRON)&done),
        SPEC_ERROR_INVALID_PARAMETER);
#endif
}

static void test_work_is_closed_after_its_calls(void **state)
{
    PTP_WORK work;

    (void)state;
    reset(3);
    assert_true(ResetEvent(go));
    assert_non_null(work = CreateThreadpoolWork(blocked_call, NULL, NULL));
    for (int i = 0; i < 3; i++)
        SubmitThreadpoolWork(work);
    CloseThreadpoolWork(work);
    assert_true(SetEvent(go));
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
}

/* Those that have begun are waited for, the others left out. */
static void test_work_is_cancelled(void **state)
{
    PTP_WORK work;
    LONG ended;

    (void)state;
    reset(-1);
    assert_true(ResetEvent(go));
    assert_non_null(work = CreateThreadpoolWork(blocked_call, NULL, NULL));
    for (int i = 0; i < 300; i++) /* more than there are threads */
        SubmitThreadpoolWork(work);
    assert_true(SetEvent(go));
    WaitForThreadpoolWorkCallbacks(work, TRUE);
    ended = calls;
    assert_true(ended <= 300);
    WaitForThreadpoolWorkCallbacks(work, FALSE);
    assert_int_equal(calls, ended); /* nothing comes later */
    CloseThreadpoolWork(work);
}

#ifndef _WIN32 /* a limit on threads is set by the kernel here */
/* The pool begins with its first use: where no thread can be started then, the next use begins it. */
static void test_the_pool_begins_once_there_can_be_a_thread(void **state)
{
    pthread_attr_t usual, huge;

    (void)state;
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 47), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
#ifndef __GLIBC__ /* musl has no default of more than 8 MiB */
    skip();
#endif
    assert_fails(QueueUserWorkItem(item, NULL, WT_EXECUTEDEFAULT), SPEC_ERROR_NOT_ENOUGH_MEMORY);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    reset(1);
    assert_true(QueueUserWorkItem(item, &go, WT_EXECUTEDEFAULT));
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_ptr_equal(seen, &go);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef _WIN32
        cmocka_unit_test(test_the_pool_begins_once_there_can_be_a_thread), /* the first */
#endif
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_work_is_called_as_often_as_submitted),
        cmocka_unit_test(test_work_is_closed_after_its_calls),
        cmocka_unit_test(test_work_is_cancelled),
    };

    done = CreateEventW(NULL, FALSE, FALSE, NULL);
    go = CreateEventW(NULL, TRUE, FALSE, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
