/* SPDX-License-Identifier: MIT */
/*
 * smbd_private.h - what the files of the library share.
 *
 * A connection belongs to one thread at PASSIVE_LEVEL, its owner. Callbacks at DISPATCH_LEVEL change the members under
 * Lock, and set the event that the owner may wait for. Only the owner closes a connection; a callback that finds that
 * it has ended calls SmbdBreak.
 */
#ifndef SMBD_PRIVATE_H
#define SMBD_PRIVATE_H

#include "smbd.h"
#include "smbd_credits.h"

#include <wskndk.h>

#define SMBD_TAG      0x44626D53 /* "SmbD" */
#define SMBD_MAX_SGE  3          /* of a message buffer: 2 pages, which may begin within one */
#define SMBD_RDMA_SGE 16         /* entries of an RDMA request at most */
#define SMBD_MOVES    16         /* RDMA requests that move one buffer at most */
#define SMBD_BUFFER_SLOTS                                                                          \
    (SMBD_MOVES + 2) /* places in the initiator queue: these, registration, taking it back */

/* ----- smbd_call.c: calls of NDKPI that may end later, made synchronous ----- */

typedef struct _SMBD_CALL {
    KEVENT Ended;
    NTSTATUS Status;
    NDK_OBJECT_HEADER *Object;
} SMBD_CALL;

VOID SmbdBeginCall(SMBD_CALL *Call);
/* Callbacks; the context is the call. */
VOID SmbdCreated(PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *Object);
VOID SmbdRequestEnded(PVOID Context, NTSTATUS Status);
/* Status in: what the call returned. Waits where it is pending; returns how it ended. */
NTSTATUS SmbdEndCall(SMBD_CALL *Call, NTSTATUS Status);
/* The same for a creation. Object in and out: where the call was to store it. */
NTSTATUS SmbdEndCreation(SMBD_CALL *Call, NTSTATUS Status, PVOID *Object);
/* Closes an object, and returns when that is done. */
VOID SmbdCloseObject(NDK_OBJECT_HEADER *Object, NDK_FN_CLOSE_OBJECT Close);

/* ----- Requests of a queue pair ----- */

typedef struct _SMBD_WORK SMBD_WORK;

/* The request has a result. At DISPATCH_LEVEL, with the connection's lock. */
typedef VOID SMBD_WORK_DONE(
    SMBD_CONNECTION *Connection, SMBD_WORK *Work, const NDK_RESULT_EX *Result);

/* The RequestContext of every request, in its owner. */
struct _SMBD_WORK {
    SMBD_WORK_DONE *Done;
};

/* ----- smbd_memory.c: memory as the adapter sees it ----- */

typedef struct _SMBD_MEMORY {
    PVOID Memory;
    ULONG Length;
    PMDL Mdl;
    NDK_LOGICAL_ADDRESS_MAPPING *Lam;
    ULONG Fbo; /* of the first byte in the first page */
} SMBD_MEMORY;

NTSTATUS SmbdAllocateMemory(SMBD_ADAPTER *Adapter, ULONG Length, SMBD_MEMORY *Memory);
/* Memory that was never allocated is all zero. */
VOID SmbdReleaseMemory(SMBD_ADAPTER *Adapter, SMBD_MEMORY *Memory);
/*
 * Entries with the privileged token for a part; pages that follow each other share one.
 * Covered  out: bytes that the entries name, less than Length where Most entries do not reach
 * Returns how many entries.
 */
ULONG SmbdBuildSgl(const SMBD_ADAPTER *Adapter, const SMBD_MEMORY *Memory, ULONG Offset,
    ULONG Length, NDK_SGE *Sgl, ULONG Most, ULONG *Covered);

typedef enum _SMBD_BUFFER_STATE {
    SmbdBufferIdle,
    SmbdBufferExposed,   /* registered for the peer */
    SmbdBufferTakenBack, /* was registered until the peer's answer */
    SmbdBufferHiding,    /* the request that invalidates it is posted */
    SmbdBufferMoving     /* an RDMA request uses it */
} SMBD_BUFFER_STATE;

struct _SMBD_BUFFER {
    LIST_ENTRY Link; /* of the connection's */
    SMBD_MEMORY Memory;
    NDK_MR *Region; /* for fast registration, with remote access; else see the next two, or NULL */
    BOOLEAN Sink;   /* it is registered once, for Reads */
    BOOLEAN ByCall; /* it is registered by a call each time that the peer may use it */
    BOOLEAN Open;   /* it is so now */
    UINT32 LocalToken, RemoteToken;
    SMBD_WORK Registered; /* silent: it has a result only when it fails */
    SMBD_WORK Invalidated, Moved;
    /* Under the connection's lock: */
    SMBD_BUFFER_STATE State;
    ULONG Moving; /* RDMA requests without a result, and the one that takes the sink back */
};

