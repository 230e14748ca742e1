/* SPDX-License-Identifier: MIT */
#include "tests/hostile/peer.h"

#include "tests/hostile/victim.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void peer_init(struct peer *peer, int fd)
{
    int one = 1;

    assert_true(fd >= 0);
    memset(peer, 0, sizeof *peer);
    peer->fd = fd;
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), 0);
}

void peer_connect(struct peer *peer, uint16_t port_be)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = port_be, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };

    peer_init(peer, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    assert_int_equal(connect(peer->fd, (struct sockaddr *)&address, sizeof address), 0);
}

int peer_listen(uint16_t *port_be)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port_be = address.sin_port;
    return fd;
}

static bool peer_readable(int fd, int timeout_ms)
{
    struct pollfd pollfd = { .fd = fd, .events = POLLIN };

    return poll(&pollfd, 1, timeout_ms) == 1;
}

bool peer_accept_within(struct peer *peer, int listener, int timeout_ms)
{
    if (!peer_readable(listener, timeout_ms))
        return false;
    peer_init(peer, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
    return true;
}

void peer_accept(struct peer *peer, int listener)
{
    assert_true(peer_accept_within(peer, listener, PEER_WAIT_MS));
}

void peer_send(struct peer *peer, const void *octets, size_t length)
{
    const uint8_t *at = octets;

    while (length > 0) {
        ssize_t sent = send(peer->fd, at, length, MSG_NOSIGNAL);

        if (sent < 0)
            return; /* reset: peer_finish will see it */
        at += sent;
        length -= (size_t)sent;
    }
}

void peer_send_frame(struct peer *peer, const struct wire *frame)
{
    peer_send(peer, frame->octets, frame->length);
}

/* 1: so much came; 0: FIN before it; -1: RST or nothing at all. */
static int peer_read(struct peer *peer, void *octets, size_t length, bool *hangs)
{
    uint64_t deadline_ms = clock_now_ms() + PEER_WAIT_MS;
    uint8_t *at = octets;

    *hangs = false;
    while (length > 0) {
        uint64_t now_ms = clock_now_ms();
        ssize_t got;

        if (now_ms >= deadline_ms || !peer_readable(peer->fd, (int)(deadline_ms - now_ms))) {
            *hangs = true;
            return -1;
        }
        got = recv(peer->fd, at, length, 0);
        if (got <= 0)
            return (int)got;
        at += got;
        length -= (size_t)got;
    }
    return 1;
}

bool peer_receive(struct peer *peer, void *octets, size_t length)
{
    bool hangs;

    return peer_read(peer, octets, length, &hangs) == 1;
}

bool peer_receive_startup(struct peer *peer, struct wire *frame)
{
    size_t private_length;

    if (!peer_receive(peer, frame->octets, 20))
        return false;
    private_length = wire_get16(frame->octets + 18);
    frame->length = 20 + private_length;
    return private_length <= 512 && peer_receive(peer, frame->octets + 20, private_length);
}

static int peer_read_fpdu(struct peer *peer, struct wire *frame, bool *hangs)
{
    size_t rest;
    int got = peer_read(peer, frame->octets, 2, hangs);

    if (got != 1)
        return got;
    rest = wire_get16(frame->octets);
    rest += (4 - (rest + 2) % 4) % 4 + 4;
    frame->length = 2 + rest;
    got = peer_read(peer, frame->octets + 2, rest, hangs);
    if (got == 1 && wire_crc32c(frame->octets, frame->length) != 0x48674bc7)
        peer->garbage = true;
    return got;
}

bool peer_receive_fpdu(struct peer *peer, struct wire *frame)
{
    bool hangs;

    return peer_read_fpdu(peer, frame, &hangs) == 1 && !peer->garbage;
}

static void peer_look(struct peer *peer, const struct wire *frame)
{
    uint8_t opcode = frame->octets[3] & 0x0f;
    unsigned run = 0;

    if (peer->terminated)
        peer->garbage = true; /* nothing follows a Terminate */
    for (size_t i = 16; i + 4 < frame->length; i++) {
        run = frame->octets[i] == VICTIM_POISON ? run + 1 : 0;
        peer->poison |= run >= 8;
    }
    if (opcode == WIRE_READ_RESPONSE)
        peer->responses++;
    if (opcode != WIRE_TERMINATE)
        return;
    peer->terminated = true;
    peer->layer = frame->octets[20] >> 4;
    peer->type = frame->octets[20] & 0x0f;
    peer->code = frame->octets[21];
    peer->terminate = *frame;
    peer_half_close(peer);
}

enum peer_end peer_finish(struct peer *peer)
{
    static struct wire frame;
    enum peer_end end = PEER_HANGS;
    bool hangs;
    int got;

    while ((got = peer_read_fpdu(peer, &frame, &hangs)) == 1)
        peer_look(peer, &frame);
    if (!hangs)
        end = got == 0 ? PEER_CLOSED : PEER_RESET;
    peer_close(peer);
    return end;
}

unsigned peer_answer(struct peer *peer)
{
    assert_int_not_equal(peer_finish(peer), PEER_HANGS);
    assert_false(peer->garbage);
    assert_false(peer->poison);
    return peer->terminated ? (unsigned)(peer->layer << 12 | peer->type << 8 | peer->code)
                            : PEER_NO_ANSWER;
}

void peer_half_close(struct peer *peer)
{
    shutdown(peer->fd, SHUT_WR);
}

void peer_abort(struct peer *peer)
{
    struct linger linger = { .l_onoff = 1 };

    setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    peer_close(peer);
}

void peer_close(struct peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
}
