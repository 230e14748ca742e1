/* SPDX-License-Identifier: MIT */
/* Immediate data of Sends and Writes, between softrdma ends; and towards others, which get none. */
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/stream_pair.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum { IMM = 0x01020304 };

/* --- what arrives ------------------------------------------------------------------------------------------------- */

static void expect_immediate(
    struct end *end, uint64_t wr_id, enum ibv_wc_opcode opcode, uint32_t octets, uint32_t immediate)
{
    struct ibv_wc wc = expect_wc(end->rcq, wr_id, IBV_WC_SUCCESS);

    assert_int_equal(wc.opcode, opcode);
    assert_int_equal(wc.byte_len, octets);
    assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
    assert_int_equal(be32toh(wc.imm_data), immediate);
    assert_int_equal(wc.qp_num, end->qp->qp_num);
}

static void sends(struct pair *pair)
{
    static const uint32_t sizes[] = { 4, 0, 1, 1025, 65513, 200000 };
    struct end *a = &pair->a, *b = &pair->b;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        fill(a->mem, sizes[i], (unsigned)i + 1);
        memset(b->mem, 0xcc, sizes[i] + 8);
        post_recv(b, 100 + i, 0, sizes[i]);
        post_recv(b, 200 + i, 300000, 8);
        post_send_imm(a, i, 0, sizes[i], IMM + (uint32_t)i, 0);
        post_send(a, 50 + i, 0, 4, 0);
        pair_pump(pair);
        assert_int_equal(expect_wc(a->scq, i, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
        expect_wc(a->scq, 50 + i, IBV_WC_SUCCESS);
        expect_immediate(b, 100 + i, IBV_WC_RECV, sizes[i], IMM + (uint32_t)i);
        assert_memory_equal(a->mem, b->mem, sizes[i]);
        assert_int_equal(b->mem[sizes[i]], 0xcc);
        assert_int_equal(expect_wc(b->rcq, 200 + i, IBV_WC_SUCCESS).wc_flags, 0);
    }
}

static void sends_bring_it(void **state)
{
    (void)state;
    pair_with_soft_peers(sends);
}

/* The Receive is taken, and nothing is placed in it: it may be empty. The length told is the Write's. */
static void writes(struct pair *pair)
{
    static const uint32_t sizes[] = { 8, 0, 1, 4097, 65517, 300001, 0 };
    struct end *a = &pair->a, *b = &pair->b;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        fill(a->mem, sizes[i], (unsigned)i + 7);
        memset(b->mem, 0xcc, sizes[i] + 80);
        post_recv(b, 100 + i, 0, i % 2 ? 8 : 0);
        post_write(a, 40, 0, 16, at(b, 400000), b->mr->rkey, 0);
        post_write_imm(a, i, 0, sizes[i], at(b, 33), b->mr->rkey, ~(uint32_t)i, 0);
        pair_pump(pair);
        expect_wc(a->scq, 40, IBV_WC_SUCCESS);
        assert_int_equal(expect_wc(a->scq, i, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_WRITE);
        expect_immediate(b, 100 + i, IBV_WC_RECV_RDMA_WITH_IMM, sizes[i], ~(uint32_t)i);
        assert_memory_equal(a->mem, b->mem + 33, sizes[i]);
        for (int j = 0; j < 33; j++)
            assert_int_equal(b->mem[j], 0xcc);
        assert_int_equal(b->mem[33 + sizes[i]], 0xcc);
    }
}

static void writes_bring_it(void **state)
{
    (void)state;
    pair_with_soft_peers(writes);
}

/* All kinds, both ways at once, with Reads between: each once, in order. */
static void mixed(struct pair *pair)
{
    struct end *ends[2] = { &pair->a, &pair->b };

    for (int i = 0; i < 2; i++) {
        struct end *end = ends[i], *peer = ends[1 - i];

        for (unsigned n = 0; n < 12; n++) {
            size_t offset = 100000 + n * 9000;

            switch (n % 4) {
            case 0: post_send_imm(end, n, 0, 3000 + n, n, 0); break;
            case 1:
                post_write_imm(end, n, 0, 8000 + n, at(peer, offset), peer->mr->rkey, n, 0);
                break;
            case 2: post_read(end, n, 600000, 5000, at(peer, 0), peer->mr->rkey, 0); break;
            default:
                post_write(end, n, 0, 100, at(peer, offset), peer->mr->rkey, IBV_SEND_FENCE);
                break;
            }
            post_recv(end, 100 + n, 300000, 9000);
        }
    }
    pair_pump(pair);
    for (int i = 0; i < 2; i++) {
        for (unsigned n = 0; n < 12; n++)
            expect_wc(ends[i]->scq, n, IBV_WC_SUCCESS);
        for (unsigned n = 0; n < 6; n++) {
            unsigned sent = n / 2 * 4 + n % 2;

            expect_immediate(ends[i], 100 + n, n % 2 ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
                (n % 2 ? 8000 : 3000) + sent, sent);
        }
        expect_none(ends[i]->rcq);
    }
}

static void all_kinds_stay_in_order(void **state)
{
    (void)state;
    pair_with_soft_peers(mixed);
}

static void a_shared_queue_gives_the_receive(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_SRQ, 0);
    pair_pump(&pair);
    post_srq_recv(&pair.b, 1, 0, 8);
    post_write_imm(&pair.a, 1, 0, 100, at(&pair.b, 0), pair.b.mr->rkey, IMM, 0);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_immediate(&pair.b, 1, IBV_WC_RECV_RDMA_WITH_IMM, 100, IMM);
    pair_close(&pair);
}

