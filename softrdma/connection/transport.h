/* SPDX-License-Identifier: MIT */
/*
 * transport.h - what carries the octets of a connection: its TCP socket (tcp.c), or memory that both ends have
 * (shared.c), beside which TCP stays connected and ends the stream. conn.c and life.c have which thread serves a side,
 * and when; a transport has how, and how a thread that has nothing more to do is called again.
 */
#ifndef SOFTRDMA_CONNECTION_TRANSPORT_H
#define SOFTRDMA_CONNECTION_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct srd_conn;

/* How much a thread sends for one connection before others get their turn. */
struct srd_turn {
    size_t octets;
    int calls;
};

/*
 * What a thread comes to the receive side for, beside the octets. Who finds the side taken asks its holder for all of
 * it: so what it came for need not be noted.
 */
enum srd_look {
    SRD_LOOK_BELL = 1 << 0, /* answer it */
    SRD_LOOK_TCP = 1 << 1,  /* its end may have come */
    SRD_LOOK_ALL = SRD_LOOK_BELL | SRD_LOOK_TCP
};

struct srd_transport {
    struct srd_turn turn; /* the turn of a thread that serves many connections */

    /*
     * Stream phase, the side's lock held. Both return actions (stream.h), and leave the connection so that it is called
     * again if there may be more to do.
     * receive   reads, so many times at most; looks: SRD_LOOK bits; moved: set if anything came
     * send      sends what the stream has
     *   left  in, out: of the turn
     *   all   out; false: a waiting thread sends the rest
     * has_room  whether a write has something to do. NULL: the reactor finds that, not who looks
     */
    unsigned (*receive)(struct srd_conn *conn, int budget, unsigned looks, bool *moved);
    unsigned (*send)(struct srd_conn *conn, struct srd_turn *left, bool *all);
    bool (*has_room)(struct srd_conn *conn);

    /*
     * Stream phase; no lock of LOCK_SRD_CHANNEL or above held. NULL: nothing is to be done.
     * begin      before the stream does, owner lock held. Returns actions, for when it has begun
     * end        TX lock held: TCP's FIN was sent
     * ready      TCP's socket is, with EPOLL* bits. Returns whether there may be room
     * again      the receive side is to be served, though nothing may show that
     * polled     a thread looks at it again and again
     * expired    the connection was soon, which also ends a look by polling. Returns whether it is to be read
     * waits      whether the reactor is to call when TCP's socket is writable
     * apart      whether the peer runs on another processor than the caller, as far as known
     * give_back  both locks held: an idle connection gives back its memory (idle), a busy one what it does not use.
     *            Returns whether an idle one has
     */
    unsigned (*begin)(struct srd_conn *conn);
    void (*end)(struct srd_conn *conn);
    bool (*ready)(struct srd_conn *conn, uint32_t events);
    void (*again)(struct srd_conn *conn);
    void (*polled)(struct srd_conn *conn);
    bool (*expired)(struct srd_conn *conn);
    bool (*waits)(struct srd_conn *conn);
    bool (*apart)(struct srd_conn *conn);
    bool (*give_back)(struct srd_conn *conn, bool idle);

    /*
     * Outside the stream phase. NULL as above.
     * fill     startup, owner lock held: as srd_conn_fill, into room
     * put      linger lock held. Octets or a negative errno; rings: out: the peer shows when there is room
     * discard  linger lock held: drops what has come but by TCP. Returns whether there may be more
     * close    it is not watched any more
     */
    ssize_t (*fill)(struct srd_conn *conn, struct iovec room);
    ssize_t (*put)(struct srd_conn *conn, const struct iovec *rest, bool *rings);
    bool (*discard)(struct srd_conn *conn, struct iovec scratch);
    void (*close)(struct srd_conn *conn);
};

extern const struct srd_transport srd_transport_tcp, srd_transport_shared;

#endif
