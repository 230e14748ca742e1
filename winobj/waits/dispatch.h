/* SPDX-License-Identifier: MIT */
/*
 * dispatch.h - objects that WaitForSingleObject and WaitForMultipleObjects wait for, and the one lock over their state.
 *
 * As in the NT kernel, the thread that signals satisfies the waits, under the dispatcher lock: a signal of an
 * auto-reset object goes to exactly one wait, a wait for all takes all its objects in one step or none. So a wait that
 * times out at the same moment loses no signal, and no thread wakes without its wait being satisfied.
 */
#ifndef WINOBJ_DISPATCH_H
#define WINOBJ_DISPATCH_H

#include "winobj/exported.h"
#include "winobj/handles/handle.h"

#include "util/list.h"

struct win_waitable;

/* What a satisfied wait takes. */
enum win_waitable_kind {
    WAITABLE_MANUAL, /* nothing: manual-reset event, thread */
    WAITABLE_AUTO,   /* the signal */
    WAITABLE_COUNT,  /* one of count units; signalled while there are some */
    WAITABLE_OWNED,  /* the object, for the calling thread; signalled while no thread owns it */
};

/* Base of events, threads, semaphores, mutexes, timers. The dispatcher lock guards all members. */
struct win_waitable {
    struct win_object object;
    enum win_waitable_kind kind;
    bool signalled;
    LONG count; /* WAITABLE_COUNT: units; WAITABLE_OWNED: how often its owner acquired it */
    /* -1, or an eventfd readable exactly while signalled; win_waitable_fini closes it. Read without the lock */
    atomic_int export_fd;
    struct list_head waits;
    int name; /* -1, or its number among the objects with names (names.h), which then have its state */
};

extern const struct win_object_type win_event_type, win_thread_type;

void win_waitable_init(struct win_waitable *waitable, enum win_waitable_kind kind, bool signalled);
void win_waitable_fini(struct win_waitable *waitable);

void win_waitable_set(struct win_waitable *waitable);
void win_waitable_reset(struct win_waitable *waitable);

/*
 * win_waitable_change - calls change under the dispatcher lock, then satisfies the waits that the object now allows.
 * change may read and set the object's members, and returns whether the object is signalled. It must call nothing that
 * takes a lock. Any thread.
 */
void win_waitable_change(struct win_waitable *waitable,
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument);

/* Does what win_waitable_change does to each object that next returns, until NULL, and holds the lock all the time. */
void win_waitable_change_each(struct win_waitable *(*next)(void *argument),
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument);

/* win_waitable_change of a handle's object, which must be of a type; false with ERROR_INVALID_HANDLE. */
bool win_handle_change(HANDLE handle, const struct win_object_type *type,
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument);

/*
 * win_waitable_open - opens the handle of a new object, made by calloc and initialised; frees the object if that fails.
 * Clears the last error, which on Windows shows that the object is new.
 */
HANDLE win_waitable_open(struct win_waitable *waitable, const struct win_object_type *type);

/* Members of struct win_object_type for types that add nothing to win_waitable. */
void win_waitable_destroy(struct win_object *object);
int win_waitable_object_descriptor(struct win_object *object);
void win_waitable_object_forked(struct win_object *object);

/* Does what a satisfied wait does: takes the signal of an auto-reset object, if there is one. */
void win_waitable_take(struct win_waitable *waitable);
bool win_waitable_is_set(struct win_waitable *waitable);

/* The eventfd, made at the first call; -1 with errno. The object owns it. */
int win_waitable_descriptor(struct win_waitable *waitable);

/* Drops the parent's waits and descriptor in the child of a fork. */
void win_waitable_forked(struct win_waitable *waitable);

/* Pins the object of a handle that can be waited for, also a socket; NULL for another handle. */
struct win_waitable *win_waitable_pin(HANDLE handle);

/*
 * Waits for one or all of count pinned objects until the deadline (clock_now_ns() time; 0 = do not sleep, but do
 * pending work once). Returns WAIT_OBJECT_0 + i, WAIT_ABANDONED_0 + i, WAIT_TIMEOUT, WAIT_FAILED with the last error,
 * or, if alertable, WAIT_IO_COMPLETION: no object was taken, and the caller runs win_apcs_run without a lock.
 */
DWORD win_waitables_wait(struct win_waitable *const *objects, DWORD count, bool all,
    uint64_t deadline_ns, bool alertable);

#endif
