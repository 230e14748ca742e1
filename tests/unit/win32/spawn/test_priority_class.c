/* SPDX-License-Identifier: MIT */
/* test_priority_class.c - priority classes of this process, of others, of those that it starts: it starts itself. */
#include "tests/support/start_self.h"

#ifndef _WIN32 /* niceness is the host's */
#include <sys/resource.h>
#include <unistd.h>
#endif

static char program[MAX_PATH];

static const DWORD classes[] = { IDLE_PRIORITY_CLASS, BELOW_NORMAL_PRIORITY_CLASS,
    NORMAL_PRIORITY_CLASS, ABOVE_NORMAL_PRIORITY_CLASS, HIGH_PRIORITY_CLASS,
    REALTIME_PRIORITY_CLASS };

/* The place of a class in classes; 99: none. */
static int place_of(DWORD priority_class)
{
    for (int i = 0; i < 6; i++)
        if (classes[i] == priority_class)
            return i;
    return 99;
}

/* In a process of its own, since nobody without a privilege rises again. 0, or what went wrong. */
static HANDLE begin, lowered;

static DWORD WINAPI lowest(LPVOID unused)
{
    (void)unused;
    if (!SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_LOWEST))
        return 1;
    SetEvent(begin);
    WaitForSingleObject(lowered, LONG_MS);
    return GetThreadPriority(GetCurrentThread()) == THREAD_PRIORITY_LOWEST ? 0 : 2;
}

static int lower_itself(void)
{
    HANDLE self = GetCurrentProcess(), thread;
    DWORD code = 99;

    begin = CreateEventW(NULL, TRUE, FALSE, NULL);
    lowered = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (GetPriorityClass(self) != NORMAL_PRIORITY_CLASS)
        return 10;
    if (!(thread = CreateThread(NULL, 0, lowest, NULL, 0, NULL)) ||
        WaitForSingleObject(begin, LONG_MS) != WAIT_OBJECT_0)
        return 11;
    if (!SetPriorityClass(self, BELOW_NORMAL_PRIORITY_CLASS) ||
        GetPriorityClass(self) != BELOW_NORMAL_PRIORITY_CLASS)
        return 12;
    if (GetThreadPriority(GetCurrentThread()) != THREAD_PRIORITY_NORMAL)
        return 13;
#ifndef _WIN32 /* niceness is the host's */
    if (getpriority(PRIO_PROCESS, 0) != 8 || getpriority(PRIO_PROCESS, GetThreadId(thread)) != 16)
        return 14;
#endif
    SetEvent(lowered);
    if (WaitForSingleObject(thread, LONG_MS) != WAIT_OBJECT_0 ||
        !GetExitCodeThread(thread, &code) || code)
        return 15;
    if (!SetPriorityClass(self, IDLE_PRIORITY_CLASS) ||
        GetPriorityClass(self) != IDLE_PRIORITY_CLASS)
        return 16;
    /* Linux gives this to the privileged only. */
    if (SetPriorityClass(self, NORMAL_PRIORITY_CLASS))
        return GetPriorityClass(self) == NORMAL_PRIORITY_CLASS ? 0 : 17;
    return GetLastError() == ERROR_ACCESS_DENIED && GetPriorityClass(self) == IDLE_PRIORITY_CLASS
               ? 0
               : 18;
}

#ifndef _WIN32 /* Wine raises anybody's */
static DWORD WINAPI sleeper(LPVOID unused)
{
    (void)unused;
    WaitForSingleObject(lowered, LONG_MS);
    return 0;
}

/* Without a privilege nothing rises: no thread, no new process; a process begins as high as it may. */
enum {
    NOT_REACHED = 25
}; /* the other user may not start this program: it is in a folder of root's */

