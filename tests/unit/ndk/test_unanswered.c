/* SPDX-License-Identifier: MIT */
/*
 * test_unanswered.c - peers that are not there, or that say nothing, on the embedded device: its peers here are TCP
 * sockets, and its limit for an answer is set short (NDSPI_SOFT_ANSWER_MS).
 */
#include "tests/unit/ndk/pair.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int new_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    return fd;
}

/* TCP takes connections there; no program does. */
static int silent_listener(struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);
    int fd = new_socket();

    *address = own_address(0);
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof(*address)), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &length), 0);
    return fd;
}

/* The attempt has used up neither the connector nor the queue pair. */
static void assert_another_connects(struct pair *pair)
{
    assert_int_equal(atomic_load(&pair->active.request.count), 1);
    pair_connect(pair);
    assert_int_equal(atomic_load(&pair->active.disconnect.count), 0);
}

static void nobody_answers_a_connect(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in silent;
    int fd = silent_listener(&silent);

    assert_int_equal(start_connect(&pair->active, &silent, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_IO_TIMEOUT);
    close(fd);
    assert_another_connects(pair);
}

/* From the loopback address no other network is reached. */
static void no_route_leads_to_the_peer(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in far = own_address(5000);

    far.sin_addr.s_addr = htonl(0xC6336401); /* 198.51.100.1, for documents */
    assert_int_equal(start_connect(&pair->active, &far, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_NETWORK_UNREACHABLE);
    assert_another_connects(pair);
}

/* The socket of a peer that asks for a connection as it should. */
static int ask_for_a_connection(const struct pair *pair)
{
    /* Revision 2, peer to peer, confirmed by a Write; 4 Reads each way. */
    static const unsigned char request[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q',
        ' ', 'F', 'r', 'a', 'm', 'e', 0x10, 2, 0, 4, 0x80, 4, 0x80, 4 };
    int fd = new_socket();

    assert_int_equal(connect(fd, (struct sockaddr *)&pair->address, sizeof(pair->address)), 0);
    assert_int_equal(send(fd, request, sizeof(request), MSG_NOSIGNAL), sizeof(request));
    return fd;
}

/*
 * The peer's process ends before it is answered, by FIN or by a reset; there is no limit of time. Microsoft's page of
 * NdkAccept: STATUS_CONNECTION_ABORTED, the peer abandoned the connection.
 */
static void peer_gives_up_before_the_accept(void **state)
{
    struct pair *pair = *state;

    setenv("NDSPI_SOFT_ANSWER_MS", "0", 1); /* no limit */
    for (int reset = 0; reset < 2; reset++) {
        struct linger linger = { .l_onoff = reset };
        int fd = ask_for_a_connection(pair);
        NTSTATUS status;

        take_incoming(pair);
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
        close(fd);
        if ((status = start_accept(&pair->passive, NULL, 0)) == SPEC_STATUS_PENDING)
            status = outcome(&pair->passive);
        assert_int_equal(status, (NTSTATUS)SPEC_STATUS_CONNECTION_ABORTED);
        close_connector(pair->passive.connector);
        pair->passive.connector = NULL;
        close_qp(pair->passive.qp);
        pair->passive.qp =
            qp_create(pair->passive.pd, pair->passive.receive_cq, pair->passive.initiator_cq, NULL);
    }
    assert_int_equal(atomic_load(&pair->passive.disconnect.count), 0);
}

/* It never confirms what it is answered. */
static void nobody_confirms_an_accept(void **state)
{
    struct pair *pair = *state;
    int fd = ask_for_a_connection(pair);

    take_incoming(pair);
    assert_int_equal(start_accept(&pair->passive, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->passive), (NTSTATUS)SPEC_STATUS_IO_TIMEOUT);
    close(fd);
    assert_int_equal(start_disconnect(&pair->passive), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    close_connector(pair->passive.connector);
    pair->passive.connector = NULL;
    assert_int_equal(atomic_load(&pair->passive.request.count), 1);
    assert_int_equal(atomic_load(&pair->passive.disconnect.count), 0);
}

static void close_ends_an_unanswered_connect(void **state)
{
    struct pair *pair = *state;
    NDK_CONNECTOR *connector = pair->active.connector;
    struct sockaddr_in silent;
    int fd = silent_listener(&silent);

    setenv("NDSPI_SOFT_ANSWER_MS", "0", 1); /* no limit */
    assert_int_equal(start_connect(&pair->active, &silent, NULL, 0), SPEC_STATUS_PENDING);
    pair->active.connector = NULL;
    close_connector(connector);
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_CANCELLED);
    assert_int_equal(atomic_load(&pair->active.request.count), 1);
    close(fd);
}

static int set_up(void **state)
{
    setenv("NDSPI_SOFT_ANSWER_MS", "100", 1);
    return pair_set_up(state);
}

static int tear_down(void **state)
{
    unsetenv("NDSPI_SOFT_ANSWER_MS");
    return pair_tear_down(state);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ROW(nobody_answers_a_connect),
        ROW(no_route_leads_to_the_peer),
        ROW(peer_gives_up_before_the_accept),
        ROW(nobody_confirms_an_accept),
        ROW(close_ends_an_unanswered_connect),
    };

    return run_in_modes(NULL, tests);
}
