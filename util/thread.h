/* SPDX-License-Identifier: MIT */
/* thread.h - threads of the library's own. */
#ifndef UTIL_THREAD_H
#define UTIL_THREAD_H

/*
 * thread_start_detached - starts a detached thread that blocks every signal but SIGSEGV and SIGBUS, since signals are
 * the program's.
 * name      for debuggers: at most 15 characters, a literal. Set before entry begins
 * entry     runs in the thread, with argument; the thread ends with it
 * Returns   0; -EINVAL (name too long), -ENOMEM, -EAGAIN (a limit on threads): then entry has not been called, nor will
 * be.
 * Threads   any; the caller's own signal mask is as before.
 */
int thread_start_detached(const char *name, void (*entry)(void *argument), void *argument);

#endif
