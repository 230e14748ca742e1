/* SPDX-License-Identifier: MIT */
/*
 * debt.h - what the program has to do next because another waits: CompleteConnect, for which the peer's Accept waits,
 * and GetResults, after a Notify has ended. A thread, the watch, looks once a second. A program that is stopped for a
 * while (by a debugger) is seen once.
 */
#ifndef NDSPI_CHECK_DEBT_H
#define NDSPI_CHECK_DEBT_H

#include "ndspi/check/object.h"

enum { ND_CHECK_PATIENCE_S = 5 };

/* A request of a call has ended; the watch looks from now on. */
void nd_check_owes_locked(struct nd_checked *object, const char *call, HRESULT status);

/* From now on the watch looks. */
void nd_check_watch_locked(void);

/* In the child of a fork, which has no watch. */
void nd_check_watch_forked_locked(void);

/* The call is what its object owes. */
void nd_check_pays(const struct nd_check_call *call);

/* A connector's Connect or Accept names a queue pair, which may be NULL. */
void nd_check_connects(const struct nd_check_call *call, const void *qp);
/* The connector's connection ends by the call, or with its last Release. */
void nd_check_disconnects(const struct nd_check_call *call);
void nd_check_connector_ends_locked(const struct nd_checked *connector);

/* The connector that owes a CompleteConnect for this queue pair, or NULL. */
const struct nd_checked *nd_check_debtor_locked(const struct nd_checked *qp);

#endif
