/* SPDX-License-Identifier: MIT */
/* parameters.h - what a driver finds in its registry. */
#ifndef NDK_WDM_PARAMETERS_H
#define NDK_WDM_PARAMETERS_H

/* The value of NdklSetParameter; NULL: there is none. Names are compared without case. Valid until the end. */
const char *ndk_parameter(const char *name);

#endif
