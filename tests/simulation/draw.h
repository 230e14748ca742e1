/* SPDX-License-Identifier: MIT */
/* draw.h - what program.c calls of draw.c: the requests of a program. */
#ifndef TESTS_SIMULATION_DRAW_H
#define TESTS_SIMULATION_DRAW_H

#include "simulation.h"

#include "softrdma/memory/memory.h"

enum { SGES = 4 }; /* of a list */

/* What one request is posted with. */
struct draft {
    struct ibv_send_wr wr;
    struct srd_fast_reg fast; /* in place of wr, if it has a region */
    uint64_t pages[PAGES];
    struct ibv_sge sge[SGES];
    struct request *request;
};

/* Draws the next request. Returns whether there is one. */
bool draw_request(struct end *end, struct draft *draft);
/* The model has to know before the post; and whether the post was refused. */
void draft_will_be_posted(struct end *end, struct draft *draft);
void draft_was_refused(struct end *end, struct draft *draft);

/* A place as a list of one entry or several. Returns their number. */
int split_place(struct ibv_sge sge[SGES], uint64_t place, uint32_t octets, uint32_t lkey);

#endif
