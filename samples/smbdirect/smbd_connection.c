/* SPDX-License-Identifier: MIT */
/*
 * smbd_connection.c - the life of a connection: made, connected or accepted, broken, closed.
 *
 * Closing reverses this: disconnect and flush; wait for the results of all requests; close connector, queue pair,
 * completion queues, whose closes end when no callback runs or follows; free the memory.
 */
#include "smbd_private.h"

enum { READS = 16, SENDS = 64 };

VOID SmbdDefaultParameters(SMBD_PARAMETERS *Parameters)
{
    Parameters->Credits = 255;
    Parameters->MaxSendSize = 1364;
    Parameters->MaxReceiveSize = 8192;
    Parameters->MaxFragmentedSize = 1048576;
    Parameters->MaxReadWriteSize = 1048576;
    Parameters->Buffers = 16;
    Parameters->KeepAliveMs = 120000;
    Parameters->ResponseMs = 5000;
    Parameters->CreditMs = 5000;
    Parameters->NegotiateMs = 120000;
    Parameters->RequestMs = 5000;
}

/* ----- Its end ----- */

VOID SmbdBreak(SMBD_CONNECTION *Connection, NTSTATUS Status, const char *Reason)
{
    if (!NT_SUCCESS(Connection->Status))
        return;
    Connection->Status = Status;
    Connection->Reason = Reason;
    SmbdSignal(&Connection->MessageEvent);
    SmbdSignal(&Connection->SendEvent);
    SmbdSignal(&Connection->RdmaEvent);
}

NTSTATUS SmbdFail(SMBD_CONNECTION *Connection, NTSTATUS Status, const char *Reason)
{
    KLOCK_QUEUE_HANDLE Handle;

    SmbdLock(Connection, &Handle);
    SmbdBreak(Connection, Status, Reason);
    Status = Connection->Status;
    SmbdUnlock(&Handle);
    return Status;
}

VOID SmbdFlushed(SMBD_CONNECTION *Connection)
{
    SmbdBreak(Connection, STATUS_CONNECTION_DISCONNECTED, "the peer ended the connection");
}

VOID SmbdWorkFailed(SMBD_CONNECTION *Connection, NTSTATUS Status, const char *Reason)
{
    if (Status != STATUS_CANCELLED && Status != STATUS_CONNECTION_INVALID)
        SmbdBreak(Connection, Status, Reason);
    else if (!Connection->Credits.Posted)
        SmbdFlushed(Connection);
}

NTSTATUS SmbdAwaitEnd(SMBD_CONNECTION *Connection)
{
    NTSTATUS Status;

    while (NT_SUCCESS(Status = SmbdFailure(Connection, NULL)))
        SmbdAwaitPeer(Connection, &Connection->MessageEvent);
    return Status;
}

NTSTATUS SmbdFailure(SMBD_CONNECTION *Connection, const char **Reason)
{
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    SmbdLock(Connection, &Handle);
    Status = Connection->Status;
    if (Reason)
        *Reason = Connection->Reason;
    SmbdUnlock(&Handle);
    return Status;
}

/*
 * The flush ends every Receive, behind those that were filled before the peer left. Where the transport itself flushes
 * (iWARP), it may do so before this event.
 */
static VOID Disconnected(PVOID Context)
{
    SMBD_CONNECTION *Connection = Context;
    KLOCK_QUEUE_HANDLE Handle;

    SmbdLock(Connection, &Handle);
    if (!Connection->Credits.Posted)
        SmbdFlushed(Connection);
    SmbdUnlock(&Handle);
    Connection->Qp->Dispatch->NdkFlush(Connection->Qp);
}

/* ----- Making and closing ----- */

static ULONG Least(ULONG One, ULONG Other)
{
    return One < Other ? One : Other;
}

