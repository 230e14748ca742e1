/* SPDX-License-Identifier: MIT */
/* test_primitives.c - levels, locks, events, deferred work and pool memory of ndkwdm.h. */
#include "tests/support/signal_of.h"
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndkwdm.h>

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG = 0x54657374 };

static LARGE_INTEGER in_100_ns(LONGLONG n)
{
    return (LARGE_INTEGER){ .QuadPart = n };
}

static NTSTATUS wait_for(PRKEVENT event, LONGLONG timeout)
{
    LARGE_INTEGER time = in_100_ns(timeout);

    return KeWaitForSingleObject(event, Executive, KernelMode, FALSE, &time);
}

static void wait_for_ever(PRKEVENT event)
{
    assert_int_equal(KeWaitForSingleObject(event, Executive, KernelMode, FALSE, NULL), 0);
}

static void levels_rise_and_fall(void **state)
{
    KIRQL first, second;

    (void)state;
    assert_int_equal(KeGetCurrentIrql(), 0);
    KeRaiseIrql(APC_LEVEL, &first);
    assert_int_equal(KeGetCurrentIrql(), 1);
    KeRaiseIrql(DISPATCH_LEVEL, &second);
    assert_int_equal(KeGetCurrentIrql(), 2);
    assert_int_equal(second, 1);
    KeLowerIrql(second);
    assert_int_equal(KeGetCurrentIrql(), 1);
    KeLowerIrql(first);
    assert_int_equal(KeGetCurrentIrql(), 0);
}

/* ---- spin locks ---- */

static struct {
    KSPIN_LOCK lock;
    unsigned long count;
} counted;

enum { ROUNDS = 20000, COUNTERS = 4 };

static void *count(void *queued)
{
    for (int i = 0; i < ROUNDS; i++) {
        KLOCK_QUEUE_HANDLE handle;
        KIRQL before;

        if (queued) {
            KeAcquireInStackQueuedSpinLock(&counted.lock, &handle);
            counted.count++;
            KeReleaseInStackQueuedSpinLock(&handle);
        } else {
            KeAcquireSpinLock(&counted.lock, &before);
            counted.count++;
            KeReleaseSpinLock(&counted.lock, before);
        }
    }
    return NULL;
}

static void spin_lock_excludes(void **state)
{
    pthread_t threads[COUNTERS];

    (void)state;
    KeInitializeSpinLock(&counted.lock);
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, i % 2 ? &counted : NULL), 0);
    for (int i = 0; i < COUNTERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counted.count, (unsigned long)ROUNDS * COUNTERS);
    assert_int_equal(counted.lock, 0);
}

static void spin_lock_is_dispatch_level(void **state)
{
    KSPIN_LOCK outer, inner;
    KLOCK_QUEUE_HANDLE handle;
    KIRQL before;

    (void)state;
    KeInitializeSpinLock(&outer);
    KeInitializeSpinLock(&inner);
    KeAcquireSpinLock(&outer, &before);
    assert_int_equal(before, 0);
    assert_int_equal(KeGetCurrentIrql(), 2);
    KeAcquireSpinLockAtDpcLevel(&inner);
    KeReleaseSpinLockFromDpcLevel(&inner);
    KeAcquireInStackQueuedSpinLockAtDpcLevel(&inner, &handle);
    KeReleaseInStackQueuedSpinLockFromDpcLevel(&handle);
    assert_int_equal(KeGetCurrentIrql(), 2);
    KeReleaseSpinLock(&outer, before);
    assert_int_equal(KeGetCurrentIrql(), 0);
    KeAcquireInStackQueuedSpinLock(&outer, &handle);
    assert_int_equal(KeGetCurrentIrql(), 2);
    KeReleaseInStackQueuedSpinLock(&handle);
    assert_int_equal(KeGetCurrentIrql(), 0);
}

/* ---- events ---- */

