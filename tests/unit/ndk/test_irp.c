/* SPDX-License-Identifier: MIT */
/*
 * test_irp.c - requests of ndkwdm.h. Sources: Microsoft's pages of IoSetCompletionRoutine (for which ends it is called;
 * STATUS_MORE_PROCESSING_REQUIRED), IoCallDriver, IoCompleteRequest, IoMarkIrpPending, IoReuseIrp, IoCancelIrp. What
 * becomes of a request that no routine keeps is what the pages say of the I/O manager's own requests.
 */
#include "tests/support/signal_of.h"
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndkwdm.h>

#include <stdbool.h>
#include <stdlib.h>

#define OK        ((NTSTATUS)SPEC_STATUS_SUCCESS)
#define PENDING   ((NTSTATUS)SPEC_STATUS_PENDING)
#define CANCELLED ((NTSTATUS)SPEC_STATUS_CANCELLED)

enum { KEEP = 1, LET_GO };

/* What a completion routine was told. */
struct told {
    int keep;
    int count;
    PDEVICE_OBJECT device;
    PIRP irp;
    IO_STATUS_BLOCK status;
    bool pending;
    int order;
};

static int order;

static NTSTATUS tell(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
    struct told *told = context;

    told->count++;
    told->device = device;
    told->irp = irp;
    told->status = irp->IoStatus;
    told->pending = irp->PendingReturned;
    told->order = ++order;
    if (told->keep == KEEP)
        return STATUS_MORE_PROCESSING_REQUIRED;
    if (irp->PendingReturned && irp->CurrentLocation <= irp->StackCount)
        IoMarkIrpPending(irp);
    return STATUS_CONTINUE_COMPLETION;
}

/* ---- two drivers, one above the other ---- */

static struct {
    DRIVER_OBJECT upper_driver, lower_driver;
    PDEVICE_OBJECT upper, lower;
    struct told upper_told;
    bool skip, pend;
    NTSTATUS status;
    PIRP pended;
    ULONG seen;
} stack;

/* Sends the request on to the lower device. */
static NTSTATUS forward(PDEVICE_OBJECT device, PIRP irp)
{
    assert_ptr_equal(device, stack.upper);
    assert_ptr_equal(IoGetCurrentIrpStackLocation(irp)->DeviceObject, stack.upper);
    if (stack.skip) {
        IoSkipCurrentIrpStackLocation(irp);
    } else {
        IoCopyCurrentIrpStackLocationToNext(irp);
        IoSetCompletionRoutine(irp, tell, &stack.upper_told, TRUE, TRUE, TRUE);
    }
    return IoCallDriver(stack.lower, irp);
}

static NTSTATUS serve(PDEVICE_OBJECT device, PIRP irp)
{
    PIO_STACK_LOCATION location = IoGetCurrentIrpStackLocation(irp);

    assert_ptr_equal(device, stack.lower);
    stack.seen = location->Parameters.DeviceIoControl.IoControlCode;
    if (stack.pend) {
        IoMarkIrpPending(irp);
        stack.pended = irp;
        return STATUS_PENDING;
    }
    irp->IoStatus.Status = stack.status;
    irp->IoStatus.Information = 42;
    IoCompleteRequest(irp, IO_NO_INCREMENT);
    return stack.status;
}

static int make_stack(void **state)
{
    (void)state;
    memset(&stack, 0, sizeof(stack));
    stack.upper_driver.MajorFunction[IRP_MJ_DEVICE_CONTROL] = forward;
    stack.lower_driver.MajorFunction[IRP_MJ_DEVICE_CONTROL] = serve;
    if (IoCreateDevice(&stack.upper_driver, 0, NULL, FILE_DEVICE_UNKNOWN, 0, FALSE, &stack.upper) ||
        IoCreateDevice(&stack.lower_driver, 0, NULL, FILE_DEVICE_UNKNOWN, 0, FALSE, &stack.lower))
        return -1;
    stack.upper->StackSize = 2;
    return 0;
}

static int free_stack(void **state)
{
    (void)state;
    IoDeleteDevice(stack.upper);
    IoDeleteDevice(stack.lower);
    return 0;
}

static PIRP make_request(UCHAR function, struct told *told)
{
    PIRP irp = IoAllocateIrp(stack.upper->StackSize, FALSE);
    PIO_STACK_LOCATION next;

    assert_non_null(irp);
    next = IoGetNextIrpStackLocation(irp);
    next->MajorFunction = function;
    next->Parameters.DeviceIoControl.IoControlCode = 0x1234;
    if (told)
        IoSetCompletionRoutine(irp, tell, told, TRUE, TRUE, TRUE);
    return irp;
}

