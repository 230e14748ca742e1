/* SPDX-License-Identifier: MIT */
/* local.c - LocalAlloc and LocalFree: blocks of the process heap. Movable memory is not provided. */
#include <windows.h>

/*
 * LocalAlloc - bytes of memory; flags: LMEM_FIXED, LMEM_ZEROINIT, or both (LPTR). NULL with ERROR_INVALID_PARAMETER
 * (another flag), ERROR_NOT_ENOUGH_MEMORY.
 */
HLOCAL WINAPI LocalAlloc(UINT flags, SIZE_T bytes)
{
    if (flags & ~(UINT)LPTR) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return HeapAlloc(GetProcessHeap(), flags & LMEM_ZEROINIT ? HEAP_ZERO_MEMORY : 0, bytes);
}

/*
 * LocalFree - frees memory of LocalAlloc or FormatMessage; NULL is fine. Returns NULL, or memory with the last error.
 */
HLOCAL WINAPI LocalFree(HLOCAL memory)
{
    return HeapFree(GetProcessHeap(), 0, memory) ? NULL : memory;
}
