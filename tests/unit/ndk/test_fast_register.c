/* SPDX-License-Identifier: MIT */
/* test_fast_register.c - fast registration: pages, bases, rights, tokens, and how it is taken back. */
#include "tests/unit/ndk/pair.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES = 16, FAST_REGISTER = 4, INVALIDATE = 16, READ = 32, WRITE = 64 };

/* The passive side's region and mapped memory; the active side reads and writes there. */
struct fast {
    struct pair pair;
    NDK_MR *mr;
    union {
        NDK_LOGICAL_ADDRESS_MAPPING lam;
        unsigned char bytes[0x10 + 8 * PAGES];
    } mapping;
    NDK_LOGICAL_ADDRESS pages[PAGES]; /* those of the passive side's memory */
};

static NTSTATUS initialize(NDK_MR *mr, ULONG pages, BOOLEAN remote)
{
    struct told told;

    told_init(&told);
    return ended(
        &told, mr->Dispatch->NdkInitializeFastRegisterMr(mr, pages, remote, tell_request, &told));
}

static NDK_MR *fast_create(NDK_PD *pd)
{
    struct told told;
    NDK_MR *mr = NULL;

    told_init(&told);
    mr = made(&told, pd->Dispatch->NdkCreateMr(pd, TRUE, tell_create, &told, &mr), &mr);
    assert_non_null(mr);
    assert_int_equal(mr->Header.ObjectType, 4);
    return mr;
}

static int set_up(void **state)
{
    struct fast *fast = calloc(1, sizeof(*fast));
    struct side *side = &fast->pair.passive;
    ULONG size = sizeof(fast->mapping), offset;
    MDL mdl;

    assert_non_null(fast);
    pair_open(&fast->pair);
    pair_connect(&fast->pair);
    fast->mr = fast_create(side->pd);
    assert_int_equal(initialize(fast->mr, PAGES, TRUE), 0);
    MmInitializeMdl(&mdl, side->memory, MEMORY);
    assert_int_equal(side->adapter->Dispatch->NdkBuildLAM(side->adapter, &mdl, MEMORY, NULL, NULL,
                         &fast->mapping.lam, &size, &offset),
        0);
    memcpy(fast->pages, fast->mapping.lam.AdapterPageArray, sizeof(fast->pages));
    *state = fast;
    return 0;
}

static int tear_down(void **state)
{
    struct fast *fast = *state;
    struct side *side = &fast->pair.passive;

    if (fast->mr)
        close_mr(fast->mr);
    side->adapter->Dispatch->NdkReleaseLAM(side->adapter, &fast->mapping.lam);
    pair_close(&fast->pair);
    free(fast);
    return 0;
}

static NDK_RESULT_EX next(NDK_CQ *cq)
{
    NDK_RESULT_EX result;

    while (!cq->Dispatch->NdkGetCqResultsEx(cq, &result, 1))
        sched_yield();
    return result;
}

static void assert_ends(struct side *side, NTSTATUS status, ULONG type)
{
    NDK_RESULT_EX result = next(side->initiator_cq);

    assert_int_equal(result.Status, status);
    assert_int_equal(result.Type, type);
}

static NTSTATUS register_pages(struct fast *fast, const NDK_LOGICAL_ADDRESS *pages, ULONG count,
    ULONG offset, SIZE_T length, UINT64 base, ULONG flags)
{
    NDK_QP *qp = fast->pair.passive.qp;

    return qp->Dispatch->NdkFastRegister(
        qp, fast, fast->mr, count, pages, offset, length, (PVOID)(ULONG_PTR)base, flags);
}

static NTSTATUS invalidate(struct fast *fast, ULONG flags)
{
    NDK_QP *qp = fast->pair.passive.qp;

    return qp->Dispatch->NdkInvalidate(qp, fast, &fast->mr->Header, flags);
}

static NTSTATUS write_there(struct fast *fast, UINT64 address, UINT32 token, ULONG length)
{
    struct side *side = &fast->pair.active;
    NDK_SGE entry = sge(side->memory, length, side->token);

    return side->qp->Dispatch->NdkWrite(side->qp, NULL, &entry, 1, address, token, 0);
}

enum { ALL_RIGHTS = NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE };

