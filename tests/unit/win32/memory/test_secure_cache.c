/* SPDX-License-Identifier: MIT */
/* test_secure_cache.c - what a callback of AddSecureMemoryCacheCallback is told, and that the memory is still there. */
#include "tests/support/win32_test.h"

static struct {
    unsigned count;
    char *address;
    SIZE_T size;
    unsigned char first, last;
} told;

static BOOLEAN CALLBACK note(PVOID address, SIZE_T size)
{
    told.count++;
    told.address = address;
    told.size = size;
    return TRUE;
}

/* Reads both ends: it runs before the memory goes. */
static BOOLEAN CALLBACK look(PVOID address, SIZE_T size)
{
    note(address, size);
    told.first = *(unsigned char *)address;
    told.last = ((unsigned char *)address)[size - 1];
    SetLastError(77);
    return FALSE;
}

static void forget(void)
{
    memset(&told, 0, sizeof(told));
}

static void expect(const void *address, SIZE_T size)
{
    assert_int_equal(told.count, 1);
    assert_ptr_equal(told.address, address);
    assert_int_equal(told.size, size);
    forget();
}

static void test_pages(void **state)
{
    unsigned char *pages = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    DWORD old;

    (void)state;
    forget();
    pages[0] = 3;
    pages[65535] = 4;
    assert_true(AddSecureMemoryCacheCallback(look));
    SetLastError(SPEC_ERROR_ACCESS_DENIED);
    assert_true(VirtualProtect(pages, 65536, PAGE_READONLY, &old));
    assert_win_error(SPEC_ERROR_ACCESS_DENIED);
    assert_int_equal(told.first, 3);
    assert_int_equal(told.last, 4);
    expect(pages, 65536);
    assert_true(VirtualFree(pages + 4100, 10, MEM_DECOMMIT));
    expect(pages + 4096, 4096);
    assert_fails(VirtualFree(pages + 4096, 0, MEM_RELEASE), SPEC_ERROR_INVALID_ADDRESS);
    assert_fails(VirtualFree(pages + 4096, 0, MEM_DECOMMIT), SPEC_ERROR_INVALID_ADDRESS);
    assert_fails(VirtualFree(NULL, 0, MEM_RELEASE), SPEC_ERROR_INVALID_ADDRESS);
    assert_int_equal(told.count, 0);
    assert_true(RemoveSecureMemoryCacheCallback(look)); /* which cannot read what is decommitted */
    assert_true(AddSecureMemoryCacheCallback(note));
    assert_true(VirtualFree(pages, 0, MEM_RELEASE));
    expect(pages, 65536);
    assert_true(RemoveSecureMemoryCacheCallback(note));
}

static void test_views(void **state)
{
    HANDLE mapping = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 65536, NULL);
    unsigned char *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);

    (void)state;
    forget();
    view[0] = 8;
    view[65535] = 9;
    assert_true(AddSecureMemoryCacheCallback(look));
    assert_fails(UnmapViewOfFile(view + 1), SPEC_ERROR_INVALID_ADDRESS);
    assert_int_equal(told.count, 0);
    assert_true(UnmapViewOfFile(view));
    assert_int_equal(told.first, 8);
    assert_int_equal(told.last, 9);
    expect(view, 65536);
    assert_true(RemoveSecureMemoryCacheCallback(look));
    assert_true(CloseHandle(mapping));
}

static void test_blocks_of_heaps(void **state)
{
    HANDLE heap = HeapCreate(0, 0, 0);
    unsigned char *large = HeapAlloc(heap, HEAP_ZERO_MEMORY, 65536);
    void *small = HeapAlloc(heap, 0, 65535), *block;

    (void)state;
    forget();
    large[65535] = 6;
    assert_true(AddSecureMemoryCacheCallback(look));
    assert_true(HeapFree(heap, 0, small));
    assert_int_equal(told.count, 0);
    assert_non_null(block = HeapReAlloc(heap, 0, large, 400000));
    assert_int_equal(told.last, 6);
    expect(large, 65536);
    assert_true(HeapFree(heap, 0, block));
    expect(block, 400000);
    block = HeapAlloc(heap, HEAP_ZERO_MEMORY, 70000);
    assert_true(HeapDestroy(heap));
    expect(block, 70000);
    assert_true(RemoveSecureMemoryCacheCallback(look));
}

static void *inner;

static BOOLEAN CALLBACK free_inside(PVOID address, SIZE_T size)
{
    note(address, size);
    assert_true(VirtualFree(inner, 0, MEM_RELEASE));
    assert_true(RemoveSecureMemoryCacheCallback(free_inside));
    return TRUE;
}

static void test_callback_may_free_and_remove(void **state)
{
    void *outer = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

    (void)state;
    forget();
    inner = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    assert_true(AddSecureMemoryCacheCallback(free_inside));
    assert_true(VirtualFree(outer, 0, MEM_RELEASE));
    expect(outer, 4096);
    assert_fails(RemoveSecureMemoryCacheCallback(free_inside), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_each_callback_is_called_as_often_as_it_was_added(void **state)
{
    void *pages = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    unsigned added = 0;

    (void)state;
    forget();
    assert_fails(AddSecureMemoryCacheCallback(NULL), SPEC_ERROR_INVALID_PARAMETER);
    while (AddSecureMemoryCacheCallback(note))
        added++;
    assert_win_error(SPEC_ERROR_NOT_ENOUGH_MEMORY);
    assert_int_equal(added, 32);
    assert_true(VirtualFree(pages, 4096, MEM_DECOMMIT));
    assert_int_equal(told.count, 32);
    while (added--)
        assert_true(RemoveSecureMemoryCacheCallback(note));
    assert_fails(RemoveSecureMemoryCacheCallback(note), SPEC_ERROR_INVALID_PARAMETER);
    forget();
    assert_true(VirtualFree(pages, 0, MEM_RELEASE));
    assert_int_equal(told.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_blocks_of_heaps),
        cmocka_unit_test(test_callback_may_free_and_remove),
        cmocka_unit_test(test_each_callback_is_called_as_often_as_it_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
