/* SPDX-License-Identifier: MIT */
/* test_system.c - heaps, virtual memory, clocks, system information, critical sections, interlocked operations. */
#include "tests/support/win32_test.h"

#include <pthread.h>
#include <stdlib.h>

static void test_heap_information(void **state)
{
    ULONG low_fragmentation = 2;

    (void)state;
    assert_true(HeapSetInformation(NULL, HeapEnableTerminationOnCorruption, NULL, 0));
    assert_true(HeapSetInformation(GetProcessHeap(), HeapEnableTerminationOnCorruption, NULL, 0));
    assert_true(
        HeapSetInformation(GetProcessHeap(), HeapCompatibilityInformation, &low_fragmentation, 4));
}

static void test_condition_masks(void **state)
{
    (void)state;
    assert_int_equal(VerSetConditionMask(0, VER_MINORVERSION, VER_GREATER_EQUAL), 3);
    assert_int_equal(VerSetConditionMask(3, VER_MAJORVERSION, VER_GREATER_EQUAL), 033);
    assert_int_equal(VerSetConditionMask(0, VER_PRODUCT_TYPE, VER_EQUAL), 010000000);
    assert_int_equal(VerSetConditionMask(0, 0x06, VER_LESS), 0400);
    assert_int_equal(VerSetConditionMask(5, 0, VER_EQUAL), 5);
    assert_int_equal(VerSetConditionMask(5, VER_BUILDNUMBER, 0), 5);
}

/* Both widths; the last error, or 0. */
static DWORD version(DWORD major, DWORD minor, WORD pack, BYTE condition)
{
    const DWORD types = VER_MAJORVERSION | VER_MINORVERSION | VER_SERVICEPACKMAJOR;
    OSVERSIONINFOEXA narrow = { .dwOSVersionInfoSize = sizeof(narrow), .dwMajorVersion = major };
    OSVERSIONINFOEXW wide = { .dwOSVersionInfoSize = sizeof(wide), .dwMajorVersion = major };
    ULONGLONG mask = VerSetConditionMask(0, VER_MAJORVERSION, condition);
    DWORD error;

    mask = VerSetConditionMask(mask, VER_MINORVERSION, condition);
    mask = VerSetConditionMask(mask, VER_SERVICEPACKMAJOR, condition);
    narrow.dwMinorVersion = wide.dwMinorVersion = minor;
    narrow.wServicePackMajor = wide.wServicePackMajor = pack;
    error = VerifyVersionInfoA(&narrow, types, mask) ? 0 : GetLastError();
    assert_int_equal(VerifyVersionInfoW(&wide, types, mask) ? 0 : GetLastError(), error);
    return error;
}

static void test_version(void **state)
{
    OSVERSIONINFOEXA wanted = { .dwOSVersionInfoSize = sizeof(wanted), .dwPlatformId = 2 };

    (void)state;
    assert_int_equal(version(5, 1, 2, VER_GREATER_EQUAL), 0);
    assert_int_equal(
        version(6, 1, 0, VER_GREATER_EQUAL), 0); /* 0 is no less than 1: the major decides */
    assert_int_equal(version(11, 0, 0, VER_GREATER_EQUAL), 1150);
    assert_int_equal(version(5, 1, 2, VER_LESS), 1150);
    assert_int_equal(version(11, 0, 0, VER_LESS), 0);
    assert_true(VerifyVersionInfo(
        &wanted, VER_PLATFORMID, VerSetConditionMask(0, VER_PLATFORMID, VER_EQUAL)));
    assert_fails(VerifyVersionInfoA(&wanted, 0, 3), SPEC_ERROR_BAD_ARGUMENTS);
    assert_fails(VerifyVersionInfoA(&wanted, VER_PLATFORMID, 0), SPEC_ERROR_BAD_ARGUMENTS);
}

