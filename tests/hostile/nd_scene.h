/* SPDX-License-Identifier: MIT */
/*
 * nd_scene.h - a NetworkDirect program, by its public interfaces, that a hostile peer talks to.
 *
 * A program waits for its requests in one of three manners. All waits are bounded; what has not ended then fails the
 * running test. Programs live in memory that outlives a failed test, for their requests are still under way.
 */
#ifndef TESTS_HOSTILE_ND_SCENE_H
#define TESTS_HOSTILE_ND_SCENE_H

#include "tests/hostile/peer.h"
#include "tests/hostile/victim.h"
#include "tests/support/nd2_end.h"

enum nd_manner { ND_BY_EVENT, ND_BY_PORT, ND_BY_POLLING, ND_MANNERS };

enum {
    PROGRAM_WAIT_MS = 20000,
    PROGRAM_RECEIVES = 3, /* Receives of PROGRAM_RECEIVE octets, posted once connected */
    PROGRAM_RECEIVE = 64,
    PROGRAM_REGION = 8192,
    PROGRAM_READS = 4,
};

/* An overlapped request. */
struct nd_op {
    OVERLAPPED overlapped;
    HANDLE event;
    bool arrived; /* its packet */
};

struct program {
    enum nd_manner manner;
    HANDLE port;
    struct nd2_end end;
    uint16_t port_be; /* it listens on */
    struct nd_op get, connect, accept, complete, notify, disconnect, results;
};

/* Receives are posted; the region is filled with VICTIM_FILL. */
void program_open(struct program *program, enum nd_manner manner);
void program_close(struct program *program);
/* Replaces the connector and the queue pair, which have had their connection. */
void program_renew(struct program *program);
void program_listen(struct program *program);

/* program_start prepares op for a call; program_end waits for it and returns its status: hr itself unless pending. */
OVERLAPPED *program_start(struct program *program, struct nd_op *op);
HRESULT program_end(struct program *program, void *object, struct nd_op *op, HRESULT hr);

/* The calls. begin: must be pending, and is ended by program_end(program, connector or listener, op, ND_PENDING). */
void program_get_begin(struct program *program);
HRESULT program_get_end(struct program *program);
void program_connect_begin(struct program *program, uint16_t port_be);
HRESULT program_connect_end(struct program *program);
HRESULT program_complete(struct program *program);
void program_accept_begin(struct program *program);
HRESULT program_accept_end(struct program *program);
/* Notify for any completion. */
HRESULT program_notify_begin(struct program *program);
HRESULT program_notify_end(struct program *program);
HRESULT program_disconnect(struct program *program);

void program_receives(struct program *program);
/* Fetches so many results. */
void program_results(struct program *program, ND2_RESULT *results, unsigned count);
/* Fails the test when a result is there. */
void program_no_results(struct program *program);

/* Two programs become connected: client connects to server, which listens. */
void program_meet(struct program *client, struct program *server);
/* A message there and back. */
void program_exchange(struct program *client, struct program *server);

/* Group fixtures: the library, and an innocent connection in the process. */
int programs_open(void **state);
int programs_close(void **state);
/* It still works. */
void programs_unharmed(void);

#endif
