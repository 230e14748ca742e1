/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ring.c - the memory of a share as a hostile peer writes it: one end reads, writes, dozes and waits for room, and
 * between any two of its calls the peer stores any value in any word, or rubbish in the rings.
 *
 * Input: steps, each an octet that says what, and its operands (see step).
 *
 * No call gives or takes more than it was asked for, nor touches what is not its own; a position that cannot be ends
 * the share, for good.
 */
#include "fuzz.h"

#include "softrdma/share/internal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GUARD = 64, MOST = 65536 };

static struct srd_share *end, *peer;
static bool over;

static void make(void)
{
    struct srd_share_offer offer, other;
    int wake[2];

    FUZZ_CHECK(!srd_share_make(&offer));
    FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, wake));
    other = (struct srd_share_offer){ dup(offer.memory_fd), wake[1] };
    offer.wake_fd = wake[0];
    FUZZ_CHECK(!srd_share_take(&offer, true, &end));
    FUZZ_CHECK(!srd_share_take(&other, false, &peer));
    over = false;
}

static size_t any_size(struct fuzz_input *input)
{
    size_t high = fuzz_octet(input);

    return (high << 8 | fuzz_octet(input)) % MOST;
}

static void check(ssize_t done, size_t asked)
{
    FUZZ_CHECK(done == -EPROTO || (done >= 0 && (size_t)done <= asked));
    FUZZ_CHECK(!over || done == -EPROTO);
    over = done == -EPROTO;
}

static void read_some(size_t count)
{
    static uint8_t octets[MOST + 2 * GUARD];
    struct iovec iov[2] = { { octets + GUARD, count / 2 },
        { octets + GUARD + count / 2, count - count / 2 } };

    memset(octets, 0xa5, GUARD);
    memset(octets + GUARD + count, 0xa5, GUARD);
    check(srd_share_read(end, iov, 2), count);
    for (size_t i = 0; i < GUARD; i++)
        FUZZ_CHECK(octets[i] == 0xa5 && octets[GUARD + count + i] == 0xa5);
}

static void write_some(size_t count)
{
    static uint8_t octets[MOST];
    struct iovec iov = { octets, count };

    check(srd_share_write(end, &iov, 1), count);
}

/* A word of the first page gets a value: near what it was, or any. */
static void spoil(struct fuzz_input *input)
{
    size_t at = (fuzz_octet(input) << 8 | fuzz_octet(input)) % (SRD_SHARE_PAGE / 8);
    uint64_t *word = (uint64_t *)(void *)peer->memory + at, value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | fuzz_octet(input);
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static void step(struct fuzz_input *input)
{
    uint8_t what = fuzz_octet(input);
    struct srd_ring_words *in = end->in, *out = end->out;

    switch (what % 10) {
    case 0: read_some(any_size(input)); break;
    case 1: write_some(any_size(input)); break;
    case 2: srd_share_doze(end); break;
    case 3: srd_share_want_room(end); break;
    case 4: srd_share_awake(end); break;
    case 5: srd_share_answer(end); break;
    case 6: spoil(input); break;
    case 7: atomic_fetch_add(&in->head, (uint64_t)any_size(input) - what / 10); break;
    case 8: atomic_fetch_add(&out->tail, (uint64_t)any_size(input) - what / 10); break;
    default: srd_share_give_back(end); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t count)
{
    struct fuzz_input input = { octets, count };

    make();
    for (unsigned i = 0; i < 200 && input.left; i++)
        step(&input);
    srd_share_free(end);
    srd_share_free(peer);
    return 0;
}
