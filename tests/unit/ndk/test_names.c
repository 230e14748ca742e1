/* SPDX-License-Identifier: MIT */
/*
 * test_names.c - what drivers name of wdm.h besides: text, Interlocked functions, lists with locks, lookaside lists,
 * pools, processors, interfaces, devices, DbgPrint. Compiled for each width of wchar_t. Sources: Microsoft's pages of
 * each function; that a text which is cut off, or one that needs no more room, changes nothing else is our reading.
 */
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndkwdm.h>

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG = 0x54657374 };

/* ---- text ---- */

static void text_is_counted(void **state)
{
    DECLARE_CONST_UNICODE_STRING(constant, L"constant");
    UNICODE_STRING text, none;

    (void)state;
    RtlInitUnicodeString(&text, L"constant");
    assert_int_equal(text.Length, 8 * sizeof(WCHAR));
    assert_int_equal(text.MaximumLength, 9 * sizeof(WCHAR));
    assert_true(RtlEqualUnicodeString(&text, &constant, FALSE));
    RtlInitUnicodeString(&none, NULL);
    assert_int_equal(none.Length, 0);
    assert_int_equal(none.MaximumLength, 0);
    assert_null(none.Buffer);
}

static void text_is_compared(void **state)
{
    UNICODE_STRING lower, upper, more, accent;

    (void)state;
    RtlInitUnicodeString(&lower, L"name\u00e9");
    RtlInitUnicodeString(&upper, L"NAME\u00c9");
    RtlInitUnicodeString(&more, L"name\u00e9s");
    RtlInitUnicodeString(&accent, L"named");
    assert_false(RtlEqualUnicodeString(&lower, &upper, FALSE));
    assert_true(RtlEqualUnicodeString(&lower, &upper, TRUE));
    assert_true(RtlCompareUnicodeString(&lower, &more, FALSE) < 0);
    assert_true(RtlCompareUnicodeString(&lower, &accent, FALSE) > 0);
    assert_true(RtlPrefixUnicodeString(&upper, &more, TRUE));
    assert_false(RtlPrefixUnicodeString(&more, &lower, TRUE));
    assert_int_equal(RtlUpcaseUnicodeChar(0x3b1), 0x391);
    assert_int_equal(RtlDowncaseUnicodeChar('Q'), 'q');
}

