/* SPDX-License-Identifier: MIT */
/*
 * The verbs table of a build without libibverbs and librdmacm (NDSPI_RDMA_CORE): it lists no device, and without one
 * nothing else of it is called.
 */
#include "ndspi/verbs/verbs.h"

#include <stdlib.h>

/* The log needs it; other builds have it from libibverbs. The embedded device raises no other events. */
const char *ibv_event_type_str(enum ibv_event_type type)
{
    switch (type) {
    case IBV_EVENT_QP_FATAL: return "local work queue catastrophic error";
    case IBV_EVENT_QP_REQ_ERR: return "invalid request local work queue error";
    case IBV_EVENT_QP_ACCESS_ERR: return "local access violation work queue error";
    case IBV_EVENT_CQ_ERR: return "CQ error";
    case IBV_EVENT_SRQ_LIMIT_REACHED: return "SRQ limit reached";
    default: return "unknown";
    }
}

static struct ibv_device **list_devices(int *num_devices)
{
    *num_devices = 0;
    return calloc(1, sizeof(struct ibv_device *));
}

static void free_list(struct ibv_device **list)
{
    free(list);
}

const struct nd_verbs nd_verbs_rdma_core = {
    .name = "rdma-core",
    .absent = true,
    .get_device_list = list_devices,
    .free_device_list = free_list,
};
