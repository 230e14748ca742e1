/* SPDX-License-Identifier: MIT */
/* irp.c - requests of ndkwdm.h. */
#include "ndk/wdm/stop.h"

#include <ndkwdm.h>

#include <stdbool.h>

enum {
    REQUEST_TYPE = 6, /* IRP.Type, while the request has not ended for good */
    ALLOCATED = 0x04, /* IRP.AllocationFlags: by IoAllocateIrp */
    STACK_MOST = 127, /* CurrentLocation is a CHAR, one more at first */
};

VOID IoInitializeIrp(PIRP irp, USHORT size, CCHAR stack)
{
    memset(irp, 0, size);
    irp->Type = REQUEST_TYPE;
    irp->Size = size;
    irp->StackCount = stack;
    irp->CurrentLocation = (CHAR)(stack + 1);
    InitializeListHead(&irp->ThreadListEntry);
    irp->Tail.Overlay.CurrentStackLocation = (PIO_STACK_LOCATION)(irp + 1) + stack;
}

PIRP IoAllocateIrp(CCHAR stack, BOOLEAN charge)
{
    USHORT size = IoSizeOfIrp(stack);
    PIRP irp = stack > 0 && stack < STACK_MOST ? malloc(size) : NULL;

    (void)charge;
    if (irp) {
        IoInitializeIrp(irp, size, stack);
        irp->AllocationFlags = ALLOCATED;
    }
    return irp;
}

VOID IoFreeIrp(PIRP irp)
{
    free(irp);
}

VOID IoReuseIrp(PIRP irp, NTSTATUS status)
{
    UCHAR flags = irp->AllocationFlags;

    IoInitializeIrp(irp, irp->Size, irp->StackCount);
    irp->AllocationFlags = flags;
    irp->IoStatus.Status = status;
}

NTSTATUS IoSetCompletionRoutineEx(PDEVICE_OBJECT device, PIRP irp, PIO_COMPLETION_ROUTINE routine,
    PVOID context, BOOLEAN success, BOOLEAN error, BOOLEAN cancel)
{
    (void)device;
    IoSetCompletionRoutine(irp, routine, context, success, error, cancel);
    return STATUS_SUCCESS;
}

NTSTATUS IofCallDriver(PDEVICE_OBJECT device, PIRP irp)
{
    PIO_STACK_LOCATION location;
    PDRIVER_DISPATCH routine = NULL;

    if (irp->CurrentLocation <= 1)
        ndk_stop("IoCallDriver: the request has no stack location left for this device (StackSize "
                 "of the device says how many IoAllocateIrp has to make)");
    IoSetNextIrpStackLocation(irp);
    location = IoGetCurrentIrpStackLocation(irp);
    location->DeviceObject = device;
    if (location->MajorFunction <= IRP_MJ_MAXIMUM_FUNCTION)
        routine = device->DriverObject->MajorFunction[location->MajorFunction];
    if (routine)
        return routine(device, irp);
    irp->IoStatus.Status = STATUS_INVALID_DEVICE_REQUEST;
    irp->IoStatus.Information = 0;
    IofCompleteRequest(irp, IO_NO_INCREMENT);
    return STATUS_INVALID_DEVICE_REQUEST;
}

/* ---- ends ---- */

/* Whether the completion routine of a stack location wants this end. */
static bool is_wanted(const IRP *irp, const IO_STACK_LOCATION *location)
{
    if (!location->CompletionRoutine)
        return false;
    if (irp->Cancel && location->Control & SL_INVOKE_ON_CANCEL)
        return true;
    return location->Control &
           (NT_SUCCESS(irp->IoStatus.Status) ? SL_INVOKE_ON_SUCCESS : SL_INVOKE_ON_ERROR);
}

/*
 * Goes up by one: the location above is the current one when the routine of the one below is called. False: the routine
 * has taken the request, or freed it.
 */
static bool go_up(PIRP irp)
{
    PIO_STACK_LOCATION below = IoGetCurrentIrpStackLocation(irp);
    const IO_STACK_LOCATION ended = *below;
    bool wanted = is_wanted(irp, &ended), top = irp->CurrentLocation == irp->StackCount;

    memset(below, 0, sizeof(*below));
    irp->PendingReturned = ended.Control & SL_PENDING_RETURNED;
    IoSkipCurrentIrpStackLocation(irp);
    if (wanted)
        return ended.CompletionRoutine(top ? NULL : IoGetCurrentIrpStackLocation(irp)->DeviceObject,
                   irp, ended.Context) != STATUS_MORE_PROCESSING_REQUIRED;
    if (irp->PendingReturned && !top)
        IoMarkIrpPending(irp);
    return true;
}

/* No routine took it. The waiter may free the block once the event is set. */
static void end_for_good(PIRP irp)
{
    PMDL next;

    irp->Type = 0;
    for (PMDL mdl = irp->MdlAddress; mdl; mdl = next) {
        next = mdl->Next;
        IoFreeMdl(mdl);
    }
    irp->MdlAddress = NULL;
    if (irp->UserIosb)
        *irp->UserIosb = irp->IoStatus;
    if (irp->UserEvent)
        KeSetEvent(irp->UserEvent, IO_NO_INCREMENT, FALSE);
    if (irp->AllocationFlags & ALLOCATED)
        IoFreeIrp(irp);
}

VOID IofCompleteRequest(PIRP irp, CCHAR increment)
{
    (void)increment;
    if (irp->Type != REQUEST_TYPE || irp->CurrentLocation > irp->StackCount)
        ndk_stop("IoCompleteRequest: no driver has the request: it has ended, or was not sent");
    while (irp->CurrentLocation <= irp->StackCount)
        if (!go_up(irp))
            return;
    end_for_good(irp);
}

/* ---- cancellation ---- */

static KSPIN_LOCK cancel_lock; /* free */

VOID IoAcquireCancelSpinLock(PKIRQL before)
{
    KeAcquireSpinLock(&cancel_lock, before);
}

VOID IoReleaseCancelSpinLock(KIRQL before)
{
    KeReleaseSpinLock(&cancel_lock, before);
}

BOOLEAN IoCancelIrp(PIRP irp)
{
    PDRIVER_CANCEL routine;
    KIRQL before;

    IoAcquireCancelSpinLock(&before);
    irp->Cancel = TRUE;
    routine = IoSetCancelRoutine(irp, NULL);
    if (!routine) {
        IoReleaseCancelSpinLock(before);
        return FALSE;
    }
    irp->CancelIrql = before;
    routine(irp->CurrentLocation <= irp->StackCount
                ? IoGetCurrentIrpStackLocation(irp)->DeviceObject
                : NULL,
        irp);
    return TRUE;
}
