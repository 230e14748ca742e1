/* SPDX-License-Identifier: MIT */
/*
 * test_rush.c - connections made and broken by several threads as fast as they can: queue pair, connector, Connect, a
 * message each way, Disconnect, release. The threads of a side share its completion queue. The two sides are one
 * process, then two. Nothing fails but what is documented to, nothing stands still, and each message ends as it must.
 *
 *     test_robustness_rush [threads [milliseconds]]
 */
#include "tests/robustness/rush.h"

#include "tests/robustness/child.h"
#include "tests/support/long.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SHORT_MS = 1000 }; /* in which each thread has a connection */
#else
enum { SHORT_MS = 500 };
#endif
enum { LONG_MS = 1000 };

static unsigned threads = 4, each_ms;

/* ---- the server as a process of its own ---- */

static int play(const char *name, int control)
{
    const struct rush_ways ways = { .polls = name[0] == '1', .breaks_off = name[1] == '1' };
    struct rush *server;
    char stop;

    threads = (unsigned)atoi(name + 2);
    alarm(0); /* it ends with its parent */
    if (NdStartup() != ND_SUCCESS || !(server = rush_begin(threads, ways, 0)))
        return 1;
    child_tell(control, &(USHORT){ rush_port_be(server) }, sizeof(USHORT));
    if (recv(control, &stop, sizeof stop, 0) != sizeof stop)
        return 1;
    return rush_end(server, "server") ? 0 : 1;
}

/* ---- the tests ---- */

static void run_client(struct rush_ways ways, USHORT port_be)
{
    struct rush *client = rush_begin(threads, ways, port_be);

    assert_non_null(client);
    rush_wait(client, each_ms);
    assert_true(rush_end(client, "client"));
}

static void run_in_one_process(struct rush_ways ways)
{
    struct rush *server = rush_begin(threads, ways, 0);

    assert_non_null(server);
    run_client(ways, rush_port_be(server));
    assert_true(rush_end(server, "server"));
}

static void run_between_two_processes(struct rush_ways ways)
{
    struct child child;
    char name[16], stop = 1;
    USHORT port_be;

    snprintf(name, sizeof name, "%d%d%u", ways.polls, ways.breaks_off, threads);
    child_start(&child, name);
    child_hear(child.control, &port_be, sizeof port_be);
    run_client(ways, port_be);
    child_tell(child.control, &stop, sizeof stop);
    child_finish(&child);
}

/* The name says it all: where, how. */
#define TEST(where, how, ...)                                                                      \
    static void test_##where##_##how(void **state)                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        run_##where((struct rush_ways){ __VA_ARGS__ });                                            \
    }
TEST(in_one_process, waiting, 0)
TEST(in_one_process, polling, .polls = true)
TEST(in_one_process, breaking_off, .breaks_off = true)
TEST(in_one_process, polling_and_breaking_off, .polls = true, .breaks_off = true)
TEST(between_two_processes, waiting, 0)
TEST(between_two_processes, polling, .polls = true)
TEST(between_two_processes, breaking_off, .breaks_off = true)
TEST(between_two_processes, polling_and_breaking_off, .polls = true, .breaks_off = true)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_one_process_waiting),
        cmocka_unit_test(test_in_one_process_polling),
        cmocka_unit_test(test_in_one_process_breaking_off),
        cmocka_unit_test(test_in_one_process_polling_and_breaking_off),
        cmocka_unit_test(test_between_two_processes_waiting),
        cmocka_unit_test(test_between_two_processes_polling),
        cmocka_unit_test(test_between_two_processes_breaking_off),
        cmocka_unit_test(test_between_two_processes_polling_and_breaking_off),
    };

    child_main(argc, argv, play);
    each_ms = test_is_long() ? LONG_MS : SHORT_MS;
    if (argc > 1)
        threads = (unsigned)atoi(argv[1]);
    if (argc > 2)
        each_ms = (unsigned)atoi(argv[2]);
    if (!threads || threads > RUSH_THREADS_MAX || !each_ms) {
        fprintf(stderr, "usage: %s [threads, 1 to %d [milliseconds]]\n", argv[0], RUSH_THREADS_MAX);
        return 2;
    }
    return cmocka_run_group_tests_name("rush", tests, child_group_open, child_group_close);
}
