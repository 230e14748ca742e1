/* SPDX-License-Identifier: MIT */
#include "tests/hostile/scene.h"

#include <string.h>
#include <unistd.h>

struct victim victim;

int scenes_open(void **state)
{
    (void)state;
    victim_open(&victim);
    return 0;
}

int scenes_close(void **state)
{
    (void)state;
    victim_close(&victim);
    return 0;
}

static struct wire frame;

static void scene_clear(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->rkey = victim.mr->rkey;
    scene->base = (uintptr_t)victim.region;
}

static void scene_start_passive(struct scene *scene, unsigned receives, uint8_t reserved, bool soft)
{
    scene_clear(scene);
    peer_connect(&scene->peer, victim.port_be);
    wire_startup2(&frame, false, 4, VICTIM_READS);
    frame.octets[16] |= reserved;
    peer_send_frame(&scene->peer, &frame);
    victim_take(&victim, &scene->end);
    victim_accept(&scene->end, receives);
    assert_true(peer_receive_startup(&scene->peer, &frame));
    assert_memory_equal(frame.octets, "MPA ID Rep Frame", 16);
    assert_int_equal(frame.octets[16], WIRE_CRC | WIRE_ENHANCED | (soft ? SCENE_REPLY_MARK : 0));
    assert_int_equal(frame.octets[17], 2);
    assert_int_equal(frame.length, 24);
    wire_tagged(&frame, WIRE_WRITE, true, 1, 0, NULL, 0); /* the RTR */
    peer_send_frame(&scene->peer, &frame);
    victim_established(&scene->end);
}

static void scene_start_active(struct scene *scene, uint8_t reserved)
{
    uint16_t port_be;
    int listener = peer_listen(&port_be);

    scene_clear(scene);
    victim_connect(&victim, &scene->end, port_be);
    peer_accept(&scene->peer, listener);
    close(listener);
    assert_true(peer_receive_startup(&scene->peer, &frame));
    assert_int_equal(frame.octets[16] & 0x0f, SCENE_REQUEST_MARK);
    wire_startup2(&frame, true, 4, 4);
    frame.octets[16] |= reserved;
    peer_send_frame(&scene->peer, &frame);
    victim_established(&scene->end);
    assert_true(peer_receive_fpdu(&scene->peer, &frame)); /* the RTR */
    assert_int_equal(wire_get16(frame.octets), 14);
    assert_int_equal(wire_get16(frame.octets + 2), 0xc140);
}

void scene_open(struct scene *scene, unsigned receives)
{
    scene_start_passive(scene, receives, 0, false);
}

void scene_open_active(struct scene *scene)
{
    scene_start_active(scene, 0);
}

void scene_open_marked(struct scene *scene, bool active, uint8_t reserved, bool soft)
{
    if (active)
        scene_start_active(scene, reserved);
    else
        scene_start_passive(scene, VICTIM_RECEIVES, reserved, soft);
}

unsigned scene_answer(struct scene *scene)
{
    return peer_answer(&scene->peer);
}

unsigned scene_answer_ended(struct scene *scene)
{
    victim_over(&scene->end);
    return scene_answer(scene);
}
