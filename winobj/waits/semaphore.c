/* SPDX-License-Identifier: MIT */
/* semaphore.c - semaphores: each wait takes one unit. */
#include "winobj/waits/dispatch.h"

#include <stdlib.h>

struct win_semaphore {
    struct win_waitable waitable; /* count: units */
    LONG most;
};

static const struct win_object_type semaphore_type = {
    .name = "semaphore",
    .waitable = true,
    .destroy = win_waitable_destroy,
    .descriptor = win_waitable_object_descriptor,
    .forked = win_waitable_object_forked,
};

static HANDLE semaphore_create(bool named, LONG units, LONG most, DWORD flags)
{
    struct win_semaphore *semaphore;

    if (named) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return NULL;
    }
    if (flags || most <= 0 || units < 0 || units > most) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    if (!(semaphore = calloc(1, sizeof(*semaphore)))) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(&semaphore->waitable, WAITABLE_COUNT, units > 0);
    semaphore->waitable.count = units;
    semaphore->most = most;
    return win_waitable_open(&semaphore->waitable, &semaphore_type);
}

/*
 * CreateSemaphoreA, CreateSemaphoreW, CreateSemaphoreExA, CreateSemaphoreExW - a new unnamed semaphore. attributes are
 * ignored (handles are not inherited), a handle has all rights.
 * units    how many it has at the beginning
 * most     how many it can have
 * flags    0
 * Returns  NULL with ERROR_INVALID_PARAMETER (units out of 0..most, most below 1, flags), ERROR_NOT_SUPPORTED for a
 *          name, ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE WINAPI CreateSemaphoreA(LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCSTR name)
{
    (void)attributes;
    return semaphore_create(name != NULL, units, most, 0);
}

HANDLE WINAPI CreateSemaphoreW(
    LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCWSTR name)
{
    (void)attributes;
    return semaphore_create(name != NULL, units, most, 0);
}

HANDLE WINAPI CreateSemaphoreExA(
    LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCSTR name, DWORD flags, DWORD access)
{
    (void)attributes;
    (void)access;
    return semaphore_create(name != NULL, units, most, flags);
}

HANDLE WINAPI CreateSemaphoreExW(LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most,
    LPCWSTR name, DWORD flags, DWORD access)
{
    (void)attributes;
    (void)access;
    return semaphore_create(name != NULL, units, most, flags);
}

struct release {
    LONG units, before;
    bool done;
};

static bool release(struct win_waitable *waitable, void *argument)
{
    const struct win_semaphore *semaphore = (struct win_semaphore *)waitable;
    struct release *release = argument;

    release->before = waitable->count;
    release->done = release->units <= semaphore->most - waitable->count;
    if (release->done)
        waitable->count += release->units;
    return waitable->count > 0;
}

/*
 * ReleaseSemaphore - adds units; threads that wait take them first.
 * before   out: the units it had before, or NULL
 * Returns  FALSE with ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (units below 1), ERROR_TOO_MANY_POSTS (it would
 *          have more than it can; nothing changes).
 */
BOOL WINAPI ReleaseSemaphore(HANDLE handle, LONG units, LPLONG before)
{
    struct release request = { .units = units };

    if (units <= 0) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!win_handle_change(handle, &semaphore_type, release, &request))
        return FALSE;
    if (!request.done) {
        SetLastError(ERROR_TOO_MANY_POSTS);
        return FALSE;
    }
    if (before)
        *before = request.before;
    return TRUE;
}
