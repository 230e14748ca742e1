/* SPDX-License-Identifier: MIT */
/*
 * misuse.h - tests of a checker of programs: each row is a program of its own that does one thing wrong, and says
 * before that what it expects to be told. It runs with the checker at 1, which ends it, and at "log", with which it
 * goes on.
 */
#ifndef TESTS_SUPPORT_MISUSE_H
#define TESTS_SUPPORT_MISUSE_H

#include <stdbool.h>
#include <stddef.h>

struct misuse_row {
    const char *name;
    void (*run)(void);
    bool ends; /* it cannot go on: what it breaks is needed */
};

#define MISUSE_ROW(function)                                                                       \
    {                                                                                              \
#function, function, false                                                                 \
    }
#define MISUSE_ENDS(function)                                                                      \
    {                                                                                              \
#function, function, true                                                                  \
    }

/*
 * misuse_expect - the next line on standard error. Called in a row.
 * rule      in: "Rule: ... ." with its advice
 * happened  in: call, object and what happened, of printf. Offsets of code are compared by the page ("+0x3000"), and
 *           what follows the first one is left out.
 */
__attribute__((format(printf, 2, 3))) void misuse_expect(
    const char *rule, const char *happened, ...);

/* Whether the checker has told of something. */
bool misuse_told(void);

/*
 * misuse_main - main of the program.
 * variable  in: the environment variable that switches the checker on; its lines begin with it
 */
int misuse_main(
    int argc, char **argv, const char *variable, const struct misuse_row rows[], size_t count);

#endif
