/* SPDX-License-Identifier: MIT */
/* attributes.c - attributes, times and sizes of files, by name and by handle. */
#include "win32/files/attributes.h"

#include "win32/files/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

DWORD attributes_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return FILE_ATTRIBUTE_DIRECTORY;
    return FILE_ATTRIBUTE_ARCHIVE | (mode & 0222 ? 0 : FILE_ATTRIBUTE_READONLY);
}

/* Converts Unix time to FILETIME, which counts 100 ns since 1601. */
static FILETIME filetime_of(int64_t seconds, uint32_t nanoseconds)
{
    const int64_t from_1601_to_1970 = 11644473600;
    const uint64_t steps = (uint64_t)(seconds + from_1601_to_1970) * 10000000 + nanoseconds / 100;

    return (FILETIME){ (DWORD)steps, (DWORD)(steps >> 32) };
}

/* The time of creation; the last write's if the file system or the C library does not report one. */
static FILETIME creation_of(int folder, const char *path, int flags, FILETIME written)
{
#ifdef STATX_BTIME
    struct statx told;

    if (!statx(folder, path, flags, STATX_BTIME, &told) && told.stx_mask & STATX_BTIME)
        return filetime_of(told.stx_btime.tv_sec, told.stx_btime.tv_nsec);
#else
    (void)folder, (void)path, (void)flags;
#endif
    return written;
}

int attributes_read(
    int folder, const char *path, int flags, WIN32_FILE_ATTRIBUTE_DATA *data, struct stat *status)
{
    struct stat found, *told = status ? status : &found;

    if (fstatat(folder, path, told, flags))
        return errno;
    data->dwFileAttributes = attributes_of(told->st_mode);
    data->ftLastAccessTime = filetime_of(told->st_atim.tv_sec, (uint32_t)told->st_atim.tv_nsec);
    data->ftLastWriteTime = filetime_of(told->st_mtim.tv_sec, (uint32_t)told->st_mtim.tv_nsec);
    data->ftCreationTime = creation_of(folder, path, flags, data->ftLastWriteTime);
    data->nFileSizeHigh = S_ISDIR(told->st_mode) ? 0 : (DWORD)((uint64_t)told->st_size >> 32);
    data->nFileSizeLow = S_ISDIR(told->st_mode) ? 0 : (DWORD)told->st_size;
    return 0;
}

static BOOL answer(DWORD error)
{
    if (!error)
        return TRUE;
    SetLastError(error);
    return FALSE;
}

/*
 * GetFileAttributesA, GetFileAttributesW - FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_READONLY (no user may write it), or
 * FILE_ATTRIBUTE_ARCHIVE of an ordinary file. INVALID_FILE_ATTRIBUTES with ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND,
 * ERROR_ACCESS_DENIED, ERROR_NOT_ENOUGH_MEMORY.
 */
DWORD WINAPI GetFileAttributesA(LPCSTR name)
{
    WIN32_FILE_ATTRIBUTE_DATA data;

    return GetFileAttributesExA(name, GetFileExInfoStandard, &data) ? data.dwFileAttributes
                                                                    : INVALID_FILE_ATTRIBUTES;
}

/*
 * GetFileAttributesExA, GetFileAttributesExW - attributes, times and size of a file or folder.
 * level    GetFileExInfoStandard
 * data     [out] a WIN32_FILE_ATTRIBUTE_DATA; a folder's size is 0
 * Returns  FALSE with the errors of GetFileAttributes; ERROR_INVALID_PARAMETER (level). Any thread.
 * Source: GetFileAttributesExA function (fileapi.h).
 */
BOOL WINAPI GetFileAttributesExA(LPCSTR name, GET_FILEEX_INFO_LEVELS level, LPVOID data)
{
    DWORD error = ERROR_SUCCESS;
    char *path;
    int code;

    if (level != GetFileExInfoStandard)
        return answer(ERROR_INVALID_PARAMETER);
    if (!(path = files_path(name)))
        return FALSE;
    if ((code = attributes_read(AT_FDCWD, path, 0, data, NULL)))
        error = files_path_error(path, code);
    free(path);
    return answer(error);
}

/* A Win32 error. A folder's attribute has no effect on Windows either. */
static DWORD set_attributes(const char *path, DWORD attributes)
{
    struct stat status;
    mode_t mode;

    if (stat(path, &status))
        return files_path_error(path, errno);
    if (S_ISDIR(status.st_mode))
        return ERROR_SUCCESS;
    if (attributes & FILE_ATTRIBUTE_DIRECTORY)
        return ERROR_INVALID_PARAMETER;
    mode = attributes & FILE_ATTRIBUTE_READONLY ? status.st_mode & ~(mode_t)0222
           : status.st_mode & 0222              ? status.st_mode
                                                : status.st_mode | 0200;
    return mode != status.st_mode && chmod(path, mode & 07777) ? files_error(errno) : ERROR_SUCCESS;
}

/*
 * SetFileAttributesA, SetFileAttributesW - makes a file read-only for all users, or writable by its owner.
 * attributes  FILE_ATTRIBUTE_READONLY or not; the others have no effect, on a folder none has
 * Returns     FALSE with the errors of GetFileAttributes; ERROR_ACCESS_DENIED (the file of another user);
 *             ERROR_INVALID_PARAMETER (FILE_ATTRIBUTE_DIRECTORY of a file). Any thread.
 * Source: SetFileAttributesA function (fileapi.h).
 */
BOOL WINAPI SetFileAttributesA(LPCSTR name, DWORD attributes)
{
    char *path = files_path(name);
    DWORD error;

    if (!path)
        return FALSE;
    error = set_attributes(path, attributes);
    free(path);
    return answer(error);
}

/*
 * GetFileInformationByHandle - attributes, times, size, and what tells a file from others: its volume and index.
 * Returns FALSE with ERROR_INVALID_HANDLE, ERROR_INVALID_FUNCTION (a pipe or a device). Any thread.
 * Source: GetFileInformationByHandle function (fileapi.h).
 */
BOOL WINAPI GetFileInformationByHandle(HANDLE handle, LPBY_HANDLE_FILE_INFORMATION information)
{
    struct plain_file *plain;
    struct win_file *file = plain_pin(handle, &plain);
    WIN32_FILE_ATTRIBUTE_DATA data;
    DWORD error = ERROR_INVALID_FUNCTION;
    struct stat status;

    if (!file)
        return FALSE;
    if (plain->type == FILE_TYPE_DISK)
        error = files_error(attributes_read(plain->fd, "", AT_EMPTY_PATH, &data, &status));
    win_file_unref(file);
    if (error)
        return answer(error);
    *information = (BY_HANDLE_FILE_INFORMATION){
        .dwFileAttributes = data.dwFileAttributes,
        .ftCreationTime = data.ftCreationTime,
        .ftLastAccessTime = data.ftLastAccessTime,
        .ftLastWriteTime = data.ftLastWriteTime,
        .dwVolumeSerialNumber = (DWORD)status.st_dev,
        .nFileSizeHigh = data.nFileSizeHigh,
        .nFileSizeLow = data.nFileSizeLow,
        .nNumberOfLinks = (DWORD)status.st_nlink,
        .nFileIndexHigh = (DWORD)((uint64_t)status.st_ino >> 32),
        .nFileIndexLow = (DWORD)status.st_ino,
    };
    return TRUE;
}
