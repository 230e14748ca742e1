/* SPDX-License-Identifier: MIT */
/* test_socket_constants.c - constants that Winsock's functions take, refuse and tell (constants.h). */
#include "tests/unit/winobj/constants.h"

#include <mstcpip.h>
#include <mswsock.h>

static DWORD socket_error(int result)
{
    return result == SOCKET_ERROR ? (DWORD)WSAGetLastError() : 0;
}

static struct sockaddr_in loopback(void)
{
    struct sockaddr_in address;

    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static SOCKET bound(int type)
{
    struct sockaddr_in address = loopback();
    SOCKET made = socket(AF_INET, type, 0);

    assert_int_equal(bind(made, (struct sockaddr *)&address, sizeof(address)), 0);
    return made;
}

/* A connected socket; *far_end is the other one. */
static SOCKET connected(SOCKET *far_end)
{
    SOCKET listener = bound(SOCK_STREAM), made = bound(SOCK_STREAM);
    struct sockaddr_in address;
    socklen_t length = sizeof(address);

    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(connect(made, (struct sockaddr *)&address, sizeof(address)), 0);
    *far_end = accept(listener, NULL, NULL);
    closesocket(listener);
    return made;
}

/* ---- WSAIoctl ---- */

static DWORD control(DWORD code, int type, void *in, DWORD in_bytes, OVERLAPPED *overlapped)
{
    union {
        max_align_t aligned;
        char octets[4096];
    } out;
    SOCKET s = bound(type);
    DWORD done;
    const DWORD error =
        socket_error(WSAIoctl(s, code, in, in_bytes, &out, sizeof(out), &done, overlapped, NULL));

    closesocket(s);
    return error;
}

static DWORD control_code(DWORD code)
{
    return control(code, SOCK_STREAM, NULL, 0, NULL);
}

static DWORD control_route(DWORD code)
{
    struct sockaddr_in address = loopback();

    return control(code, SOCK_STREAM, &address, sizeof(address), NULL);
}

static DWORD control_keepalive(DWORD code)
{
    struct tcp_keepalive values = { 1, 60000, 1000 };

    return control(code, SOCK_STREAM, &values, sizeof(values), NULL);
}

static DWORD control_reset(DWORD code)
{
    BOOL reports = FALSE;

    return control(code, SOCK_DGRAM, &reports, sizeof(reports), NULL);
}

static DWORD control_change(DWORD code)
{
    static OVERLAPPED overlapped;
    const DWORD error = control(code, SOCK_STREAM, NULL, 0, &overlapped);

    while (!HasOverlappedIoCompleted(&overlapped))
        SwitchToThread();
    return error == WSA_IO_PENDING ? 0 : error;
}

static const GUID extensions[] = { WSAID_ACCEPTEX, WSAID_CONNECTEX, WSAID_DISCONNECTEX,
    WSAID_GETACCEPTEXSOCKADDRS, WSAID_WSARECVMSG, WSAID_WSASENDMSG };

static DWORD control_extension(DWORD code)
{
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        GUID id = extensions[i];
        const DWORD error = control(code, SOCK_STREAM, &id, sizeof(id), NULL);

        if (error)
            return error;
    }
    return 0;
}

/* ---- options ---- */

static DWORD set_option(int level, DWORD option, DWORD value)
{
    SOCKET s = socket(AF_INET, SOCK_STREAM, 0);
    const DWORD error =
        socket_error(setsockopt(s, level, (int)option, (const char *)&value, sizeof(value)));

    closesocket(s);
    return error;
}

static DWORD option_socket(DWORD option)
{
    return set_option(SOL_SOCKET, option, 1);
}

static DWORD option_tcp(DWORD option)
{
    return set_option(IPPROTO_TCP, option, 1);
}

static DWORD option_open_type(DWORD type)
{
    DWORD error = set_option(SOL_SOCKET, SO_OPENTYPE, type);

    return error ? error : set_option(SOL_SOCKET, SO_OPENTYPE, 0);
}

