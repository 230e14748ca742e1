/* SPDX-License-Identifier: MIT */
/* test_sync.c - critical sections, SRW locks, condition variables, one-time initialisation, waits on addresses. */
#include "tests/support/win32_test.h"

enum { THREADS = 4, ROUNDS = 3000 };

struct shared {
    CRITICAL_SECTION section;
    SRWLOCK lock;
    CONDITION_VARIABLE filled, emptied;
    LONG count;  /* under the lock */
    LONG mirror; /* equal to count whenever the lock is free */
    LONG queued, taken;
    INIT_ONCE once;
    volatile LONG calls;
    volatile LONG word;
    volatile LONG ready;
};

static struct shared shared;

static void run_threads(LPTHREAD_START_ROUTINE start, void *parameter)
{
    HANDLE threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_non_null(threads[i] = CreateThread(NULL, 0, start, parameter, 0, NULL));
    assert_int_equal(WaitForMultipleObjects(THREADS, threads, TRUE, 2 * LONG_MS), WAIT_OBJECT_0);
    for (int i = 0; i < THREADS; i++) {
        DWORD code = 1;

        assert_true(GetExitCodeThread(threads[i], &code));
        assert_int_equal(code, 0);
        CloseHandle(threads[i]);
    }
}

static DWORD WINAPI try_exclusive(LPVOID parameter)
{
    (void)parameter;
    if (!TryAcquireSRWLockExclusive(&shared.lock))
        return 1;
    ReleaseSRWLockExclusive(&shared.lock);
    return 0;
}

static DWORD WINAPI try_shared(LPVOID parameter)
{
    (void)parameter;
    if (!TryAcquireSRWLockShared(&shared.lock))
        return 1;
    ReleaseSRWLockShared(&shared.lock);
    return 0;
}

static DWORD WINAPI try_section(LPVOID parameter)
{
    (void)parameter;
    if (!TryEnterCriticalSection(&shared.section))
        return 1;
    LeaveCriticalSection(&shared.section);
    return 0;
}

/* What another thread gets: 0 success, 1 refused. */
static DWORD elsewhere(LPTHREAD_START_ROUTINE start)
{
    HANDLE thread = CreateThread(NULL, 0, start, NULL, 0, NULL);
    DWORD code = 2;

    assert_non_null(thread);
    assert_int_equal(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    CloseHandle(thread);
    return code;
}

static void test_sizes_and_beginnings(void **state)
{
    SRWLOCK lock = SRWLOCK_INIT;
    CONDITION_VARIABLE variable = CONDITION_VARIABLE_INIT;
    INIT_ONCE once = INIT_ONCE_STATIC_INIT;

    (void)state;
    assert_int_equal(sizeof(SRWLOCK), 8);
    assert_int_equal(sizeof(CONDITION_VARIABLE), 8);
    assert_int_equal(sizeof(INIT_ONCE), 8);
    assert_int_equal(sizeof(CRITICAL_SECTION), 40);
    assert_null(lock.Ptr);
    assert_null(variable.Ptr);
    assert_null(once.Ptr);
    AcquireSRWLockExclusive(&lock);
    ReleaseSRWLockExclusive(&lock);
    assert_null(lock.Ptr);
}

static void test_critical_section_is_recursive(void **state)
{
    (void)state;
    assert_true(InitializeCriticalSectionEx(&shared.section, 4000, CRITICAL_SECTION_NO_DEBUG_INFO));
    EnterCriticalSection(&shared.section);
    assert_true(TryEnterCriticalSection(&shared.section));
    LeaveCriticalSection(&shared.section);
    assert_int_equal(elsewhere(try_section), 1);
    LeaveCriticalSection(&shared.section);
    assert_int_equal(elsewhere(try_section), 0);
    DeleteCriticalSection(&shared.section);
    assert_true(InitializeCriticalSectionAndSpinCount(&shared.section, 1));
    DeleteCriticalSection(&shared.section);
    InitializeCriticalSection(&shared.section);
}

static void test_srw_lock_admits_readers_or_a_writer(void **state)
{
    (void)state;
    InitializeSRWLock(&shared.lock);
    AcquireSRWLockShared(&shared.lock);
    assert_int_equal(elsewhere(try_shared), 0);
    assert_int_equal(elsewhere(try_exclusive), 1);
    assert_true(TryAcquireSRWLockShared(&shared.lock));
    ReleaseSRWLockShared(&shared.lock);
    assert_int_equal(elsewhere(try_exclusive), 1);
    ReleaseSRWLockShared(&shared.lock);
    assert_int_equal(elsewhere(try_exclusive), 0);
    AcquireSRWLockExclusive(&shared.lock);
    assert_int_equal(elsewhere(try_shared), 1);
    assert_int_equal(elsewhere(try_exclusive), 1);
    ReleaseSRWLockExclusive(&shared.lock);
    assert_true(TryAcquireSRWLockExclusive(&shared.lock));
    ReleaseSRWLockExclusive(&shared.lock);
}

static DWORD WINAPI read_and_write(LPVOID parameter)
{
    DWORD torn = 0;

    (void)parameter;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 4 == 0) {
            AcquireSRWLockExclusive(&shared.lock);
            shared.count++;
            shared.mirror++;
            ReleaseSRWLockExclusive(&shared.lock);
        } else {
            AcquireSRWLockShared(&shared.lock);
            torn |= shared.count != shared.mirror;
            ReleaseSRWLockShared(&shared.lock);
        }
    }
    return torn;
}

