/* SPDX-License-Identifier: MIT */
/*
 * pool.c - callbacks on threads of the library: BindIoCompletionCallback, CreateThreadpoolIo and its kind.
 *
 * One completion port for the process, and the threads that take from it. A packet's key is the number of a binding,
 * which says what to call; numbers are not used again, so a packet that comes after CloseThreadpoolIo finds nothing and
 * is dropped. A thread is added whenever all are busy in callbacks, up to a bound, so a callback that waits for another
 * one does not stop everything.
 */
#include "winobj/pool.h"

#include "winobj/status.h"

#include "util/futex.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/once.h"
#include "util/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { POOL_THREADS = 64 };

/* What files are bound to. The counts: bindings_lock. */
struct _TP_IO {
    struct list_node link; /* bindings */
    ULONG_PTR key;
    /* of BindIoCompletionCallback: never freed, one per function */
    LPOVERLAPPED_COMPLETION_ROUTINE function;
    PTP_WIN32_IO_CALLBACK callback; /* of CreateThreadpoolIo */
    PTP_WORK_CALLBACK work;         /* of CreateThreadpoolWork */
    PVOID context;
    unsigned started; /* StartThreadpoolIo was called, the packet has not come */
    unsigned running; /* callbacks */
    unsigned marks;   /* on their way through the port; what comes before the last one is dropped */
    unsigned waiters; /* threads in WaitForThreadpoolIoCallbacks */
    bool closed;
    _Atomic uint32_t changes; /* futex word of the waiters */
};

static struct list_head bindings = { { &bindings.n, &bindings.n } };
static struct lock bindings_lock = LOCK_INIT(LOCK_WIN_HANDLES, "bindings");
static ULONG_PTR last_key;

static struct once pool_once = ONCE_INIT;
static HANDLE pool_port;
static atomic_int pool_threads, pool_idle;

static bool pool_grow(void);

static struct _TP_IO *binding_find_locked(ULONG_PTR key)
{
    lock_assert_held(&bindings_lock);
    list_for_each (&bindings, node)
        if (list_entry(node, struct _TP_IO, link)->key == key)
            return list_entry(node, struct _TP_IO, link);
    return NULL;
}

static bool binding_idle(const struct _TP_IO *io)
{
    return !io->started && !io->running && !io->marks;
}

/* After a change to the counts: tells waiters, frees what was closed, drops the lock. */
static void binding_settle(struct _TP_IO *io)
{
    bool gone = io->closed && binding_idle(io) && !io->waiters;
    _Atomic uint32_t *word = io->waiters && binding_idle(io) ? &io->changes : NULL;

    if (word)
        atomic_fetch_add_explicit(
            word, 1, memory_order_release); /* pairs with the load of a waiter */
    if (gone)
        list_del(&io->link);
    lock_release(&bindings_lock);
    if (word)
        futex_wake(word, INT_MAX);
    if (gone)
        free(io);
}

static void binding_call(struct _TP_IO *io, const OVERLAPPED_ENTRY *entry)
{
    LONG status = (LONG)entry->Internal;
    DWORD error = status >= 0 ? ERROR_SUCCESS : win_error_from_status(status);
    DWORD bytes = status >= 0 ? entry->dwNumberOfBytesTransferred : 0;

    if (io->function)
        io->function(error, bytes, entry->lpOverlapped);
    else if (io->work)
        io->work((PTP_CALLBACK_INSTANCE)(void *)&status, io->context, (PTP_WORK)(void *)io);
    else
        io->callback((PTP_CALLBACK_INSTANCE)(void *)&status, io->context, entry->lpOverlapped,
            error, bytes, io);
}

