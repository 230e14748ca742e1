/* SPDX-License-Identifier: MIT */
/* test_fork.c - the child of a fork: its handles work, the parent's threads and sources stay the parent's. */
#include "tests/unit/winobj/fake_source.h"

#include "tests/support/settle.h"

#include <winobj_linux.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: ends it with a status that names the line. */
#define child_assert(e)                                                                            \
    do {                                                                                           \
        if (!(e))                                                                                  \
            _exit(__LINE__ % 250 + 1);                                                             \
    } while (0)

static void child_succeeds(pid_t child)
{
    int status;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

struct parent {
    HANDLE event, port;
    struct fake_source fake;
};

static void *wait_for_event(void *argument)
{
    struct parent *parent = argument;

    return (void *)(uintptr_t)WaitForSingleObject(parent->event, LONG_MS);
}

static void *wait_for_packet(void *argument)
{
    struct parent *parent = argument;
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD bytes;

    return (void *)(uintptr_t)!GetQueuedCompletionStatus(
        parent->port, &bytes, &key, &overlapped, LONG_MS);
}

static void child_uses_handles(struct parent *parent, int fd)
{
    struct pollfd set = { .fd = fd, .events = POLLIN };
    struct fake_source own = { 0 };
    OVERLAPPED *overlapped;
    ULONG_PTR key = 0;
    DWORD bytes;
    HANDLE fresh;

    alarm(LONG_MS / 1000);
    /* The parent's threads wait for both. The child has no such threads, so no other thread consumes a signal. */
    child_assert(SetEvent(parent->event));
    child_assert(WaitForSingleObject(parent->event, 0) == WAIT_OBJECT_0);
    child_assert(WaitForSingleObject(parent->event, 5) == WAIT_TIMEOUT);
    child_assert(PostQueuedCompletionStatus(parent->port, 0, 5, NULL));
    child_assert(
        GetQueuedCompletionStatus(parent->port, &bytes, &key, &overlapped, INFINITE) && key == 5);
    child_assert(
        poll(&set, 1, 0) == 1 && (set.revents & POLLNVAL)); /* the parent's export is gone */
    child_assert((fresh = CreateEventW(NULL, TRUE, FALSE, NULL)) != NULL);
    child_assert(WinLinuxGetDescriptor(parent->event) >= 0);
    /* The parent's source is none here: taking it away does nothing; a new one works. */
    reactor_remove_sync(&parent->fake.source);
    fake_source_add(&own);
    fake_source_fire(&own, 1);
    child_assert(fake_source_reached(&own, 1));
    fake_source_remove(&own);
    child_assert(CloseHandle(fresh) && CloseHandle(parent->event) && CloseHandle(parent->port));
    _exit(0);
}

static void test_fork_child_works_and_leaves_the_parent_alone(void **state)
{
    struct parent parent = { .event = CreateEventW(NULL, FALSE, FALSE, NULL),
        .port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0) };
    int fd = WinLinuxGetDescriptor(parent.event);
    struct pollfd set = { .fd = fd, .events = POLLIN };
    pthread_t threads[2];
    pid_t children[20];
    void *result;

    (void)state;
    fake_source_add(&parent.fake);
    assert_int_equal(pthread_create(&threads[0], NULL, wait_for_event, &parent), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, wait_for_packet, &parent), 0);
    for (int i = 0; i < 20; i++) {
        fake_source_fire(&parent.fake, 1); /* so that threads are in the middle of something */
        if (!(children[i] = fork()))
            child_uses_handles(&parent, fd);
    }
    for (int i = 0; i < 20; i++)
        child_succeeds(children[i]);
    assert_int_equal(poll(&set, 1, 0), 0);
    assert_true(fake_source_reached(&parent.fake, 20));
    assert_true(SetEvent(parent.event));
    assert_true(PostQueuedCompletionStatus(parent.port, 0, 0, NULL));
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    fake_source_remove(&parent.fake);
    assert_true(CloseHandle(parent.event));
    assert_true(CloseHandle(parent.port));
}

