/* SPDX-License-Identifier: MIT */
/*
 * test_verbs.c - a NetworkDirect program against one that knows libibverbs and librdmacm alone (verbs_peer.c).
 *
 * Arguments: this end's address, the peer's, the peer's program with its arguments. What is promised to peers is the
 * wire contract of docs/porting.md.
 */
#include "tests/support/program.h"

#include "tests/support/nd2_end.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32, OCTETS = 65536, WAIT_MS = 20000 };

static const char *here, *there;
static const char *const *peer_program;
static struct program peer;
static struct nd2_end end;
static char reply[2 * 65536];
static ULONG inbound_limit, outbound_limit; /* of the connection that connect_to_peer made */

static const unsigned char hello[] = { 'h', 'e', 'l', 'l', 'o', 0, 7 };
static const char hello_hex[] = "68656c6c6f0007";
static const unsigned char answer[] = { 'y', 'e', 's', 0xff };
static const char answer_hex[] = "796573ff";

/* ---- the peer's commands ---- */

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
    char line[4096];
    va_list arguments;

    va_start(arguments, format);
    assert_true(vsnprintf(line, sizeof(line), format, arguments) < (int)sizeof(line));
    va_end(arguments);
    program_tell(&peer, line);
}

static const char *hear(void)
{
    program_line(&peer, reply, sizeof(reply));
    return reply;
}

#define expect(...)                                                                                \
    do {                                                                                           \
        tell(__VA_ARGS__);                                                                         \
        assert_string_equal(hear(), "ok");                                                         \
    } while (0)

/* ok N, of a request: 0 is IBV_WC_SUCCESS. */
#define expect_status(status, ...)                                                                 \
    do {                                                                                           \
        char wanted[16];                                                                           \
        snprintf(wanted, sizeof(wanted), "ok %d", status);                                         \
        tell(__VA_ARGS__);                                                                         \
        assert_string_equal(hear(), wanted);                                                       \
    } while (0)

/* Hex digits of private data: what was sent, and nothing behind it but the zeros of some transports. */
static void assert_data(const char *hex, const char *wanted)
{
    size_t length = strlen(wanted);

    assert_memory_equal(hex, wanted, length);
    assert_int_equal(strspn(hex + length, "0"), strlen(hex + length));
}

static void assert_private_data(const void *wanted, size_t length)
{
    unsigned char data[256] = { 0 };
    ULONG size = sizeof(data);

    assert_int_equal(end.connector->lpVtbl->GetPrivateData(end.connector, data, &size), ND_SUCCESS);
    assert_true(size >= length);
    assert_memory_equal(data, wanted, length);
    for (size_t i = length; i < size; i++)
        assert_int_equal(data[i], 0);
}

/* ---- this end ---- */

static ULONG address_of(const char *text)
{
    struct in_addr address;

    assert_int_equal(inet_pton(AF_INET, text, &address), 1);
    return address.s_addr;
}

