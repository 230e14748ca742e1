/* SPDX-License-Identifier: MIT */
/* process.c - the processes of a measurement (process.h). */
#include "tests/bench/process.h"

#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *bench_who = "ndspi-bench"; /* for messages */

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

static cpu_set_t allowed;

void bench_pin_begin(void)
{
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed); /* then nothing is pinned */
}

void bench_pin(unsigned place)
{
    cpu_set_t one;

    if (CPU_COUNT(&allowed) < 2)
        return;
    CPU_ZERO(&one);
    for (unsigned cpu = 0, found = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && found++ == place)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static pid_t bench_fork(const struct bench_process *process, unsigned place, int result_fd)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    uint64_t elapsed_ns;

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    bench_who = process->who;
    bench_pin(place % 2);
    elapsed_ns = process->run(process->argument);
    if (place == 0 && write(result_fd, &elapsed_ns, sizeof elapsed_ns) != sizeof elapsed_ns)
        _exit(1);
    _exit(0);
}

/*
 * Waits until all have ended, or the deadline passed; one that fails takes the others with it. Returns whether all
 * ended well.
 */
static bool bench_reap(
    const struct bench_process *processes, const pid_t *pids, unsigned count, uint64_t limit_ms)
{
    uint64_t deadline_ms = clock_now_ms() + limit_ms;
    struct pollfd ends[BENCH_PROCESSES];
    unsigned left = count;
    bool good = true;

    for (unsigned i = 0; i < count; i++)
        ends[i] = (struct pollfd){ .fd = pidfd_open(pids[i], 0), .events = POLLIN };
    while (left > 0) {
        uint64_t now_ms = clock_now_ms();

        if (good && now_ms >= deadline_ms) {
            fprintf(stderr, "\n%s: took too long\n", processes[0].who);
            good = false;
        }
        for (unsigned i = 0; i < count && !good; i++)
            if (ends[i].fd >= 0)
                kill(pids[i], SIGKILL);
        if (poll(ends, count, good ? (int)(deadline_ms - now_ms) : -1) < 0 && errno != EINTR)
            bench_die("poll: %s", strerror(errno));
        for (unsigned i = 0; i < count; i++) {
            int status;

            if (ends[i].fd < 0 || waitpid(pids[i], &status, WNOHANG) != pids[i])
                continue;
            if (good && WIFSIGNALED(status)) /* otherwise it has said why, or we ended it */
                fprintf(stderr, "\n%s: %s\n", processes[i].who, strsignal(WTERMSIG(status)));
            good = good && status == 0;
            close(ends[i].fd);
            ends[i].fd = -1; /* poll skips it */
            left--;
        }
    }
    return good;
}

uint64_t bench_run_for(const struct bench_process *processes, unsigned count, uint64_t limit_ms)
{
    pid_t pids[BENCH_PROCESSES];
    uint64_t elapsed_ns;
    int result[2];

    if (pipe2(result, O_CLOEXEC) != 0)
        bench_die("no descriptors: %s", strerror(errno));
    fflush(NULL);
    for (unsigned i = 0; i < count; i++) {
        pids[i] = bench_fork(&processes[i], i, result[1]);
        if (pids[i] < 0)
            bench_die("fork: %s", strerror(errno));
    }
    close(result[1]);
    if (!bench_reap(processes, pids, count, limit_ms) ||
        read(result[0], &elapsed_ns, sizeof elapsed_ns) != sizeof elapsed_ns)
        elapsed_ns = 0;
    close(result[0]);
    return elapsed_ns;
}

uint64_t bench_run(const struct bench_process *processes, unsigned count)
{
    return bench_run_for(processes, count, BENCH_DEADLINE_MS);
}
