/* SPDX-License-Identifier: MIT */
/* process.h - modules, environment, the process itself, messages, debugging, local memory. */
#ifndef WINCOMPAT_PROCESS_ENV_H
#define WINCOMPAT_PROCESS_ENV_H

#include <wincompat/error.h>
#include <wincompat/overlapped.h>

WINCOMPAT_BEGIN

/* modules */

/* Why a DllMain is called, for those that ported code has: it calls them itself (docs/win32.md). */
#define DLL_PROCESS_DETACH 0
#define DLL_PROCESS_ATTACH 1
#define DLL_THREAD_ATTACH  2
#define DLL_THREAD_DETACH  3
typedef INT_PTR(WINAPI *FARPROC)(void);
typedef FARPROC PROC;
#define LOAD_WITH_ALTERED_SEARCH_PATH       0x0008
#define LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR    0x0100
#define LOAD_LIBRARY_SEARCH_APPLICATION_DIR 0x0200
#define LOAD_LIBRARY_SEARCH_USER_DIRS       0x0400
#define LOAD_LIBRARY_SEARCH_SYSTEM32        0x0800
#define LOAD_LIBRARY_SEARCH_DEFAULT_DIRS    0x1000
WINOBJ_API HMODULE WINAPI LoadLibraryA(LPCSTR name);
WINOBJ_API HMODULE WINAPI LoadLibraryW(LPCWSTR name) WINCOMPAT_WIDE("LoadLibraryW");
#define LoadLibrary WINCOMPAT_AW(LoadLibrary)
WINOBJ_API HMODULE WINAPI LoadLibraryExA(LPCSTR name, HANDLE file, DWORD flags);
WINOBJ_API HMODULE WINAPI LoadLibraryExW(LPCWSTR name, HANDLE file, DWORD flags)
    WINCOMPAT_WIDE("LoadLibraryExW");
#define LoadLibraryEx WINCOMPAT_AW(LoadLibraryEx)
WINOBJ_API BOOL WINAPI FreeLibrary(HMODULE module);
WINOBJ_API HMODULE WINAPI GetModuleHandleA(LPCSTR name);
WINOBJ_API HMODULE WINAPI GetModuleHandleW(LPCWSTR name) WINCOMPAT_WIDE("GetModuleHandleW");
#define GetModuleHandle WINCOMPAT_AW(GetModuleHandle)
WINOBJ_API DWORD WINAPI GetModuleFileNameA(HMODULE module, LPSTR path, DWORD size);
WINOBJ_API DWORD WINAPI GetModuleFileNameW(HMODULE module, LPWSTR path, DWORD size)
    WINCOMPAT_WIDE("GetModuleFileNameW");
#define GetModuleFileName WINCOMPAT_AW(GetModuleFileName)
WINOBJ_API FARPROC WINAPI GetProcAddress(HMODULE module, LPCSTR name);

/* environment */

WINOBJ_API DWORD WINAPI GetEnvironmentVariableA(LPCSTR name, LPSTR value, DWORD size);
WINOBJ_API DWORD WINAPI GetEnvironmentVariableW(LPCWSTR name, LPWSTR value, DWORD size)
    WINCOMPAT_WIDE("GetEnvironmentVariableW");
#define GetEnvironmentVariable WINCOMPAT_AW(GetEnvironmentVariable)
WINOBJ_API BOOL WINAPI SetEnvironmentVariableA(LPCSTR name, LPCSTR value);
WINOBJ_API BOOL WINAPI SetEnvironmentVariableW(LPCWSTR name, LPCWSTR value)
    WINCOMPAT_WIDE("SetEnvironmentVariableW");
#define SetEnvironmentVariable WINCOMPAT_AW(SetEnvironmentVariable)
WINOBJ_API DWORD WINAPI ExpandEnvironmentStringsA(LPCSTR from, LPSTR to, DWORD size);
WINOBJ_API DWORD WINAPI ExpandEnvironmentStringsW(LPCWSTR from, LPWSTR to, DWORD size)
    WINCOMPAT_WIDE("ExpandEnvironmentStringsW");
#define ExpandEnvironmentStrings WINCOMPAT_AW(ExpandEnvironmentStrings)
WINOBJ_API LPCH WINAPI GetEnvironmentStringsA(void);
WINOBJ_API LPWCH WINAPI GetEnvironmentStringsW(void) WINCOMPAT_WIDE("GetEnvironmentStringsW");
#define GetEnvironmentStrings WINCOMPAT_AW(GetEnvironmentStrings)
WINOBJ_API BOOL WINAPI FreeEnvironmentStringsA(LPCH block);
WINOBJ_API BOOL WINAPI FreeEnvironmentStringsW(LPWCH block);
#define FreeEnvironmentStrings WINCOMPAT_AW(FreeEnvironmentStrings)

