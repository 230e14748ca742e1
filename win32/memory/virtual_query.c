/* SPDX-License-Identifier: MIT */
/*
 * virtual_query.c - VirtualQuery, VirtualProtect, VirtualLock, GlobalMemoryStatusEx: what the kernel knows about
 * memory. region.h knows the pages of VirtualAlloc and the views; /proc/self/maps describes other memory.
 */
#include "win32/memory/memory.h"
#include "win32/memory/region.h"
#include "win32/memory/secure_cache.h"

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

/* Memory that this layer did not make. */
static void describe_mapping(
    const struct mapping *mapping, uintptr_t first, MEMORY_BASIC_INFORMATION *info)
{
    *info = (MEMORY_BASIC_INFORMATION){ .BaseAddress = (PVOID)first,
        .AllocationBase = (PVOID)mapping->begin,
        .AllocationProtect = mapping->file ? protection_of(mapping->access) : PAGE_READWRITE,
        .RegionSize = mapping->end - first,
        .State = MEM_COMMIT,
        .Protect = protection_of(mapping->access),
        .Type = mapping->file ? MEM_MAPPED : MEM_PRIVATE };
}

static bool find_pages(uintptr_t first, struct win_pages *pages)
{
    bool found;

    win_regions_lock();
    found = win_region_find(first, pages);
    win_regions_unlock();
    return found;
}

static void describe_pages(
    const struct win_pages *pages, uintptr_t first, MEMORY_BASIC_INFORMATION *info)
{
    *info = (MEMORY_BASIC_INFORMATION){ .BaseAddress = (PVOID)first,
        .AllocationBase = (PVOID)pages->base,
        .AllocationProtect = pages->allocated,
        .RegionSize = pages->end - first,
        .State = pages->protection ? MEM_COMMIT : MEM_RESERVE,
        .Protect = pages->protection,
        .Type = pages->type };
}

/* The kernel's answer; last: the highest address. False with the last error. */
static bool ask_kernel(uintptr_t first, uintptr_t last, MEMORY_BASIC_INFORMATION *info)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    struct mapping mapping;
    bool found;

    if (!maps) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return false;
    }
    found = mapping_find(maps, first, &mapping);
    fclose(maps);
    if (found && mapping.begin <= first)
        describe_mapping(&mapping, first, info);
    else
        *info = (MEMORY_BASIC_INFORMATION){ .BaseAddress = (PVOID)first,
            .RegionSize = (found ? mapping.begin : last + 1) - first,
            .State = MEM_FREE,
            .Protect = PAGE_NOACCESS };
    return true;
}

/*
 * VirtualQuery - describes the memory at an address, and how many pages from there on are alike: of VirtualAlloc and
 * of views as Windows does, whoever changed them since by other means; of other memory as the kernel's mappings are.
 * Returns  the bytes written; 0 with ERROR_BAD_LENGTH (room too small), ERROR_INVALID_PARAMETER (beyond the process's
 *          addresses), ERROR_NOT_SUPPORTED (no /proc). Any thread.
 * Source: VirtualQuery function (memoryapi.h).
 */
SIZE_T WINAPI VirtualQuery(LPCVOID address, PMEMORY_BASIC_INFORMATION info, SIZE_T size)
{
    uintptr_t first = (uintptr_t)address & page_mask();
    struct win_pages pages;
    SYSTEM_INFO system;

    if (size < sizeof(*info)) {
        SetLastError(ERROR_BAD_LENGTH);
        return 0;
    }
    GetSystemInfo(&system);
    if (first > (uintptr_t)system.lpMaximumApplicationAddress) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    if (find_pages(first, &pages)) {
        describe_pages(&pages, first, info);
        return sizeof(*info);
    }
    return ask_kernel(first, (uintptr_t)system.lpMaximumApplicationAddress, info) ? sizeof(*info)
                                                                                  : 0;
}

/* Whether a page can be read or written. */
static bool is_accessible(uintptr_t address)
{
    MEMORY_BASIC_INFORMATION info;

    return VirtualQuery((LPCVOID)address, &info, sizeof(info)) && info.State == MEM_COMMIT &&
           info.Protect != PAGE_NOACCESS;
}

