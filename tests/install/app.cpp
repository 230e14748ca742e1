// SPDX-License-Identifier: MIT
// A user's program in C++ that came from Windows: wmain, TCHAR, identifiers defined by INITGUID, virtual methods.
#define INITGUID
#include <windows.h>

#include <tchar.h>

#include <Ndspi.h>
#include <ndsupport.h>
#include <stdio.h>

int _tmain(int argc, TCHAR *argv[])
{
    SIZE_T size = 0;
    if (argc != 1 || argv[0] == NULL)
        return 1;
    if (FAILED(NdStartup()))
        return 2;
    if (NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, NULL, &size) != ND_BUFFER_OVERFLOW)
        return 3;
    SOCKET_ADDRESS_LIST *list =
        (SOCKET_ADDRESS_LIST *)HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, size);
    if (NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, list, &size) != ND_SUCCESS ||
        list->iAddressCount < 1)
        return 4;
    IND2Adapter *adapter = NULL;
    const SOCKET_ADDRESS &first = list->Address[0];
    if (NdOpenAdapter(IID_IND2Adapter, first.lpSockaddr, (SIZE_T)first.iSockaddrLength,
            (void **)&adapter) != ND_SUCCESS)
        return 5;
    ND2_ADAPTER_INFO info = {};
    info.InfoVersion = ND_VERSION_2;
    ULONG length = sizeof(info);
    if (adapter->Query(&info, &length) != ND_SUCCESS || length != 96)
        return 6;
    IUnknown *unknown = NULL;
    if (adapter->QueryInterface(IID_IUnknown, (void **)&unknown) != S_OK || unknown->Release() != 1)
        return 7;
    if (adapter->Release() != 0)
        return 8;
    HeapFree(GetProcessHeap(), 0, list);
    return NdCleanup() == S_OK ? 0 : 9;
}
