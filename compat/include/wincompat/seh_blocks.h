/* SPDX-License-Identifier: MIT */
/*
 * seh_blocks.h - __try, __except, __finally and __leave where nothing is thrown: in C, in C++ without exceptions, and
 * in drivers. An __except block never runs, but is compiled.
 *
 * A header that includes it may say in WINCOMPAT_TRY_FAILS(file, line) how the program ends where a __finally block
 * cannot run; else it aborts.
 */
#ifndef WINCOMPAT_SEH_BLOCKS_H
#define WINCOMPAT_SEH_BLOCKS_H

#include <wincompat/types.h>

#ifndef WINCOMPAT_TRY_FAILS
#define WINCOMPAT_TRY_FAILS(file, line) ((void)(file), (void)(line), __builtin_abort())
#endif

#define EXCEPTION_EXECUTE_HANDLER    1
#define EXCEPTION_CONTINUE_SEARCH    0
#define EXCEPTION_CONTINUE_EXECUTION (-1)

#define EXCEPTION_NONCONTINUABLE     0x1
#define EXCEPTION_MAXIMUM_PARAMETERS 15

#define EXCEPTION_DATATYPE_MISALIGNMENT    ((DWORD)0x80000002u)
#define EXCEPTION_BREAKPOINT               ((DWORD)0x80000003u)
#define EXCEPTION_SINGLE_STEP              ((DWORD)0x80000004u)
#define EXCEPTION_ACCESS_VIOLATION         ((DWORD)0xC0000005u)
#define EXCEPTION_IN_PAGE_ERROR            ((DWORD)0xC0000006u)
#define EXCEPTION_INVALID_HANDLE           ((DWORD)0xC0000008u)
#define EXCEPTION_ILLEGAL_INSTRUCTION      ((DWORD)0xC000001Du)
#define EXCEPTION_NONCONTINUABLE_EXCEPTION ((DWORD)0xC0000025u)
#define EXCEPTION_ARRAY_BOUNDS_EXCEEDED    ((DWORD)0xC000008Cu)
#define EXCEPTION_FLT_DIVIDE_BY_ZERO       ((DWORD)0xC000008Eu)
#define EXCEPTION_FLT_INEXACT_RESULT       ((DWORD)0xC000008Fu)
#define EXCEPTION_FLT_INVALID_OPERATION    ((DWORD)0xC0000090u)
#define EXCEPTION_FLT_OVERFLOW             ((DWORD)0xC0000091u)
#define EXCEPTION_FLT_UNDERFLOW            ((DWORD)0xC0000093u)
#define EXCEPTION_INT_DIVIDE_BY_ZERO       ((DWORD)0xC0000094u)
#define EXCEPTION_INT_OVERFLOW             ((DWORD)0xC0000095u)
#define EXCEPTION_PRIV_INSTRUCTION         ((DWORD)0xC0000096u)
#define EXCEPTION_STACK_OVERFLOW           ((DWORD)0xC00000FDu)

typedef struct _EXCEPTION_RECORD {
    DWORD ExceptionCode;
    DWORD ExceptionFlags;
    struct _EXCEPTION_RECORD *ExceptionRecord;
    PVOID ExceptionAddress;
    DWORD NumberParameters;
    ULONG_PTR ExceptionInformation[EXCEPTION_MAXIMUM_PARAMETERS];
} EXCEPTION_RECORD, *PEXCEPTION_RECORD;

/* The processor's registers, which no exception has here: ContextRecord is NULL. */
typedef struct _CONTEXT CONTEXT, *PCONTEXT, *LPCONTEXT;

typedef struct _EXCEPTION_POINTERS {
    PEXCEPTION_RECORD ExceptionRecord;
    PCONTEXT ContextRecord;
} EXCEPTION_POINTERS, *PEXCEPTION_POINTERS, *LPEXCEPTION_POINTERS;

/* A __try block; the program may leave it so that its __finally block cannot run. */
struct wincompat_try {
    const char *file;
    int line;
    int has_finally;
    int done;
};

static inline __attribute__((unused)) void wincompat_try_left(struct wincompat_try *block)
{
    if (block->has_finally && !block->done)
        WINCOMPAT_TRY_FAILS(block->file, block->line);
}

/* With seh.h that has them for what is thrown. */
#if !defined(WINCOMPAT_SEH_H) || !defined(__cplusplus) || !__cpp_exceptions

static inline __attribute__((unused)) PEXCEPTION_POINTERS wincompat_no_exception(void)
{
    __builtin_abort(); /* only filters and __except blocks call it, and none of them runs */
}

/* clang-format off */
#define WINCOMPAT_TRY_END(kind)                                                                    \
    wincompat_leave_: __attribute__((unused));                                                     \
    wincompat_block_.done = 1;                                                                     \
    if (0) {                                                                                       \
    wincompat_kind_:                                                                               \
        wincompat_block_.has_finally = (kind);                                                     \
        goto wincompat_begin_;                                                                     \
    }                                                                                              \
    !(kind); })) {} else
#undef __try
#define __try                                                                                      \
    if (__extension__({                                                                            \
        __label__ wincompat_leave_, wincompat_kind_, wincompat_begin_;                             \
        __attribute__((cleanup(wincompat_try_left))) struct wincompat_try wincompat_block_ = {     \
            __FILE__, __LINE__, 0, 0 };                                                            \
        goto wincompat_kind_;                                                                      \
    wincompat_begin_:;
#define __except(...)                                                                              \
    if (0)                                                                                         \
        (void)(__VA_ARGS__);                                                                       \
    WINCOMPAT_TRY_END(0)
#define __finally WINCOMPAT_TRY_END(1)
/* clang-format on */

#define GetExceptionCode()        (wincompat_no_exception()->ExceptionRecord->ExceptionCode)
#define GetExceptionInformation() wincompat_no_exception()

#endif

#undef __leave
#define __leave goto wincompat_leave_

/* In a __finally block, which runs only if its __try block reached its end or was left by __leave. */
#define AbnormalTermination() FALSE

#define _exception_code()       GetExceptionCode()
#define _exception_info()       GetExceptionInformation()
#define _abnormal_termination() AbnormalTermination()

#endif
