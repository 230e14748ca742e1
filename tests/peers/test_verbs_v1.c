/* SPDX-License-Identifier: MIT */
/* test_verbs_v1.c - a program of NetworkDirect version 1 against one of verbs (verbs_end.h). */
#include "tests/peers/verbs_end.h"

#include "tests/support/nd1_end.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH = 32, OCTETS = 65536 };

static struct nd1_end end;

#define CALL(object, method, ...) (object)->lpVtbl->method(object, ##__VA_ARGS__)

static int set_up(void **state)
{
    struct nd1_end_options options = { .depth = DEPTH,
        .memory_octets = OCTETS,
        .local_be = address_of(here),
        .peer_be = address_of(there) };

    (void)state;
    verbs_start();
    assert_int_equal(NdStartup(), ND_SUCCESS);
    assert_int_equal(nd1_end_open(&end, &options), ND_SUCCESS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nd1_end_close(&end);
    verbs_end();
    return NdCleanup() != ND_SUCCESS;
}

static OVERLAPPED *fresh(void)
{
    return nd_end_fresh(&end.overlapped, end.event);
}

static HRESULT finish(void *object, HRESULT hr)
{
    return nd1_end_wait(&end, object, hr, WAIT_MS);
}

static void assert_private_data(const void *wanted, size_t length)
{
    unsigned char data[256] = { 0 };
    SIZE_T size = sizeof(data);

    assert_int_equal(CALL(end.connector, GetConnectionData, NULL, NULL, data, &size), ND_SUCCESS);
    assert_octets(data, size, wanted, length);
}

static HRESULT connect_begin(void)
{
    struct sockaddr_in remote = nd_end_address(address_of(there), htons((uint16_t)verbs_listens()));

    return CALL(end.connector, Connect, end.endpoint, (struct sockaddr *)&remote, sizeof(remote), 0,
        0, hello, sizeof(hello), fresh());
}

/* Connect has ended with the peer's answer. */
static void be_answered(void)
{
    HRESULT hr = connect_begin();
    unsigned responder, initiator;

    verbs_request(&responder, &initiator);
    assert_int_equal(responder, ND_END_READ_LIMIT);
    assert_int_equal(initiator, ND_END_READ_LIMIT);
    tell("accept 4 4 %s", answer_hex);
    assert_int_equal(finish(end.connector, hr), ND_SUCCESS);
    assert_private_data(answer, sizeof(answer));
}

static void connect_to_peer(void)
{
    be_answered();
    assert_int_equal(
        finish(end.connector, CALL(end.connector, CompleteConnect, fresh())), ND_SUCCESS);
    assert_string_equal(hear(), "ok");
}

static void be_asked(void)
{
    USHORT port_be;

    assert_int_equal(nd1_end_listen(&end, &port_be), ND_SUCCESS);
    verbs_connects(port_be, 4, 4);
    assert_int_equal(nd1_end_request(&end), ND_SUCCESS);
    assert_private_data(hello, sizeof(hello));
}

static void be_connected_by_peer(void)
{
    be_asked();
    assert_int_equal(finish(end.connector, CALL(end.connector, Accept, end.endpoint, answer,
                                               sizeof(answer), fresh())),
        ND_SUCCESS);
    verbs_connected();
}

/* The next result is that of this request. */
static void assert_result(const ND_RESULT *result, HRESULT status, SIZE_T octets)
{
    uint64_t deadline_ms = GetTickCount64() + WAIT_MS;
    ND_RESULT *got = NULL;

    while (!CALL(end.cq, GetResults, &got, 1)) {
        assert_true(GetTickCount64() < deadline_ms);
        assert_int_equal(
            finish(end.cq, CALL(end.cq, Notify, ND_CQ_NOTIFY_ANY, fresh())), ND_SUCCESS);
    }
    assert_ptr_equal(got, result);
    assert_int_equal(got->Status, status);
    assert_int_equal(got->BytesTransferred, octets);
}

/* A window over [offset, offset + octets) of this end's memory. */
static ND_MW_DESCRIPTOR bind_window(INDMemoryWindow *window, size_t offset, size_t octets)
{
    ND_MW_DESCRIPTOR descriptor;
    ND_RESULT bound;

    assert_int_equal(CALL(end.endpoint, Bind, &bound, end.mr, window, end.memory + offset, octets,
                         ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE, &descriptor),
        ND_SUCCESS);
    assert_result(&bound, ND_SUCCESS, 0);
    return descriptor;
}

static INDMemoryWindow *new_window(ND_RESULT *told)
{
    INDMemoryWindow *window;

    assert_int_equal(CALL(end.adapter, CreateMemoryWindow, told, &window), ND_SUCCESS);
    return window;
}

static void assert_lost(void)
{
    HRESULT hr = finish(end.connector, CALL(end.connector, NotifyDisconnect, fresh()));

    assert_true(hr == ND_SUCCESS || hr == ND_CONNECTION_INVALID);
}

/* ---- connections ---- */

static void test_messages_go_both_ways_when_the_nd_program_connected(void **state)
{
    ND_RESULT sent, received;

    (void)state;
    connect_to_peer();
    expect("receive 0 64");
    assert_int_equal(nd1_end_receive(&end, &received, 0, 64), ND_SUCCESS);
    memcpy(end.memory + 100, "from nd", 7);
    assert_int_equal(nd1_end_send(&end, &sent, 100, 7, 0), ND_SUCCESS);
    tell("received");
    assert_string_equal(hear(), "ok 0 7");
    assert_result(&sent, ND_SUCCESS, 7);
    expect("put 100 76657262733132"); /* "verbs12" */
    expect_status(WC_SUCCESS, "send 100 7");
    assert_result(&received, ND_SUCCESS, 7);
    assert_memory_equal(end.memory, "verbs12", 7);
}

static void test_messages_go_both_ways_when_the_verbs_program_connected(void **state)
{
    ND_RESULT sent, received;

    (void)state;
    be_connected_by_peer();
    expect("receive 0 64");
    assert_int_equal(nd1_end_receive(&end, &received, 0, 64), ND_SUCCESS);
    expect_status(WC_SUCCESS, "send 0 3");
    assert_result(&received, ND_SUCCESS, 3);
    assert_int_equal(nd1_end_send(&end, &sent, 0, 9, 0), ND_SUCCESS);
    tell("received");
    assert_string_equal(hear(), "ok 0 9");
    assert_result(&sent, ND_SUCCESS, 9);
}

static void test_the_nd_program_rejects(void **state)
{
    (void)state;
    be_asked();
    assert_int_equal(CALL(end.connector, Reject, answer, sizeof(answer)), ND_SUCCESS);
    verbs_rejected(answer_hex);
}

static void test_the_verbs_program_rejects(void **state)
{
    HRESULT hr = connect_begin();
    unsigned responder, initiator;

    (void)state;
    verbs_request(&responder, &initiator);
    expect("reject %s", answer_hex);
    assert_int_equal(finish(end.connector, hr), ND_CONNECTION_REFUSED);
    assert_private_data(answer, sizeof(answer));
}

/* As with version 2: the kernel's iWARP has established the connection by then. */
static void test_the_nd_program_rejects_what_was_accepted(void **state)
{
    (void)state;
    be_answered();
    assert_int_equal(CALL(end.connector, Reject, hello, sizeof(hello)), ND_SUCCESS);
    if (on_siw()) {
        assert_string_equal(hear(), "ok");
        expect("disconnected");
    } else {
        verbs_rejected(hello_hex);
    }
}

/* ---- memory ---- */

/* A descriptor is what the peer gets: address, length, token, each in network order. */
static void test_the_peer_uses_a_window(void **state)
{
    INDMemoryWindow *window;
    ND_MW_DESCRIPTOR descriptor;

    (void)state;
    connect_to_peer();
    window = new_window(NULL);
    descriptor = bind_window(window, 4096, 4096);
    expect("put 0 a1a2a3");
    expect_status(WC_SUCCESS, "write 0 3 0x%llx 0x%x",
        (unsigned long long)be64toh(descriptor.Base) + 10, descriptor.Token);
    expect_status(WC_SUCCESS, "read 64 3 0x%llx 0x%x",
        (unsigned long long)be64toh(descriptor.Base) + 10, descriptor.Token);
    tell("get 64 3");
    assert_string_equal(hear(), "ok a1a2a3");
    assert_memory_equal(end.memory + 4096 + 10, "\xa1\xa2\xa3", 3);
    CALL(window, Release);
}

static void test_this_end_uses_the_peers_memory(void **state)
{
    struct target target;
    ND_MW_DESCRIPTOR there_is;
    ND_SGE sge;
    ND_RESULT result;

    (void)state;
    connect_to_peer();
    target = verbs_memory();
    there_is = (ND_MW_DESCRIPTOR){ htobe64(target.address), htobe64(1 << 20), target.token };
    memcpy(end.memory, "\x01\x02\x03\x04", 4);
    sge = (ND_SGE){ end.memory, 4, end.mr };
    assert_int_equal(CALL(end.endpoint, Write, &result, &sge, 1, &there_is, 256, 0), ND_SUCCESS);
    assert_result(&result, ND_SUCCESS, 4);
    sge.pAddr = end.memory + 512;
    assert_int_equal(CALL(end.endpoint, Read, &result, &sge, 1, &there_is, 256, 0), ND_SUCCESS);
    assert_result(&result, ND_SUCCESS, 4);
    assert_memory_equal(end.memory + 512, "\x01\x02\x03\x04", 4);
    tell("get 256 4");
    assert_string_equal(hear(), "ok 01020304");
}

/*
 * The message first, then what CreateMemoryWindow was given; the access has ended, and the window can be bound again.
 * siw (Linux 6.1) does not report a peer's invalidation: there only the access ends.
 */
static void test_a_send_with_invalidate_is_told(void **state)
{
    ND_RESULT told = { .Status = ND_PENDING, .BytesTransferred = 5 }, received, last;
    INDMemoryWindow *window;
    ND_MW_DESCRIPTOR descriptor;

    (void)state;
    connect_to_peer();
    window = new_window(&told);
    for (int i = 0; i < (on_siw() ? 1 : 3); i++) {
        descriptor = bind_window(window, 4096, 4096);
        assert_int_equal(nd1_end_receive(&end, &received, 0, 64), ND_SUCCESS);
        expect_status(WC_SUCCESS, "write 0 2 0x%llx 0x%x",
            (unsigned long long)be64toh(descriptor.Base), descriptor.Token);
        expect_status(WC_SUCCESS, "invalidate 0 1 0x%x", descriptor.Token);
        assert_result(&received, ND_SUCCESS, 1);
        if (on_siw())
            break;
        assert_result(&told, ND_SUCCESS, 0);
        assert_int_equal(
            CALL(end.endpoint, Invalidate, &last, window, 0), ND_INVALID_DEVICE_REQUEST);
    }
    assert_int_equal(nd1_end_receive(&end, &last, 64, 64), ND_SUCCESS);
    expect("put 0 5a5a");
    tell("write 0 2 0x%llx 0x%x", (unsigned long long)be64toh(descriptor.Base), descriptor.Token);
    verbs_gives_up();
    assert_result(&last, ND_CANCELED, 0);
    assert_lost();
    assert_int_equal(end.memory[4096], 0);
    CALL(window, Release);
}

/* ---- the end ---- */

static void test_the_nd_program_disconnects(void **state)
{
    ND_RESULT received;

    (void)state;
    connect_to_peer();
    assert_int_equal(nd1_end_receive(&end, &received, 0, 64), ND_SUCCESS);
    tell("disconnected");
    assert_int_equal(nd1_end_disconnect(&end), ND_SUCCESS);
    assert_string_equal(hear(), "ok");
    assert_result(&received, ND_CANCELED, 0);
}

static void test_the_verbs_program_disconnects(void **state)
{
    ND_RESULT received;
    HRESULT hr;

    (void)state;
    be_connected_by_peer();
    assert_int_equal(nd1_end_receive(&end, &received, 0, 64), ND_SUCCESS);
    hr = CALL(end.connector, NotifyDisconnect, fresh());
    tell("disconnect");
    assert_int_equal(finish(end.connector, hr), ND_SUCCESS);
    assert_int_equal(nd1_end_disconnect(&end), ND_SUCCESS);
    assert_result(&received, ND_CANCELED, 0);
    assert_string_equal(hear(), "ok");
}

static void test_the_verbs_program_is_killed(void **state)
{
    ND_RESULT received;
    HRESULT hr;

    (void)state;
    connect_to_peer();
    assert_int_equal(nd1_end_receive(&end, &received, 0, 64), ND_SUCCESS);
    hr = CALL(end.connector, NotifyDisconnect, fresh());
    verbs_kill();
    assert_int_equal(finish(end.connector, hr), ND_SUCCESS);
    assert_int_equal(nd1_end_disconnect(&end), ND_SUCCESS);
    assert_result(&received, ND_CANCELED, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_messages_go_both_ways_when_the_nd_program_connected),
        TEST(test_messages_go_both_ways_when_the_verbs_program_connected),
        TEST(test_the_nd_program_rejects),
        TEST(test_the_verbs_program_rejects),
        TEST(test_the_nd_program_rejects_what_was_accepted),
        TEST(test_the_peer_uses_a_window),
        TEST(test_this_end_uses_the_peers_memory),
        TEST(test_a_send_with_invalidate_is_told),
        TEST(test_the_nd_program_disconnects),
        TEST(test_the_verbs_program_disconnects),
        TEST(test_the_verbs_program_is_killed),
    };

    if (!verbs_arguments(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
