/* SPDX-License-Identifier: MIT */
/*
 * A thread that is about to sleep looks for a while at the connection that was rung last: an answer that comes then
 * rings no bell; looks in vain become rare; and an idle connection, or one that another thread polls, is left alone.
 */
#include "softrdma/events/patience.h"

#include "tests/unit/softrdma/pair.h"

#include "softrdma/connection/conn.h"
#include "softrdma/queues/channel.h"
#include "softrdma/queues/cq.h"
#include "softrdma/queues/qp.h"
#include "softrdma/share/share.h"
#include "util/clock.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>

#include <cmocka.h>

enum { SHORT_NS = 1000 };

static struct pair pair;
static struct srd_conn *active, *passive;

/* Rings for the passive end; the linker leads softrdma's calls here. */
static atomic_int bell_fd = -1;
static atomic_uint rings;
ssize_t __real_send(int fd, const void *octets, size_t count, int flags);
ssize_t __wrap_send(int fd, const void *octets, size_t count, int flags);
ssize_t __wrap_send(int fd, const void *octets, size_t count, int flags)
{
    if (fd == atomic_load(&bell_fd))
        atomic_fetch_add(&rings, 1);
    return __real_send(fd, octets, count, flags);
}

static int setup(void **state)
{
    (void)state;
    atomic_store(&srd_patience_ns, SHORT_NS);
    pair_connect(&pair, "127.0.0.1");
    assert_string_equal(srd_query_path(pair.active.qp), "shm");
    active = srd_qp_conn(srd_qp_from(pair.active.qp));
    passive = srd_qp_conn(srd_qp_from(pair.passive.qp));
    atomic_store(&bell_fd, srd_share_wake_fd(active->share));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    atomic_store(&bell_fd, -1);
    srd_conn_unref(active);
    srd_conn_unref(passive);
    pair_close(&pair);
    return 0;
}

static void arm(struct end *end)
{
    assert_int_equal(ibv_req_notify_cq(end->cq, 0), 0);
}

static void post(void)
{
    end_recv(&pair.passive, 1, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
}

static void take_event(struct end *end)
{
    struct ibv_cq *cq;
    void *context;

    assert_int_equal(srd_get_cq_event(end->channel, &cq, &context), 0);
    srd_ack_cq_events(cq, 1);
}

/* The completions of a Send; no thread polls after that. */
static void finish(void)
{
    struct ibv_wc wc;

    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    arm(&pair.active);
    arm(&pair.passive);
}

/* A message that finds its end asleep: the background thread serves it. */
static void wake_passive(void)
{
    struct pollfd fd = { .fd = pair.passive.channel->fd, .events = POLLIN };

    arm(&pair.passive);
    post();
    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1);
    take_event(&pair.passive);
    finish();
}

/* Whether a wait in vain looks at the passive end. */
static bool wait_looks(void)
{
    unsigned before = atomic_load(&passive->source.polls);

    assert_int_equal(
        reactor_wait(reactor_waiter_self(), clock_now_ns() + 100000, PTHREAD_CANCEL_DISABLE),
        -ETIMEDOUT);
    return atomic_load(&passive->source.polls) != before;
}

/* How many of so many waits do, if that end was rung before each. */
static unsigned looks_of(unsigned waits)
{
    unsigned looked = 0;

    for (unsigned i = 0; i < waits; i++) {
        srd_patience_awaited(&passive->source);
        looked += wait_looks();
    }
    return looked;
}

/* The thread of the program may find the active end asleep, too: then that is the one. */
static void an_end_that_was_rung_is_looked_at(void **state)
{
    bool looked = false;

    (void)state;
    for (int i = 0; i < 200 && !looked; i++) {
        srd_patience_forget(&active->source);
        srd_patience_forget(&passive->source);
        assert_false(wait_looks());
        wake_passive();
        looked = wait_looks();
    }
    assert_true(looked);
}

static void *answer_one_that_looks(void *unused)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    (void)unused;
    while (!atomic_load(&passive->source.attentive) && test_now_ms() < end_ms)
        sched_yield();
    post();
    return NULL;
}

/* Returns how often it rings. */
static unsigned answer_is_rung(void)
{
    unsigned before;
    pthread_t thread;

    arm(&pair.passive);
    atomic_store(&srd_patience_ns, DEADLINE_MS * 1000000ull);
    srd_patience_awaited(&passive->source);
    before = atomic_load(&rings);
    assert_int_equal(pthread_create(&thread, NULL, answer_one_that_looks, NULL), 0);
    take_event(&pair.passive);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(atomic_load(&passive->source.attentive));
    before = atomic_load(&rings) - before;
    finish();
    return before;
}

