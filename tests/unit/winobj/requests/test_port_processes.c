/* SPDX-License-Identifier: MIT */
/*
 * test_port_processes.c - completion ports of one process to which others post, as the shared-memory channel of MS-MPI
 * does: it opens the other process (PROCESS_DUP_HANDLE), fetches its port by DuplicateHandle, and posts there. The test
 * starts itself.
 */
#include "tests/unit/win32/parcels/servant.h"

static HANDLE checked(HANDLE handle)
{
    assert_true(handle && handle != INVALID_HANDLE_VALUE);
    return handle;
}

static HANDLE port_new(void)
{
    return checked(CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0));
}

static HANDLE copy(HANDLE from, HANDLE handle, HANDLE to, BOOL inherit)
{
    HANDLE made = NULL;

    assert_true(DuplicateHandle(from, handle, to, &made, 0, inherit, DUPLICATE_SAME_ACCESS));
    return checked(made);
}

static HANDLE give(struct servant *servant, HANDLE handle)
{
    return copy(GetCurrentProcess(), handle, servant->process.hProcess, FALSE);
}

static HANDLE take(struct servant *servant, HANDLE handle)
{
    return copy(servant->process.hProcess, handle, GetCurrentProcess(), FALSE);
}

/* The packet that ORDER_POST posts as the number-th, by that handle. */
static void assert_packet(HANDLE port, DWORD number, HANDLE posted_by, DWORD ms)
{
    LPOVERLAPPED overlapped = NULL;
    ULONG_PTR key = 0;
    DWORD bytes = 99999999;

    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, ms));
    assert_int_equal(bytes, number);
    assert_int_equal(key, (ULONG_PTR)posted_by);
    assert_int_equal((uintptr_t)overlapped, number * 16);
}

static void assert_empty(HANDLE port)
{
    LPOVERLAPPED overlapped;
    ULONG_PTR key;
    DWORD bytes;

    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0), SPEC_WAIT_TIMEOUT);
}

/* What was posted when the other process had an answer is there at once. */
static void test_packets_come_in_their_order(void **state)
{
    struct servant servant = servant_start();
    HANDLE port = port_new(), there = give(&servant, port);

    (void)state;
    for (int round = 0; round < 20; round++) {
        servant_does(&servant, ORDER_POST, there, 3);
        for (DWORD i = 0; i < 3; i++)
            assert_packet(port, i, there, 0);
        assert_empty(port);
    }
    servant_end(&servant);
    assert_true(CloseHandle(port));
}

/* More than are ever on their way at once. */
static void test_many_packets(void **state)
{
    enum { MANY = 20000 };
    struct servant servant = servant_start();
    HANDLE port = port_new(), there = give(&servant, port);
    const struct order_given given = { ORDER_POST, (uintptr_t)there, MANY };
    OVERLAPPED_ENTRY entries[64];
    struct order_done answer;
    ULONG count;
    DWORD done;

    (void)state;
    assert_true(WriteFile(servant.to, &given, sizeof(given), &done, NULL));
    for (DWORD next = 0; next < MANY;) {
        assert_true(GetQueuedCompletionStatusEx(port, entries, 64, &count, LONG_MS, FALSE));
        for (ULONG i = 0; i < count; i++, next++) {
            assert_int_equal(entries[i].dwNumberOfBytesTransferred, next);
            assert_int_equal(entries[i].lpCompletionKey, (ULONG_PTR)there);
            assert_int_equal((uintptr_t)entries[i].lpOverlapped, next * 16);
        }
    }
    assert_true(servant_read(servant.from, &answer, sizeof(answer)));
    assert_int_equal(answer.result, MANY);
    assert_int_equal(answer.error, 0);
    assert_empty(port);
    servant_end(&servant);
    assert_true(CloseHandle(port));
}

/* Packets of both processes: a post that has returned comes before one that begins then. */
static void test_packets_of_two_processes(void **state)
{
    struct servant servant = servant_start();
    HANDLE port = port_new(), there = give(&servant, port);

    (void)state;
    for (int round = 0; round < 20; round++) {
        servant_does(&servant, ORDER_POST, there, 2);
        assert_true(PostQueuedCompletionStatus(port, 2, (ULONG_PTR)there, (LPOVERLAPPED)32));
        for (DWORD i = 0; i < 3; i++)
            assert_packet(port, i, there, 0);
    }
    servant_end(&servant);
    assert_true(CloseHandle(port));
}

struct taker {
    HANDLE port, key;
};

