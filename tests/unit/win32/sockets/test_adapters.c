/* SPDX-License-Identifier: MIT */
/* test_adapters.c - GetAdaptersAddresses: codes, and addresses that are this host's. */
#include "tests/support/win32_test.h"

#include <iphlpapi.h>

static ULONG ask(ULONG family, ULONG flags, PIP_ADAPTER_ADDRESSES *list)
{
    ULONG size = 0, code;

    *list = NULL;
    while ((code = GetAdaptersAddresses(family, flags, NULL, *list, &size)) ==
           SPEC_ERROR_BUFFER_OVERFLOW) {
        free(*list);
        *list = malloc(size);
        memset(*list, 0xa5, size);
    }
    return code;
}

static PIP_ADAPTER_ADDRESSES loopback_of(PIP_ADAPTER_ADDRESSES list)
{
    while (list && list->IfType != IF_TYPE_SOFTWARE_LOOPBACK)
        list = list->Next;
    assert_non_null(list);
    return list;
}

static void wrong_arguments_are_refused(void **state)
{
    ULONG size = 0;

    (void)state;
    assert_int_equal(
        GetAdaptersAddresses(AF_UNSPEC, 0, NULL, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* Wine does not look at the family */
    assert_int_equal(GetAdaptersAddresses(77, 0, NULL, NULL, &size), SPEC_ERROR_INVALID_PARAMETER);
#endif
    assert_int_equal(GetAdaptersAddresses(AF_UNSPEC, GAA_FLAG_SKIP_DNS_SERVER, NULL, NULL, &size),
        SPEC_ERROR_BUFFER_OVERFLOW);
    assert_true(size >= sizeof(IP_ADAPTER_ADDRESSES));
}

static void too_little_room_is_told(void **state)
{
    ULONG size = 0, needed;
    char *room;

    (void)state;
    GetAdaptersAddresses(AF_UNSPEC, GAA_FLAG_SKIP_DNS_SERVER, NULL, NULL, &size);
    needed = size;
    room = malloc(needed + 1);
    room[needed - 1] = 'w';
    size = needed - 1;
    assert_int_equal(GetAdaptersAddresses(AF_UNSPEC, GAA_FLAG_SKIP_DNS_SERVER, NULL,
                         (PIP_ADAPTER_ADDRESSES)room, &size),
        SPEC_ERROR_BUFFER_OVERFLOW);
    assert_true(size >= needed);
    assert_int_equal(room[needed - 1], 'w');
    free(room);
}

static void the_loopback_is_an_adapter(void **state)
{
    PIP_ADAPTER_ADDRESSES list, loopback;
    PIP_ADAPTER_UNICAST_ADDRESS unicast;
    const SOCKADDR_IN *address;

    (void)state;
    assert_int_equal(ask(AF_INET, GAA_FLAG_SKIP_DNS_SERVER, &list), SPEC_ERROR_SUCCESS);
    loopback = loopback_of(list);
    assert_true(loopback->Length >= 144);
    assert_int_equal(loopback->OperStatus, IfOperStatusUp);
    assert_true(loopback->IfIndex != 0);
    assert_int_equal(loopback->Luid.Info.IfType, IF_TYPE_SOFTWARE_LOOPBACK);
    assert_int_equal(loopback->PhysicalAddressLength, 0);
    assert_int_equal(loopback->TunnelType, TUNNEL_TYPE_NONE);
    assert_true(strlen(loopback->AdapterName) > 0);
    assert_true(wcslen(loopback->FriendlyName) > 0);
    assert_true(wcslen(loopback->Description) > 0);
    unicast = loopback->FirstUnicastAddress;
    assert_non_null(unicast);
    assert_int_equal(unicast->Address.iSockaddrLength, 16);
    assert_int_equal(unicast->OnLinkPrefixLength, 8);
    assert_int_equal(unicast->DadState, IpDadStatePreferred);
    address = (const SOCKADDR_IN *)unicast->Address.lpSockaddr;
    assert_int_equal(address->sin_family, AF_INET);
    assert_int_equal(ntohl(address->sin_addr.s_addr) >> 24, 127);
    free(list);
}

static void each_address_is_one_to_bind(void **state)
{
    PIP_ADAPTER_ADDRESSES list;
    unsigned bound = 0;

    (void)state;
    assert_int_equal(ask(AF_UNSPEC, GAA_FLAG_SKIP_DNS_SERVER, &list), SPEC_ERROR_SUCCESS);
    for (PIP_ADAPTER_ADDRESSES adapter = list; adapter; adapter = adapter->Next)
        for (PIP_ADAPTER_UNICAST_ADDRESS i = adapter->FirstUnicastAddress; i; i = i->Next) {
            SOCKET s;

            if (adapter->OperStatus != IfOperStatusUp)
                continue;
            s = socket(i->Address.lpSockaddr->sa_family, SOCK_DGRAM, 0);
            if (s == INVALID_SOCKET)
                continue; /* a kernel without IPv6 */
            assert_int_equal(bind(s, i->Address.lpSockaddr, i->Address.iSockaddrLength), 0);
            assert_int_equal(closesocket(s), 0);
            bound++;
        }
    assert_true(bound > 0);
    free(list);
}

static void families_and_parts_are_chosen(void **state)
{
    PIP_ADAPTER_ADDRESSES list;

    (void)state;
    assert_int_equal(ask(AF_INET6, GAA_FLAG_SKIP_DNS_SERVER, &list), SPEC_ERROR_SUCCESS);
    for (PIP_ADAPTER_ADDRESSES adapter = list; adapter; adapter = adapter->Next)
        for (PIP_ADAPTER_UNICAST_ADDRESS i = adapter->FirstUnicastAddress; i; i = i->Next)
            assert_int_equal(i->Address.lpSockaddr->sa_family, AF_INET6);
    free(list);
    assert_int_equal(
        ask(AF_INET,
            GAA_FLAG_SKIP_UNICAST | GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST |
                GAA_FLAG_SKIP_DNS_SERVER | GAA_FLAG_SKIP_FRIENDLY_NAME | GAA_FLAG_INCLUDE_PREFIX |
                GAA_FLAG_INCLUDE_GATEWAYS | GAA_FLAG_INCLUDE_WINS_INFO |
                GAA_FLAG_INCLUDE_ALL_INTERFACES | GAA_FLAG_INCLUDE_ALL_COMPARTMENTS |
                GAA_FLAG_INCLUDE_TUNNEL_BINDINGORDER,
            &list),
        SPEC_ERROR_SUCCESS);
    for (PIP_ADAPTER_ADDRESSES adapter = list; adapter; adapter = adapter->Next) {
        assert_null(adapter->FirstUnicastAddress);
        assert_null(adapter->FirstAnycastAddress);
        assert_null(adapter->FirstMulticastAddress);
        assert_null(adapter->FirstDnsServerAddress);
        assert_true(DIFFERS(!adapter->FriendlyName, 1, "a name that is skipped: Wine tells it"));
    }
    free(list);
}

#ifndef _WIN32 /* Wine has no prefix for 127.0.0.1 */
static void the_subnet_of_an_address_is_told(void **state)
{
    PIP_ADAPTER_ADDRESSES list;
    PIP_ADAPTER_PREFIX prefix;
    const SOCKADDR_IN *address;

    (void)state;
    assert_int_equal(ask(AF_INET, GAA_FLAG_INCLUDE_PREFIX, &list), SPEC_ERROR_SUCCESS);
    prefix = loopback_of(list)->FirstPrefix;
    assert_non_null(prefix);
    assert_int_equal(prefix->PrefixLength, 8);
    address = (const SOCKADDR_IN *)prefix->Address.lpSockaddr;
    assert_int_equal(ntohl(address->sin_addr.s_addr), 0x7f000000);
    free(list);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(too_little_room_is_told),
        cmocka_unit_test(the_loopback_is_an_adapter),
        cmocka_unit_test(each_address_is_one_to_bind),
        cmocka_unit_test(families_and_parts_are_chosen),
#ifndef _WIN32
        cmocka_unit_test(the_subnet_of_an_address_is_told),
#endif
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
