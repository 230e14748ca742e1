/* SPDX-License-Identifier: MIT */
/*
 * A thread that is about to sleep looks for a while at the connection that was rung last: an answer that comes then
 * rings no bell; looks in vain become rare; and an idle connection, or one that another thread polls, is left alone.
 */
#include "softrdma/events/patience.h"

#include "tests/support/haste.h"
#include "tests/unit/softrdma/looks.h"
#include "tests/unit/softrdma/pair.h"

#include "softrdma/connection/conn.h"
#include "softrdma/queues/channel.h"
#include "softrdma/queues/cq.h"
#include "softrdma/queues/qp.h"
#include "softrdma/share/internal.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
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

/* The clock of a thread, in place of the machine's: each look at it takes a microsecond. 0: it is not stopped. */
static _Thread_local uint64_t ticks_us;
int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    if (!ticks_us)
        return __real_clock_gettime(id, now);
    ticks_us++;
    now->tv_sec = (time_t)(ticks_us / 1000000);
    now->tv_nsec = (long)(ticks_us % 1000000 * 1000);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    atomic_store(&srd_patience_ns, SHORT_NS);
    pair_connect(&pair, "127.0.0.1");
    assert_string_equal(srd_query_path(pair.active.qp), "shm");
    active = srd_qp_conn(srd_qp_from(pair.active.qp));
    passive = srd_qp_conn(srd_qp_from(pair.passive.qp));
    atomic_store(&looks_at, &passive->source);
    atomic_store(&bell_fd, srd_share_wake_fd(active->share));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    atomic_store(&bell_fd, -1);
    srd_conn_unref(active);
    atomic_store(&looks_at, NULL);
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
    unsigned before = atomic_load(&looks);

    assert_int_equal(
        reactor_wait(reactor_waiter_self(), clock_now_ns() + 100000, PTHREAD_CANCEL_DISABLE),
        -ETIMEDOUT);
    return atomic_load(&looks) != before;
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
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    bool looked = false;

    (void)state;
    while (!looked && test_now_ms() < end_ms) {
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
    while (!srd_watch_has(&passive->source.watch, SRD_WATCH_ATTENTIVE) && test_now_ms() < end_ms)
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
    assert_false(srd_watch_has(&passive->source.watch, SRD_WATCH_ATTENTIVE));
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

enum { HASTE = 20 };

/* From then on nothing but the test says which end is looked at. */
static void await_idleness(void)
{
    uint64_t end_ms = haste_real_ms() + DEADLINE_MS;

    haste_begin(HASTE);
    while ((atomic_load(&active->busy) || atomic_load(&passive->busy)) && haste_real_ms() < end_ms)
        sched_yield();
    haste_end();
    assert_false(atomic_load(&active->busy) || atomic_load(&passive->busy));
}

/* The idle list forgets an end just after it has said that it is not busy. */
static void forget(void)
{
    await_idleness();
    srd_patience_forget(&passive->source);
    assert_false(wait_looks());
}

/* What a library above has in the reactor: it takes the event when it is run, and ends the wait. */
struct taker {
    struct reactor_source source;
    struct reactor_waiter *waiter;
    enum reactor_how how;
    pthread_t thread;
};

static void run_taker(struct reactor_source *source, enum reactor_how how)
{
    struct taker *taker = container_of(source, struct taker, source);

    take_event(&pair.passive);
    taker->how = how;
    taker->thread = pthread_self();
    reactor_signal(taker->waiter);
}

/* Whether the thread that waits has run it: not where the background thread was driving as the wait began. */
static bool taken_by_itself(struct taker *taker)
{
    pthread_t thread;

    arm(&pair.passive);
    atomic_store(&srd_patience_ns, DEADLINE_MS * 1000000ull);
    srd_patience_awaited(&passive->source);
    assert_int_equal(pthread_create(&thread, NULL, answer_one_that_looks, NULL), 0);
    assert_int_equal(reactor_wait(taker->waiter, clock_now_ns() + DEADLINE_MS * 2000000ull,
                         PTHREAD_CANCEL_DISABLE),
        0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    finish();
    return taker->how == REACTOR_WAITING && pthread_equal(taker->thread, pthread_self());
}

/* A look that did not see that it has found it would last until its end. */
static void an_event_for_the_library_above_ends_the_look(void **state)
{
    static const struct reactor_source_ops ops = { .run = run_taker };
    struct taker taker = { .waiter = reactor_waiter_self() };
    uint64_t start_ms = test_now_ms();
    bool itself = false;

    (void)state;
    reactor_source_init(&taker.source, &ops, -1);
    assert_int_equal(fcntl(pair.passive.channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(reactor_add(&taker.source, 0), 0);
    srd_progress_attach(pair.passive.channel, &taker.source);
    for (int i = 0; i < 64 && !itself; i++)
        itself = taken_by_itself(&taker);
    assert_true(itself);
    assert_true(test_now_ms() - start_ms < DEADLINE_MS);
    srd_progress_attach(pair.passive.channel, NULL);
    reactor_remove_sync(&taker.source);
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

/* Where the peer was seen last. */
static void peer_on(uint32_t processor)
{
    atomic_store(&passive->share->out->processor, processor + 1);
}

/* The looks of a wait in vain for so long, by the clock that ticks. */
static unsigned looks_for_us(uint64_t us)
{
    unsigned before = atomic_load(&looks);

    assert_int_equal(
        reactor_wait(reactor_waiter_self(), clock_now_ns() + us * 1000, PTHREAD_CANCEL_DISABLE),
        -ETIMEDOUT);
    return atomic_load(&looks) - before;
}

static void a_look_is_as_long_as_the_last_sleep_and_half_as_long_again(void **state)
{
    (void)state;
    assert_int_equal(srd_patience_after(0), 20000);
    assert_int_equal(srd_patience_after(13000), 20000);
    assert_int_equal(srd_patience_after(20000), 30000);
    assert_int_equal(srd_patience_after(40000), 60000);
    assert_int_equal(srd_patience_after(70000), 100000);
    assert_int_equal(srd_patience_after(100000), 100000);
    assert_int_equal(srd_patience_after(100001), 20000);
    assert_int_equal(srd_patience_after(UINT64_MAX), 20000);
}

static void a_wait_that_slept_says_how_long_the_next_one_looks(void **state)
{
    unsigned looks;

    (void)state;
    await_idleness();
    atomic_store(&srd_patience_ns, UINT64_MAX);
    peer_on(UINT16_MAX);
    ticks_us = 1000000;
    srd_patience_awaited(&passive->source);
    looks = looks_for_us(40);
    assert_in_range(looks, 10, 20);
    srd_patience_awaited(&passive->source); /* some 45 us after the wait began */
    looks = looks_for_us(200);
    assert_in_range(looks, 50, 90);
    srd_patience_awaited(&passive->source); /* too long to be looked for */
    looks = looks_for_us(200);
    assert_in_range(looks, 10, 20);
    ticks_us = 0;
}

static unsigned looked;

static void *count_looks(void *unused)
{
    (void)unused;
    peer_on((uint32_t)sched_getcpu());
    looked = looks_of(SRD_PATIENCE_WAITS);
    return NULL;
}

static void *count_looks_apart(void *unused)
{
    (void)unused;
    peer_on((uint32_t)sched_getcpu() + 1);
    looked = looks_of(SRD_PATIENCE_WAITS);
    return NULL;
}

static void *count_looks_not_told(void *unused)
{
    (void)unused;
    peer_on(UINT32_MAX); /* 0 in the memory */
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
    peer_on((uint32_t)sched_getcpu());
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

static void a_thread_of_one_processor_looks_if_its_peer_is_on_another(void **state)
{
    (void)state;
    renew();
    on_processors(1, count_looks_apart);
    assert_int_equal(looked, 8);
}

static void a_thread_of_one_processor_whose_peer_has_not_told_its_own_does_not_look(void **state)
{
    (void)state;
    renew();
    looked = 1;
    on_processors(1, count_looks_not_told);
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

static void *poll_in_vain(void *unused)
{
    struct ibv_wc wc;

    (void)unused;
    for (int poll = 0; poll < 8; poll++) /* the first after arming promise no others */
        assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 0);
    return NULL;
}

static void an_end_that_another_thread_polls_is_left_alone(void **state)
{
    pthread_t thread;

    (void)state;
    for (int i = 0; i < 32; i++) {
        srd_patience_awaited(&passive->source);
        assert_int_equal(pthread_create(&thread, NULL, poll_in_vain, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
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
        TEST(a_thread_of_one_processor_looks_if_its_peer_is_on_another),
        TEST(a_thread_of_one_processor_whose_peer_has_not_told_its_own_does_not_look),
        TEST(a_look_is_as_long_as_the_last_sleep_and_half_as_long_again),
        TEST(a_wait_that_slept_says_how_long_the_next_one_looks),
        TEST(an_event_for_the_library_above_ends_the_look),
        TEST(a_thread_of_two_processors_looks),
        TEST(a_thread_that_is_bound_later_stops_looking),
        TEST(an_idle_end_is_left_alone),
        TEST(an_end_that_another_thread_polls_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
