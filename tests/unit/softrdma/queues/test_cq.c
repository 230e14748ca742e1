/* SPDX-License-Identifier: MIT */
/* Completion queues, their channels, asynchronous events; fed by hand. */
#include "tests/unit/softrdma/pair.h"
#include "reactor/reactor.h"
#include "softrdma/queues/cq.h"
#include "tests/support/settle.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct cqs {
    struct ibv_context *context;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
};

static int setup(void **state)
{
    struct cqs *s = calloc(1, sizeof(*s));
    struct ibv_device **list = srd_get_device_list(NULL);

    s->context = srd_open_device(list[0]);
    srd_free_device_list(list);
    s->channel = srd_create_comp_channel(s->context);
    s->cq = srd_create_cq(s->context, 4, s, s->channel, 0);
    assert_non_null(s->cq);
    assert_int_equal(s->cq->cqe, 4);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct cqs *s = *state;

    assert_int_equal(srd_destroy_cq(s->cq), 0);
    assert_int_equal(srd_destroy_comp_channel(s->channel), 0);
    assert_int_equal(srd_close_device(s->context), 0);
    free(s);
    return 0;
}

/* A source, which a thread that blocks drives. Without any it sleeps on its own word. */
static struct reactor_source driven;

static int setup_driven(void **state)
{
    static const struct reactor_source_ops ops;

    reactor_source_init(&driven, &ops, -1);
    return reactor_add(&driven, 0) || setup(state);
}

static int teardown_driven(void **state)
{
    reactor_remove_sync(&driven);
    return teardown(state);
}

static void push(struct cqs *s, uint64_t wr_id, bool solicited)
{
    struct ibv_wc wc = { .wr_id = wr_id };

    srd_cq_push(s->cq, &wc, solicited);
}

static void expect(struct cqs *s, uint64_t first, int count)
{
    struct ibv_wc wc[8];

    assert_int_equal(ibv_poll_cq(s->cq, 8, wc), count);
    for (int i = 0; i < count; i++)
        assert_int_equal(wc[i].wr_id, first + (uint64_t)i);
}

static bool readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, 0) == 1;
}

/* A thread that blocks on the channel. */
struct blocked {
    struct cqs *s;
    pthread_t thread;
    _Atomic pid_t tid;
    int result, error;
};

static sem_t handled;

static void on_signal(int number)
{
    (void)number;
    sem_post(&handled);
}

static void *block(void *arg)
{
    struct blocked *blocked = arg;
    struct ibv_cq *cq;
    void *context;

    atomic_store(&blocked->tid, gettid());
    blocked->result = srd_get_cq_event(blocked->s->channel, &cq, &context);
    blocked->error = errno;
    if (!blocked->result)
        srd_ack_cq_events(cq, 1);
    return NULL;
}

/* Whether the thread sleeps, according to the kernel. */
static bool sleeps(const struct blocked *blocked)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)atomic_load(&blocked->tid));
    file = fopen(path, "r");
    if (!file)
        return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    fclose(file);
    return state == 'S';
}

/* It blocks, and a handler with these flags runs in it. */
static void interrupt(struct blocked *blocked, int flags)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

    assert_int_equal(sem_init(&handled, 0, 0), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(pthread_create(&blocked->thread, NULL, block, blocked), 0);
    assert_true(SETTLES(atomic_load(&blocked->tid) && sleeps(blocked)));
    assert_int_equal(pthread_kill(blocked->thread, SIGUSR1), 0);
    while (sem_wait(&handled))
        assert_int_equal(errno, EINTR);
}

/* As read(2) on a kernel's channel. */
static void a_blocked_fetch_goes_on_behind_a_handler_that_restarts(void **state)
{
    struct blocked blocked = { .s = *state };

    interrupt(&blocked, SA_RESTART);
    assert_true(SETTLES(sleeps(&blocked)));
    assert_int_equal(ibv_req_notify_cq(blocked.s->cq, 0), 0);
    push(blocked.s, 1, false);
    assert_int_equal(pthread_join(blocked.thread, NULL), 0);
    assert_int_equal(blocked.result, 0);
    expect(blocked.s, 1, 1);
}

static void a_blocked_fetch_ends_with_a_handler_that_does_not_restart(void **state)
{
    struct blocked blocked = { .s = *state };

    interrupt(&blocked, 0);
    assert_int_equal(pthread_join(blocked.thread, NULL), 0);
    assert_int_equal(blocked.result, -1);
    assert_int_equal(blocked.error, EINTR);
    signal(SIGUSR1, SIG_DFL);
}

static void completions_come_in_order_round_the_ring(void **state)
{
    struct cqs *s = *state;
    uint64_t in = 0, out = 0;

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3; i++)
            push(s, in++, false);
        expect(s, out, 3);
        out += 3;
    }
    expect(s, 0, 0);
}

