/* SPDX-License-Identifier: MIT */
/*
 * fuzz_stream.c - a lone stream whose peer is the fuzzer: FPDUs, time, ends, and the program's calls.
 *
 * Input: one octet of flags, then steps, each an octet that says what, and its operands (see step). Frames name memory
 * at 0x1000 with STag 0x11223344; the target moves both to where the memory is, and may correct what chance does not
 * get right: lengths, sequence numbers, the CRC. STag 0x11223345 is a window's, which the program binds and
 * invalidates, 0x11223346 a fast region's, which it registers. Some steps are whole frames that chance would hardly
 * make: acknowledgements, messages in large segments.
 *
 * Whatever comes: each request of the program completes once and in order, nothing but registered memory is written,
 * and the stream sends only whole and correct FPDUs, with one Terminate at most, at the end.
 */
#include "fuzz.h"

#include "softrdma/wire/crc32c.h"
#include "softrdma/wire/mpa.h"
#include "softrdma/stream/internal.h"
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/stream_pair.h"
#include "util/clock.h"

#include <errno.h>
#include <string.h>

enum { INITIATOR = 1, CRC = 2, SOFT = 4, SMALL = 8, NO_RTR = 16, RTR_READ = 32, SHARED = 64 };

enum {
    GUARD = 4096,
    REGISTERED = 65536,
    STAG = 0x11223344,
    WINDOW = STAG + 1,
    FAST = STAG + 2,
    BASE = 0x1000,
    FAST_BASE = 0x70000000, /* its addresses */
    FAST_PAGES = 8,         /* of the memory registered otherwise, too */
    REQUESTS = 48,          /* of either kind */
    STEPS = 64,
    SENT = 4 << 20,
};

static struct end end;
static struct pair pair;
static bool crc;
static unsigned sends, receives;
static uint8_t *sent; /* everything that left the stream */
static size_t sent_octets, looked_octets;
static bool terminated;
static uint32_t sink_stag; /* of the Read that was sent last */
static uint32_t held_msn;  /* of the next Send, while some are held */
static struct ibv_mw *mw;
static uint32_t window; /* its STag when it is, or was last, bound */
static struct ibv_mr *fast;

/* ---- the program ---- */

static void make_end(void)
{
    end_open(&end, PAIR_SRQ);
    FUZZ_CHECK(!srd_destroy_qp(end.qp) && !srd_dereg_mr(end.mr));
    memset(end.mem, 0xa5, GUARD + REGISTERED + GUARD);
    end.mr = srd_reg_mr(end.pd, end.mem + GUARD, REGISTERED,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
            IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
    FUZZ_CHECK(end.mr && !srd_destroy_srq(end.srq));
    sent = malloc(SENT);
    FUZZ_CHECK(sent);
}

static void make_qp(bool shared)
{
    static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
    struct ibv_srq_init_attr srq = { .attr = { .max_wr = REQUESTS, .max_sge = 4 } };
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
        .send_cq = end.scq,
        .recv_cq = end.rcq,
        .cap = { .max_send_wr = 60, .max_recv_wr = 60, .max_send_sge = 4, .max_recv_sge = 4 } };

    end.srq = attr.srq = shared ? srd_create_srq(end.pd, &srq) : NULL;
    end.qp = srd_create_qp(end.pd, &attr);
    mw = ibv_alloc_mw(end.pd, IBV_MW_TYPE_2);
    fast = srd_alloc_fast_mr(end.pd, FAST_PAGES);
    FUZZ_CHECK(end.qp && mw && fast && (end.srq || !shared));
    window = mw->rkey;
    for (int i = 0; i < 3; i++) {
        struct ibv_qp_attr to = { .qp_state = states[i] };

        FUZZ_CHECK(!srd_modify_qp(end.qp, &to, IBV_QP_STATE));
    }
    end.actions = 0;
    end.closed = false;
}

static struct srd_qp *qp(void)
{
    return srd_qp_from(end.qp);
}

/* Requests of RFC 7306 go to no peer that is known not to be softrdma. */
static void post_refused(enum ibv_wr_opcode opcode)
{
    struct ibv_send_wr wr = { .opcode = opcode }, *bad = NULL;

    FUZZ_CHECK(ibv_post_send(end.qp, &wr, &bad) == EINVAL && bad == &wr);
}

