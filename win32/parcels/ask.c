/* SPDX-License-Identifier: MIT */
/* ask.c - requests to another process (ask.h). */
#include "win32/parcels/ask.h"

#include "win32/parcels/address.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/shortage.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    YOUNG_MS = 10000, /* a process may take so long to load the library */
    AGAIN_MS = 2,     /* between two looks whether it has */
    ANSWER_MS = 5000,
    ENDING_MS = 1000, /* between the end of a process's sockets and its own */
};

/* How old a process is; INT64_MAX where the kernel does not tell. */
static int64_t age_ms(DWORD id)
{
    unsigned long long ticks = 0;
    char path[32], line[1024];
    struct timespec now;
    const char *at = NULL;
    FILE *stat;

    snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned)id);
    if ((stat = fopen(path, "re"))) {
        at = fgets(line, sizeof(line), stat) ? strrchr(line, ')') : NULL;
        fclose(stat);
    }
    for (int field = 2; at && field < 22; field++) /* the name is field 2, the start field 22 */
        if ((at = strchr(at, ' ')))
            at++;
    if (!at || !(ticks = strtoull(at, NULL, 10)) || clock_gettime(CLOCK_BOOTTIME, &now))
        return INT64_MAX;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
           (int64_t)(ticks * 1000 / (unsigned long)sysconf(_SC_CLK_TCK));
}

/* Whether a process may still be about to load the library: it has begun a short time ago. */
static bool is_young(struct win_process *process)
{
    const uint64_t begun = win_process_begun_ms(process);

    return begun ? clock_now_ms() - begun < YOUNG_MS : age_ms(win_process_id(process)) < YOUNG_MS;
}

static bool is_the_users(DWORD id)
{
    struct stat status;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u", (unsigned)id);
    return stat(path, &status) || status.st_uid == geteuid();
}

/* Sleeps for a moment, or until the process ends. */
static void pause_beside(const struct win_process *process)
{
    struct pollfd end = { .fd = win_process_pidfd(process), .events = POLLIN };

    poll(&end, 1, AGAIN_MS);
}

static DWORD error_of(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case ENOMEM:
    case ENOBUFS: return ERROR_NOT_ENOUGH_MEMORY;
    case EACCES:
    case EPERM: return ERROR_ACCESS_DENIED;
    default: return ERROR_NOT_SUPPORTED;
    }
}

/* A socket whose calls wait no longer than ANSWER_MS. -1 with errno. */
static int socket_new(void)
{
    const struct timeval limit = { .tv_sec = ANSWER_MS / 1000 };
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    return fd;
}

/* Whether the process itself listens at the other end, not an earlier or later one of the same number. */
static bool is_its_own(int fd, struct win_process *process)
{
    struct ucred who;
    socklen_t length = sizeof(who);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) &&
           who.pid == (pid_t)win_process_id(process) && who.uid == geteuid() &&
           !win_process_has_ended(process);
}

