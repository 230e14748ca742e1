/* SPDX-License-Identifier: MIT */
/*
 * connections.c - N connections between two processes, each polled by one completion queue (connections.h).
 *
 * A round measures every N in processes of its own, which make the connections, send on each, leave them idle, and
 * look at their memory; send on one of them, then on all; end them all; make them again, and lose the peer. Ratios to
 * one connection alone are of turns with a pair of processes that has no more (connections_sides.h).
 */
#include "tests/bench/connections.h"

#include "tests/bench/connections_sides.h"
#include "tests/bench/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COUNTS = 5, ROUNDS_MAX = 3, SPARE_FILES = 64, DEADLINE_MS = 120000 };
static const unsigned counts[COUNTS] = { 1, 10, 100, 1000, 10000 };

static const struct figure {
    const char *name;
    double aim; /* 0: none */
    bool at_least;
} figures[FIGURES] = {
    [KIB_EACH] = { "kib_each", 16, false },
    [KIB_EACH_PEER] = { "kib_each_peer", 16, false },
    [SETUPS_PER_S] = { "setups_per_s", 3000, true },
    [ENDS_PER_S] = { "ends_per_s", 3000, true },
    [POLL_US] = { "poll_8B.us", 0, false },
    [EVENT_US] = { "event_8B.us", 0, false },
    [BUSY_PER_S] = { "busy_per_s", 0, false },
    [THREADS] = { "threads", 0, false },
    [LOST_MS] = { "lost_ms", 2000, false },
};

/* --- the report --------------------------------------------------------------------------------------------------- */

static void pair_of_sockets(int pair[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        bench_die("socketpair: %s", strerror(errno));
}

static void close_pair(const int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

static bool measure(unsigned count, struct outcome *outcome)
{
    static struct outcome unused;
    struct scene scene = { .count = count, .turns = { -1, -1 }, .outcome = outcome };
    struct scene beside = { .count = 1, .outcome = &unused };
    struct bench_process processes[] = { { active_process, &scene, "connections: active" },
        { passive_process, &scene, "connections: passive" },
        { active_process_beside, &beside, "connections: active, alone" },
        { passive_process, &beside, "connections: passive, alone" } };
    unsigned in_all = count == 1 ? 2 : 4;
    bool good;

    pair_of_sockets(scene.control);
    pair_of_sockets(beside.control);
    if (count > 1)
        pair_of_sockets(scene.turns);
    memcpy(beside.turns, scene.turns, sizeof beside.turns);
    good = bench_run_for(processes, in_all, DEADLINE_MS) != 0;
    close_pair(scene.control);
    close_pair(beside.control);
    if (count > 1)
        close_pair(scene.turns);
    return good;
}

/* Whether each process may open so many sockets. */
static bool files_suffice(unsigned count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return false;
    limit.rlim_cur = limit.rlim_max;
    return !setrlimit(RLIMIT_NOFILE, &limit) &&
           (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= count + SPARE_FILES);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const struct outcome *outcomes, enum what what, unsigned rounds)
{
    double values[ROUNDS_MAX];

    for (unsigned i = 0; i < rounds; i++)
        values[i] = outcomes[i].value[what];
    qsort(values, rounds, sizeof values[0], compare);
    return (values[(rounds - 1) / 2] + values[rounds / 2]) / 2;
}

static void put(struct bench_report *report, unsigned count, const char *name, double value,
    double aim, bool at_least)
{
    char key[BENCH_KEY];

    snprintf(key, sizeof key, "soft.connections_%u.%s", count, name);
    bench_put(report, key, value);
    bench_say(report, "%-38s %9.*f", key, value < 1000 ? 3 : 0, value);
    bench_judge(report, key, value, aim, at_least);
}

/* What one connection costs its process is mostly what the first one does; what is made in a blink has no rate. */
static double aim_of(unsigned count, enum what what)
{
    return count >= 1000 ? figures[what].aim : 0;
}

static void tell_count(struct bench_report *report, FILE *data, unsigned count,
    const struct outcome *outcomes, unsigned rounds)
{
    fprintf(data, "%u", count);
    for (enum what what = 0; what < FIGURES; what++) {
        double value = median(outcomes, what, rounds);

        fprintf(data, " %.3f", value);
        put(report, count, figures[what].name, value, aim_of(count, what), figures[what].at_least);
    }
    fputc('\n', data);
    if (count == 1)
        return;
    put(report, count, "poll_8B.vs_alone", median(outcomes, POLL_VS_ALONE, rounds), 1.2, false);
    put(report, count, "event_8B.vs_alone", median(outcomes, EVENT_VS_ALONE, rounds), 1.2, false);
}

/* connections.svg, by gnuplot, from connections.dat. */
static void plot(struct bench_report *report)
{
    char command[4096];

    snprintf(command, sizeof command, "cd '%s' && gnuplot '%s'", report->directory, BENCH_PLOT);
    if (system(command) != 0)
        bench_say(report, "connections.svg was not drawn: gnuplot is missing or failed\n");
}

static bool wanted(unsigned count, const char *only)
{
    char name[BENCH_KEY];

    snprintf(name, sizeof name, "%s_%u", BENCH_CONNECTIONS, count);
    return !only || strcmp(only, BENCH_CONNECTIONS) == 0 || strcmp(only, name) == 0;
}

bool bench_is_connections(const char *name)
{
    bool is = false;

    for (unsigned i = 0; i < COUNTS; i++)
        is = is || wanted(counts[i], name);
    return is;
}

bool bench_connections(struct bench_report *report, const char *only)
{
    unsigned rounds = report->rounds < ROUNDS_MAX ? report->rounds : ROUNDS_MAX;
    struct outcome(*outcomes)[ROUNDS_MAX] = mmap(NULL, sizeof(struct outcome[COUNTS][ROUNDS_MAX]),
        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = true;
    char path[4096];
    FILE *data;

    snprintf(path, sizeof path, "%s/connections.dat", report->directory);
    data = fopen(path, "w");
    if (outcomes == MAP_FAILED || !data)
        bench_die("%s: %s", path, strerror(errno));
    for (unsigned round = 0; round < rounds; round++) {
        fprintf(stderr, "connections, round %u of %u:", round + 1, rounds);
        for (unsigned i = 0; i < COUNTS && files_suffice(counts[i]); i++) {
            if (!wanted(counts[i], only))
                continue;
            fprintf(stderr, " %u", counts[i]);
            good = good && measure(counts[i], &outcomes[i][round]);
        }
        fputc('\n', stderr);
    }
    bench_say(report, "%u rounds of connections\n", rounds);
    for (unsigned i = 0; i < COUNTS && good; i++) {
        if (!wanted(counts[i], only))
            continue;
        if (files_suffice(counts[i]))
            tell_count(report, data, counts[i], outcomes[i], rounds);
        else
            bench_say(report,
                "%u connections were not measured: the limit of open files is too "
                "low (ulimit -Hn)\n",
                counts[i]);
    }
    fclose(data);
    if (good)
        plot(report);
    return good;
}
