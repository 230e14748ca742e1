/* SPDX-License-Identifier: MIT */
/* errors.c - functions that read and set errno, messages of errno, random numbers. */
#include <wincompat/stdlib.h>

#include <sys/random.h>

/* _set_errno - sets errno; returns 0. _get_errno - stores errno to *value; returns 0, or EINVAL: value is NULL. */
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

/*
 * rand_s - stores an unpredictable number. Returns 0; EINVAL: value is NULL; ENOMEM: the system has none. Any thread.
 */
errno_t rand_s(unsigned *value)
{
    if (!value)
        return errno = EINVAL;
    while (getrandom(value, sizeof(*value), 0) != sizeof(*value))
        if (errno != EINTR)
            return errno = ENOMEM;
    return 0;
}

/*
 * _strerror - returns "message: what errno means" and a line end; without message only what errno means. The text is
 * the thread's, until its next call.
 */
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
