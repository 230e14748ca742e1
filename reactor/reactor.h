/* SPDX-License-Identifier: MIT */
/*
 * reactor.h - what threads do while they wait: one reactor per process. Internal: programs never see it; libwinobj
 * and libndspi share it, so it is a shared library.
 *
 * A source is a descriptor, a deadline, or something to run when asked. One thread at a time drives: it sleeps in
 * epoll_wait on the descriptors of all sources and runs their callbacks. So no callback needs a lock against another,
 * unless its source is shared.
 *
 *   a thread that waits (reactor_wait)   drives, unless another thread does; then it follows: it sleeps on a futex
 *                                        word. A driver whose wait ends makes a follower the driver
 *   a thread that polls                  calls reactor_active each time, and reactor_look now and then, or
 *                                        reactor_poll, which looks at the shared sources alone
 *   the background thread                drives when no other has waited or polled for a tick; background.c
 *
 * Callbacks run without any lock of the reactor. They must not wait (reactor_wait), and they delay all others.
 * Every function may be called by any thread, with any lock held but LOCK_REACTOR, unless it says otherwise. In the
 * child of a fork the reactor is empty: it does not know the parent's sources, and calls on them do nothing.
 */
#ifndef REACTOR_REACTOR_H
#define REACTOR_REACTOR_H

#include "reactor/exported.h"
#include "util/list.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REACTOR_API __attribute__((visibility("default")))

/* Stands for no deadline. Deadlines are absolute, in nanoseconds of clock_now_ns(). */
#define REACTOR_NEVER UINT64_MAX

struct reactor_source;
struct reactor_waiter;

/* The kind of thread that runs a callback. */
enum reactor_how {
    REACTOR_WAITING,    /* a thread of the program, in reactor_wait */
    REACTOR_LOOKING,    /* a thread of the program, in reactor_look */
    REACTOR_BACKGROUND, /* the background thread: no thread of the program is at work */
};

struct reactor_source_ops {
    /* The descriptor is ready (events: EPOLL* bits). */
    void (*ready)(struct reactor_source *source, uint32_t events, enum reactor_how how);
    /* The deadline has passed; it is unset when this is called. */
    void (*expired)(struct reactor_source *source, enum reactor_how how);
    /* reactor_run was called. */
    void (*run)(struct reactor_source *source, enum reactor_how how);
    /* The last reference was dropped. NULL: the owner frees the memory. */
    void (*free)(struct reactor_source *source);
    /* Several threads may run ready at once, reactor_poll also with locks held. */
    bool shared;
};

/* Embedded in its owner. Private to the reactor but for ops and fd. */
struct reactor_source {
    const struct reactor_source_ops *ops;
    int fd; /* -1: none */
    atomic_uint refs;
    unsigned process; /* reactor.process of the process that made it */
    /* place in the table; events name both, so that an event of a removed source finds nothing */
    uint32_t slot, generation;
    uint32_t events; /* the EPOLL* bits that the set waits for */
    uint64_t deadline_ns;
    uint32_t heap_index;
    struct list_node run; /* place in the list of sources whose run is to be called */
};

/* The source has one reference, the caller's. */
REACTOR_API void reactor_source_init(
    struct reactor_source *source, const struct reactor_source_ops *ops, int fd);
REACTOR_API void reactor_ref(struct reactor_source *source);
/* Drops a reference; the last one calls ops->free. */
REACTOR_API void reactor_unref(struct reactor_source *source);

/*
 * reactor_add - adds a source: from now on its callbacks run, and the reactor has a reference. Starts the background
 * thread at need.
 * events  in: EPOLLIN and EPOLLOUT as wanted, level-triggered; 0: none for now. Ignored without a descriptor
 * Returns 0, or a negative errno: no memory, descriptor or thread, or epoll cannot wait for the descriptor.
 */
REACTOR_API int reactor_add(struct reactor_source *source, uint32_t events);
/*
 * Changes the events of a source that is added. Returns 0, or a negative errno; then the events are as before.
 */
REACTOR_API int reactor_update(struct reactor_source *source, uint32_t events);
/*
 * reactor_remove       no callback begins any more; one may be running. Does nothing to a source that is not added
 * reactor_remove_sync  besides, none is running when it returns, unless it is the caller's own. Not with a lock held
 *                      that a callback takes. Not for a shared source
 */
REACTOR_API void reactor_remove(struct reactor_source *source);
REACTOR_API void reactor_remove_sync(struct reactor_source *source);

