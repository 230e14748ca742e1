/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - the objects rows work with, made in one call each and released after the row.
 *
 * Every function here ends the row when something fails; what rows are about, they call themselves.
 */
#ifndef TESTS_CONFORMANCE_FIXTURE_H
#define TESTS_CONFORMANCE_FIXTURE_H

#include "dialect.h"

/* Addresses */

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
    ULONG length; /* bytes of the union in use */
};

/* The address the suite runs on, port 0. */
struct address test_address(void);
/* The address of the passive end of a pair, port 0: --peer or NDSPI_PEER; else the same. */
struct address peer_address(void);
/* From a numeric text; port in host order. */
struct address make_address(const char *text, unsigned port);
struct address with_port(struct address address, unsigned port);
/* In host order. */
unsigned port_of(const struct address *address);
/* Family and IP equal; ports are not looked at. */
bool same_ip(const struct address *a, const struct address *b);

/* Overlapped requests */

struct op {
    OVERLAPPED overlapped;
    HANDLE event;
};

struct op *new_op(void);      /* manual-reset event */
struct op *new_op_auto(void); /* auto-reset event */
struct op *new_op_without_event(void);
struct op *new_op_tagged(void); /* manual-reset event, bit 0 of hEvent set */

/* GetOverlappedResult without waiting. */
HRESULT result_of(any_object object, struct op *op);
/* Waits for the op's event and returns the status. */
HRESULT wait_op(any_object object, struct op *op);
/* Returns a request's status, whether it failed at the call (started) or later. started must not be ND_SUCCESS. */
HRESULT finish(any_object object, HRESULT started, struct op *op);
bool event_is_set(struct op *op);

/* Completion ports */

struct packet {
    BOOL ok;
    DWORD error; /* GetLastError when !ok */
    DWORD bytes;
    ULONG_PTR key;
    OVERLAPPED *overlapped;
};

HANDLE new_port(void);
void attach(HANDLE port, HANDLE file, ULONG_PTR key);
/* Overlapped NULL and error WAIT_TIMEOUT when none came within the time. */
struct packet take_packet(HANDLE port, DWORD timeout_ms);
void expect_packet(HANDLE port, ULONG_PTR key, struct op *op, DWORD error);
void expect_no_packet(HANDLE port);

/* Adapters and their objects, of the row's version unless said otherwise */

struct node *new_node(void);
struct node *new_node_on(const struct address *address);
struct node *new_node_of(const struct dialect *dialect, const struct address *address);

/* Closes the node's file now; in version 1 it is the adapter's, and programs close it all the same. */
void close_file(struct node *node);

struct cq *new_cq(struct node *node, ULONG depth);
struct mr *new_mr(struct node *node); /* not registered */
struct mw *new_mw(struct node *node);
struct connector *new_connector(struct node *node);
/* Bound to the node's address. */
struct connector *new_bound_connector(struct node *node);
/* Version 2 binds now, version 1 with the next Connect, which goes out from the adapter's address. */
void bind_connector(struct connector *connector, const struct address *address);
/* Bound to the node's address and listening; *at: where. */
struct listener *new_listening(struct node *node, ULONG backlog, struct address *at);
struct qp *new_qp(struct node *node, struct cq *cq, void *context, ULONG depth);

/* Version 2 only. */
struct srq *new_srq(struct node *node, ULONG depth, ULONG sge, ULONG threshold);
struct listener *new_listener(struct node *node); /* neither bound nor listening */

/* Memory */

#define MR_LOCAL  (ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK)
#define MR_REMOTE (MR_LOCAL | ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_ALLOW_REMOTE_WRITE)

struct memory {
    struct mr *mr;
    BYTE *bytes;
    SIZE_T length;
    uintptr_t local; /* token */
    UINT32 remote;   /* token; version 2 */
};

struct memory new_memory(struct node *node, SIZE_T length, ULONG flags);
void register_memory(struct mr *mr, void *bytes, SIZE_T length, ULONG flags);
void fill(BYTE *bytes, SIZE_T length, unsigned seed);
void expect_filled(const BYTE *bytes, SIZE_T length, unsigned seed);

/* Two ends */

#define END_MEMORY (64 * 1024)
#define READS_NONE 0xFFFFFFFFu /* a read limit of 0; 0 in the options means the default */

struct end_options {
    ULONG cq_depth;        /* 64 */
    ULONG receive_depth;   /* 16 */
    ULONG initiator_depth; /* 16 */
    ULONG sge;             /* 4, both ways, or what the adapter has */
    ULONG inline_bytes;    /* 0 */
    bool two_cqs;          /* receive and initiator completions apart */
    struct srq *srq;
    bool empty_srq; /* an SRQ without Receives (version 2): peers' Sends wait, for ever */
    struct node *node;
    ULONG inbound_reads, outbound_reads; /* 8 */
};

