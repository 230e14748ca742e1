/* SPDX-License-Identifier: MIT */
/*
 * test_responses.c - an active victim reads from a hostile peer, which answers as it likes. The Read fails, nothing but
 * its own sink was written, and the peer gets a Terminate with the reason.
 */
#include "tests/hostile/scene.h"

#include <string.h>

enum { READ_OCTETS = 64 };

static struct wire frame;

struct response_segment {
    uint32_t length;
    int64_t offset;    /* added to where it should go */
    uint32_t stag_xor; /* changes the STag */
    bool more;         /* not the last */
};

static const struct row {
    const char *name;
    unsigned answers[SCENE_ANSWERS];
    struct response_segment segments[3];
    unsigned second_first; /* two Reads are outstanding; the second is answered first */
} rows[] = {
    { "another STag", { 0x1100 }, { { READ_OCTETS, 0, 1 } }, 0 },
    { "an offset before the sink", { 0x1101 }, { { 8, -8, .more = true } }, 0 },
    { "an offset behind the octets so far", { 0x1101 }, { { 8, 8, .more = true } }, 0 },
    { "one octet too many", { 0x1101 }, { { READ_OCTETS + 1 } }, 0 },
    { "far too many octets", { 0x1101 }, { { 60000 } }, 0 },
    { "the last segment too early", { 0x1101 }, { { 32 } }, 0 },
    { "no last segment", { 0x1101 }, { { READ_OCTETS, .more = true } }, 0 },
    { "a second segment elsewhere", { 0x1101 }, { { 32, .more = true }, { 32, 4096 } }, 0 },
    { "a second segment back at the start", { 0x1101 }, { { 32, .more = true }, { 32, -32 } }, 0 },
    { "the second Read's first", { 0x1100 }, { { READ_OCTETS } }, 1 },
};

static void post_read(struct victim_end *end, unsigned number)
{
    struct ibv_sge sge = { (uintptr_t)victim.region + number * 1024, READ_OCTETS, victim.mr->lkey };
    struct ibv_send_wr wr = { .wr_id = number,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_READ,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = { 0x7000, 0x5511 } };
    struct ibv_send_wr *bad;

    assert_int_equal(ibv_post_send(end->id->qp, &wr, &bad), 0);
}

/* Takes a Read Request; where its sink is. */
static void hear_read(struct peer *peer, uint32_t *stag, uint64_t *offset)
{
    assert_true(peer_receive_fpdu(peer, &frame));
    assert_int_equal(wire_get16(frame.octets), 46);
    assert_int_equal(wire_get16(frame.octets + 2), 0x4141);
    assert_int_equal(wire_get32(frame.octets + 32), READ_OCTETS);
    assert_int_equal(wire_get32(frame.octets + 36), 0x5511);
    *stag = wire_get32(frame.octets + 20);
    *offset = (uint64_t)wire_get32(frame.octets + 24) << 32 | wire_get32(frame.octets + 28);
    /* The sink's STag is the Read's own, never one the program gave out. */
    assert_int_not_equal(*stag, victim.mr->rkey);
    assert_int_not_equal(*stag, victim.mr->lkey);
}

static void answer(struct peer *peer, const struct row *row, uint32_t stag, uint64_t offset)
{
    static const uint8_t payload[60000] = { 0x77, 0x77 };
    uint64_t sent = 0;

    for (int i = 0; i < 3 && row->segments[i].length; i++) {
        const struct response_segment *segment = &row->segments[i];

        wire_tagged(&frame, WIRE_READ_RESPONSE, !segment->more, stag ^ segment->stag_xor,
            offset + sent + (uint64_t)segment->offset, payload, segment->length);
        peer_send_frame(peer, &frame);
        sent += segment->length;
    }
}

