/* SPDX-License-Identifier: MIT */
/*
 * test_wait.c - waits for several objects, fast mutexes and priorities of ndkwdm.h. Sources: Microsoft's pages of
 * KeWaitForMultipleObjects (the status, how many objects, both types of wait), ExAcquireFastMutex (APC_LEVEL),
 * KeSetPriorityThread (the priority before is returned; 1 to 31). Which nice value stands for a priority is our
 * reading.
 */
#include "tests/support/asleep.h"
#include "tests/support/signal_of.h"
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndkwdm.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define WAIT(index) ((NTSTATUS)(SPEC_STATUS_SUCCESS + (index)))
#define TIMEOUT     ((NTSTATUS)SPEC_STATUS_TIMEOUT)

static NTSTATUS wait_for(ULONG count, PVOID objects[], WAIT_TYPE type, LONGLONG ms)
{
    static KWAIT_BLOCK blocks[MAXIMUM_WAIT_OBJECTS];
    LARGE_INTEGER limit = { .QuadPart = -ms * 10000 };

    return KeWaitForMultipleObjects(
        count, objects, type, Executive, KernelMode, FALSE, ms < 0 ? NULL : &limit, blocks);
}

static void first_signalled_object_ends_a_wait_for_any(void **state)
{
    KEVENT notification, synchronization;
    KTIMER timer;
    PVOID objects[3] = { &notification, &synchronization, &timer };
    LARGE_INTEGER soon = { .QuadPart = -10000 };

    (void)state;
    KeInitializeEvent(&notification, NotificationEvent, FALSE);
    KeInitializeEvent(&synchronization, SynchronizationEvent, FALSE);
    KeInitializeTimer(&timer);
    assert_int_equal(wait_for(3, objects, WaitAny, 0), TIMEOUT);
    assert_int_equal(wait_for(3, objects, WaitAny, 2), TIMEOUT);
    KeSetEvent(&synchronization, IO_NO_INCREMENT, FALSE);
    assert_int_equal(wait_for(3, objects, WaitAny, 0), WAIT(1));
    assert_int_equal(wait_for(3, objects, WaitAny, 0), TIMEOUT);
    KeSetTimer(&timer, soon, NULL);
    assert_int_equal(wait_for(3, objects, WaitAny, -1), WAIT(2));
    KeSetEvent(&synchronization, IO_NO_INCREMENT, FALSE);
    KeSetEvent(&notification, IO_NO_INCREMENT, FALSE);
    /* The first one alone is taken. */
    assert_int_equal(wait_for(3, objects, WaitAny, 0), WAIT(0));
    assert_int_equal(KeReadStateEvent(&synchronization), 1);
}

