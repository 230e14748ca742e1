/* SPDX-License-Identifier: MIT */
/* test_exit.c - ends of a process. The program runs itself, with the name of the end as argument. */
#include "tests/support/win32_test.h"

#include "tests/support/run_self.h"

#include <stdio.h>
#include <stdlib.h>
#ifndef _WIN32 /* pipes between threads */
#include <unistd.h>
#endif
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

static const char *program, *output;

static int run(const char *how)
{
    return run_self(program, how, output);
}

/* What the child wrote to the output. */
static const char *written(void)
{
    static char text[64];
    FILE *stream = fopen(output, "r");
    size_t length = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;

    if (stream)
        fclose(stream);
    remove(output);
    text[length] = 0;
    return text;
}

static FILE *out;

static void at_exit(void)
{
    fputs("handler ", out);
}

static DWORD WINAPI read_for_ever(LPVOID event)
{
    char line[16];
#ifdef _WIN32
    HANDLE never = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)line;
    SetEvent(event);
    WaitForSingleObject(never, INFINITE);
#else
    int ends[2];
    FILE *stream = pipe(ends) ? NULL : fdopen(ends[0], "r");

    flockfile(stream); /* as fgets does, which then blocks */
    SetEvent(event);
    if (fgets(line, sizeof(line), stream))
        funlockfile(stream);
#endif
    return 0;
}

static int child(const char *how, const char *file)
{
    if (!(out = fopen(file, "w")))
        return 99;
    atexit(at_exit);
    fputs("text ", out);
    if (!strcmp(how, "exit"))
        ExitProcess(7);
    if (!strcmp(how, "exit-high"))
        ExitProcess(0x12345603);
    if (!strcmp(how, "terminate"))
        TerminateProcess(GetCurrentProcess(), 9);
    if (!strcmp(how, "exit-while-reading")) {
        HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);

        if (CreateThread(NULL, 0, read_for_ever, event, 0, NULL))
            WaitForSingleObject(event, INFINITE);
        ExitProcess(5);
    }
    return 98;
}

static void test_exit_process(void **state)
{
    (void)state;
    assert_int_equal(run("exit"), 7);
    assert_string_equal(written(), "text ");
}

static void test_exit_process_with_many_bits(void **state)
{
    (void)state;
    assert_int_equal(
        run("exit-high"), DIFFERS(3, 0x12345603, "Linux keeps 8 bits of an exit code"));
    written();
}

/* musl and glibc since 2.41 write no stream that is older than one that a thread reads. */
static BOOL stops_at_held_streams(void)
{
#ifdef _WIN32
    return FALSE;
#elif defined(__GLIBC__)
    return strverscmp(gnu_get_libc_version(), "2.41") >= 0;
#else
    return TRUE;
#endif
}

static void test_exit_process_while_a_thread_reads(void **state)
{
    (void)state;
    assert_int_equal(run("exit-while-reading"), 5);
    if (stops_at_held_streams())
        written();
    else
        assert_string_equal(written(), "text ");
}

static void test_terminate_process(void **state)
{
    (void)state;
    assert_int_equal(run("terminate"), 9);
    assert_string_equal(written(), "");
    assert_fails(TerminateProcess(NULL, 1), SPEC_ERROR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_process),
        cmocka_unit_test(test_exit_process_with_many_bits),
        cmocka_unit_test(test_exit_process_while_a_thread_reads),
        cmocka_unit_test(test_terminate_process),
    };

    if (argc > 1)
        return argc == 3 ? child(argv[1], argv[2]) : 97;
    program = argv[0];
    output = own_name("test_exit.tmp");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
