/* SPDX-License-Identifier: MIT */
/*
 * test_acks.c - a peer with the mark of a softrdma end, so that it may acknowledge (docs/wire.md), sends false
 * acknowledgements.
 *
 * Each row, with the victim on either side: the victim posts, the peer takes everything and plays; the victim's
 * requests end with the statuses of the row, each once and in order; the victim's Terminate names the fault; memory is
 * as it was, the neighbours still work.
 */
#include "tests/hostile/scene.h"

#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 3, OCTETS = 16, REMOTE_STAG = 0x5511, REMOTE_OFFSET = 0x7000 };

static struct wire frame, heard[REQUESTS];

/* What the peer does once it has the requests, in the order of the members. */
struct row {
    const char *name;
    const char *posts;    /* by letter: Send, Write, Read */
    const char *statuses; /* success, flushed, access violation, error of the peer's */
    unsigned answer;
    uint64_t counts[3]; /* acknowledgements */
    unsigned given;
    void (*play)(struct scene *scene);
    unsigned terminate; /* about which request (from 1) */
    bool reset;         /* instead of FIN, when it has not been answered */
    bool unmarked, echoed;
};

static void transmit(struct scene *scene)
{
    peer_send_frame(&scene->peer, &frame);
}

static void acknowledge(struct scene *scene, uint64_t count)
{
    wire_acknowledge(&frame, count);
    transmit(scene);
}

/* ---- what looks like an acknowledgement ---- */

static void with_payload(struct scene *scene)
{
    wire_tagged(&frame, WIRE_WRITE, true, WIRE_ACK_STAG, 3, "abcd", 4);
    transmit(scene);
}

static void not_last(struct scene *scene)
{
    wire_tagged(&frame, WIRE_WRITE, false, WIRE_ACK_STAG, 3, NULL, 0);
    transmit(scene);
}

static void as_response(struct scene *scene)
{
    wire_tagged(&frame, WIRE_READ_RESPONSE, true, WIRE_ACK_STAG, 3, NULL, 0);
    transmit(scene);
}

static void as_read(struct scene *scene)
{
    wire_read_request(&frame, 1, 0x0a0b0c01, 0, 8, WIRE_ACK_STAG, 3);
    transmit(scene);
}

static void as_invalidate(struct scene *scene)
{
    wire_untagged(&frame, WIRE_SEND_INVALIDATE, true, WIRE_ACK_STAG, 0, 1, 0, NULL, 0);
    transmit(scene);
}

static void bad_crc(struct scene *scene)
{
    wire_acknowledge(&frame, 3);
    frame.octets[frame.length - 1] ^= 1;
    transmit(scene);
}

/* Between the segments of a message of the peer's: there it is one, and the message goes on. */
static void inside_a_message(struct scene *scene)
{
    wire_tagged(&frame, WIRE_WRITE, false, scene->rkey, scene->base, "\x11\x11\x11\x11", 4);
    transmit(scene);
    acknowledge(scene, 2);
    wire_tagged(&frame, WIRE_WRITE, true, scene->rkey, scene->base + 4, "\x11\x11\x11\x11", 4);
    transmit(scene);
}

/* ---- many ---- */

static void flood(struct scene *scene)
{
    enum { TIMES = 100000, BATCH = 1000 };
    static uint8_t octets[BATCH * 20];

    wire_acknowledge(&frame, 1);
    assert_int_equal(frame.length, 20);
    for (int i = 0; i < BATCH; i++)
        memcpy(octets + i * 20, frame.octets, 20);
    for (int i = 0; i < TIMES / BATCH; i++)
        peer_send(&scene->peer, octets, sizeof octets);
    acknowledge(scene, 3);
}

/* ---- Terminates ---- */

static void terminate(struct scene *scene, unsigned fault, const struct wire *about)
{
    wire_terminate(&frame, fault, about);
    transmit(scene);
}

static void terminate_send(struct scene *scene, uint32_t msn)
{
    static struct wire send;

    wire_untagged(&send, WIRE_SEND, true, 0, 0, msn, 0, NULL, 0);
    terminate(scene, 0x1205, &send);
}

static void terminate_unsent(struct scene *scene)
{
    terminate_send(scene, 77);
}

static void terminate_complete(struct scene *scene)
{
    terminate_send(scene, 1); /* acknowledged already */
}

