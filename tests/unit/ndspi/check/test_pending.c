/* SPDX-License-Identifier: MIT */
/* test_pending.c - the checker of programs (NDSPI_CHECK): regions that are taken back under a request. */
#include "tests/support/misuse.h"
#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define CALL(object, method, ...) (object)->lpVtbl->method((object), ##__VA_ARGS__)

static const char named[] =
    "Rule: a region stays registered until the requests that name it have ended. "
    "Wait for their results, or Flush the queue pair, before it is deregistered.";

enum { ROOM = 4096 };

static struct nd2_end end, passive;
static struct nd1_end end1;
static IND2SharedReceiveQueue *srq;

static void open_end(struct nd2_end *which)
{
    static const struct nd2_end_options options = { .depth = 4, .memory_octets = ROOM };

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd2_end_open(which, &options), 0);
}

static void close_end(struct nd2_end *which)
{
    nd2_end_close(which);
    NdCleanup();
}

static void open_end1(void)
{
    static const struct nd1_end_options options = { .depth = 4, .memory_octets = ROOM };

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd1_end_open(&end1, &options), 0);
}

/* ---- a region of a row's own; on a page of its own: places are compared by the page ---- */

__attribute__((noinline, aligned(4096))) static IND2MemoryRegion *register_here(void)
{
    IND2MemoryRegion *region;

    assert_int_equal(
        CALL(end.adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, end.file, (void **)&region),
        0);
    assert_int_equal(nd2_end_wait(&end, region,
                         CALL(region, Register, end.memory, ROOM, ND_MR_FLAG_ALLOW_LOCAL_WRITE,
                             nd_end_fresh(&end.overlapped, end.event)),
                         20000),
        0);
    return region;
}

__attribute__((noinline, aligned(4096))) static ND_MR_HANDLE register1_here(void)
{
    ND_MR_HANDLE handle;

    assert_int_equal(nd1_end_wait(&end1, end1.adapter,
                         CALL(end1.adapter, RegisterMemory, end1.memory, ROOM,
                             nd_end_fresh(&end1.overlapped, end1.event), &handle),
                         20000),
        0);
    return handle;
}

__attribute__((aligned(4096))) static size_t offset_of(void *function)
{
    Dl_info here;

    assert_true(dladdr(function, &here));
    return (size_t)((char *)function - (char *)here.dli_fbase);
}

static void deregister(IND2MemoryRegion *region)
{
    assert_int_equal(nd2_end_wait(&end, region,
                         CALL(region, Deregister, nd_end_fresh(&end.overlapped, end.event)), 20000),
        0);
}

static void post(IND2MemoryRegion *region, ULONG octets)
{
    const ND2_SGE entry = { end.memory, octets, CALL(region, GetLocalToken) };

    assert_int_equal(CALL(end.qp, Receive, NULL, &entry, 1), 0);
}

/* ---- rows ---- */

static void deregistered_under_a_receive(void)
{
    IND2MemoryRegion *region;

    open_end(&end);
    region = register_here();
    post(region, 16);
    misuse_expect(named,
        "IND2MemoryRegion::Deregister, IND2MemoryRegion %p: IND2QueuePair::Receive of "
        "IND2QueuePair %p, which has not ended, names 0x%x; IND2MemoryRegion::Register registered "
        "that at misuse+0x%zx.",
        (void *)region, (void *)end.qp, CALL(region, GetLocalToken),
        offset_of((void *)register_here));
    deregister(region);
    assert_int_equal(CALL(region, Release), 0);
    close_end(&end);
}

