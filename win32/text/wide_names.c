/* SPDX-License-Identifier: MIT */
/*
 * wide_names.c - wide forms of the functions that take the name of an event, a mutex or a semaphore; for both widths,
 * as wide.c is.
 */
#include "win32/text/wide_text.h"

#include <stdbool.h>

#define WIDE(function, parameters, ...)                                                            \
    HANDLE WINAPI function##W parameters                                                           \
    {                                                                                              \
        HANDLE handle = NULL;                                                                      \
        char *narrow_name;                                                                         \
                                                                                                   \
        if (wide_narrow(name, &narrow_name))                                                       \
            handle = function##A(__VA_ARGS__);                                                     \
        free(narrow_name);                                                                         \
        return handle;                                                                             \
    }

WIDE(CreateEvent,
    (LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initial_state, LPCWSTR name),
    attributes, manual_reset, initial_state, narrow_name)

WIDE(CreateEventEx, (LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access),
    attributes, narrow_name, flags, access)

WIDE(OpenEvent, (DWORD access, BOOL inherit, LPCWSTR name), access, inherit, narrow_name)

WIDE(CreateMutex, (LPSECURITY_ATTRIBUTES attributes, BOOL owned, LPCWSTR name), attributes, owned,
    narrow_name)

WIDE(CreateMutexEx, (LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access),
    attributes, narrow_name, flags, access)

WIDE(OpenMutex, (DWORD access, BOOL inherit, LPCWSTR name), access, inherit, narrow_name)

WIDE(CreateSemaphore, (LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCWSTR name),
    attributes, units, most, narrow_name)

WIDE(CreateSemaphoreEx,
    (LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCWSTR name, DWORD flags,
        DWORD access),
    attributes, units, most, narrow_name, flags, access)

WIDE(OpenSemaphore, (DWORD access, BOOL inherit, LPCWSTR name), access, inherit, narrow_name)
