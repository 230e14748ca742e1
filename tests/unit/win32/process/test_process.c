/* SPDX-License-Identifier: MIT */
/* test_process.c - modules, environment, messages, local memory, debugging. */
#include "tests/support/win32_test.h"

#include "ndspi/include/ndstatus.h"

#ifndef _WIN32
#include <unistd.h>
#endif

static char text[600];
static WCHAR wide[600];

static void test_modules(void **state)
{
    HMODULE kernel = GetModuleHandleA("kernel32.dll"), program = GetModuleHandleW(NULL), loaded;
    DWORD(WINAPI * function)(HANDLE, DWORD);

    (void)state;
    assert_non_null(kernel);
    assert_non_null(program);
    assert_ptr_equal(GetModuleHandleW(L"KERNEL32"), kernel);
    assert_ptr_equal(GetModuleHandleA(NULL), program);
    function =
        (DWORD(WINAPI *)(HANDLE, DWORD))(ULONG_PTR)GetProcAddress(kernel, "WaitForSingleObject");
    assert_non_null(function);
    assert_int_equal(function((HANDLE)0x12345678, 0), WAIT_FAILED);
    assert_int_equal(GetLastError(), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(GetProcAddress(kernel, "NoSuchFunction"), SPEC_ERROR_PROC_NOT_FOUND);
    assert_fails(GetModuleHandleA("no-such-module.dll"), SPEC_ERROR_MOD_NOT_FOUND);
    assert_fails(LoadLibraryA("no-such-module.dll"), SPEC_ERROR_MOD_NOT_FOUND);
    assert_fails(LoadLibraryW(L"no-such-module.dll"), SPEC_ERROR_MOD_NOT_FOUND);
    assert_fails(LoadLibraryExA(NULL, NULL, 0), SPEC_ERROR_MOD_NOT_FOUND);
    assert_non_null(loaded = LoadLibraryExW(L"ws2_32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32));
    assert_non_null(GetProcAddress(loaded, "WSAStartup"));
    assert_true(FreeLibrary(loaded));
    assert_non_null(loaded = LoadLibraryW(L"ws2_32.dll"));
    assert_true(FreeLibrary(loaded));
    assert_non_null(loaded = LoadLibraryA("ws2_32"));
    assert_true(FreeLibrary(loaded));
    assert_fails(FreeLibrary(NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(LoadLibraryExA("ws2_32.dll", NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(LoadLibraryExA("./ws2_32.dll", NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR),
        SPEC_ERROR_INVALID_PARAMETER);
    /* ws2_32's last FreeLibrary, which is kernel32's here, leaves its handle */
    assert_true(GetModuleFileNameA(kernel, text, sizeof(text)) > 0);
    assert_fails(
        LoadLibraryExA(text, NULL, LOAD_WITH_ALTERED_SEARCH_PATH | LOAD_LIBRARY_SEARCH_SYSTEM32),
        SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* Wine does not look at the file; the count alone shows it, and others use Windows' own modules */
    assert_fails(LoadLibraryExA("kernel32.dll", (HANDLE)8, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(FreeLibrary(loaded), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(GetProcAddress((HMODULE)&loaded, "x"), SPEC_ERROR_MOD_NOT_FOUND);
#endif
}

static void test_module_file_names(void **state)
{
    DWORD length = GetModuleFileNameA(NULL, text, sizeof(text));

    (void)state;
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "test_win32_process"));
    assert_int_equal(GetModuleFileNameW(NULL, wide, _countof(wide)), length);
    assert_non_null(wcsstr(wide, L"test_win32_process"));
    assert_int_equal(GetModuleFileNameA(NULL, text, 5), 5);
    assert_int_equal(GetLastError(), SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(DIFFERS(strlen(text), 4, "a path cut short: Wine leaves the buffer alone"), 4);
    assert_int_equal(GetModuleFileNameW(NULL, wide, 5), 5);
    assert_int_equal(DIFFERS(wcslen(wide), 4, "a path cut short: Wine puts no end there"), 4);
    assert_true(GetModuleFileNameA(GetModuleHandleA("kernel32.dll"), text, sizeof(text)) > 0);
    assert_fails(GetModuleFileNameA((HMODULE)0x10, text, sizeof(text)), SPEC_ERROR_MOD_NOT_FOUND);
}

static void test_environment(void **state)
{
    (void)state;
    assert_true(SetEnvironmentVariableA("NDTEST_A", "value"));
    assert_true(SetEnvironmentVariableW(L"NDTEST_B", L"wide value"));
    assert_int_equal(GetEnvironmentVariableA("NDTEST_A", text, sizeof(text)), 5);
    assert_string_equal(text, "value");
    assert_int_equal(GetEnvironmentVariableW(L"NDTEST_B", wide, _countof(wide)), 10);
    assert_wide_equal(wide, L"wide value");
    strcpy(text, "xxxxxxxx");
    assert_int_equal(GetEnvironmentVariableA("NDTEST_A", text, 5), 6); /* with the end */
    assert_int_equal(GetEnvironmentVariableA("NDTEST_A", NULL, 0), 6);
    assert_int_equal(GetEnvironmentVariableW(L"NDTEST_A", wide, 5), 6);
    assert_fails(
        GetEnvironmentVariableA("NDTEST_NO", text, sizeof(text)), SPEC_ERROR_ENVVAR_NOT_FOUND);
    assert_fails(
        GetEnvironmentVariableW(L"NDTEST_NO", wide, _countof(wide)), SPEC_ERROR_ENVVAR_NOT_FOUND);
    assert_fails(SetEnvironmentVariableA("", "x"), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(SetEnvironmentVariableA(NULL, "x"),
        DIFFERS(SPEC_ERROR_INVALID_PARAMETER, SPEC_ERROR_ENVVAR_NOT_FOUND,
            "a NULL name: Wine says no such variable"));
    assert_true(SetEnvironmentVariableA("NDTEST_C", ""));
    assert_fails(
        GetEnvironmentVariableA("NDTEST_C", text, sizeof(text)), 0xdead); /* empty: no error */

    assert_int_equal(ExpandEnvironmentStringsW(
                         L"[%NDTEST_A%] %NDTEST_NO% %NDTEST_B%|100%", wide, _countof(wide)),
        36);
    assert_wide_equal(wide, L"[value] %NDTEST_NO% wide value|100%");
    assert_true(ExpandEnvironmentStringsA("[%NDTEST_A%]", text, sizeof(text)) >= 8);
    assert_string_equal(text, "[value]");
    assert_int_equal(ExpandEnvironmentStringsW(L"%NDTEST_A%", wide, 3), 6);
    assert_int_equal(ExpandEnvironmentStringsW(L"%NDTEST_A%", NULL, 0), 6);
    assert_true(SetEnvironmentVariableA("NDTEST_A", NULL));
    assert_fails(
        GetEnvironmentVariableA("NDTEST_A", text, sizeof(text)), SPEC_ERROR_ENVVAR_NOT_FOUND);
}

static void test_environment_as_one_block(void **state)
{
    LPCH(WINAPI * function)(void);
    char *block, *narrow = NULL;
    WCHAR *wide_block;
    unsigned found = 0;

    (void)state;
    assert_true(SetEnvironmentVariableA("NDTEST_D", "in = the block"));
    assert_true(SetEnvironmentVariableA("NDTEST_E", ""));
    assert_true(SetEnvironmentVariableW(L"NDTEST_F", L"\x20ac"));
    assert_non_null(block = GetEnvironmentStringsA());
    assert_true(SetEnvironmentVariableA("NDTEST_E", NULL)); /* the block is a copy */
    for (const char *s = block; *s; s += strlen(s) + 1) {
        assert_non_null(strchr(s, '='));
        found += !strcmp(s, "NDTEST_D=in = the block") + !strcmp(s, "NDTEST_E=");
    }
    assert_int_equal(found, 2);
    assert_true(FreeEnvironmentStringsA(block));
    assert_non_null(wide_block = GetEnvironmentStringsW());
    found = 0;
    for (const WCHAR *s = wide_block; *s; s += wcslen(s) + 1) {
        assert_non_null(wcschr(s, '='));
        found += !wcscmp(s, L"NDTEST_D=in = the block") + !wcscmp(s, L"NDTEST_F=\x20ac") +
                 2 * !wcsncmp(s, L"NDTEST_E", 8);
    }
    assert_int_equal(found, 2);
    assert_true(FreeEnvironmentStringsW(wide_block));
    assert_true(FreeEnvironmentStringsA(NULL));
    function = (LPCH(WINAPI *)(void))(ULONG_PTR)GetProcAddress(
        GetModuleHandleA("kernel32.dll"), "GetEnvironmentStrings");
    assert_non_null(function);
    assert_non_null(narrow = function());
    assert_non_null(strchr(narrow, '='));
    assert_true(FreeEnvironmentStringsA(narrow));
    assert_true(GetEnvironmentStrings == GetEnvironmentStringsA);
    assert_true(FreeEnvironmentStrings == FreeEnvironmentStringsA);
    assert_true(SetEnvironmentVariableA("NDTEST_D", NULL));
    assert_true(SetEnvironmentVariableA("NDTEST_F", NULL));
}

#ifndef _WIN32 /* the C library's own variables */
static void test_a_block_has_variables_alone(void **state)
{
    char none[] = "no variable", one[] = "ND=1", *variables[] = { none, one, NULL };
    char **before = environ, *block;
    WCHAR *wide_block;

    (void)state;
    environ = variables;
    block = GetEnvironmentStringsA();
    environ = variables + 2;
    wide_block = GetEnvironmentStringsW();
    environ = before;
    assert_memory_equal(block, "ND=1\0", 6);
    assert_memory_equal(wide_block, L"\0", 2 * sizeof(WCHAR));
    assert_true(FreeEnvironmentStringsA(block));
    assert_true(FreeEnvironmentStringsW(wide_block));
}
#endif

static DWORD message(DWORD flags, const char *source, char *to, DWORD size, ...)
{
    va_list arguments;
    DWORD length;

    va_start(arguments, size);
    length = FormatMessageA(flags, source, 0, 0, to, size, &arguments);
    va_end(arguments);
    return length;
}

static DWORD wide_message(const WCHAR *source, WCHAR *to, DWORD size, ...)
{
    va_list arguments;
    DWORD length;

    va_start(arguments, size);
    length = FormatMessageW(FORMAT_MESSAGE_FROM_STRING, source, 0, 0, to, size, &arguments);
    va_end(arguments);
    return length;
}

static void test_messages_of_codes(void **state)
{
    char *allocated = NULL;
    WCHAR *wide_allocated = NULL;
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
        ERROR_INVALID_HANDLE, MAKELANGID(LANG_NEUTRAL, SUBLANG_DEFAULT), text, sizeof(text), NULL);

    (void)state;
    assert_true(length > 5);
    assert_int_equal(length, strlen(text));
    assert_string_equal(text + length - 3, ".\r\n");
    assert_int_equal(FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_ALLOCATE_BUFFER,
                         NULL, ERROR_INVALID_HANDLE, 0, (char *)&allocated, 0, NULL),
        length);
    assert_string_equal(allocated, text);
    assert_null(LocalFree(allocated));
    assert_int_equal(FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_ALLOCATE_BUFFER,
                         NULL, ERROR_INVALID_HANDLE, 0, (WCHAR *)&wide_allocated, 0, NULL),
        length);
    assert_int_equal(wcslen(wide_allocated), length);
    assert_null(LocalFree(wide_allocated));
    assert_true(FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM, NULL, WSAECONNREFUSED, 0, wide,
                    _countof(wide), NULL) > 0);
    assert_fails(
        FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM, NULL, 0x12345, 0, text, sizeof(text), NULL),
        SPEC_ERROR_MR_MID_NOT_FOUND);
    assert_fails(
        FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM, NULL, ERROR_INVALID_HANDLE, 0, text, 5, NULL),
        SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_fails(
        FormatMessageA(0, NULL, 5, 0, text, sizeof(text), NULL), SPEC_ERROR_INVALID_PARAMETER);
    length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_MAX_WIDTH_MASK, NULL,
        ERROR_INVALID_HANDLE, 0, text, sizeof(text), NULL);
    assert_string_equal(text + length - 2, ". ");
}

#ifndef _WIN32 /* texts of NTSTATUS: Windows keeps these in ntdll */
static void test_messages_of_networkdirect_codes(void **state)
{
    static const HRESULT codes[] = { ND_SUCCESS, ND_TIMEOUT, ND_PENDING, ND_BUFFER_OVERFLOW,
        ND_DEVICE_BUSY, ND_NO_MORE_ENTRIES, ND_UNSUCCESSFUL, ND_ACCESS_VIOLATION, ND_INVALID_HANDLE,
        ND_INVALID_PARAMETER, ND_INVALID_DEVICE_REQUEST, ND_NO_MEMORY, ND_INVALID_PARAMETER_MIX,
        ND_DATA_OVERRUN, ND_SHARING_VIOLATION, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_NOT_READY,
        ND_IO_TIMEOUT, ND_NOT_SUPPORTED, ND_INTERNAL_ERROR, ND_INVALID_PARAMETER_1,
        ND_INVALID_PARAMETER_2, ND_INVALID_PARAMETER_3, ND_INVALID_PARAMETER_4,
        ND_INVALID_PARAMETER_5, ND_INVALID_PARAMETER_6, ND_INVALID_PARAMETER_7,
        ND_INVALID_PARAMETER_8, ND_INVALID_PARAMETER_9, ND_INVALID_PARAMETER_10, ND_CANCELED,
        ND_REMOTE_ERROR, ND_INVALID_ADDRESS, ND_INVALID_DEVICE_STATE, ND_INVALID_BUFFER_SIZE,
        ND_TOO_MANY_ADDRESSES, ND_ADDRESS_ALREADY_EXISTS, ND_CONNECTION_REFUSED,
        ND_CONNECTION_INVALID, ND_CONNECTION_ACTIVE, ND_NETWORK_UNREACHABLE, ND_HOST_UNREACHABLE,
        ND_CONNECTION_ABORTED, ND_DEVICE_REMOVED, (HRESULT)SPEC_STATUS_ACCESS_DENIED,
        (HRESULT)SPEC_STATUS_DATA_ERROR, (HRESULT)SPEC_STATUS_BAD_NETWORK_NAME,
        (HRESULT)SPEC_STATUS_CONNECTION_DISCONNECTED,
        (HRESULT)SPEC_STATUS_ADDRESS_ALREADY_ASSOCIATED,
        (HRESULT)SPEC_STATUS_ADDRESS_NOT_ASSOCIATED, E_NOINTERFACE, E_POINTER };

    (void)state;
    for (size_t i = 0; i < _countof(codes); i++)
        if (!FormatMessageA(
                FORMAT_MESSAGE_FROM_SYSTEM, NULL, (DWORD)codes[i], 0, text, sizeof(text), NULL))
            fail_msg("%#x has no message", (unsigned)codes[i]);
    assert_true(FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM, NULL, (DWORD)E_ACCESSDENIED, 0, text,
                    sizeof(text), NULL) > 0);
    assert_non_null(strstr(text, "denied"));
}
#endif

static void test_messages_with_inserts(void **state)
{
    DWORD_PTR array[] = { (DWORD_PTR) "one", 2, 3 };

    (void)state;
    assert_int_equal(
        message(FORMAT_MESSAGE_FROM_STRING, "%2 %1 %3!d!%%", text, sizeof(text), "one", "two", 3),
        10);
    assert_string_equal(text, "two one 3%");
    message(
        FORMAT_MESSAGE_FROM_STRING, "%1!05d!|%2!-4s!|%3!*x!", text, sizeof(text), 42, "ab", 6, 255);
    assert_string_equal(text, "00042|ab  |    ff");
    assert_int_equal(message(FORMAT_MESSAGE_FROM_STRING, "a%nb%tc%!%0rest", text, sizeof(text)), 7);
    assert_string_equal(text, "a\r\nb\tc!");
    assert_int_equal(message(FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_IGNORE_INSERTS, "%1 %n",
                         text, sizeof(text)),
        5);
    assert_string_equal(text, "%1 \r\n"); /* the other sequences are none of the inserts */
    assert_int_equal(FormatMessageA(FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_ARGUMENT_ARRAY,
                         "%1 %2!u! %3!c!x", 0, 0, text, sizeof(text), (va_list *)array),
        8);
    assert_int_equal(
        wide_message(L"%1 %2!d! %3!S!", wide, _countof(wide), L"wide", 5, "narrow"), 13);
    assert_wide_equal(wide, L"wide 5 narrow");
    assert_fails(FormatMessageA(FORMAT_MESSAGE_FROM_STRING, "%1", 0, 0, text, sizeof(text), NULL),
        SPEC_ERROR_INVALID_PARAMETER);
}

static void test_local_memory(void **state)
{
    BYTE *memory = LocalAlloc(LPTR, 100);

    (void)state;
    assert_non_null(memory);
    for (int i = 0; i < 100; i++)
        assert_int_equal(memory[i], 0);
    assert_null(LocalFree(memory));
    assert_non_null(memory = LocalAlloc(LMEM_FIXED | LMEM_ZEROINIT, 10));
    assert_null(LocalFree(memory));
    assert_null(LocalFree(NULL));
}

static void test_debugging(void **state)
{
    (void)state;
    assert_false(IsDebuggerPresent());
    OutputDebugStringA("narrow text for a debugger\n");
    OutputDebugStringW(L"wide text for a debugger\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_module_file_names),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_environment_as_one_block),
#ifndef _WIN32
        cmocka_unit_test(test_a_block_has_variables_alone),
#endif
        cmocka_unit_test(test_messages_of_codes),
#ifndef _WIN32
        cmocka_unit_test(test_messages_of_networkdirect_codes),
#endif
        cmocka_unit_test(test_messages_with_inserts),
        cmocka_unit_test(test_local_memory),
        cmocka_unit_test(test_debugging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