static void terminate_other_write(struct scene *scene)
{
    static struct wire write;

    wire_tagged(&write, WIRE_WRITE, true, REMOTE_STAG, REMOTE_OFFSET + OCTETS, NULL, 0);
    terminate(scene, 0x1101, &write);
}

static void terminate_bare(struct scene *scene)
{
    terminate(scene, 0x1000, NULL);
}

static void terminate_transport(struct scene *scene)
{
    terminate(scene, 0x2002, NULL);
}

/* The victim ignores everything behind a Terminate. */
static void acknowledge_after_terminate(struct scene *scene)
{
    terminate(scene, 0x1100, &heard[0]);
    acknowledge(scene, 3);
    acknowledge(scene, UINT64_MAX);
}

static void terminate_twice(struct scene *scene)
{
    terminate(scene, 0x1100, &heard[1]);
    terminate(scene, 0x1100, &heard[0]);
}

/* clang-format off */
static const struct row rows[] = {
    { "more than was sent", "SWS", "fff", 0x1101, { 4 }, 1 },
    { "more than was sent, after a right one", "SWS", "ssf", 0x1101, { 2, 4 }, 2 },
    { "2^32 more", "SWS", "fff", 0x1101, { 0x100000001 }, 1 },
    { "2^64-1", "SWS", "fff", 0x1101, { UINT64_MAX }, 1 },
    { "a count that goes round", "SWS", "sss", 0x1101, { 3, UINT64_MAX }, 2 },
    { "fewer than before", "SWS", "ssf", 0x1101, { 2, 1 }, 2 },
    { "none after all", "SWS", "sss", 0x1101, { 1, 3, 0 }, 3 },
    { "one where nothing was posted", "", "", 0x1101, { 1 }, 1 },
    { "a Read counted as a message", "SRS", "sff", 0x1101, { 1, 3 }, 2 },

    { "with a payload", "SWS", "fff", 0x1100, .play = with_payload },
    { "not in a last segment", "SWS", "fff", SCENE_END, .play = not_last },
    { "in a Read Response", "SWS", "fff", 0x1100, .play = as_response },
    { "in a Read Request", "SWS", "fff", 0x0100, .play = as_read },
    { "in an invalidation", "SWS", "fff", 0x0209, .play = as_invalidate },
    { "with a wrong CRC", "SWS", "sff", 0x2002, { 1 }, 1, .play = bad_crc },
    { "between segments", "SWS", "ssf", SCENE_END, .play = inside_a_message },
    { "without the mark", "SWS", "sss", SCENE_END, { 3, UINT64_MAX, 0 }, 3, .unmarked = true },
    { "with both marks", "SWS", "sss", SCENE_END, { 3, UINT64_MAX, 0 }, 3, .echoed = true },
    { "a hundred thousand", "SWS", "sss", SCENE_END, .play = flood },

    { "the last one and the end", "SWS", "sss", SCENE_END, { 3 }, 1 },
    { "some and the end", "SWS", "sff", SCENE_END, { 1 }, 1 },
    { "none and the end", "SWS", "fff", SCENE_END },
    { "some and a reset", "SWS", "sff", SCENE_END, { 1 }, 1, .reset = true },
    { "all but the Read", "SRW", "sff", SCENE_END, { 2 }, 1 },

    { "Terminate of the first", "WWS", "aff", SCENE_END, .terminate = 1 },
    { "Terminate of the second, in front of which nothing is open", "SWS", "saf", SCENE_END, { 1 }, 1, .terminate = 2 },
    { "Terminate of the second, nothing acknowledged", "SWS", "saf", SCENE_END, .terminate = 2 },
    { "Terminate of an acknowledged one", "SWS", "sff", SCENE_END, { 1 }, 1, .play = terminate_complete },
    { "Terminate of a Send that never was", "SWS", "fff", SCENE_END, .play = terminate_unsent },
    { "Terminate of a Write elsewhere", "SWS", "fff", SCENE_END, .play = terminate_other_write },
    { "Terminate without a header", "SWS", "sef", SCENE_END, { 1 }, 1, .play = terminate_bare },
    { "Terminate of the transport", "SWS", "sff", SCENE_END, { 1 }, 1, .play = terminate_transport },
    { "Terminate, then acknowledgements", "WWW", "aff", SCENE_END, .play = acknowledge_after_terminate },
    { "two Terminates", "SSS", "saf", SCENE_END, .play = terminate_twice },
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof rows[0] };

