/* SPDX-License-Identifier: MIT */
/* test_pool_short.c - the system refuses the pool a thread for a while. It runs as a user whom a limit holds for. */
#include "tests/support/win32_test.h"

#include <sys/resource.h>
#include <unistd.h>

/* Threads that the pool has after its first call, and calls that wait for each other. */
enum { THREADS = 2, CALLS = 4 };

static HANDLE begun, go;

static VOID CALLBACK at_once(PTP_CALLBACK_INSTANCE instance, PVOID context)
{
    (void)instance;
    (void)context;
    ReleaseSemaphore(begun, 1, NULL);
}

static VOID CALLBACK waits(PTP_CALLBACK_INSTANCE instance, PVOID context)
{
    at_once(instance, context);
    WaitForSingleObject(go, LONG_MS);
}

static void set_limit(rlim_t threads)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NPROC, &limit), 0);
    limit.rlim_cur = threads > limit.rlim_max ? limit.rlim_max : threads;
    assert_int_equal(setrlimit(RLIMIT_NPROC, &limit), 0);
}

static void begin(DWORD count)
{
    for (DWORD i = 0; i < count; i++)
        assert_wait(WaitForSingleObject(begun, LONG_MS), WAIT_OBJECT_0);
}

static VOID CALLBACK late(PVOID context, BOOLEAN fired)
{
    (void)context;
    (void)fired;
}

/* Ours: Windows' page promises no number of threads; calls that wait for others have to begin at some time. */
static void queued_calls_begin_when_there_are_threads_again(void **state)
{
    HANDLE timer;

    (void)state;
    assert_non_null(begun = CreateSemaphoreA(NULL, 0, CALLS, NULL));
    assert_non_null(go = CreateEventA(NULL, TRUE, FALSE, NULL));
    /* The process has something else that sleeps for it, as programs with an adapter or timers have. */
    assert_true(CreateTimerQueueTimer(&timer, NULL, late, NULL, LONG_MS * 10, 0, 0));
    assert_true(TrySubmitThreadpoolCallback(at_once, NULL, NULL));
    begin(1);
    set_limit(0);
    for (int i = 0; i < CALLS; i++)
        assert_true(TrySubmitThreadpoolCallback(waits, NULL, NULL));
    begin(THREADS);
    assert_wait(WaitForSingleObject(begun, 0), WAIT_TIMEOUT);
    set_limit(RLIM_INFINITY);
    begin(CALLS - THREADS);
    assert_true(SetEvent(go));
    assert_true(DeleteTimerQueueTimer(NULL, timer, INVALID_HANDLE_VALUE));
    assert_true(CloseHandle(begun));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queued_calls_begin_when_there_are_threads_again),
    };

    if (!geteuid() && setuid(65534)) {
        puts("no other user to be");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
