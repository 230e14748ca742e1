/* SPDX-License-Identifier: MIT */
/*
 * test_schedules.c - no wake-up is lost between threads that wait, look, signal and remove, and the background thread,
 * in whatever order their steps come (schedule.h). Each play ends when nothing can happen any more: by then every wait
 * has to be over, and everything that was asked for done.
 */
#include "tests/unit/reactor/schedule.h"

/* A source with an eventfd, and what its callbacks have done. */
static struct played {
    struct reactor_source source;
    uint64_t events;
    unsigned expired, run;
    bool removed;
} one, two;

enum { WAITERS = 2 };
static struct player *waiters[WAITERS];
static bool done[WAITERS]; /* what they wait for */

static struct played *played_of(struct reactor_source *source)
{
    return container_of(source, struct played, source);
}

static void end_wait_of(int i)
{
    done[i] = true;
    reactor_signal(&waiters[i]->waiter);
}

/* The first event ends the first wait, and so on. */
static void events_came(struct played *played, uint64_t events)
{
    while (events--)
        if (++played->events <= WAITERS && waiters[played->events - 1])
            end_wait_of((int)played->events - 1);
}

static void ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct played *played = played_of(source);
    uint64_t count = 0;

    (void)events, (void)how;
    assert_false(played->removed);
    read(source->fd, &count, sizeof(count));
    assert_false(played->removed);
    events_came(played, count);
}

static void expired(struct reactor_source *source, enum reactor_how how)
{
    (void)how;
    assert_false(played_of(source)->removed);
    played_of(source)->expired++;
    if (waiters[0])
        end_wait_of(0);
}

static void asked(struct reactor_source *source, enum reactor_how how)
{
    (void)how;
    assert_false(played_of(source)->removed);
    played_of(source)->run++;
    if (waiters[0])
        end_wait_of(0);
}

static const struct reactor_source_ops ops = { .ready = ready, .expired = expired, .run = asked },
                                       shared_ops = {
                                           .ready = ready, .run = asked, .shared = true
                                       };

static void add(struct played *played, const struct reactor_source_ops *with)
{
    reactor_source_init(&played->source, with, eventfd(0, 0));
    assert_int_equal(reactor_add(&played->source, EPOLLIN), 0);
}

static void fire(int fd)
{
    const uint64_t count = 1;

    write(fd, &count, sizeof(count));
}

/* players */

static void wait_for_it(void *number)
{
    int i = (int)(intptr_t)number;

    while (!done[i])
        reactor_wait(&waiters[i]->waiter, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE);
}

static void wait_a_moment(void *unused)
{
    (void)unused;
    assert_int_equal(reactor_wait(self, play.now_ns + 1000, PTHREAD_CANCEL_DISABLE), -ETIMEDOUT);
}

static void fire_one(void *unused)
{
    (void)unused;
    fire(one.source.fd);
}

static void fire_one_twice(void *unused)
{
    fire_one(unused);
    fire_one(unused);
}

static void poll_then_fire_one(void *unused)
{
    reactor_active();
    fire_one(unused);
}

static void signal_first(void *unused)
{
    (void)unused;
    end_wait_of(0);
}

static void ask_one(void *unused)
{
    (void)unused;
    reactor_run(&one.source);
}

static void set_deadline_of_one(void *unused)
{
    (void)unused;
    reactor_deadline(&one.source, play.now_ns + 500);
}

static void look_now(void *unused)
{
    (void)unused;
    reactor_look();
}

static void poll_now(void *unused)
{
    (void)unused;
    reactor_poll();
}

static void leave_then_fire_one(void *unused)
{
    reactor_active();
    reactor_leave();
    fire_one(unused);
}

/* What came while it polled is served when it leaves, not a tick later. */
static void poll_and_leave(void *unused)
{
    reactor_active();
    fire_one(unused);
    block(NOTHING, play.now_ns + 1);
    assert_int_equal(one.events, 0);
    assert_int_equal(reactor.background, BACKGROUND_TICKS);
    reactor_leave();
    block(NOTHING, play.now_ns + 1);
    assert_int_equal(one.events, 1);
}

static void add_one_and_fire(void *unused)
{
    add(&one, &ops);
    fire_one(unused);
}

static void remove_two(void *unused)
{
    (void)unused;
    reactor_remove_sync(&two.source);
    two.removed = true;
}

/* The wait goes on for ever but for this. */
static void remove_one_and_signal(void *unused)
{
    reactor_remove_sync(&one.source);
    one.removed = true;
    signal_first(unused);
}

/* plays */

