/* SPDX-License-Identifier: MIT */
/* event.c - manual- and auto-reset events. Their state is a win_waitable; dispatch.c waits for it. */
#include "winobj/waits/dispatch.h"

#include <stdlib.h>

const struct win_object_type win_event_type = {
    .name = "event",
    .waitable = true,
    .destroy = win_waitable_destroy,
    .descriptor = win_waitable_object_descriptor,
    .forked = win_waitable_object_forked,
};

static HANDLE event_create(bool named, BOOL manual_reset, BOOL initial_state)
{
    struct win_waitable *event = named ? NULL : calloc(1, sizeof(*event));

    if (!event) {
        SetLastError(named ? ERROR_NOT_SUPPORTED : ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(event, manual_reset ? WAITABLE_MANUAL : WAITABLE_AUTO, initial_state);
    return win_waitable_open(event, &win_event_type);
}

/*
 * CreateEventA, CreateEventW - a new unnamed event. attributes are ignored (handles are not inherited).
 * Returns NULL with ERROR_NOT_SUPPORTED for a name (no objects are shared between processes), ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE WINAPI CreateEventA(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCSTR name)
{
    (void)attributes;
    return event_create(name != NULL, manual_reset, initial_state);
}

HANDLE WINAPI CreateEventW(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCWSTR name)
{
    (void)attributes;
    return event_create(name != NULL, manual_reset, initial_state);
}

static HANDLE event_create_ex(bool named, DWORD flags)
{
    if (flags & ~(DWORD)(CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return event_create(
        named, !!(flags & CREATE_EVENT_MANUAL_RESET), !!(flags & CREATE_EVENT_INITIAL_SET));
}

/*
 * CreateEventExA, CreateEventExW - the same by flags; another one is ERROR_INVALID_PARAMETER. A handle has all rights.
 */
HANDLE WINAPI CreateEventExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access)
{
    (void)attributes;
    (void)access;
    return event_create_ex(name != NULL, flags);
}

HANDLE WINAPI CreateEventExW(
    LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access)
{
    (void)attributes;
    (void)access;
    return event_create_ex(name != NULL, flags);
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