static int set_up(void **state)
{
    struct nd2_end_options options = { .depth = DEPTH,
        .memory_octets = OCTETS,
        .local_be = address_of(here),
        .peer_be = address_of(there) };

    (void)state;
    program_start(&peer, peer_program);
    assert_int_equal(NdStartup(), ND_SUCCESS);
    assert_int_equal(nd2_end_open(&end, &options), ND_SUCCESS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nd2_end_close(&end);
    if (peer.pid)
        program_end(&peer);
    peer.pid = 0;
    return NdCleanup() != ND_SUCCESS;
}

static OVERLAPPED *fresh(void)
{
    return nd_end_fresh(&end.overlapped, end.event);
}

static HRESULT finish(void *object, HRESULT hr)
{
    return nd2_end_wait(&end, object, hr, WAIT_MS);
}

static unsigned peer_listens(void)
{
    unsigned port;

    tell("listen %s", there);
    assert_int_equal(sscanf(hear(), "ok %u", &port), 1);
    return port;
}

static HRESULT connect_begin(unsigned port, ULONG inbound, ULONG outbound)
{
    struct sockaddr_in local = nd_end_address(end.local_be, 0);
    struct sockaddr_in remote = nd_end_address(end.peer_be, htons((uint16_t)port));

    assert_int_equal(
        end.connector->lpVtbl->Bind(end.connector, (struct sockaddr *)&local, sizeof(local)),
        ND_SUCCESS);
    return end.connector->lpVtbl->Connect(end.connector, (IUnknown *)end.qp,
        (struct sockaddr *)&remote, sizeof(remote), inbound, outbound, hello, sizeof(hello),
        fresh());
}

/* Both ways: private data, read limits. inbound: of the peer's Reads, outbound: of ours. */
static void connect_to_peer(ULONG inbound, ULONG outbound, unsigned responder, unsigned initiator)
{
    HRESULT hr = connect_begin(peer_listens(), inbound, outbound);
    unsigned asked_responder, asked_initiator;
    char data[513];

    tell("request");
    assert_int_equal(sscanf(hear(), "ok %u %u %512s", &asked_responder, &asked_initiator, data), 3);
    assert_data(data, hello_hex);
    assert_int_equal(asked_responder, outbound); /* what is to be served */
    assert_int_equal(asked_initiator, inbound);  /* what may be sent */
    tell("accept %u %u %s", responder, initiator, answer_hex);
    assert_int_equal(finish(end.connector, hr), ND_SUCCESS);
    assert_private_data(answer, sizeof(answer));
    assert_int_equal(
        end.connector->lpVtbl->GetReadLimits(end.connector, &inbound_limit, &outbound_limit),
        ND_SUCCESS);
    assert_int_equal(
        finish(end.connector, end.connector->lpVtbl->CompleteConnect(end.connector, fresh())),
        ND_SUCCESS);
    assert_string_equal(hear(), "ok");
}

static void be_connected_by_peer(
    unsigned responder, unsigned initiator, ULONG inbound, ULONG outbound)
{
    unsigned got_responder, got_initiator;
    char data[513];
    USHORT port_be;

    assert_int_equal(nd2_end_listen(&end, &port_be), ND_SUCCESS);
    tell("connect %s %s %u %u %u %s", there, here, ntohs(port_be), responder, initiator, hello_hex);
    assert_int_equal(nd2_end_request(&end), ND_SUCCESS);
    assert_private_data(hello, sizeof(hello));
    assert_int_equal(
        finish(end.connector, end.connector->lpVtbl->Accept(end.connector, (IUnknown *)end.qp,
                                  inbound, outbound, answer, sizeof(answer), fresh())),
        ND_SUCCESS);
    assert_int_equal(sscanf(hear(), "ok %u %u %512s", &got_responder, &got_initiator, data), 3);
    assert_data(data, answer_hex);
}

static void assert_result(ND2_REQUEST_TYPE type, HRESULT status, ULONG octets)
{
    ND2_RESULT result;

    assert_int_equal(nd2_end_results(&end, &result, 1, WAIT_MS), 1);
    assert_int_equal(result.Status, status);
    assert_int_equal(result.RequestType, type);
    if (type == Nd2RequestTypeReceive && status == ND_SUCCESS)
        assert_int_equal(result.BytesTransferred, octets);
}

struct target {
    UINT64 address;
    UINT32 token;
};

static struct target peer_memory(void)
{
    unsigned long long address;
    struct target target;

    tell("memory");
    assert_int_equal(sscanf(hear(), "ok %llx %x", &address, &target.token), 2);
    target.address = address;
    return target;
}

static HRESULT post(ND2_REQUEST_TYPE type, size_t offset, ULONG octets, const struct target *target)
{
    ND2_SGE sge = { end.memory + offset, octets, end.lkey };

    if (type == Nd2RequestTypeRead)
        return end.qp->lpVtbl->Read(end.qp, NULL, &sge, 1, target->address, target->token, 0);
    return end.qp->lpVtbl->Write(end.qp, NULL, &sge, 1, target->address, target->token, 0);
}

/* ---- connections ---- */

static void test_the_nd_program_connects_with_private_data_both_ways(void **state)
{
    (void)state;
    connect_to_peer(3, 5, 5, 3);
}

static void test_the_verbs_program_connects_with_private_data_both_ways(void **state)
{
    (void)state;
    be_connected_by_peer(4, 6, 6, 4);
}

static void test_the_nd_program_rejects(void **state)
{
    USHORT port_be;

    (void)state;
    assert_int_equal(nd2_end_listen(&end, &port_be), ND_SUCCESS);
    tell("connect %s %s %u 1 1 %s", there, here, ntohs(port_be), hello_hex);
    assert_int_equal(nd2_end_request(&end), ND_SUCCESS);
    assert_int_equal(
        end.connector->lpVtbl->Reject(end.connector, answer, sizeof(answer)), ND_SUCCESS);
    assert_int_equal(strncmp(hear(), "rejected ", 9), 0);
    assert_data(reply + 9, answer_hex);
}

static void test_the_verbs_program_rejects(void **state)
{
    HRESULT hr;

    (void)state;
    hr = connect_begin(peer_listens(), 1, 1);
    tell("request");
    assert_int_equal(strncmp(hear(), "ok ", 3), 0);
    expect("reject %s", answer_hex);
    assert_int_equal(finish(end.connector, hr), ND_CONNECTION_REFUSED);
    assert_private_data(answer, sizeof(answer));
}

/* siw serves what the active side asked for, whatever its program accepted (Linux 6.1). */
static bool serves_what_was_asked(void)
{
    const char *device = getenv("NDSPI_DEVICE");

    return device && !strncmp(device, "siw", 3);
}

static void test_the_smaller_read_limits_hold(void **state)
{
    (void)state;
    connect_to_peer(3, 5, 2, 1);
    assert_int_equal(outbound_limit, serves_what_was_asked() ? 5 : 2); /* the peer serves no more */
    assert_int_equal(inbound_limit, 1);                                /* it will send no more */
}

static void test_more_reads_than_the_limits_wait_their_turn(void **state)
{
    struct target target;
    ND2_RESULT results[16];

    (void)state;
    connect_to_peer(2, 2, 2, 2);
    target = peer_memory();
    expect("put 0 c0ffee");
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(post(Nd2RequestTypeRead, i * 16, 3, &target), ND_SUCCESS);
    assert_int_equal(nd2_end_results(&end, results, 16, WAIT_MS), 16);
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(results[i].Status, ND_SUCCESS);
        assert_memory_equal(end.memory + i * 16, "\xc0\xff\xee", 3);
    }
    memcpy(end.memory + 1024, "\xab\xcd", 2);
    expect_status(0, "reads 16 64 2 0x%llx 0x%x",
        (unsigned long long)(uintptr_t)(end.memory + 1024), end.rkey);
    tell("get 64 2");
    assert_string_equal(hear(), "ok abcd");
}