/* What this end wants, within what the adapter can do. */
static NTSTATUS FitParameters(SMBD_CONNECTION *Connection)
{
    const NDK_ADAPTER_INFO *Info = &Connection->Adapter->Info;
    SMBD_PARAMETERS *Parameters = &Connection->Parameters;
    SIZE_T Mapped = (SIZE_T)Info->FRMRPageCount * PAGE_SIZE;

    if (!Mapped)
        Mapped = Info->MaxRegistrationSize;
    if (Parameters->MaxReadWriteSize > Mapped)
        Parameters->MaxReadWriteSize = (ULONG)Mapped;
    Parameters->MaxReceiveSize = Least(Parameters->MaxReceiveSize, 2 * PAGE_SIZE);
    Parameters->MaxSendSize = Least(Parameters->MaxSendSize, 2 * PAGE_SIZE);
    Parameters->Credits = (USHORT)Least(Parameters->Credits, Info->MaxReceiveQueueDepth);
    Parameters->Buffers = Least(Parameters->Buffers,
        (Info->MaxInitiatorQueueDepth - Least(SENDS, Info->MaxInitiatorQueueDepth)) /
            SMBD_BUFFER_SLOTS);
    if (Parameters->MaxReceiveSize < SMBD_LEAST_RECEIVE_SIZE ||
        Parameters->MaxSendSize < SMBD_LEAST_RECEIVE_SIZE ||
        Parameters->MaxFragmentedSize < SMBD_LEAST_FRAGMENTED_SIZE ||
        Parameters->Credits < SMBD_LEAST_CREDITS)
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

/* One Receive, for the message of the negotiation. */
static NTSTATUS PostFirstReceive(SMBD_CONNECTION *Connection)
{
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    SmbdLock(Connection, &Handle);
    Connection->Credits.Target = 1;
    SmbdPostReceives(Connection);
    Status = Connection->Credits.Posted ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
    SmbdUnlock(&Handle);
    return Status;
}

static NTSTATUS Fill(SMBD_CONNECTION *Connection)
{
    SMBD_PARAMETERS *Parameters = &Connection->Parameters;
    NTSTATUS Status = FitParameters(Connection);

    if (NT_SUCCESS(Status))
        Status = SmbdCreatePool(
            Connection->Adapter, SENDS, Parameters->MaxSendSize, SmbdSendDone, &Connection->Sends);
    if (NT_SUCCESS(Status))
        Status = SmbdCreatePool(Connection->Adapter, Parameters->Credits,
            Parameters->MaxReceiveSize, SmbdReceiveDone, &Connection->Receives);
    if (NT_SUCCESS(Status))
        Status = SmbdCreateQueues(Connection);
    if (NT_SUCCESS(Status))
        Status = PostFirstReceive(Connection);
    return Status;
}

NTSTATUS SmbdCreateConnection(SMBD_ADAPTER *Adapter, const SMBD_PARAMETERS *Parameters,
    BOOLEAN Passive, NDK_CONNECTOR *Connector, SMBD_CONNECTION **Created)
{
    SMBD_CONNECTION *Connection =
        ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*Connection), SMBD_TAG);
    NTSTATUS Status;

    if (!Connection)
        return STATUS_INSUFFICIENT_RESOURCES;
    Connection->Adapter = Adapter;
    Connection->Parameters = *Parameters;
    Connection->Passive = Passive;
    KeInitializeEvent(&Connection->MessageEvent, SynchronizationEvent, FALSE);
    KeInitializeEvent(&Connection->SendEvent, SynchronizationEvent, FALSE);
    KeInitializeEvent(&Connection->RdmaEvent, SynchronizationEvent, FALSE);
    KeInitializeEvent(&Connection->DrainEvent, SynchronizationEvent, FALSE);
    ExInitializeRundownProtection(&Connection->Callbacks);
    KeInitializeSpinLock(&Connection->Lock);
    InitializeListHead(&Connection->Messages);
    InitializeListHead(&Connection->Buffers);
    Status = Fill(Connection);
    if (!NT_SUCCESS(Status)) {
        SmbdClose(Connection);
        return Status;
    }
    Connection->Connector = Connector;
    *Created = Connection;
    return STATUS_SUCCESS;
}

VOID SmbdAwaitSent(SMBD_CONNECTION *Connection)
{
    KLOCK_QUEUE_HANDLE Handle;
    BOOLEAN Sent;

    do {
        SmbdLock(Connection, &Handle);
        Sent = Connection->Sends.FreeCount == Connection->Sends.Count ||
               !NT_SUCCESS(Connection->Status);
        SmbdUnlock(&Handle);
    } while (!Sent && SmbdWait(&Connection->SendEvent, Connection->Parameters.ResponseMs));
}

static VOID Disconnect(SMBD_CONNECTION *Connection)
{
    NDK_CONNECTOR *Connector = Connection->Connector;
    SMBD_CALL Call;

    SmbdAwaitSent(Connection);
    SmbdBeginCall(&Call);
    SmbdEndCall(&Call, Connector->Dispatch->NdkDisconnect(Connector, SmbdRequestEnded, &Call));
}

static VOID Drain(SMBD_CONNECTION *Connection)
{
    KLOCK_QUEUE_HANDLE Handle;
    BOOLEAN Drained;

    SmbdFail(Connection, STATUS_CANCELLED, "the connection is closed");
    Connection->Qp->Dispatch->NdkFlush(Connection->Qp);
    for (;;) {
        SmbdLock(Connection, &Handle);
        Drained = !Connection->Outstanding || Connection->QueuesFailed;
        SmbdUnlock(&Handle);
        if (Drained)
            return;
        KeWaitForSingleObject(&Connection->DrainEvent, Executive, KernelMode, FALSE, NULL);
    }
}

VOID SmbdClose(SMBD_CONNECTION *Connection)
{
    NDK_CONNECTOR *Connector = Connection->Connector;

    if (Connection->Connected)
        Disconnect(Connection);
    if (Connection->Qp)
        Drain(Connection);
    if (Connector)
        SmbdCloseObject(&Connector->Header, Connector->Dispatch->NdkCloseConnector);
    SmbdCloseQueues(Connection);
    SmbdFreeMessages(Connection);
    SmbdFreeBuffers(Connection);
    SmbdDeletePool(Connection->Adapter, &Connection->Sends);
    SmbdDeletePool(Connection->Adapter, &Connection->Receives);
    ExFreePoolWithTag(Connection, SMBD_TAG);
}

/* ----- Connecting ----- */

