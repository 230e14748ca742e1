/* SPDX-License-Identifier: MIT */
/*
 * stale.c - folders of pipes whose last instance's process was killed: the next process that makes any pipe removes
 * them. A folder is in use if an instance holds its number (place.h); a process that makes one at the same moment
 * notices by the lock of "about", and begins again.
 */
#include "win32/pipes/place.h"

#include "win32/names/names.h"

#include "util/descriptor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void empty(int folder)
{
    int copy = descriptor_copy(folder);
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    if (!files) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while ((entry = readdir(files)))
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "about") != 0)
            unlinkat(folder, entry->d_name, 0);
    closedir(files);
    unlinkat(folder, "about", 0); /* last: until then its lock keeps away who makes an instance */
}

static void remove_if_stale(int pipes, const char *name)
{
    int folder = openat(pipes, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), about;

    if (folder < 0)
        return;
    about = names_file(folder, "about", O_RDWR);
    if (about >= 0 && !flock(about, LOCK_EX | LOCK_NB) && !pipe_place_any_held(about)) {
        empty(folder);
        unlinkat(pipes, name, AT_REMOVEDIR);
    }
    if (about < 0 &&
        errno == ENOENT) /* killed before it made "about"; this fails if the folder is not empty */
        unlinkat(pipes, name, AT_REMOVEDIR);
    if (about >= 0)
        close(about);
    close(folder);
}

void pipe_stale_remove(const char *path)
{
    int pipes = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folders = pipes < 0 ? NULL : fdopendir(pipes);
    const struct dirent *entry;

    if (!folders) {
        if (pipes >= 0)
            close(pipes);
        return;
    }
    while ((entry = readdir(folders)))
        if (entry->d_name[0] == '=')
            remove_if_stale(pipes, entry->d_name);
    closedir(folders);
}
