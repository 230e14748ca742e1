/* SPDX-License-Identifier: MIT */
/*
 * smbd.h - SMB Direct ([MS-SMBD]) over NDKPI: messages of any length, flow control by credits, and RDMA into and out of
 * memory that a peer described.
 *
 * Said once:
 * - Call everything here at PASSIVE_LEVEL. One thread at a time uses a connection with its buffers; in parallel,
 *   callbacks at DISPATCH_LEVEL serve completion queues and disconnects.
 * - Once a connection has ended, calls that need it return the status with which it ended (SmbdFailure has the reason
 *   in words). The only call left to make is SmbdClose.
 * - Sizes are in bytes.
 */
#ifndef SMBD_H
#define SMBD_H

#include <ndkpi.h>
#include <ndkwdm.h>

#include "smbd_wire.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _SMBD_ADAPTER SMBD_ADAPTER;
typedef struct _SMBD_LISTENER SMBD_LISTENER;
typedef struct _SMBD_CONNECTION SMBD_CONNECTION;
typedef struct _SMBD_BUFFER SMBD_BUFFER;

/* What this end offers and expects. After the negotiation a connection has the values that both ends agreed on. */
typedef struct _SMBD_PARAMETERS {
    USHORT Credits;          /* Receives that this end posts at most, and asks the peer for */
    ULONG MaxSendSize;       /* of one message on the wire */
    ULONG MaxReceiveSize;    /* the same; 2 pages at most */
    ULONG MaxFragmentedSize; /* of a received message after reassembly */
    ULONG MaxReadWriteSize;  /* of what one descriptor describes */
    ULONG Buffers;           /* how many SmbdCreateBuffer can make */
    ULONG KeepAliveMs;       /* silence after which this end asks the peer for a sign of life */
    ULONG ResponseMs;        /* for its answer to that */
    ULONG CreditMs;          /* for the peer to grant a credit where this end needs one to send */
    ULONG NegotiateMs;       /* active side: for the peer's answer to the negotiation */
    ULONG RequestMs;         /* passive side: for the peer to begin it */
} SMBD_PARAMETERS;

/* The defaults of Windows. */
VOID SmbdDefaultParameters(SMBD_PARAMETERS *Parameters);

/* ----- Adapters (smbd_adapter.c) ----- */

/*
 * Opens the adapter of a network interface.
 * Index      in: the interface
 * Adapter    out: the caller's until SmbdCloseAdapter
 * Returns STATUS_SUCCESS; what WskOpenNdkAdapter and NdkCreatePd return; STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS SmbdOpenAdapter(NET_IFINDEX Index, SMBD_ADAPTER **Adapter);
/* Close all its listeners and connections first. */
VOID SmbdCloseAdapter(SMBD_ADAPTER *Adapter);
/* What NdkQueryAdapterInfo said; lives as long as the adapter. */
const NDK_ADAPTER_INFO *SmbdAdapterInfo(const SMBD_ADAPTER *Adapter);
/* Whether it invalidates at peers: from NDKPI 1.2 on; no flag says so. */
BOOLEAN SmbdInvalidates(const SMBD_ADAPTER *Adapter);
/* Whether peers may invalidate what is exposed here, too: only what was registered by a request. */
BOOLEAN SmbdIsInvalidated(const SMBD_ADAPTER *Adapter);
/* Whether it is iWARP, where servers of SMB listen on port 5445, elsewhere on 445. */
BOOLEAN SmbdIsIwarp(const SMBD_ADAPTER *Adapter);

/* ----- Connections (smbd_connection.c, smbd_listener.c) ----- */

