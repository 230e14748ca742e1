/* SPDX-License-Identifier: MIT */
/*
 * test_functions.c - what Windows has as functions is functions: their addresses can be taken, below macros, too. The
 * forms of the Interlocked functions with a weaker order. That nothing else is a macro alone: tests/abi/functions.sh.
 */
#include "tests/support/win32_test.h"

static LONG apply(LONG(WINAPI *function)(LONG volatile *), LONG volatile *number)
{
    return function(number);
}

static void test_addresses_of_functions(void **state)
{
    HANDLE(WINAPI * process)(void) = &GetCurrentProcess;
    HANDLE(WINAPI * thread)(void) = &GetCurrentThread;
    void(WINAPI * stop)(void) = &DebugBreak;
    ULONG (*number)(const void *) = &HandleToULong;
    int (*narrow_number)(const WCHAR *) = &_wtoi;
    char text[] = "abc";

    (void)state;
    assert_ptr_equal(process(), (HANDLE)(LONG_PTR)-1);
    assert_ptr_equal(thread(), (HANDLE)(LONG_PTR)-2);
    assert_int_equal(GetProcessId(GetCurrentProcess()), GetCurrentProcessId());
    assert_int_equal(GetThreadId(GetCurrentThread()), GetCurrentThreadId());
    assert_non_null(stop);
    assert_ptr_equal((RtlSecureZeroMemory)(text, 2), text);
    assert_string_equal(text, "");
    assert_int_equal(text[1] + text[2], 'c');
    assert_int_equal(number((void *)7), 7);
    assert_int_equal(narrow_number(L"-12 and more"), -12);
}

static void test_interlocked_functions_below_macros(void **state)
{
    LONG64(WINAPI * exchange)(LONG64 volatile *, LONG64) = &InterlockedExchange64;
    LONG volatile number = 4;
    LONG64 volatile wide = 1;

    (void)state;
    assert_int_equal(apply(&InterlockedIncrement, &number), 5);
    assert_int_equal(apply(&InterlockedDecrement, &number), 4);
    assert_int_equal((InterlockedCompareExchange)(&number, 9, 4), 4);
    assert_int_equal(number, 9);
    assert_true(exchange(&wide, 0x500000000) == 1);
    assert_true(wide == 0x500000000);
}

#ifndef _WIN32 /* MinGW has a few of these alone */
static void test_acquire(void **state)
{
    LONG narrow = 0;
    LONG64 wide = 0;

    (void)state;
    assert_int_equal(InterlockedIncrementAcquire(&narrow), 1);
    assert_int_equal(InterlockedIncrementAcquire64(&wide), 1);
    assert_int_equal(InterlockedDecrementAcquire(&narrow), 0);
    assert_int_equal(InterlockedDecrementAcquire64(&wide), 0);
    assert_int_equal(InterlockedAddAcquire(&narrow, 6), 6);
    assert_int_equal(InterlockedAddAcquire64(&wide, 6), 6);
    assert_int_equal(InterlockedExchangeAcquire(&narrow, 12), 6);
    assert_int_equal(InterlockedExchangeAcquire64(&wide, 12), 6);
    assert_int_equal(InterlockedExchangeAddAcquire(&narrow, 3), 12);
    assert_int_equal(InterlockedExchangeAddAcquire64(&wide, 3), 12);
    assert_int_equal(InterlockedAndAcquire(&narrow, 10), 15);
    assert_int_equal(InterlockedAnd64Acquire(&wide, 10), 15);
    assert_int_equal(InterlockedOrAcquire(&narrow, 5), 10);
    assert_int_equal(InterlockedOr64Acquire(&wide, 5), 10);
    assert_int_equal(InterlockedXorAcquire(&narrow, 9), 15);
    assert_int_equal(InterlockedXor64Acquire(&wide, 9), 15);
    assert_int_equal(InterlockedCompareExchangeAcquire(&narrow, 0, 6), 6);
    assert_int_equal(InterlockedCompareExchangeAcquire64(&wide, 0, 6), 6);
}