/* It rings where the thread that looks has lost the processor for a millisecond, as if it had left. */
static void an_answer_to_a_thread_that_looks_rings_no_bell(void **state)
{
    bool rang = true;

    (void)state;
    for (int i = 0; i < 64 && rang; i++)
        rang = answer_is_rung();
    assert_false(rang);
}

/* From then on nothing but the test says which end is looked at. */
static void await_idleness(void)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    while ((atomic_load(&active->busy) || atomic_load(&passive->busy)) && test_now_ms() < end_ms)
        sched_yield();
    assert_false(atomic_load(&active->busy) || atomic_load(&passive->busy));
}

/* The idle list forgets an end just after it has said that it is not busy. */
static void forget(void)
{
    await_idleness();
    srd_patience_forget(&passive->source);
    assert_false(wait_looks());
}

static void looks_in_vain_become_rare(void **state)
{
    (void)state;
    forget();
    looks_of(SRD_PATIENCE_WAITS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(looks_of(SRD_PATIENCE_RARELY), 1);
}

/* A thread that may run on as many processors of its own as that (the test's thread may on all). */
static void on_processors(unsigned count, void *(*test)(void *))
{
    cpu_set_t all, allowed;
    pthread_attr_t attr;
    pthread_t thread;

    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && count; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &allowed);
            count--;
        }
    if (count)
        skip(); /* a machine of one processor */
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setaffinity_np(&attr, sizeof(allowed), &allowed), 0);
    assert_int_equal(pthread_create(&thread, &attr, test, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

/* An answer to a thread that looks has renewed the patience. */
static void renew(void)
{
    forget();
    looks_of(SRD_PATIENCE_WAITS);
    for (int i = 0; i < SRD_PATIENCE_RARELY && !looks_of(1); i++)
        ;
    assert_int_equal(looks_of(SRD_PATIENCE_RARELY - 1), 0);
    answer_is_rung();
    forget();
    atomic_store(&srd_patience_ns, UINT64_MAX);
}

static unsigned looked;

static void *count_looks(void *unused)
{
    (void)unused;
    looked = looks_of(SRD_PATIENCE_WAITS);
    return NULL;
}

static void *count_looks_once_it_is_bound(void *unused)
{
    cpu_set_t one;

    (void)unused;
    looked = looks_of(SRD_PATIENCE_WAITS);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one)) {
        looked = UINT_MAX; /* which no test takes */
        return NULL;
    }
    looks_of(SRD_PATIENCE_ASKS);
    looked += looks_of(4 * SRD_PATIENCE_RARELY);
    return NULL;
}

static void a_thread_of_one_processor_does_not_look(void **state)
{
    (void)state;
    renew();
    looked = 1;
    on_processors(1, count_looks);
    assert_int_equal(looked, 0);
}

static void a_thread_of_two_processors_looks(void **state)
{
    (void)state;
    renew();
    on_processors(2, count_looks);
    assert_int_equal(looked, 8);
}

static void a_thread_that_is_bound_later_stops_looking(void **state)
{
    (void)state;
    renew();
    on_processors(2, count_looks_once_it_is_bound);
    assert_int_equal(looked, 8); /* those before */
}

static void an_idle_end_is_left_alone(void **state)
{
    (void)state;
    wake_passive();
    srd_patience_awaited(&passive->source);
    await_idleness();
    for (int i = 0; i < 200 && wait_looks(); i++) /* it is forgotten just after */
        sched_yield();
    for (int i = 0; i < 32; i++)
        assert_false(wait_looks());
}

static void an_end_that_a_thread_polls_is_left_alone(void **state)
{
    struct ibv_wc wc;

    (void)state;
    for (int i = 0; i < 32; i++) {
        srd_patience_awaited(&passive->source);
        for (int poll = 0; poll < 3; poll++) /* the first after arming look at the queue alone */
            assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 0);
        assert_false(wait_looks());
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_to_a_thread_that_looks_rings_no_bell),
        TEST(an_end_that_was_rung_is_looked_at),
        TEST(looks_in_vain_become_rare),
        TEST(a_thread_of_one_processor_does_not_look),
        TEST(a_thread_of_two_processors_looks),
        TEST(a_thread_that_is_bound_later_stops_looking),
        TEST(an_idle_end_is_left_alone),
        TEST(an_end_that_a_thread_polls_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
