/* SPDX-License-Identifier: MIT */
/*
 * An owed acknowledgement goes out by itself, whatever the thread that took the message does next: poll, sleep, leave
 * the queue, or nothing more. The test stops the background thread and the clock (--wrap), so which thread sends it,
 * and when, is no matter of luck.
 */
#include "tests/unit/softrdma/pair.h"
#include "tests/unit/softrdma/receive_side.h"
#include "softrdma/connection/conn.h"
#include "softrdma/queues/cq.h"
#include "reactor/internal.h"
#include "softrdma/events/source.h"
#include "softrdma/queues/qp.h"
#include "util/lock_ask.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>

#include <cmocka.h>

/* --- the clock, and the background thread ------------------------------------------------------------------------- */

static _Atomic uint64_t stopped_ns; /* 0: it goes */
static _Atomic uint64_t ahead_ns;   /* as far as it was turned while it stood: it never goes back */

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    uint64_t ns = atomic_load(&stopped_ns);

    if (!ns) {
        __real_clock_gettime(id, now);
        ns = (uint64_t)now->tv_sec * 1000000000 + (uint64_t)now->tv_nsec + atomic_load(&ahead_ns);
    }
    now->tv_sec = (time_t)(ns / 1000000000);
    now->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

static uint64_t real_ns(void)
{
    struct timespec now;

    __real_clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t real_ms(void)
{
    return real_ns() / 1000000;
}

/* Between two milliseconds. */
static void stop_clock(void)
{
    uint64_t ms = (real_ns() + atomic_load(&ahead_ns)) / 1000000 + 1;

    atomic_store(&stopped_ns, ms * 1000000 + 500000);
}

static void start_clock(void)
{
    uint64_t ns = atomic_load(&stopped_ns), now_ns = real_ns() + atomic_load(&ahead_ns);

    if (ns > now_ns)
        atomic_fetch_add(&ahead_ns, ns - now_ns);
    atomic_store(&stopped_ns, 0);
}

static void wait_for(atomic_bool *flag)
{
    uint64_t end_ms = real_ms() + DEADLINE_MS;

    while (!atomic_load(flag) && real_ms() < end_ms)
        sched_yield();
    assert_true(atomic_load(flag));
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
    atomic_store(&held, true);
    atomic_store(&stands, false); /* what it says from here on, it says while it is held */
    reactor_kick(reactor.background_fd);
    wait_for(&stands);
}

static void let_go(void)
{
    atomic_store(&held, false);
}

/* A place where a thread waits for the test, once: if `wait` is set, it reports its arrival and goes on at `go`. */
struct stop {
    atomic_bool set, arrived, go;
};

static void pass(struct stop *stop)
{
    if (!atomic_exchange(&stop->set, false))
        return;
    atomic_store(&stop->arrived, true);
    wait_for(&stop->go);
}

static void set(struct stop *stop)
{
    atomic_store(&stop->arrived, false);
    atomic_store(&stop->go, false);
    atomic_store(&stop->set, true);
}

/* The background thread knows whether one is owed; another thread is about to look when its connection is due. */
static struct stop thread_knows, other_looks;

bool __real_srd_stream_owes_ack(struct srd_qp *qp);
bool __wrap_srd_stream_owes_ack(struct srd_qp *qp);
bool __wrap_srd_stream_owes_ack(struct srd_qp *qp)
{
    bool owes = __real_srd_stream_owes_ack(qp);

    if (srd_in_background())
        pass(&thread_knows);
    return owes;
}

uint64_t __real_srd_stream_deadline_ms(struct srd_qp *qp);
uint64_t __wrap_srd_stream_deadline_ms(struct srd_qp *qp);
uint64_t __wrap_srd_stream_deadline_ms(struct srd_qp *qp)
{
    if (!srd_in_background())
        pass(&other_looks);
    return __real_srd_stream_deadline_ms(qp);
}

/* Another thread has read its socket, found no octets, and still has the receive side. */
static struct stop other_found_none;

unsigned __real_srd_stream_rx(struct srd_qp *qp, size_t octets, uint64_t now_ms);
unsigned __wrap_srd_stream_rx(struct srd_qp *qp, size_t octets, uint64_t now_ms);
unsigned __wrap_srd_stream_rx(struct srd_qp *qp, size_t octets, uint64_t now_ms)
{
    if (!octets && !srd_in_background())
        pass(&other_found_none);
    return __real_srd_stream_rx(qp, octets, now_ms);
}

/* --- one message, and its acknowledgement ------------------------------------------------------------------------ */

static struct srd_conn *conn_of(struct end *end)
{
    return srd_qp_from(end->qp)->conn;
}

static bool owes(struct pair *pair)
{
    return __real_srd_stream_owes_ack(srd_qp_from(pair->passive.qp));
}

/* Whether the receiver's connection is soon served. */
static bool is_soon(struct pair *pair)
{
    return srd_source_is_soon(&conn_of(&pair->passive)->source);
}

static void post_one(struct pair *pair)
{
    end_recv(&pair->passive, 7, 0, 64);
    end_post(&pair->active, IBV_WR_SEND, 8, 0, 64, NULL, 0, 0);
}

/* A message is in the receiver's socket. */
static void send_one(struct pair *pair)
{
    struct pollfd arrived = { .fd = conn_of(&pair->passive)->source.fd, .events = POLLIN };

    post_one(pair);
    assert_int_equal(poll(&arrived, 1, DEADLINE_MS), 1);
}

static void take_one(struct pair *pair)
{
    struct ibv_wc wc;

    do /* an answer's completion comes with it */
        test_poll(pair->passive.cq, 1, &wc);
    while (wc.wr_id == 10);
    assert_int_equal(wc.wr_id, 7);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

/* The calling thread has taken a message, and has not answered. */
static void owe(struct pair *pair)
{
    send_one(pair);
    take_one(pair);
    assert_true(owes(pair));
}

/* The sender alone looks at its queue. */
static void assert_acknowledged(struct pair *pair)
{
    uint64_t end_ms = real_ms() + DEADLINE_MS;
    struct ibv_wc wc = { 0 };
    int count;

    while (!(count = ibv_poll_cq(pair->active.cq, 1, &wc)) && real_ms() < end_ms)
        ;
    assert_int_equal(count, 1);
    assert_int_equal(wc.wr_id, 8);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_false(owes(pair));
}

/* The program's answer. */
static void answer(struct pair *pair)
{
    struct ibv_wc wc[2];

    end_recv(&pair->active, 9, 0, 64);
    end_post(&pair->passive, IBV_WR_SEND, 10, 0, 64, NULL, 0, 0);
    assert_false(owes(pair));
    test_poll(pair->active.cq, 2, wc);
    assert_int_equal(wc[0].wr_id, 8);
    assert_int_equal(wc[1].wr_id, 9);
}

static struct pair pair;

static int setup(void **state)
{
    (void)state;
    /* connections of the test before end; what is soon, and what is idle, each have a source for their deadlines */
    while (atomic_load(&reactor.source_count) > 2)
        sched_yield();
    pair_connect(&pair, "127.0.0.1");
    while (is_soon(&pair) || srd_source_is_soon(&conn_of(&pair.active)->source))
        sched_yield();
    hold();
    stop_clock();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    let_go();
    start_clock();
    pair_close(&pair);
    return 0;
}

/* Half a millisecond: an acknowledgement due soon is due then. */
static void time_passes(void)
{
    atomic_fetch_add(&stopped_ns, 500000);
}

/* --- without the background thread -------------------------------------------------------------------------------- */

static void assert_third_look_sends(void)
{
    struct ibv_wc wc;

    for (int round = 0; round < 3; round++) {
        owe(&pair);
        for (int look = 0; look < 3; look++) {
            assert_true(owes(&pair));
            assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 0);
        }
        assert_acknowledged(&pair);
    }
}

static void who_polls_sends_it_with_the_third_look(void **state)
{
    (void)state;
    assert_third_look_sends();
}

static void who_polls_several_connections_sends_it_with_the_third_look(void **state)
{
    struct srd_source *other = &conn_of(&pair.active)->source;

    (void)state;
    srd_cq_attach_source(pair.passive.cq, other);
    assert_third_look_sends();
    srd_cq_detach_source(pair.passive.cq, other);
}

static void who_goes_to_sleep_sends_it(void **state)
{
    (void)state;
    owe(&pair);
    srd_run_soon(); /* as reactor_wait does first */
    assert_acknowledged(&pair);
}

/* A sleep takes no deadline from what rode on data, so the next message finds it there. */
static void who_goes_to_sleep_leaves_what_rode_on_data(void **state)
{
    (void)state;
    owe(&pair);
    answer(&pair);
    srd_run_soon(); /* as reactor_wait does first */
    assert_true(is_soon(&pair));
    owe(&pair);
    srd_run_soon(); /* as reactor_wait does first */
    assert_acknowledged(&pair);
}

static void who_sleeps_elsewhere_sends_it(void **state)
{
    (void)state;
    owe(&pair);
    srd_progress_leave(pair.passive.cq);
    assert_acknowledged(&pair);
}

static void *owe_and_wait_for_an_event(void *argument)
{
    struct ibv_cq *cq;
    void *context;

    take_one(&pair);
    (void)argument;
    if (!srd_get_cq_event(pair.passive.channel, &cq, &context))
        srd_ack_cq_events(cq, 1);
    return NULL;
}

static void who_waits_for_an_event_sends_it(void **state)
{
    pthread_t thread;

    (void)state;
    send_one(&pair);
    assert_int_equal(pthread_create(&thread, NULL, owe_and_wait_for_an_event, NULL), 0);
    assert_acknowledged(&pair);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    post_one(&pair);
    pthread_join(thread, NULL); /* it moved the connection, and polls no more */
    assert_true(owes(&pair));
    assert_true(is_soon(&pair));
    take_one(&pair);
}

/* A poll of all connections, for another queue, moved it. */
static void who_looks_at_everything_sends_it_before_a_sleep(void **state)
{
    (void)state;
    send_one(&pair);
    reactor_poll();
    assert_true(owes(&pair));
    assert_true(is_soon(&pair));
    srd_run_soon(); /* as reactor_wait does first */
    assert_acknowledged(&pair);
    take_one(&pair);
}

/* --- by the background thread ------------------------------------------------------------------------------------- */

/* No thread polls any more: the acknowledgement goes at its deadline, and not before. */
static void what_a_thread_leaves_behind_goes_in_time(void **state)
{
    struct pollfd arrived = { .events = POLLIN };

    (void)state;
    owe(&pair);
    assert_true(is_soon(&pair));
    arrived.fd = conn_of(&pair.active)->source.fd;
    let_go();
    assert_int_equal(poll(&arrived, 1, 20), 0); /* while the clock stands */
    assert_true(owes(&pair));
    hold();
    time_passes();
    let_go();
    assert_acknowledged(&pair);
}

static void *wait_in_a_thread(void *argument)
{
    struct reactor_waiter *_Atomic *waiter = argument;

    atomic_store(waiter, reactor_waiter_self());
    reactor_wait(atomic_load(waiter), REACTOR_NEVER, PTHREAD_CANCEL_DISABLE);
    return NULL;
}

/* The same while another thread waits, and drives. The background thread stands. */
static void what_a_thread_leaves_behind_goes_while_another_sleeps(void **state)
{
    uint64_t end_ms = real_ms() + DEADLINE_MS;
    struct reactor_waiter *_Atomic waiter = NULL;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, wait_in_a_thread, &waiter), 0);
    while ((!atomic_load(&waiter) || atomic_load(&atomic_load(&waiter)->mode) != WAITER_EPOLL) &&
           real_ms() < end_ms)
        sched_yield();
    post_one(&pair);
    take_one(&pair);
    /* Either thread may have read it; it sets the deadline after it has delivered the completion. */
    while (!is_soon(&pair) && real_ms() < end_ms)
        sched_yield();
    atomic_fetch_add(&stopped_ns, 1000000);
    assert_acknowledged(&pair);
    reactor_signal(atomic_load(&waiter));
    pthread_join(thread, NULL);
}

