/* SPDX-License-Identifier: MIT */
/*
 * ndprovider.h - the provider library as the layer above finds it: its class ids and its two exports.
 *
 * A program that knows this library by name does what a Windows program does with a provider of the Winsock catalogue:
 *
 *     DllGetClassObject(CLSID_NDSPI_PROVIDER_V2, IID_IND2Provider, (void **)&provider);
 *
 * or asks for IID_IClassFactory and lets that create the provider object.
 */
#ifndef _NDPROVIDER_H_
#define _NDPROVIDER_H_

#include <ndspi.h>

/* clang-format off */
/* ProviderId of the catalogue entry for version 2, and of the one for version 1. */
DEFINE_GUID(CLSID_NDSPI_PROVIDER_V2, /* 78C684C4-5FBB-4819-A594-C8BAE7604C0D */
    0x78c684c4, 0x5fbb, 0x4819, 0xa5, 0x94, 0xc8, 0xba, 0xe7, 0x60, 0x4c, 0x0d);
DEFINE_GUID(CLSID_NDSPI_PROVIDER_V1, /* 119514F9-3890-404D-A12A-04C1BC8740B0 */
    0x119514f9, 0x3890, 0x404d, 0xa1, 0x2a, 0x04, 0xc1, 0xbc, 0x87, 0x40, 0xb0);
/* clang-format on */

#ifndef _WIN32 /* there objbase.h has them */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DllGetClassObject - the class object of the provider, or the provider itself.
 * clsid  in: CLSID_NDSPI_PROVIDER_V2 or _V1
 * iid    in: IID_IClassFactory or IID_IUnknown: the class object; IID_IND2Provider or, of V1, IID_INDProvider: a
 * provider
 * out    out: the interface with one reference; NULL on failure
 * Returns S_OK; CLASS_E_CLASSNOTAVAILABLE: not one of ours; E_NOINTERFACE; E_POINTER; E_OUTOFMEMORY. Any thread.
 */
HRESULT __stdcall DllGetClassObject(REFCLSID clsid, REFIID iid, LPVOID *out);

/*
 * DllCanUnloadNow - whether the library may be unloaded.
 * Returns S_OK: no object of the library exists and no LockServer is in force; S_FALSE: else. Any thread.
 */
HRESULT __stdcall DllCanUnloadNow(void);

#ifdef __cplusplus
}
#endif
#endif
#endif
