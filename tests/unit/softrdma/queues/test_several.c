/* SPDX-License-Identifier: MIT */
/*
 * A completion queue with several connections: every second look is at the connection that had something last, the
 * other at all of them in one call. So those that are idle cost nothing, however many there are. The linker counts the
 * calls for all (--wrap), the test those for one, by the operations of their sources.
 */
#include "tests/unit/softrdma/pair.h"

#include "reactor/internal.h"
#include "softrdma/connection/conn.h"
#include "softrdma/queues/cq.h"
#include "softrdma/queues/qp.h"

#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The first four are looked at for the queue of the first; the last is another queue's. */
enum { WATCHED = 4, FOREIGN = WATCHED, PAIRS };

static struct pair pairs[PAIRS];

/* --- counts, and the background thread ---------------------------------------------------------------------------- */

static unsigned looks_at_all, looks_at[PAIRS];

bool __real_ndspi_reactor_poll(void);
bool __wrap_ndspi_reactor_poll(void);
bool __wrap_ndspi_reactor_poll(void)
{
    looks_at_all++;
    return __real_ndspi_reactor_poll();
}

/* The background thread stops after its sleep as long as `held` is set. */
static atomic_bool held, stands;

int __real_ppoll(
    struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(
    struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(
    struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    int result = __real_ppoll(fds, count, timeout, mask);

    while (atomic_load(&held)) {
        atomic_store(&stands, true);
        sched_yield();
    }
    return result;
}

static void hold(void)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    atomic_store(&held, true);
    atomic_store(&stands, false);
    reactor_kick(reactor.background_fd);
    while (!atomic_load(&stands) && test_now_ms() < end_ms)
        sched_yield();
    assert_true(atomic_load(&stands));
}

static struct srd_source *source_of(int pair)
{
    return &srd_qp_from(pairs[pair].passive.qp)->conn->source;
}

static const struct srd_source_ops *real_ops;
static struct srd_source_ops counting_ops;

static void count(struct srd_source *source)
{
    for (int i = 0; i < PAIRS; i++)
        looks_at[i] += source == source_of(i);
}

static bool counted_poll(struct srd_source *source, bool again)
{
    count(source);
    return real_ops->poll(source, again);
}

static bool counted_poll_entered(struct srd_source *source, bool again)
{
    count(source);
    return real_ops->poll_entered(source, again);
}

static void start_counts(void)
{
    looks_at_all = 0;
    for (int i = 0; i < PAIRS; i++)
        looks_at[i] = 0;
}

/* So many at all, and so many at this one alone (-1: none is). */
static void assert_looks(unsigned all, int pair, unsigned one)
{
    assert_int_equal(looks_at_all, all);
    for (int i = 0; i < PAIRS; i++)
        assert_int_equal(looks_at[i], i == pair ? one : 0);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < PAIRS; i++)
        pair_connect(&pairs[i], "127.0.0.1");
    hold();
    real_ops = source_of(0)->ops;
    counting_ops = *real_ops;
    counting_ops.poll = counted_poll;
    counting_ops.poll_entered = counted_poll_entered;
    for (int i = 0; i < PAIRS; i++)
        source_of(i)->ops = &counting_ops;
    for (int i = 1; i < WATCHED; i++)
        srd_cq_attach_source(pairs[0].passive.cq, source_of(i));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    atomic_store(&held, false);
    for (int i = 1; i < WATCHED; i++)
        srd_cq_detach_source(pairs[0].passive.cq, source_of(i));
    for (int i = 0; i < PAIRS; i++)
        pair_close(&pairs[i]);
    return 0;
}

/* It is in the receiver's socket. */
static void send_one(int pair)
{
    struct pollfd arrived = { .fd = source_of(pair)->fd, .events = POLLIN };

    end_recv(&pairs[pair].passive, 7, 0, 64);
    end_post(&pairs[pair].active, IBV_WR_SEND, 8, 0, 64, NULL, 0, 0);
    assert_int_equal(poll(&arrived, 1, DEADLINE_MS), 1);
}

