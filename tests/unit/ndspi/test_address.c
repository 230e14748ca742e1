/* SPDX-License-Identifier: MIT */
#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

#include "ndspi/core/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#define OVERFLOW_   ((HRESULT)SPEC_ND_BUFFER_OVERFLOW)
#define BAD_ADDRESS ((HRESULT)SPEC_ND_INVALID_ADDRESS)

static struct sockaddr_storage ip(const char *text, uint16_t port)
{
    struct sockaddr_storage address = { 0 };
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;

    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
    }
    return address;
}

static void test_address_import_takes_both_families_and_nothing_else(void **state)
{
    struct sockaddr_storage v4 = ip("10.1.2.3", 7), v6 = ip("fd00::1", 7),
                            other = { .ss_family = AF_UNIX }, out;

    (void)state;
    assert_int_equal(nd_address_import((struct sockaddr *)&v4, 16, &out), 0);
    assert_memory_equal(&out, &v4, sizeof(out));
    assert_int_equal(nd_address_import((struct sockaddr *)&v6, 28, &out), 0);
    assert_memory_equal(&out, &v6, sizeof(out));
    assert_int_equal(nd_address_import((struct sockaddr *)&v4, sizeof(v4), &out), 0);
    assert_int_equal(nd_address_import((struct sockaddr *)&v4, 15, &out), BAD_ADDRESS);
    assert_int_equal(nd_address_import((struct sockaddr *)&v6, 27, &out), BAD_ADDRESS);
    assert_int_equal(nd_address_import((struct sockaddr *)&v6, 16, &out), BAD_ADDRESS);
    assert_int_equal(nd_address_import((struct sockaddr *)&v4, 1, &out), BAD_ADDRESS);
    assert_int_equal(nd_address_import((struct sockaddr *)&v4, 0, &out), BAD_ADDRESS);
    assert_int_equal(
        nd_address_import((struct sockaddr *)&other, sizeof(other), &out), BAD_ADDRESS);
    assert_int_equal(nd_address_import(NULL, 16, &out), BAD_ADDRESS);
}

static void test_address_import_ignores_the_padding_of_ipv4(void **state)
{
    struct sockaddr_storage v4 = ip("10.1.2.3", 7), plain, dirty;

    (void)state;
    assert_int_equal(nd_address_import((struct sockaddr *)&v4, 16, &plain), 0);
    memset((char *)&v4 + 8, 0xff, 8);
    assert_int_equal(nd_address_import((struct sockaddr *)&v4, 16, &dirty), 0);
    assert_memory_equal(&plain, &dirty, sizeof(plain));
}

static void test_address_export_follows_the_size_rule(void **state)
{
    struct sockaddr_storage v4 = ip("10.1.2.3", 7), out;
    size_t size = 0;

    (void)state;
    assert_int_equal(nd_address_export(&v4, NULL, &size), OVERFLOW_);
    assert_int_equal(size, 16);
    size = 15;
    memset(&out, 0xee, sizeof(out));
    assert_int_equal(nd_address_export(&v4, (struct sockaddr *)&out, &size), OVERFLOW_);
    assert_int_equal(size, 16);
    assert_int_equal(((unsigned char *)&out)[0], 0xee);
    size = sizeof(out);
    assert_int_equal(nd_address_export(&v4, (struct sockaddr *)&out, &size), 0);
    assert_int_equal(size, 16);
    assert_memory_equal(&out, &v4, 16);
    assert_int_equal(
        nd_address_export(&v4, (struct sockaddr *)&out, NULL), (HRESULT)SPEC_ND_INVALID_PARAMETER);
}

static void test_address_compares_ips_without_ports(void **state)
{
    struct sockaddr_storage a = ip("10.1.2.3", 7), b = ip("10.1.2.3", 8), c = ip("10.1.2.4", 7),
                            l1 = ip("fe80::1", 7), l2 = ip("fe80::1", 7), g1 = ip("fd00::1", 7),
                            g2 = ip("fd00::1", 7);

    (void)state;
    assert_true(nd_address_same_ip(&a, &b));
    assert_false(nd_address_same_ip(&a, &c));
    assert_false(nd_address_same_ip(&a, &l1));
    ((struct sockaddr_in6 *)&l2)->sin6_scope_id = 2;
    ((struct sockaddr_in6 *)&g2)->sin6_scope_id = 2;
    assert_false(nd_address_same_ip(&l1, &l2)); /* another link */
    assert_true(nd_address_same_ip(&g1, &g2));
}

