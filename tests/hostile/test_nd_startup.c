/* SPDX-License-Identifier: MIT */
/*
 * test_nd_startup.c - a NetworkDirect program that is being connected while peers misbehave: its Connect, Accept,
 * CompleteConnect end with the documented status, a GetConnectionRequest waits for a peer that means it, and the next
 * good peer is served by the same objects as far as the interface allows.
 */
#include "tests/hostile/nd_scene.h"
#include "tests/support/spec_codes.h"

#include "util/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define GOODBYE "goodbye" /* with its 0: 8 octets */

static struct wire frame;
static struct program program, other;
static struct peer peer;

static void transmit(void)
{
    peer_send_frame(&peer, &frame);
}

static void expect_flushed(void)
{
    ND2_RESULT results[PROGRAM_RECEIVES];

    program_results(&program, results, PROGRAM_RECEIVES);
    for (size_t i = 0; i < PROGRAM_RECEIVES; i++) {
        assert_ptr_equal(results[i].RequestContext, (void *)i);
        assert_int_equal(results[i].Status, ND_CANCELED);
    }
    program_no_results(&program);
}

/* data NULL: GetPrivateData fails. */
static void expect_private_data(const void *data, ULONG octets)
{
    uint8_t got[512];
    ULONG length = sizeof got;
    HRESULT hr = program.end.connector->lpVtbl->GetPrivateData(program.end.connector, got, &length);

    if (!data) {
        assert_int_equal(hr, ND_CONNECTION_INVALID);
        return;
    }
    assert_int_equal(hr, ND_SUCCESS);
    assert_int_equal(length, octets);
    assert_memory_equal(got, data, octets);
}

/* A good client comes and is served by the program's listener. */
static void expect_service(void)
{
    program_open(&other, ND_BY_EVENT);
    program_meet(&other, &program);
    program_exchange(&other, &program);
    program_close(&other);
}

static const uint8_t long_data[512] = { 0x42, 0x43 };

/* ------------------------------------------------------------------------------------------------ Accept */

static void nothing(void)
{
}

static void wrong_crc(void)
{
    wire_vector(&frame, "f.crc_bad");
    transmit();
}

static void half_rtr(void)
{
    wire_tagged(&frame, WIRE_WRITE, true, 1, 0, NULL, 0);
    peer_send(&peer, frame.octets, 11);
}

static void text(void)
{
    peer_send(&peer, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 35);
}

static void write_unknown(void)
{
    wire_tagged(&frame, WIRE_WRITE, true, 0x00dead00, 0, "12345678", 8);
    transmit();
}

static void terminate(void)
{
    wire_terminate(&frame, 0x0000, NULL);
    transmit();
}

static void acknowledge_one(void)
{
    wire_acknowledge(&frame, 1);
    transmit();
}

static void refuse(void)
{
    wire_refusal(&frame, 0, GOODBYE, 8, 8);
    transmit();
}

static void refuse_at_length(void)
{
    wire_refusal(&frame, 0, long_data, 512, 512);
    transmit();
}

static void refuse_cut(void)
{
    wire_refusal(&frame, 0, GOODBYE, 8, 8);
    frame.length -= 3;
    transmit();
}

static const struct accept_row {
    const char *name;
    bool soft, reset;
    void (*play)(void); /* after the Reply; then the stream ends */
    unsigned answer;    /* PEER_NO_ANSWER: none but the end */
    const void *data;
    ULONG data_octets;
} accept_rows[] = {
    { "Accept: the end", false, false, nothing, PEER_NO_ANSWER },
    { "Accept: a reset", false, true, nothing, PEER_NO_ANSWER },
    { "Accept: wrong CRC", false, false, wrong_crc, PEER_NO_ANSWER },
    { "Accept: half an FPDU", false, false, half_rtr, PEER_NO_ANSWER },
    { "Accept: half an FPDU and a reset", true, true, half_rtr, PEER_NO_ANSWER },
    { "Accept: text", false, false, text, PEER_NO_ANSWER },
    { "Accept: a Write to unknown memory", false, false, write_unknown, 0x1100 },
    { "Accept: a Terminate", false, false, terminate, PEER_NO_ANSWER },
    { "Accept: an acknowledgement", true, false, acknowledge_one, 0x1101 },
    { "Accept: a refusal", true, false, refuse, PEER_NO_ANSWER, GOODBYE, 8 },
    { "Accept: a long refusal", true, false, refuse_at_length, PEER_NO_ANSWER, long_data, 255 },
    { "Accept: part of a refusal", true, false, refuse_cut, PEER_NO_ANSWER },
    { "Accept: a refusal without the mark", false, false, refuse, PEER_NO_ANSWER },
};

