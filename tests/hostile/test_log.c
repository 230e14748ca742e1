/* SPDX-License-Identifier: MIT */
/*
 * test_log.c - a peer cannot flood the log, and a full pipe behind the log blocks no thread.
 *
 * Standard error is a pipe that the test holds. The storm is connections that demand MPA markers: each is worth a
 * warning.
 */
#include "tests/hostile/scene.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORM = 300 };

static int saved_error, reader;

static int capture(void **state)
{
    int ends[2];

    (void)state;
    saved_error = dup(STDERR_FILENO);
    if (pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK) || dup2(ends[1], STDERR_FILENO) < 0)
        return -1;
    close(ends[1]);
    reader = ends[0];
    return 0;
}

static int release(void **state)
{
    (void)state;
    dup2(saved_error, STDERR_FILENO);
    close(saved_error);
    close(reader);
    return 0;
}

static void storm(int times)
{
    static struct wire demand, reply;

    wire_vector(&demand, "m.req_markers");
    for (int i = 0; i < times; i++) {
        struct peer peer;

        peer_connect(&peer, victim.port_be);
        peer_send_frame(&peer, &demand);
        assert_true(peer_receive_startup(&peer, &reply));
        peer_abort(&peer);
    }
}

/* Lines in the pipe that have the word. */
static unsigned lines_with(const char *word)
{
    static char text[1 << 16];
    ssize_t octets = read(reader, text, sizeof(text) - 1);
    unsigned lines = 0;

    text[octets > 0 ? octets : 0] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        lines += strstr(line, word) != NULL;
    return lines;
}

static void test_a_storm_of_bad_requests_is_some_lines_of_log(void **state)
{
    unsigned lines;

    (void)state;
    if (getenv("NDSPI_LOG")) /* debug: nothing is left out */
        skip();
    storm(STORM);
    lines = lines_with("demands MPA markers");
    /* Ten in each five seconds; a slow machine takes longer. */
    assert_in_range(lines, 1, STORM / 3);
    /* Until some were left out at the very end: a line that is written has the count of those before. */
    do
        storm(20);
    while (lines_with("demands MPA markers"));
    assert_int_equal(poll(&(struct pollfd){ reader, POLLIN, 0 }, 1, 60000), 1);
    assert_int_equal(lines_with(" more lines like this were left out: "), 1);
    victim_unharmed(&victim);
}

static void test_a_log_that_nobody_reads_stops_no_connection(void **state)
{
    static const char many[4096];
    int flags = fcntl(STDERR_FILENO, F_GETFL);

    (void)state;
    fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
    for (size_t octets = sizeof(many); octets; octets /= 2)
        while (write(STDERR_FILENO, many, octets) > 0)
            ;
    assert_int_equal(errno, EAGAIN);
    fcntl(STDERR_FILENO, F_SETFL, flags);
    storm(STORM);
    victim_unharmed(&victim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_a_storm_of_bad_requests_is_some_lines_of_log, capture, release),
        cmocka_unit_test_setup_teardown(
            test_a_log_that_nobody_reads_stops_no_connection, capture, release),
    };

    return cmocka_run_group_tests_name("hostile peer, log", tests, scenes_open, scenes_close);
}
