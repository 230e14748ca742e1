/* SPDX-License-Identifier: MIT */
/*
 * test_meet.c - local processes at the Unix socket where peers offer memory to a listener: rubbish, what is missing or
 * of another kind, other connections' sockets, other users and networks, those that leave or never speak, and one that
 * has taken the name. No connection suffers: the Reply just does not say that memory is shared.
 */
#include "tests/support/haste.h"
#include "tests/unit/softrdma/pair.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Flags of an MPA frame between softrdma ends (docs/wire.md). */
enum { FLAGS = 16, ASKS = 0x04, TAKES = 0x02, SHARED = 0x01 };
static const uint8_t request[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F',
    'r', 'a', 'm', 'e', 0x10 | ASKS | SHARED, 2, 0, 4, 0x80, 4, 0xC0, 4 };
static const char said[] = "srdmeet\2";
enum { SAID = 8, MEMORY_OCTETS_MAX = 1 << 24, HASTE = 10 };

/* ---- descriptors of this process ---- */

static int descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* What the device closes it closes in its own time, at the latest after 5 s. */
static void await_descriptors(int count)
{
    uint64_t end_ms = haste_real_ms() + DEADLINE_MS;

    haste_begin(HASTE);
    while (descriptors() != count) {
        if (haste_real_ms() > end_ms)
            fail_msg("%d descriptors, expected %d", descriptors(), count);
        sched_yield();
    }
    haste_end();
}

/* When nothing is open but what the library keeps for ever. */
static int idle;

static void close_all(struct pair *pair)
{
    pair_close(pair);
    await_descriptors(idle);
}

/* ---- strangers ---- */

static uint16_t port_of(const struct sockaddr_storage *address)
{
    return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

static socklen_t name_of(const char *host, uint16_t port, struct sockaddr_un *name)
{
    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
                           "softrdma/%s:%u", host, port));
}

static int visit(const struct pair *pair)
{
    struct sockaddr_un name;
    socklen_t octets = name_of("127.0.0.1", port_of(&pair->address), &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, octets), 0);
    return fd;
}

static int tcp_to(const struct sockaddr_storage *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(struct sockaddr_in)), 0);
    return fd;
}

/* Returns whether it went; the device may have hung up. */
static bool say(int fd, const void *octets, size_t count, const int *fds, size_t n_fds)
{
    char control[CMSG_SPACE(16 * sizeof(int))] __attribute__((aligned(8))) = { 0 };
    struct iovec iov = { .iov_base = (void *)octets, .iov_len = count };
    struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

    if (n_fds) {
        struct cmsghdr *header = (struct cmsghdr *)control;

        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(header), fds, n_fds * sizeof(int));
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)count;
}

/* ---- one connection, by hand ---- */

/* The flags of the Reply that a Request on this connection gets from a program that accepts. */
static int reply_flags(struct pair *pair, int tcp, const uint8_t asks[24])
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct rdma_cm_event *event;
    struct pollfd readable = { .fd = tcp, .events = POLLIN };
    uint8_t reply[24];

    assert_int_equal(send(tcp, asks, 24, MSG_NOSIGNAL), 24);
    end_make_qp(&pair->passive);
    event = test_event(pair->passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    pair->passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    end_to_rts(&pair->passive);
    param.qp_num = pair->passive.qp->qp_num;
    assert_int_equal(srd_accept(pair->passive.id, &param), 0);
    for (size_t got = 0; got < sizeof(reply);) {
        ssize_t n;

        assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
        n = read(tcp, reply + got, sizeof(reply) - got);
        assert_true(n > 0);
        got += (size_t)n;
    }
    close(tcp);
    assert_int_equal(test_event_done(pair->passive.events, RDMA_CM_EVENT_REJECTED), 28);
    assert_int_equal(srd_destroy_qp(pair->passive.qp), 0);
    assert_int_equal(srd_destroy_id(pair->passive.id), 0);
    pair->passive.qp = NULL;
    pair->passive.id = NULL;
    return reply[FLAGS] & 0x0F;
}

