/* SPDX-License-Identifier: MIT */
/* socket.c - a socket: its open of the adapter, its objects and its memory; and its end. */
#include "ndkdriver.h"

static const NDK_VERSION LeastVersion = { 1, 2 };

static NTSTATUS CreateMr(SOCKET *Socket, BOOLEAN Fast, NDK_MR **Mr)
{
    CALL Call;

    BeginCall(&Call);
    return EndCreation(&Call,
        Socket->Pd->Dispatch->NdkCreateMr(Socket->Pd, Fast, Created, &Call, Mr), (PVOID *)Mr);
}

static NTSTATUS Register(SOCKET *Socket, MDL *Mdl, SIZE_T Length, ULONG Flags, NDK_MR **Mr)
{
    NTSTATUS Status = CreateMr(Socket, FALSE, Mr);
    CALL Call;

    if (!NT_SUCCESS(Status))
        return Status;
    BeginCall(&Call);
    return EndCall(
        &Call, (*Mr)->Dispatch->NdkRegisterMr(*Mr, Mdl, Length, Flags, RequestEnded, &Call));
}

static PVOID AllocateWithMdl(ULONG Length, MDL **Mdl)
{
    PVOID Memory = ExAllocatePoolWithTag(NonPagedPoolNx, Length, NDKDRIVER_TAG);

    if (!Memory)
        return NULL;
    RtlZeroMemory(Memory, Length);
    *Mdl = IoAllocateMdl(Memory, Length, FALSE, FALSE, NULL);
    if (*Mdl) {
        MmBuildMdlForNonPagedPool(*Mdl);
        return Memory;
    }
    ExFreePoolWithTag(Memory, NDKDRIVER_TAG);
    return NULL;
}

/* The pages of a client's buffer, and a region for them that each request registers anew. */
static NTSTATUS PrepareRegion(SOCKET *Socket, SLOT *Slot)
{
    NDK_ADAPTER *Adapter = Socket->Adapter;
    ULONG Size = 0;
    NTSTATUS Status;
    CALL Call;

    Status = Adapter->Dispatch->NdkBuildLAM(
        Adapter, Slot->Mdl, DATA_LENGTH, NULL, NULL, NULL, &Size, &Slot->Fbo);
    if (Status != STATUS_BUFFER_TOO_SMALL)
        return NT_SUCCESS(Status) ? STATUS_INTERNAL_ERROR : Status;
    Slot->Lam = ExAllocatePoolWithTag(NonPagedPoolNx, Size, NDKDRIVER_TAG);
    if (!Slot->Lam)
        return STATUS_INSUFFICIENT_RESOURCES;
    Status = Adapter->Dispatch->NdkBuildLAM(
        Adapter, Slot->Mdl, DATA_LENGTH, NULL, NULL, Slot->Lam, &Size, &Slot->Fbo);
    if (!NT_SUCCESS(Status)) {
        ExFreePoolWithTag(Slot->Lam, NDKDRIVER_TAG);
        Slot->Lam = NULL;
        return Status;
    }
    if (Slot->Lam->AdapterPageCount > Socket->Info.FRMRPageCount)
        return STATUS_NOT_SUPPORTED;
    Status = CreateMr(Socket, TRUE, &Slot->Mr);
    if (!NT_SUCCESS(Status))
        return Status;
    BeginCall(&Call);
    return EndCall(&Call, Slot->Mr->Dispatch->NdkInitializeFastRegisterMr(
                              Slot->Mr, Slot->Lam->AdapterPageCount, TRUE, RequestEnded, &Call));
}

static NTSTATUS PrepareSlot(SOCKET *Socket, ULONG Index)
{
    SLOT *Slot = &Socket->Slots[Index];

    Slot->Socket = Socket;
    Slot->Index = Index;
    Slot->Out = &Socket->Messages[2 * Index];
    Slot->In = &Socket->Messages[2 * Index + 1];
    Slot->Sent.Slot = Slot->Received.Slot = Slot->Read.Slot = Slot->Other.Slot = Slot;
    Slot->Received.Done = Driver.Rounds ? ClientReceived : ServerReceived;
    Slot->Read.Done = ServerRead;
    Slot->Item = IoAllocateWorkItem(Driver.Device);
    Slot->Data = AllocateWithMdl(DATA_LENGTH, &Slot->Mdl);
    if (!Slot->Item || !Slot->Data)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (Driver.Rounds)
        return PrepareRegion(Socket, Slot);
    return Register(Socket, Slot->Mdl, DATA_LENGTH,
        NDK_MR_FLAG_ALLOW_LOCAL_WRITE | NDK_MR_FLAG_RDMA_READ_SINK, &Slot->Mr);
}

