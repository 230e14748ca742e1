/* SPDX-License-Identifier: MIT */
/*
 * server.c - the passive side. The listener has an open of the adapter of its own; each connection gets a socket, with
 * another open, by a work item.
 */
#include "ndkdriver.h"

static NDK_ADAPTER *Adapter;
static NDK_LISTENER *Listener;
static CALL Closing; /* of the listener */
static NTSTATUS ClosingStatus;

/* ----- Requests ----- */

/* At PASSIVE_LEVEL, with the data that the server has read; or before it writes data. */
static VOID Answer(PVOID Object, PVOID Context, PIO_WORKITEM Item)
{
    SLOT *Slot = Context;
    SOCKET *Socket = Slot->Socket;
    NTSTATUS Status = STATUS_SUCCESS;
    KLOCK_QUEUE_HANDLE Handle;
    NDK_SGE Sge;

    UNREFERENCED_PARAMETER(Object);
    UNREFERENCED_PARAMETER(Item);
    RtlZeroMemory(Slot->Out, sizeof(*Slot->Out));
    Slot->Out->Kind = Slot->Request.Kind;
    Slot->Out->Slot = Slot->Request.Slot;
    Slot->Out->Round = Slot->Request.Round;
    Slot->Out->Credits = 1; /* the Receive that is posted with it */
    if (Slot->Request.Kind == PULL)
        Slot->Out->Checksum = Checksum(Slot->Data, DATA_LENGTH);
    else
        Fill(Slot->Data, DATA_LENGTH, Slot->Request.Round);
    KeAcquireInStackQueuedSpinLock(&Socket->Lock, &Handle);
    if (Slot->Request.Kind == PUSH) {
        Sge.VirtualAddress = Slot->Data;
        Sge.Length = DATA_LENGTH;
        Sge.MemoryRegionToken = Slot->Mr->Dispatch->NdkGetLocalTokenFromMr(Slot->Mr);
        /* The message, which comes behind it, has the adapter send both. */
        Status =
            Socket->Qp->Dispatch->NdkWrite(Socket->Qp, &Slot->Other, &Sge, 1, Slot->Request.Address,
                Slot->Request.Token, NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER);
    }
    KeReleaseInStackQueuedSpinLock(&Handle);
    if (NT_SUCCESS(Status))
        SendMessage(Slot);
    else
        Fail(Socket, Status, "no answer");
    ExReleaseRundownProtection(&Socket->Users);
}

VOID ServerRead(SLOT *Slot, const NDK_RESULT_EX *Result)
{
    UNREFERENCED_PARAMETER(Result);
    Defer(Slot, Answer);
}

VOID ServerReceived(SLOT *Slot, const NDK_RESULT_EX *Result)
{
    SOCKET *Socket = Slot->Socket;
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;
    NDK_SGE Sge;

    Slot->Request = *Slot->In;
    if (Result->BytesTransferred != sizeof(MESSAGE) || Slot->Request.Length != DATA_LENGTH ||
        (Slot->Request.Kind != PULL && Slot->Request.Kind != PUSH)) {
        Fail(Socket, STATUS_UNSUCCESSFUL, "a request that is none");
        return;
    }
    AddCredits(Socket, (LONG)Slot->Request.Credits);
    if (Slot->Request.Kind == PUSH) {
        Defer(Slot, Answer);
        return;
    }
    Sge.VirtualAddress = Slot->Data;
    Sge.Length = DATA_LENGTH;
    Sge.MemoryRegionToken = Slot->Mr->Dispatch->NdkGetLocalTokenFromMr(Slot->Mr);
    KeAcquireInStackQueuedSpinLock(&Socket->Lock, &Handle);
    Status = Socket->Qp->Dispatch->NdkRead(
        Socket->Qp, &Slot->Read, &Sge, 1, Slot->Request.Address, Slot->Request.Token, 0);
    KeReleaseInStackQueuedSpinLock(&Handle);
    if (!NT_SUCCESS(Status))
        Fail(Socket, Status, "no Read");
}

/* ----- Connections ----- */

typedef struct _ARRIVAL {
    PIO_WORKITEM Item;
    NDK_CONNECTOR *Connector;
} ARRIVAL;

static NTSTATUS Accept(SOCKET *Socket, NDK_CONNECTOR *Connector)
{
    GREETING Mine = { SERVER_SLOTS, DATA_LENGTH }, Client = { 0, 0 };
    ULONG Length = sizeof(Client);
    NTSTATUS Status;
    CALL Call;

    Status = Connector->Dispatch->NdkGetConnectionData(Connector, NULL, NULL, &Client, &Length);
    if ((!NT_SUCCESS(Status) && Status != STATUS_BUFFER_TOO_SMALL) || Client.Length != DATA_LENGTH)
        return STATUS_UNSUCCESSFUL;
    AddCredits(Socket, (LONG)Client.Credits);
    BeginCall(&Call);
    return EndCall(&Call, Connector->Dispatch->NdkAccept(Connector, Socket->Qp, 0, READS, &Mine,
                              sizeof(Mine), Disconnected, Socket, RequestEnded, &Call));
}

