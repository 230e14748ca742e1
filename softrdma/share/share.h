/* SPDX-License-Identifier: MIT */
/*
 * share.h - memory that the two ends of one connection share, and a Unix socket by which they wake each other. It has a
 * ring of octets for each direction, for the octets that the TCP socket would carry.
 *
 * The peer may write rubbish into any octet at any time. So an end keeps its positions privately and only stores copies
 * in the memory, loads the peer's positions once and checks them, and copies octets out before it looks at them.
 *
 * Wake-ups. An end that is about to sleep sets a flag in the memory: it dozes (srd_share_doze), and looks once more. A
 * writer that finds the flag set rings, once: it sends an octet through the Unix socket. So two ends that both poll
 * make no system call. A writer without space sets a flag, too, and the reader rings when it has freed some.
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

/* The descriptors that one end needs for its share. */
struct srd_share_offer {
    int memory_fd; /* a memfd of the size that both ends know, with seals against a change of its size */
    int wake_fd; /* this end's half of a connected pair of Unix stream sockets */
};

/* Makes the memory; wake_fd is -1. Returns 0 or a negative errno (-EFBIG: ulimit -f); nothing is left open then. */
int srd_share_make(struct srd_share_offer *offer);

/*
 * srd_share_take - maps and checks the memory of an offer.
 * offer   in: descriptors, which become the function's, also on failure
 * active  in: which end this is
 * share   out: on 0
 * Returns 0; -EPROTO: it is no memory, or has another size or other seals; -ENOMEM, -ENOSPC: no memory is left for its
 * first page; -EUSERS: the process has SRD_SHARES_MAX shares, or the rings that it writes could need more than an
 * eighth of its control group's memory.
 */
int srd_share_take(struct srd_share_offer *offer, bool active, struct srd_share **share);
void srd_share_free(struct srd_share *share);

/* Returns the Unix socket, which is readable when the peer has rung. It stays the share's. */
int srd_share_wake_fd(const struct srd_share *share);

/*
 * The reading end; one thread at a time.
 * srd_share_read      reads octets into iov, as many as are there. Returns their number (0: none); -EFAULT: some memory
 *                     of the first entry does not exist, and nothing is read. These stay for ever: -EPROTO: the peer's
 *                     position is impossible; -ENOMEM: the kernel has no page for the ring; others: the socket fails
 *                     with that error
 * srd_share_doze      has the peer ring from now on. Returns false when there is something to read already
 * srd_share_is_quiet  whether this end is awake (srd_share_awake) and srd_share_read would find nothing
 * srd_share_awake     has the peer not ring, until this end dozes: a thread polls, or reads on until it dozes
 * srd_share_answer    empties the socket. Returns false when the peer has closed it, or it fails: then reads fail, too
 * srd_share_ended     whether the peer has called srd_share_end
 *
 * srd_share_is_apart  whether the peer ran last, as far as known, on another processor than the calling thread. Any
 *                     thread
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
 * srd_share_write      writes octets from iov, as many as there is room for. Returns their number (0: no room);
 *                      -EFAULT: some memory does not exist, and nothing is written; others as srd_share_read
 * srd_share_has_room   whether a write has something to do: there is room, or it would find that the share is broken
 * srd_share_want_room  has the peer ring when it has made room. Returns false when there is room already
 * srd_share_end        tells the peer that the last octet is written
 *
 * srd_share_tells, srd_share_told  return words for the stream's own use: this end stores to the former, the peer
 *                                  stores to the latter
 * srd_share_wake       rings if the peer dozes, so that it sees a store to the word of srd_share_tells. A write that
 *                      ends does so, too
 */
ssize_t srd_share_write(struct srd_share *share, const struct iovec *iov, int count);
bool srd_share_has_room(struct srd_share *share);
bool srd_share_want_room(struct srd_share *share);
void srd_share_end(struct srd_share *share);
_Atomic uint64_t *srd_share_tells(struct srd_share *share);
const _Atomic uint64_t *srd_share_told(const struct srd_share *share);
void srd_share_wake(struct srd_share *share);

/*
 * srd_share_give_back - gives the memory of an idle end's ring back to the kernel if the peer has read all of it. No
 * other thread reads or writes at this end.
 * Returns false when the peer has still to read.
 */
bool srd_share_give_back(struct srd_share *share);

/*
 * srd_share_trim - gives back the pages of a busy end's ring that hold nothing, if it has written much since the last
 * call that gave pages back. No other thread writes at this end.
 */
void srd_share_trim(struct srd_share *share);

#endif
