/* SPDX-License-Identifier: MIT */
#include "tests/support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void program_start(struct program *program, const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    int in[2], out[2];

    memset(program, 0, sizeof(*program));
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    program->in = in[1];
    program->out = out[0];
    program->err = memfd_create("complaints", MFD_CLOEXEC);
    assert_true(program->err >= 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, program->err, 2);
    assert_int_equal(
        posix_spawn(&program->pid, argv[0], &actions, NULL, (char *const *)argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
}

static void await(int fd, const struct program *program)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    int count = poll(&ready, 1, PROGRAM_PATIENCE_MS);

    if (count == 0)
        kill(program->pid, SIGABRT);
    assert_int_equal(count, 1);
}

void program_line(struct program *program, char *line, size_t size)
{
    size_t length = 0;

    for (;;) {
        char octet;

        await(program->out, program);
        assert_int_equal(read(program->out, &octet, 1), 1);
        if (octet == '\n')
            break;
        assert_true(length + 1 < size);
        line[length++] = octet;
    }
    line[length] = 0;
}

void program_end(struct program *program)
{
    int ended = (int)syscall(SYS_pidfd_open, program->pid, 0), wait_status;
    size_t length = 0;
    ssize_t got;

    assert_true(ended >= 0);
    close(program->in);
    do {
        await(program->out, program);
        got = read(program->out, program->said + length, sizeof(program->said) - 1 - length);
        assert_true(got >= 0);
        length += (size_t)got;
    } while (got > 0);
    await(ended, program);
    assert_int_equal(waitpid(program->pid, &wait_status, 0), program->pid);
    program->status =
        WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1000 + WTERMSIG(wait_status);
    got = pread(program->err, program->complained, sizeof(program->complained) - 1, 0);
    assert_true(got >= 0);
    close(ended);
    close(program->out);
    close(program->err);
}

void program_tell(struct program *program, const char *line)
{
    assert_int_equal(write(program->in, line, strlen(line)), strlen(line));
    assert_int_equal(write(program->in, "\n", 1), 1);
}

void program_kill(struct program *program, int signal)
{
    assert_int_equal(kill(program->pid, signal), 0);
    program_end(program);
}

void program_run(struct program *program, const char *const *argv)
{
    program_start(program, argv);
    program_end(program);
}

void assert_says_at(const char *text, const char *what, const char *file, int line)
{
    if (strstr(text, what))
        return;
    print_error("\"%s\" is not in:\n%s\n", what, text);
    _fail(file, line);
}