static int raise_without_privilege(void)
{
    const struct rlimit none = { 0, 0 };
    char command[100];
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;
    HANDLE thread;
    DWORD code = 99;

    if (setrlimit(RLIMIT_NICE, &none) || (!getuid() && setuid(65534)))
        return 20;
    if (access(program, X_OK))
        return NOT_REACHED;
    if (getpriority(PRIO_PROCESS, 0) < 0)
        return 0; /* what started so high shows nothing */
    lowered = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (!(thread = CreateThread(NULL, 0, sleeper, NULL, 0, NULL)))
        return 21;
    SetLastError(0xdead);
    if (SetPriorityClass(GetCurrentProcess(), ABOVE_NORMAL_PRIORITY_CLASS) ||
        GetLastError() != SPEC_ERROR_ACCESS_DENIED ||
        GetPriorityClass(GetCurrentProcess()) != NORMAL_PRIORITY_CLASS ||
        getpriority(PRIO_PROCESS, 0) != getpriority(PRIO_PROCESS, GetThreadId(thread)))
        return 22;
    SetEvent(lowered);
    snprintf(command, sizeof(command), "name start class 0 1");
    SetLastError(0xdead);
    if (CreateProcessA(program, command, NULL, NULL, FALSE, HIGH_PRIORITY_CLASS, NULL, NULL,
            &startup, &process) ||
        GetLastError() != SPEC_ERROR_ACCESS_DENIED)
        return 23;
    if (!SetPriorityClass(GetCurrentProcess(), BELOW_NORMAL_PRIORITY_CLASS) ||
        !CreateProcessA(program, command, NULL, NULL, FALSE, NORMAL_PRIORITY_CLASS, NULL, NULL,
            &startup, &process))
        return 24;
    if (WaitForSingleObject(process.hProcess, LONG_MS) != WAIT_OBJECT_0 ||
        !GetExitCodeProcess(process.hProcess, &code))
        return 25;
    return code == 1 ? 0 : 26;
}
#endif

static int child(const char *how, int from, int to)
{
    char said = 0;

    if (!strcmp(how, "class"))
        return place_of(GetPriorityClass(GetCurrentProcess()));
    if (!strcmp(how, "lower"))
        return lower_itself();
#ifndef _WIN32 /* Wine raises anybody's */
    if (!strcmp(how, "raise"))
        return raise_without_privilege();
#endif
    return start_send(to, "r", 1) && start_receive(from, &said, 1) ? 0 : 30;
}

static bool started_as_usual(void)
{
#ifndef _WIN32 /* niceness is the host's */
    const int here = getpriority(PRIO_PROCESS, 0);

    if (here < 0 || here > 4) {
        print_message("started at nice %d\n", here);
        return false;
    }
#endif
    return true;
}

