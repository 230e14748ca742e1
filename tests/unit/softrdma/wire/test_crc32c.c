/* SPDX-License-Identifier: MIT */
/* CRC-32C: published values, every length through all the code paths, continuation. */
#include "softrdma/wire/crc32c.h"
#include "tests/unit/softrdma/vectors.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t one_bit_at_a_time(const uint8_t *p, size_t octets)
{
    uint32_t crc = 0xffffffff;

    while (octets--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return ~crc;
}

static void check_value_of_the_standard(void **state)
{
    (void)state;
    assert_int_equal(srd_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(srd_crc32c_table(0, "123456789", 9), 0xe3069283);
    assert_int_equal(srd_crc32c(0, "", 0), 0);
}

/* RFC 5044 prints the first two; the third is a Send of "ping". */
static void published_fpdus(void **state)
{
    static const struct {
        const char *name;
        uint8_t wire[4];
    } rows[] = {
        { "f.marker", { 0x52, 0x23, 0x99, 0x83 } },
        { "f.marker_mid", { 0x84, 0x92, 0x58, 0x98 } },
        { "s1.04.send4", { 0xa5, 0x48, 0x7f, 0xa7 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct vector *v = vector_named(rows[i].name);
        uint32_t crc = srd_crc32c(0, v->octets, v->count - 4);
        uint8_t wire[4] = { (uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16),
            (uint8_t)(crc >> 24) };

        assert_memory_equal(wire, rows[i].wire, 4);
        assert_memory_equal(v->octets + v->count - 4, wire, 4);
        assert_int_equal(srd_crc32c(0, v->octets, v->count), 0x48674bc7); /* the residue */
    }
}

static void every_length_agrees_with_the_definition(void **state)
{
    enum { MOST = 3 * 2048 + 3 * 256 + 40 };
    static uint8_t data[MOST + 8];

    (void)state;
    srand(1);
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)rand();
    for (size_t octets = 0; octets <= MOST; octets += octets < 1000 ? 1 : 7)
        for (size_t offset = 0; offset < 8; offset += 3) {
            uint32_t expected = one_bit_at_a_time(data + offset, octets);

            assert_int_equal(srd_crc32c(0, data + offset, octets), expected);
            assert_int_equal(srd_crc32c_table(0, data + offset, octets), expected);
        }
}

static void continues_over_pieces(void **state)
{
    static uint8_t data[20000];
    uint32_t whole, crc = 0;

    (void)state;
    srand(2);
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)rand();
    whole = srd_crc32c(0, data, sizeof(data));
    for (size_t at = 0; at < sizeof(data);) {
        size_t n = (size_t)rand() % 3000;

        if (n > sizeof(data) - at)
            n = sizeof(data) - at;
        crc = srd_crc32c(crc, data + at, n);
        at += n;
    }
    assert_int_equal(crc, whole);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_value_of_the_standard),
        cmocka_unit_test(published_fpdus),
        cmocka_unit_test(every_length_agrees_with_the_definition),
        cmocka_unit_test(continues_over_pieces),
    };

    vectors_load(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
