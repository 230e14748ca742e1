/* SPDX-License-Identifier: MIT */
/* luid.c - interfaces of ndkwdm.h: a LUID is the interface's index and its type. */
#include <ndkwdm.h>

#include <net/if.h>
#include <net/if_arp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What an interface's GUID begins with; its LUID follows. */
static const GUID guid_begin = { 0x6E646B6C, 0x4946, 0x4C55, { 0 } };

static USHORT type_of(const char *name)
{
    static const struct {
        int hardware;
        USHORT type;
    } types[] = { { ARPHRD_ETHER, IF_TYPE_ETHERNET_CSMACD },
        { ARPHRD_LOOPBACK, IF_TYPE_SOFTWARE_LOOPBACK }, { ARPHRD_INFINIBAND, IF_TYPE_INFINIBAND },
        { ARPHRD_TUNNEL, IF_TYPE_TUNNEL }, { ARPHRD_TUNNEL6, IF_TYPE_TUNNEL },
        { ARPHRD_IPGRE, IF_TYPE_TUNNEL } };
    char path[64 + IF_NAMESIZE];
    int hardware = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/sys/class/net/%s/type", name);
    if ((file = fopen(path, "re"))) {
        if (fscanf(file, "%d", &hardware) != 1)
            hardware = -1;
        fclose(file);
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].hardware == hardware)
            return types[i].type;
    return IF_TYPE_OTHER;
}

NETIO_STATUS ConvertInterfaceIndexToLuid(NET_IFINDEX index, PNET_LUID luid)
{
    char name[IF_NAMESIZE];

    if (luid)
        luid->Value = 0;
    if (!luid || index > 0xFFFFFF || !if_indextoname(index, name))
        return STATUS_INVALID_PARAMETER;
    luid->Info.NetLuidIndex = index;
    luid->Info.IfType = type_of(name);
    return STATUS_SUCCESS;
}

NETIO_STATUS ConvertInterfaceLuidToIndex(const NET_LUID *luid, PNET_IFINDEX index)
{
    NET_LUID same;

    if (index)
        *index = 0;
    if (!luid || !index ||
        !NT_SUCCESS(ConvertInterfaceIndexToLuid((NET_IFINDEX)luid->Info.NetLuidIndex, &same)) ||
        same.Value != luid->Value)
        return STATUS_INVALID_PARAMETER;
    *index = (NET_IFINDEX)luid->Info.NetLuidIndex;
    return STATUS_SUCCESS;
}

NETIO_STATUS ConvertInterfaceLuidToGuid(const NET_LUID *luid, GUID *guid)
{
    NET_IFINDEX index;

    if (!guid || !NT_SUCCESS(ConvertInterfaceLuidToIndex(luid, &index)))
        return STATUS_INVALID_PARAMETER;
    *guid = guid_begin;
    memcpy(guid->Data4, luid, sizeof(guid->Data4));
    return STATUS_SUCCESS;
}

NETIO_STATUS ConvertInterfaceGuidToLuid(const GUID *guid, PNET_LUID luid)
{
    NET_LUID found;
    NET_IFINDEX index;

    if (luid)
        luid->Value = 0;
    if (!guid || !luid || memcmp(guid, &guid_begin, offsetof(GUID, Data4)))
        return STATUS_INVALID_PARAMETER;
    memcpy(&found, guid->Data4, sizeof(found));
    if (!NT_SUCCESS(ConvertInterfaceLuidToIndex(&found, &index)))
        return STATUS_INVALID_PARAMETER;
    *luid = found;
    return STATUS_SUCCESS;
}

NETIO_STATUS ConvertInterfaceNameToLuidA(const CHAR *name, PNET_LUID luid)
{
    return ConvertInterfaceIndexToLuid(name ? if_nametoindex(name) : 0, luid);
}

NETIO_STATUS ConvertInterfaceLuidToNameA(const NET_LUID *luid, PCHAR name, SIZE_T size)
{
    char found[IF_NAMESIZE];
    NET_IFINDEX index;
    NETIO_STATUS status = ConvertInterfaceLuidToIndex(luid, &index);

    if (!name || !NT_SUCCESS(status) || !if_indextoname(index, found))
        return STATUS_INVALID_PARAMETER;
    if (strlen(found) >= size)
        return STATUS_NO_MEMORY;
    memcpy(name, found, strlen(found) + 1);
    return STATUS_SUCCESS;
}
