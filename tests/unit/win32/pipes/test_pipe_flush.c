/* SPDX-License-Identifier: MIT */
/*
 * test_pipe_flush.c - when FlushFileBuffers of a pipe ends. While the kernel frees a packet that was read, it tells the
 * writer that there is room before it has taken the packet's last octet off its account (sock_wfree of Linux: all but
 * one, the call, the one); no event comes after that.
 */
#include "tests/unit/win32/pipes/pipe_pair.h"

#include <linux/sockios.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static int looked; /* how often the library asked what is unread */

int ioctl(int fd, unsigned long request, ...);

/* As it is in the middle of that: nothing is unread, and one octet stands on the account. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    void *argument;
    int result;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    result = (int)syscall(SYS_ioctl, fd, request, argument);
    if (request == SIOCOUTQ && !result) {
        looked++;
        if (!*(int *)argument)
            *(int *)argument = 1;
    }
    return result;
}

static DWORD WINAPI flush(LPVOID result)
{
    *(DWORD *)result = FlushFileBuffers(server) ? 0 : GetLastError();
    return 0;
}

static void a_flush_ends_while_the_last_packet_is_freed(void **state)
{
    (void)state;
    for (int messages = 0; messages < 2; messages++) {
        DWORD result = 99;
        HANDLE thread;

        pair(0, messages ? PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE : PIPE_TYPE_BYTE);
        looked = 0;
        assert_true(FlushFileBuffers(server));
        assert_int_equal(looked, 1);
        put(server, "a"); /* the least that can be unread */
        thread = CreateThread(NULL, 0, flush, &result, 0, NULL);
        assert_wait(WaitForSingleObject(thread, 20), WAIT_TIMEOUT);
        get(client, "a");
        assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
        assert_int_equal(result, 0);
        assert_true(CloseHandle(thread));
        close_pair(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_flush_ends_while_the_last_packet_is_freed, close_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
