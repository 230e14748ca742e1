/* SPDX-License-Identifier: MIT */
/*
 * test_right.c - the checker of programs (NDSPI_CHECK=1) says nothing of programs that are right: with a word of it
 * each of these would end by abort().
 */
#include "ndspi/check/debt.h"

#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"
#include "tests/support/watch_clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#define CALL(object, method, ...) (object)->lpVtbl->method((object), ##__VA_ARGS__)

enum { ROOM = 4096, DEPTH = 4 };

static struct nd2_end active, passive;

static int open_end(struct nd2_end *end)
{
    static const struct nd2_end_options options = { .depth = DEPTH, .memory_octets = ROOM };

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd2_end_open(end, &options), 0);
    return 0;
}

static void close_end(struct nd2_end *end)
{
    nd2_end_close(end);
    NdCleanup();
}

static void *accept_one(void *unused)
{
    (void)unused;
    assert_int_equal(nd2_end_request(&passive), 0);
    assert_int_equal(nd2_end_accept(&passive), 0);
    return NULL;
}

static int open_pair(void **state)
{
    pthread_t thread;
    USHORT port_be;

    (void)state;
    open_end(&active);
    open_end(&passive);
    assert_int_equal(nd2_end_listen(&passive, &port_be), 0);
    assert_int_equal(pthread_create(&thread, NULL, accept_one, NULL), 0);
    assert_int_equal(nd2_end_connect(&active, port_be), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return 0;
}

static int close_pair(void **state)
{
    (void)state;
    close_end(&active);
    close_end(&passive);
    return 0;
}

static void deregister(struct nd2_end *end)
{
    assert_int_equal(
        nd2_end_wait(end, end->mr,
            CALL(end->mr, Deregister, nd_end_fresh(&end->overlapped, end->event)), 20000),
        0);
    assert_int_equal(CALL(end->mr, Release), 0);
    end->mr = NULL;
}

/* ---- regions and requests ---- */

static void region_goes_after_the_results(void **state)
{
    ND2_RESULT result;

    (void)state;
    for (int i = 0; i < 3 * DEPTH; i++) { /* round the ring, and on */
        assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
        assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
        assert_int_equal(nd2_end_results(&passive, &result, 1, 20000), 1);
        assert_int_equal(nd2_end_results(&active, &result, 1, 20000), 1);
    }
    deregister(&active);
    deregister(&passive);
}

static void region_goes_after_silent_requests_that_the_peer_has_answered(void **state)
{
    ND2_RESULT result;

    (void)state;
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(nd2_end_results(&passive, &result, 1, 20000), 1);
    deregister(&active);
}

/* The Receive has its message: its result waits in the completion queue, and is never fetched. */
static void region_goes_before_results_are_fetched(void **state)
{
    OVERLAPPED own = { 0 };

    (void)state;
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    assert_int_equal(CALL(passive.cq, Notify, ND_CQ_NOTIFY_ANY, &own), ND_PENDING);
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    assert_int_equal(CALL(passive.cq, GetOverlappedResult, &own, TRUE), 0);
    deregister(&passive);
}

static void region_goes_after_a_flush(void **state)
{
    (void)state;
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    assert_int_equal(CALL(passive.qp, Flush), 0);
    deregister(&passive);
}

static void region_goes_after_a_disconnect(void **state)
{
    (void)state;
    assert_int_equal(nd2_end_receive(&active, NULL, 0, 16), 0);
    assert_int_equal(nd2_end_disconnect(&active), 0);
    deregister(&active);
}

static void region_goes_after_its_queue_pair(void **state)
{
    (void)state;
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    assert_int_equal(CALL(passive.qp, Release), 0);
    passive.qp = NULL;
    deregister(&passive);
}

static void region_goes_after_its_connector(void **state)
{
    (void)state;
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    assert_int_equal(CALL(passive.connector, Release), 0);
    passive.connector = NULL;
    deregister(&passive);
}

/* Objects may be released in any order. */
static void region_is_released_first_at_the_end(void **state)
{
    (void)state;
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    assert_int_equal(CALL(passive.mr, Release), 0);
    passive.mr = NULL;
}

/* ---- Receives ---- */

static void expect_disconnect(struct nd2_end *end)
{
    OVERLAPPED own = { 0 };

    assert_int_equal(CALL(end->connector, NotifyDisconnect, &own), ND_PENDING);
    assert_int_equal(CALL(end->connector, GetOverlappedResult, &own, TRUE), 0);
}

/* The connection ends by the peer's will, not for want of a Receive. */
static void peer_sends_and_leaves(void **state)
{
    (void)state;
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    assert_int_equal(CALL(active.connector, Release), 0);
    active.connector = NULL;
    expect_disconnect(&passive);
}

/* ---- forks and fibers ---- */

/* By the destructors; not under AddressSanitizer, which then looks for leaks, and finds all that is inherited. */
static void end_child(void)
{
#ifdef __SANITIZE_ADDRESS__
    _exit(0);
#else
    exit(0);
#endif
}

static void child_ends_with_what_it_inherits(void **state)
{
    int status;
    pid_t child;

    (void)state;
    child = fork();
    if (!child)
        end_child();
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#ifndef __SANITIZE_THREAD__ /* which knows neither threads of a child nor these switches */
/* It owes no Release of what it inherits, and has a checker of its own. */
static void child_has_objects_of_its_own(void **state)
{
    struct nd2_end own;
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    child = fork();
    if (!child) {
        open_end(&own);
        assert_int_equal(nd2_end_receive(&own, NULL, 0, 16), 0);
        assert_int_equal(CALL(own.qp, Release), 0);
        own.qp = NULL;
        deregister(&own);
        close_end(&own);
        end_child();
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The parent's Notify has ended, and another is pending: neither is the child's. */
static OVERLAPPED inherited;

/* Its own Notify ends, which starts its watch; that looks until it would tell of what is inherited. */
static void be_child(void)
{
    struct nd2_end own;
    ND2_RESULT result;

    watch_clock_forked();
    open_end(&own);
    assert_int_equal(nd2_end_receive(&own, NULL, 0, 16), 0);
    assert_int_equal(CALL(own.cq, Notify, ND_CQ_NOTIFY_ANY, &inherited), ND_PENDING);
    assert_int_equal(CALL(own.qp, Flush), 0);
    assert_int_equal(CALL(own.cq, GetOverlappedResult, &inherited, TRUE), 0);
    assert_int_equal(CALL(own.cq, GetResults, &result, 1), 1);
    for (int i = 0; i <= ND_CHECK_PATIENCE_S; i++)
        watch_second();
    assert_true(SETTLES(watch_is_up_to_date()));
    close_end(&own);
    end_child();
}

static void child_owes_nothing_of_what_it_inherits(void **state)
{
    OVERLAPPED ended = { 0 };
    ND2_RESULT result;
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    assert_int_equal(CALL(active.cq, Notify, ND_CQ_NOTIFY_ANY, &ended), ND_PENDING);
    assert_int_equal(CALL(passive.cq, Notify, ND_CQ_NOTIFY_ERRORS, &inherited), ND_PENDING);
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    assert_int_equal(CALL(active.cq, GetOverlappedResult, &ended, TRUE), 0);
    child = fork();
    if (!child)
        be_child();
    assert_true(child > 0);
    assert_int_equal(CALL(active.cq, GetResults, &result, 1), 1);
    assert_int_equal(CALL(passive.cq, CancelOverlappedRequests), 0);
    assert_int_equal(CALL(passive.cq, GetOverlappedResult, &inherited, TRUE), ND_CANCELED);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static ucontext_t main_context, fiber_contexts[2];

/* Its OVERLAPPED is on its own stack, below and above those of others, while it does not run. */
static void fiber(int index)
{
    struct nd2_end *end = index ? &passive : &active;
    OVERLAPPED own = { 0 };

    assert_int_equal(CALL(end->cq, Notify, ND_CQ_NOTIFY_ANY, &own), ND_PENDING);
    swapcontext(&fiber_contexts[index], &main_context);
    assert_int_equal(CALL(end->cq, GetOverlappedResult, &own, FALSE), ND_PENDING);
    assert_int_equal(CALL(end->cq, CancelOverlappedRequests), 0);
    assert_int_equal(CALL(end->cq, GetOverlappedResult, &own, FALSE), ND_CANCELED);
    swapcontext(&fiber_contexts[index], &main_context);
}

static void make_fiber(int index, void *stack, size_t octets)
{
    ucontext_t *context = &fiber_contexts[index];

    assert_int_equal(getcontext(context), 0);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = octets;
    context->uc_link = &main_context;
    makecontext(context, (void (*)(void))fiber, 1, index);
}

/* Each fiber calls between the others' calls, on one thread. */
static void fibers_take_turns(void **state)
{
    enum { STACK = 256 * 1024 };
    void *stacks[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_non_null(stacks[i] = malloc(STACK));
        make_fiber(i, stacks[i], STACK);
    }
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 2; i++) {
            swapcontext(&main_context, &fiber_contexts[i]);
            CALL(active.cq, GetResults, NULL, 0);
            CALL(passive.cq, GetResults, NULL, 0);
        }
    for (int i = 0; i < 2; i++)
        free(stacks[i]);
}
#endif

/* ---- stacks of other threads ---- */

static pthread_barrier_t turn;
static OVERLAPPED *on_its_stack[2];

/* Its functions do not return before the requests have ended. */
static void *lend_a_stack(void *unused)
{
    OVERLAPPED own = { 0 }, lent = { 0 };

    (void)unused;
    on_its_stack[0] = &own;
    on_its_stack[1] = &lent;
    assert_int_equal(CALL(active.cq, Notify, ND_CQ_NOTIFY_ANY, &own), ND_PENDING);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    assert_int_equal(CALL(active.cq, GetOverlappedResult, &own, FALSE), ND_CANCELED);
    return NULL;
}

/* The stack of the first thread is above those of the others: no function of theirs has returned for that. */
static void threads_call_beside_requests_on_the_stack_of_one(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_barrier_init(&turn, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, lend_a_stack, NULL), 0);
    pthread_barrier_wait(&turn);
    assert_int_equal(CALL(active.cq, GetResults, NULL, 0), 0);
    assert_int_equal(CALL(passive.cq, Notify, ND_CQ_NOTIFY_ANY, on_its_stack[1]), ND_PENDING);
    assert_int_equal(CALL(active.cq, GetResults, NULL, 0), 0);
    assert_int_equal(CALL(passive.cq, GetResults, NULL, 0), 0);
    assert_int_equal(CALL(passive.cq, CancelOverlappedRequests), 0);
    assert_int_equal(CALL(passive.cq, GetOverlappedResult, on_its_stack[1], FALSE), ND_CANCELED);
    assert_int_equal(CALL(active.cq, CancelOverlappedRequests), 0);
    pthread_barrier_wait(&turn);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&turn);
}

int main(void)
{
#define PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)
    const struct CMUnitTest tests[] = {
        PAIR(region_goes_after_the_results),
        PAIR(region_goes_after_silent_requests_that_the_peer_has_answered),
        PAIR(region_goes_before_results_are_fetched),
        PAIR(region_goes_after_a_flush),
        PAIR(region_goes_after_a_disconnect),
        PAIR(region_goes_after_its_queue_pair),
        PAIR(region_goes_after_its_connector),
        PAIR(region_is_released_first_at_the_end),
        PAIR(peer_sends_and_leaves),
        PAIR(threads_call_beside_requests_on_the_stack_of_one),
        PAIR(child_ends_with_what_it_inherits),
#ifndef __SANITIZE_THREAD__
        PAIR(child_has_objects_of_its_own),
        PAIR(child_owes_nothing_of_what_it_inherits),
        PAIR(fibers_take_turns),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
