/* SPDX-License-Identifier: MIT */
/* stream_pair.c - see stream_pair.h. */
#include "stream_pair.h"

#include "softrdma/wire/mpa.h"
#include "util/clock.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_context *open_device(void)
{
    struct ibv_device **list = srd_get_device_list(NULL);
    struct ibv_context *context;

    assert_non_null(list);
    assert_non_null(list[0]);
    context = srd_open_device(list[0]);
    assert_non_null(context);
    srd_free_device_list(list);
    return context;
}

static void to_state(struct end *end, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = { .qp_state = state };

    assert_int_equal(srd_modify_qp(end->qp, &attr, IBV_QP_STATE), 0);
}

void end_open(struct end *end, unsigned flags)
{
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 60,
            .max_recv_wr = 60,
            .max_send_sge = 4,
            .max_recv_sge = 4,
            .max_inline_data = 512 } };
    struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 64, .max_sge = 4 } };

    memset(end, 0, sizeof(*end));
    end->context = open_device();
    end->pd = srd_alloc_pd(end->context);
    end->srq_pd = flags & PAIR_SRQ_DOMAIN ? srd_alloc_pd(end->context) : end->pd;
    end->scq = srd_create_cq(end->context, 256, NULL, NULL, 0);
    end->rcq = srd_create_cq(end->context, 256, NULL, NULL, 0);
    end->mem = aligned_alloc(4096, MEM_OCTETS);
    assert_non_null(end->mem);
    memset(end->mem, 0, MEM_OCTETS);
    end->mr = srd_reg_mr(end->pd, end->mem, MEM_OCTETS,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
            IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
    assert_non_null(end->mr);
    attr.send_cq = end->scq;
    attr.recv_cq = end->rcq;
    if (flags & PAIR_SRQ)
        attr.srq = end->srq = srd_create_srq(end->srq_pd, &srq_attr);
    end->qp = srd_create_qp(end->pd, &attr);
    assert_non_null(end->qp);
    to_state(end, IBV_QPS_INIT);
    to_state(end, IBV_QPS_RTR);
    to_state(end, IBV_QPS_RTS);
}

void end_start(struct pair *pair, struct end *end, bool initiator)
{
    struct srd_stream_params params = { .initiator = initiator,
        .crc = pair->flags & PAIR_CRC,
        .soft_peer = pair->flags & PAIR_SOFT,
        .rnr_retries = end->srq ? 7 : 0,
        .ird = pair->ird,
        .ord = pair->ord,
        .fpdu_max_octets = pair->flags & PAIR_SMALL ? 256 : 65536 };

    if (!(pair->flags & PAIR_NO_RTR)) {
        params.rtr = pair->flags & PAIR_RTR_READ ? SRD_MPA_RTR_READ : SRD_MPA_RTR_WRITE;
        params.rtr_expected = !initiator;
    }
    end_want(pair, end, srd_stream_start(srd_qp_from(end->qp), &params, NULL, 0, pair->now_ms));
    if (initiator && !(pair->flags & PAIR_HELD))
        end_want(pair, end, srd_stream_release(srd_qp_from(end->qp)));
}

void end_close(struct end *end)
{
    assert_int_equal(srd_destroy_qp(end->qp), 0);
    if (end->srq)
        assert_int_equal(srd_destroy_srq(end->srq), 0);
    assert_int_equal(srd_dereg_mr(end->mr), 0);
    assert_int_equal(srd_destroy_cq(end->scq), 0);
    assert_int_equal(srd_destroy_cq(end->rcq), 0);
    if (end->srq_pd != end->pd)
        assert_int_equal(srd_dealloc_pd(end->srq_pd), 0);
    assert_int_equal(srd_dealloc_pd(end->pd), 0);
    assert_int_equal(srd_close_device(end->context), 0);
    free(end->mem);
    free(end->pipe);
}

void pair_open_depths(struct pair *pair, unsigned flags, unsigned seed, uint16_t ird, uint16_t ord)
{
    memset(pair, 0, sizeof(*pair));
    pair->flags = flags;
    pair->seed = seed;
    pair->now_ms = clock_now_ms();
    pair->ird = ird;
    pair->ord = ord;
    end_open(&pair->a, flags & ~(PAIR_SRQ | PAIR_SRQ_DOMAIN));
    end_open(&pair->b, flags);
    end_start(pair, &pair->b, false);
    end_start(pair, &pair->a, true);
}

void pair_open(struct pair *pair, unsigned flags, unsigned seed)
{
    pair_open_depths(pair, flags, seed, 4, 4);
}