/* ---- data ---- */

/* The active side sends first: iWARP without more wants that. */
static void talk(bool we_begin)
{
    expect("receive 0 64");
    assert_int_equal(nd2_end_receive(&end, NULL, 0, 64), ND_SUCCESS);
    memcpy(end.memory + 100, "from nd", 7);
    expect("put 100 76657262733132"); /* "verbs12" */
    for (int turn = 0; turn < 2; turn++) {
        if ((turn == 0) == we_begin) {
            assert_int_equal(nd2_end_send(&end, NULL, 100, 7, 0), ND_SUCCESS);
            tell("received");
            assert_string_equal(hear(), "ok 0 7");
            assert_result(Nd2RequestTypeSend, ND_SUCCESS, 0);
            tell("get 0 7");
            assert_string_equal(hear(), "ok 66726f6d206e64");
        } else {
            expect_status(0, "send 100 7");
            assert_result(Nd2RequestTypeReceive, ND_SUCCESS, 7);
            assert_memory_equal(end.memory, "verbs12", 7);
        }
    }
}

static void test_messages_go_both_ways_when_the_nd_program_connected(void **state)
{
    (void)state;
    connect_to_peer(1, 1, 1, 1);
    talk(true);
}

static void test_messages_go_both_ways_when_the_verbs_program_connected(void **state)
{
    (void)state;
    be_connected_by_peer(1, 1, 1, 1);
    talk(false);
}

