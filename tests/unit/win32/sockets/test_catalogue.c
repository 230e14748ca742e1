/* SPDX-License-Identifier: MIT */
/*
 * test_catalogue.c - the Winsock catalogue, the path that it names, and requests for changes; what a Windows program
 * finds under Wine is in tests/wine/discovery.c.
 */
#include "tests/support/win32_test.h"

#include <unknwn.h>
#include <ws2spi.h>

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const GUID id_v2 = { 0x78C684C4, 0x5FBB, 0x4819,
    { 0xA5, 0x94, 0xC8, 0xBA, 0xE7, 0x60, 0x4C, 0x0D } };
static const GUID id_v1 = { 0x119514F9, 0x3890, 0x404D,
    { 0xA1, 0x2A, 0x04, 0xC1, 0xBC, 0x87, 0x40, 0xB0 } };
static const GUID iid_factory = { 1, 0, 0, { 0xC0, 0, 0, 0, 0, 0, 0, 0x46 } };

typedef HRESULT(WINAPI *get_class_object)(const GUID *clsid, const GUID *iid, VOID **out);
typedef HRESULT(WINAPI *can_unload_now)(VOID);

static bool own_network; /* with a loopback interface that is down */

/* Fields of structures that wide text stands behind: at the same places with both widths. */
static DWORD dword_at(const void *entry, unsigned offset)
{
    DWORD value;

    memcpy(&value, (const char *)entry + offset, sizeof(value));
    return value;
}

static void expect_entry(const WSAPROTOCOL_INFOW *entry, DWORD version, const GUID *id)
{
    assert_int_equal(dword_at(entry, 0), 0x8E);
    assert_int_equal(dword_at(entry, 16), 0x14);
    assert_memory_equal((const char *)entry + 20, id, 16);
    assert_int_equal(dword_at(entry, 40), 1);
    assert_int_equal(dword_at(entry, 72), version);
    assert_int_equal(dword_at(entry, 76), AF_INET6);
    assert_int_equal(dword_at(entry, 88), 0xFFFFFFFF);
    assert_int_equal(dword_at(entry, 92), 0);
    assert_int_equal(dword_at(entry, 96), 0);
    assert_wide_equal(entry->szProtocol, L"NetworkDirect");
}

static void test_catalogue_has_one_entry_of_each_version(void **state)
{
    WSAPROTOCOL_INFOW entries[3];
    DWORD size = 0;
    INT error = 0, tcp[] = { 6, 0 };

    (void)state;
    assert_int_equal(offsetof(WSAPROTOCOL_INFOW, szProtocol), 116);
    assert_int_equal(WSCEnumProtocols(NULL, NULL, &size, &error), -1);
    assert_int_equal(error, SPEC_WSAENOBUFS);
    assert_int_equal(size, 2 * sizeof(entries[0]));
    size--;
    assert_int_equal(WSCEnumProtocols(NULL, entries, &size, &error), -1);
    assert_int_equal(error, SPEC_WSAENOBUFS);
    assert_int_equal(size, 2 * sizeof(entries[0]));
    assert_int_equal(WSCEnumProtocols(NULL, NULL, &size, &error), -1);
    assert_int_equal(error, SPEC_WSAEFAULT);
    assert_int_equal(WSCEnumProtocols(NULL, entries, NULL, &error), -1);
    assert_int_equal(error, SPEC_WSAEFAULT);
    assert_int_equal(WSCEnumProtocols(NULL, entries, &size, NULL), 2);
    expect_entry(&entries[0], 0x20000, &id_v2);
    expect_entry(&entries[1], 1, &id_v1);
    size = sizeof(entries);
    assert_int_equal(WSCEnumProtocols(tcp, entries, &size, &error), 0);
}

