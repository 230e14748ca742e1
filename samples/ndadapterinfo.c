/* SPDX-License-Identifier: MIT */
/*
 * ndadapterinfo - lists every address that NetworkDirect can use, and all properties of its adapter.
 *
 * Shows: NdQueryAddressList, NdOpenAdapter, IND2Adapter::Query.
 */
#define INITGUID
#include "ndsample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ndadapterinfo [-h|-V]\n"
    "Lists the adapters that NetworkDirect can use, with their addresses and limits.\n"
    "  -V  print the version               -h  print this\n";

static SAMPLE sample = { .name = "ndadapterinfo" };

static SOCKET_ADDRESS_LIST *query_addresses(void)
{
    SIZE_T size = 0;
    SOCKET_ADDRESS_LIST *list = NULL;
    HRESULT hr;

    while ((hr = NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, list, &size)) ==
           ND_BUFFER_OVERFLOW) {
        list = (SOCKET_ADDRESS_LIST *)realloc(list, size);
        if (!list)
            sample_fail(&sample, "out of memory");
    }
    sample_check(&sample, hr, "NdQueryAddressList");
    if (size == 0)
        sample_fail(
            &sample, "no adapter: NetworkDirect works on none of the addresses of this host");
    return list;
}

static void print_size(const char *label, double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    int unit = 0;
    double value = bytes;
    while (value >= 1024 && unit < 6) {
        value /= 1024;
        ++unit;
    }
    printf("  %-30s %.0f", label, bytes);
    if (unit > 0)
        printf(" (%.4g %s)", value, units[unit]);
    printf("\n");
}

static void print_number(const char *label, ULONG number)
{
    printf("  %-30s %u\n", label, (unsigned)number);
}

static void print_flags(ULONG flags)
{
    static const struct {
        ULONG flag;
        const char *text;
    } names[] = {
        { ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED, "in-order DMA" },
        { ND_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED, "interrupt moderation" },
        { ND_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED, "multi-engine" },
        { ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED, "CQ resize" },
        { ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED, "loopback connections" },
    };
    const char *separator = ": ";
    printf("  %-30s 0x%08x", "AdapterFlags", (unsigned)flags);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (flags & names[i].flag) {
            printf("%s%s", separator, names[i].text);
            separator = ", ";
        }
    }
    printf("\n");
}

static void print_info(const ND2_ADAPTER_INFO *info)
{
    printf("  %-30s 0x%x\n", "InfoVersion", (unsigned)info->InfoVersion);
    printf("  %-30s 0x%04x, 0x%04x\n", "VendorId, DeviceId", info->VendorId, info->DeviceId);
    printf("  %-30s 0x%08x%08x\n", "AdapterId", (unsigned)(info->AdapterId >> 32),
        (unsigned)info->AdapterId);
    print_size("MaxRegistrationSize", (double)info->MaxRegistrationSize);
    print_size("MaxWindowSize", (double)info->MaxWindowSize);
    print_number("MaxInitiatorSge", info->MaxInitiatorSge);
    print_number("MaxReceiveSge", info->MaxReceiveSge);
    print_number("MaxReadSge", info->MaxReadSge);
    print_size("MaxTransferLength", info->MaxTransferLength);
    print_size("MaxInlineDataSize", info->MaxInlineDataSize);
    print_number("MaxInboundReadLimit", info->MaxInboundReadLimit);
    print_number("MaxOutboundReadLimit", info->MaxOutboundReadLimit);
    print_number("MaxReceiveQueueDepth", info->MaxReceiveQueueDepth);
    print_number("MaxInitiatorQueueDepth", info->MaxInitiatorQueueDepth);
    print_number("MaxSharedReceiveQueueDepth", info->MaxSharedReceiveQueueDepth);
    print_number("MaxCompletionQueueDepth", info->MaxCompletionQueueDepth);
    print_size("InlineRequestThreshold", info->InlineRequestThreshold);
    print_size("LargeRequestThreshold", info->LargeRequestThreshold);
    print_size("MaxCallerData", info->MaxCallerData);
    print_size("MaxCalleeData", info->MaxCalleeData);
    print_flags(info->AdapterFlags);
}

/* Prints the adapter of an address; if it was printed before, only the address with the adapter's id. */
static UINT64 print_adapter(const SOCKET_ADDRESS *address, const UINT64 *printed, int count)
{
    IND2Adapter *adapter;
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG size = sizeof(info);

    sample_address_text(address->lpSockaddr, sample.where, sizeof(sample.where));
    sample_check(&sample,
        NdOpenAdapter(&IID_IND2Adapter, address->lpSockaddr, (SIZE_T)address->iSockaddrLength,
            (void **)&adapter),
        "NdOpenAdapter");
    sample_check(&sample, adapter->lpVtbl->Query(adapter, &info, &size), "Query");
    adapter->lpVtbl->Release(adapter);

    *strrchr(sample.where, ':') = 0; /* without the port, which is always 0 */
    for (int i = 0; i < count; ++i) {
        if (printed[i] == info.AdapterId) {
            printf("%s: adapter 0x%08x%08x, as above\n", sample.where,
                (unsigned)(info.AdapterId >> 32), (unsigned)info.AdapterId);
            return info.AdapterId;
        }
    }
    printf("%s:\n", sample.where);
    print_info(&info);
    return info.AdapterId;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0) {
            sample_version(&sample);
            return 0;
        }
        if (strcmp(argv[1], "-h") != 0 && strcmp(argv[1], "--help") != 0)
            sample_wrong(&sample, "unknown argument %s\n%s", argv[1], usage);
        fputs(usage, stdout);
        sample_write_out(&sample);
        return 0;
    }
    sample_check(&sample, NdStartup(), "NdStartup");
    SOCKET_ADDRESS_LIST *list = query_addresses();
    UINT64 *printed = (UINT64 *)calloc((size_t)list->iAddressCount, sizeof(*printed));
    if (!printed)
        sample_fail(&sample, "out of memory");
    for (int i = 0; i < list->iAddressCount; ++i)
        printed[i] = print_adapter(&list->Address[i], printed, i);
    free(printed);
    free(list);
    NdCleanup();
    sample_write_out(&sample);
    return 0;
}
