/* SPDX-License-Identifier: MIT */
/*
 * named.h - what waits and the functions of events, mutexes and semaphores ask of whoever has the objects with names.
 * Such an object has a number (win_waitable.name); its state is where other processes have it, too. _locked: under the
 * dispatcher lock.
 */
#ifndef WINOBJ_NAMED_H
#define WINOBJ_NAMED_H

#include "winobj/exported.h"
#include "winobj/waits/wait.h"

/* What Create functions say of an object besides what it has itself. */
struct win_named_new {
    const char *name; /* NULL or empty: one that no program can give */
    const SECURITY_ATTRIBUTES *attributes;
    LONG most;                     /* the largest count, if it is a semaphore */
    const struct win_owner *owner; /* the calling thread, if it acquires the new mutex; else NULL */
};

/* Whether the object has a name: the program's, or one for other processes that inherit it. */
static inline bool win_named_wanted(const struct win_named_new *how)
{
    return (how->name && *how->name) || (how->attributes && how->attributes->bInheritHandle);
}

/* The dispatcher lock is held where the name of a member ends in _locked, and is free elsewhere. */
struct win_named_ops {
    /*
     * Opens the handle of a new object, made by calloc and initialised, as one of a name. Frees it if that fails.
     * Returns a handle, with the last error ERROR_SUCCESS or ERROR_ALREADY_EXISTS, or NULL with the last error.
     */
    HANDLE(*create)
    (struct win_waitable *waitable, const struct win_object_type *type,
        const struct win_named_new *how);
    void (*close)(int name); /* the object goes */
    /* Writes what opens the object elsewhere (handle.h). */
    DWORD (*carry)(const struct win_waitable *waitable, struct win_parcel *parcel);

    /* What the functions of the kinds do to an object. */
    int (*signal)(struct win_waitable *waitable, LONG units, LONG *before); /* 0 or -EOVERFLOW */
    void (*reset)(struct win_waitable *waitable);
    int (*release)(struct win_waitable *waitable, const struct win_owner *owner); /* 0 or -EPERM */
    bool (*is_set)(struct win_waitable *waitable, bool take);
    /* The mutexes of a thread that ends. */
    void (*abandon)(const struct win_owner *owner);

    /* win_wait_try_locked of a wait with such objects, which calls the next three for them. */
    bool (*try_locked)(struct win_wait *wait);
    bool (*is_there_locked)(int name, const struct win_owner *owner);
    bool (*take_locked)(
        int name, const struct win_owner *owner);      /* whether it was an abandoned mutex */
    void (*taken_locked)(const struct win_wait *wait); /* all that it takes */

    /* Makes the wait known to other processes, unless an APC has ended it, and tries it. False with the last error. */
    bool (*begin_locked)(struct win_wait *wait, bool *satisfied);
    void (*end_locked)(struct win_wait *wait);
    /*
     * Ends the wait for an APC: from then on no thread or process gives anything to it. False if it has ended already.
     * Under the lock of its thread's APCs; look follows, without it.
     */
    bool (*end_by_apc)(struct win_wait *wait);
    void (*look)(void);

    /* Called in the child of a fork, which has none of the parent's waits: forgets them. */
    void (*forked)(void);
};

/* NULL: libndwin32 is not loaded. An object with a name has them. */
extern const struct win_named_ops *_Atomic win_named;

/* Sets them, once, when libndwin32 is loaded. */
void win_named_register(const struct win_named_ops *ops);

/*
 * win_waitable_create - opens the handle of a new object, made by calloc and initialised, with a name if it wants one.
 * Frees it if that fails.
 * Returns NULL with the last error, as win_waitable_open and win_named_ops.create have it; ERROR_NOT_SUPPORTED: the
 * log says that libndwin32 is not loaded.
 */
HANDLE win_waitable_create(struct win_waitable *waitable, const struct win_object_type *type,
    const struct win_named_new *how);

/* win_object_type.carry of the kinds that can have a name; ERROR_NOT_SUPPORTED: it has none. */
DWORD win_waitable_carry(struct win_object *object, struct win_parcel *parcel);

/*
 * New objects without a handle; NULL with ERROR_NOT_ENOUGH_MEMORY.
 * count    units that the semaphore has
 */
struct win_waitable *win_event_new(bool manual_reset, bool signalled);
struct win_waitable *win_mutex_new(void);
struct win_waitable *win_semaphore_new(LONG count, LONG most);
extern const struct win_object_type win_mutex_type, win_semaphore_type;

#endif
