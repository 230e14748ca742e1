/* SPDX-License-Identifier: MIT */
/*
 * ndinfo --probe against ndinfo --serve and against everything else that may be there, on the embedded device.
 * Arguments: ndinfo, the same over a device with faults, ndpingpong (or nothing).
 */
#include "tests/ndinfo/said.h"

#include "util/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *ndinfo, *ndinfo_fake, *ndpingpong;
static struct program server, client;

static int set_up(void **state)
{
    (void)state;
    setenv("NDSPI_SOFT_SHM", "1", 1);
    setenv("NDSPI_DEVICE", "soft", 1);
    return 0;
}

/* Starts a server that takes this many probes. Where it listens: the end of its line. */
static void start_server(const char *address, const char *count, char *line, size_t size)
{
    const char *arguments[] = { ndinfo, "--serve", address, "-c", count, NULL };

    program_start(&server, arguments);
    program_line(&server, line, size);
    assert_says(line, "ndinfo: listening on ");
}

static const char *where_of(const char *line)
{
    return strrchr(line, ' ') + 1;
}

/* No more digits than a clock has: a number of at most nine characters behind each colon. */
static void assert_rounded(const char *said)
{
    for (const char *at = strstr(said, "_us\": "); at && (at = strchr(at, ':')); at++)
        assert_true(strspn(at + 2, "0123456789.") <= 9);
}

static void test_probe_times_connection_and_round_trips(void **state)
{
    static const char *const addresses[] = { "127.0.0.1:0", "[::1]:0" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char line[128];

        start_server(addresses[i], "2", line, sizeof(line));
        const char *where = where_of(line);
        const char *plain[] = { ndinfo, "--probe", where, NULL };
        const char *json[] = { ndinfo, "--probe", where, "-n", "7", "--json", NULL };

        program_run(&client, plain);
        assert_string_equal(client.complained, "");
        assert_int_equal(client.status, 0);
        assert_says(client.said, where);
        assert_says(client.said, " us, through shared memory\n");
        assert_says(client.said, "round trip of 8 bytes: ");

        program_run(&client, json);
        assert_int_equal(client.status, 0);
        json_t *all = program_json(&client), *rounds = json_object_get(all, "round_trip_us");
        double least = json_real_value(json_object_get(rounds, "least"));
        double median = json_real_value(json_object_get(rounds, "median"));
        assert_true(json_is_true(json_object_get(all, "reached")));
        assert_string_equal(json_string_value(json_object_get(all, "peer")), where);
        assert_true(json_real_value(json_object_get(all, "connect_us")) > 0);
        assert_string_equal(json_string_value(json_object_get(all, "path")), "shm");
        assert_int_equal(json_integer_value(json_object_get(rounds, "rounds")), 7);
        assert_true(least > 0 && median >= least);
        assert_true(json_real_value(json_object_get(rounds, "most")) >= median);
        assert_rounded(client.said);
        json_decref(all);

        program_end(&server);
        assert_int_equal(server.status, 0);
    }
}

/* SUPPORT_NAMES: the library that resolves the name; it cannot be preloaded under sanitizers. */
static void test_probe_tries_all_addresses_of_a_name(void **state)
{
    char line[128], where[64];

    (void)state;
    if (!getenv("SUPPORT_NAMES"))
        skip();
    start_server("127.0.0.1:0", "1", line, sizeof(line));
    snprintf(where, sizeof(where), "both.test:%s", strrchr(line, ':') + 1);
    const char *arguments[] = { ndinfo, "--probe", where, NULL };

    setenv("LD_PRELOAD", getenv("SUPPORT_NAMES"), 1);
    setenv("NAMES", "::1,127.0.0.1", 1);
    program_run(&client, arguments);
    unsetenv("LD_PRELOAD");
    assert_int_equal(client.status, 0);
    assert_says(client.said, "127.0.0.1:");
    assert_says(client.complained, "ndinfo: [::1]:");
    assert_says(client.complained, "ndinfo: Connect failed (ND_CONNECTION_REFUSED)");
    program_end(&server);
    assert_int_equal(server.status, 0);
}