/* A peer asks for a connection and has the Reply. */
static void reach_accept(bool soft)
{
    program_get_begin(&program);
    peer_connect(&peer, program.port_be);
    wire_startup2(&frame, false, 4, 4);
    frame.octets[16] |= soft ? 0x04 : 0;
    transmit();
    assert_int_equal(program_get_end(&program), ND_SUCCESS);
    program_accept_begin(&program);
    assert_true(peer_receive_startup(&peer, &frame));
    assert_memory_equal(frame.octets, "MPA ID Rep Frame", 16);
}

static void test_accept(void **state)
{
    const struct accept_row *row = *state;

    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        program_open(&program, (enum nd_manner)manner);
        program_listen(&program);
        reach_accept(row->soft);
        row->play();
        if (row->reset)
            peer_abort(&peer);
        else if (row->answer == PEER_NO_ANSWER)
            peer_half_close(&peer);
        assert_int_equal(program_accept_end(&program), ND_CONNECTION_REFUSED);
        expect_private_data(row->data, row->data_octets);
        expect_flushed();
        assert_int_equal(program_notify_begin(&program), (HRESULT)0xC000020Cu);
        assert_int_equal(program_disconnect(&program), ND_CONNECTION_INVALID);
        if (!row->reset)
            assert_int_equal(peer_answer(&peer), row->answer);
        program_renew(&program);
        expect_service();
        program_close(&program);
    }
    programs_unharmed();
}

/* A peer that has the Reply and says nothing more: the program may wait as long as it likes, or not. */
static void test_accept_of_a_silent_peer_is_cancelled(void **state)
{
    (void)state;
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        program_open(&program, (enum nd_manner)manner);
        program_listen(&program);
        reach_accept(manner == 0);
        assert_int_equal(
            program.end.connector->lpVtbl->CancelOverlappedRequests(program.end.connector),
            ND_SUCCESS);
        assert_int_equal(program_accept_end(&program), ND_CANCELED);
        expect_flushed();
        assert_int_equal(peer_answer(&peer), PEER_NO_ANSWER);
        program_renew(&program);
        expect_service();
        program_close(&program);
    }
}

/* It may also leave that to the device, which waits NDSPI_SOFT_ANSWER_MS. */
static void test_accept_of_a_silent_peer_times_out(void **state)
{
    (void)state;
    assert_int_equal(setenv("NDSPI_SOFT_ANSWER_MS", "50", 1), 0);
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        program_open(&program, (enum nd_manner)manner);
        program_listen(&program);
        reach_accept(manner == 0);
        assert_int_equal(program_accept_end(&program), (HRESULT)SPEC_ND_IO_TIMEOUT);
        expect_flushed();
        assert_int_equal(peer_answer(&peer), PEER_NO_ANSWER);
        program_renew(&program);
        expect_service();
        program_close(&program);
    }
    assert_int_equal(unsetenv("NDSPI_SOFT_ANSWER_MS"), 0);
}

/* ------------------------------------------------------------------------------------------------ Connect */

#define REPLY "MPA ID Rep Frame"

static const struct connect_row {
    const char *name, *octets; /* what each attempt is answered with, before the end */
    size_t length;
    bool reset;
    const void *data;
    ULONG data_octets;
} connect_rows[] = {
    { "Connect: the end", "", 0 },
    { "Connect: a reset", "", 0, true },
    { "Connect: text", "SSH-2.0-OpenSSH_9.2p1\r\n", 23 },
    { "Connect: a Request", "MPA ID Req Frame\x50\x02\0\x04\x80\x04\xc0\x04", 24 },
    { "Connect: half a Reply", REPLY "\x50\x02\0", 19 },
    { "Connect: half a Reply and a reset", REPLY "\x50\x02\0", 19, true },
    { "Connect: Markers", REPLY "\xd0\x02\0\x04\x80\x04\x80\x04", 24 },
    { "Connect: more private data than there may be", REPLY "\x50\x02\x02\x01", 20 },
    { "Connect: no room for the enhanced word", REPLY "\x50\x02\0\x03\x80\x04\x80", 23 },
    { "Connect: no enhanced word", REPLY "\x40\x02\0\0", 20 },
    { "Connect: revision 3", REPLY "\x50\x03\0\x04\x80\x04\x80\x04", 24 },
    { "Connect: too many Reads", REPLY "\x50\x02\0\x04\x80\x04\xbf\xfe", 24 },
    { "Connect: no RTR", REPLY "\x50\x02\0\x04\x80\x04\0\x04", 24 },
    { "Connect: a rejection", REPLY "\x70\x02\0\x04\x80\x04\x80\x04", 24 },
    { "Connect: a rejection with data", REPLY "\x70\x02\0\x0c\x80\x04\x80\x04" GOODBYE, 32, false,
        GOODBYE, 8 },
};

