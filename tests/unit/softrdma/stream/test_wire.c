/* SPDX-License-Identifier: MIT */
/* The stream against octets on the wire: every refusal with its Terminate, what a peer may not answer, what wraps. */
#include "softrdma/wire/crc32c.h"
#include "softrdma/wire/mpa.h"
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/stream_pair.h"
#include "tests/unit/softrdma/vectors.h"
#include "tests/unit/softrdma/wire_end.h"

#include <string.h>

/* --- refusals --------------------------------------------------------------------------------------------------- */

struct refusal_row {
    const char *name, *then;
    uint8_t layer_type, code;
};

static const struct refusal_row refusals[] = {
    { "f.crc_bad", NULL, 0x20, 0x02 },
    { "f.crc_be", NULL, 0x20, 0x02 },
    { "n.ulpdu_short", NULL, 0x10, 0x00 },
    { "n.ddp_ver_untagged", NULL, 0x12, 0x06 },
    { "n.ddp_ver_tagged", NULL, 0x11, 0x04 },
    { "n.rdmap_ver", NULL, 0x02, 0x05 },
    { "n.opcode_f", NULL, 0x02, 0x06 },
    { "n.tagged_send", NULL, 0x02, 0x06 },
    { "n.untagged_write", NULL, 0x02, 0x06 },
    { "n.send_qn1", NULL, 0x12, 0x01 },
    { "n.qn_7", NULL, 0x12, 0x01 },
    { "n.msn_gap", NULL, 0x12, 0x03 },
    { "n.mo_bad", NULL, 0x12, 0x04 },
    { "n.to_wrap", NULL, 0x11,
        0x00 }, /* its STag is unknown here; the wrap itself is in test_stream_faults */
    { "n.rreq_short", NULL, 0x02, 0xff },
    { "n.rreq_long", NULL, 0x12, 0x05 },
    { "n.rresp_unasked", NULL, 0x11, 0x00 },
    { "n.last_missing", "n.msn_gap", 0x12, 0x03 },
    { "s1.18.bad_write", NULL, 0x11, 0x00 },
    { "t.read_bad_req", NULL, 0x01, 0x00 },
    { "x.imm", NULL, 0x02, 0x06 },
};

/* The initiator's first FPDU: from here on a responder may send. */
static void feed_first(struct pair *pair, struct end *end)
{
    end_feed(pair, end, vector_named("s1.03.rtr_write0")->octets, 20, 0);
}

static void refuse(const struct refusal_row *row, size_t piece)
{
    const struct vector *v = vector_named(row->name);
    struct pair pair;
    struct end end;
    uint8_t out[128];
    size_t octets;

    open_end(&pair, &end, false, true, true);
    feed_first(&pair, &end);
    memset(end.mem, 0x5a, 4096);
    post_recv(&end, 1, 0, 64);
    post_recv(&end, 2, 0, 64);
    end_feed(&pair, &end, v->octets, v->count, piece);
    if (row->then)
        end_feed(
            &pair, &end, vector_named(row->then)->octets, vector_named(row->then)->count, piece);
    assert_int_equal(end.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
    octets = end_take(&pair, &end, out, sizeof(out));
    assert_true(octets >= 28);
    assert_int_equal(octets, srd_fpdu_octets(wire_get16(out)));
    assert_int_equal(srd_crc32c(0, out, octets), 0x48674bc7);
    assert_int_equal(out[2], 0x41);
    assert_int_equal(out[3], 0x47);
    assert_int_equal(wire_get32(out + 8), 2);
    assert_int_equal(wire_get32(out + 12), 1);
    assert_int_equal(out[20], row->layer_type);
    assert_int_equal(out[21], row->code);
    for (int i = row->then ? 4 : 0; i < 4096; i++)
        assert_int_equal(end.mem[i], 0x5a);
    expect_wc(end.rcq, 1, IBV_WC_WR_FLUSH_ERR);
    expect_wc(end.rcq, 2, IBV_WC_WR_FLUSH_ERR);
    /* what comes behind is dropped, and answered with nothing */
    end_feed(&pair, &end, vector_named("s1.04.send4")->octets, 28, 0);
    assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 0);
    end_close(&end);
}

static void every_refusal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        print_message("%s\n", refusals[i].name);
        refuse(&refusals[i], 0);
        refuse(&refusals[i], 1);
        refuse(&refusals[i], 7);
    }
}

