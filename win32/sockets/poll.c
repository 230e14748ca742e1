/* SPDX-License-Identifier: MIT */
/* poll.c - WSAPoll: Linux' poll, with what Windows tells of a socket's state. */
#include "win32/sockets/blocked.h"
#include "win32/sockets/object.h"
#include "win32/sockets/stage.h"

#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

enum {
    NORMAL = POLLIN | POLLRDNORM, /* Windows' POLLIN is POLLRDNORM and POLLRDBAND */
    URGENT = POLLIN | POLLRDBAND,
    WRITABLE = POLLOUT | POLLWRNORM,
    ASKED = NORMAL | URGENT | WRITABLE, /* Windows refuses what a program asks besides */
    ENDED = POLLRDHUP | POLLHUP | POLLERR,
    FEW = 64,
};

/* What Linux' poll is asked for. Whether a peer has ended is told unasked. */
static short linux_events(SHORT events)
{
    return (short)((events & NORMAL ? POLLIN : 0) | (events & URGENT ? POLLPRI : 0) |
                   (events & WRITABLE ? POLLOUT : 0) | POLLRDHUP);
}

/* What Windows tells of what Linux does; 0: nothing, so the wait goes on. */
static SHORT windows_events(int fd, SHORT asked, short ready)
{
    const enum win_stage stage = ready & ENDED ? win_socket_stage(fd) : WIN_STAGE_DATAGRAM;
    const bool data = stage == WIN_STAGE_CONNECTED ? win_socket_has_data(fd) : ready & POLLIN;
    int told = 0;

    if (ready & POLLNVAL)
        return POLLNVAL;
    if (stage == WIN_STAGE_CONNECTING || (stage == WIN_STAGE_FRESH && !(ready & POLLERR)))
        return 0;
    if (stage == WIN_STAGE_FRESH) /* its connect has failed */
        return (SHORT)(POLLERR | POLLHUP | (asked & WRITABLE ? WRITABLE : 0));
    if (data && (asked & NORMAL))
        told |= NORMAL;
    if ((ready & POLLPRI) && (asked & URGENT))
        told |= URGENT;
    if ((ready & POLLOUT) && (asked & WRITABLE))
        told |= WRITABLE;
    if (ready & POLLERR)
        told |= POLLERR;
    if (stage == WIN_STAGE_CONNECTED && !data && (ready & ENDED))
        told |= POLLHUP;
    return (SHORT)told;
}

/* What a call waits for; each socket's state is asked of Linux. */
struct polling {
    LPWSAPOLLFD sockets;
    struct pollfd *state;
    ULONG count;
    ULONG valid; /* sockets */
    bool passed; /* one is left out of a round, since Linux would tell of it again and again */
    bool closing;
};

static void ask(struct polling *polling)
{
    polling->passed = false;
    for (ULONG i = 0; i < polling->count; i++) {
        const WSAPOLLFD *socket = &polling->sockets[i];

        polling->state[i] = (struct pollfd){ socket->revents == POLLNVAL ? -1 : (int)socket->fd,
            linux_events(socket->events), 0 };
    }
}

/* Tells what is ready; returns how many are. */
static int tell(struct polling *polling)
{
    int ready = 0;

    for (ULONG i = 0; i < polling->count; i++) {
        struct pollfd *state = &polling->state[i];
        WSAPOLLFD *socket = &polling->sockets[i];
        const short found = state->fd < 0 ? 0 : state->revents;

        if (socket->revents == POLLNVAL)
            continue;
        if (win_blocked_is_closing(win_blocked_calls((int)socket->fd)))
            polling->closing = true;
        socket->revents = windows_events((int)socket->fd, socket->events, found);
        if (socket->revents) {
            ready++;
        } else if (found) {
            polling->passed = true;
            state->events &= ~found;
            if (found & (POLLHUP | POLLERR))
                state->fd = -1;
        }
    }
    return ready;
}

