// SPDX-License-Identifier: MIT
// test_hosts.cpp - which rank runs where; ports and numbers as text.
#include "samples/ndmpi/hosts.h"
#include "samples/ndmpi/job.h"

#include "cmocka_cpp.h" // has a macro fail

using namespace ndmpi;

namespace
{

std::vector<Host> hosts_of(unsigned first, unsigned second)
{
    std::vector<Host> hosts(2);
    hosts[0].slots = first;
    hosts[1].slots = second;
    return hosts;
}

void test_slots_are_filled_in_turns(void **)
{
    const size_t expected[] = { 0, 0, 1, 0, 0, 1, 0 };
    std::vector<size_t> places = place(hosts_of(2, 1), 7);
    assert_int_equal(places.size(), 7);
    for (size_t i = 0; i < 7; ++i)
        assert_int_equal(places[i], expected[i]);
    assert_int_equal(place(hosts_of(8, 8), 3)[2], 0);
}

void test_ports(void **)
{
    unsigned first, last;
    assert_true(parse_ports("50000-50010", first, last));
    assert_int_equal(first, 50000);
    assert_int_equal(last, 50010);
    assert_true(parse_ports("1-1", first, last));
    const char *const bad[] = { "", "1", "-", "1-", "-1", "2-1", "1-65536", "1-2x", "x1-2",
        "1 -2" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i)
        if (parse_ports(bad[i], first, last))
            fail_msg("\"%s\" is taken", bad[i]);
}

void test_numbers(void **)
{
    unsigned number = 77;
    assert_true(parse_number("10", 10, 20, number));
    assert_int_equal(number, 10);
    assert_true(parse_number("20", 10, 20, number));
    number = 77;
    const char *const bad[] = { "", "9", "21", "-15", "+15", " 15", "15 ", "0xf",
        "99999999999999999999999" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i)
        if (parse_number(bad[i], 10, 20, number))
            fail_msg("\"%s\" is taken", bad[i]);
    assert_int_equal(number, 77);
}

} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_are_filled_in_turns),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
