/* SPDX-License-Identifier: MIT */
/*
 * waiter.h - one thread asleep in a wait: how it sleeps, how it is woken, and who leads.
 *
 * Of the threads in a wait, one leads: it sleeps in epoll on the descriptors of all sources and runs what becomes
 * ready. The others follow: they sleep on their word. Without sources everybody follows nobody. A leader that stops
 * hands over to a follower; lead.c does that.
 *
 * A waiter's memory is never freed (waiters are reused by other threads), so a wake-up that comes late hits a valid
 * waiter and at worst makes it look once more. Every user therefore loops: sleep, look whether what it waits for holds.
 */
#ifndef WINOBJ_WAITER_H
#define WINOBJ_WAITER_H

#include "util/list.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum win_waiter_bits { WAITER_SIGNAL = 1, WAITER_LEAD = 2 };
enum win_waiter_mode { WAITER_AWAKE, WAITER_FUTEX, WAITER_EPOLL };

struct win_waiter {
    /* win_waiter_bits; set by others, cleared by the owner. Pairs with mode (both seq_cst) */
    _Atomic uint32_t word;
    _Atomic uint32_t mode;     /* win_waiter_mode; set by the owner */
    struct list_node follower; /* lead.c: followers; win_progress_lock */
    struct list_node pool;
};

/* The calling thread's waiter; NULL with the last error ERROR_NOT_ENOUGH_MEMORY. */
struct win_waiter *win_waiter_self(void);

/* Makes a waiter look. Any thread, any lock below; no system call unless it sleeps. */
void win_waiter_signal(struct win_waiter *waiter);

/* Deadlines: absolute, in clock_now_ns() time. */
#define WIN_NO_DEADLINE UINT64_MAX
uint64_t win_deadline_ns(uint32_t timeout_ms);

/*
 * win_wait_sleep - sleep, leading or following, until signalled or the deadline has passed. Clears the signal.
 * Returns false at the deadline. Spurious returns of true happen. No lock held.
 */
bool win_wait_sleep(struct win_waiter *waiter, uint64_t deadline_ns);

/*
 * win_progress_poll - one look at all sources without sleeping, unless some thread leads (then it does that). No lock
 * held. stays: the caller polls, or may; false for what is waited for by its descriptor, so that the service thread
 * does not take the caller for one that will be back.
 */
void win_progress_poll(bool stays);

/* A wait ended without any sleep or look: this thread is at work and will be back. */
void win_progress_stay(void);

#endif
