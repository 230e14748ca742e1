/* SPDX-License-Identifier: MIT */
/* environment.c - environment variables, over the C library's. Unlike on Windows, names differ by case. */
#include <windows.h>

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static bool name_is_good(const char *name)
{
    if (name && *name && !strchr(name, '='))
        return true;
    SetLastError(ERROR_INVALID_PARAMETER);
    return false;
}

/*
 * GetEnvironmentVariableA, GetEnvironmentVariableW - a variable's value.
 * size     of value, in characters
 * Returns  its length (0 for an empty value, the last error left alone); the size needed, with the end, where it does
 *          not fit (value is left alone); 0 with ERROR_ENVVAR_NOT_FOUND.
 */
DWORD WINAPI GetEnvironmentVariableA(LPCSTR name, LPSTR value, DWORD size)
{
    const char *found = name ? getenv(name) : NULL;
    size_t length;

    if (!found) {
        SetLastError(ERROR_ENVVAR_NOT_FOUND);
        return 0;
    }
    length = strlen(found);
    if (!value || length >= size)
        return (DWORD)length + 1;
    memcpy(value, found, length + 1);
    return (DWORD)length;
}

/*
 * SetEnvironmentVariableA, SetEnvironmentVariableW - sets a variable, or removes it (value NULL). As with setenv no
 * other thread may look at the environment meanwhile. FALSE with ERROR_INVALID_PARAMETER (no name, or a = in it),
 * ERROR_ENVVAR_NOT_FOUND (nothing to remove), ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL WINAPI SetEnvironmentVariableA(LPCSTR name, LPCSTR value)
{
    if (!name_is_good(name))
        return FALSE;
    if (!value && !getenv(name)) {
        SetLastError(ERROR_ENVVAR_NOT_FOUND);
        return FALSE;
    }
    if (value ? setenv(name, value, 1) : unsetenv(name)) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return FALSE;
    }
    return TRUE;
}

/*
 * GetEnvironmentStringsA, GetEnvironmentStringsW - a copy of all variables: strings NAME=VALUE, the last one empty. As
 * with environ no other thread may change the environment meanwhile.
 * Returns a block for FreeEnvironmentStrings; NULL with ERROR_NOT_ENOUGH_MEMORY.
 */
LPCH WINAPI GetEnvironmentStringsA(void)
{
    size_t size = 2; /* a block without variables has two zeros, too */
    char *block, *to;

    for (char **variable = environ; variable && *variable; variable++)
        size += strlen(*variable) + 1;
    if (!(block = to = calloc(1, size))) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    for (char **variable = environ; variable && *variable; variable++)
        if (strchr(*variable, '=')) /* execve takes any text for a variable */
            to = stpcpy(to, *variable) + 1;
    return block;
}

/* The name of the narrow form in libraries of Windows; in sources it is a spelling of either. */
#undef GetEnvironmentStrings
WINOBJ_API LPCH WINAPI GetEnvironmentStrings(void) __attribute__((alias("GetEnvironmentStringsA")));

/* FreeEnvironmentStringsA, FreeEnvironmentStringsW - frees what GetEnvironmentStrings returned. TRUE. */
BOOL WINAPI FreeEnvironmentStringsA(LPCH block)
{
    free(block);
    return TRUE;
}

BOOL WINAPI FreeEnvironmentStringsW(LPWCH block)
{
    free(block);
    return TRUE;
}

struct expansion {
    char *to;
    DWORD room, used;
};

static void expansion_put(struct expansion *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++, out->used++)
        if (out->used < out->room)
            out->to[out->used] = text[i];
}

/* The value of the variable whose name, length characters long, begins at name; NULL when there is none. */
static const char *value_of(const char *name, size_t length)
{
    char copy[256];

    if (!length || length >= sizeof(copy))
        return NULL;
    memcpy(copy, name, length);
    copy[length] = 0;
    return getenv(copy);
}

/*
 * ExpandEnvironmentStringsA, ExpandEnvironmentStringsW - replaces each %name% by the variable's value; %name%
 * stays where there is no such variable.
 * size     of to, in characters
 * Returns  the size needed, with the end; more than size: to holds only a part, without an end. 0 with
 *          ERROR_INVALID_PARAMETER.
 */
DWORD WINAPI ExpandEnvironmentStringsA(LPCSTR from, LPSTR to, DWORD size)
{
    struct expansion out = { .to = to, .room = to ? size : 0 };

    if (!from) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    while (*from) {
        const char *end = *from == '%' ? strchr(from + 1, '%') : NULL;
        const char *value = end ? value_of(from + 1, (size_t)(end - from - 1)) : NULL;
        size_t plain = 1 + strcspn(from + 1, "%");

        if (value) {
            expansion_put(&out, value, strlen(value));
            from = end + 1;
        } else {
            expansion_put(&out, from, plain);
            from += plain;
        }
    }
    expansion_put(&out, "", 1);
    return out.used;
}
