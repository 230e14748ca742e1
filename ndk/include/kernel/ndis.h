/* SPDX-License-Identifier: MIT */
/* ndis.h - under the name that drivers include: what ndkwdm.h has of it. */
#include <wdm.h>