static void forget(void)
{
    memset(&one, 0, sizeof(one));
    memset(&two, 0, sizeof(two));
    memset(waiters, 0, sizeof(waiters));
    memset(done, 0, sizeof(done));
}

/* As the program's main thread, before the others begin: with the background thread asleep. */
static void (*prologue)(void);
static void (*cast)(void);

static void prologue_main(void *unused)
{
    unsigned allowed = play.allowed;

    (void)unused;
    play.allowed = 0;
    prologue();
    block(NOTHING, play.now_ns + 1000000000); /* the background thread comes to rest */
    play.allowed = allowed;
    cast();
}

static void begin(void)
{
    forget();
    player_add(prologue_main, NULL);
}

static void waiter_add(int i)
{
    waiters[i] = player_add(wait_for_it, (void *)(intptr_t)i);
}

static void everybody_is_done(void)
{
    for (int i = 0; i < PLAYERS; i++)
        if (players[i].there && players[i].main != reactor_background_main && !players[i].over)
            fail_msg("player %d waits for ever, after %u choices", i, choices.made);
    for (int i = 0; i < FDS; i++)
        if (descriptors[i].there && FIRST_FD + i == one.source.fd)
            assert_int_equal(descriptors[i].count, 0);
    assert_true(list_empty(&reactor.runs));
    assert_true(reactor.next_deadline_ns == REACTOR_NEVER);
    assert_null(reactor.driver);
    assert_null(reactor.running);
}

static void add_one(void)
{
    add(&one, &ops);
}

static void add_shared(void)
{
    add(&one, &shared_ops);
}

static void add_both(void)
{
    add_one();
    add(&two, &ops);
}

static void nothing(void)
{
}

enum { EVENT = 1, EVENTS_BOTH = 2, RUN = 4, DEADLINE = 8 };

static unsigned expected;

static void check(void)
{
    everybody_is_done();
    assert_int_equal(one.events, expected & (EVENT | EVENTS_BOTH));
    assert_int_equal(one.run, !!(expected & RUN));
    assert_int_equal(one.expired, !!(expected & DEADLINE));
}

static void play_all(void (*first)(void), void (*then)(void), unsigned what, unsigned preemptions)
{
    unsigned long plays;

    prologue = first;
    cast = then;
    expected = what;
    plays = schedule_all(preemptions, begin, check);
    print_message("%lu plays\n", plays);
    assert_true(plays > 5);
}

static void signal_meets_wait(void)
{
    waiter_add(0);
    player_add(signal_first, NULL);
}

static void test_signal_ends_a_wait(void **state)
{
    (void)state;
    play_all(add_one, signal_meets_wait, 0, 2);
    play_all(nothing, signal_meets_wait, 0, 2);
}

static void event_for_the_background(void)
{
    player_add(fire_one, NULL);
    player_add(wait_a_moment, NULL);
}

/* The wait may end before, while or after the event comes. */
static void test_event_is_served_by_somebody(void **state)
{
    (void)state;
    play_all(add_one, event_for_the_background, EVENT, 2);
}

static void poll_and_wait(void)
{
    player_add(poll_then_fire_one, NULL);
    player_add(look_now, NULL);
}

static void test_event_is_served_when_a_poller_goes(void **state)
{
    (void)state;
    play_all(add_one, poll_and_wait, EVENT, 2);
}

static void leave_and_look(void)
{
    player_add(leave_then_fire_one, NULL);
    player_add(look_now, NULL);
}

static void leave_while_it_ticks(void)
{
    player_add(poll_and_leave, NULL);
}

static void test_event_is_served_when_a_poller_leaves(void **state)
{
    (void)state;
    play_all(add_one, leave_and_look, EVENT, 2);
    prologue = add_one;
    cast = leave_while_it_ticks;
    assert_int_equal(schedule_all(0, begin, check), 1);
}

static void two_events_for_two(void)
{
    waiter_add(0);
    waiter_add(1);
    player_add(fire_one_twice, NULL);
}

static void test_driver_and_follower_end_in_turn(void **state)
{
    (void)state;
    play_all(add_one, two_events_for_two, EVENTS_BOTH, 2);
}

static void deadline_of_the_driver(void)
{
    player_add(wait_a_moment, NULL);
    waiter_add(0);
    player_add(fire_one, NULL);
}

static void test_driver_whose_time_is_up_hands_over(void **state)
{
    (void)state;
    play_all(add_one, deadline_of_the_driver, EVENT, 2);
}

static void look_beside_a_wait(void)
{
    player_add(look_now, NULL);
    waiter_add(0);
    player_add(fire_one, NULL);
}

