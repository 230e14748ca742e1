/* SPDX-License-Identifier: MIT */
/* wsk.c - as much of Winsock Kernel as opens adapters: a registration, and the table of wskndk.h. */
#include <ndkl.h>
#include <ndkwdm.h>
#include <wskndk.h>

/* WSK_REGISTRATION.ReservedRegistrationState, before WskDeregister. */
#define REGISTERED 0x4E444B4C57534B52ull

static EX_RUNDOWN_REF *captures_of(PWSK_REGISTRATION registration)
{
    return (EX_RUNDOWN_REF *)&registration->ReservedRegistrationLock;
}

static NTSTATUS open_adapter(
    PWSK_CLIENT client, NDK_VERSION version, NET_IFINDEX index, NDK_ADAPTER **adapter)
{
    (void)client;
    return NdklOpenAdapter(version, index, adapter);
}

static VOID close_adapter(PWSK_CLIENT client, NDK_ADAPTER *adapter)
{
    (void)client;
    NdklCloseAdapter(adapter);
}

static const WSK_PROVIDER_NDK_DISPATCH ndk_dispatch = {
    .WskOpenNdkAdapter = open_adapter,
    .WskCloseNdkAdapter = close_adapter,
};

static NTSTATUS control_client(PVOID client, ULONG code, SIZE_T input_size, PVOID input,
    SIZE_T output_size, PVOID output, SIZE_T *returned, PIRP irp)
{
    (void)client;
    (void)input_size;
    (void)input;
    if (code != WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH)
        return STATUS_NOT_SUPPORTED;
    if (irp || !output || output_size < sizeof(ndk_dispatch))
        return STATUS_INVALID_PARAMETER;
    memcpy(output, &ndk_dispatch, sizeof(ndk_dispatch));
    if (returned)
        *returned = sizeof(ndk_dispatch);
    return STATUS_SUCCESS;
}

static const WSK_PROVIDER_DISPATCH provider_dispatch = {
    .Version = MAKE_WSK_VERSION(1, 0),
    .WskControlClient = control_client,
};

NTSTATUS WskRegister(PWSK_CLIENT_NPI client, PWSK_REGISTRATION registration)
{
    if (!client || !client->Dispatch || !registration)
        return STATUS_INVALID_PARAMETER;
    *registration = (WSK_REGISTRATION){
        .ReservedRegistrationState = REGISTERED,
        .ReservedRegistrationContext = client,
    };
    ExInitializeRundownProtection(captures_of(registration));
    return STATUS_SUCCESS;
}

NTSTATUS WskCaptureProviderNPI(
    PWSK_REGISTRATION registration, ULONG wait, PWSK_PROVIDER_NPI provider)
{
    (void)wait;
    if (registration->ReservedRegistrationState != REGISTERED ||
        !ExAcquireRundownProtection(captures_of(registration)))
        return STATUS_DEVICE_NOT_READY;
    provider->Client = registration->ReservedRegistrationContext;
    provider->Dispatch = &provider_dispatch;
    return STATUS_SUCCESS;
}

VOID WskReleaseProviderNPI(PWSK_REGISTRATION registration)
{
    ExReleaseRundownProtection(captures_of(registration));
}

VOID WskDeregister(PWSK_REGISTRATION registration)
{
    ExWaitForRundownProtectionRelease(captures_of(registration));
}
