/* SPDX-License-Identifier: MIT */
/*
 * handle.h - handles and the objects behind them.
 *
 * A handle names a slot and the slot's generation; its two low bits are the caller's (a tagged handle is the same
 * handle). Slots stay allocated, so a look-up of any value (stale, foreign or garbage) reads valid memory and fails.
 * The slot's word counts references to the object: one for the open handle, one per pin. Dropping the last one destroys
 * the object. A duplicate is a slot of its own, which holds one reference to the object.
 *
 * Threads: any. Look-up and release are lock-free; LOCK_WIN_HANDLES guards the free list only.
 */
#ifndef WINOBJ_HANDLE_H
#define WINOBJ_HANDLE_H

#include "winobj/exported.h"
#include "winobj/handles/parcel.h"

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct win_object;

struct win_object_type {
    const char *name;
    bool waitable; /* begins with a win_waitable (dispatch.h) */
    /*
     * A thread is going to wait for the object, whose state need not have been kept until now. False: this one cannot
     * be waited for. NULL: each can, at any time.
     */
    bool (*await)(struct win_object *object);
    /* CloseHandle closed the last handle; references may remain. May be NULL. */
    void (*close)(struct win_object *object);
    /* The last reference was dropped. */
    void (*destroy)(struct win_object *object);
    /* The descriptor of an object that can be exported (winobj_linux.h), or -1 with the last error set. May be NULL. */
    int (*descriptor)(struct win_object *object);
    /* Called in the child of a fork, which has one thread: forgets the parent's other threads and its descriptors. */
    void (*forked)(struct win_object *object);
    /*
     * Writes what another process needs to have the object; parcel NULL: whether its handles may be inherited at all.
     * A Win32 error, ERROR_NOT_SUPPORTED if it cannot be had there. NULL: never.
     */
    DWORD (*carry)(struct win_object *object, struct win_parcel *parcel);
    /* ResumeThread: how often it was suspended before, or (DWORD)-1 with the last error. NULL: it is no thread. */
    DWORD (*resume)(struct win_object *object);
};

struct win_slot {
    _Atomic uint64_t word; /* generation 63..32, open 31, inherited 30, references 29..0 */
    /* valid while references are held; a duplicate if the object has another slot */
    struct win_object *object;
};

/* First member of every object. */
struct win_object {
    const struct win_object_type *type;
    struct win_slot *slot;
    atomic_uint handles; /* open ones */
};

/*
 * win_handle_open - give an object a handle. The object then belongs to its references: the handle is the first.
 * Returns NULL with ERROR_NOT_ENOUGH_MEMORY (no slot); the object then still belongs to the caller.
 */
HANDLE win_handle_open(struct win_object *object, const struct win_object_type *type);

/*
 * win_handle_add - another handle for an object that has or had one, and to which the caller holds a reference.
 * Returns NULL with ERROR_NOT_ENOUGH_MEMORY, or ERROR_INVALID_HANDLE: another thread has closed its last handle, and
 * close has run.
 */
HANDLE win_handle_add(struct win_object *object);

/*
 * win_handle_pin - the object behind a handle, referenced; NULL when the handle is not open or of another type
 * (type NULL: any). Sets no last error.
 */
struct win_object *win_handle_pin(HANDLE handle, const struct win_object_type *type);

/*
 * win_object_name - a name by which win_object_find finds the object as long as it exists, whether its handles are open
 * or not; a weak reference. It never names another object meanwhile. win_object_find returns the object referenced, or
 * NULL; it may be given any value, and finds the object of a handle, too.
 */
HANDLE win_object_name(const struct win_object *object);
struct win_object *win_object_find(HANDLE name);

/*
 * HANDLE_FLAG_INHERIT of a handle: whether CreateProcess hands it on; a flag of the handle, not of the object.
 * win_handle_set_inherit returns ERROR_SUCCESS, ERROR_INVALID_HANDLE, or ERROR_NOT_SUPPORTED: no other process can
 * have the object. Neither sets the last error.
 */
bool win_handle_inherits(HANDLE handle);
DWORD win_handle_set_inherit(HANDLE handle, bool inherit);

/* A new handle, with the flag if the attributes say so. It is one of a type that can be inherited. May be NULL. */
HANDLE win_handle_attribute(HANDLE handle, const SECURITY_ATTRIBUTES *attributes);

/*
 * win_handle_offer - the program has made what other processes fetch by DuplicateHandle: a port, shared memory, an
 * object that may be inherited. Calls the function that win_handle_set_offered named, without a lock; the last error
 * stays.
 */
void win_handle_set_offered(void (*function)(void));
void win_handle_offer(void);

/* The next handle with the flag, from *place on, which is 0 at first; NULL: there are no more. */
HANDLE win_handle_next_inherited(uint32_t *place);

/*
 * win_handle_reserve  keeps the number of a handle of another process free for win_handle_place; false: it is in use
 *                     here, or there is no memory. A child does so for all that it inherits, before anything else
 * win_handle_place    a handle of that number for an object, to which the caller holds a reference
 */
bool win_handle_reserve(HANDLE handle);
void win_handle_place(struct win_object *object, HANDLE handle);

void win_object_ref(struct win_object *object);
void win_object_unref(struct win_object *object);

#endif
