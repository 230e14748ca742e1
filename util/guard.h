/* SPDX-License-Identifier: MIT */
/*
 * guard.h - accesses to memory that may have gone: the program has unmapped it, or cut the file behind it, or protected
 * it. An access within the guard then fails; without it, it would end the process.
 *
 * The guard is a handler of SIGSEGV and SIGBUS. It passes other faults on to the handler that was there before, as if
 * this one did not exist. A fault within an access whose memory is mapped and only protected goes to that handler, too:
 * it may mend it (pages under write watch, a collector's barriers). Where it goes on elsewhere instead, the access has
 * failed: so Wine's handler ends a call, with the locks that the call held. A handler that asks for a stack of its own
 * (SA_ONSTACK) is not asked on a thread that has none: that thread is none of those its owner knows, and Wine's would
 * end the process. A handler that the process installs later replaces this one, and has to pass unknown faults on.
 *
 * Each library has a guard of its own, which knows its own accesses; they pass faults on to each other. Where no
 * handler was there before, the last of them asks what guard_set_last gave to any, before the fault ends the process.
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
    uintptr_t other_at;  /* a second range ... */
    size_t other_octets; /* ... 0: none */
    jmp_buf env;
};

/* What _setjmp returns after a fault: which range it was in. */
enum { GUARD_FAULT = 1, GUARD_FAULT_OTHER };

/* Read by the handler: its place must not have to be made there. */
extern _Thread_local struct guard *volatile guard_under_way
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Installs the handlers, at the first call; before the first access. */
void guard_install(void);

/* Asked of a fault that is nobody's, in its handler; true: it is mended, and the access is made again. */
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
