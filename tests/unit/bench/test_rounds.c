/* SPDX-License-Identifier: MIT */
/* test_rounds.c - how the benchmark orders its rounds, and what it makes of their values. */
#include "tests/bench/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT_MAX = 7 };

static void check_order(unsigned count)
{
    unsigned follows[COUNT_MAX][COUNT_MAX] = { { 0 } }, first[COUNT_MAX] = { 0 };
    unsigned pairs = BENCH_ROUNDS * (count - 1), least = pairs / (count * (count - 1));

    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        unsigned seen = 0;

        first[bench_order(count, round, 0)]++;
        for (unsigned i = 0; i < count; i++) {
            unsigned now = bench_order(count, round, i);

            assert_in_range(now, 0, count - 1);
            seen |= 1u << now;
            if (i > 0)
                follows[bench_order(count, round, i - 1)][now]++;
        }
        assert_int_equal(seen, (1u << count) - 1);
    }
    for (unsigned i = 0; i < count; i++) {
        assert_in_range(first[i], BENCH_ROUNDS / count, BENCH_ROUNDS / count + 1);
        for (unsigned j = 0; j < count; j++)
            if (i != j)
                assert_in_range(follows[i][j], least, least + 1);
    }
}

static void test_each_follows_each_other_equally_often(void **state)
{
    (void)state;
    for (unsigned count = 2; count <= COUNT_MAX; count++)
        check_order(count);
    assert_int_equal(bench_order(1, 3, 0), 0);
}

/* A group with invented figures: a rises from round to round, b is a third of it but for an outlier. */

enum { A, B, LONELY, MISSING, BROKEN, FIGURES };

static const char *const names[] = { "pair", "lonely", NULL };
static struct bench_figure figures[FIGURES];
static const struct bench_ratio ratios[] = {
    { "a.vs_b", &figures[A], &figures[B], .aim = 3.5 },
    { "a.vs_missing", &figures[A], &figures[MISSING], .aim = 1 },
};
static unsigned calls[FIGURES];

static bool made_up(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    unsigned round = calls[figure->what]++;

    (void)group;

    switch (figure->what) {
    case A: *value = 3 * (round + 1); return true;
    case B: *value = round == 5 ? 1000 : round + 1; return true;
    case LONELY: *value = 7; return true;
    case MISSING: *absent = "not installed"; return false;
    default: return false;
    }
}

static struct bench_group group = { .name = "made-up",
    .about = "",
    .tests = names,
    .figures = figures,
    .figure_count = FIGURES,
    .ratios = ratios,
    .ratio_count = 2,
    .measure = made_up };

static void measure(unsigned figure_count, const char *only, bool good)
{
    static const char *const keys[] = { "a", "b", "lonely", "missing", "broken" };

    memset(calls, 0, sizeof calls);
    group.figure_count = figure_count;
    for (unsigned i = 0; i < FIGURES; i++) {
        figures[i] = (struct bench_figure){ .test = i == LONELY ? "lonely" : "pair", .what = i };
        strcpy(figures[i].key, keys[i]);
    }
    bench_begin(&group);
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        bool measured = bench_round(&group, round, only);

        if (round == 0)
            assert_int_equal(measured, good);
    }
}

static void test_one_test_alone_is_measured(void **state)
{
    (void)state;
    measure(BROKEN, "lonely", true);
    assert_int_equal(calls[LONELY], BENCH_ROUNDS);
    assert_int_equal(calls[A], 0);
    assert_true(isnan(figures[A].value[0]));
}

static void test_what_fails_is_not_tried_again_and_fails_the_round(void **state)
{
    (void)state;
    measure(FIGURES, "made-up", false);
    assert_int_equal(calls[BROKEN], 1);
    assert_int_equal(calls[A], BENCH_ROUNDS);
}

static void test_what_is_absent_fails_nothing(void **state)
{
    (void)state;
    measure(BROKEN, NULL, true);
    assert_int_equal(calls[MISSING], 1);
    assert_string_equal(figures[MISSING].absent, "not installed");
}

/* Both files, as strings. */
static char *read_file(const char *directory, const char *name)
{
    static char text[2][4096];
    static unsigned which;
    char path[128], *to = text[which++ % 2];
    FILE *file;
    size_t got;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "r");
    assert_non_null(file);
    got = fread(to, 1, sizeof text[0] - 1, file);
    to[got] = 0;
    fclose(file);
    unlink(path);
    return to;
}

static void test_a_ratio_is_the_median_of_the_ratios_within_the_rounds(void **state)
{
    char directory[] = "/tmp/bench.XXXXXX", *json, *table;
    struct bench_report report = { .directory = directory, .rounds = BENCH_ROUNDS };

    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_true(bench_report_open(&report));
    measure(BROKEN, NULL, true);
    bench_report_group(&report, &group);
    assert_true(bench_report_close(&report));
    json = read_file(directory, "results.json");
    table = read_file(directory, "results.txt");
    rmdir(directory);
    /* values 3, 6, ... 93; of b 17 is the median as 6 has become 1000; 48 / 17 is not 3 */
    assert_string_equal(json, "{\n  \"a\": 48.0000,\n  \"b\": 17.0000,\n  \"lonely\": 7.0000,\n"
                              "  \"a.vs_b\": 3.0000,\n  \"a.vs_b.aim\": 3.5000,\n"
                              "  \"a.vs_b.met\": 1,\n  \"rounds\": 31\n}\n");
    assert_non_null(
        strstr(table, "missing                                not measured: not installed\n"));
    assert_null(strstr(table, "MISSED"));
}

static void judge(double value, bool at_least, const char *line, const char *met)
{
    char directory[] = "/tmp/bench.XXXXXX", wanted[128];
    struct bench_report report = {
        .directory = directory, .device = "dev", .rounds = 2, .quiet = true
    };

    assert_non_null(mkdtemp(directory));
    assert_true(bench_report_open(&report));
    bench_judge(&report, "key", value, 0.95, at_least);
    assert_true(bench_report_close(&report));
    snprintf(wanted, sizeof wanted,
        "{\n  \"key.aim\": 0.9500,\n  \"key.met\": %s,\n  \"dev.rounds\": 2\n}\n", met);
    assert_string_equal(read_file(directory, "results.json"), wanted);
    assert_string_equal(read_file(directory, "results.txt"), line);
    rmdir(directory);
}

static void test_an_aim_is_met_up_to_the_aim_itself(void **state)
{
    (void)state;
    judge(0.95, true, "   >=   0.95   met\n", "1");
    judge(0.95, false, "   <=   0.95   met\n", "1");
    judge(0.94, true, "   >=   0.95   MISSED\n", "0");
    judge(0.96, false, "   <=   0.95   MISSED\n", "0");
}

static void test_results_that_cannot_be_written_are_an_error(void **state)
{
    struct bench_report report = { .directory = "/nonexistent", .rounds = 1 };

    (void)state;
    assert_false(bench_report_open(&report));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_follows_each_other_equally_often),
        cmocka_unit_test(test_one_test_alone_is_measured),
        cmocka_unit_test(test_what_fails_is_not_tried_again_and_fails_the_round),
        cmocka_unit_test(test_what_is_absent_fails_nothing),
        cmocka_unit_test(test_a_ratio_is_the_median_of_the_ratios_within_the_rounds),
        cmocka_unit_test(test_an_aim_is_met_up_to_the_aim_itself),
        cmocka_unit_test(test_results_that_cannot_be_written_are_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
