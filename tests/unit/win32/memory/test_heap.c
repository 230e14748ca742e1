/* SPDX-License-Identifier: MIT */
/* test_heap.c - HeapLock, HeapUnlock, HeapWalk, HeapValidate. */
#include "tests/support/win32_test.h"

static HANDLE checked(HANDLE handle)
{
    assert_non_null(handle);
    return handle;
}

/* The blocks in use that a walk tells of, and whether it tells of one as so long. */
static unsigned walk(HANDLE heap, const void *looked_for, DWORD octets, bool *told)
{
    PROCESS_HEAP_ENTRY entry = { .lpData = NULL };
    unsigned count = 0;

    *told = false;
    SetLastError(0xdead);
    while (HeapWalk(heap, &entry)) {
        if (!(entry.wFlags & PROCESS_HEAP_ENTRY_BUSY))
            continue;
        count++;
        if (entry.lpData == looked_for)
            *told = entry.cbData == octets;
    }
    assert_win_error(SPEC_ERROR_NO_MORE_ITEMS);
    return count;
}

static void test_walk_tells_of_each_block(void **state)
{
    HANDLE heap = checked(HeapCreate(0, 0, 0));
    char *blocks[20];
    bool told;

    (void)state;
    assert_int_equal(walk(heap, NULL, 0, &told), 0);
    for (DWORD i = 0; i < 20; i++)
        blocks[i] = checked(HeapAlloc(heap, 0, i * 100));
    for (DWORD i = 0; i < 20; i++) {
        assert_int_equal(walk(heap, blocks[i], i * 100, &told), 20);
        assert_true(told);
    }
    assert_true(HeapFree(heap, 0, blocks[7]));
    assert_int_equal(walk(heap, blocks[7], 700, &told), 19);
    assert_false(told);
    blocks[8] = checked(HeapReAlloc(heap, 0, blocks[8], 50000));
    assert_int_equal(walk(heap, blocks[8], 50000, &told), 19);
    assert_true(told);
    assert_true(HeapDestroy(heap));
}

static void test_walk_of_the_process_heap(void **state)
{
    HANDLE heap = GetProcessHeap();
    char *one = checked(HeapAlloc(heap, 0, 12345)), *other = checked(HeapAlloc(heap, 0, 77));
    unsigned count;
    bool told;

    (void)state;
    assert_true(HeapLock(heap));
    count = walk(heap, one, 12345, &told);
    assert_true(told);
    assert_int_equal(walk(heap, other, 77, &told), count);
    assert_true(told);
    assert_true(HeapFree(heap, 0, one)); /* by the thread that has locked it */
    assert_int_equal(walk(heap, one, 12345, &told), count - 1);
    assert_false(told);
    assert_true(HeapUnlock(heap));
    assert_true(HeapFree(heap, 0, other));
}

