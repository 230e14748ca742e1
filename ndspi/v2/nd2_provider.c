/* SPDX-License-Identifier: MIT */
/*
 * nd2_provider.c - IND2Provider: from addresses to adapters. Clients make one for every call; all knowledge is in
 * core/provider.h. Pins the library.
 *
 * Source: NetworkDirect SPI version 2, IND2Provider.
 */
#include "ndspi/com/unknown.h"
#include "ndspi/core/address.h"
#include "ndspi/core/library.h"
#include "ndspi/core/provider.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>

struct nd2_provider {
    IND2Provider IND2Provider_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
};

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Provider, NULL };

static struct nd2_provider *impl_from_IND2Provider(IND2Provider *iface)
{
    return (struct nd2_provider *)iface;
}

static HRESULT STDMETHODCALLTYPE nd2_provider_QueryInterface(
    IND2Provider *iface, REFIID iid, void **out)
{
    return nd_com_query_interface(iface, &impl_from_IND2Provider(iface)->refs, iids, iid, out);
}

static ULONG STDMETHODCALLTYPE nd2_provider_AddRef(IND2Provider *iface)
{
    return nd_com_addref(&impl_from_IND2Provider(iface)->refs);
}

static ULONG STDMETHODCALLTYPE nd2_provider_Release(IND2Provider *iface)
{
    struct nd2_provider *provider = impl_from_IND2Provider(iface);
    ULONG refs = nd_com_release(&provider->refs);

    if (refs == 0) {
        free(provider);
        nd_library_unpin();
    }
    return refs;
}

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
    device = nd_provider_find(&ip);
    if (!device)
        return ND_INVALID_ADDRESS;
    *adapter_id = device->adapter_id;
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd2_provider_OpenAdapter(
    IND2Provider *iface, REFIID iid, UINT64 adapter_id, void **out)
{
    struct nd_device *device;

    (void)iface;
    if (!out)
        return E_POINTER;
    *out = NULL;
    device = nd_provider_device(adapter_id);
    if (!device)
        return ND_INVALID_PARAMETER;
    return nd2_adapter_open(device, iid, out);
}

static const IND2ProviderVtbl nd2_provider_vtbl = {
    .QueryInterface = nd2_provider_QueryInterface,
    .AddRef = nd2_provider_AddRef,
    .Release = nd2_provider_Release,
    .QueryAddressList = nd2_provider_QueryAddressList,
    .ResolveAddress = nd2_provider_ResolveAddress,
    .OpenAdapter = nd2_provider_OpenAdapter,
};

HRESULT nd2_provider_create(REFIID iid, void **out)
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
    nd_library_pin();
    *out = provider;
    return S_OK;
}
