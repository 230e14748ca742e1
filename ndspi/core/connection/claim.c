/* SPDX-License-Identifier: MIT */
#include "ndspi/core/connection/claim.h"

#include "ndspi/core/address.h"

#include "util/list.h"
#include "util/lock.h"

#include <stdbool.h>
#include <stdlib.h>

struct nd_claim {
    struct list_node link;
    struct sockaddr_storage local;
    atomic_uint refs;
};

static struct {
    struct lock lock;
    struct list_head list;
} claims = {
    .lock = LOCK_INIT(LOCK_LISTENER, "claimed ports"),
    .list = { .n = { &claims.list.n, &claims.list.n } },
};

static bool collide(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family || nd_address_port_be(a) != nd_address_port_be(b))
        return false;
    return nd_address_is_wildcard(a) || nd_address_is_wildcard(b) || nd_address_same_ip(a, b);
}

HRESULT nd_claim_take(const struct sockaddr_storage *local, struct nd_claim **out)
{
    struct nd_claim *claim = calloc(1, sizeof(*claim));
    bool taken = false;

    if (!claim)
        return ND_NO_MEMORY;
    claim->local = *local;
    atomic_init(&claim->refs, 1);
    lock_acquire(&claims.lock);
    list_for_each (&claims.list, node)
        taken = taken || collide(&list_entry(node, struct nd_claim, link)->local, local);
    if (!taken)
        list_add_tail(&claims.list, &claim->link);
    lock_release(&claims.lock);
    if (taken) {
        free(claim);
        return ND_SHARING_VIOLATION;
    }
    *out = claim;
    return ND_SUCCESS;
}

struct nd_claim *nd_claim_ref(struct nd_claim *claim)
{
    if (claim)
        atomic_fetch_add_explicit(&claim->refs, 1, memory_order_relaxed);
    return claim;
}

void nd_claim_drop(struct nd_claim *claim)
{
    if (!claim || atomic_fetch_sub_explicit(&claim->refs, 1, memory_order_acq_rel) > 1)
        return;
    lock_acquire(&claims.lock);
    list_del(&claim->link);
    lock_release(&claims.lock);
    free(claim);
}
