/* SPDX-License-Identifier: MIT */
/*
 * once.c - one-time initialisation: one word of Windows' size. Its two low bits are the state, the rest is the context.
 * So the two low bits of a context are 0.
 */
#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ONCE_NEW, ONCE_RUNNING, ONCE_DONE, ONCE_RACING, ONCE_STATE = 3 };

typedef _Atomic uintptr_t once_word;

static once_word *word_of(LPINIT_ONCE once)
{
    C_ASSERT(sizeof(once_word) == sizeof(INIT_ONCE));
    return (once_word *)once;
}

static BOOL fail(DWORD error)
{
    SetLastError(error);
    return FALSE;
}

static void give_context(uintptr_t word, LPVOID *context)
{
    if (context)
        *context = (LPVOID)(word & ~(uintptr_t)ONCE_STATE);
}

/* InitOnceInitialize - does what INIT_ONCE_STATIC_INIT does. */
void WINAPI InitOnceInitialize(PINIT_ONCE once)
{
    once->Ptr = NULL;
}

/*
 * InitOnceBeginInitialize - asks whether the initialisation is done; if not, the caller does it.
 * flags    0: one thread initialises, the others wait; INIT_ONCE_ASYNC: any number may, one of them wins;
 *          INIT_ONCE_CHECK_ONLY: never waits, never begins
 * pending  out: FALSE: done, context holds; TRUE: the caller initialises and calls InitOnceComplete. Left alone where
 *          this fails
 * Returns  FALSE with ERROR_INVALID_PARAMETER (both flags, another flag, both kinds of call mixed); with
 *          ERROR_GEN_FAILURE for a check only, where it is not done.
 */
BOOL WINAPI InitOnceBeginInitialize(LPINIT_ONCE once, DWORD flags, PBOOL pending, LPVOID *context)
{
    uintptr_t word = atomic_load_explicit(word_of(once), memory_order_acquire), begun;

    if (flags & INIT_ONCE_CHECK_ONLY) {
        if (flags != INIT_ONCE_CHECK_ONLY)
            return fail(ERROR_INVALID_PARAMETER);
        if ((word & ONCE_STATE) != ONCE_DONE)
            return fail(ERROR_GEN_FAILURE);
        *pending = FALSE;
        give_context(word, context);
        return TRUE;
    }
    if (flags & ~(DWORD)INIT_ONCE_ASYNC)
        return fail(ERROR_INVALID_PARAMETER);
    begun = flags ? ONCE_RACING : ONCE_RUNNING;
    for (;;) {
        switch (word & ONCE_STATE) {
        case ONCE_DONE:
            *pending = FALSE;
            give_context(word, context);
            return TRUE;
        case ONCE_NEW:
            if (!atomic_compare_exchange_strong_explicit(
                    word_of(once), &word, begun, memory_order_acquire, memory_order_acquire))
                break;
            *pending = TRUE;
            return TRUE;
        default:
            if ((word & ONCE_STATE) != begun)
                return fail(ERROR_INVALID_PARAMETER);
            if (begun == ONCE_RACING) {
                *pending = TRUE;
                return TRUE;
            }
            WaitOnAddress(once, &word, sizeof(word), INFINITE);
            word = atomic_load_explicit(word_of(once), memory_order_acquire);
        }
    }
}

/*
 * InitOnceComplete - ends what InitOnceBeginInitialize began.
 * flags    0 or INIT_ONCE_ASYNC, as at the beginning; INIT_ONCE_INIT_FAILED (not with ASYNC): the next thread begins
 *          anew
 * context  for all callers; its two low bits must be 0; NULL with INIT_ONCE_INIT_FAILED
 * Returns  FALSE with ERROR_INVALID_PARAMETER (flags, context; begun with INIT_ONCE_ASYNC and ended without),
 *          ERROR_GEN_FAILURE (not begun; another thread won). What was begun without INIT_ONCE_ASYNC may end with it.
 */
BOOL WINAPI InitOnceComplete(LPINIT_ONCE once, DWORD flags, LPVOID context)
{
    const bool async = flags & INIT_ONCE_ASYNC;
    uintptr_t begun = atomic_load_explicit(word_of(once), memory_order_relaxed);
    uintptr_t result = flags & INIT_ONCE_INIT_FAILED ? ONCE_NEW : (uintptr_t)context | ONCE_DONE;

    if ((flags & ~(DWORD)(INIT_ONCE_ASYNC | INIT_ONCE_INIT_FAILED)) ||
        flags == (INIT_ONCE_ASYNC | INIT_ONCE_INIT_FAILED) || ((uintptr_t)context & ONCE_STATE) ||
        ((flags & INIT_ONCE_INIT_FAILED) && context) ||
        ((begun & ONCE_STATE) == ONCE_RACING && !async))
        return fail(ERROR_INVALID_PARAMETER);
    if (((begun & ONCE_STATE) != ONCE_RUNNING && (begun & ONCE_STATE) != ONCE_RACING) ||
        !atomic_compare_exchange_strong_explicit(
            word_of(once), &begun, result, memory_order_release, memory_order_relaxed))
        return fail(ERROR_GEN_FAILURE);
    WakeByAddressAll(once);
    return TRUE;
}

/*
 * InitOnceExecuteOnce - calls a function once; all other callers wait until it returns.
 * context  [in, out] where the function stores the context, which other callers get; NULL: a place of this call's
 * Returns  FALSE where the function does; the next caller then calls it again.
 */
BOOL WINAPI InitOnceExecuteOnce(
    PINIT_ONCE once, PINIT_ONCE_FN function, PVOID parameter, LPVOID *context)
{
    LPVOID own = NULL, *place = context ? context : &own;
    BOOL pending;

    if (!InitOnceBeginInitialize(once, 0, &pending, context))
        return FALSE;
    if (!pending)
        return TRUE;
    if (!function(once, parameter, place)) {
        InitOnceComplete(once, INIT_ONCE_INIT_FAILED, NULL);
        return FALSE;
    }
    return InitOnceComplete(once, 0, *place);
}
