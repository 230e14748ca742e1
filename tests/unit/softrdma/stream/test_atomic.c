/* SPDX-License-Identifier: MIT */
/* Atomics between softrdma ends: results, order, limits, rights, what a peer may do wrong; none towards other peers. */
#include "softrdma/memory/dma.h"
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/stream_pair.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define ADD  IBV_WR_ATOMIC_FETCH_AND_ADD
#define SWAP IBV_WR_ATOMIC_CMP_AND_SWP

static uint64_t *word(struct end *end, size_t offset)
{
    return (uint64_t *)(void *)(end->mem + offset);
}

static void expect_original(
    struct end *end, uint64_t wr_id, enum ibv_wc_opcode opcode, size_t offset, uint64_t original)
{
    struct ibv_wc wc = expect_wc(end->scq, wr_id, IBV_WC_SUCCESS);
    uint64_t got;

    assert_int_equal(wc.opcode, opcode);
    assert_int_equal(wc.byte_len, 8);
    memcpy(&got, end->mem + offset, 8);
    assert_true(got == original);
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static void results(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    uint32_t key = b->mr->rkey;

    memset(a->mem, 0xcc, 64);
    *word(b, 8) = UINT64_C(0x0102030405060708);
    post_atomic(a, ADD, 1, 13, at(b, 8), key, UINT64_C(0xf000000000000009), 77, 0);
    pair_pump(pair);
    expect_original(a, 1, IBV_WC_FETCH_ADD, 13, UINT64_C(0x0102030405060708));
    assert_true(*word(b, 8) == UINT64_C(0xf102030405060711));
    assert_int_equal(a->mem[12], 0xcc);
    assert_int_equal(a->mem[21], 0xcc);
    post_atomic(a, ADD, 2, 0, at(b, 8), key, UINT64_C(0x1000000000000000), 0, 0); /* wraps */
    post_atomic(a, SWAP, 3, 16, at(b, 8), key, UINT64_C(0x0102030405060710), 5, 0);
    post_atomic(a, SWAP, 4, 24, at(b, 8), key, UINT64_C(0x0102030405060711), 6, 0);
    pair_pump(pair);
    expect_original(a, 2, IBV_WC_FETCH_ADD, 0, UINT64_C(0xf102030405060711));
    expect_original(a, 3, IBV_WC_COMP_SWAP, 16, UINT64_C(0x0102030405060711));
    expect_original(a, 4, IBV_WC_COMP_SWAP, 24, UINT64_C(0x0102030405060711));
    assert_true(*word(b, 8) == 6);
    assert_true(*word(b, 0) == 0 && *word(b, 16) == 0);
    expect_none(b->rcq);
}

static void original_values_and_what_is_stored(void **state)
{
    (void)state;
    pair_with_soft_peers(results);
}

/* RFC 7306 section 5.1: the sum in fields, the swap in bits. */
static void masks(void **state)
{
    static const struct {
        struct srd_atomic atomic;
        uint64_t value, result;
    } rows[] = {
        { { SRD_ATOMIC_FETCH_ADD, 1, 0, 0, 0 }, UINT64_MAX, 0 },
        { { SRD_ATOMIC_FETCH_ADD, 1, UINT64_C(1) << 63, 0, 0 }, UINT64_MAX, 0 },
        { { SRD_ATOMIC_FETCH_ADD, 1, UINT64_C(0x80000000), 0, 0 }, 0xffffffff, 0 },
        { { SRD_ATOMIC_FETCH_ADD, 1, 0, 0, 0 }, 0xffffffff, UINT64_C(0x100000000) },
        { { SRD_ATOMIC_FETCH_ADD, UINT64_C(0x0101010101010101), UINT64_C(0x8080808080808080), 0,
              0 },
            UINT64_C(0xff00fffe7f80ff01), UINT64_C(0x000100ff80810002) },
        { { SRD_ATOMIC_FETCH_ADD, UINT64_MAX, UINT64_MAX, 0, 0 }, UINT64_C(0xf0f0),
            ~UINT64_C(0xf0f0) },
        { { SRD_ATOMIC_CMP_SWAP, 9, UINT64_MAX, 5, UINT64_MAX }, 5, 9 },
        { { SRD_ATOMIC_CMP_SWAP, 9, UINT64_MAX, 5, UINT64_MAX }, 4, 4 },
        { { SRD_ATOMIC_CMP_SWAP, 0xabcd, 0xff00, 0x1134, 0x00ff }, 0x9934, 0xab34 },
        { { SRD_ATOMIC_CMP_SWAP, 0xabcd, 0xff00, 0x1134, 0xffff }, 0x9934, 0x9934 },
        { { SRD_ATOMIC_CMP_SWAP, 0xabcd, UINT64_MAX, 1, 0 }, 0x9934, 0xabcd },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_true(srd_atomic_result(&rows[i].atomic, rows[i].value) == rows[i].result);
}

/* --- order and limits --------------------------------------------------------------------------------------------- */

/* More than may be in flight, with Reads among them: each in its turn. */
static void more_than_the_depth(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    *word(b, 64) = 17;
    for (unsigned i = 0; i < 30; i++)
        if (i % 3 == 2)
            post_read(a, i, 4096 + i * 8, 8, at(b, 64), b->mr->rkey, 0);
        else
            post_atomic(a, ADD, i, 4096 + i * 8, at(b, 0), b->mr->rkey, 1, 0, 0);
    pair_pump(pair);
    for (unsigned i = 0; i < 30; i++)
        expect_original(a, i, i % 3 == 2 ? IBV_WC_RDMA_READ : IBV_WC_FETCH_ADD, 4096 + i * 8,
            i % 3 == 2 ? 17 : i / 3 * 2 + i % 3);
    assert_true(*word(b, 0) == 20);
}

static void atomics_count_as_reads(void **state)
{
    (void)state;
    pair_with_soft_peers(more_than_the_depth);
}

/* No more requests leave than the depth allows, of both kinds together. */
static void the_depth_is_for_both(void **state)
{
    struct pair pair;
    uint8_t out[1024];

    (void)state;
    pair_open_depths(&pair, PAIR_SOFT, 0, 2, 2);
    pair_pump(&pair);
    post_read(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    post_atomic(&pair.a, ADD, 2, 8, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
    post_atomic(&pair.a, ADD, 3, 16, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
    assert_int_equal(end_take(&pair, &pair.a, out, sizeof(out)), 52 + 76);
    end_feed(&pair, &pair.b, out, 52 + 76, 0);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 2, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 3, IBV_WC_SUCCESS);
    pair_close(&pair);

    pair_open_depths(&pair, PAIR_SOFT, 0, 0, 0);
    pair_pump(&pair);
    post_atomic(&pair.a, ADD, 1, 8, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_LOC_QP_OP_ERR);
    assert_true(*word(&pair.b, 0) == 0);
    pair_close(&pair);
}

/* It is executed before what comes behind it is placed, and told of. */
static void in_front(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 10, 4096, 8);
    *word(b, 0) = 3;
    *word(a, 100 * 8) = 1000;
    post_atomic(a, ADD, 1, 0, at(b, 0), b->mr->rkey, 4, 0, 0);
    post_write(a, 2, 100 * 8, 8, at(b, 0), b->mr->rkey, 0);
    post_send(a, 3, 0, 8, 0);
    pair_pump(pair);
    expect_original(a, 1, IBV_WC_FETCH_ADD, 0, 3);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    expect_wc(a->scq, 3, IBV_WC_SUCCESS);
    assert_true(*word(b, 0) == 1000);
}

static void executed_before_what_follows(void **state)
{
    (void)state;
    pair_with_soft_peers(in_front);
}

/* Behind a message that waits for its Receive it waits too; its response passes one that is held at the requester. */
static void held(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_send(a, 1, 0, 8, 0);
    post_atomic(a, ADD, 2, 0, at(b, 0), b->mr->rkey, 4, 0, 0);
    pair_pump(pair);
    assert_true(*word(b, 0) == 0);
    post_send(b, 3, 0, 8, 0); /* in front of the response */
    pair_pump(pair);
    post_recv(b, 10, 4096, 8);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_original(a, 2, IBV_WC_FETCH_ADD, 0, 0);
    expect_none(b->scq);
    assert_true(*word(b, 0) == 4);
    post_recv(a, 11, 4096, 8);
    pair_pump(pair);
    expect_wc(b->scq, 3, IBV_WC_SUCCESS);
}

static void behind_a_message_without_a_receive(void **state)
{
    (void)state;
    pair_with_soft_peers(held);
}

/* --- with others at the same word --------------------------------------------------------------------------------- */

/* Each goes on until it has often found that another thread was between two of its steps, and at most so long. */
enum { MEETINGS = 1000, ROUNDS_MAX = 2000000 };

struct counting {
    uint64_t counter;
    atomic_uint running; /* of the threads that use srd_dma_atomic */
    _Atomic uint64_t steps;
};

static void *count_up(void *arg)
{
    struct counting *counting = arg;
    uint64_t steps = 0;

    for (; atomic_load(&counting->running); steps++)
        __atomic_fetch_add(&counting->counter, 1, __ATOMIC_RELAXED);
    atomic_fetch_add(&counting->steps, steps);
    return NULL;
}

static void *add_and_compare(void *arg)
{
    static const struct srd_atomic add = { .operation = SRD_ATOMIC_FETCH_ADD, .data = 1 };
    struct counting *counting = arg;
    uint64_t original = 0, last = 0, steps = 0;
    bool failed = false;

    for (unsigned met = 0; !failed && met < MEETINGS && steps < ROUNDS_MAX; steps++) {
        failed = !srd_dma_atomic(&counting->counter, &add, &original);
        met += original != last + 1;
        last = original;
    }
    atomic_fetch_add(&counting->steps, steps);
    atomic_fetch_sub(&counting->running, 1);
    return failed ? arg : NULL;
}

/* Other connections and the processor's own atomics: nothing is lost. */
static void no_step_is_lost(void **state)
{
    struct counting counting = { .running = 2 };
    void *(*const bodies[3])(void *) = { count_up, add_and_compare, add_and_compare };
    pthread_t threads[3];
    void *failed;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bodies[i], &counting), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_true(counting.counter == atomic_load(&counting.steps));
}

/* --- what is refused ---------------------------------------------------------------------------------------------- */

static void refused(struct pair *pair, uint64_t remote, uint32_t key, enum ibv_wc_status status,
    uint32_t vendor_err, enum ibv_event_type event)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 10, 4096, 8);
    *word(b, 0) = 1;
    post_atomic(a, ADD, 1, 0, at(b, 0), b->mr->rkey, 4, 0, 0);
    post_send(a, 2, 0, 8, 0);
    post_atomic(a, ADD, 3, 8, remote, key, 4, 0, 0);
    post_atomic(a, ADD, 4, 16, at(b, 0), b->mr->rkey, 4, 0, 0);
    pair_pump(pair);
    expect_original(a, 1, IBV_WC_FETCH_ADD, 0, 1);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    assert_int_equal(expect_wc(a->scq, 3, status).vendor_err, vendor_err);
    expect_wc(a->scq, 4, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    assert_true(*word(b, 0) == 5);
    assert_int_equal(next_async(b), event);
    assert_int_equal(next_async(a), -1);
    pair_expect_over(pair);
}

static void every_refusal(void **state)
{
    static const struct {
        const char *what;
        int64_t offset;
        uint32_t key_change;
        enum ibv_wc_status status;
        uint32_t vendor_err;
        enum ibv_event_type event;
    } rows[] = {
        { "a key that is none", 8, 0x100, IBV_WC_REM_ACCESS_ERR, 0x0100, IBV_EVENT_QP_ACCESS_ERR },
        { "in front of the region", -8, 0, IBV_WC_REM_ACCESS_ERR, 0x0101, IBV_EVENT_QP_ACCESS_ERR },
        { "behind it", MEM_OCTETS, 0, IBV_WC_REM_ACCESS_ERR, 0x0101, IBV_EVENT_QP_ACCESS_ERR },
        { "its end in the middle", MEM_OCTETS - 4, 0, IBV_WC_REM_ACCESS_ERR, 0x0101,
            IBV_EVENT_QP_ACCESS_ERR },
        { "not aligned", 12, 0, IBV_WC_REM_INV_REQ_ERR, 0x0207, IBV_EVENT_QP_REQ_ERR },
        { "off by one", 1, 0, IBV_WC_REM_INV_REQ_ERR, 0x0207, IBV_EVENT_QP_REQ_ERR },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (size_t f = 0; f < PAIR_SOFT_FORMS; f++)
            for (unsigned seed = 0; seed < PAIR_SEEDS; seed++) {
                struct pair pair;

                pair_open(&pair, pair_soft_forms[f], seed);
                pair_pump(&pair);
                refused(&pair, at(&pair.b, 0) + (uint64_t)rows[i].offset,
                    pair.b.mr->rkey ^ rows[i].key_change, rows[i].status, rows[i].vendor_err,
                    rows[i].event);
                pair_close(&pair);
            }
}

/* Rights to read and write are none to both at once; the memory's and the queue pair's are needed. */
static void rights(void **state)
{
    struct ibv_qp_attr attr = { .qp_access_flags =
                                    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

    (void)state;
    for (int of_qp = 0; of_qp < 2; of_qp++) {
        struct pair pair;
        struct ibv_mr *mr;

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        mr = srd_reg_mr(pair.b.pd, pair.b.mem, 4096,
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                (of_qp ? IBV_ACCESS_REMOTE_ATOMIC : 0));
        assert_non_null(mr);
        if (of_qp)
            assert_int_equal(srd_modify_qp(pair.b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
        post_atomic(&pair.a, ADD, 1, 0, at(&pair.b, 0), mr->rkey, 4, 0, 0);
        pair_pump(&pair);
        assert_int_equal(expect_wc(pair.a.scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x0102);
        assert_true(*word(&pair.b, 0) == 0);
        assert_int_equal(srd_dereg_mr(mr), 0);
        pair_close(&pair);
    }
}

/* A window that grants atomics alone. */
static void through_a_window(void **state)
{
    struct pair pair;
    struct ibv_mw *mw;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_2);
    assert_non_null(mw);
    post_bind(&pair.b, 5, mw, ibv_inc_rkey(mw->rkey), pair.b.mr, 64, 8, IBV_ACCESS_REMOTE_ATOMIC);
    pair_pump(&pair);
    expect_wc(pair.b.scq, 5, IBV_WC_SUCCESS);
    post_atomic(&pair.a, ADD, 1, 0, at(&pair.b, 64), ibv_inc_rkey(mw->rkey), 4, 0, 0);
    post_write(&pair.a, 2, 0, 8, at(&pair.b, 64), ibv_inc_rkey(mw->rkey), 0);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 2, IBV_WC_REM_ACCESS_ERR);
    assert_true(*word(&pair.b, 64) == 4);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
    pair_close(&pair);
}

/* Where the original value goes is not there: found before the request leaves. */
static void a_bad_local_key(void **state)
{
    struct pair pair;
    struct ibv_sge sge;
    struct ibv_send_wr wr = {
        .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = ADD, .send_flags = IBV_SEND_SIGNALED
    };
    struct ibv_send_wr *bad;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    sge = (struct ibv_sge){ at(&pair.a, 0), 8, pair.a.mr->lkey ^ 0x100 };
    wr.wr.atomic.remote_addr = at(&pair.b, 0);
    wr.wr.atomic.rkey = pair.b.mr->rkey;
    wr.wr.atomic.compare_add = 1;
    assert_int_equal(ibv_post_send(pair.a.qp, &wr, &bad), 0);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_LOC_PROT_ERR);
    assert_true(*word(&pair.b, 0) == 0);
    pair_close(&pair);
}

/* Exactly one entry of exactly 8 octets. */
static void bad_lists(void **state)
{
    struct pair pair;
    struct ibv_sge sge[2];
    struct ibv_send_wr wr = { .sg_list = sge, .opcode = SWAP }, *bad;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    for (uint32_t octets = 7; octets <= 9; octets++)
        for (int n = 0; n < 3; n++) {
            for (int i = 0; i < 2; i++)
                sge[i] = (struct ibv_sge){ at(&pair.a, 0), octets, pair.a.mr->lkey };
            wr.num_sge = n;
            if (n != 1 || octets != 8)
                assert_int_equal(ibv_post_send(pair.a.qp, &wr, &bad), EINVAL);
        }
    wr.num_sge = 1;
    wr.sg_list = NULL;
    assert_int_equal(ibv_post_send(pair.a.qp, &wr, &bad), EINVAL);
    pair_close(&pair);
}

/* --- on the wire -------------------------------------------------------------------------------------------------- */

static void requests_and_responses_octet_by_octet(void **state)
{
    static const uint8_t request[] = { 0x00, 0x46, 0x41, 0x4a, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1,
        0, 0, 0, 0, /* CmpSwap */ 0, 0, 0, 2, /* identifier */ 0, 0, 0, 0, 0x11, 0x22, 0x33, 0x44,
        0, 0, 0, 0, 0, 0, 0x10, 0x08, /* swap data and mask */ 0, 0, 0, 0, 0, 0, 0, 6, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* compare data and mask */ 1, 2, 3, 4, 5, 6, 7, 8,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0 };
    static const uint8_t response[] = { 0x00, 0x1e, 0x41, 0x4b, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1,
        0, 0, 0, 0, /* identifier */ 0xaa, 0xbb, 0xcc, 0xdd, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0,
        0 };
    uint8_t out[256], in[sizeof(request)];
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_atomic(&pair.a, SWAP, 1, 0, 0x1008, 0x11223344, UINT64_C(0x0102030405060708), 6, 0);
    assert_int_equal(end_take(&pair, &pair.a, out, sizeof(out)), sizeof(request));
    memset(out + 24, 0, 4);
    assert_memory_equal(out, request, sizeof(request));

    *word(&pair.b, 8) = 0x1234;
    memcpy(in, request, sizeof(in));
    wire_put32(in + 24, 0xaabbccdd);
    wire_put32(in + 28, pair.b.mr->rkey);
    wire_put64(in + 32, at(&pair.b, 8));
    wire_put64(in + 40, 0x5600);
    wire_put64(in + 48, 0xff00);
    wire_put64(in + 56, 0x34);
    wire_put64(in + 64, 0xff);
    end_feed(&pair, &pair.b, in, sizeof(in), 5);
    assert_int_equal(end_take(&pair, &pair.b, out, sizeof(out)), sizeof(response));
    assert_memory_equal(out, response, sizeof(response));
    assert_true(*word(&pair.b, 8) == 0x5634);
    pair_close(&pair);
}

enum { FPDU_ROOM = 60100 };

static size_t frame(uint8_t *fpdu, uint8_t control, uint8_t opcode, uint32_t qn, uint32_t msn,
    uint32_t mo, uint32_t octets)
{
    memset(fpdu, 0, FPDU_ROOM);
    wire_put16(fpdu, (uint16_t)(18 + octets));
    fpdu[2] = control;
    fpdu[3] = opcode;
    wire_put32(fpdu + 8, qn);
    wire_put32(fpdu + 12, msn);
    wire_put32(fpdu + 16, mo);
    return srd_fpdu_octets(18 + octets);
}

/* The Terminate that an end sends behind its last acknowledgement. */
static unsigned terminate_of(struct pair *pair, struct end *end)
{
    uint8_t out[4096];
    size_t octets = end_take(pair, end, out, sizeof(out)), at = 0, last = 0;

    while (at < octets) {
        last = at;
        at += srd_fpdu_octets(wire_get16(out + at));
    }
    assert_true(octets >= 28);
    assert_int_equal(out[last + 3], 0x47);
    return (unsigned)(out[last + 20] >> 4 << 12 | (out[last + 20] & 15) << 8 | out[last + 21]);
}

static void malformed_requests(void **state)
{
    static const struct {
        const char *what;
        uint8_t control;
        uint32_t qn, msn, mo, octets, operation;
        unsigned answer;
    } rows[] = {
        { "no header", 0x41, 1, 1, 0, 0, 0, 0x02ff },
        { "51 octets", 0x41, 1, 1, 0, 51, 0, 0x02ff },
        { "53 octets", 0x41, 1, 1, 0, 53, 0, 0x1205 },
        { "60000 octets", 0x41, 1, 1, 0, 60000, 0, 0x1205 },
        { "not the last segment", 0x01, 1, 1, 0, 52, 0, 0x02ff },
        { "an offset", 0x41, 1, 1, 4, 52, 0, 0x1204 },
        { "MSN 0", 0x41, 1, 0, 0, 52, 0, 0x1203 },
        { "MSN 2", 0x41, 1, 2, 0, 52, 0, 0x1203 },
        { "the queue of Sends", 0x41, 0, 1, 0, 52, 0, 0x1201 },
        { "operation 1", 0x41, 1, 1, 0, 52, 1, 0x02ff },
        { "operation 15", 0x41, 1, 1, 0, 52, 15, 0x02ff },
        { "STag 0", 0x41, 1, 1, 0, 52, 0xfffffff0, 0x0100 },
        { "tagged", 0xc1, 1, 1, 0, 52, 0, 0x0206 },
    };
    static uint8_t fpdu[FPDU_ROOM];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pair pair;
        size_t octets;

        print_message("%s\n", rows[i].what);
        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        octets =
            frame(fpdu, rows[i].control, 0x4a, rows[i].qn, rows[i].msn, rows[i].mo, rows[i].octets);
        if (rows[i].octets >= 4)
            wire_put32(fpdu + 20, rows[i].operation);
        end_feed(&pair, &pair.b, fpdu, octets, i % 2 ? 100 : 0);
        assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        assert_int_equal(terminate_of(&pair, &pair.b), rows[i].answer);
        pair_close(&pair);
    }
}

/* One more than the depth, while nothing is read. */
static void too_many_requests(void **state)
{
    static uint8_t fpdu[FPDU_ROOM];
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    for (uint32_t msn = 1; msn <= 5; msn++) {
        size_t octets = frame(fpdu, 0x41, 0x4a, 1, msn, 0, 52);

        wire_put32(fpdu + 28, pair.b.mr->rkey);
        wire_put64(fpdu + 32, at(&pair.b, 0));
        wire_put64(fpdu + 40, 1);
        end_feed(&pair, &pair.b, fpdu, octets, 0);
    }
    assert_true(*word(&pair.b, 0) == 4);
    assert_int_equal(terminate_of(&pair, &pair.b), 0x1202);
    assert_int_equal(next_async(&pair.b), IBV_EVENT_QP_REQ_ERR);
    pair_close(&pair);
}

/* What may not answer an Atomic: it fails, and nothing of the answer is stored. */
static void wrong_responses(void **state)
{
    static const struct {
        const char *what;
        uint8_t control, opcode;
        uint32_t qn, msn, mo, octets, identifier_change;
        unsigned answer;
    } rows[] = {
        { "another identifier", 0x41, 0x4b, 3, 1, 0, 12, 1, 0x02ff },
        { "no header", 0x41, 0x4b, 3, 1, 0, 0, 0, 0x02ff },
        { "11 octets", 0x41, 0x4b, 3, 1, 0, 11, 0, 0x02ff },
        { "13 octets", 0x41, 0x4b, 3, 1, 0, 13, 0, 0x1205 },
        { "not the last segment", 0x01, 0x4b, 3, 1, 0, 12, 0, 0x02ff },
        { "an offset", 0x41, 0x4b, 3, 1, 8, 12, 0, 0x1204 },
        { "MSN 2", 0x41, 0x4b, 3, 2, 0, 12, 0, 0x1203 },
    };
    static uint8_t fpdu[FPDU_ROOM];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pair pair;
        uint8_t out[256];
        size_t octets;

        print_message("%s\n", rows[i].what);
        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        post_atomic(&pair.a, ADD, 1, 0, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
        end_take(&pair, &pair.a, out, sizeof(out));
        octets = frame(fpdu, rows[i].control, rows[i].opcode, rows[i].qn, rows[i].msn, rows[i].mo,
            rows[i].octets);
        if (rows[i].octets >= 4)
            wire_put32(fpdu + 20, wire_get32(out + 24) ^ rows[i].identifier_change);
        memset(fpdu + 24, 0x77, 8);
        end_feed(&pair, &pair.a, fpdu, octets, 0);
        expect_wc(pair.a.scq, 1, IBV_WC_BAD_RESP_ERR);
        assert_true(*word(&pair.a, 0) == 0);
        assert_int_equal(terminate_of(&pair, &pair.a), rows[i].answer);
        pair_close(&pair);
    }
}

/* The Write in front of the Atomic that is answered wrongly has no part in it. */
static void wrong_response_behind_a_write(void **state)
{
    static uint8_t fpdu[FPDU_ROOM];
    struct pair pair;
    uint8_t out[256];
    size_t octets;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_write(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    end_take(&pair, &pair.a, out, sizeof(out));
    post_atomic(&pair.a, ADD, 2, 0, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
    end_take(&pair, &pair.a, out, sizeof(out));
    octets = frame(fpdu, 0x41, 0x4b, 3, 1, 0, 12);
    wire_put32(fpdu + 20, wire_get32(out + 24) ^ 1);
    end_feed(&pair, &pair.a, fpdu, octets, 0);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 2, IBV_WC_BAD_RESP_ERR);
    pair_close(&pair);
}

/* A Read Response answers no Atomic, an Atomic Response no Read; and neither is taken unasked. */
static void responses_of_the_other_kind(void **state)
{
    static uint8_t fpdu[FPDU_ROOM];

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct pair pair;
        uint8_t out[256];
        size_t octets;

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        if (kind < 2)
            post_atomic(&pair.a, ADD, 1, 0, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
        else if (kind == 2)
            post_read(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
        memset(out, 0, sizeof(out));
        end_take(&pair, &pair.a, out, sizeof(out));
        octets = frame(fpdu, 0x41, 0x4b, 3, 1, 0, 12);
        wire_put32(fpdu + 20, wire_get32(out + (kind < 2 ? 24 : 20)));
        if (kind < 2) { /* a Read Response of 8 octets, or of none */
            uint32_t payload = kind ? 8 : 0;

            octets = srd_fpdu_octets(14 + payload);
            memset(fpdu, 0, octets);
            wire_put16(fpdu, (uint16_t)(14 + payload));
            fpdu[2] = 0xc1;
            fpdu[3] = 0x42;
            wire_put32(fpdu + 4, wire_get32(out + 24));
        }
        end_feed(&pair, &pair.a, fpdu, octets, 0);
        assert_int_equal(pair.a.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        if (kind < 3)
            expect_wc(pair.a.scq, 1, IBV_WC_BAD_RESP_ERR);
        assert_int_equal(terminate_of(&pair, &pair.a), kind < 2 ? 0x1100 : 0x1202);
        pair_close(&pair);
    }
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* What was executed is answered before the Terminate about what came behind it. */
static void answered_before_the_terminate(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_atomic(&pair.a, ADD, 1, 0, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
    post_write(&pair.a, 2, 0, 8, at(&pair.b, 0), 0x00dead00, 0);
    while (pair_move(&pair, &pair.a, &pair.b))
        ;
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 2, IBV_WC_REM_ACCESS_ERR);
    assert_true(*word(&pair.b, 0) == 1);
    pair_close(&pair);
}

static void flushed_when_the_peer_leaves(void **state)
{
    struct pair pair;
    uint8_t out[256];

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_atomic(&pair.a, ADD, 1, 0, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
    end_take(&pair, &pair.a, out, sizeof(out)); /* lost */
    pair_disconnect(&pair, &pair.b);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_WR_FLUSH_ERR);
    pair_close(&pair);
}

/* --- other peers -------------------------------------------------------------------------------------------------- */

static void other_peers_get_none(void **state)
{
    struct pair pair;
    struct ibv_sge sge = { .length = 8 };
    struct ibv_send_wr wr = { .wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = ADD };
    struct ibv_send_wr *bad;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    assert_int_equal(ibv_post_send(pair.a.qp, &wr, &bad), EINVAL);
    wr.opcode = SWAP;
    assert_int_equal(ibv_post_send(pair.b.qp, &wr, &bad), EINVAL);
    pair_close(&pair);
}

static void posted_before_the_peer_is_known(void **state)
{
    (void)state;
    for (int soft = 0; soft < 2; soft++) {
        struct pair pair;

        memset(&pair, 0, sizeof(pair));
        pair.flags = soft ? PAIR_SOFT : 0;
        pair.ird = pair.ord = 4;
        end_open(&pair.a, 0);
        end_open(&pair.b, 0);
        post_atomic(&pair.a, ADD, 1, 0, at(&pair.b, 0), pair.b.mr->rkey, 1, 0, 0);
        end_start(&pair, &pair.b, false);
        end_start(&pair, &pair.a, true);
        pair_pump(&pair);
        expect_wc(pair.a.scq, 1, soft ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR);
        assert_true(*word(&pair.b, 0) == (uint64_t)soft);
        pair_close(&pair);
    }
}

/* From a peer that is not softrdma every opcode of RFC 7306 is an unknown one. */
static void unasked_from_another_peer(void **state)
{
    static uint8_t fpdu[FPDU_ROOM];

    (void)state;
    for (uint8_t opcode = 8; opcode <= 15; opcode++) {
        struct pair pair;

        pair_open(&pair, 0, 0);
        pair_pump(&pair);
        post_recv(&pair.b, 1, 0, 64);
        end_feed(&pair, &pair.b, fpdu,
            frame(fpdu, 0x41, 0x40 | opcode, opcode == 10 ? 1 : 0, 1, 0, opcode == 10 ? 52 : 8), 0);
        expect_wc(pair.b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(terminate_of(&pair, &pair.b), 0x0206);
        pair_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_values_and_what_is_stored),
        cmocka_unit_test(masks),
        cmocka_unit_test(atomics_count_as_reads),
        cmocka_unit_test(the_depth_is_for_both),
        cmocka_unit_test(executed_before_what_follows),
        cmocka_unit_test(behind_a_message_without_a_receive),
        cmocka_unit_test(no_step_is_lost),
        cmocka_unit_test(every_refusal),
        cmocka_unit_test(rights),
        cmocka_unit_test(through_a_window),
        cmocka_unit_test(a_bad_local_key),
        cmocka_unit_test(bad_lists),
        cmocka_unit_test(requests_and_responses_octet_by_octet),
        cmocka_unit_test(malformed_requests),
        cmocka_unit_test(too_many_requests),
        cmocka_unit_test(wrong_responses),
        cmocka_unit_test(wrong_response_behind_a_write),
        cmocka_unit_test(responses_of_the_other_kind),
        cmocka_unit_test(answered_before_the_terminate),
        cmocka_unit_test(flushed_when_the_peer_leaves),
        cmocka_unit_test(other_peers_get_none),
        cmocka_unit_test(posted_before_the_peer_is_known),
        cmocka_unit_test(unasked_from_another_peer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
