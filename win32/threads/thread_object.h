/* SPDX-License-Identifier: MIT */
/* thread_object.h - the object of a thread, for the files that know it: thread.c, thread_times.c. */
#ifndef WIN32_THREADS_THREAD_OBJECT_H
#define WIN32_THREADS_THREAD_OBJECT_H

#include "winobj/waits/alert.h"
#include "winobj/waits/dispatch.h"

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Units of 100 ns: begun and ended since 1601, kernel and user of processor time. */
struct win_thread_times {
    uint64_t begun; /* CreateThread, or the first handle of a thread that other code made */
    uint64_t ended, kernel, user; /* 0 until the end; life_lock */
};

struct win_thread {
    struct win_waitable waitable; /* set when the thread ends */
    struct win_apcs apcs;
    LPTHREAD_START_ROUTINE start;
    LPVOID parameter;
    _Atomic uint32_t id;        /* futex word of the creator: 0 until the thread runs */
    _Atomic uint32_t suspended; /* futex word of the thread: 1 until ResumeThread */
    bool ended;                 /* life_lock */
    atomic_uint exit_code;      /* 0 after pthread_exit; published by the signal */
    struct win_thread_times times;
    char *description; /* UTF-8; life_lock */
};

/* A thread by its handle, or the calling one for GetCurrentThread(), referenced; NULL with the last error. */
struct win_thread *win_thread_pin(HANDLE handle);

/* Guards what a thread's end changes. */
void win_thread_lock_life(void);
void win_thread_unlock_life(void);

/* The calling thread ends: reads its times. */
void win_thread_times_end(struct win_thread_times *times);
uint64_t win_thread_now(void);

#endif
