/* SPDX-License-Identifier: MIT */
/* NdLinuxQueryCounters over the embedded device: each figure against what a pair of connected ends has done. */
#include "tests/unit/ndspi/connection/connection.h"

#include "tests/unit/ndspi/connection/nd1_connection.h"

#include <ndspi_linux.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BAD_PARAM2   ((HRESULT)SPEC_ND_INVALID_PARAMETER_2)
#define NO_MORE      ((HRESULT)SPEC_ND_NO_MORE_ENTRIES)
#define SEND_SILENT  1u
#define REMOTE_READ  2u
#define REMOTE_WRITE 5u

enum { MEMORY = 65536, MESSAGE = 100, ROUNDS = 3 * QUEUE_DEPTH + 1 };

static ND_LINUX_COUNTERS counters_of(void *adapter)
{
    ND_LINUX_COUNTERS counters = { .Size = sizeof(counters) };

    assert_int_equal(NdLinuxQueryCounters(adapter, &counters), OK);
    assert_int_equal(counters.Size, sizeof(counters));
    return counters;
}

struct memory {
    IND2MemoryRegion *region;
    char *octets;
    UINT32 local, remote;
};

static void register_memory(struct side *side, struct memory *memory)
{
    memory->octets = calloc(1, MEMORY);
    assert_non_null(memory->octets);
    assert_int_equal(CALL(side->adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, side->file,
                         (void **)&memory->region),
        OK);
    assert_int_equal(ended(memory->region,
                         CALL(memory->region, Register, memory->octets, MEMORY,
                             REMOTE_READ | REMOTE_WRITE, fresh(side, 7)),
                         &side->requests[7].overlapped),
        OK);
    memory->local = CALL(memory->region, GetLocalToken);
    memory->remote = CALL(memory->region, GetRemoteToken);
}

static void deregister_memory(struct side *side, struct memory *memory)
{
    assert_int_equal(ended(memory->region, CALL(memory->region, Deregister, fresh(side, 7)),
                         &side->requests[7].overlapped),
        OK);
    RELEASE(memory->region);
    free(memory->octets);
}

static void send_octets(struct side *side, const struct memory *memory, ULONG octets, ULONG flags)
{
    ND2_SGE sge = { memory->octets, octets, memory->local };

    assert_int_equal(CALL(side->qp, Send, NULL, &sge, 1, flags), OK);
}

static void receive_octets(struct side *side, const struct memory *memory, ULONG octets)
{
    ND2_SGE sge = { memory->octets, octets, memory->local };

    assert_int_equal(CALL(side->qp, Receive, NULL, &sge, 1), OK);
}

