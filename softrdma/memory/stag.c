/* SPDX-License-Identifier: MIT */
/*
 * stag.c - see stag.h. RFC 5042: names are random and sparse, their key octet changes at each reuse, and no access
 * reaches the memory once a revocation has returned.
 */
#include "softrdma/memory/stag.h"

#include "softrdma/context.h"
#include "softrdma/queues/qp.h"
#include "util/futex.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>

/* At most a quarter of the 2^24 indices is in use, so a guess fails three times in four and a draw
 * ends soon. */
enum { FIRST_BUCKETS = 256, MAX_BUCKETS = 1 << 20, MAX_ENTRIES = 1 << 22 };

/* pins: accesses in the low bits, revocations that wait for them above, on top whether removal
 * waits for all. */
#define PIN_COUNT   UINT32_C(0x00FFFFFF)
#define PIN_REVOKER UINT32_C(0x01000000)
#define PIN_REMOVER UINT32_C(0x80000000)

static struct srd_stag_table *table_of(struct srd_qp *qp)
{
    return &srd_device_of(((struct ibv_qp *)qp)->context)->stags;
}

static struct srd_stag_entry **bucket(struct srd_stag_table *table, uint32_t key)
{
    return &table->buckets[key >> 8 & table->mask]; /* random already */
}

static struct srd_stag_entry *find_locked(struct srd_stag_table *table, uint32_t key)
{
    struct srd_stag_entry *entry = *bucket(table, key);

    while (entry && entry->key >> 8 != key >> 8)
        entry = entry->next;
    return entry;
}

int srd_stag_table_init(struct srd_stag_table *table)
{
    table->buckets = calloc(FIRST_BUCKETS, sizeof(*table->buckets));
    if (!table->buckets)
        return ENOMEM;
    table->mask = FIRST_BUCKETS - 1;
    table->count = 0;
    list_init(&table->bound);
    lock_init(&table->lock, LOCK_SRD_MEMORY, "softrdma stags");
    return 0;
}

void srd_stag_table_fini(struct srd_stag_table *table)
{
    free(table->buckets);
    table->buckets = NULL;
}

/* Doubles the buckets; a failure leaves longer chains. */
static void grow_locked(struct srd_stag_table *table)
{
    uint32_t old_count = table->mask + 1;
    struct srd_stag_entry **old = table->buckets;
    struct srd_stag_entry **buckets = calloc((size_t)old_count * 2, sizeof(*buckets));

    if (!buckets)
        return;
    table->buckets = buckets;
    table->mask = old_count * 2 - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        while (old[i]) {
            struct srd_stag_entry *entry = old[i];
            old[i] = entry->next;
            entry->next = *bucket(table, entry->key);
            *bucket(table, entry->key) = entry;
        }
    }
    free(old);
}

int srd_stag_add(struct srd_stag_table *table, struct srd_stag_entry *entry)
{
    int error = ENOMEM;

    atomic_init(&entry->pins, 0);
    list_node_init(&entry->bound_node);
    lock_acquire(&table->lock);
    if (table->count > table->mask && table->mask + 1 < MAX_BUCKETS)
        grow_locked(table);
    while (table->count < MAX_ENTRIES) {
        uint32_t key;
        if (getrandom(&key, sizeof(key), 0) != sizeof(key))
            break;
        /* STags 0 and 1 and 0xFFFFFF41 mean something of their own on the wire, see docs/wire.md. */
        if (key >> 8 == 0 || key >> 8 == 0xFFFFFF || find_locked(table, key))
            continue;
        entry->key = key;
        entry->next = *bucket(table, key);
        *bucket(table, key) = entry;
        table->count++;
        error = 0;
        break;
    }
    lock_release(&table->lock);
    return error;
}

static void await_pins(struct srd_stag_entry *entry, uint32_t mask)
{
    uint32_t pins;

    while ((pins = atomic_load_explicit(&entry->pins, memory_order_acquire)) & mask)
        futex_wait(&entry->pins, pins, NULL);
}

/* Takes off what; afterwards the entry may be gone, only its address is used. */
static void drop_pin(struct srd_stag_entry *entry, uint32_t what)
{
    uint32_t left = atomic_fetch_sub_explicit(&entry->pins, what, memory_order_release) - what;

    if (left & ~PIN_COUNT && !(left & PIN_COUNT))
        futex_wake(&entry->pins, INT_MAX);
}

static void unbind_locked(struct srd_stag_entry *window)
{
    window->valid = false;
    window->region->windows--;
    window->region = NULL;
    window->qp = NULL;
    list_del(&window->bound_node);
}

int srd_stag_remove(struct srd_stag_table *table, struct srd_stag_entry *entry)
{
    struct srd_stag_entry **link;

    lock_acquire(&table->lock);
    if (entry->windows) {
        lock_release(&table->lock);
        return EBUSY;
    }
    if (entry->window && entry->valid)
        unbind_locked(entry);
    for (link = bucket(table, entry->key); *link != entry; link = &(*link)->next)
        ;
    *link = entry->next;
    table->count--;
    atomic_fetch_or_explicit(&entry->pins, PIN_REMOVER, memory_order_relaxed);
    lock_release(&table->lock);
    await_pins(entry, ~PIN_REMOVER);
    return 0;
}