/* the process and its computer */

/* A value that stands for the calling process: -1, which needs no closing. */
WINOBJ_API HANDLE WINAPI GetCurrentProcess(void);
WINOBJ_API DECLSPEC_NORETURN void WINAPI ExitProcess(UINT exit_code);

WINOBJ_API LPSTR WINAPI GetCommandLineA(void);
WINOBJ_API LPWSTR WINAPI GetCommandLineW(void) WINCOMPAT_WIDE("GetCommandLineW");
#define GetCommandLine WINCOMPAT_AW(GetCommandLine)
WINOBJ_API LPWSTR *WINAPI CommandLineToArgvW(LPCWSTR line, int *count)
    WINCOMPAT_WIDE("CommandLineToArgvW");

/* processes of the same user; each function says which right it needs */
#define PROCESS_TERMINATE                 0x0001
#define PROCESS_CREATE_THREAD             0x0002
#define PROCESS_SET_SESSIONID             0x0004
#define PROCESS_VM_OPERATION              0x0008
#define PROCESS_VM_READ                   0x0010
#define PROCESS_VM_WRITE                  0x0020
#define PROCESS_DUP_HANDLE                0x0040
#define PROCESS_CREATE_PROCESS            0x0080
#define PROCESS_SET_QUOTA                 0x0100
#define PROCESS_SET_INFORMATION           0x0200
#define PROCESS_QUERY_INFORMATION         0x0400
#define PROCESS_SUSPEND_RESUME            0x0800
#define PROCESS_QUERY_LIMITED_INFORMATION 0x1000
#define PROCESS_ALL_ACCESS                0x1FFFFF
WINOBJ_API HANDLE WINAPI OpenProcess(DWORD access, BOOL inherit, DWORD id);
WINOBJ_API DWORD WINAPI GetProcessId(HANDLE process);
WINOBJ_API BOOL WINAPI GetExitCodeProcess(HANDLE process, LPDWORD exit_code);
WINOBJ_API BOOL WINAPI GetProcessTimes(
    HANDLE process, LPFILETIME begun, LPFILETIME ended, LPFILETIME kernel, LPFILETIME user);
WINOBJ_API BOOL WINAPI TerminateProcess(HANDLE process, UINT exit_code);
WINOBJ_API BOOL WINAPI ReadProcessMemory(
    HANDLE process, LPCVOID from, LPVOID to, SIZE_T size, SIZE_T *copied);
WINOBJ_API BOOL WINAPI WriteProcessMemory(
    HANDLE process, LPVOID to, LPCVOID from, SIZE_T size, SIZE_T *copied);

/* starting processes */
typedef struct _STARTUPINFOA {
    DWORD cb;
    LPSTR lpReserved;
    LPSTR lpDesktop;
    LPSTR lpTitle;
    DWORD dwX;
    DWORD dwY;
    DWORD dwXSize;
    DWORD dwYSize;
    DWORD dwXCountChars;
    DWORD dwYCountChars;
    DWORD dwFillAttribute;
    DWORD dwFlags;
    WORD wShowWindow;
    WORD cbReserved2;
    BYTE *lpReserved2;
    HANDLE hStdInput;
    HANDLE hStdOutput;
    HANDLE hStdError;
} STARTUPINFOA, *LPSTARTUPINFOA;
typedef struct _STARTUPINFOW {
    DWORD cb;
    LPWSTR lpReserved;
    LPWSTR lpDesktop;
    LPWSTR lpTitle;
    DWORD dwX;
    DWORD dwY;
    DWORD dwXSize;
    DWORD dwYSize;
    DWORD dwXCountChars;
    DWORD dwYCountChars;
    DWORD dwFillAttribute;
    DWORD dwFlags;
    WORD wShowWindow;
    WORD cbReserved2;
    BYTE *lpReserved2;
    HANDLE hStdInput;
    HANDLE hStdOutput;
    HANDLE hStdError;
} STARTUPINFOW, *LPSTARTUPINFOW;
#define STARTUPINFO   WINCOMPAT_AW(STARTUPINFO)
#define LPSTARTUPINFO WINCOMPAT_AW(LPSTARTUPINFO)
typedef struct _PROC_THREAD_ATTRIBUTE_LIST *PPROC_THREAD_ATTRIBUTE_LIST,
    *LPPROC_THREAD_ATTRIBUTE_LIST;