static NTSTATUS CreateQueues(SOCKET *Socket)
{
    ULONG Depth = 4 * Socket->SlotCount;
    NTSTATUS Status;
    CALL Call;

    BeginCall(&Call);
    Status = EndCreation(&Call,
        Socket->Adapter->Dispatch->NdkCreateCq(Socket->Adapter, Depth + Socket->SlotCount, Notified,
            Socket, NULL, Created, &Call, &Socket->Cq),
        (PVOID *)&Socket->Cq);
    if (!NT_SUCCESS(Status))
        return Status;
    BeginCall(&Call);
    Status = EndCreation(&Call,
        Socket->Pd->Dispatch->NdkCreateQp(Socket->Pd, Socket->Cq, Socket->Cq, Socket,
            Socket->SlotCount, Depth, 1, 1, 0, Created, &Call, &Socket->Qp),
        (PVOID *)&Socket->Qp);
    if (NT_SUCCESS(Status))
        Socket->Cq->Dispatch->NdkArmCq(Socket->Cq, NDK_CQ_NOTIFY_ANY);
    return Status;
}

static NTSTATUS Prepare(SOCKET *Socket)
{
    ULONG Size = sizeof(Socket->Info);
    NTSTATUS Status;
    CALL Call;

    Status = Driver.Ndk.WskOpenNdkAdapter(
        Driver.Provider.Client, LeastVersion, Driver.Interface, &Socket->Adapter);
    if (!NT_SUCCESS(Status))
        return Status;
    Status = Socket->Adapter->Dispatch->NdkQueryAdapterInfo(Socket->Adapter, &Socket->Info, &Size);
    if (!NT_SUCCESS(Status))
        return Status;
    BeginCall(&Call);
    Status = EndCreation(&Call,
        Socket->Adapter->Dispatch->NdkCreatePd(Socket->Adapter, Created, &Call, &Socket->Pd),
        (PVOID *)&Socket->Pd);
    if (!NT_SUCCESS(Status))
        return Status;
    Size = 2 * MOST_SLOTS * sizeof(MESSAGE);
    Socket->CloseItem = IoAllocateWorkItem(Driver.Device);
    Socket->Messages = AllocateWithMdl(Size, &Socket->MessagesMdl);
    if (!Socket->CloseItem || !Socket->Messages)
        return STATUS_INSUFFICIENT_RESOURCES;
    Status = Register(
        Socket, Socket->MessagesMdl, Size, NDK_MR_FLAG_ALLOW_LOCAL_WRITE, &Socket->MessagesMr);
    for (ULONG i = 0; NT_SUCCESS(Status) && i < Socket->SlotCount; i++)
        Status = PrepareSlot(Socket, i);
    if (NT_SUCCESS(Status))
        Status = CreateQueues(Socket);
    for (ULONG i = 0; NT_SUCCESS(Status) && i < Socket->SlotCount; i++)
        Status = PostReceive(&Socket->Slots[i]);
    return Status;
}

/* ----- The end ----- */

static VOID CloseMr(NDK_MR *Mr)
{
    if (Mr)
        CloseObject(&Mr->Header, Mr->Dispatch->NdkCloseMr);
}

static VOID FreeWithMdl(PVOID Memory, MDL *Mdl)
{
    if (!Memory)
        return;
    IoFreeMdl(Mdl);
    ExFreePoolWithTag(Memory, NDKDRIVER_TAG);
}

static VOID FreeSlot(SOCKET *Socket, SLOT *Slot)
{
    CloseMr(Slot->Mr);
    if (Slot->Lam) {
        Socket->Adapter->Dispatch->NdkReleaseLAM(Socket->Adapter, Slot->Lam);
        ExFreePoolWithTag(Slot->Lam, NDKDRIVER_TAG);
    }
    FreeWithMdl(Slot->Data, Slot->Mdl);
    if (Slot->Item)
        IoFreeWorkItem(Slot->Item);
}

