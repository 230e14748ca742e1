/* SPDX-License-Identifier: MIT */
/* thread.h - what is done to a thread from outside: by its kernel id, while it lives; and its handles. */
#ifndef WINOBJ_THREAD_H
#define WINOBJ_THREAD_H

#include <windows.h>

#include <stdbool.h>

/*
 * win_thread_apply - calls a function with the kernel's id of a thread, which does not end meanwhile.
 * thread  a handle, or GetCurrentThread()
 * Returns false with ERROR_INVALID_HANDLE (no thread made here; it has ended), or with the last error of apply.
 */
bool win_thread_apply(HANDLE thread, bool (*apply)(int id, void *argument), void *argument);

/* A new handle of the calling thread, of any origin: signalled when it ends. NULL with ERROR_NOT_ENOUGH_MEMORY. */
HANDLE win_thread_self_handle(void);

#endif
