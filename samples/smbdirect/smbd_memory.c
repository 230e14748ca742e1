/* SPDX-License-Identifier: MIT */
/*
 * smbd_memory.c - memory as the adapter sees it: mappings to logical addresses, lists of entries over them, and buffers
 * that are registered only while the peer is to use them.
 */
#include "smbd_private.h"

/* ----- Mappings ----- */

static NTSTATUS BuildLam(SMBD_ADAPTER *Adapter, SMBD_MEMORY *Memory)
{
    NDK_ADAPTER *Ndk = Adapter->Adapter;
    ULONG Size = 0;
    NTSTATUS Status;

    Status = Ndk->Dispatch->NdkBuildLAM(
        Ndk, Memory->Mdl, Memory->Length, NULL, NULL, NULL, &Size, &Memory->Fbo);
    if (Status != STATUS_BUFFER_TOO_SMALL)
        return NT_SUCCESS(Status) ? STATUS_INTERNAL_ERROR : Status;
    Memory->Lam = ExAllocatePool2(POOL_FLAG_NON_PAGED, Size, SMBD_TAG);
    if (!Memory->Lam)
        return STATUS_INSUFFICIENT_RESOURCES;
    Status = Ndk->Dispatch->NdkBuildLAM(
        Ndk, Memory->Mdl, Memory->Length, NULL, NULL, Memory->Lam, &Size, &Memory->Fbo);
    if (NT_SUCCESS(Status))
        return STATUS_SUCCESS;
    ExFreePoolWithTag(Memory->Lam, SMBD_TAG);
    Memory->Lam = NULL;
    return Status;
}

NTSTATUS SmbdAllocateMemory(SMBD_ADAPTER *Adapter, ULONG Length, SMBD_MEMORY *Memory)
{
    NTSTATUS Status = STATUS_INSUFFICIENT_RESOURCES;

    Memory->Length = Length;
    Memory->Memory = ExAllocatePool2(POOL_FLAG_NON_PAGED, Length, SMBD_TAG);
    if (Memory->Memory)
        Memory->Mdl = IoAllocateMdl(Memory->Memory, Length, FALSE, FALSE, NULL);
    if (Memory->Mdl) {
        MmBuildMdlForNonPagedPool(Memory->Mdl);
        Status = BuildLam(Adapter, Memory);
    }
    if (!NT_SUCCESS(Status))
        SmbdReleaseMemory(Adapter, Memory);
    return Status;
}

VOID SmbdReleaseMemory(SMBD_ADAPTER *Adapter, SMBD_MEMORY *Memory)
{
    if (Memory->Lam) {
        Adapter->Adapter->Dispatch->NdkReleaseLAM(Adapter->Adapter, Memory->Lam);
        ExFreePoolWithTag(Memory->Lam, SMBD_TAG);
    }
    if (Memory->Mdl)
        IoFreeMdl(Memory->Mdl);
    if (Memory->Memory)
        ExFreePoolWithTag(Memory->Memory, SMBD_TAG);
    RtlZeroMemory(Memory, sizeof(*Memory));
}

ULONG SmbdBuildSgl(const SMBD_ADAPTER *Adapter, const SMBD_MEMORY *Memory, ULONG Offset,
    ULONG Length, NDK_SGE *Sgl, ULONG Most, ULONG *Covered)
{
    const NDK_LOGICAL_ADDRESS *Pages = Memory->Lam->AdapterPageArray;
    ULONG Count = 0;

    *Covered = 0;
    while (*Covered < Length) {
        ULONG At = Memory->Fbo + Offset + *Covered;
        LONGLONG Address = Pages[At / PAGE_SIZE].QuadPart + BYTE_OFFSET((ULONG_PTR)At);
        ULONG Piece = PAGE_SIZE - BYTE_OFFSET((ULONG_PTR)At);

        if (Piece > Length - *Covered)
            Piece = Length - *Covered;
        if (Count && Sgl[Count - 1].LogicalAddress.QuadPart + Sgl[Count - 1].Length == Address) {
            Sgl[Count - 1].Length += Piece;
        } else if (Count < Most) {
            Sgl[Count].LogicalAddress.QuadPart = Address;
            Sgl[Count].Length = Piece;
            Sgl[Count].MemoryRegionToken = Adapter->PrivilegedToken;
            Count++;
        } else {
            break;
        }
        *Covered += Piece;
    }
    return Count;
}

/* ----- Buffers ----- */

