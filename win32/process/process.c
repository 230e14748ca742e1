/* SPDX-License-Identifier: MIT */
/* process.c - the object of a process (process.h), OpenProcess. */
#include "win32/process/process.h"

#include "win32/process/process_exit.h"
#include "win32/process/suspended.h"

#include "reactor/reactor.h"
#include "util/clock.h"
#include "util/descriptor.h"
#include "util/linux_calls.h"
#include "util/lock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/* What the reactor waits for; it owns the pidfd. */
struct process_watch {
    struct reactor_source source; /* first; its descriptor is the pidfd */
    HANDLE process;               /* the process's win_object_name */
};

struct win_process {
    struct win_waitable waitable; /* set when the process has ended */
    struct process_watch *watch;
    DWORD id, access;
    bool started; /* the object has a reference of its own until the process has ended */
    enum code_from { CODE_UNKNOWN, CODE_GIVEN, CODE_OF_KERNEL } from; /* ends_lock guards these */
    DWORD code;
    int gate;                       /* where it waits to begin, or -1 */
    uint64_t begun_ms;              /* when it was let in, or 0 */
    bool asked;                     /* the kernel was asked; it reports the end of a process once */
    struct win_process_times times; /* read once it has ended; times.ended 0: not known */
};

static void (*_Atomic opened)(void);

static struct lock ends_lock = LOCK_INIT(LOCK_WIN_FILE, "ends of processes");

static void watch_free(struct reactor_source *source)
{
    close(source->fd);
    free(source);
}

/* Fetches the code of a process that has ended, and reaps it if this object has to. */
static void collect(struct win_process *process)
{
    struct win_exit end;

    lock_acquire(&ends_lock);
    /* This comes before it is reaped: afterwards the kernel may give its number to another process. */
    if (!process->asked && !win_process_read_times(process->id, &process->times))
        process->times.ended = 0;
    if (!process->asked && win_exit_fetch(process->watch->source.fd, process->started, &end)) {
        /* A code that this process gave to TerminateProcess overrides that of the signal it sent. */
        if (process->from == CODE_UNKNOWN || !end.killed) {
            process->from = CODE_OF_KERNEL;
            process->code = end.code;
        }
    }
    process->asked = true;
    lock_release(&ends_lock);
}

/* The process no longer waits, or nobody will let it begin. The gate, for the caller, or -1. */
static int take_gate(struct win_process *process)
{
    int gate;

    lock_acquire(&ends_lock);
    gate = process->gate;
    process->gate = -1;
    lock_release(&ends_lock);
    return gate;
}

static void close_gate(struct win_process *process)
{
    const int gate = take_gate(process);

    if (gate >= 0)
        close(gate);
}

static void watch_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct process_watch *watch = (struct process_watch *)source;
    struct win_process *process = (struct win_process *)win_object_find(watch->process);

    (void)events;
    (void)how;
    reactor_remove(source);
    if (!process)
        return;
    collect(process);
    close_gate(process);
    win_waitable_set(&process->waitable);
    if (process->started)
        win_object_unref(&process->waitable.object); /* the next call drops the last reference */
    win_object_unref(&process->waitable.object);
}

static const struct reactor_source_ops watch_ops = { .ready = watch_ready, .free = watch_free };

static void process_destroy(struct win_object *object)
{
    struct win_process *process = (struct win_process *)object;

    close_gate(process);
    reactor_remove(&process->watch->source);
    reactor_unref(&process->watch->source);
    win_waitable_destroy(object);
}

static struct process_watch *watch_new(int pidfd)
{
    struct process_watch *watch = calloc(1, sizeof(*watch));

    if (watch)
        reactor_source_init(&watch->source, &watch_ops, pidfd);
    return watch;
}

/*
 * The child of a fork watches the same descriptor by a watch of its own; it neither reaps nor resumes processes that
 * its parent started.
 */