/* A connection of the library's own to the same listener, after all that. */
static void still_shares(struct pair *pair)
{
    end_make_qp(&pair->active);
    end_make_qp(&pair->passive);
    end_resolve(&pair->active, &pair->address);
    pair_request(pair, 4);
    pair_accept(pair, 4);
    pair_establish(pair);
    assert_string_equal(srd_query_path(pair->active.qp), "shm");
    assert_string_equal(srd_query_path(pair->passive.qp), "shm");
}

/* ---- messages ---- */

/* The memory that the library itself offers: taken out of an offer to a listener of the test's own. */
static int real_memory(void)
{
    struct sockaddr_storage address;
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    char control[CMSG_SPACE(2 * sizeof(int))] __attribute__((aligned(8)));
    uint8_t octets[64];
    struct iovec iov = { .iov_base = octets, .iov_len = sizeof(octets) };
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    struct sockaddr_un name;
    struct end end;
    int listener = raw_listen(&address), fds[2], meet, fd;

    meet = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(meet, (struct sockaddr *)&name, name_of("127.0.0.1", port_of(&address), &name)), 0);
    assert_int_equal(listen(meet, 8), 0);
    end_open(&end);
    end_make_qp(&end);
    end_resolve(&end, &address);
    param.qp_num = end.qp->qp_num;
    assert_int_equal(srd_connect(end.id, &param), 0);
    fd = accept(meet, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(recvmsg(fd, &message, MSG_CMSG_CLOEXEC), SAID);
    assert_memory_equal(octets, said, SAID);
    assert_int_equal(message.msg_flags & MSG_CTRUNC, 0);
    assert_int_equal(CMSG_FIRSTHDR(&message)->cmsg_len, CMSG_LEN(sizeof(fds)));
    memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fds));
    close(fds[1]);
    close(fd);
    close(meet);
    close(listener);
    end_close(&end);
    return fds[0];
}

static size_t memory_octets(void)
{
    static off_t octets;

    if (!octets) {
        int fd = real_memory();

        octets = lseek(fd, 0, SEEK_END);
        assert_true(octets > 0 && octets < MEMORY_OCTETS_MAX);
        close(fd);
    }
    return (size_t)octets;
}

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

static int memory_with(size_t octets, int seals)
{
    int fd = memfd_create("stranger", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)octets), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static int sealed(void)
{
    return memory_with(memory_octets(), SEALS);
}
static int unsealed(void)
{
    return memory_with(memory_octets(), 0);
}
static int may_shrink(void)
{
    return memory_with(memory_octets(), F_SEAL_GROW | F_SEAL_SEAL);
}
static int may_grow(void)
{
    return memory_with(memory_octets(), F_SEAL_SHRINK | F_SEAL_SEAL);
}
static int may_be_sealed(void)
{
    return memory_with(memory_octets(), F_SEAL_SHRINK | F_SEAL_GROW);
}
static int read_only(void)
{
    return memory_with(memory_octets(), SEALS | F_SEAL_WRITE);
}
static int short_by_one(void)
{
    return memory_with(memory_octets() - 1, SEALS);
}
static int long_by_one(void)
{
    return memory_with(memory_octets() + 1, SEALS);
}
static int empty(void)
{
    return memory_with(0, SEALS);
}
static int event(void)
{
    return eventfd(0, EFD_CLOEXEC);
}
static int file(void)
{
    return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}
static int folder(void)
{
    return open("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
}
static int device(void)
{
    return open("/dev/zero", O_RDWR | O_CLOEXEC);
}
static int unix_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}
static int udp_socket(void)
{
    return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}
static int tcp_unconnected(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}
static int tcp_listening(void)
{
    struct sockaddr_storage address;

    return raw_listen(&address);
}

