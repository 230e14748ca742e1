/* SPDX-License-Identifier: MIT */
/* system.h - clocks, dates, system information, heaps, virtual memory. */
#ifndef WINCOMPAT_SYSTEM_H
#define WINCOMPAT_SYSTEM_H

#include <wincompat/error.h>

WINCOMPAT_BEGIN

/* clocks */

WINOBJ_API BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *count);
WINOBJ_API BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *counts_per_second);
WINOBJ_API DWORD WINAPI GetTickCount(void);
WINOBJ_API ULONGLONG WINAPI GetTickCount64(void);
WINOBJ_API void WINAPI GetSystemTimeAsFileTime(LPFILETIME time);
WINOBJ_API void WINAPI GetSystemTimePreciseAsFileTime(LPFILETIME time);
WINOBJ_API BOOL WINAPI GetSystemTimes(PFILETIME idle, PFILETIME kernel, PFILETIME user);

/* dates */

typedef struct _SYSTEMTIME {
    WORD wYear;
    WORD wMonth;
    WORD wDayOfWeek;
    WORD wDay;
    WORD wHour;
    WORD wMinute;
    WORD wSecond;
    WORD wMilliseconds;
} SYSTEMTIME, *PSYSTEMTIME, *LPSYSTEMTIME;

WINOBJ_API void WINAPI GetSystemTime(LPSYSTEMTIME date);
WINOBJ_API void WINAPI GetLocalTime(LPSYSTEMTIME date);
WINOBJ_API BOOL WINAPI SystemTimeToFileTime(const SYSTEMTIME *date, LPFILETIME time);
WINOBJ_API BOOL WINAPI FileTimeToSystemTime(const FILETIME *time, LPSYSTEMTIME date);
WINOBJ_API LONG WINAPI CompareFileTime(const FILETIME *first, const FILETIME *second);

/* system information */

#define PROCESSOR_ARCHITECTURE_INTEL   0
#define PROCESSOR_ARCHITECTURE_ARM     5
#define PROCESSOR_ARCHITECTURE_AMD64   9
#define PROCESSOR_ARCHITECTURE_ARM64   12
#define PROCESSOR_ARCHITECTURE_UNKNOWN 0xFFFF

typedef struct _SYSTEM_INFO {
    __extension__ union {
        DWORD dwOemId;
        __extension__ struct {
            WORD wProcessorArchitecture;
            WORD wReserved;
        };
    };
    DWORD dwPageSize;
    LPVOID lpMinimumApplicationAddress;
    LPVOID lpMaximumApplicationAddress;
    DWORD_PTR dwActiveProcessorMask;
    DWORD dwNumberOfProcessors;
    DWORD dwProcessorType;
    DWORD dwAllocationGranularity;
    WORD wProcessorLevel;
    WORD wProcessorRevision;
} SYSTEM_INFO, *LPSYSTEM_INFO;

WINOBJ_API void WINAPI GetSystemInfo(LPSYSTEM_INFO info);

/* heaps */

#define HEAP_NO_SERIALIZE 0x1
#define HEAP_ZERO_MEMORY  0x8

/* wFlags of an entry: HeapWalk tells of blocks that are in use, no others. */
#define PROCESS_HEAP_ENTRY_BUSY 0x0004

typedef struct _PROCESS_HEAP_ENTRY {
    PVOID lpData;
    DWORD cbData;
    BYTE cbOverhead;
    BYTE iRegionIndex;
    WORD wFlags;
    __extension__ union {
        __extension__ struct {
            HANDLE hMem;
            DWORD dwReserved[3];
        } Block;
        __extension__ struct {
            DWORD dwCommittedSize;
            DWORD dwUnCommittedSize;
            LPVOID lpFirstBlock;
            LPVOID lpLastBlock;
        } Region;
    };
} PROCESS_HEAP_ENTRY, *LPPROCESS_HEAP_ENTRY, *PPROCESS_HEAP_ENTRY;

WINOBJ_API HANDLE WINAPI GetProcessHeap(void);
WINOBJ_API HANDLE WINAPI HeapCreate(DWORD flags, SIZE_T initial_size, SIZE_T maximum_size);
WINOBJ_API BOOL WINAPI HeapDestroy(HANDLE heap);
WINOBJ_API LPVOID WINAPI HeapAlloc(HANDLE heap, DWORD flags, SIZE_T size);
WINOBJ_API LPVOID WINAPI HeapReAlloc(HANDLE heap, DWORD flags, LPVOID memory, SIZE_T size);
WINOBJ_API BOOL WINAPI HeapFree(HANDLE heap, DWORD flags, LPVOID memory);
WINOBJ_API SIZE_T WINAPI HeapSize(HANDLE heap, DWORD flags, LPCVOID memory);
WINOBJ_API BOOL WINAPI HeapLock(HANDLE heap);
WINOBJ_API BOOL WINAPI HeapUnlock(HANDLE heap);
WINOBJ_API BOOL WINAPI HeapWalk(HANDLE heap, LPPROCESS_HEAP_ENTRY entry);
WINOBJ_API BOOL WINAPI HeapValidate(HANDLE heap, DWORD flags, LPCVOID memory);

typedef enum _HEAP_INFORMATION_CLASS {
    HeapCompatibilityInformation = 0,
    HeapEnableTerminationOnCorruption = 1
} HEAP_INFORMATION_CLASS;

WINOBJ_API BOOL WINAPI HeapSetInformation(
    HANDLE heap, HEAP_INFORMATION_CLASS what, PVOID value, SIZE_T size);

/* the system's version: 10.0 */

