/* SPDX-License-Identifier: MIT */
/* file.h - files and pipes. Each implementation documents codes, threads and ownership. */
#ifndef WINCOMPAT_FILE_H
#define WINCOMPAT_FILE_H

#include <wincompat/error.h>
#include <wincompat/handle.h>
#include <wincompat/process.h>

WINCOMPAT_BEGIN

#define DELETE                   0x00010000
#define READ_CONTROL             0x00020000
#define WRITE_DAC                0x00040000
#define WRITE_OWNER              0x00080000
#define STANDARD_RIGHTS_REQUIRED 0x000F0000
#define STANDARD_RIGHTS_READ     READ_CONTROL
#define STANDARD_RIGHTS_WRITE    READ_CONTROL
#define STANDARD_RIGHTS_EXECUTE  READ_CONTROL
#define STANDARD_RIGHTS_ALL      0x001F0000
#define GENERIC_READ             0x80000000u
#define GENERIC_WRITE            0x40000000
#define GENERIC_EXECUTE          0x20000000
#define GENERIC_ALL              0x10000000

#define FILE_READ_DATA        0x0001
#define FILE_LIST_DIRECTORY   0x0001
#define FILE_WRITE_DATA       0x0002
#define FILE_ADD_FILE         0x0002
#define FILE_APPEND_DATA      0x0004
#define FILE_ADD_SUBDIRECTORY 0x0004
#define FILE_READ_EA          0x0008
#define FILE_WRITE_EA         0x0010
#define FILE_EXECUTE          0x0020
#define FILE_TRAVERSE         0x0020
#define FILE_DELETE_CHILD     0x0040
#define FILE_READ_ATTRIBUTES  0x0080
#define FILE_WRITE_ATTRIBUTES 0x0100
#define FILE_ALL_ACCESS       (STANDARD_RIGHTS_REQUIRED | SYNCHRONIZE | 0x1FF)
#define FILE_GENERIC_READ                                                                          \
    (STANDARD_RIGHTS_READ | FILE_READ_DATA | FILE_READ_ATTRIBUTES | FILE_READ_EA | SYNCHRONIZE)
#define FILE_GENERIC_WRITE                                                                         \
    (STANDARD_RIGHTS_WRITE | FILE_WRITE_DATA | FILE_WRITE_ATTRIBUTES | FILE_WRITE_EA |             \
        FILE_APPEND_DATA | SYNCHRONIZE)
#define FILE_GENERIC_EXECUTE                                                                       \
    (STANDARD_RIGHTS_EXECUTE | FILE_READ_ATTRIBUTES | FILE_EXECUTE | SYNCHRONIZE)

#define FILE_SHARE_READ   0x1
#define FILE_SHARE_WRITE  0x2
#define FILE_SHARE_DELETE 0x4

#define CREATE_NEW        1
#define CREATE_ALWAYS     2
#define OPEN_EXISTING     3
#define OPEN_ALWAYS       4
#define TRUNCATE_EXISTING 5

#define INVALID_FILE_ATTRIBUTES  0xFFFFFFFFu
#define FILE_ATTRIBUTE_READONLY  0x00000001
#define FILE_ATTRIBUTE_HIDDEN    0x00000002
#define FILE_ATTRIBUTE_DIRECTORY 0x00000010
#define FILE_ATTRIBUTE_ARCHIVE   0x00000020
#define FILE_ATTRIBUTE_NORMAL    0x00000080
#define FILE_ATTRIBUTE_SYSTEM    0x00000004
#define FILE_ATTRIBUTE_TEMPORARY 0x00000100

#define FILE_FLAG_WRITE_THROUGH    0x80000000u
#define FILE_FLAG_OVERLAPPED       0x40000000
#define FILE_FLAG_RANDOM_ACCESS    0x10000000
#define FILE_FLAG_SEQUENTIAL_SCAN  0x08000000
#define FILE_FLAG_DELETE_ON_CLOSE  0x04000000
#define FILE_FLAG_BACKUP_SEMANTICS 0x02000000

#define FILE_TYPE_UNKNOWN 0x0
#define FILE_TYPE_DISK    0x1
#define FILE_TYPE_CHAR    0x2
#define FILE_TYPE_PIPE    0x3

#define FILE_BEGIN   0
#define FILE_CURRENT 1
#define FILE_END     2

#define LOCKFILE_FAIL_IMMEDIATELY 0x1
#define LOCKFILE_EXCLUSIVE_LOCK   0x2

#define FILE_NAME_NORMALIZED 0x0
#define VOLUME_NAME_DOS      0x0

