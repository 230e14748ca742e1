/* SPDX-License-Identifier: MIT */
/*
 * types.h - the Windows base types, with the sizes of 64-bit Windows: LONG and DWORD are 32 bits, never `long`.
 *
 * WCHAR is the compiler's wchar_t, so L"..." literals and the wcs functions fit it; -fshort-wchar makes it 16 bits.
 */
#ifndef WINCOMPAT_TYPES_H
#define WINCOMPAT_TYPES_H

#ifdef __MINGW32__
#error "compat is for native Linux builds; MinGW brings the Windows headers itself"
#endif

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include <wincompat/version.h>

/* A long of Linux has 64 bits. Ported code that compares a ULONG with ULONG_MAX means Windows' limits. */
#ifdef NDSPI_LIMITS
#undef LONG_MIN
#undef LONG_MAX
#undef ULONG_MAX
#define LONG_MIN  (-2147483647 - 1)
#define LONG_MAX  2147483647
#define ULONG_MAX 0xffffffffu
#endif

#ifdef __has_builtin
#define WINCOMPAT_BUILTIN(name) __has_builtin(name)
#else
#define WINCOMPAT_BUILTIN(name) 0
#endif

/* Wide functions exist for both widths of wchar_t; the compiler's option chooses. */
#if __SIZEOF_WCHAR_T__ == 2
#define WINCOMPAT_WIDE(name) __asm__(name "16")
#else
#define WINCOMPAT_WIDE(name)
#endif

/* Calling conventions are empty: the platform has one. */
#define WINAPI
#define WINAPIV
#define APIENTRY
#define CALLBACK
#define WSAAPI
#define PASCAL
#define NTAPI
#define STDAPICALLTYPE
#define STDAPIVCALLTYPE
#define STDMETHODCALLTYPE
#define STDMETHODVCALLTYPE
#ifndef __cdecl
#define __cdecl
#endif
#ifndef __stdcall
#define __stdcall
#endif
#ifndef __fastcall
#define __fastcall
#endif

/*
 * __declspec(x), for each x that ported code uses; the compiler warns about others. clang has the keyword in its
 * Microsoft modes: property, and more than one argument, need it.
 */
/* clang-format off */
#ifdef __clang__
#if !__is_identifier(__forceinline)
#define WINCOMPAT_MICROSOFT_MODE
#endif
#endif
#ifdef WINCOMPAT_MICROSOFT_MODE
#define __declspec(...)                __declspec(WINCOMPAT_DECLSPEC_##__VA_ARGS__)
#define WINCOMPAT_DECLSPEC_align       align
#define WINCOMPAT_DECLSPEC_allocator   allocator
#define WINCOMPAT_DECLSPEC_code_seg    code_seg
#define WINCOMPAT_DECLSPEC_empty_bases
#define WINCOMPAT_DECLSPEC_noalias     noalias
#define WINCOMPAT_DECLSPEC_property    property
#define WINCOMPAT_DECLSPEC_restrict    restrict
#define WINCOMPAT_DECLSPEC_selectany   selectany
#define WINCOMPAT_DECLSPEC_thread      thread
#define WINCOMPAT_DECLSPEC_uuid        uuid
#define WINCOMPAT_DECLSPEC_dllexport   ) __attribute__((visibility("default"))) __declspec(
#else
#ifndef __declspec
#define __declspec(...)                __attribute__((WINCOMPAT_DECLSPEC_##__VA_ARGS__))
#endif
#define WINCOMPAT_DECLSPEC_align       aligned
#define WINCOMPAT_DECLSPEC_allocator
#define WINCOMPAT_DECLSPEC_code_seg(name)
#define WINCOMPAT_DECLSPEC_empty_bases
#define WINCOMPAT_DECLSPEC_noalias
#define WINCOMPAT_DECLSPEC_restrict    malloc
#define WINCOMPAT_DECLSPEC_selectany   weak
#define WINCOMPAT_DECLSPEC_thread      )) __thread __attribute__((
#define WINCOMPAT_DECLSPEC_uuid(text)
#define WINCOMPAT_DECLSPEC_dllexport   visibility("default")
#endif
#define WINCOMPAT_DECLSPEC_deprecated  deprecated
#define WINCOMPAT_DECLSPEC_dllimport
#define WINCOMPAT_DECLSPEC_noinline    noinline
#define WINCOMPAT_DECLSPEC_noreturn    noreturn
#define WINCOMPAT_DECLSPEC_nothrow     nothrow
#define WINCOMPAT_DECLSPEC_novtable
#define WINCOMPAT_DECLSPEC_safebuffers
/* clang-format on */