static void notification_event_stays(void **state)
{
    KEVENT event;

    (void)state;
    assert_int_equal(sizeof(event), 0x18);
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    assert_int_equal(KeReadStateEvent(&event), 0);
    assert_int_equal(wait_for(&event, 0), SPEC_STATUS_TIMEOUT);
    assert_int_equal(KeSetEvent(&event, IO_NO_INCREMENT, FALSE), 0);
    assert_int_equal(KeSetEvent(&event, IO_NO_INCREMENT, FALSE), 1);
    assert_int_equal(wait_for(&event, 0), 0);
    wait_for_ever(&event);
    assert_int_equal(KeReadStateEvent(&event), 1);
    assert_int_equal(KeResetEvent(&event), 1);
    assert_int_equal(KeResetEvent(&event), 0);
    assert_int_equal(wait_for(&event, 0), SPEC_STATUS_TIMEOUT);
    KeInitializeEvent(&event, NotificationEvent, TRUE);
    wait_for_ever(&event);
    KeClearEvent(&event);
    assert_int_equal(KeReadStateEvent(&event), 0);
}

static void synchronization_event_is_taken_once(void **state)
{
    KEVENT event;

    (void)state;
    KeInitializeEvent(&event, SynchronizationEvent, TRUE);
    wait_for_ever(&event);
    assert_int_equal(wait_for(&event, 0), SPEC_STATUS_TIMEOUT);
    KeSetEvent(&event, 0, FALSE);
    assert_int_equal(wait_for(&event, -10000000), 0);
    assert_int_equal(KeReadStateEvent(&event), 0);
}

static void waits_end_in_time(void **state)
{
    KEVENT event;

    (void)state;
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    assert_int_equal(wait_for(&event, -20000), SPEC_STATUS_TIMEOUT);             /* 2 ms */
    assert_int_equal(wait_for(&event, 132223104000000000), SPEC_STATUS_TIMEOUT); /* 2020-01-01 */
    assert_int_equal(wait_for(&event, 1), SPEC_STATUS_TIMEOUT);                  /* 1601 */
}

static void only_events_are_waited_for(void **state)
{
    ULONG64 other[8] = { 0 };

    (void)state;
    assert_int_equal(KeWaitForSingleObject(other, Executive, KernelMode, FALSE, NULL),
        (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
}

static struct {
    KEVENT ping, pong;
} game;

static void *answer(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        KeWaitForSingleObject(&game.ping, Executive, KernelMode, FALSE, NULL);
        KeSetEvent(&game.pong, 0, FALSE);
    }
    return unused;
}

static void event_wakes_a_thread(void **state)
{
    pthread_t thread;

    (void)state;
    KeInitializeEvent(&game.ping, SynchronizationEvent, FALSE);
    KeInitializeEvent(&game.pong, SynchronizationEvent, FALSE);
    assert_int_equal(pthread_create(&thread, NULL, answer, NULL), 0);
    for (int i = 0; i < 1000; i++) {
        KeSetEvent(&game.ping, 0, FALSE);
        wait_for_ever(&game.pong);
    }
    pthread_join(thread, NULL);
}

static void *wait_for_game(void *unused)
{
    KeWaitForSingleObject(&game.ping, Executive, KernelMode, FALSE, NULL);
    return unused;
}

static void notification_event_wakes_all(void **state)
{
    pthread_t threads[COUNTERS];

    (void)state;
    KeInitializeEvent(&game.ping, NotificationEvent, FALSE);
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_game, NULL), 0);
    KeSetEvent(&game.ping, 0, FALSE);
    for (int i = 0; i < COUNTERS; i++)
        pthread_join(threads[i], NULL);
}

#ifndef NDEBUG
static void wait_under_a_lock(void)
{
    KSPIN_LOCK lock = 0;
    KEVENT event;
    KIRQL before;

    KeInitializeEvent(&event, NotificationEvent, TRUE);
    KeAcquireSpinLock(&lock, &before);
    KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL);
}

static void waiting_at_dispatch_level_ends_the_program(void **state)
{
    (void)state;
    assert_int_equal(signal_of(wait_under_a_lock), SIGABRT);
}
#endif

static void poll_under_a_lock(void)
{
    KSPIN_LOCK lock = 0;
    KEVENT event;
    KIRQL before;

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    KeAcquireSpinLock(&lock, &before);
    if (wait_for(&event, 0) != STATUS_TIMEOUT)
        abort();
}

