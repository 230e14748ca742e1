/* SPDX-License-Identifier: MIT */
/* internal.h - between the files of a share: the layout of the memory. */
#ifndef SOFTRDMA_SHARE_INTERNAL_H
#define SOFTRDMA_SHARE_INTERNAL_H

#include "softrdma/share/share.h"

#include <stdatomic.h>
#include <stdint.h>

/* The simulation has smaller rings, which are full more often. */
#ifndef SRD_SHARE_RING_OCTETS
#define SRD_SHARE_RING_OCTETS (1024 * 1024)
#endif

enum {
    SRD_RING_OCTETS = SRD_SHARE_RING_OCTETS, /* a power of two */
    SRD_SHARE_PAGE = 4096,
    SRD_SHARE_OCTETS = SRD_SHARE_PAGE + 2 * SRD_RING_OCTETS,
    SRD_SHARE_APART = 128, /* processors fetch cache lines in pairs */
    SRD_SHARES_MAX = 16384,
};

/* One direction. Positions count octets from the beginning of the connection. */
struct srd_ring_words {
    _Alignas(
        SRD_SHARE_APART) _Atomic uint64_t head; /* the writer's: octets before it can be read */
    _Atomic uint64_t told;                      /* the writer's, see srd_share_tells */
    _Atomic uint32_t ended;                     /* the writer's: it was its last */
    _Alignas(SRD_SHARE_APART) _Atomic uint64_t tail; /* the reader's: octets before it are free */
    /* 0: the writer is to ring; set by the writer that does, and by a reader that polls */
    _Alignas(SRD_SHARE_APART) _Atomic uint32_t awake;
    /* the reader's, when it began to doze or to poll, and 1; 0: none yet */
    _Atomic uint32_t processor;
    /* 1: the reader is to ring when it has made room, and clears it */
    _Alignas(SRD_SHARE_APART) _Atomic uint32_t wants_room;
};

/* The first page: [0] from the active end to the passive one. The rings follow in the same order. */
struct srd_share_words {
    struct srd_ring_words ring[2];
};
_Static_assert(sizeof(struct srd_share_words) <= SRD_SHARE_PAGE, "one page");

struct srd_share {
    uint8_t *memory;
    int wake_fd;
    atomic_int broken; /* 0, or why it is over: a negative errno */

    /* the reading end's own */
    _Alignas(64) struct srd_ring_words *in;
    const uint8_t *in_octets;
    uint64_t in_tail, in_freed; /* read; and what the peer knows of that */
    uint64_t in_head;           /* the peer's, when it was loaded last */
    bool dozes;

    /* the writing end's own */
    _Alignas(64) struct srd_ring_words *out;
    uint8_t *out_octets;
    uint64_t out_head;
    uint64_t out_tail;    /* the peer's, when it was loaded last */
    uint64_t out_given;   /* out_head when all memory was given back last */
    uint64_t out_trimmed; /* the same, when what is not in use was */
};

#endif
