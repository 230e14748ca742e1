/* SPDX-License-Identifier: MIT */
/* test_verbs.c - a program of NetworkDirect version 2 against one of verbs (verbs_end.h). */
#include "tests/peers/verbs_end.h"

#include "tests/support/nd2_end.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH = 32, OCTETS = 65536 };

static struct nd2_end end;
static ULONG inbound_limit, outbound_limit; /* of the connection that connect_to_peer made */

/* ---- this end ---- */

static void assert_private_data(const void *wanted, size_t length)
{
    unsigned char data[256] = { 0 };
    ULONG size = sizeof(data);

    assert_int_equal(end.connector->lpVtbl->GetPrivateData(end.connector, data, &size), ND_SUCCESS);
    assert_octets(data, size, wanted, length);
}

static int set_up(void **state)
{
    struct nd2_end_options options = { .depth = DEPTH,
        .memory_octets = OCTETS,
        .local_be = address_of(here),
        .peer_be = address_of(there) };

    (void)state;
    verbs_start();
    assert_int_equal(NdStartup(), ND_SUCCESS);
    assert_int_equal(nd2_end_open(&end, &options), ND_SUCCESS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nd2_end_close(&end);
    verbs_end();
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
    HRESULT hr = connect_begin(verbs_listens(), inbound, outbound);
    unsigned asked_responder, asked_initiator;

    verbs_request(&asked_responder, &asked_initiator);
    assert_int_equal(asked_responder, outbound); /* what the peer has to serve */
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
    USHORT port_be;

    assert_int_equal(nd2_end_listen(&end, &port_be), ND_SUCCESS);
    verbs_connects(port_be, responder, initiator);
    assert_int_equal(nd2_end_request(&end), ND_SUCCESS);
    assert_private_data(hello, sizeof(hello));
    assert_int_equal(
        finish(end.connector, end.connector->lpVtbl->Accept(end.connector, (IUnknown *)end.qp,
                                  inbound, outbound, answer, sizeof(answer), fresh())),
        ND_SUCCESS);
    verbs_connected();
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
    verbs_connects(port_be, 1, 1);
    assert_int_equal(nd2_end_request(&end), ND_SUCCESS);
    assert_int_equal(
        end.connector->lpVtbl->Reject(end.connector, answer, sizeof(answer)), ND_SUCCESS);
    verbs_rejected(answer_hex);
}

static void test_the_verbs_program_rejects(void **state)
{
    unsigned responder, initiator;
    HRESULT hr;

    (void)state;
    hr = connect_begin(verbs_listens(), 1, 1);
    verbs_request(&responder, &initiator);
    expect("reject %s", answer_hex);
    assert_int_equal(finish(end.connector, hr), ND_CONNECTION_REFUSED);
    assert_private_data(answer, sizeof(answer));
}

/*
 * Reject in place of CompleteConnect. The peer's program gets the data; on the kernel's iWARP the reply has established
 * the connection already, so it only sees the end.
 */
static void test_the_nd_program_rejects_what_was_accepted(void **state)
{
    HRESULT hr = connect_begin(verbs_listens(), 1, 1);
    unsigned responder, initiator;

    (void)state;
    verbs_request(&responder, &initiator);
    tell("accept 1 1 %s", answer_hex);
    assert_int_equal(finish(end.connector, hr), ND_SUCCESS);
    assert_private_data(answer, sizeof(answer));
    assert_int_equal(
        end.connector->lpVtbl->Reject(end.connector, hello, sizeof(hello)), ND_SUCCESS);
    if (on_siw()) {
        assert_string_equal(hear(), "ok");
        expect("disconnected");
    } else {
        verbs_rejected(hello_hex);
    }
}

static void test_the_smaller_read_limits_hold(void **state)
{
    (void)state;
    connect_to_peer(3, 5, 2, 1);
    /*
     * The peer serves no more; but siw (Linux 6.1) serves what the active side asked for, even if its program accepted
     * less.
     */
    assert_int_equal(outbound_limit, on_siw() ? 5 : 2);
    assert_int_equal(inbound_limit, 1); /* it will send no more */
}

static void test_more_reads_than_the_limits_wait_their_turn(void **state)
{
    struct target target;
    ND2_RESULT results[16];

    (void)state;
    connect_to_peer(2, 2, 2, 2);
    target = verbs_memory();
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

/* Tokens travel unchanged: be32toh makes the peer's key of GetRemoteToken's value, and the reverse. */
static void test_each_side_writes_and_reads_the_others_memory(void **state)
{
    struct target target;
    unsigned long long address = 0;

    (void)state;
    connect_to_peer(4, 4, 4, 4);
    target = verbs_memory();
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
    verbs_gives_up();
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
    verbs_gives_up();
    assert_result(Nd2RequestTypeReceive, ND_CANCELED, 0);
    assert_lost();
    assert_int_equal(end.memory[100], 0);
}

static HRESULT notify(OVERLAPPED *overlapped)
{
    return end.cq->lpVtbl->Notify(end.cq, ND_CQ_NOTIFY_SOLICITED, overlapped);
}

/* A message that is not solicited may wake this end as well, but not on the embedded device. */
static void test_a_solicited_message_of_the_peers_wakes_this_end(void **state)
{
    HRESULT hr;

    (void)state;
    be_connected_by_peer(1, 1, 1, 1);
    assert_int_equal(nd2_end_receive(&end, NULL, 0, 64), ND_SUCCESS);
    assert_int_equal(nd2_end_receive(&end, NULL, 64, 64), ND_SUCCESS);
    hr = notify(fresh());
    expect_status(WC_SUCCESS, "send 0 1");
    if (on_softrdma()) {
        assert_int_equal(hr, ND_PENDING);
        assert_false(HasOverlappedIoCompleted(&end.overlapped));
    }
    expect_status(WC_SUCCESS, "solicit 0 2");
    assert_int_equal(finish(end.cq, hr), ND_SUCCESS);
    assert_result(Nd2RequestTypeReceive, ND_SUCCESS, 1);
    assert_result(Nd2RequestTypeReceive, ND_SUCCESS, 2);
}

/* siw's queues armed for solicited messages report none (Linux 6.1). */
static void test_a_solicited_message_wakes_the_peer(void **state)
{
    (void)state;
    if (on_siw())
        skip();
    connect_to_peer(1, 1, 1, 1);
    expect("receive 0 64");
    expect("arm");
    assert_int_equal(nd2_end_send(&end, NULL, 0, 5, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT), ND_SUCCESS);
    expect("event");
    tell("received");
    assert_string_equal(hear(), "ok 0 5");
    assert_result(Nd2RequestTypeSend, ND_SUCCESS, 0);
}

/* The sender is held up where the transport can; then, or at once, the connection is lost. */
static void test_a_peer_that_sends_without_a_receive_here_loses_the_connection(void **state)
{
    (void)state;
    be_connected_by_peer(1, 1, 1, 1);
    expect_status(on_siw() ? WC_SUCCESS : WC_RNR_RETRY_EXC_ERR, "send 0 8");
    tell("disconnect");
    hear(); /* "ok", or that it was over already */
    assert_lost();
    assert_int_equal(nd2_end_receive(&end, NULL, 0, 64), ND_SUCCESS);
    if (on_siw()) /* it says that the peer has disconnected, so what is posted stays */
        assert_int_equal(end.qp->lpVtbl->Flush(end.qp), ND_SUCCESS);
    assert_result(Nd2RequestTypeReceive, ND_CANCELED, 0);
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
    assert_int_equal(nd2_end_disconnect(&end), ND_SUCCESS);
    assert_result(Nd2RequestTypeReceive, ND_CANCELED, 0);
    assert_string_equal(hear(), "ok");
}

static void test_the_verbs_program_is_killed(void **state)
{
    HRESULT hr;

    (void)state;
    connect_to_peer(1, 1, 1, 1);
    assert_int_equal(nd2_end_receive(&end, NULL, 0, 64), ND_SUCCESS);
    hr = end.connector->lpVtbl->NotifyDisconnect(end.connector, fresh());
    verbs_kill();
    assert_int_equal(finish(end.connector, hr), ND_SUCCESS);
    assert_int_equal(nd2_end_disconnect(&end), ND_SUCCESS);
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
        TEST(test_the_nd_program_rejects_what_was_accepted),
        TEST(test_the_smaller_read_limits_hold),
        TEST(test_more_reads_than_the_limits_wait_their_turn),
        TEST(test_messages_go_both_ways_when_the_nd_program_connected),
        TEST(test_messages_go_both_ways_when_the_verbs_program_connected),
        TEST(test_each_side_writes_and_reads_the_others_memory),
        TEST(test_a_send_with_invalidate_takes_a_windows_access),
        TEST(test_a_wrong_token_reaches_nothing),
        TEST(test_a_solicited_message_of_the_peers_wakes_this_end),
        TEST(test_a_solicited_message_wakes_the_peer),
        TEST(test_a_peer_that_sends_without_a_receive_here_loses_the_connection),
        TEST(test_the_nd_program_disconnects),
        TEST(test_the_verbs_program_disconnects),
        TEST(test_the_verbs_program_is_killed),
    };

    if (!verbs_arguments(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
