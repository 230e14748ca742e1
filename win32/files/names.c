/* SPDX-License-Identifier: MIT */
/* names.c - functions on files by their names: deleting, copying, names for temporary ones. */
#include "win32/files/plain.h"

#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A Win32 error. If this user cannot open the file, the user has no open handle of it either. */
static DWORD delete_path(const char *path)
{
    struct stat status;
    bool deletable = true;
    int fd;

    if (stat(path, &status))
        return files_path_error(path, errno);
    if (S_ISDIR(status.st_mode) || !(status.st_mode & 0222))
        return ERROR_ACCESS_DENIED;
    if (S_ISREG(status.st_mode) && (fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0) {
        deletable = share_deletable(fd);
        close(fd);
    }
    if (!deletable)
        return ERROR_SHARING_VIOLATION;
    return unlink(path) ? files_path_error(path, errno) : ERROR_SUCCESS;
}

static BOOL answer(DWORD error)
{
    if (!error)
        return TRUE;
    SetLastError(error);
    return FALSE;
}

/*
 * DeleteFileA, DeleteFileW - deletes a file; open handles of it go on working, and its name is free at once.
 * Returns FALSE with ERROR_FILE_NOT_FOUND, ERROR_ACCESS_DENIED (a directory; a read-only file),
 * ERROR_SHARING_VIOLATION (open without FILE_SHARE_DELETE), ERROR_PATH_NOT_FOUND, ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL WINAPI DeleteFileA(LPCSTR name)
{
    char *path = files_path(name);
    DWORD error;

    if (!path)
        return FALSE;
    error = delete_path(path);
    free(path);
    return answer(error);
}

static DWORD copy_octets(HANDLE from, HANDLE to)
{
    enum { ROOM = 65536 };
    char *buffer = malloc(ROOM);
    DWORD error = buffer ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY, got, put;

    while (!error) {
        if (!ReadFile(from, buffer, ROOM, &got, NULL))
            error = GetLastError();
        else if (!got)
            break;
        else if (!WriteFile(to, buffer, got, &put, NULL))
            error = GetLastError();
    }
    free(buffer);
    return error;
}

/*
 * CopyFileA, CopyFileW - copies a file's octets.
 * fail_if_exists  TRUE: a file that exists is left alone
 * Returns         FALSE with ERROR_FILE_EXISTS, or the codes of CreateFile, ReadFile and WriteFile. A copy that fails
 *                 on the way is left behind.
 */
BOOL WINAPI CopyFileA(LPCSTR from, LPCSTR to, BOOL fail_if_exists)
{
    HANDLE source, copy;
    DWORD error;

    source = CreateFileA(
        from, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    if (source == INVALID_HANDLE_VALUE)
        return FALSE;
    copy = CreateFileA(
        to, GENERIC_WRITE, 0, NULL, fail_if_exists ? CREATE_NEW : CREATE_ALWAYS, 0, NULL);
    error = copy == INVALID_HANDLE_VALUE ? GetLastError() : copy_octets(source, copy);
    if (copy != INVALID_HANDLE_VALUE)
        CloseHandle(copy);
    CloseHandle(source);
    return answer(error);
}

/* Writes FOLDER/PREuuuu.TMP. False: it is longer than MAX_PATH. */
static bool temp_name(char name[MAX_PATH], const char *folder, const char *prefix, unsigned number)
{
    const char *slash = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
    int length = snprintf(name, MAX_PATH, "%s%s%.3s%x.TMP", folder, slash, prefix, number);

    return length > 0 && length < MAX_PATH;
}

/* Makes the first name that is free. Its number; 0 with *error. */
static UINT temp_make(const char *folder, const char *prefix, char name[MAX_PATH], DWORD *error)
{
    unsigned first = (unsigned)(clock_now_ns() >> 10) ^ (unsigned)getpid();

    for (unsigned i = 0; i < 65535; i++) {
        unsigned number = (first + i) % 65535 + 1;
        int fd;

        if (!temp_name(name, folder, prefix, number)) {
            *error = ERROR_BUFFER_OVERFLOW;
            return 0;
        }
        if ((fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600)) >= 0) {
            close(fd);
            return number;
        }
        if (errno != EEXIST)
            break;
    }
    *error = errno == ENOENT || errno == ENOTDIR ? ERROR_DIRECTORY : files_error(errno);
    return 0;
}

/*
 * GetTempFileNameA, GetTempFileNameW - a name in a folder: at most three characters of prefix, a number, ".TMP".
 * unique   0: makes an empty file of a number that is free; else its low 16 bits are the number, and no file is made
 * name     out: MAX_PATH characters
 * Returns  the number; 0 with ERROR_DIRECTORY (no such folder), ERROR_BUFFER_OVERFLOW (longer than MAX_PATH),
 *          ERROR_ACCESS_DENIED, ERROR_FILE_EXISTS (no number is free), ERROR_INVALID_PARAMETER,
 *          ERROR_NOT_ENOUGH_MEMORY.
 */
UINT WINAPI GetTempFileNameA(LPCSTR folder, LPCSTR prefix, UINT unique, LPSTR name)
{
    UINT number = unique & 0xffff;
    DWORD error = 0;
    char *path;

    if (!folder || !name) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    if (!(path = files_path(folder)))
        return 0;
    prefix = prefix ? prefix : "";
    if (!number)
        number = temp_make(path, prefix, name, &error);
    else if (!temp_name(name, path, prefix, number))
        error = ERROR_BUFFER_OVERFLOW;
    free(path);
    if (!error)
        return number;
    SetLastError(error);
    return 0;
}
