/* SPDX-License-Identifier: MIT */
/* Regions, windows and the STag table without a connection. */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/device/device.h"
#include "softrdma/memory/memory.h"
#include "softrdma/queues/qp.h"
#include "tests/support/asleep.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum {
    ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
          IBV_ACCESS_MW_BIND
};

static enum srd_stag_error pin(
    struct end *end, uint32_t key, uint64_t addr, uint64_t length, int access, bool remote)
{
    struct srd_stag_entry *entry;
    enum srd_stag_error error =
        srd_stag_pin(srd_qp_from(end->qp), key, addr, length, access, remote, &entry);

    if (!error)
        srd_stag_unpin(entry);
    return error;
}

static void a_region_is_reached_by_its_key_within_bounds_and_rights(void **state)
{
    struct end *end = *state;
    uint64_t base = (uintptr_t)end->memory;
    struct ibv_mr *mr = srd_reg_mr(end->pd, end->memory, 100, IBV_ACCESS_REMOTE_READ);

    assert_non_null(mr);
    assert_int_equal(pin(end, mr->rkey, base, 100, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_OK);
    assert_int_equal(pin(end, mr->lkey, base + 99, 1, 0, false), SRD_STAG_OK);
    assert_int_equal(pin(end, mr->rkey, base, 101, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_BOUNDS);
    assert_int_equal(
        pin(end, mr->rkey, base - 1, 2, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_BOUNDS);
    assert_int_equal(
        pin(end, mr->rkey, base + 100, 1, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_BOUNDS);
    assert_int_equal(
        pin(end, mr->rkey, base, UINT64_MAX, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_WRAP);
    assert_int_equal(pin(end, mr->rkey, base, 100, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_RIGHTS);
    assert_int_equal(pin(end, mr->lkey, base, 100, IBV_ACCESS_LOCAL_WRITE, false), SRD_STAG_RIGHTS);
    assert_int_equal(
        pin(end, mr->rkey ^ 1, base, 1, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_INVALID);
    assert_int_equal(srd_dereg_mr(mr), 0);
}

static void a_region_of_another_domain_is_not_reached(void **state)
{
    struct end *end = *state;
    struct ibv_pd *other = srd_alloc_pd(end->context);
    struct ibv_mr *mr = srd_reg_mr(other, end->memory, 100, ALL);

    assert_int_equal(pin(end, mr->rkey, (uintptr_t)end->memory, 1, 0, true), SRD_STAG_STREAM);
    assert_int_equal(srd_dealloc_pd(other), EBUSY);
    assert_int_equal(srd_dereg_mr(mr), 0);
    assert_int_equal(srd_dealloc_pd(other), 0);
}

static void keys_are_not_reused_soon(void **state)
{
    struct end *end = *state;
    uint32_t last = 0;

    for (int i = 0; i < 100; i++) {
        struct ibv_mr *mr = srd_reg_mr(end->pd, end->memory, 10, 0);
        uint32_t key = mr->rkey;
        assert_true(key != last);
        assert_int_equal(srd_dereg_mr(mr), 0);
        assert_int_equal(pin(end, key, (uintptr_t)end->memory, 1, 0, false), SRD_STAG_INVALID);
        last = key;
    }
}

static void many_regions_are_all_found(void **state)
{
    enum { COUNT = 3000 };
    struct end *end = *state;
    struct ibv_mr **mr = calloc(COUNT, sizeof(struct ibv_mr *));

    for (int i = 0; i < COUNT; i++)
        assert_non_null(mr[i] = srd_reg_mr(end->pd, end->memory + i, 1, 0));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(
            pin(end, mr[i]->lkey, (uintptr_t)end->memory + (size_t)i, 1, 0, false), SRD_STAG_OK);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(srd_dereg_mr(mr[i]), 0);
    free(mr);
}

static void register_fails(struct end *end, void *addr, size_t length, int access, int error)
{
    errno = 0;
    assert_null(srd_reg_mr(end->pd, addr, length, access));
    assert_int_equal(errno, error);
}

static void memory_that_is_not_there_is_not_registered(void **state)
{
    struct end *end = *state;
    size_t page = 4096, big = 8u << 20;
    uint8_t *hole = mmap(NULL, big, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *mr;

    assert_ptr_not_equal(hole, MAP_FAILED);
    assert_non_null(mr = srd_reg_mr(end->pd, hole, big, ALL));
    assert_int_equal(srd_dereg_mr(mr), 0);
    assert_int_equal(munmap(hole + page, page), 0);
    register_fails(end, hole + page, 1, 0, EFAULT);
    register_fails(end, hole, 2 * page, 0, EFAULT);
    register_fails(end, hole, big, 0, EFAULT);
    assert_int_equal(mprotect(hole + 2 * page, page, PROT_READ), 0);
    register_fails(end, hole + 2 * page, 1, IBV_ACCESS_LOCAL_WRITE, EFAULT);
    assert_non_null(mr = srd_reg_mr(end->pd, hole + 2 * page, 1, IBV_ACCESS_REMOTE_READ));
    assert_int_equal(srd_dereg_mr(mr), 0);
    register_fails(end, NULL, 100, 0, EFAULT);
    assert_int_equal(munmap(hole, big), 0);
}

static void inconsistent_registrations_are_refused(void **state)
{
    struct end *end = *state;

    register_fails(end, end->memory, 0, 0, EINVAL);
    register_fails(end, end->memory, 10, IBV_ACCESS_REMOTE_WRITE, EINVAL);
    register_fails(end, end->memory, SIZE_MAX, 0, EINVAL);
    register_fails(end, end->memory, 10, IBV_ACCESS_ON_DEMAND, EOPNOTSUPP);
}

static enum ibv_wc_status bind_window(struct end *end, struct ibv_mw *mw, uint32_t key,
    struct ibv_mr *mr, size_t at, size_t length, int access)
{
    struct srd_bind bind = { mr->rkey, (uintptr_t)end->memory + at, length, (unsigned)access };

    return srd_stag_bind(srd_qp_from(end->qp), srd_mw_entry(mw), key, &bind);
}

static void a_window_gives_its_part_until_invalidated(void **state)
{
    struct end *end = *state;
    struct srd_qp *qp = srd_qp_from(end->qp);
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
    uint64_t base = (uintptr_t)end->memory;
    uint32_t key;

    assert_non_null(mw);
    key = ibv_inc_rkey(mw->rkey);
    assert_int_equal(pin(end, key, base + 100, 50, 0, true), SRD_STAG_INVALID);
    assert_int_equal(
        bind_window(end, mw, key, end->mr, 100, 50, IBV_ACCESS_REMOTE_WRITE), IBV_WC_SUCCESS);
    assert_int_equal(pin(end, key, base + 100, 50, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_OK);
    assert_int_equal(pin(end, key, base + 99, 2, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_BOUNDS);
    assert_int_equal(pin(end, key, base + 100, 51, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_BOUNDS);
    assert_int_equal(pin(end, key, base + 100, 50, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_RIGHTS);
    assert_int_equal(pin(end, key, base + 100, 50, 0, false), SRD_STAG_INVALID); /* no local key */
    assert_int_equal(srd_dereg_mr(end->mr), EBUSY);
    assert_int_equal(
        bind_window(end, mw, ibv_inc_rkey(key), end->mr, 0, 1, 0), IBV_WC_MW_BIND_ERR); /* bound */
    assert_int_equal(srd_stag_invalidate(qp, key, false), SRD_STAG_OK);
    assert_int_equal(pin(end, key, base + 100, 1, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_INVALID);
    assert_int_equal(srd_stag_invalidate(qp, key, false), SRD_STAG_INVALID);
    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 1, 0), IBV_WC_MW_BIND_ERR); /* key used up */
    key = ibv_inc_rkey(key);
    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    assert_int_equal(pin(end, key, base, 8, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_OK);
    assert_int_equal(ibv_dealloc_mw(mw), 0); /* bound or not */
    assert_int_equal(pin(end, key, base, 8, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_INVALID);
}

static void a_window_needs_a_region_that_allows_it(void **state)
{
    struct end *end = *state;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
    uint32_t key = ibv_inc_rkey(mw->rkey);
    struct ibv_pd *other = srd_alloc_pd(end->context);
    struct ibv_mr *plain = srd_reg_mr(end->pd, end->memory, 100, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mr *readable = srd_reg_mr(end->pd, end->memory, 100, IBV_ACCESS_MW_BIND);
    struct ibv_mr *foreign = srd_reg_mr(other, end->memory, 100, ALL);

    assert_int_equal(
        bind_window(end, mw, key, plain, 0, 1, IBV_ACCESS_REMOTE_READ), IBV_WC_MW_BIND_ERR);
    assert_int_equal(
        bind_window(end, mw, key, readable, 0, 1, IBV_ACCESS_REMOTE_WRITE), IBV_WC_MW_BIND_ERR);
    assert_int_equal(
        bind_window(end, mw, key, foreign, 0, 1, IBV_ACCESS_REMOTE_READ), IBV_WC_MW_BIND_ERR);
    assert_int_equal(
        bind_window(end, mw, key, readable, 50, 51, IBV_ACCESS_REMOTE_READ), IBV_WC_MW_BIND_ERR);
    assert_int_equal(
        bind_window(end, mw, key, readable, 0, 0, IBV_ACCESS_REMOTE_READ), IBV_WC_MW_BIND_ERR);
    assert_int_equal(bind_window(end, mw, key + 256, readable, 0, 1, IBV_ACCESS_REMOTE_READ),
        IBV_WC_LOC_QP_OP_ERR);
    assert_int_equal(
        bind_window(end, mw, key, readable, 0, 100, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
    assert_int_equal(srd_dereg_mr(plain), 0);
    assert_int_equal(srd_dereg_mr(readable), 0);
    assert_int_equal(srd_dereg_mr(foreign), 0);
    assert_int_equal(srd_dealloc_pd(other), 0);
}

/* The key that it was made with has named nothing yet: a caller may choose its octet, too. */
static void a_window_may_be_bound_under_its_first_key(void **state)
{
    struct end *end = *state;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);

    assert_int_equal(
        bind_window(end, mw, mw->rkey, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    assert_int_equal(srd_stag_invalidate(srd_qp_from(end->qp), mw->rkey, false), SRD_STAG_OK);
    assert_int_equal(
        bind_window(end, mw, mw->rkey, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_MW_BIND_ERR);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* ibv_bind_mw(3) has the rights of peers; rdma-core's tests pass IBV_ACCESS_LOCAL_WRITE with them or alone. */
static void local_write_among_the_rights_of_a_window_means_nothing(void **state)
{
    struct end *end = *state;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
    uint32_t key = ibv_inc_rkey(mw->rkey);
    uint64_t base = (uintptr_t)end->memory;

    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 8, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND),
        IBV_WC_MW_BIND_ERR);
    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 8, IBV_ACCESS_LOCAL_WRITE), IBV_WC_SUCCESS);
    assert_int_equal(pin(end, key, base, 8, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_RIGHTS);
    assert_int_equal(pin(end, key, base, 8, IBV_ACCESS_LOCAL_WRITE, false), SRD_STAG_INVALID);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void a_window_belongs_to_one_queue_pair(void **state)
{
    struct end *end = *state;
    struct end second = *end;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
    uint32_t key = ibv_inc_rkey(mw->rkey);

    end_make_qp(&second);
    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    assert_int_equal(pin(&second, key, (uintptr_t)end->memory, 8, IBV_ACCESS_REMOTE_READ, true),
        SRD_STAG_STREAM);
    assert_int_equal(srd_stag_invalidate(srd_qp_from(second.qp), key, true), SRD_STAG_STREAM);
    assert_int_equal(
        srd_stag_invalidate(srd_qp_from(end->qp), end->mr->rkey, true), SRD_STAG_NO_INVALIDATE);
    assert_int_equal(srd_destroy_qp(end->qp), 0); /* its windows go with it */
    end->qp = second.qp;
    assert_int_equal(srd_stag_invalidate(srd_qp_from(second.qp), key, true), SRD_STAG_INVALID);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void windows_have_one_of_two_types(void **state)
{
    struct end *end = *state;

    errno = 0;
    assert_null(ibv_alloc_mw(end->pd, (enum ibv_mw_type)3));
    assert_int_equal(errno, EINVAL);
}

/*
 * ibv_bind_mw(3), ibv_alloc_mw(3): the next bind replaces a type 1 window's memory; a bind of length zero takes it
 * away, or deallocation, and nothing else. It is of a domain, as a region, and outlives the queue pair.
 */
static void a_type_1_window_is_bound_again_and_taken_back_by_binds(void **state)
{
    struct end *end = *state;
    struct end second = *end;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_1);
    struct srd_bind none = { 0 };
    uint64_t base = (uintptr_t)end->memory;
    uint32_t key, next, last;

    assert_non_null(mw);
    end_make_qp(&second);
    key = ibv_inc_rkey(mw->rkey);
    next = ibv_inc_rkey(key);
    last = ibv_inc_rkey(next);
    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    assert_int_equal(pin(end, key, base, 8, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_OK);
    assert_int_equal(pin(&second, key, base, 8, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_OK);
    assert_int_equal(pin(end, key, base, 8, 0, false), SRD_STAG_INVALID); /* no local key */
    assert_int_equal(srd_stag_invalidate(srd_qp_from(end->qp), key, true), SRD_STAG_NO_INVALIDATE);
    assert_int_equal(srd_stag_invalidate(srd_qp_from(end->qp), key, false), SRD_STAG_NO_INVALIDATE);
    assert_int_equal(bind_window(end, mw, next, end->mr, 0, END_MEMORY + 1, 0), IBV_WC_MW_BIND_ERR);
    assert_int_equal(pin(end, key, base, 8, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_OK);
    assert_int_equal(
        bind_window(&second, mw, next, end->mr, 8, 8, IBV_ACCESS_REMOTE_WRITE), IBV_WC_SUCCESS);
    assert_int_equal(pin(end, key, base, 8, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_INVALID);
    assert_int_equal(pin(end, next, base + 8, 8, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_OK);
    assert_int_equal(srd_destroy_qp(second.qp), 0);
    assert_int_equal(pin(end, next, base + 8, 8, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_OK);
    assert_int_equal(srd_dereg_mr(end->mr), EBUSY);
    assert_int_equal(
        srd_stag_bind(srd_qp_from(end->qp), srd_mw_entry(mw), last, &none), IBV_WC_SUCCESS);
    assert_int_equal(pin(end, next, base + 8, 8, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_INVALID);
    assert_int_equal(pin(end, last, base + 8, 8, IBV_ACCESS_REMOTE_WRITE, true), SRD_STAG_INVALID);
    assert_int_equal(bind_window(end, mw, ibv_inc_rkey(last), end->mr, 0, 8, 0), IBV_WC_SUCCESS);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void a_type_1_window_of_another_domain_is_not_reached(void **state)
{
    struct end *end = *state;
    struct end other = *end;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_1);
    uint32_t key = ibv_inc_rkey(mw->rkey);

    other.pd = srd_alloc_pd(end->context);
    end_make_qp(&other);
    assert_int_equal(
        bind_window(&other, mw, key, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_MW_BIND_ERR);
    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    assert_int_equal(
        pin(&other, key, (uintptr_t)end->memory, 8, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_STREAM);
    assert_int_equal(srd_destroy_qp(other.qp), 0);
    assert_int_equal(srd_dealloc_pd(other.pd), 0);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* A thread that takes memory away, and how far it is. */
struct revoker {
    struct srd_qp *qp;
    struct ibv_mr *mr;        /* the thread deregisters this */
    struct ibv_qp *destroyed; /* or a queue pair with its windows */
    uint32_t window;          /* or invalidates this key */
    struct ibv_mw *unbound;   /* or takes this type 1 window's memory away */
    atomic_int thread;
    atomic_bool done;
};

static void *take_away(void *arg)
{
    struct revoker *revoker = arg;

    atomic_store(&revoker->thread, thread_number());
    if (revoker->mr)
        assert_int_equal(srd_dereg_mr(revoker->mr), 0);
    else if (revoker->destroyed)
        assert_int_equal(srd_destroy_qp(revoker->destroyed), 0);
    else if (revoker->unbound)
        assert_int_equal(srd_stag_bind(revoker->qp, srd_mw_entry(revoker->unbound), revoker->window,
                             &(struct srd_bind){ 0 }),
            IBV_WC_SUCCESS);
    else
        assert_int_equal(srd_stag_invalidate(revoker->qp, revoker->window, true), SRD_STAG_OK);
    atomic_store(&revoker->done, true);
    return NULL;
}

/* The key is refused from the first moment on, but the call returns only when the access under way has ended. */
static void revocation_waits(struct end *end, struct revoker *revoker, uint32_t key)
{
    struct srd_stag_entry *entry;
    pthread_t thread;

    assert_int_equal(
        srd_stag_pin(srd_qp_from(end->qp), key, (uintptr_t)end->memory, 1, 0, true, &entry),
        SRD_STAG_OK);
    assert_int_equal(pthread_create(&thread, NULL, take_away, revoker), 0);
    assert_true(SETTLES(pin(end, key, (uintptr_t)end->memory, 1, 0, true) == SRD_STAG_INVALID));
    assert_true(
        SETTLES(atomic_load(&revoker->done) || thread_is_asleep(atomic_load(&revoker->thread))));
    assert_false(atomic_load(&revoker->done));
    srd_stag_unpin(entry);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&revoker->done));
}

static void deregistering_waits_for_accesses(void **state)
{
    struct end *end = *state;
    struct revoker revoker = { .mr = srd_reg_mr(end->pd, end->memory, 100, ALL) };

    revocation_waits(end, &revoker, revoker.mr->rkey);
}

static void invalidating_waits_for_accesses(void **state)
{
    struct end *end = *state;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
    struct revoker revoker = { .qp = srd_qp_from(end->qp), .window = ibv_inc_rkey(mw->rkey) };

    assert_int_equal(bind_window(end, mw, revoker.window, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ),
        IBV_WC_SUCCESS);
    revocation_waits(end, &revoker, revoker.window);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void unbinding_a_type_1_window_waits_for_accesses(void **state)
{
    struct end *end = *state;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_1);
    uint32_t key = ibv_inc_rkey(mw->rkey);
    struct revoker revoker = {
        .qp = srd_qp_from(end->qp), .unbound = mw, .window = ibv_inc_rkey(key)
    };

    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    revocation_waits(end, &revoker, key);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* One page, under the address of end->memory. */
static enum ibv_wc_status register_page(struct end *end, struct ibv_mr *mr)
{
    struct srd_stag_table *table = &srd_device_of(end->context)->stags;
    struct srd_sqe_fast fast = { .list = srd_stag_list_take(table, srd_mr_entry(mr)),
        .base = (uintptr_t)end->memory,
        .length = SRD_FAST_PAGE_OCTETS,
        .access = IBV_ACCESS_REMOTE_READ };

    fast.list->count = 1;
    fast.list->pages[0] = SRD_FAST_PAGE_OCTETS;
    return srd_stag_register(srd_qp_from(end->qp), mr->rkey, &fast);
}

static void invalidating_a_fast_region_waits_for_accesses(void **state)
{
    struct end *end = *state;
    struct ibv_mr *mr = srd_alloc_fast_mr(end->pd, 1);
    struct revoker revoker = { .qp = srd_qp_from(end->qp), .window = mr->rkey };

    assert_int_equal(register_page(end, mr), IBV_WC_SUCCESS);
    revocation_waits(end, &revoker, mr->rkey);
    assert_int_equal(register_page(end, mr), IBV_WC_SUCCESS);
    revoker = (struct revoker){ .mr = mr };
    revocation_waits(end, &revoker, mr->rkey);
}

struct registrar {
    struct end *end;
    struct ibv_mr *mr;
    atomic_int thread;
    atomic_bool done;
};

static void *register_again(void *arg)
{
    struct registrar *registrar = arg;

    atomic_store(&registrar->thread, thread_number());
    assert_int_equal(register_page(registrar->end, registrar->mr), IBV_WC_SUCCESS);
    atomic_store(&registrar->done, true);
    return NULL;
}

/* An access from before the invalidation goes on in its pages: they are not exchanged under it. */
static void registering_waits_for_accesses_from_before(void **state)
{
    struct end *end = *state;
    struct ibv_mr *mr = srd_alloc_fast_mr(end->pd, 1);
    struct revoker revoker = { .qp = srd_qp_from(end->qp), .window = mr->rkey };
    struct registrar registrar = { .end = end, .mr = mr };
    uint64_t addr = (uintptr_t)end->memory;
    struct srd_stag_entry *entry;
    pthread_t revokes, registers;
    uint32_t octets = 1;

    assert_int_equal(register_page(end, mr), IBV_WC_SUCCESS);
    assert_int_equal(
        srd_stag_pin(srd_qp_from(end->qp), mr->rkey, addr, 1, 0, true, &entry), SRD_STAG_OK);
    assert_int_equal(pthread_create(&revokes, NULL, take_away, &revoker), 0);
    assert_true(SETTLES(pin(end, mr->rkey, addr, 1, 0, true) == SRD_STAG_INVALID));
    assert_int_equal(pthread_create(&registers, NULL, register_again, &registrar), 0);
    assert_true(
        SETTLES(atomic_load(&registrar.done) || thread_is_asleep(atomic_load(&registrar.thread))));
    assert_false(atomic_load(&registrar.done));
    assert_ptr_equal(srd_stag_at(entry, addr, &octets), (void *)(uintptr_t)SRD_FAST_PAGE_OCTETS);
    srd_stag_unpin(entry);
    assert_int_equal(pthread_join(revokes, NULL), 0);
    assert_int_equal(pthread_join(registers, NULL), 0);
    assert_int_equal(pin(end, mr->rkey, addr, 1, 0, true), SRD_STAG_OK);
    assert_int_equal(srd_dereg_mr(mr), 0);
}

static void destroying_a_queue_pair_waits_for_accesses(void **state)
{
    struct end *end = *state;
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
    struct revoker revoker = { .destroyed = end->qp };
    uint32_t key = ibv_inc_rkey(mw->rkey);

    assert_int_equal(
        bind_window(end, mw, key, end->mr, 0, 8, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    revocation_waits(end, &revoker, key);
    end->qp = NULL;
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* A late message for a destroyed queue pair must not find the next one. */
static void queue_pair_numbers_are_not_reused_soon(void **state)
{
    enum { COUNT = 200 };
    struct end *end = *state;
    uint32_t seen[COUNT];

    for (int i = 0; i < COUNT; i++) {
        struct end other = *end;

        end_make_qp(&other);
        seen[i] = other.qp->qp_num;
        assert_true(seen[i] < 1 << 24);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(seen[i], seen[j]);
        assert_int_equal(srd_destroy_qp(other.qp), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_region_is_reached_by_its_key_within_bounds_and_rights, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            a_region_of_another_domain_is_not_reached, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(keys_are_not_reused_soon, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(many_regions_are_all_found, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            memory_that_is_not_there_is_not_registered, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            inconsistent_registrations_are_refused, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            a_window_gives_its_part_until_invalidated, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            a_window_needs_a_region_that_allows_it, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            a_window_may_be_bound_under_its_first_key, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            local_write_among_the_rights_of_a_window_means_nothing, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            a_window_belongs_to_one_queue_pair, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(windows_have_one_of_two_types, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            a_type_1_window_is_bound_again_and_taken_back_by_binds, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            a_type_1_window_of_another_domain_is_not_reached, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            unbinding_a_type_1_window_waits_for_accesses, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(deregistering_waits_for_accesses, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(invalidating_waits_for_accesses, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            invalidating_a_fast_region_waits_for_accesses, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            registering_waits_for_accesses_from_before, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            destroying_a_queue_pair_waits_for_accesses, end_setup, end_teardown),
        cmocka_unit_test_setup_teardown(
            queue_pair_numbers_are_not_reused_soon, end_setup, end_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
