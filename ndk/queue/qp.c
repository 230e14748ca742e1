/* SPDX-License-Identifier: MIT */
/*
 * qp.c - NDK_QP over core/queue/qp.h: its life. Its requests: post.c.
 *
 * Source: NDK_QP_DISPATCH of the NDKPI documentation.
 */
#include "ndk/queue/qp.h"

#include "ndk/queue/post.h"
#include "ndk/queue/srq.h"

static void close_core(struct ndk_object *object)
{
    nd_qp_close(&((struct ndk_qp *)object)->core);
}

static NTSTATUS close_qp(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_QP_DISPATCH dispatch = {
    .NdkCloseQp = close_qp,
    .NdkQueryExtension = ndk_query_extension,
    .NdkFlush = ndk_flush,
    .NdkSend = ndk_send,
    .NdkReceive = ndk_receive,
    .NdkBind = ndk_bind,
    .NdkFastRegister = ndk_fast_register,
    .NdkInvalidate = ndk_invalidate,
    .NdkRead = ndk_read,
    .NdkWrite = ndk_write,
    .NdkSendAndInvalidate = ndk_send_and_invalidate,
};

static void free_qp(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct ndk_qp *qp = container_of((struct nd_qp *)object, struct ndk_qp, core);

    lock_acquire(&qp->pd->queues_lock);
    list_del(&qp->knower.link);
    lock_release(&qp->pd->queues_lock);
    nd_qp_fini(&qp->core);
    ndk_object_gone(&qp->object);
}

static NTSTATUS make(struct ndk_pd *pd, struct nd_qp_params *params, struct ndk_qp **out)
{
    struct ndk_qp *qp = nd_object_alloc(sizeof(*qp));
    NTSTATUS status;

    if (!qp)
        return STATUS_INSUFFICIENT_RESOURCES;
    params->pd = pd->core.ibv;
    status = ndk_status(nd_qp_init(&qp->core, pd->adapter->core, params, destroy));
    if (status != STATUS_SUCCESS) {
        free(qp);
        return status;
    }
    qp->pd = pd;
    qp->knower.qp = &qp->core;
    lock_acquire(&pd->queues_lock);
    list_add_tail(&pd->queues, &qp->knower.link);
    lock_release(&pd->queues_lock);
    ndk_object_init(
        &qp->object, NdkObjectTypeQp, &dispatch, &pd->adapter->root, &qp->core.object, free_qp);
    ndk_object_follow(&qp->object, &pd->core.object);
    ndk_object_follow(&qp->object, &params->receive_cq->object);
    ndk_object_follow(&qp->object, &params->initiator_cq->object);
    if (params->srq)
        ndk_object_follow(&qp->object, &params->srq->object);
    *out = qp;
    return STATUS_SUCCESS;
}

static struct nd_cq *cq_of(NDK_CQ *given, const struct ndk_pd *pd)
{
    struct ndk_object *object =
        ndk_object_of(given ? &given->Header : NULL, NdkObjectTypeCq, &pd->adapter->root);

    return object ? &((struct ndk_cq *)object)->core : NULL;
}

static struct nd_srq *srq_of(NDK_SRQ *given, const struct ndk_pd *pd)
{
    struct ndk_object *object =
        ndk_object_of(given ? &given->Header : NULL, NdkObjectTypeSrq, &pd->adapter->root);
    struct ndk_srq *srq = (struct ndk_srq *)object;

    return srq && srq->pd == pd ? &srq->core : NULL;
}

static bool within_limits(const struct nd_limits *limits, const struct nd_qp_params *params)
{
    return params->receive_cq && params->initiator_cq && params->initiator_depth &&
           params->receive_depth <= limits->max_receive_depth &&
           params->initiator_depth <= limits->max_initiator_depth &&
           params->receive_sge <= limits->max_receive_sge &&
           params->initiator_sge <= limits->max_initiator_sge &&
           params->inline_data <= limits->max_inline;
}

static NTSTATUS create(struct ndk_pd *pd, struct nd_qp_params *params,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
    struct ndk_creation creation;
    struct ndk_qp *qp = NULL;
    NTSTATUS status;

    if (!within_limits(&pd->adapter->core->limits, params))
        return STATUS_INVALID_PARAMETER;
    status = ndk_creation_begin(&creation, &pd->adapter->root, completion, context, (void **)out);
    if (status != STATUS_SUCCESS)
        return status;
    status = make(pd, params, &qp);
    return ndk_creation_end(&creation, status, qp ? &qp->object : NULL);
}

NTSTATUS ndk_create_qp(NDK_PD *given, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, PVOID qp_context,
    ULONG receive_depth, ULONG initiator_depth, ULONG receive_sge, ULONG initiator_sge,
    ULONG inline_data, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
    struct ndk_pd *pd = ndk_pd_from(given);
    struct nd_qp_params params = {
        .receive_cq = cq_of(receive_cq, pd),
        .initiator_cq = cq_of(initiator_cq, pd),
        .context = qp_context,
        .receive_depth = receive_depth,
        .initiator_depth = initiator_depth,
        .receive_sge = receive_sge,
        .initiator_sge = initiator_sge,
        .inline_data = inline_data,
    };

    return create(pd, &params, completion, context, out);
}

NTSTATUS ndk_create_qp_with_srq(NDK_PD *given, NDK_CQ *receive_cq, NDK_CQ *initiator_cq,
    NDK_SRQ *srq, PVOID qp_context, ULONG initiator_depth, ULONG initiator_sge, ULONG inline_data,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
    struct ndk_pd *pd = ndk_pd_from(given);
    struct nd_qp_params params = {
        .receive_cq = cq_of(receive_cq, pd),
        .initiator_cq = cq_of(initiator_cq, pd),
        .srq = srq_of(srq, pd),
        .context = qp_context,
        .initiator_depth = initiator_depth,
        .initiator_sge = initiator_sge,
        .inline_data = inline_data,
    };

    return params.srq ? create(pd, &params, completion, context, out) : STATUS_INVALID_PARAMETER;
}
