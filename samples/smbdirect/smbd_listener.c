/* SPDX-License-Identifier: MIT */
/*
 * smbd_listener.c - the passive side. A callback takes a connection request, and hands it to a work item of its own,
 * which accepts, negotiates and serves at PASSIVE_LEVEL: a slow peer, or one that sends rubbish, delays no other.
 */
#include "smbd_private.h"

struct _SMBD_LISTENER {
    SMBD_ADAPTER *Adapter;
    NDK_LISTENER *Listener;
    SMBD_PARAMETERS Parameters;
    SMBD_SERVICE Service;
    EX_RUNDOWN_REF Running; /* work items */
    KSPIN_LOCK Lock;        /* over what follows; before a connection's */
    BOOLEAN Closing;
    ULONG Count; /* of work items that serve */
    LIST_ENTRY Connections;
};

typedef struct _ARRIVAL {
    WORK_QUEUE_ITEM Item;
    SMBD_LISTENER *Listener;
    NDK_CONNECTOR *Connector;
} ARRIVAL;

static VOID Refused(
    SMBD_LISTENER *Listener, NDK_CONNECTOR *Connector, NTSTATUS Status, const char *Reason)
{
    /* for an address of any family */
    union {
        SOCKADDR Address;
        UCHAR Space[128];
    } Peer;
    ULONG Length = sizeof(Peer);

    if (!Listener->Service.Refused)
        return;
    RtlZeroMemory(&Peer, sizeof(Peer));
    Connector->Dispatch->NdkGetPeerAddress(Connector, &Peer.Address, &Length);
    Listener->Service.Refused(Listener->Service.Context, &Peer.Address, Status, Reason);
}

/* FALSE: the listener is being closed. */
static BOOLEAN Enlist(SMBD_LISTENER *Listener, SMBD_CONNECTION *Connection)
{
    KLOCK_QUEUE_HANDLE Handle;
    BOOLEAN Enlisted;

    KeAcquireInStackQueuedSpinLock(&Listener->Lock, &Handle);
    Enlisted = !Listener->Closing;
    if (Enlisted)
        InsertTailList(&Listener->Connections, &Connection->Link);
    KeReleaseInStackQueuedSpinLock(&Handle);
    return Enlisted;
}

static VOID Delist(SMBD_LISTENER *Listener, SMBD_CONNECTION *Connection)
{
    KLOCK_QUEUE_HANDLE Handle;

    KeAcquireInStackQueuedSpinLock(&Listener->Lock, &Handle);
    RemoveEntryList(&Connection->Link);
    KeReleaseInStackQueuedSpinLock(&Handle);
}

static VOID Serve(SMBD_LISTENER *Listener, NDK_CONNECTOR *Connector)
{
    SMBD_CONNECTION *Connection;
    const char *Reason;
    NTSTATUS Status;

    Status = SmbdCreateConnection(
        Listener->Adapter, &Listener->Parameters, TRUE, Connector, &Connection);
    if (!NT_SUCCESS(Status)) {
        Refused(Listener, Connector, Status, "no connection can be made");
        SmbdCloseObject(&Connector->Header, Connector->Dispatch->NdkCloseConnector);
        return;
    }
    if (Enlist(Listener, Connection)) {
        Status = SmbdAccept(Connection);
        if (NT_SUCCESS(Status)) {
            Listener->Service.Serve(Listener->Service.Context, Connection);
        } else {
            SmbdFailure(Connection, &Reason);
            Refused(Listener, Connector, Status, Reason);
        }
        Delist(Listener, Connection);
    }
    SmbdClose(Connection);
}

/* Whether one more may be served. */
static BOOLEAN Admit(SMBD_LISTENER *Listener)
{
    KLOCK_QUEUE_HANDLE Handle;
    BOOLEAN Admitted;

    KeAcquireInStackQueuedSpinLock(&Listener->Lock, &Handle);
    Admitted = Listener->Count < Listener->Service.MaxConnections;
    if (Admitted)
        Listener->Count++;
    KeReleaseInStackQueuedSpinLock(&Handle);
    return Admitted;
}

static VOID Leave(SMBD_LISTENER *Listener)
{
    KLOCK_QUEUE_HANDLE Handle;

    KeAcquireInStackQueuedSpinLock(&Listener->Lock, &Handle);
    Listener->Count--;
    KeReleaseInStackQueuedSpinLock(&Handle);
}

