/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/moderation.h"

#include "ndspi/core/adapter/adapter.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

/* What the device can do at most: 0, if it cannot. A shim's context has no such functions. */
static struct ibv_cq_moderation_caps caps_of(const struct nd_port *port)
{
    static const struct ibv_cq_moderation_caps none;
    struct ibv_device_attr_ex attr;
    struct verbs_context *verbs = verbs_get_ctx_op(port->context, modify_cq);

    if (!verbs || !verbs_get_ctx_op(port->context, query_device_ex))
        return none;
    memset(&attr, 0, sizeof(attr));
    return verbs->query_device_ex(port->context, NULL, &attr, sizeof(attr)) ? none
                                                                            : attr.cq_mod_caps;
}

static bool can(const struct ibv_cq_moderation_caps *caps)
{
    return caps->max_cq_count > 1 && caps->max_cq_period;
}

bool nd_moderates(const struct nd_port *port)
{
    struct ibv_cq_moderation_caps caps = caps_of(port);

    return can(&caps);
}

static uint16_t at_most(uint32_t value, uint16_t most)
{
    return value < most ? (uint16_t)value : most;
}

/* Sets whether notifications wait for the device's event, even if a poll finds completions earlier. */
static void set_moderated(struct nd_cq *cq, bool moderated)
{
    lock_acquire(&cq->poll.lock);
    cq->moderated = moderated;
    lock_release(&cq->poll.lock);
}

static uint32_t depth_of(struct nd_cq *cq)
{
    uint32_t depth;

    lock_acquire(&cq->poll.lock);
    depth = cq->depth;
    lock_release(&cq->poll.lock);
    return depth;
}

HRESULT nd_cq_moderate(struct nd_cq *cq, uint32_t interval_us, uint32_t count)
{
    struct ibv_cq_moderation_caps caps = caps_of(&cq->adapter->port);
    struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE };
    bool moderated = count > 1 && interval_us;
    int rc;

    if (nd_adapter_removed(cq->adapter))
        return ND_DEVICE_REMOVED;
    if (!can(&caps))
        return ND_NOT_SUPPORTED;
    if (interval_us == UINT32_MAX && count > depth_of(cq))
        return ND_INVALID_PARAMETER_MIX;
    if (moderated) {
        attr.moderate.cq_count = at_most(count, (uint16_t)caps.max_cq_count);
        attr.moderate.cq_period = at_most(interval_us, caps.max_cq_period);
    }
    if ((rc = ibv_modify_cq(cq->poll.ibv, &attr))) {
        log_limited(
            LOG_INFO, LOG_CQ, "a completion queue's events cannot be moderated: %s", strerror(rc));
        return rc == EOPNOTSUPP || rc == ENOSYS ? ND_NOT_SUPPORTED : ND_INSUFFICIENT_RESOURCES;
    }
    set_moderated(cq, moderated);
    return ND_SUCCESS;
}
