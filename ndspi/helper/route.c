/* SPDX-License-Identifier: MIT */
/*
 * route.c - which local address reaches a peer: connects a UDP socket, which sends nothing, and reads its local
 * address.
 */
#include "ndspi/helper/helper.h"

#include "ndspi/core/address.h"

#ifdef _WIN32
typedef SOCKET socket_handle;
#define NO_SOCKET          INVALID_SOCKET
#define UDP_TYPE           SOCK_DGRAM
#define OS_ERROR(name)     WSA##name
#define last_error()       WSAGetLastError()
#define socket_close(sock) closesocket(sock)
#else
#include <errno.h>
#include <unistd.h>
typedef int socket_handle;
#define NO_SOCKET          (-1)
#define UDP_TYPE           (SOCK_DGRAM | SOCK_CLOEXEC)
#define OS_ERROR(name)     name
#define last_error()       errno
#define socket_close(sock) close(sock)
#endif

static HRESULT status_from_error(int error)
{
    switch (error) {
    case OS_ERROR(ENETUNREACH):
    case OS_ERROR(EAFNOSUPPORT):  /* the family is switched off on this host, */
    case OS_ERROR(EADDRNOTAVAIL): /* or it has no address of that family */
        return ND_NETWORK_UNREACHABLE;
    case OS_ERROR(EHOSTUNREACH): return ND_HOST_UNREACHABLE;
    case OS_ERROR(EMFILE):
#ifndef _WIN32
    case ENFILE:
#endif
        return ND_INSUFFICIENT_RESOURCES;
    case OS_ERROR(ENOBUFS):
#ifndef _WIN32
    case ENOMEM:
#endif
        return ND_NO_MEMORY;
    default: return ND_UNSUCCESSFUL;
    }
}

HRESULT helper_route(const struct sockaddr_storage *remote, struct sockaddr_storage *local)
{
    struct sockaddr_storage destination = *remote;
    socklen_t length = sizeof(*local), size = nd_address_size((const struct sockaddr *)remote);
    HRESULT hr = ND_SUCCESS;

    /* Any port does, but some systems refuse none. */
    nd_address_set_port_be(&destination, htons(9));
    socket_handle sock = socket(remote->ss_family, UDP_TYPE, IPPROTO_UDP);
    if (sock == NO_SOCKET)
        return status_from_error(last_error());
    if (connect(sock, (struct sockaddr *)&destination, size) != 0 ||
        getsockname(sock, (struct sockaddr *)local, &length) != 0)
        hr = status_from_error(last_error());
    socket_close(sock);
    if (SUCCEEDED(hr))
        nd_address_set_port_be(local, 0);
    return hr;
}