static DWORD WINAPI take_one(LPVOID argument)
{
    const struct taker *taker = argument;
    LPOVERLAPPED overlapped;
    ULONG_PTR key;
    DWORD bytes;

    if (!GetQueuedCompletionStatus(taker->port, &bytes, &key, &overlapped, INFINITE))
        return GetLastError();
    return key == (ULONG_PTR)taker->key ? 0 : 9999;
}

/* Each of the threads that wait gets one packet. */
static void test_threads_wait(void **state)
{
    struct servant servant = servant_start();
    HANDLE port = port_new(), there = give(&servant, port), threads[3];
    struct taker taker = { port, there };
    DWORD code;

    (void)state;
    for (int i = 0; i < 3; i++)
        threads[i] = checked(CreateThread(NULL, 0, take_one, &taker, 0, NULL));
    servant_does(&servant, ORDER_POST, there, 3);
    for (int i = 0; i < 3; i++) {
        assert_wait(WaitForSingleObject(threads[i], LONG_MS), WAIT_OBJECT_0);
        assert_true(GetExitCodeThread(threads[i], &code));
        assert_int_equal(code, 0);
        assert_true(CloseHandle(threads[i]));
    }
    assert_empty(port);
    servant_end(&servant);
    assert_true(CloseHandle(port));
}

/* As MS-MPI connects: memory without a name goes there, and the packet says by which handle. */
static void test_memory_is_announced_by_a_packet(void **state)
{
    struct servant servant = servant_start();
    HANDLE its_port = servant_makes(&servant, ORDER_PORT, 0), port = take(&servant, its_port);
    HANDLE memory =
        checked(CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 65536, NULL));
    HANDLE there = give(&servant, memory);
    char *view = MapViewOfFile(memory, FILE_MAP_WRITE, 0, 0, 0);

    (void)state;
    assert_non_null(view);
    view[65535] = 'a';
    assert_true(PostQueuedCompletionStatus(port, (DWORD)(uintptr_t)there, 0, NULL));
    there = (HANDLE)(uintptr_t)servant_does(&servant, ORDER_TAKE, its_port, LONG_MS);
    servant_does(&servant, ORDER_MAP, there, 0);
    assert_int_equal(view[65535], 'b');
    assert_true(UnmapViewOfFile(view));
    assert_true(CloseHandle(memory));
    assert_true(CloseHandle(port));
    servant_end(&servant);
}

static void test_a_fetched_port(void **state)
{
    struct servant servant = servant_start(), other = servant_start();
    HANDLE its_port = servant_makes(&servant, ORDER_PORT, 0), port = take(&servant, its_port);
    HANDLE again = copy(GetCurrentProcess(), port, GetCurrentProcess(), FALSE);
    HANDLE there = give(&other, port); /* what is another's goes on to a third */
    HANDLE third =
        copy(servant.process.hProcess, its_port, other.process.hProcess, FALSE); /* at once */

    (void)state;
    assert_int_equal(servant_order(&servant, ORDER_TAKE, its_port, 0).error, SPEC_WAIT_TIMEOUT);
    assert_true(PostQueuedCompletionStatus(port, 70, 0, NULL));
    assert_true(PostQueuedCompletionStatus(again, 71, 0, NULL));
    servant_does(&other, ORDER_POST, there, 1);
    servant_does(&other, ORDER_POST, third, 1);
    assert_true(PostQueuedCompletionStatus(port, 72, 0, NULL));
    assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, LONG_MS), 70);
    assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, 0), 71);
    assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, 0), 0);
    assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, 0), 0);
    assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, 0), 72);
    assert_true(CloseHandle(port));
    assert_fails(PostQueuedCompletionStatus(port, 1, 0, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_true(PostQueuedCompletionStatus(again, 73, 0, NULL));
    assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, LONG_MS), 73);
    assert_true(CloseHandle(again));
    servant_end(&other);
    servant_end(&servant);
}

/* A port that comes back is the port itself, not a stranger's. */
static void test_a_port_comes_back(void **state)
{
    struct servant servant = servant_start();
    HANDLE port = port_new(), there = give(&servant, port), back = take(&servant, there);

    (void)state;
    assert_true(CloseHandle(port));
    servant_does(&servant, ORDER_POST, there, 1);
    assert_packet(back, 0, there, 0);
    assert_true(PostQueuedCompletionStatus(back, 1, (ULONG_PTR)there, (LPOVERLAPPED)16));
    assert_packet(back, 1, there, 0);
    assert_true(CloseHandle(back));
    servant_end(&servant);
}