static void regions_are_initialised_once(void **state)
{
    struct fast *fast = *state;
    NDK_MR *mr = fast_create(fast->pair.passive.pd);
    NDK_ADAPTER *adapter = fast->pair.passive.adapter;
    NDK_ADAPTER_INFO info;
    ULONG size = sizeof(info);
    UINT32 local, remote;
    struct told told;
    MDL mdl;

    assert_int_equal(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &size), 0);
    assert_int_equal(mr->Dispatch->NdkGetLocalTokenFromMr(mr), 0);
    assert_int_equal(mr->Dispatch->NdkGetRemoteTokenFromMr(mr), 0);
    assert_int_equal(initialize(mr, 0, TRUE), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        initialize(mr, info.FRMRPageCount + 1, TRUE), (NTSTATUS)SPEC_STATUS_IMPLEMENTATION_LIMIT);
    assert_int_equal(initialize(mr, info.FRMRPageCount, TRUE), 0);
    local = mr->Dispatch->NdkGetLocalTokenFromMr(mr);
    remote = mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
    assert_int_not_equal(local, 0);
    assert_int_not_equal(remote, 0);
    assert_int_equal(initialize(mr, 1, TRUE), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(mr->Dispatch->NdkGetLocalTokenFromMr(mr), local);
    assert_int_equal(mr->Dispatch->NdkGetRemoteTokenFromMr(mr), remote);
    /* It is not for the other kind of registration. */
    told_init(&told);
    MmInitializeMdl(&mdl, fast->pair.passive.memory, 100);
    assert_int_equal(
        ended(&told, mr->Dispatch->NdkRegisterMr(mr, &mdl, 100, 0, tell_request, &told)),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(ended(&told, mr->Dispatch->NdkDeregisterMr(mr, tell_request, &told)),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    close_mr(mr);
}

/* Bases: the memory's own address, any other congruent one, 0; with and without an offset in the first page. */
static void pages_are_reached_at_any_base(void **state)
{
    struct fast *fast = *state;
    struct side *to = &fast->pair.passive, *from = &fast->pair.active;
    UINT32 token = fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr);
    const struct {
        UINT64 base;
        ULONG offset;
    } rows[] = {
        { (UINT64)(ULONG_PTR)to->memory, 0 },
        { (UINT64)(ULONG_PTR)to->memory + 300, 300 },
        { 0x123456789000, 0 },
        { 0x123456789000 + 4095, 4095 },
        { 0, 0 },
        { 100, 100 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SIZE_T length = MEMORY - rows[i].offset;
        NDK_SGE entry = sge(from->memory + 8192, 4096, from->token);

        memset(to->memory, 0, MEMORY);
        memset(from->memory, 'a' + (int)i, 4096);
        assert_int_equal(register_pages(fast, fast->pages, PAGES, rows[i].offset, length,
                             rows[i].base, ALL_RIGHTS),
            0);
        assert_int_equal(fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr), token);
        assert_ends(to, 0, FAST_REGISTER);
        /* The whole of it, at its end and over a border of pages. */
        assert_int_equal(write_there(fast, rows[i].base + length - 4096, token, 4096), 0);
        assert_ends(from, 0, WRITE);
        assert_int_equal(write_there(fast, rows[i].base + 6000, token, 4096), 0);
        assert_ends(from, 0, WRITE);
        assert_int_equal(to->memory[MEMORY - 1], 'a' + (int)i);
        assert_int_equal(to->memory[MEMORY - 4096], 'a' + (int)i);
        assert_int_equal(to->memory[MEMORY - 4097], 0);
        assert_int_equal(to->memory[rows[i].offset + 5999], 0);
        assert_int_equal(to->memory[rows[i].offset + 6000], 'a' + (int)i);
        assert_int_equal(to->memory[rows[i].offset + 6000 + 4095], 'a' + (int)i);
        assert_int_equal(
            from->qp->Dispatch->NdkRead(from->qp, NULL, &entry, 1, rows[i].base + 6000, token, 0),
            0);
        assert_ends(from, 0, READ);
        assert_memory_equal(from->memory, from->memory + 8192, 4096);
        assert_int_equal(invalidate(fast, 0), 0);
        assert_ends(to, 0, INVALIDATE);
    }
}

static void pages_may_be_scattered(void **state)
{
    struct fast *fast = *state;
    struct side *to = &fast->pair.passive, *from = &fast->pair.active;
    UINT32 token = fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr);
    const NDK_LOGICAL_ADDRESS scattered[4] = { fast->pages[9], fast->pages[2], fast->pages[14],
        fast->pages[3] };
    static const int order[4] = { 9, 2, 14, 3 };

    if (!row_holds_in_full()) {
        assert_int_equal(
            register_pages(fast, scattered, 4, 10, 4 * 4096 - 10, 0x7000000A, ALL_RIGHTS),
            (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
        return;
    }
    memset(to->memory, 0, MEMORY);
    for (int i = 0; i < 4; i++)
        memset(from->memory + (ptrdiff_t)i * 4096, '1' + i, 4096);
    assert_int_equal(
        register_pages(fast, scattered, 4, 10, 4 * 4096 - 10, 0x7000000A, ALL_RIGHTS), 0);
    assert_ends(to, 0, FAST_REGISTER);
    assert_int_equal(write_there(fast, 0x7000000A, token, 4 * 4096 - 10), 0);
    assert_ends(from, 0, WRITE);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(to->memory[order[i] * 4096 + 10], '1' + i);
        assert_int_equal(to->memory[order[i] * 4096 + 4095], i == 3 ? '4' : '1' + i);
    }
    assert_int_equal(to->memory[9 * 4096 + 9], 0);
    assert_int_equal(to->memory[8 * 4096], 0);
}

static void bad_registrations_are_refused(void **state)
{
    struct fast *fast = breaks_rules(state);
    struct side *side = &fast->pair.passive;
    NDK_MR *local = fast_create(side->pd), *ordinary = side->mr, *mine = fast->mr;
    NTSTATUS invalid = (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER;
    NDK_LOGICAL_ADDRESS odd[2] = { fast->pages[0], fast->pages[1] };
    NDK_LOGICAL_ADDRESS many[PAGES + 1] = { fast->pages[0] };
    NDK_LOGICAL_ADDRESS far[2] = { fast->pages[0], fast->pages[PAGES - 1] };

    for (int i = 1; i <= PAGES; i++)
        many[i] = fast->pages[i - 1];
    assert_int_equal(register_pages(fast, NULL, 1, 0, 10, 0, ALL_RIGHTS), invalid);
    assert_int_equal(register_pages(fast, fast->pages, 0, 0, 10, 0, ALL_RIGHTS), invalid);
    assert_int_equal(register_pages(fast, many, PAGES + 1, 0, 10, 0, ALL_RIGHTS), invalid);
    assert_int_equal(register_pages(fast, fast->pages, 1, 4096, 10, 4096, ALL_RIGHTS), invalid);
    assert_int_equal(register_pages(fast, fast->pages, 2, 1, 2 * 4096, 1, ALL_RIGHTS), invalid);
    assert_int_equal(register_pages(fast, fast->pages, 2, 0, 0, 0, ALL_RIGHTS), invalid);
    assert_int_equal(register_pages(fast, fast->pages, 2, 1, 10, 2, ALL_RIGHTS), invalid);
    odd[1].QuadPart += 8;
    assert_int_equal(register_pages(fast, odd, 2, 0, 10, 0, ALL_RIGHTS), invalid);
    far[1].QuadPart += 4096; /* behind the mapping */
    assert_int_equal(
        register_pages(fast, far, 2, 0, 10, 0, ALL_RIGHTS), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    fast->mr = NULL;
    assert_int_equal(side->qp->Dispatch->NdkFastRegister(
                         side->qp, NULL, NULL, 1, fast->pages, 0, 10, 0, ALL_RIGHTS),
        invalid);
    fast->mr = ordinary;
    assert_int_equal(register_pages(fast, fast->pages, 1, 0, 10, 0, ALL_RIGHTS), invalid);
    assert_int_equal(invalidate(fast, 0), invalid);
    fast->mr = local;
    assert_int_equal(register_pages(fast, fast->pages, 1, 0, 10, 0, 0),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE); /* uninitialised */
    assert_int_equal(initialize(local, 1, FALSE), 0);
    assert_int_equal(register_pages(fast, fast->pages, 1, 0, 10, 0, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(register_pages(fast, fast->pages, 1, 0, 10, 0, NDK_OP_FLAG_ALLOW_REMOTE_WRITE),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(
        register_pages(fast, fast->pages, 1, 0, 10, 0, NDK_OP_FLAG_ALLOW_LOCAL_WRITE), 0);
    assert_ends(side, 0, FAST_REGISTER);
    assert_int_equal(register_pages(fast, fast->pages, 1, 0, 10, 0, 0),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE); /* registered already */
    assert_int_equal(invalidate(fast, NDK_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(invalidate(fast, 0), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    close_mr(local);
    fast->mr = mine;
}

static void token_is_the_same_for_life(void **state)
{
    struct fast *fast = *state;
    UINT32 remote = fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr);
    UINT32 local = fast->mr->Dispatch->NdkGetLocalTokenFromMr(fast->mr);

    for (int i = 0; i < 1000; i++) {
        assert_int_equal(register_pages(fast, fast->pages, 4, 0, 4 * 4096, (UINT64)i * 4096,
                             ALL_RIGHTS | NDK_OP_FLAG_SILENT_SUCCESS),
            0);
        assert_int_equal(fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr), remote);
        assert_int_equal(fast->mr->Dispatch->NdkGetLocalTokenFromMr(fast->mr), local);
        assert_int_equal(invalidate(fast, 0), 0);
        assert_ends(&fast->pair.passive, 0, INVALIDATE);
    }
}

/* Deferred, too. */
static void deferred_ones_keep_their_place(void **state)
{
    struct fast *fast = *state;
    struct side *from = &fast->pair.passive, *to = &fast->pair.active;
    NDK_SGE entry = sge(from->memory, 16, from->token), room = sge(to->memory, 16, to->token);

    assert_int_equal(to->qp->Dispatch->NdkReceive(to->qp, NULL, &room, 1), 0);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, NULL, &entry, 1, NDK_OP_FLAG_DEFER), 0);
    assert_int_equal(register_pages(fast, fast->pages, 2, 0, 2 * 4096, 0x40000000,
                         ALL_RIGHTS | NDK_OP_FLAG_DEFER),
        0);
    assert_int_equal(invalidate(fast, NDK_OP_FLAG_DEFER), 0);
    assert_ends(from, 0, 2);
    assert_ends(from, 0, FAST_REGISTER);
    assert_ends(from, 0, INVALIDATE);
}

/* The local token names the memory by the base's addresses, while it is registered. */
static void own_requests_use_the_base(void **state)
{
    struct fast *fast = breaks_rules(state);
    struct side *to = &fast->pair.active, *from = &fast->pair.passive;
    NDK_SGE entry = sge((void *)(ULONG_PTR)(0x40000000 + 4090), 12,
        fast->mr->Dispatch->NdkGetLocalTokenFromMr(fast->mr));
    NDK_SGE room = sge(to->memory, 16, to->token);

    memcpy(from->memory + 4090, "over a border", 12);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, NULL, &entry, 1, 0),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(register_pages(fast, fast->pages, 2, 0, 2 * 4096, 0x40000000, 0), 0);
    assert_int_equal(to->qp->Dispatch->NdkReceive(to->qp, NULL, &room, 1), 0);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, NULL, &entry, 1, 0), 0);
    assert_int_equal(next(to->receive_cq).BytesTransferred, 12);
    assert_memory_equal(to->memory, "over a borde", 12);
    assert_ends(from, 0, FAST_REGISTER);
    assert_ends(from, 0, 2);
    assert_int_equal(invalidate(fast, 0), 0);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, NULL, &entry, 1, 0),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_ends(from, 0, INVALIDATE);
}

static void peer_invalidates(void **state)
{
    struct fast *fast = *state;
    struct side *to = &fast->pair.passive, *from = &fast->pair.active;
    UINT32 token = fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr);
    NDK_SGE room = sge(to->memory, 16, to->token), entry = sge(from->memory, 4, from->token);
    NDK_RESULT_EX result;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(register_pages(fast, fast->pages, 2, 0, 4096, 4096, ALL_RIGHTS), 0);
        assert_ends(to, 0, FAST_REGISTER);
        assert_int_equal(to->qp->Dispatch->NdkReceive(to->qp, NULL, &room, 1), 0);
        assert_int_equal(write_there(fast, 4096, token, 8), 0);
        assert_ends(from, 0, WRITE);
        assert_int_equal(from->qp->Dispatch->NdkSendAndInvalidate(
                             from->qp, NULL, &entry, 1, NDK_OP_FLAG_SILENT_SUCCESS, token),
            0);
        result = next(to->receive_cq);
        assert_int_equal(result.Status, 0);
        assert_int_equal(result.Type, 0x8001);
        assert_int_equal(result.TypeSpecificCompletionOutput, token);
        assert_int_equal(invalidate(fast, 0), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    }
    /* Whoever uses the token now loses the connection. */
    assert_int_equal(write_there(fast, 4096, token, 8), 0);
    assert_ends(from, (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION, WRITE);
    told_wait(&to->disconnect);
}

/* By the owner: what is registered anew is reached by the same token, what is not ends the peer's connection. */
static void invalidated_token_ends_the_peers_access(void **state)
{
    struct fast *fast = *state;
    struct side *to = &fast->pair.passive, *from = &fast->pair.active;
    UINT32 token = fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr);

    for (int i = 0; i < 3; i++) {
        assert_int_equal(register_pages(fast, fast->pages, 2, 0, 4096, 0x50000000, ALL_RIGHTS), 0);
        assert_ends(to, 0, FAST_REGISTER);
        assert_int_equal(write_there(fast, 0x50000000, token, 8), 0);
        assert_ends(from, 0, WRITE);
        assert_int_equal(invalidate(fast, 0), 0);
        assert_ends(to, 0, INVALIDATE);
    }
    memset(to->memory, 'v', 8);
    memset(from->memory, 'w', 8);
    assert_int_equal(write_there(fast, 0x50000000, token, 8), 0);
    assert_ends(from, (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION, WRITE);
    told_wait(&to->disconnect);
    assert_int_equal(to->memory[0], 'v');
    /* Nothing is registered on a queue pair that is not connected; the region is as it was. */
    to->qp->Dispatch->NdkFlush(to->qp);
    assert_int_equal(register_pages(fast, fast->pages, 2, 0, 4096, 0x50000000, ALL_RIGHTS),
        (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(invalidate(fast, 0), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
}

static void rights_are_those_that_were_given(void **state)
{
    struct fast *fast = *state;
    struct side *from = &fast->pair.active;
    UINT32 token = fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr);
    NDK_SGE entry = sge(from->memory, 8, from->token);

    assert_int_equal(
        register_pages(fast, fast->pages, 1, 0, 4096, 0, NDK_OP_FLAG_ALLOW_REMOTE_READ), 0);
    assert_ends(&fast->pair.passive, 0, FAST_REGISTER);
    assert_int_equal(from->qp->Dispatch->NdkRead(from->qp, NULL, &entry, 1, 0, token, 0), 0);
    assert_ends(from, 0, READ);
    assert_int_equal(write_there(fast, 0, token, 8), 0);
    assert_ends(from, (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION, WRITE);
    told_wait(&fast->pair.passive.disconnect);
}

static void close_ends_access(void **state)
{
    struct fast *fast = *state;
    UINT32 token = fast->mr->Dispatch->NdkGetRemoteTokenFromMr(fast->mr);

    assert_int_equal(register_pages(fast, fast->pages, 1, 0, 4096, 0, ALL_RIGHTS), 0);
    assert_ends(&fast->pair.passive, 0, FAST_REGISTER);
    assert_int_equal(write_there(fast, 0, token, 8), 0);
    assert_ends(&fast->pair.active, 0, WRITE);
    close_mr(fast->mr);
    fast->mr = NULL;
    assert_int_equal(write_there(fast, 0, token, 8), 0);
    assert_ends(&fast->pair.active, (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION, WRITE);
    told_wait(&fast->pair.passive.disconnect);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ROW(regions_are_initialised_once),
        ROW(pages_are_reached_at_any_base),
        ROW(pages_may_be_scattered),
        ROW(bad_registrations_are_refused),
        ROW(token_is_the_same_for_life),
        ROW(deferred_ones_keep_their_place),
        ROW(own_requests_use_the_base),
        ROW(peer_invalidates),
        ROW(invalidated_token_ends_the_peers_access),
        ROW(rights_are_those_that_were_given),
        ROW(close_ends_access),
    };

    return run_in_modes("fast_register", tests);
}