static void new_request_is_its_makers(void **state)
{
    PIRP irp = IoAllocateIrp(2, FALSE);

    (void)state;
    assert_int_equal(irp->Size, 0xD0 + 2 * 0x48);
    assert_int_equal(irp->StackCount, 2);
    assert_int_equal(irp->CurrentLocation, 3);
    assert_ptr_equal(
        IoGetCurrentIrpStackLocation(irp), (char *)irp + 0xD0 + 2 * sizeof(IO_STACK_LOCATION));
    IoSetNextIrpStackLocation(irp);
    assert_int_equal(irp->CurrentLocation, 2);
    IoReuseIrp(irp, CANCELLED);
    assert_int_equal(irp->CurrentLocation, 3);
    assert_int_equal(irp->IoStatus.Status, CANCELLED);
    IoFreeIrp(irp);
    assert_null(IoAllocateIrp(0, FALSE));
    assert_null(IoAllocateIrp(127, FALSE));
}

static void completion_goes_up_the_stack(void **state)
{
    struct told told = { .keep = KEEP };
    PIRP irp = make_request(IRP_MJ_DEVICE_CONTROL, &told);

    (void)state;
    assert_int_equal(IoCallDriver(stack.upper, irp), OK);
    assert_int_equal(stack.seen, 0x1234);
    /* The lower one's first; each with its own device; the maker has none. */
    assert_int_equal(stack.upper_told.count, 1);
    assert_ptr_equal(stack.upper_told.device, stack.upper);
    assert_int_equal(told.count, 1);
    assert_null(told.device);
    assert_ptr_equal(told.irp, irp);
    assert_int_equal(told.order, stack.upper_told.order + 1);
    assert_int_equal(told.status.Status, OK);
    assert_int_equal(told.status.Information, 42);
    assert_false(told.pending);
    IoFreeIrp(irp);
}

static void skipped_location_has_the_makers_routine(void **state)
{
    struct told told = { .keep = KEEP };
    PIRP irp = make_request(IRP_MJ_DEVICE_CONTROL, &told);

    (void)state;
    stack.skip = true;
    assert_int_equal(IoCallDriver(stack.upper, irp), OK);
    assert_int_equal(stack.upper_told.count, 0);
    assert_int_equal(told.count, 1);
    IoFreeIrp(irp);
}

static void routine_may_keep_a_request_and_complete_it_again(void **state)
{
    struct told told = { .keep = KEEP };
    PIRP irp = make_request(IRP_MJ_DEVICE_CONTROL, &told);

    (void)state;
    stack.upper_told.keep = KEEP;
    IoCallDriver(stack.upper, irp);
    assert_int_equal(stack.upper_told.count, 1);
    assert_int_equal(told.count, 0);
    irp->IoStatus.Status = CANCELLED;
    IoCompleteRequest(irp, IO_NO_INCREMENT);
    assert_int_equal(stack.upper_told.count, 1);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.status.Status, CANCELLED);
    IoFreeIrp(irp);
}

static void pending_request_says_so_at_its_end(void **state)
{
    struct told told = { .keep = KEEP };
    PIRP irp = make_request(IRP_MJ_DEVICE_CONTROL, &told);

    (void)state;
    stack.pend = true;
    assert_int_equal(IoCallDriver(stack.upper, irp), PENDING);
    assert_int_equal(told.count, 0);
    stack.pended->IoStatus.Status = OK;
    IoCompleteRequest(stack.pended, IO_NO_INCREMENT);
    assert_true(stack.upper_told.pending);
    assert_true(told.pending);
    IoFreeIrp(irp);
}

static int calls_for(
    NTSTATUS status, bool cancel, BOOLEAN on_success, BOOLEAN on_error, BOOLEAN on_cancel)
{
    struct told told = { .keep = KEEP }, first = { .keep = KEEP };
    PIRP irp = make_request(IRP_MJ_DEVICE_CONTROL, &first);

    stack.skip = true;
    stack.status = status;
    irp->Cancel = cancel;
    /* The maker keeps it in any case: one location above. */
    IoSetNextIrpStackLocation(irp);
    IoCopyCurrentIrpStackLocationToNext(irp);
    assert_int_equal(
        IoSetCompletionRoutineEx(stack.upper, irp, tell, &told, on_success, on_error, on_cancel),
        OK);
    told.keep = LET_GO;
    IoCallDriver(stack.lower, irp);
    assert_int_equal(first.count, 1);
    IoFreeIrp(irp);
    return told.count;
}

static void routine_is_called_for_the_ends_it_asked_for(void **state)
{
    (void)state;
    assert_int_equal(calls_for(OK, false, TRUE, FALSE, FALSE), 1);
    assert_int_equal(calls_for(OK, false, FALSE, TRUE, TRUE), 0);
    assert_int_equal(calls_for(CANCELLED, false, FALSE, TRUE, FALSE), 1);
    assert_int_equal(calls_for(CANCELLED, false, TRUE, FALSE, TRUE), 0);
    assert_int_equal(calls_for(CANCELLED, true, FALSE, FALSE, TRUE), 1);
    assert_int_equal(calls_for(OK, false, FALSE, FALSE, FALSE), 0);
}

