/* SPDX-License-Identifier: MIT */
/* system.c - GetSystemInfo. */
#include "win32/system/system.h"

#include <windows.h>

#include <unistd.h>

/* GetSystemInfo - the machine, as this process sees it. */
void WINAPI GetSystemInfo(LPSYSTEM_INFO info)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    memset(info, 0, sizeof(*info));
#if defined(__x86_64__)
    info->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_AMD64;
#elif defined(__i386__)
    info->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_INTEL;
#elif defined(__aarch64__)
    info->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_ARM64;
#elif defined(__arm__)
    info->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_ARM;
#else
    info->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_UNKNOWN;
#endif
    info->dwPageSize = (DWORD)sysconf(_SC_PAGESIZE);
    info->lpMinimumApplicationAddress = (LPVOID)(uintptr_t)WIN_ALLOCATION_GRANULARITY;
    info->lpMaximumApplicationAddress =
        (LPVOID)(uintptr_t)(sizeof(void *) == 8 ? 0x00007ffffffeffffull : 0xbffeffffull);
    info->dwNumberOfProcessors = processors > 0 ? (DWORD)processors : 1;
    info->dwActiveProcessorMask = info->dwNumberOfProcessors >= 64
                                      ? ~(DWORD_PTR)0
                                      : ((DWORD_PTR)1 << info->dwNumberOfProcessors) - 1;
    info->dwAllocationGranularity = WIN_ALLOCATION_GRANULARITY;
}
