/* SPDX-License-Identifier: MIT */
/*
 * fixture.c - addresses, overlapped requests, completion ports.
 */
#include "fixture.h"

/* Addresses */

struct address make_address(const char *text, unsigned port)
{
    struct address address;
    INT length = sizeof(address.v6);
    memset(&address, 0, sizeof(address));
    bool v6 = strchr(text, ':') && strchr(strchr(text, ':') + 1, ':');
    if (WSAStringToAddressA(
            (LPSTR)(uintptr_t)text, v6 ? AF_INET6 : AF_INET, NULL, &address.any, &length) != 0)
        fail_row("%s is no address", text);
    address.length = (ULONG)length;
    return with_port(address, port);
}

struct address with_port(struct address address, unsigned port)
{
    if (address.any.sa_family == AF_INET)
        address.v4.sin_port = htons((USHORT)port);
    else
        address.v6.sin6_port = htons((USHORT)port);
    return address;
}

unsigned port_of(const struct address *address)
{
    return ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port : address->v6.sin6_port);
}

bool same_ip(const struct address *a, const struct address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return memcmp(&a->v4.sin_addr, &b->v4.sin_addr, 4) == 0;
    return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16) == 0;
}

/* The argument; else NDSPI_ADDRESS; else a loopback address of the list; else its first. */
struct address test_address(void)
{
    const char *text = harness_address() ? harness_address() : getenv("NDSPI_ADDRESS");
    if (text)
        return make_address(text, 0);

    SIZE_T size = 0;
    expect_status(
        ND_BUFFER_OVERFLOW, NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, NULL, &size));
    SOCKET_ADDRESS_LIST *list = keep_memory(size);
    expect_status(ND_SUCCESS, NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, list, &size));
    expect_true(list->iAddressCount > 0);
    int chosen = 0;
    for (int i = list->iAddressCount; i-- > 0;) {
        const struct sockaddr_in *v4 = (const void *)list->Address[i].lpSockaddr;
        if (v4->sin_family == AF_INET && (ntohl(v4->sin_addr.s_addr) >> 24) == 127)
            chosen = i;
    }
    struct address address;
    memset(&address, 0, sizeof(address));
    address.length = (ULONG)list->Address[chosen].iSockaddrLength;
    expect_true(address.length <= sizeof(address.v6));
    memcpy(&address.any, list->Address[chosen].lpSockaddr, address.length);
    return with_port(address, 0);
}

struct address peer_address(void)
{
    const char *text = harness_peer() ? harness_peer() : getenv("NDSPI_PEER");
    return text ? make_address(text, 0) : test_address();
}

/* Overlapped requests */

static struct op *make_op(HANDLE event, ULONG_PTR tag)
{
    struct op *op = keep_memory(sizeof(*op));
    /* Clients leave everything but hEvent uninitialised. */
    memset(&op->overlapped, 0xA5, sizeof(op->overlapped));
    op->event = event;
    op->overlapped.hEvent = event ? (HANDLE)((ULONG_PTR)event | tag) : NULL;
    return op;
}

static HANDLE make_event(BOOL manual)
{
    HANDLE event = CreateEventA(NULL, manual, FALSE, NULL);
    expect_true(event != NULL);
    keep_handle(event);
    return event;
}

struct op *new_op(void)
{
    return make_op(make_event(TRUE), 0);
}

struct op *new_op_auto(void)
{
    return make_op(make_event(FALSE), 0);
}

struct op *new_op_without_event(void)
{
    return make_op(NULL, 0);
}

struct op *new_op_tagged(void)
{
    return make_op(make_event(TRUE), 1);
}

HRESULT result_of(any_object object, struct op *op)
{
    return CALL(object.object, GetOverlappedResult, &op->overlapped, FALSE);
}

HRESULT wait_op(any_object object, struct op *op)
{
    if (WaitForSingleObject(op->event, DEADLINE_MS) != WAIT_OBJECT_0)
        fail_row(
            "an overlapped request did not complete (now %s)", status_name(result_of(object, op)));
    return result_of(object, op);
}

HRESULT finish(any_object object, HRESULT started, struct op *op)
{
    if (started == ND_SUCCESS)
        fail_row("an overlapped method returned ND_SUCCESS");
    return started == ND_PENDING ? wait_op(object, op) : started;
}

bool event_is_set(struct op *op)
{
    return WaitForSingleObject(op->event, 0) == WAIT_OBJECT_0;
}

/* Completion ports */

HANDLE new_port(void)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    expect_true(port != NULL);
    keep_handle(port);
    return port;
}

void attach(HANDLE port, HANDLE file, ULONG_PTR key)
{
    expect_pointer(port, CreateIoCompletionPort(file, port, key, 0));
}

struct packet take_packet(HANDLE port, DWORD timeout_ms)
{
    struct packet packet = { 0 };
    packet.ok =
        GetQueuedCompletionStatus(port, &packet.bytes, &packet.key, &packet.overlapped, timeout_ms);
    packet.error = packet.ok ? 0 : GetLastError();
    return packet;
}

void expect_packet(HANDLE port, ULONG_PTR key, struct op *op, DWORD error)
{
    struct packet packet = take_packet(port, DEADLINE_MS);
    if (packet.overlapped != &op->overlapped)
        fail_row("expected the packet of %p with key %llu, got that of %p with key %llu, error %u",
            (void *)&op->overlapped, (unsigned long long)key, (void *)packet.overlapped,
            (unsigned long long)packet.key, (unsigned)packet.error);
    expect_equal(error, packet.error);
    expect_equal(error == 0, packet.ok != FALSE);
    expect_equal(key, packet.key);
    expect_equal(0, packet.bytes);
}

void expect_no_packet(HANDLE port)
{
    struct packet packet = take_packet(port, 0);
    expect_true(!packet.ok);
    expect_pointer(NULL, packet.overlapped);
    expect_equal(WAIT_TIMEOUT, packet.error);
}
