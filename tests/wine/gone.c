/* SPDX-License-Identifier: MIT */
/*
 * gone.c - a program that frees or protects what the library still has: registered memory, an OVERLAPPED, an ND_RESULT.
 * The request fails, and all else goes on. Registered memory also natively, where the promise is the same; the others
 * are a crash there. That a packet arrives whatever became of its OVERLAPPED is what Windows' I/O manager does.
 */
#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROOM = 1 << 18 };
static const ULONG sizes[] = { 64, 5000, 65536, ROOM };

/* How memory goes. */
enum way { DECOMMITTED, NO_ACCESS, READ_ONLY, RELEASED };
#ifdef _WIN32
enum { WAYS = RELEASED + 1 };
#else
enum { WAYS = READ_ONLY + 1 }; /* where it is unmapped, the next mapping may land there */
#endif

static VOID *memory_of(size_t octets)
{
    VOID *memory = nd_end_memory(octets);

    assert_non_null(memory);
    return memory;
}

static void take_away(VOID *memory, size_t octets, enum way way)
{
    DWORD before;

    switch (way) {
    case DECOMMITTED: assert_true(VirtualFree(memory, octets, MEM_DECOMMIT)); break;
    case NO_ACCESS: assert_true(VirtualProtect(memory, octets, PAGE_NOACCESS, &before)); break;
    case READ_ONLY: assert_true(VirtualProtect(memory, octets, PAGE_READONLY, &before)); break;
    case RELEASED: assert_true(VirtualFree(memory, 0, MEM_RELEASE)); break;
    }
}

static struct nd2_end active, passive;

static DWORD WINAPI accept_one(VOID *unused)
{
    (void)unused;
    assert_int_equal(nd2_end_request(&passive), ND_SUCCESS);
    assert_int_equal(nd2_end_accept(&passive), ND_SUCCESS);
    return 0;
}

static void connect_both(void)
{
    const struct nd2_end_options options = { .depth = 8, .memory_octets = ROOM };
    USHORT port_be;
    HANDLE thread;

    assert_int_equal(nd2_end_open(&active, &options), ND_SUCCESS);
    assert_int_equal(nd2_end_open(&passive, &options), ND_SUCCESS);
    assert_int_equal(nd2_end_listen(&passive, &port_be), ND_SUCCESS);
    thread = CreateThread(NULL, 0, accept_one, NULL, 0, NULL);
    assert_int_equal(nd2_end_connect(&active, port_be), ND_SUCCESS);
    assert_int_equal(WaitForSingleObject(thread, ND_END_WAIT_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
}

static void close_both(void)
{
    IND2Adapter *adapter = active.adapter;

    adapter->lpVtbl->AddRef(adapter);
    nd2_end_close(&active);
    assert_int_equal(adapter->lpVtbl->Release(adapter), 0);
    nd2_end_close(&passive);
}

static void expect(struct nd2_end *end, HRESULT status)
{
    ND2_RESULT result;

    assert_int_equal(nd2_end_results(end, &result, 1, ND_END_WAIT_MS), 1);
    assert_int_equal(result.Status, status);
}

/* ---- registered memory ---- */

static IND2MemoryRegion *register_it(struct nd2_end *end, VOID *memory)
{
    OVERLAPPED *overlapped = nd_end_fresh(&end->overlapped, end->event);
    IND2MemoryRegion *region;
    HRESULT hr;

    assert_int_equal(end->adapter->lpVtbl->CreateMemoryRegion(
                         end->adapter, &IID_IND2MemoryRegion, end->file, (VOID **)&region),
        ND_SUCCESS);
    hr = region->lpVtbl->Register(region, memory, ROOM, ND_MR_FLAG_ALLOW_LOCAL_WRITE, overlapped);
    assert_int_equal(nd2_end_wait(end, region, hr, ND_END_WAIT_MS), ND_SUCCESS);
    return region;
}

static void deregister(struct nd2_end *end, IND2MemoryRegion *region)
{
    HRESULT hr = region->lpVtbl->Deregister(region, nd_end_fresh(&end->overlapped, end->event));

    assert_int_equal(nd2_end_wait(end, region, hr, ND_END_WAIT_MS), ND_SUCCESS);
    assert_int_equal(region->lpVtbl->Release(region), 0);
}

static void send_from(ULONG octets, enum way way)
{
    VOID *memory = memory_of(ROOM);
    IND2MemoryRegion *region;
    ND2_SGE entry = { memory, octets, 0 };

    connect_both();
    region = register_it(&active, memory);
    entry.MemoryRegionToken = region->lpVtbl->GetLocalToken(region);
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, ROOM), ND_SUCCESS);
    take_away(memory, ROOM, way);
    assert_int_equal(active.qp->lpVtbl->Send(active.qp, NULL, &entry, 1, 0), ND_SUCCESS);
    expect(&active, (HRESULT)SPEC_ND_ACCESS_VIOLATION);
    expect(&passive, (HRESULT)SPEC_ND_CANCELED);
    deregister(&active, region);
    close_both();
    if (way != RELEASED)
        nd_end_memory_free(memory);
}

