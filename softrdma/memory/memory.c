/* SPDX-License-Identifier: MIT */
/*
 * memory.c - protection domains, memory regions, memory windows. stag.c checks domains, by comparing pointers.
 *
 * Registration pins no page, since a socket copies. But registered memory has to exist, as for hardware: when a program
 * unmaps registered memory, the next request that uses it fails (dma.h). Windows are of type 1 or 2B; requests bind and
 * invalidate them, see stag.c.
 */
#include "softrdma/memory/memory.h"

#include "softrdma/context/context.h"
#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* --- protection domains ------------------------------------------------------------------------------------------- */

struct srd_pd {
    struct ibv_pd ibv; /* must be first */
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
        return errno = EBUSY;
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

/* --- whether a range of this process can be read or written, without touching it ---------------------------------- */

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Ranges of up to this size the kernel is asked to populate, which checks them in one call. For a larger range that
 * could take memory that the program never uses.
 */
enum { POPULATE_OCTETS = 1 << 20 };

static int probe_maps(uintptr_t start, uintptr_t end, bool write)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long low, high;
    char rights[5], line[512];
    uintptr_t at = start;

    if (!maps)
        return errno;
    while (at < end && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%lx-%lx %4s", &low, &high, rights) == 3 && high > at) {
            if (low > at || rights[0] != 'r' || (write && rights[1] != 'w'))
                break;
            at = high;
        }
        while (!strchr(line, '\n') && fgets(line, sizeof(line), maps)) /* a long path */
            ;
    }
    fclose(maps);
    return at < end ? EFAULT : 0;
}

