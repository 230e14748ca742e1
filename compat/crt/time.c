/* SPDX-License-Identifier: MIT */
/* time.c - localtime_s, gmtime_s over localtime_r and gmtime_r. */
#include <wincompat/stdlib.h>

static errno_t broken_down(
    struct tm *result, const time_t *seconds, struct tm *(*convert)(const time_t *, struct tm *))
{
    if (result && seconds && *seconds >= 0 && convert(seconds, result))
        return 0;
    if (result)
        *result = (struct tm){ -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, NULL };
    return errno = EINVAL;
}

/*
 * localtime_s, gmtime_s - split a time into its parts. Return 0, or EINVAL (a NULL pointer, before 1970), and then all
 * parts are -1.
 */
errno_t localtime_s(struct tm *result, const time_t *seconds)
{
    tzset(); /* localtime_r need not call it */
    return broken_down(result, seconds, localtime_r);
}

errno_t gmtime_s(struct tm *result, const time_t *seconds)
{
    return broken_down(result, seconds, gmtime_r);
}
