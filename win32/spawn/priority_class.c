/* SPDX-License-Identifier: MIT */
/*
 * priority_class.c - priority classes, as nice values: a step of Windows' base priorities is four of them, as it is for
 * threads (threads/priority.c). The threads of a process keep their distance to its class. To rise needs a privilege
 * (CAP_SYS_NICE, RLIMIT_NICE).
 */
#include "win32/spawn/priority_class.h"

#include "win32/process/process.h"
#include "win32/threads/priority.h"

#include "util/lock.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* CreateProcess takes the first of these that its flags have, as on Windows. */
static const struct {
    DWORD priority_class;
    int nice;
} classes[] = { { IDLE_PRIORITY_CLASS, 16 }, { BELOW_NORMAL_PRIORITY_CLASS, 8 },
    { NORMAL_PRIORITY_CLASS, 0 }, { ABOVE_NORMAL_PRIORITY_CLASS, -8 }, { HIGH_PRIORITY_CLASS, -16 },
    { REALTIME_PRIORITY_CLASS, -20 } };

static struct lock class_lock =
    LOCK_INIT(LOCK_WIN_HANDLES, "priority class"); /* one change at a time */

/* The class nearest to a nice value; of two that are as near the one nearer to NORMAL. */
static DWORD nearest_class(int nice)
{
    size_t nearest = 2;

    for (size_t i = 0; i < ARRAYSIZE(classes); i++) {
        const int distance = abs(classes[i].nice - nice) - abs(classes[nearest].nice - nice);

        if (distance < 0 || (!distance && abs(classes[i].nice) < abs(classes[nearest].nice)))
            nearest = i;
    }
    return classes[nearest].priority_class;
}

/* Finds the nice value of the first class among flags. */
static bool class_nice(DWORD flags, int *nice)
{
    for (size_t i = 0; i < ARRAYSIZE(classes); i++)
        if (flags & classes[i].priority_class) {
            *nice = classes[i].nice;
            return true;
        }
    return false;
}

static int clamped(int nice)
{
    return nice < -20 ? -20 : nice > 19 ? 19 : nice;
}

/* The nice value of a thread, or of a process's first one. A Win32 error. */
static DWORD read_nice(int id, int *nice)
{
    errno = 0;
    *nice = getpriority(PRIO_PROCESS, (id_t)id);
    return errno ? ERROR_ACCESS_DENIED : ERROR_SUCCESS; /* getpriority fails if the thread ended */
}

/* The threads that one change has reached. */
struct change {
    struct reached {
        int id, before;
    } * threads;
    size_t count, room;
    int from, by; /* the class before, and how far it moves */
};

static bool reached(const struct change *change, int id)
{
    for (size_t i = 0; i < change->count; i++)
        if (change->threads[i].id == id)
            return true;
    return false;
}

/*
 * Changes one thread. What one that starts meanwhile has inherited may be changed already: it is moved only if it still
 * has the value of the class before. A Win32 error.
 */
static DWORD change_thread(struct change *change, int id, bool first_pass)
{
    struct reached *larger;
    int nice;

    if (reached(change, id))
        return ERROR_SUCCESS;
    if (change->count == change->room) {
        larger = realloc(change->threads, (change->room + 64) * sizeof(*larger));
        if (!larger)
            return ERROR_NOT_ENOUGH_MEMORY;
        change->threads = larger;
        change->room += 64;
    }
    if (read_nice(id, &nice))
        return ERROR_SUCCESS; /* it has ended */
    change->threads[change->count++] = (struct reached){ id, nice };
    if (!first_pass && nice != change->from)
        return ERROR_SUCCESS;
    if (setpriority(PRIO_PROCESS, (id_t)id, clamped(nice + change->by)) && errno != ESRCH) {
        change->count--;
        return ERROR_ACCESS_DENIED;
    }
    return ERROR_SUCCESS;
}

/* Changes all threads that it has not reached yet. A Win32 error; *count of those that there are. */
static DWORD change_pass(struct change *change, const char *folder, bool first_pass)
{
    DIR *tasks = opendir(folder);
    struct dirent *task;
    DWORD error = ERROR_SUCCESS;

    if (!tasks)
        return errno == ENOENT ? ERROR_ACCESS_DENIED : ERROR_NOT_ENOUGH_MEMORY;
    while (!error && (task = readdir(tasks)))
        if (task->d_name[0] != '.')
            error = change_thread(change, atoi(task->d_name), first_pass);
    closedir(tasks);
    return error;
}

/* Moves all threads of a process by as much as its class moves, or none. A Win32 error. */
static DWORD change_process(DWORD id, int from, int to)
{
    struct change change = { .from = from, .by = to - from };
    size_t before = 0;
    char folder[32];
    DWORD error;

    snprintf(folder, sizeof(folder), "/proc/%u/task", (unsigned)id);
    error = change_pass(&change, folder, true);
    while (!error && change.count != before) {
        before = change.count;
        error = change_pass(&change, folder, false);
    }
    /* Back again: what has risen needs no privilege for that. */
    for (size_t i = 0; error && i < change.count; i++)
        setpriority(PRIO_PROCESS, (id_t)change.threads[i].id, change.threads[i].before);
    free(change.threads);
    return error;
}