WINOBJ_API HANDLE WINAPI CreateFileA(LPCSTR name, DWORD access, DWORD share,
    LPSECURITY_ATTRIBUTES attributes, DWORD disposition, DWORD flags, HANDLE model);
WINOBJ_API HANDLE WINAPI CreateFileW(LPCWSTR name, DWORD access, DWORD share,
    LPSECURITY_ATTRIBUTES attributes, DWORD disposition, DWORD flags, HANDLE model)
    WINCOMPAT_WIDE("CreateFileW");
#define CreateFile WINCOMPAT_AW(CreateFile)
WINOBJ_API DWORD WINAPI GetFileType(HANDLE file);
WINOBJ_API BOOL WINAPI LockFileEx(
    HANDLE file, DWORD flags, DWORD reserved, DWORD low, DWORD high, LPOVERLAPPED overlapped);
WINOBJ_API BOOL WINAPI UnlockFileEx(
    HANDLE file, DWORD reserved, DWORD low, DWORD high, LPOVERLAPPED overlapped);
WINOBJ_API BOOL WINAPI SetFilePointerEx(
    HANDLE file, LARGE_INTEGER distance, PLARGE_INTEGER place, DWORD from);
WINOBJ_API BOOL WINAPI SetEndOfFile(HANDLE file);
WINOBJ_API BOOL WINAPI GetFileSizeEx(HANDLE file, PLARGE_INTEGER size);
#define INVALID_SET_FILE_POINTER ((DWORD)-1)
#define INVALID_FILE_SIZE        ((DWORD)0xFFFFFFFF)
WINOBJ_API DWORD WINAPI SetFilePointer(HANDLE file, LONG low, PLONG high, DWORD from);
WINOBJ_API DWORD WINAPI GetFileSize(HANDLE file, LPDWORD high);
WINOBJ_API BOOL WINAPI FlushFileBuffers(HANDLE file);
WINOBJ_API DWORD WINAPI GetFinalPathNameByHandleA(HANDLE file, LPSTR path, DWORD size, DWORD flags);
WINOBJ_API DWORD WINAPI GetFinalPathNameByHandleW(HANDLE file, LPWSTR path, DWORD size, DWORD flags)
    WINCOMPAT_WIDE("GetFinalPathNameByHandleW");
#define GetFinalPathNameByHandle WINCOMPAT_AW(GetFinalPathNameByHandle)

WINOBJ_API DWORD WINAPI GetFileAttributesA(LPCSTR name);
WINOBJ_API DWORD WINAPI GetFileAttributesW(LPCWSTR name) WINCOMPAT_WIDE("GetFileAttributesW");
#define GetFileAttributes WINCOMPAT_AW(GetFileAttributes)
WINOBJ_API BOOL WINAPI DeleteFileA(LPCSTR name);
WINOBJ_API BOOL WINAPI DeleteFileW(LPCWSTR name) WINCOMPAT_WIDE("DeleteFileW");
#define DeleteFile WINCOMPAT_AW(DeleteFile)
WINOBJ_API BOOL WINAPI CopyFileA(LPCSTR from, LPCSTR to, BOOL fail_if_exists);
WINOBJ_API BOOL WINAPI CopyFileW(LPCWSTR from, LPCWSTR to, BOOL fail_if_exists)
    WINCOMPAT_WIDE("CopyFileW");
#define CopyFile WINCOMPAT_AW(CopyFile)
WINOBJ_API UINT WINAPI GetTempFileNameA(LPCSTR folder, LPCSTR prefix, UINT unique, LPSTR name);
WINOBJ_API UINT WINAPI GetTempFileNameW(LPCWSTR folder, LPCWSTR prefix, UINT unique, LPWSTR name)
    WINCOMPAT_WIDE("GetTempFileNameW");
#define GetTempFileName WINCOMPAT_AW(GetTempFileName)
WINOBJ_API DWORD WINAPI GetCurrentDirectoryA(DWORD size, LPSTR folder);
WINOBJ_API DWORD WINAPI GetCurrentDirectoryW(DWORD size, LPWSTR folder)
    WINCOMPAT_WIDE("GetCurrentDirectoryW");
#define GetCurrentDirectory WINCOMPAT_AW(GetCurrentDirectory)
WINOBJ_API BOOL WINAPI SetCurrentDirectoryA(LPCSTR name);
WINOBJ_API BOOL WINAPI SetCurrentDirectoryW(LPCWSTR name) WINCOMPAT_WIDE("SetCurrentDirectoryW");
#define SetCurrentDirectory WINCOMPAT_AW(SetCurrentDirectory)
WINOBJ_API DWORD WINAPI GetShortPathNameA(LPCSTR name, LPSTR path, DWORD size);
WINOBJ_API DWORD WINAPI GetShortPathNameW(LPCWSTR name, LPWSTR path, DWORD size)
    WINCOMPAT_WIDE("GetShortPathNameW");
