/* SPDX-License-Identifier: MIT */
/*
 * adapters.c - GetAdaptersAddresses over getifaddrs. Compiled for each width of wchar_t.
 *
 * The list is written twice by the same calls: what has no room in the program's buffer goes to a place that is not
 * read, and is counted.
 */
#include "win32/sockets/adapters.h"

#include <iphlpapi.h>

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <string.h>

struct list {
    char *at; /* the program's buffer */
    size_t room, used;
    _Alignas(8) char nowhere[1024];
    const struct ifaddrs *interfaces;
    ULONG family, flags;
};

/* Returns zeroed room for octets: in the caller's buffer, or, where that is full, in `nowhere`. */
static void *take(struct list *list, size_t octets)
{
    const size_t at = list->used;
    void *place = list->nowhere;

    list->used += (octets + 7) & ~(size_t)7;
    if (list->used <= list->room)
        place = list->at + at;
    return memset(place, 0, octets);
}

static WCHAR *take_text(struct list *list, const char *text)
{
    WCHAR *copy = take(list, (strlen(text) + 1) * sizeof(*copy));

    for (size_t i = 0; text[i]; i++)
        copy[i] = (unsigned char)text[i];
    return copy;
}

static size_t octets_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static SOCKET_ADDRESS take_address(struct list *list, const struct sockaddr *address)
{
    const size_t octets = octets_of(address);
    SOCKET_ADDRESS copy = { take(list, octets), (INT)octets };

    memcpy(copy.lpSockaddr, address, octets);
    return copy;
}

/* Whether the program has asked for addresses of the kind. */
static bool wants(const struct list *list, const struct sockaddr *address)
{
    return address && (address->sa_family == AF_INET || address->sa_family == AF_INET6) &&
           (list->family == AF_UNSPEC || list->family == address->sa_family);
}

static const unsigned char *bits_of(const struct sockaddr *address, size_t *octets)
{
    *octets = address->sa_family == AF_INET ? 4 : 16;
    return address->sa_family == AF_INET
               ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
               : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
}

static UINT8 prefix_length(const struct sockaddr *mask)
{
    size_t octets;
    const unsigned char *bits = mask ? bits_of(mask, &octets) : NULL;
    unsigned length = 0;

    for (size_t i = 0; mask && i < octets; i++)
        length += (unsigned)__builtin_popcount(bits[i]);
    return (UINT8)length;
}

static bool is_link_local(const struct sockaddr *address)
{
    const struct sockaddr_in6 *v6 = (const void *)address;

    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr);
}

static void add_unicast(struct list *list, PIP_ADAPTER_ADDRESSES adapter, const char *name)
{
    PIP_ADAPTER_UNICAST_ADDRESS *link = &adapter->FirstUnicastAddress;

    for (const struct ifaddrs *i = list->interfaces; i; i = i->ifa_next) {
        PIP_ADAPTER_UNICAST_ADDRESS unicast;
        bool known;

        if (strcmp(i->ifa_name, name) || !wants(list, i->ifa_addr))
            continue;
        known = i->ifa_flags & IFF_LOOPBACK || is_link_local(i->ifa_addr);
        *link = unicast = take(list, sizeof(*unicast));
        unicast->Length = sizeof(*unicast);
        unicast->PrefixOrigin = known ? IpPrefixOriginWellKnown : IpPrefixOriginOther;
        unicast->SuffixOrigin = known ? IpSuffixOriginWellKnown : IpSuffixOriginOther;
        unicast->DadState = IpDadStatePreferred;
        unicast->ValidLifetime = unicast->PreferredLifetime = unicast->LeaseLifetime = ~0u;
        unicast->OnLinkPrefixLength = prefix_length(i->ifa_netmask);
        unicast->Address = take_address(list, i->ifa_addr);
        link = &unicast->Next;
    }
    *link = NULL;
}

