/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndk/harness.h"

#include <net/if.h>
#include <stdlib.h>

void mode_set(enum mode mode)
{
    setenv("NDK_FORCE_PENDING", mode == FORCE_PENDING ? "1" : "0", 1);
    setenv("NDK_FORCE_INLINE_CALLBACK", mode == FORCE_INLINE ? "1" : "0", 1);
}

NDK_ADAPTER *adapter_open(USHORT major, USHORT minor)
{
    NDK_VERSION version = { major, minor };
    NDK_ADAPTER *adapter = NULL;

    assert_int_equal(NdklOpenAdapter(version, if_nametoindex("lo"), &adapter), 0);
    assert_non_null(adapter);
    return adapter;
}

void told_init(struct told *told)
{
    KeInitializeEvent(&told->event, SynchronizationEvent, FALSE);
    atomic_store(&told->count, 0);
    told->status = 0x7777;
    told->object = NULL;
}

void told_wait(struct told *told)
{
    assert_int_equal(KeWaitForSingleObject(&told->event, Executive, KernelMode, FALSE, NULL), 0);
}

static void keep(struct told *told, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
    told->status = status;
    told->object = object;
    told->thread = pthread_self();
    told->level = KeGetCurrentIrql();
    atomic_fetch_add(&told->count, 1);
    KeSetEvent(&told->event, IO_NO_INCREMENT, FALSE);
}

VOID tell_close(PVOID context)
{
    keep(context, 0, NULL);
}

VOID tell_request(PVOID context, NTSTATUS status)
{
    keep(context, status, NULL);
}

VOID tell_create(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
    keep(context, status, object);
}

void *made(struct told *told, NTSTATUS status, void *out)
{
    if (status != STATUS_PENDING) {
        assert_int_equal(atomic_load(&told->count), 0);
        return status == STATUS_SUCCESS ? *(void **)out : NULL;
    }
    told_wait(told);
    return told->status == STATUS_SUCCESS ? told->object : NULL;
}

NTSTATUS ended(struct told *told, NTSTATUS status)
{
    if (status != STATUS_PENDING) {
        assert_int_equal(atomic_load(&told->count), 0);
        return status;
    }
    told_wait(told);
    return told->status;
}

void close_object(NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_OBJECT close)
{
    struct told told;

    told_init(&told);
    assert_int_equal(ended(&told, close(header, tell_close, &told)), 0);
}

NDK_PD *pd_create(NDK_ADAPTER *adapter)
{
    struct told told;
    NDK_PD *pd = NULL;

    told_init(&told);
    pd = made(&told, adapter->Dispatch->NdkCreatePd(adapter, tell_create, &told, &pd), &pd);
    assert_non_null(pd);
    return pd;
}

NDK_MR *mr_create(NDK_PD *pd)
{
    struct told told;
    NDK_MR *mr = NULL;

    told_init(&told);
    mr = made(&told, pd->Dispatch->NdkCreateMr(pd, FALSE, tell_create, &told, &mr), &mr);
    assert_non_null(mr);
    assert_int_equal(mr->Header.ObjectType, 4);
    return mr;
}

NDK_MR *mr_register(NDK_PD *pd, void *memory, SIZE_T length, ULONG flags)
{
    NDK_MR *mr = mr_create(pd);
    struct told told;
    MDL first, second;

    MmInitializeMdl(&first, memory, length / 2);
    MmInitializeMdl(&second, (char *)memory + length / 2, length - length / 2);
    first.Next = &second;
    told_init(&told);
    assert_int_equal(
        ended(&told, mr->Dispatch->NdkRegisterMr(mr, &first, length, flags, tell_request, &told)),
        0);
    return mr;
}

NDK_MW *mw_create(NDK_PD *pd)
{
    struct told told;
    NDK_MW *mw = NULL;

    told_init(&told);
    mw = made(&told, pd->Dispatch->NdkCreateMw(pd, tell_create, &told, &mw), &mw);
    assert_non_null(mw);
    assert_int_equal(mw->Header.ObjectType, 5);
    return mw;
}

NDK_CQ *cq_create(NDK_ADAPTER *adapter, ULONG depth, struct told *notified)
{
    struct told told;
    NDK_CQ *cq = NULL;

    told_init(&told);
    told_init(notified);
    cq = made(&told,
        adapter->Dispatch->NdkCreateCq(
            adapter, depth, tell_request, notified, NULL, tell_create, &told, &cq),
        &cq);
    assert_non_null(cq);
    assert_int_equal(cq->Header.ObjectType, 3);
    return cq;
}

NDK_QP *qp_create(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, void *context)
{
    struct told told;
    NDK_QP *qp = NULL;

    told_init(&told);
    qp = made(&told,
        pd->Dispatch->NdkCreateQp(
            pd, receive_cq, initiator_cq, context, 16, 16, 4, 4, 64, tell_create, &told, &qp),
        &qp);
    assert_non_null(qp);
    assert_int_equal(qp->Header.ObjectType, 2);
    return qp;
}

int run_in_modes_(const struct CMUnitTest *tests, size_t count)
{
    static const char *const names[MODES] = { "by default", "force pending", "force inline" };
    int failed = 0;

    for (enum mode mode = BY_DEFAULT; mode < MODES; mode++) {
        mode_set(mode);
        failed += _cmocka_run_group_tests(names[mode], tests, count, NULL, NULL);
    }
    return failed;
}
