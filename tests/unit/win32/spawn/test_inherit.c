/* SPDX-License-Identifier: MIT */
/* test_inherit.c - handles that a new process inherits, with their numbers; STARTUPINFOEX. It starts itself. */
#include "tests/support/win32_test.h"

#include <stdio.h>
#include <stdlib.h>
#ifndef _WIN32 /* how it is done on Linux */
#include <sys/wait.h>
#include <unistd.h>
#endif

static char self[MAX_PATH];
static SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };

static HANDLE checked(HANDLE handle)
{
    assert_true(handle && handle != INVALID_HANDLE_VALUE);
    return handle;
}

/* Starts itself to do something with a handle, all inherited, or those of a list. */
static PROCESS_INFORMATION start(const char *what, HANDLE handle, HANDLE *list, DWORD count)
{
    STARTUPINFOEXA startup = { .StartupInfo.cb = sizeof(startup) };
    char command[200], memory[200];
    PROCESS_INFORMATION process;
    SIZE_T size = sizeof(memory);

    snprintf(command, sizeof(command), "name %s %llx", what, (unsigned long long)(uintptr_t)handle);
    startup.lpAttributeList = (LPPROC_THREAD_ATTRIBUTE_LIST)memory;
    assert_true(InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size));
    if (list)
        assert_true(UpdateProcThreadAttribute(startup.lpAttributeList, 0,
            PROC_THREAD_ATTRIBUTE_HANDLE_LIST, list, count * sizeof(HANDLE), NULL, NULL));
    assert_true(CreateProcessA(self, command, NULL, NULL, TRUE, EXTENDED_STARTUPINFO_PRESENT, NULL,
        NULL, &startup.StartupInfo, &process));
    DeleteProcThreadAttributeList(startup.lpAttributeList);
    return process;
}

