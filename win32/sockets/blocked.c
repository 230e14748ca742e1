/* SPDX-License-Identifier: MIT */
/*
 * blocked.c - calls that may block (blocked.h). Linux' close leaves them asleep; shutdown wakes them, and the next ones
 * do not fall asleep: so the socket is shut down first, if there are any.
 */
#include "win32/sockets/blocked.h"

#include "win32/fork.h"
#include "winobj/handles/descriptor.h"

#include "util/futex.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum { CHUNK = 1024, CHUNKS = WIN_DESCRIPTORS / CHUNK };

/* Bits of entry.calls: how many calls there are, and what is known of the socket. */
#define CLOSING  0x80000000u
#define SHARED   0x40000000u
#define SELECTED 0x20000000u
#define CALLED   0x10000000u /* connected by connect */
#define CALLS    0x0fffffffu

/*
 * Milliseconds that a call waits for the close of its number's previous socket. A close that takes longer lingers
 * (SO_LINGER), and the kernel has freed the number by then.
 */
enum { PATIENCE = 20 };

struct entry {
    _Atomic uint32_t calls;     /* futex word */
    _Atomic uint32_t connected; /* when it was connected, in seconds of the monotonic clock */
};

static struct entry *_Atomic chunks[CHUNKS]; /* never freed */

static struct entry *entry_of(int fd)
{
    struct entry *chunk, *none = NULL;

    if (fd < 0 || fd >= WIN_DESCRIPTORS)
        return NULL;
    if (!(chunk = atomic_load_explicit(&chunks[fd / CHUNK], memory_order_acquire))) {
        if (!(chunk = calloc(CHUNK, sizeof(*chunk))))
            return NULL;
        if (!atomic_compare_exchange_strong(&chunks[fd / CHUNK], &none, chunk)) {
            free(chunk);
            chunk = none;
        }
    }
    return &chunk[fd % CHUNK];
}

/* Up to 1 ms, unless the word changes. */
static void wait_a_little(_Atomic uint32_t *calls, uint32_t while_it_is)
{
    futex_wait(calls, while_it_is, &(struct timespec){ 0, 1000000 });
}

_Atomic uint32_t *win_blocked_begin(int fd)
{
    struct entry *entry = entry_of(fd);
    uint32_t before;

    if (!entry)
        return NULL;
    for (int i = 0; (before = atomic_fetch_add(&entry->calls, 1)) & CLOSING && i < PATIENCE; i++) {
        win_blocked_end(&entry->calls);
        wait_a_little(&entry->calls, before);
    }
    return &entry->calls;
}

_Atomic uint32_t *win_blocked_calls(int fd)
{
    struct entry *entry = entry_of(fd);

    return entry ? &entry->calls : NULL;
}

bool win_blocked_end(_Atomic uint32_t *calls)
{
    uint32_t now = calls ? atomic_fetch_sub(calls, 1) - 1 : 0;

    if ((now & CLOSING) && !(now & CALLS))
        futex_wake(calls, INT_MAX);
    return now & CLOSING;
}

bool win_blocked_is_closing(const _Atomic uint32_t *calls)
{
    return calls && (atomic_load(calls) & CLOSING);
}

bool win_blocked_selected(const _Atomic uint32_t *calls)
{
    return calls && (atomic_load_explicit(calls, memory_order_relaxed) & SELECTED);
}

void win_blocked_select(int fd)
{
    struct entry *entry = entry_of(fd);

    if (entry)
        atomic_fetch_or(&entry->calls, SELECTED);
}

/* Shuts down again and again: a call may have begun that has not reached the kernel yet. */
static void end_calls(int fd, _Atomic uint32_t *calls)
{
    enum { TRIES = 1000 }; /* 1 ms each; some calls (connect of AF_UNIX) notice no shutdown */
    uint32_t now;

    for (int i = 0; i < TRIES && ((now = atomic_load(calls)) & CALLS); i++) {
        shutdown(fd, SHUT_RDWR);
        wait_a_little(calls, now);
    }
}

void win_blocked_close(int fd)
{
    struct entry *entry = entry_of(fd);
    uint32_t before;

    if (!entry)
        return;
    /* Another thread has closed the descriptor, and this one has its number; or both close the same, which is wrong. */
    for (int i = 0; (before = atomic_fetch_or(&entry->calls, CLOSING)) & CLOSING && i < PATIENCE;
         i++)
        wait_a_little(&entry->calls, before);
    atomic_store_explicit(&entry->connected, 0, memory_order_relaxed);
    if ((before & CALLS) && !(before & SHARED))
        end_calls(fd, &entry->calls);
}

void win_blocked_closed(int fd)
{
    struct entry *entry = entry_of(fd);

    if (!entry)
        return;
    if (atomic_fetch_and(&entry->calls, CALLS) & CALLS)
        futex_wake(&entry->calls, INT_MAX);
}

static uint32_t seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint32_t)now.tv_sec;
}

void win_blocked_connected(int fd, bool by_connect)
{
    struct entry *entry = entry_of(fd);

    if (!entry)
        return;
    atomic_store_explicit(&entry->connected, seconds_now(), memory_order_relaxed);
    if (by_connect)
        atomic_fetch_or(&entry->calls, CALLED);
    else if (atomic_load_explicit(&entry->calls, memory_order_relaxed) & CALLED)
        atomic_fetch_and(&entry->calls, ~CALLED);
}

bool win_blocked_called(int fd)
{
    struct entry *entry = entry_of(fd);

    return entry && (atomic_load_explicit(&entry->calls, memory_order_relaxed) & CALLED);
}

uint32_t win_blocked_connected_for(int fd)
{
    struct entry *entry = entry_of(fd);
    const uint32_t since =
        entry ? atomic_load_explicit(&entry->connected, memory_order_relaxed) : 0;

    return since ? seconds_now() - since : 0;
}

void win_blocked_share(int fd)
{
    struct entry *entry = entry_of(fd);

    if (entry)
        atomic_fetch_or(&entry->calls, SHARED);
}

/* The child has one thread, which is in no call; the parent has its sockets, too. */
void win_blocked_forked(void)
{
    for (int i = 0; i < CHUNKS; i++)
        for (int j = 0; chunks[i] && j < CHUNK; j++)
            atomic_store_explicit(&chunks[i][j].calls, 0, memory_order_relaxed);
}
