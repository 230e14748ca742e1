/* SPDX-License-Identifier: MIT */
/*
 * servant.h - a process that the test starts, itself once more, by CreateProcess, and that does with its handles what
 * it is told through a pipe. Windows' functions alone.
 */
#ifndef TESTS_UNIT_WIN32_HANDLES_SERVANT_H
#define TESTS_UNIT_WIN32_HANDLES_SERVANT_H

#include "tests/support/win32_test.h"

#include <stdio.h>
#include <stdlib.h>
#ifndef _WIN32 /* a limit on descriptors */
#include <sys/resource.h>
#include <unistd.h>
#endif

enum order {
    ORDER_SET = 1, /* SetEvent */
    ORDER_WAIT,    /* WaitForSingleObject: argument ms; its result */
    ORDER_RELEASE, /* ReleaseSemaphore */
    ORDER_LET_GO,  /* ReleaseMutex */
    ORDER_WRITE,   /* writes hello */
    ORDER_SEND,    /* sends hello through a socket */
    ORDER_MAP,     /* changes the last of 65536 octets from a to b */
    ORDER_ID,      /* GetProcessId */
    ORDER_FLAGS,   /* GetHandleInformation */
    ORDER_CLOSE,
    ORDER_EVENT,   /* makes an event, not signalled; argument: inheritable; its handle */
    ORDER_FILE,    /* makes the file servant_file; its handle */
    ORDER_GIVE,    /* duplicates handle into the process argument: the duplicate */
    ORDER_CURRENT, /* its GetCurrentProcess() */
    ORDER_PORT,    /* makes a completion port; its handle */
    ORDER_POST,    /* argument packets, of 0, 1, 2 ... bytes; handle is their key, too */
    ORDER_TAKE,    /* GetQueuedCompletionStatus: argument ms; the packet's bytes */
    ORDER_POST_ON, /* posts until it fails or argument ms have passed; how many */
    ORDER_LIMIT,   /* argument: no descriptor is left; 0: as before */
    ORDER_END,
};

struct order_given {
    uint64_t what, handle, argument;
};

struct order_done {
    uint64_t result, error; /* error: 0, or the last error */
};

struct servant {
    PROCESS_INFORMATION process;
    HANDLE to, from;
};

static char servant_program[MAX_PATH];

static inline uint64_t servant_failed(bool done)
{
    return done ? 0 : GetLastError();
}

/* Uses up all descriptors, or gives them back. */
static inline struct order_done servant_limit(bool low)
{
#ifndef _WIN32 /* as said above */
    static int used[64], count;
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = low ? 64 : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    while (low && (used[count] = dup(2)) >= 0)
        count++;
    while (!low && count)
        close(used[--count]);
#else
    (void)low;
#endif
    return (struct order_done){ 0 };
}

static inline struct order_done servant_give(HANDLE handle, DWORD id)
{
    HANDLE process = OpenProcess(PROCESS_DUP_HANDLE, FALSE, id), made = NULL;
    uint64_t error = servant_failed(DuplicateHandle(
        GetCurrentProcess(), handle, process, &made, 0, FALSE, DUPLICATE_SAME_ACCESS));

    CloseHandle(process);
    return (struct order_done){ (uintptr_t)made, error };
}

static inline struct order_done servant_send(SOCKET to)
{
    WSADATA data;
    DWORD flags;
    uint64_t done = 0;

    /* The look at the handle tells the thread sanitizer, which sees no pipe between processes, that it came before. */
    if (WSAStartup(MAKEWORD(2, 2), &data) || !GetHandleInformation((HANDLE)to, &flags))
        return (struct order_done){ 0, 9999 };
    if (send(to, "hello", 5, 0) != 5)
        done = GetLastError();
    WSACleanup();
    return (struct order_done){ 0, done };
}

static inline struct order_done servant_map(HANDLE handle)
{
    char *view = MapViewOfFile(handle, FILE_MAP_WRITE, 0, 0, 0);

    if (!view)
        return (struct order_done){ 0, GetLastError() };
    if (view[65535] != 'a')
        return (struct order_done){ 0, 9999 };
    view[65535] = 'b';
    return (struct order_done){ 0, servant_failed(UnmapViewOfFile(view)) };
}

static inline struct order_done servant_make(enum order what, uint64_t argument)
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };
    HANDLE made = NULL;

    if (what == ORDER_EVENT)
        made = CreateEventA(argument ? &inherited : NULL, FALSE, FALSE, NULL);
    else
        made = CreateFileA("servant_file", GENERIC_READ | GENERIC_WRITE,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, CREATE_ALWAYS,
            FILE_FLAG_DELETE_ON_CLOSE, NULL);
    return (struct order_done){ (uintptr_t)made, 0 };
}

/* The OVERLAPPED is a number of this process that means nothing to another. */
static inline struct order_done servant_post(HANDLE port, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!PostQueuedCompletionStatus(
                port, (DWORD)i, (ULONG_PTR)port, (LPOVERLAPPED)(uintptr_t)(i * 16)))
            return (struct order_done){ i, GetLastError() };
    return (struct order_done){ count, 0 };
}

static inline struct order_done servant_post_on(HANDLE port, uint64_t ms)
{
    const uint64_t until = GetTickCount64() + ms;
    uint64_t count = 0;

    while (GetTickCount64() < until) {
        if (!PostQueuedCompletionStatus(port, 1, 2, NULL))
            return (struct order_done){ count, GetLastError() };
        count++;
    }
    return (struct order_done){ count, 0 };
}

