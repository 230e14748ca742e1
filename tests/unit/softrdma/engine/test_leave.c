/* SPDX-License-Identifier: MIT */
/*
 * What a thread of the program says it leaves is the progress thread's at once, not after it has been quiet for a
 * while; and what is soon is served, however the progress thread heard of the source.
 */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/connection/conn.h"
#include "softrdma/engine/engine.h"
#include "softrdma/queues/qp.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

/* A source that is an eventfd. */
struct fired {
    struct srd_source source;
    atomic_uint served, expired;
    atomic_bool was_aside; /* when it was served last */
};

static struct fired *fired_of(struct srd_source *source)
{
    return container_of(source, struct fired, source);
}

static bool fired_ready(struct srd_source *source, uint32_t events, bool background)
{
    eventfd_t count;

    (void)events;
    if (!background || eventfd_read(source->fd, &count))
        return true;
    atomic_store(&fired_of(source)->was_aside, atomic_load(&source->aside));
    atomic_fetch_add(&fired_of(source)->served, 1);
    return true;
}

static void fired_expired(struct srd_source *source)
{
    atomic_fetch_add(&fired_of(source)->expired, 1);
}

static void fired_nothing(struct srd_source *source)
{
    (void)source;
}

static uint32_t fired_interest(struct srd_source *source)
{
    (void)source;
    return EPOLLIN;
}

static const struct srd_source_ops fired_ops = {
    .ready = fired_ready,
    .expired = fired_expired,
    .interest = fired_interest,
    .free = fired_nothing,
};

static void fired_open(struct fired *fired)
{
    atomic_init(&fired->served, 0);
    atomic_init(&fired->expired, 0);
    atomic_init(&fired->was_aside, false);
    srd_source_init(&fired->source, &fired_ops, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    assert_true(fired->source.fd >= 0);
    assert_int_equal(srd_source_add(&fired->source), 0);
}

static void fired_close(struct fired *fired)
{
    srd_source_remove(&fired->source);
    while (atomic_load(&fired->source.refs) > 1) /* the progress thread is in it */
        sched_yield();
    close(fired->source.fd);
}

static void fire(struct fired *fired)
{
    assert_int_equal(eventfd_write(fired->source.fd, 1), 0);
}

static void assert_reaches(atomic_uint *count, unsigned times)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    while (atomic_load(count) < times && test_now_ms() < end_ms)
        sched_yield();
    assert_int_equal(atomic_load(count), times);
}

static void assert_served(struct fired *fired, unsigned times)
{
    assert_reaches(&fired->served, times);
}

/* As when it fired while a thread of the program was at work on it. */
static void put_aside(struct srd_source *source)
{
    lock_acquire(&srd_engine.lock);
    srd_engine_aside_locked(source);
    lock_release(&srd_engine.lock);
}

static void poll_it(struct fired *fired)
{
    atomic_fetch_add(&fired->source.activity, 1);
    standby_active(&srd_engine.standby);
}

static void what_was_polled_is_put_aside(void **state)
{
    struct fired fired;

    (void)state;
    fired_open(&fired);
    poll_it(&fired);
    fire(&fired);
    assert_served(&fired, 1);
    assert_true(fired.was_aside);
    fired_close(&fired);
}

static void what_was_polled_and_left_is_served_at_once(void **state)
{
    struct fired fired;

    (void)state;
    fired_open(&fired);
    poll_it(&fired);
    srd_source_leave(&fired.source);
    fire(&fired);
    assert_served(&fired, 1);
    assert_false(fired.was_aside);
    fired_close(&fired);
}

static void what_is_polled_again_is_put_aside_again(void **state)
{
    struct fired fired;

    (void)state;
    fired_open(&fired);
    poll_it(&fired);
    srd_source_leave(&fired.source);
    poll_it(&fired);
    fire(&fired);
    assert_served(&fired, 1);
    assert_true(fired.was_aside);
    fired_close(&fired);
}

