/* SPDX-License-Identifier: MIT */
/*
 * stag.h - the STag table: the memory that a local key or a peer's STag may reach.
 *
 * A device has one table. An entry is a region, a fast region (whose pages a request registers), or a window. Its
 * 32-bit key is a random 24-bit index and a key octet that changes at each reuse (RFC 5042). Every look-up checks key,
 * protection domain, queue pair, rights and bounds for [addr, addr + length) anew and pins the entry; dereg and
 * invalidate first take the entry out and then wait until no pin is left, so that no access reaches the memory after
 * they return.
 *
 * Threads: any. Lock: LOCK_SRD_MEMORY, never held by a caller while it copies; the pin protects the copy.
 */
#ifndef SOFTRDMA_MEMORY_STAG_H
#define SOFTRDMA_MEMORY_STAG_H

#include "softrdma/context/context.h"
#include "softrdma/queues/sq.h"
#include "util/list.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct srd_qp;

/*
 * An entry. A window contains its own; a region takes one from the table's, whose memory is never freed, so a queue
 * pair may look at the entry that it used last. The table's lock guards all but pins; a thread that has a pin reads
 * members of a region that do not change without it.
 */
struct srd_stag_entry {
    struct srd_stag_entry *next; /* next in its hash bucket, or in the list of unused entries */
    _Atomic uint32_t key;        /* index << 8 | key octet */
    /* number of accesses under way; top bit: it is in no table, or a removal waits for them to end */
    _Atomic uint32_t pins;
    bool window;
    /* a window of type 1: any queue pair of its domain serves it, and binds alone change it */
    bool by_domain;
    bool valid; /* a region: always; a fast region: while registered; a window: while bound */
    bool used;  /* a window: it was bound under its key */
    int access;
    unsigned windows; /* number of windows bound on this region */
    uint64_t addr, length;
    struct ibv_pd *pd;
    struct srd_qp *qp;             /* type 2 window: the queue pair it is bound to */
    struct srd_stag_entry *region; /* window: the region it is bound to */
    struct list_node bound_node;
    /* fast regions; their memory and rights change only while there is no pin */
    uint32_t max_pages; /* 0: it is no fast region */
    uint32_t offset;    /* offset of addr in the first page */
    struct srd_page_list *list, *spare;
};

/* Makes an empty table. Returns 0 or ENOMEM. */
int srd_stag_table_init(struct srd_stag_table *table);
/* Frees a table to which no entry has been added. */
void srd_stag_table_fini(struct srd_stag_table *table);

/*
 * srd_stag_take  returns an entry for a region, in no table, its members 0. NULL: there is no memory
 * srd_stag_give  gives an entry back, after srd_stag_remove or before srd_stag_add
 */
struct srd_stag_entry *srd_stag_take(struct srd_stag_table *table);
void srd_stag_give(struct srd_stag_table *table, struct srd_stag_entry *entry);

/*
 * srd_stag_add     adds an entry whose other members are set: gives it a fresh random index and a random key octet.
 *                  Returns 0 or ENOMEM
 * srd_stag_remove  takes an entry out, and waits for pins. Returns 0; EBUSY: a region with bound windows, which stays
 */
int srd_stag_add(struct srd_stag_table *table, struct srd_stag_entry *entry);
int srd_stag_remove(struct srd_stag_table *table, struct srd_stag_entry *entry);

/* Why a look-up failed; stream/stream.c maps it to DDP and RDMAP codes. */
enum srd_stag_error {
    SRD_STAG_OK = 0,
    SRD_STAG_INVALID,       /* unknown, wrong key, invalidated, not bound */
    SRD_STAG_BOUNDS,        /* base or bounds */
    SRD_STAG_RIGHTS,        /* the memory or the queue pair lacks an access right */
    SRD_STAG_STREAM,        /* other protection domain, or window of another queue pair */
    SRD_STAG_WRAP,          /* addr + length wraps 2^64 */
    SRD_STAG_GONE,          /* the memory does not exist (dma.h); srd_stag_pin never returns it */
    SRD_STAG_NO_INVALIDATE, /* neither a peer nor a LOCAL_INV may invalidate the entry */
};

/*
 * srd_stag_pin - looks a key up for one access, and pins the entry.
 * qp       in: the queue pair of the access (its pd counts; for a window, the queue pair itself)
 * key      in: lkey or rkey, host order
 * addr     in: first octet; length in octets, > 0 (callers skip the check for zero length)
 * access   in: IBV_ACCESS_* needed; 0 = local read
 * remote   in: true for a peer's access (windows and regions with remote rights), false for a local SGE (regions only)
 * entry    out: pinned entry; the caller gives it back with srd_stag_unpin
 * srd_stag_at returns where the memory is: at addr itself for windows and regions, which are virtual-address based.
 */
