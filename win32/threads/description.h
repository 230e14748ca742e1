/* SPDX-License-Identifier: MIT */
/* description.h - descriptions of threads, as UTF-8. */
#ifndef WIN32_THREADS_DESCRIPTION_H
#define WIN32_THREADS_DESCRIPTION_H

#include <windows.h>

#include <stdbool.h>

/*
 * win_thread_describe     gives a thread a description, of malloc's, which then belongs to it
 * win_thread_description  a copy, which the caller frees; NULL: no memory
 * Both return false with the last error: no thread, and nothing is taken over.
 */
bool win_thread_describe(HANDLE thread, char *text);
bool win_thread_description(HANDLE thread, char **text);

#endif
