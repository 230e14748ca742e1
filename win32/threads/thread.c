/* SPDX-License-Identifier: MIT */
/*
 * thread.c - threads made by CreateThread: a POSIX thread, and an object that its end signals. A thread that other code
 * made gets its object when it asks for a handle of itself.
 *
 * The handles and the thread itself hold references to the object, so either may end first.
 */
#include "win32/threads/thread.h"

#include "win32/fork.h"
#include "win32/threads/fls.h"
#include "win32/threads/thread_object.h"
#include "winobj/waits/mutex.h"

#include "util/fork.h"
#include "util/futex.h"
#include "util/lock.h"
#include "util/once.h"

#include <process.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Held while a thread's kernel id is used: after the end the kernel may give it to another thread. */
static struct lock life_lock = LOCK_INIT(LOCK_WIN_FILE, "life of threads");
WIN_HELD_OVER_FORK(life_lock);

static pthread_key_t end_key; /* its destructor runs at the end of a thread that other code made */
static struct once end_once = ONCE_INIT;

static _Thread_local struct win_thread *self;

void win_thread_lock_life(void)
{
    lock_acquire(&life_lock);
}

void win_thread_unlock_life(void)
{
    lock_release(&life_lock);
}

static void thread_destroy(struct win_object *object)
{
    free(((struct win_thread *)object)->description);
    win_waitable_destroy(object);
}

static void thread_forked(struct win_object *object)
{
    win_waitable_object_forked(object);
    win_apcs_forked(&((struct win_thread *)object)->apcs);
}

static DWORD thread_resume(struct win_object *object)
{
    struct win_thread *thread = (struct win_thread *)object;
    const DWORD before = atomic_exchange_explicit(&thread->suspended, 0, memory_order_release);

    if (before)
        futex_wake(&thread->suspended, 1);
    return before;
}

const struct win_object_type win_thread_type = {
    .name = "thread",
    .waitable = true,
    .destroy = thread_destroy,
    .descriptor = win_waitable_object_descriptor,
    .forked = thread_forked,
    .resume = thread_resume,
};

/* Runs at every end of the thread: by return, ExitThread or pthread_exit. */
static void thread_ended(void *argument)
{
    struct win_thread *thread = argument;

    win_fls_thread_ends();
    self = NULL;
    win_apcs_close(&thread->apcs);
    lock_acquire(&life_lock);
    thread->ended = true;
    win_thread_times_end(&thread->times);
    lock_release(&life_lock);
    win_owner_abandon(); /* first: a thread that the signal wakes finds the mutexes abandoned */
    win_waitable_set(&thread->waitable);
    win_object_unref(&thread->waitable.object);
}

static struct win_thread *thread_new(LPTHREAD_START_ROUTINE start, LPVOID parameter, bool suspended)
{
    struct win_thread *thread = calloc(1, sizeof(*thread));

    if (!thread) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(&thread->waitable, WAITABLE_MANUAL, false);
    win_apcs_init(&thread->apcs);
    thread->times.begun = win_thread_now();
    thread->start = start;
    thread->parameter = parameter;
    atomic_init(&thread->exit_code, 0);
    atomic_init(&thread->suspended, suspended);
    return thread;
}

static void *thread_main(void *argument)
{
    struct win_thread *thread = argument;

    self = thread;
    win_apcs_adopt(&thread->apcs);
    atomic_store_explicit(&thread->id, GetCurrentThreadId(), memory_order_release);
    futex_wake(&thread->id, 1);
    while (atomic_load_explicit(&thread->suspended, memory_order_acquire))
        futex_wait(&thread->suspended, 1, NULL);
    pthread_cleanup_push(thread_ended, thread);
    win_apcs_run(); /* those queued before the thread began */
    DWORD code = thread->start(thread->parameter);
    atomic_store_explicit(&thread->exit_code, code, memory_order_relaxed);
    pthread_cleanup_pop(1);
    return NULL;
}

