/* SPDX-License-Identifier: MIT */
/*
 * message.h - the request of DuplicateHandle to another process, and the answer. One request, one answer, on a socket
 * of packets (SOCK_SEQPACKET) of its own; a descriptor goes with either. Both ends are this library, of one version and
 * one machine, so the structures are sent as they are; a packet of another size or magic number is refused.
 *
 * The asking process closes the socket once it has opened the object: until then the other keeps the object of a TAKE.
 */
#ifndef WIN32_PARCELS_MESSAGE_H
#define WIN32_PARCELS_MESSAGE_H

#include "winobj/handles/parcel.h"

#include <stddef.h>

enum { PARCEL_MAGIC = 0x68647531 };

enum parcel_asks {
    PARCEL_GIVE = 1, /* makes a handle of the object in the parcel */
    PARCEL_TAKE,     /* answers the parcel of a handle's object */
    PARCEL_COPY,     /* makes another handle of a handle's object */
    PARCEL_CLOSE,    /* closes a handle */
};

struct parcel_request {
    uint32_t magic, asks;
    uint32_t inherit;    /* the handle made may be inherited */
    uint32_t then_close; /* TAKE and COPY close handle, also if they fail */
    uint64_t handle;
    struct win_parcel parcel;
};

struct parcel_answer {
    uint32_t magic, error; /* a Win32 error */
    uint64_t handle;       /* the new handle */
    struct win_parcel parcel;
};

/* Sends a packet, with the descriptor unless it is -1. 0 or a negative errno. No SIGPIPE. */
int parcel_send(int socket, const void *packet, size_t octets, int fd);

/*
 * parcel_receive - receives a packet of exactly that size.
 * fd       out: its descriptor, above the standard ones; -1: it had none
 * Returns  0, -EAGAIN (none is there), -ECONNRESET (the other end is closed), -EPROTO (another size), -EMFILE (no
 *          number is left for its descriptor), or another negative errno.
 */
int parcel_receive(int socket, void *packet, size_t octets, int *fd);

#endif
