/* SPDX-License-Identifier: MIT */
/*
 * ring.c - the yardstick of shared memory: messages of one cache line each, in a ring for each direction, in memory
 * that both processes have. The ends check nothing, and never sleep.
 */
#include "tests/bench/driver.h"

#include <stdatomic.h>
#include <string.h>

enum { LINE = 64, LINES = 64, TEXT = LINE - sizeof(uint64_t) };

struct line {
    _Alignas(LINE) char text[TEXT];
    atomic_uint_least64_t number; /* of the message that is in text, from 1 */
};

/* One direction. */
struct lines {
    struct line lines[LINES];
    _Alignas(
        LINE) atomic_uint_least64_t taken; /* by the reader, told once in a quarter of the ring */
};

_Static_assert(2 * sizeof(struct lines) <= BENCH_SHARED_OCTETS, "both directions have room");

struct ring {
    struct lines *out, *in;
    uint64_t written, taken_there, read;
    char *buffer;
    unsigned sent; /* sends not yet reported as complete: send is done when it returns */
};

static void *ring_open(const struct bench_side *side)
{
    static struct ring ring;
    struct lines *both = side->shared;

    if (side->test->octets > TEXT || side->test->wait != BENCH_POLL)
        bench_die("a ring has polled messages of at most %d octets", (int)TEXT);
    ring.out = &both[side->client];
    ring.in = &both[!side->client];
    ring.buffer = bench_alloc(TEXT);
    return &ring;
}

static uint16_t ring_listen(void *end)
{
    (void)end;
    return 0;
}

static void ring_accept(void *end)
{
    (void)end; /* the memory is the connection */
}

static void ring_connect(void *end, uint16_t port_be)
{
    (void)end, (void)port_be;
}

static void ring_close(void *end)
{
    (void)end;
}

static void ring_receive(void *end)
{
    (void)end; /* nothing to post */
}

static void ring_send(void *end, size_t octets)
{
    struct ring *ring = end;
    struct line *line = &ring->out->lines[ring->written % LINES];

    (void)octets; /* a message is a line */
    while (ring->written - ring->taken_there == LINES)
        ring->taken_there = atomic_load_explicit(&ring->out->taken, memory_order_acquire);
    memcpy(line->text, ring->buffer, TEXT);
    atomic_store_explicit(&line->number, ++ring->written, memory_order_release);
    ring->sent++;
}

static void ring_message(struct ring *ring)
{
    struct line *line = &ring->in->lines[ring->read % LINES];

    ring->read++;
    while (atomic_load_explicit(&line->number, memory_order_acquire) != ring->read)
        ;
    memcpy(ring->buffer, line->text, TEXT);
    if (ring->read % (LINES / 4) == 0)
        atomic_store_explicit(&ring->in->taken, ring->read, memory_order_release);
}

static unsigned ring_wait(void *end, unsigned *received)
{
    struct ring *ring = end;
    unsigned sent = ring->sent;

    ring->sent = 0;
    *received = sent == 0;
    if (*received)
        ring_message(ring);
    return sent;
}

static const struct bench_api ring_api = {
    .open = ring_open,
    .listen = ring_listen,
    .accept = ring_accept,
    .connect = ring_connect,
    .close = ring_close,
    .receive = ring_receive,
    .send = ring_send,
    .wait = ring_wait,
};

uint64_t bench_ring(const struct bench_side *side)
{
    return bench_play(&ring_api, side);
}
