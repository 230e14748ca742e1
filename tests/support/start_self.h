/* SPDX-License-Identifier: MIT */
/*
 * start_self.h - a test of Win32 functions that starts itself as other processes, which it talks with by pipes while
 * they run, natively or under Wine.
 */
#ifndef TESTS_SUPPORT_START_SELF_H
#define TESTS_SUPPORT_START_SELF_H

#include "tests/support/win32_test.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <process.h>
#else
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

struct started {
    DWORD id;
    int to,
        from; /* ends of pipes: the process reads what is written to "to", and what it writes comes from "from" */
#ifdef _WIN32
    intptr_t handle;
#endif
};

static inline void start_pipe(int ends[2])
{
#ifdef _WIN32
    assert_int_equal(_pipe(ends, 4096, _O_BINARY), 0);
#else
    assert_int_equal(pipe(ends), 0);
#endif
}

/* The number of an end that the started process has as well. */
static inline void start_inherit(int end, bool yes)
{
#ifdef _WIN32
    SetHandleInformation(
        (HANDLE)_get_osfhandle(end), HANDLE_FLAG_INHERIT, yes ? HANDLE_FLAG_INHERIT : 0);
#else
    fcntl(end, F_SETFD, yes ? 0 : FD_CLOEXEC);
#endif
}

/* Starts the program with "start", a word, and two numbers of descriptors as arguments. */
static inline struct started start_self(const char *program, const char *how)
{
    char read_end[12], write_end[12];
    struct started self = { 0 };
    int to[2], from[2];

    start_pipe(to);
    start_pipe(from);
    start_inherit(to[1], false);
    start_inherit(from[0], false);
    snprintf(read_end, sizeof(read_end), "%d", to[0]);
    snprintf(write_end, sizeof(write_end), "%d", from[1]);
#ifdef _WIN32
    self.handle = _spawnl(_P_NOWAIT, program, program, "start", how, read_end, write_end, NULL);
    assert_true(self.handle != -1);
    self.id = GetProcessId((HANDLE)self.handle);
#else
    char *arguments[] = { (char *)program, "start", (char *)how, read_end, write_end, NULL };
    pid_t id;

    assert_int_equal(posix_spawn(&id, program, NULL, NULL, arguments, environ), 0);
    self.id = (DWORD)id;
#endif
    close(to[0]);
    close(from[1]);
    self.to = to[1];
    self.from = from[0];
    return self;
}

/* Waits for the end; closes the pipes. Returns what it gave to exit, or -1 if a signal ended it. */
static inline int start_wait(struct started *self)
{
    close(self->to);
    close(self->from);
#ifdef _WIN32
    int status = -1;

    _cwait(&status, self->handle, 0);
    return status;
#else
    int status;

    assert_int_equal(waitpid((pid_t)self->id, &status, 0), (pid_t)self->id);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
#endif
}

/* Sends or receives all of it; false: the other end is closed. */
static inline bool start_send(int end, const void *data, size_t size)
{
    return write(end, data, (unsigned)size) == (int)size;
}

static inline bool start_receive(int end, void *data, size_t size)
{
    size_t have = 0;

    while (have < size) {
        int got = (int)read(end, (char *)data + have, (unsigned)(size - have));

        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

#endif