static void test_row(void **state)
{
    const struct row *row = *state;
    struct scene scene;
    struct ibv_wc wc;
    uint64_t offset[2];
    uint32_t stag[2];
    unsigned got;

    scene_open_active(&scene);
    post_read(&scene.end, 0);
    hear_read(&scene.peer, &stag[0], &offset[0]);
    if (row->second_first) {
        post_read(&scene.end, 1);
        hear_read(&scene.peer, &stag[1], &offset[1]);
    }
    answer(&scene.peer, row, stag[row->second_first], offset[row->second_first]);
    assert_int_not_equal(peer_finish(&scene.peer), PEER_HANGS);
    assert_true(scene.peer.terminated);
    got = (unsigned)(scene.peer.layer << 12 | scene.peer.type << 8 | scene.peer.code);
    assert_true(got == row->answers[0] || (row->answers[1] && got == row->answers[1]));
    assert_int_equal(ibv_poll_cq(victim.cq, 1, &wc), 1);
    assert_int_equal(wc.wr_id, 0);
    assert_int_equal(wc.status, IBV_WC_BAD_RESP_ERR);
    for (unsigned i = READ_OCTETS; i < VICTIM_REGION; i++)
        assert_int_equal(victim.region[i], VICTIM_FILL);
    victim_over(&scene.end);
    victim_unharmed(&victim);
}

/* A right answer, in two segments of odd lengths, of two outstanding Reads. */
static void test_a_right_answer_completes(void **state)
{
    static const uint8_t payload[READ_OCTETS] = "all is well";
    struct scene scene;
    uint64_t offset[2];
    uint32_t stag[2];

    (void)state;
    scene_open_active(&scene);
    for (unsigned i = 0; i < 2; i++) {
        post_read(&scene.end, i);
        hear_read(&scene.peer, &stag[i], &offset[i]);
    }
    assert_int_not_equal(stag[0], stag[1]);
    for (unsigned i = 0; i < 2; i++) {
        struct ibv_wc wc;

        wire_tagged(&frame, WIRE_READ_RESPONSE, false, stag[i], offset[i], payload, 7);
        peer_send_frame(&scene.peer, &frame);
        wire_tagged(
            &frame, WIRE_READ_RESPONSE, true, stag[i], offset[i] + 7, payload + 7, READ_OCTETS - 7);
        peer_send_frame(&scene.peer, &frame);
        victim_fetch(victim.cq, &wc);
        assert_int_equal(wc.wr_id, i);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        assert_memory_equal(victim.region + i * 1024, payload, READ_OCTETS);
    }
    peer_half_close(&scene.peer);
    victim_over(&scene.end);
    peer_finish(&scene.peer);
    victim_unharmed(&victim);
}

/* A Terminate that names the Read: it gets the status of the fault, as far as a foreign peer's word goes. */
static void test_a_refused_read(void **state)
{
    struct scene scene;
    struct ibv_wc wc;
    uint64_t offset;
    uint32_t stag;
    uint8_t terminate[6 + 18 + 28] = { 0x01, 0x01, 0xe0, 0x00, 0x00, 0x2e };

    (void)state;
    scene_open_active(&scene);
    post_read(&scene.end, 0);
    hear_read(&scene.peer, &stag, &offset);
    memcpy(terminate + 6, frame.octets + 2, 18 + 28);
    wire_untagged(&frame, WIRE_TERMINATE, true, 0, 2, 1, 0, terminate, sizeof terminate);
    peer_send_frame(&scene.peer, &frame);
    peer_finish(&scene.peer);
    assert_false(scene.peer.terminated);
    assert_int_equal(ibv_poll_cq(victim.cq, 1, &wc), 1);
    assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
    victim_over(&scene.end);
    victim_unharmed(&victim);
}

int main(void)
{
    enum { ROWS = sizeof rows / sizeof rows[0] };
    struct CMUnitTest tests[ROWS + 2];

    for (size_t i = 0; i < ROWS; i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, test_row, NULL, NULL, (void *)&rows[i] };
    tests[ROWS] = (struct CMUnitTest)cmocka_unit_test(test_a_right_answer_completes);
    tests[ROWS + 1] = (struct CMUnitTest)cmocka_unit_test(test_a_refused_read);
    return _cmocka_run_group_tests(
        "hostile peer, read responses", tests, ROWS + 2, scenes_open, scenes_close);
}
