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

/* A row: what is asked of pages, and what then is known of the page at an offset of the allocation. */
struct page_row {
    enum { COMMIT, PROTECT, DECOMMIT } call;
    DWORD first, pages; /* of 4 KiB */
    DWORD protection;   /* asked for */
    DWORD error;        /* 0: the call succeeds */
    DWORD at;           /* the page that is looked at then */
    DWORD from, alike;  /* from there on so many are alike */
    DWORD found;        /* their protection; 0: they are reserved */
};

/* As Wine answers, row by row; the allocation has 64 pages, reserved with PAGE_NOACCESS. */
static const struct page_row page_rows[] = {
    { COMMIT, 16, 16, PAGE_NOACCESS, 0, 16, 16, 16, PAGE_NOACCESS },
    { COMMIT, 16, 16, PAGE_NOACCESS, 0, 0, 0, 16, 0 },
    { COMMIT, 18, 1, PAGE_READONLY, 0, 18, 18, 1, PAGE_READONLY },
    { COMMIT, 18, 1, PAGE_READONLY, 0, 19, 19, 13, PAGE_NOACCESS },
    { PROTECT, 18, 1, PAGE_NOACCESS, 0, 16, 16, 16, PAGE_NOACCESS },
    { PROTECT, 16, 16, PAGE_READWRITE, 0, 16, 16, 16, PAGE_READWRITE },
    { PROTECT, 20, 2, PAGE_NOACCESS, 0, 21, 21, 1, PAGE_NOACCESS },
    { PROTECT, 19, 2, PAGE_READONLY, 0, 19, 19, 2, PAGE_READONLY },
    { PROTECT, 21, 2, PAGE_READONLY, 0, 19, 19, 4, PAGE_READONLY },
    { PROTECT, 19, 4, PAGE_READWRITE, 0, 16, 16, 16, PAGE_READWRITE },
    { PROTECT, 15, 2, PAGE_READONLY, SPEC_ERROR_INVALID_ADDRESS, 16, 16, 16, PAGE_READWRITE },
    { PROTECT, 31, 2, PAGE_READONLY, SPEC_ERROR_INVALID_ADDRESS, 31, 31, 1, PAGE_READWRITE },
    { PROTECT, 0, 1, PAGE_READONLY, SPEC_ERROR_INVALID_ADDRESS, 0, 0, 16, 0 },
    { COMMIT, 63, 2, PAGE_READONLY, SPEC_ERROR_INVALID_ADDRESS, 63, 63, 1, 0 },
    { DECOMMIT, 18, 2, 0, 0, 18, 18, 2, 0 },
    { DECOMMIT, 18, 2, 0, 0, 16, 16, 2, PAGE_READWRITE },
    { COMMIT, 0, 64, PAGE_READONLY, 0, 0, 0, 64, PAGE_READONLY },
    { PROTECT, 63, 1, PAGE_EXECUTE_READ, 0, 63, 63, 1, PAGE_EXECUTE_READ },
    { PROTECT, 0, 64, PAGE_NOACCESS, 0, 1, 1, 63, PAGE_NOACCESS },
    { DECOMMIT, 32, 32, 0, 0, 0, 0, 32, PAGE_NOACCESS },
};

static bool change_pages(char *base, const struct page_row *row)
{
    char *first = base + row->first * 4096;
    DWORD old;

    switch (row->call) {
    case COMMIT:
        return VirtualAlloc(first, row->pages * 4096, MEM_COMMIT, row->protection) == first;
    case PROTECT: return VirtualProtect(first, row->pages * 4096, row->protection, &old);
    case DECOMMIT: return VirtualFree(first, row->pages * 4096, MEM_DECOMMIT);
    }
    return false;
}

static void test_pages_are_known_by_their_protection(void **state)
{
    char *base = VirtualAlloc(NULL, 64 * 4096, MEM_RESERVE, PAGE_NOACCESS);

    (void)state;
    assert_non_null(base);
    for (size_t i = 0; i < _countof(page_rows); i++) {
        const struct page_row *row = &page_rows[i];
        MEMORY_BASIC_INFORMATION info;
        bool done;

        SetLastError(0xdead);
        done = change_pages(base, row);
        if (done != !row->error || (row->error && GetLastError() != row->error))
            fail_msg("row %u: error %u", (unsigned)i, (unsigned)GetLastError());
        info = query(base + row->at * 4096 + 5);
        if (info.BaseAddress != base + row->from * 4096 || info.RegionSize != row->alike * 4096 ||
            info.Protect != row->found || info.State != (row->found ? MEM_COMMIT : MEM_RESERVE) ||
            info.AllocationBase != base || info.AllocationProtect != PAGE_NOACCESS ||
            info.Type != MEM_PRIVATE)
            fail_msg("row %u: %u pages, protection %#x, state %#x, allocated %#x", (unsigned)i,
                (unsigned)(info.RegionSize / 4096), (unsigned)info.Protect, (unsigned)info.State,
                (unsigned)info.AllocationProtect);
    }
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
}

