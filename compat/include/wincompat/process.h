/* SPDX-License-Identifier: MIT */
/* process.h - modules, environment, the process itself, messages, debugging, local memory. */
#ifndef WINCOMPAT_PROCESS_ENV_H
#define WINCOMPAT_PROCESS_ENV_H

#include <wincompat/error.h>

/* Wide functions exist for both widths of wchar_t; the compiler's option chooses. */
#if __SIZEOF_WCHAR_T__ == 2
#define WINCOMPAT_WIDE(name) __asm__(name "16")
#else
#define WINCOMPAT_WIDE(name)
#endif

WINCOMPAT_BEGIN

/* modules */

typedef INT_PTR(WINAPI *FARPROC)(void);
typedef FARPROC PROC;
#define LOAD_WITH_ALTERED_SEARCH_PATH       0x0008
#define LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR    0x0100
#define LOAD_LIBRARY_SEARCH_APPLICATION_DIR 0x0200
#define LOAD_LIBRARY_SEARCH_USER_DIRS       0x0400
#define LOAD_LIBRARY_SEARCH_SYSTEM32        0x0800
#define LOAD_LIBRARY_SEARCH_DEFAULT_DIRS    0x1000
#define LOAD_LIBRARY_SEARCH_ALL             0x1F00
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

/* the process and its computer */

#define GetCurrentProcess() ((HANDLE)(LONG_PTR)-1)
WINOBJ_API DECLSPEC_NORETURN void WINAPI ExitProcess(UINT exit_code);
WINOBJ_API BOOL WINAPI TerminateProcess(HANDLE process, UINT exit_code);

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

/* events of the console: CTRL_C_EVENT is SIGINT, CTRL_CLOSE_EVENT is SIGTERM, and there are no others */

#define CTRL_C_EVENT        0
#define CTRL_BREAK_EVENT    1
#define CTRL_CLOSE_EVENT    2
#define CTRL_LOGOFF_EVENT   5
#define CTRL_SHUTDOWN_EVENT 6
typedef BOOL(WINAPI *PHANDLER_ROUTINE)(DWORD event);
WINOBJ_API BOOL WINAPI SetConsoleCtrlHandler(PHANDLER_ROUTINE handler, BOOL add);

/* debugging */

WINOBJ_API void WINAPI OutputDebugStringA(LPCSTR text);
WINOBJ_API void WINAPI OutputDebugStringW(LPCWSTR text) WINCOMPAT_WIDE("OutputDebugStringW");
#define OutputDebugString WINCOMPAT_AW(OutputDebugString)
WINOBJ_API BOOL WINAPI IsDebuggerPresent(void);

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
