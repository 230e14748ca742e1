/* SPDX-License-Identifier: MIT */
/* folder.c - the present folder, short forms of paths. */
#include "win32/files/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * GetCurrentDirectoryA, GetCurrentDirectoryW - the present folder of the process.
 * size     of folder, in characters
 * folder   out; may be NULL
 * Returns  the length without the end; where folder has no room for it the size needed, with the end (folder is left
 *          alone). 0 with ERROR_FILE_NOT_FOUND (the folder has been deleted), ERROR_ACCESS_DENIED,
 *          ERROR_NOT_ENOUGH_MEMORY.
 */
DWORD WINAPI GetCurrentDirectoryA(DWORD size, LPSTR folder)
{
    char *here = getcwd(NULL, 0);
    size_t length;

    if (!here) {
        SetLastError(files_error(errno));
        return 0;
    }
    length = strlen(here);
    if (folder && length < size)
        memcpy(folder, here, length + 1);
    else
        length++;
    free(here);
    return (DWORD)length;
}

/*
 * SetCurrentDirectoryA, SetCurrentDirectoryW - changes the present folder of the process, so of all its threads.
 * Returns FALSE with ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND (no such folder; an earlier part of the path is
 * missing), ERROR_DIRECTORY (a file), ERROR_INVALID_NAME (no name), ERROR_ACCESS_DENIED, ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL WINAPI SetCurrentDirectoryA(LPCSTR name)
{
    struct stat status;
    DWORD error = ERROR_SUCCESS;
    char *path;

    if (!name || !*name) {
        SetLastError(ERROR_INVALID_NAME);
        return FALSE;
    }
    if (!(path = files_path(name)))
        return FALSE;
    if (chdir(path)) {
        error = files_path_error(path, errno);
        if (!stat(path, &status) && !S_ISDIR(status.st_mode))
            error = ERROR_DIRECTORY;
    }
    free(path);
    if (!error)
        return TRUE;
    SetLastError(error);
    return FALSE;
}

/*
 * GetShortPathNameA, GetShortPathNameW - the path itself, if there is such a file or folder: as on a volume of Windows
 * without 8.3 names.
 * path     out; may be name itself, or NULL
 * size     of path, in characters
 * Returns  the length without the end; where path has no room for it the size needed, with the end. 0 with
 *          ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND (also: an empty name), ERROR_INVALID_PARAMETER (NULL),
 *          ERROR_ACCESS_DENIED, ERROR_NOT_ENOUGH_MEMORY.
 */
DWORD WINAPI GetShortPathNameA(LPCSTR name, LPSTR path, DWORD size)
{
    char *found;
    size_t length;

    if (!name) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    if (!(found = files_path(name)))
        return 0;
    if (access(found, F_OK)) {
        SetLastError(files_path_error(found, errno));
        free(found);
        return 0;
    }
    free(found);
    length = strlen(name);
    if (!path || length >= size)
        return (DWORD)length + 1;
    memmove(path, name, length + 1);
    return (DWORD)length;
}