static void test_protection_before_a_change_is_told(void **state)
{
    static const DWORD each[] = { PAGE_NOACCESS, PAGE_READONLY, PAGE_READWRITE, PAGE_EXECUTE,
        PAGE_EXECUTE_READ, PAGE_EXECUTE_READWRITE, PAGE_NOACCESS };
    char *base = VirtualAlloc(NULL, 8192, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    DWORD before = PAGE_READWRITE, old;

    (void)state;
    base[100] = 7;
    for (size_t i = 0; i < _countof(each); i++) {
        assert_true(VirtualProtect(base, 4096, each[i], &old));
        assert_int_equal(old, before);
        assert_int_equal(query(base).Protect, before = each[i]);
        assert_int_equal(query(base).State, MEM_COMMIT);
        assert_int_equal(query(base).AllocationProtect, PAGE_READWRITE);
    }
    assert_true(VirtualProtect(base, 4096, PAGE_READONLY, &old));
    assert_int_equal(base[100], 7); /* it kept what it had */
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
}

/* A view is an allocation, too, with the protection that it was made with. */
static void test_pages_of_a_view(void **state)
{
    HANDLE section =
        CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 0x30000, NULL);
    char *view = MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0);
    char *part = MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0x12345);
    char *copy = MapViewOfFile(section, FILE_MAP_COPY, 0, 0, 0);
    MEMORY_BASIC_INFORMATION info;
    DWORD old = 0;

    (void)state;
    assert_true(VirtualProtect(view + 0x10000, 4096, PAGE_NOACCESS, &old));
    assert_int_equal(old, PAGE_READWRITE);
    info = query(view + 0x11000);
    assert_ptr_equal(info.AllocationBase, view);
    assert_int_equal(info.RegionSize, 0x1f000);
    assert_int_equal(info.AllocationProtect, PAGE_READWRITE);
    assert_int_equal(info.Type, MEM_MAPPED);
    info = query(view + 0x10000);
    assert_int_equal(info.State, MEM_COMMIT);
    assert_int_equal(info.Protect, PAGE_NOACCESS);
    assert_int_equal(info.RegionSize, 4096);
    assert_ptr_equal(
        VirtualAlloc(view + 0x10000, 4096, MEM_COMMIT, PAGE_READWRITE), view + 0x10000);
    assert_int_equal(query(view).RegionSize, 0x30000);
    assert_fails(VirtualFree(view, 0, MEM_RELEASE), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(VirtualFree(view, 4096, MEM_DECOMMIT), SPEC_ERROR_INVALID_PARAMETER);
    info = query(part);
    assert_int_equal(info.RegionSize, 0x13000);
    assert_int_equal(info.AllocationProtect, PAGE_READONLY);
    assert_fails(VirtualProtect(part, 4096, PAGE_READWRITE, &old), SPEC_ERROR_INVALID_PARAMETER);
    assert_int_equal(query(copy).AllocationProtect, PAGE_WRITECOPY);
    assert_int_equal(query(copy).Protect, PAGE_WRITECOPY);
    assert_true(VirtualProtect(copy, 4096, PAGE_READONLY, &old));
    assert_true(VirtualProtect(copy, 4096, PAGE_WRITECOPY, &old));
    assert_int_equal(old, PAGE_READONLY);
    copy[0] = 1;
    assert_int_equal(view[0], 0);
    assert_true(UnmapViewOfFile(copy));
    assert_true(UnmapViewOfFile(part));
    assert_true(UnmapViewOfFile(view));
    assert_int_equal(query(view).State, MEM_FREE);
    assert_true(CloseHandle(section));
}

static void test_free_refuses(void **state)
{
    char *base = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

    (void)state;
    assert_fails(VirtualFree(base + 4096, 0, MEM_DECOMMIT), SPEC_ERROR_INVALID_ADDRESS);
    assert_fails(VirtualFree(base + 4096, 0, MEM_RELEASE), SPEC_ERROR_INVALID_ADDRESS);
    assert_fails(VirtualFree(base, 4096, MEM_RELEASE), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(VirtualFree(base, 0, MEM_RELEASE | MEM_DECOMMIT), SPEC_ERROR_INVALID_PARAMETER);
    assert_true(VirtualFree(base, 0, MEM_RELEASE));
}

static void test_memory_is_locked(void **state)
{
    char *base = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    DWORD old;

    (void)state;
    assert_true(VirtualLock(base, 4096));
    assert_true(VirtualUnlock(base, 4096));
    assert_true(VirtualProtect(base, 4096, PAGE_NOACCESS, &old));
    assert_fails(VirtualLock(base, 4096),
        DIFFERS(SPEC_ERROR_NOACCESS, SPEC_ERROR_ACCESS_DENIED, "Wine passes the failed mlock on"));
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
        cmocka_unit_test(test_pages_are_known_by_their_protection),
        cmocka_unit_test(test_protection_before_a_change_is_told),
        cmocka_unit_test(test_pages_of_a_view),
        cmocka_unit_test(test_free_refuses),
        cmocka_unit_test(test_memory_is_locked),
        cmocka_unit_test(test_memory_status),
        cmocka_unit_test(test_heap_with_a_limit),
        cmocka_unit_test(test_order_of_uuids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