/* Tokens are told as they are: GetRemoteToken's value is what the peer turns into a key by be32toh, and the reverse. */
static void test_each_side_writes_and_reads_the_others_memory(void **state)
{
    struct target target;
    unsigned long long address = 0;

    (void)state;
    connect_to_peer(4, 4, 4, 4);
    target = peer_memory();
    address = (uintptr_t)end.memory;

    memcpy(end.memory, "\x01\x02\x03\x04", 4);
    assert_int_equal(post(Nd2RequestTypeWrite, 0, 4, &target), ND_SUCCESS);
    assert_result(Nd2RequestTypeWrite, ND_SUCCESS, 0);
    assert_int_equal(post(Nd2RequestTypeRead, 512, 4, &target), ND_SUCCESS);
    assert_result(Nd2RequestTypeRead, ND_SUCCESS, 0);
    assert_memory_equal(end.memory + 512, "\x01\x02\x03\x04", 4);
    tell("get 0 4");
    assert_string_equal(hear(), "ok 01020304");

    expect("put 200 a1a2a3");
    expect_status(0, "write 200 3 0x%llx 0x%x", address + 1000, end.rkey);
    expect_status(0, "read 300 3 0x%llx 0x%x", address + 1000, end.rkey);
    tell("get 300 3");
    assert_string_equal(hear(), "ok a1a2a3");
    assert_memory_equal(end.memory + 1000, "\xa1\xa2\xa3", 3);
}

/* Hears the end of a request that failed, and does what is due then: where no device tells the peer, a program has to. */
static void peer_gives_up(void)
{
    hear();
    tell("disconnect");
    hear(); /* "ok", or that it was over already */
}

static void assert_lost(void)
{
    HRESULT hr =
        finish(end.connector, end.connector->lpVtbl->NotifyDisconnect(end.connector, fresh()));

    assert_true(hr == ND_SUCCESS || hr == ND_CONNECTION_INVALID);
}

static void test_a_send_with_invalidate_takes_a_windows_access(void **state)
{
    IND2MemoryWindow *window;
    unsigned long long address;
    UINT32 token;

    (void)state;
    connect_to_peer(1, 1, 1, 1);
    address = (uintptr_t)end.memory + 4096;
    assert_int_equal(end.adapter->lpVtbl->CreateMemoryWindow(
                         end.adapter, &IID_IND2MemoryWindow, (void **)&window),
        ND_SUCCESS);
    assert_int_equal(end.qp->lpVtbl->Bind(end.qp, NULL, (IUnknown *)end.mr, (IUnknown *)window,
                         end.memory + 4096, 4096, ND_OP_FLAG_ALLOW_WRITE),
        ND_SUCCESS);
    assert_result(Nd2RequestTypeBind, ND_SUCCESS, 0);
    token = window->lpVtbl->GetRemoteToken(window);
    assert_int_equal(nd2_end_receive(&end, NULL, 0, 64), ND_SUCCESS);
    assert_int_equal(nd2_end_receive(&end, NULL, 64, 64), ND_SUCCESS);

    expect("put 0 5a5a");
    expect_status(0, "write 0 2 0x%llx 0x%x", address, token);
    expect_status(0, "invalidate 0 1 0x%x", token);
    assert_result(Nd2RequestTypeReceive, ND_SUCCESS, 1);
    assert_memory_equal(end.memory + 4096, "\x5a\x5a", 2);

    /* Some devices end the Write before they know; the data stays out, and the connection is lost, on all. */
    tell("write 0 2 0x%llx 0x%x", address + 100, token);
    peer_gives_up();
    assert_result(Nd2RequestTypeReceive, ND_CANCELED, 0);
    assert_lost();
    assert_int_equal(end.memory[4096 + 100], 0);
    window->lpVtbl->Release(window);
}