void pair_close(struct pair *pair)
{
    end_close(&pair->a);
    end_close(&pair->b);
}

void end_want(struct pair *pair, struct end *end, unsigned actions)
{
    struct srd_qp *qp = srd_qp_from(end->qp);

    end->actions |= actions;
    while (actions & SRD_STREAM_END_DUE) {
        lock_acquire(&qp->rx_lock);
        actions = srd_stream_timer(qp, pair->now_ms);
        lock_release(&qp->rx_lock);
        end->actions |= actions;
    }
    if (end->actions & SRD_STREAM_CLOSE)
        end->closed = true;
}

static size_t random_up_to(struct pair *pair, size_t most)
{
    size_t n;

    if (!pair->seed || most < 2)
        return most;
    n = (size_t)rand_r(&pair->seed);
    /* often little, sometimes all */
    switch (n >> 8 & 3) {
    case 0: return most;
    case 1: return 1 + n % (most < 40 ? most : 40);
    default: return 1 + n % most;
    }
}

static void pipe_add(struct end *to, const void *octets, size_t count)
{
    if (to->pipe_octets + count > to->pipe_room) {
        to->pipe_room = 2 * (to->pipe_octets + count);
        to->pipe = realloc(to->pipe, to->pipe_room);
        assert_non_null(to->pipe);
    }
    memcpy(to->pipe + to->pipe_octets, octets, count);
    to->pipe_octets += count;
}

/* What the end sends goes into the pipe; 0 when it has nothing. */
static size_t send_some(struct pair *pair, struct end *from, struct end *to)
{
    struct srd_qp *qp = srd_qp_from(from->qp);
    struct iovec iov[SRD_TX_IOV];
    size_t total = 0, take, left;
    unsigned actions = 0;
    int n;

    if (from->closed)
        return 0;
    lock_acquire(&qp->tx_lock);
    n = srd_stream_tx(qp, iov, pair->now_ms, &actions);
    for (int i = 0; i < n; i++)
        total += iov[i].iov_len;
    take = left = random_up_to(pair, total);
    for (int i = 0; i < n && left; i++) {
        size_t here = iov[i].iov_len < left ? iov[i].iov_len : left;

        pipe_add(to, iov[i].iov_base, here);
        left -= here;
    }
    if (n)
        actions |= srd_stream_tx_done(qp, take, pair->now_ms);
    lock_release(&qp->tx_lock);
    end_want(pair, from, actions);
    return take;
}

/* One read of at most count octets; returns what was taken. */
static size_t receive_some(struct pair *pair, struct end *end, const uint8_t *octets, size_t count)
{
    struct srd_qp *qp = srd_qp_from(end->qp);
    struct iovec iov[SRD_RX_IOV];
    size_t taken = 0;
    unsigned actions;
    int n;

    lock_acquire(&qp->rx_lock);
    n = srd_stream_rx_space(qp, iov);
    for (int i = 0; i < n && taken < count; i++) {
        size_t here = iov[i].iov_len < count - taken ? iov[i].iov_len : count - taken;

        memcpy(iov[i].iov_base, octets + taken, here);
        taken += here;
    }
    actions = n ? srd_stream_rx(qp, taken, pair->now_ms) : 0;
    lock_release(&qp->rx_lock);
    end_want(pair, end, actions);
    return taken;
}

bool pair_move(struct pair *pair, struct end *from, struct end *to)
{
    bool ending = from->closed || from->actions & SRD_STREAM_SHUTDOWN;
    size_t sent = send_some(pair, from, to), got = 0;
    struct srd_qp *qp = srd_qp_from(to->qp);
    unsigned actions;

    if (to->closed) {
        to->pipe_octets = 0;
        return sent > 0;
    }
    if (to->pipe_octets) {
        got = receive_some(pair, to, to->pipe, random_up_to(pair, to->pipe_octets));
        memmove(to->pipe, to->pipe + got, to->pipe_octets - got);
        to->pipe_octets -= got;
    }
    if (sent || got)
        return true;
    if (!ending) /* what ended just now has something to send, perhaps */
        return from->closed || from->actions & SRD_STREAM_SHUTDOWN;
    if (to->pipe_octets || to->fin_got)
        return false;
    from->fin_sent = to->fin_got = true;
    lock_acquire(&qp->rx_lock);
    actions = srd_stream_rx_end(qp, 0, pair->now_ms);
    lock_release(&qp->rx_lock);
    end_want(pair, to, actions);
    return true;
}

