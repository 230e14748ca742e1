/* SPDX-License-Identifier: MIT */
/* share.c - the memory of a share: made, checked, mapped, given back. See share.h. */
#include "softrdma/share/internal.h"

#include "softrdma/share/close.h"
#include "softrdma/share/group.h"
#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };
enum { TRIM_OCTETS = 64 * 1024 };

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* Makes a file that cannot be executed: vm.memfd_noexec 2 allows no other. Kernels before 6.3 do not know the flag. */
static int make_file(void)
{
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create("softrdma", flags | MFD_NOEXEC_SEAL);

    return fd < 0 && errno == EINVAL ? memfd_create("softrdma", flags) : fd;
}

/* Whether RLIMIT_FSIZE allows the size. Beyond it the kernel also sends SIGXFSZ, which ends the process. */
static bool may_have_the_size(void)
{
    struct rlimit size;

    return getrlimit(RLIMIT_FSIZE, &size) || size.rlim_cur >= (rlim_t)SRD_SHARE_OCTETS;
}

int srd_share_make(struct srd_share_offer *offer)
{
    int fd, error;

    if (!may_have_the_size())
        return -EFBIG;
    if ((fd = make_file()) < 0)
        return -errno;
    if (ftruncate(fd, SRD_SHARE_OCTETS) || fcntl(fd, F_ADD_SEALS, SEALS)) {
        error = errno;
        close(fd);
        return -error;
    }
    *offer = (struct srd_share_offer){ .memory_fd = fd, .wake_fd = -1 };
    return 0;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Makes the page of words at once, since a store to a page that the kernel cannot make ends the process. The rings'
 * pages are made when they are used, and given back (ring.c finds where they cannot be made). Each page is a small one,
 * also where the kernel gives shared memory huge pages: fallocate would make a huge page, so it is for kernels before
 * 5.14 alone.
 */
static int make_words(void *memory, int fd)
{
    (void)madvise(memory, SRD_SHARE_OCTETS, MADV_NOHUGEPAGE); /* EINVAL: it has no huge pages */
    if (!madvise(memory, SRD_SHARE_PAGE, MADV_POPULATE_WRITE))
        return 0;
    return fallocate(fd, 0, 0, SRD_SHARE_PAGE) ? -errno : 0;
}

/* Checks seals and size; the seals first, since the size cannot change after that. */
static int check(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat stat;

    if (seals < 0)
        return errno == EINVAL ? -EPROTO : -errno; /* EINVAL: it is no memfd */
    /* Other seals are allowed: F_SEAL_EXEC. */
    return (seals & (SEALS | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == SEALS && !fstat(fd, &stat) &&
                   stat.st_size == SRD_SHARE_OCTETS
               ? 0
               : -EPROTO;
}

/* The number of shares of the process. */
static atomic_int shares;

/* The rings that this process writes may have the GROUP_PART-th part of the control group's memory. */
enum { GROUP_PART = 8, LOOK_MS = 1000 };

/*
 * Returns how many shares the process may have. Each is a mapping, and a process with as many mappings as the kernel
 * allows (vm.max_map_count, 65530 by default) gets no more memory of any kind: hence SRD_SHARES_MAX. And each may come
 * to need all of the ring that it writes; a control group that is out of memory then loses a process. The group's limit
 * may change, so it is read anew, once in LOOK_MS at most.
 */
static int shares_max(void)
{
    static _Atomic uint64_t look_ms;
    static atomic_int max = SRD_SHARES_MAX;
    uint64_t now_ms = clock_now_ms(), next_ms = atomic_load(&look_ms), fit;

    if (now_ms >= next_ms && atomic_compare_exchange_strong(&look_ms, &next_ms, now_ms + LOOK_MS)) {
        fit =
            srd_group_memory("/proc/self/cgroup", "/sys/fs/cgroup") / GROUP_PART / SRD_RING_OCTETS;
        atomic_store(&max, fit < SRD_SHARES_MAX ? (int)fit : SRD_SHARES_MAX);
    }
    return atomic_load(&max);
}

static bool count_in(void)
{
    if (atomic_fetch_add(&shares, 1) < shares_max())
        return true;
    atomic_fetch_sub(&shares, 1);
    return false;
}

static int map(struct srd_share *share, int fd, bool active)
{
    struct srd_share_words *words;
    int error = check(fd);
    void *memory;

    if (error)
        return error;
    memory = mmap(NULL, SRD_SHARE_OCTETS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    /* A core dump would allocate every page of every ring. */
    (void)madvise(memory, SRD_SHARE_OCTETS, MADV_DONTDUMP);
    if ((error = make_words(memory, fd))) {
        munmap(memory, SRD_SHARE_OCTETS);
        return error;
    }
    words = memory;
    share->memory = memory;
    share->out = &words->ring[active ? 0 : 1];
    share->in = &words->ring[active ? 1 : 0];
    share->out_octets = share->memory + SRD_SHARE_PAGE + (active ? 0 : SRD_RING_OCTETS);
    share->in_octets = share->memory + SRD_SHARE_PAGE + (active ? SRD_RING_OCTETS : 0);
    share->dozes = true; /* the words are 0 */
    return 0;
}

int srd_share_take(struct srd_share_offer *offer, bool active, struct srd_share **out)
{
    struct srd_share *share = aligned_alloc(_Alignof(struct srd_share), sizeof(*share));
    int error = -ENOMEM;

    if (share && !count_in()) {
        error = -EUSERS;
    } else if (share) {
        memset(share, 0, sizeof(*share));
        error = map(share, offer->memory_fd, active);
        if (error)
            atomic_fetch_sub(&shares, 1);
    }
    if (error) {
        srd_close_foreign(offer->memory_fd); /* it may be any kind of file */
        srd_close_foreign(offer->wake_fd);
        free(share);
        return error;
    }
    close(offer->memory_fd);
    share->wake_fd = offer->wake_fd;
    *out = share;
    return 0;
}

void srd_share_free(struct srd_share *share)
{
    munmap(share->memory, SRD_SHARE_OCTETS);
    atomic_fetch_sub(&shares, 1);
    close(share->wake_fd);
    free(share);
}

int srd_share_wake_fd(const struct srd_share *share)
{
    return share->wake_fd;
}

/* Logs once that the kernel takes no memory back, since it would refuse each ring, each time. */
static void say_kept(int error)
{
    static atomic_bool said;

    if (!atomic_exchange(&said, true))
        log_write(LOG_INFO, LOG_SOFT,
            "the kernel takes no memory back that connections share, idle ones keep theirs: %s%s",
            strerror(error), error == EINVAL ? " (the process locks all its memory)" : "");
}

/*
 * Gives back the whole pages of a piece of a ring: madvise rounds its length up, and pages may be larger than
 * SRD_SHARE_PAGE.
 */
static void remove_pages(uint8_t *from, size_t octets)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)from + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)from + octets) & ~(page - 1);

    if (begin < end && madvise((void *)begin, end - begin, MADV_REMOVE))
        say_kept(errno);
}

