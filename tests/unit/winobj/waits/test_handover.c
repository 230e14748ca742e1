/* SPDX-License-Identifier: MIT */
/*
 * test_handover.c - many threads in waits, one of which drives. Whichever wait ends first, one thread must drive as
 * long as any waits. There is no background thread here, so a lost hand-over makes the test hang.
 */
#include "tests/unit/winobj/fake_source.h"

#include <pthread.h>

enum { THREADS = 6, ROUNDS = 400 };

struct team {
    HANDLE events[THREADS];
    HANDLE port;
    atomic_uint next;
};

/* Each event of the source releases the next thread in turn, whichever thread drives. */
static void release_next(struct fake_source *fake, unsigned long count)
{
    struct team *team = fake->context;

    while (count--)
        SetEvent(team->events[atomic_fetch_add(&team->next, 1) % THREADS]);
}

struct member {
    struct team *team;
    unsigned index;
    unsigned rounds;
    bool failed;
};

static void *wait_rounds(void *argument)
{
    struct member *member = argument;

    for (unsigned i = 0; i < member->rounds; i++)
        member->failed |=
            WaitForSingleObject(member->team->events[member->index], INFINITE) != WAIT_OBJECT_0;
    return NULL;
}

static void team_open(struct team *team)
{
    for (int i = 0; i < THREADS; i++)
        assert_non_null(team->events[i] = CreateEventW(NULL, FALSE, FALSE, NULL));
    assert_non_null(team->port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0));
}

static void team_close(struct team *team)
{
    for (int i = 0; i < THREADS; i++)
        assert_true(CloseHandle(team->events[i]));
    assert_true(CloseHandle(team->port));
}

/*
 * One event at a time: each ends one thread's wait, often the driver's own. Completions of a source are what a driver
 * sees, so the next may be fired only when the last was taken.
 */
static void test_handover_each_wait_ends_in_turn(void **state)
{
    struct team team = { .next = 0 };
    struct fake_source fake = { .taken = release_next, .context = &team };
    struct member members[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    team_open(&team);
    fake_source_add(&fake);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (struct member){ &team, i, ROUNDS, false };
        assert_int_equal(pthread_create(&threads[i], NULL, wait_rounds, &members[i]), 0);
    }
    for (long i = 0; i < THREADS * ROUNDS; i++) {
        fake_source_fire(&fake, 1);
        assert_true(fake_source_reached(&fake, i + 1));
        /* A thread may get its next signal before it waits again; but never two. */
        if (i % THREADS == THREADS - 1)
            for (unsigned k = 0; k < THREADS; k++)
                while (WaitForSingleObject(team.events[k], 0) == WAIT_OBJECT_0 &&
                       SetEvent(team.events[k]))
                    SwitchToThread();
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(members[i].failed);
    }
    fake_source_remove(&fake);
    team_close(&team);
}

static void *time_out_often(void *argument)
{
    struct member *member = argument;
    DWORD result;
    unsigned timeouts = 0;

    do {
        result = WaitForSingleObject(member->team->events[member->index], 1 + member->index % 3);
        timeouts += result == WAIT_TIMEOUT;
    } while (result == WAIT_TIMEOUT);
    member->rounds = timeouts;
    member->failed = result != WAIT_OBJECT_0;
    return NULL;
}

