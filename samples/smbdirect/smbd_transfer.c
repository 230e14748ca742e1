/* SPDX-License-Identifier: MIT */
/*
 * smbd_transfer.c - messages of any length over messages of the wire: fragments, reassembly, credits that ride on them,
 * signs of life.
 *
 * Source: [MS-SMBD] 3.1.4.2 (sending), 3.1.5.8 (receiving).
 */
#include "smbd_private.h"

/* ----- Message buffers ----- */

NTSTATUS SmbdCreatePool(
    SMBD_ADAPTER *Adapter, ULONG Count, ULONG Length, SMBD_WORK_DONE *Done, SMBD_POOL *Pool)
{
    ULONG Stride = (Length + 63) & ~(ULONG)63, Covered;
    NTSTATUS Status;

    Status = SmbdAllocateMemory(Adapter, Count * Stride, &Pool->Memory);
    if (!NT_SUCCESS(Status))
        return Status;
    Pool->Buffers = ExAllocatePool2(POOL_FLAG_NON_PAGED, Count * sizeof(*Pool->Buffers), SMBD_TAG);
    if (!Pool->Buffers) {
        SmbdReleaseMemory(Adapter, &Pool->Memory);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    for (ULONG i = 0; i < Count; i++) {
        SMBD_MESSAGE_BUFFER *Buffer = &Pool->Buffers[i];

        Buffer->Work.Done = Done;
        Buffer->Data = (UCHAR *)Pool->Memory.Memory + i * Stride;
        Buffer->Length = Length;
        Buffer->SglCount = SmbdBuildSgl(
            Adapter, &Pool->Memory, i * Stride, Length, Buffer->Sgl, SMBD_MAX_SGE, &Covered);
        PushEntryList(&Pool->Free, &Buffer->Link);
    }
    Pool->Count = Pool->FreeCount = Count;
    return STATUS_SUCCESS;
}

VOID SmbdDeletePool(SMBD_ADAPTER *Adapter, SMBD_POOL *Pool)
{
    if (Pool->Buffers)
        ExFreePoolWithTag(Pool->Buffers, SMBD_TAG);
    SmbdReleaseMemory(Adapter, &Pool->Memory);
}

static SMBD_MESSAGE_BUFFER *Take(SMBD_POOL *Pool)
{
    SINGLE_LIST_ENTRY *Entry = PopEntryList(&Pool->Free);

    if (!Entry)
        return NULL;
    Pool->FreeCount--;
    return CONTAINING_RECORD(Entry, SMBD_MESSAGE_BUFFER, Link);
}

static VOID Give(SMBD_POOL *Pool, SMBD_MESSAGE_BUFFER *Buffer)
{
    PushEntryList(&Pool->Free, &Buffer->Link);
    Pool->FreeCount++;
}

/* ----- Sending ----- */

VOID SmbdSendDone(SMBD_CONNECTION *Connection, SMBD_WORK *Work, const NDK_RESULT_EX *Result)
{
    Connection->Outstanding--;
    Give(&Connection->Sends, CONTAINING_RECORD(Work, SMBD_MESSAGE_BUFFER, Work));
    if (!NT_SUCCESS(Result->Status))
        SmbdWorkFailed(Connection, Result->Status, "a message could not be sent");
    SmbdSignal(&Connection->SendEvent);
}

/* With the lock. Sends the first Length bytes of a buffer; after a failure the buffer is free again. */
static NTSTATUS Post(SMBD_CONNECTION *Connection, SMBD_MESSAGE_BUFFER *Buffer, ULONG Length,
    const UINT32 *Invalidate)
{
    NDK_SGE Sgl[SMBD_MAX_SGE];
    NDK_QP *Qp = Connection->Qp;
    ULONG Count = 0;
    NTSTATUS Status;

    for (ULONG Rest = Length; Rest; Rest -= Sgl[Count++].Length) {
        Sgl[Count] = Buffer->Sgl[Count];
        if (Sgl[Count].Length > Rest)
            Sgl[Count].Length = Rest;
    }
    if (Invalidate)
        Status = Qp->Dispatch->NdkSendAndInvalidate(Qp, &Buffer->Work, Sgl, Count, 0, *Invalidate);
    else
        Status = Qp->Dispatch->NdkSend(Qp, &Buffer->Work, Sgl, Count, 0);
    if (NT_SUCCESS(Status)) {
        Connection->Outstanding++;
        return STATUS_SUCCESS;
    }
    Give(&Connection->Sends, Buffer);
    SmbdWorkFailed(Connection, Status, "a message could not be sent");
    return Status;
}

NTSTATUS SmbdSendPlain(SMBD_CONNECTION *Connection, const VOID *Data, ULONG Length)
{
    SMBD_MESSAGE_BUFFER *Buffer;
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    SmbdLock(Connection, &Handle);
    Status = Connection->Status;
    if (NT_SUCCESS(Status)) {
        Buffer = Take(&Connection->Sends); /* this end has sent nothing before, so one is free */
        RtlCopyMemory(Buffer->Data, Data, Length);
        Status = Post(Connection, Buffer, Length, NULL);
    }
    SmbdUnlock(&Handle);
    return Status;
}

/* With the lock, when a message may be sent and a buffer is free: takes the buffer, and fills in its header. */
static SMBD_MESSAGE_BUFFER *Prepare(SMBD_CONNECTION *Connection, USHORT Flags)
{
    SMBD_MESSAGE_BUFFER *Buffer = Take(&Connection->Sends);
    SMBD_DATA_TRANSFER *Header = (SMBD_DATA_TRANSFER *)Buffer->Data;

    RtlZeroMemory(Header, SMBD_DATA_OFFSET);
    Header->CreditsRequested = Connection->Parameters.Credits;
    Header->CreditsGranted = SmbdCreditsSent(&Connection->Credits);
    Header->Flags = Flags;
    Connection->ResponseDue = FALSE;
    return Buffer;
}

static BOOLEAN CanSend(const SMBD_CONNECTION *Connection)
{
    return SmbdCreditsMaySend(&Connection->Credits) && Connection->Sends.FreeCount;
}

/* With the lock; sends only if that is possible now. */
static VOID SendEmpty(SMBD_CONNECTION *Connection, USHORT Flags)
{
    if (CanSend(Connection))
        Post(Connection, Prepare(Connection, Flags), sizeof(SMBD_DATA_TRANSFER), NULL);
}

VOID SmbdSendDue(SMBD_CONNECTION *Connection)
{
    if (Connection->ResponseDue || SmbdCreditsGrantDue(&Connection->Credits))
        SendEmpty(Connection, 0);
}

/* Returns with the lock where a message may be sent and a buffer is free; else without it. */
static NTSTATUS AwaitTurn(SMBD_CONNECTION *Connection, PKLOCK_QUEUE_HANDLE Handle)
{
    NTSTATUS Status;
    BOOLEAN Credit;

    for (;;) {
        SmbdLock(Connection, Handle);
        Status = Connection->Status;
        Credit = SmbdCreditsMaySend(&Connection->Credits);
        if (NT_SUCCESS(Status) && Credit && Connection->Sends.FreeCount)
            return STATUS_SUCCESS;
        SmbdUnlock(Handle);
        if (!NT_SUCCESS(Status))
            return Status;
        if (Credit)
            SmbdAwaitPeer(Connection, &Connection->SendEvent);
        else if (!SmbdWait(&Connection->SendEvent, Connection->Parameters.CreditMs))
            SmbdFail(Connection, STATUS_IO_TIMEOUT, "the peer grants no credits");
    }
}

/* Copies bytes from Offset on of Head followed by Data. */
static VOID CopyPart(
    UCHAR *To, ULONG Offset, ULONG Length, const VOID *Head, ULONG HeadLength, const VOID *Data)
{
    if (Offset < HeadLength) {
        ULONG Piece = HeadLength - Offset < Length ? HeadLength - Offset : Length;

        RtlCopyMemory(To, (const UCHAR *)Head + Offset, Piece);
        To += Piece;
        Offset += Piece;
        Length -= Piece;
    }
    if (Length)
        RtlCopyMemory(To, (const UCHAR *)Data + (Offset - HeadLength), Length);
}

NTSTATUS SmbdSend(SMBD_CONNECTION *Connection, const VOID *Head, ULONG HeadLength, const VOID *Data,
    ULONG DataLength, const UINT32 *Invalidate)
{
    ULONG Fragment = Connection->Parameters.MaxSendSize - SMBD_DATA_OFFSET;
    ULONG64 Length = (ULONG64)HeadLength + DataLength;
    KLOCK_QUEUE_HANDLE Handle;

    if (!Length || Length > Connection->LongestSend)
        return STATUS_INVALID_BUFFER_SIZE;
    for (ULONG Sent = 0, Piece; Sent < Length; Sent += Piece) {
        SMBD_MESSAGE_BUFFER *Buffer;
        SMBD_DATA_TRANSFER *Header;
        NTSTATUS Status = AwaitTurn(Connection, &Handle);

        if (!NT_SUCCESS(Status))
            return Status;
        Piece = Length - Sent < Fragment ? (ULONG)Length - Sent : Fragment;
        Buffer = Prepare(Connection, 0);
        Header = (SMBD_DATA_TRANSFER *)Buffer->Data;
        Header->DataOffset = SMBD_DATA_OFFSET;
        Header->DataLength = Piece;
        Header->RemainingDataLength = (ULONG)Length - Sent - Piece;
        CopyPart(Buffer->Data + SMBD_DATA_OFFSET, Sent, Piece, Head, HeadLength, Data);
        Status = Post(Connection, Buffer, SMBD_DATA_OFFSET + Piece,
            Header->RemainingDataLength ? NULL : Invalidate);
        SmbdUnlock(&Handle);
        if (!NT_SUCCESS(Status))
            return SmbdAwaitEnd(Connection);
    }
    return STATUS_SUCCESS;
}

/* ----- Receiving ----- */

/* Whether so many bytes wait for the owner that the peer gets no more credits. */
static BOOLEAN IsFull(const SMBD_CONNECTION *Connection)
{
    return Connection->MessageBytes > 2 * (ULONG64)Connection->Parameters.MaxFragmentedSize;
}

VOID SmbdPostReceives(SMBD_CONNECTION *Connection)
{
    NDK_QP *Qp = Connection->Qp;

    while (Connection->Credits.Posted < Connection->Credits.Target && !IsFull(Connection)) {
        SMBD_MESSAGE_BUFFER *Buffer = Take(&Connection->Receives);
        NTSTATUS Status;

        if (!Buffer)
            return;
        Status = Qp->Dispatch->NdkReceive(Qp, &Buffer->Work, Buffer->Sgl, Buffer->SglCount);
        if (!NT_SUCCESS(Status)) {
            Give(&Connection->Receives, Buffer);
            SmbdWorkFailed(Connection, Status, "a Receive was refused");
            return;
        }
        Connection->Outstanding++;
        Connection->Credits.Posted++;
    }
}

static VOID Violated(SMBD_CONNECTION *Connection, const char *Reason)
{
    SmbdBreak(Connection, STATUS_INVALID_DEVICE_REQUEST, Reason);
}

/* Takes a fragment of Length bytes, which Remaining bytes follow. */
static VOID Reassemble(
    SMBD_CONNECTION *Connection, const UCHAR *Data, ULONG Length, ULONG Remaining)
{
    ULONG64 Whole = (ULONG64)Length + Remaining;
    SMBD_MESSAGE *Message = Connection->Partial;

    if (!Message) {
        if (Whole > Connection->Parameters.MaxFragmentedSize) {
            Violated(Connection, "the peer sends a longer message than was agreed");
            return;
        }
        Message = ExAllocatePool2(POOL_FLAG_NON_PAGED | POOL_FLAG_UNINITIALIZED,
            sizeof(*Message) + (SIZE_T)Whole, SMBD_TAG);
        if (!Message) {
            SmbdBreak(
                Connection, STATUS_INSUFFICIENT_RESOURCES, "no memory for the peer's message");
            return;
        }
        Message->Length = (ULONG)Whole;
        Connection->Partial = Message;
        Connection->PartialLength = 0;
    } else if (Whole != Message->Length - Connection->PartialLength) {
        Violated(Connection, "the peer sends a fragment that does not continue its message");
        return;
    }
    RtlCopyMemory(Message->Data + Connection->PartialLength, Data, Length);
    Connection->PartialLength += Length;
    if (Remaining)
        return;
    Connection->Partial = NULL;
    Connection->MessageBytes += sizeof(*Message) + Message->Length;
    InsertTailList(&Connection->Messages, &Message->Link);
    SmbdSignal(&Connection->MessageEvent);
}

static VOID Transferred(SMBD_CONNECTION *Connection, const UCHAR *Data, ULONG Length)
{
    SMBD_DATA_TRANSFER Header;

    if (Length < sizeof(Header)) {
        Violated(Connection, "the peer sends a message that is shorter than a header");
        return;
    }
    RtlCopyMemory(&Header, Data, sizeof(Header));
    if (!SmbdCreditsReceived(&Connection->Credits, Header.CreditsGranted)) {
        Violated(Connection, "the peer sends without a credit");
        return;
    }
    if (!Header.CreditsRequested) {
        Violated(Connection, "the peer asks for no credits");
        return;
    }
    SmbdCreditsAsked(&Connection->Credits, Header.CreditsRequested);
    if (Header.CreditsGranted)
        SmbdSignal(&Connection->SendEvent);
    if (Header.Flags & SMBD_FLAG_RESPONSE_REQUESTED)
        Connection->ResponseDue = TRUE;
    if (!Header.DataLength && !Header.RemainingDataLength)
        return;
    if (!Header.DataLength || Header.DataOffset % 8 || Header.DataOffset < sizeof(Header) ||
        Header.DataOffset > Length || Header.DataLength > Length - Header.DataOffset) {
        Violated(Connection, "the peer sends a message whose data lies outside of it");
        return;
    }
    Reassemble(Connection, Data + Header.DataOffset, Header.DataLength, Header.RemainingDataLength);
}

/* The peer's only message before the negotiation has ended. */
static VOID FirstReceived(SMBD_CONNECTION *Connection, const UCHAR *Data, ULONG Length)
{
    Connection->Credits.Posted--;
    if (Connection->FirstReceived) {
        Violated(Connection, "the peer sends before the negotiation has ended");
        return;
    }
    Connection->FirstReceived = TRUE;
    Connection->NegotiationLength = Length;
    RtlCopyMemory(Connection->Negotiation, Data,
        Length < sizeof(Connection->Negotiation) ? Length : sizeof(Connection->Negotiation));
    SmbdSignal(&Connection->MessageEvent);
}

static VOID Heard(SMBD_CONNECTION *Connection)
{
    Connection->Heard = TRUE;
    if (Connection->AnswerEvent)
        SmbdSignal(Connection->AnswerEvent);
    Connection->AnswerEvent = NULL;
}

VOID SmbdReceiveDone(SMBD_CONNECTION *Connection, SMBD_WORK *Work, const NDK_RESULT_EX *Result)
{
    SMBD_MESSAGE_BUFFER *Buffer = CONTAINING_RECORD(Work, SMBD_MESSAGE_BUFFER, Work);

    Connection->Outstanding--;
    if (Result->Status == STATUS_CANCELLED) {
        SmbdFlushed(Connection);
    } else if (!NT_SUCCESS(Result->Status)) {
        SmbdBreak(Connection, Result->Status, "a message could not be received");
    } else if (NT_SUCCESS(Connection->Status)) {
        Heard(Connection);
        if (Result->Type == NdkOperationTypeReceiveAndInvalidate)
            SmbdBufferTakenBackByPeer(Connection, (UINT32)Result->TypeSpecificCompletionOutput);
        if (Connection->Negotiated)
            Transferred(Connection, Buffer->Data, Result->BytesTransferred);
        else
            FirstReceived(Connection, Buffer->Data, Result->BytesTransferred);
    }
    Give(&Connection->Receives, Buffer);
}

NTSTATUS SmbdReceive(SMBD_CONNECTION *Connection, BOOLEAN Wait, SMBD_MESSAGE **Received)
{
    SMBD_MESSAGE *Message = NULL;
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    for (;;) {
        SmbdLock(Connection, &Handle);
        Status = Connection->Status;
        if (!IsListEmpty(&Connection->Messages)) {
            Message = CONTAINING_RECORD(RemoveHeadList(&Connection->Messages), SMBD_MESSAGE, Link);
            Connection->MessageBytes -= sizeof(*Message) + Message->Length;
            if (NT_SUCCESS(Status)) {
                SmbdPostReceives(Connection);
                SmbdSendDue(Connection);
            }
        }
        SmbdUnlock(&Handle);
        if (Message) {
            *Received = Message;
            return STATUS_SUCCESS;
        }
        if (!NT_SUCCESS(Status))
            return Status;
        if (!Wait)
            return STATUS_TIMEOUT;
        SmbdAwaitPeer(Connection, &Connection->MessageEvent);
    }
}

VOID SmbdFreeMessage(SMBD_MESSAGE *Message)
{
    ExFreePoolWithTag(Message, SMBD_TAG);
}

VOID SmbdFreeMessages(SMBD_CONNECTION *Connection)
{
    if (Connection->Partial)
        SmbdFreeMessage(Connection->Partial);
    while (!IsListEmpty(&Connection->Messages))
        SmbdFreeMessage(
            CONTAINING_RECORD(RemoveHeadList(&Connection->Messages), SMBD_MESSAGE, Link));
}

/* ----- Waiting for the peer ----- */

BOOLEAN SmbdWait(PKEVENT Event, ULONG Milliseconds)
{
    LARGE_INTEGER Timeout;

    Timeout.QuadPart = -(LONGLONG)Milliseconds * 10000;
    return KeWaitForSingleObject(Event, Executive, KernelMode, FALSE, &Timeout) == STATUS_SUCCESS;
}

/*
 * Whether the peer gave a sign of life since the last call. If not, asks for one, whose arrival sets Event; with Event
 * NULL it does not ask.
 */
static BOOLEAN HeardOrAsked(SMBD_CONNECTION *Connection, PKEVENT Event)
{
    KLOCK_QUEUE_HANDLE Handle;
    BOOLEAN Heard;

    SmbdLock(Connection, &Handle);
    Heard = Connection->Heard;
    Connection->Heard = FALSE;
    Connection->AnswerEvent = Heard ? NULL : Event;
    if (Connection->AnswerEvent && NT_SUCCESS(Connection->Status))
        SendEmpty(Connection, SMBD_FLAG_RESPONSE_REQUESTED);
    SmbdUnlock(&Handle);
    return Heard;
}

VOID SmbdAwaitPeer(SMBD_CONNECTION *Connection, PKEVENT Event)
{
    if (SmbdWait(Event, Connection->Parameters.KeepAliveMs) || HeardOrAsked(Connection, Event))
        return;
    if (SmbdWait(Event, Connection->Parameters.ResponseMs) || HeardOrAsked(Connection, NULL))
        return;
    SmbdFail(Connection, STATUS_IO_TIMEOUT, "the peer gives no sign of life");
}
