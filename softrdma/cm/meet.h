/* SPDX-License-Identifier: MIT */
/*
 * meet.h - lets two ends on one host share memory, while their connection starts: the active end makes an offer.
 *
 *   active                                                           passive
 *     |---- TCP connected ------------------------------------------->|
 *     |---- Unix socket: memory, its TCP socket --------------------->|  waits in the queue of the socket
 *     |---- MPA Request, flag SRD_MPA_SOFT_SHARED ------------------->|  empties that queue: claims, maps
 *     |<--- MPA Reply, the flag if it has mapped the memory ----------|
 *
 * Neither end waits for a meeting. The passive end has the offer before the Request, so it decides at once; the flags
 * tell the result. On any failure the flag is not set, and the connection stays on TCP.
 *
 * A listener of TCP has a socket with an abstract name made of its address and port. Abstract names belong to a network
 * namespace, as loopback does. Each end compares the other's user with its own (SO_PEERCRED). The TCP socket in an
 * offer binds the offer to one connection: only the process at the other end has that socket. The passive end reads the
 * socket's addresses and closes it; it keeps the Unix connection, by which the ends wake each other.
 */
#ifndef SOFTRDMA_CM_MEET_H
#define SOFTRDMA_CM_MEET_H

#include "softrdma/events/source.h"
#include "softrdma/share/share.h"
#include "util/lock.h"

#include <sys/socket.h>

/* A TCP connection, as one end sees it. */
struct srd_meet_pair {
    struct sockaddr_storage local, peer; /* IPv4 where mapped */
    uint64_t network;                    /* srd_meet_network */
};

/* Whether connections may share memory: not with NDSPI_SOFT_SHM=0. */
bool srd_meet_wanted(void);

/*
 * srd_meet_offer - offers the listener memory. The active end calls it when TCP is connected and the Request not sent.
 * fd           in: the TCP socket
 * local, peer  in: its addresses
 * Returns this end's share of the memory (for srd_share_free, or srd_conn_give_share when the Reply has the flag).
 * NULL: it has offered nothing, since the peer is on another host or of another user, has no softrdma listener, or this
 * end lacks memory or descriptors; the log says which at level info. It never waits. Any lock below LOCK_SRD_CHANNEL
 * may be held.
 */
struct srd_share *srd_meet_offer(int fd, const struct sockaddr *local, const struct sockaddr *peer);

/*
 * srd_meet_listen - takes offers for the connections of a listening TCP socket from now on. If a resource is short, it
 * says so in the log, and tries again when a connection comes.
 * fd  in: the listening socket, whose address is read; it is not kept
 * Returns an object with one reference, the caller's. NULL: its connections stay on TCP.
 */
struct srd_meet;
struct srd_meet *srd_meet_listen(int fd);
/*
 * Stops taking offers, and refuses those that have come. It is called once. No lock of LOCK_SRD_MEET or above is held.
 */
void srd_meet_stop(struct srd_meet *meet);
void srd_meet_unref(struct srd_meet *meet);

/*
 * The passive end calls these; meet may be NULL. Any lock below LOCK_SRD_MEET may be held.
 * srd_meet_claim   takes the offer that a Request announces. Returns this end's share of the memory. NULL: there is no
 *                  offer, or it does not fit, which the log says at level info
 * srd_meet_forget  refuses an offer for a connection that has ended, or whose Request has not the flag
 * local, peer  in: the addresses of the accepted connection, IPv4 where mapped
 */
struct srd_share *srd_meet_claim(
    struct srd_meet *meet, const struct sockaddr *local, const struct sockaddr *peer);
void srd_meet_forget(
    struct srd_meet *meet, const struct sockaddr *local, const struct sockaddr *peer);

/* --- for the files meet*.c ---------------------------------------------------------------------------------------- */

enum { SRD_MEET_NAMES = 3 };

/* Why srd_share_take fails with -EUSERS. */
#define SRD_MEET_TOO_MANY                                                                          \
    "this process has as many connections with such memory as it, or its control group, may have"

/*
 * srd_meet_name - makes the name of a listener's socket.
 * addr  in: the listener's address; or the address that a peer connects to
 * which in: 0: the name of that address; 1: of a wildcard that covers it; 2: of IPv6's wildcard where addr is IPv4
 * name  out
 * Returns the octets of the name; 0: there is no such name.
 */
struct sockaddr_un;
socklen_t srd_meet_name(const struct sockaddr *addr, int which, struct sockaddr_un *name);

/* Whether the process at the other end of a Unix socket is of this user; never for one outside this user namespace. */
bool srd_meet_same_user(int fd);
/* Returns why it is not, as the end of a sentence in the log. */
const char *srd_meet_other_user(void);

/* Whether a share may keep the descriptor: shares may have the lower quarter of the numbers. False for -1. */
bool srd_meet_may_keep(int fd);

/* Returns the network namespace of a socket; 0: this kernel does not say (before Linux 5.14). */
uint64_t srd_meet_network(int fd);

/* Reads the addresses of a TCP connection. Returns 0; -EPROTO: no socket, or not of plain TCP; -ENOTCONN. */
int srd_meet_pair_of(int fd, struct srd_meet_pair *pair);

/* An offer as it was received. */
struct srd_meet_offer {
    struct srd_share_offer share; /* its wake_fd is -1 */
    struct srd_meet_pair pair;    /* the connection as the sender sees it */
};

/*
 * srd_meet_send     sends an offer, and copies of both descriptors. Returns 0 or a negative errno
 * srd_meet_receive  reads an offer. Returns 0; -EAGAIN: none is there yet; -ECONNRESET: the sender has closed; -EACCES:
 *                   the sender is another user; -EPROTO: it is no offer; -EMFILE: no descriptors are left for it; or
 *                   recvmsg's error. On failure no descriptor is left open
 */
int srd_meet_send(int fd, int memory_fd, int tcp_fd);
int srd_meet_receive(int fd, struct srd_meet_offer *offer);

#endif
