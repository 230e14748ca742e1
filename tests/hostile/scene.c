/* SPDX-License-Identifier: MIT */
#include "tests/hostile/scene.h"

#include <string.h>

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

void scene_open(struct scene *scene, unsigned receives)
{
    static struct wire frame;

    memset(scene, 0, sizeof *scene);
    scene->rkey = victim.mr->rkey;
    scene->base = (uintptr_t)victim.region;
    peer_connect(&scene->peer, victim.port_be);
    wire_startup2(&frame, false, 4, VICTIM_READS);
    peer_send_frame(&scene->peer, &frame);
    victim_take(&victim, &scene->end);
    victim_accept(&scene->end, receives);
    assert_true(peer_receive_startup(&scene->peer, &frame));
    assert_memory_equal(frame.octets, "MPA ID Rep Frame", 16);
    assert_int_equal(frame.octets[16], WIRE_CRC | WIRE_ENHANCED);
    assert_int_equal(frame.octets[17], 2);
    assert_int_equal(frame.length, 24);
    wire_tagged(&frame, WIRE_WRITE, true, 1, 0, NULL, 0); /* the RTR */
    peer_send_frame(&scene->peer, &frame);
    victim_established(&scene->end);
}

static unsigned scene_judge(const struct peer *peer, enum peer_end ended)
{
    assert_int_not_equal(ended, PEER_HANGS);
    assert_false(peer->garbage);
    assert_false(peer->poison);
    return peer->terminated ? (unsigned)(peer->layer << 12 | peer->type << 8 | peer->code)
                            : SCENE_END;
}

unsigned scene_answer(struct scene *scene)
{
    return scene_judge(&scene->peer, peer_finish(&scene->peer));
}

unsigned scene_answer_ended(struct scene *scene)
{
    victim_over(&scene->end);
    return scene_answer(scene);
}
