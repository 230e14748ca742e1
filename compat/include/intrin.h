/* SPDX-License-Identifier: MIT */
/* Forwarder: the Windows base header; the compiler's functions are in wincompat/bits.h and interlocked.h. */
#include <wincompat/base.h>
