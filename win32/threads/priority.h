/* SPDX-License-Identifier: MIT */
/* priority.h - the nice value of THREAD_PRIORITY_NORMAL in this process, which its priority class decides. */
#ifndef WIN32_THREADS_PRIORITY_H
#define WIN32_THREADS_PRIORITY_H

int win_normal_nice(void);
void win_normal_nice_set(int nice);

#endif
