/* SPDX-License-Identifier: MIT */
/*
 * ring.c - reads by io_uring (ring.h). The program's thread submits its reads itself, and takes completions at once:
 * one system call for a cached read. The ring's descriptor is in the reactor's set only while reads remain in flight
 * after that, so that a cached read wakes no sleeping thread.
 */
#include "win32/files/ring.h"

#include "win32/fork.h"

#include "reactor/reactor.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/settings.h"

#include <errno.h>
#include <liburing.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    RING_ENTRIES = 64, /* submissions: each is made at once */
    RING_DEPTH = 4096, /* entries for completions; the pool does reads that find no room */
    RING_KEPT = 64,    /* entries of those that are kept for the completions of cancels */
    RING_LARGE =
        64 << 10, /* octets from which on a thread of the kernel copies, not the program's */
};

/* A definite answer is kept; after a shortage the next read asks again. */
enum ring_state { RING_UNKNOWN, RING_OPEN, RING_REFUSED };

static _Atomic(enum ring_state) state;

static struct {
    struct lock lock; /* guards the rest */
    struct io_uring uring;
    struct reactor_source source;
    unsigned in_flight;
    bool opened;
    bool armed; /* the reactor waits for the ring */
    bool asked; /* NDSPI_FILES=uring: warn if there is no ring */
} ring = { .lock = LOCK_INIT(LOCK_WIN_RING, "io_uring") };

FORK_ROW(.place = LOCK_WIN_RING, .lock = &ring.lock);

/* ---- completions ---- */

static void reap_locked(struct list_head *ended)
{
    struct io_uring_cqe *cqe;

    lock_assert_held(&ring.lock);
    while (!io_uring_peek_cqe(&ring.uring, &cqe) && cqe) {
        struct ring_op *op = io_uring_cqe_get_data(cqe);

        if (op) { /* else the completion of a cancel, or of a withdrawn entry */
            op->result = cqe->res;
            list_add_tail(ended, &op->link);
            ring.in_flight--;
        }
        io_uring_cqe_seen(&ring.uring, cqe);
    }
}

/* Has the reactor wait for the ring as long as anything is in flight. */
static void watch_locked(struct list_head *ended)
{
    const bool wanted = ring.in_flight > 0;

    lock_assert_held(&ring.lock);
    if (wanted == ring.armed)
        return;
    if (!reactor_update(&ring.source, wanted ? EPOLLIN : 0)) {
        ring.armed = wanted;
        return;
    }
    /* The reactor has no memory, so this thread waits for the reads: reads of files always end. */
    while (wanted && ring.in_flight) {
        struct io_uring_cqe *cqe;

        io_uring_wait_cqe(&ring.uring, &cqe);
        reap_locked(ended);
    }
}

static void finish(struct list_head *ended)
{
    struct list_node *node;

    while ((node = list_pop(ended))) {
        struct ring_op *op = list_entry(node, struct ring_op, link);

        op->done(op, op->result);
    }
}

static void ring_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct list_head ended;

    (void)source;
    (void)events;
    (void)how;
    list_init(&ended);
    lock_acquire(&ring.lock);
    if (ring.armed) {
        reap_locked(&ended);
        watch_locked(&ended);
    }
    lock_release(&ring.lock);
    finish(&ended);
}

static const struct reactor_source_ops source_ops = { .ready = ring_ready };

/* ---- the ring ---- */

static bool passing(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN ||
           error == EINTR || error == EBUSY;
}

static const char *why(int error)
{
    switch (error) {
    case EPERM:
    case EACCES: return "; the sysctl kernel.io_uring_disabled or a seccomp filter forbids it";
    case ENOSYS: return "; the kernel has none, or a seccomp filter forbids it";
    case EOPNOTSUPP:
    case EINVAL:
        return "; the kernel is older than 5.6, or a seccomp filter forbids io_uring_register";
    case ENOMEM: return "; memory is short, or RLIMIT_MEMLOCK; the next request tries again";
    case EMFILE:
    case ENFILE: return "; too many descriptors are open; the next request tries again";
    default: return "";
    }
}

static void refused(const char *what, int error)
{
    if (!passing(error))
        atomic_store(&state, RING_REFUSED);
    log_limited(ring.asked ? LOG_WARN : LOG_INFO, LOG_WIN,
        "pool threads do the overlapped reads of files: %s: %s%s", what, strerror(error),
        why(error));
}

/* Checks that the kernel knows the operations used here, and drops no completion. */
static int check(const struct io_uring_params *params)
{
    struct io_uring_probe *probe = io_uring_get_probe_ring(&ring.uring);
    bool all;

    if (!probe)
        return errno == ENOMEM ? ENOMEM : EOPNOTSUPP;
    all = io_uring_opcode_supported(probe, IORING_OP_READ) &&
          io_uring_opcode_supported(probe, IORING_OP_ASYNC_CANCEL) &&
          (params->features & IORING_FEAT_NODROP);
    io_uring_free_probe(probe);
    return all ? 0 : EOPNOTSUPP;
}

