/* SPDX-License-Identifier: MIT */
/*
 * main.c - mistakes of programs: what both ends are told. The texts are ours; the codes are those of the methods' pages
 * where these name them.
 * usage: PROGRAM           the test
 *        PROGRAM table     what each end writes, as a table
 *        PROGRAM NAME      what each end of a row writes
 */
#include "tests/robustness/mistakes/mistakes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ACTIVE_END,
    PASSIVE_END,
    ENDS,
    FIRST_FILE = 100,
    WRITTEN = 8192
}; /* FIRST_FILE: the descriptors that ends write to */

static const struct mistake *const tables[] = { mistakes_refused, mistakes_strict,
    mistakes_of_arguments, mistakes_of_arguments1 };

static const struct mistake *find(const char *name)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct mistake *row = tables[i]; row->name; row++)
            if (strcmp(row->name, name) == 0)
                return row;
    return NULL;
}

/* ---- in the processes ---- */

static void play_passive(const struct mistake *row, struct nd2_end *end, int control)
{
    struct mistake_offer offer = { (uintptr_t)end->memory, end->rkey };
    USHORT port_be;
    char phase;

    child_check(nd2_end_listen(end, &port_be), end);
    child_tell(control, &port_be, sizeof(port_be));
    child_check(nd2_end_request(end), end);
    child_check(nd2_end_accept(end), end);
    if (row->prepare)
        row->prepare(end, &offer);
    if (!row->passive)
        mistake_receive(end, end->memory, MISTAKE_OCTETS, end->lkey);
    child_tell(control, &offer, sizeof(offer));
    if (row->passive)
        row->passive(end);
    else
        mistake_result(end);
    child_hear(control, &phase, sizeof(phase));
}

static void play_active(const struct mistake *row, struct nd2_end *end, int control)
{
    struct mistake_offer offer;
    USHORT port_be;

    child_hear(control, &port_be, sizeof(port_be));
    child_check(nd2_end_connect(end, port_be), end);
    child_hear(control, &offer, sizeof(offer));
    row->active(end, &offer);
    child_tell_phase(control);
}

static int play(const char *name, int control)
{
    bool active = name[0] == 'a';
    const struct mistake *row = find(name + 1);
    const struct nd2_end_options options = {
        .depth = MISTAKE_DEPTH, .memory_octets = MISTAKE_OCTETS, .no_reads = row->no_reads
    };
    struct nd2_end end;

    if (row->setting)
        putenv((char *)row->setting);
    dup2(FIRST_FILE + (active ? ACTIVE_END : PASSIVE_END), STDOUT_FILENO);
    dup2(FIRST_FILE + (active ? ACTIVE_END : PASSIVE_END), STDERR_FILENO);
    child_open(&end, &options);
    if (active)
        play_active(row, &end, control);
    else
        play_passive(row, &end, control);
    fflush(stdout);
    _exit(0); /* what is still open is no matter here */
}

/* ---- around them ---- */

/* Runs a row; text out: what each end wrote. */
static void run(const struct mistake *row, char text[ENDS][WRITTEN])
{
    struct child ends[ENDS];
    struct mistake_offer offer;
    USHORT port_be;
    char name[64];

    for (int i = 0; i < ENDS; i++) {
        int file = memfd_create("lines", 0);

        assert_true(file >= 0);
        dup2(file, FIRST_FILE + i);
        close(file);
    }
    for (int i = 0; i < ENDS; i++) {
        snprintf(name, sizeof(name), "%c%s", i == ACTIVE_END ? 'a' : 'p', row->name);
        child_start(&ends[i], name);
    }
    child_hear(ends[PASSIVE_END].control, &port_be, sizeof(port_be));
    child_tell(ends[ACTIVE_END].control, &port_be, sizeof(port_be));
    child_hear(ends[PASSIVE_END].control, &offer, sizeof(offer));
    child_tell(ends[ACTIVE_END].control, &offer, sizeof(offer));
    child_hear_phase(&ends[ACTIVE_END]);
    child_tell_phase(ends[PASSIVE_END].control);
    for (int i = 0; i < ENDS; i++) {
        ssize_t octets;

        child_finish(&ends[i]);
        octets = pread(FIRST_FILE + i, text[i], WRITTEN - 1, 0);
        text[i][octets > 0 ? octets : 0] = 0;
        close(FIRST_FILE + i);
    }
}

/* Whether a line is as its pattern says; end out: behind it. */
static bool is_line(const char *text, const char *pattern, const char **end)
{
    for (; *pattern; text++, pattern++) {
        if (pattern[0] == '*' && pattern[1] == '*') {
            while (!is_line(text, pattern + 2, end))
                if (!*text || *text++ == '\n')
                    return false;
            return true;
        }
        if (*pattern == '*') {
            while (*text && *text != pattern[1] && *text != ' ' && *text != '\n')
                text++;
            text--;
        } else if (*text != *pattern) {
            return false;
        }
    }
    *end = text + 1;
    return *text == '\n';
}

static bool are_lines(const char *text, const char *const lines[MISTAKE_LINES])
{
    for (int i = 0; i < MISTAKE_LINES && lines[i]; i++)
        if (!is_line(text, lines[i], &text))
            return false;
    return !*text;
}

static void print_wrong(
    const char *row, const char *end, const char *text, const char *const lines[MISTAKE_LINES])
{
    print_error("%s, %s end wrote:\n%sexpected:\n", row, end, text);
    for (int i = 0; i < MISTAKE_LINES && lines[i]; i++)
        print_error("%s\n", lines[i]);
}

static void both_ends_are_told(void **state)
{
    static char text[ENDS][WRITTEN];
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct mistake *row = tables[i]; row->name; row++) {
            run(row, text);
            if (!are_lines(text[ACTIVE_END], row->active_lines)) {
                print_wrong(row->name, "active", text[ACTIVE_END], row->active_lines);
                wrong++;
            }
            if (!are_lines(text[PASSIVE_END], row->passive_lines)) {
                print_wrong(row->name, "passive", text[PASSIVE_END], row->passive_lines);
                wrong++;
            }
        }
    assert_int_equal(wrong, 0);
}

static void print_row(const struct mistake *row)
{
    static char text[ENDS][WRITTEN];

    run(row, text);
    printf("## %s: %s\n\nActive end:\n\n```\n%s```\n\nPassive end:\n\n```\n%s```\n\n", row->name,
        row->words, text[ACTIVE_END], text[PASSIVE_END]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(both_ends_are_told) };

    child_main(argc, argv, play);
    unsetenv("NDSPI_LOG");
    unsetenv("NDSPI_LOG_FILE");
    unsetenv("NDSPI_CHECK");
    unsetenv("NDSPI_STRICT");
    if (argc == 2 && find(argv[1])) {
        print_row(find(argv[1]));
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "table") == 0) {
        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
            for (const struct mistake *row = tables[i]; row->name; row++)
                print_row(row);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
