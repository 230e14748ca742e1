/* SPDX-License-Identifier: MIT */
/* test_late.c - the checker of programs (NDSPI_CHECK): Receives that are missing while the peer's message waits. */
#include "tests/support/misuse.h"
#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"
#include "tests/support/watch_clock.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CALL(object, method, ...) (object)->lpVtbl->method((object), ##__VA_ARGS__)

static const char late[] =
    "Rule: a Receive is posted before the peer may send. "
    "Post it before Connect or Accept, and the next before the peer is told to send more.";
static const char alive[] = "Rule: objects are released before the process ends. "
                            "Release it, or look for an AddRef without a Release.";

static struct nd2_end active, passive;
static struct nd1_end active1, passive1;
static IND2SharedReceiveQueue *srq;

/* ---- the passive end makes its queue pair here; on a page of its own: places are compared by the page ---- */

__attribute__((noinline, aligned(4096))) static void make_here(void)
{
    if (srq)
        assert_int_equal(CALL(passive.adapter, CreateQueuePairWithSrq, &IID_IND2QueuePair,
                             (IUnknown *)passive.cq, (IUnknown *)passive.cq, (IUnknown *)srq, NULL,
                             4, 1, 0, (void **)&passive.qp),
            0);
    else
        assert_int_equal(
            CALL(passive.adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)passive.cq,
                (IUnknown *)passive.cq, NULL, 4, 4, 1, 1, 0, (void **)&passive.qp),
            0);
}

__attribute__((noinline, aligned(4096))) static void make1_here(void)
{
    SIZE_T none = 0;

    assert_int_equal(CALL(passive1.connector, CreateEndpoint, passive1.cq, passive1.cq, 4, 4, 1, 1,
                         0, 0, &none, &passive1.endpoint),
        0);
}

__attribute__((aligned(4096))) static size_t offset_of(void *function)
{
    Dl_info here;

    assert_true(dladdr(function, &here));
    return (size_t)((char *)function - (char *)here.dli_fbase);
}

static void *accept_one(void *unused)
{
    (void)unused;
    assert_int_equal(nd2_end_request(&passive), 0);
    assert_int_equal(nd2_end_accept(&passive), 0);
    return NULL;
}

static void open_pair(bool shared)
{
    static const struct nd2_end_options options = { .depth = 4, .memory_octets = 4096 };
    pthread_t thread;
    USHORT port_be;

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd2_end_open(&active, &options), 0);
    assert_int_equal(nd2_end_open(&passive, &options), 0);
    if (shared)
        assert_int_equal(
            CALL(passive.adapter, CreateSharedReceiveQueue, &IID_IND2SharedReceiveQueue,
                passive.file, 4, 1, 0, 0, 0, (void **)&srq),
            0);
    assert_int_equal(CALL(passive.qp, Release), 0);
    make_here();
    assert_int_equal(nd2_end_listen(&passive, &port_be), 0);
    assert_int_equal(pthread_create(&thread, NULL, accept_one, NULL), 0);
    assert_int_equal(nd2_end_connect(&active, port_be), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void close_pair(void)
{
    nd2_end_close(&active);
    if (srq) {
        assert_int_equal(CALL(passive.qp, Release), 0);
        passive.qp = NULL;
        assert_int_equal(CALL(srq, Release), 0);
    }
    nd2_end_close(&passive);
    NdCleanup();
}

static void expect_end(void)
{
    misuse_expect(late,
        "IND2QueuePair::Receive, IND2QueuePair %p: a message of the peer found no Receive in time, "
        "so its connection ended; IND2Adapter::CreateQueuePair made it at misuse+0x%zx.",
        (void *)passive.qp, offset_of((void *)make_here));
}

static void wait_for_the_end(void)
{
    OVERLAPPED own = { 0 };

    assert_int_equal(CALL(passive.connector, NotifyDisconnect, &own), ND_PENDING);
    assert_int_equal(CALL(passive.connector, GetOverlappedResult, &own, TRUE), 0);
}

static void wait_until_told(void)
{
    assert_true(SETTLES((watch_second(), misuse_told())));
}

/* ---- rows ---- */

static void message_without_a_receive(void)
{
    open_pair(false);
    expect_end();
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    wait_for_the_end();
    wait_until_told();
    close_pair();
}

static void second_message_without_a_receive(void)
{
    open_pair(false);
    expect_end();
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 16), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    wait_for_the_end();
    wait_until_told();
    close_pair();
}

