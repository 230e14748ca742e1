/* SPDX-License-Identifier: MIT */
/* test_constants.c - constants that functions of files, pipes, memory and waits take, refuse and tell (constants.h). */
#include "tests/unit/winobj/constants.h"

/* ---- files ---- */

static HANDLE file(DWORD access, DWORD how)
{
    return CreateFileA(own_name("ndspi_constants"), access, 7, NULL, how, 0, NULL);
}

static DWORD file_disposition(DWORD how)
{
    if (how == CREATE_NEW)
        DeleteFileA(own_name("ndspi_constants"));
    else
        CloseHandle(file(GENERIC_WRITE, OPEN_ALWAYS));
    return closed(file(GENERIC_WRITE, how));
}

static DWORD file_access(DWORD access)
{
    return closed(file(access, OPEN_ALWAYS));
}

static DWORD file_position(DWORD from)
{
    HANDLE handle = file(GENERIC_READ, OPEN_ALWAYS);
    const DWORD error = error_if(SetFilePointer(handle, 0, NULL, from) == INVALID_SET_FILE_POINTER);

    CloseHandle(handle);
    return error;
}

static DWORD file_lock(DWORD flags)
{
    HANDLE handle = file(GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS);
    OVERLAPPED overlapped;
    DWORD error;

    memset(&overlapped, 0, sizeof(overlapped));
    error = error_if(!LockFileEx(handle, flags, 0, 1, 0, &overlapped));
    CloseHandle(handle);
    return error;
}

static DWORD file_kind(DWORD kind)
{
    HANDLE other = NULL, handle = INVALID_HANDLE_VALUE;
    DWORD told;

    if (kind == FILE_TYPE_DISK)
        handle = file(GENERIC_READ, OPEN_ALWAYS);
    else if (kind == FILE_TYPE_PIPE)
        CreatePipe(&handle, &other, NULL, 0);
    else if (kind == FILE_TYPE_CHAR)
#ifdef _WIN32
        handle = CreateFileA("NUL", GENERIC_READ, 7, NULL, OPEN_EXISTING, 0, NULL);
#else
        handle = CreateFileA("/dev/null", GENERIC_READ, 7, NULL, OPEN_EXISTING, 0, NULL);
#endif
    else
        handle = CreateEventA(NULL, FALSE, FALSE, NULL);
    told = GetFileType(handle);
    CloseHandle(handle);
    if (other)
        CloseHandle(other);
    return told;
}

static DWORD told_attributes(DWORD attributes)
{
    return GetFileAttributesA(attributes == FILE_ATTRIBUTE_DIRECTORY ? "." : own_name("missing"));
}

static DWORD told_size(DWORD size)
{
    (void)size;
    return GetFileSize(INVALID_HANDLE_VALUE, NULL);
}

static DWORD told_position(DWORD position)
{
    (void)position;
    return SetFilePointer(INVALID_HANDLE_VALUE, 0, NULL, FILE_BEGIN);
}

static DWORD standard_handle(DWORD which)
{
    return error_if(GetStdHandle(which) == INVALID_HANDLE_VALUE);
}

#ifndef _WIN32 /* Wine protects handles */
static DWORD handle_flags(DWORD flag)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL);
    const DWORD error = error_if(!SetHandleInformation(event, flag, flag));

    CloseHandle(event);
    return error;
}
#endif

/* ---- pipes ---- */

static const char *pipe_name(void)
{
    static char name[64];
    static unsigned count;

    snprintf(name, sizeof(name), "\\\\.\\pipe\\ndspi-constants.%u.%u",
        (unsigned)GetCurrentProcessId(), count++);
    return name;
}

static HANDLE pipe_server(const char *name, DWORD instances)
{
    return CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX, 0, instances, 512, 512, 0, NULL);
}

static DWORD pipe_instances(DWORD instances)
{
    return closed(pipe_server(pipe_name(), instances));
}

#ifndef _WIN32 /* Wine does not look */
static DWORD pipe_open(DWORD flags)
{
    return closed(CreateNamedPipeA(
        pipe_name(), PIPE_ACCESS_DUPLEX | flags, 0, PIPE_UNLIMITED_INSTANCES, 512, 512, 0, NULL));
}
#endif

static DWORD pipe_wait(DWORD timeout)
{
    const char *name = pipe_name();
    HANDLE server = pipe_server(name, 1);
    const DWORD error = error_if(!WaitNamedPipeA(name, timeout));

    CloseHandle(server);
    return error;
}

static DWORD pipe_end(DWORD end)
{
    const char *name = pipe_name();
    HANDLE server = pipe_server(name, 1);
    HANDLE client =
        CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    DWORD told = 99;

    GetNamedPipeInfo(end == PIPE_SERVER_END ? server : client, &told, NULL, NULL, NULL);
    CloseHandle(client);
    CloseHandle(server);
    return told;
}

/* ---- memory ---- */

static DWORD mapping_protection(DWORD protection)
{
    return closed(CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, protection, 0, 65536, NULL));
}

static DWORD mapping_section(DWORD flag)
{
    return mapping_protection(PAGE_READWRITE | flag);
}

