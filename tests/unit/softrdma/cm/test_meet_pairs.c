/* SPDX-License-Identifier: MIT */
/*
 * Which connection an offer of memory is for, where several wait at one listener; and whose processes may meet: the
 * effective user counts, which is what the kernel tells the other end (unix(7), SO_PEERCRED).
 */
#include "tests/unit/softrdma/pair.h"

#include "softrdma/cm/meet.h"
#include "softrdma/device/addr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- offers that wait ---- */

/* A TCP connection, and the memory that each end has of it. */
struct line {
    int active, passive;
    struct sockaddr_storage local, peer; /* of the active end */
    struct srd_share *offered, *claimed;
};

/* A listening socket on all addresses; returns it, and its port. */
static int listen_anywhere(uint16_t *port)
{
    struct sockaddr_storage address;
    socklen_t octets = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    test_address("0.0.0.0", 0, &address);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(struct sockaddr_in)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &octets), 0);
    *port = ntohs(srd_addr_port((struct sockaddr *)&address));
    return fd;
}

/* from_port in, out: 0: a free one */
static void line_open(struct line *line, int listener, const char *from, uint16_t *from_port,
    const char *to, uint16_t to_port)
{
    socklen_t octets = sizeof(line->local);

    memset(line, 0, sizeof(*line));
    line->active = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        setsockopt(line->active, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)), 0);
    test_address(from, *from_port, &line->local);
    test_address(to, to_port, &line->peer);
    assert_int_equal(
        bind(line->active, (struct sockaddr *)&line->local, sizeof(struct sockaddr_in)), 0);
    assert_int_equal(
        connect(line->active, (struct sockaddr *)&line->peer, sizeof(struct sockaddr_in)), 0);
    line->passive = accept(listener, NULL, NULL);
    assert_true(line->passive >= 0);
    assert_int_equal(getsockname(line->active, (struct sockaddr *)&line->local, &octets), 0);
    *from_port = ntohs(srd_addr_port((struct sockaddr *)&line->local));
    line->offered = srd_meet_offer(
        line->active, (struct sockaddr *)&line->local, (struct sockaddr *)&line->peer);
    assert_non_null(line->offered);
}

static void line_close(struct line *line)
{
    srd_share_free(line->offered);
    if (line->claimed)
        srd_share_free(line->claimed);
    close(line->active);
    close(line->passive);
}

static struct srd_share *claim(struct srd_meet *meet, struct line *line)
{
    return line->claimed = srd_meet_claim(
               meet, (struct sockaddr *)&line->peer, (struct sockaddr *)&line->local);
}

/* What one end writes the other reads. */
static void expect_the_same_memory(struct line *line, char written)
{
    char read = 0;

    assert_int_equal(
        srd_share_write(line->offered, &(struct iovec){ .iov_base = &written, .iov_len = 1 }, 1),
        1);
    assert_int_equal(
        srd_share_read(line->claimed, &(struct iovec){ .iov_base = &read, .iov_len = 1 }, 1), 1);
    assert_int_equal(read, written);
}

