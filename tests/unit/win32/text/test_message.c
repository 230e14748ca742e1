/* SPDX-License-Identifier: MIT */
/* test_message.c - FormatMessage: escapes, line ends, widths, and words for every code that the headers have. */
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

/* A row: flags, the message, its one insert, what it becomes; NULL: 0 with the error. As Wine answers. */
struct message_row {
    DWORD flags;
    const char *format, *insert, *expected;
    DWORD error;
};

enum { KEEP = FORMAT_MESSAGE_IGNORE_INSERTS };

static const struct message_row escapes[] = {
    { 0, "a%bb", "", "abb", 0 },
    { 0, "a%%b", "", "a%b", 0 },
    { 0, "a%!b%.c% d", "", "a!b.c d", 0 },
    { 0, "a%0b", "", "a", 0 },
    { 0, "a%tb", "", "a\tb", 0 },
    { 0, "a%1b", "one", "aoneb", 0 },
    { 0, "%1!s!!", "one", "one!", 0 },
    { 0, "%1!", "one", NULL, SPEC_ERROR_INVALID_PARAMETER },
    { 0, "%1!d", "one", NULL, SPEC_ERROR_INVALID_PARAMETER },
    { 0, "a%", "", NULL, SPEC_ERROR_INVALID_PARAMETER },
    { 0, "", "", NULL, SPEC_ERROR_NO_WORK_DONE },
    { 0, "%0rest", "", NULL, SPEC_ERROR_NO_WORK_DONE },
    { 0, "%1", "", NULL, SPEC_ERROR_NO_WORK_DONE },
    { KEEP, "a%bb", "", "a%bb", 0 },
    { KEEP, "a%%b", "", "a%%b", 0 },
    { KEEP, "a%!b%.c% d%x", "", "a%!b%.c% d%x", 0 },
    { KEEP, "%1!d %1! %2", "", "%1!d %1! %2", 0 },
    { KEEP, "a%nb%tc%rd", "", "a\r\nb\tc\rd", 0 },
    { KEEP, "a%0b", "", "a", 0 },
    { KEEP, "a%", "", NULL, SPEC_ERROR_INVALID_PARAMETER },
    { KEEP, "", "", NULL, SPEC_ERROR_NO_WORK_DONE },
};

static const struct message_row widths[] = {
    { 10, "aaa bbb ccc ddd eee fff", "", "aaa bbb\r\nccc ddd\r\neee fff", 0 },
    { 10, "aaaaaaaaaaaaaaaaaaaaaaaaa", "", "aaaaaaaaaa\r\naaaaaaaaaa\r\naaaaa", 0 },
    { 10, "aaaaaaaaaa", "", "aaaaaaaaaa\r\n", 0 },
    { 10, "aaaa bbbbb", "", "aaaa\r\nbbbbb", 0 },
    { 10, "aaaaaaaaaa bbb", "", "aaaaaaaaaa\r\n bbb", 0 },
    { 10, "aaa  bbb  ccc  ddd", "", "aaa  bbb\r\nccc  ddd", 0 },
    { 10, "aaaa      bbbb", "", "aaaa\r\nbbbb", 0 },
    { 10, "aaaa       bbbb", "", "aaaa\r\n bbbb", 0 },
    { 10, "          ", "", "\r\n", 0 },
    { 10, "            x", "", "\r\n  x", 0 },
    { 10, "aaa bbb ccc    ", "", "aaa bbb\r\nccc    ", 0 },
    { 10, "aaa-bbbb-cccc", "", "aaa-bbbb-c\r\nccc", 0 },
    { 10, "aaa\tbbb\tccc ddd", "", "aaa\tbbb\tcc\r\nc ddd", 0 },
    { 10, "aaa% bbb% ccc% ddd", "", "aaa bbb cc\r\nc ddd", 0 },
    { 10, "aaa bbb\nccc ddd", "", "aaa bbb\r\nccc ddd", 0 },
    { 10, "a\n\nb\r\nc", "", "a  b c", 0 },
    { 10, "aaa bbb\r\n", "", "aaa bbb ", 0 },
    { 10, "aaa%nbbb ccc ddd", "", "aaa\r\nbbb ccc\r\nddd", 0 },
    { 10, "aaa%rbbb ccc ddd", "", "aaa\rbbb ccc\r\nddd", 0 },
    { 10, "a%tb", "", "a\r\nb", 0 },
    { 10, "aaa %1 bbb ccc", "one two three", "aaa\r\none two three\r\nbbb ccc", 0 },
    { 10, "aa  %1  bb cc", "one two three", "aa\r\none two three\r\n bb cc", 0 },
    { 10, "%1", "aaa\nbbb ccc ddd", "aaa\nbbb ccc ddd\r\n", 0 },
    { 10, "%1 %1", "one two three", "one two three\r\n\r\none two three", 0 },
    { 10, "aaa %1%1 bbb", "x x", "aaa\r\nx xx x\r\nbbb", 0 },
    { 10 | KEEP, "aaa%bbbb%bccc%bddd", "", "aaa%bbbb%b\r\nccc%bddd", 0 },
    { 1, "ab c", "", "a\r\nb\r\n\r\nc\r\n", 0 },
    { 3, "aaa bbb cc d eeee ff", "", "aaa\r\n\r\nbbb\r\n\r\ncc\r\nd\r\neee\r\ne\r\nff", 0 },
    { 254, "aaa bbb", "", "aaa bbb", 0 },
    { 255, "aaa\nbbb%n%1\r\n", "c\nd", "aaa bbb\r\nc\nd ", 0 },
    { 255, "a%tb", "", "a\r\nb", 0 },
};