static inline struct order_done servant_take(HANDLE port, uint64_t ms)
{
    LPOVERLAPPED overlapped;
    ULONG_PTR key;
    DWORD bytes = 0;
    const bool done = GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, (DWORD)ms);

    return (struct order_done){ bytes, servant_failed(done) };
}

static inline struct order_done servant_do(const struct order_given *given)
{
    const HANDLE handle = (HANDLE)(uintptr_t)given->handle;
    DWORD value = 0;
    uint64_t error = 0;

    switch ((enum order)given->what) {
    case ORDER_SET: error = servant_failed(SetEvent(handle)); break;
    case ORDER_WAIT: value = WaitForSingleObject(handle, (DWORD)given->argument); break;
    case ORDER_RELEASE: error = servant_failed(ReleaseSemaphore(handle, 1, NULL)); break;
    case ORDER_LET_GO: error = servant_failed(ReleaseMutex(handle)); break;
    case ORDER_WRITE: error = servant_failed(WriteFile(handle, "hello", 5, &value, NULL)); break;
    case ORDER_SEND: return servant_send((SOCKET)(uintptr_t)handle);
    case ORDER_MAP: return servant_map(handle);
    case ORDER_ID: value = GetProcessId(handle); break;
    case ORDER_FLAGS: error = servant_failed(GetHandleInformation(handle, &value)); break;
    case ORDER_CLOSE: error = servant_failed(CloseHandle(handle)); break;
    case ORDER_EVENT:
    case ORDER_FILE: return servant_make((enum order)given->what, given->argument);
    case ORDER_GIVE: return servant_give(handle, (DWORD)given->argument);
    case ORDER_CURRENT: return (struct order_done){ (uintptr_t)GetCurrentProcess(), 0 };
    case ORDER_PORT:
        return (struct order_done){
            (uintptr_t)CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0), 0
        };
    case ORDER_POST: return servant_post(handle, given->argument);
    case ORDER_POST_ON: return servant_post_on(handle, given->argument);
    case ORDER_TAKE: return servant_take(handle, given->argument);
    case ORDER_LIMIT: return servant_limit(given->argument);
    case ORDER_END: break;
    }
    return (struct order_done){ value, error };
}

/* All of it, or false at the end of the pipe. */
static inline bool servant_read(HANDLE pipe, void *data, DWORD size)
{
    DWORD have = 0, got;

    while (have < size) {
        if (!ReadFile(pipe, (char *)data + have, size - have, &got, NULL) || !got)
            return false;
        have += got;
    }
    return true;
}

/* main of the started process; its arguments are "servant" and the ends of two pipes. */
static inline int servant_main(char **arguments)
{
    HANDLE from = (HANDLE)(uintptr_t)strtoull(arguments[2], NULL, 16);
    HANDLE to = (HANDLE)(uintptr_t)strtoull(arguments[3], NULL, 16);
    struct order_given given;
    DWORD done;

    while (servant_read(from, &given, sizeof(given))) {
        const struct order_done answer = servant_do(&given);

        if (!WriteFile(to, &answer, sizeof(answer), &done, NULL))
            return 1;
        if (given.what == ORDER_END)
            return 0;
    }
    return 2;
}

static inline struct servant servant_start(void)
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    struct servant servant;
    HANDLE its_from, its_to;
    char command[100];

    assert_true(CreatePipe(&its_from, &servant.to, &inherited, 0));
    assert_true(CreatePipe(&servant.from, &its_to, &inherited, 0));
    assert_true(SetHandleInformation(servant.to, HANDLE_FLAG_INHERIT, 0));
    assert_true(SetHandleInformation(servant.from, HANDLE_FLAG_INHERIT, 0));
    snprintf(command, sizeof(command), "name servant %llx %llx",
        (unsigned long long)(uintptr_t)its_from, (unsigned long long)(uintptr_t)its_to);
    assert_true(CreateProcessA(
        servant_program, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &servant.process));
    assert_true(CloseHandle(its_from));
    assert_true(CloseHandle(its_to));
    return servant;
}

static inline struct order_done servant_order(
    struct servant *servant, enum order what, HANDLE handle, uint64_t argument)
{
    const struct order_given given = { what, (uintptr_t)handle, argument };
    struct order_done answer = { 0 };
    DWORD done;

    assert_true(WriteFile(servant->to, &given, sizeof(given), &done, NULL));
    assert_true(servant_read(servant->from, &answer, sizeof(answer)));
    return answer;
}

/* The order succeeds; its result. */
static inline uint64_t servant_does(
    struct servant *servant, enum order what, HANDLE handle, uint64_t argument)
{
    const struct order_done answer = servant_order(servant, what, handle, argument);

    assert_int_equal(answer.error, 0);
    return answer.result;
}

static inline HANDLE servant_makes(struct servant *servant, enum order what, uint64_t argument)
{
    return (HANDLE)(uintptr_t)servant_does(servant, what, NULL, argument);
}

static inline void servant_forget(struct servant *servant)
{
    assert_true(CloseHandle(servant->to));
    assert_true(CloseHandle(servant->from));
    assert_true(CloseHandle(servant->process.hThread));
    assert_true(CloseHandle(servant->process.hProcess));
}

static inline void servant_end(struct servant *servant)
{
    DWORD code = 77;

    servant_does(servant, ORDER_END, NULL, 0);
    assert_wait(WaitForSingleObject(servant->process.hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(servant->process.hProcess, &code));
    assert_int_equal(code, 0); /* which the sanitizers change when they find something */
    servant_forget(servant);
}

#endif