#define GetShortPathName WINCOMPAT_AW(GetShortPathName)
WINOBJ_API DWORD WINAPI SearchPathA(
    LPCSTR folders, LPCSTR file, LPCSTR extension, DWORD size, LPSTR found, LPSTR *last);
WINOBJ_API DWORD WINAPI SearchPathW(LPCWSTR folders, LPCWSTR file, LPCWSTR extension, DWORD size,
    LPWSTR found, LPWSTR *last) WINCOMPAT_WIDE("SearchPathW");
#define SearchPath WINCOMPAT_AW(SearchPath)

/* Attributes, times and sizes. */
#define FILE_ATTRIBUTE_REPARSE_POINT 0x00000400
typedef enum _GET_FILEEX_INFO_LEVELS {
    GetFileExInfoStandard,
    GetFileExMaxInfoLevel
} GET_FILEEX_INFO_LEVELS;
typedef struct _WIN32_FILE_ATTRIBUTE_DATA {
    DWORD dwFileAttributes;
    FILETIME ftCreationTime;
    FILETIME ftLastAccessTime;
    FILETIME ftLastWriteTime;
    DWORD nFileSizeHigh;
    DWORD nFileSizeLow;
} WIN32_FILE_ATTRIBUTE_DATA, *LPWIN32_FILE_ATTRIBUTE_DATA;
typedef struct _BY_HANDLE_FILE_INFORMATION {
    DWORD dwFileAttributes;
    FILETIME ftCreationTime;
    FILETIME ftLastAccessTime;
    FILETIME ftLastWriteTime;
    DWORD dwVolumeSerialNumber;
    DWORD nFileSizeHigh;
    DWORD nFileSizeLow;
    DWORD nNumberOfLinks;
    DWORD nFileIndexHigh;
    DWORD nFileIndexLow;
} BY_HANDLE_FILE_INFORMATION, *PBY_HANDLE_FILE_INFORMATION, *LPBY_HANDLE_FILE_INFORMATION;
WINOBJ_API BOOL WINAPI GetFileAttributesExA(LPCSTR name, GET_FILEEX_INFO_LEVELS level, LPVOID data);
WINOBJ_API BOOL WINAPI GetFileAttributesExW(LPCWSTR name, GET_FILEEX_INFO_LEVELS level, LPVOID data)
    WINCOMPAT_WIDE("GetFileAttributesExW");
#define GetFileAttributesEx WINCOMPAT_AW(GetFileAttributesEx)
WINOBJ_API BOOL WINAPI SetFileAttributesA(LPCSTR name, DWORD attributes);
WINOBJ_API BOOL WINAPI SetFileAttributesW(LPCWSTR name, DWORD attributes)
    WINCOMPAT_WIDE("SetFileAttributesW");
#define SetFileAttributes WINCOMPAT_AW(SetFileAttributes)
WINOBJ_API BOOL WINAPI GetFileInformationByHandle(
    HANDLE file, LPBY_HANDLE_FILE_INFORMATION information);

/* Names of a folder that a pattern matches. */
typedef struct _WIN32_FIND_DATAA {
    DWORD dwFileAttributes;
    FILETIME ftCreationTime;
    FILETIME ftLastAccessTime;
    FILETIME ftLastWriteTime;
    DWORD nFileSizeHigh;
    DWORD nFileSizeLow;
    DWORD dwReserved0;
    DWORD dwReserved1;
    CHAR cFileName[MAX_PATH];
    CHAR cAlternateFileName[14];
} WIN32_FIND_DATAA, *PWIN32_FIND_DATAA, *LPWIN32_FIND_DATAA;
typedef struct _WIN32_FIND_DATAW {
    DWORD dwFileAttributes;
    FILETIME ftCreationTime;
    FILETIME ftLastAccessTime;
    FILETIME ftLastWriteTime;
    DWORD nFileSizeHigh;
    DWORD nFileSizeLow;
    DWORD dwReserved0;
    DWORD dwReserved1;
    WCHAR cFileName[MAX_PATH];
    WCHAR cAlternateFileName[14];
} WIN32_FIND_DATAW, *PWIN32_FIND_DATAW, *LPWIN32_FIND_DATAW;
#define WIN32_FIND_DATA   WINCOMPAT_AW(WIN32_FIND_DATA)
#define PWIN32_FIND_DATA  WINCOMPAT_AW(PWIN32_FIND_DATA)
#define LPWIN32_FIND_DATA WINCOMPAT_AW(LPWIN32_FIND_DATA)
typedef enum _FINDEX_INFO_LEVELS {
    FindExInfoStandard,
    FindExInfoBasic,
    FindExInfoMaxInfoLevel
} FINDEX_INFO_LEVELS;
typedef enum _FINDEX_SEARCH_OPS {
    FindExSearchNameMatch,
    FindExSearchLimitToDirectories,
    FindExSearchLimitToDevices,
    FindExSearchMaxSearchOp
} FINDEX_SEARCH_OPS;
#define FIND_FIRST_EX_CASE_SENSITIVE 0x1
#define FIND_FIRST_EX_LARGE_FETCH    0x2
WINOBJ_API HANDLE WINAPI FindFirstFileA(LPCSTR pattern, LPWIN32_FIND_DATAA data);
WINOBJ_API HANDLE WINAPI FindFirstFileW(LPCWSTR pattern, LPWIN32_FIND_DATAW data)
    WINCOMPAT_WIDE("FindFirstFileW");