static void test_a_wrong_token_reaches_nothing(void **state)
{
    (void)state;
    connect_to_peer(1, 1, 1, 1);
    assert_int_equal(nd2_end_receive(&end, NULL, 64, 64), ND_SUCCESS);
    expect("put 0 5a5a");
    tell("write 0 2 0x%llx 0x%x", (unsigned long long)(uintptr_t)(end.memory + 100), ~end.rkey);
    peer_gives_up();
    assert_result(Nd2RequestTypeReceive, ND_CANCELED, 0);
    assert_lost();
    assert_int_equal(end.memory[100], 0);
}

/* ---- the end ---- */

static void test_the_nd_program_disconnects(void **state)
{
    HRESULT hr;

    (void)state;
    connect_to_peer(1, 1, 1, 1);
    assert_int_equal(nd2_end_receive(&end, NULL, 0, 64), ND_SUCCESS);
    tell("disconnected");
    hr = finish(end.connector, end.connector->lpVtbl->Disconnect(end.connector, fresh()));
    assert_int_equal(hr, ND_SUCCESS);
    assert_string_equal(hear(), "ok");
    assert_result(Nd2RequestTypeReceive, ND_CANCELED, 0);
}

static void test_the_verbs_program_disconnects(void **state)
{
    HRESULT hr;

    (void)state;
    be_connected_by_peer(1, 1, 1, 1);
    assert_int_equal(nd2_end_receive(&end, NULL, 0, 64), ND_SUCCESS);
    hr = end.connector->lpVtbl->NotifyDisconnect(end.connector, fresh());
    tell("disconnect");
    assert_int_equal(finish(end.connector, hr), ND_SUCCESS);
    assert_result(Nd2RequestTypeReceive, ND_CANCELED, 0);
    assert_int_equal(nd2_end_disconnect(&end), ND_SUCCESS);
    assert_string_equal(hear(), "ok");
}

static void test_the_verbs_program_is_killed(void **state)
{
    HRESULT hr;

    (void)state;
    connect_to_peer(1, 1, 1, 1);
    assert_int_equal(nd2_end_receive(&end, NULL, 0, 64), ND_SUCCESS);
    hr = end.connector->lpVtbl->NotifyDisconnect(end.connector, fresh());
    program_kill(&peer, SIGKILL);
    peer.pid = 0;
    assert_int_equal(finish(end.connector, hr), ND_SUCCESS);
    assert_result(Nd2RequestTypeReceive, ND_CANCELED, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_nd_program_connects_with_private_data_both_ways),
        TEST(test_the_verbs_program_connects_with_private_data_both_ways),
        TEST(test_the_nd_program_rejects),
        TEST(test_the_verbs_program_rejects),
        TEST(test_the_smaller_read_limits_hold),
        TEST(test_more_reads_than_the_limits_wait_their_turn),
        TEST(test_messages_go_both_ways_when_the_nd_program_connected),
        TEST(test_messages_go_both_ways_when_the_verbs_program_connected),
        TEST(test_each_side_writes_and_reads_the_others_memory),
        TEST(test_a_send_with_invalidate_takes_a_windows_access),
        TEST(test_a_wrong_token_reaches_nothing),
        TEST(test_the_nd_program_disconnects),
        TEST(test_the_verbs_program_disconnects),
        TEST(test_the_verbs_program_is_killed),
    };

    if (argc < 4) {
        fprintf(stderr, "usage: %s ADDRESS PEER_ADDRESS PEER [ARGUMENT...]\n", argv[0]);
        return 2;
    }
    here = argv[1];
    there = argv[2];
    peer_program = (const char *const *)argv + 3;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