static void post_one(uint8_t kind, uint32_t octets)
{
    static const enum ibv_wr_opcode extensions[] = { IBV_WR_SEND_WITH_IMM,
        IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_FETCH_AND_ADD };

    kind %= 8;
    if (sends == REQUESTS)
        return;
    if (!qp()->stream.params.soft_peer && kind >= 4 && kind < 7) {
        post_refused(extensions[kind - 4]);
        return;
    }
    switch (kind) {
    case 4: post_send_imm(&end, sends++, GUARD, octets, octets, 0); break;
    case 5: post_write_imm(&end, sends++, GUARD, octets, BASE, STAG, octets, 0); break;
    case 6:
        post_atomic(&end, IBV_WR_ATOMIC_FETCH_AND_ADD, sends++, GUARD, BASE, STAG, 1, 0, 0);
        break;
    case 0: post_send(&end, sends++, GUARD, octets, 0); break;
    case 1: post_write(&end, sends++, GUARD, octets, BASE, STAG, 0); break;
    case 2: post_read(&end, sends++, GUARD, octets, BASE, STAG, 0); break;
    default: post_write(&end, sends++, GUARD, octets, BASE, STAG, IBV_SEND_FENCE); break;
    }
}

/* A part of the memory, or all of it and more, which is refused. */
static void bind_window(uint8_t octets)
{
    uint32_t rkey = ibv_inc_rkey(window);

    if (sends == REQUESTS)
        return;
    post_bind(&end, sends++, mw, rkey, end.mr, GUARD, octets * 1024u,
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    window = rkey;
}

static void invalidate(uint32_t key)
{
    if (sends < REQUESTS)
        post_local_inv(&end, sends++, key);
}

/* Pages in an order of the input's, some twice; much of what it asks for is refused. */
static void register_fast(struct fuzz_input *input)
{
    uint8_t how = fuzz_octet(input);
    uint64_t first = (at(&end, GUARD) + SRD_FAST_PAGE_OCTETS - 1) & ~(SRD_FAST_PAGE_OCTETS - 1ull);
    uint64_t pages[FAST_PAGES];
    struct srd_fast_reg reg = { .wr_id = sends,
        .mr = fast,
        .pages = pages,
        .n_pages = how % (FAST_PAGES + 1),
        .offset = fuzz_octet(input) * 17u,
        .length = fuzz_octet(input) * 128u,
        .base = FAST_BASE,
        .access = IBV_ACCESS_LOCAL_WRITE,
        .send_flags = IBV_SEND_SIGNALED };

    if (sends == REQUESTS)
        return;
    for (unsigned i = 0; i < FAST_PAGES; i++)
        pages[i] = first + i * (how >> 4 & 7) % FAST_PAGES * SRD_FAST_PAGE_OCTETS;
    if (how & 0x80)
        reg.access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    FUZZ_CHECK(!srd_post_fast_reg(end.qp, &reg));
    sends++;
}

/* A request whose own octets are in the fast region. */
static void post_from_fast(enum ibv_wr_opcode opcode, uint8_t at_octet, uint32_t octets)
{
    struct ibv_sge sge = { FAST_BASE + at_octet * 64u, octets, fast->lkey };
    struct ibv_send_wr *bad, wr = { .wr_id = sends,
        .opcode = opcode,
        .sg_list = &sge,
        .num_sge = 1,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = { BASE, STAG } };

    if (sends == REQUESTS)
        return;
    FUZZ_CHECK(!ibv_post_send(end.qp, &wr, &bad));
    sends++;
}

/*
 * A held message goes on with it, by the device's own clock; there is no connection to act on what that leads to. Large
 * values are larger Receives yet, odd ones are lists of two entries, the second with a bad key in some.
 */
static void post_receive(uint8_t value)
{
    uint32_t octets = value > 200 ? value * 128u : value, first = value % 2 ? octets / 2 : octets;
    struct ibv_sge sge[2] = { { at(&end, GUARD + 32768), first, end.mr->lkey },
        { at(&end, GUARD + 34000), octets - first, end.mr->lkey ^ (value % 8 == 3 ? 1 : 0) } };
    struct ibv_recv_wr wr = { .wr_id = receives, .sg_list = sge, .num_sge = 1 + value % 2 };
    struct ibv_recv_wr *bad;

    if (receives == REQUESTS)
        return;
    FUZZ_CHECK(
        !(end.srq ? ibv_post_srq_recv(end.srq, &wr, &bad) : ibv_post_recv(end.qp, &wr, &bad)));
    receives++;
    /* What a held message does then is told to the queue pair's connection, which is not there. */
    if (atomic_load(&qp()->stream.cut))
        end_want(&pair, &end, SRD_STREAM_CLOSE);
}

/* The Receives that still are in the shared queue: they outlive the queue pair. */
static unsigned receives_left(void)
{
    struct srd_rq *rq = qp()->rq;

    return end.srq ? rq->head - rq->tail : 0;
}

/* ---- the transport ---- */

static void take(size_t most)
{
    struct iovec iov[SRD_TX_IOV];
    unsigned actions = 0;
    size_t total = 0, left;
    int n;

    if (end.closed)
        return;
    lock_acquire(&qp()->tx_lock);
    n = srd_stream_tx(qp(), iov, pair.now_ms, &actions);
    for (int i = 0; i < n; i++)
        total += iov[i].iov_len;
    total = left = total < most ? total : most;
    for (int i = 0; i < n && left; i++) {
        size_t here = iov[i].iov_len < left ? iov[i].iov_len : left;

        FUZZ_CHECK(sent_octets + here <= SENT);
        memcpy(sent + sent_octets, iov[i].iov_base, here);
        sent_octets += here;
        left -= here;
    }
    if (n)
        actions |= srd_stream_tx_done(qp(), total, pair.now_ms);
    lock_release(&qp()->tx_lock);
    end_want(&pair, &end, actions);
}

static void finish_rx(int error)
{
    unsigned actions;

    if (end.closed || end.fin_got)
        return;
    end.fin_got = true;
    lock_acquire(&qp()->rx_lock);
    actions = srd_stream_rx_end(qp(), error, pair.now_ms);
    lock_release(&qp()->rx_lock);
    end_want(&pair, &end, actions);
}

static void feed(const uint8_t *octets, size_t count, size_t piece)
{
    if (!end.fin_got)
        end_feed(&pair, &end, octets, count, piece);
}

/* ---- frames ---- */

enum { SEAL_LENGTH = 1, SEAL_CRC = 2, MOVE = 4, NUMBER = 8, SINK = 16, PIECES = 32, CUT = 64 };

static void move(uint8_t *stag, uint8_t *offset)
{
    if (wire_get32(stag) == FAST) {
        wire_put32(stag, fast->rkey);
        wire_put64(offset, wire_get64(offset) - BASE + FAST_BASE);
        return;
    }
    if (wire_get32(stag) == STAG)
        wire_put32(stag, end.mr->rkey);
    else if (wire_get32(stag) == WINDOW)
        wire_put32(stag, window);
    wire_put64(offset, wire_get64(offset) - BASE + at(&end, GUARD));
}

/* Sends that are held are not counted by the stream. */
static uint32_t next_send(void)
{
    return qp()->stream.rx.held ? held_msn : qp()->stream.rx.send_msn;
}

static uint32_t next_msn(uint8_t opcode)
{
    switch (opcode) {
    case SRD_OP_READ_REQUEST:
    case SRD_OP_ATOMIC_REQUEST: return qp()->stream.rx.read_msn;
    case SRD_OP_ATOMIC_RESPONSE: return qp()->stream.rx.atomic_msn;
    case SRD_OP_TERMINATE: return 1;
    default: return next_send();
    }
}

static void set_right(uint8_t *fpdu, size_t octets, uint8_t how)
{
    uint8_t opcode = fpdu[3] & 15;
    bool tagged = fpdu[2] & 0x80;

    if (how & MOVE && tagged && opcode == 0 && wire_get32(fpdu + 4) != SRD_ACK_STAG)
        move(fpdu + 4, fpdu + 8);
    if (how & MOVE && !tagged && opcode == 1 && octets >= 48)
        move(fpdu + 36, fpdu + 40);
    if (how & MOVE && !tagged && opcode == SRD_OP_ATOMIC_REQUEST && octets >= 40)
        move(fpdu + 28, fpdu + 32);
    if (how & SINK && tagged && opcode == 2)
        wire_put32(fpdu + 4, sink_stag);
    if (how & SINK && opcode == SRD_OP_ATOMIC_RESPONSE)
        wire_put32(fpdu + 20, sink_stag);
    if (how & NUMBER && !tagged)
        wire_put32(fpdu + 12, next_msn(opcode));
}

/* Octets of the input, then so many of a pattern: payloads larger than an input need be. */
static void feed_frame(struct fuzz_input *input, uint8_t how)
{
    static uint8_t fpdu[65544 + 256];
    uint32_t count = fuzz_octet(input) % 80, more = fuzz_octet(input), octets;

    more = how & CUT ? more * 250 : more;
    octets = count + more;
    memset(fpdu, 0x42, octets + 64);
    for (uint32_t i = 0; i < count; i++)
        fpdu[i] = fuzz_octet(input);
    if (octets < 24)
        octets = 24;
    set_right(fpdu, octets, how);
    if (how & SEAL_LENGTH) {
        uint32_t ulpdu = octets - 2 > 65535 ? 65535 : octets - 2;

        wire_put16(fpdu, (uint16_t)ulpdu);
        octets = srd_fpdu_octets(ulpdu);
    }
    if (how & SEAL_CRC && srd_fpdu_octets(wire_get16(fpdu)) <= octets) {
        octets = srd_fpdu_octets(wire_get16(fpdu));
        wire_put_crc(fpdu + octets - 4, srd_crc32c(0, fpdu, octets - 4));
    }
    /* Not thousands of pieces: they would take too much of the run's time. */
    feed(fpdu, octets, how & PIECES ? 1 + octets / 128 + fuzz_octet(input) : 0);
}

/* The tail is made right; more of the frame than one octet counts is fed in pieces. */
static void feed_whole(uint8_t *fpdu, uint32_t ulpdu, uint32_t piece)
{
    uint32_t octets = srd_fpdu_octets(ulpdu);

    memset(fpdu + 2 + ulpdu, 0, octets - 2 - ulpdu);
    if (crc)
        wire_put_crc(fpdu + octets - 4, srd_crc32c(0, fpdu, octets - 4));
    feed(fpdu, octets, piece);
}

/* So many fewer than were sent, or one more. */
static void acknowledge(uint8_t less)
{
    struct srd_segment segment = {
        .tagged = true, .last = true, .opcode = SRD_OP_WRITE, .stag = SRD_ACK_STAG
    };
    uint8_t fpdu[64];

    segment.to = atomic_load(&qp()->stream.handed) + 1 - less % 4;
    srd_fpdu_begin(fpdu, &segment, 0);
    feed_whole(fpdu, 14, 0);
}

/*
 * One segment of what is due, with a payload of some KiB: so large that, in pieces, it goes straight to its place.
 * how: 0, 1 a Write to the region or the window; 2 a Send, 3 one that invalidates the window; 4 a Read's response;
 *      5 a Write to the fast region, 6 a Send that invalidates it
 */
static void feed_large(struct fuzz_input *input, uint8_t how)
{
    static uint8_t fpdu[2 + 18 + 65536];
    struct srd_read_out *read =
        srd_ring_used(&qp()->stream.out) ? srd_read_out_front(&qp()->stream) : NULL;
    uint8_t flags = fuzz_octet(input);
    struct srd_segment segment = { .tagged = how < 2 || how == 4 || how == 5, .last = flags & 1 };
    uint32_t payload = fuzz_octet(input) * 128u, header;

    if (how == 5) {
        segment.opcode = SRD_OP_WRITE;
        segment.stag = fast->rkey;
        segment.to = FAST_BASE + fuzz_octet(input) * 64u;
    } else if (how < 2) {
        segment.opcode = SRD_OP_WRITE;
        segment.stag = how ? window : end.mr->rkey;
        segment.to = at(&end, GUARD) + fuzz_octet(input) * 256u;
    } else if (how != 4) {
        segment.opcode = how == 2 ? SRD_OP_SEND : SRD_OP_SEND_INV;
        segment.stag = how == 2 ? 0 : how == 3 ? window : fast->rkey;
        segment.qn = SRD_QN_SEND;
        segment.msn = next_send();
        segment.mo = qp()->stream.rx.held ? 0 : qp()->stream.rx.send_mo;
        held_msn = segment.msn + segment.last;
    } else {
        if (!read)
            return;
        segment.opcode = SRD_OP_READ_RESPONSE;
        segment.stag = read->stag;
        segment.to = read->received;
        if (flags & 2 || payload > read->octets - read->received)
            payload = read->octets - read->received;
        segment.last = payload == read->octets - read->received;
    }
    if (payload > 65000)
        payload = 65000;
    header = srd_fpdu_begin(fpdu, &segment, payload);
    memset(fpdu + header, 0x42, payload);
    feed_whole(fpdu, header - 2 + payload, flags & 4 ? 0 : 200 + (flags >> 3) * 64u);
}

/* A whole Read Request for the region, the window or the fast region. */
static void feed_read(struct fuzz_input *input, uint8_t which)
{
    struct srd_segment segment = { .last = true,
        .opcode = SRD_OP_READ_REQUEST,
        .qn = SRD_QN_READ,
        .msn = qp()->stream.rx.read_msn };
    struct srd_read_request request = { .sink_stag = STAG,
        .octets = fuzz_octet(input) * 128u,
        .source_stag = which == 0   ? end.mr->rkey
                       : which == 1 ? window
                                    : fast->rkey,
        .source_to = (which == 2 ? FAST_BASE : at(&end, GUARD)) + fuzz_octet(input) * 64u };
    uint8_t fpdu[64];
    uint32_t header = srd_fpdu_begin(fpdu, &segment, SRD_READ_REQUEST_OCTETS);

    srd_read_request_encode(fpdu + header, &request);
    feed_whole(fpdu, header - 2 + SRD_READ_REQUEST_OCTETS, 0);
}

/* ---- what was sent ---- */

/* Goes over what has left since; the sink of a Read is remembered for responses. */
static void look_at_sent(bool whole)
{
    for (size_t total; looked_octets + 20 <= sent_octets; looked_octets += total) {
        const uint8_t *fpdu = sent + looked_octets;
        struct srd_segment segment;

        total = srd_fpdu_octets(wire_get16(fpdu));
        if (looked_octets + total > sent_octets)
            break;
        FUZZ_CHECK(!terminated);
        FUZZ_CHECK(srd_control_check(fpdu + 2, wire_get16(fpdu)) == SRD_FAULT_NONE ||
                   (qp()->stream.params.soft_peer && srd_is_extension(fpdu + 2)));
        FUZZ_CHECK(srd_segment_decode(&segment, fpdu + 2) == SRD_FAULT_NONE);
        FUZZ_CHECK(!crc || srd_crc32c(0, fpdu, total) == 0x48674bc7);
        if (segment.opcode == SRD_OP_READ_REQUEST)
            sink_stag = wire_get32(fpdu + 20);
        if (segment.opcode == SRD_OP_ATOMIC_REQUEST)
            sink_stag = wire_get32(fpdu + 24);
        terminated = segment.opcode == SRD_OP_TERMINATE;
    }
    FUZZ_CHECK(!whole || looked_octets == sent_octets);
}

/* ---- steps ---- */

static void fast_step(struct fuzz_input *input)
{
    uint8_t what = fuzz_octet(input), where;

    if (what & 0x80) {
        feed_read(input, what % 3);
        return;
    }
    switch (what % 8) {
    case 0:
    case 1: register_fast(input); break;
    case 2: invalidate(fast->rkey); break;
    case 3: feed_large(input, 5); break;
    case 4: feed_large(input, 6); break;
    default:
        where = fuzz_octet(input);
        post_from_fast(what % 8 == 5   ? IBV_WR_SEND
                       : what % 8 == 6 ? IBV_WR_RDMA_WRITE
                                       : IBV_WR_RDMA_READ,
            where, fuzz_octet(input) * 32u);
        break;
    }
}

static void rare_step(struct fuzz_input *input, uint8_t what)
{
    switch (what) {
    case 1: bind_window(fuzz_octet(input)); break;
    case 2: invalidate(window); break;
    case 3: acknowledge(fuzz_octet(input)); break;
    case 4:
    case 5:
    case 6:
    case 7:
    case 8: feed_large(input, what - 4); break;
    case 9: fast_step(input); break;
    default: end_want(&pair, &end, srd_stream_abort(qp(), pair.now_ms)); break;
    }
}

static void step(struct fuzz_input *input)
{
    uint8_t what = fuzz_octet(input);

    if (what & 0x80) {
        feed_frame(input, what);
        return;
    }
    switch (what % 12) {
    case 0:
    case 1: take(SIZE_MAX); break;
    case 2: take(fuzz_octet(input)); break;
    case 3: post_one(what / 12, fuzz_octet(input)); break;
    case 4: post_one(what / 12, fuzz_octet(input) * 200u); break;
    case 5:
    case 6: post_receive(fuzz_octet(input)); break;
    case 7:
        pair.now_ms += fuzz_octet(input) * 4u;
        if (srd_stream_deadline_ms(qp()) <= pair.now_ms)
            end_want(&pair, &end, SRD_STREAM_END_DUE);
        break;
    case 8: pair_disconnect(&pair, &end); break;
    case 9: finish_rx(what & 0x40 ? ECONNRESET : 0); break;
    case 10: end_want(&pair, &end, srd_stream_release(qp())); break;
    default: rare_step(input, what / 12); break;
    }
    look_at_sent(false);
}

static void start(uint8_t flags)
{
    struct srd_stream_params params = { .initiator = flags & INITIATOR,
        .crc = flags & CRC,
        .soft_peer = flags & SOFT,
        .ird = 4,
        .ord = 4,
        .fpdu_max_octets = flags & SMALL ? 256 : 65536 };

    if (!(flags & NO_RTR)) {
        params.rtr = flags & RTR_READ ? SRD_MPA_RTR_READ : SRD_MPA_RTR_WRITE;
        params.rtr_expected = !params.initiator;
    }
    crc = params.crc;
    end_want(&pair, &end, srd_stream_start(qp(), &params, NULL, 0, pair.now_ms));
    if (params.initiator)
        end_want(&pair, &end, srd_stream_release(qp()));
}

/* All requests have come back: each once, in order. */
static void check_completions(struct ibv_cq *cq, unsigned count)
{
    bool flushed = false;
    struct ibv_wc wc;

    for (unsigned i = 0; i < count; i++) {
        FUZZ_CHECK(ibv_poll_cq(cq, 1, &wc) == 1);
        FUZZ_CHECK(wc.wr_id == i);
        FUZZ_CHECK(!flushed || wc.status != IBV_WC_SUCCESS);
        flushed = wc.status != IBV_WC_SUCCESS;
    }
    FUZZ_CHECK(ibv_poll_cq(cq, 1, &wc) == 0);
}

static void check_end(void)
{
    end_want(&pair, &end, srd_stream_abort(qp(), pair.now_ms));
    FUZZ_CHECK(end.qp->state == IBV_QPS_ERR);
    for (size_t before = SIZE_MAX; before != sent_octets && !end.closed;) {
        before = sent_octets;
        take(SIZE_MAX);
    }
    look_at_sent(!end.closed);
    check_completions(end.scq, sends);
    check_completions(end.rcq, receives - receives_left());
    for (size_t i = 0; i < GUARD; i++)
        FUZZ_CHECK(end.mem[i] == 0xa5 && end.mem[GUARD + REGISTERED + i] == 0xa5);
    while (next_async(&end) >= 0)
        ;
    FUZZ_CHECK(!srd_destroy_qp(end.qp) && !ibv_dealloc_mw(mw) && !srd_dereg_mr(fast));
    FUZZ_CHECK(!end.srq || !srd_destroy_srq(end.srq));
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t count)
{
    struct fuzz_input input = { octets, count };
    uint8_t flags = fuzz_octet(&input);

    if (!end.mem)
        make_end();
    pair = (struct pair){ .now_ms = clock_now_ms() };
    end.fin_got = false;
    sends = receives = 0;
    sent_octets = looked_octets = 0;
    terminated = false;
    make_qp(flags & SHARED);
    start(flags);
    for (unsigned i = 0; i < STEPS && input.left && !end.closed; i++)
        step(&input);
    check_end();
    return 0;
}
