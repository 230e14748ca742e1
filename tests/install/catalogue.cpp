/* SPDX-License-Identifier: MIT */
/*
 * A user's program that brings its own NdStartup and NdOpenAdapter, as Microsoft's samples do: it finds the provider by
 * the Winsock catalogue and loads it, and waits for changes on a port. It needs libndwin32 and libwinobj alone.
 */
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>

#include <ws2spi.h>

#include <initguid.h>
#include <ndspi.h>

#include <cstdio>
#include <vector>

static const DWORD SERVICE =
    XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER | XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA;

typedef HRESULT(WINAPI *GetClassObject)(REFCLSID clsid, REFIID iid, VOID **out);
typedef HRESULT(WINAPI *CanUnloadNow)(VOID);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "catalogue.cpp:%d: not so: %s\n", __LINE__, #condition);               \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

namespace
{

struct Framework {
    HANDLE port, change;
    OVERLAPPED changed;
    SOCKET addresses;
    OVERLAPPED moved;
    HMODULE library;
    GetClassObject get;
    CanUnloadNow can_unload;
} framework;

bool is_provider(const WSAPROTOCOL_INFOW &entry)
{
    return (entry.dwServiceFlags1 & SERVICE) == SERVICE && (entry.dwProviderFlags & PFL_HIDDEN) &&
           (entry.dwProviderFlags & PFL_NETWORKDIRECT_PROVIDER) &&
           entry.ProtocolChain.ChainLen == BASE_PROTOCOL && entry.iVersion == ND_VERSION_2 &&
           (entry.iAddressFamily == AF_INET || entry.iAddressFamily == AF_INET6) &&
           entry.iSocketType == -1 && entry.iProtocol == 0 && entry.iProtocolMaxOffset == 0;
}

/* The entry's id; false: there is none. */
bool find(GUID *id)
{
    DWORD size = 0;
    INT error;
    std::vector<char> memory;
    const WSAPROTOCOL_INFOW *entries;
    int count;

    if (WSCEnumProtocols(NULL, NULL, &size, &error) != SOCKET_ERROR || error != WSAENOBUFS)
        return false;
    memory.resize(size);
    entries = reinterpret_cast<const WSAPROTOCOL_INFOW *>(memory.data());
    count =
        WSCEnumProtocols(NULL, reinterpret_cast<WSAPROTOCOL_INFOW *>(memory.data()), &size, &error);
    for (int i = 0; i < count; i++)
        if (is_provider(entries[i])) {
            *id = entries[i].ProviderId;
            return true;
        }
    return false;
}

bool load(const GUID &id)
{
    WCHAR path[MAX_PATH], expanded[MAX_PATH];
    INT length = MAX_PATH, error;
    GUID copy = id;

    if (WSCGetProviderPath(&copy, path, &length, &error) != 0 ||
        !ExpandEnvironmentStringsW(path, expanded, MAX_PATH) ||
        !(framework.library = LoadLibraryW(expanded)))
        return false;
    framework.get = reinterpret_cast<GetClassObject>(
        reinterpret_cast<void *>(GetProcAddress(framework.library, "DllGetClassObject")));
    framework.can_unload = reinterpret_cast<CanUnloadNow>(
        reinterpret_cast<void *>(GetProcAddress(framework.library, "DllCanUnloadNow")));
    return framework.get && framework.can_unload;
}

} // namespace

/* The names of the helper functions are the program's own. */
static HRESULT NdStartup()
{
    WSADATA data;
    DWORD used;

    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return E_FAIL;
    framework.port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    if (!framework.port || WSAProviderConfigChange(&framework.change, NULL, NULL) != 0 ||
        CreateIoCompletionPort(framework.change, framework.port, 1, 0) != framework.port ||
        WSAProviderConfigChange(&framework.change, &framework.changed, NULL) != SOCKET_ERROR ||
        WSAGetLastError() != WSA_IO_PENDING)
        return E_FAIL;
    framework.addresses = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED);
    if (CreateIoCompletionPort((HANDLE)framework.addresses, framework.port, 2, 0) !=
            framework.port ||
        WSAIoctl(framework.addresses, SIO_ADDRESS_LIST_CHANGE, NULL, 0, NULL, 0, &used,
            &framework.moved, NULL) != SOCKET_ERROR ||
        WSAGetLastError() != WSA_IO_PENDING)
        return E_FAIL;
    return S_OK;
}

static int NdCleanup()
{
    OVERLAPPED *ended;
    ULONG_PTR key;
    DWORD octets;

    CHECK(CloseHandle(framework.change));
    CHECK(closesocket(framework.addresses) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(!GetQueuedCompletionStatus(framework.port, &octets, &key, &ended, INFINITE));
        CHECK(ended == (key == 1 ? &framework.changed : &framework.moved));
        CHECK(GetLastError() == ERROR_OPERATION_ABORTED);
    }
    CHECK(CloseHandle(framework.port));
    CHECK(framework.can_unload() == S_OK);
    CHECK(FreeLibrary(framework.library));
    CHECK(WSACleanup() == 0);
    return 0;
}

int main()
{
    IND2Provider *provider;
    IND2Adapter *adapter;
    struct sockaddr_in address = {};
    UINT64 id;
    GUID entry;

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(NdStartup() == S_OK);
    CHECK(find(&entry));
    CHECK(load(entry));
    CHECK(framework.get(entry, IID_IND2Provider, reinterpret_cast<VOID **>(&provider)) == S_OK);
    CHECK(framework.can_unload() == S_FALSE);
    CHECK(provider->ResolveAddress(
              reinterpret_cast<struct sockaddr *>(&address), sizeof(address), &id) == ND_SUCCESS);
    CHECK(provider->OpenAdapter(IID_IND2Adapter, id, reinterpret_cast<VOID **>(&adapter)) ==
          ND_SUCCESS);
    CHECK(adapter->Release() == 0);
    CHECK(provider->Release() == 0);
    return NdCleanup();
}
