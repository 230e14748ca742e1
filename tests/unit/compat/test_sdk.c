/* SPDX-License-Identifier: MIT */
/*
 * test_sdk.c - the small headers of Windows' SDK. Each is there; what those have that windows.h has not: packing, codes
 * of devices, families of programs, structures and codes of the native interface.
 */
#include "tests/support/win32_test.h"

#include <winsock2.h>
#include <ws2tcpip.h>

#include <combaseapi.h>
#include <concurrencysal.h>
#include <crtdbg.h>
#include <debugapi.h>
#include <driverspecs.h>
#include <errhandlingapi.h>
#include <excpt.h>
#include <fibersapi.h>
#include <fileapi.h>
#include <handleapi.h>
#include <heapapi.h>
#include <interlockedapi.h>
#include <ioapiset.h>
#include <libloaderapi.h>
#include <memoryapi.h>
#include <minwinbase.h>
#include <namedpipeapi.h>
#include <ntverp.h>
#include <processenv.h>
#include <processthreadsapi.h>
#include <processtopologyapi.h>
#include <profileapi.h>
#include <realtimeapiset.h>
#include <rpcdce.h>
#include <rpcsal.h>
#include <stringapiset.h>
#include <synchapi.h>
#include <sysinfoapi.h>
#include <systemtopologyapi.h>
#include <threadpoolapiset.h>
#include <threadpoollegacyapiset.h>
#include <timezoneapi.h>
#include <unknwnbase.h>
#include <utilapiset.h>
#include <winapifamily.h>
#include <wincon.h>
#include <winioctl.h>
#include <winnls.h>
#include <winreg.h>
#include <winsock.h>
#include <winternl.h>
#include <wspiapi.h>
#include <wtypesbase.h>

#include <pshpack1.h>
struct octets {
    char first;
    double second;
};
#include <poppack.h>
#include <pshpack2.h>
struct words {
    char first;
    double second;
};
#include <pshpack4.h>
struct longs {
    char first;
    double second;
};
#include <poppack.h>
struct words_again {
    char first;
    int second;
};
#include <poppack.h>
#include <pshpack8.h>
struct quads {
    char first;
    double second;
};
#include <poppack.h>

static void test_packing(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct octets), 9);
    assert_int_equal(sizeof(struct words), 10);
    assert_int_equal(sizeof(struct longs), 12);
    assert_int_equal(sizeof(struct words_again), 6);
    assert_int_equal(sizeof(struct quads), 16);
}

static void test_codes_of_devices(void **state)
{
    (void)state;
    assert_int_equal(CTL_CODE(FILE_DEVICE_NETWORK, 3, METHOD_NEITHER, FILE_READ_ACCESS), 0x12400F);
    assert_int_equal(
        CTL_CODE(FILE_DEVICE_FILE_SYSTEM, 6, METHOD_BUFFERED, FILE_ANY_ACCESS), 0x90018);
    assert_int_equal(DEVICE_TYPE_FROM_CTL_CODE(0x12400F), FILE_DEVICE_NETWORK);
#if !WINAPI_FAMILY_PARTITION(WINAPI_PARTITION_DESKTOP)
    fail();
#endif
}

static void test_structures_of_the_native_interface(void **state)
{
    UNICODE_STRING name = { 4, 6, NULL };
    IO_STATUS_BLOCK block;
    OBJECT_ATTRIBUTES attributes;

    (void)state;
    InitializeObjectAttributes(&attributes, &name, OBJ_KERNEL_HANDLE, NULL, NULL);
    assert_int_equal(attributes.Length, 48);
    assert_ptr_equal(attributes.ObjectName, &name);
    assert_int_equal(attributes.Attributes, 0x200);
    block.Pointer = NULL;
    assert_int_equal(block.Status, 0);
    assert_int_equal(name.Length, 4);
    assert_int_equal(sizeof(UNICODE_STRING), 16);
    assert_int_equal(sizeof(OBJECT_ATTRIBUTES), 48);
    assert_int_equal(sizeof(IO_STATUS_BLOCK), 16);
    assert_int_equal(sizeof(CLIENT_ID), 16);
}