/* A connection, made as soon as the process listens. A negative errno. */
static int connect_to(struct win_process *process)
{
    const DWORD id = win_process_id(process);
    struct sockaddr_un address;
    int fd, error;

    if (!is_the_users(id))
        return -EACCES;
    if (win_process_is_held(process))
        return -EALREADY; /* it has no library yet */
    if (!parcel_address(id, &address))
        return -errno;
    for (;;) {
        if ((fd = socket_new()) < 0)
            return -errno;
        error = (connect)(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
        if (!error && is_its_own(fd, process))
            return fd;
        close(fd);
        if (win_process_has_ended(process))
            return -ESRCH;
        if (!error)
            error = ECONNREFUSED; /* another process of this number listens there */
        if (error != ENOENT && error != ECONNREFUSED && error != EINTR)
            return -error;
        if (error != EINTR && !is_young(process))
            return -error;
        pause_beside(process);
    }
}

/* Waits for the answer. 0 or a negative errno, -EAGAIN: there was none in time. */
static int await(int fd, struct win_process *process, struct parcel_answer *answer, int *with)
{
    const uint64_t until = clock_now_ms() + ANSWER_MS;
    struct pollfd ready[] = { { .fd = fd, .events = POLLIN },
        { .fd = win_process_pidfd(process), .events = POLLIN } };
    bool late;
    int error;

    for (uint64_t now; (now = clock_now_ms()) < until;)
        if (poll(ready, 2, (int)(until - now)) > 0)
            break;
    late = !(ready[0].revents & POLLIN);
    if (late)
        (shutdown)(fd, SHUT_RD); /* a later answer fails, and that process closes what it made */
    error = parcel_receive(fd, answer, sizeof(*answer), with);
    return late && error == -ECONNRESET ? -EAGAIN : error;
}

/* Whether the process has ended, or is about to: then its sockets are closed first. */
static bool is_ending(struct win_process *process)
{
    struct pollfd end = { .fd = win_process_pidfd(process), .events = POLLIN };

    poll(&end, 1, ENDING_MS);
    return win_process_has_ended(process);
}

/* The error for the caller if the process could not be asked. */
static DWORD explain(struct win_process *process, int error)
{
    const unsigned id = win_process_id(process);

    if (win_process_has_ended(process))
        return ERROR_ACCESS_DENIED;
    if (error == -EAGAIN) {
        log_limited(
            LOG_WARN, LOG_WIN, "DuplicateHandle: process %u does not answer: is it stopped?", id);
        return ERROR_TIMEOUT;
    }
    if (errno_is_shortage(error) || error == -EACCES)
        return error_of(-error);
    if (error != -EALREADY && is_ending(process))
        return ERROR_ACCESS_DENIED;
    switch (-error) {
    case EALREADY:
        log_limited(LOG_WARN, LOG_WIN,
            "DuplicateHandle: process %u takes no handles before ResumeThread", id);
        return ERROR_NOT_SUPPORTED;
    case ENOENT:
    case ECONNREFUSED:
        log_limited(LOG_WARN, LOG_WIN,
            "DuplicateHandle: process %u takes no handles: it does not use this library, or it has "
            "made nothing that others fetch (a completion port, shared memory, an object with "
            "bInheritHandle, a handle of a process) and was not started by CreateProcess; have it "
            "call OpenProcess for its own number",
            id);
        return ERROR_NOT_SUPPORTED;
    case ECONNRESET:
    case EPIPE:
    case EPROTO:
        log_limited(LOG_WARN, LOG_WIN,
            "DuplicateHandle: process %u does not understand the request: it has another version "
            "of the library",
            id);
        return ERROR_NOT_SUPPORTED;
    default: return error_of(-error);
    }
}

/*
 * Asks, with the descriptor of the request's parcel. A Win32 error. keeper: NULL, or out: the connection, if there is
 * no error.
 */
static DWORD ask(struct win_process *process, struct parcel_request *request,
    struct parcel_answer *answer, int *keeper)
{
    const int fd = connect_to(process), given = request->parcel.fd;
    int error = fd < 0 ? fd : 0, with = -1;
    DWORD result;

    request->magic = PARCEL_MAGIC;
    request->parcel.fd = -1;
    if (!error)
        error = parcel_send(fd, request, sizeof(*request), given);
    if (!error)
        error = await(fd, process, answer, &with);
    if (!error && answer->magic != PARCEL_MAGIC)
        error = -EPROTO;
    answer->parcel.fd = with;
    result = error ? explain(process, error) : answer->error;
    if (!result && keeper)
        *keeper = fd;
    else if (fd >= 0)
        close(fd);
    if ((result || !keeper) && with >= 0)
        close(with);
    return result;
}

static HANDLE handle_of(uint64_t value)
{
    return (HANDLE)(uintptr_t)value;
}

DWORD parcel_ask_give(
    struct win_process *process, const struct win_parcel *parcel, bool inherit, HANDLE *made)
{
    struct parcel_request request = { .asks = PARCEL_GIVE, .inherit = inherit, .parcel = *parcel };
    struct parcel_answer answer = { 0 };
    const DWORD error = ask(process, &request, &answer, NULL);

    *made = error ? NULL : handle_of(answer.handle);
    return error;
}

DWORD parcel_ask_take(struct win_process *process, HANDLE handle, bool then_close,
    struct win_parcel *parcel, int *keeper)
{
    struct parcel_request request = { .asks = PARCEL_TAKE,
        .handle = (uintptr_t)handle,
        .then_close = then_close,
        .parcel = { .fd = -1 } };
    struct parcel_answer answer = { 0 };
    DWORD error;

    *keeper = -1;
    if ((error = ask(process, &request, &answer, keeper)))
        return error;
    *parcel = answer.parcel;
    return ERROR_SUCCESS;
}

DWORD parcel_ask_copy(
    struct win_process *process, HANDLE handle, bool then_close, bool inherit, HANDLE *made)
{
    struct parcel_request request = { .asks = PARCEL_COPY,
        .handle = (uintptr_t)handle,
        .then_close = then_close,
        .inherit = inherit,
        .parcel = { .fd = -1 } };
    struct parcel_answer answer = { 0 };
    const DWORD error = ask(process, &request, &answer, NULL);

    *made = error ? NULL : handle_of(answer.handle);
    return error;
}

DWORD parcel_ask_close(struct win_process *process, HANDLE handle)
{
    struct parcel_request request = {
        .asks = PARCEL_CLOSE, .handle = (uintptr_t)handle, .parcel = { .fd = -1 }
    };
    struct parcel_answer answer = { 0 };

    return ask(process, &request, &answer, NULL);
}
