/* SPDX-License-Identifier: MIT */
/* test_flags.c - the flags that functions of all folders take and refuse (flags.h). */
#include "tests/unit/winobj/flags.h"

#include "tests/unit/winobj/call_error.h"

/* ---- files and pipes ---- */

static HANDLE file(DWORD access, DWORD share, DWORD flags)
{
    return CreateFileA(own_name("ndspi_flags"), access, share, NULL, OPEN_ALWAYS, flags, NULL);
}

static DWORD file_access(DWORD access)
{
    return closed(file(access, 7, 0));
}

static DWORD file_share(DWORD share)
{
    return closed(file(GENERIC_READ, share, 0));
}

static DWORD file_flags(DWORD flags)
{
    const DWORD error = closed(file(GENERIC_READ | GENERIC_WRITE | DELETE, 7, flags));

    SetFileAttributesA(own_name("ndspi_flags"), FILE_ATTRIBUTE_NORMAL);
    return error;
}

static DWORD file_attributes(DWORD attributes)
{
    DWORD error;

    CloseHandle(file(GENERIC_WRITE, 7, 0));
    error = error_if(!SetFileAttributesA(own_name("ndspi_flags"), attributes));
    SetFileAttributesA(own_name("ndspi_flags"), FILE_ATTRIBUTE_NORMAL);
    return error;
}

static DWORD file_modes(DWORD modes)
{
    HANDLE handle = file(GENERIC_READ, 7, FILE_FLAG_OVERLAPPED);
    const DWORD error = error_if(!SetFileCompletionNotificationModes(handle, (UCHAR)modes));

    CloseHandle(handle);
    return error;
}

static DWORD file_path(DWORD flags)
{
    HANDLE handle = file(GENERIC_READ, 7, 0);
    char path[1024];
    const DWORD error = error_if(!GetFinalPathNameByHandleA(handle, path, sizeof(path), flags));

    CloseHandle(handle);
    return error;
}

static DWORD file_find(DWORD flags)
{
    WIN32_FIND_DATAA data;
    HANDLE found;

    CloseHandle(file(GENERIC_WRITE, 7, 0));
    found = FindFirstFileExA(
        own_name("ndspi_flags"), FindExInfoStandard, &data, FindExSearchNameMatch, NULL, flags);
    if (found == INVALID_HANDLE_VALUE)
        return GetLastError();
    return error_if(!FindClose(found));
}

static const char *pipe_name(void)
{
    static char name[64];
    static unsigned count;

    snprintf(name, sizeof(name), "\\\\.\\pipe\\ndspi-flags.%u.%u", (unsigned)GetCurrentProcessId(),
        count++);
    return name;
}

static DWORD pipe_open(DWORD mode)
{
    return closed(
        CreateNamedPipeA(pipe_name(), mode | PIPE_ACCESS_DUPLEX, 0, 1, 512, 512, 0, NULL));
}

static DWORD pipe_mode(DWORD mode)
{
    return closed(CreateNamedPipeA(
        pipe_name(), PIPE_ACCESS_DUPLEX, mode | PIPE_TYPE_MESSAGE, 1, 512, 512, 0, NULL));
}

static DWORD pipe_state(DWORD mode)
{
    const char *name = pipe_name();
    HANDLE server =
        CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX, PIPE_TYPE_MESSAGE, 1, 512, 512, 0, NULL);
    HANDLE client =
        CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    const DWORD error = error_if(!SetNamedPipeHandleState(client, &mode, NULL, NULL));

    CloseHandle(client);
    CloseHandle(server);
    return error;
}

/* ---- objects ---- */

static DWORD event_flags(DWORD flags)
{
    return closed(CreateEventExA(NULL, NULL, flags, EVENT_ALL_ACCESS));
}

static DWORD event_access(DWORD access)
{
    return closed(CreateEventExA(NULL, NULL, 0, access));
}

static DWORD mutex_flags(DWORD flags)
{
    return closed(CreateMutexExA(NULL, NULL, flags, MUTEX_ALL_ACCESS));
}