int srd_probe_memory(const void *addr, size_t length, bool write)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)addr & ~(page - 1);
    uintptr_t end = (uintptr_t)addr + length;

    if (length <= POPULATE_OCTETS &&
        madvise((void *)start, ((end - start) + page - 1) & ~(page - 1),
            write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
        return 0;
    if (length <= POPULATE_OCTETS && errno == EFAULT)
        return EFAULT; /* the mapping has no memory behind it: its file is too short */
    return probe_maps(start, end, write);
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

struct srd_mr {
    struct ibv_mr ibv; /* must be first */
    struct srd_stag_entry *entry;
};

struct srd_stag_entry *srd_mr_entry(struct ibv_mr *mr)
{
    return ((struct srd_mr *)mr)->entry;
}

/* Makes a region with an entry that is in no table yet. NULL: there is no memory. */
static struct srd_mr *make_region(const struct ibv_pd *pd)
{
    struct srd_mr *mr = calloc(1, sizeof(*mr));

    if (mr && !(mr->entry = srd_stag_take(&srd_device_of(pd->context)->stags))) {
        free(mr);
        return NULL;
    }
    return mr;
}

static void free_region(struct srd_mr *mr, const struct ibv_pd *pd)
{
    struct srd_page_list *next;

    free(mr->entry->list);
    for (struct srd_page_list *list = mr->entry->spare; list; list = next) {
        next = list->next;
        free(list);
    }
    if (srd_stale(pd->context))
        free(mr->entry); /* the parent's entry, which no thread of the child uses */
    else
        srd_stag_give(&srd_device_of(pd->context)->stags, mr->entry);
    free(mr);
}

static const int known_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                IBV_ACCESS_MW_BIND | IBV_ACCESS_HUGETLB;

static int check(const void *addr, size_t length, int access)
{
    if (access & ~(known_access | IBV_ACCESS_OPTIONAL_RANGE)) {
        log_write(
            LOG_WARN, LOG_MR, "reg_mr: the device does not support access 0x%x", (unsigned)access);
        return EOPNOTSUPP;
    }
    /* Verbs require local write access for remote write access. */
    if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
        !(access & IBV_ACCESS_LOCAL_WRITE))
        return EINVAL;
    if (!length || length > SRD_MAX_MR_SIZE || length > UINTPTR_MAX - (uintptr_t)addr)
        return EINVAL;
    return srd_probe_memory(addr, length, access & IBV_ACCESS_LOCAL_WRITE);
}

static struct ibv_mr *add_region(
    struct ibv_pd *pd, struct srd_mr *mr, void *addr, size_t length, int access)
{
    int error;

    mr->ibv = (struct ibv_mr){ .context = pd->context, .pd = pd, .addr = addr, .length = length };
    mr->entry->pd = pd;
    mr->entry->access = access;
    mr->entry->addr = (uintptr_t)addr;
    mr->entry->length = length;
    error = srd_stag_add(&srd_device_of(pd->context)->stags, mr->entry);
    if (error) {
        free_region(mr, pd);
        errno = error;
        return NULL;
    }
    mr->ibv.lkey = mr->ibv.rkey = mr->entry->key;
    srd_pd_get(pd);
    return &mr->ibv;
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
    mr = make_region(pd);
    if (!mr)
        return NULL;
    mr->entry->valid = true;
    return add_region(pd, mr, addr, length, access);
}

/* Makes two lists, so that one can be posted while the other is registered. */
static bool make_lists(struct srd_stag_table *table, struct srd_stag_entry *entry)
{
    struct srd_page_list *lists[2];

    for (int i = 0; i < 2; i++)
        lists[i] = srd_stag_list_take(table, entry);
    for (int i = 0; i < 2; i++)
        if (lists[i])
            srd_stag_list_put(table, entry, lists[i]);
    return lists[0] && lists[1];
}

struct ibv_mr *srd_alloc_fast_mr(struct ibv_pd *pd, uint32_t max_pages)
{
    struct srd_mr *mr;

    if (srd_stale(pd->context) || !max_pages || max_pages > SRD_MAX_FAST_PAGES) {
        errno = srd_stale(pd->context) ? EIO : EINVAL;
        return NULL;
    }
    mr = make_region(pd);
    if (!mr)
        return NULL;
    mr->entry->max_pages = max_pages;
    if (!make_lists(&srd_device_of(pd->context)->stags, mr->entry)) {
        free_region(mr, pd);
        errno = ENOMEM;
        return NULL;
    }
    return add_region(pd, mr, NULL, 0, 0);
}

int srd_dereg_mr(struct ibv_mr *ibv)
{
    struct srd_mr *mr = (struct srd_mr *)ibv;
    struct ibv_pd *pd = ibv->pd;
    int error = srd_stale(ibv->context)
                    ? 0
                    : srd_stag_remove(&srd_device_of(ibv->context)->stags, mr->entry);

    if (error)
        return errno = error;
    free_region(mr, pd);
    srd_pd_put(pd); /* the program may free the domain after this */
    return 0;
}

/* --- windows ------------------------------------------------------------------------------------------------------ */

struct srd_mw {
    struct ibv_mw ibv; /* must be first */
    struct srd_stag_entry entry;
    uint8_t step; /* type 1: between key octets; odd, so that keys repeat after 256 binds */
};

struct srd_stag_entry *srd_mw_entry(struct ibv_mw *mw)
{
    return &((struct srd_mw *)mw)->entry;
}

struct ibv_mw *srd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    struct srd_mw *mw;
    uint8_t step = 0;
    int error = srd_stale(pd->context) ? EIO : 0;

    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
        error = EINVAL;
    else if (!error && getrandom(&step, sizeof(step), 0) != sizeof(step))
        error = ENOMEM;
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
    mw->entry.by_domain = type == IBV_MW_TYPE_1;
    mw->step = step | 1;
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
        /* It cannot fail: no window is bound on a window. */
        srd_stag_remove(&srd_device_of(ibv->context)->stags, &mw->entry);
    srd_pd_put(ibv->pd);
    free(mw);
    return 0;
}

uint32_t srd_mw_next_key(const struct ibv_mw *mw)
{
    const uint32_t octet = 0xFF;

    return (mw->rkey & ~octet) | ((mw->rkey + ((const struct srd_mw *)mw)->step) & octet);
}
