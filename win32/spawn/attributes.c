/* SPDX-License-Identifier: MIT */
/* attributes.c - lists of attributes for CreateProcess, of which the list of inherited handles is known. */
#include "win32/spawn/attributes.h"

#include <stdbool.h>

/*
 * InitializeProcThreadAttributeList - makes an empty list in memory of the program.
 * list     out: NULL: says how many octets it needs
 * count    of attributes that it has room for
 * flags    0
 * size     in: of the memory; out: how many octets are needed
 * Returns  FALSE with ERROR_INSUFFICIENT_BUFFER (list NULL or too small), ERROR_INVALID_PARAMETER (flags).
 * Source: InitializeProcThreadAttributeList function (processthreadsapi.h).
 */
BOOL WINAPI InitializeProcThreadAttributeList(
    LPPROC_THREAD_ATTRIBUTE_LIST list, DWORD count, DWORD flags, PSIZE_T size)
{
    const SIZE_T needed = sizeof(*list) + count * sizeof(struct win_attribute);
    const bool fits = list && *size >= needed;

    if (flags) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    *size = needed;
    if (fits) {
        *list = (struct _PROC_THREAD_ATTRIBUTE_LIST){ .most = count };
        return TRUE;
    }
    SetLastError(ERROR_INSUFFICIENT_BUFFER);
    return FALSE;
}

/*
 * UpdateProcThreadAttribute - adds an attribute to a list.
 * flags      0
 * attribute  PROC_THREAD_ATTRIBUTE_HANDLE_LIST: the handles that the process inherits, and no others
 * value      the handles; they stay the program's, and are read by CreateProcess
 * size       of value in octets
 * before     NULL, as is returned_size
 * Returns    FALSE with ERROR_NOT_SUPPORTED (another attribute), ERROR_BAD_LENGTH (no whole handles, or none),
 *            ERROR_GEN_FAILURE (the list is full), ERROR_OBJECT_NAME_EXISTS (it has the attribute),
 *            ERROR_INVALID_PARAMETER (flags).
 * Source: UpdateProcThreadAttribute function (processthreadsapi.h).
 */
BOOL WINAPI UpdateProcThreadAttribute(LPPROC_THREAD_ATTRIBUTE_LIST list, DWORD flags,
    DWORD_PTR attribute, PVOID value, SIZE_T size, PVOID before, PSIZE_T returned_size)
{
    DWORD error = ERROR_SUCCESS;

    if (flags || before || returned_size)
        error = ERROR_INVALID_PARAMETER;
    else if (list->count >= list->most)
        error = ERROR_GEN_FAILURE;
    else if (attribute != PROC_THREAD_ATTRIBUTE_HANDLE_LIST)
        error = ERROR_NOT_SUPPORTED;
    else if (list->mask & 1u << (attribute & 31))
        error = ERROR_OBJECT_NAME_EXISTS;
    else if (!size || size % sizeof(HANDLE))
        error = ERROR_BAD_LENGTH;
    if (error) {
        SetLastError(error);
        return FALSE;
    }
    list->mask |= 1u << (attribute & 31);
    list->attributes[list->count++] = (struct win_attribute){ attribute, size, value };
    return TRUE;
}

/* DeleteProcThreadAttributeList - the end of a list; its memory stays the program's. */
void WINAPI DeleteProcThreadAttributeList(LPPROC_THREAD_ATTRIBUTE_LIST list)
{
    *list = (struct _PROC_THREAD_ATTRIBUTE_LIST){ 0 };
}
