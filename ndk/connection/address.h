/* SPDX-License-Identifier: MIT */
/* address.h - addresses of connectors, listeners and shared endpoints. */
#ifndef NDK_CONNECTION_ADDRESS_H
#define NDK_CONNECTION_ADDRESS_H

#include "ndk/object/adapter.h"

/*
 * ndk_address_got - what a function that stores an address returns.
 * status  in: of the core's function
 * size    in: what that stored as the length
 * length  out
 */
static inline NTSTATUS ndk_address_got(HRESULT status, const size_t *size, ULONG *length)
{
    if (status == ND_SUCCESS || status == ND_BUFFER_OVERFLOW)
        *length = (ULONG)*size;
    if (status == ND_BUFFER_OVERFLOW)
        return STATUS_BUFFER_TOO_SMALL;
    return ndk_status(status);
}

#endif
