/* SPDX-License-Identifier: MIT */
/* complete.h - ends of a request that only I/O handles know (io.h); provider.h has the others. */
#ifndef WINOBJ_COMPLETE_H
#define WINOBJ_COMPLETE_H

#include "winobj/provider.h"

/* win_overlapped_complete; packet false: makes no packet even if the file has a port. */
void win_overlapped_deliver(
    struct win_file *file, OVERLAPPED *overlapped, LONG status, ULONG_PTR bytes, bool packet);

/* Takes a beginning back: the call fails with status, and makes neither packet nor event. */
void win_overlapped_fail(struct win_file *file, OVERLAPPED *overlapped, LONG status);

#endif
