/* SPDX-License-Identifier: MIT */
/* wsa_event.c - event objects by Winsock's names: those of CreateEvent, with manual reset. */
#include "win32/sockets/winsock.h"

#include <winsock2.h>

/*
 * WSACreateEvent - a new event that stays signalled until WSAResetEvent; a handle that is not inherited.
 * Returns WSA_INVALID_EVENT with WSANOTINITIALISED, WSA_NOT_ENOUGH_MEMORY. Any thread, as with all of these.
 * Source: WSACreateEvent function (winsock2.h).
 */
WSAEVENT WSAAPI WSACreateEvent(void)
{
    return win_winsock_started() ? CreateEventA(NULL, TRUE, FALSE, NULL) : WSA_INVALID_EVENT;
}

/* WSACloseEvent, WSASetEvent, WSAResetEvent - FALSE with WSANOTINITIALISED, WSA_INVALID_HANDLE. */
BOOL WSAAPI WSACloseEvent(WSAEVENT event)
{
    return win_winsock_started() && CloseHandle(event);
}

BOOL WSAAPI WSASetEvent(WSAEVENT event)
{
    return win_winsock_started() && SetEvent(event);
}

BOOL WSAAPI WSAResetEvent(WSAEVENT event)
{
    return win_winsock_started() && ResetEvent(event);
}

/*
 * WSAWaitForMultipleEvents - WaitForMultipleObjectsEx, after WSAStartup. Returns WSA_WAIT_EVENT_0 + i,
 * WSA_WAIT_TIMEOUT, WSA_WAIT_IO_COMPLETION; WSA_WAIT_FAILED with WSANOTINITIALISED, WSA_INVALID_HANDLE,
 * WSA_INVALID_PARAMETER (count: none, or more than WSA_MAXIMUM_WAIT_EVENTS).
 * Source: WSAWaitForMultipleEvents function (winsock2.h).
 */
DWORD WSAAPI WSAWaitForMultipleEvents(
    DWORD count, const WSAEVENT *events, BOOL all, DWORD timeout_ms, BOOL alertable)
{
    return win_winsock_started()
               ? WaitForMultipleObjectsEx(count, events, all, timeout_ms, alertable)
               : WSA_WAIT_FAILED;
}