enum which { OWN, OTHER, ELSEWHERE };
static const struct message {
    const char *what;
    const char *octets; /* NULL: what is right */
    size_t count;
    int (*memory)(void); /* NULL: sealed */
    int (*tcp)(void);    /* NULL: which */
    enum which which;    /* the connection's socket, or another connection's */
    int more;            /* descriptors besides, or fewer */
    bool swapped;
    int flags; /* of the Reply */
} messages[] = {
    { .what = "what is right", .flags = TAKES | SHARED },
    { .what = "another version", .octets = "srdmeet\3", .count = 8, .flags = TAKES },
    { .what = "version 0", .octets = "srdmeet\0", .count = 8, .flags = TAKES },
    { .what = "rubbish", .octets = "\377\376\375\374\373\372\371\370", .count = 8, .flags = TAKES },
    { .what = "one octet", .octets = "s", .count = 1, .flags = TAKES },
    { .what = "an octet too few", .octets = "srdmeet", .count = 7, .flags = TAKES },
    { .what = "an octet too many", .octets = "srdmeet\2\0", .count = 9, .flags = TAKES },
    { .what = "no descriptor", .more = -2, .flags = TAKES },
    { .what = "one descriptor", .more = -1, .flags = TAKES },
    { .what = "three descriptors", .more = 1, .flags = TAKES },
    { .what = "sixteen descriptors", .more = 14, .flags = TAKES },
    { .what = "both in the wrong order", .swapped = true, .flags = TAKES },
    { .what = "memory without seals", .memory = unsealed, .flags = TAKES },
    { .what = "memory that may shrink", .memory = may_shrink, .flags = TAKES },
    { .what = "memory that may grow", .memory = may_grow, .flags = TAKES },
    { .what = "memory that may get more seals", .memory = may_be_sealed, .flags = TAKES },
    { .what = "memory for reading alone", .memory = read_only, .flags = TAKES },
    { .what = "memory that is an octet short", .memory = short_by_one, .flags = TAKES },
    { .what = "memory that is an octet long", .memory = long_by_one, .flags = TAKES },
    { .what = "memory of no octets", .memory = empty, .flags = TAKES },
    { .what = "an event for memory", .memory = event, .flags = TAKES },
    { .what = "a file for memory", .memory = file, .flags = TAKES },
    { .what = "a folder for memory", .memory = folder, .flags = TAKES },
    { .what = "a device for memory", .memory = device, .flags = TAKES },
    { .what = "a socket for memory", .memory = unix_socket, .flags = TAKES },
    { .what = "memory for the connection", .tcp = sealed, .flags = TAKES },
    { .what = "a Unix socket for the connection", .tcp = unix_socket, .flags = TAKES },
    { .what = "a UDP socket for the connection", .tcp = udp_socket, .flags = TAKES },
    { .what = "a TCP socket without a connection", .tcp = tcp_unconnected, .flags = TAKES },
    { .what = "a TCP socket that listens", .tcp = tcp_listening, .flags = TAKES },
    { .what = "another connection's socket", .which = OTHER, .flags = TAKES },
    { .what = "the socket of a connection elsewhere", .which = ELSEWHERE, .flags = TAKES },
};

static void offer(const struct pair *pair, const struct message *message, int tcp)
{
    struct sockaddr_storage elsewhere;
    int other = -1, listener = -1, fds[16], n = 2 + message->more, fd = visit(pair);

    if (message->which == OTHER) {
        other = tcp_to(&pair->address);
    } else if (message->which == ELSEWHERE) {
        listener = raw_listen(&elsewhere);
        other = tcp_to(&elsewhere);
    }
    fds[0] = message->memory ? message->memory() : sealed();
    fds[1] = message->tcp ? message->tcp() : dup(other >= 0 ? other : tcp);
    if (message->swapped) {
        int first = fds[0];

        fds[0] = fds[1];
        fds[1] = first;
    }
    for (int i = 2; i < n; i++)
        fds[i] = event();
    assert_true(say(fd, message->octets ? message->octets : said,
        message->octets ? message->count : SAID, fds, (size_t)n));
    for (int i = 0; i < (n > 2 ? n : 2); i++)
        close(fds[i]);
    close(fd);
    if (other >= 0)
        close(other);
    if (listener >= 0)
        close(listener);
}