static void test_release(void **state)
{
    LONG narrow = 0;
    LONG64 wide = 0;

    (void)state;
    assert_int_equal(InterlockedIncrementRelease(&narrow), 1);
    assert_int_equal(InterlockedIncrementRelease64(&wide), 1);
    assert_int_equal(InterlockedDecrementRelease(&narrow), 0);
    assert_int_equal(InterlockedDecrementRelease64(&wide), 0);
    assert_int_equal(InterlockedAddRelease(&narrow, 6), 6);
    assert_int_equal(InterlockedAddRelease64(&wide, 6), 6);
    narrow = wide = 12;
    assert_int_equal(InterlockedExchangeAddRelease(&narrow, 3), 12);
    assert_int_equal(InterlockedExchangeAddRelease64(&wide, 3), 12);
    assert_int_equal(InterlockedAndRelease(&narrow, 10), 15);
    assert_int_equal(InterlockedAnd64Release(&wide, 10), 15);
    assert_int_equal(InterlockedOrRelease(&narrow, 5), 10);
    assert_int_equal(InterlockedOr64Release(&wide, 5), 10);
    assert_int_equal(InterlockedXorRelease(&narrow, 9), 15);
    assert_int_equal(InterlockedXor64Release(&wide, 9), 15);
    assert_int_equal(InterlockedCompareExchangeRelease(&narrow, 0, 6), 6);
    assert_int_equal(InterlockedCompareExchangeRelease64(&wide, 0, 6), 6);
}

static void test_no_fence(void **state)
{
    LONG narrow = 0;
    LONG64 wide = 0;

    (void)state;
    assert_int_equal(InterlockedIncrementNoFence(&narrow), 1);
    assert_int_equal(InterlockedIncrementNoFence64(&wide), 1);
    assert_int_equal(InterlockedDecrementNoFence(&narrow), 0);
    assert_int_equal(InterlockedDecrementNoFence64(&wide), 0);
    assert_int_equal(InterlockedAddNoFence(&narrow, 6), 6);
    assert_int_equal(InterlockedAddNoFence64(&wide, 6), 6);
    assert_int_equal(InterlockedExchangeNoFence(&narrow, 12), 6);
    assert_int_equal(InterlockedExchangeNoFence64(&wide, 12), 6);
    assert_int_equal(InterlockedExchangeAddNoFence(&narrow, 3), 12);
    assert_int_equal(InterlockedExchangeAddNoFence64(&wide, 3), 12);
    assert_int_equal(InterlockedAndNoFence(&narrow, 10), 15);
    assert_int_equal(InterlockedAnd64NoFence(&wide, 10), 15);
    assert_int_equal(InterlockedOrNoFence(&narrow, 5), 10);
    assert_int_equal(InterlockedOr64NoFence(&wide, 5), 10);
    assert_int_equal(InterlockedXorNoFence(&narrow, 9), 15);
    assert_int_equal(InterlockedXor64NoFence(&wide, 9), 15);
    assert_int_equal(InterlockedCompareExchangeNoFence(&narrow, 0, 6), 6);
    assert_int_equal(InterlockedCompareExchangeNoFence64(&wide, 0, 6), 6);
}

static void test_orders_of_pointers(void **state)
{
    int a, b;
    void *volatile at = &a;

    (void)state;
    assert_ptr_equal(InterlockedExchangePointerAcquire(&at, &b), &a);
    assert_ptr_equal(InterlockedExchangePointerNoFence(&at, &a), &b);
    assert_ptr_equal(InterlockedCompareExchangePointerAcquire(&at, &b, &a), &a);
    assert_ptr_equal(InterlockedCompareExchangePointerRelease(&at, &a, &b), &b);
    assert_ptr_equal(InterlockedCompareExchangePointerNoFence(&at, &b, &b), &a);
    assert_ptr_equal(at, &a);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_of_functions),
        cmocka_unit_test(test_interlocked_functions_below_macros),
#ifndef _WIN32 /* as above */
        cmocka_unit_test(test_acquire),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_no_fence),
        cmocka_unit_test(test_orders_of_pointers),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
