/* SPDX-License-Identifier: MIT */
/*
 * smbd_credits.h - flow control. A credit is a Receive that waits for a message: a side sends only while it has
 * credits, and grants the peer one for each Receive that it posts, in its next message.
 *
 * Source: [MS-SMBD] 3.1.1.1 (Connection.SendCredits and its like), 3.1.5.1, 3.1.5.9.
 */
#ifndef SMBD_CREDITS_H
#define SMBD_CREDITS_H

#include <ndktypes.h>

/* Fewer Receives than this are never posted: with fewer, grants would need grants of their own. */
#define SMBD_LEAST_CREDITS 8

typedef struct _SMBD_CREDITS {
    ULONG Most;    /* Receives that this side posts at most */
    ULONG Target;  /* Receives that it wants posted: what the peer asked for */
    ULONG Posted;  /* Receives that are posted */
    ULONG Granted; /* posted Receives that the peer knows of */
    ULONG Send;    /* messages that this side may send */
    BOOLEAN Told;  /* the peer was granted some already */
} SMBD_CREDITS;

/* The peer asks for that many. */
VOID SmbdCreditsAsked(SMBD_CREDITS *Credits, ULONG Count);
/* Posted Receives that the peer does not know of. */
ULONG SmbdCreditsToGrant(const SMBD_CREDITS *Credits);
/* Whether a message may be sent. The last credit is for one that grants credits: else both could wait for ever. */
BOOLEAN SmbdCreditsMaySend(const SMBD_CREDITS *Credits);
/* A message is sent that takes no credit, as those of the negotiation. Returns how many it grants. */
USHORT SmbdCreditsGrant(SMBD_CREDITS *Credits);
/* A message is sent: it takes a credit. Returns how many it grants. */
USHORT SmbdCreditsSent(SMBD_CREDITS *Credits);
/* A message arrived that grants so many. FALSE: the peer had no credit for it. */
BOOLEAN SmbdCreditsReceived(SMBD_CREDITS *Credits, ULONG Granted);
/*
 * Whether the peer has used half of its credits, and there are some to grant. The first ones need no message of their
 * own: they go with the first message of the active side, before which the peer has nothing to say.
 */
BOOLEAN SmbdCreditsGrantDue(const SMBD_CREDITS *Credits);

#endif
