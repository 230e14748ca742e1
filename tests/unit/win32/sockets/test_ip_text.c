/* SPDX-License-Identifier: MIT */
/* test_ip_text.c - IP addresses as text by the Rtl functions, in both widths. */
#include "tests/support/win32_test.h"

#include <mstcpip.h>

enum { BAD = (int)SPEC_STATUS_INVALID_PARAMETER, ROOM = 80 };

#ifdef _WIN32
/* MinGW's headers lack these two. */
static LONG(NTAPI *string_a)(PCSTR, PCSTR *, struct in6_addr *);
static LONG(NTAPI *string_w)(PCWSTR, PCWSTR *, struct in6_addr *);

static bool find(void)
{
    HMODULE ntdll = GetModuleHandleA("ntdll.dll");

    string_a = (void *)GetProcAddress(ntdll, "RtlIpv6StringToAddressA");
    string_w = (void *)GetProcAddress(ntdll, "RtlIpv6StringToAddressW");
    return string_a && string_w;
}
#define RtlIpv6StringToAddressA string_a
#define RtlIpv6StringToAddressW string_w
#define RtlIpv6StringToAddress  string_a
#else
static bool find(void)
{
    return true;
}
#endif

static void widen(WCHAR *wide, const char *text)
{
    while ((*wide++ = (WCHAR)*text++))
        ;
}

/* The address of eight words, and what both widths make of a text. */
static void six(const char *text, LONG expected, int used, const USHORT *words)
{
    struct in6_addr address, wide_address;
    WCHAR wide[ROOM];
    const WCHAR *wide_end;
    const char *end;

    memset(&address, 0x55, sizeof(address));
    memset(&wide_address, 0x55, sizeof(address));
    widen(wide, text);
    assert_int_equal(RtlIpv6StringToAddressA(text, &end, &address), expected);
    assert_int_equal(RtlIpv6StringToAddressW(wide, &wide_end, &wide_address), expected);
    if (expected)
        return;
    assert_int_equal(end - text, used);
    assert_int_equal(wide_end - wide, used);
    for (int i = 0; i < 8; i++)
        assert_int_equal(address.u.Word[i], htons(words[i]));
    assert_memory_equal(&address, &wide_address, sizeof(address));
}

#define six_is(text, used, ...) six((text), 0, (used), (USHORT[8]){ __VA_ARGS__ })

static void test_ipv6_of_a_text(void **state)
{
    (void)state;
    six_is("::", 2, 0);
    six_is("::1", 3, 0, 0, 0, 0, 0, 0, 0, 1);
    six_is("1::", 3, 1);
    six_is("fe80::1:2", 9, 0xfe80, 0, 0, 0, 0, 0, 1, 2);
    six_is("1:2:3:4:5:6:7:8", 15, 1, 2, 3, 4, 5, 6, 7, 8);
    six_is("ABCD:ef01::", 11, 0xabcd, 0xef01);
    six_is("::ffff:1.2.3.4", 14, 0, 0, 0, 0, 0, 0xffff, 0x0102, 0x0304);
    six_is("1:2:3:4:5:6:10.11.12.13", 23, 1, 2, 3, 4, 5, 6, 0x0a0b, 0x0c0d);
    six_is("fe80::1%4", 7, 0xfe80, 0, 0, 0, 0, 0, 0, 1);
    six_is("fe80::1/64", 7, 0xfe80, 0, 0, 0, 0, 0, 0, 1);
    six_is("::1 ", 3, 0, 0, 0, 0, 0, 0, 0, 1);
    six_is("::1::2", 3, 0, 0, 0, 0, 0, 0, 0, 1);
    six_is(":::", 2, 0);
    six_is("1:2:3:4:5:6:7:8:", 15, 1, 2, 3, 4, 5, 6, 7, 8);
    six_is("1::2:3:4:5:6:7", 14, 1, 0, 2, 3, 4, 5, 6, 7);
}

