/* SPDX-License-Identifier: MIT */
/*
 * test_wait.c - threads that wait: which drives, what wakes them, and every way in which one hands over to another. The
 * background thread is lent and never serves, so a hand-over that is lost is a test that hangs.
 */
#include "tests/unit/reactor/probe.h"

#include <errno.h>
#include <signal.h>

static void test_signal_before_the_wait_ends_it(void **state)
{
    struct reactor_waiter *self = reactor_waiter_self();
    struct probe probe;

    (void)state;
    reactor_signal(self);
    assert_int_equal(reactor_wait(self, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
    probe_add(&probe);
    reactor_signal(self);
    reactor_signal(self);
    assert_int_equal(reactor_wait(self, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
    assert_int_equal(
        reactor_wait(self, clock_now_ns() + 1000000, PTHREAD_CANCEL_DISABLE), -ETIMEDOUT);
    probe_remove(&probe);
}

static void signal_context(struct probe *probe)
{
    reactor_signal(probe->context);
}

static void test_driver_runs_what_ends_its_wait(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    probe.then = signal_context;
    probe.context = reactor_waiter_self();
    for (int i = 1; i <= 100; i++) {
        probe_fire(&probe);
        assert_int_equal(reactor_wait(probe.context, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
        assert_int_equal(probe.ready, i);
        assert_int_equal(probe.how, REACTOR_WAITING);
    }
    probe_remove(&probe);
}

/* Signals the waiter, and has another source run: in the next turn, which this waiter does not need. */
static void signal_and_ask(struct probe *probe)
{
    reactor_signal(reactor_waiter_self());
    reactor_run(probe->context);
}

/* Its wait has ended, but to wake another thread for what is left would cost more than that. */
static void test_driver_runs_what_is_left_after_its_wait(void **state)
{
    struct probe probe, left;

    (void)state;
    probe_add(&probe);
    probe_add(&left);
    probe.then = signal_and_ask;
    probe.context = &left.source;
    for (int i = 1; i <= 100; i++) {
        reactor_run(&probe.source);
        assert_int_equal(
            reactor_wait(reactor_waiter_self(), REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
        assert_int_equal(left.run, i);
        assert_int_equal(left.how, REACTOR_WAITING);
    }
    probe_remove(&probe);
    probe_remove(&left);
}

/* What asks again and again does not keep the thread. */
static void test_driver_leaves_what_has_no_end(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    probe.then = signal_and_ask;
    probe.context = &probe.source;
    reactor_run(&probe.source);
    assert_int_equal(reactor_wait(reactor_waiter_self(), REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
    assert_in_range(probe.run, 2, 100);
    assert_null(reactor.driver);
    probe_remove(&probe);
}

static void test_waits_end_at_their_deadline(void **state)
{
    struct sleeper driver;
    struct probe probe;

    (void)state;
    /* Nothing to drive; then the driver; then a follower. */
    for (int i = 0; i < 3; i++) {
        uint64_t deadline_ns = clock_now_ns() + 3000000;

        if (i == 1)
            probe_add(&probe);
        if (i == 2)
            sleeper_start(&driver);
        assert_int_equal(
            reactor_wait(reactor_waiter_self(), deadline_ns, PTHREAD_CANCEL_DISABLE), -ETIMEDOUT);
        assert_true(clock_now_ns() >= deadline_ns);
    }
    sleeper_end(&driver);
    probe_remove(&probe);
}

/* What happens elsewhere reaches a driver that sleeps. */
static void test_sleeping_driver_is_told_of_everything(void **state)
{
    struct probe probe, second;
    struct sleeper sleeper;

    (void)state;
    probe_add(&probe);
    sleeper_start(&sleeper);
    for (int i = 0; i < 20; i++) {
        assert_true(SETTLES(driver_sleeps()));
        probe_fire(&probe);
        probe_await(&probe);
        assert_true(SETTLES(driver_sleeps()));
        reactor_run(&probe.source);
        probe_await(&probe);
        assert_true(SETTLES(driver_sleeps()));
        reactor_deadline(&probe.source, clock_now_ns() + 1000000); /* it sleeps without a limit */
        probe_await(&probe);
        assert_true(SETTLES(driver_sleeps()));
        probe_add(&second);
        probe_fire(&second);
        probe_await(&second);
        assert_true(SETTLES(driver_sleeps()));
        assert_int_equal(reactor_update(&second.source, 0), 0);
        probe_fire(&second);
        assert_int_equal(reactor_update(&second.source, EPOLLIN), 0);
        probe_await(&second);
        probe_remove(&second);
        assert_true(SETTLES(driver_sleeps()));
        reactor_signal(sleeper.waiter);
        assert_true(SETTLES(atomic_load(&sleeper.waits) == i + 1));
        assert_int_equal(sleeper.result, 0);
    }
    assert_int_equal(probe.ready, 20);
    assert_int_equal(probe.run, 20);
    assert_int_equal(probe.expired, 20);
    sleeper_end(&sleeper);
    probe_remove(&probe);
}

/* An earlier deadline shortens a sleep, a later one does not lengthen it. */
static void test_driver_sleeps_until_the_earliest_deadline(void **state)
{
    struct probe early, late;
    struct sleeper sleeper;
    uint64_t now_ns;

    (void)state;
    probe_add(&early);
    probe_add(&late);
    reactor_deadline(&late.source, clock_now_ns() + 3600 * 1000000000ull);
    sleeper_start(&sleeper);
    now_ns = clock_now_ns();
    reactor_deadline(&early.source, now_ns + 2000000);
    probe_await(&early);
    assert_true(clock_now_ns() >= now_ns + 2000000);
    reactor_deadline(&late.source, clock_now_ns() + 1000000);
    probe_await(&late);
    sleeper_end(&sleeper);
    probe_remove(&early);
    probe_remove(&late);
}

/* The driver's wait ends: the follower drives. */
static void test_driver_hands_over_to_a_follower(void **state)
{
    struct sleeper first, second;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    for (int i = 0; i < 50; i++) {
        sleeper_start(&first);
        sleeper_start(&second);
        assert_true(driver_sleeps());
        assert_int_equal(followers(), 1);
        sleeper_end(&first);
        assert_true(SETTLES(driver_sleeps()));
        assert_int_equal(followers(), 0);
        probe_fire(&probe);
        probe_await(&probe);
        sleeper_end(&second);
        assert_null(reactor.driver);
    }
    probe_remove(&probe);
}

static void test_follower_leaves_while_another_drives(void **state)
{
    struct sleeper first, second;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    sleeper_start(&first);
    sleeper_start(&second);
    sleeper_end(&second);
    assert_int_equal(followers(), 0);
    assert_true(driver_sleeps());
    sleeper_end(&first);
    probe_remove(&probe);
}

/* Without sources all follow and none drives; with the first source, one drives. */
static void test_first_source_has_a_follower_drive(void **state)
{
    struct sleeper sleepers[3];
    struct probe probe;

    (void)state;
    for (int i = 0; i < 3; i++)
        sleeper_start(&sleepers[i]);
    assert_false(driver_sleeps());
    assert_int_equal(followers(), 3);
    probe_add(&probe);
    assert_true(SETTLES(driver_sleeps()));
    assert_int_equal(followers(), 2);
    probe_fire(&probe);
    probe_await(&probe);
    probe_remove(&probe);
    for (int i = 0; i < 3; i++)
        sleeper_end(&sleepers[i]);
}

static void on_signal(int number)
{
    (void)number;
}

static void test_signal_handler_ends_a_wait(void **state)
{
    struct sigaction action = { .sa_handler = on_signal };
    struct sleeper driver, second;
    struct probe probe;

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    probe_add(&probe);
    sleeper_begin(&driver, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE, true);
    sleeper_begin(&second, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE, true);
    assert_int_equal(followers(), 1);
    pthread_kill(driver.thread, SIGUSR1);
    pthread_join(driver.thread, NULL);
    assert_int_equal(driver.result, -EINTR);
    assert_true(SETTLES(driver_sleeps()));
    sleeper_start(&driver); /* follows now */
    assert_int_equal(followers(), 1);
    pthread_kill(driver.thread, SIGUSR1);
    assert_true(SETTLES(atomic_load(&driver.waits) == 1));
    assert_int_equal(driver.result, -EINTR);
    sleeper_end(&driver);
    reactor_signal(second.waiter);
    pthread_join(second.thread, NULL);
    assert_int_equal(second.result, 0);
    probe_remove(&probe);
}

#if CANCELS
static void cancel(struct sleeper *sleeper)
{
    void *result;

    assert_int_equal(pthread_cancel(sleeper->thread), 0);
    pthread_join(sleeper->thread, &result);
    assert_ptr_equal(result, PTHREAD_CANCELED);
}

static void test_canceled_driver_hands_over(void **state)
{
    struct sleeper first, second;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    for (int i = 0; i < 20; i++) {
        sleeper_begin(&first, REACTOR_NEVER, PTHREAD_CANCEL_ENABLE, false);
        sleeper_start(&second);
        cancel(&first);
        assert_true(SETTLES(driver_sleeps()));
        probe_fire(&probe);
        probe_await(&probe);
        sleeper_end(&second);
        /* No thread follows. */
        sleeper_begin(&first, REACTOR_NEVER, PTHREAD_CANCEL_ENABLE, false);
        cancel(&first);
        assert_null(reactor.driver);
    }
    probe_remove(&probe);
}

static void test_canceled_follower_is_gone(void **state)
{
    struct sleeper first, second;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    for (int i = 0; i < 20; i++) {
        sleeper_start(&first);
        sleeper_begin(&second, REACTOR_NEVER, PTHREAD_CANCEL_ENABLE, false);
        cancel(&second);
        assert_int_equal(followers(), 0);
        sleeper_end(&first);
        assert_null(reactor.driver);
    }
    probe_remove(&probe);
}

static void *cancel_thread(void *argument)
{
    pthread_cancel(*(pthread_t *)argument);
    return NULL;
}

/* A follower is canceled and appointed in either order: one thread drives in the end. */
static void test_canceled_while_it_is_appointed(void **state)
{
    struct sleeper first, second, third;
    struct probe probe;
    pthread_t canceler;

    (void)state;
    probe_add(&probe);
    for (int i = 0; i < 300; i++) {
        sleeper_start(&first);
        sleeper_begin(&second, REACTOR_NEVER, PTHREAD_CANCEL_ENABLE, false);
        sleeper_start(&third);
        assert_int_equal(pthread_create(&canceler, NULL, cancel_thread, &second.thread), 0);
        sleeper_end(&first);
        pthread_join(canceler, NULL);
        pthread_join(second.thread, NULL);
        probe_fire(&probe);
        probe_await(&probe);
        sleeper_end(&third);
        assert_null(reactor.driver);
    }
    probe_remove(&probe);
}

#endif

static void *look(void *unused)
{
    (void)unused;
    reactor_look();
    return NULL;
}

/* A thread that comes while another looks follows; then it drives. */
static void test_look_hands_over(void **state)
{
    struct held held;
    struct sleeper sleeper;
    struct probe probe;
    pthread_t looker;

    (void)state;
    sem_init(&held.inside, 0, 0);
    sem_init(&held.go_on, 0, 0);
    probe_add(&probe);
    probe.then = hold;
    probe.context = &held;
    probe_fire(&probe);
    assert_int_equal(pthread_create(&looker, NULL, look, NULL), 0);
    while (sem_wait(&held.inside))
        ;
    reactor_look(); /* another thread drives: nothing */
    assert_int_equal(probe.ready, 1);
    sleeper_start(&sleeper);
    assert_int_equal(followers(), 1);
    sem_post(&held.go_on);
    pthread_join(looker, NULL);
    assert_int_equal(probe.how, REACTOR_LOOKING);
    assert_true(SETTLES(driver_sleeps()));
    probe.then = NULL;
    probe_await(&probe);
    probe_fire(&probe);
    probe_await(&probe);
    assert_int_equal(probe.how, REACTOR_WAITING);
    sleeper_end(&sleeper);
    probe_remove(&probe);
    sem_destroy(&held.inside);
    sem_destroy(&held.go_on);
}

static void shared_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    eventfd_t value;

    assert_int_equal(events, EPOLLIN);
    assert_int_equal(eventfd_read(source->fd, &value), 0);
    probe_called(probe_of(source), &probe_of(source)->ready, how);
}

/* Beside a callback that another thread is in. */
static void test_poll_runs_what_is_shared_and_nothing_else(void **state)
{
    static const struct reactor_source_ops shared_ops = {
        .ready = shared_ready, .free = probe_free, .shared = true
    };
    struct held held;
    struct sleeper sleeper;
    struct probe busy, other, shared;

    (void)state;
    assert_false(reactor_poll()); /* there is no source */
    sem_init(&held.inside, 0, 0);
    sem_init(&held.go_on, 0, 0);
    probe_add(&busy);
    probe_add(&other);
    probe_init(&shared);
    shared.source.ops = &shared_ops;
    assert_int_equal(reactor_add(&shared.source, EPOLLIN), 0);
    busy.then = hold;
    busy.context = &held;
    sleeper_start(&sleeper);
    probe_fire(&busy);
    while (sem_wait(&held.inside))
        ;
    probe_fire(&other);
    assert_false(reactor_poll());
    probe_fire(&shared);
    assert_true(reactor_poll());
    assert_int_equal(shared.ready, 1);
    assert_int_equal(shared.how, REACTOR_LOOKING);
    assert_false(reactor_poll());
    assert_int_equal(other.ready, 0);
    sem_post(&held.go_on);
    probe_await(&other);
    assert_int_equal(other.how, REACTOR_WAITING);
    sleeper_end(&sleeper);
    probe_remove(&shared);
    probe_remove(&other);
    probe_remove(&busy);
    sem_destroy(&held.inside);
    sem_destroy(&held.go_on);
}

static void *remove_now(void *argument)
{
    struct probe *probe = argument;

    reactor_remove_sync(&probe->source);
    probe->context = probe; /* the callback is over: no race, says the thread sanitizer */
    return NULL;
}

static void test_remove_sync_waits_for_the_callback(void **state)
{
    struct held held;
    struct sleeper sleeper;
    struct probe probe, other;
    pthread_t remover;

    (void)state;
    sem_init(&held.inside, 0, 0);
    sem_init(&held.go_on, 0, 0);
    probe_add(&probe);
    probe_add(&other);
    probe.then = hold;
    probe.context = &held;
    sleeper_start(&sleeper);
    probe_fire(&probe);
    while (sem_wait(&held.inside))
        ;
    probe_remove(&other); /* of another source it is not waited for */
    assert_int_equal(pthread_create(&remover, NULL, remove_now, &probe), 0);
    assert_true(SETTLES(({
        lock_acquire(&reactor.lock);
        unsigned syncers = reactor.syncers;
        lock_release(&reactor.lock);
        syncers;
    })));
    assert_ptr_equal(probe.context, &held);
    sem_post(&held.go_on);
    pthread_join(remover, NULL);
    assert_ptr_equal(probe.context, &probe);
    sleeper_end(&sleeper);
    probe_remove(&probe);
    sem_destroy(&held.inside);
    sem_destroy(&held.go_on);
}

enum { THREADS = 6, ROUNDS = 400 };

static struct sleeper team[THREADS];
static atomic_uint next_of_team;

static void signal_next(struct probe *probe)
{
    (void)probe;
    reactor_signal(team[atomic_fetch_add(&next_of_team, 1) % THREADS].waiter);
}

/* Each event ends the wait of one thread, often the driver's own. */
static void test_waits_of_many_threads_end_in_turn(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    for (int i = 0; i < THREADS; i++)
        sleeper_start(&team[i]);
    probe.then = signal_next;
    for (int i = 0; i < THREADS * ROUNDS; i++) {
        probe_fire(&probe);
        probe_await(&probe);
    }
    for (int i = 0; i < THREADS; i++)
        assert_true(SETTLES(atomic_load(&team[i].waits) > 0));
    for (int i = 0; i < THREADS; i++)
        sleeper_end(&team[i]);
    probe_remove(&probe);
}

static int lend(void **state)
{
    (void)state;
    return reactor_lend();
}

static atomic_int before;

static atomic_bool signals_itself;

static void count_before(struct reactor_waiter *waiter, uint64_t deadline_ns)
{
    assert_false(reactor_in_turn());
    assert_ptr_equal(waiter, reactor_waiter_self());
    assert_true(deadline_ns > 0);
    atomic_fetch_add(&before, 1);
    if (!atomic_load(&signals_itself))
        return;
    assert_false(reactor_is_signalled(waiter));
    reactor_signal(waiter);
    assert_true(reactor_is_signalled(waiter));
}

/* Whether it drives or follows, and once for each wait. */
static void test_function_runs_before_each_wait(void **state)
{
    struct sleeper sleeper;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    reactor_before_wait(count_before);
    sleeper_start(&sleeper);
    assert_int_equal(before, 1);
    assert_int_equal(
        reactor_wait(reactor_waiter_self(), clock_now_ns() + 1000, PTHREAD_CANCEL_DISABLE),
        -ETIMEDOUT);
    assert_int_equal(before, 2);
    atomic_store(&signals_itself, true); /* then there is no sleep */
    assert_int_equal(reactor_wait(reactor_waiter_self(), REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
    assert_int_equal(before, 3);
    assert_false(reactor_is_signalled(reactor_waiter_self()));
    atomic_store(&signals_itself, false);
    sleeper_end(&sleeper);
    probe_remove(&probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal_before_the_wait_ends_it),
        cmocka_unit_test(test_driver_runs_what_ends_its_wait),
        cmocka_unit_test(test_driver_runs_what_is_left_after_its_wait),
        cmocka_unit_test(test_driver_leaves_what_has_no_end),
        cmocka_unit_test(test_waits_end_at_their_deadline),
        cmocka_unit_test(test_sleeping_driver_is_told_of_everything),
        cmocka_unit_test(test_driver_sleeps_until_the_earliest_deadline),
        cmocka_unit_test(test_driver_hands_over_to_a_follower),
        cmocka_unit_test(test_follower_leaves_while_another_drives),
        cmocka_unit_test(test_first_source_has_a_follower_drive),
        cmocka_unit_test(test_signal_handler_ends_a_wait),
#if CANCELS
        cmocka_unit_test(test_canceled_driver_hands_over),
        cmocka_unit_test(test_canceled_follower_is_gone),
        cmocka_unit_test(test_canceled_while_it_is_appointed),
#endif
        cmocka_unit_test(test_look_hands_over),
        cmocka_unit_test(test_poll_runs_what_is_shared_and_nothing_else),
        cmocka_unit_test(test_remove_sync_waits_for_the_callback),
        cmocka_unit_test(test_waits_of_many_threads_end_in_turn),
        cmocka_unit_test(test_function_runs_before_each_wait),
    };
    return cmocka_run_group_tests(tests, lend, NULL);
}
