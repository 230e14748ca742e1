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
