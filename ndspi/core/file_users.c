/* SPDX-License-Identifier: MIT */
#include "ndspi/core/file_users.h"

void nd_file_users_init(struct nd_file_users *users)
{
    lock_init(&users->lock, LOCK_FILE_USERS, "users of a file");
    list_init(&users->list);
    atomic_init(&users->closed, false);
}

void nd_file_users_add(struct nd_file_users *users, struct nd_file_user *user,
    struct nd_object *object, void (*cancel)(struct nd_object *object))
{
    user->object = object;
    user->cancel = cancel;
    list_node_init(&user->link);
    lock_acquire(&users->lock);
    if (!nd_file_users_closed(users)) /* else no request can begin */
        list_add_tail(&users->list, &user->link);
    lock_release(&users->lock);
}

void nd_file_users_remove(struct nd_file_users *users, struct nd_file_user *user)
{
    lock_acquire(&users->lock);
    list_del(&user->link);
    lock_release(&users->lock);
}

/* Takes the next user whose object is not being destroyed off the list, pinned; NULL: none is left. */
static struct nd_file_user *take_user(struct nd_file_users *users)
{
    struct nd_file_user *user = NULL;
    struct list_node *node;

    lock_acquire(&users->lock);
    while (!user && (node = list_pop(&users->list))) {
        user = list_entry(node, struct nd_file_user, link);
        if (!nd_object_try_pin(user->object))
            user = NULL;
    }
    lock_release(&users->lock);
    return user;
}

void nd_file_users_close(struct nd_file_users *users)
{
    struct nd_file_user *user;

    lock_acquire(&users->lock);
    atomic_store_explicit(&users->closed, true, memory_order_relaxed);
    lock_release(&users->lock);
    while ((user = take_user(users))) {
        struct nd_object *object = user->object;

        user->cancel(object);
        nd_object_unpin(object);
    }
}