static bool is_read(int pair)
{
    return !poll(&(struct pollfd){ .fd = source_of(pair)->fd, .events = POLLIN }, 1, 0);
}

/* It completes into the receiver's own queue, which is not the one that is looked at; and is acknowledged. */
static void take_one(int pair)
{
    struct ibv_wc wc = { 0 };

    assert_int_equal(ibv_poll_cq(pairs[pair].passive.cq, 1, &wc), 1);
    assert_int_equal(wc.wr_id, 7);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    srd_run_soon();
    test_poll(pairs[pair].active.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 8);
}

static void look(unsigned times)
{
    struct ibv_wc wc;

    for (; times; times--)
        assert_int_equal(ibv_poll_cq(pairs[0].passive.cq, 1, &wc), 0);
}

/* The last look was at all, and found this one. */
static void make_busy(int pair)
{
    unsigned all;

    send_one(pair);
    do {
        all = looks_at_all;
        look(1);
    } while (looks_at_all == all || !is_read(pair));
    take_one(pair);
    start_counts();
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

static void every_second_look_is_at_the_one_that_had_something(void **state)
{
    (void)state;
    make_busy(1);
    look(6);
    assert_looks(3, 1, 3);
    make_busy(2);
    look(6);
    assert_looks(3, 2, 3);
}

static void its_next_message_needs_no_look_at_all(void **state)
{
    (void)state;
    make_busy(1);
    for (unsigned i = 0; i < 3; i++) {
        send_one(1);
        look(1);
        take_one(1);
        assert_looks(i, 1, i + 1);
        look(1);
    }
}

static void where_several_have_something_each_look_is_at_all(void **state)
{
    (void)state;
    make_busy(1);
    send_one(2);
    send_one(3);
    look(2);
    take_one(2);
    take_one(3);
    start_counts();
    look(4);
    assert_looks(4, -1, 0);
    make_busy(3);
    look(4);
    assert_looks(2, 3, 2);
}

static void what_is_another_queues_is_not_looked_at(void **state)
{
    (void)state;
    make_busy(1);
    send_one(FOREIGN);
    look(2);
    take_one(FOREIGN);
    start_counts();
    look(4);
    assert_looks(2, 1, 2);
}

static void one_that_has_gone_is_not_looked_at(void **state)
{
    struct ibv_cq *cq = pairs[0].passive.cq;

    (void)state;
    make_busy(1);
    srd_cq_detach_source(cq, source_of(1));
    look(4);
    assert_looks(4, -1, 0);
    make_busy(2);
    look(4);
    assert_looks(2, 2, 2);
    srd_cq_attach_source(cq, source_of(1));
}

/* Where one is left of several, it is looked at as an only one is. */
static void the_last_is_looked_at_alone(void **state)
{
    struct ibv_cq *cq = pairs[0].passive.cq;

    (void)state;
    make_busy(1);
    for (int i = 0; i < WATCHED; i++)
        if (i != 2)
            srd_cq_detach_source(cq, source_of(i));
    make_busy(2);
    look(4);
    assert_looks(0, 2, 4);
    for (int i = 0; i < WATCHED; i++)
        if (i != 2)
            srd_cq_attach_source(cq, source_of(i));
}

/* A thread that arms the queue no longer polls its connection: the reactor watches it. */
static void who_arms_the_queue_leaves_it(void **state)
{
    (void)state;
    make_busy(1);
    look(1);
    assert_true(srd_source_was_polled(source_of(1)));
    assert_int_equal(ibv_req_notify_cq(pairs[0].passive.cq, 0), 0);
    assert_false(srd_source_was_polled(source_of(1)));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_second_look_is_at_the_one_that_had_something),
        TEST(its_next_message_needs_no_look_at_all),
        TEST(where_several_have_something_each_look_is_at_all),
        TEST(what_is_another_queues_is_not_looked_at),
        TEST(one_that_has_gone_is_not_looked_at),
        TEST(the_last_is_looked_at_alone),
        TEST(who_arms_the_queue_leaves_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
