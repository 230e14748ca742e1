/* SPDX-License-Identifier: MIT */
/*
 * wide.c - wide forms of functions that exist in narrow form, for modules, environment, computer names, shared memory,
 * messages, debugging. Compiled for each width of wchar_t, under the names the headers give them. Narrow text is
 * UTF-8.
 */
#include "win32/system/computer.h"
#include "win32/text/message.h"
#include "win32/text/wide_text.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>

HMODULE WINAPI LoadLibraryExW(LPCWSTR name, HANDLE file, DWORD flags)
{
    char *narrow_name;
    HMODULE module = NULL;

    if (wide_narrow(name, &narrow_name))
        module = LoadLibraryExA(narrow_name, file, flags);
    free(narrow_name);
    return module;
}

HMODULE WINAPI LoadLibraryW(LPCWSTR name)
{
    return LoadLibraryExW(name, NULL, 0);
}

HMODULE WINAPI GetModuleHandleW(LPCWSTR name)
{
    char *narrow_name;
    HMODULE module = NULL;

    if (wide_narrow(name, &narrow_name))
        module = GetModuleHandleA(narrow_name);
    free(narrow_name);
    return module;
}

DWORD WINAPI GetModuleFileNameW(HMODULE module, LPWSTR path, DWORD size)
{
    char whole[4096];
    DWORD length;

    if (!GetModuleFileNameA(module, whole, sizeof(whole)))
        return 0;
    length = wide_widen(path, size, whole);
    if (length < size)
        return length;
    if (path && size)
        path[size - 1] = 0;
    SetLastError(ERROR_INSUFFICIENT_BUFFER);
    return size;
}

BOOL WINAPI VerifyVersionInfoW(LPOSVERSIONINFOEXW wanted, DWORD types, DWORDLONG conditions)
{
    OSVERSIONINFOEXA same = { .dwOSVersionInfoSize = sizeof(same),
        .dwMajorVersion = wanted->dwMajorVersion,
        .dwMinorVersion = wanted->dwMinorVersion,
        .dwBuildNumber = wanted->dwBuildNumber,
        .dwPlatformId = wanted->dwPlatformId,
        .wServicePackMajor = wanted->wServicePackMajor,
        .wServicePackMinor = wanted->wServicePackMinor,
        .wSuiteMask = wanted->wSuiteMask,
        .wProductType = wanted->wProductType };

    return VerifyVersionInfoA(&same, types, conditions);
}

DWORD WINAPI GetEnvironmentVariableW(LPCWSTR name, LPWSTR value, DWORD size)
{
    char *narrow_name;
    const char *found = NULL;
    DWORD length;

    if (!wide_narrow(name, &narrow_name))
        return 0;
    found = narrow_name ? getenv(narrow_name) : NULL;
    free(narrow_name);
    if (!found) {
        SetLastError(ERROR_ENVVAR_NOT_FOUND);
        return 0;
    }
    length = wide_widen(NULL, 0, found);
    if (!value || length >= size)
        return length + 1;
    return wide_widen(value, size, found);
}

BOOL WINAPI SetEnvironmentVariableW(LPCWSTR name, LPCWSTR value)
{
    char *narrow_name, *narrow_value = NULL;
    BOOL done = FALSE;

    if (wide_narrow(name, &narrow_name) && wide_narrow(value, &narrow_value))
        done = SetEnvironmentVariableA(narrow_name, narrow_value);
    free(narrow_name);
    free(narrow_value);
    return done;
}

LPWCH WINAPI GetEnvironmentStringsW(void)
{
    char *block = GetEnvironmentStringsA();
    WCHAR *wide, *to;
    size_t size = 2;

    if (!block)
        return NULL;
    for (const char *s = block; *s; s += strlen(s) + 1)
        size += wide_widen(NULL, 0, s) + 1u;
    wide = to = calloc(size, sizeof(*wide));
    for (const char *s = block; wide && *s; s += strlen(s) + 1)
        to += wide_widen(to, UINT32_MAX, s) + 1u;
    free(block);
    if (!wide)
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return wide;
}

DWORD WINAPI ExpandEnvironmentStringsW(LPCWSTR from, LPWSTR to, DWORD size)
{
    char *narrow_from, *expanded = NULL;
    DWORD bytes = 0, length;

    if (!wide_narrow(from, &narrow_from) ||
        !(bytes = ExpandEnvironmentStringsA(narrow_from, NULL, 0)) || !(expanded = malloc(bytes))) {
        if (bytes)
            SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        free(narrow_from);
        return 0;
    }
    ExpandEnvironmentStringsA(narrow_from, expanded, bytes);
    length = wide_widen(to, size, expanded);
    free(expanded);
    free(narrow_from);
    return length + 1;
}

