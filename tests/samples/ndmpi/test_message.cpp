// SPDX-License-Identifier: MIT
// test_message.cpp - headers and greetings as bytes, and what is refused.
#include "cmocka_cpp.h"

#include <string.h>

#include "samples/ndmpi/message.h"

using namespace ndmpi;

namespace
{

void test_header_and_back(void **)
{
    const unsigned char expected[16] = { 1, 0, 0, 5, 0xff, 0xff, 0xff, 0xfe, 0, 0, 1, 2, 3, 4, 5,
        6 };
    Header header = { EAGER, 5, -2, 0x102, 0x03040506 }, back;
    unsigned char bytes[16];
    header.pack(bytes);
    assert_memory_equal(bytes, expected, 16);
    assert_true(back.unpack(bytes, 16 + 0x102));
    assert_int_equal(back.kind, EAGER);
    assert_int_equal(back.credits, 5);
    assert_int_equal(back.tag, -2);
    assert_int_equal(back.length, 0x102);
    assert_int_equal(back.id, 0x03040506);
}

// kind, credits, length, bytes that came; whether it is a message
void test_only_messages_are_taken(void **)
{
    static const struct {
        int kind;
        UINT32 credits, length;
        size_t size;
        bool good;
    } rows[] = {
        { 1, 0, 0, 16, true },
        { 1, 0, 0, 15, false },
        { 1, 0, 0, 0, false },
        { 1, 0, 1, 16, false },
        { 1, 0, 1, 18, false },
        { 1, 32, 0, 16, true },
        { 1, 33, 0, 16, false },
        { 2, 0, 100000, 36, true },
        { 2, 0, 100000, 35, false },
        { 3, 0, 0, 16, true },
        { 4, 0, 0, 17, false },
        { 5, 0, 0, 16, true },
        { 0, 0, 0, 16, false },
        { 6, 0, 0, 16, true },
        { 6, 0, 0, 17, false },
        { 7, 0, 0, 16, false },
        { 255, 0, 0, 16, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        Header header = { (Kind)rows[i].kind, rows[i].credits, 0, rows[i].length, 0 }, back;
        unsigned char bytes[16];
        header.pack(bytes);
        if (back.unpack(bytes, rows[i].size) != rows[i].good)
            fail_msg("row %d", (int)i);
    }
}

void test_hello_and_back(void **)
{
    Hello hello = { 3, 0x0123456789abcdefULL, 32, 4096 }, back;
    unsigned char bytes[Hello::SIZE];
    assert_int_equal(Hello::SIZE, 28);
    hello.pack(bytes);
    assert_true(back.unpack(bytes));
    assert_int_equal(back.rank, 3);
    assert_true(back.job == 0x0123456789abcdefULL);
    assert_int_equal(back.receives, 32);
    assert_int_equal(back.slot, 4096);
    bytes[3] ^= 1;
    assert_false(back.unpack(bytes));
    memset(bytes, 0, sizeof(bytes));
    assert_false(back.unpack(bytes));
}

} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_and_back),
        cmocka_unit_test(test_only_messages_are_taken),
        cmocka_unit_test(test_hello_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