static void an_offer_that_does_not_fit_is_refused(void **state)
{
    struct pair pair;
    int before;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    before = descriptors();
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        int tcp = tcp_to(&pair.address), flags;

        offer(&pair, &messages[i], tcp);
        flags = reply_flags(&pair, tcp, request);
        if (flags != messages[i].flags)
            fail_msg("%s: Reply with flags 0x%x", messages[i].what, (unsigned)flags);
        await_descriptors(before);
    }
    still_shares(&pair);
    close_all(&pair);
}

/* ---- what fits, but is not wanted ---- */

static void a_request_without_the_flag_shares_nothing(void **state)
{
    uint8_t asks[24];
    struct pair pair;
    int before;

    (void)state;
    memcpy(asks, request, sizeof(asks));
    pair_listen(&pair, "127.0.0.1");
    before = descriptors();
    for (int i = 0; i < 2;
         i++) { /* of a softrdma end; of another one, to which the flag means nothing */
        int tcp = tcp_to(&pair.address);

        asks[FLAGS] = (uint8_t)(i ? 0x10 | SHARED : 0x10 | ASKS);
        offer(&pair, &messages[0], tcp);
        assert_int_equal(reply_flags(&pair, tcp, asks), i ? 0 : TAKES);
        await_descriptors(before);
    }
    close_all(&pair);
}

static void a_flag_without_an_offer_shares_nothing(void **state)
{
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    assert_int_equal(reply_flags(&pair, tcp_to(&pair.address), request), TAKES);
    still_shares(&pair);
    close_all(&pair);
}

static void the_last_of_several_offers_counts(void **state)
{
    struct pair pair;
    int before, tcp;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    before = descriptors();
    tcp = tcp_to(&pair.address);
    for (int i = 0; i < 8; i++)
        offer(&pair, &messages[0], tcp);
    assert_int_equal(reply_flags(&pair, tcp, request), TAKES | SHARED);
    await_descriptors(before);
    close_all(&pair);
}

/* ---- peers that leave, or never speak ---- */

static void a_peer_that_leaves_at_any_step_leaves_nothing_behind(void **state)
{
    struct pair pair;
    int before;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    before = descriptors();
    for (int step = 0; step < 4; step++) {
        int tcp = tcp_to(&pair.address);

        if (step == 0) {
            close(visit(&pair));
        } else {
            offer(&pair, &messages[0], tcp);
            if (step > 1)
                assert_int_equal(send(tcp, request, step == 2 ? 12 : sizeof(request), MSG_NOSIGNAL),
                    step == 2 ? 12 : (int)sizeof(request));
        }
        close(tcp);
        if (step == 3) {
            struct rdma_cm_event *event =
                test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);

            assert_int_equal(srd_destroy_id(event->id), 0);
            assert_int_equal(srd_ack_cm_event(event), 0);
        }
        await_descriptors(before);
    }
    still_shares(&pair);
    close_all(&pair);
}

/* The stream ends within so many milliseconds. */
static void expect_end(int fd, int ms)
{
    struct pollfd readable = { .fd = fd, .events = POLLIN };
    uint8_t octet;

    haste_begin(HASTE);
    assert_int_equal(poll(&readable, 1, ms), 1);
    haste_end();
    assert_int_equal(recv(fd, &octet, 1, MSG_DONTWAIT), 0);
    close(fd);
}

