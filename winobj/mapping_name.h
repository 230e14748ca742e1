/* SPDX-License-Identifier: MIT */
/*
 * mapping_name.h - names of shared memory, whose life is as on Windows: a name is there as long as any process has a
 * handle.
 *
 * A name is a file of shm_open, and a handle's descriptor holds a shared flock on it. Who can have the lock alone is
 * the last. The locks of a process that was killed are gone; what it left under the name is taken for nothing, and
 * removed or used anew by the next who asks for the name. All that is serialised by a lock file of the user.
 */
#ifndef WINOBJ_MAPPING_NAME_H
#define WINOBJ_MAPPING_NAME_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * win_name_open - the descriptor of a name's memory, with its lock.
 * name      as the program says it, with Local\ or Global\ or neither
 * size      in bytes, of new memory, which is zero; 0: only what is there already
 * writable  of new memory
 * existed   out
 * Returns   -1 with the last error: ERROR_FILE_NOT_FOUND (size 0), ERROR_PATH_NOT_FOUND (a backslash),
 *           ERROR_INVALID_NAME (empty), ERROR_FILENAME_EXCED_RANGE, ERROR_ACCESS_DENIED, ERROR_NOT_ENOUGH_MEMORY,
 *           ERROR_TOO_MANY_OPEN_FILES.
 */
int win_name_open(const char *name, uint64_t size, bool writable, bool *existed);

/* Closes such a descriptor; with the last one the name goes. */
void win_name_close(const char *name, int fd);

/* Gives new memory its size. Negative errno, ENOMEM also where the system has not as much. */
int win_memory_resize(int fd, uint64_t size);

#endif
