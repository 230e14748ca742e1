/* SPDX-License-Identifier: MIT */
/* full_path.c - paths from the root, folders that are made and removed, the folder for temporary files. */
#include "win32/files/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes "." and "..", and slashes beside slashes, out of a path from the root; a slash at the end stays. */
static void simplify(char *path)
{
    char *to = path;

    for (const char *from = path; *from;) {
        const size_t length = strcspn(from + 1, "/") + 1; /* includes the slash before it */
        const bool last = !from[length];

        if (length == 2 && from[1] == '.') {
            ; /* the folder itself */
        } else if (length == 3 && from[1] == '.' && from[2] == '.') {
            while (to > path && *--to != '/')
                ;
        } else if (length > 1 || last) {
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    if (to > path + 1 && to[-1] == '/' && (to[-2] == '/'))
        to--;
    if (to == path)
        *to++ = '/';
    *to = 0;
}

/* Returns the full path in memory that the caller frees; NULL with the last error. */
static char *full_path(LPCSTR name)
{
    char *path = files_path(name), *here = NULL, *full = NULL;

    if (path && *path == '/')
        full = strdup(path);
    else if (path && (here = getcwd(NULL, 0)) && (full = malloc(strlen(here) + strlen(path) + 2)))
        strcat(strcat(strcpy(full, here), "/"), path);
    if (full)
        simplify(full);
    else if (path)
        SetLastError(here || *path == '/' ? ERROR_NOT_ENOUGH_MEMORY : files_error(errno));
    free(here);
    free(path);
    return full;
}

/* Gives the program text, which is freed. Its length, or the room that it needs. */
static DWORD give(char *text, LPSTR to, DWORD size)
{
    size_t length = strlen(text);

    if (to && length < size)
        memcpy(to, text, length + 1);
    else
        length++;
    free(text);
    return (DWORD)length;
}

/*
 * GetFullPathNameA, GetFullPathNameW - a path from the root, without looking whether there is such a file: "." and ".."
 * are taken out, a slash at the end stays.
 * size     of path, in characters
 * path     [out] in Linux' form
 * last     [out] the last part within path; NULL where path ends in a slash or has no room; may be NULL
 * Returns  the length without the end; where path has no room for it the size needed, with the end. 0 with
 *          ERROR_INVALID_NAME (no name), ERROR_FILE_NOT_FOUND (the present folder was deleted),
 *          ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: GetFullPathNameA function (fileapi.h).
 */
DWORD WINAPI GetFullPathNameA(LPCSTR name, DWORD size, LPSTR path, LPSTR *last)
{
    char *full;
    DWORD length;

    if (last)
        *last = NULL;
    if (!name || !*name) {
        SetLastError(ERROR_INVALID_NAME);
        return 0;
    }
    if (!(full = full_path(name)))
        return 0;
    length = give(full, path, size);
    if (last && path && length < size && path[length - 1] != '/')
        *last = strrchr(path, '/') + 1;
    return length;
}

/*
 * _fullpath - the full path of a name, in room characters of path, or if path is NULL in memory of malloc's, which the
 * program frees.
 * name     NULL or empty: the present folder
 * Returns  the path; NULL with errno ERANGE (no room), EINVAL, ENOMEM. Any thread.
 * Source: _fullpath (Microsoft's C runtime).
 */
char *__cdecl _fullpath(char *path, const char *name, size_t room)
{
    char *full = name && *name ? full_path(name) : getcwd(NULL, 0);

    if (!full) {
        errno = ENOMEM;
        return NULL;
    }
    if (!path)
        return full;
    if (strlen(full) < room)
        strcpy(path, full);
    else {
        errno = ERANGE;
        path = NULL;
    }
    free(full);
    return path;
}

/*
 * GetTempPathA, GetTempPathW - the folder for temporary files, with a slash at the end: that of TMP, TEMP or TMPDIR, or
 * /tmp. It need not be there.
 * Returns the length without the end; where path has no room for it the size needed, with the end. 0 with
 *         ERROR_NOT_ENOUGH_MEMORY. Any thread; not beside one that changes the environment.
 * Source: GetTempPathA function (fileapi.h).
 */
DWORD WINAPI GetTempPathA(DWORD size, LPSTR path)
{
    static const char *const variables[] = { "TMP", "TEMP", "TMPDIR" };
    const char *folder = NULL;
    char *full, *longer;

    for (unsigned i = 0; i < _countof(variables) && (!folder || !*folder); i++)
        folder = getenv(variables[i]);
    if (!(full = full_path(folder && *folder ? folder : "/tmp")))
        return 0;
    if (full[strlen(full) - 1] != '/') {
        if (!(longer = realloc(full, strlen(full) + 2))) {
            free(full);
            SetLastError(ERROR_NOT_ENOUGH_MEMORY);
            return 0;
        }
        full = strcat(longer, "/");
    }
    return give(full, path, size);
}

/* error: of mkdir or rmdir, or 0. Frees the path. */
static BOOL answer(char *path, int error)
{
    struct stat status;
    DWORD code = error ? files_path_error(path, error) : ERROR_SUCCESS;

    if (error == EEXIST)
        code = ERROR_ALREADY_EXISTS;
    else if (error == ENOTEMPTY)
        code = ERROR_DIR_NOT_EMPTY;
    else if (error == ENOTDIR && !stat(path, &status) && !S_ISDIR(status.st_mode))
        code = ERROR_DIRECTORY;
    free(path);
    if (!code)
        return TRUE;
    SetLastError(code);
    return FALSE;
}

/*
 * CreateDirectoryA, CreateDirectoryW - makes a folder.
 * attributes  not looked at: the user's umask counts; may be NULL
 * Returns     FALSE with ERROR_ALREADY_EXISTS (a folder or a file), ERROR_PATH_NOT_FOUND (an earlier part of the path
 *             is missing; no name), ERROR_ACCESS_DENIED, ERROR_DISK_FULL, ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: CreateDirectoryA function (fileapi.h).
 */
BOOL WINAPI CreateDirectoryA(LPCSTR name, LPSECURITY_ATTRIBUTES attributes)
{
    char *path = files_path(name);

    (void)attributes;
    return path && answer(path, mkdir(path, 0777) ? errno : 0);
}

/*
 * RemoveDirectoryA, RemoveDirectoryW - removes an empty folder.
 * Returns FALSE with ERROR_DIR_NOT_EMPTY, ERROR_DIRECTORY (a file), ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND,
 *         ERROR_ACCESS_DENIED, ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: RemoveDirectoryA function (fileapi.h).
 */
BOOL WINAPI RemoveDirectoryA(LPCSTR name)
{
    char *path = files_path(name);

    return path && answer(path, rmdir(path) ? errno : 0);
}
