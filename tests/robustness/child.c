/* SPDX-License-Identifier: MIT */
#include "tests/robustness/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CHILD_FD = 3, CHILD_WAIT_MS = 30000 };

static bool is_child;

void child_main(int argc, char **argv, child_play play)
{
    setenv("NDSPI_DEVICE", "soft", 1);
    if (argc != 3 || strcmp(argv[1], "--child") != 0)
        return;
    is_child = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(2 * CHILD_WAIT_MS / 1000);
    exit(play(argv[2], CHILD_FD));
}

void child_start(struct child *child, const char *name)
{
    char *argv[] = { "/proc/self/exe", "--child", (char *)name, NULL };
    posix_spawn_file_actions_t actions;
    int sockets[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, sockets[1], CHILD_FD), 0);
    assert_int_equal(posix_spawn(&child->pid, argv[0], &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(sockets[1]);
    child->control = sockets[0];
}

static int child_reap(struct child *child)
{
    int status;

    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    close(child->control);
    return status;
}

void child_kill(struct child *child)
{
    assert_int_equal(kill(child->pid, SIGKILL), 0);
    child_reap(child);
}

void child_stop(const struct child *child)
{
    int status;

    assert_int_equal(kill(child->pid, SIGSTOP), 0);
    assert_int_equal(waitpid(child->pid, &status, WUNTRACED), child->pid);
    assert_true(WIFSTOPPED(status));
}

void child_finish(struct child *child)
{
    assert_int_equal(child_reap(child), 0);
}

static void child_failed(const char *what)
{
    if (!is_child)
        fail_msg("%s", what);
    fprintf(stderr, "child: %s\n", what);
    exit(1);
}

void child_tell(int control, const void *data, size_t octets)
{
    if (send(control, data, octets, MSG_NOSIGNAL) != (ssize_t)octets)
        child_failed("the other process is gone");
}

void child_hear(int control, void *data, size_t octets)
{
    struct pollfd pollfd = { .fd = control, .events = POLLIN };

    if (poll(&pollfd, 1, CHILD_WAIT_MS) != 1)
        child_failed("the other process says nothing");
    if (recv(control, data, octets, MSG_WAITALL) != (ssize_t)octets)
        child_failed("the other process is gone");
}

void child_check(HRESULT hr, const struct nd2_end *end)
{
    if (hr == ND_SUCCESS)
        return;
    fprintf(stderr, "child: %s: 0x%08x\n", end->step ? end->step : "a call", (unsigned)hr);
    exit(1);
}

/* ---- what the children and parents of several tests do ---- */

void child_open(struct nd2_end *end, const struct nd2_end_options *options)
{
    child_check(NdStartup(), end);
    child_check(nd2_end_open(end, options), end);
}

void child_serve(struct nd2_end *end, int control)
{
    struct child_memory memory;
    USHORT port_be;

    child_check(nd2_end_listen(end, &port_be), end);
    child_tell(control, &port_be, sizeof port_be);
    memory = (struct child_memory){ (uintptr_t)end->memory, end->rkey };
    child_tell(control, &memory, sizeof memory);
    child_check(nd2_end_request(end), end);
}

USHORT child_reach(struct child *child, struct nd2_end *end, const struct nd2_end_options *options,
    struct child_memory *memory)
{
    USHORT port_be;

    assert_int_equal(nd2_end_open(end, options), ND_SUCCESS);
    child_hear(child->control, &port_be, sizeof port_be);
    child_hear(child->control, memory, sizeof *memory);
    return port_be;
}

void child_tell_phase(int control)
{
    char reached = 1;

    child_tell(control, &reached, sizeof reached);
}

void child_hear_phase(struct child *child)
{
    char reached;

    child_hear(child->control, &reached, sizeof reached);
}

int child_group_open(void **state)
{
    (void)state;
    return NdStartup() == ND_SUCCESS ? 0 : -1;
}

int child_group_close(void **state)
{
    (void)state;
    return NdCleanup() == ND_SUCCESS ? 0 : -1;
}