static DWORD semaphore_flags(DWORD flags)
{
    return closed(CreateSemaphoreExA(NULL, 0, 1, NULL, flags, SEMAPHORE_ALL_ACCESS));
}

static DWORD timer_flags(DWORD flags)
{
    return closed(CreateWaitableTimerExA(NULL, NULL, flags, TIMER_ALL_ACCESS));
}

static DWORD timer_access(DWORD access)
{
    return closed(CreateWaitableTimerExA(NULL, NULL, 0, access));
}

static DWORD process_access(DWORD access)
{
    return closed(OpenProcess(access, FALSE, GetCurrentProcessId()));
}

static DWORD duplicate_options(DWORD options)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL), made = NULL;
    const DWORD error = error_if(!DuplicateHandle(
        GetCurrentProcess(), event, GetCurrentProcess(), &made, EVENT_ALL_ACCESS, FALSE, options));

    CloseHandle(event);
    CloseHandle(made);
    return error;
}

static DWORD handle_flags(DWORD mask)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    const DWORD error = error_if(!SetHandleInformation(port, mask, 0));

    CloseHandle(port);
    return error;
}

static DWORD mutex_access(DWORD access)
{
    return closed(CreateMutexExA(NULL, NULL, 0, access));
}

static DWORD semaphore_access(DWORD access)
{
    return closed(CreateSemaphoreExA(NULL, 0, 1, NULL, 0, access));
}

static DWORD library_flags(DWORD flags)
{
    char path[1024];
    HMODULE module = LoadLibraryA("kernel32.dll");
    DWORD error = error_if(!GetModuleFileNameA(module, path, sizeof(path)));

    FreeLibrary(module);
    if (error)
        return error;
    error = error_if(!(module = LoadLibraryExA(path, NULL, flags)));
    if (!error)
        FreeLibrary(module);
    return error;
}

/* ---- threads, waits, locks ---- */

static DWORD WINAPI ends(LPVOID unused)
{
    (void)unused;
    return 0;
}

static VOID CALLBACK called(PVOID unused, BOOLEAN timed_out)
{
    (void)unused;
    (void)timed_out;
}

static DWORD thread_flags(DWORD flags)
{
    HANDLE thread = CreateThread(NULL, 0, ends, NULL, flags, NULL);

    if (!thread)
        return GetLastError();
    ResumeThread(thread);
    WaitForSingleObject(thread, LONG_MS);
    CloseHandle(thread);
    return 0;
}

static DWORD work_flags(DWORD flags)
{
    return error_if(!QueueUserWorkItem(ends, NULL, flags));
}

static DWORD wait_flags(DWORD flags)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL), wait = NULL;
    const DWORD error =
        error_if(!RegisterWaitForSingleObject(&wait, event, called, NULL, INFINITE, flags));

    if (!error)
        UnregisterWaitEx(wait, INVALID_HANDLE_VALUE);
    CloseHandle(event);
    return error;
}

static DWORD queue_timer_flags(DWORD flags)
{
    HANDLE timer = NULL;
    const DWORD error =
        error_if(!CreateTimerQueueTimer(&timer, NULL, called, NULL, 1000000, 0, flags));

    if (!error)
        DeleteTimerQueueTimer(NULL, timer, INVALID_HANDLE_VALUE);
    return error;
}

static DWORD once_flags(DWORD flags)
{
    INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    BOOL pending;

    return error_if(!InitOnceBeginInitialize(&once, flags, &pending, NULL));
}

static DWORD condition_flags(DWORD flags)
{
    SRWLOCK lock = SRWLOCK_INIT;
    CONDITION_VARIABLE condition = CONDITION_VARIABLE_INIT;
    DWORD error;

    if (flags & CONDITION_VARIABLE_LOCKMODE_SHARED)
        AcquireSRWLockShared(&lock);
    else
        AcquireSRWLockExclusive(&lock);
    error = error_if(!SleepConditionVariableSRW(&condition, &lock, 0, flags));
    return error == ERROR_TIMEOUT ? 0 : error;
}

