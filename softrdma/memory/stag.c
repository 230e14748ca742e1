/* SPDX-License-Identifier: MIT */
/*
 * stag.c - see stag.h. As RFC 5042 requires, keys are random and sparse, their key octet changes at each reuse, and no
 * access reaches the memory once a revocation has returned.
 */
#include "softrdma/memory/table.h"

#include "softrdma/context/context.h"
#include "util/futex.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>

/*
 * MAX_ENTRIES is a quarter of the 2^24 indices: a guessed key mostly names nothing, and a free index is drawn quickly.
 */
enum { FIRST_BUCKETS = 256, MAX_BUCKETS = 1 << 20, MAX_ENTRIES = 1 << 22 };

/*
 * The word pins: the low bits count accesses, the bits above revocations that wait for them; the highest says that the
 * entry is in no table, or that a removal waits for both.
 */
#define PIN_COUNT   UINT32_C(0x00FFFFFF)
#define PIN_REVOKER UINT32_C(0x01000000)
#define PIN_REMOVER UINT32_C(0x80000000)

int srd_stag_table_init(struct srd_stag_table *table)
{
    table->buckets = calloc(FIRST_BUCKETS, sizeof(*table->buckets));
    if (!table->buckets)
        return ENOMEM;
    table->mask = FIRST_BUCKETS - 1;
    table->count = table->n_gone = 0;
    table->unused = NULL;
    list_init(&table->bound);
    lock_init(&table->lock, LOCK_SRD_MEMORY, "softrdma stags");
    return 0;
}

void srd_stag_table_fini(struct srd_stag_table *table)
{
    free(table->buckets);
    table->buckets = NULL;
}

/* Doubles the number of buckets; if that fails, chains are longer. */
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
            entry->next = *srd_stag_bucket(table, entry->key);
            *srd_stag_bucket(table, entry->key) = entry;
        }
    }
    free(old);
}

struct srd_stag_entry *srd_stag_take(struct srd_stag_table *table)
{
    struct srd_stag_entry *entry;

    lock_acquire(&table->lock);
    entry = table->unused;
    if (entry)
        table->unused = entry->next;
    lock_release(&table->lock);
    if (!entry && (entry = calloc(1, sizeof(*entry))))
        atomic_init(&entry->pins, PIN_REMOVER);
    return entry;
}

/*
 * Clears all members but key and pins: a thread that used the entry last may still add a pin, and take it off again
 * when it finds that the entry is in no table.
 */
static void clear(struct srd_stag_entry *entry)
{
    entry->window = entry->by_domain = entry->valid = entry->used = false;
    entry->access = 0;
    entry->addr = entry->length = 0;
    entry->pd = NULL;
    entry->max_pages = entry->offset = 0;
    entry->list = entry->spare = NULL;
}

void srd_stag_give(struct srd_stag_table *table, struct srd_stag_entry *entry)
{
    clear(entry);
    lock_acquire(&table->lock);
    entry->next = table->unused;
    table->unused = entry;
    lock_release(&table->lock);
}

