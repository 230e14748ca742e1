/* SPDX-License-Identifier: MIT */
/*
 * irp.h - requests, a part of ndkwdm.h: a driver makes them, gives them to its own devices or to a provider's function,
 * and is told of their end by its completion routine. Members that are named are where Windows has them.
 */
#ifndef NDKWDM_IRP_H
#define NDKWDM_IRP_H

#include <ndkwdm/driver.h>
#include <ndkwdm/lock.h>
#include <ndkwdm/mdl.h>
#include <ndkwdm/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _FILE_OBJECT *PFILE_OBJECT;

/* A driver's part of a request. */
typedef struct _IO_STACK_LOCATION {
    UCHAR MajorFunction; /* IRP_MJ_* */
    UCHAR MinorFunction;
    UCHAR Flags;
    UCHAR Control; /* SL_* */
    union {
        struct {
            ULONG Length;
            DECLSPEC_ALIGN(8) ULONG Key;
            ULONG Flags;
            LARGE_INTEGER ByteOffset;
        } Read;
        struct {
            ULONG Length;
            DECLSPEC_ALIGN(8) ULONG Key;
            ULONG Flags;
            LARGE_INTEGER ByteOffset;
        } Write;
        struct {
            ULONG OutputBufferLength;
            DECLSPEC_ALIGN(8) ULONG InputBufferLength;
            DECLSPEC_ALIGN(8) ULONG IoControlCode;
            PVOID Type3InputBuffer;
        } DeviceIoControl;
        struct {
            PVOID Argument1, Argument2, Argument3, Argument4;
        } Others;
    } Parameters;
    PDEVICE_OBJECT DeviceObject; /* the device that the request was sent to */
    PFILE_OBJECT FileObject;
    PIO_COMPLETION_ROUTINE CompletionRoutine; /* the sender's */
    PVOID Context;
} IO_STACK_LOCATION, *PIO_STACK_LOCATION;

#define SL_PENDING_RETURNED  0x01
#define SL_INVOKE_ON_CANCEL  0x20
#define SL_INVOKE_ON_SUCCESS 0x40
#define SL_INVOKE_ON_ERROR   0x80

/* A request; behind it are its stack locations, the first sender's last. */
typedef struct _IRP {
    CSHORT Type;
    USHORT Size;
    PMDL MdlAddress;
    ULONG Flags;
    union {
        struct _IRP *MasterIrp;
        LONG IrpCount;
        PVOID SystemBuffer;
    } AssociatedIrp;
    LIST_ENTRY ThreadListEntry;
    IO_STATUS_BLOCK IoStatus; /* how it ends */
    KPROCESSOR_MODE RequestorMode;
    BOOLEAN PendingReturned;
    CHAR StackCount;
    CHAR CurrentLocation;
    BOOLEAN Cancel;
    KIRQL CancelIrql;
    CCHAR ApcEnvironment;
    UCHAR AllocationFlags;
    PIO_STATUS_BLOCK UserIosb;
    PKEVENT UserEvent;
    PVOID Overlay[2];
    PDRIVER_CANCEL CancelRoutine;
    PVOID UserBuffer;
    union {
        struct {
            PVOID DriverContext[4]; /* the driver that has the request may use it */
            PETHREAD Thread;
            PCHAR AuxiliaryBuffer;
            LIST_ENTRY ListEntry; /* the driver that has the request may use it */
            __extension__ union {
                struct _IO_STACK_LOCATION *CurrentStackLocation;
                ULONG PacketType;
            };
            PFILE_OBJECT OriginalFileObject;
        } Overlay;
        PVOID Apc[11];
        PVOID CompletionKey;
    } Tail;
} IRP, *PIRP;

#define STATUS_CONTINUE_COMPLETION STATUS_SUCCESS
typedef enum _IO_COMPLETION_ROUTINE_RESULT {
    ContinueCompletion = STATUS_CONTINUE_COMPLETION,
    StopCompletion = STATUS_MORE_PROCESSING_REQUIRED
} IO_COMPLETION_ROUTINE_RESULT,
    *PIO_COMPLETION_ROUTINE_RESULT;

/* Bytes of a request with so many stack locations. */
#define IoSizeOfIrp(stack) ((USHORT)(sizeof(IRP) + (SIZE_T)(stack) * sizeof(IO_STACK_LOCATION)))

/*
 * A request with so many stack locations, 1 to 126: StackSize of the device that it is for. For IoFreeIrp; NULL: no
 * memory, or another number. charge: not used.
 */
PIRP IoAllocateIrp(CCHAR stack, BOOLEAN charge);
/* irp: of IoAllocateIrp, not under way. */
VOID IoFreeIrp(PIRP irp);
/* irp out: a request in the consumer's memory, of size bytes (IoSizeOfIrp). */
VOID IoInitializeIrp(PIRP irp, USHORT size, CCHAR stack);
/* irp in, out: of IoAllocateIrp, ended or not sent; as new. status: its IoStatus.Status. */
VOID IoReuseIrp(PIRP irp, NTSTATUS status);