#define VER_EQUAL            1
#define VER_GREATER          2
#define VER_GREATER_EQUAL    3
#define VER_LESS             4
#define VER_LESS_EQUAL       5
#define VER_AND              6
#define VER_OR               7
#define VER_MINORVERSION     0x01
#define VER_MAJORVERSION     0x02
#define VER_BUILDNUMBER      0x04
#define VER_PLATFORMID       0x08
#define VER_SERVICEPACKMINOR 0x10
#define VER_SERVICEPACKMAJOR 0x20
#define VER_SUITENAME        0x40
#define VER_PRODUCT_TYPE     0x80

typedef struct _OSVERSIONINFOEXA {
    DWORD dwOSVersionInfoSize;
    DWORD dwMajorVersion;
    DWORD dwMinorVersion;
    DWORD dwBuildNumber;
    DWORD dwPlatformId;
    CHAR szCSDVersion[128];
    WORD wServicePackMajor;
    WORD wServicePackMinor;
    WORD wSuiteMask;
    BYTE wProductType;
    BYTE wReserved;
} OSVERSIONINFOEXA, *POSVERSIONINFOEXA, *LPOSVERSIONINFOEXA;
typedef struct _OSVERSIONINFOEXW {
    DWORD dwOSVersionInfoSize;
    DWORD dwMajorVersion;
    DWORD dwMinorVersion;
    DWORD dwBuildNumber;
    DWORD dwPlatformId;
    WCHAR szCSDVersion[128];
    WORD wServicePackMajor;
    WORD wServicePackMinor;
    WORD wSuiteMask;
    BYTE wProductType;
    BYTE wReserved;
} OSVERSIONINFOEXW, *POSVERSIONINFOEXW, *LPOSVERSIONINFOEXW;
#define OSVERSIONINFOEX   WINCOMPAT_AW(OSVERSIONINFOEX)
#define POSVERSIONINFOEX  WINCOMPAT_AW(POSVERSIONINFOEX)
#define LPOSVERSIONINFOEX WINCOMPAT_AW(LPOSVERSIONINFOEX)

WINOBJ_API ULONGLONG NTAPI VerSetConditionMask(ULONGLONG mask, DWORD types, BYTE condition);
WINOBJ_API BOOL WINAPI VerifyVersionInfoA(
    LPOSVERSIONINFOEXA wanted, DWORD types, DWORDLONG conditions);
WINOBJ_API BOOL WINAPI VerifyVersionInfoW(LPOSVERSIONINFOEXW wanted, DWORD types,
    DWORDLONG conditions) WINCOMPAT_WIDE("VerifyVersionInfoW");
#define VerifyVersionInfo WINCOMPAT_AW(VerifyVersionInfo)

/* virtual memory */

#define MEM_COMMIT             0x1000
#define MEM_RESERVE            0x2000
#define MEM_DECOMMIT           0x4000
#define MEM_RELEASE            0x8000
#define MEM_FREE               0x10000
#define MEM_PRIVATE            0x20000
#define MEM_MAPPED             0x40000
#define MEM_TOP_DOWN           0x100000
#define PAGE_NOACCESS          0x01
#define PAGE_READONLY          0x02
#define PAGE_READWRITE         0x04
#define PAGE_WRITECOPY         0x08
#define PAGE_EXECUTE           0x10
#define PAGE_EXECUTE_READ      0x20
#define PAGE_EXECUTE_READWRITE 0x40

typedef struct _MEMORY_BASIC_INFORMATION {
    PVOID BaseAddress;
    PVOID AllocationBase;
    DWORD AllocationProtect;
    WORD PartitionId;
    SIZE_T RegionSize;
    DWORD State;
    DWORD Protect;
    DWORD Type;
} MEMORY_BASIC_INFORMATION, *PMEMORY_BASIC_INFORMATION;

WINOBJ_API LPVOID WINAPI VirtualAlloc(LPVOID address, SIZE_T size, DWORD type, DWORD protection);
WINOBJ_API BOOL WINAPI VirtualFree(LPVOID address, SIZE_T size, DWORD type);
WINOBJ_API SIZE_T WINAPI VirtualQuery(LPCVOID address, PMEMORY_BASIC_INFORMATION info, SIZE_T size);
WINOBJ_API BOOL WINAPI VirtualProtect(LPVOID address, SIZE_T size, DWORD protection, PDWORD old);
WINOBJ_API BOOL WINAPI VirtualLock(LPVOID address, SIZE_T size);
WINOBJ_API BOOL WINAPI VirtualUnlock(LPVOID address, SIZE_T size);

/* Code that keeps memory registered learns before the memory is freed. */
typedef BOOLEAN(CALLBACK *PSECURE_MEMORY_CACHE_CALLBACK)(PVOID address, SIZE_T size);
WINOBJ_API BOOL WINAPI AddSecureMemoryCacheCallback(PSECURE_MEMORY_CACHE_CALLBACK callback);
WINOBJ_API BOOL WINAPI RemoveSecureMemoryCacheCallback(PSECURE_MEMORY_CACHE_CALLBACK callback);

typedef struct _MEMORYSTATUSEX {
    DWORD dwLength;
    DWORD dwMemoryLoad;
    DWORDLONG ullTotalPhys;
    DWORDLONG ullAvailPhys;
    DWORDLONG ullTotalPageFile;
    DWORDLONG ullAvailPageFile;
    DWORDLONG ullTotalVirtual;
    DWORDLONG ullAvailVirtual;
    DWORDLONG ullAvailExtendedVirtual;
} MEMORYSTATUSEX, *LPMEMORYSTATUSEX;

WINOBJ_API BOOL WINAPI GlobalMemoryStatusEx(LPMEMORYSTATUSEX status);

WINCOMPAT_END

#endif
