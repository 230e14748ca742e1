/* SPDX-License-Identifier: MIT */
#include "cmocka_test.h"

#include "util/list.h"

struct item {
    int value;
    struct list_node link;
};

static void test_list_keeps_the_order_of_insertion(void **state)
{
    struct item a = { .value = 1 }, b = { .value = 2 }, c = { .value = 3 };
    struct list_head head;
    int expected = 1;

    (void)state;
    list_init(&head);
    list_add_tail(&head, &b.link);
    list_add_tail(&head, &c.link);
    list_add_head(&head, &a.link);
    list_for_each (&head, node)
        assert_int_equal(list_entry(node, struct item, link)->value, expected++);
    assert_int_equal(expected, 4);
}

static void test_list_deleted_node_is_unlinked_and_may_be_deleted_in_a_loop(void **state)
{
    struct item a = { .value = 1 }, b = { .value = 2 };
    struct list_head head;

    (void)state;
    list_init(&head);
    list_add_tail(&head, &a.link);
    list_add_tail(&head, &b.link);
    list_for_each_safe (&head, node)
        list_del(node);
    assert_true(list_empty(&head));
    assert_false(list_linked(&a.link));
    assert_null(list_pop(&head));
}

static void test_list_splice_appends_and_empties_the_source(void **state)
{
    struct item a = { .value = 1 }, b = { .value = 2 }, c = { .value = 3 };
    struct list_head to, from;

    (void)state;
    list_init(&to);
    list_init(&from);
    list_splice_tail(&to, &from);
    assert_true(list_empty(&to));
    list_add_tail(&to, &a.link);
    list_add_tail(&from, &b.link);
    list_add_tail(&from, &c.link);
    list_splice_tail(&to, &from);
    assert_true(list_empty(&from));
    for (int expected = 1; expected <= 3; expected++)
        assert_int_equal(list_entry(list_pop(&to), struct item, link)->value, expected);
    assert_null(list_pop(&to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_keeps_the_order_of_insertion),
        cmocka_unit_test(test_list_deleted_node_is_unlinked_and_may_be_deleted_in_a_loop),
        cmocka_unit_test(test_list_splice_appends_and_empties_the_source),
    };

    return cmocka_run_group_tests_name("util.list", tests, NULL, NULL);
}
