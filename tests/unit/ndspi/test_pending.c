/* SPDX-License-Identifier: MIT */
/* test_pending.c - an overlapped request ends exactly once, in its order, with its own status. */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/pending.h"
#include "tests/unit/ndspi/core_fake.h"

#include <pthread.h>
#include <string.h>

enum { KIND_A, KIND_B };

struct fixture {
    struct nd_object object;
    struct nd_pending pending;
    OVERLAPPED overlapped[8];
};

static void gone(struct nd_object *object)
{
    (void)object;
    fail_msg("the object lost its last pin");
}

static void cancel(struct nd_object *object)
{
    assert_int_equal(atomic_load(&object->pins), 2);
    nd_pending_cancel(&container_of(object, struct fixture, object)->pending);
}

static int setup(void **state)
{
    static struct fixture fixture;

    memset(&fixture, 0, sizeof(fixture));
    memset(&fake_sink_counts, 0, sizeof(fake_sink_counts));
    fake_file_open();
    nd_object_init(&fixture.object, gone);
    nd_pending_init(&fixture.pending, &fake_sink, fake_file(), &fixture.object, cancel);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    nd_pending_fini(&f->pending);
    return fake_sink_counts.started != fake_sink_counts.completed;
}

static uint32_t status_of(const OVERLAPPED *overlapped)
{
    return (uint32_t)overlapped->Internal;
}

static void add(struct fixture *f, int index, unsigned kind, void *context)
{
    assert_int_equal(
        nd_pending_add(&f->pending, &f->overlapped[index], kind, context), SPEC_ND_PENDING);
}

static void test_add_marks_the_structure_pending(void **state)
{
    struct fixture *f = *state;

    add(f, 0, KIND_A, NULL);
    assert_int_equal(status_of(&f->overlapped[0]), SPEC_ND_PENDING);
    assert_int_equal(nd_pending_result(&f->pending, &f->overlapped[0], FALSE), SPEC_ND_PENDING);
    assert_int_equal(nd_pending_count(&f->pending, 1u << KIND_A), 1);
    assert_int_equal(nd_pending_count(&f->pending, 1u << KIND_B), 0);
    nd_pending_cancel(&f->pending);
    assert_int_equal(status_of(&f->overlapped[0]), SPEC_ND_CANCELED);
}

static void test_no_structure_is_refused(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        (uint32_t)nd_pending_add(&f->pending, NULL, KIND_A, NULL), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal((uint32_t)nd_pending_complete_now(&f->pending, NULL, ND_SUCCESS),
        SPEC_ND_INVALID_PARAMETER);
    assert_int_equal(
        (uint32_t)nd_pending_result(&f->pending, NULL, FALSE), SPEC_ND_INVALID_PARAMETER);
}

static void test_complete_first_takes_the_oldest_of_its_kind(void **state)
{
    struct fixture *f = *state;
    void *context = NULL;
    int one, two;

    add(f, 0, KIND_B, NULL);
    add(f, 1, KIND_A, &one);
    add(f, 2, KIND_A, &two);
    assert_true(nd_pending_complete_first(&f->pending, KIND_A, ND_SUCCESS, &context));
    assert_ptr_equal(context, &one);
    assert_int_equal(status_of(&f->overlapped[1]), 0);
    assert_int_equal(status_of(&f->overlapped[2]), SPEC_ND_PENDING);
    assert_true(nd_pending_complete_match(&f->pending, KIND_A, &two, ND_CONNECTION_REFUSED));
    assert_int_equal(status_of(&f->overlapped[2]), SPEC_ND_CONNECTION_REFUSED);
    assert_false(nd_pending_complete_match(&f->pending, KIND_A, &two, ND_SUCCESS));
    assert_false(nd_pending_complete_first(&f->pending, KIND_A, ND_SUCCESS, NULL));
    assert_true(nd_pending_complete_first(&f->pending, KIND_B, ND_SUCCESS, NULL));
}

