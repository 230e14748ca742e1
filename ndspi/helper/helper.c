/* SPDX-License-Identifier: MIT */
/*
 * helper.c - the helper functions of ndsupport.h, over the search for providers (helper.h).
 *
 * Nothing is remembered between calls: providers are asked every time, so a change of addresses needs no notice.
 */
#include "ndspi/helper/helper.h"

#include "ndspi/core/address.h"

#include <stdlib.h>

struct gathered {
    struct sockaddr_storage *addresses;
    unsigned count;
    HRESULT hr; /* first failure */
};

static HRESULT ask_list(
    enum helper_version version, IUnknown *unknown, SOCKET_ADDRESS_LIST *list, SIZE_T *size)
{
    if (version == HELPER_V1) {
        INDProvider *provider = (INDProvider *)unknown;
        return provider->lpVtbl->QueryAddressList(provider, list, size);
    }
    IND2Provider *provider = (IND2Provider *)unknown;
    ULONG size32 = (ULONG)*size;
    HRESULT hr = provider->lpVtbl->QueryAddressList(provider, list, &size32);
    *size = size32;
    return hr;
}

/* The whole list of one provider; the caller frees it. NULL when it has no address. It may grow between two calls. */
static HRESULT fetch_list(
    enum helper_version version, IUnknown *provider, SOCKET_ADDRESS_LIST **list)
{
    SIZE_T size = 0;
    *list = NULL;
    HRESULT hr = ask_list(version, provider, NULL, &size);
    while (hr == ND_BUFFER_OVERFLOW) {
        SOCKET_ADDRESS_LIST *more = realloc(*list, size);
        if (!more) {
            hr = ND_NO_MEMORY;
            break;
        }
        *list = more;
        hr = ask_list(version, provider, *list, &size);
    }
    if (FAILED(hr) || size == 0) {
        free(*list);
        *list = NULL;
    }
    return hr;
}

static HRESULT gather_list(struct gathered *gathered, const SOCKET_ADDRESS_LIST *list)
{
    if (!list || list->iAddressCount <= 0)
        return ND_SUCCESS;
    unsigned more = (unsigned)list->iAddressCount;
    struct sockaddr_storage *addresses =
        realloc(gathered->addresses, (gathered->count + more) * sizeof(*addresses));
    if (!addresses)
        return ND_NO_MEMORY;
    gathered->addresses = addresses;
    for (unsigned i = 0; i < more; ++i) {
        const SOCKET_ADDRESS *entry = &list->Address[i];
        if (SUCCEEDED(nd_address_import(
                entry->lpSockaddr, (size_t)entry->iSockaddrLength, &addresses[gathered->count])))
            gathered->count++;
    }
    return ND_SUCCESS;
}

static bool visit_gather(void *context, enum helper_version version, IUnknown *provider)
{
    struct gathered *gathered = context;
    SOCKET_ADDRESS_LIST *list;
    HRESULT hr = fetch_list(version, provider, &list);
    if (SUCCEEDED(hr))
        hr = gather_list(gathered, list);
    free(list);
    if (FAILED(hr) && SUCCEEDED(gathered->hr))
        gathered->hr = hr;
    return hr == ND_NO_MEMORY;
}

/* Appends the addresses of one version. A provider that fails does not hide those of others. */
static void gather(struct gathered *gathered, enum helper_version version)
{
    HRESULT hr = helper_for_each_provider(version, visit_gather, gathered);
    if (FAILED(hr) && SUCCEEDED(gathered->hr))
        gathered->hr = hr;
}

struct search {
    struct sockaddr_storage address;
    SIZE_T length;
    IID iid;
    VOID **adapter; /* NULL: only check whether there is one */
    HRESULT hr;
};

/* Looks for the address in the list of the provider: version 1 has no ResolveAddress. */
static HRESULT v1_has(IUnknown *provider, const struct sockaddr_storage *address)
{
    struct gathered gathered = { 0 };
    HRESULT hr = ND_INVALID_ADDRESS;
    visit_gather(&gathered, HELPER_V1, provider);
    for (unsigned i = 0; i < gathered.count && hr != ND_SUCCESS; ++i)
        if (nd_address_same_ip(&gathered.addresses[i], address))
            hr = ND_SUCCESS;
    free(gathered.addresses);
    return FAILED(gathered.hr) && FAILED(hr) ? gathered.hr : hr;
}

static bool visit_search(void *context, enum helper_version version, IUnknown *unknown)
{
    struct search *search = context;
    const struct sockaddr *address = (const struct sockaddr *)&search->address;
    HRESULT hr;

    if (version == HELPER_V1) {
        INDProvider *provider = (INDProvider *)unknown;
        hr = v1_has(unknown, &search->address);
        if (SUCCEEDED(hr) && search->adapter)
            hr = provider->lpVtbl->OpenAdapter(
                provider, address, search->length, (INDAdapter **)search->adapter);
    } else {
        IND2Provider *provider = (IND2Provider *)unknown;
        UINT64 adapter_id = 0;
        hr =
            provider->lpVtbl->ResolveAddress(provider, address, (ULONG)search->length, &adapter_id);
        if (SUCCEEDED(hr) && search->adapter)
            hr = provider->lpVtbl->OpenAdapter(provider, &search->iid, adapter_id, search->adapter);
    }
    /* If several providers fail, the status of one that has the address is the better one to return. */
    if (SUCCEEDED(hr) || hr != ND_INVALID_ADDRESS)
        search->hr = hr;
    return SUCCEEDED(hr);
}