static void *view_of(DWORD access)
{
    HANDLE mapping = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 65536, NULL);
    void *view = MapViewOfFile(mapping, access, 0, 0, 0);

    CloseHandle(mapping);
    return view;
}

static DWORD mapping_view(DWORD access)
{
    void *view = view_of(access);

    return view ? error_if(!UnmapViewOfFile(view)) : GetLastError();
}

static DWORD pages_protect(DWORD protection)
{
    void *pages = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    DWORD before, error = error_if(!VirtualProtect(pages, 4096, protection, &before));

    VirtualFree(pages, 0, MEM_RELEASE);
    return error;
}

static DWORD view_protect(DWORD protection)
{
    void *view = view_of(FILE_MAP_COPY);
    DWORD before, error = error_if(!VirtualProtect(view, 4096, protection, &before));

    UnmapViewOfFile(view);
    return error;
}

static DWORD pages_protection(DWORD protection)
{
    void *pages = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, protection);

    return pages ? error_if(!VirtualFree(pages, 0, MEM_RELEASE)) : GetLastError();
}

static DWORD pages_free(DWORD how)
{
    void *pages = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    const DWORD error = error_if(!VirtualFree(pages, 0, how));

    if (how != MEM_RELEASE)
        VirtualFree(pages, 0, MEM_RELEASE);
    return error;
}

static DWORD pages_told(DWORD what)
{
    MEMORY_BASIC_INFORMATION told = { 0 };
    char *pages = what == MEM_MAPPED ? view_of(FILE_MAP_READ)
                                     : VirtualAlloc(NULL, 65536, MEM_RESERVE, PAGE_READWRITE);

    if (what == MEM_COMMIT)
        VirtualAlloc(pages, 4096, MEM_COMMIT, PAGE_READWRITE);
    if (what == MEM_FREE)
        VirtualFree(pages, 0, MEM_RELEASE);
    VirtualQuery(pages, &told, sizeof(told));
    if (what == MEM_MAPPED)
        UnmapViewOfFile(pages);
    else if (what != MEM_FREE)
        VirtualFree(pages, 0, MEM_RELEASE);
    return what == MEM_PRIVATE || what == MEM_MAPPED ? told.Type : told.State;
}

static DWORD heap_block(DWORD flags)
{
    PROCESS_HEAP_ENTRY entry = { 0 };
    HANDLE heap = HeapCreate(0, 0, 0);
    void *block = HeapAlloc(heap, 0, 100);
    DWORD told = 0;

    while (block && !told && HeapWalk(heap, &entry))
        told = entry.wFlags & flags;
    HeapDestroy(heap);
    return told;
}

/* ---- waits ---- */

static DWORD wait_time(DWORD time_ms)
{
    HANDLE event = CreateEventA(NULL, FALSE, TRUE, NULL);
    const DWORD found = WaitForSingleObject(event, time_ms);

    CloseHandle(event);
    return found;
}

static DWORD wait_count(DWORD count)
{
    HANDLE events[MAXIMUM_WAIT_OBJECTS] = { NULL };
    DWORD found;

    for (DWORD i = 0; i < count; i++)
        events[i] = CreateEventA(NULL, FALSE, TRUE, NULL);
    found = WaitForMultipleObjects(count, events, TRUE, INFINITE);
    for (DWORD i = 0; i < count; i++)
        CloseHandle(events[i]);
    return found;
}

static VOID CALLBACK called(ULONG_PTR unused)
{
    (void)unused;
}

static DWORD WINAPI abandons(LPVOID mutex)
{
    return WaitForSingleObject(mutex, LONG_MS);
}

static DWORD wait_told(DWORD what)
{
    HANDLE mutex = CreateMutexA(NULL, FALSE, NULL);
    HANDLE event = CreateEventA(NULL, TRUE, what == WAIT_OBJECT_0, NULL);
    DWORD told;

    if (what == WAIT_ABANDONED) {
        HANDLE thread = CreateThread(NULL, 0, abandons, mutex, 0, NULL);

        WaitForSingleObject(thread, LONG_MS);
        CloseHandle(thread);
    }
    if (what == WAIT_IO_COMPLETION)
        QueueUserAPC(called, GetCurrentThread(), 0);
    told = WaitForSingleObjectEx(what == WAIT_ABANDONED ? mutex
                                 : what == WAIT_FAILED  ? NULL
                                                        : event,
        what == WAIT_TIMEOUT || what == WAIT_FAILED ? 0 : LONG_MS, what == WAIT_IO_COMPLETION);
    CloseHandle(event);
    CloseHandle(mutex);
    return told;
}

static DWORD thread_access(DWORD access)
{
    HANDLE made = NULL;

    return error_if(!DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(),
               &made, access, FALSE, 0)) ||
           closed(made);
}

