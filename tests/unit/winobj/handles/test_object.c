/* SPDX-License-Identifier: MIT */
/* test_object.c - an object by its name (handle.h), which neither keeps it nor needs a handle of it. */
#include "tests/support/win32_test.h"

#include "winobj/handles/handle.h"

static unsigned destroyed;
static HANDLE name;
static bool found_while_destroyed;

static void destroy(struct win_object *object)
{
    (void)object;
    found_while_destroyed = win_object_find(name);
    destroyed++;
}

static const struct win_object_type type = { .name = "of a test", .destroy = destroy };

static void test_object_is_found_as_long_as_it_is_referenced(void **state)
{
    static struct win_object object;
    HANDLE handle = win_handle_open(&object, &type);

    (void)state;
    assert_non_null(handle);
    name = win_object_name(&object);
    assert_ptr_equal(win_object_find(name), &object);
    assert_true(CloseHandle(handle));
    assert_null(win_handle_pin(handle, &type));
    assert_ptr_equal(win_object_find(name), &object); /* the first find has it still */
    win_object_unref(&object);
    assert_int_equal(destroyed, 0);
    win_object_unref(&object);
    assert_int_equal(destroyed, 1);
    assert_false(found_while_destroyed);
    assert_null(win_object_find(name)); /* no other object has its slot yet */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_object_is_found_as_long_as_it_is_referenced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
