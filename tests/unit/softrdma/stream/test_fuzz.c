/* SPDX-License-Identifier: MIT */
/*
 * Mutated vectors into streams in every configuration, from fixed seeds: no crash, no access outside of what is
 * registered (sanitizers look), each posted request completes exactly once at the end.
 */
#include "softrdma/wire/crc32c.h"
#include "softrdma/wire/mpa.h"
#include "softrdma/wire/wire.h"
#include "tests/support/long.h"
#include "tests/unit/softrdma/stream_pair.h"
#include "tests/unit/softrdma/vectors.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 500,
    STARTUPS = 60000,
    LONG = 3,
    FRAMES = 6,
    RECEIVES = 4,
    GUARD = 4096,
    OPEN = 4096
};

static unsigned seed;

static unsigned pick(unsigned below)
{
    return (unsigned)rand_r(&seed) % below;
}

static void flip_some(uint8_t *p, size_t count)
{
    for (unsigned n = pick(3); n; n--)
        p[pick((unsigned)count)] ^= (uint8_t)(1u << pick(8));
}

/* Makes the frame more to the point than chance would: right keys, right numbers, right CRC. */
static size_t frame(uint8_t *out, struct end *end, uint32_t *msn, bool crc)
{
    const struct vector *v;
    size_t count, total;

    do
        v = &vectors[pick((unsigned)vectors_count)];
    while (v->name[0] == 'm' || v->octets[0] == 'M');
    count = v->count;
    memcpy(out, v->octets, count);
    if (pick(8) == 0)
        count = pick((unsigned)count) + 1;
    if (count >= 16 && out[2] & 0x80 && pick(4)) {
        wire_put32(out + 4, pick(5) ? end->mr->rkey : 0xffffff41u);
        wire_put64(out + 8, pick(6) ? at(end, GUARD + pick(OPEN + 64) - 32) : pick(3));
    }
    if (count >= 20 && !(out[2] & 0x80) && pick(4)) {
        wire_put32(out + 12, out[11] == 1 ? msn[1] : msn[0]);
        if (pick(4) == 0)
            out[2] ^= 0x40;
    }
    if (count >= 48 && (out[3] & 15) == 1 && pick(4)) {
        wire_put32(out + 36, end->mr->rkey);
        wire_put64(out + 40, at(end, GUARD + pick(OPEN)));
        wire_put32(out + 32, pick(3) ? pick(OPEN) : (uint32_t)rand_r(&seed));
    }
    if (pick(3) == 0)
        flip_some(out, count);
    if (pick(6) == 0)
        wire_put16(out, (uint16_t)rand_r(&seed));
    total = srd_fpdu_octets(wire_get16(out));
    if (crc && total <= count && pick(10))
        wire_put_crc(out + total - 4, srd_crc32c(0, out, total - 4));
    return count;
}

