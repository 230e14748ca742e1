/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ack.c - what a softrdma peer acknowledges, octet by octet: counts in any order, of any size, while messages are
 * posted, and sent in parts.
 *
 * Input: steps, each an octet that says what, and its operands (see step).
 *
 * A Send or Write succeeds just when an acknowledgement covers it, in order; the count of another end's that has not
 * sent so much, or has taken back what it said, ends the stream, and completes nothing.
 */
#include "fuzz.h"

#include "softrdma/stream/internal.h"
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/stream_pair.h"
#include "util/clock.h"

#include <string.h>

enum { MESSAGES = 200, MOST_OCTETS = 4096 };

static struct end end;
static struct pair pair;
static unsigned posted, succeeded, completed;
static uint64_t acknowledged; /* by the last good one */
static bool refused;

static struct srd_qp *qp(void)
{
    return srd_qp_from(end.qp);
}

static void make_end(void)
{
    end_open(&end, 0);
    FUZZ_CHECK(!srd_destroy_qp(end.qp));
}

static void make_qp(void)
{
    static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
        .send_cq = end.scq,
        .recv_cq = end.rcq,
        .cap = {
            .max_send_wr = MESSAGES, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct srd_stream_params params = {
        .initiator = true, .soft_peer = true, .ird = 1, .ord = 1, .fpdu_max_octets = 1460
    };

    end.qp = srd_create_qp(end.pd, &attr);
    FUZZ_CHECK(end.qp);
    for (int i = 0; i < 3; i++) {
        struct ibv_qp_attr to = { .qp_state = states[i] };

        FUZZ_CHECK(!srd_modify_qp(end.qp, &to, IBV_QP_STATE));
    }
    end.actions = 0;
    end.closed = end.fin_got = false;
    end_want(&pair, &end, srd_stream_start(qp(), &params, NULL, 0, pair.now_ms));
    end_want(&pair, &end, srd_stream_release(qp()));
}

/* So many octets of what there is to send; returns whether there was any. */
static bool take(size_t most)
{
    struct iovec iov[SRD_TX_IOV];
    unsigned actions = 0;
    size_t total = 0;
    int count;

    if (end.closed)
        return false;
    lock_acquire(&qp()->tx_lock);
    count = srd_stream_tx(qp(), iov, pair.now_ms, &actions);
    for (int i = 0; i < count; i++)
        total += iov[i].iov_len;
    if (count)
        actions |= srd_stream_tx_done(qp(), total < most ? total : most, pair.now_ms);
    lock_release(&qp()->tx_lock);
    end_want(&pair, &end, actions);
    return count > 0;
}

static void post(bool send, uint32_t octets)
{
    if (posted == MESSAGES)
        return;
    if (send)
        post_send(&end, posted++, 0, octets, 0);
    else
        post_write(&end, posted++, 0, octets, 0x1000, 0x11223344, 0);
}

/* Everything that is complete now, and nothing else. */
static void fetch(void)
{
    struct ibv_wc wc;

    while (ibv_poll_cq(end.scq, 1, &wc) == 1) {
        FUZZ_CHECK(wc.wr_id == completed);
        completed++;
        if (wc.status == IBV_WC_SUCCESS) {
            FUZZ_CHECK(succeeded == wc.wr_id);
            succeeded++;
        }
    }
    FUZZ_CHECK(succeeded == acknowledged);
    FUZZ_CHECK(refused || completed == succeeded);
}

static void acknowledge(uint64_t count, size_t piece)
{
    struct srd_segment segment = {
        .tagged = true, .last = true, .opcode = SRD_OP_WRITE, .stag = SRD_ACK_STAG, .to = count
    };
    uint64_t handed = atomic_load(&qp()->stream.handed);
    uint8_t fpdu[64] = { 0 };
    bool good = count >= acknowledged && count <= handed;

    FUZZ_CHECK(handed <= posted);
    if (end.closed || refused)
        return;
    srd_fpdu_begin(fpdu, &segment, 0);
    end_feed(&pair, &end, fpdu, srd_fpdu_octets(14), piece);
    if (good)
        acknowledged = count;
    else
        refused = true;
    FUZZ_CHECK(good == (end.qp->state == IBV_QPS_RTS));
}

static uint64_t any_count(struct fuzz_input *input)
{
    uint64_t count = 0;

    for (int i = 0; i < 8; i++)
        count = count << 8 | fuzz_octet(input);
    return count;
}

static void step(struct fuzz_input *input)
{
    uint8_t what = fuzz_octet(input);

    switch (what % 8) {
    case 0: take(SIZE_MAX); break;
    case 1: take(fuzz_octet(input)); break;
    case 2: post(true, fuzz_octet(input) * 16u); break;
    case 3: post(false, fuzz_octet(input) * 16u); break;
    case 4: acknowledge(acknowledged + what / 8, 0); break;
    case 5: acknowledge(atomic_load(&qp()->stream.handed) + 1 - what / 8, 0); break;
    case 6: acknowledge(any_count(input), 1 + what / 8); break;
    default: pair.now_ms += what; break;
    }
    fetch();
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t count)
{
    struct fuzz_input input = { octets, count };

    if (!end.mem)
        make_end();
    pair = (struct pair){ .now_ms = clock_now_ms() };
    posted = succeeded = completed = 0;
    acknowledged = 0;
    refused = false;
    make_qp();
    for (unsigned i = 0; i < 400 && input.left && !end.closed; i++)
        step(&input);
    refused = true; /* what is not acknowledged by now is flushed */
    end_want(&pair, &end, srd_stream_abort(qp(), pair.now_ms));
    while (take(SIZE_MAX))
        ;
    fetch();
    FUZZ_CHECK(completed == posted);
    while (next_async(&end) >= 0)
        ;
    FUZZ_CHECK(!srd_destroy_qp(end.qp));
    return 0;
}