void pair_pump(struct pair *pair)
{
    bool moved;

    do {
        moved = pair_move(pair, &pair->a, &pair->b);
        moved |= pair_move(pair, &pair->b, &pair->a);
    } while (moved);
}

void pair_time(struct pair *pair, uint64_t ms)
{
    pair->now_ms += ms;
    for (int i = 0; i < 2; i++) {
        struct end *end = i ? &pair->b : &pair->a;
        struct srd_qp *qp;

        if (!end->qp || end->closed)
            continue;
        qp = srd_qp_from(end->qp);
        if (srd_stream_deadline_ms(qp) <= pair->now_ms)
            end_want(pair, end, SRD_STREAM_END_DUE);
    }
}

void pair_disconnect(struct pair *pair, struct end *end)
{
    end_want(pair, end, srd_stream_disconnect(srd_qp_from(end->qp), pair->now_ms));
}

void end_feed(struct pair *pair, struct end *end, const void *octets, size_t count, size_t piece)
{
    const uint8_t *p = octets;

    while (count && !end->closed) {
        size_t n = receive_some(pair, end, p, piece && piece < count ? piece : count);

        if (!n)
            return;
        p += n;
        count -= n;
    }
}

size_t end_take(struct pair *pair, struct end *end, uint8_t *out, size_t room)
{
    struct end sink = { 0 };
    size_t octets;

    while (send_some(pair, end, &sink))
        ;
    octets = sink.pipe_octets;
    assert_true(octets <= room);
    if (octets)
        memcpy(out, sink.pipe, octets);
    free(sink.pipe);
    return octets;
}

/* --- requests --------------------------------------------------------------------------------------------------- */

static struct ibv_sge sge_at(struct end *end, size_t offset, uint32_t octets)
{
    return (struct ibv_sge){ .addr = at(end, offset), .length = octets, .lkey = end->mr->lkey };
}

void post_recv(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets)
{
    struct ibv_sge sge = sge_at(end, offset, octets);
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = octets ? 1 : 0 }, *bad;

    assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
}

void post_srq_recv(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets)
{
    struct ibv_sge sge = sge_at(end, offset, octets);
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

    assert_int_equal(ibv_post_srq_recv(end->srq, &wr, &bad), 0);
}

static void post(struct end *end, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad;

    assert_int_equal(ibv_post_send(end->qp, wr, &bad), 0);
}

void post_send(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets, unsigned flags)
{
    struct ibv_sge sge = sge_at(end, offset, octets);
    struct ibv_send_wr wr = { .wr_id = wr_id,
        .sg_list = &sge,
        .num_sge = octets ? 1 : 0,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED ^ flags };

    post(end, &wr);
}

void post_send_inv(struct end *end, uint64_t wr_id, uint32_t rkey)
{
    struct ibv_send_wr wr = {
        .wr_id = wr_id, .opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED
    };

    wr.invalidate_rkey = rkey;
    post(end, &wr);
}

static void post_rdma(struct end *end, enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
    uint32_t octets, uint64_t remote, uint32_t rkey, unsigned flags)
{
    struct ibv_sge sge = sge_at(end, offset, octets);
    struct ibv_send_wr wr = { .wr_id = wr_id,
        .sg_list = &sge,
        .num_sge = octets ? 1 : 0,
        .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED ^ flags };

    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey;
    post(end, &wr);
}

void post_write(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets, uint64_t remote,
    uint32_t rkey, unsigned flags)
{
    post_rdma(end, IBV_WR_RDMA_WRITE, wr_id, offset, octets, remote, rkey, flags);
}

void post_read(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets, uint64_t remote,
    uint32_t rkey, unsigned flags)
{
    post_rdma(end, IBV_WR_RDMA_READ, wr_id, offset, octets, remote, rkey, flags);
}

void post_send_imm(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets,
    uint32_t immediate, unsigned flags)
{
    struct ibv_sge sge = sge_at(end, offset, octets);
    struct ibv_send_wr wr = { .wr_id = wr_id,
        .sg_list = &sge,
        .num_sge = octets ? 1 : 0,
        .opcode = IBV_WR_SEND_WITH_IMM,
        .send_flags = IBV_SEND_SIGNALED ^ flags,
        .imm_data = htobe32(immediate) };

    post(end, &wr);
}

