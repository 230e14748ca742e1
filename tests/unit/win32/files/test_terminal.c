/* SPDX-License-Identifier: MIT */
/* test_terminal.c - consoles as files. The program starts itself in a session of its own, on a pseudo-terminal. */
#include "tests/unit/winobj/constants.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program;

/* In the process on the terminal. */
#define check(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s (last error %u)\n", __FILE__, __LINE__, #condition,         \
                (unsigned)GetLastError());                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define check_fails(call, error)                                                                   \
    do {                                                                                           \
        SetLastError(0xdead);                                                                      \
        check(!(call));                                                                            \
        check(GetLastError() == (error));                                                          \
    } while (0)

static void modes(HANDLE in, HANDLE out)
{
    DWORD mode = 0, done;
    char key = 0;

    check(GetConsoleMode(in, &mode) && mode == 0x207);
    check_fails(SetConsoleMode(in, 0x204), SPEC_ERROR_INVALID_PARAMETER); /* echo without lines */
    check_fails(SetConsoleMode(in, 0x217), SPEC_ERROR_INVALID_PARAMETER); /* the mouse */
    check(GetConsoleMode(in, &mode) && mode == 0x207);
    check(SetConsoleMode(in, 0x200));
    check(GetConsoleMode(in, &mode) && mode == 0x200);
    check(WriteConsoleA(out, "1>", 2, &done, NULL) && done == 2);
    check(ReadConsoleA(in, &key, 1, &done, NULL) && done == 1 && key == 'x'); /* without a line */
    check(SetConsoleMode(in, 0x207));
    check(GetConsoleMode(out, &mode) && mode == 0x7);
    check_fails(SetConsoleMode(out, 0x17), SPEC_ERROR_INVALID_PARAMETER);
    check(SetConsoleMode(out, 0xf));
    check(GetConsoleMode(out, &mode) && mode == 0xf);
    check(WriteConsoleA(out, "a\nb", 3, NULL, NULL));
    check(SetConsoleMode(out, 0x7));
}

static void text(HANDLE in, HANDLE out)
{
    CONSOLE_READCONSOLE_CONTROL control = { .nLength = sizeof(control) };
    WCHAR read[16];
    DWORD done = 0;

    check(WriteConsoleW(out, L"h\u00e9\n2>", 5, &done, NULL) && done == 5);
    check(ReadConsoleW(in, read, 1, &done, NULL) && done == 1 && read[0] == 0x20ac);
    check(ReadConsoleW(in, read, 16, &done, NULL) && done == 3);
    check(read[0] == '!' && read[1] == 0xe9 && read[2] == '\n');
    check_fails(ReadConsoleA(in, read, 1, &done, &control), SPEC_ERROR_NOT_SUPPORTED);
    check_fails(WriteConsoleA(in, "a", 1, &done, NULL), SPEC_ERROR_INVALID_HANDLE);
    check_fails(ReadConsoleA(out, read, 1, &done, NULL), SPEC_ERROR_INVALID_HANDLE);
}

#define FOUR(text) text text text text
/* Each group of three begins a character that the next one does not end. */
#define NO_UTF8    FOUR(FOUR(FOUR(FOUR("\xf0\x41\x41"))))

static void text_that_is_no_utf8(HANDLE in, HANDLE out)
{
    WCHAR read[4] = { 0, 0x5a5a };
    char octet = 0;
    DWORD done = 0;

    check(SetConsoleMode(in, 0x200));
    check(WriteConsoleA(out, "3>", 2, &done, NULL));
    check(ReadConsoleW(in, read, 1, &done, NULL) && done == 1);
    check(read[0] == 0xf0 && read[1] == 0x5a5a);
    while (octet != '\n')
        check(ReadConsoleA(in, &octet, 1, &done, NULL) && done == 1);
    check(SetConsoleMode(in, 0x207));
}

static void window(HANDLE in, HANDLE out)
{
    CONSOLE_SCREEN_BUFFER_INFO information;

    check(GetConsoleScreenBufferInfo(out, &information));
    check(information.dwSize.X == 100 && information.dwSize.Y == 30);
    check(information.srWindow.Left == 0 && information.srWindow.Top == 0);
    check(information.srWindow.Right == 99 && information.srWindow.Bottom == 29);
    check(information.dwMaximumWindowSize.X == 100 && information.dwMaximumWindowSize.Y == 30);
    check_fails(GetConsoleScreenBufferInfo(in, &information), SPEC_ERROR_INVALID_HANDLE);
}

/* The error of a mode that comes to those that a terminal begins with. */
static DWORD input_mode(DWORD mode)
{
    HANDLE in = GetStdHandle(STD_INPUT_HANDLE);
    const DWORD error = error_if(!SetConsoleMode(in, 0x207 | mode));

    check(SetConsoleMode(in, 0x207));
    return error;
}

static DWORD output_mode(DWORD mode)
{
    HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    const DWORD error = error_if(!SetConsoleMode(out, 0x7 | mode));

    check(SetConsoleMode(out, 0x7));
    return error;
}

