/* SPDX-License-Identifier: MIT */
/* winsock.c - WSAStartup and its count, the Winsock error. */
#include <winsock2.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "winobj/handles/descriptor.h"
#include "win32/sockets/option.h"
#include "winobj/winsock_start.h"

static atomic_int started;

bool win_winsock_started(void)
{
    if (atomic_load_explicit(&started, memory_order_relaxed) > 0)
        return true;
    win_winsock_fail(WSANOTINITIALISED);
    return false;
}

/* The highest of 1.0, 1.1, 2.0, 2.1, 2.2 that is not above the version asked for. */
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
 * Returns  0, WSAVERNOTSUPPORTED (major 0), WSAEFAULT (no data). If SIGPIPE has its default action, the
 *          program ignores it from now on: sockets report a lost peer by an error, as on Windows.
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
    win_descriptor_maker(win_socket_adopt);
    if (atomic_fetch_add_explicit(&started, 1, memory_order_relaxed) == 0 &&
        !sigaction(SIGPIPE, NULL, &action) && action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
    return 0;
}

/* WSACleanup - undoes one WSAStartup. SOCKET_ERROR with WSANOTINITIALISED when there is none. */
int WSAAPI WSACleanup(void)
{
    int count = atomic_load_explicit(&started, memory_order_relaxed);

    do {
        if (count <= 0) {
            return win_winsock_fail(WSANOTINITIALISED);
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &started, &count, count - 1, memory_order_relaxed, memory_order_relaxed));
    return 0;
}

static DWORD start(void)
{
    WSADATA data;

    return (DWORD)WSAStartup(MAKEWORD(2, 2), &data);
}

static void stop(void)
{
    WSACleanup();
}

__attribute__((constructor(200))) static void winsock_load(void)
{
    win_winsock_register(start, stop);
}

int win_winsock_error_of(int error)
{
    switch (error) {
    case EINTR: return WSAEINTR;
    case EBADF: return WSAENOTSOCK; /* Windows' error for any number that is no socket */
    case EACCES:
    case EPERM: return WSAEACCES;
    case EFAULT: return WSAEFAULT;
    case EINVAL: return WSAEINVAL;
    case EMFILE:
    case ENFILE: return WSAEMFILE;
    case EAGAIN: return WSAEWOULDBLOCK;
    case EINPROGRESS: return WSAEWOULDBLOCK; /* connect goes on in the background */
    case EALREADY: return WSAEALREADY;
    case ENOTSOCK: return WSAENOTSOCK;
    case EDESTADDRREQ: return WSAEDESTADDRREQ;
    case EMSGSIZE: return WSAEMSGSIZE;
    case EPROTOTYPE: return WSAEPROTOTYPE;
    case ENOPROTOOPT: return WSAENOPROTOOPT;
    case EPROTONOSUPPORT: return WSAEPROTONOSUPPORT;
    case ESOCKTNOSUPPORT: return WSAESOCKTNOSUPPORT;
    case EOPNOTSUPP: return WSAEOPNOTSUPP;
    case EPFNOSUPPORT: return WSAEPFNOSUPPORT;
    case EAFNOSUPPORT: return WSAEAFNOSUPPORT;
    case EADDRINUSE: return WSAEADDRINUSE;
    case ENODEV: /* no such interface */
    case EADDRNOTAVAIL: return WSAEADDRNOTAVAIL;
    case ENETDOWN: return WSAENETDOWN;
    case ENETUNREACH: return WSAENETUNREACH;
    case ENETRESET: return WSAENETRESET;
    case ECONNABORTED: return WSAECONNABORTED;
    case ECONNRESET:
    case EPIPE: return WSAECONNRESET;
    case ENOBUFS:
    case ENOMEM: return WSAENOBUFS;
    case EISCONN: return WSAEISCONN;
    case ENOTCONN: return WSAENOTCONN;
    case ESHUTDOWN: return WSAESHUTDOWN;
    case ETIMEDOUT: return WSAETIMEDOUT;
    case ECONNREFUSED: return WSAECONNREFUSED;
    case EHOSTDOWN: return WSAEHOSTDOWN;
    case EHOSTUNREACH: return WSAEHOSTUNREACH;
    default: return 0;
    }
}

int win_winsock_fail(DWORD error)
{
    errno = 0; /* WSAGetLastError then returns this error, and not that of an older errno */
    SetLastError(error);
    return SOCKET_ERROR;
}

int win_winsock_fail_errno(void)
{
    int error = win_winsock_error_of(errno);

    return win_winsock_fail(error ? (DWORD)error : WSAENOBUFS);
}

int win_winsock_fail_transfer(int fd, int error)
{
    int type = 0;
    socklen_t length = sizeof(type);

    switch (error) {
    case EPIPE: return win_winsock_fail(win_winsock_error(win_socket_sends_no_more(fd)));
    case EDESTADDRREQ: return win_winsock_fail(WSAENOTCONN);
    case EAGAIN: return win_winsock_fail(win_socket_timed_out(fd) ? WSAETIMEDOUT : WSAEWOULDBLOCK);
    case ECONNREFUSED: /* a host refused a datagram of before */
        if (!(getsockopt)(fd, SOL_SOCKET, SO_TYPE, &type, &length) && type == SOCK_DGRAM)
            return win_winsock_fail(WSAECONNRESET);
        /* fall through */
    default: errno = error; return win_winsock_fail_errno();
    }
}

/*
 * WSAGetLastError - the last error, as GetLastError; so a program that includes a Windows-named header calls that one.
 * This function is for programs in which send, recv and their kind are Linux' own (NDSPI_NO_CRT), which leave their
 * error in errno. A socket error in errno is newer than the last error, because the Winsock functions of this library
 * clear errno.
 */
int WSAAPI WSAGetLastError(void)
{
    int error = win_winsock_error_of(errno);

    return error ? error : (int)GetLastError();
}

void WSAAPI WSASetLastError(int error)
{
    win_winsock_fail((DWORD)error);
}
