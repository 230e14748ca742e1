/* SPDX-License-Identifier: MIT */
/* test_alone.c - libndspi over libwinobj alone: what a program needs that calls NetworkDirect and waits by events. */
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndsupport.h>

#include <dlfcn.h>

static void test_no_library_with_other_win32_functions_is_loaded(void **state)
{
    (void)state;
    assert_null(dlopen("libndwin32.so.0", RTLD_NOW | RTLD_NOLOAD));
}

/* Our own: Windows has no such program. There is no Winsock that NdStartup could start. */
static void test_an_adapter_opens_and_a_notify_waits_for_an_event(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    OVERLAPPED overlapped = { .hEvent = CreateEventA(NULL, TRUE, FALSE, NULL) };
    IND2Adapter *adapter;
    IND2CompletionQueue *queue;
    HANDLE file;

    (void)state;
    assert_int_equal(NdStartup(), SPEC_S_OK);
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        SPEC_ND_SUCCESS);
    assert_int_equal(adapter->lpVtbl->CreateOverlappedFile(adapter, &file), SPEC_ND_SUCCESS);
    assert_int_equal(adapter->lpVtbl->CreateCompletionQueue(
                         adapter, &IID_IND2CompletionQueue, file, 4, 0, 0, (void **)&queue),
        SPEC_ND_SUCCESS);
    assert_int_equal(queue->lpVtbl->Notify(queue, ND_CQ_NOTIFY_ANY, &overlapped), SPEC_ND_PENDING);
    assert_int_equal(queue->lpVtbl->CancelOverlappedRequests(queue), SPEC_ND_SUCCESS);
    assert_int_equal(WaitForSingleObject(overlapped.hEvent, INFINITE), SPEC_WAIT_OBJECT_0);
    assert_int_equal(
        (ULONG)queue->lpVtbl->GetOverlappedResult(queue, &overlapped, FALSE), SPEC_ND_CANCELED);
    queue->lpVtbl->Release(queue);
    adapter->lpVtbl->Release(adapter);
    assert_true(CloseHandle(file));
    assert_true(CloseHandle(overlapped.hEvent));
    assert_int_equal(NdCleanup(), SPEC_S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library_with_other_win32_functions_is_loaded),
        cmocka_unit_test(test_an_adapter_opens_and_a_notify_waits_for_an_event),
    };

    return cmocka_run_group_tests_name("ndspi.alone", tests, NULL, NULL);
}