static void test_complete_all_keeps_issue_order(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 6; i++)
        add(f, i, i == 3 ? 5 : i % 2, NULL);
    assert_int_equal(
        nd_pending_complete_all(&f->pending, 1u << KIND_A | 1u << KIND_B, ND_SUCCESS), 5);
    for (int i = 0, at = 0; i < 6; i++)
        if (i != 3)
            assert_ptr_equal(fake_sink_counts.order[at++], &f->overlapped[i]);
    assert_int_equal(status_of(&f->overlapped[3]), SPEC_ND_PENDING);
    nd_pending_cancel(&f->pending);
}

static void test_decided_keeps_its_status_through_a_cancel(void **state)
{
    struct fixture *f = *state;

    add(f, 0, KIND_A, NULL);
    add(f, 1, KIND_B, NULL);
    assert_int_equal(nd_pending_decide(&f->pending, 1u << KIND_B, ND_SUCCESS), 1);
    assert_int_equal(status_of(&f->overlapped[1]), SPEC_ND_PENDING);
    assert_int_equal(nd_pending_decide(&f->pending, ~0u, ND_DEVICE_REMOVED), 1);
    assert_int_equal(nd_pending_count(&f->pending, ~0u), 0);
    nd_pending_cancel(&f->pending);
    assert_int_equal(status_of(&f->overlapped[0]), SPEC_ND_DEVICE_REMOVED);
    assert_int_equal(status_of(&f->overlapped[1]), 0);
    assert_ptr_equal(fake_sink_counts.order[0], &f->overlapped[0]);
}

static void test_complete_now_is_pending_with_the_end_visible(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        nd_pending_complete_now(&f->pending, &f->overlapped[0], ND_SUCCESS), SPEC_ND_PENDING);
    assert_int_equal(status_of(&f->overlapped[0]), 0);
    assert_int_equal(nd_pending_count(&f->pending, ~0u), 0);
}

static void test_closing_the_file_cancels_and_refuses(void **state)
{
    struct fixture *f = *state;

    add(f, 0, KIND_A, NULL);
    add(f, 1, KIND_B, NULL);
    fake_file_close();
    assert_int_equal(status_of(&f->overlapped[0]), SPEC_ND_CANCELED);
    assert_int_equal(status_of(&f->overlapped[1]), SPEC_ND_CANCELED);
    assert_int_equal((uint32_t)nd_pending_add(&f->pending, &f->overlapped[2], KIND_A, NULL),
        SPEC_ND_INVALID_HANDLE);
    assert_int_equal(
        (uint32_t)nd_pending_reserve(&f->pending, &f->overlapped[2]), SPEC_ND_INVALID_HANDLE);
    assert_int_equal(status_of(&f->overlapped[2]), 0);
    assert_int_equal(nd_pending_count(&f->pending, ~0u), 0);
    assert_int_equal(atomic_load(&f->object.pins), 1);
}

/* An object without a pin is being destroyed, and not called; nor is one made later. */
static void test_closing_the_file_leaves_dying_objects_alone(void **state)
{
    static struct fixture other, late;
    struct fixture *f = *state;

    nd_object_init(&other.object, gone);
    nd_pending_init(&other.pending, &fake_sink, fake_file(), &other.object, cancel);
    atomic_store(&other.object.pins, 0);
    add(f, 0, KIND_A, NULL);
    fake_file_close();
    assert_int_equal(status_of(&f->overlapped[0]), SPEC_ND_CANCELED);
    nd_pending_fini(&other.pending);
    nd_object_init(&late.object, gone);
    nd_pending_init(&late.pending, &fake_sink, fake_file(), &late.object, cancel);
    assert_int_equal((uint32_t)nd_pending_add(&late.pending, &late.overlapped[0], KIND_A, NULL),
        SPEC_ND_INVALID_HANDLE);
    nd_pending_fini(&late.pending);
}

