/* SPDX-License-Identifier: MIT */
/* The stream against octets on the wire: the recorded session, every cut, every refusal with its Terminate. */
#include "softrdma/crc32c.h"
#include "softrdma/mpa.h"
#include "softrdma/wire.h"
#include "stream_pair.h"
#include "vectors.h"

#include <string.h>

/* A lone end whose peer is the test: CRC on, no extension, RTR by Write expected on the responder. */
static void open_end(struct pair *pair, struct end *end, bool initiator, bool rtr, bool crc)
{
    struct srd_stream_params params = { .initiator = initiator,
        .crc = crc,
        .ird = 4,
        .ord = 4,
        .fpdu_max_octets = 1460,
        .rtr_expected = rtr && !initiator,
        .rtr = rtr ? SRD_MPA_RTR_WRITE : SRD_MPA_RTR_NONE };

    memset(pair, 0, sizeof(*pair));
    pair->now_ms = 1000;
    end_open(end, 0);
    end_want(pair, end, srd_stream_start(srd_qp_from(end->qp), &params, NULL, 0, pair->now_ms));
    if (initiator)
        end_want(pair, end, srd_stream_release(srd_qp_from(end->qp)));
}

static uint32_t with_crc(uint8_t *fpdu, size_t total)
{
    wire_put_crc(fpdu + total - 4, srd_crc32c(0, fpdu, total - 4));
    return (uint32_t)total;
}

/* --- the session ------------------------------------------------------------------------------------------------ */

/*
 * Memory of the session lies at fixed addresses below what a process may map, so STags and offsets are moved to where it
 * is here; everything else is compared octet by octet.
 */
struct session {
    uint32_t stag1, stag2;
    uint64_t base1, base2; /* stands for 0x1000 and 0x3000 */
};

static void move_stag(uint8_t *p, const struct session *s)
{
    if (wire_get32(p) == 0x11223344)
        wire_put32(p, s->stag1);
    else if (wire_get32(p) == 0x55667788)
        wire_put32(p, s->stag2);
}

static void move_offset(uint8_t *p, const struct session *s)
{
    uint64_t offset = wire_get64(p);

    if (offset >= 0x1000 && offset < 0x2000)
        wire_put64(p, offset - 0x1000 + s->base1);
    else if (offset >= 0x3000 && offset < 0x4000)
        wire_put64(p, offset - 0x3000 + s->base2);
}

static size_t moved(const char *name, const struct session *s, uint8_t *out)
{
    const struct vector *v = vector_named(name);
    uint8_t opcode = v->octets[3] & 15;

    memcpy(out, v->octets, v->count);
    if (!strcmp(name, "s1.18.bad_write") || opcode == SRD_OP_TERMINATE)
        return v->count;
    if (opcode == SRD_OP_WRITE) {
        move_stag(out + 4, s);
        move_offset(out + 8, s);
    } else if (opcode == SRD_OP_SEND_INV || opcode == SRD_OP_SEND_SE_INV) {
        move_stag(out + 4, s);
    } else if (opcode == SRD_OP_READ_REQUEST) {
        move_stag(out + 36, s);
        move_offset(out + 40, s);
    }
    return with_crc(out, v->count);
}

static const char *const from_initiator[] = { "s1.03.rtr_write0", "s1.04.send4", "s1.06.write4",
    "s1.07.read_req4", "s1.09.send_se", "s1.10.send_inv", "s1.11.send_seg1", "s1.12.send_seg2",
    "s1.13.write_seg1", "s1.14.write_seg2", "s1.15.send0", "s1.16.read_req0", "s1.18.bad_write" };
static const char *const from_responder[] = { "s1.05.send4_back", "s1.08.read_resp4",
    "s1.17.read_resp0", "s1.19.term_bad_write" };

static size_t join(const char *const *names, size_t count, const struct session *s, uint8_t *out)
{
    size_t octets = 0;

    for (size_t i = 0; i < count; i++)
        octets += moved(names[i], s, out + octets);
    return octets;
}

