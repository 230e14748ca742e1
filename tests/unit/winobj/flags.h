/* SPDX-License-Identifier: MIT */
/*
 * flags.h - tables of functions that take flags: each takes every flag that the headers have for it, and refuses bits
 * for which Windows has none. Known bits are Microsoft's pages', as literals; what of them is not provided here is in
 * neither mask. The headers' names for them stand beside: compat/names.sh check has each name of a flag in some test.
 * The codes are those pages', and Wine's where it looks at all.
 */
#ifndef WINOBJ_TEST_FLAGS_H
#define WINOBJ_TEST_FLAGS_H

#include "tests/support/win32_test.h"

struct function {
    const char *name;
    DWORD (*call)(DWORD flags); /* its error, 0: none */
    DWORD known, unknown;       /* bits */
    DWORD error;                /* of the unknown ones */
    bool wine;                  /* refuses them, too */
    DWORD names;                /* the headers', for the known bits */
};

/* Whether a function's unknown bits are to be tried. */
static inline bool asks_unknown(const struct function *function)
{
#ifndef _WIN32 /* Wine ignores bits that Windows refuses, in most functions that take flags */
    return function->unknown != 0;
#else
    return function->wine;
#endif
}

/* Tries every bit of a mask. */
static inline void assert_each(const struct function *function, DWORD mask, DWORD error)
{
    for (int i = 0; i < 32; i++) {
        const DWORD bit = 1u << i;
        DWORD found;

        if (!(mask & bit) || (found = function->call(bit)) == error)
            continue;
        printf("%s: %#x: error %u, not %u\n", function->name, (unsigned)bit, (unsigned)found,
            (unsigned)error);
        assert_int_equal(found, error);
    }
}

static inline void assert_known_are_taken(const struct function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(functions[i].names, functions[i].known);
        assert_each(&functions[i], functions[i].known, 0);
    }
}

static inline void assert_unknown_are_refused(const struct function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (asks_unknown(&functions[i]))
            assert_each(&functions[i], functions[i].unknown, functions[i].error);
}

#endif
