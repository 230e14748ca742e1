/* SPDX-License-Identifier: MIT */
/* fls.h - the end of a thread's values of FlsSetValue. */
#ifndef WINOBJ_FLS_H
#define WINOBJ_FLS_H

/* The calling thread ends: calls the callbacks of its values. No lock held. */
void win_fls_thread_ends(void);

#endif
