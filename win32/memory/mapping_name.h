/* SPDX-License-Identifier: MIT */
/*
 * mapping_name.h - names of shared memory, with the lifetime they have on Windows: a name exists as long as any process
 * has a handle.
 *
 * A name is a file in the user's directory (names_directory), and a handle's descriptor holds a shared flock on it. A
 * process that gets the lock exclusively was the last user. The kernel drops the locks of a process that was killed;
 * the next process that asks for the name removes what it left, or makes the memory anew; the next one that makes
 * memory of any name, or finds no room for it, removes what all such processes of the user left. A lock file of the
 * user serialises all of this.
 */
#ifndef WIN32_MEMORY_MAPPING_NAME_H
#define WIN32_MEMORY_MAPPING_NAME_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * win_name_open - opens the memory of a name, or makes it. Returns a descriptor that holds the shared lock.
 * name      as the program gave it, with Local\ or Global\ or neither
 * size      in bytes, of new memory, which is zero and allocated at once; 0: opens only memory that exists
 * writable  whether new memory may be written
 * existed   out
 * Returns   -1 with the last error: ERROR_FILE_NOT_FOUND (size 0), ERROR_PATH_NOT_FOUND (a backslash),
 *           ERROR_INVALID_NAME (empty), ERROR_FILENAME_EXCED_RANGE, ERROR_ACCESS_DENIED, ERROR_COMMITMENT_LIMIT
 *           (/dev/shm has less room), ERROR_NOT_ENOUGH_MEMORY, ERROR_TOO_MANY_OPEN_FILES.
 */
int win_name_open(const char *name, uint64_t size, bool writable, bool *existed);

/* Closes such a descriptor; closing the last one removes the name. */
void win_name_close(const char *name, int fd);

#endif
