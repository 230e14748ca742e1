/* SPDX-License-Identifier: MIT */
/*
 * provider.c - IND2Provider: from addresses to adapters. Clients make one for every call; all knowledge is in
 * core/device/provider.h. Pins the library. Each adapter that it opened refers to it.
 *
 * Source: NetworkDirect SPI version 2, IND2Provider.
 */
#include "ndspi/core/address.h"
#include "ndspi/core/device/provider.h"
#include "ndspi/core/library.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_provider {
    IND2Provider IND2Provider_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    const struct nd_sink *sink; /* adapters opened through it report to this */
};

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Provider, NULL };

static void nd2_provider_close(struct nd2_provider *provider)
{
    free(provider);
    nd_library_unpin();
}

ND_COM_UNKNOWN(nd2_provider, IND2Provider);

static HRESULT STDMETHODCALLTYPE nd2_provider_QueryAddressList(
    IND2Provider *iface, SOCKET_ADDRESS_LIST *list, ULONG *size)
{
    size_t octets;
    HRESULT hr;

    (void)iface;
    if (!size)
        return ND_INVALID_PARAMETER;
    octets = *size;
    hr = nd_provider_address_list(NULL, list, &octets);
    *size = (ULONG)octets;
    return hr;
}

static HRESULT STDMETHODCALLTYPE nd2_provider_ResolveAddress(
    IND2Provider *iface, const struct sockaddr *address, ULONG length, UINT64 *adapter_id)
{
    struct sockaddr_storage ip;
    struct nd_device *device;
    HRESULT hr;

    (void)iface;
    if (!adapter_id)
        return ND_INVALID_PARAMETER;
    hr = nd_address_import(address, length, &ip);
    if (FAILED(hr))
        return hr;
    hr = nd_provider_find(&ip, &device);
    if (FAILED(hr))
        return hr;
    *adapter_id = device->adapter_id;
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd2_provider_OpenAdapter(
    IND2Provider *iface, REFIID iid, UINT64 adapter_id, void **out)
{
    struct nd_device *device;
    HRESULT hr;

    if (!out)
        return E_POINTER;
    *out = NULL;
    hr = nd_provider_device(adapter_id, &device);
    if (FAILED(hr))
        return hr;
    return nd2_adapter_open(iface, device, impl_from_IND2Provider(iface)->sink, iid, out);
}

static const IND2ProviderVtbl nd2_provider_vtbl = {
    ND_COM_UNKNOWN_SLOTS(nd2_provider),
    .QueryAddressList = nd2_provider_QueryAddressList,
    .ResolveAddress = nd2_provider_ResolveAddress,
    .OpenAdapter = nd2_provider_OpenAdapter,
};

HRESULT nd2_provider_create(const struct nd_sink *sink, REFIID iid, void **out)
{
    struct nd2_provider *provider;

    *out = NULL;
    if (!nd_com_answers(iids, iid))
        return E_NOINTERFACE;
    provider = malloc(sizeof(*provider));
    if (!provider)
        return E_OUTOFMEMORY;
    provider->IND2Provider_iface.lpVtbl = &nd2_provider_vtbl;
    atomic_init(&provider->refs, 1);
    provider->sink = sink;
    nd_library_pin();
    *out = provider;
    return S_OK;
}
