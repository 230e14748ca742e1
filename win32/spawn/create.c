/* SPDX-License-Identifier: MIT */
/*
 * create.c - CreateProcess, over posix_spawn, or with CREATE_SUSPENDED as suspended.h says. A process that is started
 * gets the three standard handles as descriptors, and what else it inherits as inherit.h says.
 */
#include "win32/files/plain.h"
#include "win32/spawn/attributes.h"
#include "win32/spawn/command_line.h"
#include "win32/spawn/inherit.h"
#include "win32/spawn/priority_class.h"
#include "win32/process/process.h"
#include "win32/spawn/startup.h"
#include "win32/process/suspended.h"

#include "util/descriptor.h"
#include "util/linux_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLAGS_KNOWN                                                                                \
    (CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT | WIN_PRIORITY_CLASSES |                \
        CREATE_NO_WINDOW | CREATE_SUSPENDED | EXTENDED_STARTUPINFO_PRESENT)

/* What a start needs; cleared first, freed by start_free. */
struct start {
    char *path;       /* the program's */
    char **arguments; /* one block with their text */
    char **variables; /* NULL: the caller's */
    char *folder;     /* NULL: the caller's */
    int standard[3];  /* descriptors above 2, or -1 */
    bool redirected;
    DWORD flags; /* CreateProcess's */
    char *text;  /* the STARTUPINFO, as win_startup_text writes it */
    int gate;    /* out: of a suspended process, or -1 */
    struct win_inheritance inheritance;
};

static void start_free(struct start *start)
{
    for (int i = 0; i < 3; i++)
        if (start->standard[i] >= 0)
            close(start->standard[i]);
    win_inherit_free(&start->inheritance);
    free(start->path);
    free(start->folder);
    free(start->arguments);
    free(start->variables);
    free(start->text);
}

/* A copy of a standard handle's descriptor for the new process, above the first three. A Win32 error. */
static DWORD take_standard(HANDLE handle, int *fd)
{
    struct win_file *file;
    DWORD error = ERROR_SUCCESS;

    if (!handle || handle == INVALID_HANDLE_VALUE) {
        *fd = descriptor_raise(open("/dev/null", O_RDWR | O_CLOEXEC));
        return *fd < 0 ? files_error(errno) : ERROR_SUCCESS;
    }
    if (!(file = win_file_pin(handle)))
        return ERROR_INVALID_HANDLE;
    if (!file->ops || !file->ops->io || !file->ops->io->descriptor)
        error = ERROR_INVALID_HANDLE;
    else if (!win_handle_inherits(handle))
        error = ERROR_INVALID_PARAMETER;
    else if ((*fd = file->ops->io->descriptor(file)) < 0)
        error = errno == ENOTSUP ? ERROR_NOT_SUPPORTED : files_error(errno);
    win_file_unref(file);
    return error;
}

static DWORD take_redirection(struct start *start, const STARTUPINFOA *startup, bool inherit)
{
    const HANDLE handles[] = { startup->hStdInput, startup->hStdOutput, startup->hStdError };
    DWORD error = ERROR_SUCCESS;

    if (!(startup->dwFlags & STARTF_USESTDHANDLES))
        return ERROR_SUCCESS;
    if (!inherit)
        return ERROR_INVALID_PARAMETER;
    start->redirected = true;
    for (int i = 0; i < 3 && !error; i++)
        error = take_standard(handles[i], &start->standard[i]);
    return error;
}

/* What the process inherits: of the list, if there is one, or all handles with the flag. A Win32 error. */
static DWORD take_handles(
    struct start *start, const STARTUPINFOA *startup, DWORD flags, bool inherit)
{
    const struct _PROC_THREAD_ATTRIBUTE_LIST *list = NULL;
    const struct win_attribute *handles = NULL;

    if (flags & EXTENDED_STARTUPINFO_PRESENT) {
        if (startup->cb < sizeof(STARTUPINFOEXA))
            return ERROR_INVALID_PARAMETER;
        list = ((const STARTUPINFOEXA *)startup)->lpAttributeList;
    }
    if (list && list->count)
        handles = &list->attributes[0]; /* the one attribute that a list can have */
    if (handles && !inherit)
        return ERROR_INVALID_PARAMETER;
    if (!inherit)
        return ERROR_SUCCESS;
    return win_inherit_collect(&start->inheritance, handles ? handles->value : NULL,
        handles ? handles->size / sizeof(HANDLE) : 0);
}

/* The strings of a block, which ends with an empty one; NULL: no memory. The text stays the program's. */
static char **variables_of(char *block)
{
    size_t count = 0;
    char **result;

    for (char *s = block; *s; s += strlen(s) + 1)
        count++;
    if (!(result = calloc(count + 1, sizeof(*result))))
        return NULL;
    for (size_t i = 0; i < count; i++, block += strlen(block) + 1)
        result[i] = block;
    return result;
}