#define DECLSPEC_ALIGN(n) __attribute__((aligned(n)))
#define DECLSPEC_NORETURN __attribute__((noreturn))
#define DECLSPEC_NOVTABLE
#define DECLSPEC_SELECTANY __attribute__((weak))
#define DECLSPEC_IMPORT
#define DECLSPEC_EXPORT __attribute__((visibility("default")))

/*
 * __forceinline. gcc reports an error where it cannot keep always_inline (a recursion): C++ gets plain inline. C needs
 * always_inline, since an inline function of C has no other definition.
 */
#ifndef WINCOMPAT_MICROSOFT_MODE
#ifdef __cplusplus
#define __forceinline inline
#else
#define __forceinline inline __attribute__((always_inline))
#endif
#endif
#ifndef FORCEINLINE
#ifdef __cplusplus
#define FORCEINLINE __forceinline
#else
#define FORCEINLINE static inline __attribute__((always_inline))
#endif
#endif
#ifndef __cplusplus
#define __inline inline
#endif

#ifdef __cplusplus
#define EXTERN_C        extern "C"
#define WINCOMPAT_BEGIN extern "C" {
#define WINCOMPAT_END   }
#else
#define EXTERN_C extern
#define WINCOMPAT_BEGIN
#define WINCOMPAT_END
#endif

/* The functions that libwinobj and libndwin32 export. */
#define WINOBJ_API __attribute__((visibility("default")))

#define IN
#define OUT
#define OPTIONAL
#define FAR
#define NEAR
#define CONST const
#ifndef VOID
#define VOID void
#endif
#ifndef FALSE
#define FALSE 0
#endif
#ifndef TRUE
#define TRUE 1
#endif

typedef char CHAR;
typedef wchar_t WCHAR;
#ifndef __cplusplus
__extension__ _Static_assert(sizeof(WCHAR) == __SIZEOF_WCHAR_T__,
    "this C library fixes wchar_t: compile with -fshort-wchar -include wincompat/short_wchar.h");
#endif
typedef short SHORT;
typedef int INT;
typedef int32_t LONG;
typedef long long LONGLONG;
typedef long long LONG64;
typedef int8_t INT8;
typedef int16_t INT16;
typedef int32_t INT32;
typedef int32_t LONG32;
typedef long long INT64;
typedef unsigned char UCHAR;
typedef unsigned char BYTE;
typedef unsigned char BOOLEAN;
typedef unsigned short USHORT;
typedef unsigned short WORD;
typedef unsigned short ATOM;
typedef unsigned int UINT;
typedef uint32_t ULONG;
typedef uint32_t DWORD;
typedef uint8_t UINT8;
typedef uint16_t UINT16;
typedef uint32_t UINT32;
typedef uint32_t ULONG32;
typedef uint32_t DWORD32;
typedef unsigned long long UINT64;
typedef unsigned long long ULONG64;
typedef unsigned long long DWORD64;
typedef unsigned long long ULONGLONG;
typedef unsigned long long DWORDLONG;
typedef float FLOAT;
typedef double DOUBLE;
typedef int BOOL;
typedef intptr_t INT_PTR, LONG_PTR, SSIZE_T;
typedef uintptr_t UINT_PTR, ULONG_PTR, DWORD_PTR, KAFFINITY;
typedef size_t SIZE_T;
typedef void *PVOID, *LPVOID, *HANDLE;
#define DECLARE_HANDLE(name)                                                                       \
    struct name##__ {                                                                              \
        int unused;                                                                                \
    };                                                                                             \
    typedef struct name##__ *name
