/* SPDX-License-Identifier: MIT */
/* test_requests.c - the checker of programs (NDSPI_CHECK): what requests name, and how many there are. */
#include "tests/support/misuse.h"
#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define CALL(object, method, ...) (object)->lpVtbl->method((object), ##__VA_ARGS__)

static const char token[] =
    "Rule: an entry's token is that of a region of the same adapter that is registered. "
    "Register the memory first, and ask the region for its token each time.";
static const char outside[] = "Rule: an entry lies inside of the region that its token names. "
                              "Look at its address and length, or register all of the buffer.";
static const char rights[] = "Rule: what a Receive or a Read stores into is registered for that. "
                             "Register it with ND_MR_FLAG_ALLOW_LOCAL_WRITE.";
static const char depth[] =
    "Rule: a queue takes as many requests as it is deep, until their results are fetched. "
    "Fetch results before more is posted, or make the queue deeper.";
static const char entries[] =
    "Rule: a request has as many entries as its queue was made for. "
    "Ask for more when the queue is made, up to the limit of the adapter.";
static const char too_long[] = "Rule: a request is as long as the adapter and the queue pair take. "
                               "Look at MaxTransferLength, and at the inline length asked for.";

static const char overrun[] =
    "Rule: a completion queue has room for the results of all requests of its queue pairs. "
    "Make it as deep as their queues together, or fetch results sooner.";

enum { DEPTH = 2, ROOM = 4096 };

static struct nd2_end end;
static struct nd1_end end1;

static void open_end(struct nd2_end *which)
{
    static const struct nd2_end_options options = { .depth = DEPTH, .memory_octets = ROOM };

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
    static const struct nd1_end_options options = { .depth = DEPTH, .memory_octets = ROOM };

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd1_end_open(&end1, &options), 0);
}

static void close_end1(void)
{
    nd1_end_close(&end1);
    NdCleanup();
}

/* A Receive may be posted before there is a connection. */
static HRESULT receive(void *buffer, ULONG octets, UINT32 name)
{
    const ND2_SGE entry = { buffer, octets, name };

    return CALL(end.qp, Receive, NULL, &entry, 1);
}

static HRESULT receive1(void *buffer, SIZE_T octets, ND_MR_HANDLE handle)
{
    static ND_RESULT result;
    const ND_SGE entry = { buffer, octets, handle };

    return CALL(end1.endpoint, Receive, &result, &entry, 1);
}

/* ---- tokens ---- */

static void token_of_no_region(void)
{
    open_end(&end);
    misuse_expect(token,
        "IND2QueuePair::Receive, IND2QueuePair %p: entry 0 has 0x%x, which no region has.",
        (void *)end.qp, end.lkey ^ 0x80000000);
    assert_int_equal(receive(end.memory, 16, end.lkey ^ 0x80000000), 0);
    close_end(&end);
}

static void token_of_a_deregistered_region(void)
{
    open_end(&end);
    assert_int_equal(nd2_end_wait(&end, end.mr,
                         CALL(end.mr, Deregister, nd_end_fresh(&end.overlapped, end.event)), 20000),
        0);
    misuse_expect(token,
        "IND2QueuePair::Receive, IND2QueuePair %p: entry 0 has 0x%x, which "
        "IND2MemoryRegion::Deregister took from IND2MemoryRegion %p.",
        (void *)end.qp, end.lkey, (void *)end.mr);
    assert_int_equal(receive(end.memory, 16, end.lkey), 0);
    assert_int_equal(CALL(end.mr, Release), 0);
    end.mr = NULL;
    close_end(&end);
}

static void token_of_a_released_region(void)
{
    IND2MemoryRegion *region;

    open_end(&end);
    region = end.mr;
    end.mr = NULL;
    assert_int_equal(CALL(region, Release), 0);
    misuse_expect(token,
        "IND2QueuePair::Receive, IND2QueuePair %p: entry 0 has 0x%x, which "
        "IND2MemoryRegion::Release took from IND2MemoryRegion %p.",
        (void *)end.qp, end.lkey, (void *)region);
    assert_int_equal(receive(end.memory, 16, end.lkey), 0);
    close_end(&end);
}

