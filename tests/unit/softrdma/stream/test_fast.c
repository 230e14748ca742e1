/* SPDX-License-Identifier: MIT */
/*
 * Fast registration: pages in any order under any address, for peers and for this end's own requests; in its place in
 * the send queue; refused; taken back by either side, and registered again under the same key.
 */
#include "softrdma/memory/memory.h"
#include "softrdma/stream/internal.h"
#include "tests/unit/softrdma/stream_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE = SRD_FAST_PAGE_OCTETS,
    PAGES = 40,
    ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
    PLAIN = 2 << 20, /* where in mem, away from the pages, ordinary requests have theirs */
};

/* What is registered, to be compared with what is reached: filled before each post. */
struct layout {
    uint64_t pages[PAGES];
    struct srd_fast_reg reg;
};

/* Pages of the end's memory, from page `first` on: every third one, shuffled; runs: in neighbouring pairs. */
static void lay_out(struct layout *layout, struct end *end, struct ibv_mr *mr, uint32_t n,
    unsigned first, unsigned seed, bool runs)
{
    memset(layout, 0, sizeof(*layout));
    for (uint32_t i = 0; i < n; i++)
        layout->pages[i] = at(end, (first + 3 * (runs ? i / 2 : i) + (runs ? i % 2 : 0)) * PAGE);
    for (uint32_t i = n; !runs && i > 1; i--) {
        uint32_t other = (uint32_t)rand_r(&seed) % i;
        uint64_t page = layout->pages[i - 1];

        layout->pages[i - 1] = layout->pages[other];
        layout->pages[other] = page;
    }
    layout->reg = (struct srd_fast_reg){ .wr_id = 500,
        .mr = mr,
        .pages = layout->pages,
        .n_pages = n,
        .length = (uint64_t)n * PAGE,
        .base = UINT64_C(0x123456789000),
        .access = ALL,
        .send_flags = IBV_SEND_SIGNALED };
}

static uint8_t *octet(const struct layout *layout, uint64_t i)
{
    uint64_t place = layout->reg.offset + i;

    return (uint8_t *)(uintptr_t)(layout->pages[place / PAGE] + place % PAGE);
}

static void blank(const struct layout *layout)
{
    for (uint32_t i = 0; i < layout->reg.n_pages; i++)
        memset((uint8_t *)(uintptr_t)layout->pages[i], 0x77, PAGE);
}

static void post_fast(struct end *end, const struct srd_fast_reg *reg)
{
    assert_int_equal(srd_post_fast_reg(end->qp, reg), 0);
}

/* On its own memory: what is there is that of `from`, octet by octet; what is around it is untouched (0x77). */
static void expect_contents(const struct layout *layout, const uint8_t *from)
{
    const struct srd_fast_reg *reg = &layout->reg;
    uint64_t room = (uint64_t)reg->n_pages * PAGE - reg->offset;

    for (uint64_t i = 0; i < reg->length; i++)
        if (*octet(layout, i) != from[i])
            fail_msg("octet %d of the region is wrong", (int)i);
    for (uint64_t i = 0; i < reg->offset; i++)
        assert_int_equal(((uint8_t *)(uintptr_t)layout->pages[0])[i], 0x77);
    for (uint64_t i = reg->length; i < room; i++)
        assert_int_equal(*octet(layout, i), 0x77);
}

static void post_write_of(struct end *end, uint64_t wr_id, const struct ibv_sge *sge, int n,
    enum ibv_wr_opcode opcode, uint64_t remote, uint32_t rkey)
{
    struct ibv_send_wr wr = { .wr_id = wr_id,
        .sg_list = (struct ibv_sge *)sge,
        .num_sge = n,
        .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED };
    struct ibv_send_wr *bad;

    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey;
    assert_int_equal(ibv_post_send(end->qp, &wr, &bad), 0);
}

/* --- what a registration reaches ---------------------------------------------------------------------------------- */

struct shape {
    uint32_t n, offset;
    uint64_t length, base;
    bool runs;
};

static const struct shape shapes[] = {
    { 1, 0, 1, 0, false },
    { 1, 4095, 1, 4095, false },
    { 2, 4095, 2, 0x7fff00000fff, false },
    { 5, 0, 5 * PAGE, 0, false },
    { 5, 123, 5 * PAGE - 123, 0x5000 + 123, false },
    { 5, 17, 3 * PAGE, 0xfedcba9876543211,
        false }, /* not congruent; fewer octets than the pages have */
    { 4, 0, 4 * PAGE, UINT64_MAX - 4 * PAGE, false }, /* up to the end of all addresses */
    { 16, 1, 16 * PAGE - 2, 0x1000, true },
    { 20, 4000, 20 * PAGE - 4000, 0x100000000, false },
    { 20, 8, 18 * PAGE, 0x100000000, true },
};
enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

/* Each form, cut and uncut. */
static void with_some_peers(void (*body)(struct pair *))
{
    for (size_t f = 0; f < PAIR_SOFT_FORMS; f++)
        for (unsigned seed = 0; seed < 2; seed++) {
            struct pair pair;

            pair_open(&pair, pair_soft_forms[f], seed);
            pair_pump(&pair);
            body(&pair);
            pair_close(&pair);
        }
}

