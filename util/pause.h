/* SPDX-License-Identifier: MIT */
/* pause.h - the processor's pause instruction, for loops that spin on another thread. */
#ifndef UTIL_PAUSE_H
#define UTIL_PAUSE_H

/* Leaves the core to its other hardware thread for some cycles; orders nothing. */
static inline void processor_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* waits some ten cycles; yield does nothing on most processors */
#endif
}

#endif
