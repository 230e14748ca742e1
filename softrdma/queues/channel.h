/* SPDX-License-Identifier: MIT */
/* channel.h - a completion queue's place in its completion channel. */
#ifndef SOFTRDMA_QUEUES_CHANNEL_H
#define SOFTRDMA_QUEUES_CHANNEL_H

#include "softrdma/count.h"
#include "softrdma/softrdma.h"
#include "util/list.h"

#include <stdint.h>

struct srd_channel_cq {
    struct ibv_cq *cq;
    struct list_node node;    /* linked while queued > 0; the channel's lock guards it */
    unsigned queued;          /* number of events that are not fetched */
    struct srd_count unacked; /* number of events that are fetched and not acknowledged */
};

void srd_channel_attach(
    struct ibv_comp_channel *channel, struct srd_channel_cq *member, struct ibv_cq *cq);
/* Drops the queue's events that are not fetched, and waits until all others are acknowledged. No lock held. */
void srd_channel_detach(struct ibv_comp_channel *channel, struct srd_channel_cq *member);
/* Queues one event. LOCK_SRD_CQ may be held. */
void srd_channel_fire(struct ibv_comp_channel *channel, struct srd_channel_cq *member);
/* Fetches the next event. Returns 0, or -1 with errno as srd_evq_get. No lock held. */
int srd_channel_get(struct ibv_comp_channel *channel, struct ibv_cq **cq);
void srd_channel_acked(struct srd_channel_cq *member, unsigned count);

#endif
