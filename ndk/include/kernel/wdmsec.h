/* SPDX-License-Identifier: MIT */
/* wdmsec.h - under the name that drivers include: what ndkwdm.h has of it. */
#include <ndkwdm.h>