static bool connect_runs(void)
{
    return program.end.connector->lpVtbl->GetOverlappedResult(
               program.end.connector, &program.connect.overlapped, FALSE) == ND_PENDING;
}

/* Answers each attempt: a program that is not understood asks again with revision 1. */
static void answer_attempts(const struct connect_row *row, int listener)
{
    uint64_t deadline_ms = clock_now_ms() + PROGRAM_WAIT_MS;

    while (connect_runs()) {
        assert_true(clock_now_ms() < deadline_ms);
        if (!peer_accept_within(&peer, listener, 5))
            continue;
        assert_true(peer_receive_startup(&peer, &frame));
        peer_send(&peer, row->octets, row->length);
        if (row->reset)
            peer_abort(&peer);
        else
            peer_half_close(&peer);
        while (!row->reset && peer_receive(&peer, frame.octets, 1))
            ;
        peer_close(&peer);
    }
}

static void test_connect(void **state)
{
    const struct connect_row *row = *state;

    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        uint16_t port_be;
        int listener = peer_listen(&port_be);

        program_open(&program, (enum nd_manner)manner);
        program_connect_begin(&program, port_be);
        answer_attempts(row, listener);
        close(listener);
        assert_int_equal(program_connect_end(&program), ND_CONNECTION_REFUSED);
        expect_private_data(row->data, row->data_octets);
        program_no_results(&program); /* the queue pair is as it was */
        program_open(&other, ND_BY_EVENT);
        program_listen(&other);
        program_meet(&program, &other); /* by the same connector and queue pair */
        program_exchange(&program, &other);
        program_close(&other);
        program_close(&program);
    }
    programs_unharmed();
}

/* A retry on the same connector is allowed, and succeeds once a peer answers. */
static void test_connect_to_a_silent_peer_times_out(void **state)
{
    (void)state;
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        uint16_t port_be;
        int listener = peer_listen(&port_be);

        assert_int_equal(setenv("NDSPI_SOFT_ANSWER_MS", "50", 1), 0);
        program_open(&program, (enum nd_manner)manner);
        program_connect_begin(&program, port_be);
        assert_int_equal(program_connect_end(&program), (HRESULT)SPEC_ND_IO_TIMEOUT);
        assert_int_equal(unsetenv("NDSPI_SOFT_ANSWER_MS"), 0);
        close(listener);
        program_open(&other, (enum nd_manner)manner);
        program_listen(&other);
        program_meet(&program, &other);
        program_exchange(&program, &other);
        program_close(&other);
        program_close(&program);
    }
    programs_unharmed();
}

static void test_connect_to_a_silent_peer_is_cancelled(void **state)
{
    (void)state;
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        uint16_t port_be;
        int listener = peer_listen(&port_be);

        program_open(&program, (enum nd_manner)manner);
        program_connect_begin(&program, port_be);
        peer_accept(&peer, listener);
        close(listener);
        assert_true(peer_receive_startup(&peer, &frame));
        peer_send(&peer, REPLY, 16);
        assert_true(connect_runs());
        assert_int_equal(
            program.end.connector->lpVtbl->CancelOverlappedRequests(program.end.connector),
            ND_SUCCESS);
        assert_int_equal(program_connect_end(&program), ND_CANCELED);
        assert_false(peer_receive(&peer, frame.octets, 1)); /* the program has gone */
        peer_close(&peer);
        program_close(&program);
    }
}

/* ------------------------------------------------------------------------------------------------ CompleteConnect */