static void register_shape(
    struct end *end, struct ibv_mr *mr, const struct shape *shape, struct layout *layout)
{
    lay_out(layout, end, mr, shape->n, 1, 7, shape->runs);
    layout->reg.offset = shape->offset;
    layout->reg.length = shape->length;
    layout->reg.base = shape->base;
    blank(layout);
    post_fast(end, &layout->reg);
}

static void peers_reach_the_pages(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mr *mr = srd_alloc_fast_mr(b->pd, PAGES);

    assert_non_null(mr);
    assert_int_equal(mr->lkey, mr->rkey);
    for (size_t s = 0; s < SHAPES; s++) {
        const struct shape *shape = &shapes[s];
        uint32_t octets = (uint32_t)shape->length;
        struct layout layout;
        struct ibv_wc wc;

        register_shape(b, mr, shape, &layout);
        pair_pump(pair);
        wc = expect_wc(b->scq, 500, IBV_WC_SUCCESS);
        assert_int_equal((int)wc.opcode, SRD_WC_FAST_REG);
        assert_int_equal(wc.qp_num, b->qp->qp_num);
        fill(a->mem, octets, (unsigned)s + 1);
        post_write(a, 1, 0, octets, shape->base, mr->rkey, 0);
        pair_pump(pair);
        expect_wc(a->scq, 1, IBV_WC_SUCCESS);
        expect_contents(&layout, a->mem);
        /* and a part of it, from the middle on */
        fill(a->mem + octets / 2, octets - octets / 2, (unsigned)s + 99);
        post_write(a, 2, octets / 2, octets - octets / 2, shape->base + octets / 2, mr->rkey, 0);
        post_read(a, 3, PLAIN, octets, shape->base, mr->rkey, 0);
        pair_pump(pair);
        expect_wc(a->scq, 2, IBV_WC_SUCCESS);
        expect_wc(a->scq, 3, IBV_WC_SUCCESS);
        expect_contents(&layout, a->mem);
        assert_memory_equal(a->mem, a->mem + PLAIN, octets);
        post_local_inv(b, 501, mr->rkey);
        pair_pump(pair);
        assert_int_equal(expect_wc(b->scq, 501, IBV_WC_SUCCESS).opcode, IBV_WC_LOCAL_INV);
    }
    assert_int_equal(srd_dereg_mr(mr), 0);
}

static void peers_write_and_read_the_pages_octet_by_octet(void **state)
{
    (void)state;
    with_some_peers(peers_reach_the_pages);
}

/* By its local key: sent from, received into, written from, the target of a Read. */
static void own_requests_reach_the_pages(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mr *mr = srd_alloc_fast_mr(b->pd, PAGES);

    for (size_t s = 0; s < SHAPES; s++) {
        const struct shape *shape = &shapes[s];
        uint32_t octets = (uint32_t)shape->length, first = octets - octets / 3;
        struct ibv_sge all = { shape->base, octets, mr->lkey };
        /* the end of it first, then the beginning: entries that begin within pages */
        struct ibv_sge parts[2] = { { shape->base + octets - first, first, mr->lkey },
            { shape->base, octets - first, mr->lkey } };
        struct ibv_recv_wr recv = { .wr_id = 4, .sg_list = &all, .num_sge = 1 }, *bad;
        struct layout layout;

        register_shape(b, mr, shape, &layout);
        pair_pump(pair);
        expect_wc(b->scq, 500, IBV_WC_SUCCESS);
        fill(a->mem, octets, (unsigned)s + 5);
        assert_int_equal(ibv_post_recv(b->qp, &recv, &bad), 0);
        post_send(a, 3, 0, octets, 0);
        pair_pump(pair);
        expect_wc(a->scq, 3, IBV_WC_SUCCESS);
        assert_int_equal(expect_wc(b->rcq, 4, IBV_WC_SUCCESS).byte_len, octets);
        expect_contents(&layout, a->mem);

        post_recv(a, 6, PLAIN, octets);
        post_write_of(b, 5, parts, 2, IBV_WR_SEND, 0, 0);
        post_write_of(b, 7, &all, 1, IBV_WR_RDMA_WRITE, at(a, PLAIN + (1 << 20)), a->mr->rkey);
        pair_pump(pair);
        expect_wc(b->scq, 5, IBV_WC_SUCCESS);
        expect_wc(b->scq, 7, IBV_WC_SUCCESS);
        expect_wc(a->rcq, 6, IBV_WC_SUCCESS);
        assert_memory_equal(a->mem + PLAIN, a->mem + octets - first, first);
        assert_memory_equal(a->mem + PLAIN + first, a->mem, octets - first);
        assert_memory_equal(a->mem + PLAIN + (1 << 20), a->mem, octets);

        fill(a->mem, octets, (unsigned)s + 55);
        post_write_of(b, 8, &all, 1, IBV_WR_RDMA_READ, at(a, 0), a->mr->rkey);
        pair_pump(pair);
        expect_wc(b->scq, 8, IBV_WC_SUCCESS);
        expect_contents(&layout, a->mem);
        post_local_inv(b, 501, mr->rkey);
        pair_pump(pair);
        expect_wc(b->scq, 501, IBV_WC_SUCCESS);
    }
    assert_int_equal(srd_dereg_mr(mr), 0);
}