/* Most often before the thread looks. */
static void message_without_a_receive_at_the_last_release(void)
{
    open_pair(false);
    expect_end();
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    wait_for_the_end();
    assert_int_equal(CALL(passive.qp, Release), 0);
    passive.qp = NULL;
    close_pair();
}

static void message_without_a_receive_at_the_end_of_the_process(void)
{
    IND2QueuePair *left;

    open_pair(false);
    expect_end();
    left = passive.qp;
    passive.qp = NULL;
    if (strcmp(getenv("NDSPI_CHECK"), "log") == 0)
        misuse_expect(alive,
            "exit, IND2QueuePair %p: it has 1 reference; IND2Adapter::CreateQueuePair made it at "
            "misuse+0x%zx.",
            (void *)left, offset_of((void *)make_here));
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    wait_for_the_end();
    close_pair();
}

static void message_that_waits_for_a_shared_queue(void)
{
    open_pair(true);
    misuse_expect(late,
        "IND2SharedReceiveQueue::Receive, IND2QueuePair %p: a message of the peer has waited 5 s "
        "for a Receive; IND2Adapter::CreateQueuePairWithSrq made it at misuse+0x%zx.",
        (void *)passive.qp, offset_of((void *)make_here));
    assert_int_equal(nd2_end_send(&active, NULL, 0, 16, 0), 0);
    wait_until_told();
    close_pair();
}

static void *accept_one1(void *unused)
{
    (void)unused;
    assert_int_equal(nd1_end_request(&passive1), 0);
    assert_int_equal(nd1_end_accept(&passive1), 0);
    return NULL;
}

static void message_without_a_receive_in_version_1(void)
{
    static const struct nd1_end_options options = { .depth = 4, .memory_octets = 4096 };
    static ND_RESULT result;
    OVERLAPPED own = { 0 };
    pthread_t thread;
    USHORT port_be;
    SIZE_T octets;

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd1_end_open(&active1, &options), 0);
    assert_int_equal(nd1_end_open(&passive1, &options), 0);
    assert_int_equal(CALL(passive1.endpoint, Release), 0);
    make1_here();
    assert_int_equal(nd1_end_listen(&passive1, &port_be), 0);
    assert_int_equal(pthread_create(&thread, NULL, accept_one1, NULL), 0);
    assert_int_equal(nd1_end_connect(&active1, port_be), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    misuse_expect(late,
        "INDEndpoint::Receive, INDEndpoint %p: a message of the peer found no Receive in time, so "
        "its connection ended; INDConnector::CreateEndpoint made it at misuse+0x%zx.",
        (void *)passive1.endpoint, offset_of((void *)make1_here));
    assert_int_equal(nd1_end_send(&active1, &result, 0, 16, 0), 0);
    assert_int_equal(CALL(passive1.connector, NotifyDisconnect, &own), ND_PENDING);
    assert_int_equal(CALL(passive1.connector, GetOverlappedResult, &own, &octets, TRUE), 0);
    wait_until_told();
    nd1_end_close(&active1);
    nd1_end_close(&passive1);
    NdCleanup();
}

static const struct misuse_row rows[] = {
    MISUSE_ROW(message_without_a_receive),
    MISUSE_ROW(second_message_without_a_receive),
    MISUSE_ROW(message_without_a_receive_at_the_last_release),
    MISUSE_ROW(message_without_a_receive_at_the_end_of_the_process),
    MISUSE_ROW(message_that_waits_for_a_shared_queue),
    MISUSE_ROW(message_without_a_receive_in_version_1),
};

int main(int argc, char **argv)
{
    return misuse_main(argc, argv, "NDSPI_CHECK", rows, sizeof(rows) / sizeof(rows[0]));
}