static void test_no_ipv6(void **state)
{
    (void)state;
    six("", BAD, 0, NULL);
    six("1", BAD, 0, NULL);
    six(":1", BAD, 0, NULL);
    six("1:2:3:4:5:6:7", BAD, 0, NULL);
    six("g::", BAD, 0, NULL);
    six("10.1.2.3", BAD, 0, NULL);
}

static void whole_six(const char *text, LONG expected, ULONG scope, USHORT port)
{
    struct in6_addr address, wide_address;
    ULONG scope_got = 77, wide_scope = 77;
    USHORT port_got = 78, wide_port = 78;
    WCHAR wide[ROOM];

    widen(wide, text);
    assert_int_equal(RtlIpv6StringToAddressExA(text, &address, &scope_got, &port_got), expected);
    assert_int_equal(
        RtlIpv6StringToAddressExW(wide, &wide_address, &wide_scope, &wide_port), expected);
    if (expected)
        return;
    assert_int_equal(scope_got, scope);
    assert_int_equal(wide_scope, scope);
    assert_int_equal(port_got, htons(port));
    assert_int_equal(wide_port, htons(port));
    assert_int_equal(address.u.Byte[0], 0xfe);
    assert_int_equal(address.u.Byte[15], 1);
    assert_memory_equal(&address, &wide_address, sizeof(address));
}

static void test_ipv6_with_scope_and_port(void **state)
{
    struct in6_addr address;
    USHORT port;
    ULONG scope;

    (void)state;
    whole_six("fe80::1", 0, 0, 0);
    whole_six("fe80::1%4", 0, 4, 0);
    whole_six("[fe80::1]", 0, 0, 0);
    whole_six("[fe80::1%12]:80", 0, 12, 80);
    whole_six("[fe80::1]:65535", 0, 0, 65535);
    whole_six("[fe80::1]:65536", BAD, 0, 0);
    whole_six("[fe80::1", BAD, 0, 0);
    whole_six("[fe80::1]80", BAD, 0, 0);
    whole_six("fe80::1%", BAD, 0, 0);
    whole_six("fe80::1%x", BAD, 0, 0);
    whole_six("fe80::1 ", BAD, 0, 0);
    whole_six("fe80:1", BAD, 0, 0);
    assert_int_equal(RtlIpv6StringToAddressExA(NULL, &address, &scope, &port), BAD);
    assert_int_equal(RtlIpv6StringToAddressExA("::1", NULL, &scope, &port), BAD);
    assert_int_equal(RtlIpv6StringToAddressExA("::1", &address, NULL, &port), BAD);
    assert_int_equal(RtlIpv6StringToAddressExA("::1", &address, &scope, NULL), BAD);
}

static void six_shows(const char *expected, const USHORT *words)
{
    struct in6_addr address;
    char text[ROOM];
    WCHAR wide[ROOM], wide_expected[ROOM];

    for (int i = 0; i < 8; i++)
        address.u.Word[i] = htons(words[i]);
    assert_ptr_equal(RtlIpv6AddressToStringA(&address, text), text + strlen(expected));
    assert_string_equal(text, expected);
    assert_ptr_equal(RtlIpv6AddressToStringW(&address, wide), wide + strlen(expected));
    widen(wide_expected, expected);
    assert_wide_equal(wide, wide_expected);
}

#define shows(expected, ...) six_shows((expected), (USHORT[8]){ __VA_ARGS__ })

