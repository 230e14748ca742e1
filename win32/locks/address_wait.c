/* SPDX-License-Identifier: MIT */
/*
 * address_wait.c - WaitOnAddress. A table of buckets by address; each waiting thread is in one bucket's list, in the
 * order of arrival. It compares the value and enters the list under the bucket's lock, which the waking thread takes as
 * well, so it never misses a change before the wake-up, whatever the size of the value.
 */
#include <windows.h>

#include "win32/fork.h"
#include "winobj/waits/waiter.h"

#include "util/clock.h"
#include "util/futex.h"
#include "util/list.h"
#include "util/lock.h"

enum { BUCKETS = 256 };

struct bucket {
    struct lock lock; /* LOCK_WIN_OBJECT */
    struct list_head waits;
};

/* A wait, on the stack of its thread. Other threads hold the bucket's lock while they use it. */
struct wait {
    struct list_node link;
    const volatile void *address;
    _Atomic uint32_t woken; /* futex word */
};

static struct bucket buckets[BUCKETS];

static void buckets_init(void)
{
    for (int i = 0; i < BUCKETS; i++) {
        lock_init(&buckets[i].lock, LOCK_WIN_OBJECT, "addresses");
        list_init(&buckets[i].waits);
    }
}

__attribute__((constructor(200))) static void addresses_load(void)
{
    buckets_init();
}

/* Forgets the waits of the parent's threads in the child of a fork. */
void win_addresses_forked(void)
{
    buckets_init();
}

static struct bucket *bucket_of(const volatile void *address)
{
    uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);

    return &buckets[hash >> 56];
}

static bool equal(const volatile void *address, const void *value, SIZE_T size)
{
    switch (size) {
    case 1:
        return __atomic_load_n((const volatile uint8_t *)address, __ATOMIC_SEQ_CST) ==
               *(const uint8_t *)value;
    case 2:
        return __atomic_load_n((const volatile uint16_t *)address, __ATOMIC_SEQ_CST) ==
               *(const uint16_t *)value;
    case 4:
        return __atomic_load_n((const volatile uint32_t *)address, __ATOMIC_SEQ_CST) ==
               *(const uint32_t *)value;
    default:
        return __atomic_load_n((const volatile uint64_t *)address, __ATOMIC_SEQ_CST) ==
               *(const uint64_t *)value;
    }
}

/* Sleeps until woken or the deadline has passed. */
static void sleep_until(struct wait *wait, uint64_t deadline_ns)
{
    while (!atomic_load_explicit(&wait->woken, memory_order_acquire)) {
        uint64_t now_ns = deadline_ns == REACTOR_NEVER ? 0 : clock_now_ns();
        struct timespec left;

        if (deadline_ns != REACTOR_NEVER && now_ns >= deadline_ns)
            return;
        left.tv_sec = (time_t)((deadline_ns - now_ns) / 1000000000u);
        left.tv_nsec = (long)((deadline_ns - now_ns) % 1000000000u);
        futex_wait(&wait->woken, 0, deadline_ns == REACTOR_NEVER ? NULL : &left);
    }
}

/*
 * WaitOnAddress - sleeps, if the value at an address is still the given one, until a thread wakes the address.
 * compare     the value as the caller saw it
 * size        of the value, in bytes: 1, 2, 4 or 8, aligned
 * Returns     TRUE at once where the value differs, or when woken (compare again: wake-ups may be spurious); FALSE with
 *             ERROR_TIMEOUT, ERROR_INVALID_PARAMETER (another size, a NULL pointer).
 */
BOOL WINAPI WaitOnAddress(volatile VOID *address, PVOID compare, SIZE_T size, DWORD timeout_ms)
{
    struct bucket *bucket = bucket_of(address);
    struct wait wait = { .address = address };
    uint64_t deadline_ns;
    bool woken;

    if (!address || !compare || (size != 1 && size != 2 && size != 4 && size != 8)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    deadline_ns = win_deadline_ns(timeout_ms);
    lock_acquire(&bucket->lock);
    if (!equal(address, compare, size)) {
        lock_release(&bucket->lock);
        return TRUE;
    }
    list_add_tail(&bucket->waits, &wait.link);
    lock_release(&bucket->lock);

    sleep_until(&wait, deadline_ns);

    lock_acquire(&bucket->lock); /* also waits until the waking thread has finished with wait */
    woken = atomic_load_explicit(&wait.woken, memory_order_relaxed);
    if (!woken)
        list_del(&wait.link);
    lock_release(&bucket->lock);
    if (!woken)
        SetLastError(ERROR_TIMEOUT);
    return woken;
}

static void wake(const volatile void *address, bool all)
{
    struct bucket *bucket = bucket_of(address);

    lock_acquire(&bucket->lock);
    list_for_each_safe (&bucket->waits, node) {
        struct wait *wait = list_entry(node, struct wait, link);

        if (wait->address != address)
            continue;
        list_del(&wait->link);
        atomic_store_explicit(&wait->woken, 1, memory_order_release);
        futex_wake(&wait->woken, 1);
        if (!all)
            break;
    }
    lock_release(&bucket->lock);
}

/* WakeByAddressSingle - wakes the thread that has waited longest on exactly this address, if there is one. */
void WINAPI WakeByAddressSingle(PVOID address)
{
    wake(address, false);
}

/* WakeByAddressAll - wakes all threads that wait on exactly this address. */
void WINAPI WakeByAddressAll(PVOID address)
{
    wake(address, true);
}
