/* SPDX-License-Identifier: MIT */
/* test_memory.c - regions and windows: registration, tokens, what is refused, the order of closes. */
#include "tests/unit/ndk/harness.h"

#include <stdlib.h>

static NTSTATUS do_register(NDK_MR *mr, MDL *mdl, SIZE_T length, ULONG flags)
{
    struct told told;

    told_init(&told);
    return ended(&told, mr->Dispatch->NdkRegisterMr(mr, mdl, length, flags, tell_request, &told));
}

static NTSTATUS do_deregister(NDK_MR *mr)
{
    struct told told;

    told_init(&told);
    return ended(&told, mr->Dispatch->NdkDeregisterMr(mr, tell_request, &told));
}

static void region_has_tokens_while_registered(void **state)
{
    static char memory[3 * 4096];
    NDK_ADAPTER *adapter = adapter_open_newest();
    NDK_PD *pd = pd_create(adapter);
    NDK_MR *mr = mr_create(pd), *other;
    UINT32 local, remote;
    MDL mdl;

    (void)state;
    assert_int_equal(mr->Dispatch->NdkGetLocalTokenFromMr(mr), 0);
    assert_int_equal(mr->Dispatch->NdkGetRemoteTokenFromMr(mr), 0);
    MmInitializeMdl(&mdl, memory + 1, sizeof(memory) - 1);
    assert_int_equal(do_register(mr, &mdl, sizeof(memory) - 1, NDK_MR_FLAG_ALLOW_REMOTE_WRITE), 0);
    local = mr->Dispatch->NdkGetLocalTokenFromMr(mr);
    remote = mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
    assert_int_not_equal(local, 0);
    assert_int_not_equal(remote, 0);
    other = mr_register(pd, memory, 100, NDK_MR_FLAG_ALLOW_LOCAL_READ);
    assert_int_not_equal(other->Dispatch->NdkGetLocalTokenFromMr(other), local);
    assert_int_equal(
        do_register(mr, &mdl, 1, 0), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE); /* registered */
    assert_int_equal(mr->Dispatch->NdkGetLocalTokenFromMr(mr), local);
    assert_int_equal(do_deregister(mr), 0);
    assert_int_equal(mr->Dispatch->NdkGetLocalTokenFromMr(mr), 0);
    assert_int_equal(mr->Dispatch->NdkGetRemoteTokenFromMr(mr), 0);
    assert_int_equal(do_deregister(mr), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(do_register(mr, &mdl, 1, 0), 0); /* again */
    assert_int_not_equal(mr->Dispatch->NdkGetLocalTokenFromMr(mr), local);
    close_mr(mr); /* registered */
    close_mr(other);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

static void only_contiguous_memory_is_registered(void **state)
{
    static char memory[4 * 4096];
    NDK_ADAPTER *adapter = adapter_open_newest();
    NDK_PD *pd = pd_create(adapter);
    NDK_MR *mr = mr_create(pd);
    MDL chain[3];

    (void)state;
    MmInitializeMdl(&chain[0], memory + 7, 4096);
    MmInitializeMdl(&chain[1], memory + 7 + 4096, 100);
    MmInitializeMdl(&chain[2], memory + 7 + 4096 + 100 + 1, 4096); /* a byte is left out */
    chain[0].Next = &chain[1];
    chain[1].Next = &chain[2];
    assert_int_equal(do_register(mr, NULL, 1, 0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(do_register(mr, &chain[0], 0, 0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        do_register(mr, &chain[0], 4096 + 100 + 1, 0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    chain[1].Next = NULL;
    assert_int_equal(
        do_register(mr, &chain[0], 4096 + 100 + 1, 0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    chain[1].Next = &chain[2];
    assert_int_equal(
        do_register(mr, &chain[0], 4096 + 100, 0), 0); /* what follows is not looked at */
    assert_int_equal(do_deregister(mr), 0);
    assert_int_equal(do_register(mr, &chain[0], 4096 + 100, 0xFFFFFFF0), 0); /* unknown flags */
    close_mr(mr);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

static void region_is_for_one_kind_of_registration(void **state)
{
    NDK_ADAPTER *adapter = adapter_open_newest();
    NDK_PD *pd = pd_create(adapter);
    NDK_MR *mr = mr_create(pd);
    struct told told;

    (void)state;
    told_init(&told);
    assert_int_equal(
        ended(&told, mr->Dispatch->NdkInitializeFastRegisterMr(mr, 16, FALSE, tell_request, &told)),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    close_mr(mr);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

static void tokens_are_of_their_domain(void **state)
{
    static char memory[100];
    NDK_ADAPTER *adapter = adapter_open_newest();
    NDK_PD *pd = pd_create(adapter);
    UINT32 seen[600];
    NDK_MR *mr;

    (void)state;
    /* A place of the table is used again under another token. */
    for (int i = 0; i < 600; i++) {
        mr = mr_register(pd, memory, sizeof(memory), 0);
        seen[i] = mr->Dispatch->NdkGetLocalTokenFromMr(mr);
        if (i)
            assert_int_not_equal(seen[i], seen[i - 1]);
        close_mr(mr);
    }
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

/* ---- order of closes ---- */

static struct {
    unsigned ended;
    unsigned place[4]; /* in which the callbacks came */
    struct told told[4];
} order;

static VOID note_close(PVOID context)
{
    size_t i = (size_t)(ULONG_PTR)context;

    order.place[i] = ++order.ended;
    KeSetEvent(&order.told[i].event, 0, FALSE);
}

/* The antecedents first: each close ends after those of its successors. */
static void antecedents_end_after_successors(void **state)
{
    NDK_ADAPTER *adapter = adapter_open_newest();
    NDK_PD *pd = pd_create(adapter);
    NDK_MR *mr = mr_create(pd);
    NDK_MW *mw = mw_create(pd);
    const NDK_MR_DISPATCH *mr_dispatch = mr->Dispatch;
    NTSTATUS statuses[3];

    (void)state;
    order.ended = 0;
    for (int i = 0; i < 3; i++)
        told_init(&order.told[i]);
    assert_int_equal(
        pd->Dispatch->NdkClosePd(&pd->Header, note_close, (PVOID)0), SPEC_STATUS_PENDING);
    statuses[1] = mr_dispatch->NdkCloseMr(&mr->Header, note_close, (PVOID)1);
    assert_true(statuses[1] == 0 || statuses[1] == SPEC_STATUS_PENDING);
    if (statuses[1] == SPEC_STATUS_PENDING)
        told_wait(&order.told[1]);
    assert_int_equal(KeReadStateEvent(&order.told[0].event), 0);
    statuses[2] = mw->Dispatch->NdkCloseMw(&mw->Header, note_close, (PVOID)2);
    assert_true(statuses[2] == 0 || statuses[2] == SPEC_STATUS_PENDING);
    if (statuses[2] == SPEC_STATUS_PENDING)
        told_wait(&order.told[2]);
    told_wait(&order.told[0]);
    assert_int_equal(order.place[0], order.ended);
    NdklCloseAdapter(adapter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(region_has_tokens_while_registered),
        cmocka_unit_test(only_contiguous_memory_is_registered),
        cmocka_unit_test(region_is_for_one_kind_of_registration),
        cmocka_unit_test(tokens_are_of_their_domain),
        cmocka_unit_test(antecedents_end_after_successors),
    };

    return run_in_modes("memory", tests);
}