static DWORD ended(PROCESS_INFORMATION process)
{
    DWORD code = 0;

    assert_wait(WaitForSingleObject(process.hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(process.hProcess, &code));
    assert_true(CloseHandle(process.hThread));
    assert_true(CloseHandle(process.hProcess));
    return code;
}

static DWORD run(const char *what, HANDLE handle)
{
    return ended(start(what, handle, NULL, 0));
}

static void test_event(void **state)
{
    HANDLE event = checked(CreateEventA(&inherited, TRUE, FALSE, NULL)), other;
    DWORD flags = 0;

    (void)state;
    assert_true(GetHandleInformation(event, &flags));
    assert_int_equal(flags, HANDLE_FLAG_INHERIT);
    assert_int_equal(run("set", event), 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(ResetEvent(event));
    assert_int_equal(run("again", event), 0); /* handed on twice */
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(DuplicateHandle(GetCurrentProcess(), event, GetCurrentProcess(), &other, 0, FALSE,
        DUPLICATE_SAME_ACCESS)); /* the flag is the handle's */
    assert_true(GetHandleInformation(other, &flags));
    assert_int_equal(flags, 0);
    assert_int_equal(run("set", other), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(other));
    assert_true(DuplicateHandle(
        GetCurrentProcess(), event, GetCurrentProcess(), &other, 0, TRUE, DUPLICATE_SAME_ACCESS));
    assert_true(ResetEvent(event));
    assert_int_equal(run("set", other), 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(SetHandleInformation(other, HANDLE_FLAG_INHERIT, 0));
    assert_int_equal(run("set", other), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(other));
    assert_true(CloseHandle(event));
}

/* The last handle here is closed while the process starts: what it inherits keeps the object as it was. */
static void test_event_outlives_its_first_handle(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        HANDLE event = checked(CreateEventA(&inherited, FALSE, FALSE, NULL));
        PROCESS_INFORMATION process = start("wait", event, NULL, 0);

        assert_true(SetEvent(event));
        assert_true(CloseHandle(event));
        assert_int_equal(ended(process), 0);
    }
}

static void test_objects_with_names(void **state)
{
    HANDLE mutex = checked(CreateMutexA(&inherited, FALSE, NULL)), event, opened, semaphore;
    char name[48], units[48]; /* this process's own: the test may run several times at once */
    LONG before = 77;

    (void)state;
    snprintf(name, sizeof(name), "ndspi-inherit-%u", (unsigned)GetCurrentProcessId());
    snprintf(units, sizeof(units), "Global\\%s-units", name);
    event = checked(CreateEventA(NULL, FALSE, TRUE, name));
    semaphore = checked(CreateSemaphoreA(&inherited, 0, 2, units));
    assert_int_equal(run("set", event), SPEC_ERROR_INVALID_HANDLE);
    opened = checked(OpenEventA(EVENT_MODIFY_STATE | SYNCHRONIZE, TRUE, name));
    assert_int_equal(run("wait", opened), 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_int_equal(run("release", semaphore), 0);
    assert_true(ReleaseSemaphore(semaphore, 1, &before));
    assert_int_equal(before, 1);
    assert_int_equal(
        run("release", semaphore), DIFFERS(SPEC_ERROR_TOO_MANY_POSTS & 255,
                                       SPEC_ERROR_TOO_MANY_POSTS, "exit codes have 8 bits"));
    assert_int_equal(run("acquire", mutex), 0);
    assert_wait(WaitForSingleObject(mutex, LONG_MS), WAIT_ABANDONED);
    assert_true(ReleaseMutex(mutex));
    assert_true(CloseHandle(mutex));
    assert_true(CloseHandle(semaphore));
    assert_true(CloseHandle(opened));
    assert_true(CloseHandle(event));
}

static void test_memory(void **state)
{
    const char *const names[] = { NULL, own_name("ndspi-inherit-memory") };

    (void)state;
    for (int i = 0; i < 2; i++) {
        HANDLE mapping = checked(CreateFileMappingA(
            INVALID_HANDLE_VALUE, &inherited, PAGE_READWRITE, 0, 65536, names[i]));
        char *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);

        assert_non_null(view);
        view[65535] = 'a';
        assert_int_equal(run("map", mapping), 0);
        assert_int_equal(view[65535], 'b');
        if (names[i]) { /* the other's end left the name alone */
            HANDLE again = checked(OpenFileMappingA(FILE_MAP_WRITE, FALSE, names[i]));
            assert_true(CloseHandle(again));
        }
        assert_true(UnmapViewOfFile(view));
        assert_true(CloseHandle(mapping));
    }
    assert_null(OpenFileMappingA(FILE_MAP_WRITE, FALSE, names[1]));
}

static void test_file(void **state)
{
    HANDLE file = checked(CreateFileA(own_name("ndspi_inherit_file"), GENERIC_READ | GENERIC_WRITE,
        0, &inherited, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL));
    LARGE_INTEGER at;
    char text[8];
    DWORD done = 0;

    (void)state;
    assert_true(WriteFile(file, "12", 2, &done, NULL));
    assert_int_equal(run("write", file), 0); /* where the other has left it */
    assert_true(SetFilePointerEx(file, (LARGE_INTEGER){ .QuadPart = 0 }, &at, FILE_CURRENT));
    assert_int_equal(at.QuadPart, 7);
    assert_true(SetFilePointerEx(file, (LARGE_INTEGER){ .QuadPart = 0 }, NULL, FILE_BEGIN));
    assert_true(ReadFile(file, text, 8, &done, NULL));
    assert_int_equal(done, 7);
    assert_memory_equal(text, "12hello", 7);
    /* The other process has ended; the file is shared with nobody as before. */
    assert_ptr_equal(
        CreateFileA(own_name("ndspi_inherit_file"), GENERIC_READ,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL),
        INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_SHARING_VIOLATION);
    assert_true(CloseHandle(file));
    assert_int_equal(GetFileAttributesA(own_name("ndspi_inherit_file")), INVALID_FILE_ATTRIBUTES);
}

static void test_ends_of_pipes(void **state)
{
    const char *name = own_name("\\\\.\\pipe\\ndspi-inherit");
    HANDLE read_end, write_end, pipe;
    PROCESS_INFORMATION process;
    char text[8];
    DWORD done = 0;

    (void)state;
    assert_true(CreatePipe(&read_end, &write_end, &inherited, 0));
    assert_true(SetHandleInformation(read_end, HANDLE_FLAG_INHERIT, 0));
    process = start("write", write_end, NULL, 0);
    assert_true(CloseHandle(write_end));
    assert_true(ReadFile(read_end, text, 8, &done, NULL));
    assert_int_equal(done, 5);
    assert_fails(ReadFile(read_end, text, 8, &done, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_int_equal(ended(process), 0);
    assert_true(CloseHandle(read_end));

    pipe = checked(CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 0, 0, 0, NULL));
    write_end = checked(
        CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, &inherited, OPEN_EXISTING, 0, NULL));
    process = start("write", write_end, NULL, 0);
    assert_true(CloseHandle(write_end));
    assert_true(ReadFile(pipe, text, 8, &done, NULL));
    assert_int_equal(done, 5);
    assert_memory_equal(text, "hello", 5);
    assert_int_equal(ended(process), 0);
    assert_fails(ReadFile(pipe, text, 8, &done, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_true(CloseHandle(pipe));
}

#ifndef _WIN32 /* Wine's Winsock takes no socket that another process has made */
static void test_socket(void **state)
{
    struct sockaddr_in here = { .sin_family = AF_INET };
    int length = sizeof(here);
    SOCKET receiver, sender;
    char text[8];
    WSADATA data;

    (void)state;
    assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    receiver = socket(AF_INET, SOCK_DGRAM, 0);
    sender = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(receiver, (struct sockaddr *)&here, sizeof(here)), 0);
    assert_int_equal(getsockname(receiver, (struct sockaddr *)&here, (void *)&length), 0);
    assert_int_equal(connect(sender, (struct sockaddr *)&here, sizeof(here)), 0);
    assert_true(SetHandleInformation((HANDLE)(uintptr_t)sender, HANDLE_FLAG_INHERIT, 1));
    assert_int_equal(run("send", (HANDLE)(uintptr_t)sender), 0);
    assert_int_equal(recv(receiver, text, 8, 0), 5);
    assert_memory_equal(text, "hello", 5);
    assert_int_equal(closesocket(sender), 0);
    assert_int_equal(closesocket(receiver), 0);
    assert_int_equal(WSACleanup(), 0);
}
#endif

static void test_process(void **state)
{
    HANDLE process = checked(OpenProcess(PROCESS_QUERY_INFORMATION, TRUE, GetCurrentProcessId()));

    (void)state;
    assert_int_equal(run("id", process), GetCurrentProcessId() & 0x7f);
    assert_true(CloseHandle(process));
}

static void test_list_of_handles(void **state)
{
    HANDLE list[3] = { checked(CreateEventA(&inherited, TRUE, FALSE, NULL)),
        checked(CreateEventA(&inherited, TRUE, FALSE, NULL)) };
    HANDLE left_out = checked(CreateEventA(&inherited, TRUE, FALSE, NULL));

    (void)state;
    assert_int_equal(ended(start("set", list[0], list, 2)), 0);
    assert_int_equal(ended(start("set", list[1], list, 2)), 0);
    assert_int_equal(ended(start("set", left_out, list, 2)), SPEC_ERROR_INVALID_HANDLE);
    assert_wait(WaitForMultipleObjects(2, list, TRUE, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(left_out, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(left_out));
    assert_true(CloseHandle(list[0]));
    assert_true(CloseHandle(list[1]));
}

/* More handles than one part of the table has, so that their numbers are far apart. */
static void test_many_handles(void **state)
{
    enum { COUNT = 1500 };
    HANDLE *between = calloc(COUNT, sizeof(*between)), event;

    (void)state;
    assert_non_null(between);
    for (int i = 0; i < COUNT; i++)
        between[i] = checked(CreateEventA(NULL, TRUE, FALSE, NULL));
    event = checked(CreateEventA(&inherited, TRUE, FALSE, NULL));
    assert_int_equal(run("set", event), 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    for (int i = 0; i < COUNT; i++)
        assert_true(CloseHandle(between[i]));
    assert_true(CloseHandle(event));
    free(between);
}

/* What it would have inherited is let go once, though another thread may see the end of the start. */
static void test_a_program_that_is_not_there_many_times(void **state)
{
    HANDLE event = checked(CreateEventA(&inherited, TRUE, FALSE, NULL));
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;

    (void)state;
    for (int i = 0; i < 500; i++)
        assert_fails(
            CreateProcessA("not there", NULL, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process),
            SPEC_ERROR_FILE_NOT_FOUND);
    assert_true(SetEvent(event));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(event));
}

static void test_lists_of_attributes(void **state)
{
    HANDLE handle = NULL;
    SIZE_T size = 0;
    char memory[200];
    LPPROC_THREAD_ATTRIBUTE_LIST list = (LPPROC_THREAD_ATTRIBUTE_LIST)memory;

    (void)state;
    assert_fails(
        InitializeProcThreadAttributeList(NULL, 1, 0, &size), SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(size, 48);
    assert_fails(
        InitializeProcThreadAttributeList(NULL, 2, 0, &size), SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(size, 72);
    assert_fails(InitializeProcThreadAttributeList(NULL, 2, 1, &size),
        DIFFERS(SPEC_ERROR_INVALID_PARAMETER, SPEC_ERROR_INSUFFICIENT_BUFFER,
            "Wine does not look at the flags"));
    size = 71;
    assert_fails(
        InitializeProcThreadAttributeList(list, 2, 0, &size), SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(size, 72);
    assert_true(InitializeProcThreadAttributeList(list, 2, 0, &size));
    assert_fails(UpdateProcThreadAttribute(list, 0, 0x3999, &handle, 8, NULL, NULL),
        SPEC_ERROR_NOT_SUPPORTED);
    assert_fails(UpdateProcThreadAttribute(
                     list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handle, 7, NULL, NULL),
        SPEC_ERROR_BAD_LENGTH);
    assert_true(UpdateProcThreadAttribute(
        list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handle, 8, NULL, NULL));
    assert_fails(UpdateProcThreadAttribute(
                     list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handle, 8, NULL, NULL),
        SPEC_ERROR_OBJECT_NAME_EXISTS);
    DeleteProcThreadAttributeList(list);
    assert_true(InitializeProcThreadAttributeList(list, 0, 0, &size));
    assert_fails(UpdateProcThreadAttribute(
                     list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handle, 8, NULL, NULL),
        SPEC_ERROR_GEN_FAILURE);
    DeleteProcThreadAttributeList(list);
}

static void test_wide_form(void **state)
{
    HANDLE event = checked(CreateEventA(&inherited, TRUE, FALSE, NULL));
    STARTUPINFOEXW startup = { .StartupInfo.cb = sizeof(startup) };
    WCHAR path[MAX_PATH], command[64];
    char memory[200], narrow[64];
    PROCESS_INFORMATION process;
    SIZE_T size = sizeof(memory);

    (void)state;
    snprintf(narrow, sizeof(narrow), "name set %llx", (unsigned long long)(uintptr_t)event);
    for (size_t i = 0; i < sizeof(narrow); i++)
        command[i] = (unsigned char)narrow[i];
    for (size_t i = 0; i < MAX_PATH; i++)
        path[i] = (unsigned char)self[i];
    startup.lpAttributeList = (LPPROC_THREAD_ATTRIBUTE_LIST)memory;
    assert_true(InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size));
    assert_true(UpdateProcThreadAttribute(startup.lpAttributeList, 0,
        PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &event, sizeof(event), NULL, NULL));
    assert_true(CreateProcessW(path, command, NULL, NULL, TRUE, EXTENDED_STARTUPINFO_PRESENT, NULL,
        NULL, &startup.StartupInfo, &process));
    assert_int_equal(ended(process), 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(event));
}

#ifndef _WIN32 /* Wine inherits every kind, and does not look at a list of handles before it starts the process */
static void test_what_is_refused(void **state)
{
    STARTUPINFOEXA startup = { .StartupInfo.cb = sizeof(startup) };
    HANDLE event = checked(CreateEventA(NULL, TRUE, FALSE, NULL)), made, pipe;
    HANDLE list[2] = { checked(CreateEventA(&inherited, TRUE, FALSE, NULL)), event };
    HANDLE timer = checked(CreateWaitableTimerA(NULL, TRUE, NULL));
    char command[] = "name set 4", memory[200];
    PROCESS_INFORMATION process;
    SIZE_T size = sizeof(memory);

    (void)state;
    assert_fails(SetHandleInformation(event, HANDLE_FLAG_INHERIT, 1), SPEC_ERROR_NOT_SUPPORTED);
    assert_fails(SetHandleInformation(timer, HANDLE_FLAG_INHERIT, 1), SPEC_ERROR_NOT_SUPPORTED);
    assert_fails(DuplicateHandle(GetCurrentProcess(), timer, GetCurrentProcess(), &made, 0, TRUE,
                     DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_NOT_SUPPORTED);
    assert_null(made);
    assert_fails(
        SetHandleInformation(event, HANDLE_FLAG_PROTECT_FROM_CLOSE, 0), SPEC_ERROR_NOT_SUPPORTED);
    assert_fails(SetHandleInformation(NULL, HANDLE_FLAG_INHERIT, 1), SPEC_ERROR_INVALID_HANDLE);

    startup.lpAttributeList = (LPPROC_THREAD_ATTRIBUTE_LIST)memory;
    assert_true(InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size));
    assert_true(UpdateProcThreadAttribute(startup.lpAttributeList, 0,
        PROC_THREAD_ATTRIBUTE_HANDLE_LIST, list, sizeof(list), NULL, NULL));
    assert_fails(CreateProcessA(self, command, NULL, NULL, TRUE, EXTENDED_STARTUPINFO_PRESENT, NULL,
                     NULL, &startup.StartupInfo, &process),
        SPEC_ERROR_INVALID_PARAMETER); /* the second event has not the flag */
    assert_fails(CreateProcessA(self, command, NULL, NULL, FALSE, EXTENDED_STARTUPINFO_PRESENT,
                     NULL, NULL, &startup.StartupInfo, &process),
        SPEC_ERROR_INVALID_PARAMETER);
    startup.StartupInfo.cb = sizeof(STARTUPINFOA);
    assert_fails(CreateProcessA(self, command, NULL, NULL, FALSE, EXTENDED_STARTUPINFO_PRESENT,
                     NULL, NULL, &startup.StartupInfo, &process),
        SPEC_ERROR_INVALID_PARAMETER);

    pipe = checked(CreateNamedPipeA(own_name("\\\\.\\pipe\\ndspi-inherit-refused"),
        PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 0, 0, 0, &inherited));
    startup.StartupInfo.cb = sizeof(startup);
    assert_fails(CreateProcessA(self, command, NULL, NULL, TRUE, 0, NULL, NULL,
                     &startup.StartupInfo, &process),
        SPEC_ERROR_NOT_SUPPORTED); /* it listens */
    assert_true(CloseHandle(pipe));
    assert_true(CloseHandle(timer));
    assert_true(CloseHandle(list[0]) && CloseHandle(event));
}

/* A program in between that knows nothing of handles hands them on. */
static void test_through_a_shell(void **state)
{
    HANDLE event = checked(CreateEventA(&inherited, TRUE, FALSE, NULL));
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;
    char command[MAX_PATH + 100];

    (void)state;
    snprintf(command, sizeof(command), "/bin/sh -c \"'%s' set %llx\"", self,
        (unsigned long long)(uintptr_t)event);
    assert_true(CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process));
    assert_int_equal(ended(process), 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(event));
}
#endif

#ifndef _WIN32 /* how it is done on Linux */
/* The exit code of a process that gets a table with one entry of that kind of fault. */
static int run_with_table(unsigned count, int same_as, char filling)
{
    struct {
        uint32_t magic, count;
        int32_t hold;
        uint32_t octets;
        struct {
            uint64_t value;
            int32_t same_as;
            uint32_t kind;
            int32_t fd, at;
            uint32_t named, numbers[6];
            uint64_t size;
            char name[264];
        } entry;
    } table = { 0x68697731, count, -1, sizeof(table.entry),
        { .value = 0x400010, .same_as = same_as, .fd = -1, .at = -1 } };
    char command[MAX_PATH + 300], from[100], log[100];
    FILE *file;
    int status;

    snprintf(from, sizeof(from), "%s", own_name("ndspi_inherit_table"));
    snprintf(log, sizeof(log), "%s", own_name("ndspi_inherit_log"));
    assert_non_null(file = fopen(from, "wb"));
    memset(table.entry.name, filling, sizeof(table.entry.name));
    assert_int_equal(fwrite(&table, sizeof(table), 1, file), 1);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof(command),
        "WINOBJ_INHERITED=0 NDSPI_LOG=none '%s' set 400010 < %s 2> %s", self, from, log);
    status = system(command);
    assert_true(WIFEXITED(status));
    remove(from);
    assert_non_null(file = fopen(log, "rb"));
    assert_int_equal(fgetc(file), EOF); /* the log is set up before */
    assert_int_equal(fclose(file), 0);
    remove(log);
    return WEXITSTATUS(status);
}

/* The process begins as if it inherited nothing. */
static void test_tables_of_anybody(void **state)
{
    (void)state;
    assert_int_equal(run_with_table(1, 0, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(run_with_table(1, 1000000, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(run_with_table(1, -2, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(run_with_table(1, -1, 'x'), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(
        run_with_table(1, -1, 0), SPEC_ERROR_INVALID_HANDLE); /* a table, with no known kind */
    assert_int_equal(
        run_with_table(2, -1, 0), SPEC_ERROR_INVALID_HANDLE); /* shorter than it says */
    assert_int_equal(run_with_table(5000, -1, 0), SPEC_ERROR_INVALID_HANDLE);
}
#endif

#ifndef _WIN32 /* descriptors are Linux' */
/*
 * Descriptors 0 to 2 are free, and become the new process's standard ones: its table of handles (map) and the pipe by
 * which this one knows that it has opened them (wait) keep off them.
 */
static int start_from_closed(const char *what)
{
    const bool waits = !strcmp(what, "wait");
    HANDLE handle = waits ? CreateEventA(&inherited, TRUE, FALSE, NULL)
                          : CreateFileMappingA(
                                INVALID_HANDLE_VALUE, &inherited, PAGE_READWRITE, 0, 65536, NULL);
    char *view = waits ? NULL : MapViewOfFile(handle, FILE_MAP_WRITE, 0, 0, 0);
    STARTUPINFOA startup = { .cb = sizeof(startup), .dwFlags = STARTF_USESTDHANDLES };
    PROCESS_INFORMATION process;
    char command[64];
    DWORD code = 96;

    if (view)
        view[65535] = 'a';
    for (int i = 0; i < 3; i++)
        close(i);
    snprintf(command, sizeof(command), "name %s %llx", what, (unsigned long long)(uintptr_t)handle);
    if (!CreateProcessA(self, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process))
        return (int)GetLastError();
    if ((waits && !SetEvent(handle)) || !CloseHandle(handle))
        return 95;
    if (WaitForSingleObject(process.hProcess, LONG_MS) ||
        !GetExitCodeProcess(process.hProcess, &code))
        return 94;
    return (int)code;
}

static void test_from_a_process_without_standard_descriptors(void **state)
{
    (void)state;
    assert_int_equal(run("closed-map", NULL), 0);
    assert_int_equal(run("closed-wait", NULL), 0);
}
#endif

static int answer(BOOL done)
{
    return done ? 0 : (int)GetLastError();
}

/* What the program does when it is started by itself; the exit code has 8 bits on Linux, the codes below fit. */
static int as_child(const char *what, HANDLE handle)
{
    WSADATA data;
    DWORD done, flags;
    char *view;

#ifndef _WIN32 /* as said above */
    if (!strncmp(what, "closed-", 7))
        return start_from_closed(what + 7);
#endif
    if (!strcmp(what, "set"))
        return answer(SetEvent(handle));
    if (!strcmp(what, "again"))
        return GetHandleInformation(handle, &flags) && flags == HANDLE_FLAG_INHERIT
                   ? (int)run("set", handle)
                   : 99;
    if (!strcmp(what, "wait"))
        return (int)WaitForSingleObject(handle, LONG_MS);
    if (!strcmp(what, "acquire"))
        return (int)WaitForSingleObject(handle, 0);
    if (!strcmp(what, "release"))
        return answer(ReleaseSemaphore(handle, 1, NULL));
    if (!strcmp(what, "write"))
        return answer(WriteFile(handle, "hello", 5, &done, NULL));
    if (!strcmp(what, "id"))
        return (int)(GetProcessId(handle) & 0x7f);
    if (!strcmp(what, "send"))
        return WSAStartup(MAKEWORD(2, 2), &data) ||
               send((SOCKET)(uintptr_t)handle, "hello", 5, 0) != 5;
    if (!strcmp(what, "map")) {
        if (!(view = MapViewOfFile(handle, FILE_MAP_WRITE, 0, 0, 0)))
            return (int)GetLastError();
        if (view[65535] != 'a')
            return 98;
        view[65535] = 'b';
        return answer(UnmapViewOfFile(view) && CloseHandle(handle));
    }
    return 97;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event),
        cmocka_unit_test(test_event_outlives_its_first_handle),
        cmocka_unit_test(test_objects_with_names),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_ends_of_pipes),
        cmocka_unit_test(test_process),
        cmocka_unit_test(test_list_of_handles),
        cmocka_unit_test(test_many_handles),
        cmocka_unit_test(test_a_program_that_is_not_there_many_times),
        cmocka_unit_test(test_lists_of_attributes),
        cmocka_unit_test(test_wide_form),
#ifndef _WIN32 /* as said above */
        cmocka_unit_test(test_socket),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_through_a_shell),
        cmocka_unit_test(test_tables_of_anybody),
        cmocka_unit_test(test_from_a_process_without_standard_descriptors),
#endif
    };

    if (!GetModuleFileNameA(NULL, self, sizeof(self)))
        return 1;
    if (count > 2)
        return as_child(arguments[1], (HANDLE)(uintptr_t)strtoull(arguments[2], NULL, 16));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
