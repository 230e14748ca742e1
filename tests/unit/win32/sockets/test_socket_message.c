/* SPDX-License-Identifier: MIT */
/*
 * test_socket_message.c - WSARecvMsg, WSASendMsg, multicast groups, SIO_UDP_CONNRESET. Source: Microsoft's pages of the
 * two functions and of the option, and Wine.
 */
#include "tests/unit/win32/sockets/overlapped_socket.h"

/* Two sockets of datagrams, and a message for what the first one receives. */
struct fixture {
    SOCKET receiver, sender;
    struct sockaddr_in to, own, from;
    LPFN_WSARECVMSG receive;
    LPFN_WSASENDMSG send;
    char octets[16];
    union {
        WSACMSGHDR first;
        char octets[128];
    } control;
    WSABUF buffer;
    WSAMSG message;
};

static void *extension(SOCKET socket, GUID id)
{
    void *found = NULL;
    DWORD bytes;

    assert_int_equal(WSAIoctl(socket, SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof(id), &found,
                         sizeof(found), &bytes, NULL, NULL),
        0);
    assert_non_null(found);
    return found;
}

static void renew(struct fixture *f)
{
    f->buffer = (WSABUF){ sizeof(f->octets), f->octets };
    f->message = (WSAMSG){ .name = (LPSOCKADDR)&f->from,
        .namelen = sizeof(f->from),
        .lpBuffers = &f->buffer,
        .dwBufferCount = 1,
        .Control = { sizeof(f->control), f->control.octets } };
}

static struct fixture *begin(void)
{
    static struct fixture f;
    const GUID receive = WSAID_WSARECVMSG, send = WSAID_WSASENDMSG;
    const int on = 1;

    f.receiver = bound_socket(SOCK_DGRAM, &f.to);
    f.sender = bound_socket(SOCK_DGRAM, &f.own);
    f.receive = (LPFN_WSARECVMSG)extension(f.receiver, receive);
    f.send = (LPFN_WSASENDMSG)extension(f.sender, send);
    assert_int_equal(
        setsockopt(f.receiver, IPPROTO_IP, IP_PKTINFO, (const char *)&on, sizeof(on)), 0);
    renew(&f);
    return &f;
}

static void end(struct fixture *f)
{
    assert_int_equal(closesocket(f->receiver), 0);
    assert_int_equal(closesocket(f->sender), 0);
}

static void sends(struct fixture *f, const char *text)
{
    WSABUF parts[2] = { { 2, (char *)(ULONG_PTR)text },
        { (ULONG)strlen(text) - 2, (char *)(ULONG_PTR)text + 2 } };
    WSAMSG message = {
        .name = (LPSOCKADDR)&f->to, .namelen = sizeof(f->to), .lpBuffers = parts, .dwBufferCount = 2
    };
    DWORD sent = 0;

    SetLastError(0xbeef);
    assert_int_equal(WSASendMsg(f->sender, &message, 0, &sent, NULL, NULL), 0);
    assert_win_error(0);
    assert_int_equal(sent, strlen(text));
}

/* To which address the datagram was sent, by which interface. */
static void assert_packet_info(WSAMSG *message)
{
    WSACMSGHDR *header = WSA_CMSG_FIRSTHDR(message);
    IN_PKTINFO info;

    assert_non_null(header);
    assert_int_equal(header->cmsg_level, IPPROTO_IP);
    assert_int_equal(header->cmsg_type, IP_PKTINFO);
    assert_int_equal(header->cmsg_len, WSA_CMSG_LEN(sizeof(info)));
    memcpy(&info, WSA_CMSG_DATA(header), sizeof(info));
    assert_int_equal(info.ipi_addr.s_addr, htonl(INADDR_LOOPBACK));
    assert_int_equal(info.ipi_ifindex, 1);
    assert_null(WSA_CMSG_NXTHDR(message, header));
}

