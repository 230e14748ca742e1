/* SPDX-License-Identifier: MIT */
#include "ndspi/core/memory/pd.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

HRESULT nd_pd_init(
    struct nd_pd *pd, struct nd_adapter *adapter, void (*destroy)(struct nd_object *object))
{
    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    errno = 0; /* not every driver sets it */
    if (!(pd->ibv = adapter->verbs->alloc_pd(adapter->port.context)))
        return nd_status_from_errno(errno ? errno : ENOMEM);
    nd_object_init(&pd->object, destroy);
    pd->adapter = adapter;
    nd_adapter_pin(adapter);
    return ND_SUCCESS;
}

void nd_pd_fini(struct nd_pd *pd)
{
    int rc = pd->adapter->verbs->dealloc_pd(pd->ibv);

    if (rc)
        log_write(LOG_ERROR, LOG_MR, "cannot free a protection domain: %s", strerror(rc));
    nd_adapter_unpin(pd->adapter);
}
