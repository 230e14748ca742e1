/* SPDX-License-Identifier: MIT */
/* test_ndk_primitives.c - lists and MDLs of ndkwdm.h. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <ndkwdm.h>

static void list_keeps_the_order_of_its_ends(void **state)
{
    LIST_ENTRY head, a, b, c;

    (void)state;
    InitializeListHead(&head);
    assert_true(IsListEmpty(&head));
    assert_ptr_equal(RemoveHeadList(&head), &head);
    InsertTailList(&head, &b);
    InsertTailList(&head, &c);
    InsertHeadList(&head, &a);
    assert_false(RemoveEntryList(&b));
    assert_ptr_equal(RemoveTailList(&head), &c);
    assert_false(IsListEmpty(&head));
    assert_true(RemoveEntryList(&a));
    assert_true(IsListEmpty(&head));
}

static void single_list_is_a_stack(void **state)
{
    SINGLE_LIST_ENTRY head = { NULL }, a, b;

    (void)state;
    assert_null(PopEntryList(&head));
    PushEntryList(&head, &a);
    PushEntryList(&head, &b);
    assert_ptr_equal(PopEntryList(&head), &b);
    assert_ptr_equal(PopEntryList(&head), &a);
    assert_null(PopEntryList(&head));
}

static void mdl_describes_its_bytes(void **state)
{
    MDL mdl;

    (void)state;
    MmInitializeMdl(&mdl, (PVOID)(ULONG_PTR)0x7FFF00001234, 0x2000);
    assert_int_equal(mdl.Size, 0x30);
    assert_null(mdl.Next);
    assert_ptr_equal(mdl.StartVa, (PVOID)(ULONG_PTR)0x7FFF00001000);
    assert_int_equal(MmGetMdlByteOffset(&mdl), 0x234);
    assert_int_equal(MmGetMdlByteCount(&mdl), 0x2000);
    assert_ptr_equal(MmGetMdlVirtualAddress(&mdl), (PVOID)(ULONG_PTR)0x7FFF00001234);
    assert_ptr_equal(MmGetSystemAddressForMdlSafe(&mdl, 0), (PVOID)(ULONG_PTR)0x7FFF00001234);
    assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(0x1234, 0x2000), 3);
    assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(0x1000, 0x2000), 2);
    assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(0x1fff, 1), 1);
    assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(0x1fff, 2), 2);
    assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(0x1000, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_keeps_the_order_of_its_ends),
        cmocka_unit_test(single_list_is_a_stack),
        cmocka_unit_test(mdl_describes_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
