/* SPDX-License-Identifier: MIT */
/* A whole recorded session against the engine: by frames, by octets, in pieces, cut off anywhere. */
#include "softrdma/wire/mpa.h"
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/stream_pair.h"
#include "tests/unit/softrdma/vectors.h"
#include "tests/unit/softrdma/wire_end.h"

#include <string.h>

/*
 * Memory of the session lies at fixed addresses below what a process may map, so STags and offsets are moved to where
 * it is here; everything else is compared octet by octet.
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
    assert_int_equal(end.actions & SRD_STREAM_ESTABLISHED, SRD_STREAM_ESTABLISHED);
    out_octets = end_take(&pair, &end, out, sizeof(out));
    expect_wc(end.scq, 1, IBV_WC_SUCCESS);
    expect_wc(end.scq, 2, IBV_WC_SUCCESS);
    expect_wc(end.scq, 3, IBV_WC_SUCCESS);
    /*
     * Answers go out as they become due: the Terminate takes the place of what is queued, and a Read without a fence
     * may find its STag invalidated by the Send behind it.
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
    assert_int_equal(end.actions & (SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN),
        SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN);
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
            assert_int_equal(end.actions & SRD_STREAM_DOWN, 0);
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
    assert_int_equal(end.actions & SRD_STREAM_ESTABLISHED, SRD_STREAM_ESTABLISHED);
    assert_int_equal(expect_wc(end.rcq, 1, IBV_WC_SUCCESS).byte_len, 4);
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
    };

    vectors_load(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
