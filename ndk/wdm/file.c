/* SPDX-License-Identifier: MIT */
/* file.c - files of ndkwdm.h. */
#include "ndk/wdm/file.h"

#include "ndk/verifier/passive.h"
#include "ndk/wdm/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Offsets that name no place. */
enum { AT_END = -1, AT_POSITION = -2 };

struct file {
    struct ndk_handle handle; /* first */
    int fd;
    bool synchronous, reads, writes, appends;
    pthread_mutex_t mutex; /* a leaf: where the next request begins */
    off_t position;
};

static NTSTATUS status_of(int error)
{
    switch (error) {
    case ENOENT: return STATUS_OBJECT_NAME_NOT_FOUND;
    case ENOTDIR: return STATUS_OBJECT_PATH_NOT_FOUND;
    case EEXIST: return STATUS_OBJECT_NAME_COLLISION;
    case EACCES:
    case EPERM:
    case EROFS:
    case EBADF: return STATUS_ACCESS_DENIED;
    case EISDIR: return STATUS_FILE_IS_A_DIRECTORY;
    case ENXIO: return STATUS_NOT_SUPPORTED; /* a FIFO or a socket, which has no offsets */
    case ENAMETOOLONG: return STATUS_OBJECT_NAME_INVALID;
    case ENOSPC:
    case EDQUOT: return STATUS_DISK_FULL;
    case ENOMEM:
    case EMFILE:
    case ENFILE: return STATUS_INSUFFICIENT_RESOURCES;
    default: return STATUS_UNSUCCESSFUL;
    }
}

/* ENOENT: the file or its folder. */
static NTSTATUS status_of_path(int error, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    struct stat stat_of;

    if (error == ENOENT && slash && slash != path) {
        memcpy(folder, path, (size_t)(slash - path));
        folder[slash - path] = '\0';
        if (stat(folder, &stat_of) || !S_ISDIR(stat_of.st_mode))
            return STATUS_OBJECT_PATH_NOT_FOUND;
    }
    return status_of(error);
}

static void release_file(struct ndk_handle *handle)
{
    struct file *file = (struct file *)handle;

    close(file->fd);
    pthread_mutex_destroy(&file->mutex);
    free(file);
}

/* Opens what is there, or makes it. information out. Returns a descriptor, or -1 with errno. */
static int open_path(const char *path, int flags, ULONG disposition, ULONG_PTR *information)
{
    const bool makes = disposition != FILE_OPEN && disposition != FILE_OVERWRITE;
    const bool empties = disposition == FILE_SUPERSEDE || disposition == FILE_OVERWRITE ||
                         disposition == FILE_OVERWRITE_IF;
    int fd = -1;

    errno = EEXIST;
    if (makes) {
        *information = FILE_CREATED;
        fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    }
    if (fd < 0 && errno == EEXIST && disposition != FILE_CREATE) {
        *information = disposition == FILE_SUPERSEDE ? FILE_SUPERSEDED
                       : empties                     ? FILE_OVERWRITTEN
                                                     : FILE_OPENED;
        fd = open(path, flags | (empties ? O_TRUNC : 0));
    }
    if (fd < 0)
        *information = errno == EEXIST ? FILE_EXISTS : errno == ENOENT ? FILE_DOES_NOT_EXIST : 0;
    return fd;
}

