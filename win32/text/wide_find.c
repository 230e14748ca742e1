/* SPDX-License-Identifier: MIT */
/* wide_find.c - wide forms of what finds files and their attributes. Compiled for each width of wchar_t. */
#include "win32/text/wide_text.h"

#include <string.h>

DWORD WINAPI GetFileAttributesW(LPCWSTR name)
{
    DWORD attributes = INVALID_FILE_ATTRIBUTES;
    char *text;

    if (wide_narrow(name, &text))
        attributes = GetFileAttributesA(text);
    free(text);
    return attributes;
}

BOOL WINAPI GetFileAttributesExW(LPCWSTR name, GET_FILEEX_INFO_LEVELS level, LPVOID data)
{
    BOOL result = FALSE;
    char *text;

    if (wide_narrow(name, &text))
        result = GetFileAttributesExA(text, level, data);
    free(text);
    return result;
}

BOOL WINAPI SetFileAttributesW(LPCWSTR name, DWORD attributes)
{
    BOOL result = FALSE;
    char *text;

    if (wide_narrow(name, &text))
        result = SetFileAttributesA(text, attributes);
    free(text);
    return result;
}

BOOL WINAPI CreateDirectoryW(LPCWSTR name, LPSECURITY_ATTRIBUTES attributes)
{
    BOOL result = FALSE;
    char *text;

    if (wide_narrow(name, &text))
        result = CreateDirectoryA(text, attributes);
    free(text);
    return result;
}

BOOL WINAPI RemoveDirectoryW(LPCWSTR name)
{
    BOOL result = FALSE;
    char *text;

    if (wide_narrow(name, &text))
        result = RemoveDirectoryA(text);
    free(text);
    return result;
}

static void widen_data(LPWIN32_FIND_DATAW wide, const WIN32_FIND_DATAA *data)
{
    *wide = (WIN32_FIND_DATAW){
        .dwFileAttributes = data->dwFileAttributes,
        .ftCreationTime = data->ftCreationTime,
        .ftLastAccessTime = data->ftLastAccessTime,
        .ftLastWriteTime = data->ftLastWriteTime,
        .nFileSizeHigh = data->nFileSizeHigh,
        .nFileSizeLow = data->nFileSizeLow,
    };
    wide_widen(wide->cFileName, MAX_PATH, data->cFileName);
}

HANDLE WINAPI FindFirstFileExW(LPCWSTR pattern, FINDEX_INFO_LEVELS level, LPVOID data,
    FINDEX_SEARCH_OPS search, LPVOID filter, DWORD flags)
{
    HANDLE find = INVALID_HANDLE_VALUE;
    WIN32_FIND_DATAA found;
    char *text;

    if (wide_narrow(pattern, &text))
        find = FindFirstFileExA(text, level, data ? &found : NULL, search, filter, flags);
    free(text);
    if (find != INVALID_HANDLE_VALUE)
        widen_data(data, &found);
    return find;
}

HANDLE WINAPI FindFirstFileW(LPCWSTR pattern, LPWIN32_FIND_DATAW data)
{
    return FindFirstFileExW(pattern, FindExInfoStandard, data, FindExSearchNameMatch, NULL, 0);
}

BOOL WINAPI FindNextFileW(HANDLE find, LPWIN32_FIND_DATAW data)
{
    WIN32_FIND_DATAA found;

    if (!FindNextFileA(find, &found))
        return FALSE;
    widen_data(data, &found);
    return TRUE;
}

static DWORD temp_path(const void *unused, DWORD size, char *to)
{
    (void)unused;
    return GetTempPathA(size, to);
}

DWORD WINAPI GetTempPathW(DWORD size, LPWSTR path)
{
    return wide_answer(path, size, wide_whole(temp_path, NULL));
}

static DWORD full_path(const void *name, DWORD size, char *to)
{
    return GetFullPathNameA(name, size, to, NULL);
}

DWORD WINAPI GetFullPathNameW(LPCWSTR name, DWORD size, LPWSTR path, LPWSTR *last)
{
    DWORD length = 0;
    char *text;

    if (last)
        *last = NULL;
    if (wide_narrow(name, &text))
        length = name ? wide_answer(path, size, wide_whole(full_path, text))
                      : GetFullPathNameA(NULL, 0, NULL, NULL);
    free(text);
    if (last && path && length && length < size && path[length - 1] != '/')
        for (*last = path + length; (*last)[-1] != '/';)
            --*last;
    return length;
}

WCHAR *__cdecl _wfullpath(WCHAR *path, const WCHAR *name, size_t room)
{
    char *text, *full = NULL;
    WCHAR *result = NULL;
    DWORD length;

    if (wide_narrow(name, &text))
        full = _fullpath(NULL, text, 0);
    free(text);
    length = full ? wide_widen(NULL, 0, full) : 0;
    if (full && !path)
        result = malloc((length + 1) * sizeof(*result));
    else if (full && length < room)
        result = path;
    if (result)
        wide_widen(result, length + 1, full);
    else if (full)
        errno = path ? ERANGE : ENOMEM;
    free(full);
    return result;
}
