/* SPDX-License-Identifier: MIT */
/* A connection while memory is short: whichever allocation fails, each call returns and each event comes. */
#include "tests/unit/softrdma/pair.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/util/log_catch.h"

/* ---- allocations that fail (linked with --wrap) ---- */

static atomic_int until_failure; /* the n-th from now on fails; 0: none */
static atomic_bool all_fail;

static bool fails_now(void)
{
    int left = atomic_load(&until_failure);

    if (atomic_load(&all_fail))
        return true;
    while (left > 0 && !atomic_compare_exchange_weak(&until_failure, &left, left - 1))
        ;
    return left == 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
/* Visible: a sanitizer's runtime refers to these names. */
#pragma GCC visibility push(default)
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
#pragma GCC visibility pop

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

static atomic_bool no_buffers; /* a stream's memory, which is mapped */

void *__real_srd_buffer_map(size_t octets);
void *__wrap_srd_buffer_map(size_t octets);

void *__wrap_srd_buffer_map(size_t octets)
{
    if (!atomic_load(&no_buffers))
        return __real_srd_buffer_map(octets);
    errno = ENOMEM;
    return NULL;
}

/* ---- nothing at all can be allocated once the ids are there ---- */

static void what_an_id_reports_needs_no_memory(void **state)
{
    struct pair pair;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    pair_request(&pair, 4);
    atomic_store(&all_fail, true);
    pair_accept(&pair, 4); /* CONNECT_RESPONSE */
    atomic_store(&all_fail, false);
    pair_establish(&pair);
    atomic_store(&all_fail, true);
    assert_int_equal(srd_disconnect(pair.active.id), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    atomic_store(&all_fail, false);
    pair_close(&pair);
}

/* It is lost to both; the end that lacks the memory says so. */
static void a_connection_without_memory_says_why_it_ends(void **state)
{
    struct pair pair;
    char expected[100];

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    end_to_rts(&pair.active);
    snprintf(expected, sizeof(expected),
        "queue pair 0x%x cannot begin its connection, which ends: Cannot allocate memory",
        pair.active.qp->qp_num);
    log_catch();
    atomic_store(&no_buffers, true);
    assert_int_equal(srd_establish(pair.active.id), 0);
    atomic_store(&no_buffers, false);
    assert_non_null(strstr(log_caught(), expected));
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_REJECTED), 28);
    pair_close(&pair);
}

static void a_refusal_needs_no_memory(void **state)
{
    struct pair pair;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    pair_request(&pair, 4);
    atomic_store(&all_fail, true);
    assert_int_equal(srd_reject(pair.passive.id, "no", 2), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_REJECTED), 28);
    atomic_store(&all_fail, false);
    pair_close(&pair);
}