/* No callback and no work item uses it any more. Users are closed first, since this waits for each close. */
static VOID FreeSocket(SOCKET *Socket)
{
    if (Socket->Connector)
        CloseObject(&Socket->Connector->Header, Socket->Connector->Dispatch->NdkCloseConnector);
    if (Socket->Qp)
        CloseObject(&Socket->Qp->Header, Socket->Qp->Dispatch->NdkCloseQp);
    if (Socket->Cq)
        CloseObject(&Socket->Cq->Header, Socket->Cq->Dispatch->NdkCloseCq);
    for (ULONG i = 0; i < Socket->SlotCount; i++)
        FreeSlot(Socket, &Socket->Slots[i]);
    CloseMr(Socket->MessagesMr);
    FreeWithMdl(Socket->Messages, Socket->MessagesMdl);
    if (Socket->Pd)
        CloseObject(&Socket->Pd->Header, Socket->Pd->Dispatch->NdkClosePd);
    if (Socket->Adapter)
        Driver.Ndk.WskCloseNdkAdapter(Driver.Provider.Client, Socket->Adapter);
    if (Socket->CloseItem)
        IoFreeWorkItem(Socket->CloseItem);
    ExFreePoolWithTag(Socket, NDKDRIVER_TAG);
    ExReleaseRundownProtection(&Driver.Alive);
}

static VOID CloseSocket(PDEVICE_OBJECT Device, PVOID Context)
{
    SOCKET *Socket = Context;
    KLOCK_QUEUE_HANDLE Handle;
    CALL Call;

    UNREFERENCED_PARAMETER(Device);
    KeAcquireInStackQueuedSpinLock(&Driver.Lock, &Handle);
    RemoveEntryList(&Socket->Link);
    KeReleaseInStackQueuedSpinLock(&Handle);
    if (Socket->Connector) {
        BeginCall(&Call);
        EndCall(&Call,
            Socket->Connector->Dispatch->NdkDisconnect(Socket->Connector, RequestEnded, &Call));
    }
    Socket->Qp->Dispatch->NdkFlush(Socket->Qp);
    ExWaitForRundownProtectionRelease(&Socket->Users);
    FreeSocket(Socket);
}

VOID BeginClose(SOCKET *Socket)
{
    if (InterlockedExchange(&Socket->Closing, 1) == 0)
        IoQueueWorkItem(Socket->CloseItem, CloseSocket, DelayedWorkQueue, Socket);
}

VOID CloseAllSockets(VOID)
{
    KLOCK_QUEUE_HANDLE Handle;

    KeAcquireInStackQueuedSpinLock(&Driver.Lock, &Handle);
    for (LIST_ENTRY *At = Driver.Sockets.Flink; At != &Driver.Sockets; At = At->Flink)
        BeginClose(CONTAINING_RECORD(At, SOCKET, Link));
    KeReleaseInStackQueuedSpinLock(&Handle);
}

VOID Disconnected(PVOID Context)
{
    BeginClose(Context);
}

NTSTATUS OpenSocket(ULONG SlotCount, SOCKET **Opened)
{
    SOCKET *Socket = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*Socket), NDKDRIVER_TAG);
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    if (!Socket)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!ExAcquireRundownProtection(&Driver.Alive)) {
        ExFreePoolWithTag(Socket, NDKDRIVER_TAG);
        return STATUS_DEVICE_NOT_READY;
    }
    RtlZeroMemory(Socket, sizeof(*Socket));
    Socket->SlotCount = SlotCount;
    ExInitializeRundownProtection(&Socket->Users);
    KeInitializeSpinLock(&Socket->Lock);
    InitializeListHead(&Socket->Waiting);
    Status = Prepare(Socket);
    if (!NT_SUCCESS(Status)) {
        FreeSocket(Socket);
        return Status;
    }
    KeAcquireInStackQueuedSpinLock(&Driver.Lock, &Handle);
    InsertTailList(&Driver.Sockets, &Socket->Link);
    KeReleaseInStackQueuedSpinLock(&Handle);
    *Opened = Socket;
    return STATUS_SUCCESS;
}
