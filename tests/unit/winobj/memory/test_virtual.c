/* SPDX-License-Identifier: MIT */
/* test_virtual.c - VirtualQuery, VirtualProtect, VirtualLock, the memory's status, heaps with a limit, UUIDs. */
#include "tests/support/win32_test.h"

#include <rpc.h>

static MEMORY_BASIC_INFORMATION query(const void *address)
{
    MEMORY_BASIC_INFORMATION info;

    assert_int_equal(VirtualQuery(address, &info, sizeof(info)), sizeof(info));
    return info;
}

static void test_query_tells_reserved_committed_free(void **state)
{
    char *base = VirtualAlloc(NULL, 4 * 65536, MEM_RESERVE, PAGE_READWRITE);
    MEMORY_BASIC_INFORMATION info = query(base + 5);

    (void)state;
    assert_ptr_equal(info.BaseAddress, base);
    assert_ptr_equal(info.AllocationBase, base);
    assert_int_equal(info.AllocationProtect, PAGE_READWRITE);
    assert_int_equal(info.RegionSize, 4 * 65536);
    assert_int_equal(info.State, MEM_RESERVE);
    assert_int_equal(info.Protect, 0);
    assert_int_equal(info.Type, MEM_PRIVATE);
    assert_ptr_equal(VirtualAlloc(base + 65536, 65536, MEM_COMMIT, PAGE_READWRITE), base + 65536);
    info = query(base);
    assert_int_equal(info.State, MEM_RESERVE);
    assert_int_equal(info.RegionSize, 65536);
    info = query(base + 65536 + 4096);
    assert_ptr_equal(info.BaseAddress, base + 65536 + 4096);
    assert_ptr_equal(info.AllocationBase, base);
    assert_int_equal(info.RegionSize, 65536 - 4096);
    assert_int_equal(info.State, MEM_COMMIT);
    assert_int_equal(info.Protect, PAGE_READWRITE);
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
    assert_int_equal(query(base).State, MEM_FREE);
    assert_int_equal(query(base).Protect, PAGE_NOACCESS);
    assert_int_equal(query(&info).State, MEM_COMMIT); /* the stack */
    assert_int_equal(query(&info).Protect, PAGE_READWRITE);
}