static HRESULT find(struct search *search, enum helper_version version)
{
    search->hr = ND_INVALID_ADDRESS;
    HRESULT hr = helper_for_each_provider(version, visit_search, search);
    return search->hr == ND_INVALID_ADDRESS && FAILED(hr) ? hr : search->hr;
}

static HRESULT check_address(const struct sockaddr *address, SIZE_T length, struct search *search)
{
    if (!helper_started())
        return ND_DEVICE_NOT_READY;
    if (!address)
        return ND_INVALID_PARAMETER_1;
    if (length < sizeof(address->sa_family))
        return ND_INVALID_PARAMETER_2;
    search->length = (SIZE_T)nd_address_size(address);
    if (search->length == 0)
        return ND_INVALID_ADDRESS;
    if (length < search->length)
        return ND_INVALID_PARAMETER_2;
    return nd_address_import(address, length, &search->address);
}

HRESULT ND_HELPER_API NdStartup(VOID)
{
    return helper_start();
}

HRESULT ND_HELPER_API NdCleanup(VOID)
{
    return helper_stop();
}

VOID ND_HELPER_API NdFlushProviders(VOID)
{
    if (helper_started())
        helper_flush();
}

HRESULT ND_HELPER_API NdQueryAddressList(
    DWORD flags, SOCKET_ADDRESS_LIST *pAddressList, SIZE_T *pcbAddressList)
{
    struct gathered gathered = { 0 };
    HRESULT hr;

    if (!helper_started())
        return ND_DEVICE_NOT_READY;
    if (flags & ~(DWORD)(ND_QUERY_EXCLUDE_EMULATOR_ADDRESSES | ND_QUERY_EXCLUDE_NDv1_ADDRESSES |
                         ND_QUERY_EXCLUDE_NDv2_ADDRESSES))
        return ND_INVALID_PARAMETER_1;
    if (!pcbAddressList)
        return ND_INVALID_PARAMETER_3;
    if (!(flags & ND_QUERY_EXCLUDE_NDv2_ADDRESSES))
        gather(&gathered, HELPER_V2);
    if (!(flags & ND_QUERY_EXCLUDE_NDv1_ADDRESSES))
        gather(&gathered, HELPER_V1);

    if (gathered.hr == ND_NO_MEMORY) {
        hr = ND_NO_MEMORY;
    } else if (gathered.count == 0) {
        *pcbAddressList = 0;
        hr = gathered.hr;
    } else {
        SIZE_T size = *pcbAddressList;
        hr = nd_address_list(gathered.addresses, gathered.count, pAddressList, &size);
        if (hr == ND_BUFFER_OVERFLOW)
            *pcbAddressList = size;
    }
    free(gathered.addresses);
    return hr;
}

HRESULT ND_HELPER_API NdResolveAddress(const struct sockaddr *pRemoteAddress,
    SIZE_T cbRemoteAddress, struct sockaddr *pLocalAddress, SIZE_T *pcbLocalAddress)
{
    struct sockaddr_storage remote;
    struct search search = { 0 };
    HRESULT hr;

    if (!helper_started())
        return ND_DEVICE_NOT_READY;
    if (!pcbLocalAddress)
        return ND_INVALID_PARAMETER_4;
    hr = nd_address_import(pRemoteAddress, cbRemoteAddress, &remote);
    if (FAILED(hr) || nd_address_is_wildcard(&remote))
        return ND_INVALID_ADDRESS;
    hr = helper_route(&remote, &search.address);
    if (FAILED(hr))
        return hr;
    search.length = (SIZE_T)nd_address_size((const struct sockaddr *)&search.address);
    hr = find(&search, HELPER_V2);
    if (FAILED(hr) && FAILED(find(&search, HELPER_V1)))
        return hr;
    return nd_address_export(&search.address, pLocalAddress, pcbLocalAddress);
}

HRESULT ND_HELPER_API NdCheckAddress(const struct sockaddr *pAddress, SIZE_T cbAddress)
{
    struct search search = { 0 };
    HRESULT hr = check_address(pAddress, cbAddress, &search);
    if (FAILED(hr))
        return hr;
    hr = find(&search, HELPER_V2);
    return SUCCEEDED(hr) || FAILED(find(&search, HELPER_V1)) ? hr : ND_SUCCESS;
}

HRESULT ND_HELPER_API NdOpenAdapter(
    REFIID iid, const struct sockaddr *pAddress, SIZE_T cbAddress, VOID **ppAdapter)
{
    struct search search = { 0 };
    HRESULT hr;

    if (!ppAdapter)
        return E_POINTER;
    *ppAdapter = NULL;
    if (!iid)
        return ND_INVALID_PARAMETER_1;
    hr = check_address(pAddress, cbAddress, &search);
    if (FAILED(hr))
        return hr;
    search.iid = *iid;
    search.adapter = ppAdapter;
    hr = find(&search, IsEqualIID(iid, &IID_INDAdapter) ? HELPER_V1 : HELPER_V2);
    if (FAILED(hr))
        *ppAdapter = NULL;
    return hr;
}

HRESULT ND_HELPER_API NdOpenV1Adapter(
    const struct sockaddr *pAddress, SIZE_T cbAddress, INDAdapter **ppAdapter)
{
    return NdOpenAdapter(&IID_INDAdapter, pAddress, cbAddress, (VOID **)ppAdapter);
}