static void play_session(size_t piece)
{
    struct pair pair;
    struct end end;
    struct session s;
    struct ibv_mw *mw[2];
    uint8_t in[2048], expected[1024], out[1024];
    size_t in_octets, expected_octets, out_octets = 0;
    struct ibv_wc wc;

    open_end(&pair, &end, false, true, true);
    mw[0] = ibv_alloc_mw(end.pd, IBV_MW_TYPE_2);
    mw[1] = ibv_alloc_mw(end.pd, IBV_MW_TYPE_2);
    s.stag1 = ibv_inc_rkey(mw[0]->rkey);
    s.stag2 = ibv_inc_rkey(mw[1]->rkey);
    s.base1 = at(&end, 0x1000);
    s.base2 = at(&end, 0x3000);
    /* Windows are bound in the send queue, which is held until the first FPDU. */
    post_bind(&end, 1, mw[0], s.stag1, end.mr, 0x1000, 0x1000,
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    post_bind(&end, 2, mw[1], s.stag2, end.mr, 0x3000, 0x1000,
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    for (unsigned i = 0; i < 5; i++)
        post_recv(&end, 10 + i, 0x10000 + 64 * i, 64);
    memcpy(end.mem, "pong", 4);
    post_send(&end, 3, 0, 4, 0);
    in_octets = join(from_initiator, 13, &s, in);
    expected_octets = join(from_responder, 4, &s, expected);

    end_feed(&pair, &end, in, 20, piece); /* the RTR */
    assert_int_equal(end.wants & SRD_STREAM_ESTABLISHED, SRD_STREAM_ESTABLISHED);
    out_octets = end_take(&pair, &end, out, sizeof(out));
    expect_wc(end.scq, 1, IBV_WC_SUCCESS);
    expect_wc(end.scq, 2, IBV_WC_SUCCESS);
    expect_wc(end.scq, 3, IBV_WC_SUCCESS);
    /*
     * Answers go out as they become due: the Terminate takes the place of what is queued, and a Read without a fence may
     * find its STag invalidated by the Send behind it.
     */
    for (size_t at_ = 20; at_ < in_octets;) {
        size_t n = piece ? piece : srd_fpdu_octets(wire_get16(in + at_));

        n = n < in_octets - at_ ? n : in_octets - at_;
        end_feed(&pair, &end, in + at_, n, 0);
        out_octets += end_take(&pair, &end, out + out_octets, sizeof(out) - out_octets);
        at_ += n;
    }
    assert_int_equal(out_octets, expected_octets);
    assert_memory_equal(out, expected, expected_octets);

    assert_int_equal(expect_wc(end.rcq, 10, IBV_WC_SUCCESS).byte_len, 4);
    assert_int_equal(expect_wc(end.rcq, 11, IBV_WC_SUCCESS).byte_len, 2);
    wc = expect_wc(end.rcq, 12, IBV_WC_SUCCESS);
    assert_int_equal(wc.byte_len, 3);
    assert_int_equal(wc.invalidated_rkey, s.stag1);
    assert_int_equal(expect_wc(end.rcq, 13, IBV_WC_SUCCESS).byte_len, 20);
    wc = expect_wc(end.rcq, 14, IBV_WC_SUCCESS);
    assert_int_equal(wc.byte_len, 0);
    assert_int_equal(wc.invalidated_rkey, s.stag2);
    assert_memory_equal(end.mem + 0x10000, "ping", 4);
    assert_memory_equal(end.mem + 0x10000 + 64 * 3, "ABCDEFGHIJKLMNOPQRST", 20);
    assert_memory_equal(end.mem + 0x1000, "data", 4);
    assert_memory_equal(end.mem + 0x3000, "abcdefghijklm", 13);
    assert_int_equal(
        end.wants & (SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN), SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN);
    assert_int_equal(ibv_dealloc_mw(mw[0]), 0);
    assert_int_equal(ibv_dealloc_mw(mw[1]), 0);
    end_close(&end);
}

static void session_frame_by_frame(void **state)
{
    (void)state;
    play_session(0);
}

static void session_octet_by_octet(void **state)
{
    (void)state;
    play_session(1);
}

static void session_in_pieces(void **state)
{
    (void)state;
    for (size_t piece = 2; piece < 60; piece += 1 + piece / 8)
        play_session(piece);
}

/* --- one frame, cut everywhere ----------------------------------------------------------------------------------- */

static void every_cut(void **state)
{
    static const struct {
        const char *name;
        const char *payload;
        bool crc;
    } rows[] = { { "f.pad1", "abc", true }, { "f.pad2", "ab", true }, { "f.pad3", "a", true },
        { "f.crc_off", "ping", false }, { "s1.04.send4", "ping", true },
        { "f.zero24", NULL, true } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct vector *v = vector_named(rows[i].name);
        size_t octets = rows[i].payload ? strlen(rows[i].payload) : 24;

        for (size_t cut = 1; cut < v->count; cut++) {
            struct pair pair;
            struct end end;

            open_end(&pair, &end, false, false, rows[i].crc);
            post_recv(&end, 1, 0, 64);
            end_feed(&pair, &end, v->octets, cut, 0);
            end_feed(&pair, &end, v->octets + cut, v->count - cut, 0);
            assert_int_equal(expect_wc(end.rcq, 1, IBV_WC_SUCCESS).byte_len, octets);
            if (rows[i].payload)
                assert_memory_equal(end.mem, rows[i].payload, octets);
            assert_int_equal(end.wants & SRD_STREAM_DOWN, 0);
            end_close(&end);
        }
    }
}

/* Octets that came with the MPA Reply are the beginning of the FPDU stream. */
static void surplus_behind_the_startup_frame(void **state)
{
    struct pair pair = { .now_ms = 1000 };
    struct end end;
    uint8_t in[128];
    size_t octets = 0;
    struct srd_stream_params params = { .crc = true,
        .ird = 4,
        .ord = 4,
        .fpdu_max_octets = 1460,
        .rtr = SRD_MPA_RTR_WRITE,
        .rtr_expected = true };

    (void)state;
    end_open(&end, 0);
    post_recv(&end, 1, 0, 64);
    memcpy(in, vector_named("s1.03.rtr_write0")->octets, 20);
    memcpy(in + 20, vector_named("s1.04.send4")->octets, 28);
    octets = 48;
    end_want(&pair, &end, srd_stream_start(srd_qp_from(end.qp), &params, in, octets, pair.now_ms));
    assert_int_equal(end.wants & SRD_STREAM_ESTABLISHED, SRD_STREAM_ESTABLISHED);
    assert_int_equal(expect_wc(end.rcq, 1, IBV_WC_SUCCESS).byte_len, 4);
    end_close(&end);
}

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
    assert_int_equal(end.wants & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
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
                end.wants & (SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN | SRD_STREAM_ESTABLISHED),
                SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN);
            assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 0);
            expect_wc(end.rcq, 1, IBV_WC_WR_FLUSH_ERR);
            end_close(&end);
        }
}