static void test_address_knows_the_special_ones(void **state)
{
    struct sockaddr_storage any4 = ip("0.0.0.0", 1), any6 = ip("::", 1), lo4 = ip("127.3.2.1", 1),
                            lo6 = ip("::1", 1), link = ip("fe80::1", 1), plain = ip("10.0.0.1", 1);

    (void)state;
    assert_true(nd_address_is_wildcard(&any4) && nd_address_is_wildcard(&any6));
    assert_false(nd_address_is_wildcard(&plain) || nd_address_is_wildcard(&lo6));
    assert_true(nd_address_is_loopback(&lo4) && nd_address_is_loopback(&lo6));
    assert_false(nd_address_is_loopback(&plain) || nd_address_is_loopback(&link));
    assert_true(nd_address_is_link_local(&link));
    assert_false(nd_address_is_link_local(&plain) || nd_address_is_link_local(&lo6));
}

static void test_address_text_names_address_and_port(void **state)
{
    struct sockaddr_storage v4 = ip("10.1.2.3", 80), link = ip("fe80::1", 81), none = { 0 };
    char text[ND_ADDRESS_TEXT_OCTETS];

    (void)state;
    ((struct sockaddr_in6 *)&link)->sin6_scope_id = 3;
    assert_string_equal(nd_address_text(&v4, text), "10.1.2.3:80");
    assert_string_equal(nd_address_text(&link, text), "[fe80::1%3]:81");
    assert_string_equal(nd_address_text(&none, text), "(no address)");
}

/* Header 8, entries 16 each, then 16 and 28 octets of addresses (Win64 layout, which is LP64's). */
static void test_address_list_is_one_flat_buffer(void **state)
{
    struct sockaddr_storage addresses[] = { ip("10.1.2.3", 9), ip("fd00::1", 9) };
    _Alignas(8) char buffer[256];
    SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)buffer;
    size_t size = 0;

    (void)state;
    assert_int_equal(nd_address_list(addresses, 2, NULL, &size), OVERFLOW_);
    assert_int_equal(size, 8 + 2 * 16 + 16 + 28);
    memset(buffer, 0xee, sizeof(buffer));
    size = 83;
    assert_int_equal(nd_address_list(addresses, 2, list, &size), OVERFLOW_);
    assert_int_equal(size, 84);
    assert_int_equal((unsigned char)buffer[0], 0xee);
    assert_int_equal(nd_address_list(addresses, 2, list, &size), 0);
    assert_int_equal(size, 84);
    assert_int_equal((unsigned char)buffer[84], 0xee);
    assert_int_equal(list->iAddressCount, 2);
    assert_ptr_equal(list->Address[0].lpSockaddr, buffer + 40);
    assert_int_equal(list->Address[0].iSockaddrLength, 16);
    assert_ptr_equal(list->Address[1].lpSockaddr, buffer + 56);
    assert_int_equal(list->Address[1].iSockaddrLength, 28);
    assert_int_equal(((struct sockaddr_in *)(buffer + 40))->sin_port, 0);
    assert_int_equal(((struct sockaddr_in *)(buffer + 40))->sin_addr.s_addr, htonl(0x0a010203));
    assert_int_equal(nd_address_list(addresses, 2, list, NULL), (HRESULT)SPEC_ND_INVALID_PARAMETER);
}

static void test_address_list_of_nothing_is_a_header(void **state)
{
    _Alignas(8) char buffer[sizeof(SOCKET_ADDRESS_LIST)];
    size_t size = sizeof(buffer);

    (void)state;
    assert_int_equal(nd_address_list(NULL, 0, (SOCKET_ADDRESS_LIST *)buffer, &size), 0);
    assert_int_equal(size, 8);
    assert_int_equal(((SOCKET_ADDRESS_LIST *)buffer)->iAddressCount, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address_import_takes_both_families_and_nothing_else),
        cmocka_unit_test(test_address_import_ignores_the_padding_of_ipv4),
        cmocka_unit_test(test_address_export_follows_the_size_rule),
        cmocka_unit_test(test_address_compares_ips_without_ports),
        cmocka_unit_test(test_address_knows_the_special_ones),
        cmocka_unit_test(test_address_text_names_address_and_port),
        cmocka_unit_test(test_address_list_is_one_flat_buffer),
        cmocka_unit_test(test_address_list_of_nothing_is_a_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
