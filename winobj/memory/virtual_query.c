/* SPDX-License-Identifier: MIT */
/*
 * virtual_query.c - VirtualQuery, VirtualProtect, VirtualLock, GlobalMemoryStatusEx: what the kernel knows about
 * memory. virtual.c knows the reservations of VirtualAlloc; /proc/self/maps describes other memory.
 */
#include "winobj/memory/memory.h"
#include "winobj/memory/secure_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t page_mask(void)
{
    return ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

struct mapping {
    uintptr_t begin, end;
    char access[5]; /* "rwxp" */
    bool file;
};

/* Finds the first mapping that ends behind an address; false: there is none. */
static bool mapping_find(FILE *maps, uintptr_t address, struct mapping *mapping)
{
    unsigned long inode;

    while (fscanf(maps, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %lu%*[^\n]", &mapping->begin,
               &mapping->end, mapping->access, &inode) == 4) {
        mapping->file = inode != 0;
        if (mapping->end > address)
            return true;
    }
    return false;
}

static DWORD protection_of(const char *access)
{
    bool read = access[0] == 'r', write = access[1] == 'w', execute = access[2] == 'x';

    if (execute)
        return write ? PAGE_EXECUTE_READWRITE : read ? PAGE_EXECUTE_READ : PAGE_EXECUTE;
    return write ? PAGE_READWRITE : read ? PAGE_READONLY : PAGE_NOACCESS;
}

static void describe(const struct mapping *mapping, uintptr_t first, MEMORY_BASIC_INFORMATION *info)
{
    uintptr_t base = mapping->begin, end = mapping->end;
    bool reserved = win_virtual_region(first, &base, &end);

    info->BaseAddress = (PVOID)first;
    info->AllocationBase = (PVOID)base;
    info->AllocationProtect =
        reserved || !mapping->file ? PAGE_READWRITE : protection_of(mapping->access);
    info->RegionSize = (end < mapping->end ? end : mapping->end) - first;
    info->Type = mapping->file ? MEM_MAPPED : MEM_PRIVATE;
    /* In a reservation, a page without access was not committed; elsewhere it is a guard page. */
    if (reserved && !strncmp(mapping->access, "---", 3)) {
        info->State = MEM_RESERVE;
        return;
    }
    info->State = MEM_COMMIT;
    info->Protect = protection_of(mapping->access);
}

/*
 * VirtualQuery - describes the memory at an address, and how many pages from there on are alike.
 * Returns  the bytes written; 0 with ERROR_BAD_LENGTH (room too small), ERROR_INVALID_PARAMETER (beyond the process's
 *          addresses), ERROR_NOT_SUPPORTED (no /proc). It reports a page committed with PAGE_NOACCESS as reserved.
 */
SIZE_T WINAPI VirtualQuery(LPCVOID address, PMEMORY_BASIC_INFORMATION info, SIZE_T size)
{
    uintptr_t first = (uintptr_t)address & page_mask();
    struct mapping mapping;
    SYSTEM_INFO system;
    FILE *maps;
    bool found;

    if (size < sizeof(*info)) {
        SetLastError(ERROR_BAD_LENGTH);
        return 0;
    }
    GetSystemInfo(&system);
    if (first > (uintptr_t)system.lpMaximumApplicationAddress) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    if (!(maps = fopen("/proc/self/maps", "re"))) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return 0;
    }
    found = mapping_find(maps, first, &mapping);
    fclose(maps);
    memset(info, 0, sizeof(*info));
    if (found && mapping.begin <= first) {
        describe(&mapping, first, info);
        return sizeof(*info);
    }
    info->BaseAddress = (PVOID)first;
    info->State = MEM_FREE;
    info->Protect = PAGE_NOACCESS;
    info->RegionSize =
        (found ? mapping.begin : (uintptr_t)system.lpMaximumApplicationAddress + 1) - first;
    return sizeof(*info);
}

static bool is_committed(uintptr_t address)
{
    MEMORY_BASIC_INFORMATION info;

    return VirtualQuery((LPCVOID)address, &info, sizeof(info)) && info.State == MEM_COMMIT;
}

