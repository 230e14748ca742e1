/* SPDX-License-Identifier: MIT */
/*
 * test_constants.c - constants that functions of processes, threads, text and the system take, refuse and tell
 * (constants.h). It starts itself as other processes, which end at once.
 */
#include "tests/unit/winobj/constants.h"

#include <strsafe.h>
#include <winioctl.h>

static char program[MAX_PATH];

/* ---- processes ---- */

/* The error of a start with these flags and this information; the process is ended, or taken. */
static DWORD start(DWORD flags, DWORD use, PROCESS_INFORMATION *taken)
{
    STARTUPINFOEXA information;
    PROCESS_INFORMATION started;
    char command[MAX_PATH + 16];

    memset(&information, 0, sizeof(information));
    information.StartupInfo.cb = flags & EXTENDED_STARTUPINFO_PRESENT
                                     ? sizeof(information)
                                     : sizeof(information.StartupInfo);
    information.StartupInfo.dwFlags = use;
    information.StartupInfo.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    information.StartupInfo.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    information.StartupInfo.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    snprintf(command, sizeof(command), "\"%s\" end", program);
    if (!CreateProcessA(NULL, command, NULL, NULL, (use & STARTF_USESTDHANDLES) != 0, flags, NULL,
            NULL, &information.StartupInfo, &started))
        return GetLastError();
    if (taken) {
        *taken = started;
        return 0;
    }
    if (flags & CREATE_SUSPENDED)
        ResumeThread(started.hThread);
    WaitForSingleObject(started.hProcess, LONG_MS);
    CloseHandle(started.hThread);
    CloseHandle(started.hProcess);
    return 0;
}

static DWORD start_flags(DWORD flags)
{
    return start(flags, 0, NULL);
}

static DWORD start_use(DWORD use)
{
    return start(0, use, NULL);
}

/* Whoever has no privilege is refused the classes above his own. */
static DWORD raised(DWORD error)
{
    return error == ERROR_ACCESS_DENIED ? 0 : error;
}

static DWORD start_class(DWORD priority_class)
{
    return raised(start(priority_class, 0, NULL));
}

static DWORD set_class(DWORD priority_class)
{
    PROCESS_INFORMATION process;
    DWORD error = start(CREATE_SUSPENDED, 0, &process);

    if (error)
        return error;
    error = error_if(!SetPriorityClass(process.hProcess, priority_class));
    TerminateProcess(process.hProcess, 0);
    WaitForSingleObject(process.hProcess, LONG_MS);
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    return raised(error);
}

static DWORD told_exit(DWORD code)
{
    DWORD told = 0;

    (void)code;
    GetExitCodeProcess(GetCurrentProcess(), &told);
    return told;
}

static DWORD start_attribute(DWORD attribute)
{
    union {
        max_align_t aligned;
        char octets[512];
    } room;
    LPPROC_THREAD_ATTRIBUTE_LIST list = (LPPROC_THREAD_ATTRIBUTE_LIST)&room;
    SIZE_T size = sizeof(room);
    HANDLE handle = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD error = error_if(!InitializeProcThreadAttributeList(list, 1, 0, &size));

    if (error)
        return error;
    error = error_if(!UpdateProcThreadAttribute(list, 0, attribute, &handle,
        attribute == PROC_THREAD_ATTRIBUTE_PREFERRED_NODE ? 2 : 8, NULL, NULL));
    DeleteProcThreadAttributeList(list);
    return error;
}

/* ---- threads ---- */

static DWORD WINAPI ends(LPVOID unused)
{
    (void)unused;
    return 0;
}

static DWORD set_priority(DWORD priority)
{
    HANDLE thread = CreateThread(NULL, 0, ends, NULL, CREATE_SUSPENDED, NULL);
    const DWORD error = error_if(!SetThreadPriority(thread, (int)priority));

    ResumeThread(thread);
    WaitForSingleObject(thread, LONG_MS);
    CloseHandle(thread);
    return raised(error);
}

static DWORD told_priority(DWORD priority)
{
    (void)priority;
    return (DWORD)GetThreadPriority(INVALID_HANDLE_VALUE);
}

static DWORD queue_work(DWORD flags)
{
    return error_if(!QueueUserWorkItem(ends, NULL, flags));
}

static DWORD group_processors(DWORD group)
{
    return error_if(!GetActiveProcessorCount((WORD)group));
}

/* ---- locks ---- */

static DWORD once_complete(DWORD flags)
{
    INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    BOOL pending;

    if (!InitOnceBeginInitialize(&once, flags & INIT_ONCE_ASYNC, &pending, NULL))
        return GetLastError();
    return error_if(!InitOnceComplete(&once, flags, NULL));
}

