/* SPDX-License-Identifier: MIT */
/*
 * list_devices.c - the part of docs/compatibility.md about devices: how many rows pass, and the rows that do not.
 *
 *     list_devices          prints it
 *     list_devices FILE     fails when the file does not contain it
 *
 * It prints what devices.h says, and runs on the devices are judged by that file: a row it does not name has to pass.
 * An entry without a row or without a device is an error either way.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "exceptions.h"
#include "list.h"
#include "rows.h"

#define ROW_(dialects, function, covers) { #dialects, #function },
#define GROUP_(group)                    { NULL, #group }, ROWS_##group(ROW_)
static const struct {
    const char *dialects, *name; /* dialects NULL: a suite begins */
} rows[] = { SUITES(GROUP_) };

#define DEVICE_(name, text, complete) { #name, text, complete },
static const struct {
    const char *name, *text;
    bool complete;
} devices[] = { DEVICES(DEVICE_) };

#define EXCEPTION_(device, row, result, reason) { #device, row, result, reason },
static const struct exception exceptions[] = { EXCEPTIONS(EXCEPTION_) };

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
enum { DEVICE_COUNT = sizeof(devices) / sizeof(devices[0]) };
enum { EXCEPTION_COUNT = sizeof(exceptions) / sizeof(exceptions[0]) };

/* By exception_result; last: those that pass in full. */
struct tally {
    int counts[NOT_APPLICABLE + 2];
};

static void count(struct tally *tally, const char *device, const char *full_name)
{
    const struct exception *exception = exception_of(device, full_name);

    tally->counts[exception ? (int)exception->result : NOT_APPLICABLE + 1]++;
}

/* Calls see for each row of each version, by its full name. */
static void for_rows(void (*see)(void *context, int suite, const char *full_name), void *context)
{
    static const char *const versions[] = { "v1", "v2" };
    int suite = 0;

    for (int r = 0; r < ROWS; r++) {
        if (!rows[r].dialects) {
            suite = r;
            continue;
        }
        for (int v = 0; v < 2; v++) {
            char name[128];

            if (strcmp(rows[r].dialects, v ? "V1" : "V2") == 0)
                continue;
            snprintf(name, sizeof(name), "%s.%s.%s", versions[v], rows[suite].name, rows[r].name);
            see(context, suite, name);
        }
    }
}

struct sum {
    const char *device;
    int suite; /* -1: all */
    struct tally tally;
};

static void add(void *context, int suite, const char *full_name)
{
    struct sum *sum = context;

    if (sum->suite < 0 || sum->suite == suite)
        count(&sum->tally, sum->device, full_name);
}

static void print_line(FILE *out, const char *title, int suite)
{
    fprintf(out, "| %s |", title);
    for (int d = 0; d < DEVICE_COUNT; d++) {
        struct sum sum = { .device = devices[d].name, .suite = suite };

        if (!devices[d].complete) {
            fprintf(out, " not yet told |");
            continue;
        }
        for_rows(add, &sum);
        fprintf(out, " %d", sum.tally.counts[NOT_APPLICABLE + 1]);
        for (int result = FAILS; result <= NOT_APPLICABLE; result++)
            if (sum.tally.counts[result])
                fprintf(out, ", %d %s", sum.tally.counts[result],
                    result == FAILS ? "fail" : exception_word(result));
        fprintf(out, " |");
    }
    fprintf(out, "\n");
}

struct search {
    const char *asked;
    bool found;
};

static void look(void *context, int suite, const char *full_name)
{
    struct search *search = context;

    (void)suite;
    search->found = search->found || names_row(search->asked, full_name);
}

/* Returns the number of entries that name no row. */
static int print_exceptions(FILE *out, const char *device)
{
    char item[4096];
    int mistakes = 0;
    bool any = false;

    for (int e = 0; e < EXCEPTION_COUNT; e++) {
        struct search search = { .asked = exceptions[e].row };

        if (strcmp(exceptions[e].device, device) != 0)
            continue;
        for_rows(look, &search);
        if (!search.found) {
            fprintf(stderr, "devices.h: there is no row %s\n", exceptions[e].row);
            mistakes++;
        }
        if (!any)
            fprintf(out, "\n### %s\n", device);
        any = true;
        snprintf(item, sizeof(item), "**%s** %s: %s", exceptions[e].row,
            exception_word(exceptions[e].result), exceptions[e].reason);
        list_item(out, item);
    }
    return mistakes;
}

static int build(FILE *out)
{
    char item[256];
    int mistakes = 0;

    fprintf(out, "## Devices\n\n"
                 "The rows of the conformance suite that pass on each device, over both versions, "
                 "from the table that\n"
                 "every run on a device is held to: a row that it does not name has to pass, a row "
                 "that it says fails\n"
                 "has to fail, and one that holds in part checks what the device leaves of it. "
                 "`./run test-kernel`\n"
                 "runs them on rxe and siw, over one device and between two.\n\n");
    for (int d = 0; d < DEVICE_COUNT; d++) {
        snprintf(item, sizeof(item), "%s: %s", devices[d].name, devices[d].text);
        list_item(out, item);
    }
    fprintf(out, "\n| Rows |");
    for (int d = 0; d < DEVICE_COUNT; d++)
        fprintf(out, " %s |", devices[d].name);
    fprintf(out, "\n|---|");
    for (int d = 0; d < DEVICE_COUNT; d++)
        fprintf(out, "---|");
    fprintf(out, "\n");
    for (int r = 0; r < ROWS; r++)
        if (!rows[r].dialects)
            print_line(out, rows[r].name, r);
    print_line(out, "all", -1);
    for (int d = 0; d < DEVICE_COUNT; d++)
        mistakes += print_exceptions(out, devices[d].name);
    for (int e = 0; e < EXCEPTION_COUNT; e++)
        if (!device_is_known(exceptions[e].device)) {
            fprintf(stderr, "devices.h: there is no device %s\n", exceptions[e].device);
            mistakes++;
        }
    return mistakes;
}

int main(int argc, char **argv)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int mistakes, status;

    if (!out)
        abort();
    mistakes = build(out);
    fclose(out);
    status = list_end(argc, argv, text, mistakes);
    free(text);
    return status;
}