/* Prepares what needs memory and names. A Win32 error. */
static DWORD prepare(struct start *start, LPCSTR program, LPCSTR command, LPVOID environment,
    LPCSTR folder, const STARTUPINFOA *startup)
{
    DWORD error;

    if (!(start->text = win_startup_text(startup)))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!(start->arguments = command_split(command ? command : program)))
        return ERROR_NOT_ENOUGH_MEMORY;
    if ((error = command_find(program, start->arguments[0], &start->path)))
        return error;
    if (environment && !(start->variables = variables_of(environment)))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!folder)
        return ERROR_SUCCESS;
    if (!(start->folder = files_path(folder)))
        return GetLastError();
    return access(start->folder, X_OK) ? ERROR_DIRECTORY : ERROR_SUCCESS;
}

struct spawning {
    pid_t *pid;
    const char *path;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    char **arguments, **variables;
};

/* An errno. By the thread whose nice value the process gets. */
static int spawn_here(void *argument)
{
    const struct spawning *a = argument;

    return posix_spawn(a->pid, a->path, a->actions, a->attributes, a->arguments, a->variables);
}

static int add_action(void *actions, int from, int to)
{
    /* If both are the same number, this clears FD_CLOEXEC. */
    return posix_spawn_file_actions_adddup2(actions, from, to);
}

/* Calls move for each descriptor that the process has. An errno. */
static int descriptors(
    const struct start *start, int (*move)(void *argument, int from, int to), void *argument)
{
    int error = 0;

    for (int i = 0; i < 3 && start->redirected && !error; i++)
        error = move(argument, start->standard[i], i);
    return error ? error : win_inherit_descriptors(&start->inheritance, move, argument);
}

/*
 * An errno. The program's own SIGPIPE may be ignored because of WSAStartup, and the library's own threads block nearly
 * all signals: the new process begins as usual.
 */
