/* SPDX-License-Identifier: MIT */
/*
 * plays.h - every order of the steps of a few threads: each play is one order, and all are played, where there are many
 * those with a limited number of preemptions. The threads are coroutines, which change at each access that others see.
 * The project's lock is compiled in here (included once, first); what else is played calls step() where a thread may
 * be stopped.
 */
#ifndef TESTS_SUPPORT_PLAYS_H
#define TESTS_SUPPORT_PLAYS_H

#ifndef NDEBUG
#define NDEBUG /* what is held is noted by thread, and these are none */
#endif

#include "tests/support/choices.h"
#include "tests/unit/util/cmocka_test.h"

#include "util/futex.h"
#include "util/pause.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { PLAYERS = 3, STACK = 64 * 1024, ALL = 1000 };

static struct player {
    void (*main)(void);
    bool over, sleeps;
    ucontext_t context;
} players[PLAYERS];
static char stacks[PLAYERS][STACK];

static struct {
    int count, on_stage;
    unsigned preemptions, allowed;
    ucontext_t director;
} play;

/* Another player may go on here, and has to where this one cannot. In begins and ends nobody else is there. */
static void step(void)
{
    int options[PLAYERS], from = play.on_stage, to;
    bool goes_on = !players[from].over && !players[from].sleeps;
    unsigned count = 0;

    if (!play.count)
        return;
    if (goes_on)
        options[count++] = from;
    for (int i = 0; i < play.count && (!goes_on || play.preemptions < play.allowed); i++)
        if (i != from && !players[i].over && !players[i].sleeps)
            options[count++] = i;
    if (!count) {
        swapcontext(&players[from].context, &play.director);
        return;
    }
    to = options[choose(count)];
    if (to == from)
        return;
    play.preemptions += goes_on;
    play.on_stage = to;
    swapcontext(&players[from].context, &players[to].context);
}

static int play_wait(_Atomic uint32_t *word, uint32_t expected)
{
    step();
    if (*word == expected) {
        players[play.on_stage].sleeps = true;
        step();
    }
    return 0;
}

/* The plays have one word. */
static int play_wake(void)
{
    step();
    for (int i = 0; i < play.count; i++)
        if (players[i].sleeps) {
            players[i].sleeps = false;
            return 1;
        }
    return 0;
}

/* A load alone only prepares the operation behind it. */
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
static bool exchange_if(_Atomic uint32_t *word, uint32_t *expected, uint32_t value)
{
    bool is = (step(), *word == *expected);

    if (is)
        *word = value;
    else
        *expected = *word;
    return is;
}
#define atomic_compare_exchange_strong_explicit(p, e, v, yes, no) exchange_if(p, e, v)
#define atomic_compare_exchange_weak_explicit(p, e, v, yes, no)   exchange_if(p, e, v)
#define exchange_(p, v)                                                                            \
    __extension__({                                                                                \
        step();                                                                                    \
        uint32_t old_ = *(p);                                                                      \
        *(p) = (v);                                                                                \
        old_;                                                                                      \
    })
#define atomic_exchange_explicit(p, v, order)  exchange_(p, v)
#define atomic_fetch_add_explicit(p, v, order) exchange_(p, old_ + (v))
#define atomic_fetch_sub_explicit(p, v, order) exchange_(p, old_ - (v))
#define atomic_fetch_or_explicit(p, v, order)  exchange_(p, old_ | (v))
#define atomic_fetch_and_explicit(p, v, order) exchange_(p, old_ &(v))
#define futex_wait(word, value, timeout)       play_wait(word, value)
#define futex_wake(word, number)               play_wake()
#define processor_pause()                      ((void)0)

#include "util/lock.c" /* NOLINT: this is the point */

static void player_begins(void)
{
    players[play.on_stage].main();
    players[play.on_stage].over = true;
    step();
}

static void play_begins(void (*const mains[])(void), int count)
{
    play.count = count;
    play.on_stage = 0;
    play.preemptions = 0;
    for (int i = 0; i < count; i++) {
        players[i] = (struct player){ .main = mains[i] };
        getcontext(&players[i].context);
        players[i].context.uc_stack.ss_sp = stacks[i];
        players[i].context.uc_stack.ss_size = STACK;
        makecontext(&players[i].context, player_begins, 0);
    }
}

/*
 * Plays all orders with at most so many preemptions. begins is called before each play, ends after it, when all players
 * are through.
 */
static void play_all(unsigned preemptions, void (*const mains[])(void), int count,
    void (*begins)(void), void (*ends)(void))
{
    unsigned long plays = 0;

    play.allowed = preemptions;
    do {
        begins();
        play_begins(mains, count);
        swapcontext(&play.director, &players[0].context);
        for (int i = 0; i < count; i++)
            assert_true(players[i].over);
        play.count = 0;
        ends();
        plays++;
    } while (choices_next());
    printf("%lu plays\n", plays);
}

#endif