/* Riding on data takes no deadline back: that passes, once, for nothing. */
static void what_rode_on_data_is_not_sent_again(void **state)
{
    uint64_t end_ms = real_ms() + DEADLINE_MS;
    struct pollfd arrived = { .events = POLLIN };

    (void)state;
    owe(&pair);
    answer(&pair);
    assert_true(is_soon(&pair));
    arrived.fd = conn_of(&pair.active)->source.fd;
    time_passes();
    do {
        let_go();
        while (is_soon(&pair) && real_ms() < end_ms) {
            atomic_fetch_add(&stopped_ns, 1000000);
            sched_yield();
        }
        hold();
    } while (is_soon(&pair) && real_ms() < end_ms); /* it was paused, and is put in once more */
    assert_false(is_soon(&pair));
    assert_int_equal(poll(&arrived, 1, 0), 0);
}

/* The deadline of an earlier one passes; that none is owed is found out just before the next is. */
static void what_is_owed_just_after_the_look_is_sent(void **state)
{
    (void)state;
    owe(&pair);
    answer(&pair);
    assert_true(is_soon(&pair));
    set(&thread_knows);
    time_passes();
    let_go();
    wait_for(&thread_knows.arrived);
    owe(&pair);
    atomic_store(&thread_knows.go, true);
    atomic_fetch_add(&stopped_ns, 1000000);
    assert_acknowledged(&pair);
}

