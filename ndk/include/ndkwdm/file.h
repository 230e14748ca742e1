/* SPDX-License-Identifier: MIT */
/*
 * file.h - files, a part of ndkwdm.h. A name is what is behind \??\ or \DosDevices\: a path of Linux, in which
 * backslashes are slashes; C:\x is the file x in a folder, or a link, that is called "C:" where the program runs.
 * Requests end in the call. No folders, no locks.
 */
#ifndef NDKWDM_FILE_H
#define NDKWDM_FILE_H

#include <ndkwdm/string.h>
#include <ndkwdm/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#ifndef FILE_READ_DATA
#define FILE_READ_DATA   0x0001
#define FILE_WRITE_DATA  0x0002
#define FILE_APPEND_DATA 0x0004
#endif
#ifndef GENERIC_READ
#define GENERIC_READ     0x80000000u
#define GENERIC_WRITE    0x40000000
#define GENERIC_ALL      0x10000000
#endif
#ifndef FILE_GENERIC_READ
#define FILE_GENERIC_READ  0x00120089
#define FILE_GENERIC_WRITE 0x00120116
#endif
#ifndef FILE_SHARE_READ
#define FILE_SHARE_READ   0x1
#define FILE_SHARE_WRITE  0x2
#define FILE_SHARE_DELETE 0x4
#endif
#ifndef FILE_ATTRIBUTE_NORMAL
#define FILE_ATTRIBUTE_NORMAL 0x00000080
#endif

/* What becomes of a file that is there, and of one that is not. */
#define FILE_SUPERSEDE    0x0
#define FILE_OPEN         0x1
#define FILE_CREATE       0x2
#define FILE_OPEN_IF      0x3
#define FILE_OVERWRITE    0x4
#define FILE_OVERWRITE_IF 0x5

#define FILE_DIRECTORY_FILE          0x00000001
#define FILE_WRITE_THROUGH           0x00000002
#define FILE_SEQUENTIAL_ONLY         0x00000004
#define FILE_SYNCHRONOUS_IO_ALERT    0x00000010
#define FILE_SYNCHRONOUS_IO_NONALERT 0x00000020
#define FILE_NON_DIRECTORY_FILE      0x00000040

/* IO_STATUS_BLOCK.Information of a file that was opened, or was not. */
#define FILE_SUPERSEDED     0x0
#define FILE_OPENED         0x1
#define FILE_CREATED        0x2
#define FILE_OVERWRITTEN    0x3
#define FILE_EXISTS         0x4
#define FILE_DOES_NOT_EXIST 0x5

/* LowPart of an offset whose HighPart is -1. */
#define FILE_USE_FILE_POINTER_POSITION 0xfffffffe
#define FILE_WRITE_TO_END_OF_FILE      0xffffffff
/* clang-format on */

typedef VOID (*PIO_APC_ROUTINE)(PVOID ApcContext, PIO_STATUS_BLOCK IoStatusBlock, ULONG Reserved);

/*
 * Passive. Opens a file.
 * file         out: for ZwClose
 * access       in: FILE_READ_DATA, GENERIC_READ, ...; FILE_APPEND_DATA without FILE_WRITE_DATA: each write goes to the
 *              end that the file has then
 * attributes   in: its name; no RootDirectory
 * result       out: Status, and which of FILE_OPENED, ... in Information
 * size, file_attributes, share, ea, ea_length  in: not used
 * disposition  in: FILE_OPEN, ...
 * options      in: without FILE_SYNCHRONOUS_IO_NONALERT or FILE_SYNCHRONOUS_IO_ALERT each request has to name its
 *              offset; FILE_WRITE_THROUGH: a write returns when it is on the disk
 * Returns STATUS_SUCCESS; STATUS_OBJECT_NAME_NOT_FOUND: there is none; STATUS_OBJECT_PATH_NOT_FOUND: there is no such
 * folder; STATUS_OBJECT_NAME_COLLISION: there is one; STATUS_ACCESS_DENIED; STATUS_FILE_IS_A_DIRECTORY;
 * STATUS_OBJECT_NAME_INVALID: longer than a path can be; STATUS_OBJECT_PATH_SYNTAX_BAD: the name has no such beginning;
 * STATUS_INVALID_HANDLE: a RootDirectory; STATUS_NOT_SUPPORTED: FILE_DIRECTORY_FILE, a FIFO or a socket;
 * STATUS_INVALID_PARAMETER: no name, another disposition; STATUS_DISK_FULL; STATUS_INSUFFICIENT_RESOURCES;
 * STATUS_UNSUCCESSFUL: another error of the system.
 */
