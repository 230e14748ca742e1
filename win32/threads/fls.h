/* SPDX-License-Identifier: MIT */
/* fls.h - the end of a thread's values of FlsSetValue. */
#ifndef WIN32_THREADS_FLS_H
#define WIN32_THREADS_FLS_H

/* The calling thread ends: calls the callbacks of its values. No lock held. */
void win_fls_thread_ends(void);

#endif
