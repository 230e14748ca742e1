/* SPDX-License-Identifier: MIT */
/*
 * state.h - the life of a connection: one word of facts. A fact is only ever added, so threads that add facts at the
 * same time lose none, whatever locks they hold, and each of them sees in the word what is complete now.
 */
#ifndef SOFTRDMA_CONNECTION_STATE_H
#define SOFTRDMA_CONNECTION_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

/* The last one of a word that has any is the connection's phase; a word without one is in the startup phase. */
enum srd_conn_phase {
    SRD_CONN_STARTUP = 0,
    SRD_CONN_STREAM = 1 << 0,
    SRD_CONN_LINGER = 1 << 1,
    SRD_CONN_CLOSED = 1 << 2
};
enum { SRD_CONN_PHASES = SRD_CONN_STREAM | SRD_CONN_LINGER | SRD_CONN_CLOSED };

enum srd_conn_fact {
    SRD_CONN_UP =
        1 << 3, /* established: added under the lock that finds it, so who finds the end knows */
    SRD_CONN_DOWN = 1 << 4, /* the stream is over */
    SRD_CONN_LOCAL_END =
        1 << 5, /* this end ended it, so its end is reported once the peer has answered */
    SRD_CONN_RX_ENDED = 1 << 6,  /* TCP delivers no more octets */
    SRD_CONN_SHUT = 1 << 7,      /* TCP's FIN was sent, or the peer's came first */
    SRD_CONN_TX_FAILED = 1 << 8, /* TCP takes no more octets */
    SRD_CONN_REPORTED = 1 << 9   /* the owner knows of the end, or is not to */
};

/* What a thread that has added a fact owes the connection. */
enum srd_conn_deed {
    SRD_CONN_GO_ON,
    SRD_CONN_REPORT, /* tell the owner of the end; the socket stays open for the rest */
    SRD_CONN_FINISH  /* close the socket, then tell the owner */
};

typedef atomic_uint srd_conn_life;

/* Adds facts. Returns the word before: of threads that add the same fact, one does not find it there. */
static inline unsigned srd_life_add(srd_conn_life *life, unsigned facts)
{
    return atomic_fetch_or_explicit(life, facts, memory_order_seq_cst);
}

static inline bool srd_life_has(const srd_conn_life *life, unsigned facts)
{
    return atomic_load_explicit(life, memory_order_acquire) & facts;
}

static inline enum srd_conn_phase srd_life_phase(const srd_conn_life *life)
{
    unsigned phases = atomic_load_explicit(life, memory_order_acquire) & SRD_CONN_PHASES;

    return phases & SRD_CONN_CLOSED   ? SRD_CONN_CLOSED
           : phases & SRD_CONN_LINGER ? SRD_CONN_LINGER
                                      : (enum srd_conn_phase)phases;
}

/* srd_life_phase for the one phase that the data path asks for, in fewer instructions. */
static inline bool srd_life_is_stream(const srd_conn_life *life)
{
    return (atomic_load_explicit(life, memory_order_acquire) & SRD_CONN_PHASES) == SRD_CONN_STREAM;
}

/* What is owed where a word has become this one. Any thread, any lock; the caller sees to it that it is done once. */
enum srd_conn_deed srd_life_owes(unsigned life);

#endif