static void test_path_leads_to_the_library(void **state)
{
    WCHAR path[MAX_PATH];
    GUID id = id_v1, other = iid_factory;
    INT length = 3, error = 0;
    get_class_object get;
    can_unload_now can_unload;
    IUnknown *factory = NULL;
    HMODULE library;

    (void)state;
    assert_int_equal(WSCGetProviderPath(&id, path, &length, &error), -1);
    assert_int_equal(error, SPEC_WSAEFAULT);
    assert_in_range(length, 4, MAX_PATH);
    assert_int_equal(WSCGetProviderPath(&id, path, &length, &error), 0);
    assert_int_equal(wcslen(path) + 1, length);
    assert_non_null(library = LoadLibraryW(path));
    get = (get_class_object)(void *)GetProcAddress(library, "DllGetClassObject");
    can_unload = (can_unload_now)(void *)GetProcAddress(library, "DllCanUnloadNow");
    assert_non_null(get);
    assert_non_null(can_unload);
    assert_int_equal(can_unload(), 0);
    assert_int_equal(get(&id_v2, &iid_factory, (VOID **)&factory), 0);
    assert_int_equal(can_unload(), 1);
    assert_int_equal(factory->lpVtbl->Release(factory), 0);
    assert_int_equal(can_unload(), 0);
    assert_true(FreeLibrary(library));
    assert_int_equal(WSCGetProviderPath(&other, path, &length, &error), -1);
    assert_int_equal(error, SPEC_WSAEINVAL);
    assert_int_equal(WSCGetProviderPath(NULL, path, &length, &error), -1);
    assert_int_equal(error, SPEC_WSAEFAULT);
    assert_int_equal(WSCGetProviderPath(&id, path, NULL, &error), -1);
    assert_int_equal(error, SPEC_WSAEFAULT);
}

static void expect_packet(HANDLE port, const OVERLAPPED *overlapped, DWORD error)
{
    OVERLAPPED *ended = NULL;
    ULONG_PTR key = 0;
    DWORD octets;

    SetLastError(0);
    assert_int_equal(GetQueuedCompletionStatus(port, &octets, &key, &ended, LONG_MS), !error);
    assert_win_error(error);
    assert_ptr_equal(ended, overlapped);
    assert_int_equal(key, 4711);
}

