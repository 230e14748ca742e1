/* SPDX-License-Identifier: MIT */
#include "tests/support/misuse.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { EXPECTED = 3, TEXT = 8192 }; /* the descriptor to which a row writes what it expects */

static struct {
    const char *variable;
    const struct misuse_row *rows;
    size_t count;
} program;

/* ---- in a row ---- */

void misuse_expect(const char *rule, const char *happened, ...)
{
    char line[1024];
    size_t length = (size_t)snprintf(line, sizeof(line), "%s: ", program.variable);
    va_list arguments;

    va_start(arguments, happened);
    length += (size_t)vsnprintf(line + length, sizeof(line) - length, happened, arguments);
    va_end(arguments);
    length += (size_t)snprintf(line + length, sizeof(line) - length, " %s\n", rule);
    assert_int_equal(write(EXPECTED, line, length), length);
}

bool misuse_told(void)
{
    struct stat told;

    return fstat(STDERR_FILENO, &told) || told.st_size;
}

/* ---- around the rows ---- */

static void run_row(const char *name, const char *setting, int out, int err)
{
    static const struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_CORE, &none);
    setenv(program.variable, setting, 1);
    setenv("NDSPI_LOG", "none", 1);
    dup2(err, STDERR_FILENO);
    dup2(out, EXPECTED);
    execl("/proc/self/exe", "misuse", name, (char *)NULL);
    _exit(126);
}

/* text out: all that is in the file, with a 0 */
static void read_back(FILE *file, char *text)
{
    size_t length;

    rewind(file);
    length = fread(text, 1, TEXT - 1, file);
    text[length] = 0;
    fclose(file);
}

/* Makes of "at a+0x1234 < b+0x5678. Rule" "at a+0x1000. Rule". */
static void round_places(char *text)
{
    char *at = text, *end, *rest;

    while ((at = strstr(at, "+0x"))) {
        unsigned long long offset = strtoull(at + 1, &end, 16) & ~0xfffull;

        rest = strncmp(end, " < ", 3) == 0 ? strstr(end, ". Rule") : end;
        if (!rest)
            return;
        at += sprintf(at, "+0x%llx", offset);
        memmove(at, rest, strlen(rest) + 1);
    }
}

/* Where the program goes on, a line has the call's site, too, which robustness.mistakes compares. */
static void cut_sites(char *text)
{
    char *at = text, *rest;

    while ((at = strstr(at, "; called at ")) && (rest = strstr(at, ". Rule")))
        memmove(at, rest, strlen(rest) + 1);
}

/* An emulator of another processor (QEMU) tells of a program that ends by a signal, too: in a line of its own. */
static void cut_emulator(char *text)
{
    char *line = strstr(text, "qemu: uncaught target signal ");

    if (line && (line == text || line[-1] == '\n'))
        *line = 0;
}

/* Whether the program told what it expected, and ended as it should. */
static bool is_right(const struct misuse_row *row, const char *setting)
{
    char expected[TEXT], told[TEXT];
    FILE *out = tmpfile(), *err = tmpfile();
    int status;
    pid_t child;

    assert_non_null(out);
    assert_non_null(err);
    child = fork();
    if (!child)
        run_row(row->name, setting, fileno(out), fileno(err));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    read_back(out, expected);
    read_back(err, told);
    cut_emulator(told);
    if (strcmp(setting, "log") == 0)
        cut_sites(told);
    round_places(told);
    if (*expected && strcmp(told, expected) == 0 &&
        (strcmp(setting, "1") == 0 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT
                                   : WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return true;
    print_error("%s, %s: status 0x%x\nexpected: %stold:     %s", row->name, setting,
        (unsigned)status, expected, told);
    return false;
}

static void misuse_ends_the_program(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < program.count; i++)
        wrong += !is_right(&program.rows[i], "1");
    assert_int_equal(wrong, 0);
}

static void program_goes_on_where_misuse_is_logged(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < program.count; i++)
        wrong += !program.rows[i].ends && !is_right(&program.rows[i], "log");
    assert_int_equal(wrong, 0);
}

int misuse_main(
    int argc, char **argv, const char *variable, const struct misuse_row rows[], size_t count)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse_ends_the_program),
        cmocka_unit_test(program_goes_on_where_misuse_is_logged),
    };

    program.variable = variable;
    program.rows = rows;
    program.count = count;
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (strcmp(argv[1], rows[i].name) == 0) {
            rows[i].run();
            return 0;
        }
    return argc == 1 ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
