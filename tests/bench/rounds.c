/* SPDX-License-Identifier: MIT */
/* rounds.c - what is measured in a round, and in which order (bench.h). */
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * A Latin square in which neighbours differ from row to row (Williams): 0, n-1, 1, n-2, ... shifted by one each second
 * round, and reversed in the other.
 */
unsigned bench_order(unsigned count, unsigned round, unsigned i)
{
    unsigned place = round % 2 ? count - 1 - i : i;
    unsigned zigzag = place % 2 ? count - (place + 1) / 2 : place / 2;

    return (zigzag + round / 2) % count;
}

bool bench_wanted(const struct bench_group *group, const char *test, const char *only)
{
    if (!only || strcmp(only, group->name) == 0 || strcmp(only, test) == 0)
        return true;
    for (unsigned i = 0; i < group->ratio_count; i++)
        if (strcmp(group->ratios[i].to->test, test) == 0 &&
            strcmp(group->ratios[i].figure->test, only) == 0)
            return true;
    return false;
}

void bench_begin(struct bench_group *group)
{
    for (unsigned i = 0; i < group->figure_count; i++)
        for (unsigned round = 0; round < BENCH_ROUNDS; round++)
            group->figures[i].value[round] = NAN;
}

static bool measure(struct bench_group *group, struct bench_figure *figure, unsigned round)
{
    if (figure->ended || group->measure(group, figure, &figure->value[round], &figure->absent))
        return true;
    figure->value[round] = NAN;
    figure->ended = true;
    if (!figure->absent)
        fprintf(stderr, "\nndspi-bench: %s failed\n", figure->key);
    return figure->absent;
}

/* The n-th figure of a test; NULL: it has no more. */
static struct bench_figure *figure_of(struct bench_group *group, const char *test, unsigned n)
{
    for (unsigned i = 0; i < group->figure_count; i++)
        if (strcmp(group->figures[i].test, test) == 0 && n-- == 0)
            return &group->figures[i];
    return NULL;
}

bool bench_round(struct bench_group *group, unsigned round, const char *only)
{
    unsigned tests = 0;
    bool good = true;

    while (group->tests[tests])
        tests++;
    for (unsigned i = 0; i < tests; i++) {
        const char *test = group->tests[bench_order(tests, round, i)];
        unsigned count = 0;

        if (!bench_wanted(group, test, only))
            continue;
        fprintf(stderr, " %s", test);
        while (figure_of(group, test, count))
            count++;
        for (unsigned j = 0; j < count; j++)
            if (!measure(group, figure_of(group, test, bench_order(count, round, j)), round))
                good = false;
    }
    return good;
}