/* smbd_region.c: regions of adapters without fast registration. */
NTSTATUS SmbdCreateRegion(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, BOOLEAN Fast);
/* For the buffers of the side: a passive one's sinks, an active one's that are exposed. */
NTSTATUS SmbdCreatePlainRegion(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer);
NTSTATUS SmbdExposeByCall(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length,
    BOOLEAN PeerWrites, SMBD_DESCRIPTOR *Descriptor);
NTSTATUS SmbdHideByCall(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer);
/* Deregisters it, if it is registered, and closes it. */
VOID SmbdFreeRegion(SMBD_BUFFER *Buffer);

/* With the lock: posts NdkFastRegister, NdkInvalidate. */
NTSTATUS SmbdRegister(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length, ULONG Rights);
NTSTATUS SmbdInvalidate(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Flags);
/* The peer has invalidated the region of that token. With the lock. */
VOID SmbdBufferTakenBackByPeer(SMBD_CONNECTION *Connection, UINT32 Token);
VOID SmbdFreeBuffers(SMBD_CONNECTION *Connection);

/* ----- smbd_rdma.c ----- */

SMBD_WORK_DONE SmbdMoveDone;
/* With the lock: one of the requests that move the buffer has ended. */
VOID SmbdMoveEnded(SMBD_BUFFER *Buffer);
/* Waits until the buffer leaves a state. Returns as SmbdFinish. */
NTSTATUS SmbdAwaitBuffer(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, SMBD_BUFFER_STATE State);

/* ----- smbd_transfer.c ----- */

typedef struct _SMBD_MESSAGE_BUFFER {
    SMBD_WORK Work;
    SINGLE_LIST_ENTRY Link; /* of those that are free */
    UCHAR *Data;
    ULONG Length;
    NDK_SGE Sgl[SMBD_MAX_SGE];
    ULONG SglCount;
} SMBD_MESSAGE_BUFFER;

/* Message buffers of one size in one piece of memory. */
typedef struct _SMBD_POOL {
    SMBD_MEMORY Memory;
    SMBD_MESSAGE_BUFFER *Buffers;
    ULONG Count, FreeCount;
    SINGLE_LIST_ENTRY Free;
} SMBD_POOL;

NTSTATUS SmbdCreatePool(
    SMBD_ADAPTER *Adapter, ULONG Count, ULONG Length, SMBD_WORK_DONE *Done, SMBD_POOL *Pool);
VOID SmbdDeletePool(SMBD_ADAPTER *Adapter, SMBD_POOL *Pool);

SMBD_WORK_DONE SmbdSendDone, SmbdReceiveDone;

/* With the lock: posts Receives, as many as the peer asked for, unless its messages wait for the owner. */
VOID SmbdPostReceives(SMBD_CONNECTION *Connection);
/* With the lock: sends a message without data if a grant of credits or a sign of life is due. */
VOID SmbdSendDue(SMBD_CONNECTION *Connection);
/* Sends one message of the negotiation; Data of Length bytes. */
NTSTATUS SmbdSendPlain(SMBD_CONNECTION *Connection, const VOID *Data, ULONG Length);
VOID SmbdFreeMessages(SMBD_CONNECTION *Connection);

/* ----- smbd_negotiate.c: both return STATUS_SUCCESS, or the connection has ended ----- */

NTSTATUS SmbdNegotiateActive(SMBD_CONNECTION *Connection);
NTSTATUS SmbdNegotiatePassive(SMBD_CONNECTION *Connection);

/* ----- smbd_depths.c ----- */

/* Depths out: for the peer. Returns its length; 0: the transport has its own way, and none is sent. */
ULONG SmbdOwnDepths(
    const SMBD_ADAPTER *Adapter, ULONG Inbound, ULONG Outbound, SMBD_READ_DEPTHS *Depths);
/* Outbound in, out: cut to what the peer serves. FALSE: it has said nothing, and wants no answer. */
BOOLEAN SmbdPeerDepths(const SMBD_ADAPTER *Adapter, NDK_CONNECTOR *Connector, ULONG *Outbound);

/* ----- smbd_queue.c: completion queues ----- */

NTSTATUS SmbdCreateQueues(SMBD_CONNECTION *Connection);
/* The results of all requests have come. After it no callback comes. */
VOID SmbdCloseQueues(SMBD_CONNECTION *Connection);

/* ----- Adapters ----- */

struct _SMBD_ADAPTER {
    WSK_CLIENT_NPI Client;
    WSK_REGISTRATION Registration;
    WSK_PROVIDER_NPI Provider;
    WSK_PROVIDER_NDK_DISPATCH Ndk;
    NDK_ADAPTER *Adapter;
    NDK_PD *Pd;
    NDK_ADAPTER_INFO Info;
    UINT32 PrivilegedToken;
};

/* ----- Connections ----- */