static void resizing_keeps_what_is_there(void **state)
{
    struct cqs *s = *state;
    struct ibv_wc wc;

    for (uint64_t i = 0; i < 4; i++)
        push(s, i, false);
    assert_int_equal(ibv_poll_cq(s->cq, 1, &wc), 1);
    push(s, 4, false);
    assert_int_equal(srd_resize_cq(s->cq, 3), EINVAL);
    assert_int_equal(srd_resize_cq(s->cq, 0), EINVAL);
    assert_int_equal(srd_resize_cq(s->cq, 4), 0); /* room for just those */
    assert_int_equal(srd_resize_cq(s->cq, 6), 0);
    assert_int_equal(s->cq->cqe, 6);
    push(s, 5, false);
    push(s, 6, false);
    expect(s, 1, 6);
}

static void polling_for_less_than_none_is_refused(void **state)
{
    struct cqs *s = *state;
    struct ibv_wc wc;

    assert_int_equal(ibv_poll_cq(s->cq, -1, &wc), -EINVAL);
    push(s, 0, false);
    assert_int_equal(ibv_poll_cq(s->cq, -1, &wc), -EINVAL);
    expect(s, 0, 1);
}

static void overrun_is_told_once_and_kills_the_queue(void **state)
{
    struct cqs *s = *state;
    struct ibv_async_event event;
    struct ibv_wc wc;

    for (uint64_t i = 0; i < 7; i++)
        push(s, i, false);
    assert_int_equal(srd_get_async_event(s->context, &event), 0);
    assert_int_equal(event.event_type, IBV_EVENT_CQ_ERR);
    assert_ptr_equal(event.element.cq, s->cq);
    assert_false(readable(s->context->async_fd));
    srd_ack_async_event(&event);
    expect(s, 0, 4);
    assert_true(ibv_poll_cq(s->cq, 1, &wc) < 0);
}

static int moderate(struct cqs *s, uint16_t count, uint16_t period)
{
    struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
        .moderate = { count, period } };

    return ibv_modify_cq(s->cq, &attr);
}

/* Fetches the event there is, and what completed. */
static void fetch(struct cqs *s, int count)
{
    struct ibv_wc wc[4];
    struct ibv_cq *cq;
    void *context;

    assert_int_equal(srd_get_cq_event(s->channel, &cq, &context), 0);
    srd_ack_cq_events(cq, 1);
    assert_false(readable(s->channel->fd));
    assert_int_equal(ibv_poll_cq(s->cq, 4, wc), count);
}

static void moderated_event_waits_for_the_count(void **state)
{
    struct cqs *s = *state;
    struct ibv_device_attr_ex attr;
    uint64_t start_ns;
    bool early;

    assert_int_equal(ibv_query_device_ex(s->context, NULL, &attr), 0);
    assert_int_equal(attr.cq_mod_caps.max_cq_count, 65535);
    assert_int_equal(attr.cq_mod_caps.max_cq_period, 65535);
    assert_int_equal(moderate(s, 3, 65535), 0);
    /* Again, if the period was over before it was looked at. */
    do {
        assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
        start_ns = clock_now_ns();
        push(s, 1, false);
        push(s, 2, false);
        early = readable(s->channel->fd);
        if (early) {
            assert_true(clock_now_ns() - start_ns >= 65535000u);
            fetch(s, 2);
        }
    } while (early);
    push(s, 3, false);
    fetch(s, 3);
    /* One event for each arming, as ever. */
    push(s, 4, false);
    push(s, 5, false);
    push(s, 6, false);
    assert_false(readable(s->channel->fd));
    expect(s, 4, 3);
}

static void moderated_event_waits_for_the_period(void **state)
{
    struct cqs *s = *state;
    struct pollfd p = { .fd = s->channel->fd, .events = POLLIN };

    assert_int_equal(moderate(s, 65535, 200), 0);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
        push(s, i, false);
        assert_int_equal(poll(&p, 1, -1), 1);
        fetch(s, 1);
    }
}

/* What tells the program at once: a failure, a queue that is full, no moderation any more. */
static void moderated_event_does_not_wait_for_ever(void **state)
{
    struct cqs *s = *state;
    struct ibv_wc failed = { .status = IBV_WC_WR_FLUSH_ERR };
    struct ibv_modify_cq_attr other = { .attr_mask = IBV_CQ_ATTR_MODERATE | 2 };

    assert_int_equal(moderate(s, 65535, 65535), 0);
    assert_int_equal(ibv_req_notify_cq(s->cq, 1), 0);
    push(s, 1, false);
    srd_cq_push(s->cq, &failed, true);
    fetch(s, 2);
    assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
    for (uint64_t i = 0; i < 4; i++)
        push(s, i, false);
    fetch(s, 4);
    assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
    push(s, 1, false);
    assert_int_equal(moderate(s, 1, 65535), 0);
    fetch(s, 1);
    assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
    push(s, 1, false);
    fetch(s, 1);
    assert_int_equal(moderate(s, 3, 0), 0);
    assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
    push(s, 1, false);
    fetch(s, 1);
    assert_int_equal(ibv_modify_cq(s->cq, &other), EINVAL);
    /* Something is held when the queue goes. */
    assert_int_equal(moderate(s, 3, 65535), 0);
    assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
    push(s, 1, false);
}

