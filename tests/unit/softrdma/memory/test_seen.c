/* SPDX-License-Identifier: MIT */
/*
 * test_seen.c - a queue pair that looks first at the region that it used last finds what the table of STags would say:
 * key, domain, bounds and rights, and that a region that was deregistered is not reached any more, though its entry has
 * another name by then.
 */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/device/device.h"
#include "softrdma/memory/memory.h"
#include "softrdma/queues/qp.h"
#include "tests/support/asleep.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { OCTETS = 100, ROUNDS = 300 };

static enum srd_stag_error reads(
    struct end *end, struct srd_stag_entry **seen, uint32_t key, uint64_t addr, uint64_t octets)
{
    struct srd_stag_entry *entry;
    enum srd_stag_error error =
        srd_stag_pin_send(srd_qp_from(end->qp), seen, key, addr, octets, &entry);

    if (!error)
        srd_stag_unpin(entry);
    return error;
}

static enum srd_stag_error receives(
    struct end *end, struct srd_stag_entry **seen, uint32_t key, uint64_t addr, uint64_t octets)
{
    struct srd_stag_entry *entry;
    enum srd_stag_error error =
        srd_stag_pin_receive(srd_qp_from(end->qp), seen, key, addr, octets, &entry);

    if (!error)
        srd_stag_unpin(entry);
    return error;
}

static void what_was_seen_is_checked_as_the_table_is(void **state)
{
    struct end *end = *state;
    struct ibv_pd *other = srd_alloc_pd(end->context);
    struct ibv_mr *foreign = srd_reg_mr(other, end->memory, OCTETS, 0);
    uint64_t base = (uintptr_t)end->memory;
    struct ibv_mr *mr = srd_reg_mr(end->pd, end->memory, OCTETS, IBV_ACCESS_REMOTE_READ);
    struct srd_stag_entry *seen = NULL;

    assert_int_equal(reads(end, &seen, mr->lkey, base, OCTETS), SRD_STAG_OK);
    assert_ptr_equal(seen, srd_mr_entry(mr));
    assert_int_equal(reads(end, &seen, mr->lkey, base + OCTETS - 1, 1), SRD_STAG_OK);
    assert_int_equal(reads(end, &seen, mr->lkey, base, OCTETS + 1), SRD_STAG_BOUNDS);
    assert_int_equal(reads(end, &seen, mr->lkey, base - 1, 1), SRD_STAG_BOUNDS);
    assert_int_equal(reads(end, &seen, mr->lkey, base, UINT64_MAX), SRD_STAG_WRAP);
    assert_int_equal(reads(end, &seen, mr->lkey ^ 1, base, 1), SRD_STAG_INVALID);
    assert_int_equal(receives(end, &seen, mr->lkey, base, 1), SRD_STAG_RIGHTS);
    seen = srd_mr_entry(foreign);
    assert_int_equal(reads(end, &seen, foreign->lkey, base, 1), SRD_STAG_STREAM);
    assert_int_equal(srd_dereg_mr(foreign), 0);
    assert_int_equal(srd_dealloc_pd(other), 0);
    assert_int_equal(srd_dereg_mr(mr), 0);
}

static void what_was_deregistered_is_not_reached(void **state)
{
    struct end *end = *state;
    uint64_t base = (uintptr_t)end->memory;
    const int access = IBV_ACCESS_LOCAL_WRITE;
    struct ibv_mr *mr = srd_reg_mr(end->pd, end->memory, OCTETS, access), *next;
    struct srd_stag_entry *seen = NULL, *before;
    uint32_t key = mr->lkey;

    assert_int_equal(receives(end, &seen, key, base, 1), SRD_STAG_OK);
    before = seen;
    assert_int_equal(srd_dereg_mr(mr), 0);
    assert_int_equal(receives(end, &seen, key, base, 1), SRD_STAG_INVALID);
    next = srd_reg_mr(end->pd, end->memory, OCTETS, access);
    assert_ptr_equal(srd_mr_entry(next), before); /* the same memory, under another name */
    assert_int_equal(receives(end, &seen, key, base, 1), SRD_STAG_INVALID);
    assert_int_equal(receives(end, &seen, next->lkey, base, 1), SRD_STAG_OK);
    assert_int_equal(srd_dereg_mr(next), 0);
}

struct dereg {
    struct ibv_mr *mr;
    atomic_int thread;
    atomic_bool done;
};

static void *deregisters(void *arg)
{
    struct dereg *dereg = arg;

    atomic_store(&dereg->thread, thread_number());
    assert_int_equal(srd_dereg_mr(dereg->mr), 0);
    atomic_store(&dereg->done, true);
    return NULL;
}

static void deregistering_waits_for_an_access_to_what_was_seen(void **state)
{
    struct end *end = *state;
    uint64_t base = (uintptr_t)end->memory;
    struct dereg dereg = { .mr = srd_reg_mr(end->pd, end->memory, OCTETS, 0) };
    struct srd_stag_entry *seen = NULL, *entry;
    uint32_t key = dereg.mr->lkey;
    pthread_t thread;

    assert_int_equal(reads(end, &seen, key, base, 1), SRD_STAG_OK);
    assert_int_equal(
        srd_stag_pin_send(srd_qp_from(end->qp), &seen, key, base, 1, &entry), SRD_STAG_OK);
    assert_int_equal(pthread_create(&thread, NULL, deregisters, &dereg), 0);
    assert_true(SETTLES(reads(end, &seen, key, base, 1) == SRD_STAG_INVALID));
    assert_true(SETTLES(atomic_load(&dereg.done) || thread_is_asleep(atomic_load(&dereg.thread))));
    assert_false(atomic_load(&dereg.done));
    srd_stag_unpin(entry);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* One thread registers and deregisters, the other reads what is registered now, or was. */
struct race {
    struct end *end;
    _Atomic uint32_t key, dead; /* the last one given; the last one that was taken back */
    atomic_bool over;
    atomic_uint late; /* accesses to what was taken back */
};

static void *reads_on(void *arg)
{
    struct race *race = arg;
    struct srd_stag_entry *seen = NULL, *entry;

    while (!atomic_load(&race->over)) {
        uint32_t key = atomic_load(&race->key);

        if (srd_stag_pin_send(
                srd_qp_from(race->end->qp), &seen, key, (uintptr_t)race->end->memory, 1, &entry))
            continue;
        if (atomic_load(&race->dead) == key)
            atomic_fetch_add(&race->late, 1);
        srd_stag_unpin(entry);
    }
    return NULL;
}

static void no_access_outlives_the_region(void **state)
{
    struct end *end = *state;
    struct race race = { .end = end };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, reads_on, &race), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct ibv_mr *mr = srd_reg_mr(end->pd, end->memory, OCTETS, 0);
        uint32_t key = mr->lkey;

        atomic_store(&race.key, key);
        if (i % 2)
            sched_yield();
        assert_int_equal(srd_dereg_mr(mr), 0);
        atomic_store(&race.dead, key);
    }
    atomic_store(&race.over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(race.late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_was_seen_is_checked_as_the_table_is, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            what_was_deregistered_is_not_reached, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            deregistering_waits_for_an_access_to_what_was_seen, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(no_access_outlives_the_region, end_setup, end_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
