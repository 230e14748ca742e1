/* SPDX-License-Identifier: MIT */
/*
 * stag.h - the STag table: what a local key or a peer's STag may reach.
 *
 * One table per device. An entry is a region, a fast region (one of pages, registered by requests), a window, or
 * nothing; its 32-bit name is a random 24-bit-sparse
 * index plus a key octet that changes at each reuse (RFC 5042). Every look-up checks key, protection domain, queue
 * pair, rights and bounds for [addr, addr + length) anew and pins the entry; dereg and invalidate take the entry out
 * first and then wait until no pin is left, so that no access reaches the memory after they return.
 *
 * Threads: any. Lock: LOCK_SRD_MEMORY, never held by a caller while it copies; the pin protects the copy.
 */
#ifndef SOFTRDMA_MEMORY_STAG_H
#define SOFTRDMA_MEMORY_STAG_H

#include "softrdma/context.h"
#include "softrdma/queues/sq.h"
#include "util/list.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct srd_qp;

/*
 * One name. Embedded in its window, or taken by its region from those of the table, whose memory is never freed: so a
 * queue pair may look at the entry that it used last. The table's lock guards all but pins, but those who have a pin
 * read what does not change of a region.
 */
struct srd_stag_entry {
    struct srd_stag_entry *next; /* hash chain, or that of the unused */
    _Atomic uint32_t key;        /* index << 8 | key octet */
    /* accesses under way; top bit: it is in no table, or a thread that takes it out waits for them to end */
    _Atomic uint32_t pins;
    bool window;
    /* a window of type 1: any queue pair of its domain serves it, and binds alone change it */
    bool by_domain;
    bool valid; /* a region always; a fast one while registered; a window while bound */
    bool used;  /* a window: it was bound under its key */
    int access;
    unsigned windows; /* bound on this region */
    uint64_t addr, length;
    struct ibv_pd *pd;
    struct srd_qp *qp;             /* type 2 window: the queue pair it is bound to */
    struct srd_stag_entry *region; /* window: what it is bound to */
    struct list_node bound_node;
    /* a fast region; what is registered changes only without pins */
    uint32_t max_pages; /* 0: it is none */
    uint32_t offset;    /* of addr in the first page */
    struct srd_page_list *list, *spare;
};

/* Returns 0 or ENOMEM. */
int srd_stag_table_init(struct srd_stag_table *table);
/* Of a table that nothing has been added to. */
void srd_stag_table_fini(struct srd_stag_table *table);

/*
 * srd_stag_take  an entry for a region, which is in no table; its members are 0. NULL: there is no memory
 * srd_stag_give  gives it back, after srd_stag_remove or before srd_stag_add
 */
struct srd_stag_entry *srd_stag_take(struct srd_stag_table *table);
void srd_stag_give(struct srd_stag_table *table, struct srd_stag_entry *entry);

/*
 * srd_stag_add     names an entry whose other members are set: a fresh random index, a random key octet. 0 or ENOMEM.
 * srd_stag_remove  takes it out, waiting for pins. EBUSY: a region with bound windows (nothing happened).
 */
int srd_stag_add(struct srd_stag_table *table, struct srd_stag_entry *entry);
int srd_stag_remove(struct srd_stag_table *table, struct srd_stag_entry *entry);

/* Why a look-up failed; stream/stream.c maps it to DDP and RDMAP codes. */
enum srd_stag_error {
    SRD_STAG_OK = 0,
    SRD_STAG_INVALID,       /* unknown, wrong key, invalidated, not bound */
    SRD_STAG_BOUNDS,        /* base or bounds */
    SRD_STAG_RIGHTS,        /* access right missing, of the memory or of the queue pair */
    SRD_STAG_STREAM,        /* other protection domain, or window of another queue pair */
    SRD_STAG_WRAP,          /* addr + length wraps 2^64 */
    SRD_STAG_GONE,          /* the memory is not there (dma.h); never of srd_stag_pin */
    SRD_STAG_NO_INVALIDATE, /* not something a peer, or a LOCAL_INV, may invalidate */
};

/*
 * srd_stag_pin - look up a key for one access.
 * qp       in: the queue pair the access is for (its pd counts; for a window, itself)
 * key      in: lkey or rkey, host order
 * addr     in: first octet; length in octets, > 0 (callers skip the check for zero length)
 * access   in: IBV_ACCESS_* needed; 0 = local read
 * remote   in: true for a peer's access (windows and regions with remote rights), false for a local SGE (regions only)
 * entry    out: pinned entry; the caller gives it back with srd_stag_unpin
 * Memory is where srd_stag_at says: at addr itself for windows and regions, which are virtual-address based.
 */