/* Records are used again: a thousand rounds leave no more of them than were pending at once. */
static void test_records_are_recycled(void **state)
{
    struct fixture *f = *state;
    unsigned spare = 0;

    for (int round = 0; round < 1000; round++) {
        add(f, 0, KIND_A, NULL);
        add(f, 1, KIND_A, NULL);
        nd_pending_cancel(&f->pending);
    }
    list_for_each (&f->pending.spare, node)
        spare++;
    assert_int_equal(spare, 2);
}

/*
 * A client that hears of an end may issue the next request, or release the object: nothing is left to be done for the
 * old one.
 */
static struct nd_pending *heard_of;
static unsigned heard;

static void expect_over(OVERLAPPED *overlapped)
{
    bool free = false;

    list_for_each (&heard_of->requests, node)
        assert_ptr_not_equal(
            list_entry(node, struct nd_pending_request, link)->overlapped, overlapped);
    list_for_each (&heard_of->spare, node)
        free = free || list_entry(node, struct nd_pending_request, link)->overlapped == overlapped;
    assert_true(free);
    heard++;
}

static void test_request_is_over_before_its_end_is_heard(void **state)
{
    struct fixture *f = *state;
    int context;

    heard_of = &f->pending;
    heard = 0;
    fake_sink_counts.on_complete = expect_over;
    for (int i = 0; i < 6; i++)
        add(f, i, i < 3 ? KIND_A : KIND_B, i == 1 ? &context : NULL);
    assert_true(nd_pending_complete_match(&f->pending, KIND_A, &context, ND_SUCCESS));
    assert_int_equal(status_of(&f->overlapped[1]), 0);
    assert_true(nd_pending_complete_first(&f->pending, KIND_B, ND_SUCCESS, NULL));
    assert_int_equal(nd_pending_complete_all(&f->pending, 1u << KIND_A, ND_SUCCESS), 2);
    nd_pending_cancel(&f->pending);
    assert_int_equal(heard, 6);
}

/* A decided request is invisible to calls that look for one to end. */
static void test_decided_is_not_ended_again(void **state)
{
    struct fixture *f = *state;
    int context;

    add(f, 0, KIND_A, &context);
    add(f, 1, KIND_A, NULL);
    assert_int_equal(nd_pending_decide(&f->pending, 1u << KIND_B, ND_SUCCESS), 0);
    assert_int_equal(nd_pending_decide(&f->pending, 1u << KIND_A, ND_SUCCESS), 2);
    assert_int_equal(nd_pending_decide(&f->pending, 1u << KIND_A, ND_DEVICE_REMOVED), 0);
    assert_false(nd_pending_complete_first(&f->pending, KIND_A, ND_DEVICE_REMOVED, NULL));
    assert_false(nd_pending_complete_match(&f->pending, KIND_A, &context, ND_DEVICE_REMOVED));
    nd_pending_deliver(&f->pending);
    nd_pending_deliver(&f->pending);
    assert_int_equal(fake_sink_counts.completed, 2);
    assert_int_equal(status_of(&f->overlapped[0]), 0);
    add(f, 0, KIND_A, NULL); /* a record that was decided before is not now */
    nd_pending_deliver(&f->pending);
    assert_int_equal(status_of(&f->overlapped[0]), SPEC_ND_PENDING);
    nd_pending_cancel(&f->pending);
}

/* Without memory no request starts, and none leaves anything behind. */
static void test_without_memory_nothing_is_started(void **state)
{
    struct fixture *f = *state;

    fake_sink_counts.no_memory = true;
    assert_int_equal((uint32_t)nd_pending_add(&f->pending, &f->overlapped[0], KIND_A, NULL),
        SPEC_ND_INSUFFICIENT_RESOURCES);
    assert_int_equal((uint32_t)nd_pending_complete_now(&f->pending, &f->overlapped[0], 0),
        SPEC_ND_INSUFFICIENT_RESOURCES);
    assert_int_equal(nd_pending_count(&f->pending, ~0u), 0);
    nd_pending_cancel(&f->pending);
    assert_int_equal(fake_sink_counts.started, 0);
    assert_int_equal(f->overlapped[0].Internal, 0);
}