static void own_requests_reach_the_pages_by_the_local_key(void **state)
{
    (void)state;
    with_some_peers(own_requests_reach_the_pages);
}

/* Sixteen entries, each over the border of two pages: the most pieces that one segment can have. */
static void many_entries_in_scattered_pages(void **state)
{
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
        .cap = {
            .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = SRD_MAX_SGE, .max_recv_sge = 1 } };
    struct ibv_qp_attr rts = { .qp_state = IBV_QPS_INIT };
    struct ibv_sge sge[SRD_MAX_SGE];
    struct layout layout;
    struct pair pair;
    struct end *a = &pair.a, *b = &pair.b;
    struct ibv_mr *mr;

    (void)state;
    memset(&pair, 0, sizeof(pair));
    pair.flags = PAIR_SOFT;
    pair.now_ms = 1;
    pair.ird = pair.ord = 4;
    end_open(a, 0);
    end_open(b, 0);
    assert_int_equal(srd_destroy_qp(b->qp), 0);
    attr.send_cq = b->scq;
    attr.recv_cq = b->rcq;
    b->qp = srd_create_qp(b->pd, &attr);
    for (; rts.qp_state <= IBV_QPS_RTS; rts.qp_state++)
        assert_int_equal(srd_modify_qp(b->qp, &rts, IBV_QP_STATE), 0);
    end_start(&pair, b, false);
    end_start(&pair, a, true);
    pair_pump(&pair);
    mr = srd_alloc_fast_mr(b->pd, PAGES);
    lay_out(&layout, b, mr, 33, 1, 3, false);
    fill(b->mem, PLAIN, 8);
    post_fast(b, &layout.reg);
    for (unsigned i = 0; i < SRD_MAX_SGE; i++)
        sge[i] = (struct ibv_sge){ layout.reg.base + i * 2 * PAGE + 100, PAGE, mr->lkey };
    post_write_of(b, 1, sge, SRD_MAX_SGE, IBV_WR_RDMA_WRITE, at(a, 0), a->mr->rkey);
    post_write_of(b, 2, sge, SRD_MAX_SGE, IBV_WR_RDMA_WRITE, at(a, PLAIN), a->mr->rkey);
    pair_pump(&pair);
    expect_wc(b->scq, 500, IBV_WC_SUCCESS);
    expect_wc(b->scq, 1, IBV_WC_SUCCESS);
    expect_wc(b->scq, 2, IBV_WC_SUCCESS);
    for (unsigned i = 0; i < SRD_MAX_SGE * PAGE; i++) {
        uint8_t there = *octet(&layout, i / PAGE * 2 * PAGE + 100 + i % PAGE);

        assert_int_equal(a->mem[i], there);
        assert_int_equal(a->mem[PLAIN + i], there);
    }
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_close(&pair);
}

/* --- its place in the queue --------------------------------------------------------------------------------------- */

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

static void a_fence_waits_for_reads_and_nothing_else_does(void **state)
{
    struct pair pair;
    struct end *a = &pair.a, *b = &pair.b;
    struct layout layout;
    struct ibv_mr *mr;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    mr = srd_alloc_fast_mr(a->pd, 4);
    lay_out(&layout, a, mr, 4, 1, 1, false);
    for (int fence = 0; fence < 2; fence++) {
        post_read(a, 1, PLAIN, 8, at(b, 0), b->mr->rkey, 0);
        layout.reg.send_flags = IBV_SEND_SIGNALED | (fence ? IBV_SEND_FENCE : 0);
        post_fast(a, &layout.reg);
        while (pair_move(&pair, a, b)) /* the Read Request alone: no response comes back */
            ;
        expect_none(a->scq);
        assert_int_equal(pin(a, mr->rkey, layout.reg.base, 1, IBV_ACCESS_REMOTE_READ, true),
            fence ? SRD_STAG_INVALID : SRD_STAG_OK);
        pair_pump(&pair);
        expect_wc(a->scq, 1, IBV_WC_SUCCESS);
        expect_wc(a->scq, 500, IBV_WC_SUCCESS);
        assert_int_equal(
            pin(a, mr->rkey, layout.reg.base, 1, IBV_ACCESS_REMOTE_READ, true), SRD_STAG_OK);
        post_local_inv(a, 2, mr->rkey);
        pair_pump(&pair);
        expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    }
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_close(&pair);
}