static void *take_in_a_thread(void *argument)
{
    (void)argument;
    take_one(&pair);
    return NULL;
}

/* The same deadline passes when a thread found it set, and so set none itself. */
static void what_counts_on_a_deadline_that_passes_is_sent(void **state)
{
    pthread_t thread;

    (void)state;
    owe(&pair);
    answer(&pair);
    assert_true(is_soon(&pair));
    send_one(&pair);
    set(&other_looks);
    assert_int_equal(pthread_create(&thread, NULL, take_in_a_thread, NULL), 0);
    wait_for(&other_looks.arrived);
    assert_true(owes(&pair));
    time_passes();
    let_go();
    while (owes(&pair)) /* its thread is blocked: only the background thread can */
        sched_yield();
    atomic_store(&other_looks.go, true);
    pthread_join(thread, NULL);
    assert_acknowledged(&pair);
}

/* Of a lock that is held: a thread has left what it came for to the holder. */
static bool was_asked(struct lock *lock)
{
    return atomic_load(&lock->word) & LOCK_ASKED;
}

/* A thread of the program has the lock that is needed to send, and does not send. */
static void what_finds_the_connection_taken_is_sent_later(void **state)
{
    struct srd_qp *qp = srd_qp_from(pair.passive.qp);
    uint64_t end_ms = real_ms() + DEADLINE_MS;

    (void)state;
    owe(&pair);
    lock_acquire(&qp->tx_lock);
    time_passes();
    let_go();
    while (!was_asked(&qp->tx_lock) && real_ms() < end_ms)
        sched_yield();
    assert_true(was_asked(&qp->tx_lock));
    assert_true(owes(&pair));
    while (!is_soon(&pair) && real_ms() < end_ms) /* again */
        sched_yield();
    assert_true(is_soon(&pair));
    lock_release(&qp->tx_lock);
    atomic_fetch_add(&stopped_ns, 1000000);
    assert_acknowledged(&pair);
}

