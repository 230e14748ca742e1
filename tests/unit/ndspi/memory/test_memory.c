/* SPDX-License-Identifier: MIT */
/*
 * test_memory.c - regions and windows over a device that the test plays; and every creation when an allocation fails.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    struct nd_mr *mr;
    struct nd_mw *mw;
    char memory[256];
    OVERLAPPED overlapped;
};

/* ---- the n-th allocation fails (linked with --wrap) ---- */

static unsigned allocations_until_failure; /* 0: never */

static bool fails_now(void)
{
    return allocations_until_failure && --allocations_until_failure == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
/* Visible: a sanitizer's runtime refers to these names. */
#pragma GCC visibility push(default)
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
#pragma GCC visibility pop

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, size);
}

/* ---- fixture ---- */

static int setup(void **state)
{
    static struct fixture f;

    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open();
    f.cq = fake_make_cq(f.adapter, 64);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, 8);
    f.mr = fake_make_mr(f.adapter);
    f.mw = fake_make_mw(f.adapter);
    nd_qp_set_sendable(f.qp);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    allocations_until_failure = 0;
    if (f->mw)
        nd_mw_close(f->mw);
    if (f->mr)
        nd_mr_close(f->mr);
    if (f->qp)
        nd_qp_close(f->qp);
    if (f->cq)
        nd_cq_close(f->cq);
    fake_adapter_close(f->adapter);
    return 0;
}

static uint32_t register_it(struct fixture *f, uint32_t flags)
{
    return (uint32_t)nd_mr_register(f->mr, f->memory, sizeof(f->memory), flags, &f->overlapped);
}

static uint32_t deregister_it(struct fixture *f)
{
    return (uint32_t)nd_mr_deregister(f->mr, &f->overlapped);
}

static uint32_t bind_it(struct fixture *f, uint32_t flags)
{
    return (uint32_t)nd_qp_bind(f->qp, NULL, f->mr, f->mw, f->memory + 16, 64, flags);
}

static void requests_end(struct fixture *f, unsigned count, enum ibv_wc_status status)
{
    fake_complete(f->cq, &fake_qp_of(f->qp)->send, f->qp->ibv, count, status);
    nd_cq_look(f->cq);
}

static void test_register_checks_its_arguments_in_order(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        (uint32_t)nd_mr_register(f->mr, NULL, 0, 0, &f->overlapped), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal((uint32_t)nd_mr_register(f->mr, f->memory, 0, 0, &f->overlapped),
        SPEC_ND_INVALID_BUFFER_SIZE);
    assert_int_equal(
        (uint32_t)nd_mr_register(f->mr, f->memory, ((size_t)1 << 30) + 1, 0, &f->overlapped),
        SPEC_ND_INVALID_PARAMETER);
    assert_int_equal((uint32_t)nd_mr_register(f->mr, f->memory, 1, 0x10, &f->overlapped),
        SPEC_ND_INVALID_PARAMETER);
    assert_int_equal(
        (uint32_t)nd_mr_register(f->mr, f->memory, 1, 0, NULL), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal((uint32_t)nd_mr_register(f->mr, (void *)-4096, 8192, 0, &f->overlapped),
        SPEC_ND_ACCESS_VIOLATION);
    assert_int_equal(deregister_it(f), SPEC_ND_INVALID_DEVICE_STATE);
}

static void test_registered_and_given_back_again_and_again(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 1000; i++) {
        assert_int_equal(register_it(f, ND_MR_FLAG_ALLOW_REMOTE_READ), SPEC_ND_PENDING);
        assert_int_equal(f->overlapped.Internal, 0);
        assert_int_equal(register_it(f, 0), SPEC_ND_INVALID_DEVICE_STATE);
        assert_int_not_equal(atomic_load(&f->mr->local_token), 0);
        assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
        assert_int_equal(atomic_load(&f->mr->local_token), 0);
    }
}