/*
 * Connects and negotiates.
 * Local, Remote  in: addresses, of the same family; Local of this adapter, its port 0: choose
 * AddressLength  in: of either
 * Parameters     in
 * Connection     out: to be closed by SmbdClose
 * Reason         out, optional: what failed, in words
 * Returns STATUS_SUCCESS; STATUS_IO_TIMEOUT: no answer; STATUS_NOT_SUPPORTED: another version of the protocol;
 * STATUS_INVALID_DEVICE_REQUEST: the peer does not follow the protocol; what NdkConnect ends with;
 * STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS SmbdConnect(SMBD_ADAPTER *Adapter, const SOCKADDR *Local, const SOCKADDR *Remote,
    ULONG AddressLength, const SMBD_PARAMETERS *Parameters, SMBD_CONNECTION **Connection,
    const char **Reason);

/* Disconnects after everything sent, and frees everything of the connection, also its buffers. */
VOID SmbdClose(SMBD_CONNECTION *Connection);

/*
 * Why the connection came to its end.
 * Reason  out, optional: in words
 * Returns STATUS_SUCCESS: it has not.
 */
NTSTATUS SmbdFailure(SMBD_CONNECTION *Connection, const char **Reason);

/* What was agreed; lives as long as the connection. */
const SMBD_PARAMETERS *SmbdAgreed(const SMBD_CONNECTION *Connection);
/* Bytes of the longest message that the peer reassembles. */
ULONG SmbdLongestSend(const SMBD_CONNECTION *Connection);
/* Size of Address in; Address out. Returns STATUS_SUCCESS or STATUS_BUFFER_TOO_SMALL. */
NTSTATUS SmbdPeerAddress(SMBD_CONNECTION *Connection, SOCKADDR *Address, ULONG AddressLength);

/* Serves one connection, in a thread of its own at PASSIVE_LEVEL; when it returns the connection is closed. */
typedef VOID SMBD_SERVE(PVOID Context, SMBD_CONNECTION *Connection);
/* Called for each peer that could not be served. In any thread at PASSIVE_LEVEL. Reason in: in words. */
typedef VOID SMBD_REFUSED(PVOID Context, const SOCKADDR *Peer, NTSTATUS Status, const char *Reason);

typedef struct _SMBD_SERVICE {
    SMBD_SERVE *Serve;
    SMBD_REFUSED *Refused; /* may be NULL */
    PVOID Context;         /* of both */
    ULONG MaxConnections;  /* at a time; more are rejected */
} SMBD_SERVICE;

/*
 * Takes connections.
 * Address, AddressLength  in: of this adapter; port 0: choose
 * Parameters, Service     in
 * Listener                out: to be closed by SmbdCloseListener
 * Returns STATUS_SUCCESS; what NdkListen ends with; STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS SmbdListen(SMBD_ADAPTER *Adapter, const SOCKADDR *Address, ULONG AddressLength,
    const SMBD_PARAMETERS *Parameters, const SMBD_SERVICE *Service, SMBD_LISTENER **Listener);
/* Size of Address in; Address out: where it listens. Returns STATUS_SUCCESS or STATUS_BUFFER_TOO_SMALL. */
NTSTATUS SmbdListenerAddress(SMBD_LISTENER *Listener, SOCKADDR *Address, ULONG AddressLength);
/* Ends the connections that are served (STATUS_CANCELLED), and returns when nothing of the listener runs. */
VOID SmbdCloseListener(SMBD_LISTENER *Listener);

/* ----- Messages (smbd_transfer.c) ----- */

/* A message of the peer's upper layer. */
typedef struct _SMBD_MESSAGE {
    LIST_ENTRY Link;
    ULONG Length;
    UCHAR Data[];
} SMBD_MESSAGE;

/*
 * Sends a message, in fragments where it is longer than one of the wire. It is copied: the memory is the caller's when
 * the call returns, which is before it has arrived.
 * Head, HeadLength, Data, DataLength  in: its bytes, first those of Head; Data may be NULL
 * Invalidate                          in, optional: a token of the peer's (SMBD_DESCRIPTOR.Token), invalidated there
 *                                     before the peer sees the message. Both ends have NDKPI 1.2 at least
 * Returns STATUS_SUCCESS; STATUS_INVALID_BUFFER_SIZE: longer than SmbdLongestSend, or empty; STATUS_IO_TIMEOUT: no
 * credit within CreditMs, which ends the connection; the status of a connection that has ended.
 */
