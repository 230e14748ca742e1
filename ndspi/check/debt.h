/* SPDX-License-Identifier: MIT */
/*
 * debt.h - calls that the program owes: CompleteConnect, for which the peer's Accept waits, and GetResults, after a
 * Notify has ended. A thread, the watch, checks once a second; the time that a program is stopped (by a debugger)
 * counts as one check.
 */
#ifndef NDSPI_CHECK_DEBT_H
#define NDSPI_CHECK_DEBT_H

#include "ndspi/check/object.h"

enum { ND_CHECK_PATIENCE_S = 5 };

/* A request of a call has ended; the watch checks from now on. */
void nd_check_owes_locked(struct nd_checked *object, const char *call, HRESULT status);

/* Starts the watch. */
void nd_check_watch_locked(void);

/* The child of a fork has no watch: it starts one when it needs it. */
void nd_check_watch_forked_locked(void);

/* The call pays its object's debt: the object owes it no longer. */
void nd_check_pays(const struct nd_check_call *call);

/* A connector's Connect or Accept takes this queue pair, which may be NULL. */
void nd_check_connects(const struct nd_check_call *call, const void *qp);
/* The connector's connection ends by the call, or with its last Release. */
void nd_check_disconnects(const struct nd_check_call *call);
void nd_check_connector_ends_locked(const struct nd_checked *connector);

/* The connector that owes a CompleteConnect for this queue pair, or NULL. */
const struct nd_checked *nd_check_debtor_locked(const struct nd_checked *qp);

#endif
