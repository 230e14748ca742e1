/* SPDX-License-Identifier: MIT */
/*
 * cmocka.h - the part of cmocka that tests of Win32 functions use, where Debian has no cmocka: for their Windows build,
 * and for tests/portable.
 * A failed assertion ends the program.
 */
#ifndef TESTS_SUPPORT_PE_CMOCKA_H
#define TESTS_SUPPORT_PE_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

/* clang-format off */
#define cmocka_unit_test(test) { #test, test, NULL, NULL }
#define cmocka_unit_test_setup_teardown(test, setup, teardown) { #test, test, setup, teardown }
/* clang-format on */

static inline void pe_fail(const char *file, int line, const char *what, unsigned long long got,
    unsigned long long expected)
{
    printf("%s:%d: %s: %#llx, not %#llx (last error %lu)\n[  FAILED  ]\n", file, line, what, got,
        expected, GetLastError());
    fflush(stdout);
    _Exit(1);
}

#define PE_EXPECT(good, what, got, expected)                                                       \
    do {                                                                                           \
        if (!(good))                                                                               \
            pe_fail(__FILE__, __LINE__, what, (unsigned long long)(got),                           \
                (unsigned long long)(expected));                                                   \
    } while (0)
#define assert_int_equal(a, b)                                                                     \
    do {                                                                                           \
        unsigned long long pe_a = (unsigned long long)(a), pe_b = (unsigned long long)(b);         \
        PE_EXPECT(pe_a == pe_b, #a, pe_a, pe_b);                                                   \
    } while (0)
#define assert_int_not_equal(a, b) PE_EXPECT((a) != (b), #a " != " #b, 0, 1)
#define assert_true(e)             PE_EXPECT((e), #e, 0, 1)
#define assert_false(e)            PE_EXPECT(!(e), "!(" #e ")", 0, 1)
#define assert_null(p)             PE_EXPECT((p) == NULL, #p " == NULL", 0, 1)
#define assert_non_null(p)         PE_EXPECT((p) != NULL, #p " != NULL", 0, 1)
#define assert_ptr_equal(a, b)     PE_EXPECT((const void *)(a) == (const void *)(b), #a " == " #b, 0, 1)
#define assert_ptr_not_equal(a, b)                                                                 \
    PE_EXPECT((const void *)(a) != (const void *)(b), #a " != " #b, 0, 1)
#define assert_memory_equal(a, b, n)                                                               \
    PE_EXPECT(!memcmp((a), (b), (n)), #a " and " #b " are the same", 0, 1)
#define assert_in_range(v, least, most)                                                            \
    do {                                                                                           \
        unsigned long long pe_v = (unsigned long long)(v);                                         \
        PE_EXPECT(pe_v >= (least) && pe_v <= (most), #v, pe_v, most);                              \
    } while (0)
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf(__VA_ARGS__);                                                                       \
        pe_fail(__FILE__, __LINE__, "failed", 0, 1);                                               \
    } while (0)
#define assert_string_equal(a, b)                                                                  \
    do {                                                                                           \
        const char *pe_a = (a), *pe_b = (b);                                                       \
        if (strcmp(pe_a, pe_b)) {                                                                  \
            fail_msg("\"%s\", not \"%s\"\n", pe_a, pe_b);                                          \
        }                                                                                          \
    } while (0)

#define print_message(...) printf(__VA_ARGS__)
#define skip()             return /* of the test's own function */

static inline int pe_run(const struct CMUnitTest *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *state = NULL;

        printf("[ RUN      ] %s\n", tests[i].name);
        fflush(stdout);
        if (tests[i].setup && tests[i].setup(&state))
            pe_fail(__FILE__, __LINE__, "setup", 1, 0);
        tests[i].test(&state);
        if (tests[i].teardown && tests[i].teardown(&state))
            pe_fail(__FILE__, __LINE__, "teardown", 1, 0);
    }
    printf("[  PASSED  ] %u tests\n", (unsigned)count);
    return 0;
}
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    pe_run(tests, sizeof(tests) / sizeof((tests)[0]))

#endif