static void exactly_full_is_no_overrun(void **state)
{
    struct cqs *s = *state;

    for (uint64_t i = 0; i < 4; i++)
        push(s, i, false);
    assert_false(readable(s->context->async_fd));
    expect(s, 0, 4);
    expect(s, 0, 0);
}

static void notification_fires_once_per_arming(void **state)
{
    struct cqs *s = *state;
    struct ibv_cq *cq;
    void *context;

    push(s, 0, false);
    assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
    assert_false(readable(s->channel->fd)); /* what was there before does not fire */
    push(s, 1, false);
    push(s, 2, false);
    assert_int_equal(srd_get_cq_event(s->channel, &cq, &context), 0);
    assert_ptr_equal(cq, s->cq);
    assert_ptr_equal(context, s);
    assert_false(readable(s->channel->fd));
    assert_int_equal(fcntl(s->channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(srd_get_cq_event(s->channel, &cq, &context), -1);
    assert_int_equal(errno, EAGAIN);
    srd_ack_cq_events(s->cq, 1);
}

static void solicited_arming_waits_for_solicited(void **state)
{
    struct cqs *s = *state;
    struct ibv_cq *cq;
    void *context;

    assert_int_equal(ibv_req_notify_cq(s->cq, 1), 0);
    push(s, 0, false);
    assert_false(readable(s->channel->fd));
    push(s, 1, true);
    assert_true(readable(s->channel->fd));
    assert_int_equal(srd_get_cq_event(s->channel, &cq, &context), 0);
    srd_ack_cq_events(s->cq, 1);
    /* Arming for any is not taken back by arming for solicited. */
    assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
    assert_int_equal(ibv_req_notify_cq(s->cq, 1), 0);
    push(s, 2, false);
    assert_true(readable(s->channel->fd));
}

static void solicited_ones_are_marked_where_that_was_asked_for(void **state)
{
    struct cqs *s = *state;
    const struct ibv_wc failed = { .wr_id = 3, .status = IBV_WC_WR_FLUSH_ERR };
    struct ibv_wc wc[4];

    push(s, 0, true);
    assert_int_equal(ibv_poll_cq(s->cq, 4, wc), 1);
    assert_int_equal(wc[0].wc_flags, 0);
    srd_mark_solicited(s->cq);
    push(s, 1, false);
    push(s, 2, true);
    srd_cq_push(s->cq, &failed, true);
    assert_int_equal(ibv_poll_cq(s->cq, 4, wc), 3);
    assert_int_equal(wc[0].wc_flags, 0);
    assert_int_equal(wc[1].wc_flags, 0x40000000);
    assert_int_equal(wc[2].wc_flags, 0);
}

static void queued_events_are_counted_per_queue(void **state)
{
    struct cqs *s = *state;
    struct ibv_cq *cq, *second = srd_create_cq(s->context, 4, NULL, s->channel, 0);
    struct ibv_wc wc = { .wr_id = 9 };
    void *context;
    int mine = 0, others = 0;

    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
        push(s, i, false);
        if (i == 0) {
            assert_int_equal(ibv_req_notify_cq(second, 0), 0);
            srd_cq_push(second, &wc, false);
        }
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(srd_get_cq_event(s->channel, &cq, &context), 0);
        *(cq == second ? &others : &mine) += 1;
    }
    assert_int_equal(mine, 3);
    assert_int_equal(others, 1);
    assert_false(readable(s->channel->fd));
    srd_ack_cq_events(second, 1);
    srd_ack_cq_events(s->cq, 3);
    assert_int_equal(srd_destroy_comp_channel(s->channel), EBUSY);
    assert_int_equal(srd_destroy_cq(second), 0);
}

static void events_of_a_destroyed_queue_vanish(void **state)
{
    struct cqs *s = *state;
    struct ibv_cq *second = srd_create_cq(s->context, 1, NULL, s->channel, 0);
    struct ibv_wc wc = { 0 };

    assert_int_equal(ibv_req_notify_cq(second, 0), 0);
    srd_cq_push(second, &wc, false);
    srd_cq_push(second, &wc, false);
    assert_true(readable(s->channel->fd));
    assert_true(readable(s->context->async_fd));
    assert_int_equal(srd_destroy_cq(second), 0);
    assert_false(readable(s->channel->fd));
    assert_false(readable(s->context->async_fd));
}

struct destroying {
    struct ibv_cq *cq;
    atomic_bool done;
};

static void *destroy(void *arg)
{
    struct destroying *d = arg;

    assert_int_equal(srd_destroy_cq(d->cq), 0);
    atomic_store(&d->done, true);
    return NULL;
}

static void destroying_waits_for_acknowledgements(void **state)
{
    struct cqs *s = *state;
    struct destroying d = { .cq = srd_create_cq(s->context, 1, NULL, s->channel, 0) };
    struct ibv_async_event event;
    struct ibv_wc wc = { 0 };
    struct ibv_cq *cq;
    pthread_t thread;
    void *context;

    assert_int_equal(ibv_req_notify_cq(d.cq, 0), 0);
    srd_cq_push(d.cq, &wc, false);
    srd_cq_push(d.cq, &wc, false);
    assert_int_equal(srd_get_cq_event(s->channel, &cq, &context), 0);
    assert_int_equal(srd_get_async_event(s->context, &event), 0);
    assert_int_equal(pthread_create(&thread, NULL, destroy, &d), 0);
    assert_false(atomic_load(&d.done));
    srd_ack_async_event(&event);
    assert_false(atomic_load(&d.done));
    srd_ack_cq_events(cq, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&d.done));
}

