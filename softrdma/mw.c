/* SPDX-License-Identifier: MIT */
/* mw.c - memory windows: type 2B only. They are bound and invalidated by requests, see stag.c. */
#include "softrdma/device.h"
#include "softrdma/memory.h"

#include <errno.h>
#include <stdlib.h>

struct srd_mw {
    struct ibv_mw ibv; /* first */
    struct srd_stag_entry entry;
};

struct srd_stag_entry *srd_mw_entry(struct ibv_mw *mw)
{
    return &((struct srd_mw *)mw)->entry;
}

struct ibv_mw *srd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    struct srd_mw *mw;
    int error = srd_stale(pd->context) ? EIO : type != IBV_MW_TYPE_2 ? EOPNOTSUPP : 0;

    if (error) {
        errno = error;
        return NULL;
    }
    mw = calloc(1, sizeof(*mw));
    if (!mw)
        return NULL;
    mw->ibv = (struct ibv_mw){ .context = pd->context, .pd = pd, .type = type };
    mw->entry.pd = pd;
    mw->entry.window = true;
    error = srd_stag_add(&srd_device_of(pd->context)->stags, &mw->entry);
    if (error) {
        free(mw);
        errno = error;
        return NULL;
    }
    mw->ibv.rkey = mw->entry.key;
    srd_pd_get(pd);
    return &mw->ibv;
}

int srd_dealloc_mw(struct ibv_mw *ibv)
{
    struct srd_mw *mw = (struct srd_mw *)ibv;

    if (!srd_stale(ibv->context))
        srd_stag_remove(
            &srd_device_of(ibv->context)->stags, &mw->entry); /* a window has none bound on it */
    srd_pd_put(ibv->pd);
    free(mw);
    return 0;
}

int srd_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    (void)qp, (void)mw, (void)bind;
    return EINVAL; /* for type 1 windows, of which there are none */
}