static void test_a_port_is_inherited(void **state)
{
    HANDLE port = port_new();
    struct servant servant;
    DWORD flags = 77;

    (void)state;
    assert_true(SetHandleInformation(port, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT));
    servant = servant_start();
    assert_int_equal(servant_does(&servant, ORDER_FLAGS, port, 0), HANDLE_FLAG_INHERIT);
    servant_does(&servant, ORDER_POST, port, 2);
    assert_packet(port, 0, port, 0);
    assert_packet(port, 1, port, 0);
    assert_true(GetHandleInformation(port, &flags));
    assert_int_equal(flags, HANDLE_FLAG_INHERIT);
    assert_true(CloseHandle(port));
    servant_end(&servant);
}

/* The owner alone takes packets and attaches files. On Windows, and under Wine, every process may. */
static void test_what_a_process_cannot_do_with_a_port_of_another(void **state)
{
    struct servant servant = servant_start();
    HANDLE port = port_new(), there = give(&servant, port);

    (void)state;
    servant_does(&servant, ORDER_POST, there, 1);
    assert_int_equal(servant_order(&servant, ORDER_TAKE, there, 0).error,
        DIFFERS(SPEC_ERROR_NOT_SUPPORTED, 0, "only a port's own process takes its packets"));
#ifndef _WIN32 /* only a port's own process attaches files */
    HANDLE its = take(&servant, servant_makes(&servant, ORDER_PORT, 0));
    HANDLE file = checked(CreateFileA(own_name("ndspi_port"), GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
        FILE_FLAG_OVERLAPPED | FILE_FLAG_DELETE_ON_CLOSE, NULL));
    OVERLAPPED_ENTRY entry;
    ULONG count = 77;

    assert_packet(port, 0, there, 0); /* it is still there */
    assert_fails(
        GetQueuedCompletionStatusEx(its, &entry, 1, &count, 0, FALSE), SPEC_ERROR_NOT_SUPPORTED);
    assert_int_equal(count, 0);
    assert_fails(CreateIoCompletionPort(file, its, 0, 0), SPEC_ERROR_NOT_SUPPORTED);
    assert_ptr_equal(CreateIoCompletionPort(file, port, 0, 0), port); /* it was not attached */
    assert_fails(
        CreateIoCompletionPort(INVALID_HANDLE_VALUE, its, 0, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_true(CloseHandle(file));
    assert_true(CloseHandle(its));
#endif
    assert_true(CloseHandle(port));
    servant_end(&servant);
}

/* A port goes with its process, and with that process's last handle. On Windows others' handles keep it. */
static void test_the_owner_is_gone(void **state)
{
    struct servant servant = servant_start();
    HANDLE its_port = servant_makes(&servant, ORDER_PORT, 0), port = take(&servant, its_port);

    (void)state;
    assert_true(PostQueuedCompletionStatus(port, 1, 0, NULL));
    servant_does(&servant, ORDER_CLOSE, its_port, 0);
#ifndef _WIN32 /* a port goes with its process; Windows' goes with the last handle */
    assert_fails(PostQueuedCompletionStatus(port, 1, 0, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(port));
    its_port = servant_makes(&servant, ORDER_PORT, 0);
    port = take(&servant, its_port);
    assert_true(PostQueuedCompletionStatus(port, 1, 0, NULL));
    servant_end(&servant);
    assert_fails(PostQueuedCompletionStatus(port, 1, 0, NULL), SPEC_ERROR_INVALID_HANDLE);
#else
    servant_end(&servant);
#endif
    assert_true(CloseHandle(port));
    assert_fails(PostQueuedCompletionStatus(port, 1, 0, NULL), SPEC_ERROR_INVALID_HANDLE);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets_come_in_their_order),
        cmocka_unit_test(test_many_packets),
        cmocka_unit_test(test_packets_of_two_processes),
        cmocka_unit_test(test_threads_wait),
        cmocka_unit_test(test_memory_is_announced_by_a_packet),
        cmocka_unit_test(test_a_fetched_port),
        cmocka_unit_test(test_a_port_comes_back),
        cmocka_unit_test(test_a_port_is_inherited),
        cmocka_unit_test(test_what_a_process_cannot_do_with_a_port_of_another),
        cmocka_unit_test(test_the_owner_is_gone),
    };

    if (count == 4 && !strcmp(arguments[1], "servant"))
        return servant_main(arguments);
    if (!GetModuleFileNameA(NULL, servant_program, sizeof(servant_program)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