/* Whole returned headers, for the two Terminates the sheet prints. */
static void terminates_octet_by_octet(void **state)
{
    static const char *const rows[][2] = { { "s1.18.bad_write", "s1.19.term_bad_write" },
        { "t.read_bad_req", "t.read_bad_stag" }, { "f.crc_bad", "t.crc" },
        { "n.opcode_f", "t.opcode" } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct vector *in = vector_named(rows[i][0]), *expected = vector_named(rows[i][1]);
        struct pair pair;
        struct end end;
        uint8_t out[128];

        open_end(&pair, &end, false, true, true);
        feed_first(&pair, &end);
        end_feed(&pair, &end, in->octets, in->count, 0);
        assert_int_equal(end_take(&pair, &end, out, sizeof(out)), expected->count);
        assert_memory_equal(out, expected->octets, expected->count);
        end_close(&end);
    }
}

/* RFC 5044 section 7.1.3: no FPDU leaves a responder before a valid one has come, not even a Terminate. */
static void first_fpdu_that_is_not_valid_is_not_answered(void **state)
{
    struct srd_stream_params params = { .soft_peer = true,
        .crc = true,
        .ird = 4,
        .ord = 4,
        .fpdu_max_octets = 1460,
        .rtr = SRD_MPA_RTR_WRITE,
        .rtr_expected = true };
    uint8_t out[128];

    (void)state;
    for (int abort = 0; abort < 2; abort++)
        for (int soft = 0; soft < 2; soft++) {
            struct pair pair = { .now_ms = 1000 };
            struct end end;

            params.soft_peer = soft;
            end_open(&end, 0);
            post_recv(&end, 1, 0, 64);
            end_want(&pair, &end, srd_stream_start(srd_qp_from(end.qp), &params, NULL, 0, 1000));
            if (abort)
                end_want(&pair, &end, srd_stream_abort(srd_qp_from(end.qp), 1000));
            else
                end_feed(&pair, &end, vector_named("f.crc_bad")->octets,
                    vector_named("f.crc_bad")->count, 0);
            assert_int_equal(
                end.actions & (SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN | SRD_STREAM_ESTABLISHED),
                SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN);
            assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 0);
            expect_wc(end.rcq, 1, IBV_WC_WR_FLUSH_ERR);
            end_close(&end);
        }
}

/* A Terminate of any form ends the connection and gets no answer. */
static void terminates_are_not_answered(void **state)
{
    (void)state;
    for (size_t i = 0; i < vectors_count; i++) {
        struct pair pair;
        struct end end;
        uint8_t out[128];

        if (vectors[i].count < 4 || vectors[i].octets[3] != 0x47)
            continue;
        for (size_t piece = 0; piece < 30; piece += 13) {
            open_end(&pair, &end, true, false, true);
            post_recv(&end, 1, 0, 64);
            end_feed(&pair, &end, vectors[i].octets, vectors[i].count, piece);
            assert_int_equal(end.actions & (SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN),
                SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN);
            expect_wc(end.rcq, 1, IBV_WC_WR_FLUSH_ERR);
            assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 0);
            end_close(&end);
        }
    }
}

/* --- responses that do not fit the Read -------------------------------------------------------------------------- */

static void wrong_responses(void **state)
{
    static const struct {
        const char *what;
        uint32_t stag_change;
        uint64_t to;
        uint32_t octets;
        bool last;
        uint8_t code;
    } rows[] = {
        { "STag", 1, 0, 8, true, 0x00 },
        { "offset", 0, 4, 8, true, 0x01 },
        { "too long", 0, 0, 9, true, 0x01 },
        { "too short and last", 0, 0, 7, true, 0x01 },
        { "whole and not last", 0, 0, 8, false, 0x01 },
        { "empty and last", 0, 0, 0, true, 0x01 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pair pair;
        struct end end;
        struct srd_segment segment = {
            .tagged = true, .last = rows[i].last, .opcode = SRD_OP_READ_RESPONSE
        };
        uint8_t out[128], in[64] = { 0 };
        uint32_t octets;

        print_message("%s\n", rows[i].what);
        open_end(&pair, &end, true, false, true);
        memset(end.mem, 0x5a, 64);
        post_read(&end, 1, 0, 8, 0x1000, 0x11223344, 0);
        post_write(&end, 2, 0, 8, 0x1000, 0x11223344, 0);
        assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 52 + 28);
        assert_int_equal(wire_get32(out + 32), 8);
        assert_int_equal(wire_get32(out + 36), 0x11223344);
        segment.stag = wire_get32(out + 20) ^ rows[i].stag_change;
        assert_int_equal(wire_get64(out + 24), 0);
        segment.to = rows[i].to;
        srd_fpdu_begin(in, &segment, rows[i].octets);
        octets = srd_fpdu_octets(14 + rows[i].octets);
        end_feed(&pair, &end, in, with_crc(in, octets), 0);
        expect_wc(end.scq, 1, IBV_WC_BAD_RESP_ERR);
        expect_wc(end.scq, 2, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 44);
        assert_int_equal(out[20], 0x11);
        assert_int_equal(out[21], rows[i].code);
        assert_int_equal(end.mem[0], 0x5a);
        end_close(&end);
    }
}

