/* SPDX-License-Identifier: MIT */
/*
 * wine.c - the group "wine": what calls cost a Windows program under Wine, against the same program natively
 * (wine_calls.c). Each round runs both; figures wait in a table until they are asked for.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#ifndef BENCH_WINE_COMMAND /* no MinGW or winebuild here */
#define BENCH_WINE_COMMAND NULL
#endif

enum { POST_SEND_EXTRA, GETRESULTS_EXTRA, POST, PORT_COMPLETION, PORT_COMPLETION_FULL, FIGURES };
enum { NO_WINE = 77 };

static const char calls_test[] = "calls";
static const char *const tests[] = { calls_test, NULL };

static struct bench_figure figures[FIGURES] = {
    { .key = "wine.post_send_extra_ns", .test = calls_test, .what = POST_SEND_EXTRA, .aim = 40 },
    { .key = "wine.getresults_extra_ns", .test = calls_test, .what = GETRESULTS_EXTRA, .aim = 40 },
    { .key = "wine.post_ns", .test = calls_test, .what = POST },
    { .key = "wine.port_completion_ns", .test = calls_test, .what = PORT_COMPLETION },
    { .key = "wine.port_completion_full_ns", .test = calls_test, .what = PORT_COMPLETION_FULL },
};

static const struct bench_ratio ratios[] = {
    { "wine.port_completion.vs_post", &figures[PORT_COMPLETION], &figures[POST], 2, false },
    { "wine.port_completion_full.vs_post", &figures[PORT_COMPLETION_FULL], &figures[POST], 4,
        false },
};

struct calls {
    double post_send, getresults, post, port_completion, port_completion_full;
};

/* Runs the program. Returns its exit status, -1 when it could not be run. */
static int run_calls(const char *command, struct calls *calls)
{
    FILE *output = popen(command, "r");
    char name[64];
    double value;
    int status;

    if (!output) {
        fprintf(stderr, "ndspi-bench: %s: %s\n", command, strerror(errno));
        return -1;
    }
    while (fscanf(output, "%63s %lf", name, &value) == 2) {
        double *to = strcmp(name, "post_send") == 0              ? &calls->post_send
                     : strcmp(name, "getresults") == 0           ? &calls->getresults
                     : strcmp(name, "post") == 0                 ? &calls->post
                     : strcmp(name, "port_completion") == 0      ? &calls->port_completion
                     : strcmp(name, "port_completion_full") == 0 ? &calls->port_completion_full
                                                                 : NULL;

        if (to)
            *to = value;
    }
    status = pclose(output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *wine_command = BENCH_WINE_COMMAND;
static double waiting[FIGURES];
static unsigned left; /* of one run of both */

static bool measure_all(const char **absent)
{
    struct calls native = { NAN, NAN, NAN, NAN, NAN }, wine = native;
    int status = run_calls(BENCH_WINE_NATIVE, &native);

    if (status != 0) {
        fprintf(stderr, "ndspi-bench: %s: status %d\n", BENCH_WINE_NATIVE, status);
        return false;
    }
    status = run_calls(wine_command, &wine);
    if (status == NO_WINE)
        *absent = "Wine is not installed";
    else if (status != 0)
        fprintf(stderr, "ndspi-bench: wine_calls.exe: status %d\n", status);
    waiting[POST_SEND_EXTRA] = wine.post_send - native.post_send;
    waiting[GETRESULTS_EXTRA] = wine.getresults - native.getresults;
    waiting[POST] = wine.post;
    waiting[PORT_COMPLETION] = wine.port_completion;
    waiting[PORT_COMPLETION_FULL] = wine.port_completion_full;
    return status == 0;
}

static bool wine_measure(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    (void)group;
    if (!wine_command) {
        *absent = "built without MinGW or winebuild";
        return false;
    }
    if (!(left & 1u << figure->what)) {
        if (!measure_all(absent))
            return false;
        left = (1u << FIGURES) - 1;
    }
    left &= ~(1u << figure->what);
    *value = waiting[figure->what];
    return !isnan(*value);
}

struct bench_group *bench_wine(void)
{
    static struct bench_group wine = {
        .name = "wine",
        .about = "calls of a Windows program under Wine, beyond the same natively and against "
                 "posted packets",
        .tests = tests,
        .figures = figures,
        .figure_count = FIGURES,
        .ratios = ratios,
        .ratio_count = sizeof ratios / sizeof ratios[0],
        .measure = wine_measure,
    };

    return &wine;
}
