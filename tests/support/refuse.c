/* SPDX-License-Identifier: MIT */
/* refuse.c - see refuse.h. */
#include "tests/support/refuse.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { CALLS_MAX = 16, STEPS_EACH = 5 };

static const struct {
    const char *name;
    long number;
} calls_known[] = {
    { "accept4", SYS_accept4 },
    { "clone", SYS_clone },
    { "clone3", SYS_clone3 },
    { "connect", SYS_connect },
    { "epoll_ctl", SYS_epoll_ctl },
    { "fallocate", SYS_fallocate },
    { "fcntl", SYS_fcntl },
    { "ftruncate", SYS_ftruncate },
    { "getcpu", SYS_getcpu },
    { "getsockopt", SYS_getsockopt },
    { "io_uring_setup", SYS_io_uring_setup },
    { "madvise", SYS_madvise },
    { "memfd_create", SYS_memfd_create },
    { "mmap", SYS_mmap },
    { "prlimit64", SYS_prlimit64 },
    { "process_vm_readv", SYS_process_vm_readv },
    { "recvmsg", SYS_recvmsg },
    { "sched_getaffinity", SYS_sched_getaffinity },
    { "sendmsg", SYS_sendmsg },
    { "socket", SYS_socket },
};

static const struct {
    const char *name;
    int error;
} errors_known[] = {
    { "EACCES", EACCES },
    { "EAFNOSUPPORT", EAFNOSUPPORT },
    { "EAGAIN", EAGAIN },
    { "EINVAL", EINVAL },
    { "EMFILE", EMFILE },
    { "ENOMEM", ENOMEM },
    { "ENOSYS", ENOSYS },
    { "EOPNOTSUPP", EOPNOTSUPP },
    { "EPERM", EPERM },
};

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Behind the number is the character that ends it; where it is not, what was asked for is malformed. */
static bool parse_number(const char *text, char ends, uint32_t *value, const char **behind)
{
    char *end;

    *value = (uint32_t)strtoul(text, &end, 0);
    *behind = end + 1;
    return end != text && *end == ends;
}

static bool parse_error(const char *text, int *error)
{
    for (size_t i = 0; i < ARRAY_COUNT(errors_known); i++)
        if (strcmp(text, errors_known[i].name) == 0) {
            *error = errors_known[i].error;
            return true;
        }
    return false;
}

bool refuse_parse(const char *text, struct refused_call *call)
{
    size_t octets = strcspn(text, "/:");
    const char *rest = text + octets + 1;
    uint32_t argument;

    call->number = -1;
    for (size_t i = 0; i < ARRAY_COUNT(calls_known); i++)
        if (strlen(calls_known[i].name) == octets && memcmp(text, calls_known[i].name, octets) == 0)
            call->number = calls_known[i].number;
    if (call->number < 0 || !text[octets])
        return false;
    call->argument = -1;
    if (text[octets] == '/') {
        if (!parse_number(rest, '=', &argument, &rest) || argument > 5 ||
            !parse_number(rest, ':', &call->value, &rest))
            return false;
        call->argument = (int)argument;
    }
    return parse_error(rest, &call->error);
}

bool refuse_calls(const struct refused_call *calls, size_t count)
{
    struct sock_filter code[CALLS_MAX * STEPS_EACH + 1];
    struct sock_fprog program = { .filter = code };
    unsigned short at = 0;

    if (count > CALLS_MAX) {
        errno = E2BIG;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct refused_call *call = &calls[i];
        const bool any = call->argument < 0;
        const uint32_t value_at = (uint32_t)(offsetof(struct seccomp_data, args) +
                                             8 * (any ? 0u : (unsigned)call->argument) +
                                             (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0));

        code[at++] = (struct sock_filter)BPF_STMT(
            BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
        code[at++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->number, 0, any ? 1 : 3);
        if (!any) {
            code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, value_at);
            code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call->value, 0, 1);
        }
        code[at++] = (struct sock_filter)BPF_STMT(
            BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)call->error);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = at;
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
