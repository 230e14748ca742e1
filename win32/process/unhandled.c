/* SPDX-License-Identifier: MIT */
/*
 * unhandled.c - SetUnhandledExceptionFilter, UnhandledExceptionFilter: the program's function is asked of a fault that
 * is to end the process.
 *
 * A fault is a signal here. Handlers of signals come first, as handlers of exceptions do on Windows: the guards of the
 * libraries (util/guard.h), and what the program had installed before.
 */
#include "util/guard.h"

#include <ntstatus.h>
#include <windows.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static _Atomic(LPTOP_LEVEL_EXCEPTION_FILTER) top_filter;

/* What ExceptionInformation[0] says of an access. */
enum { ACCESS_READ = 0, ACCESS_WRITE = 1, ACCESS_EXECUTE = 8 };

#if defined(__x86_64__)
static uintptr_t instruction_of(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

/* The error code of a page fault, of which the processor pushes the bits. */
static ULONG_PTR access_of(const ucontext_t *context, const siginfo_t *info)
{
    const unsigned long code = (unsigned long)context->uc_mcontext.gregs[REG_ERR];
    enum { WRITES = 0x2, FETCHES = 0x10 };

    if (code & FETCHES || instruction_of(context) == (uintptr_t)info->si_addr)
        return ACCESS_EXECUTE;
    return code & WRITES ? ACCESS_WRITE : ACCESS_READ;
}
#elif defined(__aarch64__)
static uintptr_t instruction_of(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.pc;
}

/* The syndrome of the fault is in one of the records behind the registers. */
static ULONG_PTR access_of(const ucontext_t *context, const siginfo_t *info)
{
    const unsigned char *at = context->uc_mcontext.__reserved;
    const unsigned char *end = at + sizeof(context->uc_mcontext.__reserved);
    const struct _aarch64_ctx *head = (const void *)at;
    enum { WRITES = 0x40 };

    if (instruction_of(context) == (uintptr_t)info->si_addr)
        return ACCESS_EXECUTE;
    for (; at < end && head->magic && head->size; at += head->size, head = (const void *)at)
        if (head->magic == ESR_MAGIC)
            return ((const struct esr_context *)head)->esr & WRITES ? ACCESS_WRITE : ACCESS_READ;
    return ACCESS_READ;
}
#else
#error "which register has the place of a fault?"
#endif

static DWORD code_of(int sig, const siginfo_t *info)
{
    switch (sig) {
    case SIGBUS:
        return info->si_code == BUS_ADRALN ? EXCEPTION_DATATYPE_MISALIGNMENT
                                           : EXCEPTION_IN_PAGE_ERROR;
    case SIGILL:
        return info->si_code == ILL_PRVOPC ? EXCEPTION_PRIV_INSTRUCTION
                                           : EXCEPTION_ILLEGAL_INSTRUCTION;
    case SIGTRAP: return info->si_code == TRAP_TRACE ? EXCEPTION_SINGLE_STEP : EXCEPTION_BREAKPOINT;
    case SIGFPE: break;
    default: return EXCEPTION_ACCESS_VIOLATION;
    }
    switch (info->si_code) {
    case FPE_INTDIV: return EXCEPTION_INT_DIVIDE_BY_ZERO;
    case FPE_INTOVF: return EXCEPTION_INT_OVERFLOW;
    case FPE_FLTDIV: return EXCEPTION_FLT_DIVIDE_BY_ZERO;
    case FPE_FLTOVF: return EXCEPTION_FLT_OVERFLOW;
    case FPE_FLTUND: return EXCEPTION_FLT_UNDERFLOW;
    case FPE_FLTRES: return EXCEPTION_FLT_INEXACT_RESULT;
    default: return EXCEPTION_FLT_INVALID_OPERATION;
    }
}

static void describe(
    EXCEPTION_RECORD *record, int sig, const siginfo_t *info, const ucontext_t *context)
{
    *record = (EXCEPTION_RECORD){ .ExceptionCode = code_of(sig, info) };
    record->ExceptionAddress = (PVOID)instruction_of(context);
#if defined(__x86_64__)
    if (record->ExceptionCode == EXCEPTION_BREAKPOINT) /* the processor stands behind it */
        record->ExceptionAddress = (PVOID)(instruction_of(context) - 1);
#endif
    if (record->ExceptionCode != EXCEPTION_ACCESS_VIOLATION &&
        record->ExceptionCode != EXCEPTION_IN_PAGE_ERROR)
        return;
    record->NumberParameters = 2;
    record->ExceptionInformation[0] = access_of(context, info);
    /* The processor does not report an address that cannot be mapped; Windows then has -1. */
    record->ExceptionInformation[1] =
        info->si_code == SI_KERNEL ? (ULONG_PTR)-1 : (ULONG_PTR)info->si_addr;
    if (record->ExceptionCode == EXCEPTION_IN_PAGE_ERROR)
        record->ExceptionInformation[record->NumberParameters++] =
            (ULONG_PTR)(LONG)STATUS_IO_DEVICE_ERROR;
}

/* Asks the program's filter about a fault that no guard takes. True: the program goes on where it was. */
static bool ask(int sig, siginfo_t *info, void *context)
{
    LPTOP_LEVEL_EXCEPTION_FILTER filter = top_filter;
    EXCEPTION_RECORD record;
    EXCEPTION_POINTERS pointers = { &record, NULL };

    if (!filter)
        return false;
    describe(&record, sig, info, context);
    return filter(&pointers) == EXCEPTION_CONTINUE_EXECUTION;
}

/* Handles the signals that no guard handles. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
    if (info->si_code > 0 && ask(sig, info, context))
        return;
    signal(sig, SIG_DFL);
    /* It comes once this handler has returned; the instruction may not fault again. */
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

/* Signals that the program handles itself, or ignores, stay as they are. */
static void install(void)
{
    static const int signals[] = { SIGFPE, SIGILL, SIGTRAP };
    struct sigaction ours = { .sa_flags = SA_SIGINFO, .sa_sigaction = on_fault }, before;

    guard_set_last(ask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (!sigaction(signals[i], NULL, &before) && !(before.sa_flags & SA_SIGINFO) &&
            before.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
}

/*
 * SetUnhandledExceptionFilter - names the function that is asked before a fault ends the process: in the handler of the
 * signal, on the thread of the fault, so what it calls has to be ready for a fault anywhere. In C++ it is also asked
 * of what RaiseException has thrown and nobody took.
 * filter   [in] gets a record of the fault, and no context (ContextRecord is NULL). EXCEPTION_CONTINUE_EXECUTION: the
 *          instruction runs again; of a breakpoint, of x86, the next one. Else the process ends by the signal, and
 *          GetExitCodeProcess has the exception's code. NULL: none is asked
 * Returns  the one before, NULL: none. Not asked: of a stack that overflowed; of a signal that another process sent; of
 *          a signal for which the program, or a sanitizer, has a handler of its own.
 * Any thread.
 * Source: SetUnhandledExceptionFilter function (errhandlingapi.h).
 */
LPTOP_LEVEL_EXCEPTION_FILTER WINAPI SetUnhandledExceptionFilter(LPTOP_LEVEL_EXCEPTION_FILTER filter)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (filter)
        pthread_once(&once, install);
    return atomic_exchange(&top_filter, filter);
}

/*
 * UnhandledExceptionFilter - what a filter of the outermost __except decides.
 * pointers  [in] of the exception
 * Returns   EXCEPTION_CONTINUE_SEARCH while a debugger is there; else what the function of SetUnhandledExceptionFilter
 *           returns, and EXCEPTION_EXECUTE_HANDLER where there is none or it returns EXCEPTION_CONTINUE_SEARCH.
 * Any thread.
 * Source: UnhandledExceptionFilter function (errhandlingapi.h).
 */
LONG WINAPI UnhandledExceptionFilter(PEXCEPTION_POINTERS pointers)
{
    LPTOP_LEVEL_EXCEPTION_FILTER filter = top_filter;
    LONG verdict = EXCEPTION_CONTINUE_SEARCH;

    if (IsDebuggerPresent())
        return EXCEPTION_CONTINUE_SEARCH;
    if (filter)
        verdict = filter(pointers);
    return verdict == EXCEPTION_CONTINUE_SEARCH ? EXCEPTION_EXECUTE_HANDLER : verdict;
}
