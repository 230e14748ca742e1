/* SPDX-License-Identifier: MIT */
/*
 * routine.h - completion routines: of ReadFileEx and WriteFileEx, of WSARecv and its kind. While such a request is
 * pending the OVERLAPPED stands in a list with the routine and the thread that calls it; hEvent is the program's own
 * meanwhile.
 */
#ifndef WINOBJ_ROUTINE_H
#define WINOBJ_ROUTINE_H

#include "winobj/exported.h"
#include "winobj/waits/alert.h"

#include <windows.h>

#include <stdbool.h>

struct win_object;
struct win_routine;

/* What is called at the end. */
struct win_routine_call {
    LPOVERLAPPED_COMPLETION_ROUTINE completion; /* this, or transfer */
    win_transfer_routine transfer;              /* its flags are what Offset is then */
    DWORD (*error_of)(LONG status);
};

/*
 * win_routine_add - a request with the OVERLAPPED is about to begin.
 * thread  whose apcs they are; referenced by the caller, and one more time by the routine
 * Returns false with ERROR_NOT_ENOUGH_MEMORY.
 */
bool win_routine_add(OVERLAPPED *overlapped, const struct win_routine_call *call,
    struct win_object *thread, struct win_apcs *apcs);

/* Whether it is one of a request with a routine. */
bool win_routine_is_of(const OVERLAPPED *overlapped);

/* Takes the routine out of the list; NULL: the request has none. Before Internal shows the request's end. */
struct win_routine *win_routine_take(const OVERLAPPED *overlapped);

/* Each ends it: has the thread call the routine, or not. */
void win_routine_post(struct win_routine *routine, LONG status, ULONG_PTR bytes);
void win_routine_drop(struct win_routine *routine);

#endif