static void test_ipv6_as_text(void **state)
{
    (void)state;
    shows("::", 0);
    shows("::1", 0, 0, 0, 0, 0, 0, 0, 1);
    shows("1::", 1);
    shows("fe80::1:2", 0xfe80, 0, 0, 0, 0, 0, 1, 2);
    shows("1:2:3:4:5:6:7:8", 1, 2, 3, 4, 5, 6, 7, 8);
    shows("1:0:0:2::3", 1, 0, 0, 2, 0, 0, 0, 3);
    shows("1::2:0:0:3", 1, 0, 0, 0, 2, 0, 0, 3);
    shows("1::2:0:0:3:4", 1, 0, 0, 2, 0, 0, 3, 4);
    shows("1:0:3:4:5:6:7:8", 1, 0, 3, 4, 5, 6, 7, 8);
    shows("abcd:ef01::", 0xabcd, 0xef01);
    shows("::ffff:1.2.3.4", 0, 0, 0, 0, 0, 0xffff, 0x0102, 0x0304);
    shows("::1.2.3.4", 0, 0, 0, 0, 0, 0, 0x0102, 0x0304);
    shows("::ffff:0:1.2.3.4", 0, 0, 0, 0, 0xffff, 0, 0x0102, 0x0304);
    shows("fe80::5efe:1.2.3.4", 0xfe80, 0, 0, 0, 0, 0x5efe, 0x0102, 0x0304);
    shows("fe80::200:5efe:1.2.3.4", 0xfe80, 0, 0, 0, 0x200, 0x5efe, 0x0102, 0x0304);
    shows("1:2:3:4:0:5efe:1.2.3.4", 1, 2, 3, 4, 0, 0x5efe, 0x0102, 0x0304);
}

static void test_ipv6_as_text_with_scope_and_port(void **state)
{
    struct in6_addr address;
    char text[ROOM] = "";
    WCHAR wide[ROOM];
    ULONG length = ROOM;

    (void)state;
    memset(&address, 0, sizeof(address));
    address.u.Byte[0] = 0xfe;
    address.u.Byte[1] = 0x80;
    address.u.Byte[15] = 1;
    assert_int_equal(RtlIpv6AddressToStringExA(&address, 12, htons(80), text, &length), 0);
    assert_string_equal(text, "[fe80::1%12]:80");
    assert_int_equal(length, 16);
    assert_int_equal(RtlIpv6AddressToStringExW(&address, 12, htons(80), wide, &length), 0);
    assert_wide_equal(wide, L"[fe80::1%12]:80");
    length = 15;
    assert_int_equal(RtlIpv6AddressToStringExA(&address, 12, htons(80), text, &length), BAD);
    assert_int_equal(length, 16);
    length = 15;
    assert_int_equal(RtlIpv6AddressToStringExW(&address, 12, htons(80), wide, &length), BAD);
    assert_int_equal(length, 16);
    assert_int_equal(RtlIpv6AddressToStringExA(&address, 3, 0, text, &length), 0);
    assert_string_equal(text, "fe80::1%3");
    assert_int_equal(RtlIpv6AddressToStringExA(NULL, 0, 0, text, &length), BAD);
    assert_int_equal(RtlIpv6AddressToStringExA(&address, 0, 0, text, NULL), BAD);
}

static void whole_four(const char *text, BOOLEAN strict, LONG expected, ULONG value, USHORT port)
{
    const USHORT none =
        DIFFERS(0, 78, "RtlIpv4StringToAddressEx: Wine does not store a missing port");
    struct in_addr address, wide_address;
    USHORT port_got = 78, wide_port = 78;
    WCHAR wide[ROOM];

    widen(wide, text);
    assert_int_equal(RtlIpv4StringToAddressExA(text, strict, &address, &port_got), expected);
    assert_int_equal(RtlIpv4StringToAddressExW(wide, strict, &wide_address, &wide_port), expected);
    if (expected)
        return;
    assert_int_equal(address.s_addr, htonl(value));
    assert_int_equal(wide_address.s_addr, htonl(value));
    assert_int_equal(port_got, port ? htons(port) : none);
    assert_int_equal(wide_port, port ? htons(port) : none);
}

/* end: how far it was read. Asked of Wine, whose rows were asked of Windows. */
static void four(const char *text, BOOLEAN strict, LONG expected, int end, ULONG value)
{
    struct in_addr address = { .s_addr = htonl(0x55555555) };
    PCSTR got = NULL;

    assert_int_equal(RtlIpv4StringToAddressA(text, strict, (void *)&got, &address), expected);
    assert_int_equal(got - text, end);
    assert_int_equal(ntohl(address.s_addr), expected ? 0x55555555 : value);
}