static DWORD once_check(DWORD flags)
{
    INIT_ONCE once = RTL_RUN_ONCE_INIT;
    BOOL pending;

    if (!InitOnceBeginInitialize(&once, 0, &pending, NULL) || !InitOnceComplete(&once, 0, NULL))
        return GetLastError();
    return error_if(!InitOnceBeginInitialize(&once, flags, &pending, NULL));
}

static DWORD once_context(DWORD bits)
{
    INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    BOOL pending;

    InitOnceBeginInitialize(&once, 0, &pending, NULL);
    return error_if(!InitOnceComplete(&once, 0, (LPVOID)(uintptr_t)(1u << bits)));
}

static DWORD condition_mode(DWORD flags)
{
    SRWLOCK lock = RTL_SRWLOCK_INIT;
    CONDITION_VARIABLE condition = RTL_CONDITION_VARIABLE_INIT;
    DWORD error;

    AcquireSRWLockShared(&lock);
    error = error_if(!SleepConditionVariableSRW(&condition, &lock, 0, flags));
    ReleaseSRWLockShared(&lock);
    return error == ERROR_TIMEOUT ? 0 : error;
}

/* ---- text ---- */

static DWORD message_flags(DWORD flags)
{
    char text[64], *made = NULL;
    const DWORD system = flags & FORMAT_MESSAGE_FROM_STRING ? 0 : FORMAT_MESSAGE_FROM_SYSTEM;
    const bool makes = flags == FORMAT_MESSAGE_ALLOCATE_BUFFER;
    const DWORD error = error_if(
        !FormatMessageA(flags | system, flags == FORMAT_MESSAGE_FROM_STRING ? "text" : NULL,
            ERROR_FILE_NOT_FOUND, 0, makes ? (char *)&made : text, makes ? 0 : sizeof(text), NULL));

    LocalFree(made);
    return error;
}

static DWORD message_language(DWORD language)
{
    char text[64];

    return error_if(!FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM, NULL, ERROR_FILE_NOT_FOUND,
        MAKELANGID(language, SUBLANG_DEFAULT), text, sizeof(text), NULL));
}

static DWORD message_sublanguage(DWORD sublanguage)
{
    char text[64];

    return error_if(!FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM, NULL, ERROR_FILE_NOT_FOUND,
        MAKELANGID(LANG_NEUTRAL, sublanguage), text, sizeof(text), NULL));
}

static DWORD local_block(DWORD flags)
{
    HLOCAL block = LocalAlloc(flags, 16);

    return block ? error_if(LocalFree(block) != NULL) : GetLastError();
}

static DWORD wide_page(DWORD page)
{
    WCHAR wide[8];

    return error_if(!MultiByteToWideChar(page, 0, "abc", 3, wide, 8));
}

static DWORD narrow_page(DWORD page)
{
    const WCHAR wide[] = { 'a', 'b', 'c', 0 };
    char text[8];

    return error_if(!WideCharToMultiByte(page, 0, wide, 3, text, 8, NULL, NULL));
}

static DWORD wide_flags(DWORD flags)
{
    WCHAR wide[8];

    return error_if(!MultiByteToWideChar(CP_ACP, flags, "abc", 3, wide, 8));
}

static DWORD narrow_flags(DWORD flags)
{
    const WCHAR wide[] = { 'a', 'b', 'c', 0 };
    char text[8];

    return error_if(!WideCharToMultiByte(CP_ACP, flags, wide, 3, text, 8, NULL, NULL));
}

#ifndef _WIN32 /* Wine takes both */
static DWORD wide_utf8(DWORD flags)
{
    WCHAR wide[8];

    return error_if(!MultiByteToWideChar(CP_UTF8, flags, "abc", 3, wide, 8));
}

static DWORD narrow_utf8(DWORD flags)
{
    const WCHAR wide[] = { 'a', 'b', 'c', 0 };
    char text[8];

    return error_if(!WideCharToMultiByte(CP_UTF8, flags, wide, 3, text, 8, NULL, NULL));
}
#endif

static DWORD compare_locale(DWORD locale)
{
    return error_if(CompareStringA(locale, 0, "a", 1, "a", 1) != CSTR_EQUAL);
}

static DWORD compare_flags(DWORD flags)
{
    return error_if(CompareStringA(LOCALE_INVARIANT, flags, "a", 1, "A", 1) != CSTR_EQUAL);
}

static DWORD compare_told(DWORD what)
{
    const char *text = what == CSTR_LESS_THAN ? "a" : what == CSTR_EQUAL ? "b" : "c";

    return (DWORD)CompareStringA(LOCALE_INVARIANT, 0, text, 1, "b", 1);
}

