/* SPDX-License-Identifier: MIT */
/*
 * test_fast_register.c - fast regions over a device that the test plays, of either kind: one that registers pages, and
 * one with windows.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include "ndspi/core/memory/frmr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, COUNT = 4, DEPTH = 16 };

#define PARAMETER  0xC000000Du
#define VIOLATION  0xC0000005u
#define STATE      0xC0000184u
#define CONNECTION 0xC000023Au

static const enum nd_fast_register by_device = ND_FAST_DEVICE, by_windows = ND_FAST_WINDOWS;

struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    struct nd_frmr *frmr;
    enum nd_fast_register way;
    uint8_t *memory; /* of COUNT pages */
    uint64_t addresses[COUNT];
    struct nd_pages pages;
};

static void destroy(struct nd_object *object)
{
    nd_frmr_fini((struct nd_frmr *)object);
    free(object);
}

static struct nd_frmr *make_frmr(struct nd_adapter *adapter)
{
    struct nd_frmr *frmr = nd_object_alloc(sizeof(*frmr));

    assert_non_null(frmr);
    nd_frmr_init(frmr, adapter, destroy);
    return frmr;
}

static void open_on(struct fixture *f, void **state, struct nd_adapter *adapter)
{
    memset(f, 0, sizeof(*f));
    f->way = *(const enum nd_fast_register *)*state;
    f->adapter = adapter;
    f->adapter->port.caps.fast_register = f->way;
    f->adapter->port.caps.max_fast_pages = 256;
    f->cq = fake_make_cq(f->adapter, 64);
    f->qp = fake_make_qp(f->adapter, f->cq, NULL, DEPTH);
    f->frmr = make_frmr(f->adapter);
    nd_qp_set_sendable(f->qp);
    f->memory = aligned_alloc(PAGE, COUNT * PAGE);
    for (unsigned i = 0; i < COUNT; i++)
        f->addresses[i] = (uintptr_t)f->memory + i * PAGE;
    f->pages = (struct nd_pages){ .addresses = f->addresses,
        .count = COUNT,
        .offset = 16,
        .length = 3 * PAGE,
        .base = 0x700000000000 + 16 };
}

static void open_with(struct fixture *f, void **state)
{
    open_on(f, state, fake_adapter_open());
}

static void open_allocated(struct fixture *f, void **state)
{
    open_with(f, state);
    assert_int_equal(nd_frmr_allocate(f->frmr, COUNT, true), 0);
}

static void close_all(struct fixture *f)
{
    if (f->frmr)
        nd_frmr_close(f->frmr);
    if (f->qp)
        nd_qp_close(f->qp);
    if (f->cq)
        nd_cq_close(f->cq);
    fake_adapter_close(f->adapter);
    free(f->memory);
}

enum { RIGHTS = ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE };

static uint32_t register_with(struct fixture *f, uint32_t flags)
{
    return (uint32_t)nd_qp_fast_register(f->qp, f, f->frmr, &f->pages, flags);
}

static uint32_t invalidate(struct fixture *f)
{
    return (uint32_t)nd_qp_invalidate_frmr(f->qp, NULL, f->frmr, 0);
}

static struct fake_queue *sends(struct fixture *f)
{
    return &fake_qp_of(f->qp)->send;
}

static void end_requests(struct fixture *f, unsigned count, enum ibv_wc_status status)
{
    fake_complete(f->cq, sends(f), f->qp->ibv, count, status);
    nd_cq_look(f->cq);
}

/* The oldest result. */
static ND2_RESULT result(struct fixture *f)
{
    ND2_RESULT one = { 0 };

    assert_int_equal(nd_cq_results_v2(&f->cq->poll, &one, 1), 1);
    return one;
}

static void no_result(struct fixture *f)
{
    ND2_RESULT one;

    assert_int_equal(nd_cq_results_v2(&f->cq->poll, &one, 1), 0);
}

