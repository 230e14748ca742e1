/* SPDX-License-Identifier: MIT */
/* option.c - setsockopt and getsockopt by Windows' types, from one table; what a socket remembers of them. */
#include "win32/sockets/option.h"

#include "win32/sockets/blocked.h"
#include "win32/sockets/calls.h"
#include "win32/sockets/network_events.h"

#include <mstcpip.h>
#include <mswsock.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>

static atomic_bool times_set;
static _Atomic uint32_t open_type; /* SO_OPENTYPE: has no effect */

static int option_set(int fd, int level, int option, int value)
{
    return (setsockopt)(fd, level, option, &value, sizeof(value)) ? win_winsock_fail_errno() : 0;
}

static int option_get(int fd, int level, int option, uint32_t *value)
{
    socklen_t length = sizeof(*value);

    *value = 0;
    return (getsockopt)(fd, level, option, value, &length) ? win_winsock_fail_errno() : 0;
}

/* What the table's functions do to a socket: store or fetch Windows' value. 0, or SOCKET_ERROR with the last error. */
struct option;
typedef int set_function(int fd, const struct option *option, uint32_t value);
typedef int get_function(int fd, const struct option *option, uint32_t *value);

struct option {
    int level, name;
    int linux_name;    /* Linux' option, at the same level */
    uint8_t least;     /* octets that have to be there; of a BOOL one suffices */
    bool one;          /* a BOOL of which Windows stores and reads one octet, whatever the length */
    set_function *set; /* NULL: WSAENOPROTOOPT */
    get_function *get;
};

static int get_value(int fd, const struct option *option, uint32_t *value)
{
    return option_get(fd, option->level, option->linux_name, value);
}

static int set_bool(int fd, const struct option *option, uint32_t value)
{
    return option_set(fd, option->level, option->linux_name, value != 0);
}

static int get_bool(int fd, const struct option *option, uint32_t *value)
{
    const int result = get_value(fd, option, value);

    *value = *value != 0;
    return result;
}

/* An option without effect. */
static int set_nothing(int fd, const struct option *option, uint32_t value)
{
    (void)fd, (void)option, (void)value;
    return 0;
}

static int get_zero(int fd, const struct option *option, uint32_t *value)
{
    (void)fd, (void)option;
    *value = 0;
    return 0;
}

/* Milliseconds; 0: for ever. */
static int set_time(int fd, const struct option *option, uint32_t value)
{
    const struct timeval time = { value / 1000, (suseconds_t)(value % 1000) * 1000 };

    if (value)
        atomic_store(&times_set, true);
    return (setsockopt)(fd, option->level, option->linux_name, &time, sizeof(time))
               ? win_winsock_fail_errno()
               : 0;
}

static int get_time(int fd, const struct option *option, uint32_t *value)
{
    struct timeval time = { 0, 0 };
    socklen_t length = sizeof(time);

    if ((getsockopt)(fd, option->level, option->linux_name, &time, &length))
        return win_winsock_fail_errno();
    *value = (uint32_t)time.tv_sec * 1000 + (uint32_t)(time.tv_usec + 999) / 1000;
    return 0;
}

/* Linux' struct linger, which is Windows' in programs. */
struct linux_linger {
    int l_onoff, l_linger;
};

/* Two u_short: whether it lingers, for how many seconds. */
static int set_linger(int fd, const struct option *option, uint32_t value)
{
    const struct linux_linger linger = { LOWORD(value) != 0, HIWORD(value) };

    return (setsockopt)(fd, option->level, option->linux_name, &linger, sizeof(linger))
               ? win_winsock_fail_errno()
               : 0;
}

static int get_linger(int fd, const struct option *option, uint32_t *value)
{
    struct linux_linger linger = { 0, 0 };
    socklen_t length = sizeof(linger);

    if ((getsockopt)(fd, option->level, option->linux_name, &linger, &length))
        return win_winsock_fail_errno();
    *value = (uint32_t)MAKELONG(linger.l_onoff != 0, linger.l_linger);
    return 0;
}

static int set_dont_linger(int fd, const struct option *option, uint32_t value)
{
    return set_linger(fd, option, !value);
}

static int get_dont_linger(int fd, const struct option *option, uint32_t *value)
{
    const int result = get_linger(fd, option, value);

    *value = !LOWORD(*value);
    return result;
}

