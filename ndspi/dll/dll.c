/* SPDX-License-Identifier: MIT */
/*
 * dll.c - the two exports of a provider library. Programs take one of three routes: they ask for the provider interface
 * directly, or for the class object and from that for a provider interface, or do both, for either version.
 *
 * Source: NetworkDirect SPI, "provider library"; COM, DllGetClassObject and DllCanUnloadNow.
 */
#include "ndspi/dll/dll.h"

#include "ndspi/check/check.h"
#include "ndspi/core/library.h"
#include "ndspi/dll/class_factory.h"
#include "ndspi/core/sink.h"
#include "ndspi/v1/nd1.h"
#include "ndspi/v2/nd2.h"

#define ND_EXPORT __attribute__((visibility("default")))

static HRESULT checked1(const struct nd_sink *sink, REFIID iid, void **out)
{
    return nd_check_wrap_provider1(nd1_provider_create(nd_check_sink(sink), iid, out), out);
}

static HRESULT checked2(const struct nd_sink *sink, REFIID iid, void **out)
{
    return nd_check_wrap_provider2(nd2_provider_create(nd_check_sink(sink), iid, out), out);
}

/* Each version is a class of its own. */
static nd_provider_create *class_of(REFCLSID clsid)
{
    if (!clsid)
        return NULL;
    if (IsEqualGUID(clsid, &CLSID_NDSPI_PROVIDER_V2))
        return nd_check_on() ? checked2 : nd2_provider_create;
    if (IsEqualGUID(clsid, &CLSID_NDSPI_PROVIDER_V1))
        return nd_check_on() ? checked1 : nd1_provider_create;
    return NULL;
}

ND_EXPORT HRESULT nd_get_class_object(
    const struct nd_sink *sink, REFCLSID clsid, REFIID iid, void **out)
{
    nd_provider_create *create = class_of(clsid);
    HRESULT hr;

    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!create)
        return CLASS_E_CLASSNOTAVAILABLE;
    hr = nd_class_factory_create(create, sink, iid, out);
    return hr == E_NOINTERFACE ? create(sink, iid, out) : hr;
}

ND_EXPORT HRESULT __stdcall DllGetClassObject(REFCLSID clsid, REFIID iid, LPVOID *out)
{
    return nd_get_class_object(&nd_sink_winobj, clsid, iid, out);
}

ND_EXPORT HRESULT __stdcall DllCanUnloadNow(void)
{
    return nd_library_in_use() ? S_FALSE : S_OK;
}
