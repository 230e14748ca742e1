/* SPDX-License-Identifier: MIT */
/*
 * guid.h - GUIDs. DEFINE_GUID declares; where INITGUID was defined before the header it defines, weakly, so that any
 * number of translation units may do so. Equality takes pointers in C and references in C++.
 */
#ifndef WINCOMPAT_GUID_H
#define WINCOMPAT_GUID_H

#include <wincompat/types.h>

#ifndef GUID_DEFINED
#define GUID_DEFINED
typedef struct _GUID {
    ULONG Data1;
    USHORT Data2;
    USHORT Data3;
    UCHAR Data4[8];
} GUID;
#endif

typedef GUID *LPGUID;
typedef const GUID *LPCGUID;
typedef GUID IID, CLSID, UUID, FMTID;
typedef IID *LPIID;
typedef CLSID *LPCLSID;

C_ASSERT(sizeof(GUID) == 16);

#ifdef __cplusplus
#define REFGUID  const GUID &
#define REFIID   const IID &
#define REFCLSID const IID &
#else
#define REFGUID  const GUID *
#define REFIID   const IID *
#define REFCLSID const IID *
#endif

#ifdef __cplusplus
extern "C++" {
inline int InlineIsEqualGUID(REFGUID a, REFGUID b)
{
    return !memcmp(&a, &b, sizeof(GUID));
}
inline int IsEqualGUID(REFGUID a, REFGUID b)
{
    return !memcmp(&a, &b, sizeof(GUID));
}
inline bool operator==(REFGUID a, REFGUID b)
{
    return !memcmp(&a, &b, sizeof(GUID));
}
inline bool operator!=(REFGUID a, REFGUID b)
{
    return !(a == b);
}
}
#else
static inline int InlineIsEqualGUID(REFGUID a, REFGUID b)
{
    return !memcmp(a, b, sizeof(GUID));
}
#define IsEqualGUID(a, b) (!memcmp((a), (b), sizeof(GUID)))
#endif
#define IsEqualIID(a, b)   IsEqualGUID(a, b)
#define IsEqualCLSID(a, b) IsEqualGUID(a, b)

WINCOMPAT_BEGIN
extern const GUID GUID_NULL;

typedef LONG RPC_STATUS;
#define RPC_S_OK 0
/* -1, 0 or 1: the order of two UUIDs by their fields; NULL is the nil UUID. status: RPC_S_OK. */
WINOBJ_API int UuidCompare(UUID *a, UUID *b, RPC_STATUS *status);
WINCOMPAT_END
#define IID_NULL   GUID_NULL
#define CLSID_NULL GUID_NULL

#endif

/* Outside the guard: <initguid.h> turns declarations into definitions for what follows it. */
#undef DEFINE_GUID
#ifdef INITGUID
/* C++ needs linkage and weakness in one declaration. */
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)                               \
    EXTERN_C DECLSPEC_SELECTANY const GUID name;                                                   \
    const GUID name = { l, w1, w2, { b1, b2, b3, b4, b5, b6, b7, b8 } }
#else
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) EXTERN_C const GUID name
#endif
#ifndef DEFINE_OLEGUID
#define DEFINE_OLEGUID(name, l, w1, w2) DEFINE_GUID(name, l, w1, w2, 0xC0, 0, 0, 0, 0, 0, 0, 0x46)
#endif
