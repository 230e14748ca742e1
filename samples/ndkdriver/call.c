/* SPDX-License-Identifier: MIT */
/* call.c - calls that end in the call, or later by a callback, or by a callback before they return. */
#include "ndkdriver.h"

VOID BeginCall(CALL *Call)
{
    KeInitializeEvent(&Call->Ended, NotificationEvent, FALSE);
    Call->Status = STATUS_PENDING;
    Call->Object = NULL;
}

VOID Created(PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *Object)
{
    CALL *Call = Context;

    Call->Status = Status;
    Call->Object = Object;
    KeSetEvent(&Call->Ended, IO_NO_INCREMENT, FALSE);
}

VOID RequestEnded(PVOID Context, NTSTATUS Status)
{
    Created(Context, Status, NULL);
}

NTSTATUS EndCall(CALL *Call, NTSTATUS Status)
{
    if (Status != STATUS_PENDING)
        return Status;
    KeWaitForSingleObject(&Call->Ended, Executive, KernelMode, FALSE, NULL);
    return Call->Status;
}

NTSTATUS EndCreation(CALL *Call, NTSTATUS Status, PVOID *Object)
{
    if (Status != STATUS_PENDING)
        return Status;
    Status = EndCall(Call, Status);
    if (NT_SUCCESS(Status))
        *Object = Call->Object; /* its header comes first */
    return Status;
}

static VOID Closed(PVOID Context)
{
    Created(Context, STATUS_SUCCESS, NULL);
}

VOID CloseObject(NDK_OBJECT_HEADER *Object, NDK_FN_CLOSE_OBJECT Close)
{
    CALL Call;

    BeginCall(&Call);
    EndCall(&Call, Close(Object, Closed, &Call));
}