static void test_heap_blocks(void **state)
{
    HANDLE heaps[2] = { GetProcessHeap(), HeapCreate(0, 0, 0) };

    (void)state;
    for (int h = 0; h < 2; h++) {
        unsigned char *block;

        assert_non_null(heaps[h]);
        assert_non_null(block = HeapAlloc(heaps[h], HEAP_ZERO_MEMORY, 1000));
        assert_int_equal((uintptr_t)block % 16, 0);
        assert_int_equal(HeapSize(heaps[h], 0, block), 1000);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(block[i], 0);
        memset(block, 7, 1000);
        assert_non_null(block = HeapReAlloc(heaps[h], HEAP_ZERO_MEMORY, block, 100000));
        assert_int_equal(block[999], 7);
        assert_int_equal(block[1000], 0);
        assert_int_equal(block[99999], 0);
        assert_int_equal(HeapSize(heaps[h], 0, block), 100000);
        assert_fails(HeapFree(heaps[!h], 0, block), SPEC_ERROR_INVALID_PARAMETER);
        assert_int_equal(HeapSize(heaps[!h], 0, block), (SIZE_T)-1);
        assert_null(HeapReAlloc(heaps[h], 0, block, SIZE_MAX - 10));
        assert_win_error(SPEC_ERROR_NOT_ENOUGH_MEMORY);
        assert_true(HeapFree(heaps[h], 0, block));
        assert_true(HeapFree(heaps[h], 0, NULL));
        assert_null(HeapAlloc(heaps[h], 0, SIZE_MAX));
        assert_win_error(SPEC_ERROR_NOT_ENOUGH_MEMORY);
    }
    /* Destroying a heap frees what is in it (the leak checker would report it). */
    for (int i = 0; i < 100; i++)
        assert_non_null(HeapAlloc(heaps[1], 0, 100));
    assert_true(HeapDestroy(heaps[1]));
    assert_fails(HeapDestroy(heaps[0]), SPEC_ERROR_INVALID_HANDLE);
#ifndef _WIN32 /* a heap that was destroyed: Wine looks into its memory */
    assert_fails(HeapDestroy(heaps[1]), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(HeapAlloc(heaps[1], 0, 1), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(HeapCreate(0x4, 0, 0), SPEC_ERROR_INVALID_PARAMETER);
#endif
}

static DWORD page_size(void)
{
    SYSTEM_INFO info;

    GetSystemInfo(&info);
    return info.dwPageSize;
}

static void test_virtual_memory(void **state)
{
    const SIZE_T half = (SIZE_T)1 << 37; /* 128 GiB */
    DWORD page = page_size();
    unsigned char *base =
                      VirtualAlloc(NULL, 3 * page + 1, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE),
                  *reserved;

    (void)state;
    assert_non_null(base);
    assert_int_equal((uintptr_t)base % 65536, 0);
    assert_int_equal(base[4 * page - 1], 0);
    memset(base, 1, 4 * page);
    assert_true(VirtualFree(base + page, page, MEM_DECOMMIT));
    assert_ptr_equal(VirtualAlloc(base + page + 5, 1, MEM_COMMIT, PAGE_READWRITE), base + page);
    assert_int_equal(base[page], 0);
    assert_int_equal(base[0], 1);
    assert_fails(VirtualFree(base, 4 * page, MEM_RELEASE), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(VirtualFree(base + page, 0, MEM_RELEASE), SPEC_ERROR_INVALID_ADDRESS);
    assert_fails(VirtualAlloc(base, page, MEM_RESERVE, PAGE_READWRITE), SPEC_ERROR_INVALID_ADDRESS);
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
    assert_fails(VirtualFree(base, 0, MEM_RELEASE),
        DIFFERS(SPEC_ERROR_INVALID_ADDRESS,
            wine_major() == 8 ? SPEC_ERROR_INVALID_PARAMETER : SPEC_ERROR_INVALID_ADDRESS,
            "Wine 8 says 87; Windows documents 487"));
    assert_fails(VirtualAlloc(base, page, MEM_COMMIT, PAGE_READWRITE), SPEC_ERROR_INVALID_ADDRESS);

    /* More than any of this memory exists; ThreadSanitizer leaves programs less room than this once was. */
    assert_non_null(reserved = VirtualAlloc(NULL, 2 * half, MEM_RESERVE, PAGE_READWRITE));
    assert_ptr_equal(
        VirtualAlloc(reserved + half, page, MEM_COMMIT, PAGE_READWRITE), reserved + half);
    reserved[half] = 1;
    assert_true(VirtualFree(reserved, 0, MEM_DECOMMIT));
    assert_true(VirtualFree(reserved, 0, MEM_RELEASE));
    assert_fails(VirtualAlloc(NULL, 0, MEM_COMMIT, PAGE_READWRITE), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        VirtualAlloc(NULL, page, 0x10000000, PAGE_READWRITE), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(VirtualAlloc(NULL, page, MEM_COMMIT, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        VirtualAlloc(NULL, SIZE_MAX, MEM_COMMIT, PAGE_READWRITE), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_clocks(void **state)
{
    LARGE_INTEGER begin, end, frequency;
    FILETIME now, idle, kernel, user;
    ULONGLONG tick = GetTickCount64();

    (void)state;
    assert_true(QueryPerformanceFrequency(&frequency));
    assert_int_equal(frequency.QuadPart,
        DIFFERS(1000000000, 10000000, "the frequency: ticks of the Linux clock"));
    assert_true(QueryPerformanceCounter(&begin));
    assert_true(QueryPerformanceCounter(&end));
    assert_true(end.QuadPart >= begin.QuadPart);
#ifndef _WIN32 /* QueryPerformanceCounter(NULL): Wine does not look */
    assert_fails(QueryPerformanceCounter(NULL), SPEC_ERROR_NOACCESS);
#endif
    assert_true(GetTickCount64() >= tick);
    assert_true(GetTickCount() - (DWORD)tick < LONG_MS);
    GetSystemTimeAsFileTime(&now);
    /* Between the years 2020 and 2120. */
    assert_in_range((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime, 132223104000000000,
        163780704000000000);
    assert_true(GetSystemTimes(&idle, &kernel, &user));
    assert_true(((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) >=
                ((uint64_t)idle.dwHighDateTime << 32 | idle.dwLowDateTime));
    assert_true(GetSystemTimes(NULL, NULL, NULL));
}

static void test_system_info(void **state)
{
    SYSTEM_INFO info;

    (void)state;
    GetSystemInfo(&info);
    assert_int_equal(info.dwPageSize, 4096);
    assert_int_equal(info.dwAllocationGranularity, 65536);
    assert_true(info.dwNumberOfProcessors >= 1);
    assert_true(info.dwActiveProcessorMask & 1);
#ifdef __x86_64__
    assert_int_equal(info.wProcessorArchitecture, 9);
#endif
}

struct counter {
    CRITICAL_SECTION section;
    long plain;
    volatile LONG narrow;
    volatile LONG64 wide;
};

static void *count_up(void *argument)
{
    struct counter *counter = argument;

    for (int i = 0; i < 10000; i++) {
        EnterCriticalSection(&counter->section);
        EnterCriticalSection(&counter->section);
        counter->plain++;
        LeaveCriticalSection(&counter->section);
        LeaveCriticalSection(&counter->section);
        InterlockedIncrement(&counter->narrow);
        InterlockedExchangeAdd64(&counter->wide, 3);
    }
    return NULL;
}

static void *try_enter(void *argument)
{
    struct counter *counter = argument;

    return TryEnterCriticalSection(&counter->section) ? argument : NULL;
}

static void test_critical_section_and_interlocked_count_right(void **state)
{
    struct counter counter = { .plain = 0 };
    pthread_t threads[4];
    void *entered;

    (void)state;
    assert_true(InitializeCriticalSectionAndSpinCount(&counter.section, 4000));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &counter), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counter.plain, 40000);
    assert_int_equal(counter.narrow, 40000);
    assert_int_equal(counter.wide, 120000);
    assert_true(TryEnterCriticalSection(&counter.section));
    assert_int_equal(pthread_create(&threads[0], NULL, try_enter, &counter), 0);
    pthread_join(threads[0], &entered);
    assert_null(entered);
    LeaveCriticalSection(&counter.section);
    DeleteCriticalSection(&counter.section);
}

static void test_interlocked_return_values(void **state)
{
    volatile LONG narrow = 5;
    LONG plain = 7;
    long long wide = 1;
    int a, b;
    void *pointer = &a;

    (void)state;
    assert_int_equal(InterlockedIncrement(&narrow), 6);
    assert_int_equal(InterlockedDecrement(&narrow), 5);
    assert_int_equal(InterlockedAdd(&narrow, 10), 15);
    assert_int_equal(InterlockedExchange(&narrow, 3), 15);
    assert_int_equal(InterlockedExchangeAdd(&narrow, 4), 3);
    assert_int_equal(InterlockedCompareExchange(&narrow, 1, 6), 7);
    assert_int_equal(InterlockedCompareExchange(&narrow, 1, 7), 7);
    assert_int_equal(narrow, 1);
    assert_int_equal(InterlockedOr(&plain, 8), 7);
    assert_int_equal(InterlockedAnd(&plain, 12), 15);
    assert_int_equal(InterlockedXor(&plain, 4), 12);
    assert_int_equal(plain, 8);
#ifndef _WIN32 /* Interlocked: any integer of 4 or 8 bytes here, a LONG there */
    unsigned bits = 7;
    uint64_t wide_bits = 7;

    assert_int_equal(InterlockedOr(&bits, 8), 7);
    assert_int_equal(InterlockedAnd(&wide_bits, 4), 7);
    assert_int_equal(InterlockedIncrement(&wide_bits), 5);
    assert_int_equal(bits, 15);
#endif
    assert_int_equal(InterlockedIncrement64(&wide), 2);
    assert_int_equal(InterlockedCompareExchange64(&wide, (LONG64)1 << 40, 2), 2);
    assert_int_equal(wide, (LONG64)1 << 40);
    assert_ptr_equal(InterlockedCompareExchangePointer(&pointer, &b, &a), &a);
    assert_ptr_equal(InterlockedExchangePointer(&pointer, NULL), &b);
    assert_null(pointer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_information),
        cmocka_unit_test(test_condition_masks),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_heap_blocks),
        cmocka_unit_test(test_virtual_memory),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_system_info),
        cmocka_unit_test(test_critical_section_and_interlocked_count_right),
        cmocka_unit_test(test_interlocked_return_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
