/* SPDX-License-Identifier: MIT */
/*
 * handle.h - handles and the objects behind them.
 *
 * A handle names a slot and the slot's generation; its two low bits are the caller's (a tagged handle is the same
 * handle). Slots are never given back to the system, so a look-up of anything at all, stale, foreign or garbage, reads
 * valid memory and fails. The slot's word counts references to the object: one for the open handle, one per pin. The
 * object goes when the last goes. A duplicate is a slot of its own, which holds one reference of the object's.
 *
 * Threads: any. Look-up and release are lock-free; LOCK_WIN_HANDLES guards the free list only.
 */
#ifndef WINOBJ_HANDLE_H
#define WINOBJ_HANDLE_H

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct win_object;

struct win_object_type {
    const char *name;
    bool waitable; /* begins with a win_waitable (dispatch.h) */
    /* CloseHandle took the last handle away; references may remain. May be NULL. */
    void (*close)(struct win_object *object);
    /* The last reference is gone. */
    void (*destroy)(struct win_object *object);
    /* The descriptor of an object that can be exported (winobj_linux.h), or -1 with the last error set. May be NULL. */
    int (*descriptor)(struct win_object *object);
    /* In the child of a fork, which has one thread: forget the parent's other threads and descriptors. */
    void (*forked)(struct win_object *object);
};

struct win_slot {
    _Atomic uint64_t word; /* generation 63..32, open 31, references 30..0 */
    /* valid while references are held; of another slot: this is a duplicate */
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
 * Returns NULL when no slot can be had (last error ERROR_NOT_ENOUGH_MEMORY); the object is then still the caller's.
 */
HANDLE win_handle_open(struct win_object *object, const struct win_object_type *type);

/*
 * win_handle_add - one handle more for an object that has or had one, and is referenced by the caller.
 * Returns NULL with ERROR_NOT_ENOUGH_MEMORY, or ERROR_INVALID_HANDLE: its last one was closed meanwhile, which it was
 * told.
 */
HANDLE win_handle_add(struct win_object *object);

/*
 * win_handle_pin - the object behind a handle, referenced; NULL when the handle is not open or of another type
 * (type NULL: any). Sets no last error.
 */
struct win_object *win_handle_pin(HANDLE handle, const struct win_object_type *type);

/*
 * win_object_name - what finds an object for as long as it exists, whichever of its handles are open by then: for who
 * must neither keep it nor rely on a handle. Never another object's. win_object_find returns it referenced, or NULL.
 */
HANDLE win_object_name(const struct win_object *object);
struct win_object *win_object_find(HANDLE name);

void win_object_ref(struct win_object *object);
void win_object_unref(struct win_object *object);

#endif
