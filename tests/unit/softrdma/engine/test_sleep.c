/* SPDX-License-Identifier: MIT */
/* A thread that sleeps in the device (srd_progress_wait), and the polls that follow an event. */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/queues/cq.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 100 };

/* What a library above has watched: a set with the channel's descriptor in it. */
static int watch_channel(struct end *end)
{
    struct epoll_event event = { .events = EPOLLIN };
    int set = epoll_create1(EPOLL_CLOEXEC);

    assert_true(srd_progress_fd(end->context) >= 0);
    assert_int_equal(epoll_ctl(set, EPOLL_CTL_ADD, end->channel->fd, &event), 0);
    assert_int_equal(srd_progress_watch(end->context, set), 0);
    return set;
}

static void unwatch(struct end *end, int set)
{
    srd_progress_unwatch(end->context, set);
    close(set);
}

static void take_event(struct end *end)
{
    struct ibv_cq *cq;
    void *context;

    assert_int_equal(srd_get_cq_event(end->channel, &cq, &context), 0);
    assert_ptr_equal(cq, end->cq);
    srd_ack_cq_events(cq, 1);
}

/* Sleeps until there is an event. Returns whether it was had without its descriptor. */
static bool sleep_for_event(struct end *end)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    bool watched, queued;

    assert_true(srd_progress_sleep(end->context));
    do /* it wakes for the other end, too */
        queued = srd_progress_wait(end->channel, DEADLINE_MS, &watched);
    while (!queued && test_now_ms() < end_ms);
    srd_progress_wake(end->context);
    assert_true(queued);
    take_event(end);
    return !watched;
}

static void sleep_ends_for_a_watched_descriptor_only_while_it_is_watched(void **state)
{
    struct end end = { 0 };
    bool watched = true;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    (void)state;
    end_open(&end);
    assert_true(srd_progress_fd(end.context) >= 0);
    assert_int_equal(srd_progress_watch(end.context, -1), -EBADF);
    assert_int_equal(srd_progress_watch(end.context, fd), 0);
    assert_int_equal(srd_progress_watch(end.context, fd), 0); /* it is already */
    assert_false(srd_progress_wait(end.channel, 1, &watched));
    assert_false(watched);
    assert_int_equal(eventfd_write(fd, 1), 0);
    assert_false(srd_progress_wait(end.channel, -1, &watched));
    assert_true(watched);
    srd_progress_unwatch(end.context, fd);
    assert_false(srd_progress_wait(end.channel, 1, &watched));
    assert_false(watched);
    close(fd);
    end_close(&end);
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
    int set;

    (void)state;
    end_open(&end);
    set = watch_channel(&end);
    for (int i = 0; i < ROUNDS; i++) {
        struct ibv_wc wc;
        pthread_t thread;

        assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
        assert_int_equal(pthread_create(&thread, NULL, push_one, &end), 0);
        assert_false(sleep_for_event(&end));
        pthread_join(thread, NULL);
        assert_int_equal(ibv_poll_cq(end.cq, 1, &wc), 1);
        assert_int_equal(wc.wr_id, 1);
    }
    unwatch(&end, set);
    end_close(&end);
}

static void sleep_tells_of_every_queue_with_an_event(void **state)
{
    struct end end = { 0 };
    struct ibv_cq *second, *cq;
    struct ibv_wc wc = { .wr_id = 1 };
    bool watched;
    int set;

    (void)state;
    end_open(&end);
    set = watch_channel(&end);
    second = srd_create_cq(end.context, 4, NULL, end.channel, 0);
    assert_non_null(second);
    assert_int_equal(ibv_req_notify_cq(end.cq, 0), 0);
    assert_int_equal(ibv_req_notify_cq(second, 0), 0);
    srd_cq_push(end.cq, &wc, false);
    srd_cq_push(second, &wc, false);
    srd_cq_push(second, &wc, false); /* armed once */
    for (unsigned left = 2; left; left--) {
        void *context;

        assert_int_equal(srd_progress_wait(end.channel, -1, &watched), left);
        assert_true(watched);
        assert_int_equal(srd_get_cq_event(end.channel, &cq, &context), 0);
        assert_ptr_equal(cq, left == 2 ? end.cq : second);
        srd_ack_cq_events(cq, 1);
    }
    assert_int_equal(srd_progress_wait(end.channel, 1, &watched), 0);
    assert_false(watched);
    assert_int_equal(srd_destroy_cq(second), 0);
    unwatch(&end, set);
    end_close(&end);
}

/* The progress thread may be faster now and then; then the descriptor tells. */
static void sleep_in_the_device_moves_it_and_hands_over_the_event(void **state)
{
    struct pair pair = { 0 };
    int set, handed_over = 0;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    set = watch_channel(&pair.passive);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct ibv_wc wc;

        end_recv(&pair.passive, i, 0, 64);
        assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
        end_post(&pair.active, IBV_WR_SEND, i, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
        handed_over += sleep_for_event(&pair.passive);
        assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 1);
        assert_int_equal(wc.wr_id, i);
        test_poll(pair.active.cq, 1, &wc);
    }
    assert_true(handed_over > 0);
    unwatch(&pair.passive, set);
    pair_close(&pair);
}

/* Two empty polls after an event leave the socket alone; what comes meanwhile is found by the next. */
static void polls_after_an_event_find_what_comes_later(void **state)
{
    struct pair pair = { 0 };
    int set, third = 0;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    set = watch_channel(&pair.passive);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct ibv_wc wc[2];
        uint64_t end_ms;
        int polls = 1;

        end_recv(&pair.passive, 2 * i, 0, 64);
        end_recv(&pair.passive, 2 * i + 1, 0, 64);
        assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
        end_post(&pair.active, IBV_WR_SEND, i, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
        sleep_for_event(&pair.passive);
        assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, wc), 1);
        end_post(&pair.active, IBV_WR_SEND, i, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
        end_ms = test_now_ms() + DEADLINE_MS;
        while (ibv_poll_cq(pair.passive.cq, 1, wc) == 0 && test_now_ms() < end_ms)
            polls++;
        assert_int_equal(wc[0].wr_id, 2 * i + 1);
        third += polls == 3; /* 1: the progress thread was there */
        test_poll(pair.active.cq, 2, wc);
    }
    assert_true(third > 0);
    unwatch(&pair.passive, set);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleep_ends_for_a_watched_descriptor_only_while_it_is_watched),
        cmocka_unit_test(sleep_ends_for_an_event_that_another_thread_queues),
        cmocka_unit_test(sleep_tells_of_every_queue_with_an_event),
        cmocka_unit_test(sleep_in_the_device_moves_it_and_hands_over_the_event),
        cmocka_unit_test(polls_after_an_event_find_what_comes_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