/* What the C library needs of a stack: glibc's thread-local memory is there, which only a function of its own knows. */
static size_t stack_least(const pthread_attr_t *attr)
{
    static _Atomic(void *) known;
    union {
        void *found;
        size_t (*call)(const pthread_attr_t *attr);
    } glibc = { .found = atomic_load_explicit(&known, memory_order_relaxed) };

    if (!glibc.found) {
        glibc.found = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
        atomic_store_explicit(&known, glibc.found, memory_order_relaxed);
    }
    return glibc.found ? glibc.call(attr) : (size_t)sysconf(_SC_THREAD_STACK_MIN);
}

/*
 * The octets that a thread's stack can grow to. Without the flag the size is what Windows commits at first: the reserve
 * is the program's default, or, where that is not more, the size in whole mebioctets. Linux' default may be more.
 */
static int stack_reserve(const pthread_attr_t *attr, SIZE_T size, bool is_reserve, size_t *reserve)
{
    enum { DEFAULT = 1 << 20, MULTIPLE = 1 << 20, GRANULARITY = 1 << 16 };
    const size_t multiple = is_reserve ? GRANULARITY : MULTIPLE;
    const size_t least = stack_least(attr);
    int error = pthread_attr_getstacksize(attr, reserve);

    if (error || size > SIZE_MAX / 2)
        return error ? error : ENOMEM;
    if (!size || (!is_reserve && size < DEFAULT))
        *reserve = *reserve < DEFAULT ? DEFAULT : *reserve;
    else
        *reserve = ((size + multiple - 1) & ~(multiple - 1)) + ((least + 0xffff) & ~(size_t)0xffff);
    return 0;
}

static int thread_run(struct win_thread *thread, SIZE_T stack_size, bool is_reserve)
{
    pthread_attr_t attr;
    pthread_t id;
    size_t reserve;
    int error = pthread_attr_init(&attr);

    if (error)
        return error;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (!(error = stack_reserve(&attr, stack_size, is_reserve, &reserve)))
        error = pthread_attr_setstacksize(&attr, reserve);
    if (!error)
        error = pthread_create(&id, &attr, thread_main, thread);
    pthread_attr_destroy(&attr);
    return error;
}

/* A thread's id; waits until the thread has begun to run and stored it. */
static DWORD thread_id_of(struct win_thread *thread)
{
    DWORD id;

    while (!(id = atomic_load_explicit(&thread->id, memory_order_acquire)))
        futex_wait(&thread->id, 0, NULL);
    return id;
}

/*
 * CreateThread - starts a thread.
 * attributes  ignored: nothing to inherit or secure
 * stack_size  in bytes: with STACK_SIZE_PARAM_IS_A_RESERVATION what the stack can grow to, rounded up to 64 KiB;
 *             without it what Windows commits at first: the stack can grow to 1 MiB at least, a larger size is rounded
 *             up to MiB. 0: the default of the program
 * flags       0, CREATE_SUSPENDED (begins with ResumeThread), STACK_SIZE_PARAM_IS_A_RESERVATION
 * thread_id   out: may be NULL
 * Returns     a handle, signalled when the thread has ended; or NULL with ERROR_INVALID_PARAMETER (no start routine,
 *             another flag), ERROR_NOT_ENOUGH_MEMORY.
 * Source      "CreateThread", "Thread Stack Size".
 */
