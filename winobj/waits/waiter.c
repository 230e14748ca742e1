/* SPDX-License-Identifier: MIT */
/* waiter.c - each thread's waiter, from a pool that only grows (waiter.h says why). */
#include "winobj/waits/waiter.h"

#include "winobj/fork.h"

#include "util/clock.h"
#include "util/lock.h"
#include "util/once.h"

#include <windows.h>

#include <pthread.h>
#include <stdlib.h>

static struct lock pool_lock = LOCK_INIT(LOCK_WIN_HANDLES, "waiter pool");
static struct list_head pool = { { &pool.n, &pool.n } };
static pthread_key_t key;
static struct once key_once = ONCE_INIT;

static _Thread_local struct win_waiter *self;

static void give_back(void *value)
{
    struct win_waiter *waiter = value;

    self = NULL;
    lock_acquire(&pool_lock);
    list_add_tail(&pool, &waiter->pool);
    lock_release(&pool_lock);
}

static int make_key(void)
{
    return pthread_key_create(&key, give_back);
}

struct win_waiter *win_waiter_self(void)
{
    struct win_waiter *waiter;
    struct list_node *node;

    if (self)
        return self;
    lock_acquire(&pool_lock);
    node = list_pop(&pool);
    lock_release(&pool_lock);
    waiter = node ? list_entry(node, struct win_waiter, pool) : calloc(1, sizeof(*waiter));
    if (!waiter || once_run(&key_once, make_key) || pthread_setspecific(key, waiter)) {
        free(waiter);
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    list_node_init(&waiter->follower);
    list_node_init(&waiter->pool);
    return self = waiter;
}

uint64_t win_deadline_ns(uint32_t timeout_ms)
{
    return timeout_ms == INFINITE ? WIN_NO_DEADLINE
                                  : clock_now_ns() + (uint64_t)timeout_ms * 1000000u;
}

/* The child's one thread keeps its waiter; those of the parent's other threads are given up. */
void win_waiters_forked(void)
{
    lock_init(&pool_lock, LOCK_WIN_HANDLES, "waiter pool");
    list_init(&pool);
    if (self)
        list_node_init(&self->follower);
}