/* A copy that fills its room: FILL_BEHIND_NULL has a fill of 0. */
static DWORD copy_flags(DWORD flags)
{
    char text[8];

    return (DWORD)StringCchCopyExA(text, 8, "text", NULL, NULL, flags);
}

/* A missing text is one of no characters. */
static DWORD copy_nothing(DWORD flags)
{
    char text[8];

    return (DWORD)StringCchCopyExA(text, 8, NULL, NULL, NULL, flags);
}

/* ---- the system ---- */

static DWORD version_type(DWORD type)
{
    OSVERSIONINFOEXA wanted;

    memset(&wanted, 0, sizeof(wanted)); /* at least that is every system */
    wanted.dwOSVersionInfoSize = sizeof(wanted);
    return error_if(!VerifyVersionInfoA(&wanted, type,
        VerSetConditionMask(0, type, type == VER_SUITENAME ? VER_AND : VER_GREATER_EQUAL)));
}

static DWORD version_condition(DWORD condition)
{
    return VerSetConditionMask(0, VER_BUILDNUMBER, (BYTE)condition) ==
                   (ULONGLONG)condition << 6 /* the third type, of three bits each */
               ? 0
               : 1;
}

static DWORD code_device(DWORD device)
{
    return CTL_CODE(device, 0, 0, 0) == device << 16 ? 0 : 1;
}

static DWORD code_method(DWORD method)
{
    return CTL_CODE(0, 0, method, 0) == method ? 0 : 1;
}

static DWORD code_access(DWORD access)
{
    return CTL_CODE(0, 0, 0, access) == access << 14 ? 0 : 1;
}

static DWORD result_severity(DWORD severity)
{
    return HRESULT_SEVERITY(MAKE_HRESULT(severity, 0, 0)) == severity ? 0 : 1;
}

static DWORD result_facility(DWORD facility)
{
    return HRESULT_FACILITY(MAKE_HRESULT(0, facility, 0)) == facility ? 0 : 1;
}