static void function_that_a_driver_lacks_is_refused(void **state)
{
    struct told told = { .keep = KEEP };
    PIRP irp = make_request(IRP_MJ_READ, &told);

    (void)state;
    assert_int_equal(IoCallDriver(stack.upper, irp), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(told.status.Status, (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_REQUEST);
    IoFreeIrp(irp);
}

static void request_that_nobody_keeps_tells_its_end_and_is_freed(void **state)
{
    PIRP irp = make_request(IRP_MJ_DEVICE_CONTROL, NULL);
    IO_STATUS_BLOCK block = { .Information = 0 };
    char memory[2];
    KEVENT event;
    PMDL first, second;

    (void)state;
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    first = IoAllocateMdl(memory, 1, FALSE, FALSE, irp);
    second = IoAllocateMdl(memory + 1, 1, TRUE, FALSE, irp);
    assert_ptr_equal(irp->MdlAddress, first);
    assert_ptr_equal(first->Next, second);
    irp->UserIosb = &block;
    irp->UserEvent = &event;
    stack.status = CANCELLED;
    IoCallDriver(stack.upper, irp); /* a sanitizer sees what is not freed */
    assert_int_equal(KeReadStateEvent(&event), 1);
    assert_int_equal(block.Status, CANCELLED);
    assert_int_equal(block.Information, 42);
}

static void request_in_the_consumers_memory_is_served(void **state)
{
    struct told told = { .keep = LET_GO };
    USHORT size = IoSizeOfIrp(2);
    PIRP irp = malloc(size);

    (void)state;
    IoInitializeIrp(irp, size, 2);
    IoGetNextIrpStackLocation(irp)->MajorFunction = IRP_MJ_DEVICE_CONTROL;
    IoSetCompletionRoutine(irp, tell, &told, TRUE, TRUE, TRUE);
    IoCallDriver(stack.upper, irp);
    assert_int_equal(told.count, 1);
    free(irp);
}

/* ---- cancellation ---- */

static VOID cancel(PDEVICE_OBJECT device, PIRP irp)
{
    assert_ptr_equal(device, stack.lower);
    assert_int_equal(KeGetCurrentIrql(), 2);
    IoReleaseCancelSpinLock(irp->CancelIrql);
    irp->IoStatus.Status = CANCELLED;
    IoCompleteRequest(irp, IO_NO_INCREMENT);
}

static void cancel_routine_ends_a_pending_request(void **state)
{
    struct told told = { .keep = KEEP };
    PIRP irp = make_request(IRP_MJ_DEVICE_CONTROL, &told);
    KIRQL before;

    (void)state;
    stack.pend = true;
    IoCallDriver(stack.upper, irp);
    assert_false(IoCancelIrp(irp));
    assert_true(irp->Cancel);
    assert_int_equal(told.count, 0);
    IoAcquireCancelSpinLock(&before);
    assert_null(IoSetCancelRoutine(irp, cancel));
    IoReleaseCancelSpinLock(before);
    assert_true(IoCancelIrp(irp));
    assert_int_equal(KeGetCurrentIrql(), 0);
    assert_int_equal(told.status.Status, CANCELLED);
    IoFreeIrp(irp);
}

/* ---- what stops Windows ---- */

static void complete_twice(void)
{
    struct told told = { .keep = KEEP };
    PIRP irp = make_request(IRP_MJ_DEVICE_CONTROL, &told);

    IoCallDriver(stack.upper, irp);
    IoCompleteRequest(irp, IO_NO_INCREMENT);
}

static void send_with_a_short_stack(void)
{
    PIRP irp = IoAllocateIrp(1, FALSE);

    IoSetNextIrpStackLocation(irp);
    IoCallDriver(stack.lower, irp);
}

static void mistakes_end_the_program(void **state)
{
    (void)state;
    assert_int_equal(signal_of(complete_twice), SIGABRT);
    assert_int_equal(signal_of(send_with_a_short_stack), SIGABRT);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, make_stack, free_stack)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(new_request_is_its_makers),
        ROW(completion_goes_up_the_stack),
        ROW(skipped_location_has_the_makers_routine),
        ROW(routine_may_keep_a_request_and_complete_it_again),
        ROW(pending_request_says_so_at_its_end),
        ROW(routine_is_called_for_the_ends_it_asked_for),
        ROW(function_that_a_driver_lacks_is_refused),
        ROW(request_that_nobody_keeps_tells_its_end_and_is_freed),
        ROW(request_in_the_consumers_memory_is_served),
        ROW(cancel_routine_ends_a_pending_request),
        ROW(mistakes_end_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
