/* SPDX-License-Identifier: MIT */
/* ip2string.h - under the name that drivers include: what ndkwdm.h has of it. */
#include <ndkwdm.h>
