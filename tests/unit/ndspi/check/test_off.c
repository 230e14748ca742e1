/* SPDX-License-Identifier: MIT */
/*
 * test_off.c - the checker of programs costs nothing without NDSPI_CHECK: the program has the objects themselves, by
 * the tables that their facades made. With it there are wrappers.
 */
#include "ndspi/v2/nd2.h"
#include "tests/support/nd_end.h"

#include <ndspi_linux.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Whether the library's own interface of a queue is the one that the program has. */
static bool has_objects_themselves(void)
{
    struct sockaddr_in address = nd_end_address(0, 0);
    IND2CompletionQueue *cq, *own;
    IND2Adapter *adapter;
    HANDLE file;

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        0);
    assert_int_equal(adapter->lpVtbl->CreateOverlappedFile(adapter, &file), 0);
    assert_int_equal(adapter->lpVtbl->CreateCompletionQueue(
                         adapter, &IID_IND2CompletionQueue, file, 1, 0, 0, (void **)&cq),
        0);
    assert_int_equal(cq->lpVtbl->QueryInterface(cq, &nd2_iid_cq, (void **)&own), 0);
    own->lpVtbl->Release(own);
    cq->lpVtbl->Release(cq);
    adapter->lpVtbl->Release(adapter);
    CloseHandle(file);
    NdCleanup();
    return own == cq;
}

static void without_it_there_are_no_wrappers(void **state)
{
    (void)state;
    unsetenv("NDSPI_CHECK");
    assert_true(has_objects_themselves());
    setenv("NDSPI_CHECK", "0", 1);
    assert_true(has_objects_themselves());
}

static void with_it_there_are(void **state)
{
    (void)state;
    setenv("NDSPI_CHECK", "1", 1);
    assert_false(has_objects_themselves());
    setenv("NDSPI_CHECK", "log", 1);
    assert_false(has_objects_themselves());
}

static void counters_of_a_wrapper_take_no_reference_of_it(void **state)
{
    struct sockaddr_in address = nd_end_address(0, 0);
    ND_LINUX_COUNTERS counters;
    IND2Adapter *adapter;

    (void)state;
    setenv("NDSPI_CHECK", "1", 1);
    assert_int_equal(NdStartup(), 0);
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        0);
    for (int i = 0; i < 2; i++) {
        counters.Size = sizeof(counters);
        assert_int_equal(NdLinuxQueryCounters((IUnknown *)adapter, &counters), 0);
    }
    assert_int_equal(adapter->lpVtbl->AddRef(adapter), 2);
    assert_int_equal(adapter->lpVtbl->Release(adapter), 1);
    assert_int_equal(adapter->lpVtbl->Release(adapter), 0);
    NdCleanup();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_it_there_are_no_wrappers),
        cmocka_unit_test(with_it_there_are),
        cmocka_unit_test(counters_of_a_wrapper_take_no_reference_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