static void test_srw_lock_under_contention(void **state)
{
    (void)state;
    shared.count = shared.mirror = 0;
    run_threads(read_and_write, NULL);
    assert_int_equal(shared.count, THREADS * ROUNDS / 4);
    assert_int_equal(elsewhere(try_exclusive), 0);
}

/* Half of the threads fill, half empty a queue of one; each hand-over needs the other side to be woken. */
static DWORD WINAPI hand_over_srw(LPVOID parameter)
{
    BOOL fills = InterlockedIncrement(&shared.calls) % 2;

    (void)parameter;
    for (int i = 0; i < ROUNDS / 3; i++) {
        AcquireSRWLockExclusive(&shared.lock);
        while (shared.queued == fills) {
            if (!SleepConditionVariableSRW(
                    fills ? &shared.emptied : &shared.filled, &shared.lock, LONG_MS, 0)) {
                ReleaseSRWLockExclusive(&shared.lock);
                return 1;
            }
        }
        shared.queued = fills;
        shared.taken += !fills;
        ReleaseSRWLockExclusive(&shared.lock);
        WakeConditionVariable(fills ? &shared.filled : &shared.emptied);
    }
    return 0;
}

static DWORD WINAPI hand_over_section(LPVOID parameter)
{
    BOOL fills = InterlockedIncrement(&shared.calls) % 2;

    (void)parameter;
    for (int i = 0; i < ROUNDS / 3; i++) {
        EnterCriticalSection(&shared.section);
        while (shared.queued == fills) {
            if (!SleepConditionVariableCS(
                    fills ? &shared.emptied : &shared.filled, &shared.section, LONG_MS)) {
                LeaveCriticalSection(&shared.section);
                return 1;
            }
        }
        shared.queued = fills;
        shared.taken += !fills;
        WakeConditionVariable(fills ? &shared.filled : &shared.emptied);
        LeaveCriticalSection(&shared.section);
    }
    return 0;
}

static void test_condition_variable_loses_no_wake_up(void **state)
{
    (void)state;
    InitializeConditionVariable(&shared.filled);
    InitializeConditionVariable(&shared.emptied);
    shared.calls = shared.queued = shared.taken = 0;
    run_threads(hand_over_srw, NULL);
    assert_int_equal(shared.taken, THREADS / 2 * (ROUNDS / 3));
    shared.calls = shared.queued = shared.taken = 0;
    run_threads(hand_over_section, NULL);
    assert_int_equal(shared.taken, THREADS / 2 * (ROUNDS / 3));
}

static void test_condition_variable_times_out_with_the_lock(void **state)
{
    LARGE_INTEGER frequency, begin, end;

    (void)state;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&begin);
    AcquireSRWLockExclusive(&shared.lock);
    assert_fails(
        SleepConditionVariableSRW(&shared.filled, &shared.lock, 60, 0), SPEC_ERROR_TIMEOUT);
    QueryPerformanceCounter(&end); /* GetTickCount64 may stand still while Wine's server is busy */
    assert_true((end.QuadPart - begin.QuadPart) * 1000 / frequency.QuadPart >= 40);
    assert_int_equal(elsewhere(try_shared), 1);
    ReleaseSRWLockExclusive(&shared.lock);
    AcquireSRWLockShared(&shared.lock);
    assert_fails(SleepConditionVariableSRW(
                     &shared.filled, &shared.lock, 0, CONDITION_VARIABLE_LOCKMODE_SHARED),
        SPEC_ERROR_TIMEOUT);
    assert_int_equal(elsewhere(try_shared), 0);
    assert_int_equal(elsewhere(try_exclusive), 1);
    ReleaseSRWLockShared(&shared.lock);
    EnterCriticalSection(&shared.section);
    assert_fails(SleepConditionVariableCS(&shared.filled, &shared.section, 1), SPEC_ERROR_TIMEOUT);
    assert_int_equal(elsewhere(try_section), 1);
    LeaveCriticalSection(&shared.section);
}

