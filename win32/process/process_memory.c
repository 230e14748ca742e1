/* SPDX-License-Identifier: MIT */
/*
 * process_memory.c - ReadProcessMemory, WriteProcessMemory: process_vm_readv and process_vm_writev.
 *
 * The kernel checks the access as for ptrace (the user's own processes, unless kernel.yama.ptrace_scope restricts it to
 * descendants), and copies page by page: a copy that reaches unmapped memory is partial.
 */
#include "win32/process/process.h"

#include <errno.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

typedef ssize_t copy_call(
    pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

struct copy {
    copy_call *call;
    DWORD id;
    char *here, *there;
    size_t size, done;
};

/* Copies as far as the kernel gets. 0 or the errno that stopped it. */
static int copy_run(struct copy *copy)
{
    while (copy->done < copy->size) {
        struct iovec here = { copy->here + copy->done, copy->size - copy->done },
                     there = { copy->there + copy->done, copy->size - copy->done };
        ssize_t done = copy->call((pid_t)copy->id, &here, 1, &there, 1, 0);

        if (done <= 0)
            return done ? errno : EFAULT;
        copy->done += (size_t)done;
    }
    return 0;
}

/* Whether an octet of a process can be read. */
static bool readable(DWORD id, char *at)
{
    char octet;
    struct iovec here = { &octet, 1 }, there = { at, 1 };

    return process_vm_readv((pid_t)id, &here, 1, &there, 1, 0) == 1;
}

/* The last error of a copy that an errno stopped; finds out which of the two memories was not mapped. */
static DWORD error_of(const struct copy *copy, int error)
{
    bool read = copy->call == process_vm_readv;

    switch (error) {
    case EFAULT:
        if (read)
            return readable(copy->id, copy->there + copy->done) ? ERROR_NOACCESS
                                                                : ERROR_PARTIAL_COPY;
        return readable((DWORD)getpid(), copy->here + copy->done) ? ERROR_PARTIAL_COPY
                                                                  : ERROR_NOACCESS;
    case EINVAL: return ERROR_INVALID_PARAMETER; /* a size beyond SSIZE_MAX */
    case ENOMEM: return ERROR_NOT_ENOUGH_MEMORY;
    case ENOSYS: return ERROR_NOT_SUPPORTED;
    default: return ERROR_ACCESS_DENIED; /* EPERM; ESRCH: it has ended */
    }
}

static BOOL copy_with(HANDLE handle, DWORD access, struct copy *copy, SIZE_T *copied)
{
    struct win_process *process = NULL;
    DWORD error = ERROR_SUCCESS;
    int stopped = 0;

    copy->id = (DWORD)getpid();
    if (handle != GetCurrentProcess()) {
        if (!(process = win_process_pin(handle, access)))
            return FALSE;
        copy->id = win_process_id(process);
    }
    if (!process || !win_process_has_ended(process))
        stopped = copy_run(copy);
    if (process && win_process_has_ended(process)) {
        error = ERROR_ACCESS_DENIED; /* the number may have become another process's meanwhile */
        copy->done = 0;
    } else if (stopped)
        error = error_of(copy, stopped);
    if (process)
        win_object_unref((struct win_object *)process);
    if (copied)
        *copied = copy->done;
    if (error)
        SetLastError(error);
    return !error;
}

/*
 * ReadProcessMemory - copies memory of a process into the caller's.
 * process  GetCurrentProcess(), or a handle with PROCESS_VM_READ
 * from     in: address in that process
 * to       out: size octets
 * copied   out: octets copied, of a partial copy, too; may be NULL
 * Returns  FALSE with ERROR_INVALID_HANDLE, ERROR_ACCESS_DENIED (the handle lacks the right; the kernel forbids it; the
 *          process has ended), ERROR_PARTIAL_COPY (not all of the other process's memory is there to be read),
 *          ERROR_NOACCESS (not all of to is there to be written), ERROR_INVALID_PARAMETER (size),
 *          ERROR_NOT_ENOUGH_MEMORY, ERROR_NOT_SUPPORTED (a kernel without process_vm_readv). Any thread.
 * Source: ReadProcessMemory function (memoryapi.h).
 */
BOOL WINAPI ReadProcessMemory(HANDLE process, LPCVOID from, LPVOID to, SIZE_T size, SIZE_T *copied)
{
    struct copy copy = {
        .call = process_vm_readv, .here = to, .there = (char *)from, .size = size
    };

    return copy_with(process, PROCESS_VM_READ, &copy, copied);
}

/*
 * WriteProcessMemory - copies memory of the caller into a process. Pages that the other process may not write are not
 * made writable.
 * process  GetCurrentProcess(), or a handle with PROCESS_VM_WRITE
 * to       in: address in that process
 * from     in: size octets
 * copied   as ReadProcessMemory
 * Returns  FALSE as ReadProcessMemory does; ERROR_PARTIAL_COPY: not all of the other process's memory is there to be
 *          written, ERROR_NOACCESS: not all of from is there to be read. Any thread.
 * Source: WriteProcessMemory function (memoryapi.h).
 */
BOOL WINAPI WriteProcessMemory(HANDLE process, LPVOID to, LPCVOID from, SIZE_T size, SIZE_T *copied)
{
    struct copy copy = {
        .call = process_vm_writev, .here = (char *)from, .there = to, .size = size
    };

    return copy_with(process, PROCESS_VM_WRITE, &copy, copied);
}
