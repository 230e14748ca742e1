/* SPDX-License-Identifier: MIT */
/*
 * exchange_end.h - ends that are connected by number and GID, and a peer of such an end that is made by hand, for tests
 * that are linked with --wrap=srd_get_cm_event.
 */
#ifndef TESTS_UNIT_SOFTRDMA_CM_EXCHANGE_END_H
#define TESTS_UNIT_SOFTRDMA_CM_EXCHANGE_END_H

#include "tests/unit/softrdma/pair.h"
#include "tests/support/asleep.h"

#include <stdbool.h>

/* ---- events of the ids of the exchange ---- */

/* Holds them back from now on, or hands on all that were. */
void hold(bool on);
/* Whether there is one; those of resolving are handled. */
bool is_event_held(void);
int events_held(void);
/* Takes the next one off the queue, to be handled by srd_exchange_event. */
struct rdma_cm_event *take_event(void);
/* Handles the next one, which has to be of the type, in this thread. */
void step(enum rdma_cm_event_type type);
/* The same of any type. False: none comes. */
bool step_if_any(void);

/* ---- ends ---- */

enum { PSN = 0x123456 };

enum {
    RTR_MASK = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
    RTS_MASK = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
               IBV_QP_MAX_QP_RD_ATOMIC,
};

/* The index of the host's address, and the GID. */
uint8_t gid_index(struct end *end, const char *host, union ibv_gid *gid);
void make_qp(struct end *end);
/* Both ends are at the host's address. */
struct ibv_qp_attr rtr_attr(struct end *end, uint32_t peer, const char *host);
void to_rtr(struct end *end, uint32_t peer, const char *host);
void to_rts(struct end *end, uint32_t psn);
void move(struct end *end, enum ibv_qp_state to);
enum ibv_qp_state state_of(struct end *end);
void open_pair(struct pair *pair);
void connect_pair(struct pair *pair, const char *host);
/* The next completion. */
void expect(struct end *end, uint64_t wr_id, enum ibv_wc_status status);
/* A Send, a Write and a Read each way. */
void works(struct pair *pair);
/* Whether it has the connection of the exchange. */
bool is_connected(struct end *end);

/* Fixtures: how long a request waits for the peer. */
int usual_limit(void **state);
int short_limit(void **state);
/* The short one, of a test that connects first: on a machine under load that may take longer. */
void limit_from_now_on(void);

/* ---- a peer made by hand ---- */

struct by_hand {
    struct end end;
    const char *host, *end_host; /* the addresses of both */
    int listener;
    uint32_t number;
    uint8_t card[16];
};

/* Big-endian. */
void put(uint8_t *at, uint32_t value);
/* A Request as a softrdma end sends it, with the private data given. Returns the socket. */
int send_request(const char *from, uint32_t to, const uint8_t *data, uint8_t octets);
/* Reads the Reply. */
bool is_accepted(int fd);

/* larger: whether its number is larger than the end's, whose Request counts then if the addresses are the same. */
void open_by_hand(struct by_hand *peer, bool larger, int backlog);
void open_by_hand_at(
    struct by_hand *peer, const char *host, const char *end_host, bool larger, int backlog);
/* The end names the peer, and so asks it. */
void ask_by_hand(struct by_hand *peer);
void close_by_hand(struct by_hand *peer);
/* Accepts the end's TCP connection and reads its Request. Returns the socket. */
int read_request(struct by_hand *peer);
void answer(struct by_hand *peer, int fd, bool accept);
/* The peer's own Request. Returns the socket. */
int ask_the_end(struct by_hand *peer);
/* The end closes the socket. */
void expect_end(int fd);

#endif