static void test_ipv4_of_text(void **state)
{
    (void)state;
    four("1.2.3.4", FALSE, 0, 7, 0x01020304);
    four("1.2.3.4", TRUE, 0, 7, 0x01020304);
    four("1.2.3.4.5", FALSE, BAD, 7, 0);
    four("1.2.3.4.5", TRUE, BAD, 7, 0);
    four("1.2.3.4x", FALSE, 0, 7, 0x01020304);
    four("1.2.3.4x", TRUE, 0, 7, 0x01020304);
    four("256.1.1.1", FALSE, BAD, 9, 0);
    four("256.1.1.1", TRUE, BAD, 9, 0);
    four("1.256", FALSE, 0, 5, 0x01000100);
    four("1.256", TRUE, BAD, 5, 0);
    four("1.65536", FALSE, 0, 7, 0x01010000);
    four("1.65536", TRUE, BAD, 7, 0);
    four("1.2.65536", FALSE, BAD, 9, 0);
    four("1.2.65536", TRUE, BAD, 9, 0);
    four("4294967295", FALSE, 0, 10, 0xffffffff);
    four("4294967295", TRUE, BAD, 10, 0);
    four("4294967296", FALSE, BAD, 9, 0);
    four("4294967296", TRUE, BAD, 9, 0);
    four("0x7f.1", FALSE, 0, 6, 0x7f000001);
    four("0x7f.1", TRUE, BAD, 2, 0);
    four("0x", FALSE, BAD, 2, 0);
    four("0x", TRUE, BAD, 2, 0);
    four("0x.1", FALSE, BAD, 2, 0);
    four("0x.1", TRUE, BAD, 2, 0);
    four("010.1.1.1", FALSE, 0, 9, 0x08010101);
    four("010.1.1.1", TRUE, BAD, 1, 0);
    four("08.1.1.1", FALSE, BAD, 1, 0);
    four("08.1.1.1", TRUE, BAD, 1, 0);
    four("09", FALSE, BAD, 1, 0);
    four("09", TRUE, BAD, 1, 0);
    four("1..2", FALSE, BAD, 3, 0);
    four("1..2", TRUE, BAD, 3, 0);
    four("1.2.3.", FALSE, BAD, 6, 0);
    four("1.2.3.", TRUE, BAD, 6, 0);
    four(".1", FALSE, BAD, 1, 0);
    four(".1", TRUE, BAD, 1, 0);
    four("00000001.2.3.4", FALSE, 0, 14, 0x01020304);
    four("00000001.2.3.4", TRUE, BAD, 1, 0);
    four("0xFFFFFFFF", FALSE, 0, 10, 0xffffffff);
    four("0xFFFFFFFF", TRUE, BAD, 2, 0);
    four("0x100000000", FALSE, BAD, 10, 0);
    four("0x100000000", TRUE, BAD, 2, 0);
    four("1.2.3.0377", FALSE, 0, 10, 0x010203ff);
    four("1.2.3.0377", TRUE, BAD, 7, 0);
    four("1.0x", FALSE, BAD, 4, 0);
    four("1.0x", TRUE, BAD, 4, 0);
    four("1.2.3.08", FALSE, BAD, 7, 0);
    four("1.2.3.08", TRUE, BAD, 7, 0);
    four("1.2.3.4.", FALSE, BAD, 7, 0);
    four("1.2.3.4.", TRUE, BAD, 7, 0);
    four("037777777777", FALSE, 0, 12, 0xffffffff);
    four("037777777777", TRUE, BAD, 1, 0);
    four("040000000000", FALSE, BAD, 11, 0);
    four("040000000000", TRUE, BAD, 1, 0);
    four("0x1.0x2.0x3.0x4", FALSE, 0, 15, 0x01020304);
    four("0x1.0x2.0x3.0x4", TRUE, BAD, 2, 0);
}

