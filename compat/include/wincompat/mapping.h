/* SPDX-License-Identifier: MIT */
/* mapping.h - shared memory, with names between processes. There are no mappings of files. */
#ifndef WINCOMPAT_MAPPING_H
#define WINCOMPAT_MAPPING_H

#include <wincompat/handle.h>
#include <wincompat/process.h>

WINCOMPAT_BEGIN

#define SEC_COMMIT 0x8000000
WINOBJ_API HANDLE WINAPI CreateFileMappingA(HANDLE file, LPSECURITY_ATTRIBUTES attributes,
    DWORD protection, DWORD size_high, DWORD size_low, LPCSTR name);
WINOBJ_API HANDLE WINAPI CreateFileMappingW(HANDLE file, LPSECURITY_ATTRIBUTES attributes,
    DWORD protection, DWORD size_high, DWORD size_low, LPCWSTR name)
    WINCOMPAT_WIDE("CreateFileMappingW");
#define CreateFileMapping WINCOMPAT_AW(CreateFileMapping)

#define FILE_MAP_COPY       0x1
#define FILE_MAP_WRITE      0x2
#define FILE_MAP_READ       0x4
#define FILE_MAP_ALL_ACCESS 0xF001F
WINOBJ_API HANDLE WINAPI OpenFileMappingA(DWORD access, BOOL inherit, LPCSTR name);
WINOBJ_API HANDLE WINAPI OpenFileMappingW(DWORD access, BOOL inherit, LPCWSTR name)
    WINCOMPAT_WIDE("OpenFileMappingW");
#define OpenFileMapping WINCOMPAT_AW(OpenFileMapping)
WINOBJ_API LPVOID WINAPI MapViewOfFile(
    HANDLE mapping, DWORD access, DWORD offset_high, DWORD offset_low, SIZE_T bytes);
WINOBJ_API LPVOID WINAPI MapViewOfFileEx(HANDLE mapping, DWORD access, DWORD offset_high,
    DWORD offset_low, SIZE_T bytes, LPVOID address);
WINOBJ_API BOOL WINAPI UnmapViewOfFile(LPCVOID view);

WINCOMPAT_END

#endif
