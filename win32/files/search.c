/* SPDX-License-Identifier: MIT */
/* search.c - SearchPath: finding a file in the folders of a list. */
#include "win32/files/plain.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends a part of a path, with a slash in front: without "." and doubled slashes. */
static char *append(char *to, const char *path)
{
    while (*path) {
        size_t length = strcspn(path, "/");

        if (length && !(length == 1 && *path == '.')) {
            *to++ = '/';
            memcpy(to, path, length);
            to += length;
        }
        path += length + (path[length] == '/');
    }
    *to = 0;
    return to;
}

/*
 * FOLDER/NAME as a full path, if that exists; else NULL, with *error only for another reason. ".." stays: what it means
 * is up to links. folder "": name alone.
 */
static char *existing(const char *folder, const char *name, DWORD *error)
{
    const char *first = *folder ? folder : name;
    char *here = *first == '/' ? strdup("") : getcwd(NULL, 0), *path = NULL, *end;

    if (!here && errno != ENOMEM) /* the present folder has been deleted: nothing is there */
        return NULL;
    if (here && (path = malloc(strlen(here) + strlen(folder) + strlen(name) + 4))) {
        end = append(path, here);
        end = append(end, folder);
        if (append(end, name) == path)
            strcpy(path, "/");
    }
    if (!path)
        *error = ERROR_NOT_ENOUGH_MEMORY;
    else if (access(path, F_OK)) {
        free(path);
        path = NULL;
    }
    free(here);
    return path;
}

/* Searches the folders of a list, divided by one of the separators; an empty one is the present folder. */
static char *search_list(const char *list, const char *separators, const char *name, DWORD *error)
{
    char *found = NULL;

    while (!found && !*error) {
        size_t length = strcspn(list, separators);
        char *text = length ? strndup(list, length) : strdup("."), *folder;

        folder = text ? files_path(text) : NULL;
        if (folder)
            found = existing(folder, name, error);
        else
            *error = ERROR_NOT_ENOUGH_MEMORY;
        free(folder);
        free(text);
        if (!list[length])
            break;
        list += length + 1;
    }
    return found;
}

/* Where a program searches: beside itself, the present folder, PATH. */
static char *search_usual(const char *name, DWORD *error)
{
    const char *folders = getenv("PATH");
    char own[PATH_MAX], *slash, *found = NULL;
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (length > 0) {
        own[length] = 0;
        if ((slash = strrchr(own, '/'))) {
            *slash = 0;
            found = existing(*own ? own : "/", name, error);
        }
    }
    if (!found && !*error)
        found = existing(".", name, error);
    if (!found && !*error && folders)
        found = search_list(folders, ":", name, error);
    return found;
}

/* Whether a name says where the file is: from the root or from the present folder. */
static bool has_place(const char *name)
{
    return *name == '/' || !strncmp(name, "./", 2) || !strncmp(name, "../", 3);
}

/* The full path of what is found; NULL with *error. */
static char *search(const char *folders, const char *name, const char *extension, DWORD *error)
{
    const char *last = strrchr(name, '/');
    char *longer = malloc(strlen(name) + (extension ? strlen(extension) : 0) + 1), *found = NULL;
    bool extended = extension && !strchr(last ? last : name, '.');

    if (!longer) {
        *error = ERROR_NOT_ENOUGH_MEMORY;
        return NULL;
    }
    strcpy(longer, name);
    if (extended)
        strcat(longer, extension);
    if (has_place(name)) {
        found = existing("", name, error);
        if (!found && !*error && extended)
            found = existing("", longer, error);
    } else if (folders && *folders)
        found = search_list(folders, ";:", longer, error);
    else
        found = search_usual(longer, error);
    free(longer);
    if (!found && !*error)
        *error = ERROR_FILE_NOT_FOUND;
    return found;
}

/*
 * SearchPathA, SearchPathW - finds a file or a folder.
 * folders    where, divided by ; or :; NULL or empty: beside the program, in the present folder, in those of PATH
 * file       its name; one that begins with a slash, ./ or ../ is not searched for: it has to exist
 * extension  with its point; appended to a name that has none. NULL: none
 * size       of found, in characters
 * found      out: the full path
 * last       out: the file's name within found, NULL where found has no room, or is the root; may be NULL
 * Returns    the length without the end; where found has no room for it the size needed, with the end. 0 with
 *            ERROR_FILE_NOT_FOUND, ERROR_INVALID_PARAMETER (no name), ERROR_NOT_ENOUGH_MEMORY.
 * Source: SearchPath function (processenv.h).
 */
DWORD WINAPI SearchPathA(
    LPCSTR folders, LPCSTR file, LPCSTR extension, DWORD size, LPSTR found, LPSTR *last)
{
    char *name, *path = NULL;
    DWORD error = ERROR_SUCCESS;
    size_t length;

    if (!file || !*file) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    if (!(name = files_path(file)))
        return 0;
    path = search(folders, name, extension, &error);
    free(name);
    if (!path) {
        SetLastError(error);
        return 0;
    }
    if (last)
        *last = NULL;
    length = strlen(path);
    if (found && length < size) {
        memcpy(found, path, length + 1);
        if (last && length > 1)
            *last = strrchr(found, '/') + 1;
    } else
        length++;
    free(path);
    return (DWORD)length;
}