/* Finds the protection of a page, which must be committed; false with the last error. */
static bool protection_get(uintptr_t address, DWORD *protection)
{
    MEMORY_BASIC_INFORMATION info;

    if (!VirtualQuery((LPCVOID)address, &info, sizeof(info)))
        return false;
    *protection = info.State == MEM_COMMIT ? info.Protect : 0;
    if (*protection)
        return true;
    SetLastError(ERROR_INVALID_ADDRESS);
    return false;
}

/*
 * VirtualProtect - changes the protection of the pages of [address, address + size).
 * old      out: what the first page had
 * Returns  FALSE with ERROR_INVALID_PARAMETER (protection, size 0), ERROR_NOACCESS (old is NULL), ERROR_INVALID_ADDRESS
 *          (not all committed), ERROR_ACCESS_DENIED (the mapping does not allow it).
 */
BOOL WINAPI VirtualProtect(LPVOID address, SIZE_T size, DWORD protection, PDWORD old)
{
    uintptr_t first = (uintptr_t)address & page_mask(),
              end = ((uintptr_t)address + size + ~page_mask()) & page_mask();
    DWORD before;
    int prot;

    if (!old) {
        SetLastError(ERROR_NOACCESS);
        return FALSE;
    }
    if (!size || end <= first || !win_virtual_protection(protection, &prot)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!protection_get(first, &before))
        return FALSE;
    win_memory_goes((void *)first, end - first);
    if (mprotect((void *)first, end - first, prot)) {
        SetLastError(errno == EACCES ? ERROR_ACCESS_DENIED : ERROR_INVALID_ADDRESS);
        return FALSE;
    }
    *old = before;
    return TRUE;
}

/*
 * VirtualLock - keeps pages in memory. FALSE with ERROR_NOACCESS (not committed), ERROR_NO_SYSTEM_RESOURCES (the
 * limit).
 */
BOOL WINAPI VirtualLock(LPVOID address, SIZE_T size)
{
    if (size && is_committed((uintptr_t)address & page_mask()) && !mlock(address, size))
        return TRUE;
    SetLastError(size && (errno == ENOMEM || errno == EPERM || errno == EAGAIN) &&
                         is_committed((uintptr_t)address & page_mask())
                     ? ERROR_NO_SYSTEM_RESOURCES
                     : ERROR_NOACCESS);
    return FALSE;
}

/* VirtualUnlock - undoes VirtualLock; locks are not counted. FALSE with ERROR_NOT_LOCKED (not mapped). */
BOOL WINAPI VirtualUnlock(LPVOID address, SIZE_T size)
{
    if (!munlock(address, size))
        return TRUE;
    SetLastError(ERROR_NOT_LOCKED);
    return FALSE;
}

/* The value of a line of /proc/meminfo, in bytes; 0 if there is no such line. */
static DWORDLONG meminfo(const char *text, const char *name)
{
    const char *line = strstr(text, name);

    return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

/*
 * GlobalMemoryStatusEx - how much memory the system has. The caller sets dwLength.
 * FALSE with ERROR_INVALID_PARAMETER (NULL, another dwLength), ERROR_NOT_SUPPORTED (no /proc).
 */
BOOL WINAPI GlobalMemoryStatusEx(LPMEMORYSTATUSEX status)
{
    char text[8192];
    FILE *file;
    size_t length;
    SYSTEM_INFO system;

    if (!status || status->dwLength != sizeof(*status)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!(file = fopen("/proc/meminfo", "re"))) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return FALSE;
    }
    length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = 0;
    GetSystemInfo(&system);
    status->ullTotalPhys = meminfo(text, "MemTotal:");
    status->ullAvailPhys = meminfo(text, "MemAvailable:");
    status->ullTotalPageFile = status->ullTotalPhys + meminfo(text, "SwapTotal:");
    status->ullAvailPageFile = status->ullAvailPhys + meminfo(text, "SwapFree:");
    status->ullTotalVirtual = (DWORDLONG)((uintptr_t)system.lpMaximumApplicationAddress -
                                          (uintptr_t)system.lpMinimumApplicationAddress) +
                              1;
    status->ullAvailVirtual =
        status->ullTotalVirtual; /* close enough: a process uses little of 2^47 bytes */
    status->ullAvailExtendedVirtual = 0;
    status->dwMemoryLoad =
        status->ullTotalPhys ? (DWORD)(100 - status->ullAvailPhys * 100 / status->ullTotalPhys) : 0;
    return TRUE;
}