enum srd_stag_error srd_stag_pin(struct srd_qp *qp, uint32_t key, uint64_t addr, uint64_t length,
    int access, bool remote, struct srd_stag_entry **entry);
/*
 * Pin the memory of a local entry, which a request reads or a Receive writes. For a shared receive queue, that queue's
 * domain counts. seen: in, out: the region that this side of the queue pair used last, or NULL; the side's lock is
 * held. If the key names that region again, the table's lock is not taken.
 */
enum srd_stag_error srd_stag_pin_send(struct srd_qp *qp, struct srd_stag_entry **seen, uint32_t key,
    uint64_t addr, uint64_t length, struct srd_stag_entry **entry);
enum srd_stag_error srd_stag_pin_receive(struct srd_qp *qp, struct srd_stag_entry **seen,
    uint32_t key, uint64_t addr, uint64_t length, struct srd_stag_entry **entry);
void srd_stag_unpin(struct srd_stag_entry *entry);
/* Adds a pin; the caller has one already. */
static inline void srd_stag_pin_again(struct srd_stag_entry *entry)
{
    atomic_fetch_add_explicit(&entry->pins, 1, memory_order_relaxed);
}

/* srd_stag_at for a fast region. */
uint8_t *srd_stag_page_at(const struct srd_stag_entry *entry, uint64_t addr, uint32_t *octets);

/*
 * srd_stag_at - returns where the memory of an address is.
 * entry   in: pinned for a range with [addr, addr + *octets)
 * octets  in: > 0; out: how many of them are contiguous there
 */
static inline uint8_t *srd_stag_at(
    const struct srd_stag_entry *entry, uint64_t addr, uint32_t *octets)
{
    if (__builtin_expect(!entry->max_pages, 1))
        return (uint8_t *)(uintptr_t)addr;
    return srd_stag_page_at(entry, addr, octets);
}

/*
 * srd_stag_bind - executes a posted IBV_WR_BIND_MW, or ibv_bind_mw, at its place in the send queue. A Bind of a type 1
 * window ends what the window was bound to, and binds nothing if the length is 0. It waits for pins of other threads;
 * the caller must hold none on the window.
 * window    in: the request's (srd_mw_entry); its memory is not read unless it is in the table
 * new_rkey  in: the window's index with the key octet that the program chose (ibv_inc_rkey of its last); not the octet
 *           of the key under which it was bound last
 * Returns a wc status: SUCCESS, MW_BIND_ERR (rights, bounds, other pd, already bound), LOC_QP_OP_ERR.
 */
enum ibv_wc_status srd_stag_bind(struct srd_qp *qp, struct srd_stag_entry *window,
    uint32_t new_rkey, const struct srd_bind *bind);

/*
 * srd_stag_register - executes a fast registration at its place in the send queue, and takes the request's list. Waits
 * for pins of other threads from before the region was invalidated; the caller must hold none on it.
 * Returns IBV_WC_SUCCESS or IBV_WC_MW_BIND_ERR (unknown key, other domain, registered already, an invalid list or
 * rights).
 */
enum ibv_wc_status srd_stag_register(struct srd_qp *qp, uint32_t key, struct srd_sqe_fast *fast);
/* Returns a list for max_pages of the region, to be filled; NULL: no memory. A list that is not posted is put back. */
struct srd_page_list *srd_stag_list_take(
    struct srd_stag_table *table, struct srd_stag_entry *entry);
void srd_stag_list_put(
    struct srd_stag_table *table, struct srd_stag_entry *entry, struct srd_page_list *list);

/*
 * srd_stag_invalidate - executes LOCAL_INV (by_peer false) or the Invalidate STag of a received Send (by_peer true). It
 * takes a bound type 2 window of this queue pair, or a registered fast region of its domain, which needs remote rights
 * if by_peer. Waits for pins of other threads; the caller must hold none on it.
 */
enum srd_stag_error srd_stag_invalidate(struct srd_qp *qp, uint32_t rkey, bool by_peer);

/* An access that the table refused: the parameters of srd_stag_pin. */
struct srd_stag_question {
    const struct ibv_pd *pd; /* the domain whose regions count */
    uint32_t key;
    uint64_t addr, length;
    int access;
    bool remote;
    bool invalidate; /* it is a peer's invalidation; then key alone counts */
};

/*
 * srd_stag_explain - says for the log why the table refuses an access: which memory the key names, its rights and the
 * range. It looks the key up again, so it describes the present state.
 * text  out: one line of less than size octets
 * Returns whether the table refuses the access; otherwise the memory that the key names does not exist (dma.h).
 * Threads: any that may take LOCK_SRD_MEMORY.
 */
bool srd_stag_explain(
    const struct srd_qp *qp, const struct srd_stag_question *question, char *text, size_t size);

/* Unbinds every window bound to qp, which is being destroyed: type 2B windows end with their queue pair. */
void srd_stag_release_qp(struct srd_qp *qp);

#endif