typedef struct _STARTUPINFOEXA {
    STARTUPINFOA StartupInfo;
    LPPROC_THREAD_ATTRIBUTE_LIST lpAttributeList;
} STARTUPINFOEXA, *LPSTARTUPINFOEXA;
typedef struct _STARTUPINFOEXW {
    STARTUPINFOW StartupInfo;
    LPPROC_THREAD_ATTRIBUTE_LIST lpAttributeList;
} STARTUPINFOEXW, *LPSTARTUPINFOEXW;
#define STARTUPINFOEX                        WINCOMPAT_AW(STARTUPINFOEX)
#define LPSTARTUPINFOEX                      WINCOMPAT_AW(LPSTARTUPINFOEX)
#define PROC_THREAD_ATTRIBUTE_HANDLE_LIST    0x00020002
#define PROC_THREAD_ATTRIBUTE_PREFERRED_NODE 0x00020004
WINOBJ_API BOOL WINAPI InitializeProcThreadAttributeList(
    LPPROC_THREAD_ATTRIBUTE_LIST list, DWORD count, DWORD flags, PSIZE_T size);
WINOBJ_API BOOL WINAPI UpdateProcThreadAttribute(LPPROC_THREAD_ATTRIBUTE_LIST list, DWORD flags,
    DWORD_PTR attribute, PVOID value, SIZE_T size, PVOID before, PSIZE_T returned_size);
WINOBJ_API void WINAPI DeleteProcThreadAttributeList(LPPROC_THREAD_ATTRIBUTE_LIST list);
typedef struct _PROCESS_INFORMATION {
    HANDLE hProcess;
    HANDLE hThread;
    DWORD dwProcessId;
    DWORD dwThreadId;
} PROCESS_INFORMATION, *PPROCESS_INFORMATION, *LPPROCESS_INFORMATION;
#define STARTF_USESHOWWINDOW         0x001
#define STARTF_USESIZE               0x002
#define STARTF_USEPOSITION           0x004
#define STARTF_USECOUNTCHARS         0x008
#define STARTF_USEFILLATTRIBUTE      0x010
#define STARTF_USESTDHANDLES         0x100
#define CREATE_NEW_PROCESS_GROUP     0x00000200
#define CREATE_UNICODE_ENVIRONMENT   0x00000400
#define NORMAL_PRIORITY_CLASS        0x00000020
#define IDLE_PRIORITY_CLASS          0x00000040
#define HIGH_PRIORITY_CLASS          0x00000080
#define REALTIME_PRIORITY_CLASS      0x00000100
#define BELOW_NORMAL_PRIORITY_CLASS  0x00004000
#define ABOVE_NORMAL_PRIORITY_CLASS  0x00008000
#define CREATE_NO_WINDOW             0x08000000
#define EXTENDED_STARTUPINFO_PRESENT 0x00080000
WINOBJ_API BOOL WINAPI CreateProcessA(LPCSTR program, LPSTR command, LPSECURITY_ATTRIBUTES process,
    LPSECURITY_ATTRIBUTES thread, BOOL inherit, DWORD flags, LPVOID environment, LPCSTR folder,
    LPSTARTUPINFOA startup, LPPROCESS_INFORMATION information);
WINOBJ_API BOOL WINAPI CreateProcessW(LPCWSTR program, LPWSTR command,
    LPSECURITY_ATTRIBUTES process, LPSECURITY_ATTRIBUTES thread, BOOL inherit, DWORD flags,
    LPVOID environment, LPCWSTR folder, LPSTARTUPINFOW startup, LPPROCESS_INFORMATION information)
    WINCOMPAT_WIDE("CreateProcessW");
#define CreateProcess WINCOMPAT_AW(CreateProcess)
WINOBJ_API void WINAPI GetStartupInfoA(LPSTARTUPINFOA startup);
WINOBJ_API void WINAPI GetStartupInfoW(LPSTARTUPINFOW startup) WINCOMPAT_WIDE("GetStartupInfoW");
#define GetStartupInfo WINCOMPAT_AW(GetStartupInfo)
WINOBJ_API DWORD WINAPI GetPriorityClass(HANDLE process);
WINOBJ_API BOOL WINAPI SetPriorityClass(HANDLE process, DWORD priority_class);