static void test_send_from_memory_that_is_gone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int way = 0; way < WAYS; way++)
            if (way != READ_ONLY)
                send_from(sizes[i], way);
}

static void receive_into(ULONG octets, enum way way)
{
    VOID *memory = memory_of(ROOM);
    IND2MemoryRegion *region;
    ND2_SGE entry = { memory, ROOM, 0 };

    connect_both();
    region = register_it(&passive, memory);
    entry.MemoryRegionToken = region->lpVtbl->GetLocalToken(region);
    assert_int_equal(passive.qp->lpVtbl->Receive(passive.qp, NULL, &entry, 1), ND_SUCCESS);
    take_away(memory, ROOM, way);
    assert_int_equal(nd2_end_send(&active, NULL, 0, octets, 0), ND_SUCCESS);
    expect(&passive, (HRESULT)SPEC_ND_ACCESS_VIOLATION);
    deregister(&passive, region);
    close_both();
    if (way != RELEASED)
        nd_end_memory_free(memory);
}

static void test_receive_into_memory_that_is_gone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int way = 0; way < WAYS; way++)
            receive_into(sizes[i], way);
}

#ifdef _WIN32

/* ---- what a request stores at its end ---- */

static OVERLAPPED *take_packet(HANDLE port)
{
    OVERLAPPED *ended = NULL;
    ULONG_PTR key;
    DWORD octets;

    GetQueuedCompletionStatus(port, &octets, &key, &ended, ND_END_WAIT_MS);
    return ended;
}

static void message(void)
{
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, 64), ND_SUCCESS);
    assert_int_equal(nd2_end_send(&active, NULL, 0, 64, 0), ND_SUCCESS);
}

static void overlapped_goes(enum way way)
{
    OVERLAPPED *gone = memory_of(4096), kept = { 0 };
    ND2_RESULT results[2];
    HANDLE port;

    connect_both();
    port = CreateIoCompletionPort(passive.file, NULL, 0, 0);
    assert_int_equal(
        passive.cq->lpVtbl->Notify(passive.cq, ND_CQ_NOTIFY_ANY, gone), SPEC_ND_PENDING);
    take_away(gone, 4096, way);
    message();
    assert_ptr_equal(take_packet(port), gone);
    assert_int_equal(passive.cq->lpVtbl->GetResults(passive.cq, results, 2), 1);
    assert_int_equal(
        passive.cq->lpVtbl->Notify(passive.cq, ND_CQ_NOTIFY_ANY, &kept), SPEC_ND_PENDING);
    message();
    assert_ptr_equal(take_packet(port), &kept);
    assert_int_equal((HRESULT)kept.Internal, ND_SUCCESS);
    close_both();
    CloseHandle(port);
}

