/* SPDX-License-Identifier: MIT */
/*
 * share.c - what two ends of one host share. The memory is real, mapped once for each end; the bells are the
 * schedule's: one that was rung comes when the schedule lets it, alone or with others, and some come that nobody rang.
 * None is lost, so where an end sleeps beside something that it could do, softrdma has lost it.
 */
#include "steps.h"

#include "simulation.h"

#include "softrdma/connection/transport.h"
#include "softrdma/share/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- the memory -------------------------------------------------------------------------------- */

static struct srd_share *map_for(struct end *end, int memory_fd)
{
    struct srd_share_offer offer = { .memory_fd = memory_fd, .wake_fd = bell_of(end) };
    struct srd_share *share = NULL;
    int error;

    CHECK(memory_fd >= 0, "no descriptor of shared memory");
    error = srd_share_take(&offer, !end->host, &share);
    CHECK(!error, "shared memory is not mapped: %s", strerror(-error));
    return share;
}

void share_make(int link)
{
    struct end *active = &sim.hosts[0].ends[link], *passive = &sim.hosts[1].ends[link];
    struct srd_share_offer offer;
    int error = srd_share_make(&offer), again;

    CHECK(!error, "no shared memory: %s", strerror(-error));
    again = dup(offer.memory_fd);
    active->bell.open = passive->bell.open = true;
    active->share = map_for(active, offer.memory_fd);
    passive->share = map_for(passive, again);
}

void share_drop(struct end *end)
{
    if (end->share)
        srd_share_free(end->share);
}

