/* SPDX-License-Identifier: MIT */
/*
 * annotations.c - source annotations of the first kind, and those of drivers, as the samples of Microsoft's driver kit
 * for Windows 7 write them, without a header but the driver's own.
 */
DRIVER_INITIALIZE DriverEntry;

static __checkReturn NTSTATUS copy(__in_bcount(length) const VOID *from, __in ULONG length,
    __out_bcount_part(room, *copied) PVOID to, __in ULONG room, __out_opt PULONG copied)
{
    if (length > room)
        return STATUS_BUFFER_TOO_SMALL;
    RtlCopyMemory(to, from, length);
    if (copied)
        *copied = length;
    return STATUS_SUCCESS;
}

__drv_maxIRQL(DISPATCH_LEVEL) __drv_allocatesMem(Mem) static PVOID allocate(__in SIZE_T octets)
{
    return ExAllocatePoolWithTag(NonPagedPool, octets, 0x31676154);
}

NTSTATUS DriverEntry(__in PDRIVER_OBJECT DriverObject, __in PUNICODE_STRING RegistryPath)
{
    PVOID memory = allocate(RegistryPath->Length);
    ULONG copied = 0;
    NTSTATUS status;

    UNREFERENCED_PARAMETER(DriverObject);
    if (!memory)
        return STATUS_INSUFFICIENT_RESOURCES;
    status =
        copy(RegistryPath->Buffer, RegistryPath->Length, memory, RegistryPath->Length, &copied);
    ExFreePoolWithTag(memory, 0x31676154);
    return status;
}