/* Linux doubles, rounds and limits the size; the program is told what it asked for. */
static int set_buffer(int fd, const struct option *option, uint32_t value)
{
    const int result = option_set(
        fd, SOL_SOCKET, option->linux_name, value > INT32_MAX / 2 ? INT32_MAX / 2 : (int)value);
    struct win_socket *socket = result ? NULL : win_socket_get((SOCKET)fd);

    if (!socket)
        return SOCKET_ERROR;
    atomic_store(option->name == SO_RCVBUF ? &socket->receive_buffer : &socket->send_buffer,
        (int64_t)value + 1);
    win_socket_unref(socket);
    return 0;
}

static int get_buffer(int fd, const struct option *option, uint32_t *value)
{
    struct win_socket *socket = win_socket_find((SOCKET)fd);
    int64_t asked = 0;

    if (socket) {
        asked =
            atomic_load(option->name == SO_RCVBUF ? &socket->receive_buffer : &socket->send_buffer);
        win_socket_unref(socket);
    }
    if (!asked)
        return get_value(fd, option, value);
    *value = (uint32_t)(asked - 1);
    return 0;
}

/* Linux gives an address to one socket alone, unless SO_REUSEADDR is set; the two exclude each other. */
static int set_exclusive(int fd, const struct option *option, uint32_t value)
{
    struct win_socket *socket = win_socket_get((SOCKET)fd);
    uint32_t reuse = 0;
    int result;

    (void)option;
    if (!socket)
        return SOCKET_ERROR;
    result = option_get(fd, SOL_SOCKET, SO_REUSEADDR, &reuse);
    if (!result && value && reuse)
        result = win_winsock_fail(WSAEINVAL);
    if (!result)
        atomic_store(&socket->exclusive, value != 0);
    win_socket_unref(socket);
    return result;
}

static int get_exclusive(int fd, const struct option *option, uint32_t *value)
{
    struct win_socket *socket = win_socket_find((SOCKET)fd);

    (void)option;
    *value = socket && atomic_load(&socket->exclusive);
    if (socket)
        win_socket_unref(socket);
    return 0;
}

static int set_reuse(int fd, const struct option *option, uint32_t value)
{
    uint32_t exclusive;

    get_exclusive(fd, option, &exclusive);
    return value && exclusive ? win_winsock_fail(WSAEINVAL) : set_bool(fd, option, value);
}

static int get_error(int fd, const struct option *option, uint32_t *value)
{
    const int failure = win_network_events_failure(fd), result = get_value(fd, option, value);

    if (!result && failure)
        *value = (uint32_t)failure;
    else if (!result && *value)
        *value = win_winsock_error_of((int)*value);
    return result;
}

static int get_message_size(int fd, const struct option *option, uint32_t *value)
{
    enum { LONGEST_OF_UDP = 65507 };

    (void)fd, (void)option;
    *value = LONGEST_OF_UDP;
    return 0;
}

static int set_open_type(int fd, const struct option *option, uint32_t value)
{
    (void)fd, (void)option;
    atomic_store(&open_type, value);
    return 0;
}

static int get_open_type(int fd, const struct option *option, uint32_t *value)
{
    (void)fd, (void)option;
    *value = atomic_load(&open_type);
    return 0;
}

/* Seconds; -1 of a socket that is not connected. */
static int get_connect_time(int fd, const struct option *option, uint32_t *value)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    (void)option;
    *value = getpeername(fd, (struct sockaddr *)&peer, &length) ? UINT32_MAX
                                                                : win_blocked_connected_for(fd);
    return 0;
}

/* SO_UPDATE_ACCEPT_CONTEXT, SO_UPDATE_CONNECT_CONTEXT: a connected socket has all it needs. */
static int set_context(int fd, const struct option *option, uint32_t value)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    (void)option, (void)value;
    return getpeername(fd, (struct sockaddr *)&peer, &length) ? win_winsock_fail_errno() : 0;
}

static int get_none(int fd, const struct option *option, uint32_t *value)
{
    (void)fd, (void)option, (void)value;
    return win_winsock_fail(WSAENOPROTOOPT);
}

