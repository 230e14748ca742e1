/* SPDX-License-Identifier: MIT */
/*
 * test_startup.c - MPA startup with a peer that does not know how, on either side of it; peers that say nothing.
 *
 * The standard's rule for all of it: an improper startup frame ends the TCP connection, nothing is answered, the
 * program of a passive side hears nothing, that of an active side that its attempt failed.
 */
#include "tests/hostile/scene.h"
#include "tests/support/haste.h"

#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct wire frame;

/* ------------------------------------------------------------------------------------------------ passive victim */

/* The device closed without an answer, and its program got no event. */
static void expect_silence(struct peer *peer)
{
    uint8_t octet;

    assert_false(peer_receive(peer, &octet, 1));
    peer_close(peer);
    assert_int_equal(victim_event(&victim, 0, NULL, NULL), -1);
}

/* Requests that must be refused by closing. From: test vectors; empty name: the octets. */
static const struct refused {
    const char *vector, *octets;
    size_t length;
} refused[] = {
    { .vector = "m.bad_key" },
    { .vector = "m.bad_pdlen" },
    { .vector = "m.bad_s_short" },
    { .octets = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", .length = 35 },
    { .octets = "MPA ID Req Frame\x50\x02\xff\xff", .length = 20 },
    { .octets = "MPA ID Req Frame\x50\x02\x00\x03\x01\x02\x03", .length = 23 },
    { .octets = "MPA ID Req Frame\x40\x00\x00\x00", .length = 20 }, /* revision 0 */
    { .octets = "mpa id req frame\x40\x01\x00\x00", .length = 20 },
    { .octets =
            "\x00\x16\x41\x43\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00ping",
        .length = 24 },
};

static void test_improper_requests_are_closed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct peer peer;

        peer_connect(&peer, victim.port_be);
        if (refused[i].vector) {
            wire_vector(&frame, refused[i].vector);
            peer_send_frame(&peer, &frame);
        } else {
            peer_send(&peer, refused[i].octets, refused[i].length);
        }
        expect_silence(&peer);
    }
    victim_unharmed(&victim);
}

static void test_request_cut_at_every_octet(void **state)
{
    (void)state;
    wire_vector(&frame, "m.req_rev2_pd");
    for (size_t cut = 0; cut < frame.length; cut++) {
        struct peer peer;

        peer_connect(&peer, victim.port_be);
        peer_send(&peer, frame.octets, cut);
        peer_half_close(&peer);
        expect_silence(&peer);
        peer_connect(&peer, victim.port_be);
        peer_send(&peer, frame.octets, cut);
        peer_abort(&peer);
    }
    victim_unharmed(&victim);
    assert_int_equal(victim_event(&victim, 0, NULL, NULL), -1);
}

static void test_markers_are_refused(void **state)
{
    struct peer peer;

    (void)state;
    peer_connect(&peer, victim.port_be);
    wire_vector(&frame, "m.req_markers");
    peer_send_frame(&peer, &frame);
    assert_true(peer_receive_startup(&peer, &frame));
    assert_memory_equal(frame.octets, "MPA ID Rep Frame", 16);
    assert_int_equal(frame.octets[16] & (WIRE_MARKERS | WIRE_REJECT), WIRE_REJECT);
    assert_int_equal(frame.octets[17], 2);
    expect_silence(&peer);
    victim_unharmed(&victim);
}

/* Finishes a startup the victim must accept, one octet at a time, and sends one message through it. */
static void expect_service(const char *vector, uint8_t flags, uint8_t revision)
{
    struct victim_end end;
    struct peer peer;

    peer_connect(&peer, victim.port_be);
    wire_vector(&frame, vector);
    for (size_t i = 0; i < frame.length; i++)
        peer_send(&peer, frame.octets + i, 1);
    victim_take(&victim, &end);
    victim_accept(&end, VICTIM_RECEIVES);
    assert_true(peer_receive_startup(&peer, &frame));
    assert_memory_equal(frame.octets, "MPA ID Rep Frame", 16);
    assert_int_equal(frame.octets[16], flags);
    assert_int_equal(frame.octets[17], revision);
    wire_vector(&frame, flags & WIRE_CRC ? "s1.04.send4" : "f.crc_off");
    peer_send_frame(&peer, &frame);
    victim_established(&end);
    peer_half_close(&peer);
    victim_over(&end);
    peer_finish(&peer);
    assert_memory_equal(victim.receives, "ping", 4);
    victim_unharmed(&victim);
}