/* The subnets of the addresses. */
static void add_prefixes(struct list *list, PIP_ADAPTER_ADDRESSES adapter, const char *name)
{
    PIP_ADAPTER_PREFIX *link = &adapter->FirstPrefix;

    for (const struct ifaddrs *i = list->interfaces; i; i = i->ifa_next) {
        PIP_ADAPTER_PREFIX prefix;
        const unsigned char *mask;
        unsigned char *bits;
        size_t octets;

        if (strcmp(i->ifa_name, name) || !wants(list, i->ifa_addr) || !i->ifa_netmask)
            continue;
        *link = prefix = take(list, sizeof(*prefix));
        prefix->Length = sizeof(*prefix);
        prefix->PrefixLength = prefix_length(i->ifa_netmask);
        prefix->Address = take_address(list, i->ifa_addr);
        bits = (unsigned char *)bits_of(prefix->Address.lpSockaddr, &octets);
        mask = bits_of(i->ifa_netmask, &octets);
        for (size_t j = 0; j < octets; j++)
            bits[j] &= mask[j];
        link = &prefix->Next;
    }
    *link = NULL;
}

static void add_servers(
    struct list *list, PIP_ADAPTER_ADDRESSES adapter, const struct adapter_facts *facts)
{
    PIP_ADAPTER_DNS_SERVER_ADDRESS *dns = &adapter->FirstDnsServerAddress;
    PIP_ADAPTER_GATEWAY_ADDRESS *gateway = &adapter->FirstGatewayAddress;
    union adapter_server server;

    if (!(list->flags & GAA_FLAG_SKIP_DNS_SERVER) && !(facts->flags & IFF_LOOPBACK))
        for (unsigned i = 0; adapter_name_server(i, &server); i++) {
            PIP_ADAPTER_DNS_SERVER_ADDRESS made = *dns = take(list, sizeof(*made));

            made->Length = sizeof(*made);
            made->Address = take_address(list, &server.any);
            dns = &made->Next;
        }
    *dns = NULL;
    if (list->flags & GAA_FLAG_INCLUDE_GATEWAYS)
        for (unsigned i = 0; adapter_gateway(facts, i, &server); i++) {
            PIP_ADAPTER_GATEWAY_ADDRESS made;

            if (!wants(list, &server.any))
                continue;
            *gateway = made = take(list, sizeof(*made));
            made->Length = sizeof(*made);
            made->Address = take_address(list, &server.any);
            gateway = &made->Next;
        }
    *gateway = NULL;
}

static IFTYPE type_of(const struct adapter_facts *facts)
{
    switch (facts->hardware) {
    case ARPHRD_ETHER: return facts->wireless ? IF_TYPE_IEEE80211 : IF_TYPE_ETHERNET_CSMACD;
    case ARPHRD_LOOPBACK: return IF_TYPE_SOFTWARE_LOOPBACK;
    case ARPHRD_INFINIBAND: return IF_TYPE_INFINIBAND;
    case ARPHRD_PPP: return IF_TYPE_PPP;
    case ARPHRD_TUNNEL:
    case ARPHRD_TUNNEL6:
    case ARPHRD_SIT:
    case ARPHRD_IPGRE: return IF_TYPE_TUNNEL;
    default: return IF_TYPE_OTHER;
    }
}

/* Whether an interface has an address of the family. */
static bool has(const struct list *list, const char *name, sa_family_t family)
{
    for (const struct ifaddrs *i = list->interfaces; i; i = i->ifa_next)
        if (!strcmp(i->ifa_name, name) && i->ifa_addr && i->ifa_addr->sa_family == family)
            return true;
    return false;
}

static void describe(
    struct list *list, PIP_ADAPTER_ADDRESSES adapter, const struct adapter_facts *facts)
{
    enum { INTERFACE_SCOPE = 1, LINK_SCOPE = 2 };

    adapter->Length = sizeof(*adapter);
    adapter->IfIndex = facts->index;
    adapter->Ipv4Enabled = has(list, facts->name, AF_INET);
    adapter->Ipv6Enabled = has(list, facts->name, AF_INET6);
    adapter->Ipv6IfIndex = adapter->Ipv6Enabled ? facts->index : 0;
    adapter->NoMulticast = !(facts->flags & IFF_MULTICAST);
    adapter->ZoneIndices[INTERFACE_SCOPE] = adapter->ZoneIndices[LINK_SCOPE] = facts->index;
    adapter->Mtu = facts->mtu;
    adapter->IfType = type_of(facts);
    adapter->OperStatus = (facts->flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING)
                              ? IfOperStatusUp
                              : IfOperStatusDown;
    adapter->TransmitLinkSpeed = adapter->ReceiveLinkSpeed = facts->speed;
    adapter->Luid.Info.NetLuidIndex = facts->index & 0xffffff;
    adapter->Luid.Info.IfType = adapter->IfType;
    adapter->CompartmentId = 1;
    adapter->ConnectionType = NET_IF_CONNECTION_DEDICATED;
    adapter->PhysicalAddressLength = facts->physical_octets;
    memcpy(adapter->PhysicalAddress, facts->physical, sizeof(facts->physical));
}