static DWORD option_told(DWORD option)
{
    union {
        max_align_t aligned;
        char octets[4096];
    } value;
    socklen_t length = option == SO_PROTOCOL_INFOA   ? sizeof(WSAPROTOCOL_INFOA)
                       : option == SO_PROTOCOL_INFOW ? sizeof(WSAPROTOCOL_INFOW)
                                                     : 4;
    SOCKET s = socket(AF_INET, SOCK_DGRAM, 0);
    DWORD error;

    if (option == SO_CONNECT_TIME) {
        closesocket(s);
        s = socket(AF_INET, SOCK_STREAM, 0);
    }
    error = socket_error(getsockopt(s, SOL_SOCKET, (int)option, value.octets, &length));
    closesocket(s);
    return error;
}

/* ---- connections ---- */

static DWORD disconnect(DWORD flags)
{
    const GUID id = WSAID_DISCONNECTEX;
    LPFN_DISCONNECTEX function = NULL;
    SOCKET far_end, s = connected(&far_end);
    DWORD done, error;

    error = socket_error(WSAIoctl(s, SIO_GET_EXTENSION_FUNCTION_POINTER, (void *)&id, sizeof(id),
        &function, sizeof(function), &done, NULL, NULL));
    closesocket(far_end);
    if (!error && !function(s, NULL, flags, 0))
        error = (DWORD)WSAGetLastError();
    closesocket(s);
    return error;
}

static DWORD any_address(DWORD host)
{
    struct sockaddr_in address = loopback();
    SOCKET s = socket(AF_INET, SOCK_STREAM, 0);
    DWORD error;

    address.sin_addr.s_addr = host;
    error = socket_error(bind(s, (struct sockaddr *)&address, sizeof(address)));
    closesocket(s);
    return error;
}

#ifndef _WIN32 /* Wine ignores the flag */
static DWORD send_flags(DWORD flags)
{
    char octet = 'x';
    WSABUF buffer = { 1, &octet };
    SOCKET far_end, s = connected(&far_end);
    DWORD done, error = socket_error(WSASend(s, &buffer, 1, &done, flags, NULL, NULL));

    closesocket(s);
    closesocket(far_end);
    return error;
}
#endif

/* ---- events ---- */

static DWORD select_events(DWORD events)
{
    WSAEVENT event = WSACreateEvent();
    SOCKET far_end, s = connected(&far_end);
    const DWORD error = socket_error(WSAEventSelect(s, event, (long)events));

    closesocket(s);
    closesocket(far_end);
    WSACloseEvent(event);
    return error;
}

static DWORD event_index(DWORD bit)
{
    WSANETWORKEVENTS told;

    return bit < sizeof(told.iErrorCode) / sizeof(told.iErrorCode[0]) ? 0 : 1;
}

static VOID CALLBACK called(ULONG_PTR unused)
{
    (void)unused;
}

static DWORD wait_told(DWORD what)
{
    WSAEVENT event = WSACreateEvent();
    DWORD told;

    if (what == WSA_WAIT_EVENT_0)
        WSASetEvent(event);
    if (what == WSA_WAIT_IO_COMPLETION)
        QueueUserAPC(called, GetCurrentThread(), 0);
    told = WSAWaitForMultipleEvents(what == WSA_WAIT_FAILED ? 0 : 1, &event, FALSE,
        what == WSA_WAIT_TIMEOUT ? 0 : WSA_INFINITE, what == WSA_WAIT_IO_COMPLETION);
    WSACloseEvent(event);
    return told;
}

static DWORD wait_time(DWORD time_ms)
{
    WSAEVENT event = WSACreateEvent();
    DWORD found;

    WSASetEvent(event);
    found = WSAWaitForMultipleEvents(1, &event, FALSE, time_ms, FALSE);
    WSACloseEvent(event);
    return found;
}

