// SPDX-License-Identifier: MIT
// A consumer of NDKPI in C++ that came from Windows: it opens its adapter as a client of Winsock Kernel.
#include <ndkpi.h>
#include <ndkwdm.h>
#include <wskndk.h>

#include <net/if.h>

int main()
{
    const WSK_CLIENT_DISPATCH events = { MAKE_WSK_VERSION(1, 0), 0, nullptr };
    WSK_CLIENT_NPI client = { nullptr, &events };
    WSK_REGISTRATION registration;
    WSK_PROVIDER_NPI provider;
    if (!NT_SUCCESS(WskRegister(&client, &registration)))
        return 1;
    if (!NT_SUCCESS(WskCaptureProviderNPI(&registration, WSK_INFINITE_WAIT, &provider)))
        return 2;
    WSK_PROVIDER_NDK_DISPATCH ndk = {};
    if (provider.Dispatch->WskControlClient(provider.Client, WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH,
            0, nullptr, sizeof(ndk), &ndk, nullptr, nullptr) != STATUS_SUCCESS)
        return 3;
    NDK_VERSION version = { 1, 2 };
    NDK_ADAPTER *adapter = nullptr;
    if (ndk.WskOpenNdkAdapter(provider.Client, version, if_nametoindex("lo"), &adapter) !=
        STATUS_SUCCESS)
        return 4;
    if (adapter->Header.Version.Major != 1 || adapter->Header.Version.Minor != 2)
        return 5;
    ULONG size = 0;
    if (adapter->Dispatch->NdkQueryAdapterInfo(adapter, nullptr, &size) !=
            STATUS_BUFFER_TOO_SMALL ||
        size != 0x60)
        return 6;
    NDK_CONNECTOR *connector = nullptr;
    if (adapter->Dispatch->NdkCreateConnector(adapter, nullptr, nullptr, &connector) !=
        STATUS_SUCCESS)
        return 7;
    // In C++, too, a table may be replaced: that is what Dispatch is for.
    NDK_CONNECTOR_DISPATCH table = *connector->Dispatch;
    connector->Dispatch = &table;
    if (connector->Dispatch->NdkCloseConnector(&connector->Header, nullptr, nullptr) !=
        STATUS_SUCCESS)
        return 8;
    ndk.WskCloseNdkAdapter(provider.Client, adapter);
    WskReleaseProviderNPI(&registration);
    WskDeregister(&registration);
    return 0;
}