/* Two lines whose ends differ in one address alone, or in a port. */
static const struct {
    const char *from[2], *to[2];
    bool same_port; /* of the active ends */
} rows[] = {
    { { "127.0.0.1", "127.0.0.2" }, { "127.0.0.1", "127.0.0.1" }, true },
    { { "127.0.0.1", "127.0.0.1" }, { "127.0.0.1", "127.0.0.2" }, true },
    { { "127.0.0.1", "127.0.0.1" }, { "127.0.0.1", "127.0.0.1" }, false },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void two_lines(struct line lines[2], int listener, size_t row, uint16_t to_port)
{
    uint16_t from_port = 0;

    for (int i = 0; i < 2; i++) {
        if (!rows[row].same_port)
            from_port = 0;
        line_open(&lines[i], listener, rows[row].from[i], &from_port, rows[row].to[i], to_port);
    }
}

static void each_connection_gets_the_memory_offered_for_it(void **state)
{
    uint16_t port;
    int listener = listen_anywhere(&port);
    struct srd_meet *meet = srd_meet_listen(listener);

    (void)state;
    for (size_t row = 0; row < ROWS; row++) {
        for (int first = 0; first < 2; first++) {
            struct line lines[2];

            two_lines(lines, listener, row, port);
            assert_non_null(claim(meet, &lines[first]));
            assert_non_null(claim(meet, &lines[!first]));
            expect_the_same_memory(&lines[0], 'a');
            expect_the_same_memory(&lines[1], 'b');
            line_close(&lines[0]);
            line_close(&lines[1]);
        }
    }
    srd_meet_stop(meet);
    srd_meet_unref(meet);
    close(listener);
}

static void what_is_forgotten_is_of_one_connection(void **state)
{
    uint16_t port;
    int listener = listen_anywhere(&port);
    struct srd_meet *meet = srd_meet_listen(listener);

    (void)state;
    for (size_t row = 0; row < ROWS; row++) {
        for (int gone = 0; gone < 2; gone++) {
            struct line lines[2], *stays = &lines[!gone];

            two_lines(lines, listener, row, port);
            assert_null(srd_meet_claim(meet, /* has all that were sent taken in, and finds none */
                (struct sockaddr *)&lines[0].local, (struct sockaddr *)&lines[0].peer));
            srd_meet_forget(
                meet, (struct sockaddr *)&lines[gone].peer, (struct sockaddr *)&lines[gone].local);
            assert_null(claim(meet, &lines[gone]));
            assert_non_null(claim(meet, stays));
            expect_the_same_memory(stays, 'c');
            line_close(&lines[0]);
            line_close(&lines[1]);
        }
    }
    srd_meet_stop(meet);
    srd_meet_unref(meet);
    close(listener);
}

/* ---- users ---- */

enum {
    ANYBODY = 12345,
    NOBODY = 65534
}; /* NOBODY: as which the kernel shows users without a name here */

static const struct user {
    uid_t real, effective;
} root = { 0, 0 };

/*
 * An end in a process of its own, as this user: waits for the address, connects, and returns its exit status: 0: over
 * shared memory, 1: TCP, 2: not at all.
 */
static int connect_as(struct user user, int parent)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct sockaddr_storage where;
    struct end end;
    int path;

    if (read(parent, &where, sizeof(where)) != sizeof(where) ||
        setresuid(user.real, user.effective, user.effective))
        return 2;
    end_open(&end);
    end_make_qp(&end);
    end_resolve(&end, &where);
    param.qp_num = end.qp->qp_num;
    if (srd_connect(end.id, &param) || test_event_done(end.events, RDMA_CM_EVENT_CONNECT_RESPONSE))
        return 2;
    end_to_rts(&end);
    if (srd_establish(end.id))
        return 2;
    path = strcmp(srd_query_path(end.qp), "shm") ? 1 : 0;
    if (write(parent, "", 1) != 1) /* it has looked */
        return 2;
    if (test_event_done(end.events, RDMA_CM_EVENT_DISCONNECTED))
        return 2;
    end_close(&end);
    return path;
}

/* The passive end, as this user. Returns 0, 1 or 2 in the same way. */
static int listen_as(struct user user, int child)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct rdma_cm_event *event;
    struct pair pair;
    char octet;
    int path;

    if (setresuid(user.real, user.effective, user.effective))
        return 2;
    pair_listen(&pair, "127.0.0.1");
    end_make_qp(&pair.passive);
    if (write(child, &pair.address, sizeof(pair.address)) != sizeof(pair.address))
        return 2;
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    pair.passive.id = event->id;
    srd_ack_cm_event(event);
    end_to_rts(&pair.passive);
    param.qp_num = pair.passive.qp->qp_num;
    if (srd_accept(pair.passive.id, &param) ||
        test_event_done(pair.passive.events, RDMA_CM_EVENT_ESTABLISHED))
        return 2;
    path = strcmp(srd_query_path(pair.passive.qp), "shm") ? 1 : 0;
    if (read(child, &octet, 1) != 1)
        return 2;
    if (srd_disconnect(pair.passive.id) ||
        test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED))
        return 2;
    pair_close(&pair);
    return path;
}

static int outcome(pid_t process)
{
    int status;

    return waitpid(process, &status, 0) == process && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Both ends in processes of their own, since a process cannot get its users back. */
static void expect_meeting(struct user listens, struct user connects, bool shared)
{
    int ends[2];
    pid_t active, passive;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    if (!(active = fork()))
        _exit(connect_as(connects, ends[1]));
    if (!(passive = fork()))
        _exit(listen_as(listens, ends[0]));
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(outcome(active), shared ? 0 : 1);
    assert_int_equal(outcome(passive), shared ? 0 : 1);
}

static void the_effective_users_decide(void **state)
{
    static const struct user drops = { ANYBODY, 0 }, takes = { 0, ANYBODY },
                             other = { ANYBODY, ANYBODY };

    (void)state;
    if (geteuid())
        skip();
    expect_meeting(root, drops, true);
    expect_meeting(drops, root, true);
    expect_meeting(other, takes, true);
    expect_meeting(takes, other, true);
    expect_meeting(root, takes, false);
    expect_meeting(takes, root, false);
    expect_meeting(other, drops, false);
}

/* Users of other namespaces, all of them, are shown as this one: it may be anybody. */
static void the_user_of_the_nameless_shares_with_nobody(void **state)
{
    static const struct user nobody = { NOBODY, NOBODY };

    (void)state;
    if (geteuid())
        skip();
    expect_meeting(nobody, nobody, false);
}

int main(void)
{
    /* Those that fork come first: no thread of the library is there yet. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_effective_users_decide),
        cmocka_unit_test(the_user_of_the_nameless_shares_with_nobody),
        cmocka_unit_test(each_connection_gets_the_memory_offered_for_it),
        cmocka_unit_test(what_is_forgotten_is_of_one_connection),
    };

    setenv("NDSPI_SOFT_SHM", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
