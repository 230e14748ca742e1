/* SPDX-License-Identifier: MIT */
/*
 * find.c - FindFirstFile, FindNextFile: the names of a folder that a pattern matches, as they were at the first call;
 * what is deleted meanwhile is left out.
 */
#include "win32/files/attributes.h"
#include "win32/files/plain.h"
#include "win32/files/wildcard.h"

#include "winobj/handles/handle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct find {
    struct win_object object;
    struct lock lock; /* LOCK_WIN_OBJECT */
    int folder;
    bool folders_alone;
    char **names;
    size_t count, next;
};

static void find_free(struct find *find)
{
    for (size_t i = 0; i < find->count; i++)
        free(find->names[i]);
    free(find->names);
    close(find->folder);
    free(find);
}

static void find_destroy(struct win_object *object)
{
    find_free((struct find *)object);
}

static const struct win_object_type find_type = { .name = "find", .destroy = find_destroy };

static bool is_folder_itself(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Sorts "." and ".." first, and the others by their letters without case, as NTFS lists them. */
static int compare(const void *a, const void *b)
{
    const char *first = *(char *const *)a, *second = *(char *const *)b;
    const int itself = is_folder_itself(second) - is_folder_itself(first);
    const int letters = strcasecmp(first, second);

    return itself ? itself : letters ? letters : strcmp(first, second);
}

static DWORD add(struct find *find, const char *name)
{
    char **longer = find->names;

    if (!(find->count & (find->count + 1))) /* 0, 1, 3, 7 ... names fill what there is */
        longer = realloc(find->names, (2 * find->count + 1) * sizeof(*longer));
    if (!longer)
        return ERROR_NOT_ENOUGH_MEMORY;
    find->names = longer;
    if (!(longer[find->count] = strdup(name)))
        return ERROR_NOT_ENOUGH_MEMORY;
    find->count++;
    return ERROR_SUCCESS;
}

/* Reads the folder. A name without wildcards is a path's last part: it is exact, as for CreateFile. */
static DWORD collect(struct find *find, const char *pattern, bool exact)
{
    int fd = openat(find->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    DWORD error = ERROR_SUCCESS;
    struct dirent *entry;

    if (!folder) {
        error = files_error(errno);
        if (fd >= 0)
            close(fd);
        return error;
    }
    while (!error && (entry = readdir(folder)))
        if (wildcard_matches(pattern, entry->d_name, exact))
            error = add(find, entry->d_name);
    closedir(folder);
    if (!error && find->count)
        qsort(find->names, find->count, sizeof(*find->names), compare);
    return error;
}

/* The next name that is still there. ERROR_NO_MORE_FILES: there is none. */
static DWORD next(struct find *find, LPWIN32_FIND_DATAA data)
{
    WIN32_FILE_ATTRIBUTE_DATA found;

    while (find->next < find->count) {
        const char *name = find->names[find->next++];

        if (attributes_read(find->folder, name, 0, &found, NULL) &&
            attributes_read(find->folder, name, AT_SYMLINK_NOFOLLOW, &found, NULL))
            continue;
        if (find->folders_alone && !(found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY))
            continue;
        *data = (WIN32_FIND_DATAA){
            .dwFileAttributes = found.dwFileAttributes,
            .ftCreationTime = found.ftCreationTime,
            .ftLastAccessTime = found.ftLastAccessTime,
            .ftLastWriteTime = found.ftLastWriteTime,
            .nFileSizeHigh = found.nFileSizeHigh,
            .nFileSizeLow = found.nFileSizeLow,
        };
        strncpy(data->cFileName, name, sizeof(data->cFileName) - 1);
        return ERROR_SUCCESS;
    }
    return ERROR_NO_MORE_FILES;
}

/* Divides a path into its folder, which it opens, and the pattern behind. A Win32 error. */
static DWORD open_folder(char *path, int *fd, const char **pattern)
{
    char *slash = strrchr(path, '/');
    const char *folder = !slash ? "." : slash == path ? "/" : path;

    *pattern = slash ? slash + 1 : path;
    if (!**pattern)
        return ERROR_FILE_NOT_FOUND;
    if (slash && slash != path)
        *slash = 0;
    *fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*fd >= 0)
        return ERROR_SUCCESS;
    if (errno == ENOTDIR && !access(folder, F_OK))
        return ERROR_DIRECTORY;
    return errno == ENOENT || errno == ENOTDIR ? ERROR_PATH_NOT_FOUND : files_error(errno);
}

/* Fills find by a path, and data by the first that it finds. */
static DWORD begin(struct find *find, char *path, bool exact, LPWIN32_FIND_DATAA data)
{
    const char *pattern;
    DWORD error = open_folder(path, &find->folder, &pattern);

    if (error)
        return error;
    error = wildcard_is_in(pattern) ? collect(find, pattern, exact) : add(find, pattern);
    if (!error)
        error = next(find, data);
    return error == ERROR_NO_MORE_FILES ? ERROR_FILE_NOT_FOUND : error;
}

static HANDLE fail(DWORD error)
{
    SetLastError(error);
    return INVALID_HANDLE_VALUE;
}

/*
 * FindFirstFileA, FindFirstFileW, FindFirstFileExA, FindFirstFileExW - begins to list what a pattern matches, "." and
 * ".." first, then by the letters. Upper and lower case of ASCII letters are the same in a pattern with * or ?; without
 * these it is the name of one file, as for CreateFile.
 * pattern  a path whose last part may have * and ?; "a\" is no pattern
 * level    FindExInfoStandard, FindExInfoBasic: short names are empty in both
 * data     [out] the first; of a link what it leads to
 * search   FindExSearchNameMatch, FindExSearchLimitToDirectories: folders alone
 * filter   NULL
 * flags    FIND_FIRST_EX_CASE_SENSITIVE; FIND_FIRST_EX_LARGE_FETCH has no effect
 * Returns  a handle for FindNextFile and FindClose. INVALID_HANDLE_VALUE with ERROR_FILE_NOT_FOUND (nothing matches),
 *          ERROR_PATH_NOT_FOUND (no such folder; no name), ERROR_DIRECTORY (it is a file), ERROR_ACCESS_DENIED,
 *          ERROR_INVALID_PARAMETER (level, search, filter, flags), ERROR_NOT_SUPPORTED (FindExSearchLimitToDevices),
 *          ERROR_NOT_ENOUGH_MEMORY, ERROR_TOO_MANY_OPEN_FILES. Any thread.
 * Source: FindFirstFileExA function (fileapi.h).
 */
HANDLE WINAPI FindFirstFileExA(LPCSTR pattern, FINDEX_INFO_LEVELS level, LPVOID data,
    FINDEX_SEARCH_OPS search, LPVOID filter, DWORD flags)
{
    const DWORD known = FIND_FIRST_EX_CASE_SENSITIVE | FIND_FIRST_EX_LARGE_FETCH;
    struct find *find;
    HANDLE handle;
    DWORD error;
    char *path;

    if (search == FindExSearchLimitToDevices)
        return fail(ERROR_NOT_SUPPORTED);
    if (!data || filter || level >= FindExInfoMaxInfoLevel || search >= FindExSearchMaxSearchOp ||
        (flags & ~known))
        return fail(ERROR_INVALID_PARAMETER);
    if (!(path = files_path(pattern)))
        return INVALID_HANDLE_VALUE;
    if (!(find = calloc(1, sizeof(*find)))) {
        free(path);
        return fail(ERROR_NOT_ENOUGH_MEMORY);
    }
    lock_init(&find->lock, LOCK_WIN_OBJECT, "find");
    find->folder = -1;
    find->folders_alone = search == FindExSearchLimitToDirectories;
    error = begin(find, path, flags & FIND_FIRST_EX_CASE_SENSITIVE, data);
    free(path);
    if (!error && (handle = win_handle_open(&find->object, &find_type)))
        return handle;
    find_free(find);
    return error ? fail(error) : INVALID_HANDLE_VALUE;
}

HANDLE WINAPI FindFirstFileA(LPCSTR pattern, LPWIN32_FIND_DATAA data)
{
    return FindFirstFileExA(pattern, FindExInfoStandard, data, FindExSearchNameMatch, NULL, 0);
}

/*
 * FindNextFileA, FindNextFileW - the next one.
 * find     of FindFirstFile
 * data     [out] it
 * Returns  FALSE with ERROR_NO_MORE_FILES, ERROR_INVALID_HANDLE. Any thread.
 */
BOOL WINAPI FindNextFileA(HANDLE handle, LPWIN32_FIND_DATAA data)
{
    struct find *find = (struct find *)win_handle_pin(handle, &find_type);
    DWORD error = ERROR_INVALID_HANDLE;

    if (find) {
        lock_acquire(&find->lock);
        error = next(find, data);
        lock_release(&find->lock);
        win_object_unref(&find->object);
    }
    if (!error)
        return TRUE;
    SetLastError(error);
    return FALSE;
}

/* FindClose - ends a list. FALSE with ERROR_INVALID_HANDLE: the handle is no list's. Any thread. */
BOOL WINAPI FindClose(HANDLE handle)
{
    struct win_object *object = win_handle_pin(handle, &find_type);
    BOOL closed;

    if (!object) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    closed = CloseHandle(handle);
    win_object_unref(object);
    return closed;
}
