/* SPDX-License-Identifier: MIT */
/* internal.h - the layout of a share's memory, for the files of this folder. */
#ifndef SOFTRDMA_SHARE_INTERNAL_H
#define SOFTRDMA_SHARE_INTERNAL_H

#include "softrdma/share/share.h"

#include <stdatomic.h>
#include <stdint.h>

/* tests/simulate sets smaller rings, which are full more often. */
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

/* The words of one direction. Positions count octets from the beginning of the connection. */
struct srd_ring_words {
    /* the writer stores these: octets before head can be read; srd_share_tells; it has written its last octet */
    _Alignas(SRD_SHARE_APART) _Atomic uint64_t head;
    _Atomic uint64_t told;
    _Atomic uint32_t ended;
    /* the reader stores it: octets before tail are free */
    _Alignas(SRD_SHARE_APART) _Atomic uint64_t tail;
    /* 0: the writer has to ring; a writer that rings sets it to 1, and so does a reader that polls */
    _Alignas(SRD_SHARE_APART) _Atomic uint32_t awake;
    /* 1 plus the reader's processor when it last began to doze or to poll; 0: it has not yet */
    _Atomic uint32_t processor;
    /* 1: the reader has to ring when it has made room, and clears it */
    _Alignas(SRD_SHARE_APART) _Atomic uint32_t wants_room;
};

/* The first page; ring[0] is from the active end to the passive one. The rings follow in the same order. */
struct srd_share_words {
    struct srd_ring_words ring[2];
};
_Static_assert(sizeof(struct srd_share_words) <= SRD_SHARE_PAGE, "one page");

struct srd_share {
    uint8_t *memory;
    int wake_fd;
    atomic_int broken; /* 0, or the negative errno that ended the share */

    /* the thread that reads uses these alone */
    _Alignas(64) struct srd_ring_words *in;
    const uint8_t *in_octets;
    uint64_t in_tail;  /* octets before it are read */
    uint64_t in_freed; /* the value of in_tail that was published last */
    uint64_t in_head;  /* the peer's head when it was loaded last */
    bool dozes;

    /* the thread that writes uses these alone */
    _Alignas(64) struct srd_ring_words *out;
    uint8_t *out_octets;
    uint64_t out_head;
    uint64_t out_tail;    /* the peer's tail when it was loaded last */
    uint64_t out_given;   /* out_head at the last srd_share_give_back */
    uint64_t out_trimmed; /* out_head at the last srd_share_trim */
};

#endif
