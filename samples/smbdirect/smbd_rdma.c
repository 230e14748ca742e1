/* SPDX-License-Identifier: MIT */
/*
 * smbd_rdma.c - RDMA between a buffer and memory that the peer described.
 *
 * Writes take their data from mapped memory by the privileged token. Reads put it there the same way if the adapter
 * allows it. If Reads need a registered target (iWARP), the buffer's region is registered while they run.
 */
#include "smbd_private.h"

VOID SmbdMoveEnded(SMBD_BUFFER *Buffer)
{
    if (--Buffer->Moving == 0)
        Buffer->State = SmbdBufferIdle;
}

VOID SmbdMoveDone(SMBD_CONNECTION *Connection, SMBD_WORK *Work, const NDK_RESULT_EX *Result)
{
    SMBD_BUFFER *Buffer = CONTAINING_RECORD(Work, SMBD_BUFFER, Moved);

    Connection->Outstanding--;
    if (!NT_SUCCESS(Result->Status)) {
        SmbdWorkFailed(Connection, Result->Status, "an RDMA request failed");
        return;
    }
    Connection->Heard = TRUE;
    SmbdMoveEnded(Buffer);
    SmbdSignal(&Connection->RdmaEvent);
}

NTSTATUS SmbdAwaitBuffer(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, SMBD_BUFFER_STATE State)
{
    KLOCK_QUEUE_HANDLE Handle;
    SMBD_BUFFER_STATE Now;
    NTSTATUS Status;

    for (;;) {
        SmbdLock(Connection, &Handle);
        Status = Connection->Status;
        Now = Buffer->State;
        SmbdUnlock(&Handle);
        if (Now != State)
            return STATUS_SUCCESS;
        if (!NT_SUCCESS(Status))
            return Status;
        SmbdAwaitPeer(Connection, &Connection->RdmaEvent);
    }
}

static NTSTATUS Begin(
    SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length, const SMBD_DESCRIPTOR *There)
{
    if (!Length || Length > Buffer->Memory.Length || Length > There->Length)
        return STATUS_INVALID_BUFFER_SIZE;
    if (!NT_SUCCESS(Connection->Status))
        return Connection->Status;
    return Buffer->State == SmbdBufferIdle ? STATUS_SUCCESS : STATUS_INVALID_DEVICE_STATE;
}

static VOID Posted(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    Connection->Outstanding++;
    Buffer->Moving++;
    Buffer->State = SmbdBufferMoving;
}

/* Posts requests of as many entries as the adapter takes, until they cover all bytes. */
static NTSTATUS MoveMapped(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length,
    const SMBD_DESCRIPTOR *There, BOOLEAN Read)
{
    const NDK_ADAPTER_INFO *Info = &Connection->Adapter->Info;
    ULONG Most = Read ? Info->MaxReadRequestSge : Info->MaxInitiatorRequestSge;
    NDK_QP *Qp = Connection->Qp;
    NDK_SGE Sgl[SMBD_RDMA_SGE];
    NTSTATUS Status = STATUS_SUCCESS;

    if (Most > SMBD_RDMA_SGE)
        Most = SMBD_RDMA_SGE;
    for (ULONG Done = 0, Piece; Done < Length && NT_SUCCESS(Status); Done += Piece) {
        ULONG Rest = Length - Done, Count;

        if (Rest > Info->MaxTransferLength)
            Rest = Info->MaxTransferLength;
        if (Buffer->Moving == SMBD_MOVES)
            return STATUS_INSUFFICIENT_RESOURCES;
        Count = SmbdBuildSgl(Connection->Adapter, &Buffer->Memory, Done, Rest, Sgl, Most, &Piece);
        if (Read)
            Status = Qp->Dispatch->NdkRead(
                Qp, &Buffer->Moved, Sgl, Count, There->Offset + Done, There->Token, 0);
        else
            Status = Qp->Dispatch->NdkWrite(
                Qp, &Buffer->Moved, Sgl, Count, There->Offset + Done, There->Token, 0);
        if (NT_SUCCESS(Status))
            Posted(Connection, Buffer);
    }
    return Status;
}