/* Silent successes, and many in a row that wait: each has its pages, though they were posted before the first began. */
static void posted_ahead_each_has_its_own_pages(void **state)
{
    enum { AHEAD = 12 };
    struct pair pair;
    struct end *a = &pair.a, *b = &pair.b;
    struct ibv_mr *mr;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    mr = srd_alloc_fast_mr(a->pd, 4);
    post_read(a, 1, PLAIN, 8, at(b, 0), b->mr->rkey, 0);
    for (unsigned i = 0; i < AHEAD; i++) {
        struct layout layout;
        struct ibv_sge sge = { 0x9000, 4 * PAGE, mr->lkey };

        lay_out(&layout, a, mr, 4, 1 + 12 * i, i, false);
        for (unsigned j = 0; j < 4 * PAGE; j++)
            *octet(&layout, j) = (uint8_t)(i * 31 + j / 7);
        layout.reg.base = 0x9000;
        layout.reg.send_flags = i ? 0 : IBV_SEND_FENCE;
        post_fast(a, &layout.reg);
        memset(&layout, 0xff, sizeof(layout)); /* the list was the call's alone */
        post_write_of(a, 10 + i, &sge, 1, IBV_WR_RDMA_WRITE, at(b, i * 4 * PAGE), b->mr->rkey);
        post_local_inv(a, 100 + i, mr->rkey);
    }
    pair_pump(&pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    for (unsigned i = 0; i < AHEAD; i++) {
        expect_wc(a->scq, 10 + i, IBV_WC_SUCCESS);
        expect_wc(a->scq, 100 + i, IBV_WC_SUCCESS);
        for (unsigned j = 0; j < 4 * PAGE; j++)
            assert_int_equal(b->mem[i * 4 * PAGE + j], (uint8_t)(i * 31 + j / 7));
    }
    expect_none(a->scq);
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_close(&pair);
}

/* --- refused ------------------------------------------------------------------------------------------------------ */

struct refusal {
    const char *what;
    uint32_t n, offset;
    uint64_t length, base, page_change;
    int access;
};

static const struct refusal refusals[] = {
    { "no pages", 0, 0, 1, 0, 0, ALL },
    { "nothing to reach", 4, 0, 0, 0, 0, ALL },
    { "beyond the first page", 4, PAGE, PAGE, 0, 0, ALL },
    { "longer than the pages", 4, 0, 4 * PAGE + 1, 0, 0, ALL },
    { "longer than the pages behind the offset", 4, 5, 4 * PAGE - 4, 0, 0, ALL },
    { "longer than anything", 4, 5, UINT64_MAX, 0, 0, ALL },
    { "past the end of all addresses", 4, 0, PAGE, UINT64_MAX - PAGE + 1, 0, ALL },
    { "within a page", 4, 0, PAGE, 0, 8, ALL },
    { "the kernel's", 4, 0, PAGE, 0, UINT64_C(1) << 63, ALL },
    { "no program's", 4, 0, PAGE, 0, UINT64_C(1) << 56, ALL },
    { "remote write without local write", 4, 0, PAGE, 0, 0, IBV_ACCESS_REMOTE_WRITE },
    { "windows", 4, 0, PAGE, 0, 0, ALL | IBV_ACCESS_MW_BIND },
    { "atomics", 4, 0, PAGE, 0, 0, ALL | IBV_ACCESS_REMOTE_ATOMIC },
};

/* In its turn: what was before it succeeds, what is behind it is flushed, the peer is told of an end. */
static void expect_refused(struct pair *pair, const struct srd_fast_reg *reg)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 60, 0, 8);
    post_send(a, 1, PLAIN, 8, 0);
    post_fast(a, reg);
    post_send(a, 2, PLAIN, 8, 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 500, IBV_WC_MW_BIND_ERR);
    expect_wc(a->scq, 2, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 60, IBV_WC_SUCCESS);
    pair_expect_over(pair);
}

static void what_makes_no_sense_fails_in_its_turn(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        const struct refusal *row = &refusals[i];
        struct layout layout;
        struct pair pair;
        struct ibv_mr *mr;

        print_message("%s\n", row->what);
        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        mr = srd_alloc_fast_mr(pair.a.pd, 4);
        lay_out(&layout, &pair.a, mr, 4, 1, 1, false);
        layout.reg.n_pages = row->n;
        layout.reg.offset = row->offset;
        layout.reg.length = row->length;
        layout.reg.base = row->base;
        layout.reg.access = row->access;
        layout.pages[2] ^= row->page_change;
        expect_refused(&pair, &layout.reg);
        assert_int_equal(pin(&pair.a, mr->rkey, 0, 1, 0, false), SRD_STAG_INVALID);
        assert_int_equal(srd_dereg_mr(mr), 0);
        pair_close(&pair);
    }
}

