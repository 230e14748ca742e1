/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/depth.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

static struct ibv_cq *create_cq(
    const struct nd_port *port, int entries, void *cq_context, struct ibv_comp_channel *channel)
{
    errno = 0; /* not every driver sets it */
    return port->verbs->create_cq(port->context, entries, cq_context, channel, 0);
}

struct ibv_cq *nd_create_cq(const struct nd_port *port, int entries, int most, void *cq_context,
    struct ibv_comp_channel *channel)
{
    int deeper = most < ND_CQ_FIXED_ENTRIES ? most : ND_CQ_FIXED_ENTRIES;
    struct ibv_cq *cq;

    if (port->caps.cq_resize || entries >= deeper)
        return create_cq(port, entries, cq_context, channel);
    if ((cq = create_cq(port, deeper, cq_context, channel)))
        return cq;
    log_write(LOG_INFO, LOG_CQ, "%s: no completion queue of %d entries (%s): one of %d cannot grow",
        port->caps.family, deeper, strerror(errno), entries);
    return create_cq(port, entries, cq_context, channel);
}

int nd_resize_cq(const struct nd_port *port, struct ibv_cq *cq, int entries)
{
    if (port->caps.cq_resize)
        return port->verbs->resize_cq(cq, entries);
    return entries <= cq->cqe ? 0 : ENOSPC;
}

static struct ibv_srq *create_srq(
    const struct nd_port *port, struct ibv_pd *pd, struct ibv_srq_init_attr *init, uint32_t depth)
{
    struct ibv_srq *srq;

    init->attr.max_wr = depth;
    errno = 0;
    srq = port->verbs->create_srq(pd, init);
    if (init->attr.max_wr < depth)
        init->attr.max_wr = depth;
    return srq;
}

struct ibv_srq *nd_create_srq(
    const struct nd_port *port, struct ibv_pd *pd, struct ibv_srq_init_attr *init, uint32_t most)
{
    uint32_t depth = init->attr.max_wr, sge = init->attr.max_sge;
    uint32_t deeper = ND_SRQ_FIXED_BUFFERS / (sge ? sge : 1);
    struct ibv_srq *srq;

    if (deeper > most)
        deeper = most;
    if (port->caps.srq_resize || depth >= deeper)
        return create_srq(port, pd, init, depth);
    if ((srq = create_srq(port, pd, init, deeper)))
        return srq;
    log_write(LOG_INFO, LOG_QP,
        "%s: no shared receive queue of %u Receives (%s): one of %u cannot grow", port->caps.family,
        deeper, strerror(errno), depth);
    return create_srq(port, pd, init, depth);
}

int nd_resize_srq(const struct nd_port *port, struct ibv_srq *srq, uint32_t room, uint32_t depth)
{
    struct ibv_srq_attr attr = { .max_wr = depth };

    if (port->caps.srq_resize)
        return port->verbs->modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
    return depth <= room ? 0 : ENOSPC;
}
