/* SPDX-License-Identifier: MIT */
/* test_other_process.c - handles of other processes, and their memory. The program starts itself. */
#include "tests/support/start_self.h"

#include <psapi.h>

#ifndef _WIN32 /* a process of another user */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#endif

static const char *program;

struct place {
    char *text;  /* 16 octets */
    char *pages; /* one to be read and written, then one that is not there */
};

/* A started process: tells where its memory is, then ends as the octet that it is sent says. */
static int child(const char *how, int from, int to)
{
    static char text[16] = "to be read";
    struct place place = { .text = text };
    char said;

#ifndef _WIN32 /* the sanitizers answer faults themselves */
    signal(SIGSEGV, SIG_DFL);
    signal(SIGFPE, SIG_DFL);
#endif
    place.pages = VirtualAlloc(NULL, 0x20000, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!place.pages || !VirtualFree(place.pages + 0x10000, 0x10000, MEM_DECOMMIT))
        return 90;
    memset(place.pages, 'p', 0x10000);
    if (!start_send(to, &place, sizeof(place)) || !start_receive(from, &said, 1))
        return 91;
    if (!strcmp(how, "check"))
        return strcmp(text, "was written") ? 92 : 33;
    if (said == 'e')
        ExitProcess(44);
    return 0;
}

static struct started start(const char *how, struct place *place)
{
    struct started self = start_self(program, how);

    assert_true(start_receive(self.from, place, sizeof(*place)));
    return self;
}

static HANDLE open_process(const struct started *self, DWORD access)
{
    HANDLE process = OpenProcess(access, FALSE, self->id);

    assert_non_null(process);
    return process;
}

