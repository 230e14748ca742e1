/* SPDX-License-Identifier: MIT */
/*
 * peer.h - the hostile peer: a TCP socket and what it sees of the other end. Waits are bounded by PEER_WAIT_MS.
 */
#ifndef TESTS_HOSTILE_PEER_H
#define TESTS_HOSTILE_PEER_H

#include "tests/hostile/wire.h"

enum { PEER_WAIT_MS = 10000 };

enum peer_end {
    PEER_HANGS,  /* the other end neither said anything nor closed */
    PEER_CLOSED, /* FIN */
    PEER_RESET,  /* RST */
};

struct peer {
    int fd;
    /* What peer_end saw. */
    bool terminated; /* a Terminate came */
    uint8_t layer, type, code;
    struct wire terminate; /* the frame */
    unsigned responses;    /* Read Response segments before it */
    bool poison;           /* octets of unregistered memory came in one */
    bool garbage;          /* something came that is no valid FPDU */
};

/* port in network order, on 127.0.0.1. Any failure of the test's own machinery fails the running test. */
void peer_connect(struct peer *peer, uint16_t port_be);
/* The passive hostile peer. */
int peer_listen(uint16_t *port_be);
void peer_accept(struct peer *peer, int listener);
/* False: no connection came within timeout_ms. */
bool peer_accept_within(struct peer *peer, int listener, int timeout_ms);

/* Sends; a connection that the other end has ended already is no failure here. */
void peer_send(struct peer *peer, const void *octets, size_t length);
void peer_send_frame(struct peer *peer, const struct wire *frame);

/* Receives exactly so much; false when the connection ends or nothing comes. */
bool peer_receive(struct peer *peer, void *octets, size_t length);
/* A startup frame, an FPDU with good CRC. */
bool peer_receive_startup(struct peer *peer, struct wire *frame);
bool peer_receive_fpdu(struct peer *peer, struct wire *frame);

/*
 * peer_finish - read what the other end still has to say, a Terminate perhaps, until it closes; then close. Finds out
 * whether octets of the poison pattern leaked.
 */
enum peer_end peer_finish(struct peer *peer);

/*
 * peer_answer - peer_finish, and what the other end said: Terminate layer, type and code as 0xLTCC, or PEER_NO_ANSWER.
 * Fails the test when it hangs, writes rubbish or gives away unregistered memory.
 */
enum { PEER_NO_ANSWER = 0x10000 };
unsigned peer_answer(struct peer *peer);

/* FIN now, still reading; RST now. */
void peer_half_close(struct peer *peer);
void peer_abort(struct peer *peer);
void peer_close(struct peer *peer);

#endif
