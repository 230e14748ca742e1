/* SPDX-License-Identifier: MIT */
/*
 * strsafe.c - ntstrsafe.h's functions of ndkwdm.h, by those of <strsafe.h>. Compiled for each kind of character:
 * WIDE_BITS is the width of wide ones.
 */
#include <ndkwdm.h>

#include <strsafe.h>

#ifdef WIDE_BITS
#define FORM(name) name##W
typedef NTSTRSAFE_PWSTR text;
typedef NTSTRSAFE_PCWSTR constant;
#else
#define FORM(name) name##A
typedef NTSTRSAFE_PSTR text;
typedef NTSTRSAFE_PCSTR constant;
#endif

static NTSTATUS status_of(HRESULT hr)
{
    switch (hr) {
    case S_OK: return STATUS_SUCCESS;
    case STRSAFE_E_INSUFFICIENT_BUFFER: return STATUS_BUFFER_OVERFLOW;
    case E_OUTOFMEMORY: return STATUS_NO_MEMORY;
    default: return STATUS_INVALID_PARAMETER;
    }
}

/* The functions of one unit: Cch or Cb. */
#define FUNCTIONS(unit)                                                                            \
    NTSTATUS FORM(RtlString##unit##Copy)(text to, size_t room, constant from)                      \
    {                                                                                              \
        return status_of(FORM(String##unit##Copy)(to, room, from));                                \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##CopyN)(text to, size_t room, constant from, size_t count)       \
    {                                                                                              \
        return status_of(FORM(String##unit##CopyN)(to, room, from, count));                        \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##Cat)(text to, size_t room, constant from)                       \
    {                                                                                              \
        return status_of(FORM(String##unit##Cat)(to, room, from));                                 \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##CatN)(text to, size_t room, constant from, size_t count)        \
    {                                                                                              \
        return status_of(FORM(String##unit##CatN)(to, room, from, count));                         \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##Length)(constant from, size_t limit, size_t * length)           \
    {                                                                                              \
        return status_of(FORM(String##unit##Length)(from, limit, length));                         \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##VPrintf)(                                                       \
        text to, size_t room, constant format, va_list arguments)                                  \
    {                                                                                              \
        return status_of(FORM(String##unit##VPrintf)(to, room, format, arguments));                \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##Printf)(text to, size_t room, constant format, ...)             \
    {                                                                                              \
        va_list arguments;                                                                         \
        NTSTATUS status;                                                                           \
                                                                                                   \
        va_start(arguments, format);                                                               \
        status = FORM(RtlString##unit##VPrintf)(to, room, format, arguments);                      \
        va_end(arguments);                                                                         \
        return status;                                                                             \
    }

/* The Ex forms. */
#define EX_FUNCTIONS(unit)                                                                         \
    NTSTATUS FORM(RtlString##unit##CopyEx)(                                                        \
        text to, size_t room, constant from, text * end, size_t * left, ULONG flags)               \
    {                                                                                              \
        return status_of(FORM(String##unit##CopyEx)(to, room, from, end, left, flags));            \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##CopyNEx)(                                                       \
        text to, size_t room, constant from, size_t count, text * end, size_t * left, ULONG flags) \
    {                                                                                              \
        return status_of(FORM(String##unit##CopyNEx)(to, room, from, count, end, left, flags));    \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##CatEx)(                                                         \
        text to, size_t room, constant from, text * end, size_t * left, ULONG flags)               \
    {                                                                                              \
        return status_of(FORM(String##unit##CatEx)(to, room, from, end, left, flags));             \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##CatNEx)(                                                        \
        text to, size_t room, constant from, size_t count, text * end, size_t * left, ULONG flags) \
    {                                                                                              \
        return status_of(FORM(String##unit##CatNEx)(to, room, from, count, end, left, flags));     \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##VPrintfEx)(text to, size_t room, text * end, size_t * left,     \
        ULONG flags, constant format, va_list arguments)                                           \
    {                                                                                              \
        return status_of(                                                                          \
            FORM(String##unit##VPrintfEx)(to, room, end, left, flags, format, arguments));         \
    }                                                                                              \
    NTSTATUS FORM(RtlString##unit##PrintfEx)(                                                      \
        text to, size_t room, text * end, size_t * left, ULONG flags, constant format, ...)        \
    {                                                                                              \
        va_list arguments;                                                                         \
        NTSTATUS status;                                                                           \
                                                                                                   \
        va_start(arguments, format);                                                               \
        status = FORM(RtlString##unit##VPrintfEx)(to, room, end, left, flags, format, arguments);  \
        va_end(arguments);                                                                         \
        return status;                                                                             \
    }

FUNCTIONS(Cch)
FUNCTIONS(Cb)
EX_FUNCTIONS(Cch)
EX_FUNCTIONS(Cb)