/* Drivers that leave because their time is up. One thread waits for ever; it must always get its completion. */
static void test_handover_from_leaders_whose_time_is_up(void **state)
{
    struct team team = { .next = 0 };
    struct fake_source fake = { .taken = release_next, .context = &team };
    struct member members[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    team_open(&team);
    fake_source_add(&fake);
    members[0] = (struct member){ &team, 0, 100, false };
    assert_int_equal(pthread_create(&threads[0], NULL, wait_rounds, &members[0]), 0);
    for (unsigned i = 1; i < THREADS; i++) {
        members[i] = (struct member){ &team, i, 0, false };
        assert_int_equal(pthread_create(&threads[i], NULL, time_out_often, &members[i]), 0);
    }
    for (long i = 0; i < 100; i++) {
        atomic_store(&team.next, 0);
        fake_source_fire(&fake, 1);
        assert_true(fake_source_reached(&fake, i + 1));
        while (WaitForSingleObject(team.events[0], 0) == WAIT_OBJECT_0 && SetEvent(team.events[0]))
            SwitchToThread();
    }
    pthread_join(threads[0], NULL);
    assert_false(members[0].failed);
    for (unsigned i = 1; i < THREADS; i++) {
        assert_true(SetEvent(team.events[i]));
        pthread_join(threads[i], NULL);
        assert_false(members[i].failed);
    }
    fake_source_remove(&fake);
    team_close(&team);
}

static void post_packet(struct fake_source *fake, unsigned long count)
{
    struct team *team = fake->context;

    while (count--)
        PostQueuedCompletionStatus(team->port, 0, 1, NULL);
}

static void *take_packets(void *argument)
{
    struct member *member = argument;
    OVERLAPPED *overlapped;
    ULONG_PTR key = 1;
    DWORD bytes;

    while (key) {
        if (!GetQueuedCompletionStatus(member->team->port, &bytes, &key, &overlapped, LONG_MS)) {
            member->failed = true;
            return NULL;
        }
        member->rounds += key == 1;
    }
    return NULL;
}

/* Threads on one port: the driver posts packets for itself and the others. */
static void test_handover_between_threads_of_a_port(void **state)
{
    struct team team = { .next = 0 };
    struct fake_source fake = { .taken = post_packet, .context = &team };
    struct member members[THREADS];
    pthread_t threads[THREADS];
    unsigned packets = 0;

    (void)state;
    team_open(&team);
    fake_source_add(&fake);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (struct member){ &team, i, 0, false };
        assert_int_equal(pthread_create(&threads[i], NULL, take_packets, &members[i]), 0);
    }
    for (long i = 1; i <= 2000; i++) {
        fake_source_fire(&fake, 1);
        if (i % 3 == 0)
            assert_true(fake_source_reached(&fake, i));
    }
    assert_true(fake_source_reached(&fake, 2000));
    for (unsigned i = 0; i < THREADS; i++)
        assert_true(PostQueuedCompletionStatus(team.port, 0, 0, NULL));
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(members[i].failed);
        packets += members[i].rounds;
    }
    assert_int_equal(packets, 2000);
    fake_source_remove(&fake);
    team_close(&team);
}

/* Signals from outside and completions from within, at once, while sources come and go. */
static void *set_from_outside(void *argument)
{
    struct team *team = argument;

    for (unsigned i = 0; i < THREADS * ROUNDS; i++) {
        HANDLE event = team->events[i % THREADS];

        SetEvent(event);
        while (WaitForSingleObject(event, 0) == WAIT_OBJECT_0 && SetEvent(event))
            SwitchToThread();
    }
    return NULL;
}

static void test_handover_while_sources_come_and_go(void **state)
{
    struct team team = { .next = 0 };
    struct member members[THREADS];
    pthread_t threads[THREADS], outside;

    (void)state;
    team_open(&team);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (struct member){ &team, i, ROUNDS, false };
        assert_int_equal(pthread_create(&threads[i], NULL, wait_rounds, &members[i]), 0);
    }
    assert_int_equal(pthread_create(&outside, NULL, set_from_outside, &team), 0);
    for (int i = 0; i < 100; i++) {
        struct fake_source fake = { 0 };

        fake_source_add(&fake);
        fake_source_fire(&fake, 1);
        while (!atomic_load(&fake.events)) { /* the others may be through with their waits */
            reactor_look();
            SwitchToThread();
        }
        fake_source_remove(&fake);
    }
    pthread_join(outside, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(members[i].failed);
    }
    team_close(&team);
}

static void set_context(struct fake_source *fake, unsigned long count)
{
    (void)count;
    SetEvent(fake->context);
}

static void test_polling_calls_run_sources(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    struct fake_source fake = { .taken = set_context,
        .context = CreateEventW(NULL, FALSE, FALSE, NULL) };
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    fake_source_add(&fake);
    fake_source_fire(&fake, 1);
    assert_wait(WaitForSingleObject(fake.context, 0), WAIT_OBJECT_0);
    fake_source_fire(&fake, 1);
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0), SPEC_WAIT_TIMEOUT);
    assert_int_equal(fake.events, 2);
    assert_int_equal(fake.led_runs, 2);
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
    assert_true(CloseHandle(port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handover_each_wait_ends_in_turn),
        cmocka_unit_test(test_handover_from_leaders_whose_time_is_up),
        cmocka_unit_test(test_handover_between_threads_of_a_port),
        cmocka_unit_test(test_handover_while_sources_come_and_go),
        cmocka_unit_test(test_polling_calls_run_sources),
    };
    return cmocka_run_group_tests(tests, fake_source_alone, NULL);
}
