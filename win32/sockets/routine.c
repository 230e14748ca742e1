/* SPDX-License-Identifier: MIT */
/* routine.c - completion routines of WSASend, WSARecv and their kind (winobj/requests/routine.h). */
#include "win32/sockets/object.h"

#include "winobj/requests/routine.h"
#include "win32/threads/thread.h"

LONG win_socket_routine_begin(
    struct win_file *file, OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct win_object *thread;
    struct win_apcs *apcs;
    bool added;

    if (!routine)
        return STATUS_SUCCESS;
    if (atomic_load_explicit(&file->port, memory_order_relaxed))
        return STATUS_INVALID_PARAMETER;
    if (!(thread = win_thread_self_pin(&apcs)))
        return STATUS_INSUFFICIENT_RESOURCES;
    overlapped->Offset = 0; /* a request without flags stores none */
    added = win_routine_add(overlapped,
        &(struct win_routine_call){ .transfer = routine, .error_of = win_winsock_error }, thread,
        apcs);
    win_object_unref(thread);
    return added ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

void win_socket_routine_drop(OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct win_routine *left = routine ? win_routine_take(overlapped) : NULL;

    if (left)
        win_routine_drop(left);
}