/* A packet: a request's end, or the binding's own address as a mark. */
static void binding_deliver(const OVERLAPPED_ENTRY *entry)
{
    struct _TP_IO *io;
    bool call;

    lock_acquire(&bindings_lock);
    io = binding_find_locked(entry->lpCompletionKey);
    if (!io) {
        lock_release(&bindings_lock);
        return;
    }
    if (entry->lpOverlapped == (LPOVERLAPPED)(void *)io) {
        io->marks--;
        binding_settle(io);
        return;
    }
    call = !io->marks;
    if (io->started)
        io->started--;
    if (call)
        io->running++;
    binding_settle(io);
    if (!call)
        return;
    binding_call(io, entry);
    lock_acquire(&bindings_lock);
    io->running--;
    binding_settle(io);
}

static void pool_thread(void *unused)
{
    (void)unused;
    for (;;) {
        OVERLAPPED_ENTRY entry;
        ULONG taken;

        if (!GetQueuedCompletionStatusEx(pool_port, &entry, 1, &taken, INFINITE, FALSE))
            continue; /* the port is never closed: memory was short, and there will be some */
        if (atomic_fetch_sub(&pool_idle, 1) == 1)
            pool_grow();
        binding_deliver(&entry);
        atomic_fetch_add(&pool_idle, 1);
    }
}

/* One thread more, asleep. False: there are enough, or none can be had. */
static bool pool_grow(void)
{
    if (atomic_fetch_add(&pool_threads, 1) >= POOL_THREADS) {
        atomic_fetch_sub(&pool_threads, 1);
        return false;
    }
    atomic_fetch_add(&pool_idle, 1);
    if (!thread_start_detached("winobj-pool", pool_thread, NULL))
        return true;
    atomic_fetch_sub(&pool_idle, 1);
    atomic_fetch_sub(&pool_threads, 1);
    return false;
}

static int pool_start(void)
{
    pool_port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    if (pool_port && pool_grow())
        return 0;
    if (pool_port)
        CloseHandle(pool_port);
    pool_port = NULL;
    return -ENOMEM;
}

/* A new binding, told of nothing yet; NULL with the last error. */
static struct _TP_IO *binding_new(void)
{
    struct _TP_IO *io;

    if (once_run(&pool_once, pool_start) || !(io = calloc(1, sizeof(*io)))) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    return io;
}

static void binding_add_locked(struct _TP_IO *io)
{
    lock_assert_held(&bindings_lock);
    io->key = ++last_key;
    list_add_tail(&bindings, &io->link);
}

static bool binding_attach(const struct _TP_IO *io, HANDLE file)
{
    if (file != INVALID_HANDLE_VALUE) /* which would ask for a port */
        return CreateIoCompletionPort(file, pool_port, io->key, 0) != NULL;
    SetLastError(ERROR_INVALID_HANDLE);
    return false;
}

/* The binding of a function: the one it has, else the new one, which is taken or freed. */
static struct _TP_IO *binding_of_function(LPOVERLAPPED_COMPLETION_ROUTINE function)
{
    struct _TP_IO *io = binding_new(), *found = NULL;

    if (!io)
        return NULL;
    lock_acquire(&bindings_lock);
    list_for_each (&bindings, node)
        if (list_entry(node, struct _TP_IO, link)->function == function)
            found = list_entry(node, struct _TP_IO, link);
    if (!found) {
        io->function = function;
        binding_add_locked(io);
    }
    lock_release(&bindings_lock);
    if (found)
        free(io);
    return found ? found : io;
}

/*
 * BindIoCompletionCallback - the file's completed requests are handed to a function, on a thread of the library.
 * file      not attached to a port yet; for the rest of its life
 * function  called with a Win32 error, the bytes, and the OVERLAPPED; it may block, and runs on several threads at once
 * flags     must be 0
 * Returns   FALSE with ERROR_INVALID_PARAMETER (no function, flags, attached already), ERROR_INVALID_HANDLE
 *           (no file), ERROR_NOT_ENOUGH_MEMORY (no thread).
 */
