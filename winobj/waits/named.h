/* SPDX-License-Identifier: MIT */
/* named.h - objects with names, for waits and the functions of their kinds. _locked: under the dispatcher lock. */
#ifndef WINOBJ_NAMED_H
#define WINOBJ_NAMED_H

#include "winobj/names/names.h"
#include "winobj/waits/wait.h"

/*
 * win_named_open - opens the handle of a new object, made by calloc and initialised, as one of a name. Frees it if that
 * fails. name, make, create: as names_open.
 * Returns a handle, with the last error ERROR_SUCCESS or ERROR_ALREADY_EXISTS (create, and the name existed), or NULL
 * with an error of names_open. Without any lock.
 */
HANDLE win_named_open(struct win_waitable *waitable, const struct win_object_type *type,
    const char *name, const struct names_new *make, bool create);

/* Writes into a parcel what opens the object elsewhere; ERROR_NOT_SUPPORTED: it has no name. parcel may be NULL. */
DWORD win_named_carry(
    struct win_waitable *waitable, enum win_parcel_kind kind, struct win_parcel *parcel);
/* What win_named_carry wrote, for win_named_open. */
struct names_new win_named_carried(const struct win_parcel *parcel);
/* The objects of parcels; NULL with the last error. */
HANDLE win_event_receive(const struct win_parcel *parcel);
HANDLE win_mutex_receive(const struct win_parcel *parcel);
HANDLE win_semaphore_receive(const struct win_parcel *parcel);

/* The name that a new object gets: the program's, or one that no program can give, if it is to be inherited. */
struct win_chosen_name {
    char hidden[64];
    const char *name; /* NULL: none */
    bool exact;       /* names_new.exact */
};
void win_named_choose(
    struct win_chosen_name *chosen, const char *name, const SECURITY_ATTRIBUTES *attributes);

/* In the child of a fork: the parent's waits are not the child's. */
void win_named_forked(void);

/* What the functions of the kinds do to an object with a name (names.h); they take the locks. */
int win_named_signal(struct win_waitable *waitable, LONG units, LONG *before);
void win_named_reset(struct win_waitable *waitable);
int win_named_release(struct win_waitable *waitable, struct win_owner *owner);
bool win_named_is_set(struct win_waitable *waitable, bool take);
/* The mutexes with names of a thread that ends. */
void win_named_abandon(uint32_t owner);

/* win_wait_try_locked of a wait with such objects. */
bool win_named_try_locked(struct win_wait *wait);
/* Makes the wait known to other processes, unless an APC has ended it, and tries it. False with the last error. */
bool win_named_begin_locked(struct win_wait *wait, bool *satisfied);
void win_named_end_locked(struct win_wait *wait);

/*
 * win_named_end_by_apc - ends the wait for an APC: from then on no thread or process gives anything to it. False if it
 * has ended already. Under the lock of its thread's APCs; win_named_look follows, without it.
 */
bool win_named_end_by_apc(struct win_wait *wait);
void win_named_look(void);

#endif
