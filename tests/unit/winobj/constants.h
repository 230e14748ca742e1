/* SPDX-License-Identifier: MIT */
/*
 * constants.h - tables of functions and the constants that they take, refuse and tell. compat/names.sh reads them, and
 * those of flags.h, as text: docs/windows-names.md names the functions beside each constant. So a row has one function
 * (behind a comma the parameter) and names of the headers alone.
 */
#ifndef WINOBJ_TEST_CONSTANTS_H
#define WINOBJ_TEST_CONSTANTS_H

#include "tests/unit/winobj/call_error.h"

struct constants {
    const char *function;
    DWORD (*call)(DWORD value); /* its error, 0: none; of a row of TELLS: what the function told */
    bool tells;
    DWORD error;
    const DWORD *values;
    size_t count;
};

#define VALUES(...)                                                                                \
    (const DWORD[]){ __VA_ARGS__ }, sizeof((const DWORD[]){ __VA_ARGS__ }) / sizeof(DWORD)
/* The function takes each of the constants. */
#define TAKES(function, call, ...)                                                                 \
    {                                                                                              \
        function, call, false, 0, VALUES(__VA_ARGS__)                                              \
    }
/* It fails with that code, a name of spec_codes.h. */
#define REFUSES(function, error, call, ...)                                                        \
    {                                                                                              \
        function, call, false, error, VALUES(__VA_ARGS__)                                          \
    }
/* It tells each of the constants, where "call" makes it do so. */
#define TELLS(function, call, ...)                                                                 \
    {                                                                                              \
        function, call, true, 0, VALUES(__VA_ARGS__)                                               \
    }

/* Whether all rows are as they say; says what is not. */
static inline bool constants_hold(const struct constants *table, size_t rows)
{
    bool hold = true;

    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < table[i].count; k++) {
            const DWORD value = table[i].values[k], found = table[i].call(value);

            if (found == (table[i].tells ? value : table[i].error))
                continue;
            printf("%s: the constant %u of the row, %#x: %u, not %u\n", table[i].function,
                (unsigned)k + 1, (unsigned)value, (unsigned)found, (unsigned)table[i].error);
            hold = false;
        }
    return hold;
}

#endif
