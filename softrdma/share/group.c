/* SPDX-License-Identifier: MIT */
/* group.c - see group.h. */
#include "softrdma/share/group.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUPS_OCTETS = 8192, NUMBER_OCTETS = 32 };

/* Reads a file's text, or its beginning. False: it cannot be read. */
static bool read_text(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return false;
    do
        got = read(fd, text, room - 1);
    while (got < 0 && errno == EINTR);
    close(fd);
    if (got < 0)
        return false;
    text[got] = 0;
    return true;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the limit in a file of a group; UINT64_MAX for "max", or where the file does not exist. */
static uint64_t limit_in(const char *mount, const char *group, const char *file)
{
    char path[PATH_MAX], text[NUMBER_OCTETS], *end;
    uint64_t limit;

    if (snprintf(path, sizeof(path), "%s%s/%s", mount, group, file) >= (int)sizeof(path) ||
        !read_text(path, text, sizeof(text)))
        return UINT64_MAX;
    limit = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : limit;
}

/* Returns the least limit of a group and those above it. files ends with NULL; group is shortened. */
static uint64_t least_limit(const char *mount, char *group, const char *const files[])
{
    uint64_t limit = UINT64_MAX;
    char *last;

    for (;;) {
        for (size_t i = 0; files[i]; i++)
            limit = lesser(limit, limit_in(mount, group, files[i]));
        if (!(last = strrchr(group, '/')))
            return limit;
        *last = 0;
    }
}

static bool has_word(const char *words, const char *word)
{
    size_t octets = strlen(word);

    for (const char *at = words; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == octets && memcmp(at, word, octets) == 0)
            return true;
    return false;
}

uint64_t srd_group_memory(const char *membership, const char *mount)
{
    static const char *const files_1[] = { "memory.limit_in_bytes", NULL }, *const files_2[] = {
        "memory.max", "memory.high", NULL
    };
    char text[GROUPS_OCTETS], mount_1[PATH_MAX], *rest = NULL;
    uint64_t limit = UINT64_MAX;

    if (!read_text(membership, text, sizeof(text)) ||
        snprintf(mount_1, sizeof(mount_1), "%s/memory", mount) >= (int)sizeof(mount_1))
        return UINT64_MAX;
    /* A line has the number of a hierarchy, its controllers and the group; version 2 names no controllers. */
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!group)
            continue;
        *controllers++ = *group++ = 0;
        if (!*controllers)
            limit = lesser(limit, least_limit(mount, group, files_2));
        else if (has_word(controllers, "memory"))
            limit = lesser(limit, least_limit(mount_1, group, files_1));
    }
    return limit;
}
