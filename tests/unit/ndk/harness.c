/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndk/harness.h"

#include "tests/conformance/exceptions.h"
#include "tests/conformance/ndk_rows.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum mode set = BY_DEFAULT;

enum mode mode_now(void)
{
    return set;
}

void mode_set(enum mode mode)
{
    set = mode;
    setenv("NDK_FORCE_PENDING", mode == FORCE_PENDING ? "1" : "0", 1);
    setenv("NDK_FORCE_INLINE_CALLBACK", mode == FORCE_INLINE ? "1" : "0", 1);
}

void *breaks_rules(void **state)
{
    if (getenv("NDK_VERIFIER"))
        skip();
    return *state;
}

/* ---- adapters ---- */

static struct sockaddr_in address_of(const char *text, USHORT port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

    assert_int_equal(inet_pton(AF_INET, text ? text : "127.0.0.1", &address.sin_addr), 1);
    return address;
}

struct sockaddr_in own_address(USHORT port)
{
    return address_of(getenv("NDSPI_ADDRESS"), port);
}

struct sockaddr_in peer_address(USHORT port)
{
    const char *peer = getenv("NDSPI_PEER");

    return address_of(peer ? peer : getenv("NDSPI_ADDRESS"), port);
}

static NET_IFINDEX interface_of(const struct sockaddr_in *address)
{
    NET_IFINDEX index = 0;
    struct ifaddrs *all;

    assert_int_equal(getifaddrs(&all), 0);
    for (struct ifaddrs *one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
            ((struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr == address->sin_addr.s_addr)
            index = if_nametoindex(one->ifa_name);
    freeifaddrs(all);
    assert_int_not_equal(index, 0);
    return index;
}

bool one_device(void)
{
    return device_name()[0] == 0 ||
           own_address(0).sin_addr.s_addr == peer_address(0).sin_addr.s_addr;
}

NET_IFINDEX own_interface(void)
{
    struct sockaddr_in address = own_address(0);

    return interface_of(&address);
}

NDK_ADAPTER *adapter_open_at(const struct sockaddr_in *address, USHORT major, USHORT minor)
{
    NDK_VERSION version = { major, minor };
    NDK_ADAPTER *adapter = NULL;

    assert_int_equal(NdklOpenAdapter(version, interface_of(address), &adapter), 0);
    assert_non_null(adapter);
    return adapter;
}

NDK_VERSION newest_version(void)
{
    return strcmp(device_name(), "siw") == 0 ? (NDK_VERSION){ 1, 1 } : (NDK_VERSION){ 2, 1 };
}

NDK_ADAPTER *adapter_open_newest(void)
{
    return adapter_open(newest_version().Major, newest_version().Minor);
}

NDK_ADAPTER *adapter_open(USHORT major, USHORT minor)
{
    struct sockaddr_in address = own_address(0);

    return adapter_open_at(&address, major, minor);
}

/* ---- callbacks ---- */

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

/* ---- rows ---- */

const char *device_name(void)
{
    const char *name = getenv("NDSPI_CONFORMANCE_DEVICE");

    return name ? name : "";
}

static const struct exception *holding; /* of the row that runs */

bool row_holds_in_full(void)
{
    return !holding;
}

/* Returns 1, and says so, if ndk_rows.h has other rows of this suite. */
static int compare_rows(const char *suite, const struct CMUnitTest *tests, size_t count)
{
#define ROW_(suite, row) { #suite, #row },
    static const struct {
        const char *suite, *row;
    } listed[] = { NDK_ROWS(ROW_) };
    size_t at = 0;

    if (!suite)
        return 0;
    for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
        if (strcmp(listed[i].suite, suite) != 0)
            continue;
        if (at == count || strcmp(listed[i].row, tests[at].name) != 0) {
            printf("ndk_rows.h: %s.%s is not row %zu of that suite\n", suite, listed[i].row, at);
            return 1;
        }
        at++;
    }
    if (at == count)
        return 0;
    printf("ndk_rows.h: there is no %s.%s\n", suite, tests[at].name);
    return 1;
}

static int run_row(const char *suite, const struct CMUnitTest *test)
{
    char name[128];

    snprintf(name, sizeof(name), "ndk.%s.%s", suite ? suite : "soft", test->name);
    holding = exception_of(device_name(), name);
    if (!holding || holding->result == IN_PART)
        return _cmocka_run_group_tests(name, test, 1, NULL, NULL);
    printf("%s: %s: %s\n", name, exception_word(holding->result), holding->reason);
    if (holding->result == NOT_APPLICABLE)
        return 0;
    if (_cmocka_run_group_tests(name, test, 1, NULL, NULL))
        return 0;
    printf("row %s passes; devices.h says that it fails on %s\n", name, holding->device);
    return 1;
}

int run_rows_(const char *suite, const struct CMUnitTest *tests, size_t count)
{
    int failed = compare_rows(suite, tests, count);

    for (size_t i = 0; i < count; i++)
        failed += run_row(suite, &tests[i]);
    return failed;
}

int run_in_modes_(const char *suite, const struct CMUnitTest *tests, size_t count)
{
    static const char *const names[MODES] = { "by default", "force pending", "force inline" };
    int failed = 0;

    for (enum mode mode = BY_DEFAULT; mode < MODES; mode++) {
        printf("---- %s ----\n", names[mode]);
        mode_set(mode);
        failed += run_rows_(suite, tests, count);
    }
    return failed;
}