/* A thread asleep in the foreground set keeps the progress thread from all that is aside, for as long as it sleeps. */
static void what_is_aside_and_left_is_served_whoever_else_is_there(void **state)
{
    struct fired fired, other;

    (void)state;
    fired_open(&fired);
    fired_open(&other);
    standby_sleep_begin(&srd_engine.standby);
    put_aside(&fired.source);
    put_aside(&other.source);
    for (unsigned i = 1; i <= 50;
         i++) { /* the progress thread has gone to sleep without a tick in between */
        fire(&fired);
        srd_source_leave(&fired.source);
        assert_served(&fired, i);
        while (atomic_load(&fired.source.aside)) /* it is armed after that */
            sched_yield();
        put_aside(&fired.source);
    }
    assert_true(atomic_load(&other.source.aside));
    fire(&other);
    srd_loop_leave();
    assert_served(&other, 1);
    standby_sleep_end(&srd_engine.standby);
    fired_close(&other);
    fired_close(&fired);
}

/*
 * The progress thread may hear of a look at the source by an event: what that look left behind is served all the same.
 */
static void what_is_soon_before_an_event_expires(void **state)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct fired fired;

    (void)state;
    fired_open(&fired);
    standby_sleep_begin(&srd_engine.standby);
    put_aside(&fired.source);
    srd_source_soon(&fired.source);
    assert_reaches(&fired.expired, 1);
    while (!atomic_load(&srd_engine.standby.parked) &&
           test_now_ms() < end_ms) /* no tick comes between */
        sched_yield();
    assert_int_equal(atomic_load(&srd_engine.standby.parked), 1);
    poll_it(&fired);
    fire(&fired);
    srd_source_soon(&fired.source);
    assert_reaches(&fired.expired, 2);
    assert_int_equal(atomic_load(&fired.served), 0);
    standby_sleep_end(&srd_engine.standby);
    fired_close(&fired);
}

static struct srd_source *source_of(struct end *end)
{
    return &srd_qp_from(end->qp)->conn->source;
}

static void leaving_a_queue_leaves_its_connection(void **state)
{
    struct pair pair = { 0 };
    struct ibv_wc wc;
    struct srd_source *source;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    source = source_of(&pair.passive);
    for (int i = 0; i < 10; i++)
        assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 0);
    srd_progress_leave(pair.passive.cq);
    lock_acquire(&srd_engine.lock);
    assert_int_equal(source->left, atomic_load(&source->activity));
    assert_int_not_equal(source->left, 0);
    lock_release(&srd_engine.lock);
    pair_close(&pair);
}

/* While a thread sleeps in the foreground set nobody moves the device but who fetches. */
static void who_fetches_only_moves_nothing(void **state)
{
    struct pair pair = { 0 };
    struct ibv_cq *cq;
    struct ibv_wc wc;
    void *context;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    assert_int_equal(fcntl(pair.passive.channel->fd, F_SETFL, O_NONBLOCK), 0);
    end_recv(&pair.passive, 1, 0, 64);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    standby_sleep_begin(&srd_engine.standby);
    put_aside(source_of(&pair.passive));
    end_post(&pair.active, IBV_WR_SEND, 1, 0, 64, NULL, 0, 0);
    srd_progress_fetch_only(true);
    assert_int_equal(srd_get_cq_event(pair.passive.channel, &cq, &context), -1);
    assert_int_equal(errno, EAGAIN);
    srd_progress_fetch_only(false);
    assert_int_equal(srd_get_cq_event(pair.passive.channel, &cq, &context), 0);
    assert_ptr_equal(cq, pair.passive.cq);
    srd_ack_cq_events(cq, 1);
    standby_sleep_end(&srd_engine.standby);
    test_poll(pair.passive.cq, 1, &wc);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_polled_is_put_aside),
        cmocka_unit_test(what_was_polled_and_left_is_served_at_once),
        cmocka_unit_test(what_is_polled_again_is_put_aside_again),
        cmocka_unit_test(what_is_aside_and_left_is_served_whoever_else_is_there),
        cmocka_unit_test(what_is_soon_before_an_event_expires),
        cmocka_unit_test(leaving_a_queue_leaves_its_connection),
        cmocka_unit_test(who_fetches_only_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
