/* SPDX-License-Identifier: MIT */
/* wide_files.c - wide forms of functions with names of files and programs. Compiled for each width of wchar_t. */
#include "win32/text/wide_text.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

HANDLE WINAPI CreateFileW(LPCWSTR name, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES attributes,
    DWORD disposition, DWORD flags, HANDLE model)
{
    HANDLE handle = INVALID_HANDLE_VALUE;
    char *text;

    if (wide_narrow(name, &text))
        handle = CreateFileA(text, access, share, attributes, disposition, flags, model);
    free(text);
    return handle;
}

BOOL WINAPI DeleteFileW(LPCWSTR name)
{
    BOOL result = FALSE;
    char *text;

    if (wide_narrow(name, &text))
        result = DeleteFileA(text);
    free(text);
    return result;
}

BOOL WINAPI CopyFileW(LPCWSTR from, LPCWSTR to, BOOL fail_if_exists)
{
    BOOL result = FALSE;
    char *source, *copy = NULL;

    if (wide_narrow(from, &source) && wide_narrow(to, &copy))
        result = CopyFileA(source, copy, fail_if_exists);
    free(source);
    free(copy);
    return result;
}

UINT WINAPI GetTempFileNameW(LPCWSTR folder, LPCWSTR prefix, UINT unique, LPWSTR name)
{
    char *in, *start = NULL, result[MAX_PATH];
    UINT number = 0;

    if (wide_narrow(folder, &in) && wide_narrow(prefix, &start))
        number = GetTempFileNameA(in, start, unique, name ? result : NULL);
    if (number)
        wide_widen(name, MAX_PATH, result);
    free(in);
    free(start);
    return number;
}

DWORD WINAPI GetFinalPathNameByHandleW(HANDLE file, LPWSTR path, DWORD size, DWORD flags)
{
    char found[4096];
    DWORD length = GetFinalPathNameByHandleA(file, found, sizeof(found), flags);

    if (!length)
        return 0;
    length = wide_widen(path, size, found);
    return length < size ? length : length + 1;
}

static DWORD current_directory(const void *unused, DWORD size, char *to)
{
    (void)unused;
    return GetCurrentDirectoryA(size, to);
}

DWORD WINAPI GetCurrentDirectoryW(DWORD size, LPWSTR folder)
{
    return wide_answer(folder, size, wide_whole(current_directory, NULL));
}

BOOL WINAPI SetCurrentDirectoryW(LPCWSTR name)
{
    BOOL result = FALSE;
    char *text;

    if (wide_narrow(name, &text))
        result = SetCurrentDirectoryA(text);
    free(text);
    return result;
}

static DWORD short_path(const void *name, DWORD size, char *to)
{
    return GetShortPathNameA(name, to, size);
}

DWORD WINAPI GetShortPathNameW(LPCWSTR name, LPWSTR path, DWORD size)
{
    char *text;
    DWORD length = 0;

    if (wide_narrow(name, &text))
        length = wide_answer(path, size, wide_whole(short_path, text));
    free(text);
    return length;
}

struct search {
    char *folders, *file, *extension;
};

static DWORD search_path(const void *arguments, DWORD size, char *to)
{
    const struct search *search = arguments;

    return SearchPathA(search->folders, search->file, search->extension, size, to, NULL);
}

DWORD WINAPI SearchPathW(
    LPCWSTR folders, LPCWSTR file, LPCWSTR extension, DWORD size, LPWSTR found, LPWSTR *last)
{
    struct search search = { NULL, NULL, NULL };
    DWORD length = 0, at;

    if (wide_narrow(folders, &search.folders) && wide_narrow(file, &search.file) &&
        wide_narrow(extension, &search.extension))
        length = wide_answer(found, size, wide_whole(search_path, &search));
    free(search.folders);
    free(search.file);
    free(search.extension);
    if (!last || !length)
        return length;
    *last = NULL;
    if (!found || length >= size)
        return length;
    for (at = length; found[at - 1] != '/';)
        at--;
    *last = at < length ? found + at : NULL;
    return length;
}