static DWORD wait_count(DWORD count)
{
    WSAEVENT events[WSA_MAXIMUM_WAIT_EVENTS] = { NULL };
    DWORD found;

    for (DWORD i = 0; i < count; i++)
        WSASetEvent(events[i] = WSACreateEvent());
    found = WSAWaitForMultipleEvents(count, events, TRUE, WSA_INFINITE, FALSE);
    for (DWORD i = 0; i < count; i++)
        WSACloseEvent(events[i]);
    return found;
}

static const struct constants table[] = {
    TAKES("WSAIoctl", control_code, SIO_ADDRESS_LIST_QUERY),
    TAKES("WSAIoctl", control_route, SIO_ROUTING_INTERFACE_QUERY),
    TAKES("WSAIoctl", control_keepalive, SIO_KEEPALIVE_VALS),
    TAKES("WSAIoctl", control_reset, SIO_UDP_CONNRESET),
    TAKES("WSAIoctl", control_change, SIO_ADDRESS_LIST_CHANGE),
    TAKES("WSAIoctl", control_extension, SIO_GET_EXTENSION_FUNCTION_POINTER),
    TAKES("setsockopt, SOL_SOCKET", option_socket, SO_DONTLINGER, SO_EXCLUSIVEADDRUSE),
    TAKES("setsockopt, IPPROTO_TCP", option_tcp, TCP_NODELAY),
    TAKES(
        "setsockopt, SO_OPENTYPE", option_open_type, SO_SYNCHRONOUS_ALERT, SO_SYNCHRONOUS_NONALERT),
    TAKES("getsockopt, SOL_SOCKET", option_told, SO_CONNECT_TIME, SO_MAX_MSG_SIZE,
        SO_PROTOCOL_INFOA, SO_PROTOCOL_INFOW, SO_PROTOCOL_INFO, SO_OPENTYPE, SO_EXCLUSIVEADDRUSE),
#ifndef _WIN32 /* Wine sets it, and does not tell it */
    TAKES("getsockopt, SOL_SOCKET", option_told, SO_DONTLINGER),
#endif
    TAKES("DisconnectEx", disconnect, TF_REUSE_SOCKET),
#ifndef _WIN32 /* Wine does not look */
    REFUSES("DisconnectEx", SPEC_WSAEINVAL, disconnect, TF_DISCONNECT),
#endif
    TAKES("bind", any_address, ADDR_ANY),
#ifndef _WIN32 /* Wine ignores the flag */
    REFUSES("WSASend", SPEC_WSAEOPNOTSUPP, send_flags, MSG_PARTIAL),
#endif
    TAKES("WSAEventSelect", select_events, FD_ALL_EVENTS),
    TAKES("WSANETWORKEVENTS, iErrorCode", event_index, FD_READ_BIT, FD_WRITE_BIT, FD_OOB_BIT,
        FD_ACCEPT_BIT, FD_CONNECT_BIT, FD_CLOSE_BIT, FD_QOS_BIT, FD_GROUP_QOS_BIT,
        FD_ROUTING_INTERFACE_CHANGE_BIT, FD_ADDRESS_LIST_CHANGE_BIT),
    TELLS("WSAWaitForMultipleEvents", wait_told, WSA_WAIT_EVENT_0, WSA_WAIT_TIMEOUT,
        WSA_WAIT_IO_COMPLETION, WSA_WAIT_FAILED),
    TAKES("WSAWaitForMultipleEvents, time", wait_time, WSA_INFINITE),
    TAKES("WSAWaitForMultipleEvents, count", wait_count, WSA_MAXIMUM_WAIT_EVENTS),
};

static void test_constants_are_taken_refused_told(void **state)
{
    (void)state;
    assert_true(constants_hold(table, sizeof(table) / sizeof(table[0])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_taken_refused_told),
    };
    WSADATA data;
    int failed;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    WSACleanup();
    return failed;
}