DECLARE_HANDLE(HINSTANCE);
typedef HINSTANCE HMODULE;
typedef PVOID PVOID64;
typedef const void *LPCVOID;
typedef LONG HRESULT;
typedef LONG NTSTATUS;
typedef LONG SCODE;
typedef DWORD LCID;
typedef DWORD ACCESS_MASK;

typedef char CCHAR;
typedef CHAR *PCHAR, *LPCH, *PCH, *LPSTR, *PSTR, *NPSTR;
typedef const CHAR *LPCSTR, *PCSTR, *LPCCH;
typedef WCHAR *PWCHAR, *LPWCH, *PWCH, *LPWSTR, *PWSTR, *NWPSTR;
typedef const WCHAR *LPCWSTR, *PCWSTR, *LPCWCH;
typedef SHORT *PSHORT;
typedef INT *PINT, *LPINT;
typedef LONG *PLONG, *LPLONG;
typedef LONGLONG *PLONGLONG;
typedef LONG64 *PLONG64;
typedef INT8 *PINT8;
typedef INT16 *PINT16;
typedef INT32 *PINT32;
typedef INT64 *PINT64;
typedef UCHAR *PUCHAR;
typedef BYTE *PBYTE, *LPBYTE;
typedef BOOLEAN *PBOOLEAN;
typedef USHORT *PUSHORT;
typedef WORD *PWORD, *LPWORD;
typedef UINT *PUINT, *LPUINT;
typedef ULONG *PULONG;
typedef DWORD *PDWORD, *LPDWORD;
typedef UINT8 *PUINT8;
typedef UINT16 *PUINT16;
typedef UINT32 *PUINT32;
typedef UINT64 *PUINT64;
typedef ULONG64 *PULONG64;
typedef ULONGLONG *PULONGLONG;
typedef DWORDLONG *PDWORDLONG;
typedef BOOL *PBOOL, *LPBOOL;
typedef HANDLE *PHANDLE, *LPHANDLE;
typedef SIZE_T *PSIZE_T;
typedef INT_PTR *PINT_PTR;
typedef LONG_PTR *PLONG_PTR;
typedef UINT_PTR *PUINT_PTR;
typedef ULONG_PTR *PULONG_PTR;
typedef DWORD_PTR *PDWORD_PTR;
typedef FLOAT *PFLOAT;

#if defined(UNICODE) || defined(_UNICODE)
typedef WCHAR TCHAR, *PTCHAR, *PTSTR, *LPTSTR;
typedef const WCHAR *PCTSTR, *LPCTSTR;
#define __TEXT(quote)      L##quote
#define WINCOMPAT_AW(name) name##W
#else
typedef char TCHAR, *PTCHAR, *PTSTR, *LPTSTR;
typedef const char *PCTSTR, *LPCTSTR;
#define __TEXT(quote)      quote
#define WINCOMPAT_AW(name) name##A
#endif
#define TEXT(quote) __TEXT(quote)

#define __int8 char
#define __int16 short
#define __int32 int
#define __int64 long long

