/* SPDX-License-Identifier: MIT */
/* wdm.h - under the name that drivers include: the kernel primitives, as far as ndkwdm.h has them. */
#include <ndkwdm.h>
