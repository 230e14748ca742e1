/* SPDX-License-Identifier: MIT */
/*
 * provider.c - INDProvider: from addresses to adapters. All knowledge is in core/device/provider.h. Pins the library.
 * Each adapter that it opened refers to it.
 *
 * Source: NetworkDirect SPI version 1, INDProvider.
 */
#include "ndspi/core/address.h"
#include "ndspi/core/device/provider.h"
#include "ndspi/core/library.h"
#include "ndspi/v1/nd1.h"

#include <stdlib.h>

struct nd1_provider {
    INDProvider INDProvider_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    const struct nd_sink *sink; /* adapters opened through it report to this */
};

static const IID *const iids[] = { &IID_IUnknown, &IID_INDProvider, NULL };

static void nd1_provider_close(struct nd1_provider *provider)
{
    free(provider);
    nd_library_unpin();
}

ND_COM_UNKNOWN(nd1_provider, INDProvider);

/* ---- INDProvider ---- */

/* If there is no address, the size is 0, and no list is written. */
static HRESULT STDMETHODCALLTYPE nd1_provider_QueryAddressList(
    INDProvider *iface, SOCKET_ADDRESS_LIST *list, SIZE_T *size)
{
    struct sockaddr_storage *addresses;
    unsigned count;
    size_t octets;
    HRESULT hr;

    (void)iface;
    if (!size)
        return ND_INVALID_PARAMETER;
    if (FAILED(hr = nd_provider_addresses(NULL, &addresses, &count)))
        return hr;
    octets = count ? *size : 0;
    if (count)
        hr = nd_address_list(addresses, count, list, &octets);
    *size = octets;
    free(addresses);
    return hr;
}

static HRESULT STDMETHODCALLTYPE nd1_provider_OpenAdapter(
    INDProvider *iface, const struct sockaddr *address, SIZE_T length, INDAdapter **out)
{
    struct sockaddr_storage ip;
    struct nd_device *device;
    HRESULT hr;

    if (!out)
        return E_POINTER;
    *out = NULL;
    if (FAILED(hr = nd_address_import(address, length, &ip)))
        return hr;
    nd_address_set_port_be(&ip, 0);
    if (FAILED(hr = nd_provider_find(&ip, &device)))
        return hr;
    return nd1_adapter_open(iface, device, impl_from_INDProvider(iface)->sink, &ip, out);
}

static const INDProviderVtbl nd1_provider_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd1_provider),
    /* INDProvider */
    .QueryAddressList = nd1_provider_QueryAddressList,
    .OpenAdapter = nd1_provider_OpenAdapter,
};

HRESULT nd1_provider_create(const struct nd_sink *sink, REFIID iid, void **out)
{
    struct nd1_provider *provider;

    *out = NULL;
    if (!nd_com_answers(iids, iid))
        return E_NOINTERFACE;
    if (!(provider = malloc(sizeof(*provider))))
        return E_OUTOFMEMORY;
    provider->INDProvider_iface.lpVtbl = &nd1_provider_vtbl;
    atomic_init(&provider->refs, 1);
    provider->sink = sink;
    nd_library_pin();
    *out = provider;
    return S_OK;
}
