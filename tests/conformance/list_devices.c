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
#include "ndk_rows.h"
#include "rows.h"

#define ROW_(dialects, function, covers) { #dialects, #function },
#define GROUP_(group)                    { NULL, #group }, ROWS_##group(ROW_)
static const struct {
    const char *dialects, *name; /* dialects NULL: a suite begins */
} rows[] = { SUITES(GROUP_) };

#define NDK_ROW_(suite, row) { #suite, "ndk." #suite "." #row },
static const struct {
    const char *suite, *full_name;
} ndk_rows[] = { NDK_ROWS(NDK_ROW_) };

#define DEVICE_(name, text, complete) { #name, text, complete },
static const struct {
    const char *name, *text;
    bool complete;
} devices[] = { DEVICES(DEVICE_) };

#define EXCEPTION_(device, row, result, reason) { #device, row, result, reason },
static const struct exception exceptions[] = { EXCEPTIONS(EXCEPTION_) };

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
enum { NDK_ROW_COUNT = sizeof(ndk_rows) / sizeof(ndk_rows[0]) };
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

static void print_tally(FILE *out, const struct tally *tally)
{
    fprintf(out, " %d", tally->counts[NOT_APPLICABLE + 1]);
    for (int result = FAILS; result <= NOT_APPLICABLE; result++)
        if (tally->counts[result])
            fprintf(out, ", %d %s", tally->counts[result],
                result == FAILS ? "fail" : exception_word(result));
    fprintf(out, " |");
}

/* An emulator is no device: what it gets wrong is listed below the tables. */
static bool has_column(const char *device)
{
    return strcmp(device, "qemu") != 0;
}

static void print_line(FILE *out, const char *title, int suite)
{
    fprintf(out, "| %s |", title);
    for (int d = 0; d < DEVICE_COUNT; d++) {
        struct sum sum = { .device = devices[d].name, .suite = suite };

        if (!has_column(devices[d].name))
            continue;
        if (!devices[d].complete) {
            fprintf(out, " not yet told |");
            continue;
        }
        for_rows(add, &sum);
        print_tally(out, &sum.tally);
    }
    fprintf(out, "\n");
}

/* NDKPI's rows do not run under Wine: there is no kernel whose consumers could call it. */
static bool has_ndk(const char *device)
{
    return has_column(device) && strcmp(device, "wine") != 0;
}

/* suite: NULL = all */
static void print_ndk_line(FILE *out, const char *suite)
{
    fprintf(out, "| %s |", suite ? suite : "all");
    for (int d = 0; d < DEVICE_COUNT; d++) {
        struct tally tally = { 0 };

        if (!has_ndk(devices[d].name))
            continue;
        for (int r = 0; r < NDK_ROW_COUNT; r++)
            if (!suite || strcmp(ndk_rows[r].suite, suite) == 0)
                count(&tally, devices[d].name, ndk_rows[r].full_name);
        print_tally(out, &tally);
    }
    fprintf(out, "\n");
}

static void print_ndk(FILE *out)
{
    fprintf(out, "\nThe rows of NDKPI (tests/unit/ndk), most of which run with requests that end "
                 "in each of three "
                 "ways:\n\n| Rows |");
    for (int d = 0; d < DEVICE_COUNT; d++)
        if (has_ndk(devices[d].name))
            fprintf(out, " %s |", devices[d].name);
    fprintf(out, "\n|---|");
    for (int d = 0; d < DEVICE_COUNT; d++)
        if (has_ndk(devices[d].name))
            fprintf(out, "---|");
    fprintf(out, "\n");
    for (int r = 0; r < NDK_ROW_COUNT; r++)
        if (!r || strcmp(ndk_rows[r].suite, ndk_rows[r - 1].suite) != 0)
            print_ndk_line(out, ndk_rows[r].suite);
    print_ndk_line(out, NULL);
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
        for (int r = 0; r < NDK_ROW_COUNT; r++)
            look(&search, 0, ndk_rows[r].full_name);
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
        if (has_column(devices[d].name))
            fprintf(out, " %s |", devices[d].name);
    fprintf(out, "\n|---|");
    for (int d = 0; d < DEVICE_COUNT; d++)
        if (has_column(devices[d].name))
            fprintf(out, "---|");
    fprintf(out, "\n");
    for (int r = 0; r < ROWS; r++)
        if (!rows[r].dialects)
            print_line(out, rows[r].name, r);
    print_line(out, "all", -1);
    print_ndk(out);
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
