/* SPDX-License-Identifier: MIT */
/* ntddk.h - under the name that drivers include: the kernel primitives, as far as ndkwdm.h has them. */
#include <wdm.h>
