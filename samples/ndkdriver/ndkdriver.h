/* SPDX-License-Identifier: MIT */
/*
 * ndkdriver.h - what the files of the driver share.
 *
 * One open of the adapter, one queue pair and one completion queue for each connection: a SOCKET. Its slots have a
 * buffer each. The client registers a slot's buffer with each request; the server Reads or Writes it, and answers with
 * a message that takes the registration back. A message is sent only with a credit, which says that the peer has a
 * Receive for it.
 */
#ifndef NDKDRIVER_H
#define NDKDRIVER_H

#include <ndkpi.h>
#include <ndkwdm.h>
#include <wskndk.h>

#define NDKDRIVER_TAG 0x7244644E /* "NdDr" */

enum { CLIENT_SLOTS = 4, SERVER_SLOTS = 2, MOST_SLOTS = 4, DATA_LENGTH = 65536, READS = 4 };

/* What a client asks for. */
enum { PULL = 1, PUSH }; /* the server Reads the buffer, or Writes it */

/* Sent both ways. Both ends are little-endian. */
typedef struct _MESSAGE {
    UINT64 Address; /* of the client's buffer */
    UINT32 Token, Length;
    UINT32 Kind, Slot, Round;
    UINT32 Credits;  /* how many messages more the receiver of this one may send */
    UINT32 Checksum; /* of a reply to PULL: of what the server read */
    UINT32 Reserved;
} MESSAGE;

/* Private data of Connect and Accept. */
typedef struct _GREETING {
    UINT32 Credits, Length;
} GREETING;

struct _SOCKET;
struct _SLOT;

/* The context of a request to the queue pair. */
typedef struct _REQUEST {
    VOID (*Done)(struct _SLOT *Slot, const NDK_RESULT_EX *Result); /* NULL: nothing to do */
    struct _SLOT *Slot;
} REQUEST;

typedef struct _SLOT {
    struct _SOCKET *Socket;
    ULONG Index;
    PUCHAR Data;
    MDL *Mdl;
    NDK_LOGICAL_ADDRESS_MAPPING *Lam; /* of the client */
    ULONG Fbo;
    NDK_MR *Mr;         /* of the client: for fast registration */
    PIO_WORKITEM Item;  /* what the slot does at PASSIVE_LEVEL */
    LIST_ENTRY Waiting; /* for a credit */
    MESSAGE Request;
    MESSAGE *Out, *In; /* in Socket->Messages */
    REQUEST Sent, Received, Read, Other;
} SLOT;

typedef struct _SOCKET {
    LIST_ENTRY Link; /* in Driver.Sockets */
    NDK_ADAPTER *Adapter;
    NDK_ADAPTER_INFO Info;
    NDK_PD *Pd;
    NDK_CQ *Cq;
    NDK_QP *Qp;
    NDK_CONNECTOR *Connector;
    MESSAGE *Messages;
    MDL *MessagesMdl;
    NDK_MR *MessagesMr;
    ULONG SlotCount;
    SLOT Slots[MOST_SLOTS];
    PIO_WORKITEM CloseItem;
    EX_RUNDOWN_REF Users; /* callbacks and work items */
    LONG volatile Closing;
    KSPIN_LOCK Lock; /* over what follows */
    LONG Credits;
    LIST_ENTRY Waiting;
} SOCKET, *PSOCKET;

/* A call that may end by a callback. */
typedef struct _CALL {
    KEVENT Ended;
    NTSTATUS Status;
    NDK_OBJECT_HEADER *Object;
} CALL;

typedef struct _DRIVER {
    PDEVICE_OBJECT Device;
    WSK_REGISTRATION Registration;
    WSK_PROVIDER_NPI Provider;
    WSK_PROVIDER_NDK_DISPATCH Ndk;
    NET_IFINDEX Interface;
    SOCKADDR_IN Local, Peer;
    ULONG Rounds;         /* of the client; 0: this is a server */
    EX_RUNDOWN_REF Alive; /* sockets, and connections that come */
    KSPIN_LOCK Lock;      /* over Sockets */
    LIST_ENTRY Sockets;
} DRIVER;

extern DRIVER Driver;

/* call.c */
VOID BeginCall(CALL *Call);
VOID Created(PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *Object);
VOID RequestEnded(PVOID Context, NTSTATUS Status);
NTSTATUS EndCall(CALL *Call, NTSTATUS Status);
/* Object out: an object that was created; left alone if the call had stored it. */
NTSTATUS EndCreation(CALL *Call, NTSTATUS Status, PVOID *Object);
VOID CloseObject(NDK_OBJECT_HEADER *Object, NDK_FN_CLOSE_OBJECT Close);

/* socket.c. All at PASSIVE_LEVEL but BeginClose. */
NTSTATUS OpenSocket(ULONG SlotCount, SOCKET **Socket);
/* Posts the Receive of a slot. */
NTSTATUS PostReceive(SLOT *Slot);
/* Ends the connection and frees the socket, by a work item, once. */
VOID BeginClose(SOCKET *Socket);
VOID CloseAllSockets(VOID);
VOID Disconnected(PVOID Context);

/* transfer.c */
VOID Notified(PVOID Context, NTSTATUS CqStatus);
VOID AddCredits(SOCKET *Socket, LONG Credits);
/* Sends Slot->Out when there is a credit for it. */
VOID SendMessage(SLOT *Slot);
/* Runs Routine for the slot at PASSIVE_LEVEL, unless the socket is being closed. */
VOID Defer(SLOT *Slot, PIO_WORKITEM_ROUTINE_EX Routine);
VOID Fail(SOCKET *Socket, NTSTATUS Status, const CHAR *What);
ULONG Checksum(const UCHAR *Data, ULONG Length);
VOID Fill(UCHAR *Data, ULONG Length, ULONG Round);

/* client.c, server.c */
NTSTATUS StartClient(VOID);
NTSTATUS StartServer(VOID);
VOID BeginStop(VOID);
VOID EndStop(VOID); /* when all sockets are closed */
VOID ClientReceived(SLOT *Slot, const NDK_RESULT_EX *Result);
VOID ServerReceived(SLOT *Slot, const NDK_RESULT_EX *Result);
VOID ServerRead(SLOT *Slot, const NDK_RESULT_EX *Result);

#endif
