/* SPDX-License-Identifier: MIT */
/* protocol_info.c - SO_PROTOCOL_INFO: what Windows' catalogue says of a socket's protocol. */
#include "win32/sockets/option.h"

#include "win32/sockets/winsock.h"

#include <string.h>
#include <sys/socket.h>

static const struct {
    int family, type, protocol;
    DWORD services, message_bytes, entry;
    int offset; /* iProtocolMaxOffset: the entry is for the numbers protocol to protocol + offset */
    const char *name;
} protocols[] = {
#define STREAM_SERVICES                                                                            \
    (XP1_IFS_HANDLES | XP1_EXPEDITED_DATA | XP1_GRACEFUL_CLOSE | XP1_GUARANTEED_ORDER |            \
        XP1_GUARANTEED_DELIVERY)
#define DATAGRAM_SERVICES                                                                          \
    (XP1_IFS_HANDLES | XP1_SUPPORT_MULTIPOINT | XP1_SUPPORT_BROADCAST | XP1_MESSAGE_ORIENTED |     \
        XP1_CONNECTIONLESS)
    { AF_INET, SOCK_STREAM, IPPROTO_TCP, STREAM_SERVICES, 0, 1001, 0, "TCP/IP" },
    { AF_INET, SOCK_DGRAM, IPPROTO_UDP, DATAGRAM_SERVICES, 65467, 1002, 0, "UDP/IP" },
    { AF_INET, SOCK_RAW, 0, DATAGRAM_SERVICES, 32768, 1003, 255, "RAW/IP" },
    { AF_INET6, SOCK_STREAM, IPPROTO_TCP, STREAM_SERVICES, 0, 1004, 0, "TCP/IPv6" },
    { AF_INET6, SOCK_DGRAM, IPPROTO_UDP, DATAGRAM_SERVICES, 65467, 1005, 0, "UDP/IPv6" },
    { AF_INET6, SOCK_RAW, 0, DATAGRAM_SERVICES, 32768, 1006, 255, "RAW/IPv6" },
};

/* Those of Windows' own provider. */
static const GUID ipv4_provider = { 0xe70f1aa0, 0xab8b, 0x11cf,
    { 0x8c, 0xa3, 0x00, 0x80, 0x5f, 0x48, 0xa1, 0x92 } };
static const GUID ipv6_provider = { 0xf9eab0c0, 0x26d4, 0x11d0,
    { 0xbb, 0xbf, 0x00, 0xaa, 0x00, 0x6c, 0x34, 0xe4 } };

static int option_of(int fd, int option)
{
    int value = -1;
    socklen_t length = sizeof(value);

    return (getsockopt)(fd, SOL_SOCKET, option, &value, &length) ? -1 : value;
}

/* False: Windows' catalogue has no such protocol. */
static bool fill(int fd, WSAPROTOCOL_INFOA *info)
{
    const int family = option_of(fd, SO_DOMAIN), type = option_of(fd, SO_TYPE);

    for (size_t i = 0; i < ARRAYSIZE(protocols); i++) {
        if (protocols[i].family != family || protocols[i].type != type)
            continue;
        *info = (WSAPROTOCOL_INFOA){ .dwServiceFlags1 = protocols[i].services,
            .dwProviderFlags = PFL_MATCHES_PROTOCOL_ZERO,
            .ProviderId = family == AF_INET ? ipv4_provider : ipv6_provider,
            .dwCatalogEntryId = protocols[i].entry,
            .ProtocolChain = { .ChainLen = BASE_PROTOCOL },
            .iVersion = 2,
            .iAddressFamily = family,
            .iMaxSockAddr = (int)win_address_size(family),
            .iMinSockAddr = (int)win_address_size(family),
            .iSocketType = type,
            .iProtocol = protocols[i].protocol,
            .iProtocolMaxOffset = protocols[i].offset,
            .dwMessageSize = protocols[i].message_bytes };
        strcpy(info->szProtocol, protocols[i].name);
        return true;
    }
    return false;
}

int win_protocol_info(int fd, bool wide, void *value, socklen_t *bytes)
{
    enum { HEAD = offsetof(WSAPROTOCOL_INFOA, szProtocol), CHARACTERS = WSAPROTOCOL_LEN + 1 };
    WSAPROTOCOL_INFOA info;
    /* A program's WCHAR has 16 or 32 bits: its room tells which. */
    const size_t width = !wide ? 1 : *bytes >= HEAD + 4 * CHARACTERS ? 4 : 2;
    const size_t needed = HEAD + width * CHARACTERS;
    char *name = (char *)value + HEAD;

    if (!fill(fd, &info))
        return win_winsock_fail(WSAENOPROTOOPT);
    if (*bytes < needed) {
        *bytes = (socklen_t)needed;
        return win_winsock_fail(WSAEFAULT);
    }
    memset(value, 0, needed);
    memcpy(value, &info, HEAD);
    for (size_t i = 0; info.szProtocol[i]; i++) /* ASCII, and the low octet comes first */
        name[i * width] = info.szProtocol[i];
    return 0;
}
