/* SPDX-License-Identifier: MIT */
/*
 * host_driver.c - a driver that says what it was given, and ends its program by the signal that the host waits for. Its
 * parameters: Number, Text; Fail: the status of DriverEntry; Keep: the device stays; Stay: no DriverUnload.
 */
#include <ndkwdm.h>

#include <signal.h>
#include <unistd.h>

static PDEVICE_OBJECT device;
static ULONG fail, keep, stay;

DRIVER_INITIALIZE DriverEntry;
static DRIVER_UNLOAD Unload;

static VOID Unload(PDRIVER_OBJECT DriverObject)
{
    DbgPrint(
        "unloads %ws at IRQL %u\n", DriverObject->DriverName.Buffer, (unsigned)KeGetCurrentIrql());
    if (!keep)
        IoDeleteDevice(device);
}

NTSTATUS DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    ULONG number = 0, seven = 7, other = 0;
    UNICODE_STRING text = { 0, 0, NULL };
    RTL_QUERY_REGISTRY_TABLE table[] = {
        { NULL, RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_REQUIRED, L"number", &number, 0,
            NULL, 0 },
        { NULL, RTL_QUERY_REGISTRY_DIRECT, L"Text", &text, REG_SZ, (PVOID)L"none", 0 },
        { NULL, RTL_QUERY_REGISTRY_DIRECT, L"Other", &other, REG_DWORD, &seven, 0 },
        { NULL, RTL_QUERY_REGISTRY_DIRECT, L"Fail", &fail, REG_NONE, NULL, 0 },
        { NULL, RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK, L"Keep", &keep,
            (ULONG)REG_DWORD << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT, NULL, 0 },
        { NULL, RTL_QUERY_REGISTRY_DIRECT, L"Stay", &stay, REG_NONE, NULL, 0 },
        { NULL, 0, NULL, NULL, 0, NULL, 0 },
    };
    NTSTATUS status =
        RtlQueryRegistryValues(RTL_REGISTRY_ABSOLUTE, RegistryPath->Buffer, table, NULL, NULL);

    if (!NT_SUCCESS(status))
        return status;
    DbgPrint("path %ws, %u characters\n", RegistryPath->Buffer,
        (unsigned)(RegistryPath->Length / sizeof(WCHAR)));
    DbgPrint("number %lu, text %ws, other %lu\n", number, text.Buffer, other);
    RtlFreeUnicodeString(&text);
    if (fail)
        return (NTSTATUS)fail;
    if (!stay)
        DriverObject->DriverUnload = Unload;
    status = IoCreateDevice(DriverObject, 0, NULL, FILE_DEVICE_UNKNOWN, 0, FALSE, &device);
    kill(getpid(), SIGTERM);
    return status;
}
