/* SPDX-License-Identifier: MIT */
/* place.c - where a file stands, its size, its kind, its name: functions on open files. */
#include "win32/files/plain.h"

#include "util/file_size.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static BOOL answer(struct win_file *file, DWORD error)
{
    win_file_unref(file);
    if (!error)
        return TRUE;
    SetLastError(error);
    return FALSE;
}

/*
 * SetFilePointerEx - moves the place of the next transfer without an OVERLAPPED.
 * place    out: from the beginning, in octets; may be NULL
 * from     FILE_BEGIN, FILE_CURRENT, FILE_END
 * Returns  FALSE with ERROR_NEGATIVE_SEEK (before the beginning), ERROR_INVALID_PARAMETER, ERROR_INVALID_HANDLE,
 *          ERROR_INVALID_FUNCTION (a pipe or device).
 */
BOOL WINAPI SetFilePointerEx(
    HANDLE handle, LARGE_INTEGER distance, PLARGE_INTEGER place, DWORD from)
{
    static const int whence[] = { SEEK_SET, SEEK_CUR, SEEK_END };
    struct plain_file *plain;
    struct win_file *file = plain_pin(handle, &plain);
    off_t result;

    if (!file)
        return FALSE;
    if (from > FILE_END)
        return answer(file, ERROR_INVALID_PARAMETER);
    if (plain->type != FILE_TYPE_DISK)
        return answer(file, ERROR_INVALID_FUNCTION);
    if ((result = lseek(plain->fd, (off_t)distance.QuadPart, whence[from])) < 0)
        return answer(file, errno == EINVAL ? ERROR_NEGATIVE_SEEK : files_error(errno));
    if (place)
        place->QuadPart = result;
    return answer(file, ERROR_SUCCESS);
}

/*
 * SetFilePointer - SetFilePointerEx with two halves of 32 bits.
 * high     in, out: the upper half; NULL: low is signed, and a place from 4 GiB on fails
 * Returns  the lower half of the new place. INVALID_SET_FILE_POINTER is an error where GetLastError is not NO_ERROR:
 *          those of SetFilePointerEx; ERROR_INVALID_PARAMETER where the place needs high, and nothing has moved.
 */
DWORD WINAPI SetFilePointer(HANDLE handle, LONG low, PLONG high, DWORD from)
{
    LARGE_INTEGER distance = { .QuadPart = low }, place, before;

    if (high)
        distance.QuadPart = (LONGLONG)((ULONGLONG)(ULONG)*high << 32 | (ULONG)low);
    before.QuadPart = 0;
    if (!SetFilePointerEx(handle, before, &before, FILE_CURRENT) ||
        !SetFilePointerEx(handle, distance, &place, from))
        return INVALID_SET_FILE_POINTER;
    if (!high && place.HighPart) {
        SetFilePointerEx(handle, before, NULL, FILE_BEGIN);
        SetLastError(ERROR_INVALID_PARAMETER);
        return INVALID_SET_FILE_POINTER;
    }
    if (high)
        *high = place.HighPart;
    if (place.LowPart == INVALID_SET_FILE_POINTER)
        SetLastError(NO_ERROR);
    return place.LowPart;
}

/*
 * SetEndOfFile - makes the file end at its current position: truncates it, or extends it with zeros.
 * Returns FALSE with ERROR_ACCESS_DENIED (not opened for writing), ERROR_INVALID_HANDLE, ERROR_INVALID_FUNCTION (no
 * file), ERROR_DISK_FULL.
 */
BOOL WINAPI SetEndOfFile(HANDLE handle)
{
    struct plain_file *plain;
    struct win_file *file = plain_pin(handle, &plain);
    off_t place;

    if (!file)
        return FALSE;
    if (plain->type != FILE_TYPE_DISK)
        return answer(file, ERROR_INVALID_FUNCTION);
    if (!(plain->access & PLAIN_WRITE))
        return answer(file, ERROR_ACCESS_DENIED);
    if ((place = lseek(plain->fd, 0, SEEK_CUR)) < 0)
        return answer(file, files_error(errno));
    return answer(file, files_error(file_resize(plain->fd, place)));
}

/* GetFileSizeEx - *size in octets. FALSE with ERROR_INVALID_HANDLE, ERROR_INVALID_FUNCTION (a pipe or device). */
BOOL WINAPI GetFileSizeEx(HANDLE handle, PLARGE_INTEGER size)
{
    struct plain_file *plain;
    struct win_file *file = plain_pin(handle, &plain);
    struct stat status;

    if (!file)
        return FALSE;
    if (plain->type != FILE_TYPE_DISK)
        return answer(file, ERROR_INVALID_FUNCTION);
    if (fstat(plain->fd, &status))
        return answer(file, files_error(errno));
    size->QuadPart = status.st_size;
    return answer(file, ERROR_SUCCESS);
}

/*
 * GetFileSize - GetFileSizeEx in two halves of 32 bits; high may be NULL. INVALID_FILE_SIZE is an error where
 * GetLastError is not NO_ERROR: those of GetFileSizeEx.
 */
DWORD WINAPI GetFileSize(HANDLE handle, LPDWORD high)
{
    LARGE_INTEGER size;

    if (!GetFileSizeEx(handle, &size))
        return INVALID_FILE_SIZE;
    if (high)
        *high = (DWORD)size.HighPart;
    if (size.LowPart == INVALID_FILE_SIZE)
        SetLastError(NO_ERROR);
    return size.LowPart;
}

/*
 * GetFinalPathNameByHandleA, GetFinalPathNameByHandleW - the path of an open file, in Linux' form.
 * path     out
 * size     room in characters
 * flags    0 (FILE_NAME_NORMALIZED, VOLUME_NAME_DOS)
 * Returns  the length without the end; where path has no room for it the size needed, with the end. 0 with
 *          ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (flags), ERROR_INVALID_FUNCTION (a pipe),
 *          ERROR_FILE_NOT_FOUND (deleted).
 */
DWORD WINAPI GetFinalPathNameByHandleA(HANDLE handle, LPSTR path, DWORD size, DWORD flags)
{
    struct plain_file *plain;
    struct win_file *file = plain_pin(handle, &plain);
    char link[64], found[4096];
    struct stat status;
    ssize_t length;

    if (!file)
        return 0;
    if (flags || plain->type == FILE_TYPE_PIPE) {
        answer(file, flags ? ERROR_INVALID_PARAMETER : ERROR_INVALID_FUNCTION);
        return 0;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", plain->fd);
    length = readlink(link, found, sizeof(found) - 1);
    if (length < 0 || fstat(plain->fd, &status) || !status.st_nlink) {
        answer(file, length < 0 ? files_error(errno) : ERROR_FILE_NOT_FOUND);
        return 0;
    }
    win_file_unref(file);
    if ((size_t)length >= size)
        return (DWORD)length + 1;
    memcpy(path, found, (size_t)length);
    path[length] = 0;
    return (DWORD)length;
}
