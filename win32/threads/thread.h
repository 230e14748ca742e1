/* SPDX-License-Identifier: MIT */
/* thread.h - access to a thread by its kernel id while it lives; a handle of the calling thread. */
#ifndef WIN32_THREADS_THREAD_H
#define WIN32_THREADS_THREAD_H

#include <windows.h>

#include <stdbool.h>

/*
 * win_thread_apply - calls a function with the kernel's id of a thread, and keeps the thread from ending meanwhile.
 * thread  a handle, or GetCurrentThread()
 * Returns false with ERROR_INVALID_HANDLE (no thread made here; it has ended), or with the last error of apply.
 */
bool win_thread_apply(HANDLE thread, bool (*apply)(int id, void *argument), void *argument);

/*
 * A new handle of the calling thread, even if other code made the thread; its end signals the handle. NULL:
 * ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE win_thread_self_handle(void);

struct win_apcs;
struct win_object;

/* The object of the calling thread, referenced, and its queue of APCs. NULL: ERROR_NOT_ENOUGH_MEMORY. */
struct win_object *win_thread_self_pin(struct win_apcs **apcs);

#endif