typedef union _LARGE_INTEGER {
    __extension__ struct {
        DWORD LowPart;
        LONG HighPart;
    };
    struct {
        DWORD LowPart;
        LONG HighPart;
    } u;
    LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

typedef union _ULARGE_INTEGER {
    __extension__ struct {
        DWORD LowPart;
        DWORD HighPart;
    };
    struct {
        DWORD LowPart;
        DWORD HighPart;
    } u;
    ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef struct _LIST_ENTRY {
    struct _LIST_ENTRY *Flink;
    struct _LIST_ENTRY *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef struct _SINGLE_LIST_ENTRY {
    struct _SINGLE_LIST_ENTRY *Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;

typedef struct _FILETIME {
    DWORD dwLowDateTime;
    DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

#define MAXUINT8     ((UINT8) ~((UINT8)0))
#define MAXINT8      ((INT8)(MAXUINT8 >> 1))
#define MAXUINT16    ((UINT16) ~((UINT16)0))
#define MAXUINT32    ((UINT32) ~((UINT32)0))
#define MAXUINT64    ((UINT64) ~((UINT64)0))
#define MAXINT32     ((INT32)(MAXUINT32 >> 1))
#define MAXINT64     ((INT64)(MAXUINT64 >> 1))
#define MAXULONG     ((ULONG) ~((ULONG)0))
#define MAXLONG      ((LONG)(MAXULONG >> 1))
#define MINLONG      0x80000000
#define MAXUSHORT    ((USHORT) ~((USHORT)0))
#define MAXDWORD     0xffffffffu
#define MAXWORD      0xffff
#define MAXBYTE      0xff
#define MAXULONGLONG ((ULONGLONG) ~((ULONGLONG)0))
#define MAXULONG_PTR (~((ULONG_PTR)0))
#define MAXSIZE_T    ((SIZE_T) ~((SIZE_T)0))

#define MAX_PATH                    260
#define ANYSIZE_ARRAY               1
#define UNICODE_STRING_MAX_BYTES    ((WORD)65534)
#define UNICODE_STRING_MAX_CHARS    (32767)
#define MEMORY_ALLOCATION_ALIGNMENT 16
#define SYSTEM_CACHE_ALIGNMENT_SIZE 64
#define DECLSPEC_CACHEALIGN         DECLSPEC_ALIGN(SYSTEM_CACHE_ALIGNMENT_SIZE)

#define MAKEWORD(a, b)                                                                             \
    ((WORD)(((BYTE)((DWORD_PTR)(a)&0xff)) | ((WORD)((BYTE)((DWORD_PTR)(b)&0xff))) << 8))
#define MAKELONG(a, b)                                                                             \
    ((LONG)(((WORD)((DWORD_PTR)(a)&0xffff)) | ((DWORD)((WORD)((DWORD_PTR)(b)&0xffff))) << 16))
#define LOWORD(l) ((WORD)((DWORD_PTR)(l)&0xffff))
#define HIWORD(l) ((WORD)(((DWORD_PTR)(l) >> 16) & 0xffff))
#define LOBYTE(w) ((BYTE)((DWORD_PTR)(w)&0xff))
#define HIBYTE(w) ((BYTE)(((DWORD_PTR)(w) >> 8) & 0xff))

/*
 * FIELD_OFFSET - a constant, or with a run-time index in field a run-time value. g++ refuses such an index in offsetof,
 * and casts in constants; it allows the difference of two addresses inside one object in both places.
 */
#if defined(__cplusplus) && !defined(__clang__)
extern "C++" {
template <class T> union wincompat_object {
    T object;
    char bytes[sizeof(T) + 1];
    wincompat_object();
    ~wincompat_object();
};
template <class T> struct wincompat_place {
    static wincompat_object<T> at; /* only its address is used */
};
template <class T> constexpr LONG wincompat_offset(const volatile void *field, LONG low, LONG high)
{
    return low == high ? low
           : (const volatile void *)&wincompat_place<T>::at.bytes[(low + high) / 2] < field
               ? wincompat_offset<T>(field, (low + high) / 2 + 1, high)
               : wincompat_offset<T>(field, low, (low + high) / 2);
}
}
#define WINCOMPAT_OFFSET(type, field)                                                              \
    wincompat_offset<type>(&wincompat_place<type>::at.object.field, 0, sizeof(type))
#define FIELD_OFFSET(type, field)                                                                  \
    (__builtin_constant_p(WINCOMPAT_OFFSET(type, field))                                           \
            ? WINCOMPAT_OFFSET(type, field)                                                        \
            : (LONG)((LONG_PTR) & ((type *)4096)->field - 4096))
#else
#define FIELD_OFFSET(type, field) ((LONG) __builtin_offsetof(type, field))
#endif
#define UFIELD_OFFSET(type, field) ((DWORD)FIELD_OFFSET(type, field))
#define CONTAINING_RECORD(address, type, field)                                                    \
    ((type *)((char *)(address) - __builtin_offsetof(type, field)))
#define RTL_FIELD_SIZE(type, field) (sizeof(((type *)0)->field))
#define RTL_SIZEOF_THROUGH_FIELD(type, field)                                                      \
    (__builtin_offsetof(type, field) + RTL_FIELD_SIZE(type, field))
#define RTL_CONTAINS_FIELD(s, size, field)                                                         \
    ((((char *)&(s)->field) + sizeof((s)->field)) <= ((char *)(s) + (size)))
#define RTL_BITS_OF(what)              (sizeof(what) * 8)
#define RTL_BITS_OF_FIELD(type, field) (RTL_BITS_OF(((type *)0)->field))
#define RTL_NUMBER_OF(a)               (sizeof(a) / sizeof((a)[0]))
#define ARRAYSIZE(a)                   RTL_NUMBER_OF(a)
#ifndef _countof
#define _countof(a) RTL_NUMBER_OF(a)
#endif

#ifdef __cplusplus
#define C_ASSERT(e) static_assert((e), #e)
#else
#define C_ASSERT(e) _Static_assert((e), #e)
#endif

#define UNREFERENCED_PARAMETER(p)      ((void)(p))
#define DBG_UNREFERENCED_PARAMETER(p)  ((void)(p))
#define UNREFERENCED_LOCAL_VARIABLE(v) ((void)(v))

#define RtlZeroMemory(p, n)     memset((p), 0, (n))
#define RtlFillMemory(p, n, v)  memset((p), (v), (n))
#define RtlCopyMemory(d, s, n)  memcpy((d), (s), (n))
#define RtlMoveMemory(d, s, n)  memmove((d), (s), (n))
#define RtlEqualMemory(a, b, n) (!memcmp((a), (b), (n)))
#define ZeroMemory(p, n)        RtlZeroMemory((p), (n))
#define FillMemory(p, n, v)     RtlFillMemory((p), (n), (v))
#define CopyMemory(d, s, n)     RtlCopyMemory((d), (s), (n))
#define MoveMemory(d, s, n)     RtlMoveMemory((d), (s), (n))
#define SecureZeroMemory        RtlSecureZeroMemory

/* No compiler leaves it out, whether or not the memory is used afterwards. */
static inline PVOID RtlSecureZeroMemory(PVOID memory, SIZE_T size)
{
    memset(memory, 0, size);
    __asm__ __volatile__("" ::"r"(memory) : "memory");
    return memory;
}

#define __assume(e)                                                                                \
    do {                                                                                           \
        if (!(e))                                                                                  \
            __builtin_unreachable();                                                               \
    } while (0)

/*
 * min and max. In C the macros of Windows. In C++ a macro with arguments would break every standard header that comes
 * after (and libstdc++ undefines it): there the macro names itself, so that #ifndef min means what it does on Windows,
 * and templates do the work, with the macro's type and value for any two operands that ?: takes.
 */
#ifndef NOMINMAX
#ifdef __cplusplus
extern "C++" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
/* The value's type, without the C++ library. */
template <class T> struct wincompat_value {
    typedef T type;
};
template <class T> struct wincompat_value<T &> {
    typedef T type;
};
template <class T> struct wincompat_value<T &&> {
    typedef T type;
};
template <class T> struct wincompat_value<const T &> {
    typedef T type;
};
template <class A, class B>
constexpr auto min(const A a, const B b) -> typename wincompat_value<decltype(true ? a : b)>::type
{
    return a < b ? a : b;
}
template <class A, class B>
constexpr auto max(const A a, const B b) -> typename wincompat_value<decltype(true ? a : b)>::type
{
    return a > b ? a : b;
}
#pragma GCC diagnostic pop
}
#ifndef min
#define min min
#endif
#ifndef max
#define max max
#endif
#else
#ifndef min
#define min(a, b) (((a) < (b)) ? (a) : (b))
#endif
#ifndef max
#define max(a, b) (((a) > (b)) ? (a) : (b))
#endif
#endif
#endif

#endif
