/* SPDX-License-Identifier: MIT */
/*
 * seh.h - __try, __except, __finally and __leave, by macros. Faults of the processor (an access violation, a division
 * by zero) stay signals: no __except block sees them. In C++ an __except block sees what is thrown, RaiseException's
 * exceptions by their code and others as 0xE06D7363, after the __finally blocks between them ran, not before. In C,
 * where nothing is thrown, an __except block never runs.
 *
 * A __finally block runs when the end of the __try block is reached or __leave leaves it. Where return, goto, break,
 * continue or an exception would leave it the block cannot run: the program ends with a message.
 */
#ifndef WINCOMPAT_SEH_H
#define WINCOMPAT_SEH_H

#include <wincompat/crt.h>
#include <wincompat/error.h>

/* The program leaves a __try block so that its __finally block cannot run. */
static inline __attribute__((unused)) void wincompat_try_fails(const char *file, int line)
{
    (fprintf)(stderr,
        "%s:%d: __try was left without its end or __leave: its __finally cannot run\n", file, line);
    abort();
}
#define WINCOMPAT_TRY_FAILS wincompat_try_fails

#include <wincompat/seh_blocks.h>

WINCOMPAT_BEGIN

/* What is asked before a fault ends the process. */
typedef LONG(WINAPI *PTOP_LEVEL_EXCEPTION_FILTER)(PEXCEPTION_POINTERS exception);
typedef PTOP_LEVEL_EXCEPTION_FILTER LPTOP_LEVEL_EXCEPTION_FILTER;
WINOBJ_API LPTOP_LEVEL_EXCEPTION_FILTER WINAPI SetUnhandledExceptionFilter(
    LPTOP_LEVEL_EXCEPTION_FILTER filter);
WINOBJ_API LONG WINAPI UnhandledExceptionFilter(PEXCEPTION_POINTERS exception);

WINCOMPAT_END

#if defined(__cplusplus) && __cpp_exceptions
#if __has_include(<bits/cxxabi_forced.h>)
extern "C++" {
#include <bits/cxxabi_forced.h>
}
#define WINCOMPAT_FORCED_UNWIND __cxxabiv1::__forced_unwind
#endif