static const struct constants table[] = {
    TAKES("CreateProcess, flags", start_flags, CREATE_SUSPENDED, CREATE_NEW_PROCESS_GROUP,
        CREATE_NO_WINDOW, EXTENDED_STARTUPINFO_PRESENT),
    TAKES("CreateProcess, flags", start_class, IDLE_PRIORITY_CLASS, BELOW_NORMAL_PRIORITY_CLASS,
        NORMAL_PRIORITY_CLASS, ABOVE_NORMAL_PRIORITY_CLASS, HIGH_PRIORITY_CLASS,
        REALTIME_PRIORITY_CLASS),
    TAKES("CreateProcess, STARTUPINFO", start_use, STARTF_USESTDHANDLES, STARTF_USESHOWWINDOW,
        STARTF_USESIZE, STARTF_USEPOSITION, STARTF_USECOUNTCHARS, STARTF_USEFILLATTRIBUTE),
    TAKES("SetPriorityClass", set_class, IDLE_PRIORITY_CLASS, BELOW_NORMAL_PRIORITY_CLASS,
        NORMAL_PRIORITY_CLASS, ABOVE_NORMAL_PRIORITY_CLASS, HIGH_PRIORITY_CLASS,
        REALTIME_PRIORITY_CLASS),
    TELLS("GetExitCodeProcess", told_exit, STILL_ACTIVE),
    TAKES("UpdateProcThreadAttribute", start_attribute, PROC_THREAD_ATTRIBUTE_HANDLE_LIST),
#ifndef _WIN32 /* Wine takes it */
    REFUSES("UpdateProcThreadAttribute", SPEC_ERROR_NOT_SUPPORTED, start_attribute,
        PROC_THREAD_ATTRIBUTE_PREFERRED_NODE),
#endif
    TAKES("SetThreadPriority", set_priority, THREAD_PRIORITY_IDLE, THREAD_PRIORITY_LOWEST,
        THREAD_PRIORITY_BELOW_NORMAL, THREAD_PRIORITY_NORMAL, THREAD_PRIORITY_ABOVE_NORMAL,
        THREAD_PRIORITY_HIGHEST, THREAD_PRIORITY_TIME_CRITICAL),
    TELLS("GetThreadPriority", told_priority, THREAD_PRIORITY_ERROR_RETURN),
    TAKES("QueueUserWorkItem", queue_work, WT_EXECUTEDEFAULT),
    TAKES("GetActiveProcessorCount", group_processors, ALL_PROCESSOR_GROUPS),
    TAKES("InitOnceComplete", once_complete, INIT_ONCE_ASYNC, INIT_ONCE_INIT_FAILED),
    TAKES("InitOnceBeginInitialize", once_check, INIT_ONCE_CHECK_ONLY),
    TAKES("InitOnceComplete, context", once_context, INIT_ONCE_CTX_RESERVED_BITS),
    TAKES("SleepConditionVariableSRW", condition_mode, RTL_CONDITION_VARIABLE_LOCKMODE_SHARED),
    TAKES("FormatMessage, flags", message_flags, FORMAT_MESSAGE_FROM_SYSTEM,
        FORMAT_MESSAGE_FROM_HMODULE, FORMAT_MESSAGE_FROM_STRING, FORMAT_MESSAGE_ALLOCATE_BUFFER,
        FORMAT_MESSAGE_IGNORE_INSERTS, FORMAT_MESSAGE_ARGUMENT_ARRAY,
        FORMAT_MESSAGE_MAX_WIDTH_MASK),
    TAKES("FormatMessage, language", message_language, LANG_NEUTRAL, LANG_ENGLISH),
    TAKES("FormatMessage, language", message_sublanguage, SUBLANG_NEUTRAL, SUBLANG_DEFAULT),
    TAKES("LocalAlloc", local_block, LMEM_FIXED, LMEM_ZEROINIT, LPTR),
    TAKES("MultiByteToWideChar, page", wide_page, CP_ACP, CP_OEMCP, CP_THREAD_ACP, CP_UTF8),
    TAKES("WideCharToMultiByte, page", narrow_page, CP_ACP, CP_OEMCP, CP_THREAD_ACP, CP_UTF8),
    TAKES("MultiByteToWideChar, CP_ACP", wide_flags, MB_PRECOMPOSED),
    TAKES("WideCharToMultiByte, CP_ACP", narrow_flags, WC_NO_BEST_FIT_CHARS),
#ifndef _WIN32 /* Wine takes both */
    REFUSES("MultiByteToWideChar, CP_UTF8", SPEC_ERROR_INVALID_FLAGS, wide_utf8, MB_PRECOMPOSED),
    REFUSES("WideCharToMultiByte, CP_UTF8", SPEC_ERROR_INVALID_FLAGS, narrow_utf8,
        WC_NO_BEST_FIT_CHARS),
#endif
    TAKES("CompareString, locale", compare_locale, LOCALE_INVARIANT, LOCALE_USER_DEFAULT,
        LOCALE_SYSTEM_DEFAULT),
    TAKES("CompareString, flags", compare_flags, NORM_IGNORECASE),
    TELLS("CompareString", compare_told, CSTR_LESS_THAN, CSTR_EQUAL, CSTR_GREATER_THAN),
    TAKES("StringCchCopyEx", copy_flags, STRSAFE_FILL_BEHIND_NULL, STRSAFE_FILL_ON_FAILURE,
        STRSAFE_NULL_ON_FAILURE, STRSAFE_NO_TRUNCATION),
    TAKES("StringCchCopyEx", copy_nothing, STRSAFE_IGNORE_NULLS),
    TAKES("VerifyVersionInfo", version_type, VER_MINORVERSION, VER_MAJORVERSION, VER_BUILDNUMBER,
        VER_PLATFORMID, VER_SERVICEPACKMINOR, VER_SERVICEPACKMAJOR, VER_SUITENAME,
        VER_PRODUCT_TYPE),
    TAKES("VerSetConditionMask", version_condition, VER_EQUAL, VER_GREATER, VER_GREATER_EQUAL,
        VER_LESS, VER_LESS_EQUAL, VER_AND, VER_OR),
    TAKES("CTL_CODE", code_device, FILE_DEVICE_FILE_SYSTEM, FILE_DEVICE_NETWORK, FILE_DEVICE_NULL,
        FILE_DEVICE_TRANSPORT, FILE_DEVICE_UNKNOWN),
    TAKES("CTL_CODE", code_method, METHOD_BUFFERED, METHOD_IN_DIRECT, METHOD_OUT_DIRECT,
        METHOD_NEITHER),
    TAKES("CTL_CODE", code_access, FILE_ANY_ACCESS, FILE_READ_ACCESS, FILE_WRITE_ACCESS),
    TAKES("MAKE_HRESULT", result_severity, SEVERITY_SUCCESS, SEVERITY_ERROR),
    TAKES("MAKE_HRESULT", result_facility, FACILITY_NULL, FACILITY_ITF, FACILITY_WIN32),
};

static void test_constants_are_taken_refused_told(void **state)
{
    (void)state;
    assert_true(constants_hold(table, sizeof(table) / sizeof(table[0])));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_taken_refused_told),
    };

    if (argc > 1 && !strcmp(argv[1], "end"))
        return 0;
    GetModuleFileNameA(NULL, program, sizeof(program));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
