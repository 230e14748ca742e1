/* SPDX-License-Identifier: MIT */
/*
 * late.h - missing Receives while a message of the peer waits. The watch checks once a second; the last Release and the
 * end of the process check once more. Only softrdma reports waiting messages: it ends a connection whose message has
 * had no Receive for 250 ms; with a shared receive queue messages wait without limit, and the checker reports them
 * after ND_CHECK_PATIENCE_S.
 */
#ifndef NDSPI_CHECK_LATE_H
#define NDSPI_CHECK_LATE_H

#include "ndspi/check/object.h"

/* A queue pair is about to be connected: the watch checks it from now on. given in: may be NULL, or no wrapper. */
void nd_check_watch_late_locked(const void *given);

/* Checks all of them once. No lock held. */
void nd_check_look_for_late(void);

/* Checks this one once more at its last Release, before it releases its object. No lock held; its memory stays. */
void nd_check_look_at_last(struct nd_checked *checked);

#endif