/* Sets the deadline of a source that is added, or unsets it (REACTOR_NEVER). It cannot fail. */
REACTOR_API void reactor_deadline(struct reactor_source *source, uint64_t deadline_ns);
/*
 * Schedules one call of ops->run: at the end of the present turn if this thread drives, else the driver calls it, and
 * this function wakes the driver.
 */
REACTOR_API void reactor_run(struct reactor_source *source);

/* Whether the calling thread is inside a callback. */
REACTOR_API bool reactor_in_turn(void);

/* Returns the calling thread's waiter; NULL: no memory. It is never freed: a signal to an ended thread is harmless. */
REACTOR_API struct reactor_waiter *reactor_waiter_self(void);
/* Ends the present or the next sleep of a waiter. It makes a system call only if the waiter sleeps. */
REACTOR_API void reactor_signal(struct reactor_waiter *waiter);
/* Whether the waiter was signalled since its last sleep ended. */
REACTOR_API bool reactor_is_signalled(struct reactor_waiter *waiter);
/*
 * Whether the function of reactor_before_wait has to return: the waiter is signalled; a source is to be run, which
 * reactor_wait does next; or another thread waits, and relies on this thread, the driver, to look at its sources.
 */
REACTOR_API bool reactor_is_wanted(struct reactor_waiter *waiter);
/*
 * reactor_wait - sleep, and drive meanwhile unless another thread does. Not from a callback; no lock held.
 * waiter        in: the calling thread's
 * cancel_state  in: the thread's cancel state while it sleeps (pthread_setcancelstate); a driver that is canceled there
 *               makes a follower the driver
 * Returns 0 when signalled, or spuriously, so the caller loops; -ETIMEDOUT at the deadline; -EINTR when a signal
 * handler ended the sleep.
 */
REACTOR_API int reactor_wait(struct reactor_waiter *waiter, uint64_t deadline_ns, int cancel_state);

extern REACTOR_API atomic_uint reactor_activity;

/*
 * A thread of the program says that it has just looked for work itself, so that the background thread does not drive.
 * Lost updates are harmless.
 */
static inline void reactor_active(void)
{
    atomic_store_explicit(&reactor_activity,
        atomic_load_explicit(&reactor_activity, memory_order_relaxed) + 1, memory_order_relaxed);
}

/*
 * Makes one turn without a sleep, unless another thread drives: runs the callbacks of sources that are ready, due, or
 * to be run. A thread that calls it in a loop calls reactor_active, too. The caller holds no lock.
 */
REACTOR_API void reactor_look(void);
/*
 * Calls ops->ready (REACTOR_LOOKING) of the shared sources that are ready, whichever thread drives. The caller may hold
 * any lock that these callbacks do not take. Returns whether any source was ready.
 */
REACTOR_API bool reactor_poll(void);
/* The calling thread, which called reactor_active, is about to sleep elsewhere: the background thread takes over. */
REACTOR_API void reactor_leave(void);
/*
 * Each thread that begins a reactor_wait calls function before it sleeps, with the waiter and the deadline of that
 * wait. The thread drives already, unless another does. The function may poll, for a moment and until
 * reactor_is_wanted, for whatever ends the wait. The process has one such function, which cannot be replaced.
 */
typedef void reactor_before_fn(struct reactor_waiter *waiter, uint64_t deadline_ns);
REACTOR_API void reactor_before_wait(reactor_before_fn *function);

/*
 * reactor_before_exit  has reactor_exits call function, which may find any lock taken, also by its own thread. The
 *                      process has one such function; NULL removes it
 * reactor_exits        the calling thread is about to end the process without exit's handlers
 */
typedef void reactor_exit_fn(void);
REACTOR_API void reactor_before_exit(reactor_exit_fn *function);
REACTOR_API void reactor_exits(void);

/*
 * Does what reactor_wait does before it sleeps, for a thread that is about to sleep where the reactor does not see it:
 * calls the function of reactor_before_wait, and runs the sources that this asks to be run. Returns whether the thread
 * was signalled, and clears the signal.
 */
REACTOR_API bool reactor_wait_awake(struct reactor_waiter *waiter);

/*
 * A thread may be lent as the background thread.
 *
 * reactor_lend     called before the first source is added: no background thread is started. Returns 0, -EBUSY (too
 *                  late), or a negative errno
 * reactor_serve    makes the calling thread the background thread, and never returns. turn: called after each turn,
 *                  outside of callbacks
 * reactor_is_lent  whether a thread is lent: then threads of the program wait where the reactor does not see them, and
 *                  what the background thread finds is for them
 */
REACTOR_API int reactor_lend(void);
REACTOR_API _Noreturn void reactor_serve(void (*turn)(void));
REACTOR_API bool reactor_is_lent(void);

#ifdef __cplusplus
}
#endif
#endif