/* Called only for a failure: the request is silent. */
static VOID RegisterDone(SMBD_CONNECTION *Connection, SMBD_WORK *Work, const NDK_RESULT_EX *Result)
{
    UNREFERENCED_PARAMETER(Work);
    SmbdWorkFailed(Connection, Result->Status, "memory could not be registered");
}

static VOID InvalidateDone(
    SMBD_CONNECTION *Connection, SMBD_WORK *Work, const NDK_RESULT_EX *Result)
{
    SMBD_BUFFER *Buffer = CONTAINING_RECORD(Work, SMBD_BUFFER, Invalidated);

    Connection->Outstanding--;
    if (!NT_SUCCESS(Result->Status)) {
        SmbdWorkFailed(Connection, Result->Status, "a registration could not be taken back");
        return;
    }
    if (Buffer->State == SmbdBufferHiding)
        Buffer->State = SmbdBufferIdle;
    else
        SmbdMoveEnded(Buffer);
    SmbdSignal(&Connection->RdmaEvent);
}

static NTSTATUS InitializeRegion(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    NTSTATUS Status = SmbdCreateRegion(Connection, Buffer, TRUE);
    SMBD_CALL Call;

    if (!NT_SUCCESS(Status))
        return Status;
    SmbdBeginCall(&Call);
    Status = SmbdEndCall(
        &Call, Buffer->Region->Dispatch->NdkInitializeFastRegisterMr(Buffer->Region,
                   Buffer->Memory.Lam->AdapterPageCount, TRUE, SmbdRequestEnded, &Call));
    if (!NT_SUCCESS(Status))
        return Status;
    Buffer->LocalToken = Buffer->Region->Dispatch->NdkGetLocalTokenFromMr(Buffer->Region);
    Buffer->RemoteToken = Buffer->Region->Dispatch->NdkGetRemoteTokenFromMr(Buffer->Region);
    return STATUS_SUCCESS;
}

static VOID FreeBuffer(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    if (Buffer->Region)
        SmbdFreeRegion(Buffer);
    SmbdReleaseMemory(Connection->Adapter, &Buffer->Memory);
    ExFreePoolWithTag(Buffer, SMBD_TAG);
}

NTSTATUS SmbdCreateBuffer(SMBD_CONNECTION *Connection, ULONG Length, SMBD_BUFFER **Created)
{
    const NDK_ADAPTER_INFO *Info = &Connection->Adapter->Info;
    KLOCK_QUEUE_HANDLE Handle;
    SMBD_BUFFER *Buffer;
    NTSTATUS Status;

    if (!Length || Length > Connection->Parameters.MaxReadWriteSize)
        return STATUS_INVALID_BUFFER_SIZE;
    if (Connection->BufferCount >= Connection->Parameters.Buffers)
        return STATUS_INSUFFICIENT_RESOURCES;
    Buffer = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*Buffer), SMBD_TAG);
    if (!Buffer)
        return STATUS_INSUFFICIENT_RESOURCES;
    Buffer->Registered.Done = RegisterDone;
    Buffer->Invalidated.Done = InvalidateDone;
    Buffer->Moved.Done = SmbdMoveDone;
    Status = SmbdAllocateMemory(Connection->Adapter, Length, &Buffer->Memory);
    if (NT_SUCCESS(Status))
        Status = Info->FRMRPageCount ? InitializeRegion(Connection, Buffer)
                                     : SmbdCreatePlainRegion(Connection, Buffer);
    if (!NT_SUCCESS(Status)) {
        FreeBuffer(Connection, Buffer);
        return Status;
    }
    Connection->BufferCount++;
    SmbdLock(Connection, &Handle);
    InsertTailList(&Connection->Buffers, &Buffer->Link);
    SmbdUnlock(&Handle);
    *Created = Buffer;
    return STATUS_SUCCESS;
}

VOID SmbdFreeBuffers(SMBD_CONNECTION *Connection)
{
    while (!IsListEmpty(&Connection->Buffers))
        FreeBuffer(
            Connection, CONTAINING_RECORD(RemoveHeadList(&Connection->Buffers), SMBD_BUFFER, Link));
}

PVOID SmbdBufferMemory(SMBD_BUFFER *Buffer)
{
    return Buffer->Memory.Memory;
}

