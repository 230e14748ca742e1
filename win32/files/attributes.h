/* SPDX-License-Identifier: MIT */
/* attributes.h - what Windows tells of a file, from what Linux does. */
#ifndef WIN32_FILES_ATTRIBUTES_H
#define WIN32_FILES_ATTRIBUTES_H

#include <windows.h>

#include <sys/stat.h>

/* FILE_ATTRIBUTE_* of a file or folder. */
DWORD attributes_of(mode_t mode);

/*
 * The attributes, times and size of what a path names, relative to a folder's descriptor or AT_FDCWD, or with
 * AT_EMPTY_PATH of a descriptor; flags: those of fstatat. 0, or a positive errno; status may be NULL.
 */
int attributes_read(
    int folder, const char *path, int flags, WIN32_FILE_ATTRIBUTE_DATA *data, struct stat *status);

#endif
