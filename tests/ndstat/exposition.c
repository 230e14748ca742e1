/* SPDX-License-Identifier: MIT */
#include "tests/ndstat/exposition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS = 256, SERIES = 4096, NAME = 128 };

#define FIRST "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:"
#define LABEL "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

struct checker {
    char metrics[METRICS][NAME]; /* in their order; the last is the one under way */
    bool helped[METRICS], typed[METRICS], counts[METRICS];
    unsigned n_metrics;
    char *series[SERIES];
    unsigned n_series, line;
    char *wrong;
};

static bool fail(struct checker *checker, const char *what)
{
    snprintf(checker->wrong, 256, "line %u: %s", checker->line, what);
    return false;
}

/* A name of a metric at the text's beginning; its length, 0: none. */
static size_t name_octets(const char *text)
{
    return strspn(text, FIRST) ? strspn(text, LABEL ":") : 0;
}

/* The metric under way, or a new one; NULL: it was there before another. */
static int metric(struct checker *checker, const char *name, size_t octets)
{
    if (octets >= NAME)
        return -1;
    for (unsigned i = 0; i < checker->n_metrics; i++)
        if (strlen(checker->metrics[i]) == octets && !memcmp(checker->metrics[i], name, octets))
            return i + 1 == checker->n_metrics ? (int)i : -1;
    if (checker->n_metrics == METRICS)
        return -1;
    memcpy(checker->metrics[checker->n_metrics], name, octets);
    return (int)checker->n_metrics++;
}

static bool check_comment(struct checker *checker, const char *line)
{
    bool help = strncmp(line, "# HELP ", 7) == 0, type = strncmp(line, "# TYPE ", 7) == 0;
    size_t octets = name_octets(line + 7);
    const char *rest = line + 7 + octets;
    int index;

    if (!help && !type)
        return fail(checker, "a comment of another kind");
    if (!octets || *rest++ != ' ' || (index = metric(checker, line + 7, octets)) < 0)
        return fail(checker, "no name, or one whose samples are elsewhere");
    if (help ? checker->helped[index] : checker->typed[index])
        return fail(checker, "twice");
    (help ? checker->helped : checker->typed)[index] = true;
    if (help)
        return *rest ? true : fail(checker, "no help");
    checker->counts[index] = strcmp(rest, "counter") == 0;
    if (!checker->counts[index] && strcmp(rest, "gauge") != 0 && strcmp(rest, "untyped") != 0)
        return fail(checker, "a type that there is not");
    return true;
}

/* Behind the brace; what follows the closing one, or NULL. */
static const char *check_labels(const char *at)
{
    while (*at != '}') {
        size_t octets = strspn(at, LABEL);

        if (!octets || (*at >= '0' && *at <= '9') || at[octets] != '=' || at[octets + 1] != '"')
            return NULL;
        for (at += octets + 2; *at != '"'; at++)
            if (!*at || (*at == '\\' && !strchr("\\\"n", *++at)))
                return NULL;
        if (*++at == ',')
            at++;
        else if (*at != '}')
            return NULL;
    }
    return at + 1;
}

static bool check_sample(struct checker *checker, const char *line)
{
    size_t octets = name_octets(line);
    const char *value = line + octets;
    int index = octets ? metric(checker, line, octets) : -1;
    char *end;

    if (index < 0 || !checker->helped[index] || !checker->typed[index])
        return fail(checker, "a sample without HELP and TYPE before it");
    if (checker->counts[index] && (octets < 6 || strncmp(line + octets - 6, "_total", 6) != 0))
        return fail(checker, "a counter without _total");
    if (*value == '{' && !(value = check_labels(value + 1)))
        return fail(checker, "labels");
    if (*value != ' ')
        return fail(checker, "no value");
    strtod(value + 1, &end);
    if (end == value + 1 || *end)
        return fail(checker, "no number");
    for (unsigned i = 0; i < checker->n_series; i++)
        if (strlen(checker->series[i]) == (size_t)(value - line) &&
            !strncmp(checker->series[i], line, (size_t)(value - line)))
            return fail(checker, "a series twice");
    if (checker->n_series == SERIES)
        return fail(checker, "too many series for this test");
    checker->series[checker->n_series++] = strndup(line, (size_t)(value - line));
    return true;
}

bool exposition_is_valid(const char *text, char wrong[256])
{
    struct checker *checker = calloc(1, sizeof(*checker));
    char *copy = strdup(text), *line = copy, *end;
    bool valid = checker && copy;

    if (checker)
        checker->wrong = wrong;
    while (valid && *line) {
        checker->line++;
        if (!(end = strchr(line, '\n'))) {
            valid = fail(checker, "does not end");
            break;
        }
        *end = 0;
        valid = *line == '#' ? check_comment(checker, line) : check_sample(checker, line);
        line = end + 1;
    }
    for (unsigned i = 0; checker && i < checker->n_series; i++)
        free(checker->series[i]);
    free(checker);
    free(copy);
    return valid;
}
