/* SPDX-License-Identifier: MIT */
/* test_socket_flags.c - the flags that Winsock's functions take and refuse (flags.h). */
#include "tests/unit/winobj/flags.h"

#include <iphlpapi.h>

static SOCKET near_end, far_end;

static void connect_ends(void)
{
    SOCKET listener = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    struct sockaddr_in address;
    socklen_t length = sizeof(address);

    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    near_end = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    assert_int_equal(connect(near_end, (struct sockaddr *)&address, sizeof(address)), 0);
    far_end = accept(listener, NULL, NULL);
    closesocket(listener);
    assert_int_equal(send(far_end, "hello, hello, hello, hello, hello", 33, 0), 33);
}

static DWORD ends_closed(bool failed)
{
    const DWORD error = failed ? (DWORD)WSAGetLastError() : 0;

    closesocket(near_end);
    closesocket(far_end);
    return error;
}

static DWORD socket_flags(DWORD flags)
{
    SOCKET made = WSASocketA(AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, 0, flags);

    if (made == INVALID_SOCKET)
        return (DWORD)WSAGetLastError();
    closesocket(made);
    return 0;
}

static DWORD send_flags(DWORD flags)
{
    connect_ends();
    return ends_closed(send(near_end, "x", 1, (int)flags) == SOCKET_ERROR);
}

static DWORD sendto_flags(DWORD flags)
{
    connect_ends();
    return ends_closed(sendto(near_end, "x", 1, (int)flags, NULL, 0) == SOCKET_ERROR);
}

static DWORD recv_flags(DWORD flags)
{
    char octet;

    connect_ends();
    return ends_closed(recv(near_end, &octet, 1, (int)flags) == SOCKET_ERROR);
}

static DWORD recvfrom_flags(DWORD flags)
{
    char octet;

    connect_ends();
    return ends_closed(recvfrom(near_end, &octet, 1, (int)flags, NULL, NULL) == SOCKET_ERROR);
}

static DWORD wsasend_flags(DWORD flags)
{
    char octet = 'x';
    WSABUF buffer = { 1, &octet };
    DWORD done;

    connect_ends();
    return ends_closed(WSASend(near_end, &buffer, 1, &done, flags, NULL, NULL) == SOCKET_ERROR);
}

static DWORD wsarecv_flags(DWORD flags)
{
    char octet;
    WSABUF buffer = { 1, &octet };
    DWORD done;

    connect_ends();
    return ends_closed(WSARecv(near_end, &buffer, 1, &done, &flags, NULL, NULL) == SOCKET_ERROR);
}

static DWORD poll_events(DWORD events)
{
    WSAPOLLFD asked;

    connect_ends();
    asked.fd = near_end;
    asked.events = (SHORT)events;
    return ends_closed(WSAPoll(&asked, 1, 0) == SOCKET_ERROR);
}

static DWORD network_events(DWORD events)
{
    WSAEVENT event = WSACreateEvent();
    DWORD error;

    connect_ends();
    error = ends_closed(WSAEventSelect(near_end, event, (long)events) == SOCKET_ERROR);
    WSACloseEvent(event);
    return error;
}

static DWORD shutdown_how(DWORD how)
{
    connect_ends();
    return ends_closed(shutdown(near_end, (int)how) == SOCKET_ERROR);
}

static DWORD adapter_flags(DWORD flags)
{
    ULONG size = 15000, error;
    IP_ADAPTER_ADDRESSES *all = NULL;

    do {
        free(all);
        all = malloc(size);
        error = GetAdaptersAddresses(AF_UNSPEC, flags, NULL, all, &size);
    } while (error == ERROR_BUFFER_OVERFLOW);
    free(all);
#ifdef _WIN32
    if (error == ERROR_INVALID_DATA && flags == GAA_FLAG_INCLUDE_PREFIX)
        error = 0; /* Wine 10 takes the flag, and cannot read the prefixes that there are */
#endif
    return error;
}

#define POLLS ((DWORD)(USHORT)(POLLIN | POLLRDNORM | POLLRDBAND | POLLOUT | POLLWRNORM))

static const struct function functions[] = {
    { "WSASocket", socket_flags, 0x81, 0xFFFFFE00, SPEC_WSAEINVAL, false,
        WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT },
    { "send", send_flags, MSG_OOB | MSG_DONTROUTE, 0x1B0A0000, SPEC_WSAEINVAL, false,
        MSG_OOB | MSG_DONTROUTE },
    { "sendto", sendto_flags, MSG_OOB | MSG_DONTROUTE, 0x1B0A0000, SPEC_WSAEINVAL, false,
        MSG_OOB | MSG_DONTROUTE },
    { "recv", recv_flags, MSG_PEEK | MSG_WAITALL, 0x1B0A0000, SPEC_WSAEINVAL, false,
        MSG_PEEK | MSG_WAITALL },
    { "recvfrom", recvfrom_flags, MSG_PEEK | MSG_WAITALL, 0x1B0A0000, SPEC_WSAEINVAL, false,
        MSG_PEEK | MSG_WAITALL },
    { "WSASend", wsasend_flags, MSG_OOB | MSG_DONTROUTE, 0, 0, false, MSG_OOB | MSG_DONTROUTE },
    { "WSARecv", wsarecv_flags, MSG_PEEK | MSG_WAITALL | MSG_PARTIAL, 0, 0, false,
        MSG_PEEK | MSG_WAITALL | MSG_PARTIAL },
    { "WSAPoll", poll_events, POLLS, 0xFFFF & ~POLLS, SPEC_WSAEINVAL, false, POLLS },
    { "WSAEventSelect", network_events, 0x3FF, 0xFFFFFC00, SPEC_WSAEINVAL, false,
        FD_READ | FD_WRITE | FD_OOB | FD_ACCEPT | FD_CONNECT | FD_CLOSE | FD_QOS | FD_GROUP_QOS |
            FD_ROUTING_INTERFACE_CHANGE | FD_ADDRESS_LIST_CHANGE },
    { "shutdown", shutdown_how, 3, 0xFFFFFFFC, SPEC_WSAEINVAL, true,
        SD_RECEIVE | SD_SEND | SD_BOTH },
    { "GetAdaptersAddresses", adapter_flags, 0x7FF, 0, 0, false,
        GAA_FLAG_SKIP_UNICAST | GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST |
            GAA_FLAG_SKIP_DNS_SERVER | GAA_FLAG_INCLUDE_PREFIX | GAA_FLAG_SKIP_FRIENDLY_NAME |
            GAA_FLAG_INCLUDE_WINS_INFO | GAA_FLAG_INCLUDE_GATEWAYS |
            GAA_FLAG_INCLUDE_ALL_INTERFACES | GAA_FLAG_INCLUDE_ALL_COMPARTMENTS |
            GAA_FLAG_INCLUDE_TUNNEL_BINDINGORDER },
};

static void test_known_flags_are_taken(void **state)
{
    (void)state;
    assert_known_are_taken(functions, sizeof(functions) / sizeof(functions[0]));
}

static void test_unknown_flags_are_refused(void **state)
{
    (void)state;
    assert_unknown_are_refused(functions, sizeof(functions) / sizeof(functions[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_flags_are_taken),
        cmocka_unit_test(test_unknown_flags_are_refused),
    };
    WSADATA data;
    int failed;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    WSACleanup();
    return failed;
}
