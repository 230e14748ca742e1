/* SPDX-License-Identifier: MIT */
/* CRC-32C, by every implementation that this processor can run: published values, lengths, alignments, copies. */
#include "softrdma/wire/crc32c.h"
#include "tests/unit/softrdma/vectors.h"

#include <pthread.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONGEST = 4096, ALIGNMENTS = 16, FENCE = 64 };

static uint32_t one_bit_at_a_time(uint32_t crc, const uint8_t *p, size_t octets)
{
    crc = ~crc;
    while (octets--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return ~crc;
}

static void fill_random(uint8_t *data, size_t octets, unsigned seed)
{
    srand(seed);
    for (size_t i = 0; i < octets; i++)
        data[i] = (uint8_t)rand();
}

typedef void each_fn(const struct srd_crc32c_method *method);

static void with_each(each_fn *test)
{
    const struct srd_crc32c_method *method;

    for (size_t i = 0; (method = srd_crc32c_method(i)); i++) {
        print_message("%s\n", method->name);
        test(method);
    }
}

/* The sum of a copy, whose place must have those octets then and nothing else. */
static uint32_t copied(const struct srd_crc32c_method *method, uint32_t crc, uint8_t *to,
    const uint8_t *data, size_t octets)
{
    uint8_t *place = to - FENCE, fence[FENCE];

    memset(fence, 0xa5, FENCE);
    memset(place, 0xa5, FENCE);
    memset(to + octets, 0xa5, FENCE);
    crc = method->copy(crc, to, data, octets);
    assert_memory_equal(to, data, octets);
    assert_memory_equal(place, fence, FENCE);
    assert_memory_equal(to + octets, fence, FENCE);
    return crc;
}

static void the_fastest_method_is_chosen(void **state)
{
    static const uint8_t digits[] = "123456789";
    const struct srd_crc32c_method *last = NULL;
    size_t count = 0;

    (void)state;
    while (srd_crc32c_method(count))
        last = srd_crc32c_method(count++);
    assert_true(count >= 1);
    assert_string_equal(last->name, "table");
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2"))
        assert_string_equal(srd_crc32c_method(count - 2)->name, "sse4.2");
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
        assert_string_equal(srd_crc32c_method(count - 3)->name, "pclmul");
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq"))
        assert_string_equal(srd_crc32c_method(count - 4)->name, "vpclmul.256");
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("vpclmulqdq")) {
        assert_string_equal(srd_crc32c_method(0)->name, "vpclmul");
        assert_int_equal(count, 5);
    }
#endif
    assert_int_equal(srd_crc32c(0, digits, 9), srd_crc32c_method(0)->sum(0, digits, 9));
}

/* RFC 3720, appendix B.4, as the octets stand on the wire; and the check value of the catalogues. */
static void published_values_by(const struct srd_crc32c_method *method)
{
    static const uint8_t read_command[48] = { 0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02,
        0, 0, 0, 0, 0, 0, 0 };
    uint8_t zeros[32] = { 0 }, ones[32], rising[32], falling[32];
    const struct {
        const void *data;
        size_t octets;
        uint32_t crc;
    } rows[] = {
        { zeros, 32, 0x8a9136aa },
        { ones, 32, 0x62a8ab43 },
        { rising, 32, 0x46dd794e },
        { falling, 32, 0x113fdb5c },
        { read_command, 48, 0xd9963a56 },
        { "123456789", 9, 0xe3069283 },
        { "", 0, 0 },
    };

    for (unsigned i = 0; i < 32; i++) {
        ones[i] = 0xff;
        rising[i] = (uint8_t)i;
        falling[i] = (uint8_t)(31 - i);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint8_t place[FENCE + 48 + FENCE];

        assert_int_equal(method->sum(0, rows[i].data, rows[i].octets), rows[i].crc);
        assert_int_equal(
            copied(method, 0, place + FENCE, rows[i].data, rows[i].octets), rows[i].crc);
    }
}

static void published_values(void **state)
{
    (void)state;
    with_each(published_values_by);
}

/* RFC 5044 prints the first two; the third is a Send of "ping". */
static void published_fpdus_by(const struct srd_crc32c_method *method)
{
    static const struct {
        const char *name;
        uint8_t wire[4];
    } rows[] = {
        { "f.marker", { 0x52, 0x23, 0x99, 0x83 } },
        { "f.marker_mid", { 0x84, 0x92, 0x58, 0x98 } },
        { "s1.04.send4", { 0xa5, 0x48, 0x7f, 0xa7 } },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct vector *v = vector_named(rows[i].name);
        uint32_t crc = method->sum(0, v->octets, v->count - 4);
        uint8_t wire[4] = { (uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16),
            (uint8_t)(crc >> 24) };

        assert_memory_equal(wire, rows[i].wire, 4);
        assert_memory_equal(v->octets + v->count - 4, wire, 4);
        assert_int_equal(method->sum(0, v->octets, v->count), 0x48674bc7); /* the residue */
    }
}

