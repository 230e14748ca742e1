/* SPDX-License-Identifier: MIT */
/* transfer.c - messages and their credits, results of the queue pair, and what slots do at PASSIVE_LEVEL. */
#include "ndkdriver.h"

enum { RESULTS = 8 };

static VOID Describe(const SOCKET *Socket, PVOID Address, ULONG Length, NDK_SGE *Sge)
{
    Sge->VirtualAddress = Address;
    Sge->Length = Length;
    Sge->MemoryRegionToken =
        Socket->MessagesMr->Dispatch->NdkGetLocalTokenFromMr(Socket->MessagesMr);
}

NTSTATUS PostReceive(SLOT *Slot)
{
    NDK_SGE Sge;

    Describe(Slot->Socket, Slot->In, sizeof(*Slot->In), &Sge);
    return Slot->Socket->Qp->Dispatch->NdkReceive(Slot->Socket->Qp, &Slot->Received, &Sge, 1);
}

VOID Fail(SOCKET *Socket, NTSTATUS Status, const CHAR *What)
{
    if (!Socket->Closing)
        DbgPrint("ndkdriver: %s: status 0x%08lx\n", What, (ULONG)Status);
    BeginClose(Socket);
}

/* ----- Sending ----- */

/*
 * A client's message has its buffer registered in front of it. DEFER: the adapter may leave the registration until the
 * message comes.
 */
static NTSTATUS PostClient(SLOT *Slot)
{
    NDK_QP *Qp = Slot->Socket->Qp;
    ULONG Access =
        Slot->Out->Kind == PULL ? NDK_OP_FLAG_ALLOW_REMOTE_READ : NDK_OP_FLAG_ALLOW_REMOTE_WRITE;
    NTSTATUS Status;
    NDK_SGE Sge;

    Status = Qp->Dispatch->NdkFastRegister(Qp, &Slot->Other, Slot->Mr, Slot->Lam->AdapterPageCount,
        Slot->Lam->AdapterPageArray, Slot->Fbo, DATA_LENGTH, Slot->Data,
        Access | NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER);
    if (!NT_SUCCESS(Status))
        return Status;
    Describe(Slot->Socket, Slot->Out, sizeof(*Slot->Out), &Sge);
    return Qp->Dispatch->NdkSend(Qp, &Slot->Sent, &Sge, 1, 0);
}

/*
 * A server's takes the registration back. The slot's Receive is posted with it, so that Receives are in the order of
 * answers: the request that one takes comes when the answer of its slot has gone.
 */
static NTSTATUS PostServer(SLOT *Slot)
{
    NDK_QP *Qp = Slot->Socket->Qp;
    NTSTATUS Status = PostReceive(Slot);
    NDK_SGE Sge;

    if (!NT_SUCCESS(Status))
        return Status;
    Describe(Slot->Socket, Slot->Out, sizeof(*Slot->Out), &Sge);
    return Qp->Dispatch->NdkSendAndInvalidate(Qp, &Slot->Sent, &Sge, 1, 0, Slot->Request.Token);
}

/* With the lock: calls that post to one queue must not overlap. */
static VOID PostDue(SOCKET *Socket)
{
    while (Socket->Credits > 0 && !IsListEmpty(&Socket->Waiting)) {
        SLOT *Slot = CONTAINING_RECORD(RemoveHeadList(&Socket->Waiting), SLOT, Waiting);
        NTSTATUS Status = Driver.Rounds ? PostClient(Slot) : PostServer(Slot);

        if (!NT_SUCCESS(Status))
            Fail(Socket, Status, "a message cannot be sent");
        Socket->Credits--;
    }
}

VOID AddCredits(SOCKET *Socket, LONG Credits)
{
    KLOCK_QUEUE_HANDLE Handle;

    KeAcquireInStackQueuedSpinLock(&Socket->Lock, &Handle);
    Socket->Credits += Credits;
    PostDue(Socket);
    KeReleaseInStackQueuedSpinLock(&Handle);
}

VOID SendMessage(SLOT *Slot)
{
    SOCKET *Socket = Slot->Socket;
    KLOCK_QUEUE_HANDLE Handle;

    KeAcquireInStackQueuedSpinLock(&Socket->Lock, &Handle);
    InsertTailList(&Socket->Waiting, &Slot->Waiting);
    PostDue(Socket);
    KeReleaseInStackQueuedSpinLock(&Handle);
}

/* ----- Results ----- */

/* All results are taken by this callback, which the adapter calls once for each NdkArmCq. */
VOID Notified(PVOID Context, NTSTATUS CqStatus)
{
    SOCKET *Socket = Context;
    NDK_RESULT_EX Results[RESULTS];
    ULONG Count;

    if (!ExAcquireRundownProtection(&Socket->Users))
        return;
    if (!NT_SUCCESS(CqStatus))
        Fail(Socket, CqStatus, "the completion queue failed");
    do {
        Count = Socket->Cq->Dispatch->NdkGetCqResultsEx(Socket->Cq, Results, RESULTS);
        for (ULONG i = 0; i < Count; i++) {
            REQUEST *Request = Results[i].RequestContext;

            if (!NT_SUCCESS(Results[i].Status))
                Fail(Socket, Results[i].Status, "a request failed");
            else if (Request->Done)
                Request->Done(Request->Slot, &Results[i]);
        }
    } while (Count);
    if (NT_SUCCESS(CqStatus))
        Socket->Cq->Dispatch->NdkArmCq(Socket->Cq, NDK_CQ_NOTIFY_ANY);
    ExReleaseRundownProtection(&Socket->Users);
}

VOID Defer(SLOT *Slot, PIO_WORKITEM_ROUTINE_EX Routine)
{
    if (ExAcquireRundownProtection(&Slot->Socket->Users)) /* the routine gives it back */
        IoQueueWorkItemEx(Slot->Item, Routine, DelayedWorkQueue, Slot);
}

/* ----- Data ----- */

ULONG Checksum(const UCHAR *Data, ULONG Length)
{
    ULONG Sum = 1, Sums = 0;

    for (ULONG i = 0; i < Length; i++) {
        Sum = (Sum + Data[i]) % 65521;
        Sums = (Sums + Sum) % 65521;
    }
    return Sums << 16 | Sum;
}

VOID Fill(UCHAR *Data, ULONG Length, ULONG Round)
{
    for (ULONG i = 0; i < Length; i++)
        Data[i] = (UCHAR)(i * 7 + (i >> 8) + Round * 31);
}