static void a_visitor_that_never_speaks_is_shown_out(void **state)
{
    struct pair pair;
    int before, fd;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    before = descriptors();
    fd = visit(&pair);
    still_shares(&pair); /* at once: no connection waits for another's offer */
    expect_end(fd, DEADLINE_MS);
    assert_int_equal(srd_destroy_id(pair.active.id), 0);
    assert_int_equal(srd_destroy_id(pair.passive.id), 0);
    assert_int_equal(srd_destroy_qp(pair.active.qp), 0);
    assert_int_equal(srd_destroy_qp(pair.passive.qp), 0);
    pair.active.id = pair.passive.id = NULL;
    pair.active.qp = pair.passive.qp = NULL;
    await_descriptors(before);
    close_all(&pair);
}

static void a_crowd_of_visitors_keeps_nobody_out(void **state)
{
    enum { CROWD = 200 };
    struct pair pair;
    int fd[CROWD];

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    for (int i = 0; i < CROWD; i++)
        fd[i] = visit(&pair);
    still_shares(&pair);
    for (int i = 0; i < CROWD; i++)
        expect_end(fd[i], DEADLINE_MS);
    close_all(&pair);
}

static void an_offer_whose_connection_asks_for_nothing_is_given_back(void **state)
{
    struct sockaddr_storage elsewhere;
    struct pair pair;
    int listener, tcp, fd, fds[2];

    (void)state;
    listener = raw_listen(&elsewhere);
    tcp = tcp_to(&elsewhere);
    pair_listen(&pair, "127.0.0.1");
    fd = visit(&pair);
    fds[0] = sealed();
    fds[1] = tcp;
    assert_true(say(fd, said, SAID, fds, 2));
    close(fds[0]);
    expect_end(fd, DEADLINE_MS); /* after 5 s */
    close(tcp);
    close(listener);
    close_all(&pair);
}

/* ---- the name is another's ---- */

static void connect_to(struct pair *pair)
{
    end_make_qp(&pair->active);
    end_make_qp(&pair->passive);
    end_resolve(&pair->active, &pair->address);
    pair_request(pair, 4);
    pair_accept(pair, 4);
    pair_establish(pair);
}

static int squat(const char *host, uint16_t port)
{
    struct sockaddr_un name;
    socklen_t octets = name_of(host, port, &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, octets), 0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

/* A port that is free now. */
static uint16_t free_port(void)
{
    struct sockaddr_storage address;
    int fd = raw_listen(&address);

    close(fd);
    return port_of(&address);
}

static void listen_at(struct pair *pair, const char *host, uint16_t port)
{
    memset(pair, 0, sizeof(*pair));
    end_open(&pair->active);
    end_open(&pair->passive);
    test_address(host, port, &pair->address);
    assert_int_equal(srd_create_id(pair->passive.events, &pair->listener, pair, RDMA_PS_TCP), 0);
    assert_int_equal(srd_bind_addr(pair->listener, (struct sockaddr *)&pair->address), 0);
    assert_int_equal(srd_listen(pair->listener, 0), 0);
    test_address("127.0.0.1", port, &pair->address);
}

static void a_taken_name_leaves_the_connection_on_tcp(void **state)
{
    uint16_t port = free_port();
    struct pair pair;
    int squatter = squat("127.0.0.1", port);

    (void)state;
    listen_at(&pair, "127.0.0.1", port);
    connect_to(&pair); /* the squatter has the offer, and never answers */
    assert_string_equal(srd_query_path(pair.active.qp), "tcp");
    assert_string_equal(srd_query_path(pair.passive.qp), "tcp");
    close(squatter);
    close_all(&pair);
}

static void a_name_in_front_of_a_wildcard_leaves_it_on_tcp(void **state)
{
    uint16_t port = free_port();
    uint8_t octets[64];
    struct pair pair;
    int squatter, fd;

    (void)state;
    listen_at(&pair, "0.0.0.0", port);
    squatter = squat("127.0.0.1", port);
    connect_to(&pair);
    assert_string_equal(srd_query_path(pair.active.qp), "tcp");
    assert_string_equal(srd_query_path(pair.passive.qp), "tcp");
    fd = accept(squatter, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(recv(fd, octets, sizeof(octets), 0), SAID);
    expect_end(fd, DEADLINE_MS); /* this end keeps nothing for it */
    close(squatter);
    close_all(&pair);
}

/* The other direction: a responder that says it shares what nobody offered. */
static void a_reply_with_the_flag_and_no_offer_is_refused(void **state)
{
    static const uint8_t reply[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F',
        'r', 'a', 'm', 'e', 0x10 | TAKES | SHARED, 2, 0, 4, 0x80, 4, 0x80, 4 };
    struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
    struct sockaddr_storage address;
    struct end end;
    int listener = raw_listen(&address), fd;

    (void)state;
    end_open(&end);
    end_make_qp(&end);
    end_resolve(&end, &address);
    param.qp_num = end.qp->qp_num;
    assert_int_equal(srd_connect(end.id, &param), 0);
    fd = accept(listener, NULL, NULL);
    assert_int_equal(send(fd, reply, sizeof(reply), MSG_NOSIGNAL), (int)sizeof(reply));
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_REJECTED), -EPROTO);
    close(fd);
    close(listener);
    end_close(&end);
}