/* The state and domain of the region when its turn comes count, not those of the post. */
static void regions_in_another_state_or_domain_are_refused(void **state)
{
    enum { REGISTERED, FOREIGN, GONE, CASES };

    (void)state;
    for (int which = 0; which < CASES; which++) {
        struct layout layout;
        struct ibv_pd *other;
        struct ibv_mr *mr;
        struct pair pair;
        struct end *a = &pair.a;

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        other = srd_alloc_pd(a->context);
        mr = srd_alloc_fast_mr(which == FOREIGN ? other : a->pd, 4);
        lay_out(&layout, a, mr, 4, 1, 1, false);
        if (which == REGISTERED) {
            post_fast(a, &layout.reg);
            pair_pump(&pair);
            expect_wc(a->scq, 500, IBV_WC_SUCCESS);
        }
        if (which == GONE) {
            post_read(a, 9, PLAIN, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
            layout.reg.send_flags |= IBV_SEND_FENCE;
            post_fast(a, &layout.reg);
            assert_int_equal(srd_dereg_mr(mr), 0);
            pair_pump(&pair);
            expect_wc(a->scq, 9, IBV_WC_SUCCESS);
            expect_wc(a->scq, 500, IBV_WC_MW_BIND_ERR);
            pair_expect_over(&pair);
        } else {
            expect_refused(&pair, &layout.reg);
            assert_int_equal(pin(a, mr->rkey, layout.reg.base, 1, 0, false),
                which == REGISTERED ? SRD_STAG_OK : SRD_STAG_INVALID);
            assert_int_equal(srd_dereg_mr(mr), 0); /* registered or not */
        }
        assert_int_equal(srd_dealloc_pd(other), 0);
        pair_close(&pair);
    }
}

static void posts_that_cannot_be_queued(void **state)
{
    struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_ERR };
    struct layout layout;
    struct pair pair;
    struct end *a = &pair.a;
    struct ibv_mr *mr;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_HELD, 0); /* nothing is executed yet */
    errno = 0;
    assert_null(srd_alloc_fast_mr(a->pd, 0));
    assert_int_equal(errno, EINVAL);
    errno = 0;
    assert_null(srd_alloc_fast_mr(a->pd, SRD_MAX_FAST_PAGES + 1));
    assert_int_equal(errno, EINVAL);
    assert_non_null(mr = srd_alloc_fast_mr(a->pd, SRD_MAX_FAST_PAGES));
    assert_int_equal(srd_dealloc_pd(a->pd), EBUSY);
    assert_int_equal(srd_dereg_mr(mr), 0);
    mr = srd_alloc_fast_mr(a->pd, 4);
    lay_out(&layout, a, mr, 5, 1, 1, false);
    assert_int_equal(srd_post_fast_reg(a->qp, &layout.reg), EINVAL);
    layout.reg.n_pages = 4;
    layout.reg.mr = a->mr;
    assert_int_equal(srd_post_fast_reg(a->qp, &layout.reg), EINVAL);
    layout.reg.mr = mr;
    for (int i = 0; i < 60; i++)
        assert_int_equal(srd_post_fast_reg(a->qp, &layout.reg), 0);
    assert_int_equal(srd_post_fast_reg(a->qp, &layout.reg), ENOMEM);
    expect_none(a->scq);
    /* What waits is flushed, what comes later at once. */
    layout.reg.wr_id = 600;
    layout.reg.send_flags = 0;
    assert_int_equal(srd_modify_qp(a->qp, &sqd, IBV_QP_STATE), 0);
    for (int i = 0; i < 60; i++)
        assert_int_equal((int)expect_wc(a->scq, 500, IBV_WC_WR_FLUSH_ERR).opcode, SRD_WC_FAST_REG);
    assert_int_equal(srd_post_fast_reg(a->qp, &layout.reg), 0);
    assert_int_equal((int)expect_wc(a->scq, 600, IBV_WC_WR_FLUSH_ERR).opcode, SRD_WC_FAST_REG);
    expect_none(a->scq);
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_close(&pair);
}

static void a_queue_pair_that_is_not_connected_takes_none(void **state)
{
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct layout layout;
    struct end end;
    struct ibv_mr *mr;
    struct ibv_qp *qp;

    (void)state;
    end_open(&end, 0);
    attr.send_cq = attr.recv_cq = end.scq;
    qp = srd_create_qp(end.pd, &attr);
    mr = srd_alloc_fast_mr(end.pd, 4);
    lay_out(&layout, &end, mr, 4, 1, 1, false);
    assert_int_equal(srd_post_fast_reg(qp, &layout.reg), EINVAL);
    assert_int_equal(srd_dereg_mr(mr), 0);
    assert_int_equal(srd_destroy_qp(qp), 0);
    end_close(&end);
}

/* --- bounds, rights, and after the end ---------------------------------------------------------------------------- */

struct reach {
    const char *what;
    int64_t from;
    uint32_t octets;
    int access; /* registered with */
    bool read;
    int vendor_err;
};

static const struct reach reaches[] = {
    { "in front", -1, 2, ALL, false, 0x1101 },
    { "behind, within the last page", 3 * PAGE - 1, 2, ALL, false, 0x1101 },
    { "behind, to be read", 3 * PAGE - 1, 2, ALL, true, 0x0101 },
    { "in front, to be read", -1, 2, ALL, true, 0x0101 },
    { "no right to write", 0, 8, IBV_ACCESS_REMOTE_READ, false, 0x0102 },
    { "no right to read", 0, 8, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, true, 0x0102 },
    { "local alone", 0, 8, IBV_ACCESS_LOCAL_WRITE, false, 0x0102 },
};

static void peers_stay_within_bounds_and_rights(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(reaches) / sizeof(*reaches); i++) {
        const struct reach *row = &reaches[i];
        struct layout layout;
        struct pair pair;
        struct ibv_mr *mr;
        struct end *a = &pair.a, *b = &pair.b;
        uint64_t remote;

        print_message("%s\n", row->what);
        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        mr = srd_alloc_fast_mr(b->pd, 4);
        lay_out(&layout, b, mr, 4, 1, 1, false);
        layout.reg.offset = 100;
        layout.reg.length = 3 * PAGE;
        layout.reg.access = row->access;
        memset(b->mem, 0x77, 16 * PAGE);
        post_fast(b, &layout.reg);
        pair_pump(&pair);
        expect_wc(b->scq, 500, IBV_WC_SUCCESS);
        remote = layout.reg.base + (uint64_t)row->from;
        if (row->read)
            post_read(a, 3, 0, row->octets, remote, mr->rkey, 0);
        else
            post_write(a, 3, 0, row->octets, remote, mr->rkey, 0);
        pair_pump(&pair);
        assert_int_equal(expect_wc(a->scq, 3, IBV_WC_REM_ACCESS_ERR).vendor_err, row->vendor_err);
        assert_int_equal(next_async(b), IBV_EVENT_QP_ACCESS_ERR);
        for (unsigned j = 0; j < 16 * PAGE; j++)
            assert_int_equal(b->mem[j], 0x77);
        pair_expect_over(&pair);
        assert_int_equal(srd_dereg_mr(mr), 0);
        pair_close(&pair);
    }
}