static VOID ServeArrival(PVOID Parameter)
{
    ARRIVAL *Arrival = Parameter;
    SMBD_LISTENER *Listener = Arrival->Listener;
    NDK_CONNECTOR *Connector = Arrival->Connector;

    ExFreePoolWithTag(Arrival, SMBD_TAG);
    if (Admit(Listener)) {
        Serve(Listener, Connector);
        Leave(Listener);
    } else {
        Refused(Listener, Connector, STATUS_INSUFFICIENT_RESOURCES, "too many connections");
        Connector->Dispatch->NdkReject(Connector, NULL, 0);
        SmbdCloseObject(&Connector->Header, Connector->Dispatch->NdkCloseConnector);
    }
    ExReleaseRundownProtection(&Listener->Running);
}

/* A close that this file does not wait for: the close of the adapter does. */
static VOID Forgotten(PVOID Context)
{
    UNREFERENCED_PARAMETER(Context);
}

static VOID Arrived(PVOID Context, NDK_CONNECTOR *Connector)
{
    SMBD_LISTENER *Listener = Context;
    ARRIVAL *Arrival = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*Arrival), SMBD_TAG);

    if (!Arrival || !ExAcquireRundownProtection(&Listener->Running)) {
        if (Arrival)
            ExFreePoolWithTag(Arrival, SMBD_TAG);
        Connector->Dispatch->NdkCloseConnector(&Connector->Header, Forgotten, NULL);
        return;
    }
    Arrival->Listener = Listener;
    Arrival->Connector = Connector;
    ExInitializeWorkItem(&Arrival->Item, ServeArrival, Arrival);
    ExQueueWorkItem(&Arrival->Item, DelayedWorkQueue);
}

static NTSTATUS Listen(SMBD_LISTENER *Listener, const SOCKADDR *Address, ULONG AddressLength)
{
    NDK_ADAPTER *Ndk = Listener->Adapter->Adapter;
    NTSTATUS Status;
    SMBD_CALL Call;

    SmbdBeginCall(&Call);
    Status = SmbdEndCreation(&Call,
        Ndk->Dispatch->NdkCreateListener(
            Ndk, Arrived, Listener, SmbdCreated, &Call, &Listener->Listener),
        (PVOID *)&Listener->Listener);
    if (!NT_SUCCESS(Status))
        return Status;
    SmbdBeginCall(&Call);
    return SmbdEndCall(&Call, Listener->Listener->Dispatch->NdkListen(Listener->Listener,
                                  (PSOCKADDR)Address, AddressLength, SmbdRequestEnded, &Call));
}

NTSTATUS SmbdListen(SMBD_ADAPTER *Adapter, const SOCKADDR *Address, ULONG AddressLength,
    const SMBD_PARAMETERS *Parameters, const SMBD_SERVICE *Service, SMBD_LISTENER **Opened)
{
    SMBD_LISTENER *Listener = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*Listener), SMBD_TAG);
    NTSTATUS Status;

    if (!Listener)
        return STATUS_INSUFFICIENT_RESOURCES;
    Listener->Adapter = Adapter;
    Listener->Parameters = *Parameters;
    Listener->Service = *Service;
    ExInitializeRundownProtection(&Listener->Running);
    KeInitializeSpinLock(&Listener->Lock);
    InitializeListHead(&Listener->Connections);
    Status = Listen(Listener, Address, AddressLength);
    if (NT_SUCCESS(Status))
        *Opened = Listener;
    else
        SmbdCloseListener(Listener);
    return Status;
}

NTSTATUS SmbdListenerAddress(SMBD_LISTENER *Listener, SOCKADDR *Address, ULONG AddressLength)
{
    NDK_LISTENER *Ndk = Listener->Listener;

    return Ndk->Dispatch->NdkGetLocalAddress(Ndk, Address, &AddressLength);
}

static VOID EndConnections(SMBD_LISTENER *Listener)
{
    KLOCK_QUEUE_HANDLE Handle;

    KeAcquireInStackQueuedSpinLock(&Listener->Lock, &Handle);
    Listener->Closing = TRUE;
    for (LIST_ENTRY *Entry = Listener->Connections.Flink; Entry != &Listener->Connections;
         Entry = Entry->Flink)
        SmbdFail(CONTAINING_RECORD(Entry, SMBD_CONNECTION, Link), STATUS_CANCELLED,
            "this side is ending");
    KeReleaseInStackQueuedSpinLock(&Handle);
}

/* No connection request comes while events are paused. The close of the listener ends after those of its connectors. */
VOID SmbdCloseListener(SMBD_LISTENER *Listener)
{
    if (Listener->Listener)
        Listener->Listener->Dispatch->NdkControlConnectEvents(Listener->Listener, TRUE);
    EndConnections(Listener);
    ExWaitForRundownProtectionRelease(&Listener->Running);
    if (Listener->Listener)
        SmbdCloseObject(
            &Listener->Listener->Header, Listener->Listener->Dispatch->NdkCloseListener);
    ExFreePoolWithTag(Listener, SMBD_TAG);
}
