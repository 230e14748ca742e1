/* SPDX-License-Identifier: MIT */
/*
 * kernel_pair.h - core objects of the kernel flavour on the embedded device, for tests that connect them: requests that
 * end by a call, a listener to which requests are delivered, and both ends of connections.
 */
#ifndef TESTS_UNIT_NDSPI_CONNECTION_KERNEL_PAIR_H
#define TESTS_UNIT_NDSPI_CONNECTION_KERNEL_PAIR_H

#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/connection/connector.h"
#include "ndspi/core/connection/listener.h"
#include "ndspi/core/memory/mr.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/datapath.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/sink_call.h"
#include "tests/support/settle.h"
#include "tests/support/spec_codes.h"

#include <semaphore.h>

/* ---- requests ---- */

struct request {
    struct nd_call call;
    sem_t ended;
    atomic_uint ends;
    atomic_uint status;
    atomic_uint turn; /* among all that ended */
};

/* For a function that begins a request. */
OVERLAPPED *begin(struct request *request);
/* Waits; the status of the one end that it has had since it began. */
uint32_t end_of(struct request *request);
void wait_for(sem_t *what);

/* ---- objects ---- */

extern struct nd_adapter *adapter;
extern struct nd_cq *cq;       /* where queue pairs that are made complete */
extern atomic_uint living_qps; /* made, and not at their end */

/* An adapter and a queue. Closed, everything has to end: nobody has polled, and nobody waits for the library. */
int open_adapter(void **state);
int close_adapter(void **state);

struct nd_cq *make_cq(uint32_t depth);
struct nd_qp *make_qp(void);
struct nd_connector *make_connector(void);
/* Registered, local writing allowed. */
struct nd_mr *make_mr(void *data, size_t length);
struct sockaddr_storage address_of(uint16_t port);
uint16_t port_of(struct nd_connector *connector, bool peer);

/* ---- a listener and what is delivered to it ---- */

struct server {
    struct nd_listener core; /* first */
    uint16_t port;
    sem_t arrived;
    struct nd_connector *delivered[4];
    atomic_uint count, made, discarded;
    bool no_memory;
};

struct server *new_server(void);
struct server *start_server(void);
/* port 0: any. Returns the status. */
uint32_t listen_on(struct server *server, uint16_t port);

/* ---- ends of a connection ---- */

struct end {
    struct nd_connector *connector;
    struct nd_qp *qp;
    struct request step, told;
};

struct pair {
    struct end *active, *passive;
};

extern const char caller_data[6], callee_data[8];

struct end *new_end(void);
void drop_end(struct end *end);
/* Reads in flight: 3 inbound, 5 outbound; of the accepting end: 4 and 2. Returns the status; `step` is the request. */
uint32_t connect_from(struct end *end, struct nd_endpoint *endpoint, uint16_t from, uint16_t to);
struct end *accept_next(struct server *server);
void complete(struct end *end, struct end *peer);
struct pair connect_pair(struct server *server);
void drop_pair(struct pair pair);

#endif
