/* SPDX-License-Identifier: MIT */
/*
 * copy_protocol.h - smbdcopy's own protocol over SMB Direct, in the place of SMB's.
 *
 * The client sends requests, the server answers each, in order. One file at a time:
 *
 *     PUT name, size    WRITE ...    END checksum      the server keeps the file if the checksums agree
 *     GET name          READ ...     END               the answers tell the size, and the checksum
 *
 * Descriptor says where the client has, or wants, the data of WRITE or READ, which the server reads or writes by RDMA.
 * If COPY_INVALIDATE is set, the answer invalidates its token. With COPY_INLINE there is no descriptor, and the data is
 * the tail of the request, or of the answer.
 *
 * An answer has its request's Command and Id. An answer with a Status has its reason, in words, as its tail.
 */
#ifndef COPY_PROTOCOL_H
#define COPY_PROTOCOL_H

#include "smbd_wire.h"

#define COPY_MAGIC 0x70436253 /* "SbCp" */

enum copy_command {
    COPY_PUT = 1,
    COPY_GET,
    COPY_WRITE,
    COPY_READ,
    COPY_END,
};

enum copy_flags {
    COPY_ANSWER = 1,
    COPY_INVALIDATE = 2,
    COPY_INLINE = 4,
};

enum copy_status {
    COPY_OK,
    COPY_FAILED,   /* this file alone; the next may succeed */
    COPY_MISTAKEN, /* the request makes no sense: the server disconnects */
};

enum {
    COPY_CHECKSUM = 16,            /* XXH128, canonical */
    COPY_NAME_MOST = 255,          /* bytes */
    COPY_PIECE = 1 << 20,          /* of a file, by RDMA, at most */
    COPY_INLINE_PIECE = 256 << 10, /* the same with COPY_INLINE */
    COPY_PIPELINE = 8,             /* requests without an answer, at most */
};

struct copy_header {
    uint32_t Magic;
    uint16_t Command, Flags;
    uint32_t Id;
    uint32_t Status;
    uint64_t Offset; /* in the file */
    uint32_t Length; /* of the data */
    uint32_t Tail;   /* bytes behind this header */
    uint64_t Size;   /* of the file: PUT, and the answer to GET */
    uint8_t Checksum[COPY_CHECKSUM];
    SMBD_DESCRIPTOR Descriptor;
};

_Static_assert(sizeof(struct copy_header) == 72, "as on the wire");

#endif