/* Nor does an event of a shared receive queue, or of a queue pair that failed. */
static void asynchronous_events_need_no_memory(void **state)
{
    struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
    struct ibv_srq_attr limit = { .srq_limit = 2 };
    struct ibv_async_event event;
    struct pair pair;
    struct ibv_srq *srq;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    srq = srd_create_srq(pair.active.pd, &init);
    assert_non_null(srq);
    atomic_store(&all_fail, true);
    assert_int_equal(srd_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0); /* reached: there is none */
    assert_int_equal(srd_get_async_event(pair.active.context, &event), 0);
    assert_int_equal(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    srd_ack_async_event(&event);
    assert_int_equal(srd_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0); /* and again */
    assert_int_equal(srd_get_async_event(pair.active.context, &event), 0);
    assert_ptr_equal(event.element.srq, srq);
    srd_ack_async_event(&event);
    pair.passive.mr->rkey ^= 0x100;
    end_post(&pair.active, IBV_WR_RDMA_WRITE, 1, 0, 64, &pair.passive, 0, 0);
    assert_int_equal(srd_get_async_event(pair.passive.context, &event), 0);
    assert_ptr_equal(event.element.qp, pair.passive.qp);
    srd_ack_async_event(&event);
    atomic_store(&all_fail, false);
    pair.passive.mr->rkey ^= 0x100;
    assert_int_equal(srd_destroy_srq(srq), 0);
    pair_close(&pair);
}

static void resolving_without_memory_fails_and_can_be_repeated(void **state)
{
    struct sockaddr_storage address;
    struct end end;

    (void)state;
    end_open(&end);
    test_address("127.0.0.1", 9, &address);
    assert_int_equal(srd_create_id(end.events, &end.id, NULL, RDMA_PS_TCP), 0);
    atomic_store(&all_fail, true);
    errno = 0;
    assert_int_equal(srd_resolve_addr(end.id, NULL, (struct sockaddr *)&address, 2000), -1);
    assert_int_equal(errno, ENOMEM);
    atomic_store(&all_fail, false);
    assert_int_equal(srd_resolve_addr(end.id, NULL, (struct sockaddr *)&address, 2000), 0);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
    atomic_store(&all_fail, true);
    errno = 0;
    assert_int_equal(srd_resolve_route(end.id, 2000), -1);
    assert_int_equal(errno, ENOMEM);
    atomic_store(&all_fail, false);
    assert_int_equal(srd_resolve_route(end.id, 2000), 0);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
    end_close(&end);
}

/* ---- each allocation in turn ---- */

/* What one end of a session has come to. */
struct progress {
    bool up, over;
};

/* The next event of either end; fails when none comes. Returns the end it is of, acknowledged. */
static struct end *next_event(struct pair *pair, struct rdma_cm_event *copy, int nth)
{
    struct pollfd fds[2] = { { .fd = pair->active.events->fd, .events = POLLIN },
        { .fd = pair->passive.events->fd, .events = POLLIN } };
    struct rdma_cm_event *event;
    struct end *end;

    if (poll(fds, 2, DEADLINE_MS) < 1)
        fail_msg("allocation %d failed, and an end waits for ever", nth);
    end = fds[0].revents ? &pair->active : &pair->passive;
    assert_int_equal(srd_get_cm_event(end->events, &event), 0);
    *copy = *event;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
        pair->passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    return end;
}

/* What a program does at an event. */
static void answer(struct pair *pair, enum rdma_cm_event_type type, struct progress *progress)
{
    struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };

    switch (type) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
        end_to_rts(&pair->passive);
        param.qp_num = pair->passive.qp->qp_num;
        progress->over = srd_accept(pair->passive.id, &param) != 0;
        break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        end_to_rts(&pair->active);
        progress->up = !srd_establish(pair->active.id);
        progress->over = !progress->up;
        break;
    case RDMA_CM_EVENT_ESTABLISHED: progress->up = true; break;
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_DISCONNECTED: progress->over = true; break;
    default: fail_msg("event %d", (int)type);
    }
}

/* A connection from Connect to its end, of which the nth allocation fails. Returns whether there were so many. */
static bool session(int nth)
{
    struct progress active = { 0 }, passive = { 0 };
    struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
    struct pair pair;
    bool disconnected = false, failed;

    pair_prepare(&pair, "127.0.0.1");
    param.qp_num = pair.active.qp->qp_num;
    atomic_store(&until_failure, nth);
    active.over = srd_connect(pair.active.id, &param) != 0;
    /* Where the passive end never saw a request, it has nothing to wait for. */
    while (!active.over || (pair.passive.id && !passive.over)) {
        struct rdma_cm_event event;
        struct end *end;

        if (active.up && passive.up && !disconnected) {
            disconnected = true;
            assert_int_equal(srd_disconnect(pair.active.id), 0);
        }
        end = next_event(&pair, &event, nth);
        answer(&pair, event.event, end == &pair.active ? &active : &passive);
        /* An id whose attempt failed is destroyed, as a program does. */
        if (active.over && pair.active.id && !passive.over) {
            assert_int_equal(srd_destroy_id(pair.active.id), 0);
            pair.active.id = NULL;
        }
    }
    failed = atomic_exchange(&until_failure, 0) == 0;
    pair_close(&pair);
    return failed;
}

static void whichever_allocation_fails_both_ends_come_to_an_end(void **state)
{
    int nth = 1;

    (void)state;
    while (session(nth))
        nth++;
    assert_true(nth > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_id_reports_needs_no_memory),
        cmocka_unit_test(a_connection_without_memory_says_why_it_ends),
        cmocka_unit_test(a_refusal_needs_no_memory),
        cmocka_unit_test(asynchronous_events_need_no_memory),
        cmocka_unit_test(resolving_without_memory_fails_and_can_be_repeated),
        cmocka_unit_test(whichever_allocation_fails_both_ends_come_to_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