static void test_request_for_the_catalogue_ends_with_its_handle(void **state)
{
    OVERLAPPED overlapped = { 0 }, *ended;
    HANDLE handle = NULL, port;
    ULONG_PTR key;
    DWORD octets;

    (void)state;
    assert_int_equal(WSAProviderConfigChange(&handle, NULL, NULL), 0);
    assert_non_null(handle);
    assert_non_null(port = CreateIoCompletionPort(handle, NULL, 4711, 1));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(WSAProviderConfigChange(&handle, &overlapped, NULL), -1);
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
        assert_fails(GetQueuedCompletionStatus(port, &octets, &key, &ended, 0), SPEC_WAIT_TIMEOUT);
        assert_true(CancelIoEx(handle, &overlapped));
        expect_packet(port, &overlapped, SPEC_ERROR_OPERATION_ABORTED);
    }
    assert_int_equal(WSAProviderConfigChange(&handle, &overlapped, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_true(CloseHandle(handle));
    expect_packet(port, &overlapped, SPEC_ERROR_OPERATION_ABORTED);
    assert_int_equal(WSAProviderConfigChange(&handle, &overlapped, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_INVALID_HANDLE);
    assert_int_equal(WSAProviderConfigChange(NULL, &overlapped, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    assert_int_equal(WSAProviderConfigChange(&port, NULL, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEOPNOTSUPP);
    handle = NULL; /* a handle and a request by one call */
    assert_int_equal(WSAProviderConfigChange(&handle, &overlapped, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_true(CloseHandle(handle));
    assert_true(CloseHandle(port));
}

static unsigned aborted;

static void CALLBACK note_end(DWORD error, DWORD bytes, LPWSAOVERLAPPED overlapped, DWORD flags)
{
    (void)overlapped;
    aborted += error == SPEC_WSA_OPERATION_ABORTED && !bytes && !flags;
}

static void test_request_for_the_catalogue_calls_its_routine(void **state)
{
    OVERLAPPED overlapped = { .Offset = 5 };
    HANDLE handle = NULL, port;

    (void)state;
    assert_int_equal(WSAProviderConfigChange(&handle, &overlapped, note_end), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_true(CancelIo(handle));
    assert_int_equal(aborted, 0);
    assert_int_equal(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_int_equal(aborted, 1);
    assert_non_null(port = CreateIoCompletionPort(handle, NULL, 0, 0));
    assert_int_equal(WSAProviderConfigChange(&handle, &overlapped, note_end), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    assert_true(CloseHandle(handle) && CloseHandle(port));
}

static void begin_for_addresses(SOCKET watch, OVERLAPPED *overlapped)
{
    assert_int_equal(
        WSAIoctl(watch, SIO_ADDRESS_LIST_CHANGE, NULL, 0, NULL, 0, NULL, overlapped, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_int_equal(overlapped->Internal, 0x103);
}

static void test_request_for_addresses_is_pending(void **state)
{
    SOCKET watch = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED);
    HANDLE port = CreateIoCompletionPort((HANDLE)watch, NULL, 4711, 0);
    OVERLAPPED overlapped[2] = { { 0 } };
    DWORD used;

    (void)state;
    assert_non_null(port);
    begin_for_addresses(watch, &overlapped[0]);
    begin_for_addresses(watch, &overlapped[1]);
    assert_true(CancelIoEx((HANDLE)watch, &overlapped[1]));
    expect_packet(port, &overlapped[1], SPEC_ERROR_OPERATION_ABORTED);
    assert_int_equal(overlapped[0].Internal, 0x103);
    assert_int_equal(closesocket(watch), 0);
    expect_packet(port, &overlapped[0], SPEC_ERROR_OPERATION_ABORTED);
    watch = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(
        WSAIoctl(watch, SIO_ADDRESS_LIST_CHANGE, NULL, 0, NULL, 0, &used, NULL, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEOPNOTSUPP);
    assert_int_equal(closesocket(watch), 0);
    assert_true(CloseHandle(port));
}

/* The loopback interface gets its address when it goes up. */
static void test_change_of_addresses_ends_requests(void **state)
{
    SOCKET watch[2] = { socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET6, SOCK_DGRAM, 0) };
    HANDLE port = CreateIoCompletionPort((HANDLE)watch[0], NULL, 4711, 0);
    OVERLAPPED overlapped[2] = { { 0 }, { .hEvent = CreateEventW(NULL, TRUE, FALSE, NULL) } };
    struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };

    (void)state;
    if (!own_network)
        skip(); /* no rights for a network of its own */
    for (int i = 0; i < 2; i++)
        begin_for_addresses(watch[i], &overlapped[i]);
    assert_int_equal(ioctl((int)watch[0], SIOCSIFFLAGS, &request), 0);
    expect_packet(port, &overlapped[0], 0);
    assert_wait(WaitForSingleObject(overlapped[1].hEvent, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(overlapped[1].Internal, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(closesocket(watch[i]), 0);
    assert_true(CloseHandle(overlapped[1].hEvent));
    assert_true(CloseHandle(port));
}

/*
 * A namespace of users shows each user as 65534 until it has a map. The folder of objects with names, which Winsock
 * makes, would be this user's and have the name of user 65534, who then could not use it.
 */
static bool map_user(uid_t user)
{
    char line[32];
    int octets = snprintf(line, sizeof(line), "%u %u 1", (unsigned)user, (unsigned)user);
    int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
    bool mapped = fd >= 0 && write(fd, line, (size_t)octets) == octets;

    if (fd >= 0)
        close(fd);
    return mapped;
}

static bool has_own_network(void)
{
    uid_t user = geteuid();

    return !unshare(CLONE_NEWNET) || (!unshare(CLONE_NEWUSER | CLONE_NEWNET) && map_user(user));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_catalogue_has_one_entry_of_each_version),
        cmocka_unit_test(test_path_leads_to_the_library),
        cmocka_unit_test(test_request_for_the_catalogue_ends_with_its_handle),
        cmocka_unit_test(test_request_for_the_catalogue_calls_its_routine),
        cmocka_unit_test(test_request_for_addresses_is_pending),
        cmocka_unit_test(test_change_of_addresses_ends_requests),
    };
    WSADATA data;

    own_network = has_own_network(); /* before there is a second thread */
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
