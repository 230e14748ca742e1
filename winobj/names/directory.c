/* SPDX-License-Identifier: MIT */
/* directory.c - where the processes of a user find what they share by name. */
#include "winobj/names/names.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool names_directory(char path[64])
{
    struct stat status;

    snprintf(path, 64, "/dev/shm/ndspi-%u", (unsigned)geteuid());
    if (mkdir(path, 0700) && errno != EEXIST)
        return false;
    if (lstat(path, &status))
        return false;
    errno = EACCES;
    return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & 077);
}
