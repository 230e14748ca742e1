/* SPDX-License-Identifier: MIT */
/* smbd_adapter.c - adapters, opened as a client of Winsock Kernel. */
#include "smbd_private.h"

static const WSK_CLIENT_DISPATCH ClientDispatch = { .Version = MAKE_WSK_VERSION(1, 0) };

/* Any version of the first major one will do; that of the second, where there is one, says more. */
static const NDK_VERSION LeastVersion = { .Major = 1, .Minor = 1 };
static const NDK_VERSION SecondVersion = { .Major = 2, .Minor = 0 };

static NTSTATUS CaptureProvider(SMBD_ADAPTER *Adapter)
{
    NTSTATUS Status;

    Adapter->Client.ClientContext = Adapter;
    Adapter->Client.Dispatch = &ClientDispatch;
    Status = WskRegister(&Adapter->Client, &Adapter->Registration);
    if (!NT_SUCCESS(Status))
        return Status;
    Status = WskCaptureProviderNPI(&Adapter->Registration, WSK_INFINITE_WAIT, &Adapter->Provider);
    if (!NT_SUCCESS(Status)) {
        WskDeregister(&Adapter->Registration);
        return Status;
    }
    Status = Adapter->Provider.Dispatch->WskControlClient(Adapter->Provider.Client,
        WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0, NULL, sizeof(Adapter->Ndk), &Adapter->Ndk, NULL,
        NULL);
    if (NT_SUCCESS(Status))
        return STATUS_SUCCESS;
    WskReleaseProviderNPI(&Adapter->Registration);
    WskDeregister(&Adapter->Registration);
    return Status;
}

static VOID ReleaseProvider(SMBD_ADAPTER *Adapter)
{
    WskReleaseProviderNPI(&Adapter->Registration);
    WskDeregister(&Adapter->Registration);
}

static NTSTATUS Prepare(SMBD_ADAPTER *Adapter)
{
    const NDK_ADAPTER_DISPATCH *Dispatch = Adapter->Adapter->Dispatch;
    ULONG Size = sizeof(Adapter->Info);
    NTSTATUS Status;
    SMBD_CALL Call;

    Status = Dispatch->NdkQueryAdapterInfo(Adapter->Adapter, &Adapter->Info, &Size);
    if (!NT_SUCCESS(Status))
        return Status;
    SmbdBeginCall(&Call);
    Status = SmbdEndCreation(&Call,
        Dispatch->NdkCreatePd(Adapter->Adapter, SmbdCreated, &Call, &Adapter->Pd),
        (PVOID *)&Adapter->Pd);
    if (!NT_SUCCESS(Status))
        return Status;
    Adapter->Pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(
        Adapter->Pd, &Adapter->PrivilegedToken);
    return STATUS_SUCCESS;
}

/* An adapter that has the last minor version of the first major one has the second, or need not be asked. */
static NTSTATUS Open(SMBD_ADAPTER *Adapter, NET_IFINDEX Index)
{
    const WSK_PROVIDER_NDK_DISPATCH *Ndk = &Adapter->Ndk;
    PWSK_CLIENT Client = Adapter->Provider.Client;
    NDK_ADAPTER *Second;
    NTSTATUS Status = Ndk->WskOpenNdkAdapter(Client, LeastVersion, Index, &Adapter->Adapter);

    if (!NT_SUCCESS(Status) || Adapter->Adapter->Header.Version.Minor < 2)
        return Status;
    if (NT_SUCCESS(Ndk->WskOpenNdkAdapter(Client, SecondVersion, Index, &Second))) {
        Ndk->WskCloseNdkAdapter(Client, Adapter->Adapter);
        Adapter->Adapter = Second;
    }
    return STATUS_SUCCESS;
}

NTSTATUS SmbdOpenAdapter(NET_IFINDEX Index, SMBD_ADAPTER **Opened)
{
    SMBD_ADAPTER *Adapter = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*Adapter), SMBD_TAG);
    NTSTATUS Status;

    if (!Adapter)
        return STATUS_INSUFFICIENT_RESOURCES;
    Status = CaptureProvider(Adapter);
    if (!NT_SUCCESS(Status)) {
        ExFreePoolWithTag(Adapter, SMBD_TAG);
        return Status;
    }
    Status = Open(Adapter, Index);
    if (NT_SUCCESS(Status)) {
        Status = Prepare(Adapter);
        if (NT_SUCCESS(Status)) {
            *Opened = Adapter;
            return STATUS_SUCCESS;
        }
        Adapter->Ndk.WskCloseNdkAdapter(Adapter->Provider.Client, Adapter->Adapter);
    }
    ReleaseProvider(Adapter);
    ExFreePoolWithTag(Adapter, SMBD_TAG);
    return Status;
}

VOID SmbdCloseAdapter(SMBD_ADAPTER *Adapter)
{
    SmbdCloseObject(&Adapter->Pd->Header, Adapter->Pd->Dispatch->NdkClosePd);
    Adapter->Ndk.WskCloseNdkAdapter(Adapter->Provider.Client, Adapter->Adapter);
    ReleaseProvider(Adapter);
    ExFreePoolWithTag(Adapter, SMBD_TAG);
}

const NDK_ADAPTER_INFO *SmbdAdapterInfo(const SMBD_ADAPTER *Adapter)
{
    return &Adapter->Info;
}

BOOLEAN SmbdInvalidates(const SMBD_ADAPTER *Adapter)
{
    return Adapter->Info.Version.Major > 1 || Adapter->Info.Version.Minor >= 2;
}

BOOLEAN SmbdIsInvalidated(const SMBD_ADAPTER *Adapter)
{
    return SmbdInvalidates(Adapter) && Adapter->Info.FRMRPageCount;
}
