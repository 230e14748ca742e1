/* SPDX-License-Identifier: MIT */
/*
 * cmocka.h - the part of cmocka that tests of Win32 functions use, for their Windows build: Debian has no cmocka there. A
 * failed assertion ends the program.
 */
#ifndef PE_CMOCKA_H
#define PE_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
};

#define cmocka_unit_test(test)                                                                     \
    {                                                                                              \
#test, test                                                                                \
    }

static inline void pe_fail(
    const char *file, int line, const char *what, long long got, long long expected)
{
    printf("%s:%d: %s: %lld (%#llx) != %lld (%#llx)\n[  FAILED  ]\n", file, line, what, got,
        (unsigned long long)got, expected, (unsigned long long)expected);
    fflush(stdout);
    _Exit(1);
}

#define PE_EXPECT(good, got, expected)                                                             \
    do {                                                                                           \
        if (!(good))                                                                               \
            pe_fail(__FILE__, __LINE__, #got, (long long)(size_t)(got),                            \
                (long long)(size_t)(expected));                                                    \
    } while (0)
#define assert_int_equal(a, b)                                                                     \
    do {                                                                                           \
        unsigned long long pe_a = (unsigned long long)(a), pe_b = (unsigned long long)(b);         \
        if (pe_a != pe_b)                                                                          \
            pe_fail(__FILE__, __LINE__, #a, (long long)pe_a, (long long)pe_b);                     \
    } while (0)
#define assert_true(e)               PE_EXPECT((e), #e, "true")
#define assert_false(e)              PE_EXPECT(!(e), #e, "false")
#define assert_null(p)               PE_EXPECT((p) == NULL, #p, "NULL")
#define assert_non_null(p)           PE_EXPECT((p) != NULL, #p, "not NULL")
#define assert_ptr_equal(a, b)       PE_EXPECT((const void *)(a) == (const void *)(b), a, b)
#define assert_memory_equal(a, b, n) PE_EXPECT(!memcmp((a), (b), (n)), #a, #b)
#define assert_in_range(v, least, most)                                                            \
    PE_EXPECT((unsigned long long)(v) >= (least) && (unsigned long long)(v) <= (most), v, most)
#define assert_string_equal(a, b)                                                                  \
    do {                                                                                           \
        const char *pe_a = (a), *pe_b = (b);                                                       \
        if (strcmp(pe_a, pe_b)) {                                                                  \
            printf("\"%s\" != \"%s\"\n", pe_a, pe_b);                                              \
            pe_fail(__FILE__, __LINE__, #a, 0, 1);                                                 \
        }                                                                                          \
    } while (0)

static inline int pe_run(const struct CMUnitTest *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *state = NULL;

        printf("[ RUN      ] %s\n", tests[i].name);
        fflush(stdout);
        tests[i].test(&state);
    }
    printf("[  PASSED  ] %u tests\n", (unsigned)count);
    return 0;
}
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    pe_run(tests, sizeof(tests) / sizeof((tests)[0]))

#endif
