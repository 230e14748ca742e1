/* SPDX-License-Identifier: MIT */
/*
 * driver.c - DriverEntry and DriverUnload. Values of the registry: Interface, the index of a network interface;
 * Address, an IPv4 address of it, and Port; Connect, the address of a server, and Rounds. Without Connect the driver
 * serves.
 */
#include "ndkdriver.h"

#ifndef AF_INET
#define AF_INET 2
#endif

DRIVER Driver;

static const WSK_CLIENT_DISPATCH ClientDispatch = { MAKE_WSK_VERSION(1, 0), 0, NULL };
static WSK_CLIENT_NPI Client = { NULL, &ClientDispatch };

DRIVER_INITIALIZE DriverEntry;
static DRIVER_UNLOAD Unload;

/* ----- Parameters ----- */

/* Four numbers with dots between. */
static NTSTATUS ParseAddress(PCUNICODE_STRING Text, ULONG Port, SOCKADDR_IN *Address)
{
    UCHAR Bytes[4] = { 0, 0, 0, 0 };
    ULONG Part = 0, Value = 0, Digits = 0;

    for (ULONG i = 0; i <= Text->Length / sizeof(WCHAR); i++) {
        WCHAR Character = i < Text->Length / sizeof(WCHAR) ? Text->Buffer[i] : L'.';

        if (Character >= L'0' && Character <= L'9') {
            Value = Value * 10 + (ULONG)(Character - L'0');
            Digits++;
        } else if (Character == L'.' && Digits && Digits <= 3 && Value <= 255 && Part < 4) {
            Bytes[Part++] = (UCHAR)Value;
            Value = Digits = 0;
        } else {
            return STATUS_INVALID_PARAMETER;
        }
    }
    if (Part != 4 || Port > 65535)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(Address, sizeof(*Address));
    Address->sin_family = AF_INET;
    Address->sin_port = RtlUshortByteSwap((USHORT)Port);
    RtlCopyMemory(&Address->sin_addr, Bytes, sizeof(Bytes));
    return STATUS_SUCCESS;
}

static NTSTATUS ReadParameters(PUNICODE_STRING RegistryPath)
{
    UNICODE_STRING Address = { 0, 0, NULL }, Connect = { 0, 0, NULL };
    ULONG Port = 0, Rounds = 1000, Interface = 0, DefaultRounds = 1000;
    RTL_QUERY_REGISTRY_TABLE Table[6];
    NTSTATUS Status;

    RtlZeroMemory(Table, sizeof(Table));
    for (ULONG i = 0; i < 5; i++)
        Table[i].Flags = RTL_QUERY_REGISTRY_DIRECT;
    Table[0].Flags |= RTL_QUERY_REGISTRY_REQUIRED;
    Table[0].Name = L"Interface";
    Table[0].EntryContext = &Interface;
    Table[1].Flags |= RTL_QUERY_REGISTRY_REQUIRED;
    Table[1].Name = L"Address";
    Table[1].EntryContext = &Address;
    Table[2].Name = L"Port";
    Table[2].EntryContext = &Port;
    Table[3].Name = L"Connect";
    Table[3].EntryContext = &Connect;
    Table[4].Name = L"Rounds";
    Table[4].EntryContext = &Rounds;
    Table[4].DefaultType = REG_DWORD;
    Table[4].DefaultData = &DefaultRounds;
    Table[4].DefaultLength = sizeof(DefaultRounds);
    Status = RtlQueryRegistryValues(RTL_REGISTRY_ABSOLUTE, RegistryPath->Buffer, Table, NULL, NULL);
    if (NT_SUCCESS(Status))
        Status = ParseAddress(&Address, Connect.Buffer ? 0 : Port, &Driver.Local);
    if (NT_SUCCESS(Status) && Connect.Buffer) {
        Status = ParseAddress(&Connect, Port, &Driver.Peer);
        Driver.Rounds = Rounds;
    }
    Driver.Interface = Interface;
    if (Address.Buffer)
        RtlFreeUnicodeString(&Address);
    if (Connect.Buffer)
        RtlFreeUnicodeString(&Connect);
    return Status;
}

/* ----- The way to the adapters ----- */

static NTSTATUS CaptureProvider(VOID)
{
    NTSTATUS Status = WskRegister(&Client, &Driver.Registration);

    if (!NT_SUCCESS(Status))
        return Status;
    Status = WskCaptureProviderNPI(&Driver.Registration, WSK_INFINITE_WAIT, &Driver.Provider);
    if (!NT_SUCCESS(Status)) {
        WskDeregister(&Driver.Registration);
        return Status;
    }
    Status = Driver.Provider.Dispatch->WskControlClient(Driver.Provider.Client,
        WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0, NULL, sizeof(Driver.Ndk), &Driver.Ndk, NULL, NULL);
    if (!NT_SUCCESS(Status)) {
        WskReleaseProviderNPI(&Driver.Registration);
        WskDeregister(&Driver.Registration);
    }
    return Status;
}

static VOID ReleaseProvider(VOID)
{
    WskReleaseProviderNPI(&Driver.Registration);
    WskDeregister(&Driver.Registration);
}

/* ----- Begin and end ----- */

static VOID Stop(VOID)
{
    BeginStop();
    CloseAllSockets();
    ExWaitForRundownProtectionRelease(&Driver.Alive);
    EndStop();
    ReleaseProvider();
    IoDeleteDevice(Driver.Device);
}

static VOID Unload(PDRIVER_OBJECT DriverObject)
{
    UNREFERENCED_PARAMETER(DriverObject);
    PAGED_CODE();
    Stop();
    DbgPrint("ndkdriver: unloaded\n");
}

NTSTATUS DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    NTSTATUS Status = ReadParameters(RegistryPath);

    if (!NT_SUCCESS(Status)) {
        DbgPrint("ndkdriver: the parameters are Interface, Address, Port, Connect, Rounds\n");
        return Status;
    }
    ExInitializeRundownProtection(&Driver.Alive);
    KeInitializeSpinLock(&Driver.Lock);
    InitializeListHead(&Driver.Sockets);
    Status = IoCreateDevice(
        DriverObject, 0, NULL, FILE_DEVICE_NETWORK, FILE_DEVICE_SECURE_OPEN, FALSE, &Driver.Device);
    if (!NT_SUCCESS(Status))
        return Status;
    Status = CaptureProvider();
    if (!NT_SUCCESS(Status)) {
        IoDeleteDevice(Driver.Device);
        return Status;
    }
    DriverObject->DriverUnload = Unload;
    Status = Driver.Rounds ? StartClient() : StartServer();
    if (!NT_SUCCESS(Status))
        Stop();
    return Status;
}
