/* SPDX-License-Identifier: MIT */
/*
 * dialect.h - both versions of the interface behind one set of test verbs, so that one row runs over either.
 *
 * A test object holds an interface of its version. CALL(cq, Resize, 8) calls the verb of that name, whose arguments are
 * version 2's with test objects in the place of interfaces; it returns what the interface's method returned. What one
 * version alone has is called on the interface itself: CALL(cq->v2, GetNotifyAffinity, ...), CALL(cq->v1, ...). The
 * verbs reach the library through its public interfaces only.
 *
 * Verbs may be called by any thread. A verb that sees the library break a rule every row relies on (a result without a
 * request, a length that is not the message's) calls breach(), which fails the row at its end.
 */
#ifndef TESTS_CONFORMANCE_DIALECT_H
#define TESTS_CONFORMANCE_DIALECT_H

#include "harness.h"

struct address;
struct dialect;
struct node;

/* What each test object begins with. */
#define TEST_OBJECT(type2, type1)                                                                  \
    const struct dialect *lpVtbl;                                                                  \
    struct node *node; /* the adapter it is of */                                                  \
    union {                                                                                        \
        IUnknown *unknown;                                                                         \
        type2 *v2;                                                                                 \
        type1 *v1;                                                                                 \
    }

/* What they have in common. */
struct __attribute__((may_alias)) object {
    TEST_OBJECT(IND2Overlapped, INDOverlapped);
};

/* An adapter and its overlapped file: in version 1 the adapter's only one, which it owns. */
struct node {
    TEST_OBJECT(IND2Adapter, INDAdapter);
    HANDLE file;
    bool file_closed;              /* by the row: results are polled for */
    const struct address *address; /* it was opened on; port 0 */
    ND2_ADAPTER_INFO info;         /* version 1: its own limits under the names of version 2 */
};

struct cq {
    TEST_OBJECT(IND2CompletionQueue, INDCompletionQueue);
};

struct qp {
    TEST_OBJECT(IND2QueuePair, INDEndpoint);
    void *context;      /* of its results */
    ULONG inline_bytes; /* version 1: what the adapter gave */
};

/* Version 1 has no such object: v1 is the adapter, and what was registered is the handle. */
struct mr {
    TEST_OBJECT(IND2MemoryRegion, INDAdapter);
    ND_MR_HANDLE handle;
};

struct mw {
    TEST_OBJECT(IND2MemoryWindow, INDMemoryWindow);
    ND_MW_DESCRIPTOR descriptor; /* version 1: of the last Bind */
};

struct connector {
    TEST_OBJECT(IND2Connector, INDConnector);
    USHORT local_port; /* version 1: for the next Connect, network order */
};

struct listener {
    TEST_OBJECT(IND2Listener, INDListen);
};

/* Version 2 only. */
struct srq {
    TEST_OBJECT(IND2SharedReceiveQueue, IND2SharedReceiveQueue);
};

/* Any of them, checked by the compiler. */
typedef union {
    struct object *object;
    struct node *node;
    struct cq *cq;
    struct qp *qp;
    struct mr *mr;
    struct mw *mw;
    struct connector *connector;
    struct listener *listener;
    struct srq *srq;
} any_object __attribute__((transparent_union));

/* Local memory of a request. MemoryRegionToken: of struct memory; 0 in version 1: inline data. */
struct sge {
    void *Buffer;
    ULONG BufferLength;
    uintptr_t MemoryRegionToken;
};

/* The most entries of one request, and the most results of one call, that the verbs pass on. */
#define VERB_ENTRIES 512

struct qp_options {
    struct cq *receive_cq, *initiator_cq;
    struct srq *srq;             /* or NULL */
    struct connector *connector; /* version 1: its maker; NULL: a temporary one */
    void *context;
    ULONG receive_depth, initiator_depth;
    ULONG receive_sge, initiator_sge;
    ULONG inline_bytes;                  /* version 2 */
    ULONG inbound_reads, outbound_reads; /* version 1; in version 2 of Connect and Accept */
};

struct dialect {
    const char *name; /* "v2", "v1" */