BOOL WINAPI BindIoCompletionCallback(
    HANDLE file, LPOVERLAPPED_COMPLETION_ROUTINE function, ULONG flags)
{
    struct _TP_IO *io;

    if (!function || flags) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    io = binding_of_function(function);
    return io && binding_attach(io, file);
}

PTP_IO win_pool_open(PTP_WIN32_IO_CALLBACK callback, PTP_WORK_CALLBACK work, PVOID context)
{
    struct _TP_IO *io = binding_new();

    if (!io)
        return NULL;
    io->callback = callback;
    io->work = work;
    io->context = context;
    lock_acquire(&bindings_lock);
    binding_add_locked(io);
    lock_release(&bindings_lock);
    return io;
}

bool win_pool_post(PTP_IO io, PVOID overlapped)
{
    StartThreadpoolIo(io);
    if (PostQueuedCompletionStatus(pool_port, 0, io->key, overlapped))
        return true;
    CancelThreadpoolIo(io);
    return false;
}

/*
 * CreateThreadpoolIo - the file's completed requests are handed to a callback, on a thread of the library.
 * file         not attached to a port yet; for the rest of its life
 * callback     called with context, the OVERLAPPED, a Win32 error and the bytes; it may block, and runs on several
 *              threads at once
 * environment  NULL: there is one pool
 * Returns      what the other functions take; NULL with ERROR_INVALID_PARAMETER (no callback, an environment, attached
 *              already), ERROR_INVALID_HANDLE (no file), ERROR_NOT_ENOUGH_MEMORY.
 */
PTP_IO WINAPI CreateThreadpoolIo(
    HANDLE file, PTP_WIN32_IO_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment)
{
    struct _TP_IO *io;

    if (!callback || environment) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    if (!(io = win_pool_open(callback, NULL, context)))
        return NULL;
    if (binding_attach(io, file))
        return io;
    CloseThreadpoolIo(io);
    return NULL;
}

/* StartThreadpoolIo - to be called before each overlapped call on the file: one more end to expect. */
VOID WINAPI StartThreadpoolIo(PTP_IO io)
{
    lock_acquire(&bindings_lock);
    io->started++;
    lock_release(&bindings_lock);
}

/* CancelThreadpoolIo - the call after StartThreadpoolIo failed at once: its end will not come. */
VOID WINAPI CancelThreadpoolIo(PTP_IO io)
{
    lock_acquire(&bindings_lock);
    if (io->started)
        io->started--;
    binding_settle(io);
}

/* Drops what the port holds for this binding now: a mark behind it ends that. */
static void binding_drop_queued(struct _TP_IO *io)
{
    lock_acquire(&bindings_lock);
    io->marks++;
    lock_release(&bindings_lock);
    if (PostQueuedCompletionStatus(pool_port, 0, io->key, (LPOVERLAPPED)(void *)io))
        return;
    lock_acquire(&bindings_lock); /* no memory for the mark: the callbacks run */
    io->marks--;
    binding_settle(io);
}

/*
 * WaitForThreadpoolIoCallbacks - waits until every request that was started has ended and its callback has returned.
 * cancel  TRUE: callbacks that are due but have not begun are left out. Requests that are under way are not cancelled.
 * Not from one of these callbacks.
 */
VOID WINAPI WaitForThreadpoolIoCallbacks(PTP_IO io, BOOL cancel)
{
    if (cancel)
        binding_drop_queued(io);
    lock_acquire(&bindings_lock);
    io->waiters++;
    while (!binding_idle(io)) {
        uint32_t seen = atomic_load_explicit(&io->changes, memory_order_acquire);

        lock_release(&bindings_lock);
        futex_wait(&io->changes, seen, NULL);
        lock_acquire(&bindings_lock);
    }
    io->waiters--;
    binding_settle(io);
}

/* CloseThreadpoolIo - frees it, after the callbacks of requests that were started. */
VOID WINAPI CloseThreadpoolIo(PTP_IO io)
{
    lock_acquire(&bindings_lock);
    io->closed = true;
    binding_settle(io);
}