/* A wide block of strings as a narrow one: the strings one after the other, the last one empty. */
static char *narrow_block(const WCHAR *block)
{
    size_t length = 0;
    char *result = calloc(1, 1), *text, *longer;

    for (; result && *block; block += lstrlenW(block) + 1) {
        size_t more;

        if (!(text = CRT(crt_narrow)(block)))
            break;
        more = strlen(text) + 1;
        longer = realloc(result, length + more + 1);
        if (longer) {
            result = longer;
            memcpy(result + length, text, more);
            result[length += more] = 0;
        }
        free(text);
        if (!longer)
            break;
    }
    if (result && !*block)
        return result;
    free(result);
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return NULL;
}

/* What both forms of a STARTUPINFO have alike. */
#define startup_copy(to, from)                                                                     \
    do {                                                                                           \
        (to).dwX = (from).dwX;                                                                     \
        (to).dwY = (from).dwY;                                                                     \
        (to).dwXSize = (from).dwXSize;                                                             \
        (to).dwYSize = (from).dwYSize;                                                             \
        (to).dwXCountChars = (from).dwXCountChars;                                                 \
        (to).dwYCountChars = (from).dwYCountChars;                                                 \
        (to).dwFillAttribute = (from).dwFillAttribute;                                             \
        (to).dwFlags = (from).dwFlags;                                                             \
        (to).wShowWindow = (from).wShowWindow;                                                     \
        (to).hStdInput = (from).hStdInput;                                                         \
        (to).hStdOutput = (from).hStdOutput;                                                       \
        (to).hStdError = (from).hStdError;                                                         \
    } while (0)

/* The title, which programs keep pointers to; NULL: no memory. */
static LPWSTR startup_title(const char *text)
{
    static LPWSTR _Atomic title;
    LPWSTR made = title, before = NULL;
    DWORD length;

    if (made)
        return made;
    length = wide_widen(NULL, 0, text);
    if (!(made = malloc((length + 1) * sizeof(*made))))
        return NULL;
    wide_widen(made, length + 1, text);
    if (atomic_compare_exchange_strong(&title, &before, made))
        return made;
    free(made); /* another thread was faster */
    return before;
}

void WINAPI GetStartupInfoW(LPSTARTUPINFOW startup)
{
    STARTUPINFOA narrow_startup;

    GetStartupInfoA(&narrow_startup);
    *startup = (STARTUPINFOW){ .cb = sizeof(*startup) };
    startup_copy(*startup, narrow_startup);
    startup->lpTitle = startup_title(narrow_startup.lpTitle);
}

BOOL WINAPI CreateProcessW(LPCWSTR program, LPWSTR command, LPSECURITY_ATTRIBUTES process,
    LPSECURITY_ATTRIBUTES thread, BOOL inherit, DWORD flags, LPVOID environment, LPCWSTR folder,
    LPSTARTUPINFOW startup, LPPROCESS_INFORMATION information)
{
    const bool wide_block = environment && (flags & CREATE_UNICODE_ENVIRONMENT);
    char *path = NULL, *line = NULL, *in = NULL, *block = wide_block ? NULL : environment;
    STARTUPINFOEXA narrow_startup = { .StartupInfo.cb = sizeof(narrow_startup) };
    BOOL result = FALSE;

    if (startup) {
        startup_copy(narrow_startup.StartupInfo, *startup);
        if (flags & EXTENDED_STARTUPINFO_PRESENT) {
            if (startup->cb < sizeof(STARTUPINFOEXW)) /* CreateProcessA refuses the size, too */
                narrow_startup.StartupInfo.cb = sizeof(STARTUPINFOA);
            else
                narrow_startup.lpAttributeList = ((LPSTARTUPINFOEXW)startup)->lpAttributeList;
        }
    }
    if (wide_narrow(program, &path) && wide_narrow(command, &line) && wide_narrow(folder, &in) &&
        wide_narrow(startup ? startup->lpTitle : NULL, &narrow_startup.StartupInfo.lpTitle) &&
        (!wide_block || (block = narrow_block(environment))))
        result = CreateProcessA(path, line, process, thread, inherit,
            flags & ~(DWORD)CREATE_UNICODE_ENVIRONMENT, block, in,
            startup ? &narrow_startup.StartupInfo : NULL, information);
    free(path);
    free(line);
    free(in);
    free(narrow_startup.StartupInfo.lpTitle);
    if (wide_block)
        free(block);
    return result;
}