static void post(struct victim_end *end, char kind, unsigned number)
{
    struct ibv_sge sge = { (uintptr_t)victim.region + number * 1024, OCTETS, victim.mr->lkey };
    struct ibv_send_wr wr = { .wr_id = number,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = kind == 'S'   ? IBV_WR_SEND
                  : kind == 'W' ? IBV_WR_RDMA_WRITE
                                : IBV_WR_RDMA_READ,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = { REMOTE_OFFSET, REMOTE_STAG } };
    struct ibv_send_wr *bad;

    assert_int_equal(ibv_post_send(end->id->qp, &wr, &bad), 0);
}

static enum ibv_wc_status status_of(char letter)
{
    return letter == 's'   ? IBV_WC_SUCCESS
           : letter == 'a' ? IBV_WC_REM_ACCESS_ERR
           : letter == 'e' ? IBV_WC_REM_OP_ERR
                           : IBV_WC_WR_FLUSH_ERR;
}

/* Every request of either queue, each once, in the order of its queue. */
static void expect_statuses(const struct row *row)
{
    unsigned posted = (unsigned)strlen(row->posts), sent = 0, received = 0;
    struct ibv_wc wc;

    while (sent < posted || received < VICTIM_RECEIVES) {
        victim_fetch(victim.cq, &wc);
        if (wc.wr_id >= 100) {
            assert_int_equal(wc.wr_id, 100 + received++);
            if (row->play != as_invalidate || received > 1)
                assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
            else
                assert_int_equal(wc.status, IBV_WC_REM_INV_REQ_ERR);
            continue;
        }
        assert_true(sent < posted);
        assert_int_equal(wc.wr_id, sent);
        if (wc.status != status_of(row->statuses[sent]))
            fail_msg("request %u ended with %s", sent, ibv_wc_status_str(wc.status));
        sent++;
    }
    assert_int_equal(ibv_poll_cq(victim.cq, 1, &wc), 0);
}

static void play_row(const struct row *row, bool active)
{
    uint8_t mark = active ? SCENE_REPLY_MARK : SCENE_REQUEST_MARK;
    bool both = row->echoed && active; /* a request with the reply's mark is marked all the same */
    struct scene scene;
    unsigned answer;

    scene_open_marked(&scene, active,
        row->unmarked ? 0
        : both        ? SCENE_REQUEST_MARK | SCENE_REPLY_MARK
        : row->echoed ? SCENE_REPLY_MARK
                      : mark,
        !row->unmarked && !row->echoed);
    for (unsigned i = 0; row->posts[i]; i++) {
        post(&scene.end, row->posts[i], i);
        assert_true(peer_receive_fpdu(&scene.peer, &heard[i]));
    }
    for (unsigned i = 0; i < row->given; i++)
        acknowledge(&scene, row->counts[i]);
    if (row->play)
        row->play(&scene);
    if (row->terminate)
        terminate(&scene, 0x1100, &heard[row->terminate - 1]);
    if (row->reset)
        peer_abort(&scene.peer);
    else if (row->answer == SCENE_END)
        peer_half_close(&scene.peer);
    expect_statuses(row);
    if (row->reset) {
        victim_over(&scene.end);
    } else if (row->answer == SCENE_END) {
        assert_int_equal(scene_answer_ended(&scene), SCENE_END);
    } else {
        answer = scene_answer(&scene);
        if (answer != row->answer)
            fail_msg("answered %05x, expected %05x", answer, row->answer);
        victim_over(&scene.end);
    }
    if (row->play != as_invalidate)
        victim_untouched(&victim);
    victim_unharmed(&victim);
}

static void test_row(void **state)
{
    const struct row *row = *state;

    play_row(row, false);
    play_row(row, true);
}

/*
 * A message the sockets do not take whole is acknowledged all the same. The program must not get its buffer back: it
 * may put something into it that this peer shall not see.
 */
