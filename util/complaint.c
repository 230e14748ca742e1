/* SPDX-License-Identifier: MIT */
#include "util/complaint.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static void write_all(const char *text, size_t left)
{
    while (left) {
        ssize_t written = write(STDERR_FILENO, text, left);

        if (written < 0 && errno != EINTR)
            return;
        if (written > 0) {
            text += written;
            left -= (size_t)written;
        }
    }
}

void complaint_write(const char *checker, const char *call, const char *kind, const void *object,
    const char *happened, const char *rule, const char *advice)
{
    char where[64] = "", line[1536];
    int length;

    if (object)
        snprintf(where, sizeof(where), " %p", object);
    length = snprintf(line, sizeof(line), "%s: %s, %s%s: %s. Rule: %s. %s.\n", checker, call, kind,
        where, happened, rule, advice);
    if (length >= (int)sizeof(line))
        length = (int)sizeof(line) - 1;
    write_all(line, (size_t)length);
}