static void all_objects_are_taken_together(void **state)
{
    KEVENT notification, synchronization;
    PVOID objects[3] = { &notification, &synchronization, &notification };

    (void)state;
    KeInitializeEvent(&notification, NotificationEvent, FALSE);
    KeInitializeEvent(&synchronization, SynchronizationEvent, TRUE);
    assert_int_equal(wait_for(2, objects, WaitAll, 1), TIMEOUT);
    assert_int_equal(KeReadStateEvent(&synchronization), 1);
    KeSetEvent(&notification, IO_NO_INCREMENT, FALSE);
    assert_int_equal(wait_for(3, objects, WaitAll, 0), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(KeReadStateEvent(&notification), 1);
    assert_int_equal(KeReadStateEvent(&synchronization), 0);
    KeSetEvent(&synchronization, IO_NO_INCREMENT, FALSE);
    assert_int_equal(wait_for(2, objects, WaitAll, -1), (NTSTATUS)SPEC_STATUS_SUCCESS);
}

static void other_objects_are_refused(void **state)
{
    ULONG64 other[8] = { 0 };
    KEVENT event;
    PVOID objects[2] = { &event, other };

    (void)state;
    KeInitializeEvent(&event, NotificationEvent, TRUE);
    assert_int_equal(wait_for(2, objects, WaitAny, -1), (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    assert_int_equal(wait_for(0, objects, WaitAny, -1), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
}

static void four_objects_without_blocks(void)
{
    KEVENT event;
    PVOID objects[4] = { &event, &event, &event, &event };

    KeInitializeEvent(&event, NotificationEvent, TRUE);
    KeWaitForMultipleObjects(4, objects, WaitAny, Executive, KernelMode, FALSE, NULL, NULL);
}

static void too_many_objects_end_the_program(void **state)
{
    KEVENT event;
    PVOID objects[3] = { &event, &event, &event };

    (void)state;
    KeInitializeEvent(&event, NotificationEvent, TRUE);
    assert_int_equal(
        KeWaitForMultipleObjects(3, objects, WaitAny, Executive, KernelMode, FALSE, NULL, NULL),
        WAIT(0));
    assert_int_equal(signal_of(four_objects_without_blocks), SIGABRT);
}

/* ---- several threads ---- */

enum { WAITERS = 3, ROUNDS = 2000 };

static struct {
    KEVENT events[2];
    KEVENT done; /* a waiter took something */
    KEVENT stop;
    atomic_int taken[2], both;
    atomic_int number;
} game;

/* Takes either event, or both, until told to stop. */
static void *take_any(void *unused)
{
    PVOID objects[3] = { &game.events[0], &game.events[1], &game.stop };
    NTSTATUS status;

    while ((status = wait_for(3, objects, WaitAny, -1)) != WAIT(2)) {
        atomic_fetch_add(&game.taken[status - WAIT(0)], 1);
        KeSetEvent(&game.done, IO_NO_INCREMENT, FALSE);
    }
    return unused;
}

static void *take_single(void *unused)
{
    while (!KeReadStateEvent(&game.stop)) {
        LARGE_INTEGER limit = { .QuadPart = -10000 };

        if (KeWaitForSingleObject(&game.events[0], Executive, KernelMode, FALSE, &limit) ==
            (NTSTATUS)SPEC_STATUS_SUCCESS) {
            atomic_fetch_add(&game.taken[0], 1);
            KeSetEvent(&game.done, IO_NO_INCREMENT, FALSE);
        }
    }
    return unused;
}

/* And many that are always signalled, so that it takes longer. */
static void *take_both(void *unused)
{
    PVOID objects[MAXIMUM_WAIT_OBJECTS] = { &game.events[0] };
    KEVENT always;

    KeInitializeEvent(&always, NotificationEvent, TRUE);
    for (int i = 1; i < MAXIMUM_WAIT_OBJECTS - 1; i++)
        objects[i] = &always;
    objects[MAXIMUM_WAIT_OBJECTS - 1] = &game.events[1];
    while (!KeReadStateEvent(&game.stop)) {
        if (wait_for(MAXIMUM_WAIT_OBJECTS, objects, WaitAll, 1) == (NTSTATUS)SPEC_STATUS_SUCCESS) {
            atomic_fetch_add(&game.both, 1);
            KeSetEvent(&game.done, IO_NO_INCREMENT, FALSE);
        }
    }
    return unused;
}

static void begin_game(pthread_t *threads, void *(*const roles[])(void *), int count)
{
    for (int i = 0; i < 2; i++)
        KeInitializeEvent(&game.events[i], SynchronizationEvent, FALSE);
    KeInitializeEvent(&game.done, SynchronizationEvent, FALSE);
    KeInitializeEvent(&game.stop, NotificationEvent, FALSE);
    atomic_store(&game.taken[0], 0);
    atomic_store(&game.taken[1], 0);
    atomic_store(&game.both, 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, roles[i], NULL), 0);
}

static void end_game(const pthread_t *threads, int count)
{
    KeSetEvent(&game.stop, IO_NO_INCREMENT, FALSE);
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Each signal of an event wakes somebody, whoever waits how; a lost one ends in the test's time limit. */
static void every_signal_is_taken_once(void **state)
{
    void *(*const roles[])(void *) = { take_any, take_any, take_single };
    pthread_t threads[WAITERS];
    int signals[2] = { 0, 0 };

    (void)state;
    begin_game(threads, roles, WAITERS);
    for (int i = 0; i < ROUNDS; i++) {
        KeSetEvent(&game.events[i % 2], IO_NO_INCREMENT, FALSE);
        signals[i % 2]++;
        while (atomic_load(&game.taken[i % 2]) != signals[i % 2])
            assert_int_equal(KeWaitForSingleObject(&game.done, Executive, KernelMode, FALSE, NULL),
                (NTSTATUS)SPEC_STATUS_SUCCESS);
    }
    end_game(threads, WAITERS);
    assert_int_equal(atomic_load(&game.taken[0]), ROUNDS / 2);
    assert_int_equal(atomic_load(&game.taken[1]), ROUNDS / 2);
}

/* A wait for both takes none alone: what single waits leave is taken in pairs. */
static void waits_for_all_take_pairs(void **state)
{
    void *(*const roles[])(void *) = { take_both, take_both, take_single };
    pthread_t threads[WAITERS];
    int first = 0, second = 0;

    (void)state;
    begin_game(threads, roles, WAITERS);
    while (atomic_load(&game.both) < ROUNDS / 10) {
        first += !KeSetEvent(&game.events[0], IO_NO_INCREMENT, FALSE);
        second += !KeSetEvent(&game.events[1], IO_NO_INCREMENT, FALSE);
        sched_yield();
    }
    end_game(threads, WAITERS);
    assert_int_equal(atomic_load(&game.both) + KeReadStateEvent(&game.events[1]), second);
    assert_int_equal(
        atomic_load(&game.both) + atomic_load(&game.taken[0]) + KeReadStateEvent(&game.events[0]),
        first);
}

static void *take_one(void *unused)
{
    PVOID objects[2] = { &game.events[0], &game.events[1] };

    atomic_store(&game.number, thread_number());
    atomic_fetch_add(&game.taken[wait_for(2, objects, WaitAny, -1) - WAIT(0)], 1);
    return unused;
}

static void sleeping_wait_is_woken(void **state)
{
    void *(*const roles[])(void *) = { take_one };
    pthread_t thread;

    (void)state;
    atomic_store(&game.number, 0);
    begin_game(&thread, roles, 1);
    assert_true(SETTLES(atomic_load(&game.number) && thread_is_asleep(atomic_load(&game.number))));
    KeSetEvent(&game.events[1], IO_NO_INCREMENT, FALSE);
    end_game(&thread, 1);
    assert_int_equal(atomic_load(&game.taken[1]), 1);
    assert_int_equal(KeReadStateEvent(&game.events[1]), 0);
}

/* ---- fast mutexes ---- */

static struct {
    FAST_MUTEX mutex;
    unsigned long count;
} counted;

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        ExAcquireFastMutex(&counted.mutex);
        counted.count++;
        ExReleaseFastMutex(&counted.mutex);
    }
    return unused;
}

static void fast_mutex_excludes(void **state)
{
    pthread_t threads[WAITERS];

    (void)state;
    ExInitializeFastMutex(&counted.mutex);
    counted.count = 0;
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(counted.count, WAITERS * ROUNDS);
}

static void *try_it(void *result)
{
    *(BOOLEAN *)result = ExTryToAcquireFastMutex(&counted.mutex);
    return NULL;
}

static void fast_mutex_is_apc_level(void **state)
{
    FAST_MUTEX inner;
    KEVENT event;
    BOOLEAN got = TRUE;
    pthread_t thread;

    (void)state;
    ExInitializeFastMutex(&counted.mutex);
    ExInitializeFastMutex(&inner);
    KeInitializeEvent(&event, SynchronizationEvent, TRUE);
    ExAcquireFastMutex(&counted.mutex);
    assert_int_equal(KeGetCurrentIrql(), 1);
    /* One may wait there, and take another one. */
    assert_int_equal(KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL), 0);
    assert_true(ExTryToAcquireFastMutex(&inner));
    ExReleaseFastMutex(&inner);
    assert_int_equal(KeGetCurrentIrql(), 1);
    ExAcquireFastMutexUnsafe(&inner);
    ExReleaseFastMutexUnsafe(&inner);
    assert_int_equal(pthread_create(&thread, NULL, try_it, &got), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(got);
    ExReleaseFastMutex(&counted.mutex);
    assert_int_equal(KeGetCurrentIrql(), 0);
    assert_true(ExTryToAcquireFastMutex(&counted.mutex));
    assert_int_equal(KeGetCurrentIrql(), 1);
    ExReleaseFastMutex(&counted.mutex);
}

static void *try_guarded(void *result)
{
    *(BOOLEAN *)result = KeTryToAcquireGuardedMutex(&counted.mutex);
    return NULL;
}

static void guarded_mutex_leaves_the_level(void **state)
{
    BOOLEAN got = TRUE;
    pthread_t thread;

    (void)state;
    KeInitializeGuardedMutex(&counted.mutex);
    KeAcquireGuardedMutex(&counted.mutex);
    assert_int_equal(KeGetCurrentIrql(), 0);
    assert_int_equal(pthread_create(&thread, NULL, try_guarded, &got), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(got);
    KeReleaseGuardedMutex(&counted.mutex);
    assert_true(KeTryToAcquireGuardedMutex(&counted.mutex));
    KeReleaseGuardedMutex(&counted.mutex);
    KeAcquireGuardedMutexUnsafe(&counted.mutex);
    KeReleaseGuardedMutexUnsafe(&counted.mutex);
}

static void take_it_twice(void)
{
    FAST_MUTEX mutex;

    ExInitializeFastMutex(&mutex);
    ExAcquireFastMutex(&mutex);
    ExAcquireFastMutex(&mutex);
}

static void second_acquire_of_a_thread_ends_the_program(void **state)
{
    (void)state;
    assert_int_equal(signal_of(take_it_twice), SIGABRT);
}

/* ---- priorities ---- */

/* What a thread learned of itself. */
struct learned {
    PKTHREAD self;
    PETHREAD other_name;
    KPRIORITY before[6], after;
    int first, lower, lowest; /* nice values */
};

static VOID lower_itself(PVOID context)
{
    struct learned *learned = context;
    PKTHREAD self = learned->self = KeGetCurrentThread();

    learned->other_name = PsGetCurrentThread();
    learned->first = getpriority(PRIO_PROCESS, 0);
    learned->before[0] = KeSetPriorityThread(self, LOW_PRIORITY);
    learned->before[1] = KeSetPriorityThread(self, HIGH_PRIORITY + 1);
    learned->before[2] = KeQueryPriorityThread(self);
    learned->before[3] = KeSetPriorityThread(self, 7);
    learned->lower = getpriority(PRIO_PROCESS, 0);
    learned->before[4] = KeSetPriorityThread(self, 1);
    learned->lowest = getpriority(PRIO_PROCESS, 0);
    learned->after = KeQueryPriorityThread(self);
}

static void check(const struct learned *learned)
{
    for (int i = 0; i < 4; i++)
        assert_int_equal(learned->before[i], 8);
    assert_int_equal(learned->before[4], 7);
    assert_int_equal(learned->after, 1);
    assert_int_equal(learned->lower, learned->first + 4 > 19 ? 19 : learned->first + 4);
    assert_int_equal(learned->lowest, 19);
    assert_ptr_equal(learned->self, learned->other_name);
}

static void system_thread_has_a_priority(void **state)
{
    struct learned learned;
    HANDLE handle;
    PVOID thread;

    (void)state;
    assert_int_equal(
        PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, lower_itself, &learned),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(
        ObReferenceObjectByHandle(handle, THREAD_ALL_ACCESS, NULL, KernelMode, &thread, NULL),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    ZwClose(handle);
    KeWaitForSingleObject(thread, Executive, KernelMode, FALSE, NULL);
    check(&learned);
    assert_ptr_equal(learned.self, thread);
    assert_int_equal(KeQueryPriorityThread((PKTHREAD)thread), 1);
    ObDereferenceObject(thread);
}

static VOID wait_for_it(PVOID context)
{
    KeWaitForSingleObject(context, Executive, KernelMode, FALSE, NULL);
}

/* Also before it has begun, or when it has ended. */
static void priority_of_another_thread_is_set(void **state)
{
    CLIENT_ID client;
    HANDLE handle;
    KEVENT go;
    PVOID thread;

    (void)state;
    KeInitializeEvent(&go, NotificationEvent, FALSE);
    assert_int_equal(
        PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, &client, wait_for_it, &go),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(
        ObReferenceObjectByHandle(handle, THREAD_ALL_ACCESS, NULL, KernelMode, &thread, NULL),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    ZwClose(handle);
    assert_int_equal(KeSetPriorityThread(thread, 1), 8);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)(ULONG_PTR)client.UniqueThread), 19);
    KeSetEvent(&go, IO_NO_INCREMENT, FALSE);
    KeWaitForSingleObject(thread, Executive, KernelMode, FALSE, NULL);
    assert_int_equal(KeSetPriorityThread(thread, 3), 1);
    assert_int_equal(KeQueryPriorityThread(thread), 3);
    ObDereferenceObject(thread);
}

static void *lower_other(void *learned)
{
    lower_itself(learned);
    return NULL;
}

static void any_thread_has_one(void **state)
{
    struct learned learned;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, lower_other, &learned), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    check(&learned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_signalled_object_ends_a_wait_for_any),
        cmocka_unit_test(all_objects_are_taken_together),
        cmocka_unit_test(other_objects_are_refused),
        cmocka_unit_test(too_many_objects_end_the_program),
        cmocka_unit_test(every_signal_is_taken_once),
        cmocka_unit_test(waits_for_all_take_pairs),
        cmocka_unit_test(sleeping_wait_is_woken),
        cmocka_unit_test(fast_mutex_excludes),
        cmocka_unit_test(fast_mutex_is_apc_level),
        cmocka_unit_test(guarded_mutex_leaves_the_level),
        cmocka_unit_test(second_acquire_of_a_thread_ends_the_program),
        cmocka_unit_test(system_thread_has_a_priority),
        cmocka_unit_test(priority_of_another_thread_is_set),
        cmocka_unit_test(any_thread_has_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