static DWORD section_flags(DWORD flags)
{
    CRITICAL_SECTION section;
    const DWORD error = error_if(!InitializeCriticalSectionEx(&section, 0, flags));

    if (!error)
        DeleteCriticalSection(&section);
    return error;
}

/* ---- memory and text ---- */

static DWORD pages_type(DWORD type)
{
    void *pages = VirtualAlloc(NULL, 65536, type | MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

    return pages ? error_if(!VirtualFree(pages, 0, MEM_RELEASE)) : GetLastError();
}

static DWORD pages_protection(DWORD protection)
{
    void *pages = VirtualAlloc(NULL, 65536, MEM_RESERVE | MEM_COMMIT, protection);

    return pages ? error_if(!VirtualFree(pages, 0, MEM_RELEASE)) : GetLastError();
}

static DWORD heap_flags(DWORD flags)
{
    void *block = HeapAlloc(GetProcessHeap(), flags, 100);

    return block ? error_if(!HeapFree(GetProcessHeap(), 0, block)) : ERROR_NOT_ENOUGH_MEMORY;
}

static DWORD mapping_view(DWORD access)
{
    HANDLE mapping = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 65536, NULL);
    void *view = MapViewOfFile(mapping, access | FILE_MAP_READ, 0, 0, 0);
    const DWORD error = view ? error_if(!UnmapViewOfFile(view)) : GetLastError();

    CloseHandle(mapping);
    return error;
}

static DWORD to_wide(DWORD flags)
{
    WCHAR wide[8];

    return error_if(!MultiByteToWideChar(CP_UTF8, flags, "abc", 3, wide, 8));
}

static DWORD from_wide(DWORD flags)
{
    const WCHAR wide[] = { 'a', 'b', 'c', 0 };
    char text[8];

    return error_if(!WideCharToMultiByte(CP_UTF8, flags, wide, 3, text, 8, NULL, NULL));
}

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION /* newer than MinGW's headers */
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 2
#endif

/* Names that several rows have. */
#define RIGHTS (DELETE | READ_CONTROL | WRITE_DAC | WRITE_OWNER | SYNCHRONIZE)
#define FILE_RIGHTS                                                                                \
    (FILE_READ_DATA | FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_READ_EA | FILE_WRITE_EA |          \
        FILE_EXECUTE | FILE_DELETE_CHILD | FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES |          \
        FILE_LIST_DIRECTORY | FILE_ADD_FILE | FILE_ADD_SUBDIRECTORY | FILE_TRAVERSE |              \
        FILE_ALL_ACCESS)
#define ATTRIBUTES                                                                                 \
    (FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM |                     \
        FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_NORMAL | FILE_ATTRIBUTE_TEMPORARY)
#define PROCESS_RIGHTS                                                                             \
    (PROCESS_TERMINATE | PROCESS_CREATE_THREAD | PROCESS_SET_SESSIONID | PROCESS_VM_OPERATION |    \
        PROCESS_VM_READ | PROCESS_VM_WRITE | PROCESS_DUP_HANDLE | PROCESS_CREATE_PROCESS |         \
        PROCESS_SET_QUOTA | PROCESS_SET_INFORMATION | PROCESS_QUERY_INFORMATION |                  \
        PROCESS_SUSPEND_RESUME | PROCESS_QUERY_LIMITED_INFORMATION)
#define POOL_FLAGS                                                                                 \
    (WT_EXECUTEINIOTHREAD | WT_EXECUTELONGFUNCTION | WT_EXECUTEINPERSISTENTTHREAD |                \
        WT_TRANSFER_IMPERSONATION)