static void test_errors_of_statuses(void **state)
{
    (void)state;
    assert_int_equal(RtlNtStatusToDosError(0), SPEC_ERROR_SUCCESS);
    assert_int_equal(RtlNtStatusToDosError((NTSTATUS)0xC0000022), SPEC_ERROR_ACCESS_DENIED);
    assert_int_equal(RtlNtStatusToDosError((NTSTATUS)0xD0000022), SPEC_ERROR_ACCESS_DENIED);
    assert_int_equal(RtlNtStatusToDosError((NTSTATUS)0xC0000008), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(RtlNtStatusToDosError((NTSTATUS)0xC0010006), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(RtlNtStatusToDosError((NTSTATUS)0x80070005), SPEC_ERROR_ACCESS_DENIED);
    assert_int_equal(RtlNtStatusToDosError(0x103), SPEC_ERROR_IO_PENDING);
    assert_int_equal((LONG)RtlNtStatusToDosError((NTSTATUS)0xE0001234), (LONG)0xE0001234);
    assert_int_equal(RtlNtStatusToDosError((NTSTATUS)0xC0FFFFFF), SPEC_ERROR_MR_MID_NOT_FOUND);
}

/* As of a release build; with _DEBUG the reports are the debug runtime's, which MinGW has not. */
static void test_the_debug_runtime_does_nothing(void **state)
{
    _CrtMemState before, difference;
    int asked = (int)sizeof(difference.lCounts) - 40;
    char *text;

    (void)state;
    assert_int_equal(_CrtSetReportMode(_CRT_ASSERT, _CRTDBG_MODE_FILE), 0);
    assert_null(_CrtSetReportFile(_CRT_WARN, _CRTDBG_FILE_STDERR));
    assert_int_equal(_CrtSetDbgFlag(_CRTDBG_ALLOC_MEM_DF | _CRTDBG_LEAK_CHECK_DF), 0);
    assert_int_equal(_CrtSetBreakAlloc(5), 0);
    assert_int_equal(_CrtCheckMemory(), 1);
    assert_int_equal(_CrtIsValidPointer(&before, sizeof(before), TRUE), 1);
    assert_int_equal(_CrtIsValidHeapPointer(&before), 1);
    memset(&before, 0, sizeof(before));
    _CrtMemCheckpoint(&before);
    assert_int_equal(_CrtMemDifference(&difference, &before, &before), 0);
    _CrtMemDumpStatistics(&before);
    _CrtMemDumpAllObjectsSince(NULL);
    assert_int_equal(_CrtDumpMemoryLeaks(), 0);
    _CrtDbgBreak();
    _ASSERT(asked++);
    _ASSERTE(asked++);
    _ASSERT_EXPR(asked++, L"no");
    _RPT0(_CRT_WARN, "no");
    _RPT1(_CRT_WARN, "no %d", asked++);
    _RPT2(_CRT_WARN, "no %d %d", asked++, asked++);
    _RPTF0(_CRT_ERROR, "no");
    _RPTF1(_CRT_ERROR, "no %d", asked++);
    _RPTF2(_CRT_ERROR, "no %d %d", asked++, asked++);
    assert_int_equal(asked, 0);
    text = _strdup_dbg("text", _NORMAL_BLOCK, __FILE__, __LINE__);
    text = _realloc_dbg(text, 16, _NORMAL_BLOCK, __FILE__, __LINE__);
    assert_string_equal(text, "text");
    _free_dbg(text, _NORMAL_BLOCK);
    _free_dbg(_malloc_dbg(5, _CLIENT_BLOCK, __FILE__, __LINE__), _CLIENT_BLOCK);
    _free_dbg(_calloc_dbg(5, 5, _CRT_BLOCK, __FILE__, __LINE__), _CRT_BLOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_codes_of_devices),
        cmocka_unit_test(test_structures_of_the_native_interface),
        cmocka_unit_test(test_errors_of_statuses),
        cmocka_unit_test(test_the_debug_runtime_does_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
