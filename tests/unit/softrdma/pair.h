/* SPDX-License-Identifier: MIT */
/* pair.h - two ends of the device in one process, for tests: open, connect over an address, post, fetch. */
#ifndef TESTS_UNIT_SOFTRDMA_PAIR_H
#define TESTS_UNIT_SOFTRDMA_PAIR_H

#include "softrdma/softrdma.h"

#include <stdint.h>

enum { END_MEMORY = 1 << 20, END_DEPTH = 256, DEADLINE_MS = 10000 };

struct end {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint8_t *memory;
    struct rdma_event_channel *events;
    struct rdma_cm_id *id;
};

struct pair {
    struct end active, passive;
    struct rdma_cm_id *listener;
    struct sockaddr_storage address; /* where the listener is */
};

uint64_t test_now_ms(void);

/* A numeric address and port. */
void test_address(const char *host, uint16_t port, struct sockaddr_storage *out);
/* A listening TCP socket of the test's own, and where it is. */
int raw_listen(struct sockaddr_storage *address);

void end_open(struct end *end);
void end_make_qp(struct end *end);
void end_close(struct end *end);
/* Of a test of cmocka: *state is an end with a queue pair. */
int end_setup(void **state);
int end_teardown(void **state);

/* The next event, of the kind expected, before the deadline; the caller acknowledges it (srd_ack_cm_event). */
struct rdma_cm_event *test_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* The same, acknowledged; returns its status. */
int test_event_done(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/* Moves a queue pair to RTS by the attributes of its id. */
void end_to_rts(struct end *end);
/* Address and route of an active id to where the listener is. */
void end_resolve(struct end *end, struct sockaddr_storage *address);
void pair_listen(struct pair *pair, const char *host);
/*
 * The steps of a connection; reads: in flight at most, either way.
 * prepare    a listener, queue pairs, address and route
 * request    Connect, up to the passive side's id
 * accept     up to the active side's CONNECT_RESPONSE
 * establish  up to the passive side's ESTABLISHED
 */
void pair_prepare(struct pair *pair, const char *host);
void pair_request(struct pair *pair, uint8_t reads);
void pair_accept(struct pair *pair, uint8_t reads);
void pair_establish(struct pair *pair);
void pair_connect(struct pair *pair, const char *host); /* all of them */
void pair_close(struct pair *pair);

/* Polls until count completions came; fails after the deadline. */
void test_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc);
/* One request over [offset, offset + octets) of the end's memory. */
void end_recv(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets);
void end_post(struct end *end, enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
    uint32_t octets, struct end *peer, size_t peer_offset, unsigned flags);

#endif