/* Milliseconds for one call of Linux' poll: few if it leaves out some events, which the next round asks for again. */
static int round_ms(const struct polling *polling, INT timeout_ms, uint64_t deadline_ns)
{
    enum { SOON = 10 };
    const uint64_t now = clock_now_ns();
    const uint64_t left = now < deadline_ns ? (deadline_ns - now + 999999) / 1000000 : 0;

    if (polling->passed && (timeout_ms < 0 || left > SOON))
        return SOON;
    return timeout_ms < 0 ? -1 : (int)left;
}

/* Waits until one is ready or being closed. Returns how many are; -1 with errno. */
static int wait_for(struct polling *polling, INT timeout_ms)
{
    const uint64_t deadline =
        clock_now_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000;
    bool over;

    ask(polling);
    do {
        const int round = round_ms(polling, timeout_ms, deadline);
        const int found = poll(polling->state, polling->count, round);
        int ready;

        if (found < 0 && errno != EINTR)
            return -1;
        if ((ready = found < 0 ? 0 : tell(polling)) || polling->closing)
            return ready;
        over = !found && timeout_ms >= 0 && clock_now_ns() >= deadline;
        if (!found)
            ask(polling);
    } while (!over);
    return 0;
}

static void calls_begin(struct polling *polling)
{
    for (ULONG i = 0; i < polling->count; i++) {
        WSAPOLLFD *socket = &polling->sockets[i];
        const int fd = socket->fd <= INT32_MAX ? (int)socket->fd : -1;

        win_blocked_begin(fd);
        socket->revents = POLLNVAL;
        if (win_socket_stage(fd) == WIN_STAGE_NONE)
            continue;
        socket->revents = 0;
        polling->valid++;
    }
}

/* Tells of the sockets that are being closed, too. Returns how many are ready or that. */
static int calls_end(struct polling *polling, int ready)
{
    for (ULONG i = 0; i < polling->count; i++) {
        WSAPOLLFD *socket = &polling->sockets[i];
        const int fd = socket->fd <= INT32_MAX ? (int)socket->fd : -1;

        if (!win_blocked_end(win_blocked_calls(fd)) || socket->revents == POLLNVAL)
            continue;
        ready += !socket->revents;
        socket->revents = POLLNVAL;
    }
    return ready;
}

/*
 * WSAPoll - waits until one of the sockets is ready, or has ended.
 * sockets     in: fd, events: POLLRDNORM, POLLRDBAND (urgent data), POLLWRNORM, or POLLIN and POLLOUT; out: revents,
 *             these and POLLERR (also of a connect that failed), POLLHUP (the peer has ended, and all is read),
 *             POLLNVAL (no socket; or one that is closed meanwhile: then the call returns at once)
 * timeout_ms  negative: for ever
 * Returns     how many are ready, or closed meanwhile; 0 at the timeout. SOCKET_ERROR with WSANOTINITIALISED, WSAEINVAL
 *             (count is 0; events of another kind, also POLLERR, POLLHUP, POLLPRI), WSAEFAULT (sockets is NULL),
 *             WSAENOTSOCK (none is a socket), WSAENOBUFS.
 * Threads     any
 * Source      WSAPoll function (winsock2.h)
 */
int WSAAPI WSAPoll(LPWSAPOLLFD sockets, ULONG count, INT timeout_ms)
{
    struct pollfd few[FEW];
    struct polling polling = { .sockets = sockets, .state = few, .count = count };
    int ready, error;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (!count || !sockets)
        return win_winsock_fail(count ? WSAEFAULT : WSAEINVAL);
    for (ULONG i = 0; i < count; i++)
        if (sockets[i].events & ~ASKED)
            return win_winsock_fail(WSAEINVAL);
    if (count > FEW && !(polling.state = calloc(count, sizeof(*polling.state))))
        return win_winsock_fail(WSAENOBUFS);
    calls_begin(&polling);
    errno = ENOTSOCK;
    ready = polling.valid ? wait_for(&polling, timeout_ms) : -1;
    error = errno;
    ready = calls_end(&polling, ready);
    if (polling.state != few)
        free(polling.state);
    errno = error;
    if (ready < 0)
        return win_winsock_fail_errno();
    SetLastError(ERROR_SUCCESS);
    return ready;
}