static void expect_results(struct side *side, unsigned count, HRESULT status)
{
    ND2_RESULT result[ROUNDS];

    results(side, result, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(result[i].Status, status);
}

static void test_counters_refuse_what_is_no_adapter_and_no_room(void **state)
{
    ND_LINUX_COUNTERS counters = { .Size = sizeof(counters) };
    struct pair *pair = *state;

    assert_int_equal(NdLinuxQueryCounters(NULL, &counters), BAD_PARAM1);
    assert_int_equal(NdLinuxQueryCounters((IUnknown *)pair->active.cq, &counters), BAD_PARAM1);
    assert_int_equal(NdLinuxQueryCounters((IUnknown *)pair->active.adapter, NULL), BAD_PARAM2);
    counters.Size = 87; /* two numbers and ten counters: 88 */
    assert_int_equal(NdLinuxQueryCounters((IUnknown *)pair->active.adapter, &counters), BAD_PARAM2);
}

static void test_counters_fill_no_more_than_the_caller_has(void **state)
{
    struct pair *pair = *state;
    struct {
        ND_LINUX_COUNTERS counters;
        UINT64 behind[4];
    } room;

    memset(&room, 0xA5, sizeof(room));
    room.counters.Size = 88;
    assert_int_equal(NdLinuxQueryCounters((IUnknown *)pair->active.adapter, &room.counters), OK);
    assert_int_equal(room.counters.Size, 88);
    assert_int_equal(room.counters.ConnectionErrors, 0);
    assert_true(room.counters.Sends == 0xA5A5A5A5A5A5A5A5);
    /* A caller of a later version: what this one does not know is 0. */
    memset(&room, 0xA5, sizeof(room));
    room.counters.Size = sizeof(room);
    assert_int_equal(NdLinuxQueryCounters((IUnknown *)pair->active.adapter, &room.counters), OK);
    assert_int_equal(room.counters.Size, sizeof(room.counters));
    for (int i = 0; i < 4; i++)
        assert_true(room.behind[i] == 0);
}

static void test_counters_have_names_in_the_order_of_the_members(void **state)
{
    ULONG index = 0;

    (void)state;
    for (const ND_LINUX_COUNTER *row; (row = NdLinuxCounter(index)); index++) {
        assert_int_equal(row->Offset, 8 + 8 * index);
        assert_true(strspn(row->Name, "abcdefghijklmnopqrstuvwxyz_") == strlen(row->Name));
        assert_true(row->Text[strlen(row->Text) - 1] == '.');
        for (ULONG other = 0; other < index; other++)
            assert_string_not_equal(row->Name, NdLinuxCounter(other)->Name);
    }
    assert_int_equal(8 + 8 * index, offsetof(ND_LINUX_COUNTERS, Terminates));
    assert_string_equal(NdLinuxCounter(0)->Name, "inbound_bytes");
    assert_true(NdLinuxCounter(0)->Total);
    assert_string_equal(NdLinuxCounter(4)->Name, "active_connections");
    assert_false(NdLinuxCounter(4)->Total);
}

static void test_counters_know_both_ends_of_a_connection(void **state)
{
    struct pair *pair = *state;
    ND_LINUX_COUNTERS active = counters_of(pair->active.adapter), passive;

    assert_int_equal(active.QueuePairs, 1);
    assert_int_equal(active.CompletionQueues, 1);
    assert_int_equal(active.InitiatorDepth, QUEUE_DEPTH);
    assert_int_equal(active.ReceiveDepth, QUEUE_DEPTH);
    assert_int_equal(active.ResultDepth, 4 * QUEUE_DEPTH);
    assert_int_equal(active.InitiatedConnections, 0);
    reach_connected(pair);
    active = counters_of(pair->active.adapter);
    passive = counters_of(pair->passive.adapter);
    assert_int_equal(active.InitiatedConnections, 1);
    assert_int_equal(active.AcceptedConnections, 0);
    assert_int_equal(active.ActiveConnections, 1);
    assert_int_equal(passive.InitiatedConnections, 0);
    assert_int_equal(passive.AcceptedConnections, 1);
    assert_int_equal(passive.ActiveConnections, 1);
    assert_int_equal(active.TcpConnections + active.SharedConnections, 1);
    assert_int_equal(disconnect(&pair->active), OK);
    active = counters_of(pair->active.adapter);
    assert_int_equal(active.ActiveConnections, 0);
    assert_int_equal(active.InitiatedConnections, 1);
    assert_int_equal(active.ConnectionErrors, 0);
    assert_int_equal(active.FailedConnectionAttempts, 0);
}

/* Several laps of the rings, one request at a time and a whole ring at a time. */
static void test_counters_count_sends_and_receives_exactly(void **state)
{
    struct pair *pair = *state;
    ND_LINUX_COUNTERS active, passive;
    struct memory from, to;

    register_memory(&pair->active, &from);
    register_memory(&pair->passive, &to);
    reach_connected(pair);
    for (unsigned i = 0; i < ROUNDS; i++) {
        receive_octets(&pair->passive, &to, MEMORY);
        send_octets(&pair->active, &from, MESSAGE, 0);
        expect_results(&pair->passive, 1, OK);
        expect_results(&pair->active, 1, OK);
    }
    for (unsigned lap = 0; lap < 3; lap++) {
        for (unsigned i = 0; i < QUEUE_DEPTH; i++)
            receive_octets(&pair->passive, &to, MEMORY);
        for (unsigned i = 0; i < QUEUE_DEPTH; i++)
            send_octets(&pair->active, &from, MESSAGE, 0);
        expect_results(&pair->passive, QUEUE_DEPTH, OK);
        expect_results(&pair->active, QUEUE_DEPTH, OK);
    }
    receive_octets(&pair->passive, &to, MEMORY);
    active = counters_of(pair->active.adapter);
    passive = counters_of(pair->passive.adapter);
    assert_int_equal(active.Sends, ROUNDS + 3 * QUEUE_DEPTH);
    assert_int_equal(active.SendBytes, MESSAGE * (ROUNDS + 3 * QUEUE_DEPTH));
    assert_int_equal(active.Receives, 0);
    assert_int_equal(active.InitiatorPending, 0);
    assert_int_equal(passive.Sends, 0);
    assert_int_equal(passive.Receives, ROUNDS + 3 * QUEUE_DEPTH);
    assert_int_equal(passive.ReceiveBytes, MESSAGE * (ROUNDS + 3 * QUEUE_DEPTH));
    assert_int_equal(passive.ReceivePending, 1);
    assert_int_equal(passive.MemoryRegions, 1);
    assert_int_equal(passive.RegisteredBytes, MEMORY);
    /* The wire: what one end has sent the other has received, and each message is a frame of its own. */
    assert_true(active.OutboundFrames >= active.Sends);
    assert_true(active.OutboundBytes > active.SendBytes);
    assert_true(passive.InboundFrames >= active.Sends);
    assert_true(passive.InboundBytes > active.SendBytes);
    assert_true(passive.InboundBytes <= active.OutboundBytes);
    assert_true(active.AcknowledgementsReceived >= 1);
    assert_true(passive.AcknowledgementsSent >= active.AcknowledgementsReceived);
    deregister_memory(&pair->active, &from);
    assert_int_equal(counters_of(pair->active.adapter).RegisteredBytes, 0);
    assert_int_equal(counters_of(pair->active.adapter).MemoryRegions, 0);
    RELEASE(pair->passive.qp);
    deregister_memory(&pair->passive, &to);
}

static void test_counters_leave_out_what_a_call_refused(void **state)
{
    struct pair *pair = *state;
    ND_LINUX_COUNTERS counters;
    struct memory memory;
    ND2_SGE sge;

    register_memory(&pair->active, &memory);
    sge = (ND2_SGE){ memory.octets, MESSAGE, memory.local };
    assert_int_equal(CALL(pair->active.qp, Send, NULL, &sge, 1, 0), INVALID);
    for (unsigned i = 0; i < QUEUE_DEPTH; i++)
        receive_octets(&pair->active, &memory, MESSAGE);
    assert_int_equal(CALL(pair->active.qp, Receive, NULL, &sge, 1), NO_MORE);
    counters = counters_of(pair->active.adapter);
    assert_int_equal(counters.Sends, 0);
    assert_int_equal(counters.SendBytes, 0);
    assert_int_equal(counters.ReceivePending, QUEUE_DEPTH);
    assert_int_equal(counters.Receives, 0);
    RELEASE(pair->active.qp);
    deregister_memory(&pair->active, &memory);
}

static void test_counters_tell_reads_and_writes_apart(void **state)
{
    struct pair *pair = *state;
    struct memory here, there;
    ND_LINUX_COUNTERS counters;
    ND2_SGE sge;

    register_memory(&pair->active, &here);
    register_memory(&pair->passive, &there);
    reach_connected(pair);
    sge = (ND2_SGE){ here.octets, MESSAGE, here.local };
    assert_int_equal(CALL(pair->active.qp, Write, NULL, &sge, 1, (uintptr_t)there.octets,
                         there.remote, SEND_SILENT),
        OK);
    assert_int_equal(
        CALL(pair->active.qp, Read, NULL, &sge, 1, (uintptr_t)there.octets, there.remote, 0), OK);
    expect_results(&pair->active, 1, OK);
    counters = counters_of(pair->active.adapter);
    assert_int_equal(counters.Writes, 1);
    assert_int_equal(counters.WriteBytes, MESSAGE);
    assert_int_equal(counters.Reads, 1);
    assert_int_equal(counters.ReadBytes, MESSAGE);
    assert_int_equal(counters.Sends, 0);
    assert_int_equal(counters.OtherRequests, 0);
    assert_true(counters.InboundBytes > MESSAGE);
    RELEASE(pair->active.qp);
    deregister_memory(&pair->active, &here);
    RELEASE(pair->passive.qp);
    deregister_memory(&pair->passive, &there);
}

/* A Write to a key that the peer never gave away: the peer ends the connection with Terminate 1/1/00. */
static void test_counters_tell_terminates_by_code(void **state)
{
    struct pair *pair = *state;
    ND_LINUX_COUNTERS active, passive;
    struct memory memory;
    ND2_RESULT result;
    ND2_SGE sge;

    register_memory(&pair->active, &memory);
    reach_connected(pair);
    sge = (ND2_SGE){ memory.octets, MESSAGE, memory.local };
    assert_int_equal(CALL(pair->active.qp, Write, NULL, &sge, 1, 4096, 0x12345678, 0), OK);
    results(&pair->active, &result, 1);
    assert_int_equal(result.Status, (HRESULT)SPEC_ND_ACCESS_VIOLATION);
    active = counters_of(pair->active.adapter);
    passive = counters_of(pair->passive.adapter);
    assert_int_equal(active.FailedRequests, 1);
    assert_int_equal(active.FlushedRequests, 0);
    assert_int_equal(active.ConnectionErrors, 1);
    assert_int_equal(active.TerminatesReceived, 1);
    assert_int_equal(active.TerminatesSent, 0);
    assert_int_equal(active.TerminateCount, 1);
    assert_int_equal(active.Terminates[0].Code, 0x1100);
    assert_int_equal(active.Terminates[0].Received, 1);
    assert_int_equal(active.Terminates[0].Sent, 0);
    assert_int_equal(passive.TerminatesSent, 1);
    assert_int_equal(passive.TerminateCount, 1);
    assert_int_equal(passive.Terminates[0].Code, 0x1100);
    assert_int_equal(passive.Terminates[0].Sent, 1);
    RELEASE(pair->active.qp);
    deregister_memory(&pair->active, &memory);
}

static void test_counters_tell_messages_that_waited_for_a_receive(void **state)
{
    struct pair *pair = *state;
    struct memory from, to;

    register_memory(&pair->active, &from);
    register_memory(&pair->passive, &to);
    reach_connected(pair);
    send_octets(&pair->active, &from, MESSAGE, 0);
    while (!counters_of(pair->passive.adapter).ReceiverNotReady)
        sched_yield();
    /* No Receive follows: a machine with much to do may be too late with it. */
    assert_int_equal(counters_of(pair->passive.adapter).ReceiverNotReady, 1);
    RELEASE(pair->active.qp);
    deregister_memory(&pair->active, &from);
    RELEASE(pair->passive.qp);
    deregister_memory(&pair->passive, &to);
}

static void test_counters_tell_attempts_that_failed(void **state)
{
    struct pair *pair = *state;
    ND_LINUX_COUNTERS active, passive;

    reach_request(pair);
    assert_int_equal(CALL(pair->passive.connector, Reject, NULL, 0), OK);
    assert_int_equal(connect_ended(pair), REFUSED);
    active = counters_of(pair->active.adapter);
    passive = counters_of(pair->passive.adapter);
    assert_int_equal(active.FailedConnectionAttempts, 1);
    assert_int_equal(active.InitiatedConnections, 0);
    assert_int_equal(active.ActiveConnections, 0);
    assert_int_equal(passive.FailedConnectionAttempts, 0); /* its own Reject */
}

static void test_counters_tell_a_completion_queue_that_overran(void **state)
{
    struct pair *pair = *state;
    IND2CompletionQueue *cq = NULL;
    IND2QueuePair *qp = NULL;
    ND_LINUX_COUNTERS counters;
    ND2_RESULT result;

    assert_int_equal(CALL(pair->active.adapter, CreateCompletionQueue, &IID_IND2CompletionQueue,
                         pair->active.file, 1, 0, 0, (void **)&cq),
        OK);
    assert_int_equal(CALL(pair->active.adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)cq,
                         (IUnknown *)cq, NULL, 192, 4, 1, 1, 0, (void **)&qp),
        OK);
    for (int i = 0; i < 192; i++) /* it has room for 191 */
        assert_int_equal(CALL(qp, Receive, NULL, NULL, 0), OK);
    assert_int_equal(CALL(qp, Flush), OK);
    assert_int_equal(CALL(cq, GetResults, &result, 1), 0);
    counters = counters_of(pair->active.adapter);
    assert_int_equal(counters.CompletionQueueErrors, 1);
    assert_int_equal(counters.FlushedRequests, 192); /* the lost ones, too */
    assert_int_equal(counters.FailedRequests, 0);
    assert_int_equal(counters.Receives, 0);
    assert_int_equal(counters.ReceivePending, 0);
    RELEASE(qp);
    RELEASE(cq);
}

