/* SPDX-License-Identifier: MIT */
/*
 * smbd_wire.h - the messages of SMB Direct as they pass on the wire: little-endian, each member at its natural offset.
 *
 * Source: [MS-SMBD] 2.2, version 1.0 of the protocol.
 */
#ifndef SMBD_WIRE_H
#define SMBD_WIRE_H

#include <ndktypes.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the structures are read and written as they are"
#endif

#define SMBD_VERSION                 0x0100 /* the only one there is */
#define SMBD_FLAG_RESPONSE_REQUESTED 0x0001 /* answer at once, with any message */

/* What a peer must be able to receive: a message of so many bytes, and a reassembled one. */
#define SMBD_LEAST_RECEIVE_SIZE    128
#define SMBD_LEAST_FRAGMENTED_SIZE 131072

/* [MS-SMBD] 2.2.1: the first message of a connection, from the active side. */
typedef struct _SMBD_NEGOTIATE_REQUEST {
    USHORT MinVersion, MaxVersion;
    USHORT Reserved;
    USHORT CreditsRequested;
    ULONG PreferredSendSize;
    ULONG MaxReceiveSize;
    ULONG MaxFragmentedSize;
} SMBD_NEGOTIATE_REQUEST;

/* [MS-SMBD] 2.2.2: the answer. */
typedef struct _SMBD_NEGOTIATE_RESPONSE {
    USHORT MinVersion, MaxVersion;
    USHORT NegotiatedVersion;
    USHORT Reserved;
    USHORT CreditsRequested, CreditsGranted;
    ULONG Status;
    ULONG MaxReadWriteSize;
    ULONG PreferredSendSize;
    ULONG MaxReceiveSize;
    ULONG MaxFragmentedSize;
} SMBD_NEGOTIATE_RESPONSE;

/* [MS-SMBD] 2.2.3: everything else; without data it ends here. */
typedef struct _SMBD_DATA_TRANSFER {
    USHORT CreditsRequested, CreditsGranted;
    USHORT Flags;
    USHORT Reserved;
    ULONG RemainingDataLength; /* of the upper layer's message, in the fragments that follow */
    ULONG DataOffset;          /* from the start of this header, a multiple of 8 */
    ULONG DataLength;
} SMBD_DATA_TRANSFER;

#define SMBD_DATA_OFFSET 24 /* behind that header and its padding */

/* [MS-SMBD] 2.2.3.1, Buffer Descriptor V1: memory of the sender's that the receiver may read or write. */
typedef struct _SMBD_DESCRIPTOR {
    ULONG64 Offset; /* the address to name in the RDMA request */
    UINT32 Token;
    ULONG Length;
} SMBD_DESCRIPTOR;

/* [MS-SMBD] 6.1, of iWARP alone: Reads in flight that the sender serves, and posts. Big-endian, unlike the rest. */
typedef struct _SMBD_READ_DEPTHS {
    ULONG Inbound, Outbound;
} SMBD_READ_DEPTHS;

_Static_assert(sizeof(SMBD_NEGOTIATE_REQUEST) == 20 && sizeof(SMBD_NEGOTIATE_RESPONSE) == 32 &&
                   sizeof(SMBD_DATA_TRANSFER) == 20 && sizeof(SMBD_DESCRIPTOR) == 16 &&
                   sizeof(SMBD_READ_DEPTHS) == 8,
    "as on the wire");

#endif