/* ---- other users and networks; as root alone ---- */

static void expect_child(pid_t child)
{
    int status;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child of another user: offers what fits, with the parent's TCP socket. The device may hang up before that. */
static void offer_as(const struct pair *pair, int tcp, uid_t user)
{
    pid_t child = fork();

    if (!child) {
        int fds[2] = { sealed(), tcp };

        if (setresuid(user, user, user))
            _exit(77);
        _exit(say(visit(pair), said, SAID, fds, 2) || user ? 0 : 1);
    }
    expect_child(child);
}

/*
 * Closing the last copy of this TCP socket waits in the kernel for LINGER_S: it has octets that its peer, which the
 * caller keeps open, does not take.
 */
enum { LINGER_S = 60, AT_ONCE_MS = 20000 };

static int lingering(const struct sockaddr_storage *elsewhere)
{
    const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
    static const char octets[65536];
    int fd = tcp_to(elsewhere);

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    while (send(fd, octets, sizeof(octets), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        ;
    return fd;
}

enum where {
    AND_THE_LISTENER_STOPS, /* accepted or not */
    AS_THE_CONNECTION,      /* in place of the TCP socket */
    AS_THE_MEMORY,
    AS_ONE_TOO_MANY,
    WHERES
};

static bool stands_still(pid_t process)
{
    bool still = true;
    char path[300], line[512];
    struct dirent *entry;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        const char *state = NULL;
        FILE *stat;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%.32s/stat", (int)process, entry->d_name);
        stat = fopen(path, "re");
        if (stat && fgets(line, sizeof(line), stat))
            state = strrchr(line, ')');
        if (stat)
            fclose(stat);
        still &= state && state[2] == 'T';
    }
    if (tasks)
        closedir(tasks);
    return tasks && still;
}

/*
 * In a child, so that the device has the last copy; of another user, unless that is 0. The device stands still
 * meanwhile: else it might refuse the visitor before he has said anything. (That would end a close under way, too.)
 */
static void leave_lingering(const struct pair *pair, const struct sockaddr_storage *elsewhere,
    enum where where, uid_t user, int times)
{
    pid_t device = getpid(), child = fork(), visitor;

    if (!child) {
        kill(device, SIGSTOP);
        while (!stands_still(device))
            sched_yield();
        visitor = fork();
        if (!visitor) {
            int memory = sealed();

            if (user && setresuid(user, user, user))
                _exit(77);
            while (times--) {
                int fd = lingering(elsewhere), fds[3] = { memory, fd, fd };

                if (where == AS_THE_MEMORY || where == AS_ONE_TOO_MANY)
                    fds[0] = fd;
                say(visit(pair), said, SAID, fds, where == AS_ONE_TOO_MANY ? 3 : 2);
            }
            kill(getpid(), SIGKILL); /* an exit does not wait for the close */
        }
        waitpid(visitor, NULL, 0);
        kill(device, SIGCONT);
        _exit(0);
    }
    expect_child(child);
}

static void expect_shares_at_once(struct pair *pair)
{
    uint64_t begin_ms = test_now_ms();

    still_shares(pair);
    assert_true(test_now_ms() - begin_ms < AT_ONCE_MS);
    assert_int_equal(srd_destroy_id(pair->active.id), 0);
    assert_int_equal(srd_destroy_id(pair->passive.id), 0);
    assert_int_equal(srd_destroy_qp(pair->active.qp), 0);
    assert_int_equal(srd_destroy_qp(pair->passive.qp), 0);
    pair->active.id = pair->passive.id = NULL;
    pair->active.qp = pair->passive.qp = NULL;
}

static void a_socket_that_lingers_stops_nobody(void **state)
{
    uint64_t begin_ms = test_now_ms();
    struct sockaddr_storage elsewhere;

    (void)state;
    for (int i = 0; i < 2 * WHERES; i++) {
        const uid_t user = i % 2 ? 12345 : 0;
        struct pair pair;
        int listener;

        if (user && geteuid())
            continue;
        listener = raw_listen(&elsewhere);
        pair_listen(&pair, "127.0.0.1");
        leave_lingering(&pair, &elsewhere, (enum where)(i / 2), user, 1);
        if (i / 2 != AND_THE_LISTENER_STOPS)
            expect_shares_at_once(&pair);
        pair_close(&pair);
        close(listener); /* its peers linger no more */
        await_descriptors(idle);
    }
    assert_true(test_now_ms() - begin_ms < LINGER_S * 1000);
}

/* More than may wait to be closed: no further visitors are taken, and connections are on TCP, until some are closed. */
static void a_crowd_of_sockets_that_linger_costs_shared_memory_alone(void **state)
{
    enum { CROWD = 65 }; /* one more than may wait; and what raw_listen has room for */
    uint64_t begin_ms = test_now_ms();
    struct sockaddr_storage elsewhere;
    struct pair pair;
    int listener;

    (void)state;
    if (geteuid())
        skip();
    listener = raw_listen(&elsewhere);
    pair_listen(&pair, "127.0.0.1");
    leave_lingering(&pair, &elsewhere, AS_THE_CONNECTION, 12345, CROWD);
    connect_to(&pair);
    assert_string_equal(srd_query_path(pair.active.qp), "tcp");
    assert_true(test_now_ms() - begin_ms < AT_ONCE_MS);
    assert_true(descriptors() - idle < CROWD + 16);
    pair_close(&pair);
    close(listener);
    await_descriptors(idle);

    pair_listen(&pair, "127.0.0.1");
    still_shares(&pair);
    close_all(&pair);
}

static void another_users_offer_is_refused(void **state)
{
    struct pair pair;
    int tcp;

    (void)state;
    if (geteuid())
        skip();
    pair_listen(&pair, "127.0.0.1");
    for (int i = 0; i < 2; i++) {
        tcp = tcp_to(&pair.address);
        offer_as(&pair, tcp, i ? 65534 : 12345);
        assert_int_equal(reply_flags(&pair, tcp, request), TAKES);
    }
    tcp = tcp_to(&pair.address);
    offer_as(&pair, tcp, 0);
    assert_int_equal(reply_flags(&pair, tcp, request), TAKES | SHARED);
    close_all(&pair);
}

static void another_users_listener_is_offered_nothing(void **state)
{
    uint16_t port = free_port();
    int ready[2], done[2];
    struct pair pair;
    char octet = 0;
    pid_t child;

    (void)state;
    if (geteuid())
        skip();
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(done, O_CLOEXEC), 0);
    child = fork();
    if (!child) {
        int fd;

        close(done[1]);
        if (setresuid(12345, 12345, 12345))
            _exit(77);
        fd = squat("127.0.0.1", port);
        if (write(ready[1], "", 1) != 1 || read(done[0], &octet, 1) != 0)
            _exit(1);
        fd = accept(fd, NULL, NULL);
        _exit(fd < 0 ? 2 : recv(fd, &octet, 1, 0) != 0 ? 3 : 0); /* connected, and nothing said */
    }
    assert_int_equal(read(ready[0], &octet, 1), 1);
    listen_at(&pair, "127.0.0.1", port);
    connect_to(&pair);
    assert_string_equal(srd_query_path(pair.active.qp), "tcp");
    close(done[1]);
    expect_child(child);
    close(done[0]);
    close(ready[0]);
    close(ready[1]);
    close_all(&pair);
}

static void loopback_up(void)
{
    struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
        _exit(77);
    close(fd);
}

/* In a network of its own a process can have a socket of any two addresses and ports. */
static void a_socket_of_another_network_is_refused(void **state)
{
    struct sockaddr_storage own;
    socklen_t octets = sizeof(own);
    struct pair pair;
    pid_t child;
    int tcp, status;

    (void)state;
    if (geteuid())
        skip();
    pair_listen(&pair, "127.0.0.1");
    tcp = tcp_to(&pair.address);
    assert_int_equal(getsockname(tcp, (struct sockaddr *)&own, &octets), 0);
    child = fork();
    if (!child) {
        const int on = 1;
        int fds[2] = { sealed(), -1 }, fd = visit(&pair), listener;

        if (unshare(CLONE_NEWNET))
            _exit(77);
        loopback_up();
        listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fds[1], SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (bind(listener, (struct sockaddr *)&pair.address, sizeof(struct sockaddr_in)) ||
            listen(listener, 1) ||
            bind(fds[1], (struct sockaddr *)&own, sizeof(struct sockaddr_in)) ||
            connect(fds[1], (struct sockaddr *)&pair.address, sizeof(struct sockaddr_in)))
            _exit(1);
        _exit(say(fd, said, SAID, fds, 2) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        close(tcp);
        close_all(&pair);
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(reply_flags(&pair, tcp, request), TAKES);
    close_all(&pair);
}

static int set_up(void **state)
{
    struct pair pair;

    (void)state;
    setenv("NDSPI_SOFT_SHM", "1", 1);
    pair_listen(&pair, "127.0.0.1");
    pair_close(&pair);
    idle = descriptors();
    memory_octets();
    await_descriptors(idle);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offer_that_does_not_fit_is_refused),
        cmocka_unit_test(a_request_without_the_flag_shares_nothing),
        cmocka_unit_test(a_flag_without_an_offer_shares_nothing),
        cmocka_unit_test(the_last_of_several_offers_counts),
        cmocka_unit_test(a_peer_that_leaves_at_any_step_leaves_nothing_behind),
        cmocka_unit_test(a_visitor_that_never_speaks_is_shown_out),
        cmocka_unit_test(a_crowd_of_visitors_keeps_nobody_out),
        cmocka_unit_test(an_offer_whose_connection_asks_for_nothing_is_given_back),
        cmocka_unit_test(a_taken_name_leaves_the_connection_on_tcp),
        cmocka_unit_test(a_name_in_front_of_a_wildcard_leaves_it_on_tcp),
        cmocka_unit_test(a_reply_with_the_flag_and_no_offer_is_refused),
        cmocka_unit_test(a_socket_that_lingers_stops_nobody),
        cmocka_unit_test(a_crowd_of_sockets_that_linger_costs_shared_memory_alone),
        cmocka_unit_test(another_users_offer_is_refused),
        cmocka_unit_test(another_users_listener_is_offered_nothing),
        cmocka_unit_test(a_socket_of_another_network_is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
