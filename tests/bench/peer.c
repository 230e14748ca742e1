/* SPDX-License-Identifier: MIT */
/* peer.c - see peer.h. */
#include "tests/bench/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

enum { PEER_PORT = 47592, PEER_PORTS = 4096, PEER_START_MS = 5000, PEER_TRY_MS = 20 };

static pid_t peer_start(char *const argv[], int output, bool client)
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
static bool peer_output(int fd, char *text, size_t size)
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

/*
 * One attempt of a client. The servers print nothing when they are ready, so the client is tried until it gets through:
 * one that comes too early ends with an error.
 */
static int peer_client(char *const argv[], char *text, size_t size)
{
    int output[2], status = -1;
    pid_t pid;

    if (pipe2(output, O_CLOEXEC) != 0)
        return -1;
    pid = peer_start(argv, output[1], true);
    close(output[1]);
    if (pid > 0) {
        if (!peer_output(output[0], text, size))
            kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    close(output[0]);
    return status;
}

bool bench_peer_run(
    const struct bench_peer *peer, const struct bench_test *test, double *value, const char **why)
{
    char text[8192];
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), status = -1;
    pid_t pid = peer_start(peer->server, null, false);
    uint64_t give_up_ms;

    close(null);
    *why = "another's program did not start";
    if (pid < 0)
        return false;
    give_up_ms = clock_now_ms() + PEER_START_MS;
    do {
        int ended;

        if (waitpid(pid, &ended, WNOHANG) == pid) {
            *why = WIFEXITED(ended) && WEXITSTATUS(ended) == 127
                       ? peer->missing
                       : "the server of another's program ended early";
            return false;
        }
        status = peer_client(peer->client, text, sizeof text);
    } while (status != 0 && clock_now_ms() < give_up_ms && poll(NULL, 0, PEER_TRY_MS) == 0);
    if (status != 0)
        kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    *why = "another's program failed";
    if (status != 0)
        return false;
    *why = "what another's program printed is not understood";
    if (!peer->parse(text, test, value))
        return false;
    *why = NULL;
    return true;
}

unsigned bench_peer_port(void)
{
    static unsigned runs;

    return PEER_PORT + runs++ % PEER_PORTS;
}