/* The process of a handle that has one of the rights; *id 0: this process. A Win32 error. */
static DWORD process_of(HANDLE handle, DWORD access, DWORD *id)
{
    struct win_process *process;
    DWORD error = ERROR_SUCCESS;

    *id = 0;
    if (handle == GetCurrentProcess())
        return ERROR_SUCCESS;
    if (!(process = win_process_pin(handle, access)))
        return GetLastError();
    if (win_process_id(process) != (DWORD)getpid())
        *id = win_process_id(process);
    if (*id && win_process_has_ended(process))
        error = ERROR_ACCESS_DENIED;
    win_object_unref((struct win_object *)process);
    return error;
}

/*
 * GetPriorityClass - the class nearest to the nice value of a process: of this one that of THREAD_PRIORITY_NORMAL, of
 * another one that of its first thread.
 * process  GetCurrentProcess(), or a handle with PROCESS_QUERY_INFORMATION or PROCESS_QUERY_LIMITED_INFORMATION
 * Returns  *_PRIORITY_CLASS; 0 with ERROR_INVALID_HANDLE, ERROR_ACCESS_DENIED (no such right; it has ended).
 */
DWORD WINAPI GetPriorityClass(HANDLE process)
{
    DWORD id, error;
    int nice = win_normal_nice();

    error = process_of(process, PROCESS_QUERY_INFORMATION | PROCESS_QUERY_LIMITED_INFORMATION, &id);
    if (!error && id)
        error = read_nice((int)id, &nice);
    if (!error)
        return nearest_class(nice);
    SetLastError(error);
    return 0;
}

/*
 * SetPriorityClass - moves the nice values of all threads of a process to those of another class. A class that
 * GetPriorityClass reports already changes nothing. When another process changes the class of this one, this one sees
 * the priorities of its threads change.
 * process         GetCurrentProcess(), or a handle with PROCESS_SET_INFORMATION
 * priority_class  IDLE_PRIORITY_CLASS (nice 16), BELOW_NORMAL_PRIORITY_CLASS (8), NORMAL_PRIORITY_CLASS (0),
 *                 ABOVE_NORMAL_PRIORITY_CLASS (-8), HIGH_PRIORITY_CLASS (-16), REALTIME_PRIORITY_CLASS (-20)
 * Returns         FALSE, nothing changed, with ERROR_INVALID_PARAMETER (another class), ERROR_INVALID_HANDLE,
 *                 ERROR_ACCESS_DENIED (no privilege to raise it; no such right; it has ended); with
 *                 ERROR_NOT_ENOUGH_MEMORY some threads may be lower than before. Any thread.
 */
BOOL WINAPI SetPriorityClass(HANDLE process, DWORD priority_class)
{
    DWORD id, error = ERROR_INVALID_PARAMETER;
    int from = 0, to;

    if (!(priority_class & (priority_class - 1)) && class_nice(priority_class, &to))
        error = process_of(process, PROCESS_SET_INFORMATION, &id);
    if (error) {
        SetLastError(error);
        return FALSE;
    }
    lock_acquire(&class_lock);
    from = win_normal_nice();
    if (id)
        error = read_nice((int)id, &from);
    if (!error && nearest_class(from) != priority_class) {
        error = change_process(id ? id : (DWORD)getpid(), from, to);
        if (!error && !id)
            win_normal_nice_set(to);
    }
    lock_release(&class_lock);
    if (!error)
        return TRUE;
    SetLastError(error);
    return FALSE;
}

struct start {
    int (*function)(void *argument);
    void *argument;
    int nice, error;
    bool exactly;
};

static void *start_at_nice(void *argument)
{
    struct start *start = argument;

    /* This thread has the nice value for the new process: the caller, unprivileged, could not raise its own again. */
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), start->nice) && start->exactly)
        start->error = EACCES;
    else
        start->error = start->function(start->argument);
    return NULL;
}

/* The nice value of a new process without a class of its own. */
static int inherited_nice(void)
{
    const int nice = win_normal_nice();

    return nice < 0 && nearest_class(nice) != NORMAL_PRIORITY_CLASS ? 0 : nice;
}

int win_class_start(DWORD flags, int (*function)(void *argument), void *argument)
{
    struct start start = { .function = function, .argument = argument };
    sigset_t all, before;
    pthread_t thread;
    int here, error;

    if (!class_nice(flags, &start.nice))
        start.nice = inherited_nice();
    else if (nearest_class(win_normal_nice()) == (flags & WIN_PRIORITY_CLASSES))
        start.nice = win_normal_nice();
    start.exactly = start.nice < 0 && start.nice < win_normal_nice();
    if (!read_nice(0, &here) && here == start.nice)
        return function(argument);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are not for this thread */
    error = pthread_create(&thread, NULL, start_at_nice, &start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return error;
    pthread_join(thread, NULL);
    return start.error;
}