#define MAX_COMPUTERNAME_LENGTH 15
typedef enum _COMPUTER_NAME_FORMAT {
    ComputerNameNetBIOS,
    ComputerNameDnsHostname,
    ComputerNameDnsDomain,
    ComputerNameDnsFullyQualified,
    ComputerNamePhysicalNetBIOS,
    ComputerNamePhysicalDnsHostname,
    ComputerNamePhysicalDnsDomain,
    ComputerNamePhysicalDnsFullyQualified,
    ComputerNameMax
} COMPUTER_NAME_FORMAT;
WINOBJ_API BOOL WINAPI GetComputerNameA(LPSTR name, LPDWORD size);
WINOBJ_API BOOL WINAPI GetComputerNameW(LPWSTR name, LPDWORD size)
    WINCOMPAT_WIDE("GetComputerNameW");
#define GetComputerName WINCOMPAT_AW(GetComputerName)
WINOBJ_API BOOL WINAPI GetComputerNameExA(COMPUTER_NAME_FORMAT format, LPSTR name, LPDWORD size);
WINOBJ_API BOOL WINAPI GetComputerNameExW(COMPUTER_NAME_FORMAT format, LPWSTR name, LPDWORD size)
    WINCOMPAT_WIDE("GetComputerNameExW");
#define GetComputerNameEx WINCOMPAT_AW(GetComputerNameEx)

/* events of the console: CTRL_C_EVENT is SIGINT, CTRL_BREAK_EVENT SIGQUIT, CTRL_CLOSE_EVENT SIGTERM and SIGHUP */

#define CTRL_C_EVENT        0
#define CTRL_BREAK_EVENT    1
#define CTRL_CLOSE_EVENT    2
#define CTRL_LOGOFF_EVENT   5
#define CTRL_SHUTDOWN_EVENT 6
typedef BOOL(WINAPI *PHANDLER_ROUTINE)(DWORD event);
WINOBJ_API BOOL WINAPI SetConsoleCtrlHandler(PHANDLER_ROUTINE handler, BOOL add);
WINOBJ_API BOOL WINAPI GenerateConsoleCtrlEvent(DWORD event, DWORD group);

/* debugging */

WINOBJ_API void WINAPI OutputDebugStringA(LPCSTR text);
WINOBJ_API void WINAPI OutputDebugStringW(LPCWSTR text) WINCOMPAT_WIDE("OutputDebugStringW");
#define OutputDebugString WINCOMPAT_AW(OutputDebugString)
WINOBJ_API BOOL WINAPI IsDebuggerPresent(void);
WINOBJ_API void WINAPI DebugBreak(void);

/* local memory */

typedef HANDLE HLOCAL;
#define LMEM_FIXED    0x00
#define LMEM_ZEROINIT 0x40
#define LPTR          0x40
WINOBJ_API HLOCAL WINAPI LocalAlloc(UINT flags, SIZE_T bytes);
WINOBJ_API HLOCAL WINAPI LocalFree(HLOCAL memory);

/* messages */

#define FORMAT_MESSAGE_ALLOCATE_BUFFER 0x0100
#define FORMAT_MESSAGE_IGNORE_INSERTS  0x0200
#define FORMAT_MESSAGE_FROM_STRING     0x0400
#define FORMAT_MESSAGE_FROM_HMODULE    0x0800
#define FORMAT_MESSAGE_FROM_SYSTEM     0x1000
#define FORMAT_MESSAGE_ARGUMENT_ARRAY  0x2000
#define FORMAT_MESSAGE_MAX_WIDTH_MASK  0x00FF
#define LANG_NEUTRAL                   0x00
#define LANG_ENGLISH                   0x09
#define SUBLANG_NEUTRAL                0x00
#define SUBLANG_DEFAULT                0x01
#define MAKELANGID(primary, sub)       ((WORD)(((WORD)(sub) << 10) | (WORD)(primary)))
WINOBJ_API DWORD WINAPI FormatMessageA(DWORD flags, LPCVOID source, DWORD id, DWORD language,
    LPSTR text, DWORD size, va_list *arguments);
WINOBJ_API DWORD WINAPI FormatMessageW(DWORD flags, LPCVOID source, DWORD id, DWORD language,
    LPWSTR text, DWORD size, va_list *arguments) WINCOMPAT_WIDE("FormatMessageW");
#define FormatMessage WINCOMPAT_AW(FormatMessage)

WINCOMPAT_END

#endif
