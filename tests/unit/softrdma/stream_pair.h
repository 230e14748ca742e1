/* SPDX-License-Identifier: MIT */
/*
 * stream_pair.h - two queue pairs whose streams are joined in memory, with the octets cut at random places; or one
 * whose peer is the test itself.
 */
#ifndef TESTS_UNIT_SOFTRDMA_STREAM_PAIR_H
#define TESTS_UNIT_SOFTRDMA_STREAM_PAIR_H

#include "softrdma/device/device.h"
#include "softrdma/queues/qp.h"
#include "softrdma/stream/stream.h"

#include <stdarg.h>
#include <setjmp.h>

#include <cmocka.h>

enum { MEM_OCTETS = 4 << 20 };

struct end {
    struct ibv_context *context;
    struct ibv_pd *pd, *srq_pd; /* the same without PAIR_SRQ_DOMAIN */
    struct ibv_cq *scq, *rcq;
    struct ibv_srq *srq;
    struct ibv_qp *qp;
    uint8_t *mem;
    struct ibv_mr *mr; /* mem, all rights */
    unsigned actions;  /* everything that was ever wanted */
    bool fin_sent, fin_got, closed;
    /* octets on their way to this end */
    uint8_t *pipe;
    size_t pipe_octets, pipe_room;
};

enum {
    PAIR_SOFT = 1,
    PAIR_CRC = 2,
    PAIR_SRQ = 4,     /* end b receives from a shared queue */
    PAIR_SMALL = 8,   /* FPDUs of 256 octets */
    PAIR_NO_RTR = 16, /* client-server model */
    PAIR_RTR_READ = 32,
    PAIR_HELD = 64,        /* the initiator is not released yet */
    PAIR_SRQ_DOMAIN = 128, /* the shared queue is in a domain of its own */
};

struct pair {
    struct end a, b; /* a: initiator */
    unsigned flags;
    uint64_t now_ms;
    unsigned seed; /* 0: nothing is cut */
    uint16_t ird, ord;
};

/* One end on its own, queue pair in RTS, stream not started. */
void end_open(struct end *end, unsigned flags);
void end_start(struct pair *pair, struct end *end, bool initiator);
void end_close(struct end *end);

/* ird, ord: of both; 0xffff = 4 */
void pair_open(struct pair *pair, unsigned flags, unsigned seed);
void pair_open_depths(struct pair *pair, unsigned flags, unsigned seed, uint16_t ird, uint16_t ord);
void pair_close(struct pair *pair);

/* Moves octets both ways until nothing moves any more. */
void pair_pump(struct pair *pair);
/* One way only, without answers. */
bool pair_move(struct pair *pair, struct end *from, struct end *to);
/* Lets time pass for both; fires what is due. */
void pair_time(struct pair *pair, uint64_t ms);
void pair_disconnect(struct pair *pair, struct end *end);

/* Octets into an end, in pieces of at most piece (0: all at once). */
void end_feed(struct pair *pair, struct end *end, const void *octets, size_t count, size_t piece);
/* Takes what the end has to send; returns octets. */
size_t end_take(struct pair *pair, struct end *end, uint8_t *out, size_t room);
void end_want(struct pair *pair, struct end *end, unsigned actions);

/*
 * Requests; memory by offset in mem. Each must be accepted, and is signaled: flags are xor-ed with IBV_SEND_SIGNALED.
 */
void post_recv(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets);
void post_srq_recv(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets);
void post_send(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets, unsigned flags);
void post_send_inv(struct end *end, uint64_t wr_id, uint32_t rkey);
void post_write(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets, uint64_t remote,
    uint32_t rkey, unsigned flags);
void post_read(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets, uint64_t remote,
    uint32_t rkey, unsigned flags);
void post_send_imm(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets,
    uint32_t immediate, unsigned flags);
void post_write_imm(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets,
    uint64_t remote, uint32_t rkey, uint32_t immediate, unsigned flags);
/* opcode: one of the two; the original value goes to offset */
void post_atomic(struct end *end, enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
    uint64_t remote, uint32_t rkey, uint64_t compare_add, uint64_t swap, unsigned flags);
void post_bind(struct end *end, uint64_t wr_id, struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr,
    size_t offset, uint64_t octets, int access);
void post_local_inv(struct end *end, uint64_t wr_id, uint32_t rkey);

static inline uint64_t at(const struct end *end, size_t offset)
{
    return (uintptr_t)end->mem + offset;
}

/* The next completion must be this one. */
#define expect_wc(cq, wr_id, status) expect_wc_((cq), (wr_id), (status), __FILE__, __LINE__)
struct ibv_wc expect_wc_(
    struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status, const char *file, int line);
#define expect_none(cq) expect_none_((cq), __FILE__, __LINE__)
void expect_none_(struct ibv_cq *cq, const char *file, int line);

/* The next asynchronous event of the context, acknowledged; -1 when there is none. */
int next_async(struct end *end);

/* Runs body on fresh pairs with acknowledgements: without and with CRC, in small segments; uncut and cut at random. */
enum { PAIR_SOFT_FORMS = 3, PAIR_SEEDS = 4 };
extern const unsigned pair_soft_forms[PAIR_SOFT_FORMS];
void pair_with_soft_peers(void (*body)(struct pair *));

/* What every end of a connection has: both down, in error, closed after both FINs, later posts flushed. */
void pair_expect_over(struct pair *pair);

/* Deterministic contents. */
void fill(uint8_t *p, size_t octets, unsigned seed);

#endif
