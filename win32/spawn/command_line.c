/* SPDX-License-Identifier: MIT */
/* command_line.c - splitting a command line, finding its program (command_line.h). */
#include "win32/spawn/command_line.h"

#include "win32/files/plain.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Copies the name of the program, in which backslashes mean nothing. Returns where it stopped. */
static const char *copy_name(const char *from, char **to)
{
    bool quoted = false;

    for (; *from && (quoted || !blank(*from)); from++) {
        if (*from == '"')
            quoted = !quoted;
        else
            *(*to)++ = *from;
    }
    *(*to)++ = 0;
    return from;
}

/*
 * Copies an argument. Backslashes before a quote are halved, and an odd one makes it plain; two quotes within quotes
 * are a plain one. Returns where it stopped.
 */
static const char *copy_argument(const char *from, char **to)
{
    bool quoted = false;

    while (*from && (quoted || !blank(*from))) {
        size_t slashes = strspn(from, "\\");

        from += slashes;
        if (*from != '"') {
            memset(*to, '\\', slashes);
            *to += slashes;
            if (!slashes)
                *(*to)++ = *from++;
            continue;
        }
        memset(*to, '\\', slashes / 2);
        *to += slashes / 2;
        if (slashes % 2) {
            *(*to)++ = '"';
        } else if (quoted && from[1] == '"') {
            *(*to)++ = '"';
            from++;
        } else {
            quoted = !quoted;
        }
        from++;
    }
    *(*to)++ = 0;
    return from;
}

char **command_split(const char *command)
{
    size_t length = strlen(command), most = length / 2 + 3, count = 0;
    char **result = malloc(most * sizeof(*result) + length + 2);
    char *to;

    if (!result)
        return NULL;
    to = (char *)(result + most);
    result[count++] = to;
    command = copy_name(command, &to);
    for (;;) {
        while (blank(*command))
            command++;
        if (!*command)
            break;
        result[count++] = to;
        command = copy_argument(command, &to);
    }
    result[count] = NULL;
    return result;
}

static bool runnable(const char *path)
{
    struct stat status;

    return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

/* FOLDER/NAME if that can be run; NULL. */
static char *runnable_in(const char *folder, size_t length, const char *name)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, name);

    return size > 0 && (size_t)size < sizeof(path) && runnable(path) ? strdup(path) : NULL;
}

/*
 * Searches for a program beside the calling one, then in PATH; in the present folder, which others may write to, only
 * where PATH has it. NULL: it is nowhere.
 */
static char *search(const char *word)
{
    const char *folders = getenv("PATH");
    char own[PATH_MAX], *slash, *found = NULL;
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (length > 0) {
        own[length] = 0;
        if ((slash = strrchr(own, '/')))
            found = runnable_in(own, (size_t)(slash - own), word);
    }
    while (!found && folders && *folders) {
        size_t part = strcspn(folders, ":");

        found = runnable_in(part ? folders : ".", part ? part : 1, word);
        folders += part + (folders[part] == ':');
    }
    return found;
}

DWORD command_find(const char *program, const char *word, char **path)
{
    char *given = files_path(program ? program : word), *whole;
    DWORD error = ERROR_SUCCESS;

    *path = NULL;
    if (!given)
        return program ? GetLastError() : ERROR_INVALID_PARAMETER;
    if (!program && !strchr(given, '/')) {
        whole = search(given);
        free(given);
        if (!whole)
            return ERROR_FILE_NOT_FOUND;
        given = whole;
    }
    /* The new process may begin in another folder. */
    if (!(*path = realpath(given, NULL)))
        error = files_error(errno);
    free(given);
    return error;
}
