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

#include "winobj/handles/handle.h"

#include "util/list.h"

struct win_waitable;
struct win_owner;

/* What waits ask of objects that a thread has (mutexes). _locked: the dispatcher lock. */
struct win_owned_ops {
    /* The calling thread as owner; NULL with the last error. */
    struct win_owner *(*self)(void);
    bool (*is_owned_locked)(const struct win_waitable *waitable, const struct win_owner *owner);
    /* Gives the object to its new owner, or once more to the one it has. Returns whether it was abandoned. */
    bool (*take_locked)(struct win_waitable *waitable, struct win_owner *owner);
};

/* What a satisfied wait takes. */
enum win_waitable_kind {
    WAITABLE_MANUAL, /* nothing: manual-reset event, thread */
    WAITABLE_AUTO,   /* the signal */
    WAITABLE_COUNT,  /* one of count units; signalled while there are some */
    WAITABLE_OWNED,  /* the whole, for a thread (owned); signalled while nobody has it */
};

/* Base of events, threads, semaphores, mutexes, timers. Everything under the dispatcher lock. */
struct win_waitable {
    struct win_object object;
    enum win_waitable_kind kind;
    bool signalled;
    LONG count; /* WAITABLE_COUNT; WAITABLE_OWNED: how often its owner has it */
    const struct win_owned_ops *owned; /* WAITABLE_OWNED */
    /* -1, or an eventfd readable exactly while signalled; closed by fini. Read without the lock */
    atomic_int export_fd;
    struct list_head waits;
};

extern const struct win_object_type win_event_type, win_thread_type;

void win_waitable_init(struct win_waitable *waitable, enum win_waitable_kind kind, bool signalled);
void win_waitable_fini(struct win_waitable *waitable);

void win_waitable_set(struct win_waitable *waitable);
void win_waitable_reset(struct win_waitable *waitable);

/*
 * win_waitable_change - a step of an object's own kind, under the dispatcher lock, after which the waits it allows are
 * satisfied. change returns whether the object is signalled now; it sees and sets the rest. Any thread; no call out of
 * it.
 */
void win_waitable_change(struct win_waitable *waitable,
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument);

/* The same for each object that next gives (under the lock), until NULL, in one step. */
void win_waitable_change_each(struct win_waitable *(*next)(void *argument),
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument);

/* A handle's object of one type, for a change; false with ERROR_INVALID_HANDLE. */
bool win_handle_change(HANDLE handle, const struct win_object_type *type,
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument);

/*
 * win_waitable_open - gives a new object, made by calloc and initialised, its handle; frees it where that fails. Clears
 * the last error, as on Windows, where it tells new from existing.
 */
HANDLE win_waitable_open(struct win_waitable *waitable, const struct win_object_type *type);

/* Of types that need no more: as struct win_object_type has them. */
void win_waitable_destroy(struct win_object *object);
int win_waitable_object_descriptor(struct win_object *object);
void win_waitable_object_forked(struct win_object *object);

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
 * pending work move once). Returns WAIT_OBJECT_0 + i, WAIT_ABANDONED_0 + i, WAIT_TIMEOUT, or WAIT_FAILED with the last
 * error.
 */
DWORD win_waitables_wait(
    struct win_waitable *const *objects, DWORD count, bool all, uint64_t deadline_ns);

#endif