enum { RACE_ROUNDS = 3000 };

struct race {
    struct fixture *fixture;
    pthread_barrier_t start, end;
    bool cancels;
};

static void *race_other(void *arg)
{
    struct race *race = arg;

    for (int round = 0; round < RACE_ROUNDS; round++) {
        pthread_barrier_wait(&race->start);
        nd_pending_complete_all(&race->fixture->pending, ~0u, ND_SUCCESS);
        pthread_barrier_wait(&race->end);
    }
    return NULL;
}

/* The fake sink fails the test when a structure that is not pending is completed. */
static void test_cancel_against_completion_ends_each_request_once(void **state)
{
    struct race race = { .fixture = *state };
    struct fixture *f = *state;
    pthread_t thread;

    pthread_barrier_init(&race.start, NULL, 2);
    pthread_barrier_init(&race.end, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, race_other, &race), 0);
    for (int round = 0; round < RACE_ROUNDS; round++) {
        for (int i = 0; i < 4; i++)
            add(f, i, KIND_A, NULL);
        pthread_barrier_wait(&race.start);
        nd_pending_cancel(&f->pending);
        for (int i = 0; i < 4; i++) /* all have ended when the cancel returns */
            assert_true(status_of(&f->overlapped[i]) == 0 ||
                        status_of(&f->overlapped[i]) == SPEC_ND_CANCELED);
        pthread_barrier_wait(&race.end);
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&race.start);
    pthread_barrier_destroy(&race.end);
    assert_int_equal(fake_sink_counts.completed, 4 * RACE_ROUNDS);
}

/* ---- a sink whose reset costs a call to another process ---- */

static unsigned resets;

static void count_reset(struct nd_sink_file *file, OVERLAPPED *overlapped)
{
    (void)file;
    assert_int_equal(status_of(overlapped), SPEC_ND_PENDING);
    resets++;
}

static void test_event_is_reset_unless_the_request_ends_before(void **state)
{
    struct fixture *f = *state;
    struct nd_sink sink = fake_sink;

    sink.reset = count_reset;
    resets = 0;
    f->pending.sink = &sink;
    add(f, 0, KIND_A, NULL);
    assert_int_equal(resets, 1);
    for (int i = 1; i < 3; i++)
        assert_int_equal(
            nd_pending_add_unreset(&f->pending, &f->overlapped[i], KIND_B + (unsigned)i, NULL),
            SPEC_ND_PENDING);
    assert_int_equal(resets, 1);
    assert_true(nd_pending_complete_first(&f->pending, KIND_B + 1, ND_SUCCESS, NULL));
    nd_pending_reset(&f->pending); /* the one that is left */
    assert_int_equal(resets, 2);
    nd_pending_reset(&f->pending);
    assert_int_equal(resets, 2);
    assert_int_equal(
        nd_pending_complete_now(&f->pending, &f->overlapped[3], ND_SUCCESS), SPEC_ND_PENDING);
    assert_int_equal(resets, 2);
    nd_pending_cancel(&f->pending);
    f->pending.sink = &fake_sink;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_add_marks_the_structure_pending, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_structure_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_complete_first_takes_the_oldest_of_its_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(test_complete_all_keeps_issue_order, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_decided_keeps_its_status_through_a_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_complete_now_is_pending_with_the_end_visible, setup, teardown),
        cmocka_unit_test_setup_teardown(test_closing_the_file_cancels_and_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_closing_the_file_leaves_dying_objects_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_records_are_recycled, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_event_is_reset_unless_the_request_ends_before, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_request_is_over_before_its_end_is_heard, setup, teardown),
        cmocka_unit_test_setup_teardown(test_decided_is_not_ended_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_memory_nothing_is_started, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_cancel_against_completion_ends_each_request_once, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