BOOL WINAPI GetComputerNameExW(COMPUTER_NAME_FORMAT format, LPWSTR name, LPDWORD size)
{
    char whole[NI_MAXHOST];
    DWORD bytes = sizeof(whole), room = size ? *size : 0, length;

    if (!size || (room && !name)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!GetComputerNameExA(format, whole, &bytes))
        return FALSE;
    length = wide_widen(name, room, whole);
    if (length < room) {
        *size = length;
        return TRUE;
    }
    *size = length + 1;
    SetLastError(ERROR_MORE_DATA);
    return FALSE;
}

BOOL WINAPI GetComputerNameW(LPWSTR name, LPDWORD size)
{
    return win_computer_name_answer(GetComputerNameExW(ComputerNameNetBIOS, name, size));
}

HANDLE WINAPI CreateFileMappingW(HANDLE file, LPSECURITY_ATTRIBUTES attributes, DWORD protection,
    DWORD size_high, DWORD size_low, LPCWSTR name)
{
    char *narrow_name;
    HANDLE mapping = NULL;

    if (wide_narrow(name, &narrow_name))
        mapping =
            CreateFileMappingA(file, attributes, protection, size_high, size_low, narrow_name);
    free(narrow_name);
    return mapping;
}

HANDLE WINAPI OpenFileMappingW(DWORD access, BOOL inherit, LPCWSTR name)
{
    char *narrow_name;
    HANDLE mapping = NULL;

    if (wide_narrow(name, &narrow_name))
        mapping = OpenFileMappingA(access, inherit, narrow_name);
    free(narrow_name);
    return mapping;
}

void WINAPI OutputDebugStringW(LPCWSTR text)
{
    char *narrow_text = text ? CRT(crt_narrow)(text) : NULL;

    OutputDebugStringA(narrow_text);
    free(narrow_text);
}

static int print(struct crt_out *out, const char *directive, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, directive);
    length = CRT(crt_format)(out, directive, arguments);
    va_end(arguments);
    return length;
}

static int print_insert(
    struct crt_out *out, const char *directive, const ULONG_PTR values[3], unsigned count)
{
    switch (count) {
    case 1: return print(out, directive, values[0]);
    case 2: return print(out, directive, (int)values[0], values[1]);
    default: return print(out, directive, (int)values[0], (int)values[1], values[2]);
    }
}

static char *insert_wide(const char *directive, const ULONG_PTR values[3], unsigned count)
{
    struct crt_out out = { .wide = true };
    int length = print_insert(&out, directive, values, count);
    WCHAR *text = length < 0 ? NULL : calloc((size_t)length + 1, sizeof(*text));
    char *result;

    if (!text)
        return NULL;
    out = (struct crt_out){ .wide = true, .text = text, .room = (size_t)length };
    print_insert(&out, directive, values, count);
    result = CRT(crt_narrow)(text);
    free(text);
    return result;
}

DWORD WINAPI FormatMessageW(DWORD flags, LPCVOID source, DWORD id, DWORD language, LPWSTR text,
    DWORD size, va_list *arguments)
{
    char *message, *narrow_source = NULL;
    WCHAR *to = text;
    DWORD length;

    (void)language;
    if (!text) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    if (flags & FORMAT_MESSAGE_ALLOCATE_BUFFER)
        *(LPWSTR *)(void *)text = NULL;
    if ((flags & FORMAT_MESSAGE_FROM_STRING) && !wide_narrow(source, &narrow_source))
        return 0;
    message = win_message_build(flags, narrow_source, id, arguments, insert_wide);
    free(narrow_source);
    if (!message)
        return 0;
    length = wide_widen(NULL, 0, message);
    if (flags & FORMAT_MESSAGE_ALLOCATE_BUFFER) {
        to = LocalAlloc(LMEM_FIXED, (length >= size ? length + (size_t)1 : size) * sizeof(WCHAR));
        *(LPWSTR *)(void *)text = to;
    } else if (length >= size) {
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
        to = NULL;
    }
    if (to)
        wide_widen(to, length + 1, message);
    free(message);
    return to ? length : 0;
}
