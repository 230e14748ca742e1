/* SPDX-License-Identifier: MIT */
/*
 * hold.h - how long the events of one completion queue are held back (ibv_modify_cq, moderation): until so many
 * completions have come that would each raise one, or for so long after the first of them.
 *
 * All but its making and end under the queue's lock.
 */
#ifndef SOFTRDMA_QUEUES_HOLD_H
#define SOFTRDMA_QUEUES_HOLD_H

#include "reactor/reactor.h"

#include <stdbool.h>
#include <stdint.h>

struct srd_hold {
    struct reactor_source source; /* first; with the deadline of the held events */
    void (*over)(void *owner);
    void *owner;
    uint32_t count; /* completions; less than 2: nothing is held */
    uint32_t us;    /* microseconds */
    uint32_t held;  /* completions since the last event */
};

/*
 * srd_hold_make - one that holds nothing.
 * over  in: the hold time is over; called with owner, by the thread that drives, no lock held
 * error out: a negative errno, where NULL is returned
 */
struct srd_hold *srd_hold_make(void (*over)(void *owner), void *owner, int *error);
/* over is not called any more, and does not run. No lock held; hold in: may be NULL */
void srd_hold_end(struct srd_hold *hold);

/* Whether one completion more is to be held back. */
bool srd_hold_takes(struct srd_hold *hold);
/* The event is raised: returns how many completions were held. */
uint32_t srd_hold_give_up(struct srd_hold *hold);

#endif