/* Names the buffer by its local addresses: any that are congruent to its offset in the page would do. */
NTSTATUS SmbdRegister(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length, ULONG Rights)
{
    const SMBD_MEMORY *Memory = &Buffer->Memory;
    NDK_QP *Qp = Connection->Qp;
    NTSTATUS Status;

    Status = Qp->Dispatch->NdkFastRegister(Qp, &Buffer->Registered, Buffer->Region,
        ADDRESS_AND_SIZE_TO_SPAN_PAGES(Memory->Memory, Length), Memory->Lam->AdapterPageArray,
        Memory->Fbo, Length, Memory->Memory, Rights | NDK_OP_FLAG_SILENT_SUCCESS);
    if (!NT_SUCCESS(Status))
        SmbdWorkFailed(Connection, Status, "memory could not be registered");
    return Status;
}

NTSTATUS SmbdInvalidate(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Flags)
{
    NDK_QP *Qp = Connection->Qp;
    NTSTATUS Status;

    Status = Qp->Dispatch->NdkInvalidate(Qp, &Buffer->Invalidated, &Buffer->Region->Header, Flags);
    if (NT_SUCCESS(Status))
        Connection->Outstanding++;
    else
        SmbdWorkFailed(Connection, Status, "a registration could not be taken back");
    return Status;
}

NTSTATUS SmbdExpose(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length,
    BOOLEAN PeerWrites, SMBD_DESCRIPTOR *Descriptor)
{
    KLOCK_QUEUE_HANDLE Handle;
    BOOLEAN Refused = FALSE;
    NTSTATUS Status;

    if (!Connection->Adapter->Info.FRMRPageCount && !Buffer->ByCall)
        return STATUS_NOT_SUPPORTED;
    if (!Length || Length > Buffer->Memory.Length)
        return STATUS_INVALID_BUFFER_SIZE;
    if (Buffer->ByCall)
        return SmbdExposeByCall(Connection, Buffer, Length, PeerWrites, Descriptor);
    SmbdLock(Connection, &Handle);
    Status = Connection->Status;
    if (NT_SUCCESS(Status) && Buffer->State != SmbdBufferIdle)
        Status = STATUS_INVALID_DEVICE_STATE;
    if (NT_SUCCESS(Status)) {
        Status = SmbdRegister(Connection, Buffer, Length,
            PeerWrites ? NDK_OP_FLAG_ALLOW_REMOTE_WRITE : NDK_OP_FLAG_ALLOW_REMOTE_READ);
        Refused = !NT_SUCCESS(Status);
    }
    if (NT_SUCCESS(Status)) {
        Buffer->State = SmbdBufferExposed;
        Descriptor->Offset = (ULONG_PTR)Buffer->Memory.Memory;
        Descriptor->Token = Buffer->RemoteToken;
        Descriptor->Length = Length;
    }
    SmbdUnlock(&Handle);
    return Refused ? SmbdAwaitEnd(Connection) : Status;
}

VOID SmbdBufferTakenBackByPeer(SMBD_CONNECTION *Connection, UINT32 Token)
{
    for (LIST_ENTRY *Entry = Connection->Buffers.Flink; Entry != &Connection->Buffers;
         Entry = Entry->Flink) {
        SMBD_BUFFER *Buffer = CONTAINING_RECORD(Entry, SMBD_BUFFER, Link);

        if (Buffer->RemoteToken == Token && Buffer->State == SmbdBufferExposed)
            Buffer->State = SmbdBufferTakenBack;
    }
}

/* With the lock. Posts nothing if the peer has invalidated the region. */
static NTSTATUS StartToHide(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    NTSTATUS Status;

    if (Buffer->State == SmbdBufferTakenBack)
        Buffer->State = SmbdBufferIdle;
    if (Buffer->State != SmbdBufferExposed)
        return STATUS_SUCCESS;
    if (!NT_SUCCESS(Connection->Status))
        return Connection->Status;
    Status = SmbdInvalidate(Connection, Buffer, 0);
    if (NT_SUCCESS(Status))
        Buffer->State = SmbdBufferHiding;
    return Status;
}

NTSTATUS SmbdHide(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    if (Buffer->ByCall)
        return SmbdHideByCall(Connection, Buffer);
    SmbdLock(Connection, &Handle);
    Status = StartToHide(Connection, Buffer);
    SmbdUnlock(&Handle);
    if (!NT_SUCCESS(Status))
        return SmbdAwaitEnd(Connection);
    return SmbdAwaitBuffer(Connection, Buffer, SmbdBufferHiding);
}