static void test_a_wait_for_a_process_ends_with_it_and_finds_its_exit_code(void **state)
{
    struct place place;
    struct started self = start("exit", &place);
    HANDLE process = open_process(&self, SYNCHRONIZE | PROCESS_QUERY_INFORMATION);
    DWORD code = 0;

    (void)state;
    assert_int_equal(GetProcessId(process), self.id);
    assert_true(GetExitCodeProcess(process, &code));
    assert_int_equal(code, SPEC_STILL_ACTIVE);
    assert_wait(WaitForSingleObject(process, 0), WAIT_TIMEOUT);
    assert_true(start_send(self.to, "e", 1));
    assert_wait(WaitForSingleObject(process, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(process, 0), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(process, &code));
    assert_int_equal(code, 44);
    assert_int_equal(
        start_wait(&self), 44); /* the handle left the child to be waited for by others */
    assert_true(GetExitCodeProcess(process, &code));
    assert_int_equal(code, 44);
    assert_true(CloseHandle(process));
}

static void test_a_terminated_process_has_the_code_that_it_was_given(void **state)
{
    struct place place;
    struct started self = start("wait", &place);
    HANDLE process =
        open_process(&self, SYNCHRONIZE | PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION);
    DWORD code = 0;

    (void)state;
    assert_true(TerminateProcess(process, 0x12345678));
    assert_wait(WaitForSingleObject(process, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(process, &code));
    assert_int_equal(code, 0x12345678);
#ifndef _WIN32 /* Wine answers TRUE */
    assert_fails(TerminateProcess(process, 1), SPEC_ERROR_ACCESS_DENIED);
#endif
    assert_true(GetExitCodeProcess(process, &code));
    assert_int_equal(code, 0x12345678);
    assert_true(CloseHandle(process));
    assert_int_equal(start_wait(&self), DIFFERS(-1, 0x12345678, "Linux knows the signal alone"));
}

static void test_a_right_that_a_handle_lacks_is_refused(void **state)
{
    struct place place;
    struct started self = start("exit", &place);
    HANDLE process = open_process(&self, SYNCHRONIZE);
    SIZE_T copied;
    DWORD code;
    char text[16];

    (void)state;
    assert_fails(TerminateProcess(process, 1), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(GetExitCodeProcess(process, &code), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(GetProcessId(process), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(
        ReadProcessMemory(process, place.text, text, 16, &copied), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(
        WriteProcessMemory(process, place.text, text, 16, &copied), SPEC_ERROR_ACCESS_DENIED);
    assert_wait(WaitForSingleObject(process, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(process));
    assert_true(start_send(self.to, "e", 1));
    assert_int_equal(start_wait(&self), 44);
}

static void test_a_process_that_is_not_there_is_an_invalid_parameter(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    DWORD code;

    (void)state;
    assert_fails(OpenProcess(PROCESS_ALL_ACCESS, FALSE, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(OpenProcess(PROCESS_ALL_ACCESS, FALSE, 0x7ffffff0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(OpenProcess(PROCESS_ALL_ACCESS, FALSE, 0xfffffff0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(GetExitCodeProcess(event, &code), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(GetExitCodeProcess(NULL, &code), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(GetProcessId(event), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(TerminateProcess(event, 1), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(event));
    assert_int_equal(GetProcessId(GetCurrentProcess()), GetCurrentProcessId());
    assert_true(GetExitCodeProcess(GetCurrentProcess(), &code));
    assert_int_equal(code, SPEC_STILL_ACTIVE);
}

static void test_memory_of_a_process_is_read_and_written(void **state)
{
    struct place place;
    struct started self = start("check", &place);
    HANDLE process = open_process(&self, PROCESS_VM_READ | PROCESS_VM_WRITE | PROCESS_VM_OPERATION);
    SIZE_T copied = 99;
    char text[16];

    (void)state;
    assert_true(ReadProcessMemory(process, place.text, text, 16, &copied));
    assert_int_equal(copied, 16);
    assert_string_equal(text, "to be read");
    assert_true(WriteProcessMemory(process, place.text, "was written", 12, NULL));
    assert_true(ReadProcessMemory(process, place.text, text, 0, &copied));
    assert_int_equal(copied, 0);
    assert_true(CloseHandle(process));
    assert_true(start_send(self.to, "e", 1));
    assert_int_equal(start_wait(&self), 33);
}

static void test_memory_that_is_not_there_is_told_from_the_callers(void **state)
{
    struct place place;
    struct started self = start("exit", &place);
    HANDLE process = open_process(&self, PROCESS_VM_READ | PROCESS_VM_WRITE | PROCESS_VM_OPERATION);
    static char text[0x20000];
    SIZE_T copied = 99;

    (void)state;
#ifndef _WIN32 /* Wine reads memory that was decommitted, and copies all or nothing */
    assert_fails(ReadProcessMemory(process, place.pages + 0x10000, text, 16, &copied),
        SPEC_ERROR_PARTIAL_COPY);
    assert_int_equal(copied, 0);
    assert_fails(
        ReadProcessMemory(process, place.pages, text, 0x20000, &copied), SPEC_ERROR_PARTIAL_COPY);
    assert_int_equal(copied, 0x10000);
    assert_int_equal(text[0xffff], 'p');
    assert_int_equal(text[0x10000], 0);
    copied = 99;
    assert_fails(WriteProcessMemory(process, place.pages + 0x8000, text, 0x10000, &copied),
        SPEC_ERROR_PARTIAL_COPY);
    assert_int_equal(copied, 0x8000);
    assert_fails(
        ReadProcessMemory(process, place.text, (void *)8, 16, &copied), SPEC_ERROR_NOACCESS);
    assert_int_equal(copied, 0);
    assert_fails(
        WriteProcessMemory(process, place.text, (void *)8, 16, &copied), SPEC_ERROR_NOACCESS);
    assert_int_equal(copied, 0);
#endif
    assert_true(start_send(self.to, "e", 1));
    assert_int_equal(start_wait(&self), 44);
#ifndef _WIN32 /* Wine answers for a process that has ended as for memory that is not there */
    assert_fails(
        ReadProcessMemory(process, place.text, text, 16, &copied), SPEC_ERROR_ACCESS_DENIED);
    assert_int_equal(copied, 0);
#endif
    assert_true(CloseHandle(process));
    assert_fails(
        ReadProcessMemory(process, place.text, text, 16, &copied), SPEC_ERROR_INVALID_HANDLE);
}

static void test_own_memory_by_the_current_process(void **state)
{
    char from[8] = "octets", to[8] = "";
    SIZE_T copied = 99;

    (void)state;
    assert_true(ReadProcessMemory(GetCurrentProcess(), from, to, sizeof(to), &copied));
    assert_int_equal(copied, 8);
    assert_string_equal(to, "octets");
    assert_true(WriteProcessMemory(GetCurrentProcess(), to, "others", 7, NULL));
    assert_string_equal(to, "others");
}

static void test_a_wait_for_several_processes(void **state)
{
    struct started selves[3];
    HANDLE handles[4];
    struct place place;

    (void)state;
    for (int i = 0; i < 3; i++) {
        selves[i] = start("exit", &place);
        handles[i] = open_process(&selves[i], SYNCHRONIZE);
    }
    handles[3] = CreateEventW(NULL, TRUE, FALSE, NULL);
    assert_true(start_send(selves[1].to, "e", 1));
    assert_wait(WaitForMultipleObjects(4, handles, FALSE, LONG_MS), WAIT_OBJECT_0 + 1);
    assert_true(start_send(selves[0].to, "e", 1));
    assert_true(start_send(selves[2].to, "e", 1));
    assert_wait(WaitForMultipleObjects(3, handles, TRUE, LONG_MS), WAIT_OBJECT_0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(start_wait(&selves[i]), 44);
        assert_true(CloseHandle(handles[i]));
    }
    assert_true(CloseHandle(handles[3]));
}

#ifndef _WIN32 /* processes of other users */
static void test_a_process_of_another_user_is_refused(void **state)
{
    struct place place;
    struct started self;
    int status;
    pid_t user;

    (void)state;
    if (geteuid()) { /* process 1 is root's */
        assert_fails(OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, 1), SPEC_ERROR_ACCESS_DENIED);
        return;
    }
    self = start("exit", &place);
    assert_true((user = fork()) >= 0);
    if (!user) {
        bool refused = !setuid(65534) && !OpenProcess(PROCESS_VM_READ, FALSE, self.id);

        _exit(refused && GetLastError() == SPEC_ERROR_ACCESS_DENIED ? 0 : 1);
    }
    assert_int_equal(waitpid(user, &status, 0), user);
    assert_int_equal(status, 0);
    assert_true(start_send(self.to, "e", 1));
    assert_int_equal(start_wait(&self), 44);
}

static void test_a_signal_is_an_exit_code(void **state)
{
    static const struct {
        int signal;
        DWORD code;
    } rows[] = { { SIGSEGV, SPEC_STATUS_ACCESS_VIOLATION },
        { SIGFPE, SPEC_STATUS_INTEGER_DIVIDE_BY_ZERO }, { SIGINT, SPEC_STATUS_CONTROL_C_EXIT },
        { SIGABRT, SPEC_STATUS_STACK_BUFFER_OVERRUN }, { SIGKILL, 137 } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct place place;
        struct started self = start("wait", &place);
        HANDLE process = open_process(&self, SYNCHRONIZE | PROCESS_QUERY_INFORMATION);
        DWORD code = 0;

        assert_int_equal(kill((pid_t)self.id, rows[i].signal), 0);
        assert_wait(WaitForSingleObject(process, LONG_MS), WAIT_OBJECT_0);
        assert_true(GetExitCodeProcess(process, &code));
        assert_int_equal(code, rows[i].code);
        assert_int_equal(start_wait(&self), -1);
        assert_true(CloseHandle(process));
    }
}
#endif

static unsigned times_listed(DWORD id)
{
    static DWORD ids[65536];
    DWORD filled = 0;
    unsigned times = 0;

    assert_true(EnumProcesses(ids, sizeof(ids), &filled));
    assert_true(filled < sizeof(ids) && filled % sizeof(*ids) == 0);
    for (DWORD i = 0; i < filled / sizeof(*ids); i++)
        times += ids[i] == id;
    return times;
}

static void test_processes_are_listed_while_they_live(void **state)
{
    struct place place;
    struct started self = start("exit", &place);
    DWORD ids[2] = { 77, 77 }, filled = 77;
    BOOL(WINAPI * function)(DWORD *, DWORD, LPDWORD);

    (void)state;
    assert_int_equal(times_listed(GetCurrentProcessId()), 1);
    assert_int_equal(times_listed(self.id), 1);
    assert_true(start_send(self.to, "e", 1));
    assert_int_equal(start_wait(&self), 44);
    assert_int_equal(times_listed(self.id), 0);
    /* There is no sign of more processes but that there is no room left. */
    assert_true(EnumProcesses(ids, 7, &filled));
    assert_int_equal(filled, 4);
    assert_true(ids[0] != 77);
    assert_int_equal(ids[1], 77);
    assert_true(EnumProcesses(NULL, 0, &filled));
    assert_int_equal(filled, 0);
#ifndef _WIN32 /* Wine writes to NULL; on Windows the name without K32 is in psapi.dll */
    assert_fails(EnumProcesses(NULL, 4, &filled), SPEC_ERROR_NOACCESS);
    assert_fails(EnumProcesses(ids, 4, NULL), SPEC_ERROR_NOACCESS);
#endif
    function = (BOOL(WINAPI *)(DWORD *, DWORD, LPDWORD))(ULONG_PTR)GetProcAddress(
        LoadLibraryA("psapi.dll"), "EnumProcesses");
    assert_non_null(function);
    assert_true(function(ids, 4, &filled));
    assert_int_equal(filled, 4);
    assert_true(EnumProcesses == K32EnumProcesses);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wait_for_a_process_ends_with_it_and_finds_its_exit_code),
        cmocka_unit_test(test_a_terminated_process_has_the_code_that_it_was_given),
        cmocka_unit_test(test_a_right_that_a_handle_lacks_is_refused),
        cmocka_unit_test(test_a_process_that_is_not_there_is_an_invalid_parameter),
        cmocka_unit_test(test_memory_of_a_process_is_read_and_written),
        cmocka_unit_test(test_memory_that_is_not_there_is_told_from_the_callers),
        cmocka_unit_test(test_own_memory_by_the_current_process),
        cmocka_unit_test(test_a_wait_for_several_processes),
        cmocka_unit_test(test_processes_are_listed_while_they_live),
#ifndef _WIN32 /* other users; signals */
        cmocka_unit_test(test_a_process_of_another_user_is_refused),
        cmocka_unit_test(test_a_signal_is_an_exit_code),
#endif
    };

    if (argc == 5 && !strcmp(argv[1], "start"))
        return child(argv[2], atoi(argv[3]), atoi(argv[4]));
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
