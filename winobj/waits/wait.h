/* SPDX-License-Identifier: MIT */
/* wait.h - a pending wait, between dispatch.c and named.c. */
#ifndef WINOBJ_WAIT_H
#define WINOBJ_WAIT_H

#include "winobj/exported.h"
#include "winobj/waits/dispatch.h"
#include "winobj/waits/mutex.h"

#include "reactor/reactor.h"
#include "util/lock.h"

/*
 * A pending wait: on the stack of the waiting thread, or of no thread (watch.h); linked to each of its objects. The
 * dispatcher lock guards it.
 */
struct win_wait {
    struct reactor_waiter *waiter;
    struct reactor_source
        *source; /* instead of a waiter: run when the wait is satisfied (watch.h) */
    struct win_waitable *const *objects;
    DWORD count;
    bool all;
    bool abandoned;          /* it acquired an abandoned mutex */
    struct win_owner *owner; /* the thread that acquires its mutexes; NULL if it waits for none */
    struct win_alert *alert; /* NULL if it is not alertable */
    int satisfied;           /* index of the object that ended it (0 for all), -1 while it lasts */
    bool named;              /* objects with names are among its objects */
    int others;              /* -1, or its number for other processes; names_lock guards it */
    struct list_node link;   /* among the waits with such a number */
};

struct win_wait_link {
    struct list_node node;
    struct win_wait *wait;
    DWORD index;
};

extern struct lock win_dispatcher;

/* Wakes the thread of a satisfied wait. */
static inline void win_wait_wake(const struct win_wait *wait)
{
    if (wait->source)
        reactor_run(wait->source);
    else
        reactor_signal(wait->waiter);
}

/* Satisfies a wait if its objects allow it; with objects of names among them: under names_lock. */
bool win_wait_try_locked(struct win_wait *wait);

/* Links the wait to its objects by a link for each, unless it is satisfied at once. False with the last error. */
bool win_wait_begin(struct win_wait *wait, struct win_wait_link *links, bool *satisfied);

/* Unlinks it; it may be satisfied by then. */
void win_wait_end(struct win_wait *wait, struct win_wait_link *links);

/* Whether it is satisfied, at the latest by this call. */
bool win_wait_satisfied(struct win_wait *wait);

#endif
