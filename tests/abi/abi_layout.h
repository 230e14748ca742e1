/* SPDX-License-Identifier: MIT */
/*
 * abi_layout.h - abi.def as compile-time assertions, for C and C++ and every target: what compiles is right.
 *
 * The identifiers are read from the text of ndspi.h itself, by a DEFINE_GUID of our own.
 */
#ifndef TESTS_ABI_LAYOUT_H
#define TESTS_ABI_LAYOUT_H

#include <stddef.h>
#include <winsock2.h>
#include <ws2tcpip.h>
#include <unknwn.h>

#undef DEFINE_GUID
#define DEFINE_GUID(name, l, w1, w2, b0, b1, b2, b3, b4, b5, b6, b7)                                       \
    enum {                                                                                                 \
        name##_1 = l,                                                                                      \
        name##_2 = w1,                                                                                     \
        name##_3 = w2,                                                                                     \
        name##_4 = b0 << 8 | b1                                                                            \
    };                                                                                                     \
    enum {                                                                                                 \
        name##_5 = (b2 << 8 | b3) * 0x100000000 + b4 * 0x1000000LL + b5 * 0x10000 + b6 * 0x100 + b7 \
    }
#include <ndsupport.h>

#ifdef __cplusplus
#define ABI_ASSERT static_assert
#define ABI_ALIGNOF alignof
#else
#define ABI_ASSERT _Static_assert
#define ABI_ALIGNOF _Alignof
#endif
#define ABI_PICK(value64, value32) (sizeof(void *) == 8 ? (value64) : (value32))

#define ABI_SIZE(type, size64, size32) \
    ABI_ASSERT(sizeof(type) == ABI_PICK(size64, size32), "size of " #type);
#define ABI_ALIGN(type, align64, align32) \
    ABI_ASSERT(ABI_ALIGNOF(type) == ABI_PICK(align64, align32), "alignment of " #type);
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)                               \
    ABI_ASSERT(offsetof(type, field) == ABI_PICK(offset64, offset32), "offset of " #type "." #field); \
    ABI_ASSERT(sizeof(((type *)0)->field) == ABI_PICK(size64, size32), "size of " #type "." #field);
#define ABI_VALUE(name, value) ABI_ASSERT((name) == (value), #name);
#define ABI_STATUS(name, value) \
    ABI_ASSERT((UINT32)(name) == (value) && sizeof(name) == sizeof(HRESULT), #name);
#define ABI_IID(name, g1, g2, g3, g4, g5)                                               \
    ABI_ASSERT((UINT32)name##_1 == g1 && name##_2 == g2 && name##_3 == g3 && name##_4 == g4 && \
            name##_5 == g5,                                                             \
        #name);
#ifdef __cplusplus
#define ABI_SLOT(iface, method, slot)
#define ABI_SLOTS(iface, base, count)                                             \
    ABI_ASSERT(sizeof(iface) == sizeof(void *), "an interface is one pointer: " #iface); \
    ABI_ASSERT(__is_base_of(base, iface) && __is_abstract(iface), "base of " #iface);
#else
#define ABI_SLOT(iface, method, slot) \
    ABI_ASSERT(offsetof(iface##Vtbl, method) == (slot) * sizeof(void *), "slot of " #iface "." #method);
#define ABI_SLOTS(iface, base, count)                                                          \
    ABI_ASSERT(sizeof(iface##Vtbl) == (count) * sizeof(void *), "slots of " #iface);           \
    ABI_ASSERT(offsetof(iface, lpVtbl) == 0 && sizeof(iface) == sizeof(void *), "layout of " #iface);
#endif
#include "abi.def"

#endif