/* As open_path, but does not wait for the other end of a FIFO, and refuses what has no offsets. */
static int open_file(const char *path, int flags, ULONG disposition, ULONG_PTR *information)
{
    int fd = open_path(path, flags | O_NONBLOCK, disposition, information), error = 0;
    struct stat stat_of;

    if (fd < 0)
        return fd;
    if (fstat(fd, &stat_of) || fcntl(fd, F_SETFL, flags))
        error = errno;
    else if (S_ISDIR(stat_of.st_mode))
        error = EISDIR;
    else if (S_ISFIFO(stat_of.st_mode))
        error = ENXIO;
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

NTSTATUS ndk_file_open(PHANDLE file, const char *path, ULONG access, ULONG disposition,
    ULONG options, ULONG_PTR *information)
{
    const struct file wanted = { .synchronous = options & (FILE_SYNCHRONOUS_IO_NONALERT |
                                                              FILE_SYNCHRONOUS_IO_ALERT),
        .reads = access & (FILE_READ_DATA | GENERIC_READ | GENERIC_ALL),
        .writes = access & (FILE_WRITE_DATA | FILE_APPEND_DATA | GENERIC_WRITE | GENERIC_ALL),
        .appends = !(access & (FILE_WRITE_DATA | GENERIC_WRITE | GENERIC_ALL)) };
    int flags = O_CLOEXEC | O_NOCTTY | (options & FILE_WRITE_THROUGH ? O_SYNC : 0);
    struct file *made;

    if (disposition > FILE_OVERWRITE_IF)
        return STATUS_INVALID_PARAMETER;
    if (options & FILE_DIRECTORY_FILE)
        return STATUS_NOT_SUPPORTED;
    if (!(made = malloc(sizeof(*made))))
        return STATUS_INSUFFICIENT_RESOURCES;
    *made = wanted;
    flags |= !wanted.writes ? O_RDONLY : wanted.reads ? O_RDWR : O_WRONLY;
    if (wanted.writes && wanted.appends)
        flags |= O_APPEND;
    made->fd = open_file(path, flags, disposition, information);
    if (made->fd < 0) {
        NTSTATUS status = status_of_path(errno, path);

        free(made);
        return status;
    }
    pthread_mutex_init(&made->mutex, NULL);
    *file = ndk_handle_open(&made->handle, NDK_HANDLE_FILE, release_file);
    return STATUS_SUCCESS;
}

/* ---- requests ---- */

struct request {
    char *buffer;
    ULONG length;
    bool writes;
};

/*
 * Returns how many bytes were moved, or the negative errno of an error before the first. Where the file appends the
 * system finds its end, whatever `at` is, so that no other handle's bytes are written over.
 */
static ssize_t move_all(int fd, const struct request *request, off_t at)
{
    size_t done = 0;

    while (done < request->length) {
        ssize_t count =
            request->writes
                ? pwrite(fd, request->buffer + done, request->length - done, at + (off_t)done)
                : pread(fd, request->buffer + done, request->length - done, at + (off_t)done);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && !done)
            return -errno;
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    return (ssize_t)done;
}

static NTSTATUS move_locked(
    struct file *file, const struct request *request, LONGLONG at, ULONG_PTR *moved)
{
    const bool appends = request->writes && file->appends;
    off_t from = appends ? 0 : at == AT_POSITION ? file->position : (off_t)at;
    off_t end;
    ssize_t count;

    if (!appends && request->writes && at == AT_END && (from = lseek(file->fd, 0, SEEK_END)) < 0)
        return status_of(errno);
    if ((count = move_all(file->fd, request, from)) < 0)
        return status_of((int)-count);
    end = appends ? lseek(file->fd, 0, SEEK_END) : from + count;
    if (end >= 0) /* else it is a device, in which there is no position */
        file->position = end;
    *moved = (ULONG_PTR)count;
    return count || !request->length ? STATUS_SUCCESS
           : request->writes         ? STATUS_DISK_FULL
                                     : STATUS_END_OF_FILE;
}

static NTSTATUS move(
    struct file *file, const struct request *request, const LARGE_INTEGER *offset, ULONG_PTR *moved)
{
    LONGLONG at = offset ? offset->QuadPart : AT_POSITION;
    NTSTATUS status;

    if (request->writes ? !file->writes : !file->reads)
        return STATUS_ACCESS_DENIED;
    if (at < 0 && !(at == AT_POSITION && file->synchronous) && !(at == AT_END && request->writes) &&
        !(request->writes && file->appends))
        return STATUS_INVALID_PARAMETER;
    pthread_mutex_lock(&file->mutex);
    status = move_locked(file, request, at, moved);
    pthread_mutex_unlock(&file->mutex);
    return status;
}

/* Both functions. */
static NTSTATUS transfer(HANDLE handle, HANDLE event, PIO_APC_ROUTINE apc, PIO_STATUS_BLOCK result,
    const struct request *request, const LARGE_INTEGER *offset)
{
    struct ndk_handle *file = ndk_handle_take(handle, NDK_HANDLE_FILE);
    ULONG_PTR moved = 0;
    NTSTATUS status;

    if (!file)
        return STATUS_INVALID_HANDLE;
    if (event || apc)
        status = STATUS_NOT_SUPPORTED;
    else
        status = move((struct file *)file, request, offset, &moved);
    ndk_handle_put(file);
    result->Status = status;
    result->Information = moved;
    return status;
}

NTSTATUS ZwReadFile(HANDLE file, HANDLE event, PIO_APC_ROUTINE apc, PVOID context,
    PIO_STATUS_BLOCK result, PVOID buffer, ULONG length, PLARGE_INTEGER offset, PULONG key)
{
    const struct request request = { buffer, length, false };

    (void)context;
    (void)key;
    ndk_passive_expected("ZwReadFile", "HANDLE", file);
    return transfer(file, event, apc, result, &request, offset);
}

NTSTATUS ZwWriteFile(HANDLE file, HANDLE event, PIO_APC_ROUTINE apc, PVOID context,
    PIO_STATUS_BLOCK result, PVOID buffer, ULONG length, PLARGE_INTEGER offset, PULONG key)
{
    const struct request request = { buffer, length, true };

    (void)context;
    (void)key;
    ndk_passive_expected("ZwWriteFile", "HANDLE", file);
    return transfer(file, event, apc, result, &request, offset);
}

/* ---- information ---- */

static NTSTATUS store_standard(const struct file *file, FILE_STANDARD_INFORMATION *standard)
{
    struct stat stat_of;

    if (fstat(file->fd, &stat_of))
        return status_of(errno);
    *standard = (FILE_STANDARD_INFORMATION){ .NumberOfLinks = (ULONG)stat_of.st_nlink };
    standard->AllocationSize.QuadPart = (LONGLONG)stat_of.st_blocks * 512;
    standard->EndOfFile.QuadPart = (LONGLONG)stat_of.st_size;
    return STATUS_SUCCESS;
}

NTSTATUS ZwQueryInformationFile(HANDLE file, PIO_STATUS_BLOCK result, PVOID information,
    ULONG length, FILE_INFORMATION_CLASS information_class)
{
    const bool standard = information_class == FileStandardInformation;
    const ULONG bytes =
        standard ? sizeof(FILE_STANDARD_INFORMATION) : sizeof(FILE_POSITION_INFORMATION);
    struct file *taken = (struct file *)ndk_handle_take(file, NDK_HANDLE_FILE);
    NTSTATUS status = STATUS_SUCCESS;

    ndk_passive_expected("ZwQueryInformationFile", "HANDLE", file);
    if (!taken)
        return STATUS_INVALID_HANDLE;
    if (!standard && information_class != FilePositionInformation)
        status = STATUS_INVALID_INFO_CLASS;
    else if (length < bytes)
        status = STATUS_INFO_LENGTH_MISMATCH;
    else if (standard)
        status = store_standard(taken, information);
    else {
        pthread_mutex_lock(&taken->mutex);
        ((FILE_POSITION_INFORMATION *)information)->CurrentByteOffset.QuadPart = taken->position;
        pthread_mutex_unlock(&taken->mutex);
    }
    ndk_handle_put(&taken->handle);
    result->Status = status;
    result->Information = NT_SUCCESS(status) ? bytes : 0;
    return status;
}

NTSTATUS ZwSetInformationFile(HANDLE file, PIO_STATUS_BLOCK result, PVOID information, ULONG length,
    FILE_INFORMATION_CLASS information_class)
{
    const FILE_POSITION_INFORMATION *position = information;
    struct file *taken = (struct file *)ndk_handle_take(file, NDK_HANDLE_FILE);
    NTSTATUS status = STATUS_SUCCESS;

    ndk_passive_expected("ZwSetInformationFile", "HANDLE", file);
    if (!taken)
        return STATUS_INVALID_HANDLE;
    if (information_class != FilePositionInformation)
        status = STATUS_INVALID_INFO_CLASS;
    else if (length < sizeof(*position))
        status = STATUS_INFO_LENGTH_MISMATCH;
    else if (position->CurrentByteOffset.QuadPart < 0)
        status = STATUS_INVALID_PARAMETER;
    else {
        pthread_mutex_lock(&taken->mutex);
        taken->position = (off_t)position->CurrentByteOffset.QuadPart;
        pthread_mutex_unlock(&taken->mutex);
    }
    ndk_handle_put(&taken->handle);
    result->Status = status;
    result->Information = 0;
    return status;
}
