/* SPDX-License-Identifier: MIT */
/* ole.h - the start of COM in a thread, its memory, interface and class identifiers as text, UUIDs. */
#ifndef WINCOMPAT_OLE_H
#define WINCOMPAT_OLE_H

#include <wincompat/error.h>
#include <wincompat/guid.h>

WINCOMPAT_BEGIN

typedef WCHAR OLECHAR;
typedef OLECHAR *LPOLESTR;
typedef const OLECHAR *LPCOLESTR;
#define OLESTR(text) L##text

/* Threads say that they use COM, which holds nothing for them here. */
typedef enum tagCOINIT {
    COINIT_MULTITHREADED = 0x0,
    COINIT_APARTMENTTHREADED = 0x2,
    COINIT_DISABLE_OLE1DDE = 0x4,
    COINIT_SPEED_OVER_MEMORY = 0x8
} COINIT;
WINOBJ_API HRESULT WINAPI CoInitialize(LPVOID reserved);
WINOBJ_API HRESULT WINAPI CoInitializeEx(LPVOID reserved, DWORD flags);
WINOBJ_API void WINAPI CoUninitialize(void);

WINOBJ_API LPVOID WINAPI CoTaskMemAlloc(SIZE_T size);
WINOBJ_API LPVOID WINAPI CoTaskMemRealloc(LPVOID memory, SIZE_T size);
WINOBJ_API void WINAPI CoTaskMemFree(LPVOID memory);

/* "{01234567-89AB-CDEF-0123-456789ABCDEF}". CoTaskMemFree frees a text. */
WINOBJ_API int WINAPI StringFromGUID2(REFGUID guid, LPOLESTR text, int room)
    WINCOMPAT_WIDE("StringFromGUID2");
WINOBJ_API HRESULT WINAPI StringFromCLSID(REFCLSID id, LPOLESTR *text)
    WINCOMPAT_WIDE("StringFromCLSID");
WINOBJ_API HRESULT WINAPI StringFromIID(REFIID id, LPOLESTR *text) WINCOMPAT_WIDE("StringFromIID");
WINOBJ_API HRESULT WINAPI CLSIDFromString(LPCOLESTR text, LPCLSID id)
    WINCOMPAT_WIDE("CLSIDFromString");
WINOBJ_API HRESULT WINAPI IIDFromString(LPCOLESTR text, LPIID id) WINCOMPAT_WIDE("IIDFromString");
WINOBJ_API HRESULT WINAPI CoCreateGuid(GUID *guid);

/* "01234567-89ab-cdef-0123-456789abcdef". RpcStringFree frees a text, and stores NULL. */
typedef unsigned char *RPC_CSTR;
typedef WCHAR *RPC_WSTR;
#define RPC_S_OUT_OF_MEMORY       ERROR_OUTOFMEMORY
#define RPC_S_INVALID_STRING_UUID 1705
WINOBJ_API RPC_STATUS UuidCreate(UUID *uuid);
WINOBJ_API RPC_STATUS UuidCreateNil(UUID *uuid);
WINOBJ_API int UuidEqual(UUID *a, UUID *b, RPC_STATUS *status);
WINOBJ_API int UuidIsNil(UUID *uuid, RPC_STATUS *status);
WINOBJ_API RPC_STATUS UuidToStringA(const UUID *uuid, RPC_CSTR *text);
WINOBJ_API RPC_STATUS UuidToStringW(const UUID *uuid, RPC_WSTR *text)
    WINCOMPAT_WIDE("UuidToStringW");
WINOBJ_API RPC_STATUS UuidFromStringA(RPC_CSTR text, UUID *uuid);
WINOBJ_API RPC_STATUS UuidFromStringW(RPC_WSTR text, UUID *uuid) WINCOMPAT_WIDE("UuidFromStringW");
WINOBJ_API RPC_STATUS RpcStringFreeA(RPC_CSTR *text);
WINOBJ_API RPC_STATUS RpcStringFreeW(RPC_WSTR *text);
#define UuidToString   WINCOMPAT_AW(UuidToString)
#define UuidFromString WINCOMPAT_AW(UuidFromString)
#define RpcStringFree  WINCOMPAT_AW(RpcStringFree)

WINCOMPAT_END

#endif