NTSTATUS ZwCreateFile(PHANDLE file, ULONG access, POBJECT_ATTRIBUTES attributes,
    PIO_STATUS_BLOCK result, PLARGE_INTEGER size, ULONG file_attributes, ULONG share,
    ULONG disposition, ULONG options, PVOID ea, ULONG ea_length) WINCOMPAT_WIDE("ZwCreateFile");
/* The same of one that is there. */
NTSTATUS ZwOpenFile(PHANDLE file, ULONG access, POBJECT_ATTRIBUTES attributes,
    PIO_STATUS_BLOCK result, ULONG share, ULONG options) WINCOMPAT_WIDE("ZwOpenFile");

/*
 * Passive. Reads or writes.
 * file          in
 * event         in: NULL: events have no handles here
 * apc, context  in: NULL
 * result        out: Status, and how many bytes in Information
 * buffer        out; of ZwWriteFile in
 * length        in: bytes
 * offset        in, may be NULL: where; NULL or FILE_USE_FILE_POINTER_POSITION: where the last request ended
 * key           in: not used
 * Returns STATUS_SUCCESS; STATUS_END_OF_FILE: there is nothing from there on; STATUS_INVALID_HANDLE: no file;
 * STATUS_ACCESS_DENIED: it was not opened for that; STATUS_INVALID_PARAMETER: an offset is missing, or negative;
 * STATUS_NOT_SUPPORTED: an event or an apc; STATUS_DISK_FULL; STATUS_UNSUCCESSFUL: another error of the system.
 */
NTSTATUS ZwReadFile(HANDLE file, HANDLE event, PIO_APC_ROUTINE apc, PVOID context,
    PIO_STATUS_BLOCK result, PVOID buffer, ULONG length, PLARGE_INTEGER offset, PULONG key);
NTSTATUS ZwWriteFile(HANDLE file, HANDLE event, PIO_APC_ROUTINE apc, PVOID context,
    PIO_STATUS_BLOCK result, PVOID buffer, ULONG length, PLARGE_INTEGER offset, PULONG key);

/* Of the classes of Windows those that work. */
typedef enum _FILE_INFORMATION_CLASS {
    FileStandardInformation = 5,
    FilePositionInformation = 14
} FILE_INFORMATION_CLASS;

typedef struct _FILE_STANDARD_INFORMATION {
    LARGE_INTEGER AllocationSize;
    LARGE_INTEGER EndOfFile;
    ULONG NumberOfLinks;
    BOOLEAN DeletePending;
    BOOLEAN Directory;
} FILE_STANDARD_INFORMATION, *PFILE_STANDARD_INFORMATION;

typedef struct _FILE_POSITION_INFORMATION {
    LARGE_INTEGER CurrentByteOffset;
} FILE_POSITION_INFORMATION, *PFILE_POSITION_INFORMATION;

/*
 * Passive. What a file is, or where its next request begins.
 * result       out: Status, and the bytes that were stored in Information
 * information  out; of ZwSetInformationFile in: FilePositionInformation alone
 * length       in: its bytes
 * Returns STATUS_SUCCESS; STATUS_INFO_LENGTH_MISMATCH: too few; STATUS_INVALID_INFO_CLASS: another class;
 * STATUS_INVALID_HANDLE: no file; STATUS_INVALID_PARAMETER: a negative offset; STATUS_UNSUCCESSFUL.
 */
NTSTATUS ZwQueryInformationFile(HANDLE file, PIO_STATUS_BLOCK result, PVOID information,
    ULONG length, FILE_INFORMATION_CLASS information_class);
NTSTATUS ZwSetInformationFile(HANDLE file, PIO_STATUS_BLOCK result, PVOID information, ULONG length,
    FILE_INFORMATION_CLASS information_class);

#ifdef __cplusplus
}
#endif

#endif
