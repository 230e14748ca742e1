/* SPDX-License-Identifier: MIT */
/* test_console.c - SetConsoleCtrlHandler. Events are signals here, which end children of the test. */
#include "tests/support/win32_test.h"

#ifndef _WIN32 /* events come by signals here, by a console there */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static HANDLE called;
static volatile LONG calls[2];
static DWORD caller;

static BOOL WINAPI first(DWORD event)
{
    if (event == CTRL_C_EVENT)
        InterlockedIncrement(&calls[0]);
    SetEvent(called);
    return TRUE;
}

static BOOL WINAPI second(DWORD event)
{
    caller = GetCurrentThreadId();
    InterlockedIncrement(&calls[1]);
    return event == CTRL_BREAK_EVENT;
}

static void test_handlers_are_called_last_added_first(void **state)
{
    (void)state;
    assert_non_null(called = CreateEventW(NULL, FALSE, FALSE, NULL));
    assert_true(SetConsoleCtrlHandler(first, TRUE));
    assert_true(SetConsoleCtrlHandler(second, TRUE));
    assert_int_equal(raise(SIGINT), 0);
    assert_wait(WaitForSingleObject(called, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(calls[0], 1);
    assert_int_equal(calls[1], 1);
    assert_int_not_equal(caller, GetCurrentThreadId());
    assert_true(SetConsoleCtrlHandler(second, FALSE));
    assert_int_equal(raise(SIGINT), 0);
    assert_wait(WaitForSingleObject(called, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(calls[0], 2);
    assert_int_equal(calls[1], 1);
    assert_true(SetConsoleCtrlHandler(NULL, TRUE)); /* ignored */
    assert_int_equal(raise(SIGINT), 0);
    assert_wait(WaitForSingleObject(called, 50), WAIT_TIMEOUT);
    assert_true(SetConsoleCtrlHandler(NULL, FALSE));
    assert_int_equal(raise(SIGINT), 0);
    assert_wait(WaitForSingleObject(called, LONG_MS), WAIT_OBJECT_0);
    assert_true(SetConsoleCtrlHandler(first, FALSE));
    assert_true(CloseHandle(called));
}

static BOOL WINAPI refuse(DWORD event)
{
    fprintf(stdout, "event %lu\n", event);
    return FALSE;
}

static BOOL WINAPI accept_all(DWORD event)
{
    fprintf(stdout, "event %lu\n", event);
    return TRUE;
}

/* The signal that ends a child which sends it to itself with this handler; what the child wrote. */
static int ended_by(int number, PHANDLER_ROUTINE handler, char *text, size_t room)
{
    int ends[2], status = 0;
    ssize_t length;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    if (!(child = fork())) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[1]);
        alarm(LONG_MS / 1000);
        if (handler && !SetConsoleCtrlHandler(handler, TRUE))
            _exit(99);
        raise(number);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    length = read(ends[0], text, room - 1);
    text[length > 0 ? length : 0] = 0;
    close(ends[0]);
    assert_true(WIFSIGNALED(status));
    return WTERMSIG(status);
}

static void test_unhandled_events_end_the_process(void **state)
{
    char text[64];

    (void)state;
    assert_int_equal(ended_by(SIGINT, NULL, text, sizeof(text)), SIGINT);
    assert_int_equal(ended_by(SIGINT, refuse, text, sizeof(text)), SIGINT);
    assert_string_equal(text, "event 0\n"); /* written out at the end */
    assert_int_equal(ended_by(SIGTERM, refuse, text, sizeof(text)), SIGTERM);
    assert_string_equal(text, "event 2\n");
    assert_int_equal(ended_by(SIGHUP, refuse, text, sizeof(text)), SIGHUP);
    assert_string_equal(text, "event 2\n");
    assert_int_equal(ended_by(SIGQUIT, refuse, text, sizeof(text)), SIGQUIT);
    assert_string_equal(text, "event 1\n");
    assert_int_equal(ended_by(SIGTERM, accept_all, text, sizeof(text)),
        SIGTERM); /* a close is one all the same */
    assert_string_equal(text, "event 2\n");
}
#endif

static BOOL WINAPI no_event(DWORD event)
{
    (void)event;
    return FALSE;
}

static void test_adding_and_removing(void **state)
{
    (void)state;
    assert_fails(SetConsoleCtrlHandler(no_event, FALSE), SPEC_ERROR_INVALID_PARAMETER);
    assert_true(SetConsoleCtrlHandler(no_event, TRUE));
    assert_true(SetConsoleCtrlHandler(no_event, TRUE));
    assert_true(SetConsoleCtrlHandler(no_event, FALSE));
    assert_true(SetConsoleCtrlHandler(no_event, FALSE));
    assert_fails(SetConsoleCtrlHandler(no_event, FALSE), SPEC_ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef _WIN32
        cmocka_unit_test(test_unhandled_events_end_the_process),
        cmocka_unit_test(test_handlers_are_called_last_added_first),
#endif
        cmocka_unit_test(test_adding_and_removing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
