/* SPDX-License-Identifier: MIT */
/* priority_class.h - priority classes of processes that are started. */
#ifndef WIN32_SPAWN_PRIORITY_CLASS_H
#define WIN32_SPAWN_PRIORITY_CLASS_H

#include <windows.h>

#include <stdbool.h>

#define WIN_PRIORITY_CLASSES                                                                       \
    (IDLE_PRIORITY_CLASS | BELOW_NORMAL_PRIORITY_CLASS | NORMAL_PRIORITY_CLASS |                   \
        ABOVE_NORMAL_PRIORITY_CLASS | HIGH_PRIORITY_CLASS | REALTIME_PRIORITY_CLASS)

/*
 * win_class_start - calls a function by a thread that has the nice value of a new process, which inherits it.
 * flags     in: of CreateProcess; of several classes the first of WIN_PRIORITY_CLASSES counts. None: the caller's class
 *           if that is IDLE or BELOW_NORMAL, else NORMAL
 * function  returns an errno
 * Returns   that errno; EACCES (a class above NORMAL needs a privilege) or EAGAIN (no thread): not called. Any thread.
 */
int win_class_start(DWORD flags, int (*function)(void *argument), void *argument);

#endif