/* What the device is asked for, by what the client allows: local write 1, remote write 2, remote read 4, binding 16. */
static void test_rights_of_a_region(void **state)
{
    static const struct {
        uint32_t flags;
        int access;
    } rows[] = { { 0, 16 }, { 1, 16 | 1 }, { 2, 16 | 4 }, { 5, 16 | 1 | 2 }, { 4, 16 | 1 | 2 },
        { 8, 16 | 1 }, { 0x80000000, 16 }, { 3, 16 | 1 | 4 }, { 7, 16 | 1 | 2 | 4 },
        { 10, 16 | 1 | 4 }, { 13, 16 | 1 | 2 }, { 15, 16 | 1 | 2 | 4 } };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(register_it(f, rows[i].flags), SPEC_ND_PENDING);
        assert_int_equal(fake_device.access, rows[i].access);
        assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
    }
    f->adapter->port.caps.windows = ND_WINDOWS_EXACT; /* over registrations of their own */
    assert_int_equal(register_it(f, 5), SPEC_ND_PENDING);
    assert_int_equal(fake_device.access, 1 | 2);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
    f->adapter->port.caps.windows = ND_WINDOWS_REAL;
}

static void test_region_that_does_not_go_stays_registered(void **state)
{
    struct fixture *f = *state;
    uint32_t token;

    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    token = atomic_load(&f->mr->local_token);
    fake_device.dereg_error = ENOMEM;
    assert_int_equal(deregister_it(f), SPEC_ND_INSUFFICIENT_RESOURCES);
    fake_device.dereg_error = 0;
    assert_int_equal(atomic_load(&f->mr->local_token), token);
    assert_int_equal(register_it(f, 0), SPEC_ND_INVALID_DEVICE_STATE);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
}

static void test_bound_window_keeps_its_region(void **state)
{
    struct fixture *f = *state;
    uint32_t before;

    assert_int_equal(register_it(f, ND_MR_FLAG_ALLOW_LOCAL_WRITE), SPEC_ND_PENDING);
    before = atomic_load(&f->mw->token);
    assert_int_equal(bind_it(f, ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE), 0);
    assert_int_not_equal(atomic_load(&f->mw->token), before); /* before the completion */
    assert_int_equal(bind_it(f, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal(deregister_it(f), SPEC_ND_DEVICE_BUSY);
    requests_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal(deregister_it(f), SPEC_ND_DEVICE_BUSY);
    assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, NULL, f->mw, 0), 0);
    assert_int_equal(deregister_it(f), SPEC_ND_DEVICE_BUSY); /* until the Invalidate is done */
    assert_int_equal(
        (uint32_t)nd_qp_invalidate(f->qp, NULL, f->mw, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    requests_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
}

enum { REBINDS = 255 };

/* The window's keys, one Bind after the other. */
static void rebind_often(struct fixture *f, uint32_t keys[REBINDS])
{
    ND2_RESULT results[2];

    for (int i = 0; i < REBINDS; i++) {
        assert_int_equal(bind_it(f, 0), 0);
        keys[i] = be32toh(atomic_load(&f->mw->token));
        requests_end(f, 1, IBV_WC_SUCCESS);
        assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, NULL, f->mw, 0), 0);
        requests_end(f, 1, IBV_WC_SUCCESS);
        assert_int_equal(nd_cq_results_v2(&f->cq->poll, results, 2), 2);
    }
}

static int step_of(const uint32_t keys[REBINDS], int i)
{
    return (uint8_t)(keys[i + 1] - keys[i]);
}

/* A peer that had a token can neither predict the next nor use an old one; each window's tokens have another order. */
static void test_tokens_of_a_window_cannot_be_foretold(void **state)
{
    static uint32_t keys[2][REBINDS];
    struct fixture *f = *state;
    bool used[256] = { false };
    unsigned steps_alike = 0, windows_alike = 0;

    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    rebind_often(f, keys[0]);
    for (int i = 0; i < REBINDS; i++) {
        assert_int_equal(keys[0][i] >> 8, keys[0][0] >> 8);
        assert_false(used[(uint8_t)keys[0][i]]);
        used[(uint8_t)keys[0][i]] = true;
    }
    for (int i = 0; i + 2 < REBINDS; i++)
        steps_alike += step_of(keys[0], i) == step_of(keys[0], i + 1);
    nd_mw_close(f->mw);
    f->mw = fake_make_mw(f->adapter);
    rebind_often(f, keys[1]);
    for (int i = 0; i + 1 < REBINDS; i++)
        windows_alike += step_of(keys[0], i) == step_of(keys[1], i);
    assert_in_range(steps_alike, 0, 20);
    assert_in_range(windows_alike, 0, 20);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
}

