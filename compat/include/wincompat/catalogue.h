/* SPDX-License-Identifier: MIT */
/* catalogue.h - the Winsock catalogue, by which programs find NetworkDirect providers. */
#ifndef WINCOMPAT_CATALOGUE_H
#define WINCOMPAT_CATALOGUE_H

#include <wincompat/socket.h>

WINCOMPAT_BEGIN

#define WSPAPI             WSAAPI
#define MAX_PROTOCOL_CHAIN 7
#define LAYERED_PROTOCOL   0
#define BASE_PROTOCOL      1
#define WSAPROTOCOL_LEN    255

#define PFL_MULTIPLE_PROTO_ENTRIES  0x00000001
#define PFL_RECOMMENDED_PROTO_ENTRY 0x00000002
#define PFL_HIDDEN                  0x00000004
#define PFL_MATCHES_PROTOCOL_ZERO   0x00000008
#define PFL_NETWORKDIRECT_PROVIDER  0x00000010

#define XP1_CONNECTIONLESS           0x00000001
#define XP1_GUARANTEED_DELIVERY      0x00000002
#define XP1_GUARANTEED_ORDER         0x00000004
#define XP1_MESSAGE_ORIENTED         0x00000008
#define XP1_PSEUDO_STREAM            0x00000010
#define XP1_GRACEFUL_CLOSE           0x00000020
#define XP1_EXPEDITED_DATA           0x00000040
#define XP1_CONNECT_DATA             0x00000080
#define XP1_DISCONNECT_DATA          0x00000100
#define XP1_SUPPORT_BROADCAST        0x00000200
#define XP1_SUPPORT_MULTIPOINT       0x00000400
#define XP1_MULTIPOINT_CONTROL_PLANE 0x00000800
#define XP1_MULTIPOINT_DATA_PLANE    0x00001000
#define XP1_QOS_SUPPORTED            0x00002000
#define XP1_INTERRUPT                0x00004000
#define XP1_UNI_SEND                 0x00008000
#define XP1_UNI_RECV                 0x00010000
#define XP1_IFS_HANDLES              0x00020000
#define XP1_PARTIAL_MESSAGE          0x00040000
#define XP1_SAN_SUPPORT_SDP          0x00080000

#define BIGENDIAN              0x0000
#define LITTLEENDIAN           0x0001
#define SECURITY_PROTOCOL_NONE 0x0000

typedef struct _WSAPROTOCOLCHAIN {
    int ChainLen;
    DWORD ChainEntries[MAX_PROTOCOL_CHAIN];
} WSAPROTOCOLCHAIN, *LPWSAPROTOCOLCHAIN;

typedef struct _WSAPROTOCOL_INFOA {
    DWORD dwServiceFlags1;
    DWORD dwServiceFlags2;
    DWORD dwServiceFlags3;
    DWORD dwServiceFlags4;
    DWORD dwProviderFlags;
    GUID ProviderId;
    DWORD dwCatalogEntryId;
    WSAPROTOCOLCHAIN ProtocolChain;
    int iVersion;
    int iAddressFamily;
    int iMaxSockAddr;
    int iMinSockAddr;
    int iSocketType;
    int iProtocol;
    int iProtocolMaxOffset;
    int iNetworkByteOrder;
    int iSecurityScheme;
    DWORD dwMessageSize;
    DWORD dwProviderReserved;
    CHAR szProtocol[WSAPROTOCOL_LEN + 1];
} WSAPROTOCOL_INFOA, *LPWSAPROTOCOL_INFOA;

typedef struct _WSAPROTOCOL_INFOW {
    DWORD dwServiceFlags1;
    DWORD dwServiceFlags2;
    DWORD dwServiceFlags3;
    DWORD dwServiceFlags4;
    DWORD dwProviderFlags;
    GUID ProviderId;
    DWORD dwCatalogEntryId;
    WSAPROTOCOLCHAIN ProtocolChain;
    int iVersion;
    int iAddressFamily;
    int iMaxSockAddr;
    int iMinSockAddr;
    int iSocketType;
    int iProtocol;
    int iProtocolMaxOffset;
    int iNetworkByteOrder;
    int iSecurityScheme;
    DWORD dwMessageSize;
    DWORD dwProviderReserved;
    WCHAR szProtocol[WSAPROTOCOL_LEN + 1];
} WSAPROTOCOL_INFOW, *LPWSAPROTOCOL_INFOW;

#define WSAPROTOCOL_INFO   WINCOMPAT_AW(WSAPROTOCOL_INFO)
#define LPWSAPROTOCOL_INFO WINCOMPAT_AW(LPWSAPROTOCOL_INFO)

WINOBJ_API int WSPAPI WSCEnumProtocols(LPINT protocols, LPWSAPROTOCOL_INFOW entries, LPDWORD size,
    LPINT error) WINCOMPAT_WIDE("WSCEnumProtocols");
WINOBJ_API int WSPAPI WSCGetProviderPath(LPGUID id, WCHAR *path, LPINT length, LPINT error)
    WINCOMPAT_WIDE("WSCGetProviderPath");

WINCOMPAT_END

#endif