static void test_fork_thread_id_is_the_childs(void **state)
{
    DWORD id = GetCurrentThreadId();
    HANDLE self, here = GetCurrentProcess();
    pid_t child;

    (void)state;
    assert_true(
        DuplicateHandle(here, GetCurrentThread(), here, &self, 0, FALSE, DUPLICATE_SAME_ACCESS));
    if (!(child = fork()))
        _exit(GetCurrentThreadId() == id || GetCurrentThreadId() != (DWORD)getpid() ||
              GetThreadId(self) != (DWORD)getpid() || !CloseHandle(self));
    child_succeeds(child);
    assert_int_equal(GetThreadId(self), id);
    assert_true(CloseHandle(self));
}

struct holder {
    HANDLE mutex, taken, stop;
};

static DWORD WINAPI hold(LPVOID parameter)
{
    struct holder *holder = parameter;

    if (WaitForSingleObject(holder->mutex, LONG_MS) || !SetEvent(holder->taken))
        return 1;
    return WaitForSingleObject(holder->stop, LONG_MS);
}

/* The child keeps what its thread has; what the parent's other threads have is abandoned there, and theirs here. */
static void test_fork_mutexes(void **state)
{
    HANDLE own = CreateMutexW(NULL, TRUE, NULL), thread;
    struct holder holder = { CreateMutexW(NULL, FALSE, NULL),
        CreateEventW(NULL, FALSE, FALSE, NULL), CreateEventW(NULL, FALSE, FALSE, NULL) };
    pid_t child;

    (void)state;
    assert_non_null(thread = CreateThread(NULL, 0, hold, &holder, 0, NULL));
    assert_wait(WaitForSingleObject(holder.taken, LONG_MS), WAIT_OBJECT_0);
    if (!(child = fork())) {
        child_assert(WaitForSingleObject(own, 0) == WAIT_OBJECT_0);
        child_assert(ReleaseMutex(own) && ReleaseMutex(own) && !ReleaseMutex(own));
        child_assert(WaitForSingleObject(holder.mutex, 0) == WAIT_ABANDONED_0);
        child_assert(ReleaseMutex(holder.mutex) && CloseHandle(holder.mutex) && CloseHandle(own));
        _exit(0);
    }
    child_succeeds(child);
    assert_wait(WaitForSingleObject(holder.mutex, 0), WAIT_TIMEOUT);
    assert_true(SetEvent(holder.stop));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(holder.mutex, 0), WAIT_ABANDONED_0);
    assert_true(ReleaseMutex(own));
    assert_true(CloseHandle(thread) && CloseHandle(own) && CloseHandle(holder.mutex) &&
                CloseHandle(holder.taken) && CloseHandle(holder.stop));
}

/* The child's timers are not running until it sets them; the parent's go on. */
static void test_fork_timers(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, FALSE, NULL);
    LARGE_INTEGER due = { .QuadPart = -500000 }, soon = { .QuadPart = -10000 };
    pid_t child;

    (void)state;
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    if (!(child = fork())) {
        alarm(LONG_MS / 1000);
        child_assert(WaitForSingleObject(timer, 100) == WAIT_TIMEOUT);
        child_assert(SetWaitableTimer(timer, &soon, 0, NULL, NULL, FALSE));
        child_assert(WaitForSingleObject(timer, INFINITE) == WAIT_OBJECT_0);
        child_assert(CloseHandle(timer));
        _exit(0);
    }
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    child_succeeds(child);
    assert_true(SetWaitableTimer(timer, &soon, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(timer));
}

/* The child's handle keeps the name for itself, and gives up its own only. */
static void test_fork_mappings(void **state)
{
    const char *name = own_name("ndtest.fork");
    HANDLE mapping = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 4096, name);
    volatile char *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);
    HANDLE opened;
    pid_t child;

    (void)state;
    assert_non_null(view);
    if (!(child = fork())) {
        view[0] = 'c';
        child_assert(CloseHandle(mapping));
        child_assert(
            (opened = OpenFileMappingA(FILE_MAP_READ, FALSE, name)) && CloseHandle(opened));
        _exit(0);
    }
    child_succeeds(child);
    assert_int_equal(view[0], 'c');
    assert_non_null(opened = OpenFileMappingA(FILE_MAP_READ, FALSE, name));
    assert_true(CloseHandle(opened));
    assert_true(CloseHandle(mapping));
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
    assert_true(UnmapViewOfFile((void *)view));
}

static BOOL WINAPI accept_event(DWORD event)
{
    (void)event;
    return TRUE;
}

