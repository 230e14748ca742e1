/* SPDX-License-Identifier: MIT */
/*
 * watch.h - who watches a source: one word. The reactor does, until a thread of the program polls the source (POLLED).
 * What the reactor finds ready then was that thread's to find, so the reactor pauses (PAUSED), unless the thread needs
 * it in the epoll set (FOUND). For such a thread a peer that shares memory rings no bell (ATTENTIVE), until the thread
 * leaves, or has not polled between two expiries of the source (RECENT). What somebody has to look at soon in any case
 * stands in a list (SOON).
 */
#ifndef SOFTRDMA_EVENTS_WATCH_H
#define SOFTRDMA_EVENTS_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>

enum srd_watch_bit {
    /* a thread has looked at this source alone since the reactor found it ready last, or since it was left */
    SRD_WATCH_POLLED = 1 << 0,
    /* a thread that polls has found it in the set since then (reactor_poll), and needs it there */
    SRD_WATCH_FOUND = 1 << 1,
    /* the set does not have it, since the reactor would find it ready over and over: checked every SRD_SOON_MS */
    SRD_WATCH_PAUSED = 1 << 2,
    /* a thread polls it, so the peer rings no bell, and the reactor sees nothing */
    SRD_WATCH_ATTENTIVE = 1 << 3,
    /* it was polled since it expired last; never without ATTENTIVE */
    SRD_WATCH_RECENT = 1 << 4,
    /* the background thread serves it */
    SRD_WATCH_ATTENDED = 1 << 5,
    /* it stands in the list of sources that are served within SRD_SOON_MS; source.c's lock guards changes */
    SRD_WATCH_SOON = 1 << 6
};

typedef atomic_uint srd_watch;

/* Whether any of the bits is set. */
static inline bool srd_watch_has(const srd_watch *watch, unsigned bits)
{
    return atomic_load_explicit(watch, memory_order_seq_cst) & bits;
}

/* Sets bits. Returns the word before: of threads that set the same one, one does not find it there. */
static inline unsigned srd_watch_set(srd_watch *watch, unsigned bits)
{
    return atomic_fetch_or_explicit(watch, bits, memory_order_seq_cst);
}

/* Clears bits. Returns the word before: of threads that clear the same one, one finds it there. */
static inline unsigned srd_watch_clear(srd_watch *watch, unsigned bits)
{
    return atomic_fetch_and_explicit(watch, ~bits, memory_order_seq_cst);
}

/* srd_watch_set, for little where all of them are set. */
static inline void srd_watch_note(srd_watch *watch, unsigned bits)
{
    if ((atomic_load_explicit(watch, memory_order_relaxed) & bits) != bits)
        srd_watch_set(watch, bits);
}

/* Changes nothing, as an update that comes before another one of the word or after it. Returns the word. */
static inline unsigned srd_watch_touch(srd_watch *watch)
{
    return atomic_fetch_add_explicit(watch, 0, memory_order_seq_cst);
}

/* srd_watch_clear, for little where none of them is set. Returns whether one was. */
static inline bool srd_watch_take(srd_watch *watch, unsigned bits)
{
    return srd_watch_has(watch, bits) && srd_watch_clear(watch, bits) & bits;
}

/* A poll makes the source attentive. Returns whether it was not: then it is to become soon, so that this ends. */
static inline bool srd_watch_attend(srd_watch *watch)
{
    const unsigned both = SRD_WATCH_ATTENTIVE | SRD_WATCH_RECENT;

    return (atomic_load_explicit(watch, memory_order_relaxed) & both) != both &&
           !(srd_watch_set(watch, both) & SRD_WATCH_ATTENTIVE);
}

/*
 * An expiry of the source: it was not polled recently, and at the next expiry is not attentive any more. A poll, or the
 * thread that leaves, comes before this or after it. Returns the word before.
 */
static inline unsigned srd_watch_expire(srd_watch *watch)
{
    unsigned was = atomic_load_explicit(watch, memory_order_seq_cst), without;

    do
        without = was & SRD_WATCH_RECENT ? SRD_WATCH_RECENT : SRD_WATCH_ATTENTIVE;
    while (was & SRD_WATCH_ATTENTIVE &&
           !atomic_compare_exchange_weak_explicit(
               watch, &was, was & ~without, memory_order_seq_cst, memory_order_seq_cst));
    return was;
}

#endif