static const struct function functions[] = {
    { "CreateFile, access", file_access, 0xF01F01FF, 0, 0, false,
        GENERIC_READ | GENERIC_WRITE | GENERIC_EXECUTE | GENERIC_ALL | FILE_RIGHTS | RIGHTS },
    { "CreateFile, sharing", file_share, 7, 0xFFFFFFF8, SPEC_ERROR_INVALID_PARAMETER, false,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE },
    { "CreateFile, flags", file_flags, 0xDE0001A7, 0, 0, false,
        FILE_FLAG_WRITE_THROUGH | FILE_FLAG_OVERLAPPED | FILE_FLAG_RANDOM_ACCESS |
            FILE_FLAG_SEQUENTIAL_SCAN | FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_BACKUP_SEMANTICS |
            ATTRIBUTES },
    { "SetFileAttributes", file_attributes, 0x1A7, 0, 0, false, ATTRIBUTES },
    { "SetFileCompletionNotificationModes", file_modes, 3, 0xF8, SPEC_ERROR_INVALID_PARAMETER,
        false, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE },
    { "GetFinalPathNameByHandle", file_path, 0, 0xFFFFFFF0, SPEC_ERROR_INVALID_PARAMETER, true,
        FILE_NAME_NORMALIZED | VOLUME_NAME_DOS },
    { "FindFirstFileEx", file_find, 3, 0xFFFFFFF8, SPEC_ERROR_INVALID_PARAMETER, false,
        FIND_FIRST_EX_CASE_SENSITIVE | FIND_FIRST_EX_LARGE_FETCH },
    { "CreateNamedPipe, open mode", pipe_open, 0xC00C0003, 0x3EF3FFFC, SPEC_ERROR_INVALID_PARAMETER,
        false,
        PIPE_ACCESS_INBOUND | PIPE_ACCESS_OUTBOUND | PIPE_ACCESS_DUPLEX |
            FILE_FLAG_FIRST_PIPE_INSTANCE | FILE_FLAG_WRITE_THROUGH | FILE_FLAG_OVERLAPPED |
            WRITE_DAC | WRITE_OWNER },
    { "CreateNamedPipe, pipe mode", pipe_mode, 0xF, 0xFFFFFFF0, SPEC_ERROR_INVALID_PARAMETER, false,
        PIPE_TYPE_BYTE | PIPE_TYPE_MESSAGE | PIPE_READMODE_BYTE | PIPE_READMODE_MESSAGE |
            PIPE_WAIT | PIPE_NOWAIT | PIPE_ACCEPT_REMOTE_CLIENTS | PIPE_REJECT_REMOTE_CLIENTS },
    { "SetNamedPipeHandleState", pipe_state, 3, 0xFFFFFFF8, SPEC_ERROR_INVALID_PARAMETER, true,
        PIPE_READMODE_BYTE | PIPE_READMODE_MESSAGE | PIPE_WAIT | PIPE_NOWAIT },
    { "CreateEventEx, flags", event_flags, 3, 0xFFFFFFFC, SPEC_ERROR_INVALID_PARAMETER, false,
        CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET },
    { "CreateEventEx, access", event_access, 0x1F0003, 0, 0, false,
        EVENT_ALL_ACCESS | EVENT_MODIFY_STATE | RIGHTS },
    { "CreateMutexEx, flags", mutex_flags, 1, 0xFFFFFFFE, SPEC_ERROR_INVALID_PARAMETER, false,
        CREATE_MUTEX_INITIAL_OWNER },
    { "CreateSemaphoreEx, flags", semaphore_flags, 0, 0xFFFFFFFF, SPEC_ERROR_INVALID_PARAMETER,
        false, 0 },
    { "CreateWaitableTimerEx, flags", timer_flags, 3, 0xFFFFFFFC, SPEC_ERROR_INVALID_PARAMETER,
        false, CREATE_WAITABLE_TIMER_MANUAL_RESET | CREATE_WAITABLE_TIMER_HIGH_RESOLUTION },
    { "CreateWaitableTimerEx, access", timer_access, 0x1F0003, 0, 0, false,
        TIMER_ALL_ACCESS | TIMER_QUERY_STATE | TIMER_MODIFY_STATE },
    { "OpenProcess", process_access, 0x1FFFFF, 0, 0, false, PROCESS_ALL_ACCESS | PROCESS_RIGHTS },
    { "CreateMutexEx, access", mutex_access, 0x1F0001, 0, 0, false,
        MUTEX_ALL_ACCESS | MUTEX_MODIFY_STATE },
    { "CreateSemaphoreEx, access", semaphore_access, 0x1F0003, 0, 0, false,
        SEMAPHORE_ALL_ACCESS | SEMAPHORE_MODIFY_STATE },
    { "LoadLibraryEx", library_flags, 0x1F08, 0, 0, false,
        LOAD_WITH_ALTERED_SEARCH_PATH | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR |
            LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_USER_DIRS |
            LOAD_LIBRARY_SEARCH_SYSTEM32 | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS },
    { "DuplicateHandle", duplicate_options, 3, 0xFFFFFFFC, SPEC_ERROR_INVALID_PARAMETER, false,
        DUPLICATE_CLOSE_SOURCE | DUPLICATE_SAME_ACCESS },
    { "SetHandleInformation", handle_flags, 1, 0xFFFFFFFC, SPEC_ERROR_INVALID_PARAMETER, false,
        HANDLE_FLAG_INHERIT },
    { "CreateThread", thread_flags, 0x10004, 0xFFFEFFFB, SPEC_ERROR_INVALID_PARAMETER, false,
        CREATE_SUSPENDED | STACK_SIZE_PARAM_IS_A_RESERVATION },
    { "QueueUserWorkItem", work_flags, 0x191, 0xF200, SPEC_ERROR_INVALID_PARAMETER, false,
        POOL_FLAGS },
    { "RegisterWaitForSingleObject", wait_flags, 0x19D, 0xF200, SPEC_ERROR_INVALID_PARAMETER, false,
        POOL_FLAGS | WT_EXECUTEINWAITTHREAD | WT_EXECUTEONLYONCE },
    { "CreateTimerQueueTimer", queue_timer_flags, 0x1B9, 0xF200, SPEC_ERROR_INVALID_PARAMETER,
        false, POOL_FLAGS | WT_EXECUTEINTIMERTHREAD | WT_EXECUTEONLYONCE },
    { "InitOnceBeginInitialize", once_flags, 2, 0xFFFFFFF8, SPEC_ERROR_INVALID_PARAMETER, false,
        INIT_ONCE_ASYNC },
    { "SleepConditionVariableSRW", condition_flags, 1, 0xFFFFFFFE, SPEC_ERROR_INVALID_PARAMETER,
        false, CONDITION_VARIABLE_LOCKMODE_SHARED },
    { "InitializeCriticalSectionEx", section_flags, 0x01000000, 0xE0000000,
        SPEC_ERROR_INVALID_PARAMETER, false, CRITICAL_SECTION_NO_DEBUG_INFO },
    { "VirtualAlloc, type", pages_type, 0x103000, 0xFFF, SPEC_ERROR_INVALID_PARAMETER, true,
        MEM_COMMIT | MEM_RESERVE | MEM_TOP_DOWN },
    { "VirtualAlloc, protection", pages_protection, 0x77, 0, 0, false,
        PAGE_NOACCESS | PAGE_READONLY | PAGE_READWRITE | PAGE_EXECUTE | PAGE_EXECUTE_READ |
            PAGE_EXECUTE_READWRITE },
    { "HeapAlloc", heap_flags, 9, 0, 0, false, HEAP_NO_SERIALIZE | HEAP_ZERO_MEMORY },
    { "MapViewOfFile", mapping_view, 6, 0, 0, false, FILE_MAP_READ | FILE_MAP_WRITE },
    { "MultiByteToWideChar, UTF-8", to_wide, 8, 0xFFFFFFF0, SPEC_ERROR_INVALID_FLAGS, true,
        MB_ERR_INVALID_CHARS },
    { "WideCharToMultiByte, UTF-8", from_wide, 0x80, 0xFFFFF900, SPEC_ERROR_INVALID_FLAGS, true,
        WC_ERR_INVALID_CHARS },
};

static void test_known_flags_are_taken(void **state)
{
    (void)state;
    assert_known_are_taken(functions, sizeof(functions) / sizeof(functions[0]));
}

static void test_unknown_flags_are_refused(void **state)
{
    (void)state;
    assert_unknown_are_refused(functions, sizeof(functions) / sizeof(functions[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_flags_are_taken),
        cmocka_unit_test(test_unknown_flags_are_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    DeleteFileA(own_name("ndspi_flags"));
    return failed;
}
