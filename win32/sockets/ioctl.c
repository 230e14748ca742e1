/* SPDX-License-Identifier: MIT */
/* ioctl.c - WSAIoctl: local addresses, pointers to the extension functions, keep-alive times. */
#include "win32/sockets/change.h"
#include "win32/sockets/object.h"

#include <mstcpip.h>
#include <mswsock.h>

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

struct answer {
    void *out;
    DWORD room, returned;
};

static int family_of(SOCKET socket)
{
    int family = 0;
    socklen_t length = sizeof(family);

    if (socket > INT32_MAX || getsockopt((int)socket, SOL_SOCKET, SO_DOMAIN, &family, &length))
        return -1;
    return family;
}

static DWORD address_size(int family)
{
    return family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* Asks the kernel's routing, by connecting a datagram socket, which sends no packet. */
static int routing_query(const struct sockaddr *remote, DWORD bytes, struct answer *answer)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to, local;
    socklen_t length = sizeof(local);
    int fd, result;

    if (!remote || bytes < sizeof(*remote))
        return win_winsock_fail(WSAEFAULT);
    if (remote->sa_family != AF_INET && remote->sa_family != AF_INET6)
        return win_winsock_fail(WSAEAFNOSUPPORT);
    if (bytes < address_size(remote->sa_family))
        return win_winsock_fail(WSAEFAULT);
    memcpy(&to, remote, address_size(remote->sa_family));
    /* The port has the same offset in both families; connect refuses port 0 for some addresses. */
    to.v4.sin_port = htons(9);
    if ((fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)) < 0)
        return win_winsock_fail_errno();
    result =
        connect(fd, &to.any, address_size(to.any.sa_family)) || getsockname(fd, &local.any, &length)
            ? win_winsock_fail_errno()
            : 0;
    close(fd);
    if (result)
        return result;
    local.v4.sin_port = 0;
    answer->returned = address_size(to.any.sa_family);
    if (!answer->out || answer->room < answer->returned)
        return win_winsock_fail(WSAEFAULT);
    memcpy(answer->out, &local, answer->returned);
    return 0;
}

static bool is_listed(const struct ifaddrs *interface, int family)
{
    return interface->ifa_addr && interface->ifa_addr->sa_family == family &&
           (interface->ifa_flags & IFF_UP) && !(interface->ifa_flags & IFF_LOOPBACK);
}

/* Fills a SOCKET_ADDRESS_LIST, with the addresses behind it. As on Windows it leaves out the loopback interface. */
static int address_list_query(int family, struct answer *answer)
{
    SOCKET_ADDRESS_LIST *list = answer->out;
    struct ifaddrs *interfaces;
    DWORD each = address_size(family), count = 0;
    char *next;

    if (getifaddrs(&interfaces))
        return win_winsock_fail_errno();
    for (struct ifaddrs *i = interfaces; i; i = i->ifa_next)
        count += is_listed(i, family);
    answer->returned = (DWORD)SIZEOF_SOCKET_ADDRESS_LIST(count) + count * each;
    if (!list || answer->room < answer->returned) {
        freeifaddrs(interfaces);
        return win_winsock_fail(WSAEFAULT);
    }
    list->iAddressCount = 0;
    next = (char *)list + SIZEOF_SOCKET_ADDRESS_LIST(count);
    for (struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
        if (!is_listed(i, family))
            continue;
        memcpy(next, i->ifa_addr, each);
        list->Address[list->iAddressCount].lpSockaddr = (LPSOCKADDR)(void *)next;
        list->Address[list->iAddressCount++].iSockaddrLength = (INT)each;
        next += each;
    }
    freeifaddrs(interfaces);
    return 0;
}

static int extension_query(const GUID *id, DWORD bytes, struct answer *answer)
{
    static const struct {
        GUID id;
        void (*function)(void);
    } functions[] = {
        { WSAID_ACCEPTEX, (void (*)(void))AcceptEx },
        { WSAID_GETACCEPTEXSOCKADDRS, (void (*)(void))GetAcceptExSockaddrs },
        { WSAID_CONNECTEX, (void (*)(void))win_connect_ex },
        { WSAID_DISCONNECTEX, (void (*)(void))win_disconnect_ex },
        { WSAID_WSARECVMSG, (void (*)(void))win_receive_message },
        { WSAID_WSASENDMSG, (void (*)(void))WSASendMsg },
    };

    if (!id || bytes < sizeof(*id) || !answer->out || answer->room < sizeof(void *))
        return win_winsock_fail(WSAEFAULT);
    for (size_t i = 0; i < ARRAYSIZE(functions); i++) {
        if (memcmp(id, &functions[i].id, sizeof(*id)) != 0)
            continue;
        memcpy(answer->out, &functions[i].function, sizeof(functions[i].function));
        answer->returned = sizeof(functions[i].function);
        return 0;
    }
    return win_winsock_fail(WSAEINVAL);
}