static void published_fpdus(void **state)
{
    (void)state;
    with_each(published_fpdus_by);
}

/*
 * Each length from 0 to LONGEST at each alignment, as sum and as copy to other alignments in turn. What is expected is
 * the definition's, one octet further for each length.
 */
static void every_length_by(const struct srd_crc32c_method *method)
{
    static uint8_t data[LONGEST + ALIGNMENTS];
    static uint8_t copy[FENCE + ALIGNMENTS + LONGEST + FENCE];

    for (size_t offset = 0; offset < ALIGNMENTS; offset++) {
        uint32_t seed = (uint32_t)offset * 0x9e3779b1u, expected = seed;

        fill_random(data, sizeof(data), (unsigned)offset + 1);
        for (size_t octets = 0; octets <= LONGEST; octets++) {
            size_t to = (offset * 7 + octets) % ALIGNMENTS;

            if (octets)
                expected = one_bit_at_a_time(expected, data + offset + octets - 1, 1);
            assert_int_equal(method->sum(seed, data + offset, octets), expected);
            if (octets % 5 == offset % 5)
                assert_int_equal(
                    copied(method, seed, copy + FENCE + to, data + offset, octets), expected);
        }
    }
}

static void every_length_agrees_with_the_definition(void **state)
{
    (void)state;
    with_each(every_length_by);
}

/* Around the multiples of what the implementations take at once, to more than the largest FPDU. */
static void long_ones_by(const struct srd_crc32c_method *method)
{
    enum { MOST = 70000 };
    static uint8_t data[MOST + 8];
    static uint8_t copy[FENCE + MOST + FENCE];
    static const size_t units[] = { 256, 768, 960, 4096, 6144, 8064, 65516, 65536 };

    fill_random(data, sizeof(data), 3);
    for (size_t unit = 0; unit < sizeof(units) / sizeof(*units); unit++)
        for (size_t near = units[unit]; near + 9 < MOST; near += units[unit] * 3)
            for (size_t octets = near - 9; octets <= near + 9; octets += 3) {
                size_t offset = octets % 8;
                uint32_t expected = one_bit_at_a_time(0, data + offset, octets);

                assert_int_equal(method->sum(0, data + offset, octets), expected);
                assert_int_equal(copied(method, 0, copy + FENCE, data + offset, octets), expected);
            }
}

static void long_ones_agree_with_the_definition(void **state)
{
    (void)state;
    with_each(long_ones_by);
}

static void continues_by(const struct srd_crc32c_method *method)
{
    static uint8_t data[200000];
    static uint8_t copy[FENCE + sizeof(data) + FENCE];

    for (unsigned seed = 1; seed <= 20; seed++) {
        uint32_t whole, crc = 0;

        fill_random(data, sizeof(data), seed);
        whole = one_bit_at_a_time(0, data, sizeof(data));
        for (size_t at = 0; at < sizeof(data);) {
            size_t n = (size_t)rand() % (seed % 2 ? 3000 : 30000);

            if (n > sizeof(data) - at)
                n = sizeof(data) - at;
            if (rand() % 2)
                crc = method->sum(crc, data + at, n);
            else
                crc = copied(method, crc, copy + FENCE, data + at, n);
            at += n;
        }
        assert_int_equal(crc, whole);
    }
}

static void continues_over_pieces(void **state)
{
    (void)state;
    with_each(continues_by);
}

#ifndef __SANITIZE_THREAD__
/* --- a source that changes meanwhile ----------------------------------------------------------------------------- */

static uint64_t changing[70000 / 8];
static atomic_bool over;

static void *change(void *argument)
{
    volatile uint64_t *word = changing;

    for (uint64_t value = 1; !atomic_load_explicit(&over, memory_order_relaxed); value++)
        for (size_t i = 0; i < sizeof(changing) / sizeof(*changing); i += 5)
            word[i] = value * 0x9e3779b97f4a7c15u;
    return argument;
}

static void sum_of_what_is_copied_by(const struct srd_crc32c_method *method)
{
    static uint8_t copy[sizeof(changing)];

    for (int i = 0; i < 300; i++) {
        size_t octets = sizeof(copy) - (size_t)i * 200;
        uint32_t crc = method->copy(0, copy, changing, octets);

        assert_int_equal(crc, method->sum(0, copy, octets));
    }
}

static void the_sum_is_that_of_the_copy(void **state)
{
    pthread_t thread;

    (void)state;
    atomic_init(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
    with_each(sum_of_what_is_copied_by);
    atomic_store(&over, true);
    pthread_join(thread, NULL);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_method_is_chosen),
        cmocka_unit_test(published_values),
        cmocka_unit_test(published_fpdus),
        cmocka_unit_test(every_length_agrees_with_the_definition),
        cmocka_unit_test(long_ones_agree_with_the_definition),
        cmocka_unit_test(continues_over_pieces),
#ifndef __SANITIZE_THREAD__ /* a race on purpose */
        cmocka_unit_test(the_sum_is_that_of_the_copy),
#endif
    };

    vectors_load(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