static enum srd_stag_error check_locked(const struct srd_stag_entry *entry, const struct srd_qp *qp,
    uint32_t key, uint64_t addr, uint64_t length, int access, bool remote)
{
    if (!entry || entry->key != key || !entry->valid || (entry->window && !remote))
        return SRD_STAG_INVALID;
    if (entry->window ? entry->qp != qp : entry->pd != ((const struct ibv_qp *)qp)->pd)
        return SRD_STAG_STREAM;
    if (length > UINT64_MAX - addr)
        return SRD_STAG_WRAP;
    if (addr < entry->addr || length > entry->length || addr - entry->addr > entry->length - length)
        return SRD_STAG_BOUNDS;
    if ((entry->access & access) != access)
        return SRD_STAG_RIGHTS;
    if (remote && access & ~atomic_load_explicit(&qp->remote_access, memory_order_relaxed))
        return SRD_STAG_RIGHTS;
    return SRD_STAG_OK;
}

enum srd_stag_error srd_stag_pin(struct srd_qp *qp, uint32_t key, uint64_t addr, uint64_t length,
    int access, bool remote, struct srd_stag_entry **entry)
{
    struct srd_stag_table *table = table_of(qp);
    enum srd_stag_error error;

    lock_acquire(&table->lock);
    *entry = find_locked(table, key);
    error = check_locked(*entry, qp, key, addr, length, access, remote);
    if (error)
        *entry = NULL;
    else
        atomic_fetch_add_explicit(&(*entry)->pins, 1, memory_order_relaxed);
    lock_release(&table->lock);
    return error;
}

void srd_stag_unpin(struct srd_stag_entry *entry)
{
    drop_pin(entry, 1);
}

static enum ibv_wc_status bind_locked(struct srd_stag_table *table, struct srd_qp *qp,
    struct srd_stag_entry *window, uint32_t new_rkey, const struct srd_bind *bind)
{
    const int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    struct srd_stag_entry *region = find_locked(table, bind->region_key);

    if (!region || region->window || region->key != bind->region_key)
        return IBV_WC_MW_BIND_ERR;
    if (region->pd != window->pd || window->pd != ((struct ibv_qp *)qp)->pd)
        return IBV_WC_MW_BIND_ERR;
    if (window->valid || new_rkey >> 8 != window->key >> 8 || new_rkey == window->key)
        return IBV_WC_MW_BIND_ERR;
    if (!(region->access & IBV_ACCESS_MW_BIND) || (bind->access & ~(unsigned)remote))
        return IBV_WC_MW_BIND_ERR;
    if ((bind->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
        !(region->access & IBV_ACCESS_LOCAL_WRITE))
        return IBV_WC_MW_BIND_ERR;
    if (!bind->length || bind->addr < region->addr || bind->length > region->length ||
        bind->addr - region->addr > region->length - bind->length)
        return IBV_WC_MW_BIND_ERR;
    window->key = new_rkey;
    window->addr = bind->addr;
    window->length = bind->length;
    window->access = (int)bind->access;
    window->qp = qp;
    window->region = region;
    window->valid = true;
    region->windows++;
    list_add_tail(&table->bound, &window->bound_node);
    return IBV_WC_SUCCESS;
}

enum ibv_wc_status srd_stag_bind(struct srd_qp *qp, struct srd_stag_entry *window,
    uint32_t new_rkey, const struct srd_bind *bind)
{
    struct srd_stag_table *table = table_of(qp);
    enum ibv_wc_status status = IBV_WC_LOC_QP_OP_ERR;

    lock_acquire(&table->lock);
    if (find_locked(table, new_rkey) == window && bind->region_key)
        status = bind_locked(table, qp, window, new_rkey, bind);
    lock_release(&table->lock);
    return status;
}

enum srd_stag_error srd_stag_invalidate(struct srd_qp *qp, uint32_t rkey, bool by_peer)
{
    struct srd_stag_table *table = table_of(qp);
    struct srd_stag_entry *window;
    enum srd_stag_error error = SRD_STAG_OK;

    (void)by_peer; /* the rule is the same: only a bound window, and only of this queue pair */
    lock_acquire(&table->lock);
    window = find_locked(table, rkey);
    if (!window || window->key != rkey || !window->valid)
        error = SRD_STAG_INVALID;
    else if (!window->window)
        error = SRD_STAG_NO_INVALIDATE;
    else if (window->qp != qp)
        error = SRD_STAG_STREAM;
    else {
        unbind_locked(window);
        atomic_fetch_add_explicit(&window->pins, PIN_REVOKER, memory_order_relaxed);
    }
    lock_release(&table->lock);
    if (error)
        return error;
    await_pins(window, PIN_COUNT);
    drop_pin(window, PIN_REVOKER);
    return SRD_STAG_OK;
}

void srd_stag_release_qp(struct srd_qp *qp)
{
    struct srd_stag_table *table = table_of(qp);
    struct srd_stag_entry *window;

    do {
        window = NULL;
        lock_acquire(&table->lock);
        list_for_each (&table->bound, node) {
            struct srd_stag_entry *entry = list_entry(node, struct srd_stag_entry, bound_node);
            if (entry->qp != qp)
                continue;
            window = entry;
            unbind_locked(window);
            atomic_fetch_add_explicit(&window->pins, PIN_REVOKER, memory_order_relaxed);
            break;
        }
        lock_release(&table->lock);
        if (window) {
            await_pins(window, PIN_COUNT);
            drop_pin(window, PIN_REVOKER);
        }
    } while (window);
}