static VOID Serve(PDEVICE_OBJECT Device, PVOID Context)
{
    ARRIVAL *Arrival = Context;
    NDK_CONNECTOR *Connector = Arrival->Connector;
    SOCKET *Socket;
    NTSTATUS Status;

    UNREFERENCED_PARAMETER(Device);
    IoFreeWorkItem(Arrival->Item);
    ExFreePoolWithTag(Arrival, NDKDRIVER_TAG);
    Status = OpenSocket(SERVER_SLOTS, &Socket);
    if (!NT_SUCCESS(Status)) {
        DbgPrint("ndkdriver: no socket: status 0x%08lx\n", (ULONG)Status);
        CloseObject(&Connector->Header, Connector->Dispatch->NdkCloseConnector);
    } else {
        Socket->Connector = Connector; /* of another open: they go together */
        Status = Accept(Socket, Connector);
        if (!NT_SUCCESS(Status))
            Fail(Socket, Status, "a client cannot be accepted");
    }
    ExReleaseRundownProtection(&Driver.Alive);
}

static VOID Forgotten(PVOID Context)
{
    UNREFERENCED_PARAMETER(Context);
}

static VOID Arrived(PVOID Context, NDK_CONNECTOR *Connector)
{
    ARRIVAL *Arrival = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*Arrival), NDKDRIVER_TAG);
    PIO_WORKITEM Item = IoAllocateWorkItem(Driver.Device);

    UNREFERENCED_PARAMETER(Context);
    if (Arrival && Item && ExAcquireRundownProtection(&Driver.Alive)) {
        Arrival->Item = Item;
        Arrival->Connector = Connector;
        IoQueueWorkItem(Item, Serve, DelayedWorkQueue, Arrival);
        return;
    }
    if (Arrival)
        ExFreePoolWithTag(Arrival, NDKDRIVER_TAG);
    if (Item)
        IoFreeWorkItem(Item);
    Connector->Dispatch->NdkCloseConnector(&Connector->Header, Forgotten, NULL);
}

NTSTATUS StartServer(VOID)
{
    static const NDK_VERSION Least = { 1, 2 };
    SOCKADDR_IN Bound;
    ULONG Length = sizeof(Bound);
    NTSTATUS Status;
    CALL Call;

    Status =
        Driver.Ndk.WskOpenNdkAdapter(Driver.Provider.Client, Least, Driver.Interface, &Adapter);
    if (!NT_SUCCESS(Status))
        return Status;
    BeginCall(&Call);
    Status = EndCreation(&Call,
        Adapter->Dispatch->NdkCreateListener(Adapter, Arrived, NULL, Created, &Call, &Listener),
        (PVOID *)&Listener);
    if (!NT_SUCCESS(Status))
        return Status;
    BeginCall(&Call);
    Status = EndCall(&Call, Listener->Dispatch->NdkListen(Listener, (PSOCKADDR)&Driver.Local,
                                sizeof(Driver.Local), RequestEnded, &Call));
    if (NT_SUCCESS(Status))
        Status = Listener->Dispatch->NdkGetLocalAddress(Listener, (SOCKADDR *)&Bound, &Length);
    if (!NT_SUCCESS(Status)) {
        DbgPrint("ndkdriver: cannot listen: status 0x%08lx\n", (ULONG)Status);
        return Status;
    }
    DbgPrint("ndkdriver: listening on port %lu\n", (ULONG)RtlUshortByteSwap(Bound.sin_port));
    return STATUS_SUCCESS;
}

static VOID ListenerClosed(PVOID Context)
{
    Created(Context, STATUS_SUCCESS, NULL);
}

/* The close ends when all connectors that the listener made are closed. */
VOID BeginStop(VOID)
{
    if (!Listener)
        return;
    BeginCall(&Closing);
    ClosingStatus =
        Listener->Dispatch->NdkCloseListener(&Listener->Header, ListenerClosed, &Closing);
}

VOID EndStop(VOID)
{
    if (Listener)
        EndCall(&Closing, ClosingStatus);
    Listener = NULL;
    if (Adapter)
        Driver.Ndk.WskCloseNdkAdapter(Driver.Provider.Client, Adapter);
    Adapter = NULL;
}