static void test_probe_says_that_memory_is_not_shared(void **state)
{
    char line[128];

    (void)state;
    start_server("127.0.0.1:0", "2", line, sizeof(line));
    const char *where = where_of(line);
    const char *plain[] = { ndinfo, "--probe", where, NULL };
    const char *json[] = { ndinfo, "--probe", where, "--json", NULL };

    setenv("NDSPI_SOFT_SHM", "0", 1);
    program_run(&client, plain);
    assert_int_equal(client.status, 0);
    assert_says(client.said, " us, through TCP\n");
    program_run(&client, json);
    setenv("NDSPI_SOFT_SHM", "1", 1);
    assert_int_equal(client.status, 0);
    json_t *all = program_json(&client);
    assert_string_equal(json_string_value(json_object_get(all, "path")), "tcp");
    json_decref(all);
    program_end(&server);
    assert_int_equal(server.status, 0);
}

static void test_serve_without_an_address_listens_on_all(void **state)
{
    const char *const arguments[] = { ndinfo, "--serve", "-c", "1", NULL };
    char first[128], second[128], said[128], devices[128], where[2][32];
    const char *const probe_it[] = { ndinfo, "--probe", where[0], NULL };
    const unsigned process = (unsigned)getpid();

    (void)state;
    for (unsigned i = 0; i < 2; i++) /* of this run alone, as the port is always the same */
        snprintf(where[i], sizeof(where[i]), "127.%u.%u.%u",
            41 + (process >> 16) % 32 * 2 + (process >> 7 & 1), process >> 8 & 255,
            (process & 127) * 2 + i);
    snprintf(devices, sizeof(devices), "a=%s;b=%s", where[0], where[1]);
    setenv("NDSPI_SOFT_DEVICES", devices, 1);
    program_start(&server, arguments);
    program_line(&server, first, sizeof(first));
    program_line(&server, second, sizeof(second));
    snprintf(said, sizeof(said), "ndinfo: listening on %s:54324", where[0]);
    assert_string_equal(first, said);
    snprintf(said, sizeof(said), "ndinfo: listening on %s:54324", where[1]);
    assert_string_equal(second, said);
    unsetenv("NDSPI_SOFT_DEVICES");
    program_run(&client, probe_it);
    assert_string_equal(client.complained, "");
    assert_int_equal(client.status, 0);
    program_end(&server);
    assert_int_equal(server.status, 0);
}

/* Probes where nothing answers; the failure is the same for programs and for people. */
static void probe_fails(
    const char *program, const char *where, const char *step, const char *status, const char *says)
{
    const char *plain[] = { program, "-t", "2", "--probe", where, NULL };
    const char *json[] = { program, "-t", "2", "--probe", where, "--json", NULL };
    uint64_t start = clock_now_ms();
    json_t *all, *failure;

    program_run(&client, json);
    assert_int_equal(client.status, 1);
    assert_true(clock_now_ms() - start < 20000);
    all = program_json(&client);
    failure = json_object_get(all, "failure");
    assert_true(json_is_false(json_object_get(all, "reached")));
    assert_null(json_object_get(all, "round_trip_us"));
    assert_string_equal(json_string_value(json_object_get(failure, "step")), step);
    if (status)
        assert_string_equal(json_string_value(json_object_get(failure, "status")), status);
    assert_says(json_string_value(json_object_get(failure, "reason")), says);
    assert_true(*json_string_value(json_object_get(failure, "remedy")) != 0);

    program_run(&client, plain);
    assert_int_equal(client.status, 1);
    assert_string_equal(client.said, "");
    assert_says(client.complained, step);
    assert_says(client.complained, json_string_value(json_object_get(failure, "reason")));
    assert_says(client.complained, "remedy: ");
    json_decref(all);
}

/* ---- a listener that is no RDMA program ---- */

