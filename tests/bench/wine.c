/* SPDX-License-Identifier: MIT */
/*
 * wine.c - the group "wine": what a Windows program pays under Wine, against the same program natively. Each round runs
 * both; figures wait in a table until they are asked for.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#ifndef BENCH_WINE_CALLS /* no MinGW or winebuild here */
#define BENCH_WINE_CALLS NULL
#define BENCH_WINE_POLL  NULL
#endif
#ifdef BENCH_WINE_WAIT
#define WINE_WAIT(how) "POLLING_WAIT=" how " " BENCH_WINE_WAIT
#else
#define WINE_WAIT(how) NULL
#endif

enum { NO_WINE = 77, OUTPUTS = 7 };

/* Prints lines of "name nanoseconds". */
struct program {
    const char *test;
    const char *native, *wine; /* commands; wine NULL: it was not built */
    const char *outputs[OUTPUTS];
};

static const struct program programs[] = {
    { .test = "calls",
        .native = BENCH_WINE_NATIVE_CALLS,
        .wine = BENCH_WINE_CALLS,
        .outputs = { "post_send", "getresults", "post", "port_completion", "port_completion_full",
            "event_thread", "port_thread" } },
    { .test = "poll_8B",
        .native = BENCH_WINE_NATIVE_POLL,
        .wine = BENCH_WINE_POLL,
        .outputs = { "poll_8B" } },
    { .test = "event_8B",
        .native = "POLLING_WAIT=event " BENCH_WINE_NATIVE_WAIT,
        .wine = WINE_WAIT("event"),
        .outputs = { "event_8B" } },
    { .test = "port_8B",
        .native = "POLLING_WAIT=port " BENCH_WINE_NATIVE_WAIT,
        .wine = WINE_WAIT("port"),
        .outputs = { "port_8B" } },
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static const char *const tests[] = { "calls", "poll_8B", "event_8B", "port_8B", NULL };

/* What a figure is made of: an output of its test's program, */
enum { EXTRA = 0x10, NATIVE = 0x20, OUTPUT = 0xf }; /* less, or instead, that of the native run */

enum {
    POST = 2,
    PORT_COMPLETION,
    PORT_COMPLETION_FULL,
    POLL,
    POLL_NATIVE,
    EVENT_THREAD,
    PORT_THREAD,
    EVENT,
    EVENT_NATIVE,
    PORT,
    PORT_NATIVE
};

static struct bench_figure figures[] = {
    { .key = "wine.post_send_extra_ns", .test = "calls", .what = 0 | EXTRA, .aim = 40 },
    { .key = "wine.getresults_extra_ns", .test = "calls", .what = 1 | EXTRA, .aim = 40 },
    [POST] = { .key = "wine.post_ns", .test = "calls", .what = 2 },
    [PORT_COMPLETION] = { .key = "wine.port_completion_ns", .test = "calls", .what = 3 },
    [PORT_COMPLETION_FULL] = { .key = "wine.port_completion_full_ns", .test = "calls", .what = 4 },
    [POLL] = { .key = "wine.poll_8B_ns", .test = "poll_8B", .what = 0 },
    [POLL_NATIVE] = { .key = "wine.poll_8B.native_ns", .test = "poll_8B", .what = 0 | NATIVE },
    [EVENT_THREAD] = { .key = "wine.event_thread_ns", .test = "calls", .what = 5 },
    [PORT_THREAD] = { .key = "wine.port_thread_ns", .test = "calls", .what = 6 },
    [EVENT] = { .key = "wine.event_8B_ns", .test = "event_8B", .what = 0 },
    [EVENT_NATIVE] = { .key = "wine.event_8B.native_ns", .test = "event_8B", .what = 0 | NATIVE },
    [PORT] = { .key = "wine.port_8B_ns", .test = "port_8B", .what = 0 },
    [PORT_NATIVE] = { .key = "wine.port_8B.native_ns", .test = "port_8B", .what = 0 | NATIVE },
};

static const struct bench_ratio ratios[] = {
    { "wine.port_completion.vs_post", &figures[PORT_COMPLETION], &figures[POST], 2, false },
    { "wine.port_completion_full.vs_post", &figures[PORT_COMPLETION_FULL], &figures[POST], 4,
        false },
    { "wine.event_8B.vs_event_thread", &figures[EVENT], &figures[EVENT_THREAD], 2, false },
    { "wine.port_8B.vs_port_thread", &figures[PORT], &figures[PORT_THREAD], 2, false },
    { "wine.poll_8B.vs_native", &figures[POLL], &figures[POLL_NATIVE], 1.15, false },
};

/* What a program printed in its last runs, and which figures have not been asked for since. */
static struct {
    double native[OUTPUTS], wine[OUTPUTS];
    unsigned left;
} runs[PROGRAMS];

/* Runs a command. Returns its exit status, -1 when it could not be run. */
static int run(const struct program *program, const char *command, double *values)
{
    FILE *output = popen(command, "r");
    char name[64];
    double value;
    int status;

    for (unsigned i = 0; i < OUTPUTS; i++)
        values[i] = NAN;
    if (!output) {
        fprintf(stderr, "ndspi-bench: %s: %s\n", command, strerror(errno));
        return -1;
    }
    while (fscanf(output, "%63s %lf", name, &value) == 2)
        for (unsigned i = 0; i < OUTPUTS; i++)
            if (program->outputs[i] && strcmp(name, program->outputs[i]) == 0)
                values[i] = value;
    status = pclose(output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool run_both(const struct program *program, unsigned index, const char **absent)
{
    int status = run(program, program->native, runs[index].native);

    if (status != 0) {
        fprintf(stderr, "ndspi-bench: %s: status %d\n", program->native, status);
        return false;
    }
    status = run(program, program->wine, runs[index].wine);
    if (status == NO_WINE)
        *absent = "Wine is not installed";
    else if (status != 0)
        fprintf(stderr, "ndspi-bench: %s: status %d\n", program->wine, status);
    return status == 0;
}

static unsigned program_of(const char *test)
{
    unsigned index = 0;

    while (strcmp(programs[index].test, test) != 0)
        index++;
    return index;
}

static bool wine_measure(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    unsigned index = program_of(figure->test), output = figure->what & OUTPUT;
    unsigned bit = 1u << (figure - group->figures);

    if (!programs[index].wine) {
        *absent = "built without MinGW or winebuild";
        return false;
    }
    if (!(runs[index].left & bit)) {
        if (!run_both(&programs[index], index, absent))
            return false;
        runs[index].left = ~0u;
    }
    runs[index].left &= ~bit;
    *value = figure->what & NATIVE ? runs[index].native[output] : runs[index].wine[output];
    if (figure->what & EXTRA)
        *value -= runs[index].native[output];
    return !isnan(*value);
}

struct bench_group *bench_wine(void)
{
    static struct bench_group wine = {
        .name = "wine",
        .about = "a Windows program under Wine, against the same natively and against posted "
                 "packets",
        .tests = tests,
        .figures = figures,
        .figure_count = sizeof figures / sizeof figures[0],
        .ratios = ratios,
        .ratio_count = sizeof ratios / sizeof ratios[0],
        .measure = wine_measure,
    };

    return &wine;
}
