/* SPDX-License-Identifier: MIT */
/*
 * smbd_queue.c - the completion queues of a connection. Each is armed for any result; its callback takes all results
 * and arms it again, so only callbacks take results, and they never overlap for one queue.
 */
#include "smbd_private.h"

enum { RESULTS = 16 };

/* Results of version 1.1 do not name the type of their request; only invalidation by the peer needs that here. */
static ULONG TakeResults(SMBD_CONNECTION *Connection, NDK_CQ *Cq, NDK_RESULT_EX *Results)
{
    NDK_RESULT Plain[RESULTS];
    ULONG Count;

    if (SmbdInvalidates(Connection->Adapter))
        return Cq->Dispatch->NdkGetCqResultsEx(Cq, Results, RESULTS);
    Count = Cq->Dispatch->NdkGetCqResults(Cq, Plain, RESULTS);
    for (ULONG i = 0; i < Count; i++) {
        RtlZeroMemory(&Results[i], sizeof(Results[i]));
        Results[i].Status = Plain[i].Status;
        Results[i].BytesTransferred = Plain[i].BytesTransferred;
        Results[i].RequestContext = Plain[i].RequestContext;
    }
    return Count;
}

static VOID Serve(SMBD_CONNECTION *Connection, NDK_CQ *Cq)
{
    NDK_RESULT_EX Results[RESULTS];
    KLOCK_QUEUE_HANDLE Handle;
    ULONG Count;

    do {
        Count = TakeResults(Connection, Cq, Results);
        SmbdLock(Connection, &Handle);
        for (ULONG i = 0; i < Count; i++) {
            SMBD_WORK *Work = Results[i].RequestContext;

            Work->Done(Connection, Work, &Results[i]);
        }
        if (NT_SUCCESS(Connection->Status) && Connection->Negotiated) {
            SmbdPostReceives(Connection);
            SmbdSendDue(Connection);
        }
        if (!Connection->Outstanding)
            SmbdSignal(&Connection->DrainEvent);
        SmbdUnlock(&Handle);
    } while (Count == RESULTS);
    Cq->Dispatch->NdkArmCq(Cq, NDK_CQ_NOTIFY_ANY);
}

static VOID QueueFailed(SMBD_CONNECTION *Connection, NTSTATUS CqStatus)
{
    KLOCK_QUEUE_HANDLE Handle;

    SmbdLock(Connection, &Handle);
    Connection->QueuesFailed = TRUE;
    SmbdBreak(Connection, CqStatus, "a completion queue failed");
    SmbdSignal(&Connection->DrainEvent);
    SmbdUnlock(&Handle);
}

/* A queue may notify until it is closed. After that no callback may use it, not even to arm it. */
static VOID Notified(SMBD_CONNECTION *Connection, NDK_CQ *Cq, NTSTATUS CqStatus)
{
    if (!ExAcquireRundownProtection(&Connection->Callbacks))
        return;
    if (NT_SUCCESS(CqStatus))
        Serve(Connection, Cq);
    else
        QueueFailed(Connection, CqStatus);
    ExReleaseRundownProtection(&Connection->Callbacks);
}

static VOID Received(PVOID Context, NTSTATUS CqStatus)
{
    SMBD_CONNECTION *Connection = Context;

    Notified(Connection, Connection->ReceiveCq, CqStatus);
}

static VOID Initiated(PVOID Context, NTSTATUS CqStatus)
{
    SMBD_CONNECTION *Connection = Context;

    Notified(Connection, Connection->InitiatorCq, CqStatus);
}

static NTSTATUS CreateCq(SMBD_CONNECTION *Connection, ULONG Depth,
    NDK_FN_CQ_NOTIFICATION_CALLBACK Notification, NDK_CQ **Cq)
{
    NDK_ADAPTER *Adapter = Connection->Adapter->Adapter;
    SMBD_CALL Call;

    SmbdBeginCall(&Call);
    return SmbdEndCreation(&Call,
        Adapter->Dispatch->NdkCreateCq(
            Adapter, Depth, Notification, Connection, NULL, SmbdCreated, &Call, Cq),
        (PVOID *)Cq);
}

static NTSTATUS CreateQp(SMBD_CONNECTION *Connection, ULONG InitiatorDepth)
{
    SMBD_ADAPTER *Adapter = Connection->Adapter;
    ULONG MaxSge = Adapter->Info.MaxInitiatorRequestSge;
    SMBD_CALL Call;

    if (MaxSge > SMBD_RDMA_SGE)
        MaxSge = SMBD_RDMA_SGE;
    SmbdBeginCall(&Call);
    return SmbdEndCreation(&Call,
        Adapter->Pd->Dispatch->NdkCreateQp(Adapter->Pd, Connection->ReceiveCq,
            Connection->InitiatorCq, Connection, Connection->Receives.Count, InitiatorDepth,
            SMBD_MAX_SGE, MaxSge, 0, SmbdCreated, &Call, &Connection->Qp),
        (PVOID *)&Connection->Qp);
}

/* Each queue holds a result for every request, so it never overruns. */
NTSTATUS SmbdCreateQueues(SMBD_CONNECTION *Connection)
{
    ULONG InitiatorDepth =
        Connection->Sends.Count + SMBD_BUFFER_SLOTS * Connection->Parameters.Buffers;
    NTSTATUS Status =
        CreateCq(Connection, Connection->Receives.Count, Received, &Connection->ReceiveCq);

    if (!NT_SUCCESS(Status))
        return Status;
    Status = CreateCq(Connection, InitiatorDepth, Initiated, &Connection->InitiatorCq);
    if (!NT_SUCCESS(Status))
        return Status;
    Status = CreateQp(Connection, InitiatorDepth);
    if (!NT_SUCCESS(Status))
        return Status;
    Connection->ReceiveCq->Dispatch->NdkArmCq(Connection->ReceiveCq, NDK_CQ_NOTIFY_ANY);
    Connection->InitiatorCq->Dispatch->NdkArmCq(Connection->InitiatorCq, NDK_CQ_NOTIFY_ANY);
    return STATUS_SUCCESS;
}

VOID SmbdCloseQueues(SMBD_CONNECTION *Connection)
{
    ExWaitForRundownProtectionRelease(&Connection->Callbacks);
    if (Connection->Qp)
        SmbdCloseObject(&Connection->Qp->Header, Connection->Qp->Dispatch->NdkCloseQp);
    if (Connection->InitiatorCq)
        SmbdCloseObject(
            &Connection->InitiatorCq->Header, Connection->InitiatorCq->Dispatch->NdkCloseCq);
    if (Connection->ReceiveCq)
        SmbdCloseObject(
            &Connection->ReceiveCq->Header, Connection->ReceiveCq->Dispatch->NdkCloseCq);
}
