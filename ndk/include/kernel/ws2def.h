/* SPDX-License-Identifier: MIT */
/* ws2def.h - under the name that drivers include: what ndkwdm.h has of it. */
#include <ndkwdm.h>