/* Both kinds ask for an event as a Send does. */
static void solicited(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    srd_mark_solicited(pair.b.rcq);
    for (unsigned i = 0; i < 4; i++) {
        unsigned flags = i % 2 ? IBV_SEND_SOLICITED : 0;

        post_recv(&pair.b, i, 0, 8);
        if (i < 2)
            post_send_imm(&pair.a, i, 0, 8, IMM, flags);
        else
            post_write_imm(&pair.a, i, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, IMM, flags);
        pair_pump(&pair);
        assert_int_equal(expect_wc(pair.b.rcq, i, IBV_WC_SUCCESS).wc_flags,
            IBV_WC_WITH_IMM | (i % 2 ? SRD_WC_SOLICITED : 0));
    }
    pair_close(&pair);
}

/* --- receiver not ready ------------------------------------------------------------------------------------------- */

static void held(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    fill(a->mem, 9000, 1);
    post_write_imm(a, 1, 0, 9000, at(b, 0), b->mr->rkey, IMM, 0);
    post_write(a, 2, 0, 100, at(b, 50000), b->mr->rkey, 0);
    post_send_imm(a, 3, 0, 16, IMM + 1, 0);
    pair_pump(pair);
    expect_none(a->scq);
    assert_memory_equal(b->mem, a->mem, 9000); /* the Write itself needs no Receive */
    assert_int_equal(b->mem[50000], 0);        /* stands behind what waits */
    pair_time(pair, 100);
    post_recv(b, 10, 60000, 16);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    expect_none(a->scq);
    expect_immediate(b, 10, IBV_WC_RECV_RDMA_WITH_IMM, 9000, IMM);
    post_recv(b, 11, 60000, 16);
    pair_pump(pair);
    expect_wc(a->scq, 3, IBV_WC_SUCCESS);
    expect_immediate(b, 11, IBV_WC_RECV, 16, IMM + 1);
    assert_int_equal((a->actions | b->actions) & SRD_STREAM_DOWN, 0);
}

static void waits_for_a_receive(void **state)
{
    (void)state;
    pair_with_soft_peers(held);
}

static void without_receive(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct srd_counters counters;
    struct ibv_wc wc;

    post_write(a, 1, 0, 8, at(b, 0), b->mr->rkey, 0);
    post_write_imm(a, 2, 0, 8, at(b, 0), b->mr->rkey, IMM, 0);
    post_send(a, 3, 0, 8, 0);
    pair_pump(pair);
    pair_time(pair, 250);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    wc = expect_wc(a->scq, 2, IBV_WC_RNR_RETRY_EXC_ERR);
    assert_int_equal(wc.vendor_err, 0x1202);
    expect_wc(a->scq, 3, IBV_WC_WR_FLUSH_ERR);
    srd_query_counters(b->qp, &counters, sizeof(counters));
    assert_int_equal(counters.rnr_waits, 1);
    assert_int_equal(counters.rnr_ended, 1);
    pair_expect_over(pair);
}