    /* Adapters and what they make. The last argument is filled in; on failure its interface is NULL. */
    HRESULT (*OpenAdapter)(const struct address *address, struct node *node);
    HRESULT (*CreateCompletionQueue)(struct node *node, ULONG depth, struct cq *cq);
    HRESULT (*CreateQueuePair)(struct node *node, const struct qp_options *options, struct qp *qp);
    HRESULT (*CreateMemoryRegion)(struct node *node, struct mr *mr);
    HRESULT (*CreateMemoryWindow)(struct node *node, struct mw *mw);
    HRESULT (*CreateConnector)(struct node *node, struct connector *connector);
    /* Binds and listens. address: its port may be 0; at: receives the address with the port chosen. */
    HRESULT(*Listen)
    (struct node *node, const struct address *address, ULONG backlog, struct address *at,
        struct listener *listener);

    /* Overlapped requests; a registration's are the region's, which in version 1 means the adapter's. */
    HRESULT (*CancelOverlappedRequests)(any_object object);
    HRESULT (*GetOverlappedResult)(any_object object, OVERLAPPED *overlapped, BOOL wait);

    HRESULT (*Resize)(struct cq *cq, ULONG depth);
    HRESULT (*Notify)(struct cq *cq, ULONG type, OVERLAPPED *overlapped);
    ULONG (*GetResults)(struct cq *cq, ND2_RESULT *results, ULONG room);

    HRESULT(*Register)
    (struct mr *mr, const void *bytes, SIZE_T length, ULONG flags, OVERLAPPED *overlapped);
    HRESULT (*Deregister)(struct mr *mr, OVERLAPPED *overlapped);
    uintptr_t (*GetLocalToken)(struct mr *mr);

    UINT32 (*GetRemoteToken)(struct mw *mw);

    HRESULT (*Flush)(struct qp *qp);
    HRESULT (*Send)(struct qp *qp, void *context, const struct sge *sge, ULONG count, ULONG flags);
    HRESULT (*Receive)(struct qp *qp, void *context, const struct sge *sge, ULONG count);
    HRESULT(*Bind)
    (struct qp *qp, void *context, struct mr *mr, struct mw *mw, const void *bytes, SIZE_T length,
        ULONG flags);
    HRESULT (*Invalidate)(struct qp *qp, void *context, struct mw *mw, ULONG flags);
    HRESULT(*Read)
    (struct qp *qp, void *context, const struct sge *sge, ULONG count, UINT64 remote, UINT32 token,
        ULONG flags);
    HRESULT(*Write)
    (struct qp *qp, void *context, const struct sge *sge, ULONG count, UINT64 remote, UINT32 token,
        ULONG flags);

    HRESULT(*Connect)
    (struct connector *connector, struct qp *qp, const struct sockaddr *address, ULONG length,
        ULONG inbound_reads, ULONG outbound_reads, const void *data, ULONG data_length,
        OVERLAPPED *overlapped);
    HRESULT (*CompleteConnect)(struct connector *connector, OVERLAPPED *overlapped);
    HRESULT(*Accept)
    (struct connector *connector, struct qp *qp, ULONG inbound_reads, ULONG outbound_reads,
        const void *data, ULONG data_length, OVERLAPPED *overlapped);
    HRESULT (*Reject)(struct connector *connector, const void *data, ULONG length);
    HRESULT (*GetReadLimits)(struct connector *connector, ULONG *inbound, ULONG *outbound);
    HRESULT (*GetPrivateData)(struct connector *connector, void *data, ULONG *length);
    HRESULT(*GetLocalAddress)
    (struct connector *connector, struct sockaddr *address, ULONG *length);
    HRESULT (*GetPeerAddress)(struct connector *connector, struct sockaddr *address, ULONG *length);
    HRESULT (*NotifyDisconnect)(struct connector *connector, OVERLAPPED *overlapped);
    HRESULT (*Disconnect)(struct connector *connector, OVERLAPPED *overlapped);

    HRESULT(*GetConnectionRequest)
    (struct listener *listener, struct connector *connector, OVERLAPPED *overlapped);
};

/* The one the row runs over: of every node that is not asked to be of another. */
const struct dialect *row_dialect(void);
bool row_is_v1(void);

/* release_kept of a test object's interface. */
ULONG release_now(any_object object);

/* Where the versions differ, both as literals. */
#define V2_V1(v2_value, v1_value) (row_is_v1() ? (v1_value) : (v2_value))

/* The status of a request whose access to the peer's memory the peer's side refuses. */
#define REMOTE_ACCESS_REFUSED V2_V1(ND_ACCESS_VIOLATION, ND_REMOTE_ERROR)

/* The record of requests of version 1 is new for each row. */
void dialect_v1_row_end(void);

#endif