static void test_look_hands_over(void **state)
{
    (void)state;
    play_all(add_one, look_beside_a_wait, EVENT, 2);
}

static void poll_beside_an_event(void)
{
    player_add(poll_now, NULL);
    waiter_add(0);
    player_add(fire_one, NULL);
}

static void poll_beside_a_signal(void)
{
    player_add(poll_now, NULL);
    waiter_add(0);
    player_add(signal_first, NULL);
}

static void poll_beside_a_request(void)
{
    player_add(poll_now, NULL);
    waiter_add(0);
    player_add(ask_one, NULL);
}

/* It looks into the set where the driver sleeps, and takes nothing from there that the driver alone can do. */
static void test_poll_disturbs_no_driver(void **state)
{
    (void)state;
    play_all(add_shared, poll_beside_an_event, EVENT, 2);
    play_all(add_shared, poll_beside_a_signal, 0, 2);
    play_all(add_shared, poll_beside_a_request, RUN, 2);
}

static void ask_beside_a_wait(void)
{
    player_add(ask_one, NULL);
    player_add(wait_a_moment, NULL);
}

static void ask_for_the_end_of_a_wait(void)
{
    player_add(ask_one, NULL);
    waiter_add(0);
}

static void ask_beside_a_look(void)
{
    player_add(ask_one, NULL);
    player_add(look_now, NULL);
}

static void test_request_is_run_by_somebody(void **state)
{
    (void)state;
    play_all(add_one, ask_for_the_end_of_a_wait, RUN, 2);
    play_all(add_one, ask_beside_a_look, RUN, 2);
    play_all(add_one, ask_beside_a_wait, RUN, 2);
}

static void deadline_beside_a_wait(void)
{
    player_add(set_deadline_of_one, NULL);
    player_add(wait_a_moment, NULL);
}

static void deadline_for_the_end_of_a_wait(void)
{
    player_add(set_deadline_of_one, NULL);
    waiter_add(0);
}

static void deadline_beside_a_look(void)
{
    player_add(set_deadline_of_one, NULL);
    player_add(look_now, NULL);
}

static void test_deadline_expires_by_somebody(void **state)
{
    (void)state;
    play_all(add_one, deadline_for_the_end_of_a_wait, DEADLINE, 2);
    play_all(add_one, deadline_beside_a_look, DEADLINE, 2);
    play_all(add_one, deadline_beside_a_wait, DEADLINE, 2);
}

/* With the background thread parked. */
static void add_one_that_is_waited_for(void)
{
    add_one();
    waiter_add(0);
}

static void event_when_the_driver_goes(void)
{
    assert_int_equal(reactor.background, BACKGROUND_PARKED);
    player_add(signal_first, NULL);
    player_add(fire_one, NULL);
}

static void test_event_comes_when_the_driver_goes(void **state)
{
    (void)state;
    play_all(add_one_that_is_waited_for, event_when_the_driver_goes, EVENT, 3);
}

static void first_source(void)
{
    waiter_add(0);
    player_add(wait_a_moment, NULL);
    player_add(add_one_and_fire, NULL);
}

static void test_first_source_has_a_follower_drive(void **state)
{
    (void)state;
    play_all(nothing, first_source, EVENT, 2);
}

static void remove_beside_an_event(void)
{
    waiter_add(0);
    player_add(remove_two, NULL);
    player_add(fire_one, NULL);
    fire(two.source.fd);
}

static void remove_what_is_slept_in(void)
{
    waiter_add(0);
    player_add(remove_one_and_signal, NULL);
}

/* What is removed runs no longer; the others go on. */
static void test_removal_disturbs_nobody(void **state)
{
    (void)state;
    play_all(add_one, remove_what_is_slept_in, 0, 2);
    play_all(add_both, remove_beside_an_event, EVENT, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal_ends_a_wait),
        cmocka_unit_test(test_event_is_served_by_somebody),
        cmocka_unit_test(test_event_is_served_when_a_poller_goes),
        cmocka_unit_test(test_event_is_served_when_a_poller_leaves),
        cmocka_unit_test(test_driver_and_follower_end_in_turn),
        cmocka_unit_test(test_driver_whose_time_is_up_hands_over),
        cmocka_unit_test(test_look_hands_over),
        cmocka_unit_test(test_poll_disturbs_no_driver),
        cmocka_unit_test(test_request_is_run_by_somebody),
        cmocka_unit_test(test_deadline_expires_by_somebody),
        cmocka_unit_test(test_event_comes_when_the_driver_goes),
        cmocka_unit_test(test_first_source_has_a_follower_drive),
        cmocka_unit_test(test_removal_disturbs_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