static void test_every_proper_request_is_served(void **state)
{
    (void)state;
    expect_service("m.req_rev1", WIRE_CRC, 1);
    expect_service("m.req_rev1_plain", 0, 1);
    expect_service("m.req_rev2_cs", WIRE_ENHANCED, 2);
}

/* Revision 3 is taken as 2 or closed; never answered with 3. */
static void test_unknown_revision(void **state)
{
    struct victim_end end;
    struct peer peer;

    (void)state;
    peer_connect(&peer, victim.port_be);
    wire_vector(&frame, "m.bad_rev");
    peer_send_frame(&peer, &frame);
    if (victim_event(&victim, 1000, &end.id, NULL) == RDMA_CM_EVENT_CONNECT_REQUEST) {
        assert_int_equal(srd_reject(end.id, NULL, 0), 0);
        assert_int_equal(srd_destroy_id(end.id), 0);
    }
    if (peer_receive_startup(&peer, &frame))
        assert_in_range(frame.octets[17], 1, 2);
    peer_close(&peer);
    victim_unharmed(&victim);
}

/* ------------------------------------------------------------------------------------------------ active victim */

/* Whether the active victim's attempt has failed; -1 not yet, 0 established, 1 failed. */
static int attempt_ended(int timeout_ms)
{
    switch (victim_event(&victim, timeout_ms, NULL, NULL)) {
    case -1: return -1;
    case RDMA_CM_EVENT_ESTABLISHED: return 0;
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR: return 1;
    default: fail_msg("unexpected event"); return 1;
    }
}

/*
 * Lets the victim connect and answers each of its attempts (it may fall back to revision 1) with the octets, then
 * closes. Returns whether it took the connection for established.
 */
static bool attempt(const uint8_t *octets, size_t length)
{
    uint64_t deadline_ms = clock_now_ms() + VICTIM_WAIT_MS;
    struct victim_end end;
    uint16_t port_be;
    int listener = peer_listen(&port_be), ended;
    struct peer peer;

    victim_connect(&victim, &end, port_be);
    while ((ended = attempt_ended(0)) < 0) {
        assert_true(clock_now_ms() < deadline_ms);
        if (!peer_accept_within(&peer, listener, 5))
            continue;
        assert_true(peer_receive_startup(&peer, &frame));
        assert_memory_equal(frame.octets, "MPA ID Req Frame", 16);
        assert_int_equal(frame.octets[16] & WIRE_MARKERS, 0);
        peer_send(&peer, octets, length);
        peer_half_close(&peer);
        if (length > 0)
            peer_finish(&peer);
        peer_close(&peer);
    }
    victim_drop(&end);
    close(listener);
    /* The events it got after ESTABLISHED. */
    while (victim_event(&victim, 0, NULL, NULL) >= 0)
        ;
    return ended == 0;
}

static void test_reply_cut_at_every_octet(void **state)
{
    struct wire reply;

    (void)state;
    wire_vector(&reply, "s1.02.mpa_rep");
    for (size_t cut = 0; cut < reply.length; cut++)
        assert_false(attempt(reply.octets, cut));
    victim_unharmed(&victim);
}

static void test_improper_replies_fail(void **state)
{
    static const char *const vectors[] = { "s1.01.mpa_req", "m.rep_reject", "m.rep_reject_ird" };
    static const struct {
        const char *octets;
        size_t length;
    } replies[] = {
        { "MPA ID Rep Frame\xd0\x02\x00\x04\x80\x04\x80\x04", 24 }, /* Markers */
        { "MPA ID Rep Frame\x50\x02\x02\x01", 20 },                 /* 513 octets of private data */
        { "MPA ID Rep Frame\x50\x02\x00\x03\x80\x04\x80", 23 }, /* no room for the enhanced word */
        { "MPA ID Rep Frame\x50\x03\x00\x04\x80\x04\x80\x04", 24 }, /* revision 3 */
        { "SSH-2.0-OpenSSH_9.2p1\r\n", 23 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        struct wire reply;

        wire_vector(&reply, vectors[i]);
        assert_false(attempt(reply.octets, reply.length));
    }
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++)
        assert_false(attempt((const uint8_t *)replies[i].octets, replies[i].length));
    victim_unharmed(&victim);
}

