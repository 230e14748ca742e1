/* SPDX-License-Identifier: MIT */
/* mdl.h - the memory of a chain of MDLs. */
#ifndef NDK_MEMORY_MDL_H
#define NDK_MEMORY_MDL_H

#include <ndkwdm.h>
#include <stdbool.h>

/*
 * ndk_mdl_range - where the first bytes of a chain begin.
 * mdl     in: the chain, may be NULL
 * length  in: bytes
 * Returns false: no bytes, fewer in the chain, or they are not virtually contiguous.
 */
bool ndk_mdl_range(const MDL *mdl, SIZE_T length, char **start);

#endif
