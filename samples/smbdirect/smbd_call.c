/* SPDX-License-Identifier: MIT */
/*
 * smbd_call.c - calls of NDKPI that end in the call, or later by a callback, or by a callback before they return: the
 * provider chooses. At PASSIVE_LEVEL the library waits for the end.
 */
#include "smbd_private.h"

VOID SmbdBeginCall(SMBD_CALL *Call)
{
    KeInitializeEvent(&Call->Ended, NotificationEvent, FALSE);
    Call->Status = STATUS_PENDING;
    Call->Object = NULL;
}

VOID SmbdCreated(PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *Object)
{
    SMBD_CALL *Call = Context;

    Call->Status = Status;
    Call->Object = Object;
    SmbdSignal(&Call->Ended);
}

VOID SmbdRequestEnded(PVOID Context, NTSTATUS Status)
{
    SmbdCreated(Context, Status, NULL);
}

NTSTATUS SmbdEndCall(SMBD_CALL *Call, NTSTATUS Status)
{
    if (Status != STATUS_PENDING)
        return Status;
    KeWaitForSingleObject(&Call->Ended, Executive, KernelMode, FALSE, NULL);
    return Call->Status;
}

NTSTATUS SmbdEndCreation(SMBD_CALL *Call, NTSTATUS Status, PVOID *Object)
{
    if (Status != STATUS_PENDING)
        return Status;
    Status = SmbdEndCall(Call, Status);
    if (NT_SUCCESS(Status))
        *Object = Call->Object; /* its header comes first */
    return Status;
}

static VOID Closed(PVOID Context)
{
    SmbdCreated(Context, STATUS_SUCCESS, NULL);
}

VOID SmbdCloseObject(NDK_OBJECT_HEADER *Object, NDK_FN_CLOSE_OBJECT Close)
{
    SMBD_CALL Call;

    SmbdBeginCall(&Call);
    SmbdEndCall(&Call, Close(Object, Closed, &Call));
}