HANDLE WINAPI CreateThread(LPSECURITY_ATTRIBUTES attributes, SIZE_T stack_size,
    LPTHREAD_START_ROUTINE start, LPVOID parameter, DWORD flags, LPDWORD thread_id)
{
    struct win_thread *thread;
    HANDLE handle;

    (void)attributes;
    if (!start || (flags & ~(DWORD)(CREATE_SUSPENDED | STACK_SIZE_PARAM_IS_A_RESERVATION))) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    if (!(thread = thread_new(start, parameter, flags & CREATE_SUSPENDED)))
        return NULL;
    if (!(handle = win_handle_open(&thread->waitable.object, &win_thread_type))) {
        free(thread);
        return NULL;
    }
    win_object_ref(&thread->waitable.object); /* the thread's */
    win_object_ref(&thread->waitable.object); /* this function's, until the id is known */
    if (thread_run(thread, stack_size, flags & STACK_SIZE_PARAM_IS_A_RESERVATION)) {
        win_object_unref(&thread->waitable.object);
        win_object_unref(&thread->waitable.object);
        CloseHandle(handle);
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    if (thread_id)
        *thread_id = thread_id_of(thread);
    win_object_unref(&thread->waitable.object);
    return handle;
}

/* _beginthreadex - CreateThread with the C runtime's types. Returns 0 with errno EINVAL or EAGAIN on failure. */
uintptr_t __cdecl _beginthreadex(void *security, unsigned stack_size,
    _beginthreadex_proc_type start, void *parameter, unsigned flags, unsigned *thread_id)
{
    DWORD id;
    HANDLE handle = CreateThread((LPSECURITY_ATTRIBUTES)security, stack_size,
        (LPTHREAD_START_ROUTINE)start, parameter, flags, &id);

    if (!handle) {
        errno = GetLastError() == ERROR_INVALID_PARAMETER ? EINVAL : EAGAIN;
        return 0;
    }
    if (thread_id)
        *thread_id = id;
    return (uintptr_t)handle;
}

static int end_load(void)
{
    return pthread_key_create(&end_key, thread_ended);
}

/* Makes the object of a thread that other code made. Its exit code is 0 unless it calls ExitThread. */
static HANDLE thread_adopt(void)
{
    struct win_thread *thread = thread_new(NULL, NULL, false);
    HANDLE handle;

    if (!thread)
        return NULL;
    atomic_init(&thread->id, GetCurrentThreadId());
    if (!(handle = win_handle_open(&thread->waitable.object, &win_thread_type))) {
        free(thread);
        return NULL;
    }
    if (once_run(&end_once, end_load) || pthread_setspecific(end_key, thread)) {
        CloseHandle(handle);
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_object_ref(&thread->waitable.object); /* the thread's */
    self = thread;
    win_apcs_adopt(&thread->apcs);
    return handle;
}

HANDLE win_thread_self_handle(void)
{
    return self ? win_handle_add(&self->waitable.object) : thread_adopt();
}

/* ExitThread - ends the calling thread; its cleanup handlers and C++ destructors run. */
void WINAPI ExitThread(DWORD exit_code)
{
    if (self)
        atomic_store_explicit(&self->exit_code, exit_code, memory_order_relaxed);
    pthread_exit(NULL);
}

void __cdecl _endthreadex(unsigned exit_code)
{
    ExitThread(exit_code);
}

static struct win_thread *thread_pin(HANDLE handle)
{
    struct win_object *object = win_handle_pin(handle, &win_thread_type);

    if (!object)
        SetLastError(ERROR_INVALID_HANDLE);
    return (struct win_thread *)object;
}

struct win_thread *win_thread_pin(HANDLE handle)
{
    HANDLE own;

    if (handle != GetCurrentThread())
        return thread_pin(handle);
    if (!self) {
        if (!(own = thread_adopt()))
            return NULL;
        CloseHandle(own); /* the thread keeps its object */
    }
    win_object_ref(&self->waitable.object);
    return self;
}

struct win_object *win_thread_self_pin(struct win_apcs **apcs)
{
    struct win_thread *thread = win_thread_pin(GetCurrentThread());

    if (!thread)
        return NULL;
    *apcs = &thread->apcs;
    return &thread->waitable.object;
}

/*
 * GetExitCodeThread - what the thread returned or gave to ExitThread, 0 after pthread_exit; STILL_ACTIVE while it runs,
 * as GetCurrentThread() does (a wait for the handle shows whether a thread ended with this value). Errors:
 * ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER.
 */
BOOL WINAPI GetExitCodeThread(HANDLE handle, LPDWORD exit_code)
{
    struct win_thread *thread;

    if (handle == GetCurrentThread() && exit_code) {
        *exit_code = STILL_ACTIVE;
        return TRUE;
    }
    if (!(thread = thread_pin(handle)))
        return FALSE;
    if (exit_code)
        *exit_code =
            win_waitable_is_set(&thread->waitable) ? atomic_load(&thread->exit_code) : STILL_ACTIVE;
    else
        SetLastError(ERROR_INVALID_PARAMETER);
    win_object_unref(&thread->waitable.object);
    return exit_code != NULL;
}

/*
 * ResumeThread - starts a thread that CreateThread, or the process that CreateProcess, made with CREATE_SUSPENDED. This
 * library cannot suspend running threads.
 * handle   the thread's, or one of PROCESS_INFORMATION, which both are the process's
 * Returns  the suspend count before: 1, or 0 when it was not suspended; (DWORD)-1 with ERROR_INVALID_HANDLE (also a
 *          process that this one did not start). Of a process that does not become its program, and so has ended:
 *          ERROR_BAD_EXE_FORMAT, ERROR_NOT_ENOUGH_MEMORY, ERROR_FILE_NOT_FOUND, ERROR_ACCESS_DENIED. Any thread.
 * Source: ResumeThread function (processthreadsapi.h).
 */
DWORD WINAPI ResumeThread(HANDLE handle)
{
    struct win_object *object;
    DWORD before = (DWORD)-1;

    if (handle == GetCurrentThread())
        return 0;
    object = win_handle_pin(handle, NULL);
    if (object && object->type->resume)
        before = object->type->resume(object);
    else
        SetLastError(ERROR_INVALID_HANDLE);
    if (object)
        win_object_unref(object);
    return before;
}

/* GetThreadId - the id of a thread made here, or of GetCurrentThread(); 0 with ERROR_INVALID_HANDLE. */
DWORD WINAPI GetThreadId(HANDLE handle)
{
    struct win_thread *thread;
    DWORD id;

    if (handle == GetCurrentThread())
        return GetCurrentThreadId();
    if (!(thread = thread_pin(handle)))
        return 0;
    id = thread_id_of(thread);
    win_object_unref(&thread->waitable.object);
    return id;
}

bool win_thread_apply(HANDLE handle, bool (*apply)(int id, void *argument), void *argument)
{
    struct win_thread *thread;
    bool done = false;
    DWORD id;

    if (handle == GetCurrentThread())
        return apply((int)GetCurrentThreadId(), argument);
    if (!(thread = thread_pin(handle)))
        return false;
    id = thread_id_of(thread);
    lock_acquire(&life_lock);
    if (thread->ended)
        SetLastError(ERROR_INVALID_HANDLE);
    else
        done = apply((int)id, argument);
    lock_release(&life_lock);
    win_object_unref(&thread->waitable.object);
    return done;
}

static void renew_id(void)
{
    if (self)
        atomic_store_explicit(&self->id, (DWORD)gettid(), memory_order_release);
}

FORK_CHILD(renew_id);

DWORD WINAPI GetCurrentProcessId(void)
{
    return (DWORD)getpid();
}

/*
 * QueueUserAPC - has a thread call function(data) in its next alertable wait, or in the present one, which that ends. A
 * thread that has not begun calls it first. APCs run in their order; the end of the thread drops those still queued. A
 * program may fill a handle of the calling thread or GetCurrentThread().
 * Returns 1; 0 with ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (no function), ERROR_GEN_FAILURE (the thread has
 * ended), ERROR_NOT_ENOUGH_MEMORY.
 */
DWORD WINAPI QueueUserAPC(PAPCFUNC function, HANDLE handle, ULONG_PTR data)
{
    struct win_thread *thread;
    DWORD error;

    if (!function) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    if (!(thread = win_thread_pin(handle)))
        return 0;
    error = win_apcs_post(&thread->apcs, function, data);
    win_object_unref(&thread->waitable.object);
    if (error)
        SetLastError(error);
    return !error;
}