struct end {
    struct end_options options;
    struct node *node;
    struct cq *cq; /* of Receives, and of all unless two_cqs */
    struct cq *initiator_cq;
    struct qp *qp; /* its context is this struct end */
    struct connector *connector;
    struct memory memory; /* END_MEMORY bytes, MR_REMOTE */
    struct mw *window;    /* version 1: over all of it, of queue pair window_of */
    struct qp *window_of;
};

struct pair_options {
    struct end_options active, passive;
    bool one_adapter;
    const void *connect_data, *accept_data;
    ULONG connect_length, accept_length;
};

struct pair {
    struct pair_options options;
    struct end active, passive;
    struct listener *listener;
    struct address listen; /* where */
    struct op *request, *connect, *complete, *accept;
};

/* Everything made, listening, the active connector bound; nothing sent. options: may be NULL. */
struct pair *new_pair(const struct pair_options *options);
/* Connect started, the request in the passive connector. */
void pair_request(struct pair *pair);
/* ... accepted, Connect completed, the Accept pending. */
void pair_accept(struct pair *pair);
/* ... and established. */
void pair_complete(struct pair *pair);
/* Releases the listener; its port stays unused while the row runs. */
void stop_listening(struct pair *pair);
struct pair *connected_pair(const struct pair_options *options);
/* A pair of queue pairs connected to other objects: the ends' qp and connector must be set. */
void connect_ends(struct pair *pair);
HRESULT start_connect(struct pair *pair, struct op *op);
HRESULT start_accept(struct pair *pair, struct op *op);
/* Disconnects one end and waits for the end of that. */
void disconnect(struct end *end);

/* Requests on an end's own memory; TAG(n) makes a context. */
#define TAG(n) ((void *)(uintptr_t)(0x1000 + (n)))

struct sge sge_of(const struct end *end, SIZE_T offset, ULONG length);
HRESULT post_send(struct end *end, void *context, SIZE_T offset, ULONG length, ULONG flags);
HRESULT post_receive(struct end *end, void *context, SIZE_T offset, ULONG length);
HRESULT post_read(struct end *end, void *context, SIZE_T offset, ULONG length, const void *remote,
    UINT32 token, ULONG flags);
HRESULT post_write(struct end *end, void *context, SIZE_T offset, ULONG length, const void *remote,
    UINT32 token, ULONG flags);

/* The peer's way to all of an end's memory, connected: the region's token, or in version 1 a window's. */
UINT32 remote_token(struct end *end);

/* Results. poll_result never uses Notify; next_result does, unless the suite runs with --poll or the file is closed. */
ND2_RESULT next_result(struct cq *cq);
ND2_RESULT poll_result(struct cq *cq);
/* GetResults until n have come, as a device may flush late; room in: of the array. Returns how many it has taken. */
ULONG next_results(struct cq *cq, ND2_RESULT *results, ULONG room, ULONG n);
/* The next result is this one: all five fields. Returns BytesTransferred (of a Receive; else 0). */
ULONG expect_result(struct end *end, ND2_REQUEST_TYPE type, void *context, HRESULT status);
void expect_no_result(struct cq *cq);
/* The end's connection is lost, or will be: a Receive is flushed. */
void expect_lost(struct end *end);
/*
 * The next result, of a request that the peer's side refuses. In a row that holds in part its maker does not hear of
 * that, but the connection is lost: a Send or Write has succeeded, a Read is flushed. Where the peer's refusal arrives
 * before siw's sending thread has returned from TCP, siw ends the Send or Write with its one status for local errors.
 */
void expect_refused(struct end *end, ND2_REQUEST_TYPE type, void *context, HRESULT status);
/*
 * The active end accesses memory of the passive side, which refuses, and that ends the connection: the access completes
 * with the reason, the passive end's Receive is flushed, and neither end's memory changes.
 */
void expect_no_access(
    struct pair *pair, ND2_REQUEST_TYPE type, const void *remote, ULONG length, UINT32 token);
const char *type_name(ND2_REQUEST_TYPE type);

/* One message from end to end and both its results: proves that a connection works. */
void exchange(struct end *from, struct end *to);

/*
 * Entries that follow each other in memory, for an initiator request: as many as the adapter takes, the last as long as
 * the rest together. Version 1 has one limit for all such requests, which is 1 where Reads take one entry. Returns how
 * many.
 */
static inline ULONG fit_entries(const struct end *end, struct sge *sge, ULONG n)
{
    for (; n > end->node->info.MaxInitiatorSge; n--)
        sge[n - 2].BufferLength += sge[n - 1].BufferLength;
    return n;
}

static inline ULONG least(ULONG a, ULONG b)
{
    return a < b ? a : b;
}

#endif