static DWORD WINAPI wait_for_ready(LPVOID parameter)
{
    DWORD result = 0;

    (void)parameter;
    AcquireSRWLockShared(&shared.lock);
    InterlockedIncrement(&shared.calls);
    while (!shared.ready && !result)
        result = !SleepConditionVariableSRW(
            &shared.filled, &shared.lock, LONG_MS, CONDITION_VARIABLE_LOCKMODE_SHARED);
    ReleaseSRWLockShared(&shared.lock);
    return result;
}

/* When all sleep: they count themselves before they give the lock up. */
static DWORD WINAPI make_ready(LPVOID parameter)
{
    (void)parameter;
    AcquireSRWLockExclusive(&shared.lock);
    while (shared.calls < THREADS) {
        ReleaseSRWLockExclusive(&shared.lock);
        SwitchToThread();
        AcquireSRWLockExclusive(&shared.lock);
    }
    shared.ready = 1;
    ReleaseSRWLockExclusive(&shared.lock);
    WakeAllConditionVariable(&shared.filled);
    return 0;
}

static void test_condition_variable_wakes_all(void **state)
{
    HANDLE maker;

    (void)state;
    shared.ready = 0;
    shared.calls = 0;
    assert_non_null(maker = CreateThread(NULL, 0, make_ready, NULL, 0, NULL));
    run_threads(wait_for_ready, NULL);
    assert_int_equal(WaitForSingleObject(maker, LONG_MS), WAIT_OBJECT_0);
    CloseHandle(maker);
}

static BOOL WINAPI initialise(PINIT_ONCE once, PVOID parameter, PVOID *context)
{
    (void)once;
    if (!parameter) {
        SetLastError(77);
        return FALSE;
    }
    InterlockedIncrement(&shared.calls);
    *context = parameter;
    return TRUE;
}

static DWORD WINAPI execute_once(LPVOID parameter)
{
    PVOID context = NULL;

    return !InitOnceExecuteOnce(&shared.once, initialise, parameter, &context) ||
           context != parameter;
}

/* The thread that initialises waits until the others have begun, then gives them time to fall asleep. */
static BOOL WINAPI initialise_late(PINIT_ONCE once, PVOID parameter, PVOID *context)
{
    (void)once;
    while (InterlockedCompareExchange(&shared.calls, 0, 0) < THREADS)
        SwitchToThread();
    for (int i = 0; i < 20; i++)
        SwitchToThread();
    if (context) /* whose caller gave none: Wine 8 makes one, Wine 10 does not */
        *context = parameter;
    return TRUE;
}

static DWORD WINAPI execute_late(LPVOID parameter)
{
    InterlockedIncrement(&shared.calls);
    return !InitOnceExecuteOnce(&shared.once, initialise_late, parameter, NULL);
}

static void test_one_time_initialisation_wakes_who_waits(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        InitOnceInitialize(&shared.once);
        shared.calls = 0;
        run_threads(execute_late, &shared);
    }
}