/* Connect has succeeded; what stands behind the Reply came with it. */
static void reach_complete(const void *behind, size_t octets)
{
    uint16_t port_be;
    int listener = peer_listen(&port_be);

    program_connect_begin(&program, port_be);
    peer_accept(&peer, listener);
    close(listener);
    assert_true(peer_receive_startup(&peer, &frame));
    wire_startup2(&frame, true, 4, 4);
    if (octets)
        memcpy(frame.octets + frame.length, behind, octets);
    frame.length += octets;
    transmit();
    assert_int_equal(program_connect_end(&program), ND_SUCCESS);
}

static void test_peer_that_leaves_before_complete_connect(void **state)
{
    (void)state;
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        uint64_t deadline_ms = clock_now_ms() + PROGRAM_WAIT_MS;
        ULONG octets = 0;

        program_open(&program, (enum nd_manner)manner);
        reach_complete(NULL, 0);
        peer_close(&peer);
        /* No event reports the end to the program; its next call finds it. */
        while (program.end.connector->lpVtbl->GetReadLimits(
                   program.end.connector, &octets, &octets) == ND_SUCCESS)
            assert_true(clock_now_ms() < deadline_ms);
        assert_int_equal(program_complete(&program), ND_CONNECTION_ABORTED);
        assert_int_equal(program_notify_begin(&program), (HRESULT)0xC000020Cu);
        program_no_results(&program);
        program_close(&program);
    }
    programs_unharmed();
}

/* What is sent behind the Reply is not lost. */
static void test_peer_that_cannot_wait(void **state)
{
    (void)state;
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        static struct wire send;
        ND2_RESULT result;

        wire_untagged(&send, WIRE_SEND, true, 0, 0, 1, 0, "hasty", 5);
        program_open(&program, (enum nd_manner)manner);
        reach_complete(send.octets, send.length);
        assert_int_equal(program_complete(&program), ND_SUCCESS);
        program_results(&program, &result, 1);
        assert_int_equal(result.Status, ND_SUCCESS);
        assert_int_equal(result.BytesTransferred, 5);
        assert_memory_equal(program.end.memory, "hasty", 5);
        program_close(&program);
        peer_finish(&peer);
    }
}

static void test_nonsense_behind_the_reply(void **state)
{
    (void)state;
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        HRESULT hr;

        program_open(&program, (enum nd_manner)manner);
        reach_complete("\0\x16nonsense nonsense nonsense nonsense", 38);
        assert_int_equal(program_complete(&program), ND_SUCCESS);
        hr = program_notify_begin(&program);
        assert_int_equal(hr, ND_PENDING);
        assert_int_equal(program_notify_end(&program), ND_SUCCESS);
        expect_flushed();
        assert_int_equal(program_disconnect(&program), ND_SUCCESS);
        assert_int_equal(peer_answer(&peer), 0x2002);
        program_close(&program);
    }
    programs_unharmed();
}

/*
 * ------------------------------------------------------------------------------------------------ GetConnectionRequest
 */

/* None of these is a request: the program waits on, and gets the one that is. */
static void test_requests_that_are_none(void **state)
{
    static const struct {
        const char *octets;
        size_t length;
    } requests[] = {
        { "", 0 },
        { "MPA ID Req Frame", 16 },
        { "MPA ID Rep Frame\x50\x02\0\x04\x80\x04\xc0\x04", 24 },
        { "MPA ID Req Frame\x50\x02\xff\xff", 20 },
        { "MPA ID Req Frame\x50\x02\0\x03\x01\x02\x03", 23 },
        { "MPA ID Req Frame\xd0\x02\0\x04\x80\x04\xc0\x04", 24 }, /* Markers */
        { "MPA ID Req Frame\x50\x02\0\x04\x80\x04\xc0\x04 and more", 33 },
        { "GET / HTTP/1.1\r\n\r\n", 18 },
    };

    (void)state;
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        program_open(&program, (enum nd_manner)manner);
        program_listen(&program);
        program_get_begin(&program);
        for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
            peer_connect(&peer, program.port_be);
            peer_send(&peer, requests[i].octets, requests[i].length);
            peer_half_close(&peer);
            while (peer_receive(&peer, frame.octets, 1)) /* a rejection, perhaps; the end */
                ;
            peer_close(&peer);
        }
        assert_int_equal(program.end.listener->lpVtbl->GetOverlappedResult(
                             program.end.listener, &program.get.overlapped, FALSE),
            ND_PENDING);
        program_open(&other, ND_BY_EVENT);
        program_connect_begin(&other, program.port_be);
        assert_int_equal(program_get_end(&program), ND_SUCCESS);
        program_accept_begin(&program);
        assert_int_equal(program_connect_end(&other), ND_SUCCESS);
        assert_int_equal(program_complete(&other), ND_SUCCESS);
        assert_int_equal(program_accept_end(&program), ND_SUCCESS);
        program_exchange(&other, &program);
        program_close(&other);
        program_close(&program);
    }
    programs_unharmed();
}

