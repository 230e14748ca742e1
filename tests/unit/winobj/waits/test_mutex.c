/* SPDX-License-Identifier: MIT */
/* test_mutex.c - mutexes. */
#include "tests/support/win32_test.h"

/* What a thread does with a mutex, step by step as the test says. */
struct helper {
    HANDLE thread, mutex, go, done;
    DWORD (*step)(HANDLE mutex);
    DWORD result;
};

static DWORD WINAPI helper_run(LPVOID parameter)
{
    struct helper *helper = parameter;

    while (WaitForSingleObject(helper->go, LONG_MS) == WAIT_OBJECT_0 && helper->step) {
        helper->result = helper->step(helper->mutex);
        SetEvent(helper->done);
    }
    return 0;
}

static void helper_start(struct helper *helper, HANDLE mutex)
{
    *helper = (struct helper){ .mutex = mutex,
        .go = CreateEventW(NULL, FALSE, FALSE, NULL),
        .done = CreateEventW(NULL, FALSE, FALSE, NULL) };
    assert_non_null(helper->thread = CreateThread(NULL, 0, helper_run, helper, 0, NULL));
}

static void helper_begin(struct helper *helper, DWORD (*step)(HANDLE mutex))
{
    helper->step = step;
    assert_true(SetEvent(helper->go));
}

static DWORD helper_end(struct helper *helper)
{
    assert_wait(WaitForSingleObject(helper->done, LONG_MS), WAIT_OBJECT_0);
    return helper->result;
}

static DWORD helper_do(struct helper *helper, DWORD (*step)(HANDLE mutex))
{
    helper_begin(helper, step);
    return helper_end(helper);
}

static void helper_stop(struct helper *helper)
{
    helper_begin(helper, NULL);
    assert_wait(WaitForSingleObject(helper->thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(helper->thread));
    assert_true(CloseHandle(helper->go));
    assert_true(CloseHandle(helper->done));
}

static DWORD try_take(HANDLE mutex)
{
    return WaitForSingleObject(mutex, 0);
}

static DWORD take(HANDLE mutex)
{
    return WaitForSingleObject(mutex, LONG_MS);
}

static DWORD release(HANDLE mutex)
{
    return ReleaseMutex(mutex) ? 0 : GetLastError();
}

static void test_mutex_has_one_owner(void **state)
{
    HANDLE mutex = CreateMutexA(NULL, FALSE, NULL);
    struct helper helper;

    (void)state;
    assert_non_null(mutex);
    helper_start(&helper, mutex);
    assert_wait(WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);
    assert_int_equal(helper_do(&helper, try_take), WAIT_TIMEOUT);
    assert_int_equal(helper_do(&helper, release), SPEC_ERROR_NOT_OWNER);
    assert_true(ReleaseMutex(mutex));
    assert_fails(ReleaseMutex(mutex), SPEC_ERROR_NOT_OWNER);
    assert_int_equal(helper_do(&helper, try_take), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(mutex, 0), WAIT_TIMEOUT);
    assert_int_equal(helper_do(&helper, release), 0);
    assert_wait(WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);
    helper_begin(&helper, take);
    assert_true(ReleaseMutex(mutex)); /* to the thread that waits, or is about to */
    assert_int_equal(helper_end(&helper), WAIT_OBJECT_0);
    assert_int_equal(helper_do(&helper, release), 0);
    helper_stop(&helper);
    assert_true(CloseHandle(mutex));
}

static void test_mutex_is_taken_as_often_as_its_owner_likes(void **state)
{
    HANDLE mutex = CreateMutexW(NULL, TRUE, NULL);
    struct helper helper;

    (void)state;
    helper_start(&helper, mutex);
    for (int i = 0; i < 5; i++)
        assert_wait(WaitForSingleObject(mutex, INFINITE), WAIT_OBJECT_0);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(helper_do(&helper, try_take), WAIT_TIMEOUT);
        assert_true(ReleaseMutex(mutex));
    }
    assert_fails(ReleaseMutex(mutex), SPEC_ERROR_NOT_OWNER);
    assert_int_equal(helper_do(&helper, try_take), WAIT_OBJECT_0);
    assert_int_equal(helper_do(&helper, release), 0);
    helper_stop(&helper);
    assert_true(CloseHandle(mutex));
}

static void test_mutex_of_an_ended_thread_is_abandoned(void **state)
{
    HANDLE handles[2] = { CreateEventW(NULL, TRUE, TRUE, NULL), CreateMutexW(NULL, FALSE, NULL) };
    struct helper helper;

    (void)state;
    for (int i = 0; i < 4; i++) {
        helper_start(&helper, handles[1]);
        assert_int_equal(helper_do(&helper, try_take), WAIT_OBJECT_0);
        assert_int_equal(helper_do(&helper, try_take), WAIT_OBJECT_0);
        helper_stop(&helper); /* a thread that has seen the end finds it abandoned */
        switch (i) {
        case 0: assert_wait(WaitForSingleObject(handles[1], 0), WAIT_ABANDONED_0); break;
        case 1:
            assert_wait(WaitForMultipleObjects(2, handles, TRUE, INFINITE), WAIT_ABANDONED_0);
            break;
        case 2:
            assert_wait(
                WaitForMultipleObjects(2, handles, FALSE, 0), WAIT_OBJECT_0); /* fall through */
        default:
            assert_true(ResetEvent(handles[0]));
            assert_wait(WaitForMultipleObjects(2, handles, FALSE, 0), WAIT_ABANDONED_0 + 1);
        }
        /* Abandoned once, whichever thread owns it now. */
        assert_wait(WaitForSingleObject(handles[1], 0), WAIT_OBJECT_0);
        assert_true(ReleaseMutex(handles[1]));
        assert_true(ReleaseMutex(handles[1]));
        assert_fails(ReleaseMutex(handles[1]), SPEC_ERROR_NOT_OWNER);
        assert_wait(WaitForSingleObject(handles[1], 0), WAIT_OBJECT_0);
        assert_true(ReleaseMutex(handles[1]));
        assert_true(SetEvent(handles[0]));
    }
    assert_true(CloseHandle(handles[0]));
    assert_true(CloseHandle(handles[1]));
}

