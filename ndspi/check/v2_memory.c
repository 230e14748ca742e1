/* SPDX-License-Identifier: MIT */
/* v2_memory.c - wrappers of IND2MemoryRegion and IND2MemoryWindow. */
#include "ndspi/check/memory.h"
#include "ndspi/check/methods.h"
#include "ndspi/check/pending.h"
#include "ndspi/check/returned.h"
#include "ndspi/check/tables.h"

/* ---- IND2MemoryRegion ---- */

CHECKED_OVERLAPPED(IND2MemoryRegion)
/* Both are done when they return ND_PENDING. */
CHECKED_BEGINS(
    IND2MemoryRegion, Register, (void)0, nd_check_explain_register(&call, value, flags);
    nd_check_registered(&call, value, inner->lpVtbl->GetLocalToken(inner), buffer, size, flags),
    (IND2MemoryRegion * iface, const VOID *buffer, SIZE_T size, ULONG flags,
        OVERLAPPED *overlapped),
    (inner, buffer, size, flags, overlapped))
CHECKED_BEGINS(IND2MemoryRegion, Deregister,
    const struct nd_check_pending pending = nd_check_pending_on(call.object, 0),
    nd_check_deregistered(&call, value, 0, &pending),
    (IND2MemoryRegion * iface, OVERLAPPED *overlapped), (inner, overlapped))
CHECKED_AS(UINT32, 0, IND2MemoryRegion, GetLocalToken, (void)0, (IND2MemoryRegion * iface), (inner))
CHECKED_AS(
    UINT32, 0, IND2MemoryRegion, GetRemoteToken, (void)0, (IND2MemoryRegion * iface), (inner))

static const IND2MemoryRegionVtbl IND2MemoryRegion_table = {
    OVERLAPPED_SLOTS(IND2MemoryRegion),
    .Register = IND2MemoryRegion_Register_,
    .Deregister = IND2MemoryRegion_Deregister_,
    .GetLocalToken = IND2MemoryRegion_GetLocalToken_,
    .GetRemoteToken = IND2MemoryRegion_GetRemoteToken_,
};

CHECKED_KIND(nd_check_mr2, IND2MemoryRegion, &IID_IND2Overlapped)

/* ---- IND2MemoryWindow ---- */

CHECKED_UNKNOWN(IND2MemoryWindow)
CHECKED_AS(
    UINT32, 0, IND2MemoryWindow, GetRemoteToken, (void)0, (IND2MemoryWindow * iface), (inner))

static const IND2MemoryWindowVtbl IND2MemoryWindow_table = {
    UNKNOWN_SLOTS(IND2MemoryWindow),
    .GetRemoteToken = IND2MemoryWindow_GetRemoteToken_,
};

CHECKED_KIND(nd_check_mw2, IND2MemoryWindow, NULL)