/* A request may carry more private data than the connection manager's interface can pass on: the first 255 octets. */
static void test_request_with_all_the_private_data(void **state)
{
    uint8_t private_data[512] = { 0x80, 0x04, 0xc0, 0x04 };

    (void)state;
    memset(private_data + 4, 0x42, 508);
    program_open(&program, ND_BY_EVENT);
    program_listen(&program);
    program_get_begin(&program);
    peer_connect(&peer, program.port_be);
    wire_startup(&frame, false, WIRE_CRC | WIRE_ENHANCED, 2, private_data, sizeof private_data);
    transmit();
    assert_int_equal(program_get_end(&program), ND_SUCCESS);
    expect_private_data(private_data + 4, 255);
    assert_int_equal(
        program.end.connector->lpVtbl->Reject(program.end.connector, GOODBYE, 8), ND_SUCCESS);
    assert_true(peer_receive_startup(&peer, &frame));
    assert_int_equal(frame.octets[16] & WIRE_REJECT, WIRE_REJECT);
    assert_memory_equal(frame.octets + 24, GOODBYE, 8);
    peer_close(&peer);
    program_close(&program);
}

/* A thousand peers that connect and stop there, before and while a good client comes. */
static void test_a_thousand_half_open_connections(void **state)
{
    enum { PEERS = 1000 };
    static struct peer peers[PEERS];
    unsigned before = victim_descriptors();
    struct rlimit limit;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < 4 * PEERS) {
        print_message(
            "the limit of %lu descriptors is too low here\n", (unsigned long)limit.rlim_max);
        skip();
    }
    for (unsigned manner = 0; manner < ND_MANNERS; manner++) {
        program_open(&program, (enum nd_manner)manner);
        program_listen(&program);
        for (int i = 0; i < PEERS; i++) {
            peer_connect(&peers[i], program.port_be);
            peer_send(&peers[i], "MPA ID Req Frame", (size_t)(i % 17));
        }
        expect_service();
        programs_unharmed();
        for (int i = 0; i < PEERS; i++)
            peer_close(&peers[i]);
        program_close(&program);
        victim_settle(before);
    }
}

enum {
    ACCEPT_ROWS = sizeof accept_rows / sizeof accept_rows[0],
    CONNECT_ROWS = sizeof connect_rows / sizeof connect_rows[0],
};

int main(void)
{
    static const struct CMUnitTest single[] = {
        cmocka_unit_test(test_accept_of_a_silent_peer_is_cancelled),
        cmocka_unit_test(test_accept_of_a_silent_peer_times_out),
        cmocka_unit_test(test_connect_to_a_silent_peer_is_cancelled),
        cmocka_unit_test(test_connect_to_a_silent_peer_times_out),
        cmocka_unit_test(test_peer_that_leaves_before_complete_connect),
        cmocka_unit_test(test_peer_that_cannot_wait),
        cmocka_unit_test(test_nonsense_behind_the_reply),
        cmocka_unit_test(test_requests_that_are_none),
        cmocka_unit_test(test_request_with_all_the_private_data),
        cmocka_unit_test(test_a_thousand_half_open_connections),
    };
    enum { SINGLE = sizeof single / sizeof single[0] };
    struct CMUnitTest tests[ACCEPT_ROWS + CONNECT_ROWS + SINGLE];
    size_t count = 0;

    for (size_t i = 0; i < ACCEPT_ROWS; i++)
        tests[count++] = (struct CMUnitTest){ accept_rows[i].name, test_accept, NULL, NULL,
            (void *)&accept_rows[i] };
    for (size_t i = 0; i < CONNECT_ROWS; i++)
        tests[count++] = (struct CMUnitTest){ connect_rows[i].name, test_connect, NULL, NULL,
            (void *)&connect_rows[i] };
    memcpy(tests + count, single, sizeof single);
    return _cmocka_run_group_tests(
        "hostile peer of a program, startup", tests, count + SINGLE, programs_open, programs_close);
}