/* The child has the handlers' functions, but no thread that calls them: a signal does what it does without. */
static void test_fork_console_handlers(void **state)
{
    int status = 0;
    pid_t child;

    (void)state;
    assert_true(SetConsoleCtrlHandler(accept_event, TRUE));
    if (!(child = fork())) {
        alarm(LONG_MS / 1000);
        raise(SIGINT);
        for (;;)
            pause();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    assert_true(SetConsoleCtrlHandler(accept_event, FALSE));
}

/* The child is one more process with the object: it has it when the parent has no handle any more. */
static void test_fork_objects_with_names(void **state)
{
    HANDLE event, mutex, answer;
    char names[3][64];
    pid_t child;

    (void)state;
    for (int i = 0; i < 3; i++)
        snprintf(names[i], sizeof(names[i]), "ndspi-fork-%d-%d", (int)getpid(), i);
    assert_non_null(event = CreateEventA(NULL, FALSE, FALSE, names[0]));
    assert_non_null(mutex = CreateMutexA(NULL, TRUE, names[1]));
    assert_non_null(answer = CreateEventA(NULL, FALSE, FALSE, names[2]));
    if (!(child = fork())) {
        HANDLE again;

        child_assert(WaitForSingleObject(mutex, 0) == WAIT_TIMEOUT);
        child_assert(!ReleaseMutex(mutex) && GetLastError() == SPEC_ERROR_NOT_OWNER);
        child_assert(SetEvent(answer));
        child_assert(WaitForSingleObject(event, LONG_MS) == WAIT_OBJECT_0);
        child_assert((again = OpenEventA(EVENT_ALL_ACCESS, FALSE, names[0])) && SetEvent(event));
        child_assert(WaitForSingleObject(again, 0) == WAIT_OBJECT_0);
        child_assert(WaitForSingleObject(mutex, LONG_MS) == WAIT_OBJECT_0);
        _exit(0);
    }
    assert_int_equal(WaitForSingleObject(answer, LONG_MS), WAIT_OBJECT_0);
    assert_true(SetEvent(event));
    assert_true(CloseHandle(event));
    assert_true(ReleaseMutex(mutex));
    child_succeeds(child);
    assert_int_equal(
        WaitForSingleObject(mutex, LONG_MS), WAIT_ABANDONED); /* the child ended with it */
    assert_true(CloseHandle(mutex));
    assert_true(CloseHandle(answer));
    assert_null(OpenEventA(EVENT_ALL_ACCESS, FALSE, names[0]));
}

static bool is_gone(const char *name)
{
    HANDLE again = OpenEventA(EVENT_ALL_ACCESS, FALSE, name);

    return again ? !CloseHandle(again) : GetLastError() == SPEC_ERROR_FILE_NOT_FOUND;
}

/* How many descriptors of pipes this process has. */
static int pipes(void)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    int count = 0;

    while (folder && (entry = readdir(folder))) {
        char name[320], link[64] = "";

        snprintf(name, sizeof(name), "/proc/self/fd/%s", entry->d_name);
        if (readlink(name, link, sizeof(link) - 1) > 0 && !strncmp(link, "pipe:", 5))
            count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

/* The child, which gives up its handle, says so, and stays until go is closed. */
static struct staying {
    HANDLE event;
    int ready[2], go[2];
    pid_t process;
    bool wanted; /* by the next posix_spawn */
} staying;

static void staying_prepare(const char *name)
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };

    staying = (struct staying){ .event = CreateEventA(&inherited, TRUE, FALSE, name) };
    assert_non_null(staying.event);
    assert_int_equal(pipe2(staying.ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(staying.go, O_CLOEXEC), 0);
}

static void staying_fork(void)
{
    char octet;

    if ((staying.process = fork())) {
        close(staying.ready[1]);
        close(staying.go[0]);
        if (read(staying.ready[0], &octet, 1) < 0)
            staying.process = -1; /* the test asserts it */
        close(staying.ready[0]);
        return;
    }
    alarm(2 * LONG_MS / 1000);
    close(staying.go[1]);
    close(staying.ready[0]);
    child_assert(CloseHandle(staying.event));
    close(staying.ready[1]);
    child_assert(read(staying.go[0], &octet, 1) == 0);
    _exit(0);
}

/* The program's stands in front of the C library's: here, CreateProcess has all that the new process is to get. */
__attribute__((visibility("default"))) int posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const arguments[], char *const variables[])
{
    __typeof__(&posix_spawn) next = (__typeof__(&posix_spawn))dlsym(RTLD_NEXT, "posix_spawn");

    if (staying.wanted)
        staying_fork();
    return next(pid, path, actions, attributes, arguments, variables);
}

