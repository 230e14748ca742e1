/* SPDX-License-Identifier: MIT */
/*
 * native.c - finding providers on Linux: there is one, this library itself, called by the same entry point as on
 * Windows.
 */
#include "ndspi/helper/helper.h"

#include "winobj/provider.h"

#include <ndprovider.h>

#include <stdatomic.h>

static atomic_uint starts;

/* Each start is one of Winsock's, too, as programs rely on that use sockets or print addresses. */
HRESULT helper_start(void)
{
    DWORD error = win_winsock_start();

    if (error)
        return HRESULT_FROM_WIN32(error);
    atomic_fetch_add_explicit(&starts, 1, memory_order_relaxed);
    return S_OK;
}

HRESULT helper_stop(void)
{
    unsigned count = atomic_load_explicit(&starts, memory_order_relaxed);
    do {
        if (count == 0)
            return ND_DEVICE_NOT_READY;
    } while (!atomic_compare_exchange_weak_explicit(
        &starts, &count, count - 1, memory_order_relaxed, memory_order_relaxed));
    win_winsock_stop();
    return S_OK;
}

bool helper_started(void)
{
    return atomic_load_explicit(&starts, memory_order_relaxed) > 0;
}

/* The provider is no library of its own that could be unloaded. */
void helper_flush(void)
{
}

HRESULT helper_for_each_provider(enum helper_version version, helper_visit *visit, void *context)
{
    IUnknown *provider = NULL;
    HRESULT hr;

    if (version == HELPER_V1)
        hr = DllGetClassObject(&CLSID_NDSPI_PROVIDER_V1, &IID_INDProvider, (VOID **)&provider);
    else
        hr = DllGetClassObject(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (VOID **)&provider);
    if (hr == CLASS_E_CLASSNOTAVAILABLE || hr == E_NOINTERFACE) /* a version it does not speak */
        return ND_SUCCESS;
    if (FAILED(hr))
        return hr;
    visit(context, version, provider);
    provider->lpVtbl->Release(provider);
    return ND_SUCCESS;
}
