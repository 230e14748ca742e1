/* SPDX-License-Identifier: MIT */
/*
 * ndk_table.h - ndk.def and ndkwdm.def as a compiler sees them: one assertion for each row, which names it. Compiled
 * as C and C++, with and without the Windows headers, and for Windows; nothing has to run. With NDK_OF_MINGW: MinGW's
 * own ndkinfo.h.
 */
#include <stddef.h>
#ifdef NDK_OF_MINGW
#include <windows.h>
#include <ndkinfo.h>
#else
#include <ndkl.h>
#include <ndkpi.h>
#include <ndkwdm.h>
#include <wskndk.h>
#ifdef __MINGW32__
#include <ddk/ntstrsafe.h>
#endif
#endif

#include "../support/spec_codes.h"

#ifdef __cplusplus
#define NDK_ASSERT  static_assert
#define NDK_ALIGNOF alignof
template <class A, class B> struct ndk_same {
    enum { value = 0 };
};
template <class A> struct ndk_same<A, A> {
    enum { value = 1 };
};
#define NDK_SAME(a, b)                       (ndk_same<a, b>::value)
#define NDK_SAME_MEMBER(table, member, type) NDK_SAME(decltype(table::member), type)
#else
#define NDK_ASSERT                           _Static_assert
#define NDK_ALIGNOF                          _Alignof
#define NDK_SAME(a, b)                       __builtin_types_compatible_p(a, b)
#define NDK_SAME_MEMBER(table, member, type) NDK_SAME(__typeof__(((table *)0)->member), type)
#endif

#define NDK_SIZE(type, bytes)  NDK_ASSERT(sizeof(type) == (bytes), "size of " #type);
#define NDK_ALIGN(type, bytes) NDK_ASSERT(NDK_ALIGNOF(type) == (bytes), "alignment of " #type);
#define NDK_FIELD(type, field, bytes, offset)                                                      \
    NDK_ASSERT(sizeof(((type *)0)->field) == (bytes), "size of " #type "." #field);                \
    NDK_ASSERT(offsetof(type, field) == (offset), "offset of " #type "." #field);
#define NDK_VALUE(name, value) NDK_ASSERT((name) == (value), "value of " #name);
#define NDK_CODE(name, value)                                                                      \
    NDK_ASSERT((ULONG)(name) == (value), "value of " #name);                                       \
    NDK_ASSERT(NDK_SAME(__typeof__(name), NTSTATUS), "type of " #name);
#define NDK_SLOT(table, member, slot, type)                                                        \
    NDK_ASSERT(offsetof(table, member) == (slot)*8, "slot of " #table "." #member);                \
    NDK_ASSERT(NDK_SAME_MEMBER(table, member, type), "type of " #table "." #member);
#define NDK_SLOTS(table, slots) NDK_ASSERT(sizeof(table) == (slots)*8, "slots in " #table);
#define NDK_TYPE(name, result, ...)                                                                \
    typedef result(*name##_wanted) __VA_ARGS__;                                                    \
    NDK_ASSERT(NDK_SAME(name, name##_wanted), "type of " #name);
#ifdef __cplusplus
#define NDK_SAME_CALL(name, type) NDK_SAME(decltype(&name), type)
#else
#define NDK_SAME_CALL(name, type) NDK_SAME(__typeof__(&name), type)
#endif
#define NDK_CALL(name, result, ...)                                                                \
    typedef result(*name##_wanted) __VA_ARGS__;                                                    \
    NDK_ASSERT(NDK_SAME_CALL(name, name##_wanted), "type of " #name);

#ifdef NDK_OF_MINGW
#include "ndkinfo.def"
#else
#include "ndk.def"
#include "ndkwdm.def"
#endif