NTSTATUS SmbdStartWrite(
    SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length, const SMBD_DESCRIPTOR *There)
{
    KLOCK_QUEUE_HANDLE Handle;
    BOOLEAN Refused = FALSE;
    NTSTATUS Status;

    SmbdLock(Connection, &Handle);
    Status = Begin(Connection, Buffer, Length, There);
    if (NT_SUCCESS(Status)) {
        Status = MoveMapped(Connection, Buffer, Length, There, FALSE);
        Refused = !NT_SUCCESS(Status);
        if (Refused)
            SmbdWorkFailed(Connection, Status, "an RDMA Write was refused");
    }
    SmbdUnlock(&Handle);
    return Refused ? SmbdAwaitEnd(Connection) : Status;
}

/* Registers a region, reads into it, and invalidates it behind the Reads; or reads into one that is registered. */
static NTSTATUS ReadIntoSink(
    SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length, const SMBD_DESCRIPTOR *There)
{
    ULONG Largest = Connection->Adapter->Info.MaxTransferLength;
    NDK_QP *Qp = Connection->Qp;
    NTSTATUS Status = STATUS_SUCCESS;

    if (!Buffer->Sink)
        Status = SmbdRegister(
            Connection, Buffer, Length, NDK_OP_FLAG_ALLOW_LOCAL_WRITE | NDK_OP_FLAG_RDMA_READ_SINK);
    for (ULONG Done = 0; Done < Length && NT_SUCCESS(Status);) {
        NDK_SGE Sge = { .Length = Length - Done, .MemoryRegionToken = Buffer->LocalToken };

        if (Sge.Length > Largest)
            Sge.Length = Largest;
        if (Buffer->Moving == SMBD_MOVES)
            return STATUS_INSUFFICIENT_RESOURCES;
        Sge.VirtualAddress = (UCHAR *)Buffer->Memory.Memory + Done;
        Status = Qp->Dispatch->NdkRead(
            Qp, &Buffer->Moved, &Sge, 1, There->Offset + Done, There->Token, 0);
        if (NT_SUCCESS(Status))
            Posted(Connection, Buffer);
        Done += Sge.Length;
    }
    if (!NT_SUCCESS(Status) || Buffer->Sink)
        return Status;
    Status = SmbdInvalidate(Connection, Buffer, NDK_OP_FLAG_READ_FENCE);
    if (NT_SUCCESS(Status))
        Buffer->Moving++;
    return Status;
}

NTSTATUS SmbdStartRead(
    SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer, ULONG Length, const SMBD_DESCRIPTOR *There)
{
    ULONG Flags = Connection->Adapter->Info.AdapterFlags;
    KLOCK_QUEUE_HANDLE Handle;
    BOOLEAN Refused = FALSE;
    NTSTATUS Status;

    if (Buffer->ByCall && !(Flags & NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED))
        return STATUS_NOT_SUPPORTED;
    SmbdLock(Connection, &Handle);
    Status = Begin(Connection, Buffer, Length, There);
    if (NT_SUCCESS(Status)) {
        if (Flags & NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED)
            Status = MoveMapped(Connection, Buffer, Length, There, TRUE);
        else
            Status = ReadIntoSink(Connection, Buffer, Length, There);
        Refused = !NT_SUCCESS(Status);
        if (Refused)
            SmbdWorkFailed(Connection, Status, "an RDMA Read was refused");
    }
    SmbdUnlock(&Handle);
    return Refused ? SmbdAwaitEnd(Connection) : Status;
}

NTSTATUS SmbdFinish(SMBD_CONNECTION *Connection, SMBD_BUFFER *Buffer)
{
    return SmbdAwaitBuffer(Connection, Buffer, SmbdBufferMoving);
}