static void test_end_of_a_request_whose_overlapped_is_gone(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        overlapped_goes(way);
}

/* Cancelled in the call, by the thread that calls. */
static void test_cancel_of_a_request_whose_overlapped_is_gone(void **state)
{
    OVERLAPPED *gone = memory_of(4096);

    (void)state;
    connect_both();
    assert_int_equal(
        passive.cq->lpVtbl->Notify(passive.cq, ND_CQ_NOTIFY_ANY, gone), SPEC_ND_PENDING);
    take_away(gone, 4096, DECOMMITTED);
    assert_int_equal(passive.cq->lpVtbl->CancelOverlappedRequests(passive.cq), ND_SUCCESS);
    message();
    expect(&passive, ND_SUCCESS);
    close_both();
}

/* ---- version 1 ---- */

static struct nd1_end one, other;

static DWORD WINAPI accept_v1(VOID *unused)
{
    (void)unused;
    assert_int_equal(nd1_end_request(&other), ND_SUCCESS);
    assert_int_equal(nd1_end_accept(&other), ND_SUCCESS);
    return 0;
}

static void connect_v1(void)
{
    const struct nd1_end_options options = { .depth = 8, .memory_octets = 4096 };
    USHORT port_be;
    HANDLE thread;

    assert_int_equal(nd1_end_open(&one, &options), ND_SUCCESS);
    assert_int_equal(nd1_end_open(&other, &options), ND_SUCCESS);
    assert_int_equal(nd1_end_listen(&other, &port_be), ND_SUCCESS);
    thread = CreateThread(NULL, 0, accept_v1, NULL, 0, NULL);
    assert_int_equal(nd1_end_connect(&one, port_be), ND_SUCCESS);
    assert_int_equal(WaitForSingleObject(thread, ND_END_WAIT_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
}

static ND_RESULT *fetch(struct nd1_end *end)
{
    ULONGLONG deadline = GetTickCount64() + ND_END_WAIT_MS;
    ND_RESULT *got = NULL;

    while (end->cq->lpVtbl->GetResults(end->cq, &got, 1) == 0 && GetTickCount64() < deadline)
        ;
    return got;
}

static void test_result_of_version_1_that_is_gone(void **state)
{
    static ND_RESULT received[2], sent;
    ND_RESULT *gone;

    (void)state;
    for (int way = 0; way < WAYS; way++) {
        gone = memory_of(4096);
        connect_v1();
        assert_int_equal(nd1_end_receive(&other, &received[0], 0, 64), ND_SUCCESS);
        assert_int_equal(nd1_end_receive(&other, &received[1], 64, 64), ND_SUCCESS);
        assert_int_equal(nd1_end_send(&one, gone, 0, 64, 0), ND_SUCCESS);
        take_away(gone, 4096, way);
        assert_ptr_equal(fetch(&other), &received[0]);
        assert_ptr_equal(fetch(&one), gone);
        assert_int_equal(nd1_end_send(&one, &sent, 0, 64, 0), ND_SUCCESS);
        assert_ptr_equal(fetch(&other), &received[1]);
        assert_ptr_equal(fetch(&one), &sent);
        assert_int_equal(sent.Status, ND_SUCCESS);
        nd1_end_close(&one);
        nd1_end_close(&other);
    }
}

#endif

/* Not by cmocka, which puts handlers of its own in the place of the library's. */
int main(void)
{
    void *state = NULL;

    assert_int_equal(NdStartup(), ND_SUCCESS);
    test_send_from_memory_that_is_gone(&state);
    test_receive_into_memory_that_is_gone(&state);
#ifdef _WIN32
    test_end_of_a_request_whose_overlapped_is_gone(&state);
    test_cancel_of_a_request_whose_overlapped_is_gone(&state);
    test_result_of_version_1_that_is_gone(&state);
#endif
    return 0;
}
