/* SPDX-License-Identifier: MIT */
/* tcp.c - the yardstick: plain TCP sockets on the loopback interface. */
#include "tests/bench/driver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct tcp {
    int fd; /* the listener's, until accepted */
    int flags;
    char *buffer;
    size_t incoming; /* octets of a message */
    unsigned sent;   /* sends not yet reported as complete: send is done when it returns */
};

static void *tcp_open(const struct bench_side *side)
{
    static struct tcp tcp;

    tcp.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (tcp.fd < 0)
        bench_die("socket: %s", strerror(errno));
    tcp.flags = side->test->wait == BENCH_POLL ? MSG_DONTWAIT : 0;
    tcp.buffer = bench_alloc(side->test->octets);
    tcp.incoming = side->test->stream && side->client ? 1 : side->test->octets;
    return &tcp;
}

static struct sockaddr_in tcp_loopback(uint16_t port_be)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port_be, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
}

static uint16_t tcp_listen(void *end)
{
    struct tcp *tcp = end;
    struct sockaddr_in address = tcp_loopback(0);
    socklen_t address_len = sizeof address;

    if (bind(tcp->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(tcp->fd, 1) != 0 ||
        getsockname(tcp->fd, (struct sockaddr *)&address, &address_len) != 0)
        bench_die("listen: %s", strerror(errno));
    return address.sin_port;
}

static void tcp_no_delay(const struct tcp *tcp)
{
    int one = 1;

    if (setsockopt(tcp->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
        bench_die("TCP_NODELAY: %s", strerror(errno));
}

static void tcp_accept(void *end)
{
    struct tcp *tcp = end;
    int listener = tcp->fd;

    tcp->fd = accept(listener, NULL, NULL);
    if (tcp->fd < 0)
        bench_die("accept: %s", strerror(errno));
    close(listener);
    tcp_no_delay(tcp);
}

static void tcp_connect(void *end, uint16_t port_be)
{
    struct tcp *tcp = end;
    struct sockaddr_in address = tcp_loopback(port_be);

    if (connect(tcp->fd, (struct sockaddr *)&address, sizeof address) != 0)
        bench_die("connect: %s", strerror(errno));
    tcp_no_delay(tcp);
}

static void tcp_close(void *end)
{
    struct tcp *tcp = end;

    close(tcp->fd);
}

static void tcp_receive(void *end)
{
    (void)end; /* nothing to post */
}

static void tcp_send(void *end, size_t octets)
{
    struct tcp *tcp = end;
    const char *data = tcp->buffer;

    while (octets > 0) {
        ssize_t sent = send(tcp->fd, data, octets, MSG_NOSIGNAL | tcp->flags);

        if (sent < 0) {
            if (errno == EAGAIN)
                continue;
            bench_die("send: %s", strerror(errno));
        }
        data += sent;
        octets -= (size_t)sent;
    }
    tcp->sent++;
}

static void tcp_message(struct tcp *tcp)
{
    char *data = tcp->buffer;
    size_t octets = tcp->incoming;

    while (octets > 0) {
        ssize_t received = recv(tcp->fd, data, octets, tcp->flags);

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

static unsigned tcp_wait(void *end, unsigned *received)
{
    struct tcp *tcp = end;
    unsigned sent = tcp->sent;

    tcp->sent = 0;
    *received = sent == 0;
    if (*received)
        tcp_message(tcp);
    return sent;
}

static const struct bench_api tcp_api = {
    .open = tcp_open,
    .listen = tcp_listen,
    .accept = tcp_accept,
    .connect = tcp_connect,
    .close = tcp_close,
    .receive = tcp_receive,
    .send = tcp_send,
    .wait = tcp_wait,
};

uint64_t bench_tcp(const struct bench_side *side)
{
    return bench_play(&tcp_api, side);
}
