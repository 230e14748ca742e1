/* SPDX-License-Identifier: MIT */
/*
 * test_timer.c - timers, sleeps and threads of ndkwdm.h. Sources: Microsoft's pages of KeSetTimerEx (one that is set
 * again is cancelled; what is signalled when), KeCancelTimer (what it returns of timers that expire once or again),
 * KeDelayExecutionThread, PsCreateSystemThread, PsTerminateSystemThread (it returns an error in a thread of another
 * kind), ObReferenceObjectByHandle. Which error is our reading.
 */
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndkwdm.h>

#include <stdatomic.h>
#include <stdbool.h>

static LARGE_INTEGER from_now_ms(LONGLONG ms)
{
    return (LARGE_INTEGER){ .QuadPart = -ms * 10000 };
}

static NTSTATUS wait_ms(PVOID object, LONGLONG ms)
{
    LARGE_INTEGER limit = from_now_ms(ms);

    return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &limit);
}

static bool comes(PVOID object)
{
    return wait_ms(object, 60000) == (NTSTATUS)SPEC_STATUS_SUCCESS;
}

static NTSTATUS poll(PVOID object)
{
    return wait_ms(object, 0);
}

/* ---- timers ---- */

static void notification_timer_stays_signalled(void **state)
{
    KTIMER timer;

    (void)state;
    KeInitializeTimerEx(&timer, NotificationTimer);
    assert_int_equal(poll(&timer), (NTSTATUS)SPEC_STATUS_TIMEOUT);
    assert_false(KeSetTimerEx(&timer, from_now_ms(20), 0, NULL));
    assert_true(comes(&timer));
    assert_true(comes(&timer));
    assert_true(KeReadStateTimer(&timer));
    assert_false(KeCancelTimer(&timer));
    /* Setting it again takes the signal back. */
    assert_false(KeSetTimer(&timer, from_now_ms(3600000), NULL));
    assert_false(KeReadStateTimer(&timer));
    assert_true(KeSetTimer(&timer, from_now_ms(3600000), NULL));
    assert_true(KeCancelTimer(&timer));
    assert_false(KeCancelTimer(&timer));
}

static void synchronization_timer_is_taken_once(void **state)
{
    KTIMER timer;

    (void)state;
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    KeSetTimerEx(&timer, from_now_ms(1), 0, NULL);
    assert_true(comes(&timer));
    assert_int_equal(poll(&timer), (NTSTATUS)SPEC_STATUS_TIMEOUT);
}

static void absolute_time_expires(void **state)
{
    LARGE_INTEGER due;
    KTIMER timer;

    (void)state;
    KeInitializeTimer(&timer);
    KeQuerySystemTime(&due);
    due.QuadPart += 20 * 10000;
    KeSetTimer(&timer, due, NULL);
    assert_true(comes(&timer));
    KeQuerySystemTime(&due);
    due.QuadPart -= 10000000;
    KeSetTimer(&timer, due, NULL); /* of the past */
    assert_true(comes(&timer));
}

static struct {
    KEVENT third;
    atomic_int count, level;
    PKTIMER timer;
} expiry;

static VOID count_expiry(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)dpc, (void)argument1, (void)argument2;
    atomic_store(&expiry.level, KeGetCurrentIrql());
    if (context)
        KeSetTimer(expiry.timer, from_now_ms(1), dpc); /* a routine may set its timer */
    if (atomic_fetch_add(&expiry.count, 1) == 2)
        KeSetEvent(&expiry.third, IO_NO_INCREMENT, FALSE);
}

static void periodic_timer_queues_its_procedure(void **state)
{
    KTIMER timer;
    KDPC dpc;
    int count;

    (void)state;
    KeInitializeEvent(&expiry.third, NotificationEvent, FALSE);
    atomic_store(&expiry.count, 0);
    KeInitializeTimer(&timer);
    KeInitializeDpc(&dpc, count_expiry, NULL);
    KeSetTimerEx(&timer, from_now_ms(1), 1, &dpc);
    assert_true(comes(&expiry.third));
    assert_int_equal(atomic_load(&expiry.level), 2);
    assert_true(KeCancelTimer(&timer)); /* as long as it is periodic */
    KeFlushQueuedDpcs();
    count = atomic_load(&expiry.count);
    KeFlushQueuedDpcs();
    assert_int_equal(atomic_load(&expiry.count), count);
}

static void procedure_may_set_its_timer(void **state)
{
    static KTIMER timer;
    static KDPC dpc;

    (void)state;
    KeInitializeEvent(&expiry.third, NotificationEvent, FALSE);
    atomic_store(&expiry.count, 0);
    expiry.timer = &timer;
    KeInitializeTimer(&timer);
    KeInitializeDpc(&dpc, count_expiry, &timer);
    KeSetTimer(&timer, from_now_ms(1), &dpc);
    assert_true(comes(&expiry.third));
    do {
        KeCancelTimer(&timer);
        KeFlushQueuedDpcs();
    } while (KeCancelTimer(&timer));
}

