/* SPDX-License-Identifier: MIT */
/* parameters.h - what a driver finds in its registry: one set of values. Names are compared without case. */
#ifndef NDK_WDM_PARAMETERS_H
#define NDK_WDM_PARAMETERS_H

#include <ndkwdm.h>

#include <stdbool.h>

enum { NDK_PARAMETER_NAME_MOST = 255 };

/* The type of a value that the program has set: text, which ends with a zero. Drivers set the others. */
#define NDK_PARAMETER_TEXT 0xFFFFFFFFu

struct ndk_parameter {
    ULONG type;
    ULONG bytes;
    const char *name;
    const UCHAR *data;
};

/* A copy, which free releases. NULL: there is none, or no memory. */
struct ndk_parameter *ndk_parameter_copy(const char *name);
/* The same of the one that was set as the index-th, from 0 on. */
struct ndk_parameter *ndk_parameter_at(ULONG index);
/* Sets or replaces one. False: no memory. */
bool ndk_parameter_set(const char *name, ULONG type, const void *data, ULONG bytes);
/* False: there is none. */
bool ndk_parameter_remove(const char *name);

#endif
