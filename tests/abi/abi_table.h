/* SPDX-License-Identifier: MIT */
/*
 * abi_table.h - abi.def as a compiler sees it: one constant in the section .abi of the object file, which is read there
 * (nothing has to run). abi_table.c is its C, abi_table.cpp its C++. test_abi reads it and says what every row means.
 *
 * The two differ in slots: C has the offset in the vtable's structure, C++ a pointer to the virtual method.
 */
#include <stddef.h>
#include <winsock2.h>
#include <ws2tcpip.h>
#include <objbase.h>
#include <unknwn.h>

#include "../support/spec_codes.h"

/* Identifiers are taken from the text of the headers, by a DEFINE_GUID of our own. */
#undef DEFINE_GUID
#define DEFINE_GUID(name, l, w1, w2, b0, b1, b2, b3, b4, b5, b6, b7)                               \
    enum { name##_l = l };                                                                         \
    enum {                                                                                         \
        name##_w1 = w1,                                                                            \
        name##_w2 = w2,                                                                            \
        name##_b0 = b0,                                                                            \
        name##_b1 = b1,                                                                            \
        name##_b2 = b2,                                                                            \
        name##_b3 = b3,                                                                            \
        name##_b4 = b4,                                                                            \
        name##_b5 = b5,                                                                            \
        name##_b6 = b6,                                                                            \
        name##_b7 = b7                                                                             \
    }
#include <ndprovider.h>
#include <ndsupport.h>

typedef unsigned long long abi_number;

#ifdef __cplusplus
#define ABI_ALIGNOF alignof
#define ABI_ASSERT  static_assert
template <class A, class B> struct abi_same {
    enum { value = 0 };
};
template <class A> struct abi_same<A, A> {
    enum { value = 1 };
};
#define ABI_SAME_TYPE(expression, type) (abi_same<decltype(expression), type>::value)
#else
#define ABI_ALIGNOF                     _Alignof
#define ABI_ASSERT                      _Static_assert
#define ABI_SAME_TYPE(expression, type) __builtin_types_compatible_p(__typeof__(expression), type)
#endif

/* Types have no place in an object file: that they are right is a matter of compiling at all. */
#define ABI_SIZE(type, size64, size32)
#define ABI_INTEGER(type, size64, size32, is_signed)
#define ABI_ALIGN(type, align64, align32)
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)
#define ABI_VALUE(name, value)
#define ABI_STATUS(name, value)
#define ABI_IID(name, g1, g2, g3, g4, g5)
#define ABI_FIRST_SLOT(iface)
#define ABI_SLOT(iface, method, slot)
#ifdef __cplusplus
#define ABI_SLOTS(iface, base, count)                                                              \
    ABI_ASSERT(__is_base_of(base, iface) && __is_abstract(iface), "base of " #iface);              \
    struct iface##_end : iface {                                                                   \
        virtual void abi_end() = 0;                                                                \
    };
#else
#define ABI_SLOTS(iface, base, count)
#endif
#define ABI_FUNCTION(name, result, arguments)                                                      \
    typedef result(ND_HELPER_API *name##_type) arguments;                                          \
    ABI_ASSERT(ABI_SAME_TYPE(&name, name##_type), "type of " #name);
#include "abi.def"

/* The members: numbers, identifiers, and in C++ pointers to methods. All of them begin at multiples of eight. */
#define ABI_PASTE_(a, b)                             a##b
#define ABI_PASTE(a, b)                              ABI_PASTE_(a, b)
#define ABI_MEMBER                                   ABI_PASTE(row_, __COUNTER__)
#define ABI_SIZE(type, size64, size32)               abi_number ABI_MEMBER;
#define ABI_INTEGER(type, size64, size32, is_signed) abi_number ABI_MEMBER, ABI_MEMBER;
#define ABI_ALIGN(type, align64, align32)            abi_number ABI_MEMBER;
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)                                 \
    abi_number ABI_MEMBER, ABI_MEMBER;
#define ABI_VALUE(name, value)            abi_number ABI_MEMBER;
#define ABI_STATUS(name, value)           abi_number ABI_MEMBER, ABI_MEMBER;
#define ABI_IID(name, g1, g2, g3, g4, g5) GUID ABI_MEMBER;
#ifdef __cplusplus
#define ABI_FIRST_SLOT(iface)                                                                      \
    HRESULT (STDMETHODCALLTYPE iface::*ABI_MEMBER)(REFIID, void **); /* has overloads */
#define ABI_SLOT(iface, method, slot) decltype(&iface::method) ABI_MEMBER;
#define ABI_SLOTS(iface, base, count)                                                              \
    abi_number ABI_MEMBER;                                                                         \
    decltype(&iface##_end::abi_end) ABI_MEMBER;
#else
#define ABI_FIRST_SLOT(iface)         abi_number ABI_MEMBER;
#define ABI_SLOT(iface, method, slot) abi_number ABI_MEMBER;
#define ABI_SLOTS(iface, base, count) abi_number ABI_MEMBER, ABI_MEMBER;
#endif
#define ABI_FUNCTION(name, result, arguments)
struct abi_table {
    abi_number pointer_bytes, cplusplus, bytes; /* the section may be longer */
#include "abi.def"
};

/* And what they are. */
#define ABI_SIZE(type, size64, size32)               sizeof(type),
#define ABI_INTEGER(type, size64, size32, is_signed) sizeof(type), (type)-1 < (type)1,
#define ABI_ALIGN(type, align64, align32)            ABI_ALIGNOF(type),
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)                                 \
    sizeof(((type *)0)->field), offsetof(type, field),
#define ABI_VALUE(name, value)  (UINT32)(name),
#define ABI_STATUS(name, value) (UINT32)(name), sizeof(name),
#define ABI_IID(name, g1, g2, g3, g4, g5)                                                          \
    { name##_l, name##_w1, name##_w2,                                                              \
        { name##_b0, name##_b1, name##_b2, name##_b3, name##_b4, name##_b5, name##_b6,             \
            name##_b7 } },
#ifdef __cplusplus
#define ABI_FIRST_SLOT(iface)         &iface::QueryInterface,
#define ABI_SLOT(iface, method, slot) &iface::method,
#define ABI_SLOTS(iface, base, count) sizeof(iface), &iface##_end::abi_end,
#else
#define ABI_FIRST_SLOT(iface)         offsetof(iface##Vtbl, QueryInterface),
#define ABI_SLOT(iface, method, slot) offsetof(iface##Vtbl, method),
#define ABI_SLOTS(iface, base, count) sizeof(iface) + offsetof(iface, lpVtbl), sizeof(iface##Vtbl),
#endif
#define ABI_FUNCTION(name, result, arguments)
