/* SPDX-License-Identifier: MIT */
/*
 * cq.h - completion queue, as the rest of the device sees it.
 */
#ifndef SOFTRDMA_QUEUES_CQ_H
#define SOFTRDMA_QUEUES_CQ_H

#include "softrdma/queues/async.h"
#include "softrdma/softrdma.h"

/*
 * srd_cq_push - add one completion; fires the channel when armed (next, or solicited: errors count as solicited). A
 * full queue overruns: the entry is lost, the queue returns errors from then on, IBV_EVENT_CQ_ERR is raised once.
 * Threads: any; takes LOCK_SRD_CQ, then LOCK_SRD_CHANNEL.
 */
void srd_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc, bool solicited);

/*
 * Queue pairs count as users of their queues (destroy_cq: EBUSY). Completions of a destroyed queue pair stay readable:
 * NetworkDirect requires it, and verbs allows it.
 */
struct srd_qp;
void srd_cq_attach_qp(struct ibv_cq *cq, struct srd_qp *qp);
void srd_cq_forget_qp(struct ibv_cq *cq, struct srd_qp *qp);

/*
 * Inline progress: while exactly one connection completes into the queue, an empty poll looks at it directly (poll in
 * loop.h). The queue keeps a reference. Attach and detach are called by the connection, LOCK_SRD_CQ is taken
 * inside.
 */
struct srd_source;
void srd_cq_attach_source(struct ibv_cq *cq, struct srd_source *source);
void srd_cq_detach_source(struct ibv_cq *cq, struct srd_source *source);

/* context->ops. Conventions of ibv_*. */
int srd_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int srd_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/*
 * Of the extended context.
 * srd_create_cq_ex  a queue with calls that poll field by field (ibv_create_cq_ex(3)). errno besides that of
 *                   srd_create_cq: EOPNOTSUPP for fields, flags and members that the device has not.
 * srd_cq_current    the completion that they are about
 */
struct ibv_cq_ex *srd_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_wc *srd_cq_current(struct ibv_cq *cq);

/*
 * Of the extended context. Moderation alone: an event that a completion would raise is held back until cq_count such
 * have come, or for cq_period microseconds; a count below 2 or a period of 0: not at all. Returns 0, EINVAL, EIO,
 * ENOMEM.
 */
int srd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

#endif
