/* SPDX-License-Identifier: MIT */
/*
 * dll.c - the two exports by which a provider library is used. Three routes are in use among programs: the provider
 * interface asked for directly, the class object asked for and a provider interface of it, and both for either version.
 *
 * Source: NetworkDirect SPI, "provider library"; COM, DllGetClassObject and DllCanUnloadNow.
 */
#include "ndspi/com/dll.h"

#include "ndspi/com/class_factory.h"
#include "ndspi/core/library.h"

#define ND_EXPORT __attribute__((visibility("default")))

ND_EXPORT HRESULT __stdcall DllGetClassObject(REFCLSID clsid, REFIID iid, LPVOID *out)
{
    HRESULT hr;

    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!clsid || (!IsEqualGUID(clsid, &CLSID_NDSPI_PROVIDER_V2) &&
                      !IsEqualGUID(clsid, &CLSID_NDSPI_PROVIDER_V1)))
        return CLASS_E_CLASSNOTAVAILABLE;
    hr = nd_class_factory_create(iid, out);
    return hr == E_NOINTERFACE ? nd_provider_create(iid, out) : hr;
}

ND_EXPORT HRESULT __stdcall DllCanUnloadNow(void)
{
    return nd_library_in_use() ? S_FALSE : S_OK;
}