static void token_of_another_adapter(void)
{
    struct nd2_end other;

    open_end(&end);
    open_end(&other);
    misuse_expect(token,
        "IND2QueuePair::Receive, IND2QueuePair %p: entry 0 has 0x%x of IND2MemoryRegion %p, which "
        "is of another adapter.",
        (void *)end.qp, other.lkey, (void *)other.mr);
    assert_int_equal(receive(other.memory, 16, other.lkey), 0);
    close_end(&other);
    close_end(&end);
}

static void handle_of_a_deregistered_region(void)
{
    ND_MR_HANDLE gone;

    open_end1();
    gone = end1.mr;
    end1.mr = NULL;
    assert_int_equal(
        nd1_end_wait(&end1, end1.adapter,
            CALL(end1.adapter, DeregisterMemory, gone, nd_end_fresh(&end1.overlapped, end1.event)),
            20000),
        0);
    misuse_expect(token,
        "INDEndpoint::Receive, INDEndpoint %p: entry 0 has 0x%llx, which "
        "INDAdapter::DeregisterMemory took from INDAdapter %p.",
        (void *)end1.endpoint, (unsigned long long)(uintptr_t)gone, (void *)end1.adapter);
    assert_int_equal(receive1(end1.memory, 16, gone), (HRESULT)SPEC_ND_INVALID_HANDLE);
    close_end1();
}

/* ---- memory ---- */

static void entry_that_begins_before_its_region(void)
{
    open_end(&end);
    misuse_expect(outside,
        "IND2QueuePair::Receive, IND2QueuePair %p: entry 0, 16 bytes at %p, is not inside of 4096 "
        "bytes at %p of IND2MemoryRegion %p.",
        (void *)end.qp, (void *)(end.memory - 1), (void *)end.memory, (void *)end.mr);
    assert_int_equal(receive(end.memory - 1, 16, end.lkey), 0);
    close_end(&end);
}

static void entry_that_ends_behind_its_region(void)
{
    open_end(&end);
    assert_int_equal(receive(end.memory + ROOM - 16, 16, end.lkey), 0);
    misuse_expect(outside,
        "IND2QueuePair::Receive, IND2QueuePair %p: entry 0, 17 bytes at %p, is not inside of 4096 "
        "bytes at %p of IND2MemoryRegion %p.",
        (void *)end.qp, (void *)(end.memory + ROOM - 16), (void *)end.memory, (void *)end.mr);
    assert_int_equal(receive(end.memory + ROOM - 16, 17, end.lkey), 0);
    close_end(&end);
}

static void entry_that_ends_behind_its_region_in_version_1(void)
{
    open_end1();
    misuse_expect(outside,
        "INDEndpoint::Receive, INDEndpoint %p: entry 0, 4097 bytes at %p, is not inside of 4096 "
        "bytes at %p of INDAdapter %p.",
        (void *)end1.endpoint, (void *)end1.memory, (void *)end1.memory, (void *)end1.adapter);
    assert_int_equal(receive1(end1.memory, ROOM + 1, end1.mr), 0);
    close_end1();
}

/* Its regions live as long as what was made of it. */
static void entry_behind_a_region_of_a_released_adapter(void)
{
    INDAdapter *adapter;

    open_end1();
    adapter = end1.adapter;
    end1.adapter = NULL;
    assert_int_equal(CALL(adapter, Release), 0);
    assert_int_equal(receive1(end1.memory, ROOM, end1.mr), 0);
    misuse_expect(outside,
        "INDEndpoint::Receive, INDEndpoint %p: entry 0, 4097 bytes at %p, is not inside of 4096 "
        "bytes at %p of INDAdapter %p.",
        (void *)end1.endpoint, (void *)end1.memory, (void *)end1.memory, (void *)adapter);
    assert_int_equal(receive1(end1.memory, ROOM + 1, end1.mr), 0);
    end1.mr = NULL;
    close_end1();
}

static void receive_into_a_region_that_is_read_only(void)
{
    IND2MemoryRegion *region;
    UINT32 name;

    open_end(&end);
    assert_int_equal(
        CALL(end.adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, end.file, (void **)&region),
        0);
    assert_int_equal(
        nd2_end_wait(&end, region,
            CALL(region, Register, end.memory, 64, 0, nd_end_fresh(&end.overlapped, end.event)),
            20000),
        0);
    name = CALL(region, GetLocalToken);
    misuse_expect(rights,
        "IND2QueuePair::Receive, IND2QueuePair %p: entry 0 is in IND2MemoryRegion %p, registered "
        "with flags 0x0.",
        (void *)end.qp, (void *)region);
    assert_int_equal(receive(end.memory, 16, name), 0);
    assert_int_equal(CALL(end.qp, Release), 0);
    end.qp = NULL;
    assert_int_equal(CALL(region, Release), 0);
    close_end(&end);
}

