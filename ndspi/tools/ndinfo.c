/* SPDX-License-Identifier: MIT */
/*
 * ndinfo - which devices NetworkDirect found on this host, which it uses, and why it does not use the others.
 *
 * Says nothing about limits: that is the sample ndadapterinfo. Ends with status 1 when no device is used.
 */
#include <ndsupport.h>

#include <ndspi_linux.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ndinfo [-h]\n"
    "Tells the devices NetworkDirect knows, which are used and why the others are not, and the "
    "addresses it works on.\n"
    "\n"
    "NDSPI_DEVICE chooses: auto (default: RDMA devices, or the embedded one where there is none), "
    "soft (the embedded\n"
    "one), all, or the name of a device. NDSPI_SOFT_DEVICES=\"a=127.0.0.1;b=127.0.0.2\" divides "
    "the embedded device.\n";

struct totals {
    unsigned devices;
    unsigned used;
};

static void print_device(void *context, const ND_LINUX_DEVICE *device)
{
    struct totals *totals = context;
    totals->devices++;
    totals->used += device->Used ? 1 : 0;
    printf("%s port %u (%s): %s\n", device->Name, device->Port, device->Provider,
        device->Used ? "used" : "not used");
    printf("    %s\n", device->Reason);
    if (device->Used)
        printf("    adapter 0x%016" PRIx64 ", %u addresses\n", (uint64_t)device->AdapterId,
            device->AddressCount);
}

static SOCKET_ADDRESS_LIST *query_addresses(HRESULT *hr)
{
    SIZE_T size = 0;
    SOCKET_ADDRESS_LIST *list = NULL;
    while ((*hr = NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, list, &size)) ==
           ND_BUFFER_OVERFLOW) {
        SOCKET_ADDRESS_LIST *more = realloc(list, size);
        if (!more) {
            *hr = ND_NO_MEMORY;
            break;
        }
        list = more;
    }
    if (SUCCEEDED(*hr) && size > 0)
        return list;
    free(list);
    return NULL;
}

static void print_addresses(const SOCKET_ADDRESS_LIST *list)
{
    char text[INET6_ADDRSTRLEN];
    printf("addresses:");
    for (int i = 0; i < list->iAddressCount; ++i) {
        const struct sockaddr *address = list->Address[i].lpSockaddr;
        const void *ip = address->sa_family == AF_INET
                             ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                             : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
        printf(" %s", inet_ntop(address->sa_family, ip, text, sizeof(text)));
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    struct totals totals = { 0 };
    HRESULT hr;

    if (argc > 1) {
        bool help = strcmp(argv[1], "-h") == 0;
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    hr = NdLinuxDescribeDevices(print_device, &totals);
    if (SUCCEEDED(hr) && totals.devices == 0)
        printf("no device known\n");
    if (SUCCEEDED(hr))
        hr = NdStartup();
    if (FAILED(hr)) {
        fprintf(stderr, "ndinfo: failed with 0x%08x\n", (unsigned)hr);
        return 1;
    }
    SOCKET_ADDRESS_LIST *list = query_addresses(&hr);
    if (FAILED(hr))
        fprintf(stderr, "ndinfo: the addresses cannot be told: 0x%08x\n", (unsigned)hr);
    if (list)
        print_addresses(list);
    free(list);
    NdCleanup();
    return SUCCEEDED(hr) && totals.used > 0 ? 0 : 1;
}
