/* SPDX-License-Identifier: MIT */
/*
 * test_passive_target.c - a target that never enters the library is served all the same, and what is idle stays idle.
 */
#include "tests/robustness/child.h"

#include "util/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DEPTH = 16, OCTETS = 65536, ROUNDS = 50, SOON_MS = 2000 };

static const struct nd2_end_options options = { .depth = DEPTH, .memory_octets = OCTETS };

/* CPU time of this process so far, all threads, in microseconds. */
static uint64_t cpu_us(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/*
 * Waits for nothing but its own memory: round r is there when the last octet of the block says so; answers by control.
 */
static void child_spin(struct nd2_end *end, int control)
{
    const unsigned char *last = end->memory + 4095;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != (unsigned char)round)
            ;
        for (size_t i = 0; i < 4096; i++)
            if (end->memory[i] != (unsigned char)round)
                exit(3);
        child_tell(control, &round, sizeof round);
    }
}

/* Polls for some time and tells the parent when it has just stopped; then makes no call until the parent says so. */
static void child_poll_and_stop(struct nd2_end *end, int control)
{
    for (unsigned round = 1; round <= ROUNDS; round++) {
        uint64_t stop_ns = clock_now_ns() + 2000000;
        ND2_RESULT result;

        while (clock_now_ns() < stop_ns)
            if (end->cq->lpVtbl->GetResults(end->cq, &result, 1) != 0)
                exit(3);
        child_tell(control, &round, sizeof round);
        child_hear(control, &round, sizeof round);
    }
}

/* Sleeps outside the library for a second, and returns how much CPU the process took. */
static void child_idle(int control)
{
    uint64_t before_us = cpu_us(), used_us;

    poll(NULL, 0, 1000); /* the measure's length, not a wait for something */
    used_us = cpu_us() - before_us;
    child_tell(control, &used_us, sizeof used_us);
}

/* The same inside a wait of the library. */
static void child_wait(struct nd2_end *end, int control)
{
    OVERLAPPED overlapped = { .hEvent = CreateEventA(NULL, TRUE, FALSE, NULL) };
    uint64_t before_us = cpu_us(), used_us;

    if (end->cq->lpVtbl->Notify(end->cq, ND_CQ_NOTIFY_ANY, &overlapped) != ND_PENDING ||
        WaitForSingleObject(overlapped.hEvent, 1000) != WAIT_TIMEOUT)
        exit(3);
    used_us = cpu_us() - before_us;
    end->cq->lpVtbl->CancelOverlappedRequests(end->cq);
    child_tell(control, &used_us, sizeof used_us);
}

static int play(const char *name, int control)
{
    struct nd2_end end;
    char done;

    child_open(&end, &options);
    child_serve(&end, control);
    child_check(nd2_end_accept(&end), &end);
    if (strcmp(name, "spin") == 0)
        child_spin(&end, control);
    else if (strcmp(name, "poll") == 0)
        child_poll_and_stop(&end, control);
    else if (strcmp(name, "idle") == 0)
        child_idle(control);
    else if (strcmp(name, "wait") == 0)
        child_wait(&end, control);
    child_hear(control, &done, sizeof done);
    nd2_end_close(&end);
    child_check(NdCleanup(), &end);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ the initiator */

static void meet(
    const char *name, struct child *child, struct nd2_end *end, struct child_memory *memory)
{
    USHORT port_be;

    child_start(child, name);
    port_be = child_reach(child, end, &options, memory);
    assert_int_equal(nd2_end_connect(end, port_be), ND_SUCCESS);
}

static void part(struct child *child, struct nd2_end *end)
{
    child_tell_phase(child->control);
    child_finish(child);
    nd2_end_close(end);
}

/* One request of ours from post to result; its duration in microseconds. */
static uint64_t timed(struct nd2_end *end, HRESULT hr)
{
    uint64_t start_ns = clock_now_ns();
    ND2_RESULT result;

    assert_int_equal(hr, ND_SUCCESS);
    assert_int_equal(nd2_end_results(end, &result, 1, SOON_MS), 1);
    assert_int_equal(result.Status, ND_SUCCESS);
    return (clock_now_ns() - start_ns) / 1000;
}

static uint64_t write_block(
    struct nd2_end *end, const struct child_memory *memory, unsigned char value)
{
    ND2_SGE sge = { end->memory, 4096, end->lkey };

    memset(end->memory, value, 4096);
    return timed(
        end, end->qp->lpVtbl->Write(end->qp, NULL, &sge, 1, memory->address, memory->token, 0));
}

static uint64_t read_block(struct nd2_end *end, const struct child_memory *memory)
{
    ND2_SGE sge = { end->memory + 8192, 4096, end->lkey };

    return timed(
        end, end->qp->lpVtbl->Read(end->qp, NULL, &sge, 1, memory->address, memory->token, 0));
}

static void test_target_that_spins_on_its_memory(void **state)
{
    struct child_memory memory;
    struct nd2_end end;
    struct child child;

    (void)state;
    meet("spin", &child, &end, &memory);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        unsigned seen;

        write_block(&end, &memory, (unsigned char)round);
        child_hear(child.control, &seen, sizeof seen);
        assert_int_equal(seen, round);
        read_block(&end, &memory);
        assert_memory_equal(end.memory, end.memory + 8192, 4096);
    }
    part(&child, &end);
}

static int compare(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return *left < *right ? -1 : *left > *right;
}

/*
 * However shortly after the target's last poll: its process is served by the device's own thread soon. The median,
 * since a machine with other work takes a processor away from either end for longer than this, on any device.
 */
static void test_target_that_just_stopped_polling(void **state)
{
    uint64_t took_us[ROUNDS];
    struct child_memory memory;
    struct nd2_end end;
    struct child child;

    (void)state;
    meet("poll", &child, &end, &memory);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        unsigned seen;

        child_hear(child.control, &seen, sizeof seen);
        took_us[round - 1] = round % 2 ? write_block(&end, &memory, (unsigned char)round)
                                       : read_block(&end, &memory);
        child_tell(child.control, &round, sizeof round);
    }
    qsort(took_us, ROUNDS, sizeof took_us[0], compare);
    print_message("after the target's last poll: %lu us in the median, %lu us at worst\n",
        (unsigned long)took_us[ROUNDS / 2], (unsigned long)took_us[ROUNDS - 1]);
    assert_true(took_us[ROUNDS / 2] < 20000);
    part(&child, &end);
}

static void test_idle(const char *name)
{
    struct child_memory memory;
    uint64_t used_us, before_us;
    struct nd2_end end;
    struct child child;

    meet(name, &child, &end, &memory);
    before_us = cpu_us();
    child_hear(child.control, &used_us, sizeof used_us); /* this process is idle as well */
    before_us = cpu_us() - before_us;
    print_message("a second of idleness: %lu us of CPU there, %lu here\n", (unsigned long)used_us,
        (unsigned long)before_us);
    assert_true(used_us < 10000);
    assert_true(before_us < 10000);
    part(&child, &end);
}

static void test_idle_outside_the_library(void **state)
{
    (void)state;
    test_idle("idle");
}

static void test_idle_in_a_wait(void **state)
{
    (void)state;
    test_idle("wait");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_that_spins_on_its_memory),
        cmocka_unit_test(test_target_that_just_stopped_polling),
        cmocka_unit_test(test_idle_outside_the_library),
        cmocka_unit_test(test_idle_in_a_wait),
    };

    child_main(argc, argv, play);
    return cmocka_run_group_tests_name(
        "passive target", tests, child_group_open, child_group_close);
}