static void text_is_copied_and_appended(void **state)
{
    DECLARE_UNICODE_STRING_SIZE(room, 6);
    UNICODE_STRING ab, cdefg;

    (void)state;
    RtlInitUnicodeString(&ab, L"ab");
    RtlInitUnicodeString(&cdefg, L"cdefg");
    RtlCopyUnicodeString(&room, &ab);
    assert_int_equal(room.Length, 2 * sizeof(WCHAR));
    assert_int_equal(
        RtlAppendUnicodeStringToString(&room, &cdefg), (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(room.Length, 2 * sizeof(WCHAR));
    assert_int_equal(RtlAppendUnicodeToString(&room, L"cdef"), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(room.Length, 6 * sizeof(WCHAR));
    assert_int_equal(room.Buffer[5], 'f');
    room.MaximumLength = 3 * sizeof(WCHAR);
    RtlCopyUnicodeString(&room, &cdefg);
    assert_int_equal(room.Length, 3 * sizeof(WCHAR));
    RtlCopyUnicodeString(&room, NULL);
    assert_int_equal(room.Length, 0);
}

static ULONG number_of(PCWSTR text, ULONG base)
{
    UNICODE_STRING string;
    ULONG value = 99;

    RtlInitUnicodeString(&string, text);
    assert_int_equal(
        RtlUnicodeStringToInteger(&string, base, &value), (NTSTATUS)SPEC_STATUS_SUCCESS);
    return value;
}

static void numbers_are_text(void **state)
{
    DECLARE_UNICODE_STRING_SIZE(room, 12);
    UNICODE_STRING wanted;
    ULONG value;

    (void)state;
    assert_int_equal(number_of(L" 0x1F rest", 0), 0x1f);
    assert_int_equal(number_of(L"0o17", 0), 15);
    assert_int_equal(number_of(L"0b101", 0), 5);
    assert_int_equal(number_of(L"-12", 0), (ULONG)-12);
    assert_int_equal(number_of(L"ff", 16), 255);
    assert_int_equal(number_of(L"none", 0), 0);
    RtlInitUnicodeString(&wanted, L"");
    assert_int_equal(
        RtlUnicodeStringToInteger(&wanted, 0, &value), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        RtlUnicodeStringToInteger(&wanted, 7, &value), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(RtlIntegerToUnicodeString(4096, 16, &room), (NTSTATUS)SPEC_STATUS_SUCCESS);
    RtlInitUnicodeString(&wanted, L"1000");
    assert_true(RtlEqualUnicodeString(&room, &wanted, FALSE));
    room.MaximumLength = 3 * sizeof(WCHAR);
    assert_int_equal(
        RtlIntegerToUnicodeString(4096, 16, &room), (NTSTATUS)SPEC_STATUS_BUFFER_OVERFLOW);
    assert_int_equal(
        RtlIntegerToUnicodeString(4096, 3, &room), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
}

/* Windows' sizes: l is 32 bits. */
static void debug_output_has_windows_format(void **state)
{
    DECLARE_CONST_UNICODE_STRING(counted, L"counted more");
    ANSI_STRING narrow = { 3, 3, (PCHAR) "and" };
    UNICODE_STRING shorter = counted;
    int kept = dup(STDERR_FILENO), ends[2];
    char got[64] = "";
    ULONG status;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    dup2(ends[1], STDERR_FILENO);
    shorter.Length = 7 * sizeof(WCHAR);
    status = DbgPrint(
        "%lx %I64u %ws %wZ %Z\n", (ULONG)0xdeadbeef, (ULONG64)1 << 40, L"wide", &shorter, &narrow);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[1]);
    assert_true(read(ends[0], got, sizeof(got) - 1) > 0);
    close(ends[0]);
    assert_string_equal(got, "deadbeef 1099511627776 wide counted and\n");
    assert_int_equal(status, (NTSTATUS)SPEC_STATUS_SUCCESS);
}

/* ---- Interlocked ---- */

static void interlocked_forms_return_what_they_should(void **state)
{
    LONG value = 5;
    LONG64 large = 5;
    SHORT small = 0x7fff;
    PVOID pointer = &value;
    SIZE_T size = 1;

    (void)state;
    assert_int_equal(InterlockedIncrementNoFence(&value), 6);
    assert_int_equal(InterlockedDecrementRelease(&value), 5);
    assert_int_equal(InterlockedExchangeAcquire(&value, 7), 5);
    assert_int_equal(InterlockedExchangeAddNoFence(&value, 3), 7);
    assert_int_equal(InterlockedCompareExchangeRelease(&value, 1, 10), 10);
    assert_int_equal(InterlockedOrAcquire(&value, 6), 1);
    assert_int_equal(value, 7);
    assert_int_equal(InterlockedAddNoFence64(&large, 5), 10);
    assert_int_equal(InterlockedCompareExchangeAcquire64(&large, 1, 9), 10);
    assert_int_equal(InterlockedIncrement16(&small), -0x8000);
    assert_int_equal(InterlockedCompareExchange16(&small, 3, -0x8000), -0x8000);
    assert_int_equal(InterlockedOr16(&small, 4), 3);
    assert_ptr_equal(InterlockedExchangePointerNoFence(&pointer, NULL), &value);
    assert_int_equal(InterlockedExchangeAddSizeT(&size, 2), 1);
    assert_false(InterlockedBitTestAndSet(&value, 31));
    assert_true(InterlockedBitTestAndReset(&value, 31));
    assert_int_equal(value, 7);
    assert_int_equal(ReadAcquire(&value), 7);
    WriteRelease(&value, 8);
    assert_int_equal(ReadNoFence(&value), 8);
    assert_int_equal(min(3, 4) + max(3, 4), 7);
}

/* ---- lists ---- */

static void lists_with_locks(void **state)
{
    LIST_ENTRY head, a, b;
    SINGLE_LIST_ENTRY single = { NULL }, one;
    SLIST_HEADER stack;
    SLIST_ENTRY x, y;
    KSPIN_LOCK lock;

    (void)state;
    KeInitializeSpinLock(&lock);
    InitializeListHead(&head);
    assert_null(ExInterlockedRemoveHeadList(&head, &lock));
    assert_null(ExInterlockedInsertTailList(&head, &a, &lock));
    assert_ptr_equal(ExInterlockedInsertHeadList(&head, &b, &lock), &a);
    assert_ptr_equal(ExInterlockedRemoveHeadList(&head, &lock), &b);
    assert_null(ExInterlockedPushEntryList(&single, &one, &lock));
    assert_ptr_equal(ExInterlockedPopEntryList(&single, &lock), &one);
    ExInitializeSListHead(&stack);
    assert_null(InterlockedPushEntrySList(&stack, &x));
    assert_ptr_equal(ExInterlockedPushEntrySList(&stack, &y, &lock), &x);
    assert_int_equal(ExQueryDepthSList(&stack), 2);
    assert_ptr_equal(InterlockedPopEntrySList(&stack), &y);
    assert_ptr_equal(InterlockedFlushSList(&stack), &x);
    assert_null(InterlockedPopEntrySList(&stack));
}

/* ---- pools ---- */

static int given;

static PVOID give(POOL_TYPE type, SIZE_T size, ULONG tag)
{
    assert_int_equal(type, NonPagedPoolNx);
    assert_int_equal(size, 100);
    assert_int_equal(tag, TAG);
    given++;
    return malloc(size);
}

static VOID take(PVOID block)
{
    given--;
    free(block);
}

static void lookaside_lists_have_blocks(void **state)
{
    NPAGED_LOOKASIDE_LIST own;
    LOOKASIDE_LIST_EX list;
    PVOID block;

    (void)state;
    ExInitializeNPagedLookasideList(&own, give, take, POOL_NX_ALLOCATION, 100, TAG, 0);
    block = ExAllocateFromNPagedLookasideList(&own);
    assert_non_null(block);
    assert_int_equal(given, 1);
    ExFreeToNPagedLookasideList(&own, block);
    ExDeleteNPagedLookasideList(&own);
    assert_int_equal(given, 0);
    assert_int_equal(
        ExInitializeLookasideListEx(&list, NULL, NULL, NonPagedPoolNx, 0, 5000, TAG, 0),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    block = ExAllocateFromLookasideListEx(&list);
    assert_int_equal((ULONG_PTR)block % 4096, 0);
    ExFreeToLookasideListEx(&list, block);
    ExFlushLookasideListEx(&list);
    ExDeleteLookasideListEx(&list);
    assert_int_equal(ExInitializeLookasideListEx(&list, NULL, NULL, (POOL_TYPE)77, 0, 8, TAG, 0),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER_4);
    assert_int_equal(ExInitializeLookasideListEx(&list, NULL, NULL, PagedPool, 4, 8, TAG, 0),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER_5);
}

static void pool_takes_parameters(void **state)
{
    POOL_EXTENDED_PARAMETER parameters[2] = { { .Type = PoolExtendedParameterPriority },
        { .Type = PoolExtendedParameterSecurePool, .Optional = 1 } };
    unsigned char *memory = ExAllocatePool3(POOL_FLAG_NON_PAGED, 16, TAG, parameters, 2);

    (void)state;
    assert_non_null(memory);
    assert_int_equal(memory[15], 0);
    ExFreePool2(memory, TAG, NULL, 0);
    parameters[1].Optional = 0;
    assert_null(ExAllocatePool3(POOL_FLAG_NON_PAGED, 16, TAG, parameters, 2));
}

static void rundown_counts_many(void **state)
{
    EX_RUNDOWN_REF ref;

    (void)state;
    ExInitializeRundownProtection(&ref);
    assert_true(ExAcquireRundownProtectionEx(&ref, 3));
    ExReleaseRundownProtection(&ref);
    ExReleaseRundownProtectionEx(&ref, 2);
    ExWaitForRundownProtectionRelease(&ref);
    assert_false(ExAcquireRundownProtectionEx(&ref, 1));
    ExReInitializeRundownProtection(&ref);
    assert_true(ExAcquireRundownProtection(&ref));
    ExReleaseRundownProtection(&ref);
    ExRundownCompleted(&ref);
    assert_false(ExAcquireRundownProtection(&ref));
}

/* ---- processors, interfaces ---- */

static void thread_is_bound_and_let_go(void **state)
{
    GROUP_AFFINITY none = { .Mask = 0 }, all, one = { .Mask = 0 }, before;
    PROCESSOR_NUMBER number;
    cpu_set_t mine, now;
    USHORT count;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
    KeQueryNodeActiveAffinity(0, &all, &count);
    assert_true(count > 0);
    assert_int_equal(count, __builtin_popcountll(all.Mask));
    assert_true(KeQueryActiveProcessorCountEx(ALL_PROCESSOR_GROUPS) >= count);
    assert_true(KeQueryActiveGroupCount() >= 1);
    KeGetCurrentProcessorNumberEx(&number);
    one.Group = number.Group;
    one.Mask = (KAFFINITY)1 << number.Number;
    KeSetSystemGroupAffinityThread(&one, &before);
    assert_int_equal(before.Mask, 0);
    KeSetSystemGroupAffinityThread(&none, &before); /* changes nothing */
    assert_int_equal(before.Mask, one.Mask);
    assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
    assert_int_equal(CPU_COUNT(&now), 1);
    assert_int_equal(KeGetCurrentProcessorNumberEx(NULL), 64u * one.Group + number.Number);
    KeRevertToUserGroupAffinityThread(&none);
    assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
    assert_true(CPU_EQUAL(&now, &mine));
    KeQueryNodeActiveAffinity(1023, &all, &count);
    assert_int_equal(all.Mask, 0);
    assert_int_equal(count, 0);
}

static void interfaces_have_luids(void **state)
{
    NET_IFINDEX index, loopback = if_nametoindex("lo");
    WCHAR wide[IF_MAX_STRING_SIZE + 1];
    CHAR name[IF_MAX_STRING_SIZE + 1];
    NET_LUID luid, same;
    GUID guid;

    (void)state;
    assert_int_equal(ConvertInterfaceIndexToLuid(loopback, &luid), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(luid.Info.IfType, 24);
    assert_int_equal(ConvertInterfaceLuidToIndex(&luid, &index), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(index, loopback);
    assert_int_equal(
        ConvertInterfaceLuidToNameA(&luid, name, sizeof(name)), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_string_equal(name, "lo");
    assert_int_equal(
        ConvertInterfaceLuidToAlias(&luid, wide, sizeof(name)), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(ConvertInterfaceAliasToLuid(wide, &same), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(same.Value, luid.Value);
    assert_int_equal(ConvertInterfaceLuidToGuid(&luid, &guid), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(ConvertInterfaceGuidToLuid(&guid, &same), (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(same.Value, luid.Value);
    assert_int_equal(ConvertInterfaceLuidToNameA(&luid, name, 2), (NTSTATUS)SPEC_STATUS_NO_MEMORY);
    assert_int_equal(
        ConvertInterfaceIndexToLuid(0, &same), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(same.Value, 0);
    luid.Info.IfType++;
    assert_int_equal(
        ConvertInterfaceLuidToIndex(&luid, &index), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(index, 0);
}

/* ---- devices ---- */

static void devices_belong_to_their_driver(void **state)
{
    DRIVER_OBJECT driver = { .Size = sizeof(driver) };
    PDEVICE_OBJECT first, second;

    (void)state;
    assert_int_equal(IoCreateDevice(&driver, 40, NULL, FILE_DEVICE_UNKNOWN, FILE_DEVICE_SECURE_OPEN,
                         FALSE, &first),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_int_equal(IoCreateDevice(&driver, 0, NULL, FILE_DEVICE_NETWORK, 0, FALSE, &second),
        (NTSTATUS)SPEC_STATUS_SUCCESS);
    assert_ptr_equal(driver.DeviceObject, second);
    assert_ptr_equal(second->NextDevice, first);
    assert_int_equal(((char *)first->DeviceExtension)[39], 0);
    assert_null(second->DeviceExtension);
    assert_int_equal(first->DeviceType, 0x22);
    IoDeleteDevice(first);
    IoDeleteDevice(second);
    assert_null(driver.DeviceObject);
}

/* ---- addresses in text ---- */

/* What they take and return is tested as <mstcpip.h>'s (tests/unit/win32/sockets/test_ip_text.c). */
static void addresses_are_texts(void **state)
{
    SOCKADDR_IN address = { .sin_family = AF_INET };
    struct in6_addr six;
    const WCHAR *end;
    WCHAR text[48];
    ULONG length = 48;
    char narrow[16];

    (void)state;
    assert_int_equal(
        RtlIpv4StringToAddressExW(L"10.0.0.2:54321", TRUE, &address.sin_addr, &address.sin_port),
        0);
    assert_int_equal(address.sin_addr.S_un.S_addr, RtlUlongByteSwap(0x0A000002));
    assert_int_equal(address.sin_port, RtlUshortByteSwap(54321));
    assert_ptr_equal(RtlIpv4AddressToStringA(&address.sin_addr, narrow), narrow + 8);
    assert_string_equal(narrow, "10.0.0.2");
    assert_int_equal(RtlIpv6StringToAddressW(L"fe80::1%", &end, &six), 0);
    assert_int_equal(*end, '%');
    assert_int_equal(RtlIpv6AddressToStringExW(&six, 0, 0, text, &length), 0);
    assert_int_equal(length, 8);
    assert_memory_equal(text, L"fe80::1", 8 * sizeof(WCHAR));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_texts),
        cmocka_unit_test(text_is_counted),
        cmocka_unit_test(text_is_compared),
        cmocka_unit_test(text_is_copied_and_appended),
        cmocka_unit_test(numbers_are_text),
        cmocka_unit_test(debug_output_has_windows_format),
        cmocka_unit_test(interlocked_forms_return_what_they_should),
        cmocka_unit_test(lists_with_locks),
        cmocka_unit_test(lookaside_lists_have_blocks),
        cmocka_unit_test(pool_takes_parameters),
        cmocka_unit_test(rundown_counts_many),
        cmocka_unit_test(thread_is_bound_and_let_go),
        cmocka_unit_test(interfaces_have_luids),
        cmocka_unit_test(devices_belong_to_their_driver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
