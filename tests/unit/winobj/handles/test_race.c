/* SPDX-License-Identifier: MIT */
/*
 * test_race.c - threads that set, wait for and close the same handles at once. Whatever the order: each call succeeds
 * or says that the handle is none, and nothing hangs.
 */
#include "tests/unit/winobj/fake_source.h"

#include <pthread.h>
#include <stdlib.h>

enum { SLOTS = 4, THREADS = 6, STEPS = 6000 };

struct ring {
    _Atomic(HANDLE) events[SLOTS];
    _Atomic(HANDLE) port;
    atomic_int failed; /* line of the first wrong answer */
};

struct worker {
    struct ring *ring;
    unsigned seed;
};

static void expect(struct ring *ring, bool right, int line)
{
    int none = 0;

    if (!right)
        atomic_compare_exchange_strong(&ring->failed, &none, line);
}

static bool said_invalid(void)
{
    return GetLastError() == ERROR_INVALID_HANDLE;
}

static void wait_for_some(struct ring *ring, unsigned choice)
{
    HANDLE handles[SLOTS];
    DWORD result;
    bool all = choice & 1;

    for (int i = 0; i < SLOTS; i++)
        handles[i] = atomic_load(&ring->events[i]);
    result = WaitForMultipleObjects(SLOTS, handles, all, choice & 2 ? 1 : 0);
    expect(ring,
        result == WAIT_TIMEOUT || result < (all ? 1 : SLOTS) ||
            (result == WAIT_FAILED && said_invalid()),
        __LINE__);
}

static void use_port(struct ring *ring, unsigned choice)
{
    HANDLE port = atomic_load(&ring->port);
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD bytes;

    if (choice & 1) {
        expect(ring, PostQueuedCompletionStatus(port, 0, 7, NULL) || said_invalid(), __LINE__);
    } else if (GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, choice & 2 ? 1 : 0)) {
        expect(ring, key == 7, __LINE__);
    } else {
        DWORD error = GetLastError();

        expect(ring,
            error == WAIT_TIMEOUT || error == ERROR_ABANDONED_WAIT_0 ||
                error == ERROR_INVALID_HANDLE,
            __LINE__);
    }
}

static void replace(struct ring *ring, unsigned index, unsigned choice)
{
    HANDLE old;

    if (index == SLOTS)
        old =
            atomic_exchange(&ring->port, CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0));
    else
        old =
            atomic_exchange(&ring->events[index], CreateEventW(NULL, choice & 1, choice & 2, NULL));
    expect(ring, CloseHandle(old), __LINE__); /* ours alone now */
    expect(ring, !CloseHandle(old) && said_invalid(), __LINE__);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct ring *ring = worker->ring;

    for (int step = 0; step < STEPS; step++) {
        unsigned choice = (unsigned)rand_r(&worker->seed);
        HANDLE event = atomic_load(&ring->events[choice / 16 % SLOTS]);

        switch (choice % 16) {
        case 0: replace(ring, choice / 16 % (SLOTS + 1), choice / 128); break;
        case 1:
        case 2: wait_for_some(ring, choice / 16); break;
        case 3:
        case 4:
        case 5: use_port(ring, choice / 16); break;
        case 6:
        case 7: expect(ring, ResetEvent(event) || said_invalid(), __LINE__); break;
        case 8:
        case 9:
            expect(ring, WaitForSingleObject(event, 1) != WAIT_FAILED || said_invalid(), __LINE__);
            break;
        default: expect(ring, SetEvent(event) || said_invalid(), __LINE__); break;
        }
    }
    return NULL;
}

static void race(void)
{
    struct ring ring = { .failed = 0 };
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < SLOTS; i++)
        atomic_init(&ring.events[i], CreateEventW(NULL, i & 1, FALSE, NULL));
    atomic_init(&ring.port, CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0));
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ &ring, i + 1 };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(ring.failed, 0);
    for (int i = 0; i < SLOTS; i++)
        assert_true(CloseHandle(ring.events[i]));
    assert_true(CloseHandle(ring.port));
}

static void test_race_of_waits_signals_and_closes(void **state)
{
    (void)state;
    race();
}

static void test_race_with_a_source_to_lead(void **state)
{
    struct fake_source fake = { 0 };

    (void)state;
    fake_source_add(&fake);
    race();
    fake_source_remove(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_race_of_waits_signals_and_closes),
        cmocka_unit_test(test_race_with_a_source_to_lead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