/* A Terminate ends the connection and is not answered, whatever its form. */
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
            assert_int_equal(end.wants & (SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN),
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
            assert_int_equal(end.wants & SRD_STREAM_DOWN, 0);
    }
    assert_int_equal(end.wants & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
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
    unsigned wants = 0;
    int n;

    lock_acquire(&qp->tx_lock);
    n = srd_stream_tx(qp, iov, pair->now_ms, &wants);
    for (int i = 0; i < n; i++) {
        size_t here = iov[i].iov_len < most - taken ? iov[i].iov_len : most - taken;

        memcpy(out + taken, iov[i].iov_base, here);
        taken += here;
        offered += iov[i].iov_len;
    }
    wants |= srd_stream_tx_done(qp, taken, pair->now_ms);
    lock_release(&qp->tx_lock);
    end_want(pair, end, wants);
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
        cmocka_unit_test(session_frame_by_frame),
        cmocka_unit_test(session_octet_by_octet),
        cmocka_unit_test(session_in_pieces),
        cmocka_unit_test(every_cut),
        cmocka_unit_test(surplus_behind_the_startup_frame),
        cmocka_unit_test(every_refusal),
        cmocka_unit_test(terminates_octet_by_octet),
        cmocka_unit_test(first_fpdu_that_is_not_valid_is_not_answered),
        cmocka_unit_test(terminates_are_not_answered),
        cmocka_unit_test(wrong_responses),
        cmocka_unit_test(reads_beyond_the_depth),
        cmocka_unit_test(memory_that_changes_while_it_is_sent),
        cmocka_unit_test(message_sequence_number_wraps),
    };

    vectors_load(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