static void test_message(void **state)
{
    struct fixture *f = begin();
    DWORD got = 77;

    (void)state;
    sends(f, "hello");
    SetLastError(0xbeef);
    assert_int_equal(f->receive(f->receiver, &f->message, &got, NULL, NULL), 0);
    assert_win_error(0);
    assert_int_equal(got, 5);
    assert_memory_equal(f->octets, "hello", 5);
    assert_int_equal(f->message.namelen, sizeof(f->from));
    assert_int_equal(f->from.sin_port, f->own.sin_port);
    assert_int_equal(f->message.dwFlags, 0);
    assert_packet_info(&f->message);
    end(f);
}

static void refused(int result, DWORD error)
{
    assert_int_equal(result, -1);
    assert_win_error(error);
}

/* Data for the kernel, which a datagram to another interface would not be sent with. */
static void test_ancillary_data_to_send(void **state)
{
    struct fixture *f = begin();
    IN_PKTINFO info = { .ipi_ifindex = 1 };
    WSACMSGHDR *header = &f->control.first;
    DWORD bytes = 0;

    (void)state;
    assert_int_equal(WSA_CMSGHDR_ALIGN(5), 8);
    assert_int_equal(WSA_CMSGDATA_ALIGN(9), 16);
    assert_int_equal(WSA_CMSG_LEN(5), 21);
    assert_int_equal(WSA_CMSG_SPACE(5), 24);
    ZeroMemory(&f->control, sizeof(f->control));
    header->cmsg_len = WSA_CMSG_LEN(sizeof(info));
    header->cmsg_level = IPPROTO_IP;
    header->cmsg_type = IP_PKTINFO;
    memcpy(WSA_CMSG_DATA(header), &info, sizeof(info));
    memcpy(f->octets, "hello", 5);
    f->buffer.len = 5;
    f->message.name = (LPSOCKADDR)&f->to;
    f->message.namelen = sizeof(f->to);
    f->message.Control.len = WSA_CMSG_SPACE(sizeof(info));
    assert_int_equal(WSASendMsg(f->sender, &f->message, 0, &bytes, NULL, NULL), 0);
    assert_int_equal(bytes, 5);
#ifndef _WIN32 /* WSASendMsg: Wine does not hand on ancillary data */
    info.ipi_ifindex = 0x7fffffff;
    memcpy(WSA_CMSG_DATA(header), &info, sizeof(info));
    assert_int_equal(WSASendMsg(f->sender, &f->message, 0, &bytes, NULL, NULL), -1);
    assert_win_error(SPEC_WSAEADDRNOTAVAIL);
#endif
    end(f);
}

static void test_too_little_room(void **state)
{
    struct fixture *f = begin();
    DWORD got;

    (void)state;
    sends(f, "hello");
    f->buffer.len = 2;
    refused(f->receive(f->receiver, &f->message, &got, NULL, NULL), SPEC_WSAEMSGSIZE);
    assert_memory_equal(f->octets, "he", 2);
    assert_int_equal(
        f->message.dwFlags, DIFFERS(MSG_TRUNC, 0, "WSARecvMsg: Wine does not set MSG_TRUNC"));
    assert_packet_info(&f->message);
    sends(f, "hello");
    renew(f);
    f->message.Control.len = 4;
    refused(f->receive(f->receiver, &f->message, &got, NULL, NULL), SPEC_WSAEMSGSIZE);
    assert_int_equal(f->message.dwFlags, MSG_CTRUNC);
    assert_memory_equal(f->octets, "hello", 5);
    end(f);
}

