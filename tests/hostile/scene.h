/* SPDX-License-Identifier: MIT */
/*
 * scene.h - a hostile peer connected to a victim: MPA revision 2, CRC on, RTR by Write done.
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

/* A hostile responder connected to a connecting victim, which has VICTIM_RECEIVES posted. */
void scene_open_active(struct scene *scene);

/*
 * The same with reserved flag bits in the peer's startup frame; soft: those bits make the victim take the peer for a
 * softrdma end.
 */
enum { SCENE_REQUEST_MARK = 0x04, SCENE_REPLY_MARK = 0x02 };
void scene_open_marked(struct scene *scene, bool active, uint8_t reserved, bool soft);

/* What the victim answered, as peer_answer; SCENE_END: the connection just ends. */
enum { SCENE_END = PEER_NO_ANSWER, SCENE_ANSWERS = 3 };
unsigned scene_answer(struct scene *scene);

/*
 * The same where the peer itself ended the stream: the victim's program reacts to that first, as the device may leave
 * it to the program to close its own direction. The end is destroyed.
 */
unsigned scene_answer_ended(struct scene *scene);

#endif
