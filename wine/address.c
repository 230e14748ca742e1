/* SPDX-License-Identifier: MIT */
#include "wine/address.h"

#include <string.h>

enum { WINDOWS_AF_INET6 = 23 };

const struct sockaddr *nd_wine_address_in(
    const struct sockaddr *address, size_t length, struct sockaddr_storage *copy)
{
    if (!address)
        return NULL;
    memset(copy, 0, sizeof(*copy));
    memcpy(copy, address, length < sizeof(*copy) ? length : sizeof(*copy));
    if (copy->ss_family == WINDOWS_AF_INET6)
        copy->ss_family = AF_INET6;
    else if (copy->ss_family != AF_INET)
        copy->ss_family = AF_UNSPEC;
    return (const struct sockaddr *)copy;
}

void nd_wine_address_out(HRESULT result, struct sockaddr *address)
{
    if (result == ND_SUCCESS && address && address->sa_family == AF_INET6)
        address->sa_family = WINDOWS_AF_INET6;
}

void nd_wine_list_out(HRESULT result, SOCKET_ADDRESS_LIST *list, size_t size)
{
    if (result != ND_SUCCESS || !list || size < sizeof(list->iAddressCount))
        return;
    for (INT i = 0; i < list->iAddressCount; i++)
        nd_wine_address_out(result, list->Address[i].lpSockaddr);
}