/* A Receive ends with whose sender invalidated this key. */
static void taken_back_by_peer(struct fixture *f, uint32_t key)
{
    ND2_SGE sge = { .Buffer = f->memory, .BufferLength = 8 };
    struct fake_queue *queue = &fake_qp_of(f->qp)->receive;
    struct ibv_wc wc = { .status = IBV_WC_SUCCESS, .wc_flags = IBV_WC_WITH_INV };

    assert_int_equal(nd_queue_receive_general(&f->qp->receive, NULL, &sge, 1), 0);
    wc.wr_id = queue->requests[0].wr_id;
    wc.qp_num = f->qp->ibv->qp_num;
    wc.invalidated_rkey = key;
    queue->count = 0;
    fake_cq_push(f->cq, &wc, false);
    nd_cq_look(f->cq);
}

/* Device objects of the region: itself, and its backings. */
static unsigned objects(void)
{
    return fake_device.objects - 2; /* the queue pair, the completion queue */
}

/* ---- the object ---- */

static void test_allocate(void **state)
{
    struct fixture f;
    uint32_t key;

    open_with(&f, state);
    assert_int_equal(nd_frmr_key(f.frmr), 0);
    assert_int_equal((uint32_t)nd_frmr_allocate(f.frmr, 0, true), PARAMETER);
    assert_int_equal((uint32_t)nd_frmr_allocate(f.frmr, 257, true), 0xC000042Bu);
    assert_int_equal(register_with(&f, 0), STATE);
    assert_int_equal(invalidate(&f), STATE);
    assert_int_equal(nd_frmr_allocate(f.frmr, 256, true), 0);
    key = nd_frmr_key(f.frmr);
    assert_int_not_equal(key, 0);
    if (f.way == ND_FAST_WINDOWS)
        assert_int_equal(key & 0xFF, 0);
    assert_int_equal((uint32_t)nd_frmr_allocate(f.frmr, 16, true), STATE);
    assert_int_equal(nd_frmr_key(f.frmr), key);
    assert_int_equal(nd_frmr_lkey(f.frmr), 0);
    assert_false(nd_frmr_registered(f.frmr));
    close_all(&f);
}

static void test_devices_that_cannot(void **state)
{
    struct fixture f;

    open_with(&f, state);
    f.adapter->port.caps.fast_register = ND_FAST_NONE;
    assert_int_equal((uint32_t)nd_frmr_allocate(f.frmr, 1, true), 0xC00000BBu);
    f.adapter->port.caps.fast_register = ND_FAST_DEVICE;
    fake_device.reg_error = ENOMEM;
    assert_int_equal((uint32_t)nd_frmr_allocate(f.frmr, 1, true), 0xC000009Au);
    fake_device.reg_error = 0;
    atomic_store(&f.adapter->removed, true);
    assert_int_equal((uint32_t)nd_frmr_allocate(f.frmr, 1, true), 0xC00002B6u);
    atomic_store(&f.adapter->removed, false);
    assert_int_equal((uint32_t)nd_frmr_allocate(f.frmr, 1, true), 0);
    close_all(&f);
}

/* ---- what is posted ---- */

