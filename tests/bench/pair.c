/* SPDX-License-Identifier: MIT */
/* pair.c - the two processes of a measurement. */
#include "tests/bench/bench.h"

#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *bench_who = "ndspi-bench"; /* for messages: transport, test and side */

void bench_die(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s: ", bench_who);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    _exit(1);
}

void bench_tell(const struct bench_side *side, const void *data, size_t octets)
{
    if (send(side->control, data, octets, MSG_NOSIGNAL) != (ssize_t)octets)
        bench_die("the other side is gone: %s", strerror(errno));
}

void bench_hear(const struct bench_side *side, void *data, size_t octets)
{
    if (recv(side->control, data, octets, MSG_WAITALL) != (ssize_t)octets)
        bench_die("the other side is gone");
}

void *bench_alloc(size_t octets)
{
    void *memory = mmap(
        NULL, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        bench_die("no memory for %zu octets", octets);
    memset(memory, 0x5a, octets);
    return memory;
}

void bench_pin(bool client)
{
    unsigned place = client ? 0 : 1, found = 0;
    cpu_set_t allowed, one;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return;
    CPU_ZERO(&one);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && found++ == place)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static pid_t bench_fork(
    const struct bench_side *side, const char *transport, bench_play_fn *play, int result_fd)
{
    static char who[96];
    pid_t parent = getpid();
    pid_t pid = fork();
    uint64_t elapsed_ns;

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    alarm(BENCH_DEADLINE_MS / 1000); /* a side that hangs ends by itself */
    snprintf(who, sizeof who, "ndspi-bench %s %s %s", transport, side->test->name,
        side->client ? "client" : "server");
    bench_who = who;
    bench_pin(side->client);
    elapsed_ns = play(side);
    if (side->client && write(result_fd, &elapsed_ns, sizeof elapsed_ns) != sizeof elapsed_ns)
        _exit(1);
    _exit(0);
}

/* Reaps both within the deadline; a side that fails takes the other with it. Returns whether both
 * ended well. */
static bool bench_reap(pid_t pids[2], int result_fd, uint64_t *elapsed_ns)
{
    uint64_t deadline_ms = clock_now_ms() + BENCH_DEADLINE_MS;
    struct pollfd pollfd = { .fd = result_fd, .events = POLLIN };
    uint64_t now_ms = clock_now_ms();
    bool good = now_ms < deadline_ms && poll(&pollfd, 1, (int)(deadline_ms - now_ms)) == 1 &&
                read(result_fd, elapsed_ns, sizeof *elapsed_ns) == sizeof *elapsed_ns;
    int status;

    for (int i = 0; i < 2; i++) {
        if (!good)
            kill(pids[i], SIGKILL);
        if (waitpid(pids[i], &status, 0) != pids[i] || status != 0)
            good = false;
    }
    return good;
}

uint64_t bench_run_pair(const char *transport, const struct bench_test *test, bench_play_fn *play)
{
    struct bench_side sides[2] = { { .test = test, .client = false },
        { .test = test, .client = true } };
    int control[2], result[2];
    uint64_t elapsed_ns = 0;
    pid_t pids[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0 ||
        pipe2(result, O_CLOEXEC) != 0)
        bench_die("no descriptors: %s", strerror(errno));
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        sides[i].control = control[i];
        pids[i] = bench_fork(&sides[i], transport, play, result[1]);
        if (pids[i] < 0)
            bench_die("fork: %s", strerror(errno));
    }
    /* The children hold the ends they need; with these closed a dead client shows as end of file.
     */
    close(result[1]);
    close(control[0]);
    close(control[1]);
    if (!bench_reap(pids, result[0], &elapsed_ns))
        elapsed_ns = 0;
    close(result[0]);
    return elapsed_ns;
}