static int spawn_running(const struct start *start, char **variables, pid_t *pid)
{
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                  (start->flags & CREATE_NEW_PROCESS_GROUP ? POSIX_SPAWN_SETPGROUP : 0);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual, none;
    int error = 0;

    if ((error = posix_spawn_file_actions_init(&actions)))
        return error;
    if ((error = posix_spawnattr_init(&attributes))) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, flags);
    error = descriptors(start, add_action, &actions);
    if (!error && start->folder)
        error = posix_spawn_file_actions_addchdir_np(&actions, start->folder);
    if (!error) {
        struct spawning spawning = { pid, start->path, &actions, &attributes, start->arguments,
            variables };

        error = win_class_start(start->flags, spawn_here, &spawning);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The descriptors of a suspended process. */
struct moves {
    struct win_moved *all;
    size_t count;
};

static int add_move(void *argument, int from, int to)
{
    struct moves *moves = argument;
    struct win_moved *larger = realloc(moves->all, (moves->count + 1) * sizeof(*larger));

    if (!larger)
        return ENOMEM;
    moves->all = larger;
    larger[moves->count++] = (struct win_moved){ from, to };
    return 0;
}

/* Starts a suspended process. Returns 0 or an errno. */
static int spawn_suspended(struct start *start, char **variables, pid_t *pid)
{
    struct moves moves = { 0 };
    int error = descriptors(start, add_move, &moves);

    if (!error) {
        struct win_suspended_start suspended = { .path = start->path,
            .folder = start->folder,
            .arguments = start->arguments,
            .variables = variables,
            .moved = moves.all,
            .count = moves.count,
            .group = start->flags & CREATE_NEW_PROCESS_GROUP };

        if (!(error = win_class_start(start->flags, win_suspended_start, &suspended))) {
            *pid = suspended.pid;
            start->gate = suspended.gate;
        }
    }
    free(moves.all);
    return error;
}

/* Starts the process. Returns 0 or an errno. */
static int spawn(struct start *start, pid_t *pid)
{
    char **variables = win_inherit_environment(
        &start->inheritance, start->variables ? start->variables : environ, start->text);

    if (!variables)
        return ENOMEM;
    return start->flags & CREATE_SUSPENDED ? spawn_suspended(start, variables, pid)
                                           : spawn_running(start, variables, pid);
}

/*
 * The handles of a process, which has the gate, if it is not -1. False with the last error: it has been ended, and
 * reaped.
 */
static bool open_handles(pid_t pid, int gate, PROCESS_INFORMATION *information)
{
    int fd = pidfd_open(pid, 0);
    HANDLE process = NULL, thread = NULL;

    if (fd < 0)
        SetLastError(files_error(errno));
    else
        process = win_process_new(fd, (DWORD)pid, PROCESS_ALL_ACCESS, true);
    if (process && DuplicateHandle(GetCurrentProcess(), process, GetCurrentProcess(), &thread, 0,
                       FALSE, DUPLICATE_SAME_ACCESS)) {
        if (gate >= 0)
            win_process_hold(process, gate);
        *information = (PROCESS_INFORMATION){ process, thread, (DWORD)pid, (DWORD)pid };
        return true;
    }
    kill(pid, SIGKILL);
    if (gate >= 0)
        close(gate);
    if (process) {
        DWORD error = GetLastError();
        CloseHandle(process); /* this reaps it */
        SetLastError(error);
    } else
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    return false;
}

/*
 * CreateProcessA, CreateProcessW - starts a program.
 * program      its path, or NULL: the first word of command, which is searched for beside the calling program and in
 *              PATH, not in the present folder
 * command      what the program gets as arguments, split at blanks and quotes as Windows' C library does; NULL: program
 *              alone. Never changed
 * process      bInheritHandle: whether the handle of the new process may be handed on itself; thread the same
 * inherit      the process gets, with the same numbers, all handles that have HANDLE_FLAG_INHERIT or, with a list of
 *              attributes, those of the list: of files, ends of anonymous pipes, connected ends of pipes of octets,
 *              sockets, events, mutexes and semaphores, shared memory, processes. TRUE where the standard handles are
 *              redirected
 * flags        CREATE_UNICODE_ENVIRONMENT (with CreateProcessW: environment is wide), CREATE_NEW_PROCESS_GROUP;
 *              EXTENDED_STARTUPINFO_PRESENT (startup is a STARTUPINFOEX); *_PRIORITY_CLASS: as SetPriorityClass says,
 *              but NORMAL and lower classes are not to be had without a privilege where the caller's is lower still:
 *              then the process has the caller's; none of them: NORMAL, or the caller's if that is lower.
 *              CREATE_SUSPENDED: the program begins with ResumeThread, of any handle of information. Until then the
 *              process is a copy of the caller that does nothing: it takes no handle of DuplicateHandle, ends with the
 *              caller, and a file that is no program is found by ResumeThread alone. CREATE_NO_WINDOW has no effect
 * environment  strings NAME=VALUE, the last one empty; NULL: the caller's
 * folder       where the program begins; NULL: where the caller is
 * startup      with STARTF_USESTDHANDLES: handles of files or pipes with HANDLE_FLAG_INHERIT; NULL: the null device.
 *              What else there is in it has no effect but that GetStartupInfo tells the process, without lpDesktop and
 *              what is reserved
 * information  out: two handles to close, both of the process: the second one is no handle of a thread, but may be
 *              waited for. The library reaps the process
 * Returns      FALSE with ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED (also: no privilege for a
 *              class above NORMAL), ERROR_BAD_EXE_FORMAT,
 *              ERROR_DIRECTORY (folder), ERROR_INVALID_PARAMETER (no name; redirected, or a list of handles,
 *              without inherit; a handle of either without the flag; EXTENDED_STARTUPINFO_PRESENT, and cb is not of
 *              STARTUPINFOEX), ERROR_INVALID_HANDLE, ERROR_NOT_SUPPORTED (other flags; a handle with the flag that no
 *              other process can have now: an end of a named pipe that listens or has messages, a second handle of a
 *              socket), ERROR_NOT_ENOUGH_MEMORY, ERROR_TOO_MANY_OPEN_FILES, ERROR_NO_SYSTEM_RESOURCES (the user has as
 *              many processes as he may, or the library's own thread cannot be had).
 */
BOOL WINAPI CreateProcessA(LPCSTR program, LPSTR command, LPSECURITY_ATTRIBUTES process,
    LPSECURITY_ATTRIBUTES thread, BOOL inherit, DWORD flags, LPVOID environment, LPCSTR folder,
    LPSTARTUPINFOA startup, LPPROCESS_INFORMATION information)
{
    struct start start = {
        .standard = { -1, -1, -1 }, .flags = flags, .gate = -1, .inheritance = WIN_INHERITANCE_NONE
    };
    DWORD error = ERROR_SUCCESS;
    pid_t pid = 0;
    int result;

    if ((!program && !command) || !startup || !information)
        error = ERROR_INVALID_PARAMETER;
    else if ((flags & ~(DWORD)FLAGS_KNOWN) || (environment && (flags & CREATE_UNICODE_ENVIRONMENT)))
        error = ERROR_NOT_SUPPORTED;
    if (!error)
        error = take_redirection(&start, startup, inherit);
    if (!error)
        error = take_handles(&start, startup, flags, inherit);
    if (!error)
        error = prepare(&start, program, command, environment, folder, startup);
    if (!error && (result = spawn(&start, &pid)))
        error = result == ENOEXEC ? ERROR_BAD_EXE_FORMAT : files_error(result);
    if (!error)
        win_inherit_started(&start.inheritance);
    start_free(&start);
    if (!error && open_handles(pid, start.gate, information)) {
        win_handle_attribute(information->hProcess, process);
        win_handle_attribute(information->hThread, thread);
        return TRUE;
    }
    if (!error)
        return FALSE;
    SetLastError(error);
    return FALSE;
}