static void test_counters_keep_what_released_queue_pairs_did(void **state)
{
    struct pair *pair = *state;
    struct memory from, to;
    ND_LINUX_COUNTERS before, after;

    register_memory(&pair->active, &from);
    register_memory(&pair->passive, &to);
    reach_connected(pair);
    receive_octets(&pair->passive, &to, MEMORY);
    send_octets(&pair->active, &from, MESSAGE, 0);
    expect_results(&pair->passive, 1, OK);
    expect_results(&pair->active, 1, OK);
    assert_int_equal(disconnect(&pair->active), OK);
    before = counters_of(pair->active.adapter);
    RELEASE(pair->active.connector);
    RELEASE(pair->active.qp);
    RELEASE(pair->active.cq);
    after = counters_of(pair->active.adapter);
    assert_int_equal(after.QueuePairs, 0);
    assert_int_equal(after.CompletionQueues, 0);
    assert_int_equal(after.InitiatorDepth, 0);
    assert_int_equal(after.Sends, 1);
    assert_int_equal(after.SendBytes, MESSAGE);
    assert_true(after.OutboundBytes >= before.OutboundBytes);
    assert_true(after.InboundFrames >= before.InboundFrames);
    assert_int_equal(after.InitiatedConnections, 1);
    deregister_memory(&pair->active, &from);
    RELEASE(pair->passive.qp);
    deregister_memory(&pair->passive, &to);
}

