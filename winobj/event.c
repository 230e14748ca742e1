/* SPDX-License-Identifier: MIT */
/* event.c - manual- and auto-reset events. Their state lives here, in user memory; dispatch.c has the waiting. */
#include "winobj/dispatch.h"

#include <stdlib.h>

static void event_destroy(struct win_object *object)
{
    struct win_waitable *event = (struct win_waitable *)object;

    win_waitable_fini(event);
    free(event);
}

static int event_descriptor(struct win_object *object)
{
    return win_waitable_descriptor((struct win_waitable *)object);
}

static void event_forked(struct win_object *object)
{
    win_waitable_forked((struct win_waitable *)object);
}

const struct win_object_type win_event_type = {
    .name = "event",
    .destroy = event_destroy,
    .descriptor = event_descriptor,
    .forked = event_forked,
};

static HANDLE event_create(BOOL manual_reset, BOOL initial_state)
{
    struct win_waitable *event = malloc(sizeof(*event));
    HANDLE handle;

    if (!event) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(event, !manual_reset, initial_state);
    if (!(handle = win_handle_open(&event->object, &win_event_type)))
        free(event);
    else
        SetLastError(ERROR_SUCCESS); /* as on Windows, where it tells new from existing */
    return handle;
}

/*
 * CreateEventA, CreateEventW - a new unnamed event. attributes are ignored (handles are not inherited).
 * Returns NULL with ERROR_NOT_SUPPORTED for a name (no objects are shared between processes), ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCSTR name)
{
    (void)attributes;
    if (name) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return NULL;
    }
    return event_create(manual_reset, initial_state);
}

HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCWSTR name)
{
    (void)attributes;
    if (name) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return NULL;
    }
    return event_create(manual_reset, initial_state);
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
