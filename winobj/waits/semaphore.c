/* SPDX-License-Identifier: MIT */
/* semaphore.c - semaphores: each wait takes one unit. */
#include "winobj/waits/named.h"

#include <stdlib.h>

struct win_semaphore {
    struct win_waitable waitable; /* count: units */
    LONG most;
};

const struct win_object_type win_semaphore_type = {
    .name = "semaphore",
    .waitable = true,
    .destroy = win_waitable_destroy,
    .descriptor = win_waitable_object_descriptor,
    .forked = win_waitable_object_forked,
    .carry = win_waitable_carry,
};

struct win_waitable *win_semaphore_new(LONG count, LONG most)
{
    struct win_semaphore *semaphore = calloc(1, sizeof(*semaphore));

    if (!semaphore) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(&semaphore->waitable, WAITABLE_COUNT, count > 0);
    semaphore->waitable.count = count;
    semaphore->most = most;
    return &semaphore->waitable;
}

/*
 * CreateSemaphoreA, CreateSemaphoreW, CreateSemaphoreExA, CreateSemaphoreExW - a new semaphore, or the one that has the
 * name. attributes as in CreateEventA. A handle has all rights.
 * units    how many a new one has at the beginning
 * most     how many it can have
 * name     as CreateMutexA
 * flags    0
 * Returns  a handle, with the last error ERROR_SUCCESS, or ERROR_ALREADY_EXISTS if the name existed; NULL with
 *          ERROR_INVALID_PARAMETER (units out of 0..most, most below 1, flags), ERROR_INVALID_HANDLE (an event or a
 *          mutex has the name), ERROR_NOT_ENOUGH_MEMORY, or an error of names_open. Any thread.
 * Source: CreateSemaphoreA function (winbase.h).
 */
HANDLE WINAPI CreateSemaphoreExA(
    LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCSTR name, DWORD flags, DWORD access)
{
    struct win_waitable *semaphore;

    (void)access;
    if (flags || most <= 0 || units < 0 || units > most) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    if (!(semaphore = win_semaphore_new(units, most)))
        return NULL;
    return win_waitable_create(semaphore, &win_semaphore_type,
        &(struct win_named_new){ .name = name, .attributes = attributes, .most = most });
}

HANDLE WINAPI CreateSemaphoreA(LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCSTR name)
{
    return CreateSemaphoreExA(attributes, units, most, name, 0, 0);
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
    struct win_waitable *semaphore;

    if (units <= 0) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    semaphore = (struct win_waitable *)win_handle_pin(handle, &win_semaphore_type);
    if (!semaphore) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    if (semaphore->name < 0)
        win_waitable_change(semaphore, release, &request);
    else
        request.done = !win_named->signal(semaphore, units, &request.before);
    win_object_unref(&semaphore->object);
    if (!request.done) {
        SetLastError(ERROR_TOO_MANY_POSTS);
        return FALSE;
    }
    if (before)
        *before = request.before;
    return TRUE;
}
