/* SPDX-License-Identifier: MIT */
/* semaphore.c - semaphores: each wait takes one unit. */
#include "winobj/waits/named.h"

#include <stdlib.h>

struct win_semaphore {
    struct win_waitable waitable; /* count: units */
    LONG most;
};

static DWORD semaphore_carry(struct win_object *object, struct win_parcel *parcel)
{
    return win_named_carry((struct win_waitable *)object, WIN_PARCEL_SEMAPHORE, parcel);
}

static const struct win_object_type semaphore_type = {
    .name = "semaphore",
    .waitable = true,
    .destroy = win_waitable_destroy,
    .descriptor = win_waitable_object_descriptor,
    .forked = win_waitable_object_forked,
    .carry = semaphore_carry,
};

static HANDLE semaphore_make(const struct names_new *make, const char *name, bool create)
{
    struct win_semaphore *semaphore = calloc(1, sizeof(*semaphore));

    if (!semaphore) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(&semaphore->waitable, WAITABLE_COUNT, make->count > 0);
    semaphore->waitable.count = make->count;
    semaphore->most = make->most;
    if (!name)
        return win_waitable_open(&semaphore->waitable, &semaphore_type);
    return win_named_open(&semaphore->waitable, &semaphore_type, name, make, create);
}

HANDLE win_semaphore_receive(const struct win_parcel *parcel)
{
    const struct names_new make = win_named_carried(parcel);

    return semaphore_make(&make, parcel->name, true);
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
    struct win_chosen_name chosen;

    (void)access;
    if (flags || most <= 0 || units < 0 || units > most) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    win_named_choose(&chosen, name, attributes);
    return win_handle_attribute(
        semaphore_make(
            &(struct names_new){
                .kind = NAMES_SEMAPHORE, .count = units, .most = most, .exact = chosen.exact },
            chosen.name, true),
        attributes);
}

HANDLE WINAPI CreateSemaphoreA(LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCSTR name)
{
    return CreateSemaphoreExA(attributes, units, most, name, 0, 0);
}

/*
 * OpenSemaphoreA, OpenSemaphoreW - opens the semaphore of a name. A handle has all rights; inherit: CreateProcess may
 * hand it on.
 * Returns NULL as OpenMutexA does. Any thread.
 * Source: OpenSemaphoreW function (synchapi.h).
 */
HANDLE WINAPI OpenSemaphoreA(DWORD access, BOOL inherit, LPCSTR name)
{
    (void)access;
    if (name)
        return win_handle_attribute(
            semaphore_make(&(struct names_new){ .kind = NAMES_SEMAPHORE, .most = 1 }, name, false),
            &(SECURITY_ATTRIBUTES){ .bInheritHandle = inherit });
    SetLastError(ERROR_INVALID_PARAMETER);
    return NULL;
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
    semaphore = (struct win_waitable *)win_handle_pin(handle, &semaphore_type);
    if (!semaphore) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    if (semaphore->name < 0)
        win_waitable_change(semaphore, release, &request);
    else
        request.done = !win_named_signal(semaphore, units, &request.before);
    win_object_unref(&semaphore->object);
    if (!request.done) {
        SetLastError(ERROR_TOO_MANY_POSTS);
        return FALSE;
    }
    if (before)
        *before = request.before;
    return TRUE;
}