static void own_requests_stay_within_rights(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        struct ibv_sge sge = { .length = 8 };
        struct layout layout;
        struct pair pair;
        struct end *a = &pair.a, *b = &pair.b;
        struct ibv_mr *mr;

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        mr = srd_alloc_fast_mr(a->pd, 4);
        lay_out(&layout, a, mr, 4, 1, 1, false);
        layout.reg.access = IBV_ACCESS_REMOTE_READ;
        post_fast(a, &layout.reg);
        sge.lkey = mr->lkey;
        sge.addr = layout.reg.base + (read ? 0 : 4 * PAGE - 7);
        post_write_of(
            a, 3, &sge, 1, read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, at(b, 0), b->mr->rkey);
        pair_pump(&pair);
        expect_wc(a->scq, 500, IBV_WC_SUCCESS);
        expect_wc(a->scq, 3, IBV_WC_LOC_PROT_ERR);
        pair_expect_over(&pair);
        assert_int_equal(srd_dereg_mr(mr), 0);
        pair_close(&pair);
    }
}

static void no_window_can_be_bound_over_it(void **state)
{
    struct layout layout;
    struct pair pair;
    struct end *a = &pair.a;
    struct ibv_mr *mr;
    struct ibv_mw *mw;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    mr = srd_alloc_fast_mr(a->pd, 4);
    mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_2);
    lay_out(&layout, a, mr, 4, 1, 1, false);
    layout.reg.base = at(a, 0);
    post_fast(a, &layout.reg);
    post_bind(a, 1, mw, ibv_inc_rkey(mw->rkey), mr, 0, 8, IBV_ACCESS_REMOTE_READ);
    pair_pump(&pair);
    expect_wc(a->scq, 500, IBV_WC_SUCCESS);
    expect_wc(a->scq, 1, IBV_WC_MW_BIND_ERR);
    pair_expect_over(&pair);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_close(&pair);
}

/* --- taken back --------------------------------------------------------------------------------------------------- */

/* The peer takes it back a thousand times; the key is one for all, and reaches what was registered last. */
static void the_peer_invalidates_and_the_key_stays(void **state)
{
    struct pair pair;
    struct end *a = &pair.a, *b = &pair.b;
    struct ibv_mr *mr;
    uint32_t key;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    mr = srd_alloc_fast_mr(b->pd, 3);
    key = mr->rkey;
    for (unsigned round = 0; round < 1000; round++) {
        struct layout layout;
        struct ibv_wc wc;

        lay_out(&layout, b, mr, 3, 1 + round % 50, round, false);
        layout.reg.offset = round % PAGE;
        layout.reg.length = 2 * PAGE;
        layout.reg.base = (uint64_t)round << 40 | layout.reg.offset;
        layout.reg.send_flags = 0;
        blank(&layout);
        post_recv(b, 60, PLAIN, 8);
        post_fast(b, &layout.reg);
        pair_pump(&pair);
        fill(a->mem, 2 * PAGE, round + 1);
        post_write(a, 1, 0, 2 * PAGE, layout.reg.base, key, 0);
        post_send_inv(a, 2, key);
        pair_pump(&pair);
        expect_wc(a->scq, 1, IBV_WC_SUCCESS);
        expect_wc(a->scq, 2, IBV_WC_SUCCESS);
        wc = expect_wc(b->rcq, 60, IBV_WC_SUCCESS);
        assert_int_equal(wc.wc_flags & IBV_WC_WITH_INV, IBV_WC_WITH_INV);
        assert_int_equal(wc.invalidated_rkey, key);
        assert_int_equal(mr->rkey, key);
        expect_contents(&layout, a->mem);
        assert_int_equal(pin(b, key, layout.reg.base, 1, 0, true), SRD_STAG_INVALID);
        assert_int_equal(pin(b, key, layout.reg.base, 1, 0, false), SRD_STAG_INVALID);
    }
    expect_none(b->scq);
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_close(&pair);
}

