/* SPDX-License-Identifier: MIT */
#include "tools/stat/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_number(const char *folder, const char *name, uint64_t *value)
{
    char path[PATH_MAX], text[64], *end;
    bool read;
    FILE *file;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) ||
        !(file = fopen(path, "re")))
        return false;
    read = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    if (!read || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return !errno && (*end == '\n' || *end == '\0');
}

/* Whether a file is a counter: the names of all others have other characters, but for "lifespan". */
static int is_counter(const struct dirent *entry)
{
    return entry->d_name[strspn(entry->d_name, "abcdefghijklmnopqrstuvwxyz_0123456789"
                                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0' &&
           strcmp(entry->d_name, "lifespan") != 0; /* the time that the kernel keeps its copies */
}

static void tell_folder(const char *folder,
    void (*tell)(void *context, const char *name, uint64_t value), void *context)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_counter, alphasort);

    for (int i = 0; i < count; i++) {
        uint64_t value;

        if (read_number(folder, entries[i]->d_name, &value))
            tell(context, entries[i]->d_name, value);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

void stat_kernel(const char *sysfs, const char *device, unsigned port,
    void (*tell)(void *context, const char *name, uint64_t value), void *context)
{
    static const char *const folders[] = { "counters", "hw_counters" };

    if (strchr(device, '/') || device[0] == '.') /* a process wrote the name: accept no path */
        return;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s/%s/ports/%u/%s", sysfs, device, port, folders[i]) <
            (int)sizeof(path))
            tell_folder(path, tell, context);
    }
}