/* There is no deadline while the socket is full: the stream waits for room. */
static void what_finds_the_socket_full_is_sent_when_there_is_room(void **state)
{
    struct srd_conn *conn = conn_of(&pair.passive);

    (void)state;
    send_one(&pair);
    atomic_store(&conn->turn, 0); /* the next poll reads the socket */
    atomic_store(&conn->tx_blocked, true);
    take_one(&pair);
    assert_true(owes(&pair));
    assert_false(is_soon(&pair));
    srd_source_leave(&conn->source);
    srd_source_update(&conn->source);
    reactor_look();
    assert_acknowledged(&pair);
}

static void *take_completion_in_a_thread(void *argument)
{
    struct ibv_wc wc;

    (void)argument;
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 10);
    return NULL;
}

/* A thread that receives has the send side for a moment: the peer acknowledged octets not yet counted as sent. */
static void what_finds_the_send_side_taken_by_a_receiver_is_sent_by_it(void **state)
{
    struct srd_qp *qp = srd_qp_from(pair.passive.qp);
    struct pollfd arrived = { .fd = qp->conn->source.fd, .events = POLLIN };
    uint64_t end_ms = real_ms() + DEADLINE_MS;
    struct ibv_wc wc;
    pthread_t thread;

    (void)state;
    end_recv(&pair.active, 9, 0, 64);
    end_post(&pair.passive, IBV_WR_SEND, 10, 0, 64, NULL, 0, 0);
    owe(&pair); /* what was sent before has not been received */
    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 9);
    while (!poll(&arrived, 1, 0) && real_ms() < end_ms)
        assert_int_equal(ibv_poll_cq(pair.active.cq, 1, &wc), 0);
    assert_int_equal(poll(&arrived, 1, 0), 1);
    lock_acquire(&qp->tx_lock); /* the sender, which has not counted */
    atomic_fetch_sub(&qp->stream.handed, 1);
    assert_int_equal(pthread_create(&thread, NULL, take_completion_in_a_thread, NULL), 0);
    while ((atomic_load(&qp->tx_lock.word) & ~LOCK_ASKED) == LOCK_TAKEN && real_ms() < end_ms)
        sched_yield();
    assert_true((atomic_load(&qp->tx_lock.word) & ~LOCK_ASKED) !=
                LOCK_TAKEN); /* the receiver waits for it */
    srd_conn_transmit(qp->conn);
    assert_true(owes(&pair));
    atomic_fetch_add(&qp->stream.handed, 1);
    lock_release(&qp->tx_lock);
    pthread_join(thread, NULL);
    assert_acknowledged(&pair);
}