/*
 * When the peer has read all, no octet of the ring is published, so the writer may give back all of it. The kernel may
 * refuse; then the memory stays. The page of words is the peer's, too: it leaves this process's page tables, and comes
 * back with its contents.
 */
bool srd_share_give_back(struct srd_share *share)
{
    uint64_t tail = atomic_load_explicit(&share->out->tail, memory_order_acquire);

    if (share->in_freed != share->in_tail) {
        share->in_freed = share->in_tail;
        atomic_store(&share->in->tail, share->in_tail);
    }
    if (share->out_given != share->out_head) {
        if (tail != share->out_head)
            return false;
        share->out_given = share->out_head;
        remove_pages(share->out_octets, SRD_RING_OCTETS);
    }
    (void)madvise(share->memory, SRD_SHARE_PAGE, MADV_DONTNEED);
    return true;
}

/* Gives back whole pages from the writer's position around to the reader's, where the ring holds no data. */
void srd_share_trim(struct srd_share *share)
{
    uint64_t tail = atomic_load_explicit(&share->out->tail, memory_order_acquire);
    uint64_t from = (share->out_head + SRD_SHARE_PAGE - 1) / SRD_SHARE_PAGE * SRD_SHARE_PAGE;
    uint64_t to = (tail + SRD_RING_OCTETS) / SRD_SHARE_PAGE * SRD_SHARE_PAGE;
    size_t at = from % SRD_RING_OCTETS, first, rest;

    if (share->out_head - share->out_trimmed < TRIM_OCTETS)
        return;
    share->out_trimmed = share->out_head;
    if (share->out_head - tail > SRD_RING_OCTETS || to <= from)
        return; /* the ring is full; or the tail is impossible, as the next write finds */
    first = to - from < SRD_RING_OCTETS - at ? (size_t)(to - from) : SRD_RING_OCTETS - at;
    rest = (size_t)(to - from) - first;
    remove_pages(share->out_octets + at, first);
    if (rest)
        remove_pages(share->out_octets, rest);
}
