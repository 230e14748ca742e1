/* SPDX-License-Identifier: MIT */
/* guard.c - see guard.h. */
#include "util/guard.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

_Thread_local struct guard *volatile guard_under_way;

enum { SEGV, BUS, SIGNALS };
static const int signals[SIGNALS] = { SIGSEGV, SIGBUS };
static struct sigaction before[SIGNALS]; /* the actions that the guard replaced */

/* All libraries' guards use one variable: the one that the dynamic linker finds first, as in log.c. */
__attribute__((visibility("default"))) _Atomic(guard_last) ndspi_guard_last;
static _Atomic(guard_last) *last = &ndspi_guard_last;

static bool is_handler(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* Calls the replaced handler as the kernel would; the guard was installed with its signal mask and flags. */
static void pass_on(struct sigaction *to, int sig, siginfo_t *info, void *context)
{
    struct sigaction action = *to, plain = { .sa_handler = SIG_DFL };
    bool by_processor = info->si_code > 0;

    if (is_handler(&action)) {
        if (action.sa_flags & (int)SA_RESETHAND)
            *to = plain;
        if (action.sa_flags & SA_SIGINFO)
            action.sa_sigaction(sig, info, context);
        else
            action.sa_handler(sig);
        return;
    }
    if (action.sa_handler == SIG_IGN && !by_processor)
        return;
    if (by_processor && *last && (*last)(sig, info, context))
        return;
    /* The processor repeats a fault after the return; a signal that was sent has to be sent again. */
    sigaction(sig, &plain, NULL);
    if (!by_processor)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

/* No mapping can be at a non-canonical address; an x86 processor does not report the address of such a fault. */
static bool is_nowhere(const struct guard *guard, const siginfo_t *info)
{
    return info->si_code == SI_KERNEL && (uint64_t)guard->at >> 47;
}

static bool is_of_other(const struct guard *guard, const siginfo_t *info)
{
    return (uintptr_t)info->si_addr - guard->other_at < guard->other_octets;
}

/* Whether the access under way caused the fault. */
static bool is_ours(const struct guard *guard, const siginfo_t *info)
{
    if (!guard || info->si_code <= 0)
        return false;
    return is_nowhere(guard, info) || is_of_other(guard, info) ||
           (uintptr_t)info->si_addr - guard->at < guard->octets;
}

/* Whether the replaced handler may mend the fault, and knows the calling thread. */
static bool may_mend(
    const struct guard *guard, const siginfo_t *info, const struct sigaction *other)
{
    stack_t stack;

    if (info->si_signo != SIGSEGV || info->si_code != SEGV_ACCERR || is_of_other(guard, info) ||
        !is_handler(other))
        return false;
    return !(other->sa_flags & SA_ONSTACK) ||
           (sigaltstack(NULL, &stack) == 0 && !(stack.ss_flags & SS_DISABLE));
}

/* Where the thread goes on after the signal. */
static uintptr_t next_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
#error "which register has the next instruction?"
#endif
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    struct sigaction *other = &before[sig == SIGBUS ? BUS : SEGV];
    struct guard *guard = guard_under_way;
    sigset_t mask = ((ucontext_t *)context)->uc_sigmask;

    if (!is_ours(guard, info)) {
        pass_on(other, sig, info, context);
        return;
    }
    if (may_mend(guard, info, other)) {
        uintptr_t next = next_of(context);

        pass_on(other, sig, info, context);
        if (next_of(context) == next)
            return;
    }
    guard_under_way = NULL;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    _longjmp(guard->env, is_of_other(guard, info) ? GUARD_FAULT_OTHER : GUARD_FAULT);
}

static void install(void)
{
    _Atomic(guard_last) *shared = dlsym(RTLD_DEFAULT, "ndspi_guard_last");

    if (shared)
        last = shared;
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction action;

        sigaction(signals[i], NULL, &before[i]);
        action = before[i];
        if (!is_handler(&action)) {
            sigemptyset(&action.sa_mask);
            action.sa_flags = 0;
        }
        action.sa_flags = (action.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
        action.sa_sigaction = on_fault;
        sigaction(signals[i], &action, NULL);
    }
}

void guard_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, install);
}

void guard_set_last(guard_last ask)
{
    guard_install();
    *last = ask;
}