enum srd_stag_error srd_stag_pin(struct srd_qp *qp, uint32_t key, uint64_t addr, uint64_t length,
    int access, bool remote, struct srd_stag_entry **entry);
/*
 * The same for memory that a Send gives to be read, or a Receive to be written: of a shared queue's, the queue's domain
 * counts. seen: in, out: the region that this side of the queue pair used last, or NULL; its lock is held. The same
 * region again is found without the table's lock.
 */
enum srd_stag_error srd_stag_pin_send(struct srd_qp *qp, struct srd_stag_entry **seen, uint32_t key,
    uint64_t addr, uint64_t length, struct srd_stag_entry **entry);
enum srd_stag_error srd_stag_pin_receive(struct srd_qp *qp, struct srd_stag_entry **seen,
    uint32_t key, uint64_t addr, uint64_t length, struct srd_stag_entry **entry);
void srd_stag_unpin(struct srd_stag_entry *entry);
/* One more pin, by one who has one. */
static inline void srd_stag_pin_again(struct srd_stag_entry *entry)
{
    atomic_fetch_add_explicit(&entry->pins, 1, memory_order_relaxed);
}

/* srd_stag_at for a fast region. */
uint8_t *srd_stag_page_at(const struct srd_stag_entry *entry, uint64_t addr, uint32_t *octets);

/*
 * srd_stag_at - where the memory of an address is.
 * entry   in: pinned for a range with [addr, addr + *octets)
 * octets  in: > 0; out: how many of them are there in one piece
 */
static inline uint8_t *srd_stag_at(
    const struct srd_stag_entry *entry, uint64_t addr, uint32_t *octets)
{
    if (__builtin_expect(!entry->max_pages, 1))
        return (uint8_t *)(uintptr_t)addr;
    return srd_stag_page_at(entry, addr, octets);
}

/*
 * srd_stag_bind - execute a posted IBV_WR_BIND_MW, or ibv_bind_mw, at its place in the send queue. One of a type 1
 * window replaces what it was bound to, with length 0 by nothing, and waits for pins of other threads; the caller must
 * hold none on it.
 * window    in: of the request (srd_mw_entry); its memory is not read unless it is in the table
 * new_rkey  in: the window's index with the octet that the poster chose (ibv_inc_rkey of its last); not that of the
 *           key under which it was bound last
 * Returns a wc status: SUCCESS, MW_BIND_ERR (rights, bounds, other pd, already bound), LOC_QP_OP_ERR.
 */
enum ibv_wc_status srd_stag_bind(struct srd_qp *qp, struct srd_stag_entry *window,
    uint32_t new_rkey, const struct srd_bind *bind);

/*
 * srd_stag_register - execute a fast registration at its place in the send queue: takes the request's list. Waits for
 * pins of other threads from before the region was invalidated; the caller must hold none on it.
 * Returns IBV_WC_SUCCESS or IBV_WC_MW_BIND_ERR (unknown, other domain, registered already, a list or rights that make
 * no sense).
 */
enum ibv_wc_status srd_stag_register(struct srd_qp *qp, uint32_t key, struct srd_sqe_fast *fast);
/* A list for max_pages of the region, to be filled; NULL without memory. Put back what is not posted. */
struct srd_page_list *srd_stag_list_take(
    struct srd_stag_table *table, struct srd_stag_entry *entry);
void srd_stag_list_put(
    struct srd_stag_table *table, struct srd_stag_entry *entry, struct srd_page_list *list);

/*
 * srd_stag_invalidate - LOCAL_INV (by_peer false) or the Invalidate STag of a received Send (by_peer true). Only a
 * bound type 2 window of this queue pair, or a registered fast region of its domain; by a peer, one with remote rights.
 * Waits for pins of other threads; the caller must hold none on it.
 */
enum srd_stag_error srd_stag_invalidate(struct srd_qp *qp, uint32_t rkey, bool by_peer);

/* What the table was asked, and refused. */
struct srd_stag_question {
    const struct ibv_pd *pd; /* whose regions count */
    uint32_t key;
    uint64_t addr, length;
    int access; /* as of srd_stag_pin */
    bool remote;
    bool invalidate; /* by a peer; then key alone counts */
};

/*
 * srd_stag_explain - says for the log why the table refuses, by the memory that the key names, its rights and the
 * range. It looks again: what has changed since is told as it is now.
 * text  out: one line of less than size octets
 * Returns whether the table does refuse; otherwise the memory of what it names is not there (dma.h).
 * Threads: any that may take LOCK_SRD_MEMORY.
 */
bool srd_stag_explain(
    const struct srd_qp *qp, const struct srd_stag_question *question, char *text, size_t size);

/* Drops every window bound on qp (its destruction: type 2B windows die with their queue pair). */
void srd_stag_release_qp(struct srd_qp *qp);

#endif
