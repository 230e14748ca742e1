/* SPDX-License-Identifier: MIT */
/* error.c - what an errno of a file's call is on Windows. */
#include "win32/files/plain.h"

#include <errno.h>
#include <ntstatus.h>

DWORD files_error(int error)
{
    switch (error < 0 ? -error : error) {
    case 0: return ERROR_SUCCESS;
    case ENOENT: return ERROR_FILE_NOT_FOUND;
    case ENOTDIR:
    case ELOOP: return ERROR_PATH_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ETXTBSY:
    case EBADF: return ERROR_ACCESS_DENIED;
    case EEXIST: return ERROR_FILE_EXISTS;
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case ENOMEM: return ERROR_NOT_ENOUGH_MEMORY;
    case EAGAIN: return ERROR_NO_SYSTEM_RESOURCES; /* a limit of processes, threads or locks */
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return ERROR_DISK_FULL;
    case EPIPE: return ERROR_NO_DATA;
    case EFAULT: return ERROR_NOACCESS;
    case EINVAL: return ERROR_INVALID_PARAMETER;
    case ENAMETOOLONG: return ERROR_FILENAME_EXCED_RANGE;
    case ENXIO:
    case ENODEV: return ERROR_FILE_NOT_FOUND;
    case ESPIPE: return ERROR_INVALID_FUNCTION;
    case EIO: return ERROR_IO_DEVICE;
    default: return ERROR_GEN_FAILURE;
    }
}

LONG files_status(int error)
{
    const DWORD code = files_error(error);

    switch (code) {
    case ERROR_SUCCESS: return STATUS_SUCCESS;
    case ERROR_ACCESS_DENIED: return STATUS_ACCESS_DENIED;
    case ERROR_NOT_ENOUGH_MEMORY: return STATUS_NO_MEMORY;
    case ERROR_NOACCESS: return STATUS_ACCESS_VIOLATION;
    case ERROR_INVALID_PARAMETER: return STATUS_INVALID_PARAMETER;
    case ERROR_IO_DEVICE: return STATUS_IO_DEVICE_ERROR;
    default: return (LONG)(0xc0010000u | code); /* what NTSTATUS_FROM_WIN32 makes of it */
    }
}
