/* SPDX-License-Identifier: MIT */
/*
 * sockets.c - the group "sockets": overlapped sockets on a completion port against epoll, send, recv and accept4. Two
 * processes over a TCP connection to this host; the one that is measured is the first.
 */
#include "tests/bench/bench.h"
#include "tests/bench/process.h"

#include "util/clock.h"

#include <winsock2.h>
#include <mswsock.h>

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { OCTETS = 64, IDLE = 10000, TURNS = 5000, ACCEPTS = 2000 };
/* For all of them: a SYN that finds no room comes again after a second, which is no figure of accepting. */
enum { BACKLOG = ACCEPTS };

enum { PORT, EPOLL, BUSY, CROWDED, ACCEPT_EX, ACCEPT4, FIGURES };

static const char *const names[] = { "pingpong_64B", "idle_10k", "accept", NULL };

static struct bench_figure figures[FIGURES] = {
    [PORT] = { .key = "sockets.pingpong_64B.us", .test = "pingpong_64B" },
    [EPOLL] = { .key = "epoll.pingpong_64B.us", .test = "pingpong_64B" },
    [BUSY] = { .key = "sockets.idle_0.us", .test = "idle_10k" },
    [CROWDED] = { .key = "sockets.idle_10k.us", .test = "idle_10k" },
    [ACCEPT_EX] = { .key = "sockets.accept.us", .test = "accept" },
    [ACCEPT4] = { .key = "epoll.accept.us", .test = "accept" },
};

/* AcceptEx makes at least 0.7 of accept4's connections a second. */
static const struct bench_ratio ratios[] = {
    { "sockets.pingpong_64B.vs_epoll", &figures[PORT], &figures[EPOLL], .aim = 1.3 },
    { "sockets.idle_10k.vs_0", &figures[CROWDED], &figures[BUSY], .aim = 1.1 },
    { "sockets.accept.vs_epoll", &figures[ACCEPT_EX], &figures[ACCEPT4], .aim = 1 / 0.7 },
};

/* What both processes inherit; the descriptors are the parent's until they are forked. */
struct side {
    int ends[2]; /* of a connection */
    int listener;
    struct sockaddr_in address;
    unsigned idle;
};

static void need(bool good, const char *what)
{
    if (!good)
        bench_die("%s: errno %d, last error %d", what, errno, WSAGetLastError());
}

static void listen_somewhere(struct side *side)
{
    socklen_t length = sizeof(side->address);

    side->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    side->address = (struct sockaddr_in){ .sin_family = AF_INET };
    side->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    need(side->listener >= 0, "socket");
    need(!bind(side->listener, (struct sockaddr *)&side->address, sizeof(side->address)), "bind");
    need(!listen(side->listener, BACKLOG), "listen");
    need(!getsockname(side->listener, (struct sockaddr *)&side->address, &length), "getsockname");
}

static int connect_to(const struct side *side)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    need(fd >= 0, "socket");
    need(!connect(fd, (const struct sockaddr *)&side->address, sizeof(side->address)), "connect");
    return fd;
}