static void test_ipv4_with_port(void **state)
{
    struct in_addr address;
    USHORT port;

    (void)state;
    whole_four("1.2.3.4", TRUE, 0, 0x01020304, 0);
    whole_four("1.2.3.4:80", TRUE, 0, 0x01020304, 80);
    whole_four("1.2.3.4:65535", TRUE, 0, 0x01020304, 65535);
    whole_four("1.2.3.4:65536", TRUE, BAD, 0, 0);
    whole_four("1.2.3.4:", TRUE, BAD, 0, 0);
    whole_four("1.2.3.4 ", TRUE, BAD, 0, 0);
    whole_four("1.2.3", TRUE, BAD, 0, 0);
    whole_four("1.2.3", FALSE, 0, 0x01020003, 0);
    whole_four("0x7f.1:80", FALSE, 0, 0x7f000001, 80);
    assert_int_equal(RtlIpv4StringToAddressExA(NULL, TRUE, &address, &port), BAD);
    assert_int_equal(RtlIpv4StringToAddressExA("1.2.3.4", TRUE, NULL, &port), BAD);
    assert_int_equal(RtlIpv4StringToAddressExA("1.2.3.4", TRUE, &address, NULL), BAD);
}

static void test_ipv4_as_text(void **state)
{
    struct in_addr address = { .s_addr = htonl(0xc0a800fe) };
    char text[ROOM];
    WCHAR wide[ROOM];
    ULONG length = ROOM;

    (void)state;
    assert_ptr_equal(RtlIpv4AddressToStringA(&address, text), text + 13);
    assert_string_equal(text, "192.168.0.254");
    assert_ptr_equal(RtlIpv4AddressToStringW(&address, wide), wide + 13);
    assert_wide_equal(wide, L"192.168.0.254");
    assert_int_equal(RtlIpv4AddressToStringExA(&address, htons(443), text, &length), 0);
    assert_string_equal(text, "192.168.0.254:443");
    assert_int_equal(length, 18);
    length = 17;
    assert_int_equal(RtlIpv4AddressToStringExA(&address, htons(443), text, &length), BAD);
    assert_int_equal(length, 18);
    length = ROOM;
    assert_int_equal(RtlIpv4AddressToStringExW(&address, 0, wide, &length), 0);
    assert_wide_equal(wide, L"192.168.0.254");
    assert_int_equal(length, 14);
    assert_int_equal(RtlIpv4AddressToStringExA(NULL, 0, text, &length), BAD);
}

static void test_names_without_a_letter_are_narrow(void **state)
{
    (void)state;
    assert_true(RtlIpv4AddressToString == RtlIpv4AddressToStringA);
    assert_true(RtlIpv4AddressToStringEx == RtlIpv4AddressToStringExA);
    assert_true(RtlIpv4StringToAddressEx == RtlIpv4StringToAddressExA);
    assert_true(RtlIpv6AddressToString == RtlIpv6AddressToStringA);
    assert_true(RtlIpv6AddressToStringEx == RtlIpv6AddressToStringExA);
    assert_true(RtlIpv6StringToAddress == RtlIpv6StringToAddressA);
    assert_true(RtlIpv6StringToAddressEx == RtlIpv6StringToAddressExA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipv6_of_a_text),
        cmocka_unit_test(test_no_ipv6),
        cmocka_unit_test(test_ipv6_with_scope_and_port),
        cmocka_unit_test(test_ipv6_as_text),
        cmocka_unit_test(test_ipv6_as_text_with_scope_and_port),
        cmocka_unit_test(test_ipv4_of_text),
        cmocka_unit_test(test_ipv4_with_port),
        cmocka_unit_test(test_ipv4_as_text),
        cmocka_unit_test(test_names_without_a_letter_are_narrow),
    };

    if (!find())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
