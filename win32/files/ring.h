/* SPDX-License-Identifier: MIT */
/*
 * ring.h - reads of disk files by io_uring: one ring of the process, opened at the first of them. The kernel does
 * cached reads inside the call; the reactor waits for the others. Without a ring (NDSPI_FILES, a build without
 * liburing, a kernel that refuses) pool threads do all reads (queue.c).
 *
 * Threads: any. The child of a fork has none of its parent's operations, and opens a ring of its own.
 */
#ifndef WIN32_FILES_RING_H
#define WIN32_FILES_RING_H

#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in its owner, whose memory stays until done is called. */
struct ring_op {
    /*
     * Called once, without any lock, by the thread that began it or by one of the reactor. result: what the kernel
     * returns: octets, maybe fewer than were asked for, or a negative errno; -ECANCELED also if the thread that began
     * it has ended.
     */
    void (*done)(struct ring_op *op, int result);
    int result;            /* the ring's until done is called */
    struct list_node link; /* likewise */
};

/* The most that one operation moves: the owner begins another for the rest. */
enum { RING_MOST = 1 << 30 };

/* Whether there is a ring; opens it at need. */
bool ring_there(void);

/*
 * ring_read - begin a read.
 * bytes   at most RING_MOST
 * offset  of the file, not negative
 * Return  false: nothing has begun, and done is not called. The ring is not there, or full. True: done is called,
 *         perhaps before the return.
 */
bool ring_read(struct ring_op *op, int fd, void *buffer, size_t bytes, int64_t offset);

/* Asks the kernel to end an operation. If it can, its result is -ECANCELED or -EINTR. The caller keeps op's memory. */
void ring_cancel(struct ring_op *op);

#endif
