/* SPDX-License-Identifier: MIT */
/* pd.c - protection domains. What they protect is checked in stag.c, by comparing pointers. */
#include "softrdma/device.h"
#include "softrdma/memory.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>

struct srd_pd {
    struct ibv_pd ibv; /* first */
    atomic_uint users;
};

struct ibv_pd *srd_alloc_pd(struct ibv_context *context)
{
    struct srd_pd *pd;

    if (srd_stale(context)) {
        errno = EIO;
        return NULL;
    }
    pd = calloc(1, sizeof(*pd));
    if (!pd)
        return NULL;
    pd->ibv.context = context;
    atomic_fetch_add_explicit(&srd_context_from(context)->users, 1, memory_order_relaxed);
    return &pd->ibv;
}

int srd_dealloc_pd(struct ibv_pd *ibv)
{
    struct srd_pd *pd = (struct srd_pd *)ibv;
    unsigned users = atomic_load_explicit(&pd->users, memory_order_acquire);

    if (users) {
        log_write(LOG_INFO, LOG_SOFT,
            "dealloc_pd: %u regions, windows or queues of the domain still exist", users);
        return EBUSY;
    }
    atomic_fetch_sub_explicit(&srd_context_from(ibv->context)->users, 1, memory_order_release);
    free(pd);
    return 0;
}

void srd_pd_get(struct ibv_pd *pd)
{
    atomic_fetch_add_explicit(&((struct srd_pd *)pd)->users, 1, memory_order_relaxed);
}

void srd_pd_put(struct ibv_pd *pd)
{
    atomic_fetch_sub_explicit(&((struct srd_pd *)pd)->users, 1, memory_order_release);
}