/* Starts a program that knows nothing of handles, and so leaves them alone until it ends. */
static PROCESS_INFORMATION start_ignorant(void)
{
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    char command[] = "sleep 60";
    PROCESS_INFORMATION process;

    assert_true(
        CreateProcessA("/bin/sleep", command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process));
    return process;
}

static void end_ignorant(PROCESS_INFORMATION process)
{
    assert_true(TerminateProcess(process.hProcess, 5));
    assert_wait(WaitForSingleObject(process.hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(process.hProcess) && CloseHandle(process.hThread));
}

/*
 * An object that the parent keeps for a process that has not opened it yet is kept by the parent alone: forked before
 * that process is started, or after, the child has no part in it but by its own handle.
 */
static void test_fork_while_a_process_begins(void **state)
{
    const int before = pipes();
    PROCESS_INFORMATION process;
    char name[64];

    (void)state;
    for (int started = 0; started < 2; started++) {
        snprintf(name, sizeof(name), "ndspi-fork-kept-%d-%d", (int)getpid(), started);
        staying_prepare(name);
        staying.wanted = !started;
        process = start_ignorant();
        if (started)
            staying_fork();
        staying.wanted = false;
        assert_true(staying.process > 0);
        assert_true(CloseHandle(staying.event));
        assert_non_null(staying.event = OpenEventA(EVENT_ALL_ACCESS, FALSE, name)); /* it is kept */
        assert_true(CloseHandle(staying.event));
        end_ignorant(process);
        assert_true(SETTLES(is_gone(name)));
        assert_true(SETTLES(pipes() == before + 1)); /* go[1] */
        close(staying.go[1]);
        child_succeeds(staying.process);
    }
    assert_int_equal(pipes(), before);
}

struct pool_use {
    HANDLE go, done;
    atomic_int busy, counted;
};

static DWORD WINAPI wait_for_go(LPVOID parameter)
{
    struct pool_use *use = parameter;

    atomic_fetch_add(&use->busy, 1);
    return WaitForSingleObject(use->go, LONG_MS);
}

static DWORD WINAPI count_one(LPVOID parameter)
{
    struct pool_use *use = parameter;

    atomic_fetch_add(&use->counted, 1);
    return SetEvent(use->done);
}

static VOID CALLBACK say_done(PVOID parameter, BOOLEAN fired)
{
    (void)fired;
    SetEvent(((struct pool_use *)parameter)->done);
}

static void child_uses_pool(struct pool_use *use)
{
    char path[MAX_PATH];
    OVERLAPPED at = { 0 };
    HANDLE file, timer;
    DWORD done;

    alarm(20);
    child_assert(QueueUserWorkItem(count_one, use, 0));
    child_assert(WaitForSingleObject(use->done, LONG_MS) == WAIT_OBJECT_0);
    child_assert(atomic_load(&use->counted) == 1); /* its own, not the parent's */
    child_assert(CreateTimerQueueTimer(&timer, NULL, say_done, use, 1, 0, 0));
    child_assert(WaitForSingleObject(use->done, LONG_MS) == WAIT_OBJECT_0);
    child_assert(GetTempFileNameA(".", "ndfork", 0, path));
    child_assert(
        (file = CreateFileA(path, GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
             FILE_FLAG_OVERLAPPED | FILE_FLAG_DELETE_ON_CLOSE, NULL)) != INVALID_HANDLE_VALUE);
    child_assert(WriteFile(file, "text", 4, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    child_assert(GetOverlappedResult(file, &at, &done, TRUE) && done == 4);
    child_assert(CloseHandle(file));
    _exit(0);
}

/* The child has threads of its own for what it has called, and calls nothing that its parent has queued. */
static void test_fork_pool(void **state)
{
    enum { THREADS = 64 }; /* the most that the pool has */
    struct pool_use use = { .go = CreateEventA(NULL, TRUE, FALSE, NULL),
        .done = CreateEventA(NULL, FALSE, FALSE, NULL) };
    pid_t child;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_true(QueueUserWorkItem(wait_for_go, &use, 0));
    assert_true(SETTLES(atomic_load(&use.busy) == THREADS));
    assert_true(QueueUserWorkItem(count_one, &use, 0));
    if (!(child = fork()))
        child_uses_pool(&use);
    child_succeeds(child);
    assert_int_equal(atomic_load(&use.counted), 0);
    assert_true(SetEvent(use.go));
    assert_wait(WaitForSingleObject(use.done, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(use.go) && CloseHandle(use.done));
}

/* What a thread of the parent does again and again, and the child does once. */
static void touch_memory(HANDLE heap)
{
    HANDLE mapping = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 4096, NULL);
    void *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);
    void *pages = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    HANDLE other = HeapCreate(0, 0, 0);

    HeapFree(heap, 0, HeapAlloc(heap, 0, 100));
    HeapDestroy(other);
    VirtualFree(pages, 0, MEM_RELEASE);
    UnmapViewOfFile(view);
    CloseHandle(mapping);
    FlsFree(FlsAlloc(NULL));
}

static void touch_files(HANDLE unused)
{
    HANDLE file =
        CreateFileA("/proc/self/exe", GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);

    (void)unused;
    CloseHandle(file);
    GetStdHandle(STD_ERROR_HANDLE);
}

struct toucher {
    void (*touch)(HANDLE heap);
    HANDLE heap;
    atomic_bool over;
};

static DWORD WINAPI touch_again(LPVOID parameter)
{
    struct toucher *toucher = parameter;

    while (!atomic_load(&toucher->over))
        toucher->touch(toucher->heap);
    return 0;
}

/* A fork while other threads are inside calls leaves the child none of their locks. */
static void test_fork_amid_calls(void **state)
{
    HANDLE heap = HeapCreate(0, 0, 0), threads[2];
    struct toucher touchers[2] = { { .touch = touch_memory, .heap = heap },
        { .touch = touch_files, .heap = heap } };
    pid_t child;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_non_null(threads[i] = CreateThread(NULL, 0, touch_again, &touchers[i], 0, NULL));
    for (int i = 0; i < 300; i++) {
        if (!(child = fork())) {
            alarm(20);
            touch_memory(heap);
            touch_files(heap);
            _exit(0);
        }
        child_succeeds(child);
    }
    for (int i = 0; i < 2; i++) {
        atomic_store(&touchers[i].over, true);
        assert_wait(WaitForSingleObject(threads[i], LONG_MS), WAIT_OBJECT_0);
        assert_true(CloseHandle(threads[i]));
    }
    assert_true(HeapDestroy(heap));
}

static DWORD WINAPI lock_heap(LPVOID heap)
{
    return HeapLock(heap); /* and never unlock it */
}

/* A heap that another thread has locked is free in the child; what the forking thread has locked stays its own. */
static void test_locked_heaps(void **state)
{
    HANDLE others = HeapCreate(0, 0, 0), own = HeapCreate(0, 0, 0);
    HANDLE thread = CreateThread(NULL, 0, lock_heap, others, 0, NULL);
    HANDLE many[50]; /* more than the locks that a thread holds otherwise */
    pid_t child;

    (void)state;
    for (int i = 0; i < 50; i++)
        assert_non_null(many[i] = HeapCreate(0, 0, 0));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(HeapLock(own));
    if (!(child = fork())) {
        alarm(20);
        HeapFree(others, 0, HeapAlloc(others, 0, 100));
        _exit(!HeapUnlock(own) || HeapUnlock(own));
    }
    child_succeeds(child);
    for (int i = 0; i < 50; i++)
        assert_true(HeapDestroy(many[i]));
    assert_true(HeapUnlock(own));
    assert_true(HeapDestroy(own));
    assert_true(HeapDestroy(others));
    assert_true(CloseHandle(thread));
}

/* Reads all of it at once, often; false if anything ends otherwise. */
static bool read_often(HANDLE file, HANDLE port, char *octets, DWORD size)
{
    OVERLAPPED all[16] = { 0 }, *ended;
    ULONG_PTR key;
    DWORD done;

    for (int i = 0; i < 16; i++)
        if (!ReadFile(file, octets, size, NULL, &all[i]) && GetLastError() != ERROR_IO_PENDING)
            return false;
    for (int i = 0; i < 16; i++)
        if (!GetQueuedCompletionStatus(port, &done, &key, &ended, INFINITE) || done != size)
            return false;
    return true;
}

/*
 * Files go by io_uring: what the parent has in flight stays its own, and ends there, whatever the child does with its
 * own ring.
 */
static void test_fork_files(void **state)
{
    enum { SIZE = 256 << 10 };
    char path[MAX_PATH], *octets = calloc(1, SIZE);
    OVERLAPPED at = { 0 }, all[16], *ended;
    HANDLE file, port;
    ULONG_PTR key;
    pid_t child;
    DWORD done;

    (void)state;
    assert_true(GetTempFileNameA(".", "ndfork", 0, path));
    file = CreateFileA(
        path, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, NULL);
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 0, 0));
    assert_true(WriteFile(file, octets, SIZE, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_true(GetQueuedCompletionStatus(port, &done, &key, &ended, LONG_MS));
    for (int round = 0; round < 10; round++) {
        memset(all, 0, sizeof(all));
        for (int i = 0; i < 16; i++)
            assert_true(
                ReadFile(file, octets, SIZE, NULL, &all[i]) || GetLastError() == ERROR_IO_PENDING);
        if (!(child = fork())) {
            alarm(LONG_MS / 1000);
            child_assert((port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0)) != NULL);
            child_assert((file = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE,
                              NULL, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, NULL)) ==
                         INVALID_HANDLE_VALUE); /* the parent's handle shares nothing */
            child_assert((file = CreateFileA("/proc/self/exe", GENERIC_READ, FILE_SHARE_READ, NULL,
                              OPEN_EXISTING, FILE_FLAG_OVERLAPPED, NULL)) != INVALID_HANDLE_VALUE);
            child_assert(CreateIoCompletionPort(file, port, 0, 0) == port);
            child_assert(read_often(file, port, octets, 4096));
            _exit(0);
        }
        for (int i = 0; i < 16; i++) {
            assert_true(GetQueuedCompletionStatus(port, &done, &key, &ended, LONG_MS));
            assert_int_equal(done, SIZE);
        }
        child_succeeds(child);
        assert_true(read_often(file, port, octets, SIZE));
    }
    assert_true(CloseHandle(file) && CloseHandle(port) && DeleteFileA(path));
    free(octets);
}

