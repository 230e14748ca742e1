/* SPDX-License-Identifier: MIT */
/*
 * luid.h - names and numbers of network interfaces, a part of ndkwdm.h. Here an interface's name and its alias are the
 * one name that the system has for it; its GUID is made of its LUID, and that of its index.
 *
 * Each function returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: a pointer is NULL, or it names no interface: then an
 * index or LUID is set to 0; STATUS_NO_MEMORY: the text does not fit.
 */
#ifndef NDKWDM_LUID_H
#define NDKWDM_LUID_H

#include <ndktypes.h>
#include <wincompat/luid.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IF_TYPE_OTHER             1
#define IF_TYPE_ETHERNET_CSMACD   6
#define IF_TYPE_SOFTWARE_LOOPBACK 24
#define IF_TYPE_TUNNEL            131
#define IF_TYPE_INFINIBAND        199
#define IF_MAX_STRING_SIZE        256
#define NDIS_IF_MAX_STRING_SIZE   IF_MAX_STRING_SIZE

typedef NTSTATUS NETIO_STATUS;

NETIO_STATUS ConvertInterfaceIndexToLuid(NET_IFINDEX index, PNET_LUID luid);
NETIO_STATUS ConvertInterfaceLuidToIndex(const NET_LUID *luid, PNET_IFINDEX index);
NETIO_STATUS ConvertInterfaceLuidToGuid(const NET_LUID *luid, GUID *guid);
NETIO_STATUS ConvertInterfaceGuidToLuid(const GUID *guid, PNET_LUID luid);
NETIO_STATUS ConvertInterfaceNameToLuidA(const CHAR *name, PNET_LUID luid);
/* size: of name, in characters with the zero. */
NETIO_STATUS ConvertInterfaceLuidToNameA(const NET_LUID *luid, PCHAR name, SIZE_T size);

/* ConvertInterfaceNameToLuidA and ConvertInterfaceLuidToNameA for wide text. */
static inline NETIO_STATUS ConvertInterfaceNameToLuidW(const WCHAR *name, PNET_LUID luid)
{
    CHAR narrow[IF_MAX_STRING_SIZE + 1];
    SIZE_T i = 0;

    for (; name && name[i] && i < IF_MAX_STRING_SIZE && (ULONG)name[i] < 0x80; i++)
        narrow[i] = (CHAR)name[i];
    narrow[i] = 0;
    return ConvertInterfaceNameToLuidA(name && !name[i] ? narrow : NULL, luid);
}

static inline NETIO_STATUS ConvertInterfaceLuidToNameW(
    const NET_LUID *luid, WCHAR *name, SIZE_T size)
{
    CHAR narrow[IF_MAX_STRING_SIZE + 1];
    NETIO_STATUS status = ConvertInterfaceLuidToNameA(luid, narrow, sizeof(narrow));
    SIZE_T i = 0;

    if (!NT_SUCCESS(status) || !name)
        return NT_SUCCESS(status) ? STATUS_INVALID_PARAMETER : status;
    if (strlen(narrow) >= size)
        return STATUS_NO_MEMORY;
    do
        name[i] = (WCHAR)narrow[i];
    while (narrow[i++]);
    return STATUS_SUCCESS;
}
#define ConvertInterfaceAliasToLuid(alias, luid) ConvertInterfaceNameToLuidW(alias, luid)
#define ConvertInterfaceLuidToAlias(luid, alias, size)                                             \
    ConvertInterfaceLuidToNameW(luid, alias, size)

#ifdef __cplusplus
}
#endif

#endif
