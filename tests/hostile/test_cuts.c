/* SPDX-License-Identifier: MIT */
/* test_cuts.c - streams that end anywhere, crawl, or were tampered with; and what is left of them afterwards. */
#include "tests/hostile/scene.h"

#include <string.h>

static struct wire frame;

/* A valid frame is cut after every octet: the connection ends, the victim's requests are flushed. */
static void test_end_of_stream_at_every_octet(void **state)
{
    static const char *const frames[] = { "s1.04.send4", "s1.06.write4", "s1.07.read_req4",
        "s1.10.send_inv", "s1.19.term_bad_write" };

    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        struct wire whole;

        wire_vector(&whole, frames[i]);
        for (size_t cut = 1; cut < whole.length; cut++) {
            struct scene scene;

            scene_open(&scene, VICTIM_RECEIVES);
            peer_send(&scene.peer, whole.octets, cut);
            peer_half_close(&scene.peer);
            assert_int_equal(scene_answer_ended(&scene), SCENE_END);
            victim_untouched(&victim);
        }
        victim_unharmed(&victim);
    }
}

/* The same with a reset. A Send that came whole before the reset is delivered. */
static void test_reset_at_every_octet(void **state)
{
    struct wire whole;

    (void)state;
    wire_vector(&whole, "s1.04.send4");
    for (size_t cut = 0; cut <= whole.length; cut++) {
        struct scene scene;

        scene_open(&scene, VICTIM_RECEIVES);
        peer_send(&scene.peer, whole.octets, cut);
        peer_abort(&scene.peer);
        victim_over(&scene.end);
        if (cut < whole.length)
            victim_untouched(&victim);
    }
    victim_unharmed(&victim);
}

static void crawl(struct scene *scene)
{
    for (size_t i = 0; i < frame.length; i++)
        peer_send(&scene->peer, frame.octets + i, 1);
}

/* A correct stream works one octet at a time, too. */
static void test_octet_by_octet(void **state)
{
    struct scene scene;

    (void)state;
    scene_open(&scene, VICTIM_RECEIVES);
    wire_untagged(&frame, WIRE_SEND, true, 0, 0, 1, 0, "slow", 4);
    crawl(&scene);
    wire_tagged(&frame, WIRE_WRITE, true, scene.rkey, scene.base, "down", 4);
    crawl(&scene);
    wire_read_request(&frame, 1, 0x0a0b0c01, 0x2000, 4, scene.rkey, scene.base);
    crawl(&scene);
    assert_true(peer_receive_fpdu(&scene.peer, &frame));
    assert_int_equal(frame.length, 24);
    assert_int_equal(wire_get16(frame.octets + 2), 0xc142);
    assert_int_equal(wire_get32(frame.octets + 4), 0x0a0b0c01);
    assert_int_equal(wire_get32(frame.octets + 8), 0);
    assert_int_equal(wire_get32(frame.octets + 12), 0x2000);
    assert_memory_equal(frame.octets + 16, "down", 4);
    assert_memory_equal(victim.receives, "slow", 4);
    peer_half_close(&scene.peer);
    assert_int_equal(scene_answer_ended(&scene), SCENE_END);
    victim_unharmed(&victim);
}

/* Zero-length tagged messages name no memory: any STag and offset will do (also the one that looks like nothing). */
static void test_zero_length_is_no_access(void **state)
{
    static const uint32_t stags[] = { 0, 1, 0x00dead00, 0xffffffff };
    struct scene scene;

    (void)state;
    scene_open(&scene, VICTIM_RECEIVES);
    for (uint32_t i = 0; i < 4; i++) {
        wire_tagged(&frame, WIRE_WRITE, true, stags[i], UINT64_MAX, NULL, 0);
        peer_send_frame(&scene.peer, &frame);
        wire_read_request(&frame, i + 1, 0x0a0b0c01, 0x2000, 0, stags[i], UINT64_MAX);
        peer_send_frame(&scene.peer, &frame);
        assert_true(peer_receive_fpdu(&scene.peer, &frame));
        assert_int_equal(frame.length, 20);
        assert_int_equal(wire_get16(frame.octets + 2), 0xc142);
    }
    peer_half_close(&scene.peer);
    assert_int_equal(scene_answer_ended(&scene), SCENE_END);
    victim_unharmed(&victim);
}

/*
 * Frames with octets overwritten, CRC made good again so that the fault lies deeper. A fixed generator: reproducible.
 */
static void test_mutations(void **state)
{
    static const char *const seeds[] = { "s1.04.send4", "s1.06.write4", "s1.07.read_req4",
        "s1.10.send_inv", "s1.11.send_seg1", "s1.16.read_req0", "s1.19.term_bad_write",
        "t.read_bad_stag", "s1.08.read_resp4" };
    uint32_t random = 0x2545f491;

    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        struct scene scene;

        scene_open(&scene, VICTIM_RECEIVES);
        wire_vector(&frame, seeds[i % (sizeof seeds / sizeof seeds[0])]);
        for (int k = 0; k < 3; k++) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            frame.octets[2 + random % (frame.length - 6)] = (uint8_t)(random >> 24);
        }
        wire_crc(&frame);
        peer_send_frame(&scene.peer, &frame);
        peer_half_close(&scene.peer);
        scene_answer_ended(&scene);
        if (i % 20 == 19)
            victim_unharmed(&victim);
    }
}

/* Descriptors of ended connections are closed, perhaps a little later. */
static void test_no_descriptor_is_left(void **state)
{
    unsigned before = victim_descriptors();

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct scene scene;

        scene_open(&scene, VICTIM_RECEIVES);
        wire_vector(&frame, i % 2 ? "f.crc_bad" : "s1.18.bad_write");
        peer_send_frame(&scene.peer, &frame);
        scene_answer(&scene);
        victim_over(&scene.end);
    }
    victim_settle(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_stream_at_every_octet),
        cmocka_unit_test(test_reset_at_every_octet),
        cmocka_unit_test(test_octet_by_octet),
        cmocka_unit_test(test_zero_length_is_no_access),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_no_descriptor_is_left),
    };

    return cmocka_run_group_tests_name("hostile peer, streams", tests, scenes_open, scenes_close);
}