/* Each Read has an STag of its own; that of a later one is good for nothing while it is not the oldest. */
static void a_response_for_a_later_read(void **state)
{
    struct srd_segment segment = { .tagged = true, .last = true, .opcode = SRD_OP_READ_RESPONSE };
    struct pair pair;
    struct end end;
    uint8_t out[128], in[64] = { 0 };

    (void)state;
    open_end(&pair, &end, true, false, true);
    memset(end.mem, 0x5a, 64);
    post_read(&end, 1, 0, 8, 0x1000, 0x11223344, 0);
    post_read(&end, 2, 0, 8, 0x1000, 0x11223344, 0);
    assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 52 + 52);
    assert_int_not_equal(wire_get32(out + 20), wire_get32(out + 52 + 20));
    segment.stag = wire_get32(out + 52 + 20);
    srd_fpdu_begin(in, &segment, 8);
    end_feed(&pair, &end, in, with_crc(in, 28), 0);
    expect_wc(end.scq, 1, IBV_WC_BAD_RESP_ERR);
    expect_wc(end.scq, 2, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 44);
    assert_int_equal(out[20], 0x11);
    assert_int_equal(out[21], 0x00);
    assert_int_equal(end.mem[0], 0x5a);
    end_close(&end);
}

/* A Read beyond the depth that was agreed is the peer's fault. */
static void reads_beyond_the_depth(void **state)
{
    struct pair pair;
    struct end end;
    uint8_t in[64], out[512];
    size_t octets;

    (void)state;
    open_end(&pair, &end, false, false, true); /* IRD 4 */
    for (uint8_t i = 1; i <= 5; i++) {
        memcpy(in, vector_named("s1.16.read_req0")->octets, 52);
        in[15] = i;
        end_feed(&pair, &end, in, with_crc(in, 52), 0);
        if (i < 5)
            assert_int_equal(end.actions & SRD_STREAM_DOWN, 0);
    }
    assert_int_equal(end.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
    octets = end_take(&pair, &end, out, sizeof(out));
    assert_int_equal(octets, 48); /* the Terminate instead of what was queued */
    assert_int_equal(out[20], 0x12);
    assert_int_equal(out[21], 0x02);
    assert_int_equal(next_async(&end), IBV_EVENT_QP_REQ_ERR);
    end_close(&end);
}

/* Takes so many octets of what the end offers; returns how many it offered. */
static size_t take_part(struct pair *pair, struct end *end, uint8_t *out, size_t most)
{
    struct srd_qp *qp = srd_qp_from(end->qp);
    struct iovec iov[SRD_TX_IOV];
    size_t offered = 0, taken = 0;
    unsigned actions = 0;
    int n;

    lock_acquire(&qp->tx_lock);
    n = srd_stream_tx(qp, iov, pair->now_ms, &actions);
    for (int i = 0; i < n; i++) {
        size_t here = iov[i].iov_len < most - taken ? iov[i].iov_len : most - taken;

        memcpy(out + taken, iov[i].iov_base, here);
        taken += here;
        offered += iov[i].iov_len;
    }
    actions |= srd_stream_tx_done(qp, taken, pair->now_ms);
    lock_release(&qp->tx_lock);
    end_want(pair, end, actions);
    return offered;
}

/*
 * Programs read memory that its owner changes all the time. They may find it half changed; the FPDU that brings it is
 * whole and right.
 */
static void memory_that_changes_while_it_is_sent(void **state)
{
    enum { OCTETS = 8192 };
    struct srd_read_request request = { .sink_stag = 0x0a0b0c01, .octets = OCTETS };
    struct srd_segment segment = { .last = true, .opcode = SRD_OP_READ_REQUEST, .qn = 1, .msn = 1 };
    struct srd_stream_params params = { .crc = true,
        .ird = 4,
        .ord = 4,
        .fpdu_max_octets = 65536,
        .rtr = SRD_MPA_RTR_WRITE,
        .rtr_expected = true };
    static uint8_t out[2 * OCTETS];
    uint8_t in[64] = { 0 };
    size_t offered;

    (void)state;
    for (int own = 0; own < 2; own++) {
        struct pair pair = { .now_ms = 1000 };
        struct end end;

        end_open(&end, 0);
        end_want(&pair, &end, srd_stream_start(srd_qp_from(end.qp), &params, NULL, 0, 1000));
        feed_first(&pair, &end);
        if (own) {
            post_write(&end, 1, 0, OCTETS, 0x1000, 0x11223344, 0);
        } else {
            request.source_stag = end.mr->rkey;
            request.source_to = at(&end, 0);
            srd_read_request_encode(in + srd_fpdu_begin(in, &segment, 28), &request);
            end_feed(&pair, &end, in, with_crc(in, 52), 0);
        }
        offered = take_part(&pair, &end, out, 1000);
        assert_int_equal(offered, srd_fpdu_octets(14 + OCTETS));
        memset(end.mem, 0x77, OCTETS);
        assert_int_equal(take_part(&pair, &end, out + 1000, SIZE_MAX), offered - 1000);
        assert_int_equal(srd_crc32c(0, out, offered), 0x48674bc7);
        end_close(&end);
    }
}

/* MULPDU is 128 at least (RFC 5044 section 4.1), however small TCP's segments are: FPDUs of 136 octets with the CRC. */
static void fpdus_have_room_for_the_least_mulpdu(void **state)
{
    static const uint32_t most[] = { 1, 64, 100, 135, 136 };

    (void)state;
    for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
        struct srd_stream_params params = { .initiator = true, .fpdu_max_octets = most[i] };
        struct pair pair = { .now_ms = 1000 };
        struct end end;
        uint8_t out[512];

        end_open(&end, 0);
        end_want(&pair, &end, srd_stream_start(srd_qp_from(end.qp), &params, NULL, 0, 1000));
        end_want(&pair, &end, srd_stream_release(srd_qp_from(end.qp)));
        post_send(&end, 1, 0, 200, 0);
        assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 136 + 2 + 18 + 88 + 4);
        assert_int_equal(wire_get16(out), 18 + 112);
        assert_int_equal(wire_get16(out + 136), 18 + 88);
        end_close(&end);
    }
}

