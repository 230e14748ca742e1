/* SPDX-License-Identifier: MIT */
/*
 * test_named_alert.c - a thread asleep in an alertable wait for objects with names, which another process signals: what
 * came first ends the wait, and what came second stays.
 */
#include "tests/support/asleep.h"
#include "tests/support/start_self.h"

#include <sched.h>
#include <stdatomic.h>

enum { GIFTS = 500 };

static const char *program;
static char base[64]; /* of the names of this run */

static const char *name_of(const char *what)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", base, what);
    return name;
}

/* The other process: does what an octet says, and tells the result. */
static int serve(int from, int to)
{
    HANDLE event = OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("event"));
    HANDLE mutex = OpenMutexA(MUTEX_ALL_ACCESS, FALSE, name_of("mutex"));
    HANDLE semaphore = OpenSemaphoreA(SEMAPHORE_ALL_ACCESS, FALSE, name_of("semaphore"));
    DWORD result = 0;
    char said;

    while (start_receive(from, &said, 1)) {
        switch (said) {
        case 'e': result = SetEvent(event) ? 1 : GetLastError(); break;
        case 'm': result = WaitForSingleObject(mutex, 0); break;
        case 'r': result = ReleaseMutex(mutex) ? 1 : GetLastError(); break;
        case 's':
            result = 1;
            for (int i = 0; i < GIFTS && result == 1; i++)
                result = ReleaseSemaphore(semaphore, 1, NULL) ? 1 : GetLastError();
            break;
        default: return 81;
        }
        if (!start_send(to, &result, sizeof(result)))
            return 82;
    }
    return 7;
}

static struct {
    struct started other;
    HANDLE event, mutex, semaphore;
} world;

static int setup(void **state)
{
    (void)state;
    world.event = CreateEventA(NULL, FALSE, FALSE, name_of("event"));
    world.mutex = CreateMutexA(NULL, FALSE, name_of("mutex"));
    world.semaphore = CreateSemaphoreA(NULL, 0, GIFTS, name_of("semaphore"));
    world.other = start_self(program, "serve");
    return !world.event || !world.mutex || !world.semaphore;
}

static int teardown(void **state)
{
    (void)state;
    CloseHandle(world.event);
    CloseHandle(world.mutex);
    CloseHandle(world.semaphore);
    return start_wait(&world.other) != 7;
}

static void ask(char what)
{
    assert_true(start_send(world.other.to, &what, 1));
}

static DWORD answer(void)
{
    DWORD result = 0xdead;

    assert_true(start_receive(world.other.from, &result, sizeof(result)));
    return result;
}

/* The other process has done it when this returns. */
static DWORD other_does(char what)
{
    ask(what);
    return answer();
}

struct sleeper {
    HANDLE thread, objects[2];
    DWORD count, result;
    BOOL all;
    atomic_int number;
    unsigned called;
};

static void CALLBACK call(ULONG_PTR data)
{
    ((struct sleeper *)data)->called++;
}

static DWORD WINAPI wait_for_objects(LPVOID argument)
{
    struct sleeper *sleeper = argument;

    atomic_store(&sleeper->number, thread_number());
    sleeper->result =
        WaitForMultipleObjectsEx(sleeper->count, sleeper->objects, sleeper->all, INFINITE, TRUE);
    return 0;
}

/* Returns when the thread sleeps; it does nothing but its wait. */
static void start(struct sleeper *sleeper, HANDLE first, HANDLE second, BOOL all)
{
    *sleeper =
        (struct sleeper){ .objects = { first, second }, .count = second ? 2 : 1, .all = all };
    assert_non_null(sleeper->thread = CreateThread(NULL, 0, wait_for_objects, sleeper, 0, NULL));
    while (!atomic_load(&sleeper->number) || !thread_is_asleep(atomic_load(&sleeper->number)))
        sched_yield();
}

