/* SPDX-License-Identifier: MIT */
/* test_sink_call.c - requests that end by a call: once each, in issue order, with nothing allocated on the way. */
#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

#include "ndspi/core/pending.h"
#include "ndspi/core/sink_call.h"

#include <string.h>

enum { KIND_A, KIND_B, CALLS = 4 };

struct fixture;

struct request {
    struct nd_call call;
    struct fixture *fixture;
    unsigned ends;
    uint32_t status;
};

struct fixture {
    struct nd_object object;
    struct nd_pending pending;
    struct request requests[CALLS];
    struct request *order[CALLS];
    unsigned ended;
};

static bool no_memory;
void *__real_calloc(size_t count, size_t size);
/* Visible: a sanitizer's runtime refers to this name. */
#pragma GCC visibility push(default)
void *__wrap_calloc(size_t count, size_t size);
#pragma GCC visibility pop

void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

static void end(struct nd_call *call, HRESULT status)
{
    struct request *request = container_of(call, struct request, call);
    struct fixture *f = request->fixture;

    request->ends++;
    request->status = (uint32_t)status;
    f->order[f->ended++] = request;
}

static void gone(struct nd_object *object)
{
    (void)object;
    fail_msg("the object lost its last pin");
}

static void cancel(struct nd_object *object)
{
    nd_pending_cancel(&container_of(object, struct fixture, object)->pending);
}

static int setup(void **state)
{
    static struct fixture fixture;

    memset(&fixture, 0, sizeof(fixture));
    for (int i = 0; i < CALLS; i++)
        fixture.requests[i] = (struct request){ .call.end = end, .fixture = &fixture };
    nd_object_init(&fixture.object, gone);
    nd_pending_init(
        &fixture.pending, &nd_sink_calls, nd_sink_calls_file(), &fixture.object, cancel);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    no_memory = false;
    nd_pending_fini(&f->pending);
    return atomic_load(&f->object.pins) != 1;
}

static HRESULT add(struct fixture *f, int index, unsigned kind)
{
    return nd_pending_add(
        &f->pending, nd_call_request(&f->requests[index].call), kind, &f->requests[index]);
}

static void test_each_request_ends_once_with_its_status(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < CALLS; i++)
        assert_int_equal(add(f, i, i % 2 ? KIND_B : KIND_A), SPEC_ND_PENDING);
    assert_int_equal(f->ended, 0);
    assert_true(nd_pending_complete_match(&f->pending, KIND_A, &f->requests[2], ND_SUCCESS));
    assert_int_equal(nd_pending_complete_all(&f->pending, 1u << KIND_B, ND_CONNECTION_ABORTED), 2);
    nd_pending_cancel(&f->pending);
    nd_pending_cancel(&f->pending);
    assert_int_equal(f->ended, CALLS);
    assert_ptr_equal(f->order[0], &f->requests[2]);
    assert_ptr_equal(f->order[1], &f->requests[1]);
    assert_ptr_equal(f->order[2], &f->requests[3]);
    assert_ptr_equal(f->order[3], &f->requests[0]);
    assert_int_equal(f->requests[0].status, SPEC_ND_CANCELED);
    assert_int_equal(f->requests[1].status, SPEC_ND_CONNECTION_ABORTED);
    assert_int_equal(f->requests[2].status, 0);
    assert_int_equal(f->requests[3].status, SPEC_ND_CONNECTION_ABORTED);
}

/* What is done at once ends before the call that began it returns, and that says "pending". */
static void test_a_request_may_end_before_its_call_returns(void **state)
{
    struct fixture *f = *state;
    OVERLAPPED *request = nd_call_request(&f->requests[0].call);

    assert_int_equal(nd_pending_complete_now(&f->pending, request, ND_SUCCESS), SPEC_ND_PENDING);
    assert_int_equal(f->requests[0].ends, 1);
    assert_int_equal(f->requests[0].status, 0);
    assert_int_equal(nd_pending_reserve(&f->pending, request), 0);
    assert_int_equal(f->requests[0].ends, 1);
    assert_int_equal(
        nd_pending_complete_reserved(&f->pending, request, ND_TIMEOUT), SPEC_ND_PENDING);
    assert_int_equal(f->requests[0].ends, 2);
    assert_int_equal(f->requests[0].status, SPEC_ND_TIMEOUT);
    assert_int_equal(nd_pending_reserve(&f->pending, request), 0);
    nd_pending_unreserve(&f->pending);
    assert_int_equal(f->requests[0].ends, 2);
}

/* A request that has ended may begin again: the core is done with it. */
static void test_a_request_may_begin_again_after_its_end(void **state)
{
    struct fixture *f = *state;

    for (unsigned round = 0; round < CALLS; round++) {
        assert_int_equal(add(f, 0, KIND_A), SPEC_ND_PENDING);
        assert_true(nd_pending_complete_first(&f->pending, KIND_A, ND_SUCCESS, NULL));
        assert_int_equal(f->requests[0].ends, round + 1);
    }
    assert_int_equal(nd_pending_count(&f->pending, ~0u), 0);
}

/* Once there is room for one request, each one that begins alone begins without memory. */
static void test_a_prepared_request_needs_no_memory(void **state)
{
    struct fixture *f = *state;

    no_memory = true;
    assert_int_equal((uint32_t)nd_pending_prepare(&f->pending), SPEC_ND_NO_MEMORY);
    assert_int_equal((uint32_t)add(f, 0, KIND_A), SPEC_ND_INSUFFICIENT_RESOURCES);
    assert_int_equal(f->ended, 0);
    no_memory = false;
    assert_int_equal(nd_pending_prepare(&f->pending), 0);
    no_memory = true;
    for (unsigned round = 0; round < CALLS; round++) {
        assert_int_equal(add(f, 0, KIND_A), SPEC_ND_PENDING);
        nd_pending_cancel(&f->pending);
        assert_int_equal(f->requests[0].ends, round + 1);
        assert_int_equal(f->requests[0].status, SPEC_ND_CANCELED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_each_request_ends_once_with_its_status, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_request_may_end_before_its_call_returns, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_request_may_begin_again_after_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_prepared_request_needs_no_memory, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
