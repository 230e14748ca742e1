/* SPDX-License-Identifier: MIT */
/* A thread that sleeps in the device (reactor_wait), and the polls that follow an event. */
#include "tests/unit/softrdma/pair.h"
#include "reactor/reactor.h"
#include "softrdma/queues/cq.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 100 };

/* What a library above has in the reactor: it takes one event when it is run, and wakes the thread that waits. */
struct taker {
    struct reactor_source source;
    struct end *end;
    struct reactor_waiter *waiter;
    atomic_uint taken;
    struct ibv_cq *last;
};

static void take_event(struct reactor_source *source, enum reactor_how how)
{
    struct taker *taker = container_of(source, struct taker, source);
    void *context;

    (void)how;
    assert_int_equal(srd_get_cq_event(taker->end->channel, &taker->last, &context), 0);
    srd_ack_cq_events(taker->last, 1);
    atomic_fetch_add(&taker->taken, 1);
    reactor_signal(taker->waiter);
}

static const struct reactor_source_ops taker_ops = { .run = take_event };

static void taker_open(struct taker *taker, struct end *end)
{
    memset(taker, 0, sizeof(*taker));
    reactor_source_init(&taker->source, &taker_ops, -1);
    taker->end = end;
    taker->waiter = reactor_waiter_self();
    assert_int_equal(fcntl(end->channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(reactor_add(&taker->source, 0), 0);
    srd_progress_attach(end->channel, &taker->source);
}

static void taker_close(struct taker *taker)
{
    srd_progress_attach(taker->end->channel, NULL);
    reactor_remove_sync(&taker->source);
}

/* Sleeps until so many events were taken. The channel's descriptor shows none of them. */
static void sleep_for_events(struct taker *taker, unsigned count)
{
    struct pollfd shown = { .fd = taker->end->channel->fd, .events = POLLIN };
    uint64_t deadline_ns = (test_now_ms() + DEADLINE_MS) * 1000000;

    while (atomic_load(&taker->taken) < count)
        assert_int_not_equal(
            reactor_wait(taker->waiter, deadline_ns, PTHREAD_CANCEL_DISABLE), -ETIMEDOUT);
    assert_int_equal(atomic_exchange(&taker->taken, 0), count);
    assert_int_equal(poll(&shown, 1, 0), 0);
}

static void *push_one(void *argument)
{
    struct end *end = argument;
    struct ibv_wc wc = { .wr_id = 1 };

    srd_cq_push(end->cq, &wc, false);
    return NULL;
}

static void sleep_ends_for_an_event_that_another_thread_queues(void **state)
{
    struct end end = { 0 };
    struct taker taker;

    (void)state;
    end_open(&end);
    taker_open(&taker, &end);
    for (int i = 0; i < ROUNDS; i++) {
        struct ibv_wc wc;
        pthread_t thread;

        assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
        assert_int_equal(pthread_create(&thread, NULL, push_one, &end), 0);
        sleep_for_events(&taker, 1);
        pthread_join(thread, NULL);
        assert_int_equal(ibv_poll_cq(end.cq, 1, &wc), 1);
        assert_int_equal(wc.wr_id, 1);
    }
    taker_close(&taker);
    end_close(&end);
}

static void every_queue_with_an_event_is_taken(void **state)
{
    struct end end = { 0 };
    struct taker taker;
    struct ibv_cq *second;
    struct ibv_wc wc = { .wr_id = 1 };

    (void)state;
    end_open(&end);
    taker_open(&taker, &end);
    second = srd_create_cq(end.context, 4, NULL, end.channel, 0);
    assert_non_null(second);
    assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
    assert_int_equal(ibv_req_notify_cq(second, 0), 0);
    srd_cq_push(end.cq, &wc, false);
    srd_cq_push(second, &wc, false);
    srd_cq_push(second, &wc, false); /* armed once */
    sleep_for_events(&taker, 2);
    assert_int_equal(srd_destroy_cq(second), 0);
    taker_close(&taker);
    end_close(&end);
}

struct getter {
    pthread_t thread;
    struct end *end;
    struct ibv_cq *cq;
};

static void *get_one(void *argument)
{
    struct getter *getter = argument;
    void *context;

    assert_int_equal(srd_get_cq_event(getter->end->channel, &getter->cq, &context), 0);
    srd_ack_cq_events(getter->cq, 1);
    return NULL;
}

/* Threads that block there get an event each; the descriptor shows what none of them waits for. */
static void each_who_blocks_gets_an_event(void **state)
{
    enum { GETTERS = 3 };
    struct getter getters[GETTERS] = { 0 };
    struct end end = { 0 };
    struct pollfd shown = { .events = POLLIN };
    struct ibv_wc wc = { .wr_id = 1 };

    (void)state;
    end_open(&end);
    shown.fd = end.channel->fd;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < GETTERS; i++) {
            getters[i].end = &end;
            assert_int_equal(pthread_create(&getters[i].thread, NULL, get_one, &getters[i]), 0);
        }
        for (int i = 0; i < GETTERS; i++) {
            assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
            srd_cq_push(end.cq, &wc, false);
        }
        for (int i = 0; i < GETTERS; i++)
            pthread_join(getters[i].thread, NULL);
        assert_int_equal(poll(&shown, 1, 0), 0);
        while (ibv_poll_cq(end.cq, 1, &wc))
            ;
    }
    assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
    srd_cq_push(end.cq, &wc, false);
    assert_int_equal(poll(&shown, 1, 0), 1);
    get_one(&getters[0]);
    end_close(&end);
}