static void expect_posted(struct fixture *f, uint32_t old_key, int access, unsigned send_flags)
{
    const struct fake_request *request = &sends(f)->requests[sends(f)->count - 1];
    uint32_t key = nd_frmr_key(f->frmr);

    assert_int_equal(request->send_flags, send_flags);
    if (f->way == ND_FAST_DEVICE) {
        assert_int_equal((int)request->opcode, FAKE_FAST_REG);
        assert_ptr_equal(request->fast.pages, f->addresses);
        assert_int_equal(request->fast.n_pages, COUNT);
        assert_int_equal(request->fast.offset, 16);
        assert_int_equal(request->fast.length, 3 * PAGE);
        assert_int_equal(request->fast.base, 0x700000000010);
        assert_int_equal(request->fast.access, access);
        assert_int_equal(nd_frmr_lkey(f->frmr), key);
        return;
    }
    assert_int_equal(request->opcode, IBV_WR_BIND_MW);
    assert_int_equal(request->bind.old_rkey, old_key);
    assert_int_equal(request->bind.rkey, key);
    assert_int_equal(request->bind.mw->rkey, key);
    assert_int_equal(request->bind.addr, 0x700000000010);
    assert_int_equal(request->bind.length, 3 * PAGE);
    assert_int_equal(
        request->bind.access, access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
    assert_ptr_equal(request->bind.mr->addr, f->memory + 16);
    assert_int_equal(request->bind.mr->length, 3 * PAGE);
    assert_int_equal(fake_device.iova, 0x700000000010);
    assert_int_equal(fake_device.access, (access & IBV_ACCESS_LOCAL_WRITE) | IBV_ACCESS_MW_BIND);
    assert_int_equal(nd_frmr_lkey(f->frmr), request->bind.mr->lkey);
}

struct flags_row {
    uint32_t flags;
    int access;
    unsigned send_flags;
};

static const struct flags_row flags_rows[] = {
    { 0, 0, IBV_SEND_SIGNALED },
    { ND_OP_FLAG_SILENT_SUCCESS, 0, 0 },
    { ND_OP_FLAG_READ_FENCE | ND_OP_FLAG_ALLOW_READ, IBV_ACCESS_REMOTE_READ,
        IBV_SEND_SIGNALED | IBV_SEND_FENCE },
    { ND_POST_LOCAL_WRITE, IBV_ACCESS_LOCAL_WRITE, IBV_SEND_SIGNALED },
    { ND_OP_FLAG_ALLOW_WRITE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, IBV_SEND_SIGNALED },
};

static void test_register_and_invalidate(void **state)
{
    struct fixture f;
    uint32_t key, before;

    open_allocated(&f, state);
    key = nd_frmr_key(f.frmr);
    before = f.frmr->window ? f.frmr->window->rkey : 0;
    for (size_t i = 0; i < sizeof(flags_rows) / sizeof(*flags_rows); i++) {
        const struct flags_row *row = &flags_rows[i];
        bool silent = row->flags & ND_OP_FLAG_SILENT_SUCCESS;
        ND2_RESULT ended;

        assert_int_equal(register_with(&f, row->flags), 0);
        expect_posted(&f, before, row->access, row->send_flags);
        before = key;
        assert_true(nd_frmr_registered(f.frmr));
        assert_int_equal(register_with(&f, row->flags), STATE);
        end_requests(&f, 1, IBV_WC_SUCCESS);
        if (!silent) {
            ended = result(&f);
            assert_int_equal(ended.Status, 0);
            assert_int_equal(ended.RequestType, 6);
            assert_ptr_equal(ended.RequestContext, &f);
        }
        assert_int_equal((uint32_t)nd_qp_invalidate_frmr(f.qp, NULL, f.frmr,
                             row->flags & (ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE)),
            0);
        assert_int_equal(sends(&f)->requests[0].opcode, IBV_WR_LOCAL_INV);
        assert_int_equal(sends(&f)->requests[0].invalidate_rkey, key);
        assert_int_equal(sends(&f)->requests[0].send_flags,
            row->send_flags | (f.way == ND_FAST_WINDOWS ? IBV_SEND_SIGNALED : 0));
        assert_false(nd_frmr_registered(f.frmr));
        assert_int_equal(nd_frmr_lkey(f.frmr), 0);
        assert_int_equal(invalidate(&f), STATE);
        assert_int_equal(objects(), f.way == ND_FAST_WINDOWS ? 2 : 1); /* until it has ended */
        end_requests(&f, 1, IBV_WC_SUCCESS);
        assert_int_equal(objects(), 1);
        if (!silent)
            assert_int_equal(result(&f).RequestType, Nd2RequestTypeInvalidate);
        no_result(&f);
        assert_int_equal(nd_frmr_key(f.frmr), key);
    }
    close_all(&f);
}

/* What a chain keeps goes first; then the chain is at its end, also if the request fails, or has the flag itself. */
static void test_ends_a_chain(void **state)
{
    ND2_SGE sge = { .BufferLength = 8 };
    struct fixture f;

    open_on(&f, state, fake_adapter_open_kernel());
    assert_int_equal(nd_frmr_allocate(f.frmr, COUNT, true), 0);
    sge.Buffer = f.memory;
    for (uint32_t defer = 0; defer <= ND_POST_DEFER; defer += ND_POST_DEFER) {
        assert_int_equal(nd_queue_send_v2(&f.qp->initiator, NULL, &sge, 1, ND_POST_DEFER), 0);
        assert_int_equal(sends(&f)->count, 0);
        assert_int_equal(register_with(&f, defer), 0);
        assert_int_equal(sends(&f)->count, 2);
        assert_int_equal(sends(&f)->requests[0].opcode, IBV_WR_SEND);
        assert_int_equal(nd_queue_send_v2(&f.qp->initiator, NULL, &sge, 1, ND_POST_DEFER), 0);
        assert_int_equal(register_with(&f, defer), STATE);
        assert_int_equal(sends(&f)->count, 3);
        assert_int_equal(nd_queue_send_v2(&f.qp->initiator, NULL, &sge, 1, ND_POST_DEFER), 0);
        assert_int_equal(nd_qp_invalidate_frmr(f.qp, NULL, f.frmr, defer), 0);
        assert_int_equal(sends(&f)->count, 5);
        assert_int_equal(sends(&f)->requests[4].opcode, IBV_WR_LOCAL_INV);
        assert_int_equal(nd_queue_send_v2(&f.qp->initiator, NULL, &sge, 1, ND_POST_DEFER), 0);
        assert_int_equal((uint32_t)nd_qp_invalidate_frmr(f.qp, NULL, f.frmr, defer), STATE);
        assert_int_equal(sends(&f)->count, 6);
        end_requests(&f, 6, IBV_WC_SUCCESS);
    }
    close_all(&f);
}

/* ---- refused ---- */

struct page_row {
    const char *what;
    uint32_t count, offset;
    uint64_t length, base, page_change;
};

static const struct page_row page_rows[] = {
    { "no pages", 0, 0, 1, 0, 0 },
    { "more pages than allocated", COUNT + 1, 0, 1, 0, 0 },
    { "an offset of a page", COUNT, PAGE, 1, PAGE, 0 },
    { "no bytes", COUNT, 0, 0, 0, 0 },
    { "more bytes than the pages have", COUNT, 0, COUNT *PAGE + 1, 0, 0 },
    { "more bytes than are behind the offset", COUNT, 1, COUNT *PAGE, 1, 0 },
    { "a length beyond everything", COUNT, 0, UINT64_MAX, 0, 0 },
    { "a base that does not have the offset", COUNT, 8, 8, PAGE + 9, 0 },
    { "a base of 0 with an offset", COUNT, 8, 8, 0, 0 },
    { "past the last address", COUNT, 0, PAGE, UINT64_MAX - PAGE + 1, 0 },
    { "an address within a page", COUNT, 0, 8, 0, 4 },
};

static void test_pages_that_make_no_sense(void **state)
{
    struct nd_pages none = { .count = 1, .length = 1 };
    struct fixture f;

    open_allocated(&f, state);
    for (size_t i = 0; i < sizeof(page_rows) / sizeof(*page_rows); i++) {
        const struct page_row *row = &page_rows[i];

        print_message("%s\n", row->what);
        f.pages.count = row->count;
        f.pages.offset = row->offset;
        f.pages.length = row->length;
        f.pages.base = row->base;
        f.addresses[1] ^= row->page_change;
        assert_int_equal(register_with(&f, 0), PARAMETER);
        f.addresses[1] ^= row->page_change;
    }
    assert_int_equal((uint32_t)nd_qp_fast_register(f.qp, NULL, f.frmr, &none, 0), PARAMETER);
    assert_int_equal(register_with(&f, 1u << 30), PARAMETER);
    assert_int_equal(
        (uint32_t)nd_qp_invalidate_frmr(f.qp, NULL, f.frmr, ND_OP_FLAG_ALLOW_READ), PARAMETER);
    f.frmr->pd = (struct ibv_pd *)&f; /* another domain's */
    f.pages = (struct nd_pages){ .addresses = f.addresses, .count = 1, .length = 1 };
    if (f.way == ND_FAST_DEVICE)
        assert_int_equal(register_with(&f, 0), PARAMETER);
    f.frmr->pd = NULL;
    assert_int_equal(sends(&f)->count, 0);
    assert_int_equal(objects(), 1);
    assert_int_equal(register_with(&f, 0), 0);
    close_all(&f);
}

static void test_bases_of_any_page(void **state)
{
    static const uint64_t bases[] = { 0, PAGE, 0xFFFFFFFFFFFFC000, 0x8000000000000000 };
    struct fixture f;

    open_allocated(&f, state);
    f.pages.offset = 0;
    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
        f.pages.base = bases[i];
        assert_int_equal(register_with(&f, 0), 0);
        assert_int_equal(invalidate(&f), 0);
        end_requests(&f, 2, IBV_WC_SUCCESS);
    }
    close_all(&f);
}

