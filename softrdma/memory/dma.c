/* SPDX-License-Identifier: MIT */
/* dma.c - see dma.h. */
#include "softrdma/memory/dma.h"

#include "softrdma/wire/crc32c.h"
#include "util/log.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* An access under way. */
struct access {
    uintptr_t at;
    size_t octets;
    uintptr_t shared_at;  /* memory that a peer shares ... */
    size_t shared_octets; /* ... 0: none */
    jmp_buf env;
};

/* What _setjmp returns after a fault. */
enum { OF_PROGRAM = 1, OF_PEER };

/* Read by the handler: its place must not have to be made there. */
static _Thread_local struct access *volatile under_way __attribute__((tls_model("initial-exec")));

enum { SEGV, BUS, SIGNALS };
static const int signals[SIGNALS] = { SIGSEGV, SIGBUS };
static struct sigaction before[SIGNALS]; /* what was installed when this was */

static bool is_handler(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* As the kernel would have done it. The signal mask is what the handler asked for: ours has its mask and flags. */
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
    sigaction(
        sig, &plain, NULL); /* a fault comes again after the return, what was sent is sent again */
    if (!by_processor)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

/* No mapping can be there; an x86 processor does not say what address it was. */
static bool is_nowhere(const struct access *access, const siginfo_t *info)
{
    return info->si_code == SI_KERNEL && (uint64_t)access->at >> 47;
}

static bool is_of_peer(const struct access *access, const siginfo_t *info)
{
    return (uintptr_t)info->si_addr - access->shared_at < access->shared_octets;
}

/* Whether the access under way caused the fault, and no other handler may mend it. */
static bool is_ours(
    const struct access *access, const siginfo_t *info, const struct sigaction *other)
{
    if (!access || info->si_code <= 0)
        return false;
    if (is_nowhere(access, info) || is_of_peer(access, info))
        return true;
    if ((uintptr_t)info->si_addr - access->at >= access->octets)
        return false;
    return !(info->si_signo == SIGSEGV && info->si_code == SEGV_ACCERR && is_handler(other));
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    struct sigaction *other = &before[sig == SIGBUS ? BUS : SEGV];
    struct access *access = under_way;

    if (!is_ours(access, info, other)) {
        pass_on(other, sig, info, context);
        return;
    }
    under_way = NULL;
    pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL);
    _longjmp(access->env, is_of_peer(access, info) ? OF_PEER : OF_PROGRAM);
}

static void install(void)
{
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

void srd_dma_guard(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, install);
}

void srd_dma_gone(const void *at, size_t octets)
{
    log_limited(LOG_WARN, LOG_MR,
        "%zu octets at %p are registered, but not all of them are mapped any more; the request "
        "that "
        "needs them fails",
        octets, at);
}

static inline void begin(struct access *access, const void *at, size_t octets)
{
    access->at = (uintptr_t)at;
    access->octets = octets;
    access->shared_octets = 0;
    under_way = access;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void end(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    under_way = NULL;
}

__attribute__((noinline)) bool srd_dma_place(
    uint8_t *to, const uint8_t *from, size_t octets, bool last_apart)
{
    struct access access;

    if (_setjmp(access.env)) {
        srd_dma_gone(to, octets);
        return false;
    }
    begin(&access, to, octets);
    memcpy(to, from, octets - last_apart);
    if (last_apart)
        __atomic_store_n(to + octets - 1, from[octets - 1], __ATOMIC_RELEASE);
    end();
    return true;
}

__attribute__((noinline)) bool srd_dma_fetch(void *to, const void *from, size_t octets)
{
    struct access access;

    if (_setjmp(access.env)) {
        srd_dma_gone(from, octets);
        return false;
    }
    begin(&access, from, octets);
    memcpy(to, from, octets);
    end();
    return true;
}

__attribute__((noinline)) int srd_dma_share(
    void *to, const void *from, size_t octets, const void *shared)
{
    const void *own = shared == to ? from : to;
    struct access access;

    switch (_setjmp(access.env)) {
    case OF_PROGRAM: srd_dma_gone(own, octets); return -EFAULT;
    case OF_PEER: return -ENOMEM;
    default: break;
    }
    access.shared_at = (uintptr_t)shared;
    begin(&access, own, octets);
    access.shared_octets = octets;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(to, from, octets);
    end();
    return 0;
}

__attribute__((noinline)) bool srd_dma_fetch_crc(
    void *to, const void *from, size_t octets, uint32_t *crc)
{
    struct access access;

    if (_setjmp(access.env)) {
        srd_dma_gone(from, octets);
        return false;
    }
    begin(&access, from, octets);
    *crc = srd_crc32c_copy(*crc, to, from, octets);
    end();
    return true;
}

__attribute__((noinline)) bool srd_dma_atomic(
    uint64_t *at, const struct srd_atomic *atomic, uint64_t *original)
{
    struct access access;
    uint64_t value;

    if (_setjmp(access.env)) {
        srd_dma_gone(at, sizeof(*at));
        return false;
    }
    begin(&access, at, sizeof(*at));
    value = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        at, &value, srd_atomic_result(atomic, value), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
    end();
    *original = value;
    return true;
}