static void process_forked(struct win_object *object)
{
    struct win_process *process = (struct win_process *)object;
    struct process_watch *old = process->watch, *watch = watch_new(old->source.fd);

    win_waitable_object_forked(object);
    lock_init(&ends_lock, LOCK_WIN_FILE, "ends of processes");
    close_gate(process);
    if (watch) {
        watch->process = old->process;
        process->watch = watch;
        free(old);
        if (!process->waitable.signalled)
            reactor_add(
                &watch->source, EPOLLIN); /* if that fails, the pidfd is checked when asked */
    }
    if (process->started && !process->waitable.signalled) {
        process->started = false;
        win_object_unref(object);
    }
}

static DWORD process_carry(struct win_object *object, struct win_parcel *parcel)
{
    const struct win_process *process = (struct win_process *)object;

    if (!parcel)
        return ERROR_SUCCESS;
    if ((parcel->fd = descriptor_copy(win_process_pidfd(process))) < 0)
        return ERROR_TOO_MANY_OPEN_FILES;
    parcel->kind = WIN_PARCEL_PROCESS;
    parcel->numbers[0] = process->id;
    parcel->numbers[1] = process->access;
    return ERROR_SUCCESS;
}

/* The last error of a process that did not become its program. */
static DWORD exec_error(int error)
{
    switch (error) {
    case ENOENT: return ERROR_FILE_NOT_FOUND; /* the file was removed meanwhile */
    case ENOTDIR:
    case ELOOP: return ERROR_PATH_NOT_FOUND;
    case EACCES:
    case EPERM:
    case ETXTBSY: return ERROR_ACCESS_DENIED;
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case ENOMEM:
    case E2BIG: return ERROR_NOT_ENOUGH_MEMORY;
    default: return ERROR_BAD_EXE_FORMAT;
    }
}

/*
 * The thread's handle of PROCESS_INFORMATION is one of the process, so either resumes it. The first of several calls at
 * once lets it begin.
 */
static DWORD process_resume(struct win_object *object)
{
    struct win_process *process = (struct win_process *)object;
    const int gate = process->started ? take_gate(process) : -1;
    int error;

    if (!process->started) {
        SetLastError(ERROR_INVALID_HANDLE);
        return (DWORD)-1;
    }
    if (gate < 0)
        return 0;
    if (!(error = win_suspended_go(gate))) {
        lock_acquire(&ends_lock);
        process->begun_ms = clock_now_ms();
        lock_release(&ends_lock);
        return 1;
    }
    SetLastError(exec_error(error));
    return (DWORD)-1;
}

const struct win_object_type win_process_type = {
    .name = "process",
    .waitable = true,
    .destroy = process_destroy,
    .descriptor = win_waitable_object_descriptor,
    .forked = process_forked,
    .carry = process_carry,
    .resume = process_resume,
};

void win_process_set_opened(void (*function)(void))
{
    atomic_store(&opened, function);
}

HANDLE win_process_new(int pidfd, DWORD id, DWORD access, bool started)
{
    struct win_process *process = calloc(1, sizeof(*process));
    struct process_watch *watch = process ? watch_new(pidfd) : NULL;
    void (*first)(void);
    HANDLE handle = NULL;

    if (!watch)
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    else {
        win_waitable_init(&process->waitable, WAITABLE_MANUAL, false);
        process->watch = watch;
        process->id = id;
        process->access = access;
        process->gate = -1;
        handle = win_handle_open(&process->waitable.object, &win_process_type);
    }
    if (!handle) {
        if (watch)
            reactor_unref(&watch->source);
        else
            close(pidfd);
        free(process);
        return NULL;
    }
    if ((first = atomic_load(&opened)))
        first();
    watch->process = win_object_name(&process->waitable.object);
    process->started = started;
    if (started)
        win_object_ref(&process->waitable.object);
    if (reactor_add(&watch->source, EPOLLIN)) {
        if (started)
            win_object_unref(&process->waitable.object);
        CloseHandle(handle);
        SetLastError(ERROR_NO_SYSTEM_RESOURCES);
        return NULL;
    }
    SetLastError(ERROR_SUCCESS);
    return handle;
}

struct win_process *win_process_pin(HANDLE handle, DWORD access)
{
    struct win_process *process = (struct win_process *)win_handle_pin(handle, &win_process_type);