static void test_rights_and_connection(void **state)
{
    struct fixture f;
    struct nd_qp *idle;

    open_with(&f, state);
    assert_int_equal(nd_frmr_allocate(f.frmr, COUNT, false), 0);
    assert_int_equal(register_with(&f, ND_OP_FLAG_ALLOW_READ), VIOLATION);
    assert_int_equal(register_with(&f, ND_OP_FLAG_ALLOW_WRITE), VIOLATION);
    assert_int_equal(objects(), 1);
    idle = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    assert_int_equal(
        (uint32_t)nd_qp_fast_register(idle, NULL, f.frmr, &f.pages, RIGHTS), CONNECTION);
    assert_int_equal((uint32_t)nd_qp_fast_register(idle, NULL, f.frmr, &f.pages, 0), CONNECTION);
    assert_int_equal((uint32_t)nd_qp_invalidate_frmr(idle, NULL, f.frmr, 0), CONNECTION);
    nd_qp_close(idle);
    assert_int_equal(register_with(&f, ND_POST_LOCAL_WRITE), 0);
    close_all(&f);
}

static void test_refused_by_the_device(void **state)
{
    struct fixture f;

    open_allocated(&f, state);
    fake_device.post_error = EINVAL;
    assert_int_equal(register_with(&f, RIGHTS), 0xC0000010u);
    assert_false(nd_frmr_registered(f.frmr));
    assert_int_equal(objects(), 1);
    fake_device.post_error = 0;
    assert_int_equal(register_with(&f, RIGHTS), 0);
    fake_device.post_error = EINVAL;
    assert_int_equal(invalidate(&f), 0xC0000010u);
    assert_true(nd_frmr_registered(f.frmr));
    fake_device.post_error = 0;
    assert_int_equal(invalidate(&f), 0);
    close_all(&f);
}