static atomic_bool reading;

/* Runs in a thread of its own, where cmocka's assertions cannot end the test. Returns the counter that went back. */
static void *read_on(void *adapter)
{
    ND_LINUX_COUNTERS last = { .Size = sizeof(last) }, now = last;
    const ND_LINUX_COUNTER *row, *back = NULL;

    if (NdLinuxQueryCounters(adapter, &last) != OK)
        return (void *)(uintptr_t)NdLinuxCounter(0);
    while (atomic_load(&reading) && !back) {
        now.Size = sizeof(now);
        if (NdLinuxQueryCounters(adapter, &now) != OK)
            return (void *)(uintptr_t)NdLinuxCounter(0);
        for (ULONG i = 0; (row = NdLinuxCounter(i)); i++)
            if (row->Total &&
                *(UINT64 *)((char *)&now + row->Offset) < *(UINT64 *)((char *)&last + row->Offset))
                back = row;
        last = now;
    }
    return (void *)(uintptr_t)back;
}

static void test_counters_never_go_back_while_the_program_works(void **state)
{
    struct pair *pair = *state;
    struct memory from, to;
    pthread_t reader[2];

    register_memory(&pair->active, &from);
    register_memory(&pair->passive, &to);
    atomic_store(&reading, true);
    assert_int_equal(pthread_create(&reader[0], NULL, read_on, pair->active.adapter), 0);
    assert_int_equal(pthread_create(&reader[1], NULL, read_on, pair->passive.adapter), 0);
    reach_connected(pair);
    for (unsigned i = 0; i < 20 * ROUNDS; i++) {
        receive_octets(&pair->passive, &to, MEMORY);
        send_octets(&pair->active, &from, MESSAGE, 0);
        expect_results(&pair->passive, 1, OK);
        expect_results(&pair->active, 1, OK);
    }
    RELEASE(pair->active.qp);
    RELEASE(pair->passive.qp);
    atomic_store(&reading, false);
    for (int i = 0; i < 2; i++) {
        void *back;

        assert_int_equal(pthread_join(reader[i], &back), 0);
        if (back)
            fail_msg("%s went back", ((const ND_LINUX_COUNTER *)back)->Name);
    }
    assert_int_equal(counters_of(pair->active.adapter).Sends, 20 * ROUNDS);
    deregister_memory(&pair->active, &from);
    deregister_memory(&pair->passive, &to);
}