static void test_peek_without_a_name(void **state)
{
    struct fixture *f = begin();
    const int off = 0;
    u_long on = 1;
    DWORD got = 0;

    (void)state;
    assert_int_equal(
        setsockopt(f->receiver, IPPROTO_IP, IP_PKTINFO, (const char *)&off, sizeof(off)), 0);
    sends(f, "hello");
    for (int peek = 1; peek >= 0; peek--) {
        f->message =
            (WSAMSG){ .lpBuffers = &f->buffer, .dwBufferCount = 1, .dwFlags = peek ? MSG_PEEK : 0 };
        assert_int_equal(f->receive(f->receiver, &f->message, &got, NULL, NULL), 0);
        assert_int_equal(got, 5);
        assert_int_equal(f->message.Control.len, 0);
    }
    assert_int_equal(ioctlsocket(f->receiver, FIONBIO, &on), 0);
    refused(f->receive(f->receiver, &f->message, &got, NULL, NULL), SPEC_WSAEWOULDBLOCK);
    end(f);
}

static void test_overlapped(void **state)
{
    struct fixture *f = begin();
    OVERLAPPED overlapped = { .hEvent = WSACreateEvent() };
    DWORD got = 77, flags = 0;

    (void)state;
    for (int whole = 1; whole >= 0; whole--) {
        renew(f);
        f->buffer.len = whole ? sizeof(f->octets) : 1;
        refused(f->receive(f->receiver, &f->message, NULL, &overlapped, NULL), SPEC_WSA_IO_PENDING);
        sends(f, "later");
        assert_wait(WaitForSingleObject(overlapped.hEvent, LONG_MS), WAIT_OBJECT_0);
        assert_int_equal(
            WSAGetOverlappedResult(f->receiver, &overlapped, &got, FALSE, &flags), whole);
        if (!whole)
            assert_win_error(SPEC_WSAEMSGSIZE);
        assert_int_equal(got, whole ? 5 : 1);
        assert_int_equal(f->message.namelen, sizeof(f->from));
        assert_packet_info(&f->message);
    }
    assert_true(WSACloseEvent(overlapped.hEvent));
    end(f);
}

static void test_wrong_arguments(void **state)
{
    struct fixture *f = begin();
    WSAMSG none = { .lpBuffers = &f->buffer, .dwBufferCount = 1 };
    DWORD bytes;

    (void)state;
    refused(f->receive(f->receiver, NULL, &bytes, NULL, NULL), SPEC_WSAEFAULT);
    refused(f->receive(INVALID_SOCKET, &f->message, &bytes, NULL, NULL), SPEC_WSAENOTSOCK);
    refused(f->send(f->sender, NULL, 0, &bytes, NULL, NULL), SPEC_WSAEFAULT);
    refused(f->send(f->sender, &none, 0, NULL, NULL, NULL), SPEC_WSAEFAULT);
    refused(f->send(INVALID_SOCKET, &none, 0, &bytes, NULL, NULL), SPEC_WSAENOTSOCK);
    refused(f->send(f->sender, &none, 0, &bytes, NULL, NULL),
        DIFFERS_BEFORE_10(SPEC_WSAENOTCONN, SPEC_WSAEINVAL, "send: Wine's error of Linux"));
#ifndef _WIN32 /* WSARecvMsg, WSASendMsg: Wine takes any flag, no buffers, and an address that is cut off */
    refused(f->send(f->sender, &none, MSG_PEEK, &bytes, NULL, NULL), SPEC_WSAEOPNOTSUPP);
    f->message.namelen = 4;
    refused(f->receive(f->receiver, &f->message, &bytes, NULL, NULL), SPEC_WSAEFAULT);
    none.dwBufferCount = 0;
    refused(f->send(f->sender, &none, 0, &bytes, NULL, NULL), SPEC_WSAEINVAL);
    refused(f->receive(f->receiver, &none, &bytes, NULL, NULL), SPEC_WSAEINVAL);
#endif
    end(f);
}