static void timers_expire_in_their_order(void **state)
{
    KTIMER timers[8];

    (void)state;
    for (int i = 0; i < 8; i++) {
        KeInitializeTimer(&timers[i]);
        KeSetTimer(&timers[i], from_now_ms(3600000 + 1000 * (7 - i)), NULL);
    }
    for (int i = 0; i < 8; i += 2) /* of the middle and both ends */
        assert_true(KeCancelTimer(&timers[i]));
    KeSetTimer(&timers[3], from_now_ms(1), NULL);
    assert_true(comes(&timers[3]));
    for (int i = 1; i < 8; i += 2)
        assert_int_equal(KeCancelTimer(&timers[i]), i != 3);
}

static void delay_lasts(void **state)
{
    LARGE_INTEGER begin, end, delay = from_now_ms(20), none = { .QuadPart = 0 };

    (void)state;
    begin = KeQueryPerformanceCounter(&end);
    assert_int_equal(KeDelayExecutionThread(KernelMode, FALSE, &delay), 0);
    assert_true(KeQueryPerformanceCounter(NULL).QuadPart - begin.QuadPart >= end.QuadPart / 50);
    assert_int_equal(KeDelayExecutionThread(KernelMode, FALSE, &none), 0);
    assert_true(KeQueryInterruptTime() > 0);
}

/* ---- threads ---- */

static struct {
    KEVENT go;
    atomic_int level;
    _Atomic(HANDLE) number;
} shared;

static VOID run_and_return(PVOID context)
{
    atomic_store(&shared.level, KeGetCurrentIrql());
    atomic_store(&shared.number, PsGetCurrentThreadId());
    if (context)
        KeWaitForSingleObject(context, Executive, KernelMode, FALSE, NULL);
}

static VOID run_and_terminate(PVOID context)
{
    (void)context;
    PsTerminateSystemThread((NTSTATUS)SPEC_STATUS_CANCELLED);
    atomic_store(&shared.level, 99); /* not reached */
}

static PVOID start(PKSTART_ROUTINE routine, PVOID context, PCLIENT_ID client)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle;
    PVOID object;

    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    assert_int_equal(PsCreateSystemThread(
                         &handle, THREAD_ALL_ACCESS, &attributes, NULL, client, routine, context),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(
        ObReferenceObjectByHandle(handle, SYNCHRONIZE, *PsThreadType, KernelMode, &object, NULL),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(ZwClose(handle), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(ZwClose(handle), (NTSTATUS)SPEC_STATUS_INVALID_HANDLE);
    return object;
}

static void thread_is_signalled_at_its_end(void **state)
{
    CLIENT_ID client;
    PVOID thread;

    (void)state;
    KeInitializeEvent(&shared.go, NotificationEvent, FALSE);
    atomic_store(&shared.level, 99);
    thread = start(run_and_return, &shared.go, &client);
    assert_int_equal(poll(thread), (NTSTATUS)SPEC_STATUS_TIMEOUT);
    assert_int_equal(PsGetThreadExitStatus(thread), (NTSTATUS)SPEC_STATUS_PENDING);
    KeSetEvent(&shared.go, IO_NO_INCREMENT, FALSE);
    assert_true(comes(thread));
    assert_true(comes(thread));
    assert_int_equal(atomic_load(&shared.level), 0);
    assert_ptr_equal(atomic_load(&shared.number), client.UniqueThread);
    assert_ptr_not_equal(client.UniqueThread, PsGetCurrentThreadId());
    assert_int_equal(PsGetThreadExitStatus(thread), (NTSTATUS)SPEC_STATUS_SUCCESS);
    ObDereferenceObject(thread);
}

static void thread_ends_itself(void **state)
{
    PVOID thread;

    (void)state;
    atomic_store(&shared.level, 0);
    thread = start(run_and_terminate, NULL, NULL);
    assert_true(comes(thread));
    assert_int_equal(PsGetThreadExitStatus(thread), (NTSTATUS)SPEC_STATUS_CANCELLED);
    assert_int_equal(atomic_load(&shared.level), 0);
    ObDereferenceObject(thread);
    assert_int_equal(PsTerminateSystemThread(0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
}

static void handles_are_checked(void **state)
{
    POBJECT_TYPE other = (POBJECT_TYPE)&shared;
    PVOID object;

    (void)state;
    assert_int_equal(ZwClose(NULL), (NTSTATUS)SPEC_STATUS_INVALID_HANDLE);
    assert_int_equal(ZwClose((HANDLE)(ULONG_PTR)3), (NTSTATUS)SPEC_STATUS_INVALID_HANDLE);
    assert_int_equal(ObReferenceObjectByHandle(NULL, 0, NULL, KernelMode, &object, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_HANDLE);
    assert_int_equal(ObReferenceObjectByHandle(NULL, 0, other, KernelMode, &object, NULL),
        (NTSTATUS)SPEC_STATUS_OBJECT_TYPE_MISMATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notification_timer_stays_signalled),
        cmocka_unit_test(synchronization_timer_is_taken_once),
        cmocka_unit_test(absolute_time_expires),
        cmocka_unit_test(periodic_timer_queues_its_procedure),
        cmocka_unit_test(procedure_may_set_its_timer),
        cmocka_unit_test(timers_expire_in_their_order),
        cmocka_unit_test(delay_lasts),
        cmocka_unit_test(thread_is_signalled_at_its_end),
        cmocka_unit_test(thread_ends_itself),
        cmocka_unit_test(handles_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
