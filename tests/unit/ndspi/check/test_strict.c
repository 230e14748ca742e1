/* SPDX-License-Identifier: MIT */
/*
 * test_strict.c - the checker of programs (NDSPI_CHECK): rules that not every device needs. The families are those of
 * docs/devices.md; that the target of a Read takes ND_MR_FLAG_RDMA_READ_SINK is said by Microsoft's page of
 * IND2MemoryRegion::Register.
 */
#include "tests/support/misuse.h"
#include "tests/support/nd2_end.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define CALL(object, method, ...) (object)->lpVtbl->method((object), ##__VA_ARGS__)

static const char sink[] = "Rule: what a Read stores into is registered as the target of a Read. "
                           "Register it with ND_MR_FLAG_RDMA_READ_SINK, too.";
static const char first[] = "Rule: the side that connects sends first. "
                            "Have the accepting side wait for a message before it sends one.";
static const char token[] =
    "Rule: an entry's token is that of a region of the same adapter that is registered. "
    "Register the memory first, and ask the region for its token each time.";

enum { OCTETS = 64 };

static struct nd2_end active, passive;

static void *accept_one(void *unused)
{
    (void)unused;
    if (SUCCEEDED(nd2_end_request(&passive)))
        nd2_end_accept(&passive);
    return NULL;
}

static void open_pair(void)
{
    static const struct nd2_end_options options = { .depth = 4, .memory_octets = 4096 };
    USHORT port_be;
    pthread_t thread;

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd2_end_open(&active, &options), 0);
    assert_int_equal(nd2_end_open(&passive, &options), 0);
    assert_int_equal(nd2_end_receive(&active, NULL, 0, OCTETS), 0);
    assert_int_equal(nd2_end_receive(&passive, NULL, 0, OCTETS), 0);
    assert_int_equal(nd2_end_listen(&passive, &port_be), 0);
    assert_int_equal(pthread_create(&thread, NULL, accept_one, NULL), 0);
    assert_int_equal(nd2_end_connect(&active, port_be), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void close_pair(void)
{
    nd2_end_close(&active);
    nd2_end_close(&passive);
    NdCleanup();
}

static void expect_results(struct nd2_end *end, unsigned count)
{
    ND2_RESULT results[2];

    assert_int_equal(nd2_end_results(end, results, count, ND_END_WAIT_MS), count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(results[i].Status, ND_SUCCESS);
}

/* A region of the active end. */
static IND2MemoryRegion *region_with(ULONG flags)
{
    IND2MemoryRegion *region;

    assert_int_equal(CALL(active.adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, active.file,
                         (void **)&region),
        0);
    assert_int_equal(nd2_end_wait(&active, region,
                         CALL(region, Register, active.memory, 4096, flags,
                             nd_end_fresh(&active.overlapped, active.event)),
                         ND_END_WAIT_MS),
        0);
    return region;
}

static void read_into(IND2MemoryRegion *region)
{
    const ND2_SGE entry = { active.memory, OCTETS, CALL(region, GetLocalToken) };

    assert_int_equal(
        CALL(active.qp, Read, NULL, &entry, 1, (UINT64)(uintptr_t)passive.memory, passive.rkey, 0),
        0);
    expect_results(&active, 1);
}

/* ---- rows ---- */

static void read_into_what_is_no_target_of_reads(void)
{
    IND2MemoryRegion *region;

    open_pair();
    region = region_with(ND_MR_FLAG_ALLOW_LOCAL_WRITE);
    misuse_expect(sink,
        "IND2QueuePair::Read, IND2QueuePair %p: entry 0 is in IND2MemoryRegion %p, registered with "
        "flags 0x1, which does not do on siw; irdma, iWARP; cxgb4; another iWARP device "
        "(READ_SINK).",
        (void *)active.qp, (void *)region);
    read_into(region);
    assert_int_equal(CALL(region, Release), 0);
    close_pair();
}

static void the_accepting_side_sends_first(void)
{
    open_pair();
    misuse_expect(first,
        "IND2QueuePair::Send, IND2QueuePair %p: its connection was accepted, and nothing of the "
        "peer's has come yet; that breaks it on siw (ACTIVE_FIRST).",
        (void *)passive.qp);
    assert_int_equal(nd2_end_send(&passive, NULL, 0, OCTETS, 0), 0);
    expect_results(&active, 1);
    close_pair();
}

/* A message of no row, so that the program has one. */
static void tell_of_another(void)
{
    const ND2_SGE entry = { passive.memory, OCTETS, passive.lkey ^ 0x80000000 };

    misuse_expect(token,
        "IND2QueuePair::Receive, IND2QueuePair %p: entry 0 has 0x%x, which no region has.",
        (void *)passive.qp, passive.lkey ^ 0x80000000);
    assert_int_equal(CALL(passive.qp, Receive, NULL, &entry, 1), 0);
}

static void an_answer_is_right(void)
{
    open_pair();
    assert_int_equal(nd2_end_send(&active, NULL, 0, OCTETS, 0), 0);
    expect_results(&passive, 1);
    assert_int_equal(nd2_end_send(&passive, NULL, 0, OCTETS, 0), 0);
    expect_results(&active, 2);
    tell_of_another();
    close_pair();
}

/* What comes by a Write has no result here. */
static void an_answer_to_a_write_is_right(void)
{
    ND2_SGE entry = { .BufferLength = OCTETS };

    open_pair();
    entry.Buffer = active.memory;
    entry.MemoryRegionToken = active.lkey;
    assert_int_equal(
        CALL(active.qp, Write, NULL, &entry, 1, (UINT64)(uintptr_t)passive.memory, passive.rkey, 0),
        0);
    expect_results(&active, 1);
    assert_int_equal(nd2_end_send(&passive, NULL, 0, OCTETS, 0), 0);
    expect_results(&active, 1);
    tell_of_another();
    close_pair();
}

static void neither_is_told_where_the_program_does_not_ask_for_it(void)
{
    IND2MemoryRegion *region;

    setenv("NDSPI_STRICT", "0", 1);
    open_pair();
    assert_int_equal(nd2_end_send(&passive, NULL, 0, OCTETS, 0), 0);
    expect_results(&active, 1);
    region = region_with(ND_MR_FLAG_ALLOW_LOCAL_WRITE);
    read_into(region);
    assert_int_equal(CALL(region, Release), 0);
    tell_of_another();
    close_pair();
}

static const struct misuse_row rows[] = {
    MISUSE_ROW(read_into_what_is_no_target_of_reads),
    MISUSE_ROW(the_accepting_side_sends_first),
    MISUSE_ROW(an_answer_is_right),
    MISUSE_ROW(an_answer_to_a_write_is_right),
    MISUSE_ROW(neither_is_told_where_the_program_does_not_ask_for_it),
};

int main(int argc, char **argv)
{
    return misuse_main(argc, argv, "NDSPI_CHECK", rows, sizeof(rows) / sizeof(rows[0]));
}
