/* SPDX-License-Identifier: MIT */
/* descriptor.c - WinLinuxGetDescriptor. */
#include "winobj/handle.h"

#include <winobj_linux.h>

int WinLinuxGetDescriptor(HANDLE handle)
{
    struct win_object *object = win_handle_pin(handle, NULL);
    int fd = -1;

    if (!object || !object->type->descriptor)
        SetLastError(ERROR_INVALID_HANDLE);
    else if ((fd = object->type->descriptor(object)) < 0)
        SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    if (object)
        win_object_unref(object);
    return fd;
}
