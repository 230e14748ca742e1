/* SPDX-License-Identifier: MIT */
#include "ndspi/core/memory/part.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/memory/mr.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A window of the device grants remote rights itself, but no write that its registration has not. */
static int access_of(enum nd_windows kind, uint32_t flags)
{
    bool reads = flags & ND_OP_FLAG_ALLOW_READ, writes = flags & ND_OP_FLAG_ALLOW_WRITE;
    int access = writes ? IBV_ACCESS_LOCAL_WRITE : 0;

    if (kind == ND_WINDOWS_EXACT)
        return access | IBV_ACCESS_MW_BIND;
    return access | (reads ? IBV_ACCESS_REMOTE_READ : 0) | (writes ? IBV_ACCESS_REMOTE_WRITE : 0);
}

void nd_part_revoke(struct nd_part *part)
{
    int rc;

    if (part->window && (rc = ibv_dealloc_mw(part->window)))
        log_write(LOG_ERROR, LOG_MR, "a memory window does not go: %s", strerror(rc));
    part->window = NULL;
    if (part->ibv && (rc = part->mr->adapter->verbs->dereg_mr(part->ibv)))
        log_write(LOG_ERROR, LOG_MR, "a window's registration does not go: %s", strerror(rc));
    part->ibv = NULL;
}

static void destroy(struct nd_object *object)
{
    struct nd_part *part = (struct nd_part *)object;

    nd_part_revoke(part);
    nd_object_unpin(&part->mr->object);
    free(part);
}

HRESULT nd_part_create(
    struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags, struct nd_part **out)
{
    const struct nd_port *port = &mr->adapter->port;
    enum nd_windows kind = port->caps.windows;
    struct nd_part *part = calloc(1, sizeof(*part));
    int error;

    if (!part)
        return ND_NO_MEMORY;
    nd_object_init(&part->object, destroy);
    part->mr = mr;
    nd_object_pin(&mr->object);
    part->ibv =
        port->verbs->reg_mr(port->pd, (void *)(uintptr_t)buffer, length, access_of(kind, flags));
    if (part->ibv && kind == ND_WINDOWS_EXACT)
        part->window = ibv_alloc_mw(port->pd, IBV_MW_TYPE_2);
    if (!part->ibv || (kind == ND_WINDOWS_EXACT && !part->window)) {
        error = errno ? errno : ENOMEM;
        nd_object_unpin(&part->object);
        return nd_mr_refused(buffer, length, error);
    }
    *out = part;
    return ND_SUCCESS;
}

uint32_t nd_part_key(const struct nd_part *part)
{
    return part->window ? ibv_inc_rkey(part->window->rkey) : part->ibv->rkey;
}
