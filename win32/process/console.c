/* SPDX-License-Identifier: MIT */
/*
 * console.c - events of a console over signals: SIGINT is CTRL_C_EVENT, SIGQUIT is CTRL_BREAK_EVENT, SIGTERM and SIGHUP
 * are CTRL_CLOSE_EVENT. As on Windows handlers run in a thread of their own for each event, the last added first, until
 * one returns TRUE.
 *
 * The signal handler writes the signal's number into a pipe, and a thread that lives from the first
 * SetConsoleCtrlHandler on reads it. Without handlers the signals do what they did before.
 */
#include <windows.h>

#include "win32/fork.h"
#include "win32/process/streams.h"

#include "util/lock.h"
#include "util/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HANDLERS = 64 };

static struct lock console_lock = LOCK_INIT(LOCK_WIN_HANDLES, "console handlers");
WIN_HELD_OVER_FORK(console_lock);
static PHANDLER_ROUTINE handlers[HANDLERS]; /* console_lock guards all of these */
static unsigned handler_count;
static bool ignoring; /* SIGINT */
static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };
static struct sigaction before[SIGNALS]; /* the program's own, while taken */
static bool taken, ready;
static int ends[2];
static pid_t owner; /* a child of fork has no thread that reads */

static void on_signal(int number)
{
    int error = errno;
    char byte = (char)number;

    if (getpid() == owner) {
        if (write(ends[1], &byte, 1) < 0) {
            /* the pipe is full: enough events wait in it */
        }
    } else {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = error;
}

/* Ends the process as the signal would without handlers, but writes its streams out before. */
static void end_by(int number)
{
    sigset_t set;

    win_streams_write_out();
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

static void event_thread(void *argument)
{
    int number = (int)(intptr_t)argument;
    DWORD event = number == SIGINT    ? CTRL_C_EVENT
                  : number == SIGQUIT ? CTRL_BREAK_EVENT
                                      : CTRL_CLOSE_EVENT;
    PHANDLER_ROUTINE copy[HANDLERS];
    unsigned count;
    bool handled = false;

    lock_acquire(&console_lock);
    count = handler_count;
    memcpy(copy, handlers, sizeof(copy));
    lock_release(&console_lock);
    while (count && !handled)
        handled = copy[--count](event);
    if (!handled || event == CTRL_CLOSE_EVENT) /* the process ends after it in any case */
        end_by(number);
}

static void reader_thread(void *unused)
{
    char number;

    (void)unused;
    for (;;) {
        if (read(ends[0], &number, 1) != 1)
            continue;
        if (thread_start_detached("winobj-ctrl", event_thread, (void *)(intptr_t)number) < 0)
            event_thread((void *)(intptr_t)number);
    }
}

static bool make_ready_locked(void)
{
    if (ready && owner == getpid())
        return true;
    if (pipe2(ends, O_CLOEXEC))
        return false;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    owner = getpid();
    ready = thread_start_detached("winobj-console", reader_thread, NULL) == 0;
    if (!ready) {
        close(ends[0]);
        close(ends[1]);
    }
    return ready;
}

/* Installs for the signals what the handlers and the flag ask for; nohup's SIGHUP stays ignored. */
static void apply_locked(void)
{
    struct sigaction ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    bool wanted = handler_count || ignoring;

    for (int i = 0; i < SIGNALS; i++) {
        const bool ignored = ignoring && signals[i] == SIGINT;

        if (wanted && !taken)
            sigaction(signals[i], NULL, &before[i]);
        if (signals[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
            continue;
        if (wanted || taken)
            sigaction(signals[i], ignored ? &ignore : handler_count ? &ours : &before[i], NULL);
    }
    taken = wanted;
}

static bool remove_locked(PHANDLER_ROUTINE handler)
{
    for (unsigned i = handler_count; i-- > 0;)
        if (handlers[i] == handler) {
            handler_count--;
            memmove(handlers + i, handlers + i + 1, (handler_count - i) * sizeof(*handlers));
            return true;
        }
    return false;
}

/*
 * SetConsoleCtrlHandler - adds or removes a function that signals call: SIGINT (CTRL_C_EVENT), SIGQUIT
 *          (CTRL_BREAK_EVENT), SIGTERM and SIGHUP (CTRL_CLOSE_EVENT).
 * handler  called in a thread of its own; it returns TRUE if it has handled the event. If all return FALSE the signal
 *          ends the process, after its streams are written out. CTRL_CLOSE_EVENT ends the process whatever they return.
 *          NULL: the process ignores SIGINT from now on (add TRUE), or no longer (add FALSE)
 * Returns  FALSE with ERROR_INVALID_PARAMETER (the handler to remove was not added), ERROR_NOT_ENOUGH_MEMORY (64
 *          handlers exist; no thread or pipe).
 */
BOOL WINAPI SetConsoleCtrlHandler(PHANDLER_ROUTINE handler, BOOL add)
{
    DWORD error = 0;

    lock_acquire(&console_lock);
    if (!handler)
        ignoring = add;
    else if (!add)
        error = remove_locked(handler) ? 0 : ERROR_INVALID_PARAMETER;
    else if (handler_count == HANDLERS || !make_ready_locked())
        error = ERROR_NOT_ENOUGH_MEMORY;
    else
        handlers[handler_count++] = handler;
    if (!error)
        apply_locked();
    lock_release(&console_lock);
    if (error)
        SetLastError(error);
    return !error;
}

/*
 * GenerateConsoleCtrlEvent - sends an event, as its signal, to processes of the console.
 * event    CTRL_C_EVENT (SIGINT) or CTRL_BREAK_EVENT (SIGQUIT); a process without a handler ends by it
 * group    0: the process group of the caller; else the number of a process that was started with
 *          CREATE_NEW_PROCESS_GROUP: that one and those it started, by CTRL_BREAK_EVENT alone
 * Returns  FALSE with ERROR_INVALID_PARAMETER (another event; no such group; CTRL_C_EVENT for a group),
 *          ERROR_ACCESS_DENIED. Any thread.
 * Source: GenerateConsoleCtrlEvent function (consoleapi2.h).
 */
BOOL WINAPI GenerateConsoleCtrlEvent(DWORD event, DWORD group)
{
    const int number = event == CTRL_C_EVENT ? SIGINT : SIGQUIT;

    if (event > CTRL_BREAK_EVENT || (group && event == CTRL_C_EVENT) || group == 1 ||
        group > INT_MAX) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!kill(-(pid_t)group, number)) /* 0: the caller's own */
        return TRUE;
    SetLastError(errno == EPERM ? ERROR_ACCESS_DENIED : ERROR_INVALID_PARAMETER);
    return FALSE;
}