/* clang-format off */
static const struct option options[] = {
    /* level      Windows' name              Linux' name     least one    set              get */
    { SOL_SOCKET, SO_RCVTIMEO,               SO_RCVTIMEO,     4, false, set_time,        get_time },
    { SOL_SOCKET, SO_SNDTIMEO,               SO_SNDTIMEO,     4, false, set_time,        get_time },
    { SOL_SOCKET, SO_LINGER,                 SO_LINGER,       4, false, set_linger,      get_linger },
    { SOL_SOCKET, SO_DONTLINGER,             SO_LINGER,       1, false, set_dont_linger, get_dont_linger },
    { SOL_SOCKET, SO_RCVBUF,                 SO_RCVBUF,       4, false, set_buffer,      get_buffer },
    { SOL_SOCKET, SO_SNDBUF,                 SO_SNDBUF,       4, false, set_buffer,      get_buffer },
    { SOL_SOCKET, SO_REUSEADDR,              SO_REUSEADDR,    1, false, set_reuse,       get_bool },
    { SOL_SOCKET, SO_EXCLUSIVEADDRUSE,       0,               1, false, set_exclusive,   get_exclusive },
    { SOL_SOCKET, SO_KEEPALIVE,              SO_KEEPALIVE,    1, true,  set_bool,        get_bool },
    { SOL_SOCKET, SO_DONTROUTE,              SO_DONTROUTE,    1, true,  set_bool,        get_bool },
    { SOL_SOCKET, SO_BROADCAST,              SO_BROADCAST,    1, false, set_bool,        get_bool },
    { SOL_SOCKET, SO_OOBINLINE,              SO_OOBINLINE,    1, false, set_bool,        get_bool },
    { SOL_SOCKET, SO_DEBUG,                  0,               1, false, set_nothing,     get_zero },
    { SOL_SOCKET, SO_TYPE,                   SO_TYPE,         4, false, NULL,            get_value },
    { SOL_SOCKET, SO_ACCEPTCONN,             SO_ACCEPTCONN,   4, false, NULL,            get_value },
    { SOL_SOCKET, SO_ERROR,                  SO_ERROR,        4, false, set_nothing,     get_error },
    { SOL_SOCKET, SO_SNDLOWAT,               0,               1, false, NULL,            get_none },
    { SOL_SOCKET, SO_RCVLOWAT,               0,               1, false, NULL,            get_none },
    { SOL_SOCKET, SO_MAX_MSG_SIZE,           0,               4, false, NULL,            get_message_size },
    { SOL_SOCKET, SO_OPENTYPE,               0,               4, false, set_open_type,   get_open_type },
    { SOL_SOCKET, SO_CONNECT_TIME,           0,               4, false, NULL,            get_connect_time },
    { SOL_SOCKET, SO_PROTOCOL_INFOA,         0,               0, false, NULL,            get_none },
    { SOL_SOCKET, SO_PROTOCOL_INFOW,         0,               0, false, NULL,            get_none },
    { SOL_SOCKET, SO_UPDATE_ACCEPT_CONTEXT,  0, sizeof(SOCKET), false, set_context,     get_none },
    { SOL_SOCKET, SO_UPDATE_CONNECT_CONTEXT, 0,               0, false, set_context,     get_none },
    { IPPROTO_TCP, TCP_NODELAY,              TCP_NODELAY,     1, true,  set_bool,        get_bool },
};
/* clang-format on */

static const struct option *option_of(int level, int name)
{
    for (size_t i = 0; i < ARRAYSIZE(options); i++)
        if (options[i].level == level && options[i].name == name)
            return &options[i];
    return NULL;
}

/* Whether a number is a socket's; of SO_OPENTYPE, which is the process's, any will do. */
static bool is_for(SOCKET socket, const struct option *option)
{
    int type;
    socklen_t length = sizeof(type);

    if (!win_winsock_started())
        return false;
    if (option && option->name == SO_OPENTYPE && option->level == SOL_SOCKET)
        return true;
    if (socket <= INT32_MAX && !(getsockopt)((int)socket, SOL_SOCKET, SO_TYPE, &type, &length))
        return true;
    win_winsock_fail(WSAENOTSOCK);
    return false;
}

/* An option that is not in the table failed: Windows has another code for a level that is unknown. */
static int fail_unknown(int level)
{
    const bool known = level == SOL_SOCKET || level == IPPROTO_IP || level == IPPROTO_IPV6 ||
                       level == IPPROTO_TCP || level == IPPROTO_UDP || level == IPPROTO_RAW ||
                       level == IPPROTO_ICMP || level == IPPROTO_ICMPV6;

    return known ? win_winsock_fail_errno() : win_winsock_fail(WSAEINVAL);
}