static void one_round(void)
{
    struct pair pair = { .now_ms = 1000 };
    struct end end;
    struct srd_stream_params params = { .initiator = pick(2),
        .crc = pick(2),
        .soft_peer = pick(2),
        .ird = 1 + pick(4),
        .ord = 1 + pick(4),
        .fpdu_max_octets = 1460,
        .rtr_expected = pick(2) };
    uint32_t msn[2] = { 1, 1 };
    unsigned receives = 0, sends = 0;
    struct ibv_wc wc;
    uint8_t in[256], out[65536];

    end_open(&end, 0);
    /* only the middle of the memory is registered */
    assert_int_equal(srd_dereg_mr(end.mr), 0);
    memset(end.mem, 0xa5, 3 * GUARD);
    end.mr = srd_reg_mr(end.pd, end.mem + GUARD, OPEN,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    params.rtr = params.initiator ? SRD_MPA_RTR_NONE : SRD_MPA_RTR_WRITE;
    end_want(&pair, &end, srd_stream_start(srd_qp_from(end.qp), &params, NULL, 0, pair.now_ms));
    end_want(&pair, &end, srd_stream_release(srd_qp_from(end.qp)));
    for (; receives < RECEIVES; receives++)
        post_recv(&end, receives, GUARD + 100 * receives, pick(100));
    for (; sends < 3; sends++) {
        post_read(&end, 100 + sends, GUARD, pick(64), 0x1000, 0x11223344, 0);
        end_take(&pair, &end, out, sizeof(out));
    }
    for (unsigned i = 0; i < FRAMES && !end.closed; i++) {
        size_t count = frame(in, &end, msn, params.crc);

        end_feed(&pair, &end, in, count, pick(2) ? 1 + pick(40) : 0);
        if (pick(2))
            end_take(&pair, &end, out, sizeof(out));
        msn[0] += pick(2);
        msn[1] += pick(3) == 0;
        pair.now_ms += pick(4) ? 0 : 300;
        if (srd_stream_deadline_ms(srd_qp_from(end.qp)) <= pair.now_ms)
            end_want(&pair, &end, SRD_STREAM_END_DUE);
    }
    end_want(&pair, &end, srd_stream_abort(srd_qp_from(end.qp), pair.now_ms));
    end_take(&pair, &end, out, sizeof(out));
    for (unsigned i = 0; i < receives; i++) {
        assert_int_equal(ibv_poll_cq(end.rcq, 1, &wc), 1);
        assert_int_equal(wc.wr_id, i);
    }
    expect_none(end.rcq);
    for (unsigned i = 0; i < sends; i++) {
        assert_int_equal(ibv_poll_cq(end.scq, 1, &wc), 1);
        assert_int_equal(wc.wr_id, 100 + i);
    }
    expect_none(end.scq);
    for (unsigned i = 0; i < GUARD; i++) {
        assert_int_equal(end.mem[i], 0xa5);
        assert_int_equal(end.mem[GUARD + OPEN + i], 0xa5);
    }
    while (next_async(&end) >= 0)
        ;
    end_close(&end);
}

static void mutated_frames(void **state)
{
    const unsigned rounds = test_is_long() ? LONG * ROUNDS : ROUNDS;

    (void)state;
    for (unsigned round = 1; round <= rounds; round++) {
        seed = round;
        one_round();
    }
}

/* Startup frames and Terminates through their decoders alone. */
static void mutated_startup_frames_and_terminates(void **state)
{
    const unsigned rounds = test_is_long() ? LONG * STARTUPS : STARTUPS;

    (void)state;
    seed = 77;
    for (unsigned round = 0; round < rounds; round++) {
        const struct vector *v = &vectors[pick((unsigned)vectors_count)];
        struct srd_mpa_frame mpa, reply;
        struct srd_terminate terminate;
        struct srd_mpa_local local = {
            .crc = pick(2), .soft = pick(2), .ird = pick(20), .ord = pick(20), .ird_max = 16
        };
        struct srd_stream_params params;
        uint8_t *octets = malloc(v->count); /* exactly, so that a read behind the end shows */
        bool is_reply = pick(2);
        int n;

        assert_non_null(octets);
        memcpy(octets, v->octets, v->count);
        flip_some(octets, v->count);
        n = srd_mpa_decode(&mpa, is_reply, octets, v->count);
        assert_true(n <= (int)v->count);
        if (n > 0 && is_reply) {
            struct srd_mpa_frame request;

            srd_mpa_request(&request, &local, 1 + (uint8_t)pick(2));
            if (srd_mpa_conclude(&request, &mpa, &local, &params) == SRD_MPA_AGREED)
                assert_true(params.ird <= 0x3fff && params.ord <= 0x3fff);
        } else if (n > 0) {
            srd_mpa_accept(&mpa, &local, &reply, &params);
            assert_true(reply.revision <= 2);
        }
        if (v->count > 24)
            srd_terminate_decode(&terminate, octets + 20, (uint32_t)v->count - 20, pick(2));
        free(octets);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutated_frames),
        cmocka_unit_test(mutated_startup_frames_and_terminates),
    };

    vectors_load(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