static void no_receive_in_time_fails_the_write(void **state)
{
    (void)state;
    pair_with_soft_peers(without_receive);
}

/* --- what fails --------------------------------------------------------------------------------------------------- */

/* The key is that of the Write: its request fails, and no immediate data is told. */
static void bad_key(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 10, 0, 8);
    post_recv(b, 11, 0, 8);
    post_send_imm(a, 1, 0, 8, IMM, 0);
    post_write_imm(a, 2, 0, 8, at(b, 0), b->mr->rkey ^ 0x100, IMM, 0);
    post_send_imm(a, 3, 0, 8, IMM, 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    assert_int_equal(expect_wc(a->scq, 2, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x1100);
    expect_wc(a->scq, 3, IBV_WC_WR_FLUSH_ERR);
    expect_immediate(b, 10, IBV_WC_RECV, 8, IMM);
    expect_wc(b->rcq, 11, IBV_WC_WR_FLUSH_ERR);
    pair_expect_over(pair);
}

static void a_refused_write_fails_its_request(void **state)
{
    (void)state;
    pair_with_soft_peers(bad_key);
}

static void too_long(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 10, 0, 8);
    post_send_imm(a, 1, 0, 9, IMM, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_REM_INV_REQ_ERR).vendor_err, 0x1205);
    expect_wc(b->rcq, 10, IBV_WC_LOC_LEN_ERR);
    pair_expect_over(pair);
}

static void a_send_longer_than_the_receive(void **state)
{
    (void)state;
    pair_with_soft_peers(too_long);
}

/* A local key that is wrong: after all in front, and the immediate data stays here. */
static void bad_local_key(struct pair *pair)
{
    struct ibv_sge sge = { at(&pair->a, 0), 8, pair->a.mr->lkey ^ 0x100 };
    struct ibv_send_wr wr = { .wr_id = 2,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
        .send_flags = IBV_SEND_SIGNALED };
    struct ibv_send_wr *bad;

    post_recv(&pair->b, 10, 0, 8);
    post_recv(&pair->b, 11, 0, 8);
    post_write_imm(&pair->a, 1, 0, 8, at(&pair->b, 0), pair->b.mr->rkey, IMM, 0);
    wr.wr.rdma.remote_addr = at(&pair->b, 0);
    wr.wr.rdma.rkey = pair->b.mr->rkey;
    assert_int_equal(ibv_post_send(pair->a.qp, &wr, &bad), 0);
    pair_pump(pair);
    expect_wc(pair->a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair->a.scq, 2, IBV_WC_LOC_PROT_ERR);
    expect_immediate(&pair->b, 10, IBV_WC_RECV_RDMA_WITH_IMM, 8, IMM);
    expect_wc(pair->b.rcq, 11, IBV_WC_WR_FLUSH_ERR);
    pair_expect_over(pair);
}

static void a_bad_local_key(void **state)
{
    (void)state;
    pair_with_soft_peers(bad_local_key);
}

/* The program ends the connection when the Write has gone and the immediate data has not: it still goes. */
static void disconnected_between(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_SMALL, 3);
    pair_pump(&pair);
    post_recv(&pair.b, 10, 0, 8);
    post_write_imm(&pair.a, 1, 0, 5000, at(&pair.b, 0), pair.b.mr->rkey, IMM, 0);
    pair_move(&pair, &pair.a, &pair.b);
    pair_disconnect(&pair, &pair.a);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_immediate(&pair.b, 10, IBV_WC_RECV_RDMA_WITH_IMM, 5000, IMM);
    pair_expect_over(&pair);
    pair_close(&pair);
}

/* --- on the wire -------------------------------------------------------------------------------------------------- */