/* A message arrives that invalidates the key of the window. */
static void peer_takes_back(struct fixture *f, struct nd_qp *qp)
{
    ND2_SGE sge = { f->memory, 8, 0 };
    struct fake_queue *receive = &fake_qp_of(qp)->receive;
    struct ibv_wc wc = { .status = IBV_WC_SUCCESS, .wc_flags = IBV_WC_WITH_INV, .byte_len = 3 };
    ND2_RESULT results[3];
    size_t count;

    assert_int_equal(nd_queue_receive_v2(&qp->receive, NULL, &sge, 1), 0);
    wc.wr_id = receive->requests[0].wr_id;
    wc.invalidated_rkey = f->mw->ibv->rkey;
    fake_cq_push(f->cq, &wc, false);
    receive->count = 0;
    count = nd_cq_results_v2(&f->cq->poll, results, 3);
    assert_in_range(count, 1, 3);
    assert_int_equal(results[count - 1].RequestType, Nd2RequestTypeReceive);
    assert_int_equal(results[count - 1].BytesTransferred, 3);
}

/* A window is its queue pair's: no other one takes it back, or has a part in what becomes of it. */
static void test_window_is_of_one_queue_pair(void **state)
{
    struct fixture *f = *state;
    struct nd_qp *other = fake_make_qp(f->adapter, f->cq, NULL, 8);

    nd_qp_set_sendable(other);
    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    assert_int_equal(bind_it(f, 0), 0);
    requests_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal(
        (uint32_t)nd_qp_invalidate(other, NULL, f->mw, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal((uint32_t)nd_qp_bind(other, NULL, f->mr, f->mw, f->memory, 8, 0),
        SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal(fake_qp_of(other)->send.count, 0);
    peer_takes_back(
        f, other); /* an invalidation over another queue pair concerns that one's windows */
    assert_int_equal(deregister_it(f), SPEC_ND_DEVICE_BUSY);
    nd_qp_close(other);
    fake_complete(f->cq, &fake_qp_of(other)->send, other->ibv, 1, IBV_WC_WR_FLUSH_ERR);
    nd_cq_look(f->cq);
    assert_int_equal(deregister_it(f), SPEC_ND_DEVICE_BUSY);
    assert_non_null(f->mw->ibv);
    assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, NULL, f->mw, 0), 0);
    requests_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
}

static void test_silent_invalidate_lets_the_region_go_too(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT result;

    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    assert_int_equal(bind_it(f, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, NULL, f->mw, ND_OP_FLAG_SILENT_SUCCESS), 0);
    requests_end(f, 2, IBV_WC_SUCCESS);
    assert_int_equal(nd_cq_results_v2(&f->cq->poll, &result, 1), 0);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
}

static void test_bind_checks_range_and_rights(void **state)
{
    struct fixture *f = *state;
    struct nd_qp *qp = f->qp;
    struct nd_mr *mr = f->mr;
    struct nd_mw *mw = f->mw;
    char *m = f->memory;

    assert_int_equal(bind_it(f, 0), SPEC_ND_INVALID_PARAMETER_2); /* not registered */
    assert_int_equal(register_it(f, ND_MR_FLAG_ALLOW_REMOTE_READ), SPEC_ND_PENDING);
    assert_int_equal(
        (uint32_t)nd_qp_bind(qp, NULL, mr, mw, m - 1, 8, 0), SPEC_ND_INVALID_PARAMETER_4);
    assert_int_equal(
        (uint32_t)nd_qp_bind(qp, NULL, mr, mw, m + 256, 1, 0), SPEC_ND_INVALID_PARAMETER_4);
    assert_int_equal(
        (uint32_t)nd_qp_bind(qp, NULL, mr, mw, m, 257, 0), SPEC_ND_INVALID_PARAMETER_5);
    assert_int_equal(
        (uint32_t)nd_qp_bind(qp, NULL, mr, mw, m + 255, 2, 0), SPEC_ND_INVALID_PARAMETER_5);
    assert_int_equal(
        (uint32_t)nd_qp_bind(qp, NULL, mr, mw, m, (size_t)-1, 0), SPEC_ND_INVALID_PARAMETER_5);
    assert_int_equal((uint32_t)nd_qp_bind(qp, NULL, mr, mw, m, 0, 0), SPEC_ND_INVALID_PARAMETER_5);
    assert_int_equal(bind_it(f, ND_OP_FLAG_ALLOW_WRITE),
        SPEC_ND_ACCESS_VIOLATION); /* the region has no local write */
    assert_int_equal(bind_it(f, ND_OP_FLAG_INLINE), SPEC_ND_INVALID_PARAMETER_6);
    assert_int_equal((uint32_t)nd_qp_invalidate(qp, NULL, mw, ND_OP_FLAG_ALLOW_READ),
        SPEC_ND_INVALID_PARAMETER_3);
    assert_int_equal((uint32_t)nd_qp_invalidate(qp, NULL, mw, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal(
        (uint32_t)nd_qp_bind(qp, NULL, mr, mw, m, 256, 0), 0); /* no right at all is allowed */
}

static void test_failed_bind_leaves_the_window_free(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    assert_int_equal(bind_it(f, 0), 0);
    requests_end(f, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
    fake_device.post_error = ENOMEM;
    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    assert_int_equal(bind_it(f, 0), SPEC_ND_NO_MORE_ENTRIES);
    fake_device.post_error = 0;
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
}

static void test_peer_frees_the_window_silently(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    assert_int_equal(bind_it(f, 0), 0);
    requests_end(f, 1, IBV_WC_SUCCESS);
    peer_takes_back(f, f->qp);
    assert_int_equal(
        (uint32_t)nd_qp_invalidate(f->qp, NULL, f->mw, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
}

static void test_every_order_of_release(void **state)
{
    struct fixture *f = *state;

    (void)f;
    for (unsigned order = 0; order < 24; order++) {
        unsigned left[4] = { 0, 1, 2, 3 }, rest = order;

        assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
        assert_int_equal(bind_it(f, 0), 0);
        for (unsigned n = 4; n; rest /= n, n--) {
            unsigned pick = rest % n, which = left[pick];

            memmove(&left[pick], &left[pick + 1], (n - pick - 1) * sizeof(left[0]));
            switch (which) {
            case 0: nd_mr_close(f->mr); break;
            case 1: nd_mw_close(f->mw); break;
            case 2: nd_qp_close(f->qp); break;
            case 3: nd_cq_close(f->cq); break;
            }
        }
        assert_int_equal(fake_device.objects, 0);
        f->cq = fake_make_cq(f->adapter, 64);
        f->qp = fake_make_qp(f->adapter, f->cq, NULL, 8);
        f->mr = fake_make_mr(f->adapter);
        f->mw = fake_make_mw(f->adapter);
        nd_qp_set_sendable(f->qp);
    }
}

static void test_window_outlives_its_queue_pair(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    assert_int_equal(bind_it(f, 0), 0);
    requests_end(f, 1, IBV_WC_SUCCESS);
    nd_qp_close(f->qp);
    fake_complete(f->cq, &fake_qp_of(f->qp)->send, f->qp->ibv, 1, IBV_WC_WR_FLUSH_ERR);
    nd_cq_look(f->cq);
    f->qp = fake_make_qp(f->adapter, f->cq, NULL, 8);
    nd_qp_set_sendable(f->qp);
    assert_null(f->mw->ibv); /* it went before its queue pair */
    assert_int_equal(bind_it(f, 0), 0);
    assert_non_null(f->mw->ibv);
}

/* ---- allocation failures ---- */

/* Fails the first, second, ... allocation of a creation until one goes through; each failure leaves nothing behind. */
#define EVERY_ALLOCATION(create, close)                                                            \
    do {                                                                                           \
        unsigned objects_ = fake_device.objects, n_ = 1;                                           \
        for (void *made_ = NULL; !made_; n_++) {                                                   \
            allocations_until_failure = n_;                                                        \
            made_ = create;                                                                        \
            allocations_until_failure = 0;                                                         \
            if (made_)                                                                             \
                close(made_);                                                                      \
            assert_int_equal(fake_device.objects, objects_);                                       \
            assert_true(n_ < 20);                                                                  \
        }                                                                                          \
        assert_true(n_ > 2);                                                                       \
    } while (0)

static void test_creation_without_memory_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 4, 0);

    EVERY_ALLOCATION(fake_make_cq(f->adapter, 8), nd_cq_close);
    EVERY_ALLOCATION(fake_make_qp(f->adapter, f->cq, NULL, 8), nd_qp_close);
    EVERY_ALLOCATION(fake_make_qp(f->adapter, f->cq, srq, 8), nd_qp_close);
    EVERY_ALLOCATION(fake_make_srq(f->adapter, 8, 0), nd_srq_close);
    EVERY_ALLOCATION(fake_make_mw(f->adapter), nd_mw_close);
    nd_srq_close(srq);
}

static void test_calls_without_memory_change_nothing(void **state)
{
    struct fixture *f = *state;

    allocations_until_failure = 1;
    assert_int_equal((uint32_t)nd_cq_notify(f->cq, ND_CQ_NOTIFY_ANY, &f->overlapped),
        SPEC_ND_INSUFFICIENT_RESOURCES);
    fake_sink_counts.no_memory = true;
    assert_int_equal((uint32_t)nd_cq_notify(f->cq, ND_CQ_NOTIFY_ANY, &f->overlapped),
        SPEC_ND_INSUFFICIENT_RESOURCES);
    fake_sink_counts.no_memory = false;
    allocations_until_failure = 1;
    assert_int_equal(register_it(f, 0), SPEC_ND_INSUFFICIENT_RESOURCES);
    assert_int_equal(register_it(f, 0), SPEC_ND_PENDING);
    fake_sink_counts.no_memory = true;
    assert_int_equal(deregister_it(f),
        SPEC_ND_INSUFFICIENT_RESOURCES); /* still registered, no OVERLAPPED ended */
    fake_sink_counts.no_memory = false;
    assert_int_equal(register_it(f, 0), SPEC_ND_INVALID_DEVICE_STATE);
    assert_int_equal(deregister_it(f), SPEC_ND_PENDING);
    fake_sink_counts.no_memory = true;
    assert_int_equal(register_it(f, 0), SPEC_ND_INSUFFICIENT_RESOURCES);
    fake_sink_counts.no_memory = false;
    assert_int_equal(deregister_it(f), SPEC_ND_INVALID_DEVICE_STATE);
    assert_int_equal(fake_sink_counts.reserved, 0);
    allocations_until_failure = 1;
    assert_int_equal((uint32_t)nd_cq_resize(f->cq, 16), SPEC_ND_NO_MEMORY);
    assert_int_equal(f->cq->depth, 64);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_register_checks_its_arguments_in_order),
        ROW(test_registered_and_given_back_again_and_again),
        ROW(test_rights_of_a_region),
        ROW(test_region_that_does_not_go_stays_registered),
        ROW(test_bound_window_keeps_its_region),
        ROW(test_tokens_of_a_window_cannot_be_foretold),
        ROW(test_window_is_of_one_queue_pair),
        ROW(test_silent_invalidate_lets_the_region_go_too),
        ROW(test_bind_checks_range_and_rights),
        ROW(test_failed_bind_leaves_the_window_free),
        ROW(test_peer_frees_the_window_silently),
        ROW(test_every_order_of_release),
        ROW(test_window_outlives_its_queue_pair),
        ROW(test_creation_without_memory_leaves_nothing),
        ROW(test_calls_without_memory_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