static void test_one_time_initialisation(void **state)
{
    INIT_ONCE async = INIT_ONCE_STATIC_INIT;
    PVOID context = NULL;
    BOOL pending;

    (void)state;
    InitOnceInitialize(&shared.once);
    shared.calls = 0;
    assert_fails(InitOnceBeginInitialize(&shared.once, INIT_ONCE_CHECK_ONLY, &pending, &context),
        SPEC_ERROR_GEN_FAILURE);
    assert_fails(InitOnceExecuteOnce(&shared.once, initialise, NULL, NULL),
        77); /* failed: the next one tries again */
    run_threads(execute_once, &shared);
    assert_int_equal(shared.calls, 1);
    assert_true(InitOnceBeginInitialize(&shared.once, INIT_ONCE_CHECK_ONLY, &pending, &context));
    assert_false(pending);
    assert_ptr_equal(context, &shared);
    assert_fails(InitOnceComplete(&shared.once, 0, NULL), SPEC_ERROR_GEN_FAILURE);

    assert_true(InitOnceBeginInitialize(&async, INIT_ONCE_ASYNC, &pending, NULL));
    assert_true(pending);
    assert_true(InitOnceBeginInitialize(&async, INIT_ONCE_ASYNC, &pending, NULL));
    assert_true(pending);
    assert_fails(InitOnceBeginInitialize(&async, 0, &pending, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(InitOnceBeginInitialize(&async, INIT_ONCE_INIT_FAILED, &pending, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(InitOnceComplete(&async, INIT_ONCE_ASYNC, (PVOID)1), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(InitOnceComplete(&async, INIT_ONCE_ASYNC | INIT_ONCE_INIT_FAILED, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_true(InitOnceComplete(&async, INIT_ONCE_ASYNC, &async));
    assert_fails(InitOnceComplete(&async, INIT_ONCE_ASYNC, &shared),
        SPEC_ERROR_GEN_FAILURE); /* the other one won */
    assert_true(InitOnceBeginInitialize(&async, INIT_ONCE_ASYNC, &pending, &context));
    assert_false(pending);
    assert_ptr_equal(context, &async);
}

static void test_wait_on_address_compares(void **state)
{
    BYTE b = 1, other_b = 2;
    WORD w = 1, other_w = 2;
    DWORD d = 1, other_d = 2;
    DWORD64 q = 1, other_q = 1 | (DWORD64)1 << 40;

    (void)state;
    assert_true(WaitOnAddress(&b, &other_b, 1, LONG_MS));
    assert_true(WaitOnAddress(&w, &other_w, 2, LONG_MS));
    assert_true(WaitOnAddress(&d, &other_d, 4, LONG_MS));
    assert_true(WaitOnAddress(&q, &other_q, 8, LONG_MS));
    assert_fails(WaitOnAddress(&b, &b, 1, 1), SPEC_ERROR_TIMEOUT);
    assert_fails(WaitOnAddress(&w, &w, 2, 0), SPEC_ERROR_TIMEOUT);
    assert_fails(WaitOnAddress(&d, &d, 4, 1), SPEC_ERROR_TIMEOUT);
    assert_fails(WaitOnAddress(&q, &q, 8, 1), SPEC_ERROR_TIMEOUT);
    assert_fails(WaitOnAddress(&q, &q, 3, 1), SPEC_ERROR_INVALID_PARAMETER);
    WakeByAddressSingle(&q);
    WakeByAddressAll(&q);
}

/* Each thread passes the token on to the next; a lost wake-up ends in a timeout. */
static DWORD WINAPI pass_token(LPVOID parameter)
{
    LONG self = InterlockedIncrement(&shared.calls) - 1;

    (void)parameter;
    for (LONG turn = self; turn < THREADS * (ROUNDS / 3); turn += THREADS) {
        for (LONG seen = InterlockedCompareExchange(&shared.word, 0, -1); seen != turn;
             seen = InterlockedCompareExchange(&shared.word, 0, -1))
            if (!WaitOnAddress(&shared.word, &seen, sizeof(seen), LONG_MS))
                return 1;
        InterlockedIncrement(&shared.word);
        if (turn % 2)
            WakeByAddressAll((PVOID)&shared.word);
        else
            for (int i = 0; i < THREADS; i++)
                WakeByAddressSingle((PVOID)&shared.word);
    }
    return 0;
}

static void test_wait_on_address_loses_no_wake_up(void **state)
{
    (void)state;
    shared.calls = shared.word = 0;
    run_threads(pass_token, NULL);
    assert_int_equal(shared.word, THREADS * (ROUNDS / 3));
    DeleteCriticalSection(&shared.section);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_and_beginnings),
        cmocka_unit_test(test_critical_section_is_recursive),
        cmocka_unit_test(test_srw_lock_admits_readers_or_a_writer),
        cmocka_unit_test(test_srw_lock_under_contention),
        cmocka_unit_test(test_condition_variable_loses_no_wake_up),
        cmocka_unit_test(test_condition_variable_times_out_with_the_lock),
        cmocka_unit_test(test_condition_variable_wakes_all),
        cmocka_unit_test(test_one_time_initialisation),
        cmocka_unit_test(test_one_time_initialisation_wakes_who_waits),
        cmocka_unit_test(test_wait_on_address_compares),
        cmocka_unit_test(test_wait_on_address_loses_no_wake_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