static PIP_ADAPTER_ADDRESSES add(struct list *list, const struct adapter_facts *facts)
{
    PIP_ADAPTER_ADDRESSES adapter = take(list, sizeof(*adapter));
    IP_ADAPTER_ADDRESSES made = { .Length = 0 };
    char *name = take(list, strlen(facts->name) + 1);

    strcpy(name, facts->name);
    describe(list, &made, facts);
    made.AdapterName = name;
    made.DnsSuffix = take_text(list, "");
    made.Description = take_text(list, facts->name);
    if (!(list->flags & GAA_FLAG_SKIP_FRIENDLY_NAME))
        made.FriendlyName = take_text(list, facts->name);
    if (!(list->flags & GAA_FLAG_SKIP_UNICAST))
        add_unicast(list, &made, facts->name);
    if (list->flags & GAA_FLAG_INCLUDE_PREFIX)
        add_prefixes(list, &made, facts->name);
    add_servers(list, &made, facts);
    *adapter = made;
    return adapter;
}

/* Each interface has one entry with its hardware. */
static void write_all(struct list *list)
{
    PIP_ADAPTER_ADDRESSES last = NULL;

    for (const struct ifaddrs *i = list->interfaces; i; i = i->ifa_next) {
        const struct sockaddr_ll *hardware = (const void *)i->ifa_addr;
        struct adapter_facts facts = { .flags = i->ifa_flags };
        PIP_ADAPTER_ADDRESSES adapter;

        if (!hardware || hardware->sll_family != AF_PACKET)
            continue;
        facts.index = (unsigned)hardware->sll_ifindex;
        if (!(facts.flags & IFF_LOOPBACK) && hardware->sll_halen <= sizeof(facts.physical)) {
            facts.physical_octets = hardware->sll_halen;
            memcpy(facts.physical, hardware->sll_addr, facts.physical_octets);
        }
        strncpy(facts.name, i->ifa_name, sizeof(facts.name) - 1);
        adapter_find_facts(&facts);
        adapter = add(list, &facts);
        if (last && list->used <= list->room)
            last->Next = adapter;
        last = adapter;
    }
}

/*
 * GetAdaptersAddresses - the network interfaces and their addresses.
 * family    AF_UNSPEC, AF_INET, AF_INET6: which addresses; every interface is listed
 * flags     GAA_FLAG_*; unknown bits have no effect, as in Wine
 * reserved  not looked at
 * adapters  [out] the list; may be NULL
 * size      [in, out] octets of adapters; where there is no room for the list, those that it needs
 * Returns   0, ERROR_BUFFER_OVERFLOW, ERROR_INVALID_PARAMETER (family, size), ERROR_NO_DATA (no interface),
 *           ERROR_NOT_ENOUGH_MEMORY. Names are those of Linux; anycast, multicast and WINS lists are empty; each
 *           interface but the loopback has all name servers. May read files. Any thread.
 * Source: GetAdaptersAddresses function (iphlpapi.h).
 */
ULONG WINAPI GetAdaptersAddresses(
    ULONG family, ULONG flags, PVOID reserved, PIP_ADAPTER_ADDRESSES adapters, PULONG size)
{
    struct list list = { .at = (char *)adapters, .family = family, .flags = flags };
    struct ifaddrs *interfaces;

    (void)reserved;
    if (!size || (family != AF_UNSPEC && family != AF_INET && family != AF_INET6))
        return ERROR_INVALID_PARAMETER;
    if (getifaddrs(&interfaces))
        return ERROR_NOT_ENOUGH_MEMORY;
    list.interfaces = interfaces;
    list.room = adapters ? *size : 0;
    write_all(&list);
    freeifaddrs(interfaces);
    if (!list.used)
        return ERROR_NO_DATA;
    if (list.used <= list.room)
        return ERROR_SUCCESS;
    *size = (ULONG)list.used;
    return ERROR_BUFFER_OVERFLOW;
}