static void polling_at_dispatch_level_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(signal_of(poll_under_a_lock), 0);
}

/* ---- rundown ---- */

static EX_RUNDOWN_REF used;
static atomic_bool down;

static void *run_down(void *unused)
{
    ExWaitForRundownProtectionRelease(&used);
    atomic_store(&down, true);
    return unused;
}

static void rundown_waits_for_users(void **state)
{
    pthread_t thread;

    (void)state;
    ExInitializeRundownProtection(&used);
    assert_true(ExAcquireRundownProtection(&used));
    assert_true(ExAcquireRundownProtection(&used));
    assert_int_equal(pthread_create(&thread, NULL, run_down, NULL), 0);
    while (ExAcquireRundownProtection(&used)) /* until the thread has begun */
        ExReleaseRundownProtection(&used);
    ExReleaseRundownProtection(&used);
    assert_false(atomic_load(&down));
    ExReleaseRundownProtection(&used);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&down));
    assert_false(ExAcquireRundownProtection(&used));
    ExReInitializeRundownProtection(&used);
    assert_true(ExAcquireRundownProtection(&used));
    ExReleaseRundownProtection(&used);
    ExWaitForRundownProtectionRelease(&used);
}

/* ---- deferred work ---- */

static struct {
    KEVENT first, second, both;
    atomic_uint ended;
    atomic_uint level;
    pthread_t thread;
    PVOID device;
} work;

static void end_one(void)
{
    if (atomic_fetch_add(&work.ended, 1) == 1)
        KeSetEvent(&work.both, 0, FALSE);
}

static VOID first_item(PVOID context)
{
    assert_ptr_equal(context, &work);
    KeWaitForSingleObject(&work.second, Executive, KernelMode, FALSE, NULL);
    KeSetEvent(&work.first, 0, FALSE);
    end_one();
}

static VOID second_item(PDEVICE_OBJECT device, PVOID context)
{
    work.device = device;
    atomic_store(&work.level, KeGetCurrentIrql());
    KeSetEvent(&work.second, 0, FALSE);
    KeWaitForSingleObject(&work.first, Executive, KernelMode, FALSE, NULL);
    IoFreeWorkItem(context);
    end_one();
}

/* Each waits for the other: one blocked thread keeps no item waiting. */
static void work_items_may_block(void **state)
{
    WORK_QUEUE_ITEM first;
    PIO_WORKITEM second = IoAllocateWorkItem((PDEVICE_OBJECT)&work);

    (void)state;
    KeInitializeEvent(&work.first, NotificationEvent, FALSE);
    KeInitializeEvent(&work.second, NotificationEvent, FALSE);
    KeInitializeEvent(&work.both, NotificationEvent, FALSE);
    atomic_store(&work.level, 77);
    ExInitializeWorkItem(&first, first_item, &work);
    ExQueueWorkItem(&first, DelayedWorkQueue);
    assert_non_null(second);
    IoQueueWorkItem(second, second_item, DelayedWorkQueue, second);
    wait_for_ever(&work.both);
    assert_int_equal(atomic_load(&work.level), 0);
    assert_ptr_equal(work.device, &work);
}

static struct {
    KEVENT go, begun;
    unsigned order[8];
    unsigned count;
    KIRQL level;
} dpcs;

static VOID hold(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)dpc;
    dpcs.level = KeGetCurrentIrql();
    assert_ptr_equal(context, &dpcs);
    assert_ptr_equal(argument1, &dpcs.go);
    assert_ptr_equal(argument2, &dpcs.begun);
    KeSetEvent(&dpcs.begun, 0, FALSE);
    while (!KeReadStateEvent(&dpcs.go))
        sched_yield();
}

static VOID note(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)dpc;
    (void)argument1;
    (void)argument2;
    dpcs.order[dpcs.count++] = (unsigned)(ULONG_PTR)context;
}