static const struct constants constants[] = {
    TAKES("SetConsoleMode, input", input_mode, ENABLE_PROCESSED_INPUT, ENABLE_LINE_INPUT,
        ENABLE_ECHO_INPUT, ENABLE_VIRTUAL_TERMINAL_INPUT, ENABLE_INSERT_MODE,
        ENABLE_QUICK_EDIT_MODE, ENABLE_EXTENDED_FLAGS),
    REFUSES("SetConsoleMode, input", SPEC_ERROR_INVALID_PARAMETER, input_mode, ENABLE_WINDOW_INPUT,
        ENABLE_MOUSE_INPUT),
    TAKES("SetConsoleMode, output", output_mode, ENABLE_PROCESSED_OUTPUT, ENABLE_WRAP_AT_EOL_OUTPUT,
        ENABLE_VIRTUAL_TERMINAL_PROCESSING, DISABLE_NEWLINE_AUTO_RETURN),
};

static HANDLE called;
static volatile LONG events[3];

static BOOL WINAPI on_event(DWORD event)
{
    InterlockedIncrement(&events[event]);
    SetEvent(called);
    return TRUE;
}

static void own_events(void)
{
    called = CreateEventA(NULL, FALSE, FALSE, NULL);
    check(SetConsoleCtrlHandler(on_event, TRUE));
    check(GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0));
    check(WaitForSingleObject(called, LONG_MS) == WAIT_OBJECT_0 && events[0] == 1);
    check(GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, 0));
    check(WaitForSingleObject(called, LONG_MS) == WAIT_OBJECT_0 && events[1] == 1);
    check_fails(GenerateConsoleCtrlEvent(CTRL_CLOSE_EVENT, 0), SPEC_ERROR_INVALID_PARAMETER);
    check_fails(
        GenerateConsoleCtrlEvent(CTRL_C_EVENT, (DWORD)getpid()), SPEC_ERROR_INVALID_PARAMETER);
    check_fails(
        GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, 0x7ffffffe), SPEC_ERROR_INVALID_PARAMETER);
    check(SetConsoleCtrlHandler(on_event, FALSE));
    check(CloseHandle(called));
}

static int on_terminal(void)
{
    HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD mode;

    check(GetFileType(in) == FILE_TYPE_CHAR);
    modes(in, out);
    check(constants_hold(constants, sizeof(constants) / sizeof(constants[0])));
    text(in, out);
    text_that_is_no_utf8(in, out);
    window(in, out);
    in = CreateFileA("CONIN$", GENERIC_READ | GENERIC_WRITE, 3, NULL, OPEN_EXISTING, 0, NULL);
    out = CreateFileA("conout$", GENERIC_READ | GENERIC_WRITE, 3, NULL, OPEN_EXISTING, 0, NULL);
    check(in != INVALID_HANDLE_VALUE && out != INVALID_HANDLE_VALUE);
    check(GetConsoleMode(in, &mode) && mode == 0x207);
    check(GetConsoleMode(out, &mode) && mode == 0x7);
    window(in, out);
    check(CloseHandle(in) && CloseHandle(out));
    own_events();
    return 7;
}

/* Everything that the process writes; answers its prompts. */
static void drive(int master, char *said, size_t room)
{
    static const char *const prompts[] = { "1>", "2>", "3>" };
    static const char *const answers[] = { "x", "\u20ac!\u00e9\n", NO_UTF8 "\n" };
    size_t length = 0;
    unsigned next = 0;
    ssize_t n;

    while (length + 1 < room && (n = read(master, said + length, room - length - 1)) > 0) {
        said[length += (size_t)n] = 0;
        if (next < 3 && strstr(said, prompts[next])) {
            assert_true(write(master, answers[next], strlen(answers[next])) > 0);
            next++;
        }
    }
}

static void test_a_process_on_a_terminal(void **state)
{
    const struct winsize size = { .ws_col = 100, .ws_row = 30 };
    char *arguments[] = { (char *)program, "terminal", NULL }, said[4096] = "";
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), status = 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;

    (void)state;
    assert_true(master >= 0);
    assert_int_equal(grantpt(master) | unlockpt(master), 0);
    assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, ptsname(master), O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    assert_int_equal(posix_spawn(&child, program, &actions, &attributes, arguments, environ), 0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    drive(master, said, sizeof(said));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_non_null(strstr(said, "1>a\nbh\u00e9\r\n2>"));
    close(master);
}

static void test_what_is_no_console(void **state)
{
    HANDLE reads, writes;
    DWORD mode, done;
    char text[4];

    (void)state;
    assert_true(CreatePipe(&reads, &writes, NULL, 0));
    assert_fails(GetConsoleMode(reads, &mode), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(SetConsoleMode(writes, 1), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(ReadConsole(reads, text, 1, &done, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(WriteConsole(writes, text, 1, &done, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(GetConsoleMode((HANDLE)0x12345670, &mode), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(reads));
    assert_true(CloseHandle(writes));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_process_on_a_terminal),
        cmocka_unit_test(test_what_is_no_console),
    };

    program = argv[0];
    if (argc > 1 && !strcmp(argv[1], "terminal"))
        return on_terminal();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