struct _SMBD_CONNECTION {
    SMBD_ADAPTER *Adapter;
    SMBD_PARAMETERS Parameters; /* what this end wants; after the negotiation what was agreed */
    ULONG LongestSend;
    BOOLEAN Passive; /* it moves data to and from memory of its peer, which registers that */
    NDK_CONNECTOR *Connector;
    NDK_CQ *ReceiveCq, *InitiatorCq;
    NDK_QP *Qp;
    BOOLEAN Connected;
    LIST_ENTRY Link; /* of the listener */

    KEVENT MessageEvent; /* a message is there, or the connection has ended */
    KEVENT SendEvent;    /* a credit, or a buffer to send from */
    KEVENT RdmaEvent;    /* an RDMA request has ended, or taken back memory */
    KEVENT DrainEvent;   /* no request is outstanding */

    EX_RUNDOWN_REF Callbacks; /* those that use the completion queues */

    KSPIN_LOCK Lock; /* over everything below, and over posting */
    NTSTATUS Status; /* why it has ended; STATUS_SUCCESS: it has not */
    const char *Reason;
    BOOLEAN QueuesFailed; /* no results come any more */
    BOOLEAN Negotiated;
    BOOLEAN Heard; /* something arrived since the owner last read this */
    PKEVENT
    AnswerEvent; /* the owner waits for the answer to its question; NULL: it has not asked */
    BOOLEAN ResponseDue;   /* the peer asks for a sign of life */
    BOOLEAN FirstReceived; /* the message of the negotiation is at Negotiation */
    ULONG Outstanding;     /* requests that will have a result */
    SMBD_CREDITS Credits;
    SMBD_POOL Sends, Receives;
    LIST_ENTRY Messages; /* of the peer's upper layer, whole */
    ULONG64 MessageBytes;
    SMBD_MESSAGE *Partial; /* being reassembled */
    ULONG PartialLength;   /* bytes of it so far */
    LIST_ENTRY Buffers;
    ULONG BufferCount;
    ULONG NegotiationLength;
    UCHAR Negotiation[sizeof(SMBD_NEGOTIATE_RESPONSE)];
};

/*
 * Makes a connection's objects, unconnected. SmbdClose frees them.
 * Passive    in: it accepts
 * Connector  in: after a success the connection owns it
 */
NTSTATUS SmbdCreateConnection(SMBD_ADAPTER *Adapter, const SMBD_PARAMETERS *Parameters,
    BOOLEAN Passive, NDK_CONNECTOR *Connector, SMBD_CONNECTION **Connection);
/* Accepts what the connector asks for, and negotiates. Returns as SmbdConnect. */
NTSTATUS SmbdAccept(SMBD_CONNECTION *Connection);

/*
 * The connection has come to its end; of several reasons the first counts. With the lock; any level up to DISPATCH.
 * Reason  in: in words, static
 */
VOID SmbdBreak(SMBD_CONNECTION *Connection, NTSTATUS Status, const char *Reason);
/* The same without the lock; returns the status of the reason that counts. */
NTSTATUS SmbdFail(SMBD_CONNECTION *Connection, NTSTATUS Status, const char *Reason);

/*
 * A request failed, in the call or by its result; with the lock. A flushed request, or one posted too late, does not
 * end the connection: the peer's earlier messages are taken first, and the first flushed Receive ends it.
 */
VOID SmbdWorkFailed(SMBD_CONNECTION *Connection, NTSTATUS Status, const char *Reason);
/*
 * After a failed post, without the lock: waits until the reason of the connection's end is known, which is when all
 * that the peer had sent has been received. Returns its status.
 */
NTSTATUS SmbdAwaitEnd(SMBD_CONNECTION *Connection);
/* The queue pair has no connection any more, and no message of the peer's is left in it. With the lock. */
VOID SmbdFlushed(SMBD_CONNECTION *Connection);

/*
 * Waits until all sent messages are on their way: their buffers are free again. Does not wait long for a peer that does
 * not take them.
 */
VOID SmbdAwaitSent(SMBD_CONNECTION *Connection);

/* Waits for an event of the connection. FALSE: Milliseconds have passed. */
BOOLEAN SmbdWait(PKEVENT Event, ULONG Milliseconds);
/*
 * Waits for an event that the peer has to cause: returns when the caller is to check for it. Meanwhile the peer has to
 * give signs of life; else the connection ends.
 */
VOID SmbdAwaitPeer(SMBD_CONNECTION *Connection, PKEVENT Event);

static inline VOID SmbdLock(SMBD_CONNECTION *Connection, PKLOCK_QUEUE_HANDLE Handle)
{
    KeAcquireInStackQueuedSpinLock(&Connection->Lock, Handle);
}

static inline VOID SmbdUnlock(PKLOCK_QUEUE_HANDLE Handle)
{
    KeReleaseInStackQueuedSpinLock(Handle);
}

static inline VOID SmbdSignal(PKEVENT Event)
{
    KeSetEvent(Event, IO_NO_INCREMENT, FALSE);
}

#endif
