/* SPDX-License-Identifier: MIT */
/*
 * simulate.c - runs schedules, each from a seed of its own, until one fails. usage: simulate -h
 */
#include "simulation.h"

#include "tests/support/long.h"

#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct simulation sim;

int __real_clock_gettime(clockid_t id, struct timespec *now);

void say_(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

static _Noreturn void give_up(void)
{
    fflush(stdout);
    fprintf(stderr, "again: simulate -s %llu -n 1 -v\n", (unsigned long long)sim.seed);
    _exit(1);
}

_Noreturn void fail(const char *format, ...)
{
    va_list list;

    fprintf(stderr, "seed %llu: ", (unsigned long long)sim.seed);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    give_up();
}

/* Whatever ends the process, the seed is told. */
static void on_signal(int number)
{
    fprintf(stderr, "seed %llu: %s\n", (unsigned long long)sim.seed, strsignal(number));
    give_up();
}

static double seconds(void)
{
    struct timespec now;

    __real_clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void make_world(void)
{
    static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM };
    uint8_t *octets = aligned_alloc(4096, PATTERN_OCTETS);

    /* What a connection takes and gives back stays in the process. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        signal(signals[i], on_signal);
    sim.running = true;
    sim.now_ns = 1000000000000u;
    sim.random.state = sim.noise.state = 1;
    for (uint32_t i = 0; i < PATTERN_OCTETS; i++)
        octets[i] = (uint8_t)(random_next(&sim.random) >> 13);
    pattern = octets;
    for (int i = 0; i < HOSTS; i++)
        host_make(i);
    threads_make(sim.threads);
}

static void usage(FILE *to)
{
    fputs(
        "usage: simulate [-v] [-s SEED] [-n SCHEDULES] [--for SECONDS] [--long SECONDS]\n"
        "Two ends of a connection and all between them in one thread; each schedule follows from "
        "its seed.\n"
        "  -s SEED        the first seed; each schedule has the next one (default: 1)\n"
        "  -n SCHEDULES   so many (default: 10000; with --for: no limit)\n"
        "  --for SECONDS  no schedule begins after that\n"
        "  --long SECONDS the same in place of it if NDSPI_TEST_LONG=1\n"
        "  -v             print each step\n"
        "Status: 0 nothing was wrong; 1 a schedule failed, whose seed is printed; 2 a wrong call\n",
        to);
}

static bool number_of(const char *text, uint64_t *number)
{
    char *end;

    if (!text || !*text)
        return false;
    *number = strtoull(text, &end, 0);
    return !*end;
}

/* What schedules do wrong is no news; the log has read its setting before main. */
static void be_silent(char **argv)
{
    if (getenv("NDSPI_LOG"))
        return;
    setenv("NDSPI_LOG", "none", 0);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    uint64_t first = 1, count = 0, limit_s = 0, long_s = 0, done = 0;
    double begun = seconds(), taken;

    be_silent(argv);
    for (int i = 1; i < argc; i++) {
        bool good = true;

        if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
            usage(stdout);
            return 0;
        }
        if (!strcmp(argv[i], "-v"))
            sim.verbose = true;
        else if (!strcmp(argv[i], "-s"))
            good = number_of(argv[++i], &first);
        else if (!strcmp(argv[i], "-n"))
            good = number_of(argv[++i], &count);
        else if (!strcmp(argv[i], "--for"))
            good = number_of(argv[++i], &limit_s);
        else if (!strcmp(argv[i], "--long"))
            good = number_of(argv[++i], &long_s);
        else
            good = false;
        if (!good) {
            usage(stderr);
            return 2;
        }
    }
    if (long_s && test_is_long())
        limit_s = long_s;
    if (!count)
        count = limit_s ? UINT64_MAX : 10000;
    make_world();
    for (; done < count && !(limit_s && seconds() - begun >= (double)limit_s); done++) {
        if (!(done % 256))
            alarm(120); /* a call that never returns */
        sim.seed = first + done;
        sim.random.state = sim.seed * 0xd1342543de82ef95u;
        sim.noise.state = ~sim.random.state;
        say("seed %llu", (unsigned long long)sim.seed);
        schedule_run();
    }
    taken = seconds() - begun;
    printf("%llu schedules from seed %llu: %.1f s; %llu requests, %llu Receives, %llu FPDUs, "
           "%llu steps, %llu changes of threads; %llu schedules with shared memory, %llu bells, "
           "%llu kills\n",
        (unsigned long long)done, (unsigned long long)first, taken,
        (unsigned long long)sim.requests, (unsigned long long)sim.receives,
        (unsigned long long)sim.fpdus, (unsigned long long)sim.steps,
        (unsigned long long)sim.switches, (unsigned long long)sim.shared,
        (unsigned long long)sim.bells, (unsigned long long)sim.kills);
    return 0;
}