int srd_stag_add(struct srd_stag_table *table, struct srd_stag_entry *entry)
{
    int error = ENOMEM;

    list_node_init(&entry->bound_node);
    lock_acquire(&table->lock);
    if (table->count > table->mask && table->mask + 1 < MAX_BUCKETS)
        grow_locked(table);
    while (table->count < MAX_ENTRIES) {
        uint32_t key;
        if (getrandom(&key, sizeof(key), 0) != sizeof(key))
            break;
        /* STags 0, 1 and 0xFFFFFF41 have special meanings on the wire, see docs/wire.md. */
        if (key >> 8 == 0 || key >> 8 == 0xFFFFFF || srd_stag_find_locked(table, key))
            continue;
        entry->key = key;
        entry->next = *srd_stag_bucket(table, key);
        *srd_stag_bucket(table, key) = entry;
        table->count++;
        /* The entry can be pinned after this store, which pairs with pin_seen. */
        atomic_fetch_and_explicit(&entry->pins, ~PIN_REMOVER, memory_order_release);
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

/* Takes what off the pins. Another thread may free the entry afterwards, so only its address is used then. */
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
    for (link = srd_stag_bucket(table, entry->key); *link != entry; link = &(*link)->next)
        ;
    *link = entry->next;
    table->count--;
    table->gone[table->n_gone++ % SRD_STAG_GONE_KEYS] = entry->key;
    atomic_fetch_or_explicit(&entry->pins, PIN_REMOVER, memory_order_relaxed);
    lock_release(&table->lock);
    await_pins(entry, ~PIN_REMOVER);
    return 0;
}

/*
 * pd: the domain whose regions count. It is inlined, since each message is checked by it, and a call would cost 22
 * instructions.
 */
static inline __attribute__((always_inline)) enum srd_stag_error check_locked(
    const struct srd_stag_entry *entry, const struct srd_qp *qp, const struct ibv_pd *pd,
    uint32_t key, uint64_t addr, uint64_t length, int access, bool remote)
{
    if (!entry || entry->key != key || !entry->valid || (entry->window && !remote))
        return SRD_STAG_INVALID;
    if (entry->window && !entry->by_domain ? entry->qp != qp : entry->pd != pd)
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

static enum srd_stag_error look_up(struct srd_qp *qp, const struct ibv_pd *pd, uint32_t key,
    uint64_t addr, uint64_t length, int access, bool remote, struct srd_stag_entry **entry)
{
    struct srd_stag_table *table = srd_stag_table_of(qp);
    enum srd_stag_error error;

    lock_acquire(&table->lock);
    *entry = srd_stag_find_locked(table, key);
    error = check_locked(*entry, qp, pd, key, addr, length, access, remote);
    if (error)
        *entry = NULL;
    else
        atomic_fetch_add_explicit(&(*entry)->pins, 1, memory_order_relaxed);
    lock_release(&table->lock);
    return error;
}

enum srd_stag_error srd_stag_pin(struct srd_qp *qp, uint32_t key, uint64_t addr, uint64_t length,
    int access, bool remote, struct srd_stag_entry **entry)
{
    return look_up(qp, ((const struct ibv_qp *)qp)->pd, key, addr, length, access, remote, entry);
}

/*
 * Pins the region used last, if the key still names it. A thread that removes it from the table sets PIN_REMOVER in the
 * word of the pin, then waits for pins: so one of the two threads sees the other. No member that is read here changes
 * before that, except a fast region's, as which the entry may be in use again.
 */
static inline __attribute__((always_inline)) bool pin_seen(struct srd_stag_entry *seen,
    const struct srd_qp *qp, const struct ibv_pd *pd, uint32_t key, uint64_t addr, uint64_t length,
    int access)
{
    if (!seen || atomic_load_explicit(&seen->key, memory_order_relaxed) != key)
        return false;
    if (!(atomic_fetch_add_explicit(&seen->pins, 1, memory_order_acquire) & PIN_REMOVER) &&
        !seen->max_pages && !check_locked(seen, qp, pd, key, addr, length, access, false))
        return true;
    drop_pin(seen, 1);
    return false;
}

/* Pins the region of a local access: the one in *seen, or the one that the table finds, which *seen becomes then. */
static inline __attribute__((always_inline)) enum srd_stag_error pin_local(struct srd_qp *qp,
    struct srd_stag_entry **seen, const struct ibv_pd *pd, uint32_t key, uint64_t addr,
    uint64_t length, int access, struct srd_stag_entry **entry)
{
    enum srd_stag_error error;

    if (pin_seen(*seen, qp, pd, key, addr, length, access)) {
        *entry = *seen;
        return SRD_STAG_OK;
    }
    error = look_up(qp, pd, key, addr, length, access, false, entry);
    if (!error && !(*entry)->max_pages)
        *seen = *entry; /* it is a region, since a window has no local accesses */
    return error;
}

enum srd_stag_error srd_stag_pin_send(struct srd_qp *qp, struct srd_stag_entry **seen, uint32_t key,
    uint64_t addr, uint64_t length, struct srd_stag_entry **entry)
{
    return pin_local(qp, seen, ((const struct ibv_qp *)qp)->pd, key, addr, length, 0, entry);
}

enum srd_stag_error srd_stag_pin_receive(struct srd_qp *qp, struct srd_stag_entry **seen,
    uint32_t key, uint64_t addr, uint64_t length, struct srd_stag_entry **entry)
{
    const struct ibv_qp *ibv = (const struct ibv_qp *)qp;

    return pin_local(qp, seen, ibv->srq ? ibv->srq->pd : ibv->pd, key, addr, length,
        IBV_ACCESS_LOCAL_WRITE, entry);
}

void srd_stag_unpin(struct srd_stag_entry *entry)
{
    drop_pin(entry, 1);
}

/* Whether the Bind can be executed. */
static bool may_bind_locked(struct srd_stag_table *table, struct srd_qp *qp,
    struct srd_stag_entry *window, uint32_t new_rkey, const struct srd_bind *bind)
{
    const unsigned remote =
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    struct srd_stag_entry *region;

    if (window->pd != ((struct ibv_qp *)qp)->pd || (new_rkey == window->key && window->used))
        return false;
    if (window->by_domain && !bind->length)
        return true;
    region = srd_stag_find_locked(table, bind->region_key);
    if (!region || region->window || region->key != bind->region_key || region->pd != window->pd)
        return false;
    if (window->valid && !window->by_domain)
        return false;
    /* Local write means nothing for a peer, but rdma-core's tests ask for it. */
    if (!(region->access & IBV_ACCESS_MW_BIND) || bind->access & ~(remote | IBV_ACCESS_LOCAL_WRITE))
        return false;
    if ((bind->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
        !(region->access & IBV_ACCESS_LOCAL_WRITE))
        return false;
    return bind->length && bind->addr >= region->addr && bind->length <= region->length &&
           bind->addr - region->addr <= region->length - bind->length;
}

/* Binds a window that is not bound any more. */
static void bind_locked(struct srd_stag_table *table, struct srd_qp *qp,
    struct srd_stag_entry *window, uint32_t new_rkey, const struct srd_bind *bind)
{
    window->key = new_rkey;
    window->used = true;
    if (!bind->length)
        return;
    window->addr = bind->addr;
    window->length = bind->length;
    window->access = (int)(bind->access & ~(unsigned)IBV_ACCESS_LOCAL_WRITE);
    window->qp = window->by_domain ? NULL : qp;
    window->region = srd_stag_find_locked(table, bind->region_key);
    window->valid = true;
    window->region->windows++;
    list_add_tail(&table->bound, &window->bound_node);
}

/* Unbinds a window. Returns whether accesses are under way, for which the caller has to wait; no new ones begin. */
static bool take_back_locked(struct srd_stag_entry *window)
{
    if (window->valid)
        unbind_locked(window);
    if (!(atomic_load_explicit(&window->pins, memory_order_acquire) & PIN_COUNT))
        return false;
    atomic_fetch_add_explicit(&window->pins, PIN_REVOKER, memory_order_relaxed);
    return true;
}

enum ibv_wc_status srd_stag_bind(struct srd_qp *qp, struct srd_stag_entry *window,
    uint32_t new_rkey, const struct srd_bind *bind)
{
    struct srd_stag_table *table = srd_stag_table_of(qp);
    enum ibv_wc_status status;

    for (;;) {
        lock_acquire(&table->lock);
        status = IBV_WC_LOC_QP_OP_ERR;
        if (srd_stag_find_locked(table, new_rkey) != window ||
            !(bind->region_key || (window->by_domain && !bind->length)))
            break;
        status = IBV_WC_MW_BIND_ERR;
        if (!may_bind_locked(table, qp, window, new_rkey, bind))
            break;
        if (!window->by_domain || !take_back_locked(window)) {
            bind_locked(table, qp, window, new_rkey, bind);
            status = IBV_WC_SUCCESS;
            break;
        }
        lock_release(&table->lock);
        await_pins(window, PIN_COUNT);
        drop_pin(window, PIN_REVOKER); /* the program may deallocate the window after this */
    }
    lock_release(&table->lock);
    return status;
}

/* --- fast regions ------------------------------------------------------------------------------------------------- */

uint8_t *srd_stag_page_at(const struct srd_stag_entry *entry, uint64_t addr, uint32_t *octets)
{
    const struct srd_page_list *list = entry->list;
    uint64_t place = addr - entry->addr + entry->offset;
    uint64_t page = place / SRD_FAST_PAGE_OCTETS;
    uint32_t within = (uint32_t)(place % SRD_FAST_PAGE_OCTETS),
             here = SRD_FAST_PAGE_OCTETS - within;
    uint64_t start = list->pages[page] + within;

    if (list->linear)
        return (uint8_t *)(uintptr_t)start;
    for (; here < *octets && list->pages[page + 1] == list->pages[page] + SRD_FAST_PAGE_OCTETS;
         page++)
        here += SRD_FAST_PAGE_OCTETS;
    if (here < *octets)
        *octets = here;
    return (uint8_t *)(uintptr_t)start;
}

static void put_list_locked(struct srd_stag_entry *entry, struct srd_page_list *list)
{
    list->next = entry->spare;
    entry->spare = list;
}

struct srd_page_list *srd_stag_list_take(struct srd_stag_table *table, struct srd_stag_entry *entry)
{
    struct srd_page_list *list;

    lock_acquire(&table->lock);
    list = entry->spare;
    if (list)
        entry->spare = list->next;
    lock_release(&table->lock);
    if (list)
        return list;
    /* No list is spare: the program has posted more at once than ever before, or a flush freed some lists. */
    list = malloc(sizeof(*list) + entry->max_pages * sizeof(list->pages[0]));
    if (list)
        list->room = entry->max_pages;
    return list;
}

void srd_stag_list_put(
    struct srd_stag_table *table, struct srd_stag_entry *entry, struct srd_page_list *list)
{
    lock_acquire(&table->lock);
    put_list_locked(entry, list);
    lock_release(&table->lock);
}

/* No processor gives programs addresses of more than 56 bits. */
static const uint64_t HIGHEST_PAGE = (UINT64_C(1) << 56) - SRD_FAST_PAGE_OCTETS;

/* Whether the request is valid without a look at the region. Also sets the list's linear. */
static bool is_well_formed(const struct srd_sqe_fast *fast)
{
    const int known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    struct srd_page_list *list = fast->list;
    uint64_t octets = (uint64_t)list->count * SRD_FAST_PAGE_OCTETS, odd = 0;
    bool linear = true;

    if (!list->count || fast->offset >= SRD_FAST_PAGE_OCTETS || !fast->length ||
        fast->length > octets - fast->offset || fast->length > UINT64_MAX - fast->base)
        return false;
    if (fast->access & ~known ||
        (fast->access & IBV_ACCESS_REMOTE_WRITE && !(fast->access & IBV_ACCESS_LOCAL_WRITE)))
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        odd |= list->pages[i];
        linear &= list->pages[i] == list->pages[0] + (uint64_t)i * SRD_FAST_PAGE_OCTETS;
    }
    list->linear = linear;
    return !(odd & (SRD_FAST_PAGE_OCTETS - 1)) && odd <= HIGHEST_PAGE;
}

/* Returns the region when no thread accesses it any more; NULL: the request is refused. On return the lock is held. */
static struct srd_stag_entry *find_free_and_lock(
    struct srd_stag_table *table, const struct ibv_pd *pd, uint32_t key)
{
    for (;;) {
        struct srd_stag_entry *entry;

        lock_acquire(&table->lock);
        entry = srd_stag_find_locked(table, key);
        if (!entry || entry->key != key || !entry->max_pages || entry->pd != pd || entry->valid)
            return NULL;
        if (!(atomic_load_explicit(&entry->pins, memory_order_acquire) & PIN_COUNT))
            return entry; /* only a thread with a pin takes another one without the lock */
        atomic_fetch_add_explicit(&entry->pins, PIN_REVOKER, memory_order_relaxed);
        lock_release(&table->lock);
        await_pins(entry, PIN_COUNT);
        drop_pin(entry, PIN_REVOKER);
    }
}

enum ibv_wc_status srd_stag_register(struct srd_qp *qp, uint32_t key, struct srd_sqe_fast *fast)
{
    struct srd_stag_table *table = srd_stag_table_of(qp);
    bool good = is_well_formed(fast);
    struct srd_page_list *unused = fast->list;
    struct srd_stag_entry *entry;

    entry = find_free_and_lock(table, ((struct ibv_qp *)qp)->pd, key);
    fast->list = NULL;
    if (entry && good) {
        struct srd_page_list *before = entry->list;

        entry->list = unused;
        unused = before;
        entry->addr = fast->base;
        entry->length = fast->length;
        entry->offset = fast->offset;
        entry->access = fast->access;
        entry->valid = true;
    }
    if (entry && unused && unused->room == entry->max_pages) {
        put_list_locked(entry, unused);
        unused = NULL;
    }
    lock_release(&table->lock);
    free(unused);
    return entry && good ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
}

/* --- invalidation ------------------------------------------------------------------------------------------------- */

static enum srd_stag_error check_invalidate_locked(
    const struct srd_stag_entry *entry, const struct srd_qp *qp, uint32_t rkey, bool by_peer)
{
    if (!entry || entry->key != rkey || !entry->valid)
        return SRD_STAG_INVALID;
    if (entry->by_domain)
        return SRD_STAG_NO_INVALIDATE;
    if (entry->window)
        return entry->qp == qp ? SRD_STAG_OK : SRD_STAG_STREAM;
    if (!entry->max_pages)
        return SRD_STAG_NO_INVALIDATE;
    if (entry->pd != ((const struct ibv_qp *)qp)->pd)
        return SRD_STAG_STREAM;
    if (by_peer && !(entry->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)))
        return SRD_STAG_NO_INVALIDATE;
    return SRD_STAG_OK;
}

enum srd_stag_error srd_stag_check_locked(const struct srd_stag_entry *entry,
    const struct srd_qp *qp, const struct srd_stag_question *question)
{
    if (question->invalidate)
        return check_invalidate_locked(entry, qp, question->key, true);
    return check_locked(entry, qp, question->pd, question->key, question->addr, question->length,
        question->access, question->remote);
}

enum srd_stag_error srd_stag_invalidate(struct srd_qp *qp, uint32_t rkey, bool by_peer)
{
    struct srd_stag_table *table = srd_stag_table_of(qp);
    struct srd_stag_entry *entry;
    enum srd_stag_error error;
    bool in_use = false;

    lock_acquire(&table->lock);
    entry = srd_stag_find_locked(table, rkey);
    error = check_invalidate_locked(entry, qp, rkey, by_peer);
    if (!error) {
        if (entry->window)
            unbind_locked(entry);
        entry->valid = false;
        in_use = atomic_load_explicit(&entry->pins, memory_order_acquire) & PIN_COUNT;
        if (in_use)
            atomic_fetch_add_explicit(&entry->pins, PIN_REVOKER, memory_order_relaxed);
    }
    lock_release(&table->lock);
    if (in_use) {
        await_pins(entry, PIN_COUNT);
        drop_pin(entry, PIN_REVOKER);
    }
    return error;
}

void srd_stag_release_qp(struct srd_qp *qp)
{
    struct srd_stag_table *table = srd_stag_table_of(qp);
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