/* ---- how many, how long ---- */

static void receives_beyond_the_depth(void)
{
    open_end(&end);
    for (int i = 0; i < DEPTH; i++)
        assert_int_equal(CALL(end.qp, Receive, NULL, NULL, 0), 0);
    misuse_expect(depth,
        "IND2QueuePair::Receive, IND2QueuePair %p: the results of all 2 requests of its receive "
        "queue are not fetched yet.",
        (void *)end.qp);
    assert_int_equal(CALL(end.qp, Receive, NULL, NULL, 0), (HRESULT)SPEC_ND_NO_MORE_ENTRIES);
    close_end(&end);
}

static void receives_beyond_the_depth_of_a_resized_shared_queue(void)
{
    IND2SharedReceiveQueue *srq;

    open_end(&end);
    assert_int_equal(CALL(end.adapter, CreateSharedReceiveQueue, &IID_IND2SharedReceiveQueue,
                         end.file, 4, 1, 0, 0, 0, (void **)&srq),
        0);
    assert_int_equal(CALL(srq, Modify, 3, 0), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(CALL(srq, Receive, NULL, NULL, 0), 0);
    misuse_expect(depth,
        "IND2SharedReceiveQueue::Receive, IND2SharedReceiveQueue %p: the results of all 3 requests "
        "of its receive queue are not fetched yet.",
        (void *)srq);
    assert_int_equal(CALL(srq, Receive, NULL, NULL, 0), (HRESULT)SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(CALL(srq, Release), 0);
    close_end(&end);
}

/* All Receives end when the queue pair is flushed. */
static void flush_receives(IND2CompletionQueue **cq, IND2QueuePair **qp, ULONG count)
{
    open_end(&end);
    assert_int_equal(CALL(end.adapter, CreateCompletionQueue, &IID_IND2CompletionQueue, end.file, 1,
                         0, 0, (void **)cq),
        0);
    assert_int_equal(CALL(end.adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)*cq,
                         (IUnknown *)end.cq, NULL, count, 1, 1, 1, 0, (void **)qp),
        0);
    for (ULONG i = 0; i < count; i++)
        assert_int_equal(CALL(*qp, Receive, NULL, NULL, 0), 0);
    assert_int_equal(CALL(*qp, Flush), 0);
}

static void close_flushed(IND2CompletionQueue *cq, IND2QueuePair *qp)
{
    assert_int_equal(CALL(qp, Release), 0);
    assert_int_equal(CALL(cq, Release), 0);
    close_end(&end);
}

static const char passed[] =
    "more results waited than it was made for; it has room for them, others may not.";

/* The depth is rounded up, so nothing is lost; told once. */
static void results_beyond_the_depth(void)
{
    IND2CompletionQueue *cq;
    IND2QueuePair *qp;
    ND2_RESULT results[4];

    flush_receives(&cq, &qp, 2);
    misuse_expect(
        overrun, "IND2CompletionQueue::GetResults, IND2CompletionQueue %p: %s", (void *)cq, passed);
    assert_int_equal(CALL(cq, GetResults, results, 4), 2);
    assert_int_equal(CALL(cq, GetResults, results, 4), 0);
    close_flushed(cq, qp);
}

static void results_beyond_the_depth_in_a_notify(void)
{
    OVERLAPPED own = { 0 };
    IND2CompletionQueue *cq;
    IND2QueuePair *qp;

    flush_receives(&cq, &qp, 2);
    misuse_expect(
        overrun, "IND2CompletionQueue::Notify, IND2CompletionQueue %p: %s", (void *)cq, passed);
    assert_int_equal(CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &own), ND_PENDING);
    assert_int_equal(CALL(cq, GetOverlappedResult, &own, TRUE), 0);
    close_flushed(cq, qp);
}

