/* SPDX-License-Identifier: MIT */
/* datapath.c - the functions of datapath.h: version and size are constants in each, so each has code of its own. */
#include "ndspi/core/queue/datapath.h"

HRESULT nd_queue_send_v1(
    struct nd_queue *queue, void *result, const void *list, size_t n, uint32_t flags)
{
    return nd_queue_send(ND_V1, queue, result, list, n, flags);
}

HRESULT nd_queue_send_v2(
    struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags)
{
    return nd_queue_send(ND_V2, queue, context, list, n, flags);
}

HRESULT nd_queue_receive_v1(struct nd_queue *queue, void *result, const void *list, size_t n)
{
    return nd_queue_receive(ND_V1, queue, result, list, n);
}

HRESULT nd_queue_receive_v2(struct nd_queue *queue, void *context, const void *list, uint32_t n)
{
    return nd_queue_receive(ND_V2, queue, context, list, n);
}

size_t nd_cq_results_v1(struct nd_cq_poll *poll, void *results, size_t room)
{
    return nd_cq_results(ND_V1, poll, results, room);
}

uint32_t nd_cq_results_v2(struct nd_cq_poll *poll, void *results, uint32_t room)
{
    return (uint32_t)nd_cq_results(ND_V2, poll, results, room);
}

uint32_t nd_cq_results_kernel(struct nd_cq_poll *poll, void *results, uint32_t room)
{
    return nd_cq_results_sized(poll, results, room, ND_RESULT_SHORT);
}

uint32_t nd_cq_results_kernel_ex(struct nd_cq_poll *poll, void *results, uint32_t room)
{
    return nd_cq_results_sized(poll, results, room, sizeof(struct nd_result));
}