static void deferred_procedures_run_in_order(void **state)
{
    KDPC held, a, b, c;

    (void)state;
    KeInitializeEvent(&dpcs.go, NotificationEvent, FALSE);
    KeInitializeEvent(&dpcs.begun, NotificationEvent, FALSE);
    KeInitializeDpc(&held, hold, &dpcs);
    KeInitializeDpc(&a, note, (PVOID)(ULONG_PTR)1);
    KeInitializeDpc(&b, note, (PVOID)(ULONG_PTR)2);
    KeInitializeDpc(&c, note, (PVOID)(ULONG_PTR)3);
    assert_true(KeInsertQueueDpc(&held, &dpcs.go, &dpcs.begun));
    wait_for_ever(&dpcs.begun);
    assert_true(KeInsertQueueDpc(&a, NULL, NULL));
    assert_true(KeInsertQueueDpc(&b, NULL, NULL));
    assert_true(KeInsertQueueDpc(&c, NULL, NULL));
    assert_false(KeInsertQueueDpc(&a, NULL, NULL));
    assert_true(KeRemoveQueueDpc(&b));
    assert_false(KeRemoveQueueDpc(&b));
    assert_false(KeRemoveQueueDpc(&held)); /* it runs */
    KeSetEvent(&dpcs.go, 0, FALSE);
    KeFlushQueuedDpcs();
    assert_int_equal(dpcs.level, 2);
    assert_int_equal(dpcs.count, 2);
    assert_int_equal(dpcs.order[0], 1);
    assert_int_equal(dpcs.order[1], 3);
    assert_int_equal(KeGetCurrentIrql(), 0);
}

/* ---- memory ---- */

static void pool_memory_is_zeroed_and_aligned(void **state)
{
    unsigned char *small = ExAllocatePool2(POOL_FLAG_NON_PAGED, 24, TAG);
    unsigned char *pages = ExAllocatePool2(POOL_FLAG_NON_PAGED, 2 * 4096, TAG);
    unsigned char *line = ExAllocatePool2(POOL_FLAG_NON_PAGED | POOL_FLAG_CACHE_ALIGNED, 8, TAG);
    void *old = ExAllocatePoolWithTag(NonPagedPoolNx, 5000, TAG);

    (void)state;
    assert_non_null(small);
    assert_int_equal((ULONG_PTR)small % 16, 0);
    for (int i = 0; i < 24; i++)
        assert_int_equal(small[i], 0);
    assert_int_equal((ULONG_PTR)pages % 4096, 0);
    assert_int_equal(pages[8191], 0);
    assert_int_equal((ULONG_PTR)line % 64, 0);
    assert_non_null(old);
    assert_int_equal((ULONG_PTR)old % 4096, 0);
    ExFreePool(small);
    ExFreePoolWithTag(pages, TAG);
    ExFreePool(line);
    ExFreePool(old);
    assert_null(ExAllocatePool2(POOL_FLAG_NON_PAGED, 0, TAG));
    assert_null(ExAllocatePool2(POOL_FLAG_NON_PAGED, 1, 0));
    assert_null(ExAllocatePool2(POOL_FLAG_NON_PAGED, SIZE_MAX, TAG));
}

static VOID tell_item(PVOID object, PVOID context, PIO_WORKITEM item)
{
    PVOID *told = context;

    told[0] = object;
    told[1] = item;
    IoUninitializeWorkItem(item);
    KeSetEvent((PKEVENT)told[2], IO_NO_INCREMENT, FALSE);
}

/* Of the consumer's memory, and of the library's; what IoQueueWorkItemEx passes is MinGW's <ddk/wdm.h>'s. */
static void io_work_items_get_their_object(void **state)
{
    PIO_WORKITEM own = malloc(IoSizeofWorkItem()), allocated = IoAllocateWorkItem(NULL);
    KEVENT event;
    PVOID told[3] = { NULL, NULL, &event };

    (void)state;
    KeInitializeEvent(&event, SynchronizationEvent, FALSE);
    IoInitializeWorkItem(told, own);
    IoQueueWorkItemEx(own, tell_item, DelayedWorkQueue, told);
    assert_int_equal(KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL), 0);
    assert_ptr_equal(told[0], told);
    assert_ptr_equal(told[1], own);
    free(own);
    IoQueueWorkItemEx(allocated, tell_item, DelayedWorkQueue, told);
    assert_int_equal(KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL), 0);
    assert_null(told[0]);
    assert_ptr_equal(told[1], allocated);
    IoFreeWorkItem(allocated);
}

