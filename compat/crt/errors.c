/* SPDX-License-Identifier: MIT */
/* errors.c - errno by functions, messages of it, numbers by chance. */
#include <wincompat/stdlib.h>

#include <sys/random.h>

/* _set_errno - sets errno; 0. _get_errno - *value is errno; 0, EINVAL: no value. */
errno_t _set_errno(int value)
{
    errno = value;
    return 0;
}

errno_t _get_errno(int *value)
{
    if (!value)
        return EINVAL;
    *value = errno;
    return 0;
}

/* rand_s - a number that nobody can foresee. 0; EINVAL: no value; ENOMEM: the system has none. Any thread. */
errno_t rand_s(unsigned *value)
{
    if (!value)
        return errno = EINVAL;
    while (getrandom(value, sizeof(*value), 0) != sizeof(*value))
        if (errno != EINTR)
            return errno = ENOMEM;
    return 0;
}

/* _strerror - "message: what errno means" and a line end; without message what errno means. The thread's, until the
 * next call. */
char *_strerror(const char *message)
{
    static _Thread_local char text[256];
    const char *meaning = (strerror)(errno);

    if (message && *message)
        (snprintf)(text, sizeof(text), "%s: %s\n", message, meaning);
    else
        (snprintf)(text, sizeof(text), "%s\n", meaning);
    return text;
}