struct stranger {
    int fd;
    const char *answer; /* NULL: accepts no connection */
    pthread_t thread;
    char where[64];
};

/* Sends its answer to each connection, and hangs up. Ends with its listening socket. */
static void *answer_all(void *context)
{
    struct stranger *stranger = context;
    char request[256];
    int fd;

    while ((fd = accept(stranger->fd, NULL, NULL)) >= 0) {
        if (read(fd, request, sizeof(request)) > 0 && *stranger->answer)
            send(fd, stranger->answer, strlen(stranger->answer), MSG_NOSIGNAL);
        close(fd);
    }
    return NULL;
}

static void stranger_start(struct stranger *stranger, const char *answer)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);

    stranger->answer = answer;
    stranger->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(stranger->fd >= 0);
    assert_int_equal(bind(stranger->fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(stranger->fd, 8), 0);
    assert_int_equal(getsockname(stranger->fd, (struct sockaddr *)&address, &size), 0);
    snprintf(stranger->where, sizeof(stranger->where), "127.0.0.1:%u", ntohs(address.sin_port));
    if (answer)
        assert_int_equal(pthread_create(&stranger->thread, NULL, answer_all, stranger), 0);
}

static void stranger_stop(struct stranger *stranger)
{
    shutdown(stranger->fd, SHUT_RDWR);
    if (stranger->answer)
        pthread_join(stranger->thread, NULL);
    close(stranger->fd);
}

static void test_a_host_may_be_named(void **state)
{
    char line[128], where[64];

    (void)state;
    start_server("localhost:0", "1", line, sizeof(line));
    snprintf(where, sizeof(where), "localhost:%s", strrchr(line, ':') + 1);
    const char *const probe_it[] = { ndinfo, "--probe", where, NULL };
    program_run(&client, probe_it);
    assert_string_equal(client.complained, "");
    assert_int_equal(client.status, 0);
    program_end(&server);
    assert_int_equal(server.status, 0);
}

/* A valid address, though not the intended one. */
static void test_a_port_behind_a_bare_ipv6_address_gets_a_hint(void **state)
{
    const char *const probe_it[] = { ndinfo, "--probe", "::1:5000", "-t", "1", NULL };
    const char *const serve_it[] = { ndinfo, "--serve", "::1:5000", NULL };

    (void)state;
    program_run(&client, probe_it);
    assert_int_equal(client.status, 1);
    assert_says(client.complained, "hint: if 5000 is meant as the port, write [::1]:5000");
    program_run(&client, serve_it);
    assert_int_equal(client.status, 1);
    assert_says(client.complained, "hint: if 5000 is meant as the port, write [::1]:5000");
}

static void test_probe_of_nobody_is_refused(void **state)
{
    struct stranger stranger;

    (void)state;
    stranger_start(&stranger, NULL); /* for a port of its own */
    stranger_stop(&stranger);
    probe_fails(
        ndinfo, stranger.where, "Connect", "ND_CONNECTION_REFUSED", "no program listens there");
}

static void test_probe_of_a_silent_listener_ends_at_the_deadline(void **state)
{
    struct stranger stranger;

    (void)state;
    stranger_start(&stranger, NULL);
    probe_fails(ndinfo, stranger.where, "Connect", "ND_IO_TIMEOUT", "the peer does not answer");
    stranger_stop(&stranger);
}

static void test_probe_of_a_listener_that_speaks_something_else_fails(void **state)
{
    static const char *const answers[] = { "", "HTTP/1.1 400 Bad Request\r\n\r\n" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct stranger stranger;

        stranger_start(&stranger, answers[i]);
        probe_fails(
            ndinfo, stranger.where, "Connect", "ND_CONNECTION_REFUSED", "does not speak RDMA");
        stranger_stop(&stranger);
    }
}

