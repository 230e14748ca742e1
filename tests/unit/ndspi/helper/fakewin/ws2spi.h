/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for Windows' ws2spi.h: what ndspi/helper/catalogue.c takes of Windows, so that it runs under a native
 * test. The functions are the test's.
 */
#ifndef TESTS_UNIT_NDSPI_HELPER_FAKEWIN_WS2SPI_H
#define TESTS_UNIT_NDSPI_HELPER_FAKEWIN_WS2SPI_H

#include <winsock2.h>
#include <windows.h>

#undef WSAPROTOCOL_INFOW
#undef SRWLOCK
#undef SRWLOCK_INIT

#define XP1_GUARANTEED_DELIVERY    0x00000002
#define XP1_GUARANTEED_ORDER       0x00000004
#define XP1_MESSAGE_ORIENTED       0x00000008
#define XP1_CONNECT_DATA           0x00000080
#define PFL_HIDDEN                 0x00000004
#define PFL_NETWORKDIRECT_PROVIDER 0x00000010
#define BASE_PROTOCOL              1

typedef struct {
    int ChainLen;
    DWORD ChainEntries[7];
} FAKE_PROTOCOLCHAIN;

typedef struct {
    DWORD dwServiceFlags1, dwServiceFlags2, dwServiceFlags3, dwServiceFlags4;
    DWORD dwProviderFlags;
    GUID ProviderId;
    DWORD dwCatalogEntryId;
    FAKE_PROTOCOLCHAIN ProtocolChain;
    int iVersion, iAddressFamily, iMaxSockAddr, iMinSockAddr, iSocketType, iProtocol,
        iProtocolMaxOffset;
    int iNetworkByteOrder, iSecurityScheme;
    DWORD dwMessageSize, dwProviderReserved;
    UINT16 szProtocol[256]; /* WCHARs of Windows */
} FAKE_PROTOCOL_INFO;

C_ASSERT(sizeof(FAKE_PROTOCOL_INFO) == 628);

/* Recursion is a test failure; there is one thread. */
typedef int FAKE_LOCK;

#define WSAPROTOCOL_INFOW         FAKE_PROTOCOL_INFO
#define SRWLOCK                   FAKE_LOCK
#define SRWLOCK_INIT              0
#define AcquireSRWLockExclusive   fake_lock
#define ReleaseSRWLockExclusive   fake_unlock
#define AcquireSRWLockShared      fake_lock
#define ReleaseSRWLockShared      fake_unlock
#define WSCEnumProtocols          fake_WSCEnumProtocols
#define WSCGetProviderPath        fake_WSCGetProviderPath
#define WSAProviderConfigChange   fake_WSAProviderConfigChange
#define WSAStartup                fake_WSAStartup
#define WSACleanup                fake_WSACleanup
#define WSAGetLastError           fake_WSAGetLastError
#define WSADATA                   FAKE_WSADATA
#define ExpandEnvironmentStringsW fake_ExpandEnvironmentStringsW
#define GetFileAttributesW        fake_GetFileAttributesW
#define LoadLibraryExW            fake_LoadLibraryExW
#define GetProcAddress            fake_GetProcAddress
#define FreeLibrary               fake_FreeLibrary
#define CloseHandle               fake_CloseHandle
#define SwitchToThread            fake_SwitchToThread
#undef HasOverlappedIoCompleted
#define HasOverlappedIoCompleted(overlapped) ((overlapped)->Internal != 0x103)
#undef INVALID_FILE_ATTRIBUTES
#define INVALID_FILE_ATTRIBUTES 0xFFFFFFFFu
#undef LOAD_WITH_ALTERED_SEARCH_PATH
#define LOAD_WITH_ALTERED_SEARCH_PATH 8
#undef HMODULE
#define HMODULE FAKE_MODULE
#undef MAX_PATH
#define MAX_PATH 260
#ifndef MAKEWORD
#define MAKEWORD(low, high) ((WORD)((BYTE)(low) | (WORD)(BYTE)(high) << 8))
#endif

typedef struct {
    WORD wVersion;
} FAKE_WSADATA;
typedef void *FAKE_MODULE;

void fake_lock(FAKE_LOCK *lock);
void fake_unlock(FAKE_LOCK *lock);
int fake_WSCEnumProtocols(int *protocols, FAKE_PROTOCOL_INFO *entries, DWORD *size, int *error);
int fake_WSCGetProviderPath(GUID *id, WCHAR *path, INT *length, INT *error);
int fake_WSAProviderConfigChange(HANDLE *handle, OVERLAPPED *overlapped, void *routine);
int fake_WSAStartup(WORD version, FAKE_WSADATA *data);
int fake_WSACleanup(void);
int fake_WSAGetLastError(void);
DWORD fake_ExpandEnvironmentStringsW(const WCHAR *from, WCHAR *to, DWORD size);
DWORD fake_GetFileAttributesW(const WCHAR *path);
FAKE_MODULE fake_LoadLibraryExW(const WCHAR *path, HANDLE file, DWORD flags);
void *fake_GetProcAddress(FAKE_MODULE module, const char *name);
BOOL fake_FreeLibrary(FAKE_MODULE module);
BOOL fake_CloseHandle(HANDLE handle);
BOOL fake_SwitchToThread(void);

#endif
