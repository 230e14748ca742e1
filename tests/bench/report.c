/* SPDX-License-Identifier: MIT */
/* report.c - both files of results, and the tables of a group (report.h). */
#include "tests/bench/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_in(const char *directory, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return fopen(path, "w");
}

bool bench_report_open(struct bench_report *report)
{
    report->json = open_in(report->directory, "results.json");
    if (!report->json)
        return false;
    report->table = open_in(report->directory, "results.txt");
    if (!report->table) {
        fclose(report->json);
        return false;
    }
    fprintf(report->json, "{\n");
    return true;
}

bool bench_report_close(struct bench_report *report)
{
    bool good;

    fprintf(report->json, "  \"%s%srounds\": %u\n}\n", report->device ? report->device : "",
        report->device ? "." : "", report->rounds);
    good = fclose(report->json) == 0;
    return fclose(report->table) == 0 && good;
}

void bench_say(struct bench_report *report, const char *format, ...)
{
    va_list args;

    for (int i = report->quiet; i < 2; i++) {
        va_start(args, format);
        vfprintf(i ? report->table : stdout, format, args);
        va_end(args);
    }
}

void bench_put(struct bench_report *report, const char *key, double value)
{
    fprintf(report->json, "  \"%s\": %.4f,\n", key, value);
}

void bench_judge(
    struct bench_report *report, const char *key, double value, double aim, bool at_least)
{
    bool met = at_least ? value >= aim : value <= aim;

    if (aim > 0) {
        fprintf(report->json, "  \"%s.aim\": %.4f,\n  \"%s.met\": %d,\n", key, aim, key, met);
        bench_say(report, "   %s %6.2f   %s", at_least ? ">=" : "<=", aim, met ? "met" : "MISSED");
    }
    bench_say(report, "\n");
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Lower quartile, median, upper quartile. */
struct spread {
    double low, median, high;
};

/* Sorts the rounds' values and takes the median and range of those measured; false: none was. */
static bool spread_of(double values[BENCH_ROUNDS], struct spread *spread)
{
    unsigned count = 0;

    for (unsigned i = 0; i < BENCH_ROUNDS; i++)
        if (!isnan(values[i]))
            values[count++] = values[i];
    if (count == 0)
        return false;
    qsort(values, count, sizeof values[0], compare_doubles);
    spread->low = values[count / 4];
    spread->median = (values[(count - 1) / 2] + values[count / 2]) / 2;
    spread->high = values[count - 1 - count / 4];
    return true;
}

/* Writes one line of a table, without its end, and sorts the rounds' values. False: no round has a value. */
static bool report_line(
    struct bench_report *report, const char *key, double values[BENCH_ROUNDS], double *median)
{
    struct spread spread;

    if (!spread_of(values, &spread))
        return false;
    *median = spread.median;
    bench_put(report, key, spread.median);
    bench_say(report, "%-38s %9.3f %9.3f %9.3f", key, spread.median, spread.low, spread.high);
    return true;
}

static void report_title(struct bench_report *report, const char *title)
{
    bench_say(report, "%-38s %9s %9s %9s\n", title, "median", "25 %", "75 %");
}

static void report_figure(struct bench_report *report, const struct bench_figure *figure)
{
    double values[BENCH_ROUNDS], median;

    memcpy(values, figure->value, sizeof values);
    if (report_line(report, figure->key, values, &median))
        bench_judge(report, figure->key, median, figure->aim, false);
    else if (figure->absent)
        bench_say(report, "%-38s not measured: %s\n", figure->key, figure->absent);
    else if (figure->ended)
        bench_say(report, "%-38s FAILED\n", figure->key);
}

/* titled: the title has been written already, else writes it first. Returns whether any round had a value. */
static bool report_ratio(struct bench_report *report, const struct bench_ratio *ratio, bool titled)
{
    double values[BENCH_ROUNDS], median;
    bool any = false;

    for (unsigned i = 0; i < BENCH_ROUNDS; i++) {
        values[i] = ratio->figure->value[i] / ratio->to->value[i]; /* NAN if either is */
        any = any || !isnan(values[i]);
    }
    if (!any)
        return false;
    if (!titled)
        report_title(report, "ratios within a round");
    report_line(report, ratio->key, values, &median);
    bench_judge(report, ratio->key, median, ratio->aim, ratio->at_least);
    return true;
}

void bench_report_group(struct bench_report *report, const struct bench_group *group)
{
    char title[BENCH_KEY];
    bool told = false;

    snprintf(title, sizeof title, "%s, %u rounds", group->name, report->rounds);
    report_title(report, title);
    for (unsigned i = 0; i < group->figure_count; i++)
        report_figure(report, &group->figures[i]);
    bench_say(report, "\n");
    for (unsigned i = 0; i < group->ratio_count; i++)
        told = report_ratio(report, &group->ratios[i], told) || told;
    if (told)
        bench_say(report, "\n");
}