/*
 * setsockopt - sets an option, of Windows' type: those of the table above; all others are Linux' own.
 * value, bytes  in: SO_RCVTIMEO, SO_SNDTIMEO: a DWORD of milliseconds; SO_LINGER: Windows' LINGER, or Linux' struct
 *               linger, which is longer; BOOLs have an octet at least; SO_UPDATE_ACCEPT_CONTEXT: the listener;
 *               SO_UPDATE_CONNECT_CONTEXT: nothing
 * Returns       0; SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEFAULT (no value, or too short a one),
 *               WSAENOPROTOOPT (an option that is unknown, or only read), WSAEINVAL (another level; SO_REUSEADDR with
 *               SO_EXCLUSIVEADDRUSE), WSAENOTCONN.
 * Threads       any
 * Source        setsockopt, "SOL_SOCKET Socket Options"
 */
int WSAAPI wincompat_setsockopt(SOCKET socket, int level, int option, const void *value, int bytes)
{
    const struct option *found = option_of(level, option);
    uint32_t word = 0;

    if (!is_for(socket, found))
        return SOCKET_ERROR;
    if (!found) {
        if ((setsockopt)((int)socket, level, option, value, (socklen_t)bytes))
            return fail_unknown(level);
    } else {
        if (!found->set)
            return win_winsock_fail(WSAENOPROTOOPT);
        if (found->least && (!value || bytes < found->least))
            return win_winsock_fail(WSAEFAULT);
        if (found->set == set_linger && bytes >= (int)sizeof(struct linux_linger))
            word = (uint32_t)MAKELONG(((const struct linux_linger *)value)->l_onoff != 0,
                ((const struct linux_linger *)value)->l_linger);
        else if (value && bytes > 0)
            memcpy(&word, value, found->one ? 1 : bytes < 4 ? (size_t)bytes : 4);
        if (found->set((int)socket, found, word))
            return SOCKET_ERROR;
    }
    SetLastError(ERROR_SUCCESS);
    return 0;
}

/* Stores a value as long as Windows does; the length is that of what was stored. */
static void store(const struct option *option, uint32_t word, void *value, socklen_t *bytes)
{
    if (option->get == get_linger && *bytes >= sizeof(struct linux_linger)) {
        *(struct linux_linger *)value = (struct linux_linger){ LOWORD(word), HIWORD(word) };
        *bytes = sizeof(struct linux_linger);
        return;
    }
    *bytes = option->one || *bytes < 4 ? 1 : 4;
    memcpy(value, &word, *bytes);
}

/*
 * getsockopt - fetches an option, as setsockopt; SO_ERROR is a code of Winsock, SO_CONNECT_TIME the seconds since the
 * socket was connected, -1: it is not, SO_PROTOCOL_INFO a WSAPROTOCOL_INFO, whose length is stored where there is less
 * room.
 * bytes    in: room; out: what was stored, of a BOOL one octet, where Windows stores one
 * Returns  as setsockopt
 */
int wincompat_getsockopt(int socket, int level, int option, void *value, socklen_t *bytes)
{
    const struct option *found = option_of(level, option);
    uint32_t word = 0;

    if (!is_for((SOCKET)(unsigned)socket, found))
        return SOCKET_ERROR;
    if (!value || !bytes || (int)*bytes <= 0)
        return win_winsock_fail(WSAEFAULT);
    if (level == SOL_SOCKET && (option == SO_PROTOCOL_INFOA || option == SO_PROTOCOL_INFOW)) {
        if (win_protocol_info(socket, option == SO_PROTOCOL_INFOW, value, bytes))
            return SOCKET_ERROR;
    } else if (!found) {
        if ((getsockopt)(socket, level, option, value, bytes))
            return fail_unknown(level);
    } else {
        if (*bytes < found->least)
            return win_winsock_fail(found->get == get_none ? WSAENOPROTOOPT : WSAEFAULT);
        if (found->get(socket, found, &word))
            return SOCKET_ERROR;
        store(found, word, value, bytes);
    }
    SetLastError(ERROR_SUCCESS);
    return 0;
}

bool win_socket_timed_out(int fd)
{
    int flags;

    return atomic_load_explicit(&times_set, memory_order_relaxed) &&
           (flags = fcntl(fd, F_GETFL)) >= 0 && !(flags & O_NONBLOCK);
}

static int seconds_of(ULONG milliseconds)
{
    return (int)(milliseconds / 1000 + !!(milliseconds % 1000));
}

int win_socket_keepalive(int fd, const struct tcp_keepalive *values)
{
    const int idle = seconds_of(values->keepalivetime);
    const int interval = seconds_of(values->keepaliveinterval);

    if (values->onoff && (option_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle ? idle : 1) ||
                             option_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval ? interval : 1)))
        return SOCKET_ERROR;
    return option_set(fd, SOL_SOCKET, SO_KEEPALIVE, values->onoff != 0);
}