static void test_windows_need_pages_in_a_row(void **state)
{
    struct fixture f;
    uint64_t first;

    open_allocated(&f, state);
    first = f.addresses[0];
    f.addresses[0] = f.addresses[1];
    f.addresses[1] = first;
    assert_int_equal(register_with(&f, 0), 0xC00000BBu);
    f.addresses[1] = f.addresses[0];
    f.addresses[0] = first;
    fake_device.reg_error = EFAULT;
    assert_int_equal(register_with(&f, 0), VIOLATION);
    fake_device.reg_error = ENOMEM;
    assert_int_equal(register_with(&f, 0), 0xC000009Au);
    assert_int_equal(objects(), 1);
    assert_int_equal(sends(&f)->count, 0);
    close_all(&f);
}

/* ---- how they end ---- */

static void test_the_peer_takes_it_back(void **state)
{
    struct fixture f;
    uint32_t key;

    open_allocated(&f, state);
    key = nd_frmr_key(f.frmr);
    for (int round = 0; round < 1000; round++) {
        assert_int_equal(register_with(&f, RIGHTS | ND_OP_FLAG_SILENT_SUCCESS), 0);
        end_requests(&f, 1, IBV_WC_SUCCESS);
        taken_back_by_peer(&f, key + 0x100); /* nobody's */
        assert_true(nd_frmr_registered(f.frmr));
        taken_back_by_peer(&f, key);
        assert_false(nd_frmr_registered(f.frmr));
        assert_int_equal(nd_frmr_lkey(f.frmr), 0);
        assert_int_equal(objects(), 1);
        assert_int_equal(invalidate(&f), STATE);
        assert_int_equal(result(&f).RequestType, Nd2RequestTypeReceive);
        assert_int_equal(result(&f).RequestType, Nd2RequestTypeReceive);
        no_result(&f);
        assert_int_equal(nd_frmr_key(f.frmr), key);
    }
    close_all(&f);
}

