/* SPDX-License-Identifier: MIT */
/* A connection between the background thread and the threads of the program. */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/connection/conn.h"
#include "softrdma/queues/qp.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>

#include <cmocka.h>

enum { ROUNDS = 200, LOOKERS = 3 };

struct busy {
    struct ibv_context *context;
    atomic_bool stop;
};

/* Looks at all connections without end, as a program does that polls a queue with several of them. */
static void *look_all_the_time(void *argument)
{
    struct busy *busy = argument;

    while (!atomic_load(&busy->stop))
        reactor_poll();
    return NULL;
}

/* The receiver does not look at its queue before the sender has its completion. */
static void send_is_acknowledged(struct pair *pair, uint64_t wr_id)
{
    struct ibv_wc wc;

    end_recv(&pair->passive, wr_id, 0, 64);
    end_post(&pair->active, IBV_WR_SEND, wr_id, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
    test_poll(pair->active.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(wc.wr_id, wr_id);
    test_poll(pair->passive.cq, 1, &wc);
    assert_int_equal(wc.wr_id, wr_id);
}

static void acknowledged_when_the_receiver_does_not_look(void **state)
{
    struct pair pair = { 0 };

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    for (uint64_t i = 0; i < ROUNDS; i++)
        send_is_acknowledged(&pair, i);
    pair_close(&pair);
}

static void acknowledged_while_another_thread_looks_at_everything(void **state)
{
    struct pair pair = { 0 };
    struct busy busy = { 0 };
    pthread_t threads[LOOKERS];

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    busy.context = pair.passive.context;
    for (int i = 0; i < LOOKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_all_the_time, &busy), 0);
    for (uint64_t i = 0; i < ROUNDS; i++)
        send_is_acknowledged(&pair, i);
    atomic_store(&busy.stop, true);
    for (int i = 0; i < LOOKERS; i++)
        pthread_join(threads[i], NULL);
    pair_close(&pair);
}

/*
 * A background thread that has lost the processor: what it holds it gives back when a thread of the program waits for
 * it.
 */
struct holder {
    struct srd_conn *conn;
    struct lock *lock;
    atomic_uint *waiting;
    atomic_bool holds;
    atomic_bool waited_for;
};

static void *hold_until_waited_for(void *argument)
{
    struct holder *holder = argument;
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    lock_acquire(holder->lock);
    do {
        srd_watch_set(
            &holder->conn->source.watch, SRD_WATCH_ATTENDED); /* the real one comes and goes */
        atomic_store(&holder->holds, true);
        sched_yield();
    } while (!atomic_load(holder->waiting) && test_now_ms() < end_ms);
    atomic_store(&holder->waited_for, atomic_load(holder->waiting));
    srd_watch_clear(&holder->conn->source.watch, SRD_WATCH_ATTENDED);
    lock_release(holder->lock);
    return NULL;
}

static pthread_t hold(struct holder *holder)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, hold_until_waited_for, holder), 0);
    while (!atomic_load(&holder->holds))
        sched_yield();
    return thread;
}

static void a_look_waits_for_the_background_thread(void **state)
{
    struct pair pair = { 0 };
    struct srd_qp *qp;
    struct holder holder = { 0 };
    struct ibv_wc wc;
    pthread_t thread;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    qp = srd_qp_from(pair.passive.qp);
    holder.conn = qp->conn;
    holder.lock = &qp->rx_lock;
    holder.waiting = &holder.conn->rx_waiting;
    end_recv(&pair.passive, 1, 0, 64);
    thread = hold(&holder);
    end_post(&pair.active, IBV_WR_SEND, 1, 0, 64, NULL, 0, 0);
    test_poll(pair.passive.cq, 1, &wc);
    pthread_join(thread, NULL);
    assert_true(holder.waited_for);
    assert_int_equal(atomic_load(&holder.conn->rx_waiting), 0);
    pair_close(&pair);
}

static void a_post_waits_for_the_background_thread(void **state)
{
    struct pair pair = { 0 };
    struct srd_qp *qp;
    struct holder holder = { 0 };
    struct ibv_wc wc;
    pthread_t thread;
    int posted = 0;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    qp = srd_qp_from(pair.active.qp);
    holder.conn = qp->conn;
    holder.lock = &qp->tx_lock;
    holder.waiting = &holder.conn->tx_waiting;
    thread = hold(&holder);
    do { /* one that finds the real background thread there leaves it to that */
        end_recv(&pair.passive, 1, 0, 64);
        end_post(&pair.active, IBV_WR_SEND, 1, 0, 64, NULL, 0, 0);
    } while (++posted < END_DEPTH && !atomic_load(&holder.waited_for));
    for (int i = 0; i < posted; i++)
        test_poll(pair.passive.cq, 1, &wc);
    pthread_join(thread, NULL);
    assert_true(holder.waited_for);
    assert_int_equal(atomic_load(&holder.conn->tx_waiting), 0);
    pair_close(&pair);
}

/* The reactor finds the connection ready while a thread polls it. */
static struct srd_source *pause_passive(struct pair *pair)
{
    struct srd_source *source = &srd_qp_from(pair->passive.qp)->conn->source;
    struct ibv_wc wc;

    do /* between two polls the background thread may look at it */
        assert_int_equal(ibv_poll_cq(pair->passive.cq, 1, &wc), 0);
    while (!srd_source_was_polled(source));
    source->reactor.ops->ready(&source->reactor, EPOLLIN, REACTOR_WAITING); /* in vain */
    return source;
}

static void arming_a_queue_has_its_connection_watched(void **state)
{
    struct pair pair = { 0 };
    struct srd_source *source;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    source = pause_passive(&pair);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    assert_false(srd_source_was_polled(source));
    assert_int_equal(source->reactor.events, EPOLLIN);
    pair_close(&pair);
}

static void leaving_a_queue_has_its_connection_watched(void **state)
{
    struct pair pair = { 0 };
    struct srd_source *source;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    source = pause_passive(&pair);
    srd_progress_leave(pair.passive.cq);
    assert_false(srd_source_was_polled(source));
    assert_int_equal(source->reactor.events, EPOLLIN);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledged_when_the_receiver_does_not_look),
        cmocka_unit_test(acknowledged_while_another_thread_looks_at_everything),
        cmocka_unit_test(a_look_waits_for_the_background_thread),
        cmocka_unit_test(a_post_waits_for_the_background_thread),
        cmocka_unit_test(arming_a_queue_has_its_connection_watched),
        cmocka_unit_test(leaving_a_queue_has_its_connection_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