    if (!process) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    if (access && !(process->access & access)) {
        win_object_unref(&process->waitable.object);
        SetLastError(ERROR_ACCESS_DENIED);
        return NULL;
    }
    return process;
}

void win_process_hold(HANDLE handle, int gate)
{
    struct win_process *process = win_process_pin(handle, 0);

    lock_acquire(&ends_lock);
    process->gate = gate;
    lock_release(&ends_lock);
    win_object_unref(&process->waitable.object);
}

bool win_process_is_held(struct win_process *process)
{
    bool held;

    lock_acquire(&ends_lock);
    held = process->gate >= 0;
    lock_release(&ends_lock);
    return held;
}

uint64_t win_process_begun_ms(struct win_process *process)
{
    uint64_t begun;

    lock_acquire(&ends_lock);
    begun = process->begun_ms;
    lock_release(&ends_lock);
    return begun;
}

int win_process_pidfd(const struct win_process *process)
{
    return process->watch->source.fd;
}

DWORD win_process_id(const struct win_process *process)
{
    return process->id;
}

void win_process_ends_with(struct win_process *process, DWORD code)
{
    lock_acquire(&ends_lock);
    if (process->from == CODE_UNKNOWN) {
        process->from = CODE_GIVEN;
        process->code = code;
    }
    lock_release(&ends_lock);
}

bool win_process_has_ended(struct win_process *process)
{
    struct pollfd end = { .fd = win_process_pidfd(process), .events = POLLIN };
    int ready;

    if (win_waitable_is_set(&process->waitable))
        return true;
    while ((ready = poll(&end, 1, 0)) < 0 && errno == EINTR)
        ;
    return ready > 0;
}

bool win_process_code(struct win_process *process, DWORD *code)
{
    bool known;

    collect(process);
    lock_acquire(&ends_lock);
    known = process->from != CODE_UNKNOWN;
    *code = process->code;
    lock_release(&ends_lock);
    if (!known)
        SetLastError(ERROR_NOT_SUPPORTED);
    return known;
}

bool win_process_times(struct win_process *process, struct win_process_times *times)
{
    if (!win_process_has_ended(process) && win_process_read_times(process->id, times) &&
        !win_process_has_ended(process))
        return true;
    collect(process);
    lock_acquire(&ends_lock);
    *times = process->times;
    lock_release(&ends_lock);
    return times->ended;
}

/* The last error of a process that cannot be opened. */
static DWORD error_of(int error)
{
    switch (error) {
    case EPERM:
    case EACCES: return ERROR_ACCESS_DENIED;
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case ENOMEM: return ERROR_NOT_ENOUGH_MEMORY;
    case ENOSYS: return ERROR_NOT_SUPPORTED;
    default: return ERROR_INVALID_PARAMETER; /* no such process, or the number of a thread */
    }
}

/*
 * OpenProcess - a handle of a process of the same user, which is signalled when the process has ended.
 * access   PROCESS_* rights: each function says which it needs. Every handle may be waited for
 * inherit  whether CreateProcess may hand it on
 * id       its number in the caller's namespace, as GetCurrentProcessId returns it
 * Returns  NULL with ERROR_INVALID_PARAMETER (there is no such process), ERROR_ACCESS_DENIED (another user's),
 *          ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY, ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_SUPPORTED (Linux
 *          before 5.3). Any thread.
 * Source: OpenProcess function (processthreadsapi.h).
 */
HANDLE WINAPI OpenProcess(DWORD access, BOOL inherit, DWORD id)
{
    int fd, error;

    if (!id || id > INT32_MAX) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    fd = pidfd_open((pid_t)id, 0);
    if (fd < 0) {
        SetLastError(error_of(errno));
        return NULL;
    }
    if (pidfd_send_signal(fd, 0, NULL, 0) && errno != ESRCH) { /* ESRCH: it has ended */
        error = errno;
        close(fd);
        SetLastError(error_of(error));
        return NULL;
    }
    return win_handle_attribute(win_process_new(fd, id, access, false),
        &(SECURITY_ATTRIBUTES){ .bInheritHandle = inherit });
}
