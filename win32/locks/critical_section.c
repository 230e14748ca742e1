/* SPDX-License-Identifier: MIT */
/*
 * critical_section.c - critical sections: recursive locks in Windows' 40 bytes.
 *
 * The address of a thread-local variable identifies the thread inside; it stays the same over a fork.
 */
#include <windows.h>

#include "util/futex.h"

#include <stdbool.h>

enum { FREE, TAKEN, SLEEPERS }; /* SLEEPERS: taken, and a thread may sleep on the word */
enum { SPINS = 100 };           /* programs are inside briefly */

struct section {
    _Atomic uint32_t word;
    uint32_t depth; /* how often the owner has entered; the owner's alone */
    _Atomic uintptr_t owner;
    uintptr_t unused[3];
};

C_ASSERT(sizeof(struct section) == 40 && sizeof(struct section) == sizeof(CRITICAL_SECTION));

static _Thread_local char self;

static struct section *section_of(LPCRITICAL_SECTION section)
{
    return (struct section *)section;
}

/* A racing entry of another thread does not matter: either value differs from this thread's. */
static bool is_inside(struct section *section)
{
    return atomic_load_explicit(&section->owner, memory_order_relaxed) == (uintptr_t)&self;
}

static bool take(struct section *section)
{
    uint32_t expected = FREE;

    return atomic_compare_exchange_strong_explicit(
        &section->word, &expected, TAKEN, memory_order_acquire, memory_order_relaxed);
}

static void enter(struct section *section)
{
    atomic_store_explicit(&section->owner, (uintptr_t)&self, memory_order_relaxed);
    section->depth = 1;
}

/* InitializeCriticalSection - makes a section; cannot fail on Linux. It must not be in use. */
void WINAPI InitializeCriticalSection(LPCRITICAL_SECTION section)
{
    *section_of(section) = (struct section){ 0 };
}

/* Ignores the spin count, which is a hint. TRUE. */
BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD spin_count)
{
    (void)spin_count;
    InitializeCriticalSection(section);
    return TRUE;
}

/* Also FALSE with ERROR_INVALID_PARAMETER for a flag other than CRITICAL_SECTION_NO_DEBUG_INFO. */
BOOL WINAPI InitializeCriticalSectionEx(LPCRITICAL_SECTION section, DWORD spin_count, DWORD flags)
{
    if (flags & ~(DWORD)CRITICAL_SECTION_NO_DEBUG_INFO) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    return InitializeCriticalSectionAndSpinCount(section, spin_count);
}

/* EnterCriticalSection - waits until no other thread is inside; a thread may enter several times. */
void WINAPI EnterCriticalSection(LPCRITICAL_SECTION section)
{
    struct section *it = section_of(section);

    if (!take(it)) {
        if (is_inside(it)) {
            it->depth++;
            return;
        }
        for (int i = 0; i < SPINS; i++) {
            if (atomic_load_explicit(&it->word, memory_order_relaxed) == FREE && take(it)) {
                enter(it);
                return;
            }
            YieldProcessor();
        }
        while (atomic_exchange_explicit(&it->word, SLEEPERS, memory_order_acquire) != FREE)
            futex_wait(&it->word, SLEEPERS, NULL);
    }
    enter(it);
}

/* TryEnterCriticalSection - FALSE: another thread is inside. */
BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION section)
{
    struct section *it = section_of(section);

    if (take(it))
        enter(it);
    else if (is_inside(it))
        it->depth++;
    else
        return FALSE;
    return TRUE;
}

/*
 * LeaveCriticalSection - undoes one EnterCriticalSection. Only the thread that is inside may call it; from others it
 * does nothing.
 */
void WINAPI LeaveCriticalSection(LPCRITICAL_SECTION section)
{
    struct section *it = section_of(section);

    if (!is_inside(it) || --it->depth > 0)
        return;
    atomic_store_explicit(&it->owner, 0, memory_order_relaxed);
    if (atomic_exchange_explicit(&it->word, FREE, memory_order_release) == SLEEPERS)
        futex_wake(&it->word, 1);
}

/* DeleteCriticalSection - ends a section. No thread may be inside or enter again. */
void WINAPI DeleteCriticalSection(LPCRITICAL_SECTION section)
{
    (void)section;
}
