/* SPDX-License-Identifier: MIT */
/*
 * ring.c - octets through the memory of a share. See share.h.
 *
 * A small message moves three cache lines: the octets, and the writer's position. The reader's position moves once in a
 * quarter of the ring, since the writer needs no more. Positions are published by exchanges, since the load that
 * follows, of the word that says whether the other end sleeps, must not come before the store.
 */
#include "softrdma/share/internal.h"

#include "softrdma/memory/dma.h"
#include "util/fence.h"
#include "util/pause.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>

/* The reader publishes its position after FREED_OCTETS, and wakes a sleeping writer when ROOM_OCTETS are free. */
enum { FREED_OCTETS = SRD_RING_OCTETS / 4, ROOM_OCTETS = SRD_RING_OCTETS / 2 };

/*
 * The number of pauses in which a writer waits for a dozing peer to awake. A thread that looks once more at an armed
 * queue before it waits dozes between that look and the wait's own look, some hundred ns: to ring then would cost both
 * ends a system call, and wake a third thread. 24 pauses are 0.6 us on Zen 3.
 */
enum { PAUSES = 24 };

static int broken(const struct srd_share *share)
{
    return atomic_load_explicit(&share->broken, memory_order_relaxed);
}

/*
 * Ends the share for good. -EPROTO: a position of the peer's is impossible; -ENOMEM: the kernel has no page for the
 * ring, or no memory to ring; another error: the socket fails with it.
 */
static int break_up(struct srd_share *share, int error)
{
    atomic_store(&share->broken, error);
    return error;
}