static void test_query_refuses(void **state)
{
    MEMORY_BASIC_INFORMATION info;

    (void)state;
    assert_int_equal(sizeof(info), 48);
    assert_fails(VirtualQuery(&info, &info, sizeof(info) - 1), SPEC_ERROR_BAD_LENGTH);
    assert_fails(
        VirtualQuery((void *)~(ULONG_PTR)0, &info, sizeof(info)), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_memory_from_the_top(void **state)
{
    char *base = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT | MEM_TOP_DOWN, PAGE_READWRITE);

    (void)state;
    assert_non_null(base);
    assert_int_equal(query(base).State, MEM_COMMIT);
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
    assert_non_null(base = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_TOP_DOWN, PAGE_READWRITE));
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
    assert_fails(
        VirtualAlloc(NULL, 65536, MEM_TOP_DOWN, PAGE_READWRITE), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_protection_changes(void **state)
{
    char *base = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    DWORD old = 0;

    (void)state;
    base[0] = 1;
    assert_true(VirtualProtect(base + 10, 1, PAGE_READONLY, &old));
    assert_int_equal(old, PAGE_READWRITE);
    assert_int_equal(query(base).Protect, PAGE_READONLY);
    assert_int_equal(query(base).RegionSize, 4096);
    assert_int_equal(query(base + 4096).Protect, PAGE_READWRITE);
    assert_int_equal(base[0], 1);
    assert_true(VirtualProtect(base, 4096, PAGE_EXECUTE_READ, &old));
    assert_int_equal(old, PAGE_READONLY);
    assert_int_equal(query(base).Protect, PAGE_EXECUTE_READ);
    assert_true(VirtualProtect(base, 65536, PAGE_READWRITE, &old));
    base[0] = 2;
    assert_fails(VirtualProtect(base, 4096, PAGE_READONLY, NULL), SPEC_ERROR_NOACCESS);
    assert_fails(VirtualProtect(base, 4096, 0x1234, &old), SPEC_ERROR_INVALID_PARAMETER);
    assert_true(VirtualFree(base, 0, MEM_DECOMMIT));
    assert_fails(VirtualProtect(base, 4096, PAGE_READONLY, &old), SPEC_ERROR_INVALID_ADDRESS);
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
    assert_fails(VirtualProtect(base, 4096, PAGE_READONLY, &old),
        DIFFERS(SPEC_ERROR_INVALID_ADDRESS, SPEC_ERROR_INVALID_PARAMETER,
            "Windows documents the former; Wine says the latter"));
}

static void test_memory_is_locked(void **state)
{
    char *base = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

    (void)state;
    assert_true(VirtualLock(base, 4096));
    assert_true(VirtualUnlock(base, 4096));
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
    assert_fails(VirtualLock(base, 4096),
        DIFFERS(SPEC_ERROR_NOACCESS, SPEC_ERROR_ACCESS_DENIED, "Wine passes the failed mlock on"));
#if !defined(_WIN32) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    /* Wine, and the munlock of both sanitizers, say TRUE to anything. */
    assert_fails(VirtualUnlock(base, 4096), SPEC_ERROR_NOT_LOCKED);
#endif
}

static void test_memory_status(void **state)
{
    MEMORYSTATUSEX status = { .dwLength = sizeof(status) };

    (void)state;
    assert_int_equal(sizeof(status), 64);
    assert_true(GlobalMemoryStatusEx(&status));
    assert_true(status.ullTotalPhys >= status.ullAvailPhys && status.ullAvailPhys > 0);
    assert_true(status.dwMemoryLoad <= 100);
    assert_true(status.ullTotalPageFile >= status.ullTotalPhys);
    assert_true(status.ullTotalVirtual > (DWORDLONG)1 << 40);
    status.dwLength = 8;
    assert_fails(GlobalMemoryStatusEx(&status), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_heap_with_a_limit(void **state)
{
    HANDLE heap = HeapCreate(0, 0, 1 << 20);
    void *block, *larger;

    (void)state;
    assert_non_null(heap);
    assert_non_null(block = HeapAlloc(heap, 0, 300000));
    assert_null(HeapAlloc(heap, 0, 2 << 20));
    assert_non_null(larger = HeapReAlloc(heap, 0, block, 400000));
    assert_null(HeapReAlloc(heap, 0, larger, 2 << 20));
    assert_int_equal(HeapSize(heap, 0, larger), 400000);
    assert_true(HeapFree(heap, 0, larger));
    for (int i = 0; i < 20; i++) { /* what was freed can be had again */
        assert_non_null(block = HeapAlloc(heap, 0, 300000));
        assert_true(HeapFree(heap, 0, block));
    }
    assert_true(HeapDestroy(heap));
}

static void test_order_of_uuids(void **state)
{
    UUID nil = { 0, 0, 0, { 0 } }, one = { 1, 0, 0, { 0 } }, large = { 0xffffffff, 0, 0, { 0 } },
         last = { 1, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 1 } };
    RPC_STATUS status = 7;

    (void)state;
    assert_int_equal(UuidCompare(&nil, NULL, &status), 0);
    assert_int_equal(status, RPC_S_OK);
    assert_int_equal(UuidCompare(&one, &nil, &status), 1);
    assert_int_equal(UuidCompare(&one, &large, &status), -1);
    assert_int_equal(UuidCompare(&one, &last, &status), -1);
    assert_int_equal(UuidCompare(&last, &one, &status), 1);
    assert_int_equal(UuidCompare(NULL, &one, &status), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query_tells_reserved_committed_free),
        cmocka_unit_test(test_query_refuses),
        cmocka_unit_test(test_memory_from_the_top),
        cmocka_unit_test(test_protection_changes),
        cmocka_unit_test(test_memory_is_locked),
        cmocka_unit_test(test_memory_status),
        cmocka_unit_test(test_heap_with_a_limit),
        cmocka_unit_test(test_order_of_uuids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
