/* SPDX-License-Identifier: MIT */
/* test_adapter.c - adapters: versions, information, extensions, close; how objects are made and closed in each mode. */
#include "tests/support/signal_of.h"
#include "tests/unit/ndk/harness.h"

#include <wskndk.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void versions_are_negotiated(void **state)
{
    static const struct {
        USHORT major, minor;
        NTSTATUS status;
        USHORT got; /* minor */
    } rows[] = {
        { 1, 0, 0, 2 },
        { 1, 1, 0, 2 },
        { 1, 2, 0, 2 },
        { 1, 3, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
        { 2, 0, 0, 1 },
        { 2, 1, 0, 1 },
        { 2, 2, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
        { 3, 0, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
        { 0, 0, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
    };
    bool old = newest_version().Major == 1;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        NDK_VERSION version = { rows[i].major, rows[i].minor };
        NDK_ADAPTER *adapter = NULL;
        NDK_ADAPTER_INFO info;
        ULONG size = sizeof(info);
        NDK_PD *pd;

        bool newer = old && (rows[i].major > 1 || rows[i].minor > 1);
        NTSTATUS status = newer ? (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION : rows[i].status;

        assert_int_equal(NdklOpenAdapter(version, own_interface(), &adapter), status);
        if (status) {
            assert_null(adapter);
            continue;
        }
        assert_int_equal(adapter->Header.Version.Major, rows[i].major);
        assert_int_equal(adapter->Header.Version.Minor, old ? 1 : rows[i].got);
        assert_int_equal(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &size), 0);
        assert_int_equal(info.Version.Major, rows[i].major);
        assert_int_equal(info.Version.Minor, old ? 1 : rows[i].got);
        pd = pd_create(adapter);
        assert_int_equal(pd->Header.Version.Major, rows[i].major);
        assert_int_equal(pd->Header.Version.Minor, old ? 1 : rows[i].got);
        close_pd(pd);
        NdklCloseAdapter(adapter);
    }
}

static void open_refuses_what_it_cannot(void **state)
{
    NDK_VERSION version = { 1, 2 };
    NDK_ADAPTER *adapter = (NDK_ADAPTER *)&version;

    (void)state;
    assert_int_equal(
        NdklOpenAdapter(version, own_interface(), NULL), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(NdklOpenAdapter(version, 0x7fffffff, &adapter),
        (NTSTATUS)SPEC_NDIS_STATUS_ADAPTER_NOT_READY);
    assert_int_equal(
        NdklOpenAdapter(version, 0, &adapter), (NTSTATUS)SPEC_NDIS_STATUS_ADAPTER_NOT_READY);
    assert_ptr_equal(adapter, &version);
}

static void headers_name_types(void **state)
{
    NDK_ADAPTER *adapter = adapter_open_newest();
    NDK_PD *pd = pd_create(adapter);

    (void)state;
    assert_int_equal(adapter->Header.ObjectType, 1);
    assert_int_equal(pd->Header.ObjectType, 6);
    for (int i = 0; i < 4; i++) {
        assert_null(adapter->Header.NdkReserved.rf[i]);
        assert_null(pd->Header.NdkReserved.rf[i]);
    }
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

static void info_before_2_0_has_0x60_bytes(void **state)
{
    NDK_ADAPTER *adapter = adapter_open(1, 1);
    NDK_FN_QUERY_ADAPTER_INFO query = adapter->Dispatch->NdkQueryAdapterInfo;
    union {
        NDK_ADAPTER_INFO info;
        unsigned char bytes[0x100];
    } out;
    ULONG size = 0;

    (void)state;
    memset(&out, 0xEE, sizeof(out));
    assert_int_equal(query(adapter, NULL, &size), (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(size, 0x60);
    assert_int_equal(query(adapter, NULL, &size), (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    size = 0x5F;
    assert_int_equal(query(adapter, &out.info, &size), (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(size, 0x60);
    assert_int_equal(out.bytes[0], 0xEE);
    assert_int_equal(query(adapter, &out.info, &size), 0);
    assert_int_equal(size, 0x60);
    assert_int_equal(out.bytes[0x60], 0xEE);
    size = 0x100;
    assert_int_equal(query(adapter, &out.info, &size), 0);
    assert_int_equal(size, 0x60);
    assert_int_equal(out.bytes[0x60], 0xEE);
    assert_int_equal(query(adapter, &out.info, NULL), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    NdklCloseAdapter(adapter);
}

/* What differs by device. */
static const struct kind {
    const char *device;
    ULONG flags, technology;
} kinds[] = {
    { "rxe", 0x0001010A, 4 }, /* no right needed for the target of a Read; RoCE version 2 */
    { "siw", 0x00010008, 1 }, /* a right is needed there; no resize */
    { "", 0x0001010E,
        1 }, /* loopback, moderation, resize, several engines; iWARP, but no right is needed */
};

static void info_tells_limits(void **state)
{
    const struct kind *kind = kinds;
    bool old = newest_version().Major == 1;
    NDK_ADAPTER *adapter = old ? adapter_open(1, 1) : adapter_open(2, 0);
    NDK_FN_QUERY_ADAPTER_INFO query = adapter->Dispatch->NdkQueryAdapterInfo;
    NDK_ADAPTER_INFO info;
    ULONG octets = old ? 0x60 : 0x68, size = 0x5F;

    (void)state;
    assert_int_equal(query(adapter, &info, &size), (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(size, octets);
    assert_int_equal(query(adapter, &info, &size), 0);
    assert_int_equal(size, octets);
    assert_true(info.MaxRegistrationSize >= 1 << 30);
    assert_int_equal(info.MaxWindowSize, info.MaxRegistrationSize);
    if (old)
        assert_int_equal(info.FRMRPageCount, 0);
    else
        assert_true(info.FRMRPageCount >= 16);
    assert_true(info.MaxInitiatorRequestSge >= 1);
    assert_true(info.MaxReceiveRequestSge >= 1);
    assert_true(info.MaxReadRequestSge >= 1);
    assert_true(info.MaxTransferLength >= 1 << 20);
    assert_true(info.MaxTransferLength <= 0x7FFFFFFF);
    assert_true(info.MaxReceiveQueueDepth >= 255);
    assert_true(info.MaxInitiatorQueueDepth >= 255);
    assert_true(info.MaxSrqDepth >= 255);
    assert_true(info.MaxCqDepth >= 1024);
    assert_int_equal(info.LargeRequestThreshold, 4096);
    assert_int_equal(info.MaxCallerData, 56);
    assert_int_equal(info.MaxCalleeData, 148);
    while (kind->device[0] && strcmp(kind->device, device_name()) != 0)
        kind++;
    assert_int_equal(info.AdapterFlags, kind->flags);
    if (!old)
        assert_int_equal(info.RdmaTechnology, kind->technology);
    NdklCloseAdapter(adapter);
}

static void there_are_no_extensions(void **state)
{
    NDK_ADAPTER *adapter = adapter_open_newest();
    NDK_PD *pd = pd_create(adapter);
    NDK_EXTENSION_INTERFACE extension;
    NDK_VERSION version = { 1, 0 };
    GUID id = { 1, 2, 3, { 4 } };

    (void)state;
    assert_int_equal(
        adapter->Dispatch->NdkQueryExtension(&adapter->Header, &id, version, &extension),
        (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    assert_int_equal(pd->Dispatch->NdkQueryExtension(&pd->Header, &id, version, &extension),
        (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

/* ---- how objects are made and closed ---- */

static void objects_are_made_and_closed_in_the_call(void **state)
{
    NDK_ADAPTER *adapter;
    NDK_PD *pd = NULL;
    struct told told;

    (void)state;
    mode_set(BY_DEFAULT);
    adapter = adapter_open_newest();
    told_init(&told);
    assert_int_equal(adapter->Dispatch->NdkCreatePd(adapter, tell_create, &told, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(adapter->Dispatch->NdkCreatePd(adapter, tell_create, &told, &pd), 0);
    assert_non_null(pd);
    assert_int_equal(pd->Dispatch->NdkClosePd(&pd->Header, tell_close, &told), 0);
    assert_int_equal(adapter->Dispatch->NdkCreatePd(adapter, NULL, NULL, &pd), 0);
    assert_int_equal(pd->Dispatch->NdkClosePd(&pd->Header, NULL, NULL), 0);
    NdklCloseAdapter(adapter);
    assert_int_equal(atomic_load(&told.count), 0);
}

static void forced_they_are_by_the_callback(void **state)
{
    NDK_ADAPTER *adapter;
    NDK_PD *pd = NULL;
    struct told told;

    (void)state;
    for (enum mode mode = FORCE_PENDING; mode < MODES; mode++) {
        mode_set(mode);
        adapter = adapter_open_newest();
        told_init(&told);
        assert_int_equal(adapter->Dispatch->NdkCreatePd(adapter, tell_create, &told, NULL),
            (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
        assert_int_equal(
            adapter->Dispatch->NdkCreatePd(adapter, tell_create, &told, &pd), SPEC_STATUS_PENDING);
        if (mode == FORCE_INLINE)
            assert_int_equal(atomic_load(&told.count), 1);
        told_wait(&told);
        assert_null(pd); /* only the callback gives it */
        assert_int_equal(told.status, 0);
        assert_int_equal(told.object->ObjectType, 6);
        assert_int_equal(told.level, 2);
        assert_int_equal(pthread_equal(told.thread, pthread_self()) != 0, mode == FORCE_INLINE);
        pd = (NDK_PD *)told.object;
        told_init(&told);
        assert_int_equal(
            pd->Dispatch->NdkClosePd(&pd->Header, tell_close, &told), SPEC_STATUS_PENDING);
        told_wait(&told);
        assert_int_equal(told.level, 2);
        assert_int_equal(atomic_load(&told.count), 1);
        /* Without a callback it can only end in the call. */
        assert_int_equal(adapter->Dispatch->NdkCreatePd(adapter, NULL, NULL, &pd), 0);
        assert_int_equal(pd->Dispatch->NdkClosePd(&pd->Header, NULL, NULL), 0);
        pd = NULL;
        NdklCloseAdapter(adapter);
    }
    mode_set(BY_DEFAULT);
}

static VOID close_what_was_made(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
    NDK_PD *pd = (NDK_PD *)object;
    struct told *told = context;

    told->status = status;
    told->object = object;
    /* The callback of the call itself still runs: the close ends after it. */
    assert_int_equal(pd->Dispatch->NdkClosePd(object, tell_close, told), SPEC_STATUS_PENDING);
    assert_int_equal(atomic_load(&told->count), 0);
}

static void close_inside_the_completion(void **state)
{
    NDK_ADAPTER *adapter;
    NDK_PD *pd = NULL;
    struct told told;

    (void)state;
    for (enum mode mode = FORCE_PENDING; mode < MODES; mode++) {
        mode_set(mode);
        adapter = adapter_open_newest();
        told_init(&told);
        assert_int_equal(adapter->Dispatch->NdkCreatePd(adapter, close_what_was_made, &told, &pd),
            SPEC_STATUS_PENDING);
        told_wait(&told);
        assert_int_equal(atomic_load(&told.count), 1);
        assert_null(pd);
        NdklCloseAdapter(adapter);
    }
    mode_set(BY_DEFAULT);
}

/* ---- the adapter's close ---- */

static struct {
    KEVENT entered, go;
    atomic_bool adapter_closed;
} held;

static VOID hold_close(PVOID context)
{
    (void)context;
    KeSetEvent(&held.entered, 0, FALSE);
    while (!KeReadStateEvent(&held.go))
        sched_yield();
    assert_false(atomic_load(&held.adapter_closed));
}

static void *close_adapter(void *adapter)
{
    NdklCloseAdapter(adapter);
    atomic_store(&held.adapter_closed, true);
    return NULL;
}

static void adapter_close_waits_for_callbacks(void **state)
{
    NDK_ADAPTER *adapter;
    pthread_t thread;
    NDK_PD *pd;

    (void)state;
    mode_set(FORCE_PENDING);
    adapter = adapter_open_newest();
    pd = pd_create(adapter);
    KeInitializeEvent(&held.entered, NotificationEvent, FALSE);
    KeInitializeEvent(&held.go, NotificationEvent, FALSE);
    atomic_store(&held.adapter_closed, false);
    assert_int_equal(pd->Dispatch->NdkClosePd(&pd->Header, hold_close, NULL), SPEC_STATUS_PENDING);
    assert_int_equal(KeWaitForSingleObject(&held.entered, Executive, KernelMode, FALSE, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, close_adapter, adapter), 0);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    assert_false(atomic_load(&held.adapter_closed));
    KeSetEvent(&held.go, 0, FALSE);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&held.adapter_closed));
    mode_set(BY_DEFAULT);
}

static VOID close_adapter_too(PVOID context)
{
    NdklCloseAdapter(context);
}

static void close_adapter_in_a_callback(void)
{
    NDK_ADAPTER *adapter;
    NDK_PD *pd;

    mode_set(FORCE_INLINE);
    adapter = adapter_open_newest();
    pd = pd_create(adapter);
    pd->Dispatch->NdkClosePd(&pd->Header, close_adapter_too, adapter);
}

static void adapter_close_in_a_callback_ends_the_program(void **state)
{
    (void)state;
    assert_int_equal(signal_of(close_adapter_in_a_callback), SIGABRT);
}

static void adapters_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        NDK_ADAPTER *a = adapter_open_newest(), *b = adapter_open_newest();
        NDK_PD *pd = pd_create(b);

        NdklCloseAdapter(a);
        close_pd(pd);
        NdklCloseAdapter(b);
    }
}

/* ---- Winsock Kernel ---- */

/*
 * The table is the client's: the drivers that are public pass a WSK_PROVIDER_NDK_DISPATCH of their own, and its size.
 * One of them, Dingtaiqi/nvmeof-windows-nd, measured on Windows (DRIVER-D0.md, and the comment at its call) that the
 * size of a pointer gives STATUS_INVALID_PARAMETER, and the table's size the table.
 */
static void adapters_open_by_winsock_kernel(void **state)
{
    static const WSK_CLIENT_DISPATCH dispatch = { MAKE_WSK_VERSION(1, 0), 0, NULL };
    WSK_CLIENT_NPI client = { NULL, &dispatch };
    WSK_PROVIDER_NDK_DISPATCH table = { NULL, NULL };
    NDK_VERSION version = { 1, 0 };
    WSK_REGISTRATION registration;
    WSK_PROVIDER_NPI provider;
    NDK_ADAPTER *adapter = NULL;
    SIZE_T returned = 0;

    (void)state;
    assert_int_equal(WskRegister(NULL, &registration), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(WskRegister(&client, &registration), 0);
    assert_int_equal(WskCaptureProviderNPI(&registration, WSK_INFINITE_WAIT, &provider), 0);
    assert_int_equal(provider.Dispatch->WskControlClient(
                         provider.Client, 1, 0, NULL, sizeof(table), &table, &returned, NULL),
        (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    assert_int_equal(provider.Dispatch->WskControlClient(
                         provider.Client, 0x4E444B44, 0, NULL, 8, &table, &returned, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(provider.Dispatch->WskControlClient(
                         provider.Client, 0x4E444B44, 0, NULL, 15, &table, &returned, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_null(table.WskOpenNdkAdapter);
    assert_int_equal(provider.Dispatch->WskControlClient(
                         provider.Client, 0x4E444B44, 0, NULL, 16, NULL, &returned, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(returned, 0);
    assert_int_equal(provider.Dispatch->WskControlClient(provider.Client, 0x4E444B44, 0, NULL,
                         sizeof(table), &table, &returned, NULL),
        0);
    assert_int_equal(returned, 16);
    assert_int_equal(
        table.WskOpenNdkAdapter(provider.Client, version, own_interface(), &adapter), 0);
    assert_int_equal(adapter->Header.Version.Minor, newest_version().Major == 1 ? 1 : 2);
    table.WskCloseNdkAdapter(provider.Client, adapter);
    WskReleaseProviderNPI(&registration);
    WskDeregister(&registration);
    assert_int_equal(WskCaptureProviderNPI(&registration, WSK_NO_WAIT, &provider),
        (NTSTATUS)SPEC_STATUS_DEVICE_NOT_READY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: a child of it opens an adapter, which a process with threads of an adapter could not. */
        cmocka_unit_test(adapter_close_in_a_callback_ends_the_program),
        cmocka_unit_test(versions_are_negotiated),
        cmocka_unit_test(open_refuses_what_it_cannot),
        cmocka_unit_test(headers_name_types),
        cmocka_unit_test(info_before_2_0_has_0x60_bytes),
        cmocka_unit_test(info_tells_limits),
        cmocka_unit_test(there_are_no_extensions),
        cmocka_unit_test(objects_are_made_and_closed_in_the_call),
        cmocka_unit_test(forced_they_are_by_the_callback),
        cmocka_unit_test(close_inside_the_completion),
        cmocka_unit_test(adapter_close_waits_for_callbacks),
        cmocka_unit_test(adapters_come_and_go),
        cmocka_unit_test(adapters_open_by_winsock_kernel),
    };

    return run_rows("adapter", tests);
}