/* A key after its invalidation, by either side, in each way to use it: the end of that connection alone. */
static void a_key_that_was_taken_back_ends_its_users_connection(void **state)
{
    enum { WRITE, READ, INVALIDATE, LOCAL_SEND, LOCAL_INVALIDATE, WAYS };

    (void)state;
    for (int by_peer = 0; by_peer < 2; by_peer++)
        for (int way = 0; way < WAYS; way++) {
            struct layout layout;
            struct pair pair, bystanders;
            struct end *a = &pair.a, *b = &pair.b;
            struct ibv_sge sge = { .length = 8 };
            struct ibv_mr *mr;

            pair_open(&bystanders, PAIR_SOFT, 0);
            pair_open(&pair, PAIR_SOFT, 0);
            pair_pump(&bystanders);
            pair_pump(&pair);
            mr = srd_alloc_fast_mr(b->pd, 4);
            lay_out(&layout, b, mr, 4, 1, 1, false);
            blank(&layout);
            post_fast(b, &layout.reg);
            post_recv(b, 60, PLAIN, 8);
            post_recv(b, 61, PLAIN, 8);
            pair_pump(&pair);
            expect_wc(b->scq, 500, IBV_WC_SUCCESS);
            if (by_peer)
                post_send_inv(a, 1, mr->rkey);
            else
                post_local_inv(b, 1, mr->rkey);
            pair_pump(&pair);
            expect_wc(by_peer ? a->scq : b->scq, 1, IBV_WC_SUCCESS);
            if (by_peer)
                expect_wc(b->rcq, 60, IBV_WC_SUCCESS);
            sge.addr = layout.reg.base;
            sge.lkey = mr->lkey;
            switch (way) {
            case WRITE: post_write(a, 3, 0, 8, layout.reg.base, mr->rkey, 0); break;
            case READ: post_read(a, 3, 0, 8, layout.reg.base, mr->rkey, 0); break;
            case INVALIDATE: post_send_inv(a, 3, mr->rkey); break;
            case LOCAL_SEND: post_write_of(b, 3, &sge, 1, IBV_WR_SEND, 0, 0); break;
            default: post_local_inv(b, 3, mr->rkey); break;
            }
            pair_pump(&pair);
            switch (way) {
            case WRITE:
            case READ:
                assert_int_equal(expect_wc(a->scq, 3, IBV_WC_REM_ACCESS_ERR).vendor_err,
                    way == READ ? 0x0100 : 0x1100);
                break;
            case INVALIDATE:
                assert_int_equal(expect_wc(a->scq, 3, IBV_WC_REM_INV_REQ_ERR).vendor_err, 0x0209);
                expect_wc(b->rcq, by_peer ? 61 : 60, IBV_WC_REM_INV_REQ_ERR);
                break;
            default: expect_wc(b->scq, 3, IBV_WC_LOC_PROT_ERR); break;
            }
            if (way != INVALIDATE || !by_peer)
                for (uint64_t left = way == INVALIDATE || by_peer ? 61 : 60; left <= 61; left++)
                    expect_wc(b->rcq, left, IBV_WC_WR_FLUSH_ERR);
            for (unsigned j = 0; j < 4 * PAGE; j++)
                assert_int_equal(*octet(&layout, j), 0x77);
            pair_expect_over(&pair);
            post_recv(&bystanders.b, 8, 0, 8);
            post_send(&bystanders.a, 9, 0, 8, 0);
            pair_pump(&bystanders);
            expect_wc(bystanders.a.scq, 9, IBV_WC_SUCCESS);
            expect_wc(bystanders.b.rcq, 8, IBV_WC_SUCCESS);
            assert_int_equal(srd_dereg_mr(mr), 0);
            pair_close(&pair);
            pair_close(&bystanders);
        }
}

/* What a peer may not invalidate: a region without rights of peers, one of another domain, an ordinary one. */
static void what_a_peer_may_not_take_back(void **state)
{
    enum { LOCAL_ALONE, FOREIGN, ORDINARY, CASES };

    (void)state;
    for (int which = 0; which < CASES; which++) {
        struct layout layout;
        struct pair pair, others;
        struct end *a = &pair.a, *b = &pair.b, *owner = which == FOREIGN ? &others.b : b;
        struct ibv_mr *mr;

        pair_open(&others, PAIR_SOFT, 0);
        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&others);
        pair_pump(&pair);
        mr = srd_alloc_fast_mr(owner->pd, 4);
        lay_out(&layout, owner, mr, 4, 1, 1, false);
        layout.reg.access = which == LOCAL_ALONE ? IBV_ACCESS_LOCAL_WRITE : ALL;
        post_fast(owner, &layout.reg);
        post_recv(b, 60, PLAIN, 8);
        pair_pump(&others);
        pair_pump(&pair);
        expect_wc(owner->scq, 500, IBV_WC_SUCCESS);
        post_send_inv(a, 3, which == ORDINARY ? b->mr->rkey : mr->rkey);
        pair_pump(&pair);
        expect_wc(a->scq, 3, IBV_WC_REM_INV_REQ_ERR);
        expect_wc(b->rcq, 60, IBV_WC_REM_INV_REQ_ERR);
        pair_expect_over(&pair);
        assert_int_equal(pin(owner, mr->lkey, layout.reg.base, 4 * PAGE, 0, false), SRD_STAG_OK);
        assert_int_equal(srd_dereg_mr(mr), 0);
        pair_close(&pair);
        pair_close(&others);
    }
}

