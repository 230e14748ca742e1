/* SPDX-License-Identifier: MIT */
/*
 * scene.h - a hostile peer connected to a listening victim: MPA revision 2, CRC on, RTR by Write done.
 */
#ifndef TESTS_HOSTILE_SCENE_H
#define TESTS_HOSTILE_SCENE_H

#include "tests/hostile/peer.h"
#include "tests/hostile/victim.h"

struct scene {
    struct victim_end end;
    struct peer peer;
    uint32_t rkey; /* of the victim's region, all rights */
    uint64_t base; /* its address */
};

extern struct victim victim;

/* Group fixtures. */
int scenes_open(void **state);
int scenes_close(void **state);

void scene_open(struct scene *scene, unsigned receives);

/* Terminate layer, type and code as 0xLTCC, or SCENE_END: the connection just ends. */
enum { SCENE_END = 0x10000, SCENE_ANSWERS = 3 };

/* What the victim answered; fails the test when it hangs, writes rubbish or gives away unregistered memory. */
unsigned scene_answer(struct scene *scene);

/*
 * The same where the peer itself ended the stream: the victim's program reacts to that first, as the device may leave
 * it to the program to close its own direction. The end is destroyed.
 */
unsigned scene_answer_ended(struct scene *scene);

#endif
