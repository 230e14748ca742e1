/* SPDX-License-Identifier: MIT */
/* winsock.c - WSAStartup and its count, the Winsock error. */
#include <winsock2.h>

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "winobj/winsock.h"

static atomic_int started;

bool win_winsock_started(void)
{
    if (atomic_load_explicit(&started, memory_order_relaxed) > 0)
        return true;
    SetLastError(WSANOTINITIALISED);
    return false;
}

/* The highest of 1.0, 1.1, 2.0, 2.1, 2.2 that is not above what was asked for. */
static WORD version_for(WORD asked)
{
    unsigned major = LOBYTE(asked), minor = HIBYTE(asked);

    if (major == 1)
        return minor ? MAKEWORD(1, 1) : MAKEWORD(1, 0);
    if (major == 2 && minor < 2)
        return asked;
    return MAKEWORD(2, 2);
}

/*
 * WSAStartup - begins the use of Winsock; counted.
 * version  MAKEWORD(major, minor) asked for
 * data     out: the version to use (at most 2.2)
 * Returns  0, WSAVERNOTSUPPORTED (major 0), WSAEFAULT (no data). A program that did not care about SIGPIPE so far, ignores it
 *          from now on: sockets report a lost peer by an error, as on Windows.
 */
int WSAAPI WSAStartup(WORD version, LPWSADATA data)
{
    struct sigaction action;

    if (!LOBYTE(version))
        return WSAVERNOTSUPPORTED;
    if (!data)
        return WSAEFAULT;
    memset(data, 0, sizeof(*data));
    data->wVersion = version_for(version);
    data->wHighVersion = MAKEWORD(2, 2);
    snprintf(
        data->szDescription, sizeof(data->szDescription), "Winsock functions over Linux sockets");
    snprintf(data->szSystemStatus, sizeof(data->szSystemStatus), "Running");
    if (atomic_fetch_add_explicit(&started, 1, memory_order_relaxed) == 0 &&
        !sigaction(SIGPIPE, NULL, &action) && action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
    return 0;
}

/* WSACleanup - takes one WSAStartup back. SOCKET_ERROR with WSANOTINITIALISED when there is none. */
int WSAAPI WSACleanup(void)
{
    int count = atomic_load_explicit(&started, memory_order_relaxed);

    do {
        if (count <= 0) {
            SetLastError(WSANOTINITIALISED);
            return SOCKET_ERROR;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &started, &count, count - 1, memory_order_relaxed, memory_order_relaxed));
    return 0;
}

/* WSAGetLastError - the last error, as on Windows one and the same. Linux' socket calls report theirs in errno. */
int WSAAPI WSAGetLastError(void)
{
    return (int)GetLastError();
}

void WSAAPI WSASetLastError(int error)
{
    SetLastError((DWORD)error);
}

/*
 * closesocket - close, by Winsock's name.
 * Returns 0, or SOCKET_ERROR with WSAENOTSOCK: not open, or no socket. Any thread.
 */
int WSAAPI closesocket(SOCKET socket)
{
    int type;
    socklen_t size = sizeof(type);

    if (socket <= INT_MAX && !getsockopt((int)socket, SOL_SOCKET, SO_TYPE, &type, &size)) {
        close((int)socket); /* EINTR: it is closed all the same */
        return 0;
    }
    SetLastError(WSAENOTSOCK);
    return SOCKET_ERROR;
}