/* It has room for 191. */
static void results_without_room(void)
{
    OVERLAPPED own = { 0 };
    IND2CompletionQueue *cq;
    IND2QueuePair *qp;

    flush_receives(&cq, &qp, 192);
    misuse_expect(overrun,
        "IND2CompletionQueue::Notify, IND2CompletionQueue %p: results were lost for want of room.",
        (void *)cq);
    assert_int_equal(CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &own), (HRESULT)SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(
        CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &own), (HRESULT)SPEC_ND_BUFFER_OVERFLOW); /* told once */
    close_flushed(cq, qp);
}

static void too_many_entries(void)
{
    ND2_SGE list[2];

    open_end(&end);
    list[0] = list[1] = (ND2_SGE){ end.memory, 16, end.lkey };
    misuse_expect(entries,
        "IND2QueuePair::Receive, IND2QueuePair %p: 2 entries, and it was made for 1.",
        (void *)end.qp);
    assert_int_equal(CALL(end.qp, Receive, NULL, list, 2), (HRESULT)SPEC_ND_DATA_OVERRUN);
    close_end(&end);
}

/* The call refuses it for its length, whatever is behind the entries that a queue takes. */
static void too_many_entries_are_not_read(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ND2_SGE *list;

    open_end(&end);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    list = (ND2_SGE *)(pages + page) - 1;
    *list = (ND2_SGE){ end.memory, 16, end.lkey ^ 0x80000000 };
    misuse_expect(entries,
        "IND2QueuePair::Receive, IND2QueuePair %p: 2 entries, and it was made for 1.",
        (void *)end.qp);
    assert_int_equal(CALL(end.qp, Receive, NULL, list, 2), (HRESULT)SPEC_ND_DATA_OVERRUN);
    close_end(&end);
}

static void too_many_entries_in_version_1(void)
{
    static ND_RESULT result;
    ND_SGE list[9];

    open_end1();
    for (int i = 0; i < 9; i++)
        list[i] = (ND_SGE){ end1.memory, 16, end1.mr };
    misuse_expect(entries,
        "INDEndpoint::Receive, INDEndpoint %p: 9 entries, and it was made for 1.",
        (void *)end1.endpoint);
    assert_int_equal(CALL(end1.endpoint, Receive, &result, list, 9), (HRESULT)SPEC_ND_DATA_OVERRUN);
    close_end1();
}

static void inline_data_that_are_too_long(void)
{
    const ND2_SGE entry = { end.memory, 16, 0 };

    open_end(&end);
    misuse_expect(too_long,
        "IND2QueuePair::Send, IND2QueuePair %p: 16 bytes are inline, and it was made for 0.",
        (void *)end.qp);
    assert_int_equal(
        CALL(end.qp, Send, NULL, &entry, 1, ND_OP_FLAG_INLINE), (HRESULT)SPEC_ND_BUFFER_OVERFLOW);
    close_end(&end);
}

static const struct misuse_row rows[] = {
    MISUSE_ROW(token_of_no_region),
    MISUSE_ROW(token_of_a_deregistered_region),
    MISUSE_ROW(token_of_a_released_region),
    MISUSE_ROW(token_of_another_adapter),
    MISUSE_ROW(handle_of_a_deregistered_region),
    MISUSE_ROW(entry_that_begins_before_its_region),
    MISUSE_ROW(entry_that_ends_behind_its_region),
    MISUSE_ROW(entry_that_ends_behind_its_region_in_version_1),
    MISUSE_ROW(entry_behind_a_region_of_a_released_adapter),
    MISUSE_ROW(receive_into_a_region_that_is_read_only),
    MISUSE_ROW(receives_beyond_the_depth),
    MISUSE_ROW(receives_beyond_the_depth_of_a_resized_shared_queue),
    MISUSE_ROW(results_beyond_the_depth),
    MISUSE_ROW(results_beyond_the_depth_in_a_notify),
    MISUSE_ROW(results_without_room),
    MISUSE_ROW(too_many_entries),
    MISUSE_ROW(too_many_entries_are_not_read),
    MISUSE_ROW(too_many_entries_in_version_1),
    MISUSE_ROW(inline_data_that_are_too_long),
};

int main(int argc, char **argv)
{
    return misuse_main(argc, argv, "NDSPI_CHECK", rows, sizeof(rows) / sizeof(rows[0]));
}
