/* SPDX-License-Identifier: MIT */
/* order.c - see order.h. One list has the connects of all destinations, in the order of the calls. */
#include "softrdma/cm/order.h"

#include "softrdma/cm/id.h"
#include "util/fork.h"

static struct {
    struct lock lock; /* LOCK_SRD_ORDER */
    struct list_head waiting;
    uint64_t calls;
} order = { .lock = LOCK_INIT(LOCK_SRD_ORDER, "softrdma order"),
    .waiting = { { &order.waiting.n, &order.waiting.n } } };

static bool has_destination(const struct srd_id *id, const struct sockaddr *dst)
{
    const struct sockaddr *own = &id->ibv.route.addr.dst_addr;

    return srd_addr_same_host(own, dst) && srd_addr_port(own) == srd_addr_port(dst);
}

static struct srd_id *first_locked(const struct sockaddr *dst)
{
    list_for_each (&order.waiting, node) {
        struct srd_id *id = list_entry(node, struct srd_id, order_node);

        if (has_destination(id, dst))
            return id;
    }
    return NULL;
}

bool srd_order_call_locked(struct srd_id *id, bool waits)
{
    bool behind;

    lock_assert_held(&id->lock);
    lock_acquire(&order.lock);
    id->order = ++order.calls;
    behind = waits && first_locked(&id->ibv.route.addr.dst_addr);
    if (behind)
        list_add_tail(&order.waiting, &id->order_node);
    lock_release(&order.lock);
    return behind;
}

void srd_order_enter_locked(struct srd_id *id)
{
    struct list_node *before;

    lock_assert_held(&id->lock);
    lock_acquire(&order.lock);
    if (!list_linked(&id->order_node)) {
        before = order.waiting.n.prev;
        while (before != &order.waiting.n &&
               list_entry(before, struct srd_id, order_node)->order > id->order)
            before = before->prev;
        list_insert_(&id->order_node, before, before->next);
    }
    lock_release(&order.lock);
}

void srd_order_leave_locked(struct srd_id *id)
{
    lock_assert_held(&id->lock);
    lock_acquire(&order.lock);
    if (list_linked(&id->order_node))
        list_del(&id->order_node);
    lock_release(&order.lock);
}

bool srd_order_is_first(struct srd_id *id)
{
    bool first;

    lock_acquire(&order.lock);
    first = first_locked(&id->ibv.route.addr.dst_addr) == id;
    lock_release(&order.lock);
    return first;
}

struct srd_id *srd_order_first(const struct sockaddr *dst)
{
    struct srd_id *id;

    lock_acquire(&order.lock);
    id = first_locked(dst);
    if (id)
        srd_id_ref(id);
    lock_release(&order.lock);
    return id;
}

/* The child of a fork forgets the parent's ids, which wait in the parent alone. */
static void forked(void)
{
    lock_init(&order.lock, LOCK_SRD_ORDER, "softrdma order");
    list_init(&order.waiting);
}

FORK_CHILD(forked);
