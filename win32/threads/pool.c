/* SPDX-License-Identifier: MIT */
/*
 * pool.c - callbacks on threads of the library: BindIoCompletionCallback, CreateThreadpoolIo and its kind.
 *
 * The process has one completion port for this, and threads that take packets from it. A packet's key is the number of
 * a binding, which says what to call. Numbers are not used again: the pool drops a packet that comes after
 * CloseThreadpoolIo. When all threads are busy in callbacks the pool adds one, up to a limit, so that a callback may
 * wait for another one; where the system refuses the thread it is tried again while none is idle. The child of a fork
 * has the bindings, none of the packets, and a thread once it has a use for one.
 */
#include "win32/threads/pool.h"

#include "reactor/again.h"
#include "win32/fork.h"
#include "winobj/status.h"

#include "util/futex.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/once.h"
#include "util/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { POOL_THREADS = 64 };

/* What a file is bound to. bindings_lock guards the counts. */
struct _TP_IO {
    struct list_node link; /* bindings */
    ULONG_PTR key;
    /* BindIoCompletionCallback's: there is one binding per function, never freed */
    LPOVERLAPPED_COMPLETION_ROUTINE function;
    PTP_WIN32_IO_CALLBACK callback; /* CreateThreadpoolIo's */
    PTP_WORK_CALLBACK work;         /* CreateThreadpoolWork's */
    PVOID context;
    unsigned started; /* calls of StartThreadpoolIo whose packet has not come yet */
    unsigned running; /* callbacks */
    unsigned marks; /* queued at the port; the pool drops packets that come before the last mark */
    unsigned waiters; /* threads in WaitForThreadpoolIoCallbacks */
    bool closed;
    _Atomic uint32_t changes; /* futex word of the waiters */
};

static struct list_head bindings = { { &bindings.n, &bindings.n } };
static struct lock bindings_lock = LOCK_INIT(LOCK_WIN_HANDLES, "bindings");
WIN_HELD_OVER_FORK(bindings_lock);
static ULONG_PTR last_key;

static struct once pool_once = ONCE_INIT;
static HANDLE pool_port;
static atomic_int pool_threads, pool_idle;
static struct reactor_again pool_again; /* bindings_lock guards it */

static void pool_keep_idle(void);

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

/* Called after a change of the counts: wakes waiters, frees a closed binding without users, releases the lock. */
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

/* Handles a packet: the end of a request, or the binding's own address, which is a mark. */
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
            continue; /* out of memory: try again; the port itself is never closed */
        if (atomic_fetch_sub(&pool_idle, 1) == 1)
            pool_keep_idle();
        binding_deliver(&entry);
        atomic_fetch_add(&pool_idle, 1);
    }
}

/* Adds a thread, which waits for a packet. False: the pool has POOL_THREADS, or the system refuses one. */
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

static void pool_expired(struct reactor_source *source, enum reactor_how how)
{
    (void)source;
    (void)how;
    pool_keep_idle();
}

static const struct reactor_source_ops pool_again_ops = { .expired = pool_expired };

/* Adds a thread if none is idle: a packet may be there, or come. Tries again while the system refuses it. */
static void pool_keep_idle(void)
{
    if (atomic_load(&pool_idle) > 0 || pool_grow() || atomic_load(&pool_threads) >= POOL_THREADS)
        return;
    lock_acquire(&bindings_lock);
    reactor_again(&pool_again, &pool_again_ops);
    lock_release(&bindings_lock);
}

static int pool_start(void)
{
    pool_port = win_port_create(); /* the program's ports are made known to other processes */
    if (pool_port && pool_grow())
        return 0;
    if (pool_port)
        CloseHandle(pool_port);
    pool_port = NULL;
    return -ENOMEM;
}

/* Whether there is a thread; the child of a fork has none at first. */
static bool pool_there(void)
{
    return atomic_load(&pool_threads) > 0 || pool_grow();
}

/* A new binding, not on the list yet; NULL with the last error. */
static struct _TP_IO *binding_new(void)
{
    struct _TP_IO *io;

