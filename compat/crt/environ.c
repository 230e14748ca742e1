/* SPDX-License-Identifier: MIT */
/* environ.c - the environment's _s functions, over getenv and setenv. Each sets errno to what it returns, if not 0. */
#include <wincompat/stdlib.h>

/*
 * _dupenv_s - copies a variable's value; the program frees the copy with free. It is NULL where there is no variable.
 * size     out: the size of the memory, 0 for NULL; may be NULL
 * Returns  0, EINVAL (a NULL pointer), ENOMEM.
 */
errno_t _dupenv_s(char **value, size_t *size, const char *name)
{
    const char *found = value && name ? getenv(name) : NULL;

    if (size)
        *size = 0;
    if (value)
        *value = NULL;
    if (!value || !name)
        return errno = EINVAL;
    if (!found)
        return 0;
    if (!(*value = strdup(found)))
        return errno = ENOMEM;
    if (size)
        *size = strlen(found) + 1;
    return 0;
}

/*
 * getenv_s - copies a variable's value into room bytes.
 * size     out: the bytes that it needs, with the end; 0 where there is no such variable (then value is empty)
 * Returns  0 (also with value NULL and room 0: only stores size), ERANGE (too small; value is empty), EINVAL (a NULL
 *          pointer; value without room).
 */
errno_t getenv_s(size_t *size, char *value, size_t room, const char *name)
{
    const char *found;

    if (!size || !name || !value != !room)
        return errno = EINVAL;
    found = getenv(name);
    *size = found ? strlen(found) + 1 : 0;
    if (!value)
        return 0;
    value[0] = 0;
    if (*size > room)
        return errno = ERANGE;
    if (found)
        memcpy(value, found, *size);
    return 0;
}

/*
 * _putenv_s - sets a variable, or removes it (value ""). Returns 0, EINVAL (a NULL pointer, no name, a = in it),
 * ENOMEM.
 */
errno_t _putenv_s(const char *name, const char *value)
{
    if (!name || !value)
        return errno = EINVAL;
    return (*value ? setenv(name, value, 1) : unsetenv(name)) ? errno : 0;
}
