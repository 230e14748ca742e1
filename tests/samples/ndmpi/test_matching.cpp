// SPDX-License-Identifier: MIT
// test_matching.cpp - which message goes into which receive.
#include "cmocka_cpp.h"

#include <string.h>

#include "samples/ndmpi/matching.h"

using namespace ndmpi;

namespace
{

Header header(INT32 tag, UINT32 length)
{
    Header header = { EAGER, 0, tag, length, 0 };
    return header;
}

void test_oldest_receive_of_the_tag(void **)
{
    Matching matching;
    Operation first, second, other;
    Arrival arrival;
    first.tag = second.tag = 7;
    other.tag = 8;
    assert_false(matching.wanted(other, arrival));
    assert_false(matching.wanted(first, arrival));
    assert_false(matching.wanted(second, arrival));
    assert_ptr_equal(matching.arrived(7), &first);
    assert_ptr_equal(matching.arrived(7), &second);
    assert_null(matching.arrived(7));
    assert_ptr_equal(matching.arrived(8), &other);
    assert_true(matching.empty());
}

void test_oldest_message_of_the_tag_is_kept_whole(void **)
{
    Matching matching;
    Operation operation;
    Arrival arrival;
    unsigned char data[] = { 1, 2, 3, 4 };
    matching.keep(header(1, 2), data, 2);
    matching.keep(header(2, 4), data, 4);
    matching.keep(header(2, 0), data, 0);
    memset(data, 0, sizeof(data));
    operation.tag = 2;
    assert_true(matching.wanted(operation, arrival));
    assert_int_equal(arrival.header.length, 4);
    assert_int_equal(arrival.data.size(), 4);
    assert_int_equal(arrival.data[3], 4);
    assert_true(matching.wanted(operation, arrival));
    assert_int_equal(arrival.data.size(), 0);
    assert_false(matching.wanted(operation, arrival));
    operation.tag = 1;
    assert_true(matching.wanted(operation, arrival));
    assert_int_equal(arrival.data[1], 2);
}

} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oldest_receive_of_the_tag),
        cmocka_unit_test(test_oldest_message_of_the_tag_is_kept_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
