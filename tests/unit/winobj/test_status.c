/* SPDX-License-Identifier: MIT */
/* test_status.c - statuses to Win32 errors, as every failed packet shows them. Values are Windows'. */
#include "tests/support/win32_test.h"

#include "winobj/provider.h"

static const struct row {
    ULONG status;
    DWORD error;
} rows[] = {
    /* every NetworkDirect code */
    { 0x80000005, 234 },
    { 0x80000011, 170 },
    { 0x8000001A, 259 },
    { 0xC0000001, 31 },
    { 0xC0000005, 998 },
    { 0xC0000008, 6 },
    { 0xC000000D, 87 },
    { 0xC0000010, 1 },
    { 0xC0000017, 8 },
    { 0xC0000030, 87 },
    { 0xC000003C, 1117 },
    { 0xC0000043, 32 },
    { 0xC000009A, 1450 },
    { 0xC00000A3, 21 },
    { 0xC00000B0, 233 },
    { 0xC00000B5, 121 },
    { 0xC00000BB, 50 },
    { 0xC00000E5, 1359 },
    { 0xC00000EF, 87 },
    { 0xC00000F0, 87 },
    { 0xC00000F1, 87 },
    { 0xC00000F2, 87 },
    { 0xC00000F3, 87 },
    { 0xC00000F4, 87 },
    { 0xC00000F5, 87 },
    { 0xC00000F6, 87 },
    { 0xC00000F7, 87 },
    { 0xC00000F8, 87 },
    { 0xC0000120, 995 },
    { 0xC000013D, 51 },
    { 0xC0000141, 59 },
    { 0xC0000184, 22 },
    { 0xC0000206, 1784 },
    { 0xC0000209, 68 },
    { 0xC000020A, 52 },
    { 0xC0000236, 1225 },
    { 0xC000023A, 1229 },
    { 0xC000023B, 1230 },
    { 0xC000023C, 1231 },
    { 0xC000023D, 1232 },
    { 0xC0000241, 1236 },
    { 0xC00002B6, 1617 },
    /* others that programs meet */
    { 0xC000003E, 23 },
    { 0xC00000CC, 67 },
    { 0xC000020C, 64 },
    { 0xC0000238, 1227 },
    { 0xC0000239, 1228 },
    /* none of Windows' */
    { 0xC0FFEE00, 317 },
    { 0x80004005, 317 },
    /* wrapped Win32 errors */
    { 0x80070005, 5 },
    { 0xC00104D2, 1234 },
};

static void test_status_becomes_the_error_of_windows(void **state)
{
    struct win_file *file;
    HANDLE handle, port;

    (void)state;
    assert_int_equal(win_file_create(NULL, NULL, &handle), 0);
    assert_non_null(file = win_file_get(handle, NULL));
    assert_non_null(port = CreateIoCompletionPort(handle, NULL, 0, 0));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        OVERLAPPED overlapped = { 0 }, *got;
        ULONG_PTR key;
        DWORD bytes;

        assert_true(win_overlapped_start(file, &overlapped));
        win_overlapped_complete(file, &overlapped, (LONG)rows[i].status, 0);
        SetLastError(0);
        assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
        if (GetLastError() != rows[i].error)
            fail_msg(
                "status %08x: error %u, not %u", rows[i].status, GetLastError(), rows[i].error);
    }
    win_file_unref(file);
    assert_true(CloseHandle(handle));
    assert_true(CloseHandle(port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_becomes_the_error_of_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