static void test_probe_of_another_rdma_program_is_no_success(void **state)
{
    const char *const arguments[] = { "/bin/sh", "-c", "exec \"$0\" -s 127.0.0.1:0 2>&1",
        ndpingpong, NULL };
    char line[128];

    (void)state;
    if (!ndpingpong)
        skip();
    program_start(&server, arguments);
    program_line(&server, line, sizeof(line));
    const char *const probe_it[] = { ndinfo, "--probe", where_of(line), NULL };
    program_run(&client, probe_it);
    assert_int_equal(client.status, 1);
    assert_says(client.complained, "an RDMA program answers there, but not \"ndinfo --serve\"");
    program_end(&server); /* refused by the probe */
    assert_int_equal(server.status, 1);
}

static void test_probe_of_an_unreachable_address_says_so(void **state)
{
    (void)state;
    probe_fails(ndinfo, "224.0.0.1", "Connect", "ND_NETWORK_UNREACHABLE", "no route");
}

static void test_probe_without_an_adapter_tells_why_there_is_none(void **state)
{
    (void)state;
    setenv("NDSPI_DEVICE", "fake0", 1);
    setenv("SYSFS_PATH", "/nonexistent", 1);
    setenv("FAULT", "port_down", 1);
    probe_fails(ndinfo_fake, "127.0.0.1", "NdOpenAdapter", NULL,
        "the local address 127.0.0.1 has no adapter: its device fake0 is not used: its port is not "
        "active");
    setenv("FAULT", "no_address", 1);
    probe_fails(ndinfo_fake, "127.0.0.1", "NdOpenAdapter", NULL,
        "its network interface lo is no RDMA device");
    unsetenv("FAULT");
    unsetenv("SYSFS_PATH");
}

static void test_serve_needs_a_usable_address_and_a_free_port(void **state)
{
    const char *const foreign[] = { ndinfo, "--serve", "203.0.113.77", NULL };
    char line[128];

    (void)state;
    program_run(&client, foreign);
    assert_int_equal(client.status, 1);
    assert_says(client.complained, "this host does not have it");
    start_server("127.0.0.1:0", "1", line, sizeof(line));
    const char *const taken[] = { ndinfo, "--serve", where_of(line), NULL };
    program_run(&client, taken);
    assert_int_equal(client.status, 1);
    assert_says(client.complained, "another program listens there");
    program_kill(&server, SIGTERM);
}

static void test_serve_survives_strangers(void **state)
{
    char line[128];
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    start_server("127.0.0.1:0", "1", line, sizeof(line));
    address.sin_port = htons((uint16_t)atoi(strrchr(line, ':') + 1));
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(write(fd, "GET / HTTP/1.0\r\n\r\n                ", 34), 34);
    close(fd);
    const char *const probe_it[] = { ndinfo, "--probe", where_of(line), NULL };
    program_run(&client, probe_it);
    assert_int_equal(client.status, 0);
    program_end(&server);
    assert_int_equal(server.status, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_probe_times_connection_and_round_trips),
        TEST(test_probe_tries_all_addresses_of_a_name),
        TEST(test_probe_says_that_memory_is_not_shared),
        TEST(test_serve_without_an_address_listens_on_all),
        TEST(test_a_host_may_be_named),
        TEST(test_a_port_behind_a_bare_ipv6_address_gets_a_hint),
        TEST(test_probe_of_nobody_is_refused),
        TEST(test_probe_of_a_silent_listener_ends_at_the_deadline),
        TEST(test_probe_of_a_listener_that_speaks_something_else_fails),
        TEST(test_probe_of_another_rdma_program_is_no_success),
        TEST(test_probe_of_an_unreachable_address_says_so),
        TEST(test_probe_without_an_adapter_tells_why_there_is_none),
        TEST(test_serve_needs_a_usable_address_and_a_free_port),
        TEST(test_serve_survives_strangers),
    };

    if (argc < 3)
        return 1;
    ndinfo = argv[1];
    ndinfo_fake = argv[2];
    ndpingpong = argc > 3 && *argv[3] ? argv[3] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