static const struct constants table[] = {
    TAKES("CreateFile, disposition", file_disposition, CREATE_NEW, CREATE_ALWAYS, OPEN_EXISTING,
        OPEN_ALWAYS, TRUNCATE_EXISTING),
    TAKES("CreateFile, access", file_access, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
        FILE_GENERIC_EXECUTE, STANDARD_RIGHTS_READ, STANDARD_RIGHTS_WRITE, STANDARD_RIGHTS_EXECUTE,
        STANDARD_RIGHTS_REQUIRED, STANDARD_RIGHTS_ALL),
    TAKES("SetFilePointer", file_position, FILE_BEGIN, FILE_CURRENT, FILE_END),
    TAKES("LockFileEx", file_lock, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY),
    TAKES("GetStdHandle", standard_handle, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE),
    TELLS("GetFileType", file_kind, FILE_TYPE_DISK, FILE_TYPE_PIPE, FILE_TYPE_CHAR,
        FILE_TYPE_UNKNOWN),
    TELLS("GetFileAttributes", told_attributes, FILE_ATTRIBUTE_DIRECTORY, INVALID_FILE_ATTRIBUTES),
    TELLS("GetFileSize", told_size, INVALID_FILE_SIZE),
    TELLS("SetFilePointer", told_position, INVALID_SET_FILE_POINTER),
#ifndef _WIN32 /* Wine protects handles */
    REFUSES("SetHandleInformation", SPEC_ERROR_NOT_SUPPORTED, handle_flags,
        HANDLE_FLAG_PROTECT_FROM_CLOSE),
#endif
    TAKES("CreateNamedPipe, instances", pipe_instances, PIPE_UNLIMITED_INSTANCES),
#ifndef _WIN32 /* Wine does not look */
    REFUSES("CreateNamedPipe, open mode", SPEC_ERROR_INVALID_PARAMETER, pipe_open,
        FILE_FLAG_RANDOM_ACCESS, FILE_FLAG_SEQUENTIAL_SCAN, FILE_FLAG_DELETE_ON_CLOSE,
        FILE_FLAG_BACKUP_SEMANTICS),
#endif
    TAKES(
        "WaitNamedPipe", pipe_wait, NMPWAIT_USE_DEFAULT_WAIT, NMPWAIT_NOWAIT, NMPWAIT_WAIT_FOREVER),
    TELLS("GetNamedPipeInfo", pipe_end, PIPE_CLIENT_END, PIPE_SERVER_END),
    TAKES("CreateFileMapping", mapping_protection, PAGE_READONLY, PAGE_READWRITE),
    TAKES("CreateFileMapping", mapping_section, SEC_COMMIT),
    REFUSES("CreateFileMapping", SPEC_ERROR_INVALID_PARAMETER, mapping_protection, PAGE_NOACCESS,
        PAGE_EXECUTE),
#ifndef _WIN32 /* Windows takes them */
    REFUSES("CreateFileMapping", SPEC_ERROR_INVALID_PARAMETER, mapping_protection, PAGE_WRITECOPY,
        PAGE_EXECUTE_READ, PAGE_EXECUTE_READWRITE),
#endif
    TAKES("MapViewOfFile", mapping_view, FILE_MAP_COPY, FILE_MAP_READ, FILE_MAP_WRITE,
        FILE_MAP_ALL_ACCESS),
    TAKES("VirtualProtect", pages_protect, PAGE_NOACCESS, PAGE_READONLY, PAGE_READWRITE,
        PAGE_EXECUTE, PAGE_EXECUTE_READ, PAGE_EXECUTE_READWRITE),
    TAKES("VirtualProtect, of a view of FILE_MAP_COPY", view_protect, PAGE_WRITECOPY),
    REFUSES(
        "VirtualAlloc, protection", SPEC_ERROR_INVALID_PARAMETER, pages_protection, PAGE_WRITECOPY),
    TAKES("VirtualFree", pages_free, MEM_DECOMMIT, MEM_RELEASE),
    TELLS("VirtualQuery", pages_told, MEM_COMMIT, MEM_RESERVE, MEM_FREE, MEM_PRIVATE, MEM_MAPPED),
    TELLS("HeapWalk", heap_block, PROCESS_HEAP_ENTRY_BUSY),
    TAKES("WaitForSingleObject, time", wait_time, INFINITE),
    TAKES("WaitForMultipleObjects, count", wait_count, MAXIMUM_WAIT_OBJECTS),
    TELLS("WaitForSingleObjectEx", wait_told, WAIT_OBJECT_0, WAIT_TIMEOUT, WAIT_ABANDONED,
        WAIT_ABANDONED_0, WAIT_IO_COMPLETION, WAIT_FAILED),
    TAKES("DuplicateHandle, access to a thread", thread_access, THREAD_ALL_ACCESS, THREAD_TERMINATE,
        THREAD_SUSPEND_RESUME, THREAD_GET_CONTEXT, THREAD_SET_CONTEXT, THREAD_SET_INFORMATION,
        THREAD_QUERY_INFORMATION, THREAD_SET_LIMITED_INFORMATION, THREAD_QUERY_LIMITED_INFORMATION,
        SYNCHRONIZE),
};

static void test_constants_are_taken_refused_told(void **state)
{
    (void)state;
    assert_true(constants_hold(table, sizeof(table) / sizeof(table[0])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_taken_refused_told),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    DeleteFileA(own_name("ndspi_constants"));
    return failed;
}