/*
 * The socket was not read while too much was held for want of a Receive; the thread that posts one finds the receive
 * side taken.
 */
static void what_finds_the_receive_side_taken_is_read_by_its_holder(void **state)
{
    struct srd_qp *qp = srd_qp_from(pair.passive.qp);

    (void)state;
    atomic_store(&qp->conn->want_in, false);
    srd_source_leave(&qp->conn->source);
    srd_source_update(&qp->conn->source);
    send_one(&pair);
    reactor_look();
    assert_false(owes(&pair));
    end_stop_receiving(&pair.passive);
    srd_conn_started(qp->conn, SRD_STREAM_RX);
    assert_false(owes(&pair));
    end_let_receive(&pair.passive);
    assert_true(owes(&pair));
    take_one(&pair);
}

static void *look_in_a_thread(void *found)
{
    struct ibv_wc wc;

    *(int *)found = ibv_poll_cq(pair.passive.cq, 1, &wc);
    return NULL;
}

/* What comes behind the look of the thread that has the receive side: who is sent to read it does not wait for it. */
static void what_comes_behind_a_look_is_read_by_who_looked(void **state)
{
    struct srd_qp *qp = srd_qp_from(pair.passive.qp);
    pthread_t thread;
    int found = 0;

    (void)state;
    set(&other_found_none);
    assert_int_equal(pthread_create(&thread, NULL, look_in_a_thread, &found), 0);
    wait_for(&other_found_none.arrived);
    send_one(&pair);
    srd_conn_started(qp->conn, SRD_STREAM_RX);
    assert_true(was_asked(&qp->rx_lock));
    assert_false(owes(&pair));
    atomic_store(&other_found_none.go, true);
    pthread_join(thread, NULL);
    assert_int_equal(found, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(who_polls_sends_it_with_the_third_look),
        TEST(who_polls_several_connections_sends_it_with_the_third_look),
        TEST(who_goes_to_sleep_sends_it),
        TEST(who_goes_to_sleep_leaves_what_rode_on_data),
        TEST(who_sleeps_elsewhere_sends_it),
        TEST(who_waits_for_an_event_sends_it),
        TEST(who_looks_at_everything_sends_it_before_a_sleep),
        TEST(what_a_thread_leaves_behind_goes_in_time),
        TEST(what_a_thread_leaves_behind_goes_while_another_sleeps),
        TEST(what_rode_on_data_is_not_sent_again),
        TEST(what_is_owed_just_after_the_look_is_sent),
        TEST(what_counts_on_a_deadline_that_passes_is_sent),
        TEST(what_finds_the_connection_taken_is_sent_later),
        TEST(what_finds_the_send_side_taken_by_a_receiver_is_sent_by_it),
        TEST(what_finds_the_receive_side_taken_is_read_by_its_holder),
        TEST(what_comes_behind_a_look_is_read_by_who_looked),
        TEST(what_finds_the_socket_full_is_sent_when_there_is_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