/* Sequence numbers and offsets wrap; a message may have any number of segments. */
static void message_sequence_number_wraps(void **state)
{
    struct pair pair;
    struct end end;

    (void)state;
    open_end(&pair, &end, false, false, true);
    srd_qp_from(end.qp)->stream.rx.send_msn = 0xffffffff;
    for (uint32_t i = 0; i < 3; i++) {
        struct srd_segment segment = { .last = true, .opcode = SRD_OP_SEND, .msn = 0xffffffff + i };
        uint8_t in[24] = { 0 };

        post_recv(&end, i, 0, 8);
        srd_fpdu_begin(in, &segment, 0);
        end_feed(&pair, &end, in, with_crc(in, 24), 0);
        expect_wc(end.rcq, i, IBV_WC_SUCCESS);
    }
    end_close(&end);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal),
        cmocka_unit_test(terminates_octet_by_octet),
        cmocka_unit_test(first_fpdu_that_is_not_valid_is_not_answered),
        cmocka_unit_test(terminates_are_not_answered),
        cmocka_unit_test(wrong_responses),
        cmocka_unit_test(a_response_for_a_later_read),
        cmocka_unit_test(reads_beyond_the_depth),
        cmocka_unit_test(memory_that_changes_while_it_is_sent),
        cmocka_unit_test(fpdus_have_room_for_the_least_mulpdu),
        cmocka_unit_test(message_sequence_number_wraps),
    };

    vectors_load(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