void post_write_imm(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets,
    uint64_t remote, uint32_t rkey, uint32_t immediate, unsigned flags)
{
    struct ibv_sge sge = sge_at(end, offset, octets);
    struct ibv_send_wr wr = { .wr_id = wr_id,
        .sg_list = &sge,
        .num_sge = octets ? 1 : 0,
        .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
        .send_flags = IBV_SEND_SIGNALED ^ flags,
        .imm_data = htobe32(immediate) };

    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey;
    post(end, &wr);
}

void post_atomic(struct end *end, enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
    uint64_t remote, uint32_t rkey, uint64_t compare_add, uint64_t swap, unsigned flags)
{
    struct ibv_sge sge = sge_at(end, offset, 8);
    struct ibv_send_wr wr = { .wr_id = wr_id,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED ^ flags };

    wr.wr.atomic.remote_addr = remote;
    wr.wr.atomic.rkey = rkey;
    wr.wr.atomic.compare_add = compare_add;
    wr.wr.atomic.swap = swap;
    post(end, &wr);
}

void post_bind(struct end *end, uint64_t wr_id, struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr,
    size_t offset, uint64_t octets, int access)
{
    struct ibv_send_wr wr = {
        .wr_id = wr_id, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED
    };

    wr.bind_mw.mw = mw;
    wr.bind_mw.rkey = rkey;
    wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
        .mr = mr, .addr = at(end, offset), .length = octets, .mw_access_flags = (unsigned)access
    };
    post(end, &wr);
}

void post_local_inv(struct end *end, uint64_t wr_id, uint32_t rkey)
{
    struct ibv_send_wr wr = {
        .wr_id = wr_id, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED
    };

    wr.invalidate_rkey = rkey;
    post(end, &wr);
}

struct ibv_wc expect_wc_(
    struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status, const char *file, int line)
{
    struct ibv_wc wc;

    memset(&wc, 0, sizeof(wc));
    if (ibv_poll_cq(cq, 1, &wc) != 1) {
        print_error("no completion, but request %d was due\n", (int)wr_id);
        _fail(file, line);
    }
    if (wc.wr_id != wr_id || wc.status != status) {
        print_error("request %d with status %d, but %d with %d was due\n", (int)wc.wr_id, wc.status,
            (int)wr_id, status);
        _fail(file, line);
    }
    return wc;
}

void expect_none_(struct ibv_cq *cq, const char *file, int line)
{
    struct ibv_wc wc;

    if (ibv_poll_cq(cq, 1, &wc) != 0) {
        print_error(
            "completion of request %d, status %d, but none was due\n", (int)wc.wr_id, wc.status);
        _fail(file, line);
    }
}

int next_async(struct end *end)
{
    struct pollfd fd = { .fd = end->context->async_fd, .events = POLLIN };
    struct ibv_async_event event;

    if (poll(&fd, 1, 0) != 1)
        return -1;
    assert_int_equal(srd_get_async_event(end->context, &event), 0);
    srd_ack_async_event(&event);
    return (int)event.event_type;
}

void fill(uint8_t *p, size_t octets, unsigned seed)
{
    for (size_t i = 0; i < octets; i++)
        p[i] = (uint8_t)(rand_r(&seed) >> 7);
}

const unsigned pair_soft_forms[PAIR_SOFT_FORMS] = { PAIR_SOFT, PAIR_SOFT | PAIR_CRC,
    PAIR_SOFT | PAIR_SMALL };

void pair_with_soft_peers(void (*body)(struct pair *))
{
    for (size_t f = 0; f < PAIR_SOFT_FORMS; f++)
        for (unsigned seed = 0; seed < PAIR_SEEDS; seed++) {
            struct pair pair;

            pair_open(&pair, pair_soft_forms[f], seed);
            pair_pump(&pair);
            body(&pair);
            pair_close(&pair);
        }
}

void pair_expect_over(struct pair *pair)
{
    struct end *ends[2] = { &pair->a, &pair->b };

    for (int i = 0; i < 2; i++) {
        struct end *end = ends[i];

        assert_int_equal(end->actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        assert_int_equal(end->qp->state, IBV_QPS_ERR);
        assert_true(end->closed);
        post_send(end, 901, 0, 4, IBV_SEND_SIGNALED); /* even an unsignaled one */
        assert_int_equal(expect_wc(end->scq, 901, IBV_WC_WR_FLUSH_ERR).qp_num, end->qp->qp_num);
        post_recv(end, 902, 0, 4);
        expect_wc(end->rcq, 902, IBV_WC_WR_FLUSH_ERR);
        expect_none(end->scq);
        expect_none(end->rcq);
    }
}
