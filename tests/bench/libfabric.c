/* SPDX-License-Identifier: MIT */
/* libfabric.c - fi_pingpong on libfabric's tcp provider: two processes, its own loop, its own clock. */
#include "tests/bench/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

enum { FABRIC_CONTROL_PORT = 47592, FABRIC_START_MS = 5000 };

static pid_t fabric_start(char *const argv[], int output, bool client)
{
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(126);
    bench_pin(client ? 0 : 1);
    execvp(argv[0], argv);
    _exit(127);
}

/* Reads all output of a client; false at the deadline. */
static bool fabric_output(int fd, char *text, size_t size)
{
    uint64_t deadline_ms = clock_now_ms() + BENCH_DEADLINE_MS;
    size_t used = 0;

    for (;;) {
        struct pollfd pollfd = { .fd = fd, .events = POLLIN };
        uint64_t now_ms = clock_now_ms();
        ssize_t got;

        if (now_ms >= deadline_ms || poll(&pollfd, 1, (int)(deadline_ms - now_ms)) != 1)
            return false;
        got = read(fd, text + used, size - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    text[used] = 0;
    return true;
}

/* The last line is: bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec. */
static bool fabric_parse(const char *text, double *mb_per_s, double *us_per_transfer)
{
    const char *line = strstr(text, "usec/xfer");

    if (line)
        line = strchr(line, '\n');
    return line && sscanf(line, "%*s %*s %*s %*s %*s %lf %lf", mb_per_s, us_per_transfer) == 2;
}

/*
 * One attempt of a client. The server prints nothing when it is ready, so the client is tried until
 * it gets through; fi_pingpong says "connection refused" and ends with an error when it comes too
 * early.
 */
static int fabric_client(char *const argv[], char *text, size_t size)
{
    int output[2], status = -1;
    pid_t pid;

    if (pipe2(output, O_CLOEXEC) != 0)
        return -1;
    pid = fabric_start(argv, output[1], true);
    close(output[1]);
    if (pid > 0) {
        if (!fabric_output(output[0], text, size))
            kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    close(output[0]);
    return status;
}

bool bench_libfabric(const struct bench_test *test, double *value, const char **why)
{
    char count[16], size[16], port[16], text[4096];
    char *server[] = { "fi_pingpong", "-p", "tcp", "-e", "msg", "-I", count, "-S", size, "-B", port,
        NULL };
    char *client[] = { "fi_pingpong", "-p", "tcp", "-e", "msg", "-I", count, "-S", size, "-P", port,
        "127.0.0.1", NULL };
    double mb_per_s, us_per_transfer;
    static unsigned runs;
    uint64_t give_up_ms;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), status = -1;
    pid_t pid;

    snprintf(count, sizeof count, "%u", test->count);
    snprintf(size, sizeof size, "%zu", test->octets);
    snprintf(port, sizeof port, "%u", FABRIC_CONTROL_PORT + runs++ % 4096);
    pid = fabric_start(server, null, false);
    close(null);
    *why = "fi_pingpong did not start";
    if (pid < 0)
        return false;
    give_up_ms = clock_now_ms() + FABRIC_START_MS;
    do {
        int ended;

        if (waitpid(pid, &ended, WNOHANG) == pid) {
            *why = WIFEXITED(ended) && WEXITSTATUS(ended) == 127
                       ? "fi_pingpong is not installed (package libfabric-bin)"
                       : "fi_pingpong's server ended early";
            return false;
        }
        status = fabric_client(client, text, sizeof text);
    } while (status != 0 && clock_now_ms() < give_up_ms);
    if (status != 0)
        kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    *why = "fi_pingpong failed";
    if (status != 0)
        return false;
    *why = "fi_pingpong's output is not understood";
    if (!fabric_parse(text, &mb_per_s, &us_per_transfer))
        return false;
    *why = NULL;
    *value = test->stream ? mb_per_s : us_per_transfer;
    return true;
}