    if (once_run(&pool_once, pool_start) || !pool_there() || !(io = calloc(1, sizeof(*io)))) {
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
    if (file != INVALID_HANDLE_VALUE) /* CreateIoCompletionPort would make a port for that */
        return CreateIoCompletionPort(file, pool_port, io->key, 0) != NULL;
    SetLastError(ERROR_INVALID_HANDLE);
    return false;
}

/* Returns the binding of a function, a new one if it has none. NULL with the last error. */
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
 * BindIoCompletionCallback - lets a thread of the library call a function for each completed request of a file.
 * file      not attached to a port yet; the binding lasts as long as the file
 * function  called with a Win32 error, the bytes, and the OVERLAPPED; it may block. Several threads may run it at once
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
    if (!pool_there()) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    StartThreadpoolIo(io);
    if (PostQueuedCompletionStatus(pool_port, 0, io->key, overlapped))
        return true;
    CancelThreadpoolIo(io);
    return false;
}

void win_pool_post_kept(PTP_IO io, struct win_packet *packet, PVOID overlapped)
{
    struct win_port *port = win_port_pin(pool_port);

    StartThreadpoolIo(io);
    *packet = (struct win_packet){ .key = io->key, .overlapped = overlapped, .kept = true };
    list_node_init(&packet->link);
    win_port_post(port, packet);
    win_port_unpin(port);
    if (pool_there())
        return;
    log_limited(LOG_WARN, LOG_WIN,
        "a callback waits: this process is the child of a fork, and no thread is to be had for it; "
        "this is tried again every %d ms",
        REACTOR_AGAIN_MS);
    pool_keep_idle();
}

/*
 * CreateThreadpoolIo - lets a thread of the library call a callback for each completed request of a file.
 * file         not attached to a port yet; the binding lasts as long as the file
 * callback     called with context, the OVERLAPPED, a Win32 error and the bytes; it may block. Several threads may run
 *              it at once
 * environment  NULL: there is one pool
 * Returns      the PTP_IO for the other functions; NULL with ERROR_INVALID_PARAMETER (no callback, an environment,
 *              attached already), ERROR_INVALID_HANDLE (no file), ERROR_NOT_ENOUGH_MEMORY.
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

/* StartThreadpoolIo - announces an overlapped call on the file; the program calls it before each of them. */
VOID WINAPI StartThreadpoolIo(PTP_IO io)
{
    lock_acquire(&bindings_lock);
    io->started++;
    lock_release(&bindings_lock);
}

/* CancelThreadpoolIo - undoes StartThreadpoolIo, after the overlapped call has failed at once. */
VOID WINAPI CancelThreadpoolIo(PTP_IO io)
{
    lock_acquire(&bindings_lock);
    if (io->started)
        io->started--;
    binding_settle(io);
}

/* Drops the packets that the port holds for this binding now: all those in front of a mark that it queues. */
static void binding_drop_queued(struct _TP_IO *io)
{
    lock_acquire(&bindings_lock);
    io->marks++;
    lock_release(&bindings_lock);
    if (PostQueuedCompletionStatus(pool_port, 0, io->key, (LPOVERLAPPED)(void *)io))
        return;
    lock_acquire(&bindings_lock); /* no memory for the mark: the callbacks run nevertheless */
    io->marks--;
    binding_settle(io);
}

/*
 * WaitForThreadpoolIoCallbacks - waits until every announced request has ended and its callback has returned.
 * cancel  TRUE: drops callbacks that have not begun. It does not cancel pending requests.
 * A callback of the same PTP_IO must not call it.
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

/* CloseThreadpoolIo - frees it, once the callbacks of all announced requests have returned. */
VOID WINAPI CloseThreadpoolIo(PTP_IO io)
{
    lock_acquire(&bindings_lock);
    io->closed = true;
    binding_settle(io);
}

/* What the parent's threads were to call, they call there. */
void win_pool_forked(void)
{
    struct win_port *port = pool_port ? win_port_pin(pool_port) : NULL;

    if (!port)
        return;
    win_port_clear(port);
    win_port_unpin(port);
    atomic_store(&pool_threads, 0);
    atomic_store(&pool_idle, 0);
    pool_again = (struct reactor_again){ .added = false };
    list_for_each (&bindings, node) {
        struct _TP_IO *io = list_entry(node, struct _TP_IO, link);

        io->started = io->running = io->marks = io->waiters = 0;
    }
}
