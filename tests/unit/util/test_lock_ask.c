/* SPDX-License-Identifier: MIT */
/*
 * test_lock_ask.c - what a thread asks of the holder of a lock is done (util/lock_ask.h), in whatever order the steps
 * of a few threads come (plays.h).
 */
#include "tests/support/plays.h"

/* --- players ------------------------------------------------------------------------------------------------------ */

static struct lock lock;
static int posted, sent;
static bool inside; /* somebody holds the lock */

static void holds(void)
{
    assert_false(inside);
    inside = true;
    step();
}

static void sends(void)
{
    sent = posted;
    step();
}

static void serve(void)
{
    if (!lock_try_or_ask(&lock))
        return;
    holds();
    do {
        sends();
        inside = false;
    } while (!lock_leave(&lock) && (inside = true));
}

static void posts(void)
{
    posted++;
    serve();
}

/* Holds the lock for something else, sleeping for it, and serves where it was asked. */
static void looks(void)
{
    lock_acquire(&lock);
    holds();
    inside = false;
    if (lock_leave_undone(&lock))
        serve();
}

/* The same, and serves whatever it was asked. */
static void changes(void)
{
    lock_acquire(&lock);
    holds();
    inside = false;
    lock_release(&lock);
    serve();
}

/* --- plays -------------------------------------------------------------------------------------------------------- */

static void begins(void)
{
    lock_init(&lock, LOCK_SRD_TX, "played");
    posted = sent = 0;
    inside = false;
}

static void ends(void)
{
    assert_int_equal(sent, posted);
    assert_int_equal(lock.word, LOCK_FREE);
}

static void what_is_posted_while_another_thread_sends_is_sent(void **state)
{
    void (*const two[])(void) = { posts, posts }, (*const three[])(void) = { posts, posts, posts };

    (void)state;
    play_all(ALL, two, 2, begins, ends);
    play_all(6, three, 3, begins, ends);
}

static void what_is_posted_while_another_thread_looks_is_sent(void **state)
{
    void (*const two[])(void) = { posts, looks }, (*const three[])(void) = { posts, looks, looks },
                 (*const mixed[])(void) = { posts, looks, posts };

    (void)state;
    play_all(ALL, two, 2, begins, ends);
    play_all(5, three, 3, begins, ends);
    play_all(5, mixed, 3, begins, ends);
}

static void what_is_posted_while_another_thread_changes_it_is_sent(void **state)
{
    void (*const two[])(void) = { posts, changes },
                 (*const three[])(void) = { changes, posts, looks },
                 (*const mixed[])(void) = { posts, changes, posts };

    (void)state;
    play_all(ALL, two, 2, begins, ends);
    play_all(5, three, 3, begins, ends);
    play_all(5, mixed, 3, begins, ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_posted_while_another_thread_sends_is_sent),
        cmocka_unit_test(what_is_posted_while_another_thread_looks_is_sent),
        cmocka_unit_test(what_is_posted_while_another_thread_changes_it_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
