/* SPDX-License-Identifier: MIT */
/* open.c - objects into parcels, and out of them (open.h). */
#include "win32/parcels/open.h"

#include "win32/files/plain.h"
#include "winobj/handles/descriptor.h"
#include "win32/memory/memory.h"
#include "win32/names/named.h"
#include "win32/process/process.h"
#include "winobj/requests/remote_port.h"
#include "win32/sockets/object.h"

#include "util/log.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static DWORD carry(struct win_object *object, HANDLE handle, struct win_parcel *parcel)
{
    const DWORD error =
        object->type->carry ? object->type->carry(object, parcel) : ERROR_NOT_SUPPORTED;

    if (error == ERROR_NOT_SUPPORTED)
        log_limited(LOG_WARN, LOG_WIN,
            "DuplicateHandle: another process cannot share the object of handle %#llx (%s): create "
            "events, mutexes and semaphores with a name or with bInheritHandle",
            (unsigned long long)(uintptr_t)handle, object->type->name);
    return error;
}

DWORD win_parcel_pack(HANDLE handle, struct win_parcel *parcel, struct win_object **object)
{
    HANDLE opened = NULL;
    DWORD error;

    *parcel = (struct win_parcel){ .fd = -1, .at = -1 };
    *object = NULL;
    if (handle == GetCurrentThread())
        return ERROR_NOT_SUPPORTED;
    if (handle == GetCurrentProcess() &&
        !(handle = opened = OpenProcess(PROCESS_ALL_ACCESS, FALSE, GetCurrentProcessId())))
        return GetLastError();
    win_descriptor_adopt(handle);
    *object = win_handle_pin(handle, NULL);
    if (opened)
        CloseHandle(opened);
    if (!*object)
        return ERROR_INVALID_HANDLE;
    if ((error = carry(*object, handle, parcel))) {
        win_object_unref(*object);
        *object = NULL;
    }
    return error;
}

static bool has_size(int fd, uint64_t size)
{
    struct stat status;

    return !fstat(fd, &status) && status.st_size >= 0 && (uint64_t)status.st_size >= size;
}

/* The numbers of an object with a name: they go into memory that all processes of the user share. */
static bool is_new(const struct win_parcel *parcel, enum names_kind low, enum names_kind high)
{
    const struct names_new new = win_named_carried(parcel);

    if (parcel->fd >= 0 || !*parcel->name || new.kind < low || new.kind > high || new.count < 0)
        return false;
    if (new.kind == NAMES_SEMAPHORE)
        return new.most > 0 && new.count <= new.most;
    return new.count <= (new.kind == NAMES_MUTEX ? 0 : 1);
}

bool win_parcel_is_sound(const struct win_parcel *parcel)
{
    if (!memchr(parcel->name, 0, sizeof(parcel->name)))
        return false;
    switch ((enum win_parcel_kind)parcel->kind) {
    case WIN_PARCEL_FILE:
        return parcel->fd >= 0 && parcel->numbers[0] <= FILE_TYPE_PIPE &&
               parcel->numbers[3] <= PLAIN_CONSOLE_OUTPUT;
    case WIN_PARCEL_MAPPING: return parcel->fd >= 0 && has_size(parcel->fd, parcel->size);
    case WIN_PARCEL_SOCKET:
    case WIN_PARCEL_PROCESS: return parcel->fd >= 0;
    case WIN_PARCEL_PORT: return win_remote_port_is_sound(parcel);
    case WIN_PARCEL_EVENT: return is_new(parcel, NAMES_EVENT_AUTO, NAMES_EVENT_MANUAL);
    case WIN_PARCEL_MUTEX: return is_new(parcel, NAMES_MUTEX, NAMES_MUTEX);
    case WIN_PARCEL_SEMAPHORE: return is_new(parcel, NAMES_SEMAPHORE, NAMES_SEMAPHORE);
    }
    return false;
}

static HANDLE open_socket(int fd)
{
    win_socket_adopt(fd);
    if (win_descriptor_handle((uintptr_t)fd))
        return (HANDLE)(uintptr_t)(unsigned)fd;
    close(fd);
    SetLastError(ERROR_INVALID_PARAMETER); /* the descriptor is no socket */
    return NULL;
}

HANDLE win_parcel_open(const struct win_parcel *parcel)
{
    HANDLE handle = NULL;

    switch ((enum win_parcel_kind)parcel->kind) {
    case WIN_PARCEL_FILE:
        handle = plain_receive(parcel);
        handle = handle == INVALID_HANDLE_VALUE ? NULL : handle;
        break;
    case WIN_PARCEL_EVENT:
    case WIN_PARCEL_MUTEX:
    case WIN_PARCEL_SEMAPHORE: handle = win_named_receive(parcel); break;
    case WIN_PARCEL_MAPPING: handle = win_mapping_receive(parcel); break;
    case WIN_PARCEL_PROCESS:
        handle = win_process_new(parcel->fd, parcel->numbers[0], parcel->numbers[1], false);
        break;
    case WIN_PARCEL_SOCKET: handle = open_socket(parcel->fd); break;
    case WIN_PARCEL_PORT: handle = win_port_receive(parcel); break;
    }
    if (handle)
        win_handle_set_inherit(handle, false);
    return handle;
}