static NTSTATUS CreateConnector(SMBD_ADAPTER *Adapter, NDK_CONNECTOR **Connector)
{
    NDK_ADAPTER *Ndk = Adapter->Adapter;
    SMBD_CALL Call;

    SmbdBeginCall(&Call);
    return SmbdEndCreation(&Call,
        Ndk->Dispatch->NdkCreateConnector(Ndk, SmbdCreated, &Call, Connector), (PVOID *)Connector);
}

static NTSTATUS Connect(
    SMBD_CONNECTION *Connection, const SOCKADDR *Local, const SOCKADDR *Remote, ULONG AddressLength)
{
    NDK_CONNECTOR *Connector = Connection->Connector;
    const NDK_ADAPTER_INFO *Info = &Connection->Adapter->Info;
    ULONG Inbound = Least(READS, Info->MaxInboundReadLimit);
    ULONG Outbound = Least(READS, Info->MaxOutboundReadLimit);
    SMBD_READ_DEPTHS Depths;
    ULONG Length = SmbdOwnDepths(Connection->Adapter, Inbound, Outbound, &Depths);
    NTSTATUS Status;
    SMBD_CALL Call;

    SmbdBeginCall(&Call);
    Status = SmbdEndCall(
        &Call, Connector->Dispatch->NdkConnect(Connector, Connection->Qp, (PSOCKADDR)Local,
                   AddressLength, (PSOCKADDR)Remote, AddressLength, Inbound, Outbound,
                   Length ? &Depths : NULL, Length, SmbdRequestEnded, &Call));
    if (!NT_SUCCESS(Status))
        return SmbdFail(Connection, Status, "no connection");
    SmbdBeginCall(&Call);
    Status = SmbdEndCall(&Call, Connector->Dispatch->NdkCompleteConnect(
                                    Connector, Disconnected, Connection, SmbdRequestEnded, &Call));
    if (!NT_SUCCESS(Status))
        return SmbdFail(Connection, Status, "the connection could not be completed");
    Connection->Connected = TRUE;
    return SmbdNegotiateActive(Connection);
}

NTSTATUS SmbdConnect(SMBD_ADAPTER *Adapter, const SOCKADDR *Local, const SOCKADDR *Remote,
    ULONG AddressLength, const SMBD_PARAMETERS *Parameters, SMBD_CONNECTION **Connected,
    const char **Reason)
{
    const char *Ignored, **Said = Reason ? Reason : &Ignored;
    NDK_CONNECTOR *Connector = NULL;
    SMBD_CONNECTION *Connection;
    NTSTATUS Status;

    *Said = "no connection can be made";
    Status = CreateConnector(Adapter, &Connector);
    if (!NT_SUCCESS(Status))
        return Status;
    Status = SmbdCreateConnection(Adapter, Parameters, FALSE, Connector, &Connection);
    if (!NT_SUCCESS(Status)) {
        SmbdCloseObject(&Connector->Header, Connector->Dispatch->NdkCloseConnector);
        return Status;
    }
    Status = Connect(Connection, Local, Remote, AddressLength);
    if (NT_SUCCESS(Status)) {
        *Connected = Connection;
        return STATUS_SUCCESS;
    }
    SmbdFailure(Connection, Said);
    SmbdClose(Connection);
    return Status;
}

NTSTATUS SmbdAccept(SMBD_CONNECTION *Connection)
{
    NDK_CONNECTOR *Connector = Connection->Connector;
    const NDK_ADAPTER_INFO *Info = &Connection->Adapter->Info;
    ULONG Inbound = Least(READS, Info->MaxInboundReadLimit);
    ULONG Outbound = Least(READS, Info->MaxOutboundReadLimit);
    SMBD_READ_DEPTHS Depths;
    ULONG Length = 0;
    NTSTATUS Status;
    SMBD_CALL Call;

    if (SmbdPeerDepths(Connection->Adapter, Connector, &Outbound))
        Length = SmbdOwnDepths(Connection->Adapter, Inbound, Outbound, &Depths);
    SmbdBeginCall(&Call);
    Status = SmbdEndCall(&Call,
        Connector->Dispatch->NdkAccept(Connector, Connection->Qp, Inbound, Outbound,
            Length ? &Depths : NULL, Length, Disconnected, Connection, SmbdRequestEnded, &Call));
    if (!NT_SUCCESS(Status))
        return SmbdFail(Connection, Status, "the connection could not be accepted");
    Connection->Connected = TRUE;
    return SmbdNegotiatePassive(Connection);
}

/* ----- What it is ----- */

const SMBD_PARAMETERS *SmbdAgreed(const SMBD_CONNECTION *Connection)
{
    return &Connection->Parameters;
}

ULONG SmbdLongestSend(const SMBD_CONNECTION *Connection)
{
    return Connection->LongestSend;
}

NTSTATUS SmbdPeerAddress(SMBD_CONNECTION *Connection, SOCKADDR *Address, ULONG AddressLength)
{
    NDK_CONNECTOR *Connector = Connection->Connector;

    return Connector->Dispatch->NdkGetPeerAddress(Connector, Address, &AddressLength);
}