#define FindFirstFile WINCOMPAT_AW(FindFirstFile)
WINOBJ_API HANDLE WINAPI FindFirstFileExA(LPCSTR pattern, FINDEX_INFO_LEVELS level, LPVOID data,
    FINDEX_SEARCH_OPS search, LPVOID filter, DWORD flags);
WINOBJ_API HANDLE WINAPI FindFirstFileExW(LPCWSTR pattern, FINDEX_INFO_LEVELS level, LPVOID data,
    FINDEX_SEARCH_OPS search, LPVOID filter, DWORD flags) WINCOMPAT_WIDE("FindFirstFileExW");
#define FindFirstFileEx WINCOMPAT_AW(FindFirstFileEx)
WINOBJ_API BOOL WINAPI FindNextFileA(HANDLE find, LPWIN32_FIND_DATAA data);
WINOBJ_API BOOL WINAPI FindNextFileW(HANDLE find, LPWIN32_FIND_DATAW data)
    WINCOMPAT_WIDE("FindNextFileW");
#define FindNextFile WINCOMPAT_AW(FindNextFile)
WINOBJ_API BOOL WINAPI FindClose(HANDLE find);

/* Folders and paths. */
WINOBJ_API BOOL WINAPI CreateDirectoryA(LPCSTR name, LPSECURITY_ATTRIBUTES attributes);
WINOBJ_API BOOL WINAPI CreateDirectoryW(LPCWSTR name, LPSECURITY_ATTRIBUTES attributes)
    WINCOMPAT_WIDE("CreateDirectoryW");
#define CreateDirectory WINCOMPAT_AW(CreateDirectory)
WINOBJ_API BOOL WINAPI RemoveDirectoryA(LPCSTR name);
WINOBJ_API BOOL WINAPI RemoveDirectoryW(LPCWSTR name) WINCOMPAT_WIDE("RemoveDirectoryW");
#define RemoveDirectory WINCOMPAT_AW(RemoveDirectory)
WINOBJ_API DWORD WINAPI GetTempPathA(DWORD size, LPSTR path);
WINOBJ_API DWORD WINAPI GetTempPathW(DWORD size, LPWSTR path) WINCOMPAT_WIDE("GetTempPathW");
#define GetTempPath WINCOMPAT_AW(GetTempPath)
WINOBJ_API DWORD WINAPI GetFullPathNameA(LPCSTR name, DWORD size, LPSTR path, LPSTR *last);
WINOBJ_API DWORD WINAPI GetFullPathNameW(LPCWSTR name, DWORD size, LPWSTR path, LPWSTR *last)
    WINCOMPAT_WIDE("GetFullPathNameW");
#define GetFullPathName WINCOMPAT_AW(GetFullPathName)

/* Anonymous pipes, standard handles. */
#define STD_INPUT_HANDLE               ((DWORD)-10)
#define STD_OUTPUT_HANDLE              ((DWORD)-11)
#define STD_ERROR_HANDLE               ((DWORD)-12)
#define HANDLE_FLAG_INHERIT            0x1
#define HANDLE_FLAG_PROTECT_FROM_CLOSE 0x2
WINOBJ_API BOOL WINAPI CreatePipe(
    PHANDLE read_end, PHANDLE write_end, LPSECURITY_ATTRIBUTES attributes, DWORD size);
WINOBJ_API HANDLE WINAPI GetStdHandle(DWORD which);
WINOBJ_API BOOL WINAPI SetStdHandle(DWORD which, HANDLE handle);
WINOBJ_API BOOL WINAPI GetHandleInformation(HANDLE handle, LPDWORD flags);
WINOBJ_API BOOL WINAPI SetHandleInformation(HANDLE handle, DWORD mask, DWORD flags);

WINCOMPAT_END

#endif