static void *push_later(void *arg)
{
    struct cqs *s = arg;

    push(s, 5, false);
    return NULL;
}

static void a_blocked_thread_is_woken_by_another(void **state)
{
    struct cqs *s = *state;
    pthread_t thread;
    struct ibv_cq *cq;
    void *context;

    for (int i = 0; i < 50; i++) {
        assert_int_equal(ibv_req_notify_cq(s->cq, 0), 0);
        assert_int_equal(pthread_create(&thread, NULL, push_later, s), 0);
        assert_int_equal(srd_get_cq_event(s->channel, &cq, &context), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        expect(s, 5, 1);
    }
    srd_ack_cq_events(s->cq, 50);
}

static void wrong_sizes_are_refused(void **state)
{
    struct cqs *s = *state;
    struct ibv_device_attr attr;

    assert_int_equal(srd_query_device(s->context, &attr), 0);
    assert_null(srd_create_cq(s->context, 0, NULL, NULL, 0));
    assert_int_equal(errno, EINVAL);
    assert_null(srd_create_cq(s->context, attr.max_cqe + 1, NULL, NULL, 0));
    assert_int_equal(errno, EINVAL);
    assert_null(srd_create_cq(s->context, 1, NULL, NULL, 1));
    assert_int_equal(errno, EINVAL);
    assert_int_equal(srd_close_device(s->context), EBUSY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(completions_come_in_order_round_the_ring, setup, teardown),
#ifndef __SANITIZE_THREAD__ /* which runs no handler while a thread is in a futex call */
        cmocka_unit_test_setup_teardown(
            a_blocked_fetch_goes_on_behind_a_handler_that_restarts, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_blocked_fetch_ends_with_a_handler_that_does_not_restart, setup, teardown),
#endif
        { "a_blocked_fetch_that_drives_goes_on_behind_a_handler_that_restarts",
            a_blocked_fetch_goes_on_behind_a_handler_that_restarts, setup_driven, teardown_driven,
            NULL },
        { "a_blocked_fetch_that_drives_ends_with_a_handler_that_does_not_restart",
            a_blocked_fetch_ends_with_a_handler_that_does_not_restart, setup_driven,
            teardown_driven, NULL },
        cmocka_unit_test_setup_teardown(resizing_keeps_what_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(polling_for_less_than_none_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(overrun_is_told_once_and_kills_the_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(exactly_full_is_no_overrun, setup, teardown),
        cmocka_unit_test_setup_teardown(moderated_event_waits_for_the_count, setup, teardown),
        cmocka_unit_test_setup_teardown(moderated_event_waits_for_the_period, setup, teardown),
        cmocka_unit_test_setup_teardown(moderated_event_does_not_wait_for_ever, setup, teardown),
        cmocka_unit_test_setup_teardown(notification_fires_once_per_arming, setup, teardown),
        cmocka_unit_test_setup_teardown(solicited_arming_waits_for_solicited, setup, teardown),
        cmocka_unit_test_setup_teardown(
            solicited_ones_are_marked_where_that_was_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(queued_events_are_counted_per_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(events_of_a_destroyed_queue_vanish, setup, teardown),
        cmocka_unit_test_setup_teardown(destroying_waits_for_acknowledgements, setup, teardown),
        cmocka_unit_test_setup_teardown(a_blocked_thread_is_woken_by_another, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_sizes_are_refused, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
