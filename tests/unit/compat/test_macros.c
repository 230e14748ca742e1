/* SPDX-License-Identifier: MIT */
/* test_macros.c - what the base header has as macros: memory, numbers, codes, fields, interlocked operations. */
#include "tests/support/win32_test.h"

#include <unknwn.h>

#ifndef _WIN32
#include <signal.h>
#include <ucontext.h>
#endif

static void test_memory(void **state)
{
    char a[8] = "abcdefg", b[8];
    BYTE zero[4];

    (void)state;
    RtlCopyMemory(b, a, 8);
    assert_true(RtlEqualMemory(a, b, 8));
    CopyMemory(b, "xyz", 3);
    assert_string_equal(b, "xyzdefg");
    MoveMemory(b + 1, b, 3);
    assert_string_equal(b, "xxyzefg");
    RtlMoveMemory(b, b + 1, 3);
    assert_string_equal(b, "xyzzefg");
    FillMemory(b, 2, 'f');
    RtlFillMemory(b + 2, 2, 'g');
    assert_string_equal(b, "ffggefg");
    ZeroMemory(zero, sizeof(zero));
    assert_int_equal(zero[3], 0);
    zero[1] = 1;
    RtlZeroMemory(zero, sizeof(zero));
    assert_int_equal(zero[1], 0);
    zero[2] = 1;
    SecureZeroMemory(zero, sizeof(zero));
    assert_int_equal(zero[2], 0);
    assert_int_equal(ARRAYSIZE(a) + RTL_NUMBER_OF(a) + _countof(a), 24);
}

static void test_numbers_and_handles(void **state)
{
    HANDLE handle = UlongToHandle(0x12345678);

    (void)state;
    assert_int_equal(MAKELONG(0x5678, 0x1234), 0x12345678);
    assert_int_equal(LOWORD(0x12345678), 0x5678);
    assert_int_equal(HIWORD(0x12345678), 0x1234);
    assert_int_equal(LOBYTE(0x1234), 0x34);
    assert_int_equal(HIBYTE(0x1234), 0x12);
    assert_int_equal(HandleToULong(handle), 0x12345678);
    assert_int_equal(HandleToUlong(handle), 0x12345678);
    assert_int_equal(HandleToLong(LongToHandle(-1)), -1);
    assert_ptr_equal(LongToHandle(-1), INVALID_HANDLE_VALUE);
    assert_ptr_equal(ULongToHandle(0x12345678), handle);
    assert_ptr_equal(UlongToPtr(5), UIntToPtr(5));
    assert_int_equal(PtrToInt(IntToPtr(-5)), -5);
    assert_int_equal(PtrToUlong((void *)5), 5);
    assert_int_equal(PtrToUint((void *)5), 5);
    assert_int_equal(PtrToLong(LongToPtr(-5)), -5);
    assert_ptr_equal(ULongToPtr(5), UintToPtr(5));
#ifndef _WIN32 /* MinGW has other spellings alone */
    assert_int_equal(PtrToUInt((void *)5), PtrToULong((void *)5));
#endif
}

static void test_codes(void **state)
{
    (void)state;
    assert_int_equal((ULONG)MAKE_HRESULT(SEVERITY_ERROR, FACILITY_WIN32, 5), 0x80070005);
    assert_int_equal((ULONG)HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED), 0x80070005);
    assert_int_equal((ULONG)HRESULT_FROM_WIN32(0x80070005), 0x80070005);
    assert_int_equal(HRESULT_FROM_WIN32(0), 0);
    assert_int_equal((ULONG)HRESULT_FROM_NT(0xC0000005), 0xD0000005);
    assert_int_equal(HRESULT_CODE(E_ACCESSDENIED), 5);
    assert_int_equal(SCODE_CODE(E_ACCESSDENIED), 5);
    assert_int_equal(HRESULT_FACILITY(E_ACCESSDENIED), FACILITY_WIN32);
    assert_int_equal(HRESULT_SEVERITY(E_ACCESSDENIED), SEVERITY_ERROR);
    assert_true(IS_ERROR(E_FAIL));
    assert_false(IS_ERROR(S_FALSE));
#ifndef _WIN32 /* MinGW has these in the headers for drivers */
    assert_true(NT_SUCCESS(0x103) && !NT_SUCCESS(0x80000005));
    assert_true(NT_INFORMATION(0x40000000) && !NT_INFORMATION(0));
    assert_true(NT_WARNING(0x80000005) && !NT_WARNING(0xC0000005));
    assert_true(NT_ERROR(0xC0000005) && !NT_ERROR(0x80000005));
#endif
}

static DWORD no_return_of_the_parameter(DWORD parameter)
{
    UNREFERENCED_PARAMETER(parameter);
    DBG_UNREFERENCED_PARAMETER(parameter);
    return 1;
}

static DECLSPEC_ALIGN(64) BYTE aligned[3];

