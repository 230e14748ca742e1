/* SPDX-License-Identifier: MIT */
/*
 * test_found.c - a program with helper functions of its own, which finds the provider by the Winsock catalogue as on
 * Windows: it is linked with neither libndspi nor its ids. The helper functions are those of Windows programs here.
 */
#include "tests/support/win32_test.h"

#include <ws2spi.h>

#include <initguid.h>
#include <ndprovider.h>
#include <ndspi.h>
#include <ndsupport.h>

static struct sockaddr_in loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    address.sin_addr.s_addr = htonl(0x7F000001);
    return address;
}

static void test_adapters_of_both_versions_are_opened(void **state)
{
    struct sockaddr_in address = loopback();
    IND2Adapter *adapter;
    INDAdapter *before;

    (void)state;
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (VOID **)&adapter),
        0);
    assert_int_equal(NdOpenV1Adapter((struct sockaddr *)&address, sizeof(address), &before), 0);
    assert_int_equal(adapter->lpVtbl->Release(adapter), 0);
    assert_int_equal(before->lpVtbl->Release(before), 0);
    assert_int_equal(NdCleanup(), S_OK);
}

static void test_addresses_are_listed(void **state)
{
    SOCKET_ADDRESS_LIST *list;
    SIZE_T size = 0;

    (void)state;
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdQueryAddressList(0, NULL, &size), (HRESULT)SPEC_ND_BUFFER_OVERFLOW);
    assert_true(size > 0);
    assert_non_null(list = malloc(size));
    assert_int_equal(NdQueryAddressList(0, list, &size), 0);
    assert_true(list->iAddressCount > 0);
    free(list);
    NdFlushProviders();
    assert_int_equal(NdCleanup(), S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adapters_of_both_versions_are_opened),
        cmocka_unit_test(test_addresses_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