/* The stack location of the driver that has the request; of the one that it is given to. */
static inline PIO_STACK_LOCATION IoGetCurrentIrpStackLocation(PIRP irp)
{
    return irp->Tail.Overlay.CurrentStackLocation;
}

static inline PIO_STACK_LOCATION IoGetNextIrpStackLocation(PIRP irp)
{
    NT_ASSERT(irp->CurrentLocation > 1);
    return irp->Tail.Overlay.CurrentStackLocation - 1;
}

/* The next one is the current one, or the other way round. */
static inline VOID IoSetNextIrpStackLocation(PIRP irp)
{
    irp->CurrentLocation--;
    irp->Tail.Overlay.CurrentStackLocation--;
}

static inline VOID IoSkipCurrentIrpStackLocation(PIRP irp)
{
    irp->CurrentLocation++;
    irp->Tail.Overlay.CurrentStackLocation++;
}

/* The next one's parameters are those of the current one; it has no completion routine. */
static inline VOID IoCopyCurrentIrpStackLocationToNext(PIRP irp)
{
    PIO_STACK_LOCATION next = IoGetNextIrpStackLocation(irp);

    memcpy(next, IoGetCurrentIrpStackLocation(irp), offsetof(IO_STACK_LOCATION, CompletionRoutine));
    next->Control = 0;
}

/* The driver calls this before it returns STATUS_PENDING for the request. */
static inline VOID IoMarkIrpPending(PIRP irp)
{
    IoGetCurrentIrpStackLocation(irp)->Control |= SL_PENDING_RETURNED;
}

/*
 * Sets the routine that the end of the request calls. The driver calls this before it sends the request on.
 * routine, context  in: called with it at the request's end, at the level of who ends it. What it returns:
 *                   STATUS_MORE_PROCESSING_REQUIRED: the request is the routine's again, and may be freed; else the
 *                   routines of those above are called
 * success, ...      in: it is called for an end of that kind
 */
static inline VOID IoSetCompletionRoutine(PIRP irp, PIO_COMPLETION_ROUTINE routine, PVOID context,
    BOOLEAN success, BOOLEAN error, BOOLEAN cancel)
{
    PIO_STACK_LOCATION next = IoGetNextIrpStackLocation(irp);

    next->CompletionRoutine = routine;
    next->Context = context;
    next->Control = (UCHAR)((success ? SL_INVOKE_ON_SUCCESS : 0) |
                            (error ? SL_INVOKE_ON_ERROR : 0) | (cancel ? SL_INVOKE_ON_CANCEL : 0));
}

/* IoSetCompletionRoutine. device: not used, since drivers are not unloaded. Returns STATUS_SUCCESS. */
NTSTATUS IoSetCompletionRoutineEx(PDEVICE_OBJECT device, PIRP irp, PIO_COMPLETION_ROUTINE routine,
    PVOID context, BOOLEAN success, BOOLEAN error, BOOLEAN cancel);

/*
 * Sends a request to a device: calls the dispatch routine of its driver for MajorFunction of the next stack location.
 * Where the driver has none, the request ends with STATUS_INVALID_DEVICE_REQUEST. Without a stack location that is left
 * the program ends.
 * Returns what the routine returns.
 */
NTSTATUS IofCallDriver(PDEVICE_OBJECT device, PIRP irp);
#define IoCallDriver(device, irp) IofCallDriver(device, irp)

/*
 * Ends a request, as its IoStatus says. What no completion routine takes back is the library's: it stores the status at
 * UserIosb, sets UserEvent, frees the MDLs, and the request if it is of IoAllocateIrp. A second end of one request ends
 * the program. increment: not used.
 */
VOID IofCompleteRequest(PIRP irp, CCHAR increment);
#define IoCompleteRequest(irp, increment) IofCompleteRequest(irp, increment)

/* routine: called by IoCancelIrp; NULL: none. Returns the one before; NULL: none, or it is being called. */
#define IoSetCancelRoutine(irp, routine)                                                           \
    ((PDRIVER_CANCEL)(ULONG_PTR)InterlockedExchangePointer(                                        \
        (PVOID *)&(irp)->CancelRoutine, (PVOID)(ULONG_PTR)(routine)))
/*
 * Asks who has the request to end it: sets Cancel, and calls the cancel routine, with the lock below, which the routine
 * releases with CancelIrql. FALSE: there is none.
 */
BOOLEAN IoCancelIrp(PIRP irp);
/* The lock of all cancel routines. before: as of a spin lock. */
VOID IoAcquireCancelSpinLock(PKIRQL before);
VOID IoReleaseCancelSpinLock(KIRQL before);

#ifdef __cplusplus
}
#endif

#endif