NTSTATUS SmbdSend(SMBD_CONNECTION *Connection, const VOID *Head, ULONG HeadLength, const VOID *Data,
    ULONG DataLength, const UINT32 *Invalidate);

/*
 * Takes the oldest message.
 * Wait     in: FALSE: only if one is there
 * Message  out: to be freed by SmbdFreeMessage
 * Returns STATUS_SUCCESS; STATUS_TIMEOUT: none is there, and Wait is FALSE; STATUS_IO_TIMEOUT: the peer gives no sign
 * of life; the status of a connection that has ended, once its messages are taken.
 */
NTSTATUS SmbdReceive(SMBD_CONNECTION *Connection, BOOLEAN Wait, SMBD_MESSAGE **Message);
VOID SmbdFreeMessage(SMBD_MESSAGE *Message);

/* ----- Memory and RDMA (smbd_memory.c, smbd_rdma.c) ----- */

/*
 * Makes memory that one connection exposes to its peer, or moves to and from memory that the peer exposes.
 * Length  in: MaxReadWriteSize of the agreed parameters at most
 * Buffer  out: freed by SmbdClose
 * Returns STATUS_SUCCESS; STATUS_INVALID_BUFFER_SIZE; STATUS_INSUFFICIENT_RESOURCES, also: more than the
 * parameters say; what NdkRegisterMr ends with.
 */
NTSTATUS SmbdCreateBuffer(SMBD_CONNECTION *Connection, ULONG Length, SMBD_BUFFER **Buffer);
/* Its memory. */
PVOID SmbdBufferMemory(SMBD_BUFFER *Buffer);

/*
 * Lets the peer read, or write, the first bytes of a buffer.
 * Length       in: up to that of the buffer
 * PeerWrites   in: else it reads
 * Descriptor   out: for the peer, valid when the call returns
 * Returns STATUS_SUCCESS; STATUS_INVALID_BUFFER_SIZE; STATUS_INVALID_DEVICE_STATE: exposed already;
 * STATUS_NOT_SUPPORTED: a passive side's adapter has no fast registration; the status of a connection that has ended;
 * on an active side without fast registration what NdkRegisterMr ends with, which ends the connection.
 */
NTSTATUS SmbdExpose(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length,
    BOOLEAN PeerWrites, SMBD_DESCRIPTOR *Descriptor);
/*
 * Takes the access back, unless the peer has invalidated it with its answer (SmbdSend, Invalidate). Until SmbdHide
 * returns with STATUS_SUCCESS the peer may read or change the memory.
 */
NTSTATUS SmbdHide(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer);

/*
 * Starts to move the first bytes of a buffer to the peer's memory (Write), or them from there (Read). A message that
 * SmbdSend sends after SmbdStartWrite arrives behind the data.
 * Length      in: up to that of the buffer and of Descriptor
 * Descriptor  in: the peer's
 * Returns STATUS_SUCCESS: SmbdFinish has to follow; STATUS_INVALID_BUFFER_SIZE; STATUS_INVALID_DEVICE_STATE: the buffer
 * is in use; STATUS_NOT_SUPPORTED: a Read by an active side whose adapter has no fast registration, where Reads need a
 * sink; the status of a connection that has ended.
 */
NTSTATUS SmbdStartWrite(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length,
    const SMBD_DESCRIPTOR *Descriptor);
NTSTATUS SmbdStartRead(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length,
    const SMBD_DESCRIPTOR *Descriptor);
/* Waits until the data has moved: then the memory is the caller's again. Returns as SmbdReceive. */
NTSTATUS SmbdFinish(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer);

#ifdef __cplusplus
}
#endif

#endif
