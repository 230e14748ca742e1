/* SPDX-License-Identifier: MIT */
/*
 * A thread that is about to sleep looks for a while at the TCP connection that had something for a thread that slept;
 * one that is bound to a processor only if its peer's packets come from another. test_patience.c has the rest.
 */
#include "softrdma/events/patience.h"

#include "tests/unit/softrdma/looks.h"
#include "tests/unit/softrdma/pair.h"

#include "softrdma/connection/conn.h"
#include "softrdma/queues/qp.h"
#include "util/clock.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>

#include <cmocka.h>

static struct pair pair;
static struct srd_conn *passive;

/* Where the passive end's packets come from, in place of what the kernel says; -1: it does not say. */
static int incoming;
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    if (level != SOL_SOCKET || name != SO_INCOMING_CPU)
        return __real_getsockopt(fd, level, name, value, size);
    *(int *)value = incoming;
    return 0;
}

static int setup(void **state)
{
    (void)state;
    pair_connect(&pair, "127.0.0.1");
    assert_string_equal(srd_query_path(pair.active.qp), "tcp");
    passive = srd_qp_conn(srd_qp_from(pair.passive.qp));
    atomic_store(&looks_at, &passive->source);
    atomic_store(&srd_patience_ns, 1000);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    atomic_store(&looks_at, NULL);
    srd_conn_unref(passive);
    pair_close(&pair);
    return 0;
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

static void post(void)
{
    end_recv(&pair.passive, 1, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
}

/* Sends once the reactor has a thread that waits. */
static void *send_to_one_that_waits(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        sched_yield();
    post();
    return NULL;
}

static void finish(void)
{
    struct ibv_wc wc;

    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(ibv_req_notify_cq(pair.active.cq, 0), 0);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
}

/* A message wakes this thread, which waits for the event: none but the background thread may forestall it. */
static void wait_for_message(void)
{
    struct ibv_cq *cq;
    void *context;
    pthread_t thread;

    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, send_to_one_that_waits, NULL), 0);
    assert_int_equal(srd_get_cq_event(pair.passive.channel, &cq, &context), 0);
    srd_ack_cq_events(cq, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    finish();
}

static void an_end_whose_message_woke_a_thread_is_looked_at(void **state)
{
    bool looked = false;

    (void)state;
    for (int i = 0; i < 200 && !looked; i++) {
        srd_patience_forget(&passive->source);
        assert_false(wait_looks());
        wait_for_message();
        looked = wait_looks();
    }
    assert_true(looked);
}

/* What a thread finds that polls wakes none. */
static void an_end_that_is_polled_is_not_looked_at(void **state)
{
    (void)state;
    srd_patience_forget(&passive->source);
    for (int i = 0; i < 64; i++) {
        struct ibv_wc wc;

        post();
        test_poll(pair.active.cq, 1, &wc);
        test_poll(pair.passive.cq, 1, &wc);
    }
    assert_int_equal(ibv_req_notify_cq(pair.active.cq, 0), 0);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    assert_false(wait_looks());
}

static unsigned looked;

/* The looks of so many waits, each after a message; the first ones of a process look all. */
static void *count_looks(void *from_elsewhere)
{
    int own = sched_getcpu();

    incoming = !from_elsewhere ? own : *(const int *)from_elsewhere ? own + 1 : -1;
    looked = 0;
    for (unsigned i = 0; i < SRD_PATIENCE_WAITS / 2; i++) {
        srd_patience_awaited(&passive->source);
        looked += wait_looks();
    }
    return NULL;
}

static void on_one_processor(void *from_elsewhere)
{
    cpu_set_t one;
    pthread_attr_t attr;
    pthread_t thread;

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    atomic_store(&srd_patience_ns, UINT64_MAX);
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setaffinity_np(&attr, sizeof(one), &one), 0);
    assert_int_equal(pthread_create(&thread, &attr, count_looks, from_elsewhere), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

static void a_thread_of_one_processor_looks_if_packets_come_from_another(void **state)
{
    int elsewhere = 1;

    (void)state;
    on_one_processor(&elsewhere);
    assert_int_equal(looked, SRD_PATIENCE_WAITS / 2);
}

static void a_thread_of_one_processor_does_not_look_if_packets_come_from_it(void **state)
{
    (void)state;
    on_one_processor(NULL);
    assert_int_equal(looked, 0);
}

static void a_thread_of_one_processor_does_not_look_if_the_kernel_does_not_say(void **state)
{
    int unknown = 0;

    (void)state;
    on_one_processor(&unknown);
    assert_int_equal(looked, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(
            a_thread_of_one_processor_looks_if_packets_come_from_another), /* while all waits look */
        TEST(a_thread_of_one_processor_does_not_look_if_packets_come_from_it),
        TEST(a_thread_of_one_processor_does_not_look_if_the_kernel_does_not_say),
        TEST(an_end_whose_message_woke_a_thread_is_looked_at),
        TEST(an_end_that_is_polled_is_not_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