static void pair_make(struct side *side)
{
    int on = 1;

    side->ends[0] = connect_to(side);
    side->ends[1] = accept(side->listener, NULL, NULL);
    need(side->ends[1] >= 0, "accept");
    for (int i = 0; i < 2; i++)
        need(
            !(setsockopt)(side->ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "TCP_NODELAY");
}

/* by ports */

struct player {
    HANDLE port;
    SOCKET socket;
    OVERLAPPED receive, send;
    char in[OCTETS], out[OCTETS];
};

static void player_begin(struct player *player, int fd)
{
    WSADATA data;

    memset(player, 0, sizeof(*player));
    need(!WSAStartup(MAKEWORD(2, 2), &data), "WSAStartup");
    player->socket = (SOCKET)fd;
    player->port = CreateIoCompletionPort((HANDLE)player->socket, NULL, 1, 1);
    need(player->port != NULL, "CreateIoCompletionPort");
}

static void receive(struct player *player)
{
    WSABUF in = { OCTETS, player->in };
    DWORD flags = 0;

    if (WSARecv(player->socket, &in, 1, NULL, &flags, &player->receive, NULL))
        need(WSAGetLastError() == WSA_IO_PENDING, "WSARecv");
}

static void give(struct player *player)
{
    WSABUF out = { OCTETS, player->out };

    if (WSASend(player->socket, &out, 1, NULL, 0, &player->send, NULL))
        need(WSAGetLastError() == WSA_IO_PENDING, "WSASend");
}

/* Takes packets until that of the receive has come. A message may come in parts: on one host it does not. */
static void await_message(struct player *player)
{
    for (bool received = false; !received;) {
        OVERLAPPED_ENTRY entries[4];
        ULONG count = 0;

        need(
            GetQueuedCompletionStatusEx(player->port, entries, 4, &count, INFINITE, FALSE), "port");
        for (ULONG i = 0; i < count; i++) {
            need(entries[i].dwNumberOfBytesTransferred == OCTETS, "64 octets");
            received |= entries[i].lpOverlapped == &player->receive;
        }
    }
}

/* A datagram socket with a receive that never ends. */
static void idle_socket(HANDLE port)
{
    static char octet;
    OVERLAPPED *overlapped = calloc(1, sizeof(*overlapped));
    SOCKET made = WSASocketW(AF_INET, SOCK_DGRAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED);
    WSABUF in = { 1, &octet };
    DWORD flags = 0;

    need(overlapped && made != INVALID_SOCKET, "an idle socket");
    need(CreateIoCompletionPort((HANDLE)made, port, 2, 0) != NULL, "CreateIoCompletionPort");
    need(WSARecv(made, &in, 1, NULL, &flags, overlapped, NULL) &&
             WSAGetLastError() == WSA_IO_PENDING,
        "WSARecv");
}

static uint64_t run_port_first(const void *argument)
{
    const struct side *side = argument;
    static struct player player;
    uint64_t start_ns;

    player_begin(&player, side->ends[0]);
    for (unsigned i = 0; i < side->idle; i++)
        idle_socket(player.port);
    receive(&player);
    start_ns = clock_now_ns();
    for (int turn = 0; turn < TURNS; turn++) {
        give(&player);
        await_message(&player);
        receive(&player);
    }
    return clock_now_ns() - start_ns;
}

static uint64_t run_port_second(const void *argument)
{
    const struct side *side = argument;
    static struct player player;

    player_begin(&player, side->ends[1]);
    for (int turn = 0; turn < TURNS; turn++) {
        receive(&player);
        await_message(&player);
        give(&player);
    }
    return 1;
}

/* by epoll */

static void message_by_epoll(int set, int fd)
{
    struct epoll_event event;
    char octets[OCTETS];

    need(epoll_wait(set, &event, 1, -1) == 1, "epoll_wait");
    need(recv(fd, octets, OCTETS, MSG_DONTWAIT) == OCTETS, "recv");
}

static int set_of(int fd)
{
    struct epoll_event event = { .events = EPOLLIN };
    int set = epoll_create1(EPOLL_CLOEXEC);

    need(set >= 0 && !epoll_ctl(set, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
    return set;
}

static uint64_t run_epoll_first(const void *argument)
{
    static const char octets[OCTETS];
    const int fd = ((const struct side *)argument)->ends[0], set = set_of(fd);
    uint64_t start_ns = clock_now_ns();

    for (int turn = 0; turn < TURNS; turn++) {
        need(send(fd, octets, OCTETS, MSG_NOSIGNAL) == OCTETS, "send");
        message_by_epoll(set, fd);
    }
    return clock_now_ns() - start_ns;
}

static uint64_t run_epoll_second(const void *argument)
{
    static const char octets[OCTETS];
    const int fd = ((const struct side *)argument)->ends[1], set = set_of(fd);

    for (int turn = 0; turn < TURNS; turn++) {
        message_by_epoll(set, fd);
        need(send(fd, octets, OCTETS, MSG_NOSIGNAL) == OCTETS, "send");
    }
    return 1;
}

/* connections: the second process makes them one after the other */

static uint64_t run_connects(const void *argument)
{
    for (int i = 0; i < ACCEPTS; i++)
        close(connect_to(argument));
    return 1;
}

struct place {
    OVERLAPPED overlapped;
    SOCKET socket;
    char buffer[2 * (sizeof(struct sockaddr_in) + 16)];
};

static void accept_next(SOCKET listener, struct place *place)
{
    const DWORD room = sizeof(struct sockaddr_in) + 16;

    place->socket = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED);
    need(place->socket != INVALID_SOCKET, "WSASocket");
    need(
        AcceptEx(listener, place->socket, place->buffer, 0, room, room, NULL, &place->overlapped) ||
            WSAGetLastError() == ERROR_IO_PENDING,
        "AcceptEx");
}

static uint64_t run_accept_ex(const void *argument)
{
    static struct place places[8];
    static struct player player;
    uint64_t start_ns;

    player_begin(&player, ((const struct side *)argument)->listener);
    start_ns = clock_now_ns();
    for (int i = 0; i < 8; i++)
        accept_next(player.socket, &places[i]);
    for (int i = 0; i < ACCEPTS; i++) {
        OVERLAPPED *overlapped = NULL;
        struct place *place;
        ULONG_PTR key;
        DWORD octets;

        need(GetQueuedCompletionStatus(player.port, &octets, &key, &overlapped, INFINITE), "port");
        place = (struct place *)(void *)overlapped;
        closesocket(place->socket);
        accept_next(player.socket, place);
    }
    return clock_now_ns() - start_ns;
}

static uint64_t run_accept4(const void *argument)
{
    const int listener = ((const struct side *)argument)->listener, set = set_of(listener);
    uint64_t start_ns = clock_now_ns();

    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_in peer;
        socklen_t length = sizeof(peer);
        struct epoll_event event;
        int fd;

        need(epoll_wait(set, &event, 1, -1) == 1, "epoll_wait");
        fd = accept4(listener, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC);
        need(fd >= 0, "accept4");
        close(fd);
    }
    return clock_now_ns() - start_ns;
}

static const struct run {
    bench_process_fn *first, *second;
    unsigned count, idle;
} runs[FIGURES] = {
    [PORT] = { run_port_first, run_port_second, TURNS, 0 },
    [EPOLL] = { run_epoll_first, run_epoll_second, TURNS, 0 },
    [BUSY] = { run_port_first, run_port_second, TURNS, 0 },
    [CROWDED] = { run_port_first, run_port_second, TURNS, IDLE },
    [ACCEPT_EX] = { run_accept_ex, run_connects, ACCEPTS, 0 },
    [ACCEPT4] = { run_accept4, run_connects, ACCEPTS, 0 },
};

/* Whether so many descriptors may be open, once the limit is as high as it can be. */
static bool enough_descriptors(unsigned count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return false;
    limit.rlim_cur = limit.rlim_max;
    return !setrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur >= count;
}

static bool sockets_measure(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    const struct run *run = &runs[figure - figures];
    struct side side = { .idle = run->idle };
    struct bench_process processes[2] = { { .run = run->first, .argument = &side },
        { .run = run->second, .argument = &side } };
    uint64_t elapsed_ns;

    (void)group;
    if (run->idle && !enough_descriptors(run->idle + 100)) {
        *absent = "too few descriptors may be open";
        return false;
    }
    for (int i = 0; i < 2; i++)
        snprintf(processes[i].who, sizeof(processes[i].who), "ndspi-bench %s", figure->key);
    listen_somewhere(&side);
    pair_make(&side);
    elapsed_ns = bench_run(processes, 2);
    close(side.listener);
    close(side.ends[0]);
    close(side.ends[1]);
    *value = (double)elapsed_ns / run->count / 1e3;
    return elapsed_ns != 0;
}

struct bench_group *bench_sockets(void)
{
    static struct bench_group sockets = {
        .name = "sockets",
        .about = "overlapped sockets against epoll, send, recv and accept4: a round trip, a "
                 "connection, in us",
        .tests = names,
        .figures = figures,
        .figure_count = FIGURES,
        .ratios = ratios,
        .ratio_count = sizeof ratios / sizeof ratios[0],
        .measure = sockets_measure,
    };

    return &sockets;
}