static void ring_the_peer(struct srd_share *share)
{
    static const char any;
    ssize_t sent;

    do
        sent = send(share->wake_fd, &any, sizeof(any), MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return;
    switch (errno) {
    case EAGAIN: return; /* the socket is full: the peer has not answered rings from before */
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN: return; /* the peer has gone, as TCP will say */
    case ENOBUFS:
    case ENOMEM: break_up(share, -ENOMEM); break;
    default: break_up(share, -errno);
    }
    shutdown(share->wake_fd, SHUT_RDWR); /* wakes both ends: an end of file needs no memory */
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Loads the writer's position, after all octets up to the last one are read. Returns false when it is impossible. */
static bool look_for_octets(struct srd_share *share)
{
    uint64_t head = atomic_load_explicit(&share->in->head, memory_order_acquire);

    if (head - share->in_tail > SRD_RING_OCTETS)
        return false;
    share->in_head = head;
    return true;
}

/* Copies octets out of the ring, to one piece of memory. Returns as srd_dma_share. */
static int take(struct srd_share *share, uint8_t *to, size_t octets)
{
    size_t at = share->in_tail % SRD_RING_OCTETS;
    size_t first = octets < SRD_RING_OCTETS - at ? octets : SRD_RING_OCTETS - at;
    const uint8_t *from = share->in_octets;
    int error = srd_dma_share(to, from + at, first, from + at);

    if (!error && octets > first)
        error = srd_dma_share(to + first, from, octets - first, from);
    if (!error)
        share->in_tail += octets;
    return error;
}

/* Whether enough is free to wake the writer, which may have written more since. A reader that dozes wakes it anyway. */
static bool is_worth_waking(const struct srd_share *share)
{
    return share->in_head - share->in_tail <= SRD_RING_OCTETS - ROOM_OCTETS;
}

static void publish_freed(struct srd_share *share)
{
    share->in_freed = share->in_tail;
    atomic_exchange(&share->in->tail, share->in_tail);
    if (atomic_load(&share->in->wants_room) && is_worth_waking(share) &&
        atomic_exchange(&share->in->wants_room, 0))
        ring_the_peer(share);
}

ssize_t srd_share_read(struct srd_share *share, const struct iovec *iov, int count)
{
    size_t done = 0;
    int error;

    if ((error = broken(share)))
        return error;
    if (share->in_head == share->in_tail && !look_for_octets(share))
        return break_up(share, -EPROTO);
    for (int i = 0; i < count && share->in_head != share->in_tail; i++) {
        uint64_t there = share->in_head - share->in_tail;
        size_t octets = iov[i].iov_len < there ? iov[i].iov_len : (size_t)there;

        if (!octets)
            continue;
        if ((error = take(share, iov[i].iov_base, octets))) {
            if (error == -ENOMEM)
                return break_up(share, error);
            if (!done)
                return error;
            break;
        }
        done += octets;
    }
    if (share->in_tail - share->in_freed >= FREED_OCTETS)
        publish_freed(share);
    return (ssize_t)done;
}

/* Returns 1 plus the number of the processor; 0: the kernel does not say. */
static uint32_t processor_now(void)
{
    return (uint32_t)(sched_getcpu() + 1);
}

static void tell_processor(struct srd_share *share)
{
    atomic_store_explicit(&share->in->processor, processor_now(), memory_order_relaxed);
}

bool srd_share_is_apart(const struct srd_share *share)
{
    uint32_t peer = atomic_load_explicit(&share->out->processor, memory_order_relaxed);

    return peer && peer != processor_now();
}

bool srd_share_doze(struct srd_share *share)
{
    tell_processor(share);
    if (share->in_freed != share->in_tail)
        publish_freed(share);
    atomic_exchange(&share->in->awake, 0);
    share->dozes = true;
    return atomic_load(&share->in->head) == share->in_tail && !broken(share);
}

void srd_share_awake(struct srd_share *share)
{
    if (!share->dozes)
        return;
    share->dozes = false;
    tell_processor(share);
    atomic_store_explicit(&share->in->awake, 1, memory_order_relaxed);
}

bool srd_share_is_quiet(const struct srd_share *share)
{
    return !share->dozes && share->in_head == share->in_tail &&
           atomic_load_explicit(&share->in->head, memory_order_acquire) == share->in_tail &&
           !broken(share) && !srd_share_ended(share);
}

bool srd_share_answer(struct srd_share *share)
{
    char scratch[64];
    ssize_t got = recv(share->wake_fd, scratch, sizeof(scratch), MSG_DONTWAIT);

    if (got >= 0)
        return got > 0;
    switch (errno) {
    case EAGAIN:
    case EINTR:
    case ENOBUFS:
    case ENOMEM: return true; /* the rings stay in the socket */
    case ECONNRESET: return false;
    default: break_up(share, -errno); return false; /* nothing would wake this end any more */
    }
}

bool srd_share_ended(const struct srd_share *share)
{
    return atomic_load_explicit(&share->in->ended, memory_order_acquire) != 0;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Loads the reader's position. Returns false when it is impossible. */
static bool look_for_room(struct srd_share *share)
{
    uint64_t tail = atomic_load(&share->out->tail);

    if (tail - share->out_tail > share->out_head - share->out_tail)
        return false;
    share->out_tail = tail;
    return true;
}

static size_t room(const struct srd_share *share)
{
    return SRD_RING_OCTETS - (size_t)(share->out_head - share->out_tail);
}

/* Copies octets into the ring, behind the first `behind` unpublished ones. Returns as srd_dma_share. */
static int put(struct srd_share *share, size_t behind, const uint8_t *from, size_t octets)
{
    size_t at = (share->out_head + behind) % SRD_RING_OCTETS;
    size_t first = octets < SRD_RING_OCTETS - at ? octets : SRD_RING_OCTETS - at;
    uint8_t *to = share->out_octets;
    int error = srd_dma_share(to + at, from, first, to + at);

    if (!error && octets > first)
        error = srd_dma_share(to, from + first, octets - first, to);
    return error;
}

/* Whether the peer awakes by itself in about the time that it takes this end to ring. */
static bool awakes(struct srd_share *share)
{
    for (int i = 0; i < PAUSES; i++) {
        if (atomic_load_explicit(&share->out->awake, memory_order_relaxed))
            return true;
        processor_pause();
    }
    return false;
}

/* Rings if the peer dozes. A peer that begins to doze meanwhile sees what this end has stored before. */
static void wake_dozing(struct srd_share *share)
{
    if (!atomic_load(&share->out->awake) && !awakes(share) &&
        !atomic_exchange(&share->out->awake, 1))
        ring_the_peer(share);
}

static void publish(struct srd_share *share, size_t octets)
{
    share->out_head += octets;
    atomic_exchange(&share->out->head, share->out_head);
    wake_dozing(share);
}

_Atomic uint64_t *srd_share_tells(struct srd_share *share)
{
    return &share->out->told;
}

const _Atomic uint64_t *srd_share_told(const struct srd_share *share)
{
    return &share->in->told;
}

void srd_share_wake(struct srd_share *share)
{
    fence_all();
    wake_dozing(share);
}

static size_t wanted(const struct iovec *iov, int count)
{
    size_t octets = 0;

    for (int i = 0; i < count; i++)
        octets += iov[i].iov_len;
    return octets;
}

ssize_t srd_share_write(struct srd_share *share, const struct iovec *iov, int count)
{
    size_t done = 0, left;
    int error;

    if ((error = broken(share)))
        return error;
    left = room(share);
    if (left < wanted(iov, count)) {
        if (!look_for_room(share))
            return break_up(share, -EPROTO);
        left = room(share);
    }
    for (int i = 0; i < count && left; i++) {
        size_t octets = iov[i].iov_len < left ? iov[i].iov_len : left;

        if (!octets)
            continue;
        error = put(share, done, iov[i].iov_base, octets);
        if (error) /* publishes nothing: a message is sent as a whole, or fails */
            return error == -ENOMEM ? break_up(share, error) : error;
        done += octets;
        left -= octets;
    }
    if (done)
        publish(share, done);
    return (ssize_t)done;
}

bool srd_share_want_room(struct srd_share *share)
{
    atomic_exchange(&share->out->wants_room, 1);
    return look_for_room(share) && !room(share);
}

bool srd_share_has_room(struct srd_share *share)
{
    return !look_for_room(share) || room(share);
}

void srd_share_end(struct srd_share *share)
{
    atomic_store(&share->out->ended, 1);
    ring_the_peer(share);
}
