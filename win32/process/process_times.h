/* SPDX-License-Identifier: MIT */
/* process_times.h - when a process began, and what it has used of processors. */
#ifndef WIN32_PROCESS_PROCESS_TIMES_H
#define WIN32_PROCESS_PROCESS_TIMES_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

/* Units of 100 ns: begun and ended since 1601, kernel and user of processor time. */
struct win_process_times {
    uint64_t begun, ended, kernel, user;
};

/*
 * win_process_read_times - of a process that runs, or has ended and was not yet waited for: then ended is now.
 * Returns false if there is no such process.
 */
bool win_process_read_times(DWORD id, struct win_process_times *times);

#endif