/* Replies the initiator cannot live with: one Terminate, exactly this. */
static void expect_terminate(uint16_t first, uint16_t second, const char *vector)
{
    struct victim_end end;
    uint16_t port_be;
    int listener = peer_listen(&port_be);
    struct peer peer;
    uint8_t word[4];

    victim_connect(&victim, &end, port_be);
    peer_accept(&peer, listener);
    assert_true(peer_receive_startup(&peer, &frame));
    wire_put16(word, first);
    wire_put16(word + 2, second);
    wire_startup(&frame, true, WIRE_CRC | WIRE_ENHANCED, 2, word, sizeof word);
    peer_send_frame(&peer, &frame);
    assert_int_not_equal(peer_finish(&peer), PEER_HANGS);
    wire_vector(&frame, vector);
    assert_true(peer.terminated);
    assert_int_equal(peer.terminate.length, frame.length);
    assert_memory_equal(peer.terminate.octets, frame.octets, frame.length);
    assert_int_equal(attempt_ended(VICTIM_WAIT_MS), 1);
    victim_drop(&end);
    close(listener);
    victim_unharmed(&victim);
}

static void test_reply_that_wants_too_many_reads(void **state)
{
    (void)state;
    expect_terminate(0x8000 | 4, 0x8000 | 0x3ffe, "t.no_ird");
}

static void test_reply_without_a_possible_rtr(void **state)
{
    (void)state;
    expect_terminate(0x8000 | 4, 4, "t.no_rtr");
    expect_terminate(0xc000 | 4, 4, "t.no_rtr"); /* only by a Send, which was not offered */
}

/* When a peer of revision 1 closes on a request of revision 2, the device asks again with revision 1. */
static void test_falls_back_to_revision_1(void **state)
{
    struct victim_end end;
    uint16_t port_be;
    int listener = peer_listen(&port_be);
    struct peer peer;

    (void)state;
    victim_connect(&victim, &end, port_be);
    peer_accept(&peer, listener);
    assert_true(peer_receive_startup(&peer, &frame));
    assert_int_equal(frame.octets[17], 2);
    peer_close(&peer);
    peer_accept(&peer, listener);
    assert_true(peer_receive_startup(&peer, &frame));
    assert_int_equal(frame.octets[17], 1);
    assert_int_equal(frame.octets[16] & WIRE_ENHANCED, 0);
    wire_startup(&frame, true, WIRE_CRC, 1, NULL, 0);
    peer_send_frame(&peer, &frame);
    assert_int_equal(attempt_ended(VICTIM_WAIT_MS), 0);
    peer_half_close(&peer);
    victim_over(&end);
    peer_close(&peer);
    close(listener);
    victim_unharmed(&victim);
}

/* ------------------------------------------------------------------------------------------------ silence */

enum { HASTE = 10 };

/* The device gives up a peer that says nothing, or stops in the middle of its request: 5 s after it came. */
static void test_silent_peers_are_given_up(void **state)
{
    uint64_t start_ms = clock_now_ms(), real_ms = haste_real_ms();
    struct peer silent, halting;

    (void)state;
    haste_begin(HASTE);
    peer_connect(&silent, victim.port_be);
    peer_connect(&halting, victim.port_be);
    wire_vector(&frame, "s1.01.mpa_req");
    peer_send(&halting, frame.octets, 19);
    expect_silence(&silent);
    expect_silence(&halting);
    haste_end();
    assert_true(clock_now_ms() - start_ms >= 4500);
    assert_true(haste_real_ms() - real_ms < 8000);
    victim_unharmed(&victim);
}

/*
 * An initiator that announces no ready-to-receive frame, and waits for what the responder says: with
 * NDSPI_SOFT_SPEAK_MS that is established and says it; the peer's answer then is one like any other.
 */
