/* SPDX-License-Identifier: MIT */
/*
 * cq.h - completion queue, as the rest of the device sees it.
 */
#ifndef SOFTRDMA_CQ_H
#define SOFTRDMA_CQ_H

#include "softrdma/softrdma.h"

/*
 * srd_cq_push - add one completion; fires the channel when armed (next, or solicited: errors count as solicited).
 * A full queue overruns: the entry is lost, the queue is dead, IBV_EVENT_CQ_ERR is raised once.
 * Threads: any; takes LOCK_SRD_CQ, then LOCK_SRD_CHANNEL.
 */
void srd_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc, bool solicited);

/*
 * srd_cq_forget_qp - a queue pair is being destroyed. Its completions stay readable (NetworkDirect wants them, and
 * verbs allows it); only the queue's pointers to it for inline progress go.
 */
struct srd_qp;
void srd_cq_attach_qp(struct ibv_cq *cq, struct srd_qp *qp);
void srd_cq_forget_qp(struct ibv_cq *cq, struct srd_qp *qp);

/* Raises an asynchronous event on the context (any thread; LOCK_SRD_CHANNEL). */
void srd_async_raise(struct ibv_context *context, const struct ibv_async_event *event);

#endif
