/* SPDX-License-Identifier: MIT */
/*
 * cq.h - completion queue, as the rest of the device sees it.
 */
#ifndef SOFTRDMA_QUEUES_CQ_H
#define SOFTRDMA_QUEUES_CQ_H

#include "softrdma/queues/async.h"
#include "softrdma/softrdma.h"

/*
 * srd_cq_push - adds one completion. If the queue is armed for it (for any, or for solicited ones; errors count as
 * solicited), the channel gets an event. A full queue overruns: the entry is lost, the queue returns errors from then
 * on, and IBV_EVENT_CQ_ERR is raised once.
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
 * events/source.h). The queue keeps a reference. The connection calls both functions, which take LOCK_SRD_CQ.
 */
struct srd_source;
void srd_cq_attach_source(struct ibv_cq *cq, struct srd_source *source);
void srd_cq_detach_source(struct ibv_cq *cq, struct srd_source *source);

/* Entries of context->ops, with the conventions of ibv_*. */
int srd_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int srd_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/*
 * Entries of the extended context.
 * srd_create_cq_ex  makes a queue with calls that poll field by field (ibv_create_cq_ex(3)). errno besides that of
 *                   srd_create_cq: EOPNOTSUPP for fields, flags and members that the device does not have
 * srd_cq_current    returns the completion whose fields these calls read
 */
struct ibv_cq_ex *srd_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_wc *srd_cq_current(struct ibv_cq *cq);

/*
 * An entry of the extended context. It sets moderation alone: an event that a completion would raise is held back until
 * cq_count such completions have come, or for cq_period microseconds; a count below 2 or a period of 0 holds nothing.
 * Returns 0, EINVAL, EIO, ENOMEM.
 */
int srd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

#endif
