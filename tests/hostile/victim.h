/* SPDX-License-Identifier: MIT */
/*
 * victim.h - the softrdma end that a hostile peer talks to, and its innocent neighbours: memory that is not registered,
 * between guard pages, and a healthy connection in the same process.
 *
 * No thread polls the victim while a peer plays: the background thread serves it.
 */
#ifndef TESTS_HOSTILE_VICTIM_H
#define TESTS_HOSTILE_VICTIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softrdma/softrdma.h"

enum {
    VICTIM_POISON = 0xa5, /* around what is registered */
    VICTIM_FILL = 0x11,   /* what is registered, before a case */
    VICTIM_REGION = 8000, /* octets registered: inside two pages, touching neither border */
    VICTIM_RECEIVE = 64,  /* octets of a posted receive */
    VICTIM_RECEIVES = 3,
    VICTIM_READS = 4, /* reads it serves at once */
    VICTIM_WAIT_MS = 10000,
};

struct victim {
    struct rdma_event_channel *events;
    struct rdma_cm_id *listener;
    uint16_t port_be;
    struct ibv_context *context;
    struct ibv_pd *pd, *other_pd;
    struct ibv_cq *cq;
    struct ibv_srq *srq;     /* of the passive ends that are taken from now on, or NULL */
    uint8_t *pages;          /* two, between guard pages */
    uint8_t *region;         /* VICTIM_REGION octets in them */
    uint8_t *receives;       /* in memory of their own */
    struct ibv_mr *mr;       /* of region: local write, remote read and write, windows */
    struct ibv_mr *mr_read;  /* of region: remote read only */
    struct ibv_mr *mr_local; /* of region: local write only */
    struct ibv_mr *mr_other; /* of region, remote read and write, in the other protection domain */
    struct ibv_mr *mr_receives;
    struct rdma_cm_id *healthy[2]; /* an innocent connection, both ends */
    struct ibv_cq *healthy_cq;
    uint8_t *healthy_memory;
    struct ibv_mr *healthy_mr;
};

/* One connection with a hostile peer. */
struct victim_end {
    struct victim *victim;
    struct rdma_cm_id *id;
    struct ibv_cq *cq;
    struct ibv_mw *mw; /* bound over all of region by victim_bind */
};

void victim_open(struct victim *victim);
void victim_close(struct victim *victim);

/* Next event of the victim's connections within timeout_ms, acknowledged; -1: none. id, status out: may be NULL. */
int victim_event(struct victim *victim, int timeout_ms, struct rdma_cm_id **id, int *status);

/* Takes the request that is due and makes a queue pair; then accepts it. */
void victim_take(struct victim *victim, struct victim_end *end);
void victim_accept(struct victim_end *end, unsigned receives);
/* Waits for ESTABLISHED. */
void victim_established(struct victim_end *end);

/* The active victim: connects to port; the queue pair has VICTIM_RECEIVES posted. */
void victim_connect(struct victim *victim, struct victim_end *end, uint16_t port_be);

/* The next completion of cq, within VICTIM_WAIT_MS. */
void victim_fetch(struct ibv_cq *cq, struct ibv_wc *wc);

/* Binds end->mw over the region with remote read and write; invalidates it. */
void victim_bind(struct victim_end *end);
void victim_invalidate(struct victim_end *end);

/* The connection is over: waits for DISCONNECTED, fetches the flushed receives, destroys everything. */
void victim_over(struct victim_end *end);
/* Destroys it in any state. */
void victim_drop(struct victim_end *end);

/* Nothing was placed in the region or in a posted receive. */
void victim_untouched(struct victim *victim);
/* Checks that memory outside the region is unchanged and that the neighbour still works. Fills the memory anew. */
void victim_unharmed(struct victim *victim);

/* Open descriptors of this process; waits until they are back to so many, for what is closed a little later. */
unsigned victim_descriptors(void);
void victim_settle(unsigned descriptors);

#endif