/* Returns whether there is a ring. */
static bool open_locked(void)
{
    static const char *const words[] = { "auto", "uring", "pool", NULL };
    struct io_uring_params params = {
        .flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
        .cq_entries = RING_DEPTH,
    };
    unsigned word;
    int error;

    lock_assert_held(&ring.lock);
    if (atomic_load_explicit(&state, memory_order_relaxed) != RING_UNKNOWN)
        return atomic_load_explicit(&state, memory_order_relaxed) == RING_OPEN;
    word = setting_word("NDSPI_FILES", words);
    ring.asked = word == 1;
    if (word == 2) {
        log_write(
            LOG_INFO, LOG_WIN, "pool threads do the overlapped reads of files: NDSPI_FILES=pool");
        atomic_store(&state, RING_REFUSED);
        return false;
    }
    if ((error = -io_uring_queue_init_params(RING_ENTRIES, &ring.uring, &params))) {
        refused("io_uring_setup", error);
        return false;
    }
    if (!(error = check(&params)))
        error = -io_uring_ring_dontfork(&ring.uring);
    if (!error) {
        reactor_source_init(&ring.source, &source_ops, ring.uring.ring_fd);
        error = -reactor_add(&ring.source, 0);
    }
    if (error) {
        io_uring_queue_exit(&ring.uring);
        refused("io_uring", error);
        return false;
    }
    ring.opened = true;
    ring.in_flight = 0;
    ring.armed = false;
    atomic_store(&state, RING_OPEN);
    log_write(LOG_INFO, LOG_WIN, "overlapped reads of files are done by io_uring");
    return true;
}

bool ring_there(void)
{
    enum ring_state now = atomic_load_explicit(&state, memory_order_relaxed);
    bool there;

    if (now != RING_UNKNOWN)
        return now == RING_OPEN;
    lock_acquire(&ring.lock);
    there = open_locked();
    lock_release(&ring.lock);
    return there;
}

/* Submits the one entry that was prepared. False: the kernel has not taken it, and it is empty now. */
static bool submit_locked(struct io_uring_sqe *sqe)
{
    const int result = io_uring_submit(&ring.uring);

    lock_assert_held(&ring.lock);
    if (!io_uring_sq_ready(&ring.uring))
        return true;
    io_uring_prep_nop(sqe);
    io_uring_sqe_set_data(sqe, NULL);
    if (result < 0)
        refused("io_uring_enter", -result);
    return false;
}

/* An entry to fill; NULL: none. Entries that the kernel has refused are still queued, as no-ops. */
static struct io_uring_sqe *entry_locked(void)
{
    struct io_uring_sqe *sqe;

    lock_assert_held(&ring.lock);
    if (atomic_load_explicit(&state, memory_order_relaxed) != RING_OPEN)
        return NULL;
    sqe = io_uring_get_sqe(&ring.uring);
    if (!sqe && io_uring_submit(&ring.uring) > 0)
        sqe = io_uring_get_sqe(&ring.uring);
    return sqe;
}

/* Whether there is room for the completion of one more read. */
static bool room_locked(void)
{
    lock_assert_held(&ring.lock);
    return ring.in_flight < RING_DEPTH - RING_KEPT;
}

bool ring_read(struct ring_op *op, int fd, void *buffer, size_t bytes, int64_t offset)
{
    struct io_uring_sqe *sqe;
    struct list_head ended;
    bool begun = false;

    list_init(&ended);
    lock_acquire(&ring.lock);
    if (room_locked() && (sqe = entry_locked())) {
        io_uring_prep_read(sqe, fd, buffer, (unsigned)bytes, (uint64_t)offset);
        if (bytes >= RING_LARGE)
            io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
        list_node_init(&op->link);
        io_uring_sqe_set_data(sqe, op);
        if ((begun = submit_locked(sqe)))
            ring.in_flight++;
        reap_locked(&ended);
        watch_locked(&ended);
    }
    lock_release(&ring.lock);
    finish(&ended);
    return begun;
}

void ring_cancel(struct ring_op *op)
{
    struct io_uring_sqe *sqe;
    struct list_head ended;

    list_init(&ended);
    lock_acquire(&ring.lock);
    if ((sqe = entry_locked())) {
        io_uring_prep_cancel(sqe, op, 0);
        io_uring_sqe_set_data(sqe, NULL);
        submit_locked(sqe);
        reap_locked(&ended);
        watch_locked(&ended);
    }
    lock_release(&ring.lock);
    finish(&ended);
}

/* ---- fork ---- */

/* The child does not map the ring's memory, and its descriptor is closed: reads in flight are the parent's. */
void win_ring_forked(void)
{
    if (ring.opened)
        close(ring.uring.ring_fd);
    ring.opened = false;
    atomic_store(&state, RING_UNKNOWN);
    ring.in_flight = 0;
    ring.armed = false;
    lock_init(&ring.lock, LOCK_WIN_RING, "io_uring");
}