/* The exit code of this program, started for one purpose. */
static int run(const char *how, DWORD flags)
{
    char command[100];
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;
    DWORD code = 99;

    snprintf(command, sizeof(command), "name start %s 0 1", how);
    SetLastError(0xdead);
    if (!CreateProcessA(program, command, NULL, NULL, FALSE, flags, NULL, NULL, &startup, &process))
        return -(int)GetLastError();
    assert_wait(WaitForSingleObject(process.hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(process.hProcess, &code));
    assert_true(CloseHandle(process.hThread));
    assert_true(CloseHandle(process.hProcess));
    return (int)code;
}

static void test_the_class_of_this_process(void **state)
{
    HANDLE self = OpenProcess(SYNCHRONIZE, FALSE, GetCurrentProcessId()), event;

    (void)state;
    if (!started_as_usual())
        skip();
    assert_int_equal(GetPriorityClass(GetCurrentProcess()), NORMAL_PRIORITY_CLASS);
    assert_true(SetPriorityClass(GetCurrentProcess(), NORMAL_PRIORITY_CLASS));
    assert_fails(SetPriorityClass(GetCurrentProcess(), 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(SetPriorityClass(GetCurrentProcess(), 0x33), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(SetPriorityClass((HANDLE)0x12345670, 0x33), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        SetPriorityClass((HANDLE)0x12345670, NORMAL_PRIORITY_CLASS), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(GetPriorityClass((HANDLE)0x12345670), SPEC_ERROR_INVALID_HANDLE);
    assert_non_null(event = CreateEventW(NULL, TRUE, FALSE, NULL));
    assert_fails(GetPriorityClass(event), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(event));
    assert_fails(GetPriorityClass(self), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(SetPriorityClass(self, NORMAL_PRIORITY_CLASS), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(self));
    self = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, GetCurrentProcessId());
    assert_int_equal(GetPriorityClass(self), NORMAL_PRIORITY_CLASS);
    assert_fails(SetPriorityClass(self, NORMAL_PRIORITY_CLASS), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(self));
    self = OpenProcess(PROCESS_SET_INFORMATION, FALSE, GetCurrentProcessId());
    assert_true(SetPriorityClass(self, NORMAL_PRIORITY_CLASS));
    assert_fails(GetPriorityClass(self), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(self));
}

static void test_the_threads_keep_their_distance_to_the_class(void **state)
{
    (void)state;
    if (!started_as_usual())
        skip();
    assert_int_equal(run("lower", 0), 0);
}

static void test_a_new_process_has_the_class_of_the_flags(void **state)
{
    (void)state;
    if (!started_as_usual())
        skip();
    assert_int_equal(run("class", 0), 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            run("class", classes[i]), DIFFERS(i, 2, "the class of a new process: Wine ignores it"));
    for (int i = 3; i < 5; i++) {
        const int place = run("class", classes[i]);

        if (place != -5) /* Linux gives this to the privileged only */
            assert_int_equal(place, DIFFERS(i, 2, "the class of a new process: Wine ignores it"));
    }
    assert_int_equal(run("class", IDLE_PRIORITY_CLASS | NORMAL_PRIORITY_CLASS),
        DIFFERS(0, 2, "the class of a new process: Wine ignores it"));
}

#ifndef _WIN32 /* Wine raises anybody's */
static void test_nothing_rises_without_a_privilege(void **state)
{
    int code;

    (void)state;
    if (!started_as_usual() || (code = run("raise", 0)) == NOT_REACHED)
        skip();
    assert_int_equal(code, 0);
}
#endif

static void test_the_class_of_another_process(void **state)
{
    struct started self;
    HANDLE process;
    char said = 0;

    (void)state;
    if (!started_as_usual())
        skip();
    self = start_self(program, "wait");
    assert_true(start_receive(self.from, &said, 1));
    process = OpenProcess(PROCESS_SET_INFORMATION | PROCESS_QUERY_INFORMATION, FALSE, self.id);
    assert_non_null(process);
    assert_int_equal(GetPriorityClass(process), NORMAL_PRIORITY_CLASS);
#ifndef _WIN32 /* niceness is the host's */
    assert_int_equal(setpriority(PRIO_PROCESS, self.id, 4), 0);
    assert_int_equal(GetPriorityClass(process), NORMAL_PRIORITY_CLASS);
    assert_int_equal(setpriority(PRIO_PROCESS, self.id, 5), 0);
    assert_int_equal(GetPriorityClass(process), BELOW_NORMAL_PRIORITY_CLASS);
#endif
    assert_true(SetPriorityClass(process, BELOW_NORMAL_PRIORITY_CLASS));
    assert_int_equal(GetPriorityClass(process), BELOW_NORMAL_PRIORITY_CLASS);
    assert_int_equal(GetPriorityClass(GetCurrentProcess()), NORMAL_PRIORITY_CLASS);
#ifndef _WIN32 /* niceness is the host's */
    assert_int_equal(setpriority(PRIO_PROCESS, self.id, 12), 0);
    assert_int_equal(GetPriorityClass(process), BELOW_NORMAL_PRIORITY_CLASS);
#endif
    assert_true(SetPriorityClass(process, IDLE_PRIORITY_CLASS));
    assert_int_equal(GetPriorityClass(process), IDLE_PRIORITY_CLASS);
    assert_true(start_send(self.to, "e", 1));
    assert_int_equal(start_wait(&self), 0);
#ifndef _WIN32 /* Wine remembers the class of a process that has ended */
    assert_fails(GetPriorityClass(process), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(SetPriorityClass(process, IDLE_PRIORITY_CLASS), SPEC_ERROR_ACCESS_DENIED);
#endif
    assert_true(CloseHandle(process));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_class_of_this_process),
        cmocka_unit_test(test_the_threads_keep_their_distance_to_the_class),
        cmocka_unit_test(test_a_new_process_has_the_class_of_the_flags),
#ifndef _WIN32 /* Wine raises anybody's */
        cmocka_unit_test(test_nothing_rises_without_a_privilege),
#endif
        cmocka_unit_test(test_the_class_of_another_process),
    };

    if (!GetModuleFileNameA(NULL, program, sizeof(program)))
        return 1;
    if (argc == 5 && !strcmp(argv[1], "start"))
        return child(argv[2], atoi(argv[3]), atoi(argv[4]));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
