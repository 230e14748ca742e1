/* SPDX-License-Identifier: MIT */
/*
 * files.c - a Windows program with thousands of overlapped files: one more, and an object on one, cost it as many calls
 * to wineserver as the first did; and those that it closes go. Time would say less on a busy machine.
 */
#include "tests/support/nd_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

enum { FILES = 2000, SOME = 100, TAKEN = 16 };

static IND2Adapter *adapter;
static HANDLE files[FILES];

/*
 * What the process has read and written: a call to wineserver is one of each. Natively its number is that of wine.sh's
 * shell, which ran it by exec.
 */
static unsigned long calls_so_far(void)
{
    WCHAR path[64] = L"Z:\\proc\\";
    char text[512] = "";
    DWORD octets = 0;
    HANDLE file;
    unsigned long calls = 0;

    assert_true(GetEnvironmentVariableW(L"NDSPI_TEST_PID", path + 8, 16) > 0);
    file = CreateFileW(
        lstrcatW(path, L"\\io"), GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    assert_true(file != INVALID_HANDLE_VALUE);
    assert_true(ReadFile(file, text, sizeof(text) - 1, &octets, NULL));
    CloseHandle(file);
    for (const char *at = text; (at = strstr(at, "sysc")); at++)
        calls += strtoul(at + 7, NULL, 10);
    assert_true(calls > 0);
    return calls;
}

static unsigned long create(int from, int to)
{
    unsigned long before = calls_so_far();

    for (int i = from; i < to; i++)
        assert_int_equal(adapter->lpVtbl->CreateOverlappedFile(adapter, &files[i]), ND_SUCCESS);
    return calls_so_far() - before;
}

/* Calls that objects on some of the files take. */
static unsigned long use(int from)
{
    IND2CompletionQueue *cq;
    unsigned long before = calls_so_far();

    for (int i = from; i < from + TAKEN; i++) {
        assert_int_equal(adapter->lpVtbl->CreateCompletionQueue(
                             adapter, &IID_IND2CompletionQueue, files[i], 8, 0, 0, (VOID **)&cq),
            ND_SUCCESS);
        assert_int_equal(cq->lpVtbl->Release(cq), 0);
    }
    return calls_so_far() - before;
}

/* Objects by a duplicate of a handle: the first one has it looked for. */
static unsigned long use_duplicate(int file)
{
    HANDLE own = files[file], copy;
    unsigned long calls;

    assert_true(DuplicateHandle(
        GetCurrentProcess(), own, GetCurrentProcess(), &copy, 0, FALSE, DUPLICATE_SAME_ACCESS));
    for (int i = 0; i < TAKEN; i++)
        files[i] = copy;
    use(0);
    calls = use(0);
    CloseHandle(copy);
    return calls;
}

static void test_2000_files_cost_the_same_each(void **state)
{
    unsigned long first, last, first_use, last_use;

    (void)state;
    create(0, SOME);
    first = create(SOME, 2 * SOME);
    first_use = use(SOME);
    create(2 * SOME, FILES - SOME);
    last = create(FILES - SOME, FILES);
    last_use = use(FILES - SOME);
    printf("calls: %lu, then %lu; of objects: %lu, then %lu\n", first, last, first_use, last_use);
    assert_in_range(last, 1, first + first / 4);
    assert_in_range(last_use, 1, first_use + first_use / 4);
    assert_in_range(use_duplicate(FILES - 1), 1, first_use + first_use / 4);
}

/* The last one was closed; values of handles are taken again, so those of new ones say how many there are. */
static void test_files_that_are_closed_go(void **state)
{
    ULONG_PTR before, after;
    HANDLE file;

    (void)state;
    for (int round = 0; round < 2; round++) {
        before = (ULONG_PTR)CreateEventW(NULL, FALSE, FALSE, NULL);
        for (int i = 0; i < FILES / 2; i++) {
            assert_int_equal(adapter->lpVtbl->CreateOverlappedFile(adapter, &file), ND_SUCCESS);
            assert_true(CloseHandle(file));
        }
        after = (ULONG_PTR)CreateEventW(NULL, FALSE, FALSE, NULL);
        assert_in_range(after, 1, before + 4 * SOME);
    }
}

static void open_adapter(void)
{
    struct sockaddr_in address = nd_end_address(0, 0);

    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (VOID **)&adapter),
        ND_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_that_are_closed_go),
        cmocka_unit_test(test_2000_files_cost_the_same_each),
    };
    int failed;

    assert_int_equal(NdStartup(), ND_SUCCESS);
    open_adapter();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    assert_int_equal(adapter->lpVtbl->Release(adapter), 0);
    return failed;
}
