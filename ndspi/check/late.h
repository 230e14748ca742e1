/* SPDX-License-Identifier: MIT */
/*
 * late.h - Receives that are missing while a message of the peer waits. The watch looks once a second, a last Release
 * and the end of the process once more. Only softrdma says what waits: it ends a connection whose message has had no
 * Receive for 250 ms; with a shared receive queue messages wait without end, and are told of after
 * ND_CHECK_PATIENCE_S.
 */
#ifndef NDSPI_CHECK_LATE_H
#define NDSPI_CHECK_LATE_H

#include "ndspi/check/object.h"

/* A queue pair is to be connected, and is looked at from now on; given in: may be NULL, or no wrapper. */
void nd_check_watch_late_locked(const void *given);

/* One look at all of them. No lock held. */
void nd_check_look_for_late(void);

/* One look more at this one, which is dead but for its object's last reference. No lock held; its memory stays. */
void nd_check_look_at_last(struct nd_checked *checked);

#endif