void share_leaves(struct end *end)
{
    struct end *peer = peer_of(end);
    uint8_t *memory, *copy;

    if (!end->share)
        return;
    memory = end->share->memory;
    copy = malloc(SRD_SHARE_OCTETS);
    CHECK(copy, "no memory");
    memcpy(copy, memory, SRD_SHARE_OCTETS);
    CHECK(mmap(memory, SRD_SHARE_OCTETS, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory,
        "memory cannot be taken away");
    memcpy(memory, copy, SRD_SHARE_OCTETS);
    free(copy);
    peer->bell.peer_closed = end->bell.peer_closed = true;
    peer->bell.reset = end->bell.there || end->bell.coming;
}

/* What is about to be published goes past the monitor first. */
static void sees_publication(struct end *end, const volatile void *at)
{
    const struct srd_share *share = end->share;

    if (!share || at != (const volatile void *)&share->out->head)
        return;
    CHECK(end->begun, "host %d link %d writes before its stream", end->host, end->link);
    CHECK(share->out_head - end->published <= SRD_RING_OCTETS, "host %d link %d: %llu octets",
        end->host, end->link, (unsigned long long)(share->out_head - end->published));
    sim.activity += share->out_head - end->published;
    say("host %d link %d: publishes %u octets", end->host, end->link,
        (unsigned)(share->out_head - end->published));
    while (end->published != share->out_head) {
        uint64_t place = end->published % SRD_RING_OCTETS, here = share->out_head - end->published;

        here = here < SRD_RING_OCTETS - place ? here : SRD_RING_OCTETS - place;
        if (!end->killed)
            wire_sees(end, share->out_octets + place, (uint32_t)here);
        end->published += here;
    }
}

void step(void)
{
    if (!current || sim.part == PART_OVER || !chance(sim.set.steps))
        return;
    if (!sim.resting && !below(4))
        current->put_off = below(100);
    thread_yield();
}

void step_stores(const volatile void *at)
{
    step();
    for (int host = 0; host < HOSTS; host++)
        for (unsigned link = 0; link < sim.set.links; link++)
            sees_publication(&sim.hosts[host].ends[link], at);
}

ssize_t __real_srd_share_read(struct srd_share *share, const struct iovec *iov, int count);
ssize_t __wrap_srd_share_read(struct srd_share *share, const struct iovec *iov, int count);
ssize_t __wrap_srd_share_read(struct srd_share *share, const struct iovec *iov, int count)
{
    ssize_t got = __real_srd_share_read(share, iov, count);

    if (got > 0) {
        say("host %d: reads %zd octets of the ring", current ? current->host : -1, got);
        sim.activity += (uint64_t)got;
    }
    return got;
}

/* --- the bells --------------------------------------------------------------------------------- */

bool bell_moves(struct end *to, bool all)
{
    struct bell *bell = &to->bell;
    unsigned count = all ? bell->coming : 1 + below(3);

    if (!bell->coming)
        return false;
    count = count < bell->coming ? count : bell->coming;
    say("bell: %u at host %d link %d", count, to->host, to->link);
    bell->coming -= count;
    bell->there += count;
    sim.activity++;
    return true;
}

uint32_t bell_events(const struct end *end)
{
    const struct bell *bell = &end->bell;

    if (!bell->open)
        return 0;
    return (bell->there || bell->peer_closed ? EPOLLIN : 0u) | (bell->peer_closed ? EPOLLHUP : 0u);
}

ssize_t bell_rings(struct end *from)
{
    struct end *to = peer_of(from);

    CHECK(from->bell.open, "host %d link %d rings by a descriptor that is closed", from->host,
        from->link);
    thread_may_change();
    if (from->bell.peer_closed) {
        errno = EPIPE;
        return -1;
    }
    if (to->bell.coming + to->bell.there >= sim.set.bell_octets) {
        errno = EAGAIN;
        return -1;
    }
    say("host %d link %d: rings", from->host, from->link);
    to->bell.coming++;
    sim.activity++;
    sim.bells++;
    return 1;
}

ssize_t bell_answers(struct end *end, size_t size)
{
    struct bell *bell = &end->bell;
    unsigned count = bell->there < size ? bell->there : (unsigned)size;

    CHECK(
        bell->open, "host %d link %d answers at a descriptor that is closed", end->host, end->link);
    thread_may_change();
    if (!sim.resting && chance(sim.set.interrupts)) {
        errno = EINTR;
        return -1;
    }
    if (count) {
        say("host %d link %d: answers", end->host, end->link);
        bell->there -= count;
        sim.activity++;
        return count;
    }
    if (bell->peer_closed && !bell->reset)
        return 0;
    errno = bell->peer_closed ? ECONNRESET : EAGAIN;
    return -1;
}

int bell_closes(struct end *end)
{
    struct end *peer = peer_of(end);

    CHECK(end->bell.open, "host %d link %d closes a bell again", end->host, end->link);
    say("host %d link %d: closes its bell", end->host, end->link);
    end->bell.open = false;
    end->share = NULL;
    if (!end->killed) {
        bell_moves(peer, true);
        peer->bell.peer_closed = true;
        peer->bell.reset = end->bell.there || end->bell.coming;
    }
    end->bell.there = end->bell.coming = 0;
    sim.activity++;
    return 0;
}

/* --- when nothing moves ------------------------------------------------------------------------- */

/*
 * Whoever could go on does. An end reads all that is in the ring, but where it can hold no more; a writer that waits
 * for room is rung when half of the ring is free.
 */
void share_quiet(struct end *end)
{
    const struct srd_share *share = end->share;
    const struct srd_conn *conn = end->conn;
    enum srd_conn_phase phase = srd_life_phase(&conn->life);
    uint64_t unread, unfreed;

    if (!share || conn->transport != &srd_transport_shared || end->killed)
        return;
    unread = atomic_load(&share->in->head) - share->in_tail;
    CHECK(!unread || !end->host || phase != SRD_CONN_STARTUP || !atomic_load(&conn->want_in),
        "host %d link %d does not begin: %llu octets are in the ring", end->host, end->link,
        (unsigned long long)unread);
    if (phase != SRD_CONN_STREAM)
        return;
    unfreed = share->out_head - atomic_load(&share->out->tail);
    CHECK(!unread || !atomic_load(&conn->want_in),
        "host %d link %d sleeps: %llu octets are in the ring", end->host, end->link,
        (unsigned long long)unread);
    CHECK(unfreed > SRD_RING_OCTETS / 2 || !atomic_load(&conn->tx_blocked) ||
              srd_life_has(&conn->life, SRD_CONN_TX_FAILED),
        "host %d link %d waits for room: %llu octets of the ring are in use", end->host, end->link,
        (unsigned long long)unfreed);
    CHECK(srd_stream_has_heard(conn->qp) || !atomic_load(&conn->want_in),
        "host %d link %d sleeps: its peer has acknowledged %llu messages, and it has seen %llu",
        end->host, end->link, (unsigned long long)atomic_load(&share->in->told),
        (unsigned long long)conn->qp->stream.rx.acknowledged);
    CHECK(!end->bell.there || !conn->bell.added, "host %d link %d sleeps, though its peer has rung",
        end->host, end->link);
}
