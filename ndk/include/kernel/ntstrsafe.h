/* SPDX-License-Identifier: MIT */
/* ntstrsafe.h - under the name that drivers include: what ndkwdm.h has of it. */
#include <ndkwdm.h>
