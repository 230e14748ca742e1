/* SPDX-License-Identifier: MIT */
/* ndstat --listen: what scrapes it, and what does something else there. */
#include "tests/ndstat/stage.h"

#include "tests/ndstat/exposition.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef NDSTAT_HTTP

static int connected(unsigned port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static void ask(unsigned port, const char *request, char *answer, size_t room)
{
    const struct timeval patient = { .tv_sec = 5 };
    int fd = connected(port);
    size_t at = 0;
    ssize_t octets;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patient, sizeof(patient)), 0);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    while ((octets = recv(fd, answer + at, room - 1 - at, 0)) > 0)
        at += (size_t)octets;
    answer[at] = 0;
    close(fd);
}

#define CLOSE " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static void test_ndstat_is_scraped(void **state)
{
    static char answer[1 << 20];
    const char *const argv[] = { stage.ndstat, "-w", stage.patience, "--listen", "127.0.0.1:0",
        NULL };
    struct program process, server;
    char line[128], wrong[256];
    const char *body;
    unsigned port;

    (void)state;
    stage_start(&process);
    program_start(&server, argv);
    program_line(&server, line, sizeof(line));
    assert_int_equal(sscanf(line, "http://127.0.0.1:%u/metrics", &port), 1);
    for (int i = 0; i < 2; i++) {
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
        assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
        assert_says(answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
        assert_non_null(body = strstr(answer, "\r\n\r\n"));
        if (!exposition_is_valid(body + 4, wrong))
            fail_msg("%s", wrong);
        assert_says(body, "version=\"2\"} 12288\n");
    }
    ask(port, "GET /" CLOSE, answer, sizeof(answer));
    assert_int_equal(strncmp(answer, "HTTP/1.1 404 ", 13), 0);
    ask(port, "DELETE /metrics" CLOSE, answer, sizeof(answer));
    assert_int_equal(strncmp(answer, "HTTP/1.1 405 ", 13), 0);
    ask(port, "\x01\x02\r\n\r\n", answer, sizeof(answer));
    ask(port, "GET /metrics" CLOSE, answer, sizeof(answer)); /* that harmed nothing */
    assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
    program_end(&process);
}

static unsigned listen_on_any(struct program *server)
{
    const char *const argv[] = { stage.ndstat, "-w", stage.patience, "--listen", "127.0.0.1:0",
        NULL };
    char line[128];
    unsigned port;

    program_start(server, argv);
    program_line(server, line, sizeof(line));
    assert_int_equal(sscanf(line, "http://127.0.0.1:%u/metrics", &port), 1);
    return port;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void test_ndstat_asks_processes_once_a_second(void **state)
{
    enum { SCRAPES = 30 };
    static const char first[] = HEAD ADAPTER "sends 41\nend\n";
    static const char then[] = HEAD ADAPTER "sends 42\nend\n";
    static char answer[1 << 20];
    int fifo = stage_fake(first, sizeof(first) - 1);
    struct program server;
    unsigned port = listen_on_any(&server);
    uint64_t begin_ms = now_ms(), took_ms;
    char asked[2 * SCRAPES];
    ssize_t octets;

    (void)state;
    for (int i = 0; i < SCRAPES; i++) {
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
        assert_says(answer, "version=\"2\"} 41\n");
    }
    took_ms = now_ms() - begin_ms;
    octets = read(fifo, asked, sizeof(asked));
    assert_true(octets >= 1);
    assert_true((uint64_t)octets <= 1 + took_ms / 1000);
    close(fifo);
    fifo = stage_fake(then, sizeof(then) - 1);
    do
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
    while (!strstr(answer, "version=\"2\"} 42\n")); /* the figures are not kept for ever */
    close(fifo);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
}

static void test_clients_that_do_nothing_keep_out_nobody(void **state)
{
    enum { IDLE = 100, KEPT = 15 };
    static char answer[1 << 20];
    struct program process, server;
    int idle[IDLE];
    unsigned port;
    char octet;

    (void)state;
    stage_start(&process);
    port = listen_on_any(&server);
    for (int i = 0; i < IDLE; i++) {
        idle[i] = connected(port);
        if (i % 2)
            assert_int_equal(send(idle[i], "GET /metr", 9, MSG_NOSIGNAL), 9);
    }
    for (int i = 0; i < 3; i++) {
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
        assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
    }
    for (int i = 0; i < IDLE - KEPT; i++) /* cut off, long before their time was up */
        assert_true(recv(idle[i], &octet, 1, 0) <= 0);
    assert_int_equal(recv(idle[IDLE - 1], &octet, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    for (int i = 0; i < IDLE; i++)
        close(idle[i]);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
    program_end(&process);
}

/* There are fewer descriptors than the clients that it would keep: the oldest makes room all the same. */
static void test_clients_that_do_nothing_leave_descriptors(void **state)
{
    enum { IDLE = 300 };
    static char answer[1 << 20];
    struct program process, server;
    struct rlimit before, few;
    int idle[IDLE];
    unsigned port;

    (void)state;
    stage_start(&process);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){ .rlim_cur = 24, .rlim_max = before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    port = listen_on_any(&server);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i < IDLE; i++)
        idle[i] = connected(port);
    for (int i = 0; i < 3; i++) {
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
        assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
    }
    for (int i = 0; i < IDLE; i++)
        close(idle[i]);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
    program_end(&process);
}

#ifdef HASTE_PROCESS
enum { HASTE = 5 };

static void begin_haste(void)
{
    setenv("LD_PRELOAD", HASTE_PROCESS, 1);
    setenv("HASTE", "5", 1);
}
#else
enum { HASTE = 1 };

static void begin_haste(void)
{
}
#endif

static void end_haste(void)
{
    unsetenv("LD_PRELOAD");
    unsetenv("HASTE");
}

static unsigned listen_in_haste(struct program *server)
{
    unsigned port;

    begin_haste();
    port = listen_on_any(server);
    end_haste();
    return port;
}

/* What it sends does not move its deadline, which is by the clock of ndstat. */
static void test_a_client_that_dribbles_is_cut_off(void **state)
{
    struct program server;
    unsigned port = listen_in_haste(&server);
    uint64_t begin_ms = now_ms(), took_ms;
    struct pollfd wait = { .fd = connected(port), .events = POLLIN };

    (void)state;
    assert_int_equal(send(wait.fd, "GET /metrics HTTP/1.1\r\nA: ", 26, MSG_NOSIGNAL), 26);
    while (poll(&wait, 1, 200) == 0 && now_ms() - begin_ms < 60000)
        (void)send(wait.fd, "a", 1, MSG_NOSIGNAL);
    took_ms = now_ms() - begin_ms;
    assert_true(wait.revents);
    assert_true(took_ms * HASTE >= 9900 && took_ms < 60000);
    close(wait.fd);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
}

static void test_ndstat_says_where_it_cannot_listen(void **state)
{
    static const char *const bad[] = { "127.0.0.1", ":80", "::1:80", "host:80", "127.0.0.1:x",
        "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:+0" };
    struct program program, server;
    char taken[32];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        stage_run(&program, "-l", bad[i], NULL, NULL);
        assert_int_equal(program.status, 2);
        assert_says(program.complained, "ADDRESS:PORT is wanted");
    }
    stage_run(&program, "-l", "192.0.2.1:80", NULL, NULL); /* no address of this host */
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "ndstat: --listen 192.0.2.1:80: Cannot assign requested");
    snprintf(taken, sizeof(taken), "127.0.0.1:%u", listen_on_any(&server));
    stage_run(&program, "-l", taken, NULL, NULL);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, ": Address already in use\n");
    program_kill(&server, SIGINT);
    assert_int_equal(server.status, 0);
}

#else

static void test_ndstat_says_that_it_cannot_listen(void **state)
{
    struct program program;

    (void)state;
    stage_run(&program, "-l", "127.0.0.1:0", NULL, NULL);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "built without libmicrohttpd");
}

#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#ifdef NDSTAT_HTTP
        STAGE_ROW(test_ndstat_is_scraped),
        STAGE_ROW(test_ndstat_asks_processes_once_a_second),
        STAGE_ROW(test_clients_that_do_nothing_keep_out_nobody),
        STAGE_ROW(test_clients_that_do_nothing_leave_descriptors),
        STAGE_ROW(test_a_client_that_dribbles_is_cut_off),
        STAGE_ROW(test_ndstat_says_where_it_cannot_listen),
#else
        STAGE_ROW(test_ndstat_says_that_it_cannot_listen),
#endif
    };

    if (!stage_arguments(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