static void queue(struct sleeper *sleeper)
{
    assert_int_equal(QueueUserAPC(call, sleeper->thread, (ULONG_PTR)sleeper), 1);
}

/* The wait has ended: this fails if its thread has ended as well. */
static void queue_late(struct sleeper *sleeper)
{
    QueueUserAPC(call, sleeper->thread, (ULONG_PTR)sleeper);
}

static void finish(struct sleeper *sleeper)
{
    assert_wait(WaitForSingleObject(sleeper->thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(sleeper->thread));
}

static void test_signal_after_the_call_stays(void **state)
{
    struct sleeper sleeper;

    (void)state;
    start(&sleeper, world.event, NULL, FALSE);
    queue(&sleeper);
    assert_int_equal(other_does('e'), 1);
    finish(&sleeper);
    assert_int_equal(sleeper.result, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(sleeper.called, 1);
    assert_wait(WaitForSingleObject(world.event, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(world.event, 0), WAIT_TIMEOUT);
}

static void test_call_after_the_signal_stays(void **state)
{
    struct sleeper sleeper;

    (void)state;
    start(&sleeper, world.event, NULL, FALSE);
    assert_int_equal(other_does('e'), 1);
    queue_late(&sleeper);
    finish(&sleeper);
    assert_int_equal(sleeper.result, WAIT_OBJECT_0);
    assert_int_equal(sleeper.called, 0);
    assert_wait(WaitForSingleObject(world.event, 0), WAIT_TIMEOUT);
}

static void test_mutex_released_after_the_call_stays_free(void **state)
{
    struct sleeper sleeper;

    (void)state;
    assert_int_equal(other_does('m'), WAIT_OBJECT_0);
    start(&sleeper, world.mutex, NULL, FALSE);
    queue(&sleeper);
    assert_int_equal(other_does('r'), 1);
    finish(&sleeper);
    assert_int_equal(sleeper.result, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(sleeper.called, 1);
    assert_wait(WaitForSingleObject(world.mutex, 0), WAIT_OBJECT_0);
    assert_true(ReleaseMutex(world.mutex));
}

static void test_mutex_released_before_the_call_is_acquired(void **state)
{
    struct sleeper sleeper;

    (void)state;
    assert_int_equal(other_does('m'), WAIT_OBJECT_0);
    start(&sleeper, world.mutex, NULL, FALSE);
    assert_int_equal(other_does('r'), 1);
    queue_late(&sleeper);
    finish(&sleeper);
    assert_int_equal(sleeper.result, WAIT_OBJECT_0);
    assert_int_equal(sleeper.called, 0);
    assert_wait(WaitForSingleObject(world.mutex, 0), WAIT_ABANDONED); /* the thread had it */
    assert_true(ReleaseMutex(world.mutex));
}

/* A signal passes over the wait that the call ended, to the one behind it. */
static void test_signal_goes_to_the_next_wait(void **state)
{
    struct sleeper first, second;

    (void)state;
    start(&first, world.event, NULL, FALSE);
    start(&second, world.event, NULL, FALSE);
    queue(&first);
    assert_int_equal(other_does('e'), 1);
    queue_late(&second);
    finish(&second);
    assert_wait(WaitForSingleObject(first.thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(first.thread));
    assert_int_equal(first.result, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(second.result, WAIT_OBJECT_0);
    assert_int_equal(second.called, 0);
    assert_wait(WaitForSingleObject(world.event, 0), WAIT_TIMEOUT);
}

static void test_wait_for_any_beside_an_object_without_a_name(void **state)
{
    HANDLE own = CreateEventA(NULL, FALSE, FALSE, NULL);
    struct sleeper sleeper;

    (void)state;
    start(&sleeper, own, world.event, FALSE);
    queue(&sleeper);
    assert_true(SetEvent(own));
    assert_int_equal(other_does('e'), 1);
    finish(&sleeper);
    assert_int_equal(sleeper.result, SPEC_WAIT_IO_COMPLETION);
    assert_wait(WaitForSingleObject(own, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(world.event, 0), WAIT_OBJECT_0);

    start(&sleeper, own, world.event, FALSE);
    assert_true(SetEvent(own));
    queue_late(&sleeper);
    assert_int_equal(other_does('e'), 1);
    finish(&sleeper);
    assert_int_equal(sleeper.result, WAIT_OBJECT_0);
    assert_int_equal(sleeper.called, 0);
    assert_wait(WaitForSingleObject(own, 0), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(world.event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(own));
}

static void test_wait_for_all_takes_nothing_after_the_call(void **state)
{
    HANDLE own = CreateEventA(NULL, FALSE, FALSE, NULL);
    struct sleeper sleeper;

    (void)state;
    start(&sleeper, own, world.event, TRUE);
    assert_int_equal(other_does('e'), 1);
    queue(&sleeper);
    assert_true(SetEvent(own));
    finish(&sleeper);
    assert_int_equal(sleeper.result, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(sleeper.called, 1);
    assert_wait(WaitForSingleObject(own, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(world.event, 0), WAIT_OBJECT_0);

    start(&sleeper, own, world.event, TRUE);
    assert_int_equal(other_does('e'), 1);
    assert_true(SetEvent(own));
    queue_late(&sleeper);
    finish(&sleeper);
    assert_int_equal(sleeper.result, WAIT_OBJECT_0);
    assert_int_equal(sleeper.called, 0);
    assert_wait(WaitForSingleObject(own, 0), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(world.event, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(own));
}

/* One thread waits alertably while units and calls come: it gets each exactly once. */
static DWORD WINAPI take_units(LPVOID argument)
{
    struct sleeper *sleeper = argument;
    unsigned units = 0;

    while (units < GIFTS || sleeper->called < GIFTS) {
        DWORD result = WaitForSingleObjectEx(world.semaphore, INFINITE, TRUE);

        if (result != WAIT_OBJECT_0 && result != SPEC_WAIT_IO_COMPLETION)
            return 1;
        units += result == WAIT_OBJECT_0;
    }
    return units == GIFTS ? 0 : 2;
}

static void test_units_and_calls_all_arrive(void **state)
{
    struct sleeper sleeper = { .count = 1 };
    DWORD code;

    (void)state;
    assert_non_null(sleeper.thread = CreateThread(NULL, 0, take_units, &sleeper, 0, NULL));
    ask('s');
    for (int i = 0; i < GIFTS; i++)
        queue(&sleeper);
    assert_int_equal(answer(), 1);
    assert_wait(WaitForSingleObject(sleeper.thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(sleeper.thread, &code));
    assert_int_equal(code, 0);
    assert_int_equal(sleeper.called, GIFTS);
    assert_wait(WaitForSingleObject(world.semaphore, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(sleeper.thread));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal_after_the_call_stays),
        cmocka_unit_test(test_call_after_the_signal_stays),
        cmocka_unit_test(test_mutex_released_after_the_call_stays_free),
        cmocka_unit_test(test_mutex_released_before_the_call_is_acquired),
        cmocka_unit_test(test_signal_goes_to_the_next_wait),
        cmocka_unit_test(test_wait_for_any_beside_an_object_without_a_name),
        cmocka_unit_test(test_wait_for_all_takes_nothing_after_the_call),
        cmocka_unit_test(test_units_and_calls_all_arrive),
    };

    if (argc == 5 && !strcmp(argv[1], "start")) {
        snprintf(base, sizeof(base), "%s", getenv("NDSPI_TEST_NAMED"));
        return serve(atoi(argv[3]), atoi(argv[4]));
    }
    program = argv[0];
    snprintf(base, sizeof(base), "ndspi-alert-%u", (unsigned)GetCurrentProcessId());
    setenv("NDSPI_TEST_NAMED", base, 1);
    return cmocka_run_group_tests(tests, setup, teardown);
}
