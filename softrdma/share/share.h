/* SPDX-License-Identifier: MIT */
/*
 * share.h - memory that the two ends of one connection share, and a Unix socket by which they wake each other. It has a
 * ring of octets for each direction: what the TCP socket would carry.
 *
 * The peer may write rubbish into any octet at any time. So positions are kept privately and only stored there, the
 * peer's are loaded once and checked, and octets are copied out before anything looks at them.
 *
 * Wake-ups. An end that is about to sleep sets a flag in the memory (srd_share_doze), then looks once more; a writer
 * that finds the flag set rings the socket, once. So two ends that both poll make no system call. A writer without
 * space sets a flag, too, and the reader rings when it has freed some.
 */
#ifndef SOFTRDMA_SHARE_SHARE_H
#define SOFTRDMA_SHARE_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct srd_share;

/* What one end needs for its share. */
struct srd_share_offer {
    int memory_fd; /* a memfd of the size that both ends know, sealed against any other */
    int wake_fd;   /* this end's half of a connected pair of Unix stream sockets */
};

/* Makes the memory; wake_fd is -1. Returns 0 or a negative errno (-EFBIG: ulimit -f); nothing is left open then. */
int srd_share_make(struct srd_share_offer *offer);

/*
 * srd_share_take - maps and checks the memory of an offer.
 * offer   in: its descriptors, which are taken over, also on failure
 * active  in: which end this is
 * share   out: on 0
 * Returns 0; -EPROTO: no memory of the right size and seals; -ENOMEM, -ENOSPC: none is left for its first page;
 * -EUSERS: the process has SRD_SHARES_MAX, or what it writes could need more than an eighth of its control group's
 * memory.
 */
int srd_share_take(struct srd_share_offer *offer, bool active, struct srd_share **share);
void srd_share_free(struct srd_share *share);

/* Where the peer rings; readable when it has. It stays the share's. */
int srd_share_wake_fd(const struct srd_share *share);

/*
 * The reading end; one thread at a time.
 * srd_share_read   octets into iov, as many as are there. Returns their number (0: none); -EFAULT: some memory of the
 *                  first entry does not exist, nothing is read; from now on and ever: -EPROTO: the peer's position
 *                  cannot be, -ENOMEM: the kernel has no page for the ring, others: the bell fails with that
 * srd_share_doze   from now on the peer rings. Returns false when there is something to read already
 * srd_share_is_quiet  a thread polls, as srd_share_awake was told, and srd_share_read would find nothing
 * srd_share_awake  from now on it need not: a thread polls, or reads on until it dozes
 * srd_share_answer empties the socket. Returns false when the peer has closed it, or it fails: then reads do, too
 * srd_share_ended  whether the peer says that it writes no more
 *
 * srd_share_is_apart  whether the peer was seen last on another processor than the calling thread is on. Any thread
 */
ssize_t srd_share_read(struct srd_share *share, const struct iovec *iov, int count);
bool srd_share_doze(struct srd_share *share);
bool srd_share_is_quiet(const struct srd_share *share);
void srd_share_awake(struct srd_share *share);
bool srd_share_answer(struct srd_share *share);
bool srd_share_ended(const struct srd_share *share);
bool srd_share_is_apart(const struct srd_share *share);

/*
 * The writing end; one thread at a time.
 * srd_share_write      octets from iov, as many as there is room for. Returns their number (0: no room); -EFAULT: some
 *                      memory does not exist, nothing is written; others as srd_share_read
 * srd_share_has_room   whether a write has something to do: there is room, or it finds that the share is broken
 * srd_share_want_room  from now on the peer rings when it has made room. Returns false when there is room already
 * srd_share_end        the last octet is written
 *
 * srd_share_tells, srd_share_told  words that are the program's of either end: this one stores to the former, the peer
 *                                  stores to the latter
 * srd_share_wake       what was stored there is to be seen: rings if the peer dozes. A write that ends does it, too
 */
ssize_t srd_share_write(struct srd_share *share, const struct iovec *iov, int count);
bool srd_share_has_room(struct srd_share *share);
bool srd_share_want_room(struct srd_share *share);
void srd_share_end(struct srd_share *share);
_Atomic uint64_t *srd_share_tells(struct srd_share *share);
const _Atomic uint64_t *srd_share_told(const struct srd_share *share);
void srd_share_wake(struct srd_share *share);

/*
 * srd_share_give_back - an idle end: gives the memory of its ring back to the kernel if the peer has read all of it. No
 * other thread reads or writes at this end.
 * Returns false when the peer has still to read.
 */
bool srd_share_give_back(struct srd_share *share);

/*
 * srd_share_trim - a busy end: gives back the pages of its ring that hold nothing, if it has written much since it did
 * so last. No other thread writes at this end.
 */
void srd_share_trim(struct srd_share *share);

#endif
