/* SPDX-License-Identifier: MIT */
/*
 * The device's handler of faults (util/guard.h) beside the program's, installed before it: whose a fault is. Each test
 * is a child, since the handlers stand from the first device on.
 */
#include "tests/unit/softrdma/pair.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

enum { OCTETS = 1 << 16 };

/* gcc's thread sanitizer does not see that a handler was left by a jump, and takes what follows for a part of it. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_signal_unsafe=0";
}

enum { HEARD = 42 };

static void *fault_at;
static int handler_flags; /* besides SA_SIGINFO */

static void on_fault(int sig, siginfo_t *info, void *context)
{
    sigset_t now;

    sigprocmask(SIG_SETMASK, NULL, &now);
    _exit(context && info->si_addr == fault_at && sigismember(&now, SIGUSR1) == 1 &&
                  sigismember(&now, sig) == 1
              ? HEARD
              : 1);
}

static void touch(void)
{
    fault_at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(fault_at, 4096);
    *(volatile char *)fault_at = 1;
}

static void send_it(void)
{
    fault_at = NULL;
    raise(SIGSEGV);
}

/* The wait status of a child that has opened the device, and then does it. */
static int status_of_child(
    void (*handler)(int, siginfo_t *, void *), sighandler_t plain, void (*act)(void))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (!child) {
        struct sigaction action = { .sa_flags = SA_SIGINFO | handler_flags,
            .sa_sigaction = handler };
        struct end end;

        if (handler) {
            sigaddset(&action.sa_mask, SIGUSR1);
            sigaction(SIGSEGV, &action, NULL);
        } else {
            signal(SIGSEGV, plain);
        }
        end_open(&end);
        act();
        _exit(HEARD + 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void other_faults_are_those_of_the_handler_before(void **state)
{
    int status = status_of_child(on_fault, NULL, touch);

    (void)state;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), HEARD);
}

static void other_faults_end_the_process_otherwise(void **state)
{
    int status = status_of_child(NULL, SIG_DFL, touch);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    status = status_of_child(NULL, SIG_IGN, touch); /* Linux: a fault is not ignored */
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void signals_that_are_sent(void **state)
{
    int status = status_of_child(NULL, SIG_DFL, send_it);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    status = status_of_child(NULL, SIG_IGN, send_it);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), HEARD + 1);
}

/* --- memory that is only protected, and a handler of the program's ------------------------------------------------ */

/* What another handler does with such a fault: a collector mends it, Wine leaves what was called. */
static void mend(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    if (info->si_addr != fault_at || mprotect(fault_at, OCTETS, PROT_READ | PROT_WRITE))
        _exit(1);
}

static void elsewhere(void)
{
    _exit(2);
}

static void leave(int sig, siginfo_t *info, void *context)
{
    ucontext_t *left = context;

    (void)sig;
    if (info->si_addr != fault_at)
        _exit(1);
#ifdef __x86_64__
    left->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)elsewhere;
#else
    left->uc_mcontext.pc = (uintptr_t)elsewhere;
#endif
}

/* What becomes of a Send from such memory; the process ends with its status. */
static void send_from_protected(void)
{
    struct pair pair;
    struct ibv_sge sge = { .length = 64 };
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED
    };
    struct ibv_send_wr *bad;
    struct ibv_wc wc;

    pair_connect(&pair, "127.0.0.1");
    end_recv(&pair.passive, 10, 0, 64);
    fault_at = mmap(NULL, OCTETS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sge.addr = (uintptr_t)fault_at;
    sge.lkey = srd_reg_mr(pair.active.pd, fault_at, OCTETS, 0)->lkey;
    mprotect(fault_at, OCTETS, PROT_NONE);
    if (ibv_post_send(pair.active.qp, &wr, &bad))
        _exit(1);
    test_poll(pair.active.cq, 1, &wc);
    _exit(HEARD + wc.status);
}

static void protected_memory_that_a_handler_mends(void **state)
{
    int status = status_of_child(mend, NULL, send_from_protected);

    (void)state;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), HEARD + IBV_WC_SUCCESS);
}

static void protected_memory_and_a_handler_that_goes_elsewhere(void **state)
{
    int status = status_of_child(leave, NULL, send_from_protected);

    (void)state;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), HEARD + IBV_WC_LOC_PROT_ERR);
}

/* Sanitizers give each thread one. */
static void send_without_a_stack(void)
{
    const stack_t none = { .ss_flags = SS_DISABLE };

    sigaltstack(&none, NULL);
    send_from_protected();
}

/* A handler that wants a stack of its own is asked only on threads that have one. */
static void protected_memory_on_a_thread_without_the_handler_s_stack(void **state)
{
    int status;

    (void)state;
    handler_flags = SA_ONSTACK;
    status = status_of_child(mend, NULL, send_without_a_stack);
    handler_flags = 0;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), HEARD + IBV_WC_LOC_PROT_ERR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_faults_are_those_of_the_handler_before),
        cmocka_unit_test(other_faults_end_the_process_otherwise),
        cmocka_unit_test(signals_that_are_sent),
        cmocka_unit_test(protected_memory_that_a_handler_mends),
        cmocka_unit_test(protected_memory_and_a_handler_that_goes_elsewhere),
        cmocka_unit_test(protected_memory_on_a_thread_without_the_handler_s_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
