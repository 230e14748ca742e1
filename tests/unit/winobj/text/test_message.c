/* SPDX-License-Identifier: MIT */
/* test_message.c - FormatMessage: line ends, and words for every code that the headers have. */
#include "tests/support/win32_test.h"

static void assert_message(const char *format, const char *expected)
{
    char text[64];

    assert_int_equal(
        FormatMessageA(FORMAT_MESSAGE_FROM_STRING, format, 0, 0, text, sizeof(text), NULL),
        strlen(expected));
    assert_string_equal(text, expected);
}

static void lines_end_as_windows_has_them(void **state)
{
    (void)state;
    assert_message("a\nb", "a\r\nb");
    assert_message("a\r\nb", "a\r\nb");
    assert_message("a\rb", "a\r\nb");
    assert_message("a\n\nb\n", "a\r\n\r\nb\r\n");
    assert_message("a%nb", "a\r\nb");
    assert_message("a%rb", "a\rb");
}

#ifndef _WIN32 /* Wine has no words for some */
static const DWORD codes[] = {
    ERROR_SUCCESS,
    ERROR_INVALID_FUNCTION,
    ERROR_FILE_NOT_FOUND,
    ERROR_PATH_NOT_FOUND,
    ERROR_TOO_MANY_OPEN_FILES,
    ERROR_ACCESS_DENIED,
    ERROR_INVALID_HANDLE,
    ERROR_NOT_ENOUGH_MEMORY,
    ERROR_INVALID_ACCESS,
    ERROR_INVALID_DATA,
    ERROR_OUTOFMEMORY,
    ERROR_NO_MORE_FILES,
    ERROR_NOT_READY,
    ERROR_BAD_COMMAND,
    ERROR_CRC,
    ERROR_BAD_LENGTH,
    ERROR_GEN_FAILURE,
    ERROR_SHARING_VIOLATION,
    ERROR_LOCK_VIOLATION,
    ERROR_HANDLE_EOF,
    ERROR_NOT_SUPPORTED,
    ERROR_REM_NOT_LIST,
    ERROR_DUP_NAME,
    ERROR_BAD_NETPATH,
    ERROR_NETWORK_BUSY,
    ERROR_BAD_NET_RESP,
    ERROR_UNEXP_NET_ERR,
    ERROR_NETNAME_DELETED,
    ERROR_BAD_NET_NAME,
    ERROR_TOO_MANY_NAMES,
    ERROR_REQ_NOT_ACCEP,
    ERROR_FILE_EXISTS,
    ERROR_ALREADY_ASSIGNED,
    ERROR_INVALID_PARAMETER,
    ERROR_BROKEN_PIPE,
    ERROR_BUFFER_OVERFLOW,
    ERROR_DISK_FULL,
    ERROR_SEM_TIMEOUT,
    ERROR_INSUFFICIENT_BUFFER,
    ERROR_INVALID_NAME,
    ERROR_MOD_NOT_FOUND,
    ERROR_PROC_NOT_FOUND,
    ERROR_NEGATIVE_SEEK,
    ERROR_DIR_NOT_EMPTY,
    ERROR_NOT_LOCKED,
    ERROR_BAD_ARGUMENTS,
    ERROR_BUSY,
    ERROR_ALREADY_EXISTS,
    ERROR_BAD_EXE_FORMAT,
    ERROR_ENVVAR_NOT_FOUND,
    ERROR_FILENAME_EXCED_RANGE,
    ERROR_BAD_PIPE,
    ERROR_PIPE_BUSY,
    ERROR_NO_DATA,
    ERROR_PIPE_NOT_CONNECTED,
    ERROR_MORE_DATA,
    ERROR_NO_MORE_ITEMS,
    ERROR_DIRECTORY,
    ERROR_NOT_OWNER,
    ERROR_TOO_MANY_POSTS,
    ERROR_PARTIAL_COPY,
    ERROR_MR_MID_NOT_FOUND,
    ERROR_INVALID_ADDRESS,
    ERROR_ARITHMETIC_OVERFLOW,
    ERROR_PIPE_CONNECTED,
    ERROR_PIPE_LISTENING,
    ERROR_OBJECT_NAME_EXISTS,
    ERROR_ABANDONED_WAIT_0,
    ERROR_ABANDONED_WAIT_63,
    ERROR_OPERATION_ABORTED,
    ERROR_IO_INCOMPLETE,
    ERROR_IO_PENDING,
    ERROR_NOACCESS,
    ERROR_STACK_OVERFLOW,
    ERROR_INVALID_FLAGS,
    ERROR_NO_TOKEN,
    ERROR_NO_UNICODE_TRANSLATION,
    ERROR_DLL_INIT_FAILED,
    ERROR_IO_DEVICE,
    ERROR_POSSIBLE_DEADLOCK,
    ERROR_MAPPED_ALIGNMENT,
    ERROR_OLD_WIN_VERSION,
    ERROR_DEVICE_NOT_CONNECTED,
    ERROR_NOT_FOUND,
    ERROR_INVALID_NETNAME,
    ERROR_CANCELLED,
    ERROR_CONNECTION_REFUSED,
    ERROR_GRACEFUL_DISCONNECT,
    ERROR_ADDRESS_ALREADY_ASSOCIATED,
    ERROR_ADDRESS_NOT_ASSOCIATED,
    ERROR_CONNECTION_INVALID,
    ERROR_CONNECTION_ACTIVE,
    ERROR_NETWORK_UNREACHABLE,
    ERROR_HOST_UNREACHABLE,
    ERROR_PROTOCOL_UNREACHABLE,
    ERROR_PORT_UNREACHABLE,
    ERROR_REQUEST_ABORTED,
    ERROR_CONNECTION_ABORTED,
    ERROR_RETRY,
    ERROR_INCORRECT_ADDRESS,
    ERROR_ALREADY_INITIALIZED,
    ERROR_INTERNAL_ERROR,
    ERROR_NO_SYSTEM_RESOURCES,
    ERROR_COMMITMENT_LIMIT,
    ERROR_TIMEOUT,
    ERROR_INCORRECT_SIZE,
    ERROR_DEVICE_REMOVED,
    ERROR_INVALID_USER_BUFFER,
    ERROR_INVALID_STATE,
    WSAHOST_NOT_FOUND,
    WSATRY_AGAIN,
    WSANO_RECOVERY,
    WSANO_DATA,
};

static void every_code_has_words(void **state)
{
    char text[128];

    (void)state;
    for (size_t i = 0; i < _countof(codes); i++) {
        DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS,
            NULL, codes[i], 0, text, sizeof(text), NULL);

        if (length < 5 || strcmp(text + length - 3, ".\r\n"))
            fail_msg("no words for %u", (unsigned)codes[i]);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_as_windows_has_them),
#ifndef _WIN32
        cmocka_unit_test(every_code_has_words),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