static void write_then_immediate_data(void **state)
{
    static const uint8_t expected[] = { /* the Write of "data" */
        0x00, 0x12, 0xc1, 0x40, 0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0, 0, 0, 0x10, 0x00, 'd', 'a', 't',
        'a', 0, 0, 0, 0,
        /* Immediate Data with Solicited Event: QN 0, MSN 1, 8 octets */
        0x00, 0x1a, 0x41, 0x49, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3,
        4, 0, 0, 0, 0,
        /* a Send of nothing: MSN 2; the bit, and the immediate data in the place of the Invalidate STag */
        0x00, 0x12, 0x41, 0x63, 1, 2, 3, 5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0
    };
    struct pair pair;
    uint8_t out[256];

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    memcpy(pair.a.mem, "data", 4);
    post_write_imm(&pair.a, 1, 0, 4, 0x1000, 0x11223344, IMM, IBV_SEND_SOLICITED);
    post_send_imm(&pair.a, 2, 0, 0, IMM + 1, 0);
    assert_int_equal(end_take(&pair, &pair.a, out, sizeof(out)), sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
    pair_close(&pair);
}

/* What a softrdma peer may do wrong; the answer is the Terminate's layer, type and code. */
static void malformed(void **state)
{
    static const struct {
        const char *what;
        uint8_t control, opcode;
        uint32_t qn, msn, mo, octets;
        unsigned answer;
    } rows[] = {
        { "none of the 8 octets", 0x41, 0x48, 0, 1, 0, 0, 0x02ff },
        { "7 octets", 0x41, 0x48, 0, 1, 0, 7, 0x02ff },
        { "9 octets", 0x41, 0x48, 0, 1, 0, 9, 0x1205 },
        { "60000 octets", 0x41, 0x49, 0, 1, 0, 60000, 0x1205 },
        { "not the last segment", 0x01, 0x48, 0, 1, 0, 8, 0x02ff },
        { "an offset", 0x41, 0x48, 0, 1, 4, 8, 0x1204 },
        { "an MSN of before", 0x41, 0x48, 0, 0, 0, 8, 0x1203 },
        { "an MSN too far", 0x41, 0x49, 0, 2, 0, 8, 0x1203 },
        { "the queue of Reads", 0x41, 0x48, 1, 1, 0, 8, 0x1201 },
        { "the queue of Atomic Responses", 0x41, 0x48, 3, 1, 0, 8, 0x1201 },
        { "tagged", 0xc1, 0x48, 0, 1, 0, 8, 0x0206 },
        { "opcode 12", 0x41, 0x4c, 0, 1, 0, 8, 0x0206 },
    };
    static uint8_t fpdu[60100];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pair pair;
        uint8_t out[256];
        size_t octets;

        print_message("%s\n", rows[i].what);
        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        post_recv(&pair.b, 10, 0, 64);
        memset(fpdu, 0, sizeof(fpdu));
        wire_put16(fpdu, (uint16_t)(18 + rows[i].octets));
        fpdu[2] = rows[i].control;
        fpdu[3] = rows[i].opcode;
        wire_put32(fpdu + 8, rows[i].qn);
        wire_put32(fpdu + 12, rows[i].msn);
        wire_put32(fpdu + 16, rows[i].mo);
        end_feed(&pair, &pair.b, fpdu, srd_fpdu_octets(18 + rows[i].octets), i % 2 ? 100 : 0);
        assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        expect_wc(pair.b.rcq, 10, IBV_WC_WR_FLUSH_ERR);
        octets = end_take(&pair, &pair.b, out, sizeof(out));
        assert_true(octets >= 20 + 28); /* the last acknowledgement is in front */
        assert_int_equal(out[20 + 3], 0x47);
        assert_int_equal(out[20 + 20] << 8 | out[20 + 21], (rows[i].answer >> 12) << 12 |
                                                               (rows[i].answer >> 8 & 15) << 8 |
                                                               (rows[i].answer & 255));
        pair_close(&pair);
    }
}

/* Inside a message of several segments. */
static void immediate_data_within_a_send(void **state)
{
    uint8_t fpdu[64] = { 0x00, 0x1a, 0x01, 0x43 };
    struct pair pair;
    uint8_t out[256];

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_recv(&pair.b, 10, 0, 64);
    fpdu[15] = 1; /* MSN */
    end_feed(&pair, &pair.b, fpdu, 32, 0);
    fpdu[2] = 0x41;
    fpdu[3] = 0x48;
    end_feed(&pair, &pair.b, fpdu, 32, 0);
    expect_wc(pair.b.rcq, 10, IBV_WC_WR_FLUSH_ERR);
    assert_true(end_take(&pair, &pair.b, out, sizeof(out)) > 42);
    assert_int_equal(out[40], 0x12);
    assert_int_equal(out[41], 0x03);
    pair_close(&pair);
}

/* --- other peers -------------------------------------------------------------------------------------------------- */

