/* SPDX-License-Identifier: MIT */
#include "ndk/dispatch/worker.h"

#include "util/log.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

int ndk_pool_start(struct ndk_pool *pool)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted =
        processors < 1 ? 1 : (processors < NDK_POOL_MOST ? (unsigned)processors : NDK_POOL_MOST);
    int rc;

    lock_init(&pool->lock, LOCK_NDK_POOL, "workers of NDKPI");
    for (pool->count = 0; pool->count < wanted; pool->count++)
        if ((rc = ndk_worker_start(&pool->workers[pool->count].worker, "ndk-cq"))) {
            ndk_pool_stop(pool);
            return rc;
        }
    return 0;
}

void ndk_pool_stop(struct ndk_pool *pool)
{
    while (pool->count)
        ndk_worker_stop(&pool->workers[--pool->count].worker);
}

static bool pin(struct ndk_pool_worker *at, const GROUP_AFFINITY *affinity)
{
    size_t first = 64 * (size_t)affinity->Group;
    cpu_set_t set;

    CPU_ZERO(&set);
    for (unsigned bit = 0; bit < 64 && first + bit < CPU_SETSIZE; bit++)
        if (affinity->Mask >> bit & 1)
            CPU_SET(first + bit, &set);
    if (sched_setaffinity(at->worker.thread, sizeof(set), &set)) {
        log_limited(LOG_WARN, LOG_NDK,
            "cannot bind callbacks to processors 0x%llx of group %u: %s; they run on any processor",
            (unsigned long long)affinity->Mask, affinity->Group, strerror(errno));
        return false;
    }
    at->pinned = true;
    at->affinity = *affinity;
    return true;
}

static struct ndk_pool_worker *with_affinity_locked(
    struct ndk_pool *pool, const GROUP_AFFINITY *affinity)
{
    for (unsigned i = 0; i < pool->count; i++) {
        struct ndk_pool_worker *at = &pool->workers[i];

        if (at->pinned && at->affinity.Mask == affinity->Mask &&
            at->affinity.Group == affinity->Group)
            return at;
    }
    for (unsigned i = 0; i < pool->count; i++)
        if (!pool->workers[i].taken)
            return pin(&pool->workers[i], affinity) ? &pool->workers[i] : NULL;
    return NULL;
}

/* Chooses a worker in turn; a pinned one only if all are pinned. */
static struct ndk_pool_worker *any_locked(struct ndk_pool *pool)
{
    for (unsigned i = 0; i < pool->count; i++) {
        struct ndk_pool_worker *at = &pool->workers[pool->next++ % pool->count];

        if (!at->pinned)
            return at;
    }
    return &pool->workers[pool->next++ % pool->count];
}

struct ndk_worker *ndk_pool_choose(struct ndk_pool *pool, const GROUP_AFFINITY *affinity)
{
    struct ndk_pool_worker *at = NULL;

    lock_acquire(&pool->lock);
    if (affinity && affinity->Mask)
        at = with_affinity_locked(pool, affinity);
    if (!at)
        at = any_locked(pool);
    at->taken = true;
    lock_release(&pool->lock);
    return &at->worker;
}