static void test_counters_are_there_in_version_1(void **state)
{
    struct nd1_pair *pair = *state;
    ND_LINUX_COUNTERS active, passive;

    nd1_reach_connected(pair);
    active = counters_of(pair->active.adapter);
    passive = counters_of(pair->passive.adapter);
    assert_int_equal(active.InitiatedConnections, 1);
    assert_int_equal(active.ActiveConnections, 1);
    assert_int_equal(passive.AcceptedConnections, 1);
    assert_int_equal(passive.QueuePairs, 1);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, pair_set_up, pair_tear_down)
    const struct CMUnitTest tests[] = {
        ROW(test_counters_refuse_what_is_no_adapter_and_no_room),
        ROW(test_counters_fill_no_more_than_the_caller_has),
        cmocka_unit_test(test_counters_have_names_in_the_order_of_the_members),
        ROW(test_counters_know_both_ends_of_a_connection),
        ROW(test_counters_count_sends_and_receives_exactly),
        ROW(test_counters_leave_out_what_a_call_refused),
        ROW(test_counters_tell_reads_and_writes_apart),
        ROW(test_counters_tell_terminates_by_code),
        ROW(test_counters_tell_messages_that_waited_for_a_receive),
        ROW(test_counters_tell_attempts_that_failed),
        ROW(test_counters_tell_a_completion_queue_that_overran),
        ROW(test_counters_keep_what_released_queue_pairs_did),
        ROW(test_counters_never_go_back_while_the_program_works),
        cmocka_unit_test_setup_teardown(
            test_counters_are_there_in_version_1, nd1_pair_set_up, nd1_pair_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
