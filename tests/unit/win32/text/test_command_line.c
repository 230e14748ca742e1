/* SPDX-License-Identifier: MIT */
/*
 * test_command_line.c - the process's own command line, and the arguments of one as Windows' shell finds them (Wine
 * gives the same); wsprintf.
 */
#include "tests/support/win32_test.h"

#include <shellapi.h>
#ifndef _WIN32
#include <unistd.h>
#endif

static int same(const WCHAR *a, const WCHAR *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static void test_arguments_of_a_line(void **state)
{
    static const struct {
        const WCHAR *line;
        int count;
        const WCHAR *arguments[4];
    } rows[] = {
        { L"program", 1, { L"program" } },
        { L"program one  two\t3", 4, { L"program", L"one", L"two", L"3" } },
        { L"\"a b\\\"c d", 3, { L"a b\\", L"c", L"d" } },
        { L" first", 2, { L"", L"first" } },
        { L"p \"a b\" c\"d e\"f", 3, { L"p", L"a b", L"cd ef" } },
        { L"p a\\\\b \\\"c \\\\\"d e\\\\\"", 4, { L"p", L"a\\\\b", L"\"c", L"\\d e\\" } },
        { L"p \"\" x", 3, { L"p", L"", L"x" } },
        { L"p \"a\"\"b\" c", 2, { L"p", L"a\"b c" } },
        { L"p \"\"\"a\"\"\" b", 3, { L"p", L"\"a\"", L"b" } },
        { L"p \\\\\\\"q\\", 2, { L"p", L"\\\"q\\" } },
    };

    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(rows); i++) {
        int count = -1;
        LPWSTR *arguments = CommandLineToArgvW(rows[i].line, &count);

        assert_non_null(arguments);
        assert_int_equal(count, rows[i].count);
        for (int k = 0; k < count; k++)
            assert_true(same(arguments[k], rows[i].arguments[k]));
        assert_null(arguments[count]);
        assert_null(LocalFree(arguments));
    }
}

static void test_an_empty_line_is_the_program(void **state)
{
    WCHAR own[MAX_PATH];
    int count = -1;
    LPWSTR *arguments = CommandLineToArgvW(L"", &count);

    (void)state;
    assert_true(GetModuleFileNameW(NULL, own, MAX_PATH));
    assert_non_null(arguments);
    assert_int_equal(count, 1);
    assert_true(same(arguments[0], own));
    LocalFree(arguments);
    SetLastError(0);
    assert_null(CommandLineToArgvW(L"p", NULL));
    assert_int_equal(GetLastError(), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_own_command_line(void **state)
{
    const char *narrow = GetCommandLineA();
    const WCHAR *wide = GetCommandLineW();
    size_t i = 0;

    (void)state;
    assert_ptr_equal(GetCommandLineA(), narrow);
    assert_ptr_equal(GetCommandLineW(), wide);
    assert_ptr_equal(GetCommandLine(), narrow);
    assert_non_null(strstr(narrow, "command_line"));
    for (; narrow[i]; i++)
        assert_int_equal(wide[i], narrow[i]);
    assert_int_equal(wide[i], 0);
}

#ifndef _WIN32 /* the test starts itself by exec */
/* A process with such arguments: its command line gives them back. */
static void test_own_arguments_come_back(void **state)
{
    int count;
    LPWSTR *arguments = CommandLineToArgvW(GetCommandLineW(), &count);

    (void)state;
    assert_non_null(arguments);
    assert_int_equal(count, 6);
    assert_true(same(arguments[1], L""));
    assert_true(same(arguments[2], L"a b\\"));
    assert_true(same(arguments[3], L"c\\\"d"));
    assert_true(same(arguments[4], L"\\\\e"));
    assert_true(same(arguments[5], L"gr\u00fc\u00df"));
    LocalFree(arguments);
}
#endif

static void test_text_of_user32(void **state)
{
    char narrow[1100];
    WCHAR wide[1100];

    (void)state;
    assert_int_equal(wsprintfA(narrow, "%d %s %#x %c %ls", -3, "text", 255, 'z', L"wide"), 19);
    assert_string_equal(narrow, "-3 text 0xff z wide");
    assert_int_equal(wsprintfW(wide, L"%u %s %S %04lX", 3u, L"text", "narrow", (DWORD)0xab), 18);
    assert_true(same(wide, L"3 text narrow 00AB"));
    assert_int_equal(wsprintf(narrow, "%s", "short"), 5);
    memset(narrow, 'x', sizeof(narrow));
    assert_int_equal(wsprintfA(narrow, "%1200d", 7), 1024);
    assert_int_equal(narrow[1023], 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments_of_a_line),
        cmocka_unit_test(test_an_empty_line_is_the_program),
        cmocka_unit_test(test_own_command_line),
        cmocka_unit_test(test_text_of_user32),
    };
#ifndef _WIN32 /* as above */
    const struct CMUnitTest again[] = { cmocka_unit_test(test_own_arguments_come_back) };
    char *arguments[] = { argv[0], "", "a b\\", "c\\\"d", "\\\\e", "gr\u00fc\u00df", NULL };

    if (argc == 6)
        return cmocka_run_group_tests(again, NULL, NULL);
    if (cmocka_run_group_tests(tests, NULL, NULL))
        return 1;
    execv(argv[0], arguments);
    return 1;
#else
    (void)argc;
    (void)argv;
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