extern "C++" {
/* As the C++ library has it: <exception> would bring a placement new. */
namespace std
{
typedef void (*terminate_handler)();
terminate_handler set_terminate(terminate_handler) noexcept;
}

/* What RaiseException throws. */
struct wincompat_raised {
    EXCEPTION_RECORD record;
};

/* An exception that an __except block asks about, or none. */
struct wincompat_seh {
    EXCEPTION_RECORD record;
    EXCEPTION_POINTERS pointers;
    bool skips; /* the block behind it */

    wincompat_seh() : record(), pointers(), skips(false)
    {
    }
    explicit operator bool() const
    {
        return skips;
    }
    EXCEPTION_POINTERS *information()
    {
        pointers.ExceptionRecord = &record;
        return &pointers;
    }
};

/* Stores the exception that is being handled; rethrows that of a thread's end. */
inline void wincompat_seh_current(wincompat_seh &seh)
{
    try {
        throw;
    } catch (const wincompat_raised &raised) {
        seh.record = raised.record;
    }
#ifdef WINCOMPAT_FORCED_UNWIND
    catch (WINCOMPAT_FORCED_UNWIND &) {
        throw;
    }
#endif
    catch (...) {
        seh.record.ExceptionCode = 0xE06D7363u;
        seh.record.ExceptionFlags = EXCEPTION_NONCONTINUABLE;
    }
}

/*
 * Returns if the handler takes the exception, else rethrows it. Execution cannot continue: the frames below are gone.
 */
inline void wincompat_seh_decide(int verdict)
{
    if (verdict == EXCEPTION_CONTINUE_SEARCH)
        throw;
    if (verdict < 0) {
        wincompat_raised raised = {};
        raised.record.ExceptionCode = EXCEPTION_NONCONTINUABLE_EXCEPTION;
        raised.record.ExceptionFlags = EXCEPTION_NONCONTINUABLE;
        throw raised;
    }
}

/* Its destructor learns how the block was left. */
struct wincompat_block : wincompat_try {
    wincompat_block(const char *in_file, int at_line) : wincompat_try()
    {
        file = in_file;
        line = at_line;
    }
    ~wincompat_block()
    {
        wincompat_try_left(this);
    }
    /* Called in a handler: a __finally block ignores the end of a thread, as on Windows. */
    void thrown()
    {
#ifdef WINCOMPAT_FORCED_UNWIND
        try {
            throw;
        } catch (WINCOMPAT_FORCED_UNWIND &) {
            done = 1;
            throw;
        } catch (...) {
        }
#endif
    }
};

/* What terminated the program before wincompat_seh_terminate did. */
inline std::terminate_handler &wincompat_seh_before()
{
    static std::terminate_handler before;
    return before;
}

/* Asks the program's function of SetUnhandledExceptionFilter of what RaiseException threw. */
inline void wincompat_seh_terminate()
{
    static __thread int asked; /* without an exception to throw again this is called once more */

    if (!asked++) {
        try {
            throw;
        } catch (wincompat_raised &raised) {
            EXCEPTION_POINTERS pointers = { &raised.record, NULL };
            (void)UnhandledExceptionFilter(&pointers);
        } catch (...) {
        }
    }
    wincompat_seh_before()();
}

/* From the first RaiseException on. */
inline void wincompat_seh_watch()
{
    static bool watched =
        (wincompat_seh_before() = std::set_terminate(wincompat_seh_terminate), true);
    (void)watched;
}

/*
 * RaiseException - throws an exception for the __except blocks of the callers. It never returns: no filter can continue
 * it. Where no block takes it the filter of SetUnhandledExceptionFilter is asked, and std::terminate ends the program.
 *
 * code        [in] EXCEPTION_... or the program's own; here bit 28 is not cleared
 * flags       [in] 0 or EXCEPTION_NONCONTINUABLE
 * count       [in] how many parameters; at most EXCEPTION_MAXIMUM_PARAMETERS are taken
 * parameters  [in] for ExceptionInformation; NULL: none
 */
inline void RaiseException(DWORD code, DWORD flags, DWORD count, const ULONG_PTR *parameters)
{
    wincompat_raised raised = {};

    wincompat_seh_watch();
    raised.record.ExceptionCode = code;
    raised.record.ExceptionFlags = flags & EXCEPTION_NONCONTINUABLE;
    if (parameters)
        raised.record.NumberParameters =
            count < EXCEPTION_MAXIMUM_PARAMETERS ? count : EXCEPTION_MAXIMUM_PARAMETERS;
    for (DWORD i = 0; i < raised.record.NumberParameters; i++)
        raised.record.ExceptionInformation[i] = parameters[i];
    throw raised;
}
}

/* clang-format off */
#define WINCOMPAT_TRY_END(kind)                                                                    \
    wincompat_leave_: __attribute__((unused));                                                     \
    wincompat_block_.done = 1;                                                                     \
    if (0) {                                                                                       \
    wincompat_kind_:                                                                               \
        wincompat_block_.has_finally = (kind);                                                     \
        wincompat_result_.skips = !(kind);                                                         \
        goto wincompat_begin_;                                                                     \
    }                                                                                              \
    wincompat_result_; })) {} else
#undef __try
#define __try                                                                                      \
    if (wincompat_seh wincompat_seh_ = __extension__({                                             \
        __label__ wincompat_leave_, wincompat_kind_, wincompat_begin_;                             \
        wincompat_seh wincompat_result_;                                                           \
        wincompat_block wincompat_block_(__FILE__, __LINE__);                                      \
        goto wincompat_kind_;                                                                      \
    wincompat_begin_:                                                                              \
        try
#define __except(...)                                                                              \
    catch (...) {                                                                                  \
        wincompat_seh wincompat_seh_;                                                              \
        wincompat_seh_current(wincompat_seh_);                                                     \
        wincompat_seh_decide((__VA_ARGS__));                                                       \
        wincompat_result_ = wincompat_seh_;                                                        \
    }                                                                                              \
    WINCOMPAT_TRY_END(0)
#define __finally                                                                                  \
    catch (...) {                                                                                  \
        wincompat_block_.thrown();                                                                 \
        throw;                                                                                     \
    }                                                                                              \
    WINCOMPAT_TRY_END(1)
/* clang-format on */

/* In a filter, and GetExceptionCode in an __except block too. */
#define GetExceptionCode()        (wincompat_seh_.record.ExceptionCode)
#define GetExceptionInformation() (wincompat_seh_.information())

#endif

#endif
