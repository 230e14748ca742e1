/* SPDX-License-Identifier: MIT */
/* tcp.c - the yardstick: plain TCP sockets on the loopback interface. */
#include "tests/bench/bench.h"

#include "util/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int tcp_open(const struct bench_side *side)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t address_len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, listener = -1;

    if (fd < 0)
        bench_die("socket: %s", strerror(errno));
    if (side->client) {
        bench_hear(side, &address.sin_port, sizeof address.sin_port);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
            bench_die("connect: %s", strerror(errno));
    } else {
        listener = fd;
        if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1) != 0 ||
            getsockname(fd, (struct sockaddr *)&address, &address_len) != 0)
            bench_die("listen: %s", strerror(errno));
        bench_tell(side, &address.sin_port, sizeof address.sin_port);
        fd = accept(listener, NULL, NULL);
        if (fd < 0)
            bench_die("accept: %s", strerror(errno));
        close(listener);
    }
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
        bench_die("TCP_NODELAY: %s", strerror(errno));
    return fd;
}

static void tcp_send(int fd, const char *data, size_t octets, int flags)
{
    while (octets > 0) {
        ssize_t sent = send(fd, data, octets, MSG_NOSIGNAL | flags);

        if (sent < 0) {
            if (errno == EAGAIN)
                continue;
            bench_die("send: %s", strerror(errno));
        }
        data += sent;
        octets -= (size_t)sent;
    }
}

static void tcp_receive(int fd, char *data, size_t octets, int flags)
{
    while (octets > 0) {
        ssize_t received = recv(fd, data, octets, flags);

        if (received == 0)
            bench_die("the peer closed");
        if (received < 0) {
            if (errno == EAGAIN)
                continue;
            bench_die("recv: %s", strerror(errno));
        }
        data += received;
        octets -= (size_t)received;
    }
}

static uint64_t tcp_ping_pong(const struct bench_side *side, int fd)
{
    const struct bench_test *test = side->test;
    int flags = test->wait == BENCH_POLL ? MSG_DONTWAIT : 0;
    char *buffer = bench_alloc(test->octets);
    uint64_t start_ns = 0;

    for (unsigned i = 0; i < test->warmup + test->count; i++) {
        if (i == test->warmup)
            start_ns = clock_now_ns();
        if (side->client)
            tcp_send(fd, buffer, test->octets, flags);
        tcp_receive(fd, buffer, test->octets, flags);
        if (!side->client)
            tcp_send(fd, buffer, test->octets, flags);
    }
    return clock_now_ns() - start_ns;
}

/* The server answers the last message of the warm-up, and the last of all. */
static uint64_t tcp_stream(const struct bench_side *side, int fd)
{
    const struct bench_test *test = side->test;
    int flags = test->wait == BENCH_POLL ? MSG_DONTWAIT : 0;
    char *buffer = bench_alloc(test->octets), answer = 0;
    uint64_t start_ns = 0;

    for (unsigned i = 1; i <= test->warmup + test->count; i++) {
        bool last = i == test->warmup || i == test->warmup + test->count;

        if (side->client) {
            tcp_send(fd, buffer, test->octets, flags);
            if (last)
                tcp_receive(fd, &answer, sizeof answer, flags);
        } else {
            tcp_receive(fd, buffer, test->octets, flags);
            if (last)
                tcp_send(fd, &answer, sizeof answer, flags);
        }
        if (i == test->warmup)
            start_ns = clock_now_ns();
    }
    return clock_now_ns() - start_ns;
}

uint64_t bench_tcp(const struct bench_side *side)
{
    int fd = tcp_open(side);
    uint64_t elapsed_ns = side->test->stream ? tcp_stream(side, fd) : tcp_ping_pong(side, fd);

    close(fd);
    return elapsed_ns;
}
