/* SPDX-License-Identifier: MIT */
/*
 * strict.h - rules that not every device needs (docs/devices.md): the checker reports what breaks them on any device,
 * unless NDSPI_STRICT is 0, and says which families of devices need the rule.
 */
#ifndef NDSPI_CHECK_STRICT_H
#define NDSPI_CHECK_STRICT_H

#include "ndspi/check/post.h"
#include "ndspi/verbs/quirks.h"

bool nd_check_strict(void);

/*
 * nd_check_families - names the families of devices that have a quirk.
 * text  out: "siw; cxgb4 (READ_SINK)", cut where it is too long. Returns it.
 */
enum { ND_CHECK_FAMILIES_OCTETS = 256 };
const char *nd_check_families(enum nd_quirk quirk, char text[ND_CHECK_FAMILIES_OCTETS]);

/* Accept takes a queue pair: its peer has to send first (ACTIVE_FIRST). */
void nd_check_accepts(const struct nd_check_call *call, const void *qp);
/* A request was posted. No lock held. */
void nd_check_first(const struct nd_check_call *call, HRESULT hr, enum nd_check_use use);

#endif