/* Posted without waiting; what the first failure says holds. R: FastRegister, I: Invalidate. */
struct failure_row {
    const char *requests;
    unsigned good; /* so many succeed */
    enum ibv_wc_status status;
    bool registered;
};

static const struct failure_row failure_rows[] = {
    { "R", 0, IBV_WC_MW_BIND_ERR, false },
    { "R", 0, IBV_WC_WR_FLUSH_ERR, false },
    { "RI", 0, IBV_WC_WR_FLUSH_ERR, false },
    { "RI", 1, IBV_WC_WR_FLUSH_ERR, true },
    { "RI", 1, IBV_WC_LOC_PROT_ERR, false }, /* the peer was first, told or not */
    { "RIR", 0, IBV_WC_WR_FLUSH_ERR, false },
    { "RIR", 1, IBV_WC_WR_FLUSH_ERR, true },
    { "RIR", 2, IBV_WC_WR_FLUSH_ERR, false },
    { "RIRI", 1, IBV_WC_WR_FLUSH_ERR, true },
    { "RIRI", 2, IBV_WC_MW_BIND_ERR, false },
    { "RIRI", 3, IBV_WC_WR_FLUSH_ERR, true },
};

static void test_failures(void **state)
{
    for (size_t i = 0; i < sizeof(failure_rows) / sizeof(*failure_rows); i++) {
        const struct failure_row *row = &failure_rows[i];
        unsigned count = (unsigned)strlen(row->requests);
        struct fixture f;

        print_message("%s, %u good, then status %d\n", row->requests, row->good, row->status);
        open_allocated(&f, state);
        for (unsigned j = 0; j < count; j++)
            assert_int_equal(
                row->requests[j] == 'R' ? register_with(&f, RIGHTS) : invalidate(&f), 0);
        end_requests(&f, row->good, IBV_WC_SUCCESS);
        if (row->good < count)
            end_requests(&f, 1, row->status);
        end_requests(&f, count - row->good - 1, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(nd_frmr_registered(f.frmr), row->registered);
        if (f.way == ND_FAST_WINDOWS)
            assert_int_equal(objects(), row->registered ? 2 : 1);
        for (unsigned j = 0; j < count; j++)
            assert_int_equal(
                result(&f).RequestType, row->requests[j] == 'R' ? 6 : Nd2RequestTypeInvalidate);
        close_all(&f);
    }
}

/* The peer was first: its Receive is seen before our Invalidate fails, flushed or not, or after. */
static void test_the_peer_was_first(void **state)
{
    static const enum ibv_wc_status ends[] = { IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR };

    for (size_t i = 0; i < 2; i++)
        for (int before = 0; before < 2; before++) {
            struct fixture f;

            open_allocated(&f, state);
            assert_int_equal(register_with(&f, RIGHTS), 0);
            end_requests(&f, 1, IBV_WC_SUCCESS);
            assert_int_equal(invalidate(&f), 0);
            if (before)
                taken_back_by_peer(&f, nd_frmr_key(f.frmr));
            end_requests(&f, 1, ends[i]);
            if (!before)
                taken_back_by_peer(&f, nd_frmr_key(f.frmr));
            assert_false(nd_frmr_registered(f.frmr));
            assert_int_equal(objects(), 1);
            close_all(&f);
        }
}

/* It is destroyed with its last completion, those of the markers. */
static void close_qp(struct fixture *f)
{
    struct fake_qp *device = fake_qp_of(f->qp);

    nd_qp_close(f->qp);
    fake_complete(
        f->cq, &device->receive, &device->ibv, device->receive.count, IBV_WC_WR_FLUSH_ERR);
    fake_complete(f->cq, &device->send, &device->ibv, device->send.count, IBV_WC_WR_FLUSH_ERR);
    nd_cq_look(f->cq);
    f->qp = NULL;
}

/* On another queue pair after the first one's end: the device's own regions outlive it, windows do not. */
static void test_after_its_queue_pair(void **state)
{
    struct fixture f;
    uint32_t key;

    open_allocated(&f, state);
    key = nd_frmr_key(f.frmr);
    assert_int_equal(register_with(&f, RIGHTS), 0);
    end_requests(&f, 1, IBV_WC_SUCCESS);
    (void)result(&f);
    close_qp(&f);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    nd_qp_set_sendable(f.qp);
    if (f.way == ND_FAST_DEVICE) {
        assert_int_equal(invalidate(&f), 0);
        end_requests(&f, 1, IBV_WC_SUCCESS);
        assert_int_equal(register_with(&f, RIGHTS), 0);
    } else {
        assert_int_equal(objects(), 0);
        assert_int_equal(invalidate(&f), STATE);
        assert_int_equal(register_with(&f, RIGHTS), STATE);
    }
    assert_int_equal(nd_frmr_key(f.frmr), key);
    close_all(&f);
}

static void test_a_window_is_invalidated_where_it_is_bound(void **state)
{
    struct fixture f;
    struct nd_qp *other;

    open_allocated(&f, state);
    other = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    nd_qp_set_sendable(other);
    assert_int_equal(register_with(&f, RIGHTS), 0);
    assert_int_equal((uint32_t)nd_qp_invalidate_frmr(other, NULL, f.frmr, 0), STATE);
    assert_int_equal(invalidate(&f), 0);
    nd_qp_close(other);
    close_all(&f);
}

/* The completion queue goes before anyone saw how the request ended. */
static void test_nobody_looked(void **state)
{
    struct fixture f;

    open_allocated(&f, state);
    assert_int_equal(register_with(&f, RIGHTS), 0);
    nd_cq_close(f.cq);
    nd_qp_close(f.qp);
    f.cq = fake_make_cq(f.adapter, 64);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    nd_qp_set_sendable(f.qp);
    assert_int_equal(register_with(&f, RIGHTS), STATE);
    assert_int_equal(invalidate(&f), STATE);
    close_all(&f);
}

/* Closed with requests under way: their ends find nothing. */
static void test_close_with_requests(void **state)
{
    struct fixture f;

    open_allocated(&f, state);
    assert_int_equal(register_with(&f, RIGHTS), 0);
    assert_int_equal(invalidate(&f), 0);
    assert_int_equal(register_with(&f, RIGHTS), 0);
    nd_frmr_close(f.frmr);
    f.frmr = NULL;
    assert_int_equal(objects(), 0);
    end_requests(&f, 2, IBV_WC_SUCCESS);
    end_requests(&f, 1, IBV_WC_WR_FLUSH_ERR);
    close_all(&f);
}

#define OF(test, way) cmocka_unit_test_prestate(test, (void *)&(way))
#define OF_BOTH(test) OF(test, by_device), OF(test, by_windows)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_BOTH(test_allocate),
        OF(test_devices_that_cannot, by_device),
        OF_BOTH(test_register_and_invalidate),
        OF_BOTH(test_ends_a_chain),
        OF_BOTH(test_pages_that_make_no_sense),
        OF_BOTH(test_bases_of_any_page),
        OF_BOTH(test_rights_and_connection),
        OF_BOTH(test_refused_by_the_device),
        OF(test_windows_need_pages_in_a_row, by_windows),
        OF_BOTH(test_the_peer_takes_it_back),
        OF_BOTH(test_failures),
        OF_BOTH(test_the_peer_was_first),
        OF_BOTH(test_after_its_queue_pair),
        OF(test_a_window_is_invalidated_where_it_is_bound, by_windows),
        OF_BOTH(test_nobody_looked),
        OF_BOTH(test_close_with_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
