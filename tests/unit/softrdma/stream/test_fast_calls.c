/* SPDX-License-Identifier: MIT */
/* Fast registration and its invalidation make no system call: a filter ends the process at any. */
#include "tests/unit/softrdma/pair.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 10000, MOST = 256, PAGE = SRD_FAST_PAGE_OCTETS };
/* how a child ends */
enum { DONE = 0, CALLED = 10, WRONG = 11, NO_FILTER = 12 };

static void on_call(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    _exit(info->si_syscall == SYS_exit_group ? WRONG : CALLED);
}

/* From here on this thread may only end. The handler may, too. */
static void forbid_calls(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = { sizeof(rules) / sizeof(*rules), rules };
    struct sigaction action = { .sa_flags = SA_SIGINFO, .sa_sigaction = on_call };

    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(NO_FILTER);
}

/* Silent, and with a completion. */
static bool turn(struct end *end, struct srd_fast_reg *reg)
{
    struct ibv_send_wr wr = { .wr_id = 2, .opcode = IBV_WR_LOCAL_INV }, *bad;
    struct ibv_wc wc;

    wr.send_flags = IBV_SEND_SIGNALED;
    wr.invalidate_rkey = reg->mr->rkey;
    return srd_post_fast_reg(end->qp, reg) == 0 && ibv_post_send(end->qp, &wr, &bad) == 0 &&
           ibv_poll_cq(end->cq, 1, &wc) == 1 && wc.wr_id == 2 && wc.status == IBV_WC_SUCCESS;
}

/* In a process of its own: what was filtered once stays so. */
static void child(uint32_t n_pages)
{
    static uint64_t pages[MOST];
    struct srd_fast_reg reg = { .pages = pages,
        .n_pages = n_pages,
        .length = (uint64_t)n_pages * PAGE,
        .base = 0x10000,
        .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };
    struct pair pair;

    pair_connect(&pair, "127.0.0.1");
    reg.mr = srd_alloc_fast_mr(pair.active.pd, n_pages);
    for (uint32_t i = 0; i < n_pages; i++)
        pages[i] = (uint64_t)(i * 3 + 1) * PAGE;
    if (!turn(&pair.active, &reg)) /* what happens once has happened */
        _exit(WRONG);
    forbid_calls();
    for (int i = 0; i < ROUNDS; i++)
        if (!turn(&pair.active, &reg))
            _exit(WRONG);
    _exit(DONE);
}

static void no_call_for(uint32_t n_pages)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (!pid)
        child(n_pages);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), DONE);
}

static void registering_makes_no_system_call(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* their runtime makes some */
#endif
    no_call_for(16);
    no_call_for(MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registering_makes_no_system_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
