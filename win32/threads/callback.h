/* SPDX-License-Identifier: MIT */
/*
 * callback.h - what timer queues, their timers and registered waits have in common: calls of the program's function by
 * threads of the pool, and an end that can be waited for.
 *
 * Such an object is no handle, as on Windows: the program gets its name (handle.h), by which only these functions find
 * it. One lock guards all of them (win_callbacks_lock).
 */
#ifndef WIN32_THREADS_CALLBACK_H
#define WIN32_THREADS_CALLBACK_H

#include "winobj/handles/handle.h"
#include "winobj/requests/port.h"

#include "reactor/reactor.h"

struct win_callback;

struct win_callback_ops {
    struct win_object_type type; /* its forked is win_callback_forked */
    struct reactor_source_ops
        source; /* free: win_callback_source_free; or none: it has no source */
    /* A thread of the pool calls it, once for each win_callback_post_locked; several may run at once. */
    void (*call)(struct win_callback *callback);
    /* It is being closed, and `closed` is set: stops further posts. Under the lock; may post. */
    void (*stop_locked)(struct win_callback *callback);
    /*
     * It is over, or is as soon as this returns: releases what the program may then expect to be free. Without the
     * lock.
     */
    void (*release)(struct win_callback *callback);
};

struct win_callback {
    struct win_object object; /* first */
    const struct win_callback_ops *ops;
    struct reactor_source source;
    struct win_packet packet;
    struct win_callback *owner; /* a timer's queue, referenced, whose timers count it; else NULL */
    unsigned pending;           /* calls posted that have not begun */
    unsigned calls;             /* calls posted that have not ended */
    unsigned timers;            /* a queue's timers that are not over */
    bool queued;                /* the packet is on its way to the pool */
    bool closed;
    bool over;                  /* closed, without calls and timers */
    struct win_waitable *event; /* NULL, or what the end signals; referenced */
};

/*
 * win_callback_open - begins an object that was made by calloc; destroys it if that fails.
 * Returns its name; NULL with ERROR_NOT_ENOUGH_MEMORY or ERROR_NO_SYSTEM_RESOURCES (no descriptor or thread).
 */
HANDLE win_callback_open(struct win_callback *callback, const struct win_callback_ops *ops);

/* The open object of a name, referenced; NULL with ERROR_INVALID_HANDLE. */
struct win_callback *win_callback_pin(HANDLE name, const struct win_callback_ops *ops);

/*
 * win_callback_close - ends an object: no call begins but those that were posted.
 * event    in: NULL; INVALID_HANDLE_VALUE: returns when all calls have; or an event, to be signalled then
 * Returns  TRUE if no call was pending or running, or with INVALID_HANDLE_VALUE. FALSE with ERROR_IO_PENDING: it ends
 *          with its calls; ERROR_INVALID_HANDLE (no such object, or closed already; no event), ERROR_POSSIBLE_DEADLOCK
 *          (INVALID_HANDLE_VALUE in one of its own calls: it stays open), ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL win_callback_close(HANDLE name, const struct win_callback_ops *ops, HANDLE event);

void win_callbacks_lock(void);
void win_callbacks_unlock(void);

/* The caller of the functions below holds the lock. */

/* Has a thread of the pool call it once more. Cannot fail. */
void win_callback_post_locked(struct win_callback *callback);

/* A call other than win_callback_ops.call begins, and ends; done takes the lock. */
void win_callback_count_locked(struct win_callback *callback);
void win_callback_done(struct win_callback *callback);

/* A timer begins to belong to a queue that is open; it ends that when it is over. */
void win_callback_belong_locked(struct win_callback *callback, struct win_callback *owner);

/* Closes one that is open, without an event. Its memory may go, unless the caller has a reference. */
void win_callback_close_locked(struct win_callback *callback);

/* Sets the object whose call the calling thread runs; returns the one before. Needs no lock. */
struct win_callback *win_callback_enter(struct win_callback *callback);

/* Frees the source, which held a reference. */
void win_callback_source_free(struct reactor_source *source);

/* The forked of win_object_type: forgets pending calls, since the child has no threads of the pool. */
void win_callback_forked(struct win_object *object);

#endif
