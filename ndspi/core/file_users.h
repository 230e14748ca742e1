/* SPDX-License-Identifier: MIT */
/*
 * file_users.h - the objects that have their requests on one overlapped file. When the program closes the last handle
 * of the file, Windows cancels all requests pending there; so do these objects.
 *
 * A sink keeps one nd_file_users with each of its files; each nd_pending is a user of its file (pending.h).
 */
#ifndef NDSPI_CORE_FILE_USERS_H
#define NDSPI_CORE_FILE_USERS_H

#include "ndspi/core/exported.h"
#include "ndspi/core/object.h"

#include "util/list.h"
#include "util/lock.h"

struct nd_file_users {
    struct lock lock; /* LOCK_FILE_USERS */
    struct list_head list;
    atomic_bool closed; /* set before the first user's cancel is called */
};

struct nd_file_user {
    struct list_node link;
    struct nd_object *object;
    /* Does what the object's CancelOverlappedRequests does. It is called without locks, with the object pinned. */
    void (*cancel)(struct nd_object *object);
};

void nd_file_users_init(struct nd_file_users *users) __attribute__((visibility("default")));

/*
 * nd_file_users_close - the last handle is closed: every user cancels its requests, and no request begins any more.
 * Threads: any, with no lock held; an object that was released meanwhile may end in here.
 */
void nd_file_users_close(struct nd_file_users *users) __attribute__((visibility("default")));

/* object: complete, its lock included, since cancel may be called at once. */
void nd_file_users_add(struct nd_file_users *users, struct nd_file_user *user,
    struct nd_object *object, void (*cancel)(struct nd_object *object));
/* Called while the object is destroyed. */
void nd_file_users_remove(struct nd_file_users *users, struct nd_file_user *user);

/*
 * If the caller holds a lock that `cancel` takes, from this check until it has begun its request, cancel misses none.
 */
static inline bool nd_file_users_closed(const struct nd_file_users *users)
{
    return atomic_load_explicit(&users->closed, memory_order_relaxed);
}

#endif