static void test_mutex_end_of_the_owner_ends_a_wait(void **state)
{
    HANDLE mutex = CreateMutexW(NULL, FALSE, NULL);
    struct helper owner, waiter;

    (void)state;
    helper_start(&owner, mutex);
    helper_start(&waiter, mutex);
    assert_int_equal(helper_do(&owner, try_take), WAIT_OBJECT_0);
    helper_begin(&waiter, take);
    helper_stop(&owner);
    assert_int_equal(helper_end(&waiter), WAIT_ABANDONED_0);
    assert_int_equal(helper_do(&waiter, release), 0);
    helper_stop(&waiter);
    assert_true(CloseHandle(mutex));
}

static void test_mutex_in_a_wait_for_all(void **state)
{
    HANDLE handles[3] = { CreateMutexW(NULL, FALSE, NULL), CreateEventW(NULL, FALSE, FALSE, NULL),
        CreateMutexW(NULL, TRUE, NULL) };
    struct helper helper;

    (void)state;
    helper_start(&helper, handles[0]);
    assert_wait(WaitForMultipleObjects(3, handles, TRUE, 10), WAIT_TIMEOUT);
    assert_int_equal(helper_do(&helper, try_take), WAIT_OBJECT_0); /* was left alone */
    assert_true(SetEvent(handles[1]));
    assert_wait(WaitForMultipleObjects(3, handles, TRUE, 0), WAIT_TIMEOUT);
    helper_begin(&helper, release);
    assert_wait(WaitForMultipleObjects(3, handles, TRUE, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(helper_end(&helper), 0);
    assert_wait(WaitForSingleObject(handles[1], 0), WAIT_TIMEOUT);
    assert_int_equal(helper_do(&helper, try_take), WAIT_TIMEOUT);
    assert_true(ReleaseMutex(handles[0]));
    assert_true(ReleaseMutex(handles[2]));
    assert_true(ReleaseMutex(handles[2]));
    helper_stop(&helper);
    for (int i = 0; i < 3; i++)
        assert_true(CloseHandle(handles[i]));
}

static volatile LONG inside, total;

static DWORD count_up(HANDLE mutex)
{
    for (int i = 0; i < 2000; i++) {
        if (WaitForSingleObject(mutex, LONG_MS) != WAIT_OBJECT_0 ||
            InterlockedIncrement(&inside) != 1)
            return 1;
        total = total + 1;
        InterlockedDecrement(&inside);
        if (!ReleaseMutex(mutex))
            return 2;
    }
    return 0;
}

static void test_mutex_excludes(void **state)
{
    enum { THREADS = 4 };
    HANDLE mutex = CreateMutexW(NULL, FALSE, NULL);
    struct helper helpers[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        helper_start(&helpers[i], mutex);
    for (int i = 0; i < THREADS; i++)
        helper_begin(&helpers[i], count_up);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(helper_end(&helpers[i]), 0);
    assert_int_equal(total, THREADS * 2000);
    for (int i = 0; i < THREADS; i++)
        helper_stop(&helpers[i]);
    assert_true(CloseHandle(mutex));
}

static DWORD make_and_close(HANDLE unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        HANDLE mutex = CreateMutexW(NULL, TRUE, NULL);

        if (!mutex || !CloseHandle(mutex))
            return 1;
    }
    return 0;
}

/* Closed while owned: its owner has it no more, and its end touches nothing. */
static void test_mutex_closed_by_its_owner(void **state)
{
    struct helper helper;

    (void)state;
    helper_start(&helper, NULL);
    assert_int_equal(helper_do(&helper, make_and_close), 0);
    helper_stop(&helper);
    assert_int_equal(make_and_close(NULL), 0);
}

static void test_mutex_creation(void **state)
{
    HANDLE mutex, event = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)state;
    SetLastError(87);
    assert_non_null(mutex = CreateMutexExA(NULL, NULL, CREATE_MUTEX_INITIAL_OWNER, 0x1F0001));
    assert_win_error(0);
    assert_true(ReleaseMutex(mutex));
    assert_fails(ReleaseMutex(mutex), SPEC_ERROR_NOT_OWNER);
    assert_true(CloseHandle(mutex));
    assert_non_null(mutex = CreateMutexExW(NULL, NULL, 0, 0x1F0001));
    assert_fails(ReleaseMutex(mutex), SPEC_ERROR_NOT_OWNER);
    assert_true(CloseHandle(mutex));
    assert_fails(ReleaseMutex(mutex), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(ReleaseMutex(event), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(event));
    assert_true(CreateMutex == CreateMutexA && CreateMutexEx == CreateMutexExA);
#ifndef _WIN32 /* Wine takes any flag */
    assert_fails(CreateMutexExW(NULL, NULL, 2, 0x1F0001), SPEC_ERROR_INVALID_PARAMETER);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutex_has_one_owner),
        cmocka_unit_test(test_mutex_is_taken_as_often_as_its_owner_likes),
        cmocka_unit_test(test_mutex_of_an_ended_thread_is_abandoned),
        cmocka_unit_test(test_mutex_end_of_the_owner_ends_a_wait),
        cmocka_unit_test(test_mutex_in_a_wait_for_all),
        cmocka_unit_test(test_mutex_excludes),
        cmocka_unit_test(test_mutex_closed_by_its_owner),
        cmocka_unit_test(test_mutex_creation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