static int try_post(struct end *end, enum ibv_wr_opcode opcode)
{
    struct ibv_send_wr wr = { .wr_id = 7, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED };
    struct ibv_send_wr *bad = NULL;
    int error = ibv_post_send(end->qp, &wr, &bad);

    assert_ptr_equal(bad, error ? &wr : NULL);
    return error;
}

static void other_peers_get_none(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(try_post(&pair.a, IBV_WR_SEND_WITH_IMM), EINVAL);
        assert_int_equal(try_post(&pair.b, IBV_WR_RDMA_WRITE_WITH_IMM), EINVAL);
    }
    post_recv(&pair.b, 1, 0, 8);
    post_send(&pair.a, 1, 0, 8, 0);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.b.rcq, 1, IBV_WC_SUCCESS);
    pair_disconnect(&pair, &pair.a);
    pair_pump(&pair);
    assert_int_equal(try_post(&pair.a, IBV_WR_SEND_WITH_IMM), EINVAL);
    pair_close(&pair);
}

/* Posted before the peer is known, it fails when its turn comes. */
static void posted_before_the_peer_is_known(void **state)
{
    static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND_WITH_IMM,
        IBV_WR_RDMA_WRITE_WITH_IMM };

    (void)state;
    for (int soft = 0; soft < 2; soft++)
        for (int i = 0; i < 2; i++) {
            struct pair pair;

            memset(&pair, 0, sizeof(pair));
            pair.flags = soft ? PAIR_SOFT : 0;
            pair.ird = pair.ord = 4;
            end_open(&pair.a, 0);
            end_open(&pair.b, 0);
            post_recv(&pair.b, 1, 0, 8);
            post_recv(&pair.b, 2, 0, 8);
            post_send(&pair.a, 6, 0, 8, 0);
            assert_int_equal(try_post(&pair.a, opcodes[i]), 0);
            end_start(&pair, &pair.b, false);
            end_start(&pair, &pair.a, true);
            pair_pump(&pair);
            expect_wc(pair.a.scq, 6, IBV_WC_SUCCESS);
            expect_wc(pair.b.rcq, 1, IBV_WC_SUCCESS);
            expect_wc(pair.a.scq, 7, soft ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR);
            expect_wc(pair.b.rcq, 2, soft ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
            pair_close(&pair);
        }
}

/* Reserved bits of a Send are nothing to look at where they are not agreed on (RFC 5040 section 4.1). */
static void a_reserved_bit_of_another_peer(void **state)
{
    static const uint8_t fpdus[] = { /* the RTR */
        0x00, 0x0e, 0xc1, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        /* Send, all reserved bits */
        0x00, 0x16, 0x41, 0x73, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 'p', 'i', 'n', 'g',
        0, 0, 0, 0
    };
    struct pair pair;
    struct ibv_wc wc;

    (void)state;
    memset(&pair, 0, sizeof(pair));
    end_open(&pair.b, 0);
    end_start(&pair, &pair.b, false);
    post_recv(&pair.b, 1, 0, 8);
    end_feed(&pair, &pair.b, fpdus, sizeof(fpdus), 0);
    wc = expect_wc(pair.b.rcq, 1, IBV_WC_SUCCESS);
    assert_int_equal(wc.wc_flags, 0);
    assert_int_equal(wc.byte_len, 4);
    end_close(&pair.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_bring_it),
        cmocka_unit_test(writes_bring_it),
        cmocka_unit_test(all_kinds_stay_in_order),
        cmocka_unit_test(a_shared_queue_gives_the_receive),
        cmocka_unit_test(solicited),
        cmocka_unit_test(waits_for_a_receive),
        cmocka_unit_test(no_receive_in_time_fails_the_write),
        cmocka_unit_test(a_refused_write_fails_its_request),
        cmocka_unit_test(a_send_longer_than_the_receive),
        cmocka_unit_test(a_bad_local_key),
        cmocka_unit_test(disconnected_between),
        cmocka_unit_test(write_then_immediate_data),
        cmocka_unit_test(malformed),
        cmocka_unit_test(immediate_data_within_a_send),
        cmocka_unit_test(other_peers_get_none),
        cmocka_unit_test(posted_before_the_peer_is_known),
        cmocka_unit_test(a_reserved_bit_of_another_peer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