/* A request is the parent's: in the child the file waits for nothing. */
static void test_fork_while_a_request_is_pending(void **state)
{
    const char *name = own_name("\\\\.\\pipe\\ndspi-fork");
    HANDLE server = CreateNamedPipeA(
        name, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE, 1, 512, 512, 0, NULL);
    HANDLE client =
        CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    OVERLAPPED reading = { 0 };
    pid_t child;
    char octet;
    DWORD done;

    (void)state;
    assert_false(ReadFile(server, &octet, 1, NULL, &reading));
    assert_win_error(SPEC_ERROR_IO_PENDING);
    assert_wait(WaitForSingleObject(server, 0), WAIT_TIMEOUT);
    if (!(child = fork())) {
        child_assert(WaitForSingleObject(server, 0) == WAIT_OBJECT_0);
        _exit(0);
    }
    child_succeeds(child);
    assert_wait(WaitForSingleObject(server, 0), WAIT_TIMEOUT);
    assert_true(WriteFile(client, "x", 1, &done, NULL));
    assert_wait(WaitForSingleObject(server, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(client) && CloseHandle(server));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork_child_works_and_leaves_the_parent_alone),
        cmocka_unit_test(test_fork_thread_id_is_the_childs),
        cmocka_unit_test(test_fork_mutexes),
        cmocka_unit_test(test_fork_timers),
        cmocka_unit_test(test_fork_objects_with_names),
        cmocka_unit_test(test_fork_while_a_process_begins),
        cmocka_unit_test(test_fork_mappings),
        cmocka_unit_test(test_fork_console_handlers),
        cmocka_unit_test(test_fork_files),
        cmocka_unit_test(test_fork_while_a_request_is_pending),
        cmocka_unit_test(test_fork_amid_calls),
        cmocka_unit_test(test_locked_heaps),
        cmocka_unit_test(test_fork_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
