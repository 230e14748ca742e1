/* SPDX-License-Identifier: MIT */
/*
 * mr.c - memory regions. Nothing is pinned: a socket copies. But what is registered has to exist, as it would for
 * hardware; when a program unmaps registered memory, the request that uses it next fails (dma.h).
 */
#include "softrdma/device.h"
#include "softrdma/memory.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>

struct srd_mr {
    struct ibv_mr ibv; /* first */
    struct srd_stag_entry entry;
};

static const int known_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                IBV_ACCESS_MW_BIND | IBV_ACCESS_HUGETLB;

static int check(const void *addr, size_t length, int access)
{
    if (access & ~(known_access | IBV_ACCESS_OPTIONAL_RANGE)) {
        log_write(LOG_WARN, LOG_MR, "reg_mr: access 0x%x asks for what the device does not have",
            (unsigned)access);
        return EOPNOTSUPP;
    }
    /* As in verbs: who lets others write has to be able to write. */
    if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
        !(access & IBV_ACCESS_LOCAL_WRITE))
        return EINVAL;
    if (!length || length > SRD_MAX_MR_SIZE || length > UINTPTR_MAX - (uintptr_t)addr)
        return EINVAL;
    return srd_probe_memory(addr, length, access & IBV_ACCESS_LOCAL_WRITE);
}

struct ibv_mr *srd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    struct srd_mr *mr;
    int error = srd_stale(pd->context) ? EIO : check(addr, length, access);

    if (error) {
        log_write(LOG_INFO, LOG_MR, "reg_mr: %zu octets at %p, access 0x%x: errno %d", length, addr,
            (unsigned)access, error);
        errno = error;
        return NULL;
    }
    mr = calloc(1, sizeof(*mr));
    if (!mr)
        return NULL;
    mr->ibv = (struct ibv_mr){ .context = pd->context, .pd = pd, .addr = addr, .length = length };
    mr->entry.pd = pd;
    mr->entry.valid = true;
    mr->entry.access = access;
    mr->entry.addr = (uintptr_t)addr;
    mr->entry.length = length;
    error = srd_stag_add(&srd_device_of(pd->context)->stags, &mr->entry);
    if (error) {
        free(mr);
        errno = error;
        return NULL;
    }
    mr->ibv.lkey = mr->ibv.rkey = mr->entry.key;
    srd_pd_get(pd);
    return &mr->ibv;
}

int srd_dereg_mr(struct ibv_mr *ibv)
{
    struct srd_mr *mr = (struct srd_mr *)ibv;
    int error = srd_stale(ibv->context)
                    ? 0
                    : srd_stag_remove(&srd_device_of(ibv->context)->stags, &mr->entry);

    if (error)
        return error;
    srd_pd_put(ibv->pd);
    free(mr);
    return 0;
}