static void deregistered_under_a_receive_in_version_1(void)
{
    static ND_RESULT result;
    ND_MR_HANDLE handle;
    ND_SGE entry;

    open_end1();
    handle = register1_here();
    entry = (ND_SGE){ end1.memory, 16, handle };
    assert_int_equal(CALL(end1.endpoint, Receive, &result, &entry, 1), 0);
    misuse_expect(named,
        "INDAdapter::DeregisterMemory, INDAdapter %p: INDEndpoint::Receive of INDEndpoint %p, "
        "which has not ended, names 0x%llx; INDAdapter::RegisterMemory registered that at "
        "misuse+0x%zx.",
        (void *)end1.adapter, (void *)end1.endpoint, (unsigned long long)(uintptr_t)handle,
        offset_of((void *)register1_here));
    assert_int_equal(nd1_end_wait(&end1, end1.adapter,
                         CALL(end1.adapter, DeregisterMemory, handle,
                             nd_end_fresh(&end1.overlapped, end1.event)),
                         20000),
        0);
    nd1_end_close(&end1);
    NdCleanup();
}

static void *accept_one(void *unused)
{
    (void)unused;
    assert_int_equal(nd2_end_request(&passive), 0);
    assert_int_equal(nd2_end_accept(&passive), 0);
    return NULL;
}

/* The passive end has a shared receive queue, so that a message waits there for a Receive without end. */
static void open_pair(void)
{
    pthread_t thread;
    USHORT port_be;

    open_end(&end);
    open_end(&passive);
    assert_int_equal(CALL(passive.adapter, CreateSharedReceiveQueue, &IID_IND2SharedReceiveQueue,
                         passive.file, 4, 1, 0, 0, 0, (void **)&srq),
        0);
    assert_int_equal(CALL(passive.qp, Release), 0);
    assert_int_equal(
        CALL(passive.adapter, CreateQueuePairWithSrq, &IID_IND2QueuePair, (IUnknown *)passive.cq,
            (IUnknown *)passive.cq, (IUnknown *)srq, NULL, 4, 1, 0, (void **)&passive.qp),
        0);
    assert_int_equal(nd2_end_listen(&passive, &port_be), 0);
    assert_int_equal(pthread_create(&thread, NULL, accept_one, NULL), 0);
    assert_int_equal(nd2_end_connect(&end, port_be), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void close_pair(void)
{
    close_end(&end);
    assert_int_equal(CALL(passive.qp, Release), 0);
    passive.qp = NULL;
    assert_int_equal(CALL(srq, Release), 0);
    close_end(&passive);
}

/* The first of two has its Receive, and its result is not fetched; the silent one names nothing that counts. */
static void deregistered_under_the_second_send(void)
{
    IND2MemoryRegion *first, *second;
    ND2_SGE entry = { passive.memory, 0, 0 };

    open_pair();
    first = register_here();
    second = register_here();
    assert_int_equal(CALL(srq, Receive, NULL, NULL, 0), 0);
    entry = (ND2_SGE){ end.memory, 0, CALL(first, GetLocalToken) };
    assert_int_equal(CALL(end.qp, Send, NULL, &entry, 1, 0), 0);
    entry = (ND2_SGE){ end.memory, 16, CALL(second, GetLocalToken) };
    assert_int_equal(CALL(end.qp, Send, NULL, &entry, 1, 0), 0);
    deregister(first);
    misuse_expect(named,
        "IND2MemoryRegion::Deregister, IND2MemoryRegion %p: IND2QueuePair::Send of "
        "IND2QueuePair %p, which has not ended, names 0x%x; IND2MemoryRegion::Register registered "
        "that at misuse+0x%zx.",
        (void *)second, (void *)end.qp, CALL(second, GetLocalToken),
        offset_of((void *)register_here));
    deregister(second);
    assert_int_equal(CALL(first, Release), 0);
    assert_int_equal(CALL(second, Release), 0);
    close_pair();
}

static const struct misuse_row rows[] = {
    MISUSE_ROW(deregistered_under_a_receive),
    MISUSE_ROW(deregistered_under_a_receive_in_version_1),
    MISUSE_ROW(deregistered_under_the_second_send),
};

int main(int argc, char **argv)
{
    return misuse_main(argc, argv, "NDSPI_CHECK", rows, sizeof(rows) / sizeof(rows[0]));
}