static int keepalive_set(SOCKET socket, const void *values, DWORD bytes)
{
    struct tcp_keepalive copy;

    if (!values || bytes < sizeof(copy))
        return win_winsock_fail(WSAEFAULT);
    memcpy(&copy, values, sizeof(copy));
    return win_socket_keepalive((int)socket, &copy);
}

/* SIO_UDP_CONNRESET: whether a call fails because a host refused a datagram that was sent before. */
static int connreset_set(SOCKET number, const void *value, DWORD bytes)
{
    struct win_socket *socket;
    BOOL reports;

    if (!value || bytes < sizeof(reports))
        return win_winsock_fail(WSAEFAULT);
    memcpy(&reports, value, sizeof(reports));
    if (!(socket = win_socket_get(number)))
        return SOCKET_ERROR;
    atomic_store(&socket->quiet, !reports);
    win_socket_unref(socket);
    return 0;
}

/* SIO_ADDRESS_LIST_CHANGE: a request that the next change of an address of the host ends. */
static int address_list_change(
    SOCKET number, LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct win_socket *socket;
    DWORD error;

    if (!overlapped)
        return win_winsock_fail(WSAEOPNOTSUPP);
    if (!(socket = win_socket_get(number)))
        return SOCKET_ERROR;
    error = win_address_change_begin(socket->file, overlapped, routine);
    win_socket_unref(socket);
    return win_winsock_fail(error);
}

/*
 * WSAIoctl - answers questions about sockets, and sets the times of keep-alive probes, at once; waits for a change of
 * addresses.
 * code        SIO_ROUTING_INTERFACE_QUERY: in is a remote address, out receives the local one that leads there;
 *             SIO_ADDRESS_LIST_QUERY: out receives a SOCKET_ADDRESS_LIST of the socket's family;
 *             SIO_GET_EXTENSION_FUNCTION_POINTER: in is a WSAID_*, out receives the pointer;
 *             SIO_KEEPALIVE_VALS: in is a struct tcp_keepalive; its times are rounded up to seconds;
 *             SIO_UDP_CONNRESET: in is a BOOL, FALSE: calls on a connected socket of datagrams do not fail because a
 *             host refused an older one; those on another one never do;
 *             SIO_ADDRESS_LIST_CHANGE: the request ends when the host gets or loses an address
 * returned    out: the bytes written, or needed where out was too small; NULL with SIO_ADDRESS_LIST_CHANGE
 * overlapped  NULL; of SIO_ADDRESS_LIST_CHANGE: its request
 * routine     NULL, or of that request, as in WSARecvFrom
 * Returns     0, or SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEFAULT (returned is NULL, out or in too
 *             small), WSAEINVAL (another WSAID_*), WSAEAFNOSUPPORT, WSAEOPNOTSUPP (another code; overlapped or
 *             not, where that is not possible; routine), WSA_IO_PENDING, WSAENOBUFS, or an error of routing
 *             (WSAENETUNREACH, ...).
 */
int WSAAPI WSAIoctl(SOCKET socket, DWORD code, LPVOID in, DWORD in_bytes, LPVOID out,
    DWORD out_bytes, LPDWORD returned, LPWSAOVERLAPPED overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct answer answer = { .out = out, .room = out_bytes };
    int family, result;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if ((family = family_of(socket)) < 0)
        return win_winsock_fail(WSAENOTSOCK);
    if (code == SIO_ADDRESS_LIST_CHANGE)
        return address_list_change(socket, overlapped, routine);
    if (!returned)
        return win_winsock_fail(WSAEFAULT);
    if (overlapped || routine)
        return win_winsock_fail(WSAEOPNOTSUPP);
    switch (code) {
    case SIO_ROUTING_INTERFACE_QUERY: result = routing_query(in, in_bytes, &answer); break;
    case SIO_ADDRESS_LIST_QUERY:
        if (family != AF_INET && family != AF_INET6)
            return win_winsock_fail(WSAEOPNOTSUPP);
        result = address_list_query(family, &answer);
        break;
    case SIO_GET_EXTENSION_FUNCTION_POINTER: result = extension_query(in, in_bytes, &answer); break;
    case SIO_UDP_CONNRESET: result = connreset_set(socket, in, in_bytes); break;
    case SIO_KEEPALIVE_VALS: result = keepalive_set(socket, in, in_bytes); break;
    default: return win_winsock_fail(WSAEOPNOTSUPP);
    }
    *returned = answer.returned;
    if (!result)
        SetLastError(ERROR_SUCCESS);
    return result;
}