/* What was queued before is run when a source is attached, and shown when there is none any more. */
static void what_is_queued_goes_with_the_source(void **state)
{
    struct end end = { 0 };
    struct taker taker;
    struct ibv_wc wc = { .wr_id = 1 };
    struct pollfd shown = { .events = POLLIN };
    struct ibv_cq *cq;
    void *context;

    (void)state;
    end_open(&end);
    shown.fd = end.channel->fd;
    assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
    srd_cq_push(end.cq, &wc, false);
    assert_int_equal(poll(&shown, 1, 0), 1);
    taker_open(&taker, &end);
    sleep_for_events(&taker, 1);
    taker_close(&taker);
    assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
    srd_cq_push(end.cq, &wc, false);
    assert_int_equal(poll(&shown, 1, 0), 1);
    assert_int_equal(srd_get_cq_event(end.channel, &cq, &context), 0);
    srd_ack_cq_events(cq, 1);
    end_close(&end);
}

static void who_sleeps_moves_the_device(void **state)
{
    struct pair pair = { 0 };
    struct taker taker;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    taker_open(&taker, &pair.passive);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct ibv_wc wc;

        end_recv(&pair.passive, i, 0, 64);
        assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
        end_post(&pair.active, IBV_WR_SEND, i, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
        sleep_for_events(&taker, 1);
        assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 1);
        assert_int_equal(wc.wr_id, i);
        test_poll(pair.active.cq, 1, &wc);
    }
    taker_close(&taker);
    pair_close(&pair);
}

/* A callback that another thread stays in: it drives, so only a poll moves a connection meanwhile. */
struct hold {
    struct reactor_source source;
    sem_t inside, go_on;
};

static void hold(struct reactor_source *source, enum reactor_how how)
{
    struct hold *hold = container_of(source, struct hold, source);

    (void)how;
    sem_post(&hold->inside);
    while (sem_wait(&hold->go_on))
        ;
}

static const struct reactor_source_ops hold_ops = { .run = hold };

static void hold_open(struct hold *hold)
{
    sem_init(&hold->inside, 0, 0);
    sem_init(&hold->go_on, 0, 0);
    reactor_source_init(&hold->source, &hold_ops, -1);
    assert_int_equal(reactor_add(&hold->source, 0), 0);
}

static void hold_begin(struct hold *hold)
{
    reactor_run(&hold->source);
    while (sem_wait(&hold->inside))
        ;
}

static void hold_close(struct hold *hold)
{
    reactor_remove_sync(&hold->source);
    sem_destroy(&hold->inside);
    sem_destroy(&hold->go_on);
}

/* Two empty polls after an event leave the socket alone; the next one finds what came meanwhile. */
static void polls_after_an_event_find_what_comes_later(void **state)
{
    struct pair pair = { 0 };
    struct taker taker;
    struct hold hold;
    int third = 0;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    taker_open(&taker, &pair.passive);
    hold_open(&hold);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct ibv_wc wc[2] = { 0 };
        uint64_t end_ms;
        int polls = 1;

        end_recv(&pair.passive, 2 * i, 0, 64);
        end_recv(&pair.passive, 2 * i + 1, 0, 64);
        assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
        end_post(&pair.active, IBV_WR_SEND, i, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
        sleep_for_events(&taker, 1);
        assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, wc), 1);
        hold_begin(&hold);
        end_post(&pair.active, IBV_WR_SEND, i, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
        end_ms = test_now_ms() + DEADLINE_MS;
        while (ibv_poll_cq(pair.passive.cq, 1, wc) == 0 && test_now_ms() < end_ms)
            polls++;
        sem_post(&hold.go_on);
        assert_int_equal(wc[0].wr_id, 2 * i + 1);
        assert_true(polls >= 3);
        third += polls == 3; /* more: TCP had not delivered it */
        test_poll(pair.active.cq, 2, wc);
    }
    assert_true(third > 0);
    hold_close(&hold);
    taker_close(&taker);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleep_ends_for_an_event_that_another_thread_queues),
        cmocka_unit_test(every_queue_with_an_event_is_taken),
        cmocka_unit_test(each_who_blocks_gets_an_event),
        cmocka_unit_test(what_is_queued_goes_with_the_source),
        cmocka_unit_test(who_sleeps_moves_the_device),
        cmocka_unit_test(polls_after_an_event_find_what_comes_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