static void test_walk_refuses(void **state)
{
    HANDLE heap = checked(HeapCreate(0, 0, 0));
    PROCESS_HEAP_ENTRY entry = { .lpData = NULL };
    _Alignas(16) char place[200] = "";

    (void)state;
    assert_int_equal(sizeof(entry), 40);
    assert_fails(HeapWalk(NULL, &entry), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(HeapWalk(heap, NULL), SPEC_ERROR_INVALID_PARAMETER);
    for (int at = 96; at < 112; at++) {
        entry.lpData = place + at;
        assert_fails(HeapWalk(heap, &entry), SPEC_ERROR_INVALID_PARAMETER);
    }
    assert_true(HeapDestroy(heap));
}

static void test_validate(void **state)
{
    HANDLE heap = checked(HeapCreate(0, 0, 0)), other = checked(HeapCreate(0, 0, 0));
    char *block = checked(HeapAlloc(heap, 0, 100)), *large = checked(HeapAlloc(heap, 0, 1 << 20));
    char *empty = checked(HeapAlloc(heap, 0, 0)), *gone = checked(HeapAlloc(heap, 0, 100));
    char place[200];

    (void)state;
    assert_true(HeapFree(heap, 0, gone));
    assert_true(HeapValidate(heap, 0, NULL));
    assert_true(HeapValidate(heap, 0, block));
    assert_true(HeapValidate(heap, HEAP_NO_SERIALIZE, large));
    assert_true(HeapValidate(heap, 0, empty));
    assert_fails(HeapValidate(heap, 0, gone), 0xdead);
    assert_fails(HeapValidate(heap, 0, block + 16), 0xdead);
    assert_fails(HeapValidate(heap, 0, place + 100), 0xdead);
    assert_fails(HeapValidate(other, 0, block), 0xdead);
    assert_true(HeapValidate(other, 0, NULL));
    assert_true(HeapValidate(GetProcessHeap(), 0, NULL));
    assert_false(HeapValidate(NULL, 0, NULL));
    assert_true(HeapDestroy(other));
    assert_true(HeapDestroy(heap));
}

struct user {
    HANDLE heap, go, began;
    char *block;
};

static DWORD WINAPI allocate(LPVOID argument)
{
    struct user *user = argument;

    SignalObjectAndWait(user->began, user->go, LONG_MS, FALSE);
    SetEvent(user->began);
    user->block = HeapAlloc(user->heap, 0, 10);
    return user->block != NULL;
}

static DWORD WINAPI release(LPVOID argument)
{
    struct user *user = argument;

    SignalObjectAndWait(user->began, user->go, LONG_MS, FALSE);
    SetEvent(user->began);
    return HeapFree(user->heap, 0, user->block);
}

/*
 * Another thread waits until the heap has been unlocked as often as it was locked. It runs before: to begin, it may
 * need the process heap.
 */
static void locked(HANDLE heap, LPTHREAD_START_ROUTINE routine, struct user *user)
{
    HANDLE thread;
    DWORD code = 0;
    unsigned count;
    bool told;

    thread = checked(CreateThread(NULL, 0, routine, user, 0, NULL));
    assert_wait(WaitForSingleObject(user->began, LONG_MS), WAIT_OBJECT_0);
    assert_true(HeapLock(heap));
    assert_true(HeapLock(heap));
    count = walk(heap, NULL, 0, &told);
    assert_true(SetEvent(user->go));
    assert_wait(WaitForSingleObject(user->began, LONG_MS), WAIT_OBJECT_0);
    assert_true(HeapFree(heap, 0, checked(HeapAlloc(heap, 0, 100))));
    assert_true(HeapUnlock(heap));
    assert_wait(WaitForSingleObject(thread, 20), WAIT_TIMEOUT);
    assert_int_equal(walk(heap, NULL, 0, &told), count);
    assert_true(HeapUnlock(heap));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 1);
    assert_true(CloseHandle(thread));
}

static void test_others_wait_while_it_is_locked(void **state)
{
    HANDLE heaps[] = { checked(HeapCreate(0, 0, 0)), checked(HeapCreate(0, 0, 1 << 20)),
        GetProcessHeap() };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct user user = { .heap = heaps[i],
            .go = CreateEventW(NULL, FALSE, FALSE, NULL),
            .began = CreateEventW(NULL, FALSE, FALSE, NULL) };

        locked(heaps[i], allocate, &user);
        locked(heaps[i], release, &user);
        assert_true(CloseHandle(user.go));
        assert_true(CloseHandle(user.began));
    }
    assert_true(HeapDestroy(heaps[1]));
    assert_true(HeapDestroy(heaps[0]));
}

static void test_lock_refuses(void **state)
{
    (void)state;
    assert_false(HeapLock(NULL));
    assert_false(HeapUnlock(NULL));
#ifndef _WIN32 /* Wine says TRUE to anybody */
    assert_fails(HeapUnlock(GetProcessHeap()), SPEC_ERROR_NOT_OWNER);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk_tells_of_each_block),
        cmocka_unit_test(test_walk_of_the_process_heap),
        cmocka_unit_test(test_walk_refuses),
        cmocka_unit_test(test_validate),
        cmocka_unit_test(test_others_wait_while_it_is_locked),
        cmocka_unit_test(test_lock_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
