/* SPDX-License-Identifier: MIT */
/*
 * hold.h - holds back the events of one completion queue (moderation, ibv_modify_cq): until count completions have come
 * that would each raise one, or for us microseconds after the first of them.
 *
 * Unless a function says otherwise, its caller holds the queue's lock.
 */
#ifndef SOFTRDMA_QUEUES_HOLD_H
#define SOFTRDMA_QUEUES_HOLD_H

#include "reactor/reactor.h"

#include <stdbool.h>
#include <stdint.h>

struct srd_hold {
    struct reactor_source source; /* must be first; has the deadline of the held events */
    void (*over)(void *owner);
    void *owner;
    uint32_t count; /* number of completions; less than 2: nothing is held */
    uint32_t us;    /* microseconds */
    uint32_t held;  /* number of completions since the last event */
};

/*
 * srd_hold_make - makes a hold that holds nothing yet. No lock held.
 * over  in: the driving thread calls it with owner when the hold time is over, no lock held
 * error out: a negative errno, where NULL is returned
 */
struct srd_hold *srd_hold_make(void (*over)(void *owner), void *owner, int *error);
/* Frees a hold, which may be NULL; over does not run any more when it returns. No lock held. */
void srd_hold_end(struct srd_hold *hold);

/* Counts a completion. Returns whether its event is held back. */
bool srd_hold_takes(struct srd_hold *hold);
/* Called when the event is raised. Returns how many completions were held. */
uint32_t srd_hold_give_up(struct srd_hold *hold);

#endif