/* Values as the pages of the functions have them; signatures are those of MinGW's <ddk/wdm.h>. */
static void memory_and_statuses(void **state)
{
    struct fields {
        char first[6];
        USHORT second;
    };
    char bytes[8] = "abcdefg", *none = NULL;
    char *block = ExAllocatePoolWithTagPriority(NonPagedPoolNx, 10, TAG, NormalPoolPriority);

    (void)state;
    assert_int_equal(FIELD_OFFSET(struct fields, second), 6);
    assert_int_equal(MAXUSHORT, 65535);
    assert_int_equal(RtlCompareMemory(bytes, "abcxefg", 7), 3);
    assert_int_equal(RtlCompareMemory(bytes, "abcdefg", 7), 7);
    assert_true(RtlEqualMemory(bytes, "abcxxxx", 3));
    assert_false(RtlEqualMemory(bytes, "abcxxxx", 4));
    RtlMoveMemory(bytes + 1, bytes, 6);
    assert_string_equal(bytes, "aabcdef");
    RtlFillMemory(bytes, 3, 'z');
    assert_string_equal(bytes, "zzzcdef");
    assert_int_equal(RtlUshortByteSwap(0x1234), 0x3412);
    assert_int_equal(RtlUlongByteSwap(0x12345678), 0x78563412);
    assert_true(RtlUlonglongByteSwap(0x0102030405060708) == 0x0807060504030201);
    assert_true(ARGUMENT_PRESENT(bytes + 0) && !ARGUMENT_PRESENT(none));
    assert_true(NT_ERROR(STATUS_INVALID_PARAMETER) && !NT_ERROR(STATUS_BUFFER_OVERFLOW));
    assert_true(NT_WARNING(STATUS_BUFFER_OVERFLOW) && !NT_WARNING(STATUS_PENDING));
    assert_true(NT_INFORMATION((NTSTATUS)0x40000000) && !NT_INFORMATION(STATUS_PENDING));
    assert_true(NT_VERIFY(bytes[7]++ == 0));
    assert_int_equal(bytes[7], 1);
    assert_non_null(block);
    ExFreePoolWithTag(block, TAG);
}

static void mdl_is_allocated(void **state)
{
    char memory[100];
    PMDL mdl = IoAllocateMdl(memory, sizeof(memory), FALSE, FALSE, NULL);

    (void)state;
    assert_non_null(mdl);
    MmBuildMdlForNonPagedPool(mdl);
    assert_ptr_equal(MmGetMdlVirtualAddress(mdl), memory);
    assert_int_equal(MmGetMdlByteCount(mdl), 100);
    IoFreeMdl(mdl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_rise_and_fall),
        cmocka_unit_test(spin_lock_excludes),
        cmocka_unit_test(spin_lock_is_dispatch_level),
        cmocka_unit_test(notification_event_stays),
        cmocka_unit_test(synchronization_event_is_taken_once),
        cmocka_unit_test(waits_end_in_time),
        cmocka_unit_test(only_events_are_waited_for),
        cmocka_unit_test(event_wakes_a_thread),
        cmocka_unit_test(notification_event_wakes_all),
#ifndef NDEBUG
        cmocka_unit_test(waiting_at_dispatch_level_ends_the_program),
#endif
        cmocka_unit_test(polling_at_dispatch_level_is_allowed),
        cmocka_unit_test(rundown_waits_for_users),
        cmocka_unit_test(work_items_may_block),
        cmocka_unit_test(deferred_procedures_run_in_order),
        cmocka_unit_test(pool_memory_is_zeroed_and_aligned),
        cmocka_unit_test(io_work_items_get_their_object),
        cmocka_unit_test(memory_and_statuses),
        cmocka_unit_test(mdl_is_allocated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
