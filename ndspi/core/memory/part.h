/* SPDX-License-Identifier: MIT */
/*
 * part.h - a window's own registration of its range, for devices whose windows do not do: they have none
 * (ND_WINDOWS_REGISTERED: the registration's key is the window's) or do not check their bounds (ND_WINDOWS_EXACT: a
 * window of the device lies over it).
 *
 * Made by Bind, before it takes any lock; pinned by the window while that is bound, then by the Invalidate until that
 * has ended. Pins its region.
 */
#ifndef NDSPI_CORE_PART_H
#define NDSPI_CORE_PART_H

#include "ndspi/core/base.h"
#include "ndspi/core/object.h"

#include <infiniband/verbs.h>

struct nd_mr;

struct nd_part {
    struct nd_object object; /* first */
    struct nd_mr *mr;        /* pinned */
    struct ibv_mr *ibv;      /* NULL: taken back */
    struct ibv_mw *window;   /* over it, or NULL */
};

/*
 * nd_part_create - registers; no lock held.
 * buffer, length  in: inside the region, bytes
 * flags           in: ND_OP_FLAG_ALLOW_*
 * part            out: with one pin, the caller's
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_ACCESS_VIOLATION, or what the device says.
 */
HRESULT nd_part_create(
    struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags, struct nd_part **part);

/* The key of the window that is made of it. */
uint32_t nd_part_key(const struct nd_part *part);

/* Takes the registration back at once; no lock held, by whoever ends the binding. The last unpin does it, too. */
void nd_part_revoke(struct nd_part *part);

#endif
