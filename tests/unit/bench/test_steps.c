/* SPDX-License-Identifier: MIT */
/* test_steps.c - counting instructions by stepping: known ones are counted exactly, locked ones are told apart. */
#include "tests/bench/steps.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef __x86_64__

enum { EMPTY, LOCKED, PLAIN, DROPPED, RUNS = 5 };

static void nothing(void)
{
    steps_begin();
    steps_end(EMPTY);
}

static void locked_ones(void)
{
    int word = 0, other = 1;

    steps_begin();
    __asm__ volatile("lock addl $1, %0\n\t"
                     "lock; cmpxchgl %1, %0\n\t"
                     "xchgl %1, %0\n\t"
                     "mfence\n\t"
                     : "+m"(word), "+r"(other)
                     :
                     : "eax", "memory", "cc");
    steps_end(LOCKED);
}

/* An exchange of registers, plain additions, and a string operation that repeats. */
static void plain_ones(void)
{
    char from[64] = { 1 }, to[64];
    char *source = from, *target = to;
    unsigned long count = sizeof from;

    steps_begin();
    __asm__ volatile("xchgl %%eax, %%edx\n\t"
                     "addl $1, %%eax\n\t"
                     "rep movsb\n\t"
                     : "+S"(source), "+D"(target), "+c"(count)
                     :
                     : "eax", "edx", "memory", "cc");
    steps_end(PLAIN);
}

static void run_known(void *argument)
{
    (void)argument;
    for (int i = 0; i < RUNS; i++) {
        nothing();
        locked_ones();
        plain_ones();
        steps_begin();
        steps_end(-1);
    }
}

static void test_known_instructions_are_counted_exactly(void **state)
{
    struct steps of[STEPS_PARTS];

    (void)state;
    assert_true(steps_run(run_known, NULL, of));
    assert_int_equal(of[EMPTY].count, RUNS);
    assert_int_equal(of[EMPTY].locked, 0);
    assert_int_equal(of[LOCKED].count, RUNS);
    assert_int_equal(of[LOCKED].locked, 4);
    assert_int_equal(of[PLAIN].locked, 0);
    assert_in_range(of[PLAIN].instructions, of[EMPTY].instructions + 3,
        of[EMPTY].instructions + 8); /* and what the compiler puts around them */
    assert_int_equal(of[DROPPED].count, 0);
}

static atomic_uint turns;

static void *turn(void *argument)
{
    atomic_bool *stop = argument;

    while (!atomic_load(stop))
        atomic_fetch_add(&turns, 1);
    return NULL;
}

/* Another thread runs before and after a part, and stands still while it is stepped. */
static void run_beside_another(void *argument)
{
    atomic_bool stop = false;
    pthread_t thread;
    unsigned before, after;

    (void)argument;
    if (pthread_create(&thread, NULL, turn, &stop))
        _exit(1);
    while (!atomic_load(&turns))
        sched_yield();
    for (int i = 0; i < RUNS; i++) {
        steps_begin();
        before = atomic_load(&turns);
        for (volatile int spin = 0; spin < 100; spin++)
            ;
        after = atomic_load(&turns);
        steps_end(EMPTY);
        if (before != after || atomic_load(&turns) != after)
            _exit(1);
        steps_rest();
        while (atomic_load(&turns) == after)
            sched_yield();
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

static void test_other_threads_stand_still_meanwhile(void **state)
{
    struct steps of[STEPS_PARTS];

    (void)state;
    assert_true(steps_run(run_beside_another, NULL, of));
    assert_int_equal(of[EMPTY].count, RUNS);
    assert_int_equal(of[EMPTY].locked, 0);
}

static void run_badly(void *argument)
{
    (void)argument;
    _exit(3);
}

static void test_a_process_that_fails_is_said(void **state)
{
    struct steps of[STEPS_PARTS];

    (void)state;
    assert_false(steps_run(run_badly, NULL, of));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_instructions_are_counted_exactly),
        cmocka_unit_test(test_other_threads_stand_still_meanwhile),
        cmocka_unit_test(test_a_process_that_fails_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77; /* skipped: counted on x86-64 alone */
}

#endif