static void test_multicast_groups(void **state)
{
    SOCKET socket_ = socket(AF_INET, SOCK_DGRAM, 0), six = socket(AF_INET6, SOCK_DGRAM, 0);
    IP_MREQ group = { .imr_interface = { .s_addr = htonl(INADDR_LOOPBACK) } };
    IPV6_MREQ group_of_six = { .ipv6mr_interface = 1 };
    const IN_ADDR any = { .s_addr = htonl(0xe0000105) };

    (void)state;
    assert_int_equal(sizeof(group), 8);
    assert_int_equal(sizeof(group_of_six), 20);
    group.imr_multiaddr = any; /* the members are Windows' structures */
    group.imr_interface.S_un.S_addr = htonl(INADDR_LOOPBACK);
    group_of_six.ipv6mr_multiaddr.u.Byte[0] = 0xff;
    group_of_six.ipv6mr_multiaddr.u.Byte[1] = 1;
    group_of_six.ipv6mr_multiaddr.u.Byte[15] = 9;
    assert_int_equal(
        setsockopt(socket_, IPPROTO_IP, IP_ADD_MEMBERSHIP, (char *)&group, sizeof(group)), 0);
    assert_int_equal(
        setsockopt(socket_, IPPROTO_IP, IP_DROP_MEMBERSHIP, (char *)&group, sizeof(group)), 0);
    if (six != INVALID_SOCKET) { /* a host without IPv6 has none */
        assert_int_equal(setsockopt(six, IPPROTO_IPV6, IPV6_JOIN_GROUP, (char *)&group_of_six,
                             sizeof(group_of_six)),
            0);
        assert_int_equal(closesocket(six), 0);
    }
    assert_int_equal(closesocket(socket_), 0);
}

static int set_reports(SOCKET socket, BOOL reports)
{
    DWORD bytes = 77;

    return WSAIoctl(
        socket, SIO_UDP_CONNRESET, &reports, sizeof(reports), NULL, 0, &bytes, NULL, NULL);
}

/* A host refuses a datagram: with FALSE no later call fails for it. */
static void test_refused_datagram(void **state)
{
    struct fixture *f = begin();
    u_long on = 1;
    char octet;

    (void)state;
    assert_int_equal(closesocket(f->receiver), 0);
    assert_int_equal(connect(f->sender, (struct sockaddr *)&f->to, sizeof(f->to)), 0);
    assert_int_equal(ioctlsocket(f->sender, FIONBIO, &on), 0);
#ifndef _WIN32 /* WSAIoctl: Wine takes SIO_UDP_CONNRESET without effect */
    assert_int_equal(send(f->sender, "x", 1, 0), 1);
    refused((int)recv(f->sender, &octet, 1, 0), SPEC_WSAECONNRESET);
    SetLastError(0xbeef);
    refused(WSAIoctl(f->sender, SIO_UDP_CONNRESET, NULL, 0, NULL, 0, &(DWORD){ 0 }, NULL, NULL),
        SPEC_WSAEFAULT);
#endif
    assert_int_equal(set_reports(f->sender, FALSE), 0);
    assert_int_equal(send(f->sender, "x", 1, 0), 1);
    refused((int)recv(f->sender, &octet, 1, 0), SPEC_WSAEWOULDBLOCK);
#ifndef _WIN32 /* WSAIoctl: Wine takes SIO_UDP_CONNRESET without effect */
    for (int i = 0; i < 3; i++)
        assert_int_equal(send(f->sender, "x", 1, 0), 1);
    renew(f);
    refused(f->receive(f->sender, &f->message, &(DWORD){ 0 }, NULL, NULL), SPEC_WSAEWOULDBLOCK);
    assert_int_equal(set_reports(f->sender, TRUE), 0);
    assert_int_equal(send(f->sender, "x", 1, 0), 1);
    refused((int)recv(f->sender, &octet, 1, 0), SPEC_WSAECONNRESET);
#endif
    assert_int_equal(closesocket(f->sender), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_ancillary_data_to_send),
        cmocka_unit_test(test_too_little_room),
        cmocka_unit_test(test_peek_without_a_name),
        cmocka_unit_test(test_overlapped),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_multicast_groups),
        cmocka_unit_test(test_refused_datagram),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
