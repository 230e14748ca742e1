/* SPDX-License-Identifier: MIT */
/*
 * process.h - handles of processes: those that OpenProcess finds, and those that this process started.
 *
 * An object is a pidfd, so it never means another process that got the same id later. The reactor waits for the pidfd;
 * the end of the process signals the object, as that of a thread does. GetCurrentProcess() is no such handle.
 */
#ifndef WIN32_PROCESS_PROCESS_H
#define WIN32_PROCESS_PROCESS_H

#include "win32/process/process_times.h"
#include "winobj/waits/dispatch.h"

struct win_process;

extern const struct win_object_type win_process_type;

/*
 * win_process_new - opens a handle of a process, which is signalled when the process has ended.
 * pidfd    in: of the process, close-on-exec; taken over, also on failure
 * id       in: its number
 * access   in: the PROCESS_* rights of the handle; any handle can be waited for
 * started  in: this process started it, and no other code of the program waits for its end: the object reaps it, even
 *          when its handles are closed before the process ends
 * Returns  NULL with ERROR_NOT_ENOUGH_MEMORY, ERROR_NO_SYSTEM_RESOURCES (no descriptor or thread); a process that was
 *          started then goes on, and the caller reaps it. Any thread.
 */
HANDLE win_process_new(int pidfd, DWORD id, DWORD access, bool started);

/*
 * win_process_hold - a process that was started waits at a gate (suspended.h) until ResumeThread. The process takes the
 * gate over. handle: what win_process_new returned.
 */
void win_process_hold(HANDLE handle, int gate);

/* Whether it has not begun; when ResumeThread let it begin, as clock_now_ms tells it, 0: it was not suspended. */
bool win_process_is_held(struct win_process *process);
uint64_t win_process_begun_ms(struct win_process *process);

/* Has function called whenever this process gets a handle of one, itself or another. */
void win_process_set_opened(void (*function)(void));

/*
 * win_process_pin - the process of a handle that has one of the rights in access (0: any handle), referenced.
 * win_object_unref drops it.
 * Returns NULL with ERROR_INVALID_HANDLE (not a handle of a process, or GetCurrentProcess()), ERROR_ACCESS_DENIED.
 */
struct win_process *win_process_pin(HANDLE handle, DWORD access);

int win_process_pidfd(const struct win_process *process);
DWORD win_process_id(const struct win_process *process);

/* Notes the code by which this process ended another one, before that ends: the kernel has a signal's number alone. */
void win_process_ends_with(struct win_process *process, DWORD code);

/* The process has ended; checks the pidfd itself, as the reactor may not have come to it. */
bool win_process_has_ended(struct win_process *process);

/* The exit code of a process that has ended; false with ERROR_NOT_SUPPORTED: the kernel does not tell it. */
bool win_process_code(struct win_process *process, DWORD *code);

/* Its times, also once it has ended; false: they are lost. */
bool win_process_times(struct win_process *process, struct win_process_times *times);

#endif
