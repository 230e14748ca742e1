/* SPDX-License-Identifier: MIT */
/*
 * condition.c - condition variables: one word of Windows' size. It holds a count of wake-ups, which a sleeper compares
 * before it sleeps (so that a wake-up between its release of the lock and its sleep is not lost), and a count of
 * sleepers, so that a wake-up without sleepers makes no system call. Wake-ups may be spurious, as on Windows.
 */
#include <windows.h>

#include "winobj/waits/waiter.h"

#include "util/clock.h"
#include "util/futex.h"

#include <errno.h>
#include <limits.h>

struct condition {
    _Atomic uint32_t wakeups; /* futex word */
    _Atomic uint32_t sleepers;
};

C_ASSERT(sizeof(struct condition) == sizeof(CONDITION_VARIABLE));

/* InitializeConditionVariable - does what CONDITION_VARIABLE_INIT does. */
void WINAPI InitializeConditionVariable(PCONDITION_VARIABLE variable)
{
    variable->Ptr = NULL;
}

static void wake(PCONDITION_VARIABLE variable, int count)
{
    struct condition *condition = (struct condition *)variable;

    /* Pairs with the sleeper's order: sleepers, then wakeups, both before it releases the lock. */
    atomic_fetch_add_explicit(&condition->wakeups, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&condition->sleepers, memory_order_seq_cst))
        futex_wake(&condition->wakeups, count);
}

/* WakeConditionVariable - wakes one thread that sleeps, if there is one. The lock need not be held. */
void WINAPI WakeConditionVariable(PCONDITION_VARIABLE variable)
{
    wake(variable, 1);
}

/* WakeAllConditionVariable - wakes all threads that sleep. */
void WINAPI WakeAllConditionVariable(PCONDITION_VARIABLE variable)
{
    wake(variable, INT_MAX);
}

/* Counts the caller as a sleeper, before it releases its lock. Returns the wake-ups so far, for sleep_run. */
static uint32_t sleep_begin(struct condition *condition)
{
    atomic_fetch_add_explicit(&condition->sleepers, 1, memory_order_seq_cst);
    return atomic_load_explicit(&condition->wakeups, memory_order_seq_cst);
}

/* Sleeps until a wake-up follows those of seen. FALSE with ERROR_TIMEOUT. */
static BOOL sleep_run(struct condition *condition, uint32_t seen, DWORD timeout_ms)
{
    struct timespec left = { .tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L };
    uint64_t deadline_ns = win_deadline_ns(timeout_ms), now_ns;
    BOOL woken = TRUE;

    while (woken && atomic_load_explicit(&condition->wakeups, memory_order_acquire) == seen) {
        if (futex_wait(&condition->wakeups, seen, timeout_ms == INFINITE ? NULL : &left) == 0)
            break;
        if (errno == EAGAIN)
            break;
        now_ns = clock_now_ns();
        woken = errno != ETIMEDOUT &&
                now_ns < deadline_ns; /* a signal handler ran: sleep the rest of the time */
        if (woken && timeout_ms != INFINITE) {
            left.tv_sec = (time_t)((deadline_ns - now_ns) / 1000000000u);
            left.tv_nsec = (long)((deadline_ns - now_ns) % 1000000000u);
        }
    }
    atomic_fetch_sub_explicit(&condition->sleepers, 1, memory_order_relaxed);
    if (!woken)
        SetLastError(ERROR_TIMEOUT);
    return woken;
}

/*
 * SleepConditionVariableCS - releases a critical section once, sleeps, and takes it again.
 * Returns TRUE when woken, perhaps spuriously; FALSE with ERROR_TIMEOUT. The caller holds the section either way.
 */
BOOL WINAPI SleepConditionVariableCS(
    PCONDITION_VARIABLE variable, PCRITICAL_SECTION section, DWORD timeout_ms)
{
    struct condition *condition = (struct condition *)variable;
    uint32_t seen = sleep_begin(condition);
    BOOL woken;

    LeaveCriticalSection(section);
    woken = sleep_run(condition, seen, timeout_ms);
    EnterCriticalSection(section);
    return woken;
}

/*
 * SleepConditionVariableSRW - SleepConditionVariableCS with an SRW lock, which the caller holds exclusively or, with
 * CONDITION_VARIABLE_LOCKMODE_SHARED, shared. Also FALSE with ERROR_INVALID_PARAMETER for another flag; the caller then
 * still holds the lock.
 */
BOOL WINAPI SleepConditionVariableSRW(
    PCONDITION_VARIABLE variable, PSRWLOCK lock, DWORD timeout_ms, ULONG flags)
{
    struct condition *condition = (struct condition *)variable;
    uint32_t seen;
    BOOL woken;

    if (flags & ~(ULONG)CONDITION_VARIABLE_LOCKMODE_SHARED) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    seen = sleep_begin(condition);
    if (flags)
        ReleaseSRWLockShared(lock);
    else
        ReleaseSRWLockExclusive(lock);
    woken = sleep_run(condition, seen, timeout_ms);
    if (flags)
        AcquireSRWLockShared(lock);
    else
        AcquireSRWLockExclusive(lock);
    return woken;
}
