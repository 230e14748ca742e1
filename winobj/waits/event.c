/* SPDX-License-Identifier: MIT */
/* event.c - manual- and auto-reset events. Their state is a win_waitable; dispatch.c waits for it. */
#include "winobj/waits/named.h"

#include <stdlib.h>

const struct win_object_type win_event_type = {
    .name = "event",
    .waitable = true,
    .destroy = win_waitable_destroy,
    .descriptor = win_waitable_object_descriptor,
    .forked = win_waitable_object_forked,
    .carry = win_waitable_carry,
};

struct win_waitable *win_event_new(bool manual_reset, bool signalled)
{
    struct win_waitable *event = calloc(1, sizeof(*event));

    if (event)
        win_waitable_init(event, manual_reset ? WAITABLE_MANUAL : WAITABLE_AUTO, signalled);
    else
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return event;
}

/*
 * CreateEventA, CreateEventW - a new event, or the one that has the name, which stays as it is. Of attributes
 * bInheritHandle counts: CreateProcess may hand the handle on; such an event is in shared memory, like those with
 * names.
 * name     as CreateMutexA
 * Returns  a handle, with the last error ERROR_SUCCESS, or ERROR_ALREADY_EXISTS if the name existed; NULL with
 *          ERROR_INVALID_HANDLE (a semaphore or a mutex has the name), ERROR_NOT_ENOUGH_MEMORY, or an error of
 *          names_open. Any thread.
 * Source: CreateEventA function (synchapi.h).
 */
HANDLE WINAPI CreateEventA(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCSTR name)
{
    struct win_waitable *event = win_event_new(manual_reset, initial_state);

    return event ? win_waitable_create(event, &win_event_type,
                       &(struct win_named_new){ .name = name, .attributes = attributes })
                 : NULL;
}

/*
 * CreateEventExA, CreateEventExW - CreateEvent by flags; another flag is ERROR_INVALID_PARAMETER. A handle has all
 * rights.
 */
HANDLE WINAPI CreateEventExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access)
{
    (void)access;
    if (flags & ~(DWORD)(CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return CreateEventA(attributes, !!(flags & CREATE_EVENT_MANUAL_RESET),
        !!(flags & CREATE_EVENT_INITIAL_SET), name);
}

static BOOL event_apply(HANDLE handle, void (*apply)(struct win_waitable *))
{
    struct win_object *object = win_handle_pin(handle, &win_event_type);

    if (!object) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    apply((struct win_waitable *)object);
    win_object_unref(object);
    return TRUE;
}

/* SetEvent, ResetEvent - FALSE with ERROR_INVALID_HANDLE for anything but an open event. */
BOOL WINAPI SetEvent(HANDLE event)
{
    return event_apply(event, win_waitable_set);
}

BOOL WINAPI ResetEvent(HANDLE event)
{
    return event_apply(event, win_waitable_reset);
}