/* Changes memory that this layer did not make. A Win32 error. */
static DWORD protect_mapping(uintptr_t first, uintptr_t end, DWORD protection, DWORD *before)
{
    MEMORY_BASIC_INFORMATION info;
    int prot;

    if (!VirtualQuery((LPCVOID)first, &info, sizeof(info)))
        return GetLastError();
    if (!win_virtual_protection(protection, &prot))
        return ERROR_INVALID_PARAMETER;
    if (info.State != MEM_COMMIT)
        return ERROR_INVALID_ADDRESS;
    win_memory_goes((void *)first, end - first);
    if (mprotect((void *)first, end - first, prot))
        return errno == EACCES ? ERROR_ACCESS_DENIED : ERROR_INVALID_ADDRESS;
    *before = info.Protect;
    return ERROR_SUCCESS;
}

/* Whether the pages are of one allocation, all committed, and may be so. A Win32 error. Locked. */
static DWORD may_be_locked(uintptr_t first, uintptr_t end, DWORD protection, DWORD *before)
{
    struct win_pages pages;

    if (!win_region_find(first, &pages) || end > win_region_ends(first))
        return ERROR_INVALID_ADDRESS;
    /* A view does not get more than it was made with. */
    if (pages.type == MEM_MAPPED && protection != PAGE_NOACCESS && protection != PAGE_READONLY &&
        protection != pages.allocated)
        return ERROR_INVALID_PARAMETER;
    *before = pages.protection;
    for (uintptr_t at = first; at < end; at = pages.end) {
        win_region_find(at, &pages);
        if (!pages.protection)
            return ERROR_INVALID_ADDRESS;
    }
    return ERROR_SUCCESS;
}

/* Changes pages of VirtualAlloc, or of a view. A Win32 error. */
static DWORD protect_pages(
    uintptr_t first, uintptr_t end, DWORD protection, int prot, DWORD *before)
{
    DWORD error;

    win_regions_lock();
    error = may_be_locked(first, end, protection, before);
    win_regions_unlock();
    if (error)
        return error;
    win_memory_goes((void *)first, end - first);
    win_regions_lock();
    if (!(error = may_be_locked(first, end, protection, before))) {
        if (!win_region_room(first))
            error = ERROR_NOT_ENOUGH_MEMORY;
        else if (mprotect((void *)first, end - first, prot))
            error = errno == EACCES ? ERROR_ACCESS_DENIED : ERROR_INVALID_ADDRESS;
        else
            win_region_set(first, end, protection);
    }
    win_regions_unlock();
    return error;
}

/*
 * VirtualProtect - changes the protection of the pages of [address, address + size), all of one allocation.
 * protection  as of VirtualAlloc; of a view no more than it was made with, and no execution
 * old         out: what the first page had
 * Returns     FALSE with ERROR_INVALID_PARAMETER (protection, size 0), ERROR_NOACCESS (old is NULL),
 *             ERROR_INVALID_ADDRESS (not all committed, or of several allocations), ERROR_ACCESS_DENIED (a mapping of
 *             others does not allow it), ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: VirtualProtect function (memoryapi.h).
 */
BOOL WINAPI VirtualProtect(LPVOID address, SIZE_T size, DWORD protection, PDWORD old)
{
    uintptr_t first = (uintptr_t)address & page_mask(),
              end = ((uintptr_t)address + size + ~page_mask()) & page_mask();
    struct win_pages pages;
    DWORD before = 0, error;
    int prot = PROT_READ | PROT_WRITE; /* PAGE_WRITECOPY keeps this; only a view has that */

    if (!old)
        error = ERROR_NOACCESS;
    else if (!size || end <= first ||
             (protection != PAGE_WRITECOPY && !win_virtual_protection(protection, &prot)))
        error = ERROR_INVALID_PARAMETER;
    else if (find_pages(first, &pages))
        error = pages.type == MEM_PRIVATE && protection == PAGE_WRITECOPY
                    ? ERROR_INVALID_PARAMETER
                    : protect_pages(first, end, protection, prot, &before);
    else
        error = protect_mapping(first, end, protection, &before);
    if (error) {
        SetLastError(error);
        return FALSE;
    }
    *old = before;
    return TRUE;
}

/*
 * VirtualLock - keeps pages in memory. FALSE with ERROR_NOACCESS (the first page is not committed, or has no access),
 * ERROR_NO_SYSTEM_RESOURCES (the limit).
 */
BOOL WINAPI VirtualLock(LPVOID address, SIZE_T size)
{
    if (size && is_accessible((uintptr_t)address & page_mask()) && !mlock(address, size))
        return TRUE;
    SetLastError(size && (errno == ENOMEM || errno == EPERM || errno == EAGAIN) &&
                         is_accessible((uintptr_t)address & page_mask())
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
