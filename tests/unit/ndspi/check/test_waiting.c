/* SPDX-License-Identifier: MIT */
/* test_waiting.c - the checker of programs (NDSPI_CHECK): calls that are missing, for which another waits. */
#include "tests/support/misuse.h"
#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"
#include "tests/support/watch_clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define CALL(object, method, ...) (object)->lpVtbl->method((object), ##__VA_ARGS__)

static const char connected[] =
    "Rule: a queue pair is connected before anything but a Receive is posted. "
    "Wait until CompleteConnect, or Accept, has ended.";
static const char complete[] =
    "Rule: a Connect that has ended with success is followed by CompleteConnect or Reject. "
    "Call CompleteConnect: the peer's Accept waits for it.";
static const char fetch[] =
    "Rule: the results that a Notify told of are fetched. "
    "Call GetResults until it returns fewer than it may, then Notify again.";

static struct nd2_end active, passive;
static USHORT port_be;

static void *accept_one(void *unused)
{
    HRESULT hr = nd2_end_request(&passive);

    (void)unused;
    if (SUCCEEDED(hr))
        nd2_end_accept(&passive); /* fails where the active side does not complete */
    return NULL;
}

/* The active side has its answer, and the passive one waits in Accept. */
static pthread_t open_pair(void)
{
    static const struct nd2_end_options options = { .depth = 4, .memory_octets = 4096 };
    pthread_t thread;

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd2_end_open(&active, &options), 0);
    assert_int_equal(nd2_end_open(&passive, &options), 0);
    assert_int_equal(nd2_end_listen(&passive, &port_be), 0);
    assert_int_equal(pthread_create(&thread, NULL, accept_one, NULL), 0);
    assert_int_equal(nd2_end_connect_begin(&active, port_be), 0);
    return thread;
}

static void close_pair(pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
    nd2_end_close(&active);
    nd2_end_close(&passive);
    NdCleanup();
}

static void wait_until_told(void)
{
    assert_true(SETTLES((watch_second(), misuse_told())));
}

static void send_without_a_connection(void)
{
    static const struct nd2_end_options options = { .depth = 4, .memory_octets = 4096 };

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd2_end_open(&active, &options), 0);
    misuse_expect(connected, "IND2QueuePair::Send, IND2QueuePair %p: it is not connected.",
        (void *)active.qp);
    assert_int_equal(CALL(active.qp, Send, NULL, NULL, 0, 0), (HRESULT)SPEC_ND_CONNECTION_INVALID);
    nd2_end_close(&active);
    NdCleanup();
}

static void send_without_a_connection_in_version_1(void)
{
    static const struct nd1_end_options options = { .depth = 4, .memory_octets = 4096 };
    static struct nd1_end end;
    ND_RESULT result;

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd1_end_open(&end, &options), 0);
    misuse_expect(
        connected, "INDEndpoint::Send, INDEndpoint %p: it is not connected.", (void *)end.endpoint);
    assert_int_equal(
        CALL(end.endpoint, Send, &result, NULL, 0, 0), (HRESULT)SPEC_ND_CONNECTION_INVALID);
    nd1_end_close(&end);
    NdCleanup();
}

static void send_before_complete_connect(void)
{
    pthread_t thread = open_pair();

    misuse_expect(connected,
        "IND2QueuePair::Send, IND2QueuePair %p: CompleteConnect of IND2Connector %p, whose Connect "
        "has ended, was not called.",
        (void *)active.qp, (void *)active.connector);
    assert_int_equal(CALL(active.qp, Send, NULL, NULL, 0, 0), (HRESULT)SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(nd2_end_connect_complete(&active), 0);
    close_pair(thread);
}

static void forgotten_complete_connect(void)
{
    pthread_t thread = open_pair();

    misuse_expect(complete,
        "IND2Connector::Connect, IND2Connector %p: it ended 5 s ago, and CompleteConnect was not "
        "called since.",
        (void *)active.connector);
    wait_until_told();
    assert_int_equal(nd2_end_connect_complete(&active), 0);
    close_pair(thread);
}

static void results_that_are_not_fetched(void)
{
    pthread_t thread = open_pair();
    OVERLAPPED own = { 0 };
    ND2_RESULT result;

    assert_int_equal(nd2_end_connect_complete(&active), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    assert_int_equal(CALL(active.cq, Notify, ND_CQ_NOTIFY_ANY, &own), ND_PENDING);
    misuse_expect(fetch,
        "IND2CompletionQueue::Notify, IND2CompletionQueue %p: it ended 5 s ago, and GetResults was "
        "not called since.",
        (void *)active.cq);
    assert_int_equal(CALL(active.cq, GetOverlappedResult, &own, TRUE), 0);
    wait_until_told();
    assert_int_equal(CALL(active.cq, GetResults, &result, 1), 1);
    nd2_end_close(&active);
    nd2_end_close(&passive);
    NdCleanup();
}

static const struct misuse_row rows[] = {
    MISUSE_ROW(send_without_a_connection),
    MISUSE_ROW(send_without_a_connection_in_version_1),
    MISUSE_ROW(send_before_complete_connect),
    MISUSE_ROW(forgotten_complete_connect),
    MISUSE_ROW(results_that_are_not_fetched),
};

int main(int argc, char **argv)
{
    return misuse_main(argc, argv, "NDSPI_CHECK", rows, sizeof(rows) / sizeof(rows[0]));
}
