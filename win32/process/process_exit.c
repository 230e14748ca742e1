/* SPDX-License-Identifier: MIT */
/*
 * process_exit.c - how a process ended (process_exit.h), GetExitCodeProcess, GetProcessId, TerminateProcess.
 *
 * The parent learns it by waitid; by PIDFD_GET_INFO (Linux 6.15) any process that opened the pidfd before the end.
 */
#include "win32/process/process_exit.h"

#include "win32/process/process.h"

#include "util/linux_calls.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/pidfd.h of Linux 6.15, which an older system's headers do not have. */
struct pidfd_info_of_exit {
    uint64_t mask, cgroup;
    uint32_t ids[11]; /* pid, tgid, ppid, and the users and groups */
    int32_t exit_code;
};
#define GET_INFO_OF_EXIT _IOWR(0xFF, 11, struct pidfd_info_of_exit)
#define INFO_EXIT        (UINT64_C(1) << 3)

/* The code that Windows has for the cause of a signal; without such a cause what a shell reports. */
static DWORD code_of_signal(int number)
{
    switch (number) {
    case SIGSEGV:
    case SIGBUS: return 0xC0000005;  /* STATUS_ACCESS_VIOLATION */
    case SIGILL: return 0xC000001D;  /* STATUS_ILLEGAL_INSTRUCTION */
    case SIGFPE: return 0xC0000094;  /* STATUS_INTEGER_DIVIDE_BY_ZERO */
    case SIGTRAP: return 0x80000003; /* STATUS_BREAKPOINT */
    case SIGINT: return 0xC000013A;  /* STATUS_CONTROL_C_EXIT */
    case SIGABRT:
        return 0xC0000409; /* STATUS_STACK_BUFFER_OVERRUN, by which abort ends a process */
    default: return 128 + (DWORD)number;
    }
}

static struct win_exit exit_of(bool exited, int value)
{
    return (struct win_exit){ .code = exited ? (DWORD)value : code_of_signal(value),
        .killed = !exited && value == SIGKILL };
}

bool win_exit_fetch(int pidfd, bool reap, struct win_exit *end)
{
    struct pidfd_info_of_exit info = { .mask = INFO_EXIT };
    siginfo_t child = { 0 };
    int result;

    while ((result = waitid((idtype_t)P_PIDFD, (id_t)pidfd, &child,
                WEXITED | WNOHANG | (reap ? 0 : WNOWAIT))) &&
           errno == EINTR)
        ;
    if (!result && child.si_pid) {
        *end = exit_of(child.si_code == CLD_EXITED, child.si_status);
        return true;
    }
    if (ioctl(pidfd, GET_INFO_OF_EXIT, &info) || !(info.mask & INFO_EXIT))
        return false;
    *end = WIFEXITED(info.exit_code) ? exit_of(true, WEXITSTATUS(info.exit_code))
                                     : exit_of(false, WTERMSIG(info.exit_code));
    return true;
}

/*
 * GetExitCodeProcess - how a process ended. Needs PROCESS_QUERY_INFORMATION or PROCESS_QUERY_LIMITED_INFORMATION.
 * code     out: the low 8 bits of what it gave to exit or ExitProcess; STILL_ACTIVE (259) while it runs; what this
 *          handle gave to TerminateProcess. Of a signal: the status of its cause (a fault is 0xC0000005, a
 *          breakpoint 0x80000003, SIGINT 0xC000013A, abort 0xC0000409), else 128 + its number
 * Returns  FALSE with ERROR_INVALID_HANDLE, ERROR_ACCESS_DENIED (the handle lacks the right), ERROR_NOACCESS (no code),
 *          ERROR_NOT_SUPPORTED (it has ended and was no child of this process, or was reaped, and Linux is older than
 *          6.15: the code is lost). Any thread.
 * Source: GetExitCodeProcess function (processthreadsapi.h).
 */
BOOL WINAPI GetExitCodeProcess(HANDLE handle, LPDWORD code)
{
    struct win_process *process;
    bool done = true;

    if (!code) {
        SetLastError(ERROR_NOACCESS);
        return FALSE;
    }
    if (handle == GetCurrentProcess()) {
        *code = STILL_ACTIVE;
        return TRUE;
    }
    process =
        win_process_pin(handle, PROCESS_QUERY_INFORMATION | PROCESS_QUERY_LIMITED_INFORMATION);
    if (!process)
        return FALSE;
    if (win_process_has_ended(process))
        done = win_process_code(process, code);
    else
        *code = STILL_ACTIVE;
    win_object_unref((struct win_object *)process);
    return done;
}

/*
 * GetProcessId - the number of the process of a handle; 0 with ERROR_INVALID_HANDLE, ERROR_ACCESS_DENIED (the handle
 * has neither PROCESS_QUERY_INFORMATION nor PROCESS_QUERY_LIMITED_INFORMATION). Any thread.
 * Source: GetProcessId function (processthreadsapi.h).
 */
DWORD WINAPI GetProcessId(HANDLE handle)
{
    struct win_process *process;
    DWORD id;

    if (handle == GetCurrentProcess())
        return (DWORD)getpid();
    process =
        win_process_pin(handle, PROCESS_QUERY_INFORMATION | PROCESS_QUERY_LIMITED_INFORMATION);
    if (!process)
        return 0;
    id = win_process_id(process);
    win_object_unref((struct win_object *)process);
    return id;
}

/*
 * TerminateProcess - ends a process at once, by SIGKILL; the calling one without even writing streams out.
 * process    GetCurrentProcess(), or a handle with PROCESS_TERMINATE
 * exit_code  what GetExitCodeProcess then returns for this object. Any other process sees the signal (137); of the
 *            calling process the low 8 bits
 * Returns    FALSE with ERROR_INVALID_HANDLE, ERROR_ACCESS_DENIED (no right; the process has ended). A process that is
 *            about to end may not have done so yet: wait for the handle. Any thread.
 * Source: TerminateProcess function (processthreadsapi.h).
 */
BOOL WINAPI TerminateProcess(HANDLE handle, UINT exit_code)
{
    struct win_process *process;
    bool done;

    if (handle == GetCurrentProcess())
        _exit((int)exit_code);
    if (!(process = win_process_pin(handle, PROCESS_TERMINATE)))
        return FALSE;
    done = !win_process_has_ended(process);
    if (done) {
        win_process_ends_with(process, exit_code);
        done = !pidfd_send_signal(win_process_pidfd(process), SIGKILL, NULL, 0);
    }
    win_object_unref((struct win_object *)process);
    if (!done)
        SetLastError(ERROR_ACCESS_DENIED);
    return done;
}
