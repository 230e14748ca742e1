/* SPDX-License-Identifier: MIT */
/*
 * smbd_region.c - regions of adapters without fast registration. A sink of Reads is registered for good; what the peer
 * may use is registered by a call when it is exposed, and by another one no longer.
 */
#include "smbd_private.h"

NTSTATUS SmbdCreateRegion(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, BOOLEAN Fast)
{
    NDK_PD *Pd = Connection->Adapter->Pd;
    SMBD_CALL Call;

    SmbdBeginCall(&Call);
    return SmbdEndCreation(&Call,
        Pd->Dispatch->NdkCreateMr(Pd, Fast, SmbdCreated, &Call, &Buffer->Region),
        (PVOID *)&Buffer->Region);
}

static NTSTATUS Register(SMBD_BUFFER *Buffer, ULONG Length, ULONG Flags)
{
    SMBD_CALL Call;

    SmbdBeginCall(&Call);
    return SmbdEndCall(&Call, Buffer->Region->Dispatch->NdkRegisterMr(Buffer->Region,
                                  Buffer->Memory.Mdl, Length, Flags, SmbdRequestEnded, &Call));
}

static NTSTATUS Deregister(SMBD_BUFFER *Buffer)
{
    SMBD_CALL Call;

    SmbdBeginCall(&Call);
    return SmbdEndCall(
        &Call, Buffer->Region->Dispatch->NdkDeregisterMr(Buffer->Region, SmbdRequestEnded, &Call));
}

/* The sink of Reads, if the adapter wants one. */
static NTSTATUS RegisterSink(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    NTSTATUS Status = STATUS_SUCCESS;

    if (Connection->Adapter->Info.AdapterFlags & NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED)
        return STATUS_SUCCESS;
    Status = SmbdCreateRegion(Connection, Buffer, FALSE);
    if (NT_SUCCESS(Status))
        Status = Register(Buffer, Buffer->Memory.Length,
            NDK_MR_FLAG_ALLOW_LOCAL_WRITE | NDK_MR_FLAG_RDMA_READ_SINK);
    if (!NT_SUCCESS(Status))
        return Status;
    Buffer->LocalToken = Buffer->Region->Dispatch->NdkGetLocalTokenFromMr(Buffer->Region);
    Buffer->Sink = TRUE;
    return STATUS_SUCCESS;
}

NTSTATUS SmbdCreatePlainRegion(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    if (Connection->Passive)
        return RegisterSink(Connection, Buffer);
    Buffer->ByCall = TRUE;
    return SmbdCreateRegion(Connection, Buffer, FALSE);
}

VOID SmbdFreeRegion(SMBD_BUFFER *Buffer)
{
    if (Buffer->Sink || Buffer->Open)
        Deregister(Buffer);
    SmbdCloseObject(&Buffer->Region->Header, Buffer->Region->Dispatch->NdkCloseMr);
}

/* The status of the connection, or STATUS_INVALID_DEVICE_STATE. */
static NTSTATUS BecomeExposed(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    SmbdLock(Connection, &Handle);
    Status = Connection->Status;
    if (NT_SUCCESS(Status) && Buffer->State != SmbdBufferIdle)
        Status = STATUS_INVALID_DEVICE_STATE;
    if (NT_SUCCESS(Status))
        Buffer->State = SmbdBufferExposed;
    SmbdUnlock(&Handle);
    return Status;
}

NTSTATUS SmbdExposeByCall(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length,
    BOOLEAN PeerWrites, SMBD_DESCRIPTOR *Descriptor)
{
    ULONG Flags = PeerWrites ? NDK_MR_FLAG_ALLOW_REMOTE_WRITE | NDK_MR_FLAG_ALLOW_LOCAL_WRITE
                             : NDK_MR_FLAG_ALLOW_REMOTE_READ;
    NTSTATUS Status = BecomeExposed(Connection, Buffer);

    if (!NT_SUCCESS(Status))
        return Status;
    Status = Register(Buffer, Length, Flags);
    if (!NT_SUCCESS(Status))
        return SmbdFail(Connection, Status, "memory could not be registered");
    Buffer->Open = TRUE;
    Descriptor->Offset = (ULONG_PTR)Buffer->Memory.Memory;
    Descriptor->Token = Buffer->Region->Dispatch->NdkGetRemoteTokenFromMr(Buffer->Region);
    Descriptor->Length = Length;
    return STATUS_SUCCESS;
}

/* Whatever the connection's status is: the memory is this side's alone behind it. */
NTSTATUS SmbdHideByCall(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    if (!Buffer->Open)
        return STATUS_SUCCESS;
    Status = Deregister(Buffer);
    if (!NT_SUCCESS(Status))
        return SmbdFail(Connection, Status, "a registration could not be taken back");
    Buffer->Open = FALSE;
    SmbdLock(Connection, &Handle);
    Buffer->State = SmbdBufferIdle;
    SmbdUnlock(&Handle);
    return STATUS_SUCCESS;
}
