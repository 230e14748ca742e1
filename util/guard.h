/* SPDX-License-Identifier: MIT */
/*
 * guard.h - accesses to memory that may have gone: the program has unmapped it, or cut the file behind it, or protected
 * it. An access within the guard then fails; without the guard it would end the process.
 *
 * The guard is a handler of SIGSEGV and SIGBUS. It passes other faults on to the handler that it replaced, as if the
 * guard did not exist. A fault within a guarded access whose memory is mapped and only protected goes to the replaced
 * handler, too, which may mend the page (write watch, a collector's barriers). Where that handler continues at another
 * instruction instead, the access has failed: Wine's handler ends a call so, with the locks that the call held. A
 * handler that asks for a stack of its own (SA_ONSTACK) is not called on a thread without such a stack: its owner does
 * not know that thread, and Wine's handler would end the process. A handler that the process installs later replaces
 * the guard, and has to pass unknown faults on.
 *
 * Each library has a guard of its own, which knows its own accesses; the guards pass faults on to each other. Where the
 * process had no handler before them, the last guard calls the function of guard_set_last, whichever library gave it,
 * before the fault ends the process.
 *
 *     struct guard guard;
 *
 *     if (_setjmp(guard.env))
 *         return false;
 *     guard_begin(&guard, at, octets);
 *     ... the accesses: no lock is taken, no system call made ...
 *     guard_end();
 *
 * Threads: any, with any lock held. Accesses do not nest.
 */
#ifndef UTIL_GUARD_H
#define UTIL_GUARD_H

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An access under way. */
struct guard {
    uintptr_t at;
    size_t octets;
    uintptr_t other_at;  /* a second range */
    size_t other_octets; /* 0: there is no second range */
    jmp_buf env;
};

/* What _setjmp returns after a fault: the range that the fault was in. */
enum { GUARD_FAULT = 1, GUARD_FAULT_OTHER };

/* The handler reads it, and cannot allocate thread-local storage: hence the TLS model. */
extern _Thread_local struct guard *volatile guard_under_way
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Installs the handlers, at the first call, which comes before the first access. */
void guard_install(void);

/* The guard calls it, in the signal handler, for a fault that no handler takes. True: it has mended the page; retry. */
typedef bool (*guard_last)(int sig, siginfo_t *info, void *context);
void guard_set_last(guard_last ask);

static inline void guard_begin(struct guard *guard, const void *at, size_t octets)
{
    guard->at = (uintptr_t)at;
    guard->octets = octets;
    guard->other_octets = 0;
    guard_under_way = guard;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void guard_end(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    guard_under_way = NULL;
}

#endif