static void test_fields_and_words(void **state)
{
    int unused = 0;
    OVERLAPPED overlapped;
    __int8 i8 = -1;
    __int16 i16 = -1;
    __int32 i32 = -1;

    (void)state;
    UNREFERENCED_LOCAL_VARIABLE(unused);
    assert_int_equal(no_return_of_the_parameter(0), 1);
    assert_int_equal((ULONG_PTR)aligned % 64, 0);
    assert_int_equal(i8 + i16 + i32, -3);
    assert_int_equal(sizeof(i8) + sizeof(i16) + sizeof(i32) + sizeof(__int64), 15);
    assert_int_equal(RTL_SIZEOF_THROUGH_FIELD(OVERLAPPED, Pointer), 24);
    assert_true(RTL_CONTAINS_FIELD(&overlapped, sizeof(overlapped), hEvent));
    assert_false(RTL_CONTAINS_FIELD(&overlapped, 24, hEvent));
    assert_ptr_equal(CONTAINING_RECORD(&overlapped.hEvent, OVERLAPPED, hEvent), &overlapped);
    assert_string_equal(TEXT("narrow"), __TEXT("narrow"));
    assert_int_equal(min(3, 4) + max(3, 4), 7);
    assert_true(IsEqualCLSID(&IID_IUnknown, &IID_IUnknown));
#ifndef _WIN32 /* newer than MinGW's headers, or the compiler's */
    assert_int_equal(UFIELD_OFFSET(OVERLAPPED, hEvent), 24);
    __assume(unused == 0);
#endif
}

static void test_interlocked(void **state)
{
    volatile LONG narrow = 5;
    volatile LONG64 wide = 5;

    (void)state;
    assert_int_equal(InterlockedAdd64(&wide, 3), 8);
    assert_int_equal(InterlockedAnd64(&wide, 12), 8);
    assert_int_equal(InterlockedOr64(&wide, 3), 8);
    assert_int_equal(InterlockedXor64(&wide, 1), 11);
    assert_int_equal(InterlockedDecrement64(&wide), 9);
    assert_int_equal(InterlockedExchange64(&wide, 5), 9);
    assert_int_equal(_InterlockedIncrement(&narrow), 6);
    assert_int_equal(_InterlockedDecrement(&narrow), 5);
    assert_int_equal(_InterlockedExchangeAdd(&narrow, 3), 5);
    assert_int_equal(_InterlockedAnd(&narrow, 12), 8);
    assert_int_equal(_InterlockedOr(&narrow, 3), 8);
    assert_int_equal(_InterlockedXor(&narrow, 1), 11);
    assert_int_equal(_InterlockedCompareExchange(&narrow, 7, 10), 10);
    assert_int_equal(_InterlockedExchange(&narrow, 1), 7);
    assert_int_equal(_InterlockedAnd64(&wide, 7), 5);
    assert_int_equal(_InterlockedOr64(&wide, 2), 5);
    assert_int_equal(_InterlockedXor64(&wide, 2), 7);
    assert_int_equal(_InterlockedIncrement64(&wide), 6);
    assert_int_equal(_InterlockedDecrement64(&wide), 5);
    assert_int_equal(_InterlockedExchangeAdd64(&wide, 3), 5);
    assert_int_equal(_InterlockedCompareExchange64(&wide, 7, 8), 8);
    assert_int_equal(_InterlockedExchange64(&wide, 1), 7);
    MemoryBarrier();
    YieldProcessor();
#ifndef _WIN32 /* a function of <intrin.h> there */
    _ReadWriteBarrier();
#endif
}

static void test_extended_waits(void **state)
{
    HANDLE events[2] = { CreateEventA(NULL, TRUE, TRUE, NULL),
        CreateEventA(NULL, TRUE, FALSE, NULL) };

    (void)state;
    assert_int_equal(WaitForSingleObjectEx(events[0], LONG_MS, TRUE), WAIT_OBJECT_0);
    assert_int_equal(WaitForMultipleObjectsEx(2, events, FALSE, 0, TRUE), WAIT_OBJECT_0);
    assert_int_equal(WaitForMultipleObjectsEx(2, events, TRUE, 0, FALSE), WAIT_TIMEOUT);
    assert_int_equal(SleepEx(1, TRUE), 0);
    assert_true(GetCurrentProcessId() != 0);
    CloseHandle(events[0]);
    CloseHandle(events[1]);
}

#ifndef _WIN32 /* without a debugger these end the process */
static volatile sig_atomic_t stops;

/* As a debugger that continues: on x86 the program already stands behind the breakpoint. */
static void continue_behind(int number, siginfo_t *info, void *context)
{
    (void)info;
#ifdef __aarch64__
    ((ucontext_t *)context)->uc_mcontext.pc += 4;
#else
    (void)context;
#endif
    stops += number == SIGTRAP;
}

static void test_a_program_goes_on_behind_breakpoints(void **state)
{
    struct sigaction action = { .sa_sigaction = continue_behind, .sa_flags = SA_SIGINFO }, before;

    (void)state;
    assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
    __debugbreak();
    assert_int_equal(stops, 1);
    DebugBreak();
    assert_int_equal(stops, 2);
    sigaction(SIGTRAP, &before, NULL);
}

static void test_closing_all_streams_flushes(void **state)
{
    FILE *file = fopen("fcloseall.txt", "w");
    char text[8];

    (void)state;
    fprintf(file, "held");
    assert_int_equal(_fcloseall(), 0);
    assert_non_null(file = fopen("fcloseall.txt", "r"));
    assert_ptr_equal(fgets(text, sizeof(text), file), text);
    assert_string_equal(text, "held");
    fclose(file);
    remove("fcloseall.txt");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_numbers_and_handles),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_fields_and_words),
        cmocka_unit_test(test_interlocked),
        cmocka_unit_test(test_extended_waits),
#ifndef _WIN32
        cmocka_unit_test(test_a_program_goes_on_behind_breakpoints),
        cmocka_unit_test(test_closing_all_streams_flushes),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
