/* SPDX-License-Identifier: MIT */
/*
 * dispatch.h - objects that WaitForSingleObject and WaitForMultipleObjects wait for, and the one lock over their state.
 *
 * As in the NT kernel, a wait is satisfied by whoever signals, under the dispatcher lock: a signal of an auto-reset
 * object goes to exactly one wait, a wait for all takes all its objects in one step or none. So no signal is lost to a
 * wait that times out at the same moment, and nobody wakes in vain.
 */
#ifndef WINOBJ_DISPATCH_H
#define WINOBJ_DISPATCH_H

#include "winobj/handle.h"

#include "util/list.h"

/* Base of events and threads. Everything under the dispatcher lock. */
struct win_waitable {
    struct win_object object;
    bool signalled;
    bool auto_reset;      /* a satisfied wait takes the signal */
    atomic_int export_fd; /* -1, or an eventfd readable exactly while signalled; closed by fini. Read without the lock */
    struct list_head waits;
};

extern const struct win_object_type win_event_type, win_thread_type;

void win_waitable_init(struct win_waitable *waitable, bool auto_reset, bool signalled);
void win_waitable_fini(struct win_waitable *waitable);

void win_waitable_set(struct win_waitable *waitable);
void win_waitable_reset(struct win_waitable *waitable);

/* What a satisfied wait does: takes the signal of an auto-reset object, if there is one. */
void win_waitable_take(struct win_waitable *waitable);
bool win_waitable_is_set(struct win_waitable *waitable);

/* The eventfd, made at the first call; -1 with errno. It stays the object's. */
int win_waitable_descriptor(struct win_waitable *waitable);

/* Child of a fork: nobody waits, nothing is exported. */
void win_waitable_forked(struct win_waitable *waitable);

/* Pins a handle of any waitable type; NULL when it is none. */
struct win_waitable *win_waitable_pin(HANDLE handle);

/*
 * Waits for one or all of count pinned objects until the deadline (clock_now_ns() time; 0 = do not sleep, but let
 * pending work move once). Returns WAIT_OBJECT_0 + i, WAIT_TIMEOUT, or WAIT_FAILED with the last error.
 */
DWORD win_waitables_wait(struct win_waitable *const *objects, DWORD count, bool all, uint64_t deadline_ns);

#endif