static void test_a_responder_may_be_told_to_speak_first(void **state)
{
    struct ibv_sge sge = { (uintptr_t)victim.region, 4, victim.mr->lkey };
    struct ibv_send_wr send = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 }, *bad;
    struct victim_end end;
    struct peer peer;

    (void)state;
    assert_int_equal(setenv("NDSPI_SOFT_SPEAK_MS", "20", 1), 0);
    peer_connect(&peer, victim.port_be);
    wire_vector(&frame, "m.req_rev1");
    peer_send_frame(&peer, &frame);
    victim_take(&victim, &end);
    victim_accept(&end, VICTIM_RECEIVES);
    assert_int_equal(unsetenv("NDSPI_SOFT_SPEAK_MS"), 0);
    assert_true(peer_receive_startup(&peer, &frame));
    victim_established(&end);
    assert_int_equal(ibv_post_send(end.id->qp, &send, &bad), 0);
    assert_true(peer_receive_fpdu(&peer, &frame));
    assert_int_equal(frame.octets[3] & 0x0f, WIRE_SEND);
    assert_memory_equal(frame.octets + 20, victim.region, 4);
    wire_vector(&frame, "s1.04.send4");
    peer_send_frame(&peer, &frame);
    peer_half_close(&peer);
    victim_over(&end);
    peer_finish(&peer);
    assert_memory_equal(victim.receives, "ping", 4);
    victim_unharmed(&victim);
}

/*
 * A peer sends its first message, or nothing, and leaves at once: whichever thread finds its end, the program first
 * gets ESTABLISHED.
 */
static void leave_at_once(bool speaks)
{
    struct victim_end end;
    struct peer peer;

    peer_connect(&peer, victim.port_be);
    wire_vector(&frame, "m.req_rev1");
    peer_send_frame(&peer, &frame);
    victim_take(&victim, &end);
    victim_accept(&end, VICTIM_RECEIVES);
    assert_true(peer_receive_startup(&peer, &frame));
    if (speaks) {
        wire_vector(&frame, "s1.04.send4");
        peer_send_frame(&peer, &frame);
    }
    peer_half_close(&peer);
    victim_established(&end);
    victim_over(&end);
    peer_finish(&peer);
}

static void test_an_initiator_that_speaks_and_ends_at_once_was_connected(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        leave_at_once(true);
    victim_unharmed(&victim);
}

static void test_an_initiator_that_ends_at_once_was_connected(void **state)
{
    (void)state;
    assert_int_equal(setenv("NDSPI_SOFT_SPEAK_MS", "10000", 1), 0);
    for (int i = 0; i < 100; i++)
        leave_at_once(false);
    assert_int_equal(unsetenv("NDSPI_SOFT_SPEAK_MS"), 0);
    victim_unharmed(&victim);
}

/*
 * A thousand of them at once: established connections work on; a new peer gets in when their time is over at the
 * latest.
 */
static void test_a_thousand_half_open_connections(void **state)
{
    enum { PEERS = 1000 };
    static struct peer peers[PEERS];
    struct rlimit limit;
    unsigned before = victim_descriptors();
    struct scene scene;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < 4 * PEERS) {
        print_message(
            "the limit of %lu descriptors is too low here\n", (unsigned long)limit.rlim_max);
        skip();
    }
    for (int i = 0; i < PEERS; i++)
        peer_connect(&peers[i], victim.port_be);
    victim_unharmed(&victim);
    scene_open(&scene, VICTIM_RECEIVES);
    wire_vector(&frame, "f.crc_bad");
    peer_send_frame(&scene.peer, &frame);
    assert_int_equal(scene_answer(&scene), 0x2002);
    victim_over(&scene.end);
    for (int i = 0; i < PEERS; i++)
        peer_close(&peers[i]);
    victim_settle(before);
    victim_unharmed(&victim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_improper_requests_are_closed),
        cmocka_unit_test(test_request_cut_at_every_octet),
        cmocka_unit_test(test_markers_are_refused),
        cmocka_unit_test(test_every_proper_request_is_served),
        cmocka_unit_test(test_unknown_revision),
        cmocka_unit_test(test_reply_cut_at_every_octet),
        cmocka_unit_test(test_improper_replies_fail),
        cmocka_unit_test(test_reply_that_wants_too_many_reads),
        cmocka_unit_test(test_reply_without_a_possible_rtr),
        cmocka_unit_test(test_falls_back_to_revision_1),
        cmocka_unit_test(test_silent_peers_are_given_up),
        cmocka_unit_test(test_a_responder_may_be_told_to_speak_first),
        cmocka_unit_test(test_an_initiator_that_speaks_and_ends_at_once_was_connected),
        cmocka_unit_test(test_an_initiator_that_ends_at_once_was_connected),
        cmocka_unit_test(test_a_thousand_half_open_connections),
    };

    return cmocka_run_group_tests_name("hostile peer, startup", tests, scenes_open, scenes_close);
}