static DWORD narrow_message(char *text, DWORD size, const struct message_row *row, ...)
{
    va_list arguments;
    DWORD length;

    va_start(arguments, row);
    length = FormatMessageA(
        FORMAT_MESSAGE_FROM_STRING | row->flags, row->format, 0, 0, text, size, &arguments);
    va_end(arguments);
    return length;
}

static DWORD wide_message(WCHAR *text, DWORD size, const struct message_row *row, ...)
{
    WCHAR format[64];
    va_list arguments;
    DWORD length;

    for (size_t i = 0; i == 0 || row->format[i - 1]; i++)
        format[i] = (unsigned char)row->format[i];
    va_start(arguments, row);
    length = FormatMessageW(
        FORMAT_MESSAGE_FROM_STRING | row->flags, format, 0, 0, text, size, &arguments);
    va_end(arguments);
    return length;
}

static void check_row(const struct message_row *row)
{
    const DWORD expected = row->expected ? (DWORD)strlen(row->expected) : 0;
    WCHAR wide[128], insert[32];
    char text[128], narrowed[128];
    DWORD length;

    for (size_t i = 0; i == 0 || row->insert[i - 1]; i++)
        insert[i] = (unsigned char)row->insert[i];
    SetLastError(0xdead);
    length = narrow_message(text, sizeof(text), row, row->insert);
    if (length != expected || (expected && strcmp(text, row->expected)) ||
        (!expected && GetLastError() != row->error))
        fail_msg("width %u, %s: %u characters, error %u: %s", (unsigned)(row->flags & 255),
            row->format, (unsigned)length, (unsigned)GetLastError(), length ? text : "");
    SetLastError(0xdead);
    length = wide_message(wide, _countof(wide), row, insert);
    for (DWORD i = 0; i <= length && length; i++)
        narrowed[i] = (char)wide[i];
    if (length != expected || (expected && strcmp(narrowed, row->expected)) ||
        (!expected && GetLastError() != row->error))
        fail_msg("wide, width %u, %s: %u characters, error %u", (unsigned)(row->flags & 255),
            row->format, (unsigned)length, (unsigned)GetLastError());
}

static void escapes_become_what_windows_makes_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < _countof(escapes); i++)
        check_row(&escapes[i]);
}

static void lines_are_as_long_as_the_width_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < _countof(widths); i++)
        check_row(&widths[i]);
}

static void an_empty_message_is_no_work_done(void **state)
{
    char *allocated = (char *)1;

    (void)state;
    assert_fails(FormatMessageA(FORMAT_MESSAGE_FROM_STRING | FORMAT_MESSAGE_ALLOCATE_BUFFER, "", 0,
                     0, (char *)&allocated, 0, NULL),
        SPEC_ERROR_NO_WORK_DONE);
    assert_null(allocated);
}

static void a_message_has_to_fit_with_its_end(void **state)
{
    char text[8];

    (void)state;
    assert_fails(FormatMessageA(FORMAT_MESSAGE_FROM_STRING, "abcd", 0, 0, text, 4, NULL),
        SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(FormatMessageA(FORMAT_MESSAGE_FROM_STRING, "abcd", 0, 0, text, 5, NULL), 4);
    assert_string_equal(text, "abcd");
}

#ifndef _WIN32 /* how many octets a character has is the code page's */
static void a_width_counts_characters(void **state)
{
    char text[64];

    (void)state;
    assert_true(FormatMessageA(FORMAT_MESSAGE_FROM_STRING | 10,
        "\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4", 0, 0, text,
        sizeof(text), NULL));
    assert_string_equal(
        text, "\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\r\n\xc3\xa4\xc3\xa4");
}
#endif

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
    ERROR_NO_WORK_DONE,
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
        cmocka_unit_test(escapes_become_what_windows_makes_of_them),
        cmocka_unit_test(lines_are_as_long_as_the_width_says),
        cmocka_unit_test(an_empty_message_is_no_work_done),
        cmocka_unit_test(a_message_has_to_fit_with_its_end),
#ifndef _WIN32 /* code pages; Wine has no words for some */
        cmocka_unit_test(a_width_counts_characters),
        cmocka_unit_test(every_code_has_words),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