static void test_octets_that_are_still_here(void **state)
{
    enum { LARGE = 32 << 20 };
    uint8_t *memory = calloc(1, LARGE);
    struct ibv_sge sge = { (uintptr_t)memory, LARGE };
    struct ibv_send_wr wr = { .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = { REMOTE_OFFSET, REMOTE_STAG } };
    struct ibv_send_wr *bad;
    struct scene scene;
    struct ibv_mr *mr;
    struct ibv_wc wc;

    (void)state;
    assert_non_null(memory);
    mr = srd_reg_mr(victim.pd, memory, LARGE, 0);
    assert_non_null(mr);
    sge.lkey = mr->lkey;
    scene_open_marked(&scene, false, SCENE_REQUEST_MARK, true);
    assert_int_equal(ibv_post_send(scene.end.id->qp, &wr, &bad), 0);
    acknowledge(&scene, 1);
    do
        victim_fetch(victim.cq, &wc);
    while (wc.wr_id >= 100);
    assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(scene_answer(&scene), 0x1101);
    victim_over(&scene.end);
    assert_int_equal(srd_dereg_mr(mr), 0);
    free(memory);
    victim_unharmed(&victim);
}

/* ---- the refusal after the Reply ---- */

/* Plays up to the victim's Reply, then the octets and the end of the stream. */
static void expect_refusal(uint8_t mark, const uint8_t *octets, size_t count, bool reset)
{
    static struct wire startup;
    struct victim_end end;
    struct peer peer;
    int status;

    peer_connect(&peer, victim.port_be);
    wire_startup2(&startup, false, 4, VICTIM_READS);
    startup.octets[16] |= mark;
    peer_send_frame(&peer, &startup);
    victim_take(&victim, &end);
    victim_accept(&end, VICTIM_RECEIVES);
    assert_true(peer_receive_startup(&peer, &startup));
    peer_send(&peer, octets, count);
    if (reset)
        peer_abort(&peer);
    else
        peer_half_close(&peer);
    assert_int_equal(victim_event(&victim, VICTIM_WAIT_MS, NULL, &status), RDMA_CM_EVENT_REJECTED);
    assert_int_equal(status, 28);
    victim_drop(&end);
    if (!reset)
        assert_int_not_equal(peer_finish(&peer), PEER_HANGS);
    assert_int_equal(victim_event(&victim, 0, NULL, NULL), -1);
}

static void test_refusals(void **state)
{
    static const struct {
        uint8_t mark, reserved;
        uint16_t octets, claimed;
    } refusals[] = {
        { SCENE_REQUEST_MARK, 0, 0, 0 },
        { SCENE_REQUEST_MARK, 0, 148, 148 },
        { SCENE_REQUEST_MARK, 0, 512, 512 },         /* more than an event carries */
        { SCENE_REQUEST_MARK, 0, 513, 513 },         /* more than there may be */
        { SCENE_REQUEST_MARK, 0, 0, 0xffff },        /* more than there is */
        { SCENE_REQUEST_MARK, 0, 148, 8 },           /* less */
        { SCENE_REQUEST_MARK, WIRE_ENHANCED, 2, 2 }, /* no room for the enhanced word */
        { SCENE_REQUEST_MARK, 0x80 | 0x40 | 0x0f, 8, 8 },
        { 0, 0, 8, 8 }, /* from one without the mark: no FPDU */
        { SCENE_REPLY_MARK, 0, 8, 8 },
    };
    static const uint8_t data[1024] = { 0x42, 0x42 };

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        wire_refusal(&frame, refusals[i].reserved, data, refusals[i].octets, refusals[i].claimed);
        expect_refusal(refusals[i].mark, frame.octets, frame.length, false);
        expect_refusal(refusals[i].mark, frame.octets, frame.length, true);
    }
    victim_untouched(&victim);
    victim_unharmed(&victim);
}

static void test_refusal_cut_at_every_octet(void **state)
{
    (void)state;
    wire_refusal(&frame, 0, "goodbye", 8, 8);
    for (size_t cut = 0; cut < frame.length; cut++)
        expect_refusal(SCENE_REQUEST_MARK, frame.octets, cut, cut % 2);
    victim_untouched(&victim);
    victim_unharmed(&victim);
}

int main(void)
{
    struct CMUnitTest tests[ROWS + 3];
    size_t count = 0;

    for (size_t i = 0; i < ROWS; i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, test_row, NULL, NULL, (void *)&rows[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_octets_that_are_still_here);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_refusals);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_refusal_cut_at_every_octet);
    return _cmocka_run_group_tests(
        "hostile peer, acknowledgements", tests, count, scenes_open, scenes_close);
}