/* Another queue pair of the domain uses and frees it; the first one's end leaves it registered. */
static void every_queue_pair_of_the_domain_has_it(void **state)
{
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct layout layout;
    struct ibv_qp *other;
    struct pair pair;
    struct end *a = &pair.a;
    struct ibv_mr *mr;
    struct srd_stag_entry *entry;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    attr.send_cq = attr.recv_cq = a->rcq;
    other = srd_create_qp(a->pd, &attr);
    srd_qp_from(other)->remote_access = ALL;
    mr = srd_alloc_fast_mr(a->pd, 4);
    lay_out(&layout, a, mr, 4, 1, 1, false);
    post_fast(a, &layout.reg);
    pair_pump(&pair);
    expect_wc(a->scq, 500, IBV_WC_SUCCESS);
    assert_int_equal(srd_stag_pin(srd_qp_from(other), mr->rkey, layout.reg.base, 4 * PAGE,
                         IBV_ACCESS_REMOTE_WRITE, true, &entry),
        SRD_STAG_OK);
    srd_stag_unpin(entry);
    pair_disconnect(&pair, a);
    pair_pump(&pair);
    assert_int_equal(srd_stag_invalidate(srd_qp_from(other), mr->rkey, true), SRD_STAG_OK);
    assert_int_equal(srd_stag_invalidate(srd_qp_from(other), mr->rkey, true), SRD_STAG_INVALID);
    assert_int_equal(srd_stag_invalidate(srd_qp_from(other), mr->rkey, false), SRD_STAG_INVALID);
    assert_int_equal(srd_destroy_qp(other), 0);
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_close(&pair);
}

/* --- while it is being sent --------------------------------------------------------------------------------------- */

/* Half a segment is out when the region changes hands: nothing of the new pages, or of the old, goes out any more. */
static void pages_that_changed_under_a_half_sent_segment_cut_it(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        struct layout layout, later;
        struct iovec iov[SRD_TX_IOV];
        struct ibv_sge sge = { .length = 4 * PAGE };
        struct pair pair;
        struct end *a = &pair.a;
        struct srd_qp *qp;
        struct ibv_mr *mr;
        struct srd_sqe_fast fast = { 0 };
        unsigned actions = 0;
        int n;

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        qp = srd_qp_from(a->qp);
        mr = srd_alloc_fast_mr(a->pd, 4);
        lay_out(&layout, a, mr, 4, 1, 1, false);
        post_fast(a, &layout.reg);
        pair_pump(&pair);
        expect_wc(a->scq, 500, IBV_WC_SUCCESS);
        sge.addr = layout.reg.base;
        sge.lkey = mr->lkey;
        post_write_of(a, 1, &sge, 1, IBV_WR_RDMA_WRITE, at(&pair.b, 0), pair.b.mr->rkey);
        lock_acquire(&qp->tx_lock);
        n = srd_stream_tx(qp, iov, pair.now_ms, &actions);
        assert_int_equal(n, 1 + 4 + 1);
        assert_int_equal(srd_stream_tx_done(qp, iov[0].iov_len + PAGE + 9, pair.now_ms), 0);
        lock_release(&qp->tx_lock);
        /* another queue pair's work */
        lay_out(&later, a, mr, 4, same ? 1 : 100, 1, false);
        assert_int_equal(srd_stag_invalidate(qp, mr->lkey, false), SRD_STAG_OK);
        fast.list = srd_stag_list_take(&srd_device_of(a->context)->stags, srd_mr_entry(mr));
        fast.list->count = 4;
        memcpy(fast.list->pages, later.pages, 4 * sizeof(later.pages[0]));
        fast.base = layout.reg.base;
        fast.length = layout.reg.length;
        fast.access = ALL;
        assert_int_equal(srd_stag_register(qp, mr->lkey, &fast), IBV_WC_SUCCESS);
        lock_acquire(&qp->tx_lock);
        n = srd_stream_tx(qp, iov, pair.now_ms, &actions);
        if (same) {
            assert_int_equal(n, 3 + 1);
            assert_ptr_equal(iov[0].iov_base, octet(&layout, PAGE + 9));
            srd_stream_tx_done(qp, 0, pair.now_ms);
        } else {
            assert_int_equal(n, 0);
            assert_int_equal(actions & SRD_STREAM_END_DUE, SRD_STREAM_END_DUE);
        }
        lock_release(&qp->tx_lock);
        assert_int_equal(srd_dereg_mr(mr), 0);
        pair_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_write_and_read_the_pages_octet_by_octet),
        cmocka_unit_test(own_requests_reach_the_pages_by_the_local_key),
        cmocka_unit_test(many_entries_in_scattered_pages),
        cmocka_unit_test(a_fence_waits_for_reads_and_nothing_else_does),
        cmocka_unit_test(posted_ahead_each_has_its_own_pages),
        cmocka_unit_test(what_makes_no_sense_fails_in_its_turn),
        cmocka_unit_test(regions_in_another_state_or_domain_are_refused),
        cmocka_unit_test(posts_that_cannot_be_queued),
        cmocka_unit_test(a_queue_pair_that_is_not_connected_takes_none),
        cmocka_unit_test(peers_stay_within_bounds_and_rights),
        cmocka_unit_test(own_requests_stay_within_rights),
        cmocka_unit_test(no_window_can_be_bound_over_it),
        cmocka_unit_test(the_peer_invalidates_and_the_key_stays),
        cmocka_unit_test(a_key_that_was_taken_back_ends_its_users_connection),
        cmocka_unit_test(what_a_peer_may_not_take_back),
        cmocka_unit_test(every_queue_pair_of_the_domain_has_it),
        cmocka_unit_test(pages_that_changed_under_a_half_sent_segment_cut_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
