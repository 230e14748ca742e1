/* SPDX-License-Identifier: MIT */
/*
 * test_kernel_queue.c - what the kernel flavour's requests do otherwise than version 2's: their results, posts to a
 * flushed queue pair, chains, a queue pair that ends without a program that polls, and protection domains.
 *
 * Source: NDKPI, NdkGetCqResults(Ex), NdkSend to NdkSendAndInvalidate, NdkFlush, NdkCloseObject, NdkCreatePd.
 */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/memory/pd.h"
#include "tests/unit/ndspi/core_fake.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 48, WHOLE = 40, BRIEF = 24 };

struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    struct fake_qp *device;
    ND2_SGE sge[4];
    char data[64];
};

static int setup(void **state)
{
    static struct fixture f;

    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open_kernel();
    f.cq = fake_make_cq(f.adapter, 100);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    f.device = fake_qp_of(f.qp);
    for (int i = 0; i < 4; i++)
        f.sge[i] = (ND2_SGE){ f.data + 8 * i, 4, 7 };
    nd_qp_set_sendable(f.qp);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    if (f->qp)
        nd_qp_close(f->qp);
    if (f->cq)
        nd_cq_close(f->cq);
    fake_adapter_close(f->adapter);
    return 0;
}

static uint32_t send_it(struct fixture *f, uintptr_t context, uint32_t flags)
{
    return (uint32_t)nd_queue_send_general(&f->qp->initiator, (void *)context, f->sge, 1, flags);
}

static uint32_t receive_it(struct fixture *f, uintptr_t context)
{
    return (uint32_t)nd_queue_receive_general(&f->qp->receive, (void *)context, f->sge, 1);
}

/* The oldest request of a queue completes so. */
static void ends(struct fixture *f, struct fake_queue *queue, struct ibv_wc wc)
{
    assert_true(queue->count > 0);
    wc.wr_id = queue->requests[0].wr_id;
    wc.qp_num = f->device->ibv.qp_num;
    memmove(queue->requests, queue->requests + 1, --queue->count * sizeof(queue->requests[0]));
    fake_cq_push(f->cq, &wc, false);
}

static void send_ends(struct fixture *f)
{
    ends(f, &f->device->send, (struct ibv_wc){ .byte_len = 99 });
}

static unsigned fetch(struct fixture *f, struct nd_result *results, unsigned room)
{
    return nd_cq_results_kernel_ex(&f->cq->poll, results, room);
}

/* ---- results ---- */

static void expect_long(const struct fixture *f, const void *at, uint32_t status, uint32_t octets,
    uintptr_t context, uint32_t type, uint32_t vendor, uint64_t token)
{
    const uint8_t *octet = at;
    uint32_t words[10];
    uint64_t qp, context_was, token_was;

    memcpy(words, octet, WHOLE);
    memcpy(&qp, octet + 8, 8);
    memcpy(&context_was, octet + 16, 8);
    memcpy(&token_was, octet + 32, 8);
    assert_int_equal(words[0], status);
    assert_int_equal(words[1], octets);
    assert_int_equal(qp, (uintptr_t)f->qp);
    assert_int_equal(context_was, context);
    assert_int_equal(words[6], type);
    assert_int_equal(words[7], vendor);
    assert_int_equal(token_was, token);
}

static void test_result_of_each_kind_in_the_usual_way(void **state)
{
    struct fixture *f = *state;
    const struct nd_remote remote = { .address = 0x1000, .token = 1 };
    struct nd_result results[3];

    assert_int_equal(receive_it(f, 1), 0);
    ends(f, &f->device->receive, (struct ibv_wc){ .byte_len = 5 });
    assert_int_equal(fetch(f, results, 3), 1);
    expect_long(f, results, 0, 5, 1, 1, 0, 0);
    assert_int_equal(send_it(f, 2, 0), 0);
    assert_int_equal((uint32_t)nd_qp_read(f->qp, (void *)3, f->sge, 1, &remote, 0), 0);
    assert_int_equal((uint32_t)nd_qp_write(f->qp, (void *)4, f->sge, 1, &remote, 0), 0);
    for (int i = 0; i < 3; i++)
        send_ends(f);
    assert_int_equal(fetch(f, results, 3), 3);
    expect_long(f, &results[0], 0, 0, 2, 2, 0, 0);
    expect_long(f, &results[1], 0, 0, 3, 0x20, 0, 0);
    expect_long(f, &results[2], 0, 0, 4, 0x40, 0, 0);
    assert_int_equal(fetch(f, results, 3), 0);
}

/* A short result is 24 octets, one behind the other, and nothing else is written. */
static void test_short_results_in_every_way(void **state)
{
    struct fixture *f = *state;
    uint8_t room[BRIEF * 40 + 8];

    for (int round = 0; round < 3; round++) {
        unsigned count = round == 0 ? 1 : round == 1 ? 3 : 40;

        memset(room, 0xAA, sizeof(room));
        for (uintptr_t i = 0; i < count; i++) {
            assert_int_equal(receive_it(f, i + 1), 0);
            ends(f, &f->device->receive, (struct ibv_wc){ .byte_len = (uint32_t)i + 10 });
        }
        if (round == 1)
            nd_cq_look(f->cq); /* by the software queue */
        assert_int_equal(nd_cq_results_kernel(&f->cq->poll, room, 40), count);
        for (unsigned i = 0; i < count; i++) {
            uint32_t words[6];
            uint64_t context;

            memcpy(words, room + (size_t)BRIEF * i, BRIEF);
            memcpy(&context, room + (size_t)BRIEF * i + 16, 8);
            assert_int_equal(words[0], 0);
            assert_int_equal(words[1], i + 10);
            assert_int_equal(context, i + 1);
        }
        for (size_t i = (size_t)BRIEF * count; i < sizeof(room); i++)
            assert_int_equal(room[i], 0xAA);
    }
}

/* Both forms from one queue, in one order. */
static void test_long_and_short_results_mixed(void **state)
{
    struct fixture *f = *state;
    struct nd_result result;

    for (uintptr_t i = 1; i <= 4; i++)
        assert_int_equal(send_it(f, i, 0), 0);
    for (int i = 0; i < 4; i++)
        send_ends(f);
    for (uintptr_t i = 1; i <= 4; i++) {
        memset(&result, 0xAA, sizeof(result));
        assert_int_equal(i % 2 ? nd_cq_results_kernel(&f->cq->poll, &result, 1)
                               : nd_cq_results_kernel_ex(&f->cq->poll, &result, 1),
            1);
        assert_ptr_equal(result.context, (void *)i);
        assert_int_equal(result.type, i % 2 ? 0xAAAAAAAA : 2);
        if (i == 2)
            nd_cq_look(f->cq);
    }
}

/* The device's own code; where it has none, the status by which it failed. */
static void test_failed_results_name_the_devices_code(void **state)
{
    struct fixture *f = *state;
    struct nd_result results[4];

    assert_int_equal(receive_it(f, 1), 0);
    for (uintptr_t i = 2; i <= 4; i++)
        assert_int_equal(send_it(f, i, 0), 0);
    ends(f, &f->device->send,
        (struct ibv_wc){ .status = IBV_WC_REM_OP_ERR, .vendor_err = 0x87, .byte_len = 5 });
    ends(f, &f->device->send, (struct ibv_wc){ .status = IBV_WC_RETRY_EXC_ERR });
    ends(f, &f->device->send, (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR, .vendor_err = 0xF9 });
    ends(f, &f->device->receive, (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR });
    assert_int_equal(fetch(f, results, 4), 4);
    expect_long(f, &results[0], SPEC_ND_REMOTE_ERROR, 0, 2, 2, 0x87, 0);
    expect_long(f, &results[1], SPEC_ND_IO_TIMEOUT, 0, 3, 2, 12, 0);
    expect_long(f, &results[2], SPEC_ND_CANCELED, 0, 4, 2, 0xF9, 0);
    expect_long(f, &results[3], SPEC_ND_CANCELED, 0, 1, 1, 5, 0);
}

struct bound {
    struct nd_mr *mr;
    struct nd_mw *mw;
};

static struct bound bind_window(struct fixture *f, uint32_t flags)
{
    struct bound bound = { fake_make_mr(f->adapter), fake_make_mw(f->adapter) };

    assert_int_equal(nd_mr_enter(bound.mr, f->data, sizeof(f->data), 1), 0);
    assert_int_equal((uint32_t)nd_qp_bind(f->qp, (void *)1, bound.mr, bound.mw, f->data, 64,
                         ND_OP_FLAG_ALLOW_READ | flags),
        0);
    return bound;
}

static void drop(struct bound bound)
{
    nd_mw_close(bound.mw);
    nd_mr_close(bound.mr);
}

/* The peer invalidates with its Send: the Receive says which key, and the window is free in either form. */
static void test_receive_tells_what_the_peer_invalidated(void **state)
{
    struct fixture *f = *state;

    for (int round = 0; round < 2; round++) {
        struct bound bound = bind_window(f, 0);
        uint32_t key = be32toh(atomic_load(&bound.mw->token));
        struct nd_result result;

        send_ends(f);
        assert_int_equal(fetch(f, &result, 1), 1);
        expect_long(f, &result, 0, 0, 1, 8, 0, 0);
        assert_int_equal(receive_it(f, 2), 0);
        ends(f, &f->device->receive,
            (struct ibv_wc){ .byte_len = 5, .wc_flags = IBV_WC_WITH_INV, .invalidated_rkey = key });
        if (round == 0) {
            assert_int_equal(fetch(f, &result, 1), 1);
            expect_long(f, &result, 0, 5, 2, 0x8001, 0, key);
        } else {
            assert_int_equal(nd_cq_results_kernel(&f->cq->poll, &result, 1), 1);
            assert_int_equal(result.octets, 5);
        }
        assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, (void *)3, bound.mw, 0),
            SPEC_ND_INVALID_DEVICE_REQUEST);
        assert_int_equal(nd_mr_leave(bound.mr), 0);
        drop(bound);
    }
}

/* A key that is no window's is told all the same. */
static void test_receive_tells_of_a_key_that_is_not_known(void **state)
{
    struct fixture *f = *state;
    struct nd_result result;

    assert_int_equal(receive_it(f, 2), 0);
    ends(f, &f->device->receive,
        (struct ibv_wc){
            .byte_len = 5, .wc_flags = IBV_WC_WITH_INV, .invalidated_rkey = 0xFFFFFFFF });
    assert_int_equal(fetch(f, &result, 1), 1);
    expect_long(f, &result, 0, 5, 2, 0x8001, 0, 0xFFFFFFFF);
}

static void test_shared_receive_tells_what_the_peer_invalidated(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 4, 0);
    struct nd_qp *qp = fake_make_qp(f->adapter, f->cq, srq, 4);
    struct ibv_wc wc = { .byte_len = 6,
        .wc_flags = IBV_WC_WITH_INV,
        .invalidated_rkey = 0x1234,
        .qp_num = qp->ibv->qp_num };
    struct nd_result result;

    assert_int_equal((uint32_t)nd_srq_receive(srq, (void *)8, f->sge, 1), 0);
    wc.wr_id = fake_srq_of(srq)->receive.requests[0].wr_id;
    fake_cq_push(f->cq, &wc, false);
    assert_int_equal(fetch(f, &result, 1), 1);
    assert_ptr_equal(result.qp_context, qp);
    assert_ptr_equal(result.context, (void *)8);
    assert_int_equal(result.octets, 6);
    assert_int_equal(result.type, 0x8001);
    assert_int_equal(result.token, 0x1234);
    nd_qp_close(qp);
    nd_srq_close(srq);
}

/* ---- posts ---- */

static void test_nothing_is_posted_to_a_flushed_queue_pair(void **state)
{
    struct fixture *f = *state;
    const struct nd_remote remote = { .address = 0x1000, .token = 1 };
    struct bound bound = bind_window(f, 0);

    send_ends(f);
    assert_int_equal(receive_it(f, 1), 0);
    assert_int_equal(nd_qp_flush(f->qp), 0);
    assert_int_equal(f->device->ibv.state, IBV_QPS_ERR);
    assert_int_equal(send_it(f, 2, 0), SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(receive_it(f, 3), SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(
        (uint32_t)nd_qp_read(f->qp, NULL, f->sge, 1, &remote, 0), SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(
        (uint32_t)nd_qp_write(f->qp, NULL, f->sge, 1, &remote, 0), SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(
        (uint32_t)nd_qp_invalidate(f->qp, NULL, bound.mw, 0), SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(
        (uint32_t)nd_qp_send_invalidate(f->qp, NULL, f->sge, 1, 0, 0), SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(f->device->send.count, 0);
    assert_int_equal(f->device->receive.count, 1);
    drop(bound);
}

/* A flush that overtakes the last step of a connection. */
static void test_a_flush_before_the_connection_is_up_stays(void **state)
{
    struct fixture *f = *state;
    struct nd_qp *qp = fake_make_qp(f->adapter, f->cq, NULL, 4);

    assert_int_equal((uint32_t)nd_queue_send_general(&qp->initiator, NULL, f->sge, 1, 0),
        SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(nd_qp_flush(qp), 0);
    nd_qp_set_sendable(qp);
    assert_int_equal((uint32_t)nd_queue_send_general(&qp->initiator, NULL, f->sge, 1, 0),
        SPEC_ND_CONNECTION_INVALID);
    nd_qp_close(qp);
}

/* Inline data of more entries than the queue pair takes: by all that send, one entry for the device. */
static void test_inline_data_of_many_entries(void **state)
{
    struct fixture *f = *state;
    const struct nd_remote remote = { .address = 0x1000, .token = 1 };
    const struct fake_request *posted = f->device->send.requests;
    ND2_SGE sge[16];

    for (int i = 0; i < 64; i++)
        f->data[i] = (char)('0' + i);
    for (int i = 0; i < 16; i++)
        sge[i] = (ND2_SGE){ f->data + 4 * i, 4, 0xBAD };
    assert_int_equal(
        (uint32_t)nd_queue_send_general(&f->qp->initiator, (void *)1, sge, 16, ND_OP_FLAG_INLINE),
        0);
    assert_int_equal((uint32_t)nd_qp_send_invalidate(
                         f->qp, (void *)2, sge, 16, htobe32(0x5678), ND_OP_FLAG_INLINE),
        0);
    assert_int_equal(
        (uint32_t)nd_qp_write(f->qp, (void *)3, sge, 16, &remote, ND_OP_FLAG_INLINE), 0);
    assert_int_equal((uint32_t)nd_qp_send_invalidate(
                         f->qp, (void *)4, sge, 3, htobe32(0x9ABC), ND_OP_FLAG_INLINE),
        0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(posted[i].num_sge, 1);
        assert_int_equal(posted[i].send_flags & IBV_SEND_INLINE, IBV_SEND_INLINE);
        assert_memory_equal(posted[i].data, f->data, i < 3 ? 64 : 12);
    }
    assert_int_equal(posted[1].opcode, IBV_WR_SEND_WITH_INV);
    assert_int_equal(posted[1].invalidate_rkey, 0x5678);
    assert_int_equal(posted[3].invalidate_rkey, 0x9ABC);
    assert_int_equal((uint32_t)nd_qp_send_invalidate(f->qp, NULL, sge, 3, 0, 0),
        SPEC_ND_DATA_OVERRUN); /* not inline */
    sge[15].BufferLength = 5;
    assert_int_equal((uint32_t)nd_qp_send_invalidate(f->qp, NULL, sge, 16, 0, ND_OP_FLAG_INLINE),
        SPEC_ND_BUFFER_OVERFLOW);
    for (int i = 0; i < 4; i++)
        send_ends(f);
}

/* ---- chains ---- */

/* Requests with DEFER wait for the next without; then the device gets all in one call, in their order. */
static void test_deferred_requests_go_with_the_next(void **state)
{
    struct fixture *f = *state;
    const struct nd_remote remote = { .address = 0x1000, .token = 1 };
    ND2_SGE sge = f->sge[0];
    struct nd_result results[8];
    struct bound bound;

    assert_int_equal(
        (uint32_t)nd_queue_send_general(&f->qp->initiator, (void *)1, &sge, 1, ND_POST_DEFER), 0);
    sge.Buffer = NULL; /* it is not read any more */
    bound = bind_window(f, ND_POST_DEFER);
    assert_int_equal((uint32_t)nd_qp_read(f->qp, (void *)3, f->sge, 2, &remote, ND_POST_DEFER), 0);
    assert_int_equal((uint32_t)nd_qp_write(
                         f->qp, (void *)4, f->sge, 1, &remote, ND_POST_DEFER | ND_OP_FLAG_INLINE),
        0);
    assert_int_equal(
        (uint32_t)nd_qp_send_invalidate(f->qp, (void *)5, f->sge, 1, 0, ND_POST_DEFER), 0);
    assert_int_equal((uint32_t)nd_qp_invalidate(f->qp, (void *)6, bound.mw, ND_POST_DEFER), 0);
    assert_int_equal(f->device->send.count, 0);
    assert_int_equal(fetch(f, results, 8), 0); /* a client that polls does not end it */
    assert_int_equal(f->device->send.count, 0);
    fake_device.post_calls = 0;
    assert_int_equal(send_it(f, 7, 0), 0);
    assert_int_equal(f->device->send.count, 7);
    assert_int_equal(fake_device.post_calls, 1);
    assert_ptr_equal((void *)(uintptr_t)f->device->send.requests[0].first_sge.addr, f->data);
    assert_int_equal(f->device->send.requests[2].num_sge, 2);
    for (int i = 0; i < 7; i++)
        send_ends(f);
    assert_int_equal(fetch(f, results, 8), 7);
    for (uintptr_t i = 0; i < 7; i++)
        if (i != 1)
            assert_ptr_equal(results[i].context, (void *)(i + 1));
    /* Nothing is kept any more. */
    assert_int_equal(send_it(f, 8, 0), 0);
    assert_int_equal(f->device->send.count, 1);
    assert_int_equal(fake_device.post_calls, 2);
    drop(bound);
}

/* A post that fails ends the chain, whatever it failed for. */
static void test_a_failed_post_hands_the_chain_over(void **state)
{
    struct fixture *f = *state;
    const struct nd_remote remote = { .address = 0x1000, .token = 1 };
    struct bound bound = bind_window(f, 0);
    struct nd_mw *unbound = fake_make_mw(f->adapter);
    unsigned before = f->device->send.count;

    for (int way = 0; way < 6; way++) {
        HRESULT status;

        assert_int_equal(send_it(f, 1, ND_POST_DEFER), 0);
        assert_int_equal(f->device->send.count, before);
        switch (way) {
        case 0: status = nd_queue_send_general(&f->qp->initiator, NULL, f->sge, 3, 0); break;
        case 1: status = nd_qp_send_invalidate(f->qp, NULL, NULL, 1, 0, ND_POST_DEFER); break;
        case 2: status = nd_qp_read(f->qp, NULL, f->sge, 1, &remote, 0x80); break;
        case 3:
            status = nd_qp_bind(f->qp, NULL, bound.mr, unbound, f->data + 64, 1, ND_POST_DEFER);
            break;
        case 4: status = nd_qp_invalidate(f->qp, NULL, unbound, ND_POST_DEFER); break;
        default: status = nd_qp_write(f->qp, NULL, f->sge, 4, &remote, ND_POST_DEFER); break;
        }
        assert_true(FAILED(status));
        assert_int_equal(f->device->send.count, ++before);
    }
    nd_mw_close(unbound);
    drop(bound);
}

/* At most 32 are kept; a flush and the end of the queue pair hand over what is. */
static void test_a_chain_has_its_bounds(void **state)
{
    struct fixture *f = *state;

    for (uintptr_t i = 0; i < 33; i++)
        assert_int_equal(send_it(f, i, ND_POST_DEFER), 0);
    assert_int_equal(f->device->send.count, 32);
    assert_int_equal(nd_qp_flush(f->qp), 0);
    assert_int_equal(f->device->send.count, 33);
    assert_int_equal(send_it(f, 1, 0), SPEC_ND_CONNECTION_INVALID);
}

static void test_a_released_queue_pair_hands_its_chain_over(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(send_it(f, 1, ND_POST_DEFER), 0);
    nd_object_pin(&f->qp->object);
    nd_qp_close(f->qp);
    assert_int_equal(f->device->send.count, 2); /* and the marker */
    nd_object_unpin(&f->qp->object);
    f->qp = NULL;
}

/* The device refuses the second of three: it ends with its reason, those behind it are cancelled. */
static void test_deferred_requests_that_the_device_refuses(void **state)
{
    struct fixture *f = *state;
    struct nd_result results[4];

    assert_int_equal(send_it(f, 1, ND_POST_DEFER), 0);
    assert_int_equal(send_it(f, 2, ND_POST_DEFER), 0);
    fake_device.post_error = EFAULT;
    fake_device.taken = 1;
    fake_device.refuse_once = true;
    assert_int_equal(send_it(f, 3, 0), 0);
    assert_int_equal(f->device->ibv.state, IBV_QPS_ERR);
    send_ends(f);
    assert_int_equal(fetch(f, results, 4), 3);
    expect_long(f, &results[0], 0, 0, 1, 2, 0, 0);
    assert_int_equal((uint32_t)results[1].status, SPEC_ND_ACCESS_VIOLATION);
    assert_ptr_equal(results[1].context, (void *)2);
    assert_int_equal((uint32_t)results[2].status, SPEC_ND_CANCELED);
    assert_ptr_equal(results[2].context, (void *)3);
}

/* The flag means nothing to the other dialects. */
static void test_version_2_knows_no_chain(void **state)
{
    struct fixture *f = *state;

    f->qp->initiator.defers = false;
    assert_int_equal(send_it(f, 1, ND_POST_DEFER), SPEC_ND_INVALID_PARAMETER_4);
    assert_int_equal(f->device->send.count, 0);
}

/* ---- the end of a queue pair ---- */

/* It ends when its last completion is there: nobody fetches it. */
static void test_a_released_queue_pair_ends_without_a_poll(void **state)
{
    struct fixture *f = *state;
    unsigned objects;

    for (uintptr_t i = 0; i < 3; i++)
        assert_int_equal(send_it(f, i, 0), 0);
    assert_int_equal(receive_it(f, 9), 0);
    nd_qp_close(f->qp);
    f->qp = NULL;
    objects = fake_device.objects;
    assert_int_equal(f->device->ibv.state, IBV_QPS_ERR);
    assert_true(fake_cq_of(f->cq)->armed);
    ends(f, &f->device->receive, (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR });
    assert_true(fake_cq_deliver(f->cq));
    assert_int_equal(fake_device.objects, objects);
    assert_true(fake_cq_of(f->cq)->armed); /* the others are still awaited */
    while (f->device->send.count > 1)
        ends(f, &f->device->send, (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR });
    ends(f, &f->device->send, (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR });
    assert_true(fake_cq_deliver(f->cq));
    assert_int_equal(fake_device.objects, objects - 1);
    assert_false(fake_cq_of(f->cq)->armed);
}

static void test_a_failure_is_told_once_and_flushes(void **state)
{
    struct fixture *f = *state;
    struct nd_result results[3];

    for (uintptr_t i = 0; i < 3; i++)
        assert_int_equal(send_it(f, i, 0), 0);
    ends(f, &f->device->send, (struct ibv_wc){ .status = IBV_WC_RNR_RETRY_EXC_ERR });
    assert_int_equal(fetch(f, results, 1), 1);
    assert_int_equal(f->device->ibv.state, IBV_QPS_ERR);
    assert_int_equal(atomic_load(&f->qp->failure), 13);
    ends(f, &f->device->send, (struct ibv_wc){ .status = IBV_WC_REM_OP_ERR, .vendor_err = 4 });
    ends(f, &f->device->send, (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR });
    assert_int_equal(fetch(f, results, 3), 2);
    assert_int_equal(atomic_load(&f->qp->failure), 13);
    assert_int_equal(send_it(f, 1, 0), SPEC_ND_CONNECTION_INVALID);
}

/* A flush of the program's own is no failure. */
static void test_flushed_requests_blame_nothing(void **state)
{
    struct fixture *f = *state;
    struct nd_result result;

    assert_int_equal(send_it(f, 1, 0), 0);
    assert_int_equal(nd_qp_flush(f->qp), 0);
    ends(f, &f->device->send, (struct ibv_wc){ .status = IBV_WC_WR_FLUSH_ERR, .vendor_err = 4 });
    assert_int_equal(fetch(f, &result, 1), 1);
    assert_int_equal(atomic_load(&f->qp->failure), 0);
}

/* ---- protection domains ---- */

static void destroy_pd(struct nd_object *object)
{
    nd_pd_fini((struct nd_pd *)object);
    free(object);
}

static void destroy_mw(struct nd_object *object)
{
    nd_mw_fini((struct nd_mw *)object);
    free(object);
}

static void destroy_srq(struct nd_object *object)
{
    nd_srq_fini((struct nd_srq *)object);
    free(object);
}

static void test_objects_of_a_domain_of_their_own(void **state)
{
    struct fixture *f = *state;
    struct nd_pd *pd = nd_object_alloc(sizeof(*pd));
    struct nd_qp_params params = { .receive_cq = f->cq,
        .initiator_cq = f->cq,
        .receive_depth = 4,
        .initiator_depth = 4,
        .receive_sge = 1,
        .initiator_sge = 1 };
    struct nd_mr *mr = fake_make_mr(f->adapter), *other = fake_make_mr(f->adapter);
    struct nd_mw *mw = nd_object_alloc(sizeof(*mw));
    struct nd_srq *srq = nd_object_alloc(sizeof(*srq));
    struct nd_qp *qp;

    assert_int_equal(nd_pd_init(pd, f->adapter, destroy_pd), 0);
    assert_ptr_not_equal(pd->ibv, f->adapter->port.pd);
    params.pd = pd->ibv;
    qp = fake_make_qp_of(f->adapter, &params);
    mr->pd = mw->pd = srq->pd = pd->ibv;
    assert_int_equal(nd_mr_enter(mr, f->data, 64, 1), 0);
    assert_int_equal(nd_mr_enter(other, f->data, 64, 1), 0);
    assert_int_equal(nd_mw_init(mw, f->adapter, destroy_mw), 0);
    assert_int_equal(nd_srq_init(srq, f->adapter, fake_file(), 4, 1, 0, 0, destroy_srq), 0);
    assert_ptr_equal(qp->ibv->pd, pd->ibv);
    assert_ptr_equal(mr->ibv->pd, pd->ibv);
    assert_ptr_equal(mw->ibv->pd, pd->ibv);
    assert_ptr_equal(srq->ibv->pd, pd->ibv);
    assert_ptr_equal(other->ibv->pd, f->adapter->port.pd);
    assert_ptr_equal(f->device->ibv.pd, f->adapter->port.pd);
    /* Nothing of one is bound in the other. */
    nd_qp_set_sendable(qp);
    assert_int_equal(
        (uint32_t)nd_qp_bind(qp, NULL, other, mw, f->data, 1, 8), SPEC_ND_INVALID_PARAMETER_2);
    assert_int_equal(
        (uint32_t)nd_qp_bind(f->qp, NULL, other, mw, f->data, 1, 8), SPEC_ND_INVALID_PARAMETER_3);
    assert_int_equal((uint32_t)nd_qp_bind(qp, NULL, mr, mw, f->data, 1, 8), 0);
    nd_mw_close(mw);
    nd_srq_close(srq);
    nd_mr_close(mr);
    nd_mr_close(other);
    nd_qp_close(qp);
    fake_complete(f->cq, &fake_qp_of(qp)->send, qp->ibv, 2, IBV_WC_WR_FLUSH_ERR);
    nd_cq_look(f->cq);
    nd_object_unpin(&pd->object);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_result_of_each_kind_in_the_usual_way),
        TEST(test_short_results_in_every_way),
        TEST(test_long_and_short_results_mixed),
        TEST(test_failed_results_name_the_devices_code),
        TEST(test_receive_tells_what_the_peer_invalidated),
        TEST(test_receive_tells_of_a_key_that_is_not_known),
        TEST(test_shared_receive_tells_what_the_peer_invalidated),
        TEST(test_nothing_is_posted_to_a_flushed_queue_pair),
        TEST(test_a_flush_before_the_connection_is_up_stays),
        TEST(test_inline_data_of_many_entries),
        TEST(test_deferred_requests_go_with_the_next),
        TEST(test_a_failed_post_hands_the_chain_over),
        TEST(test_a_chain_has_its_bounds),
        TEST(test_a_released_queue_pair_hands_its_chain_over),
        TEST(test_deferred_requests_that_the_device_refuses),
        TEST(test_version_2_knows_no_chain),
        TEST(test_a_released_queue_pair_ends_without_a_poll),
        TEST(test_a_failure_is_told_once_and_flushes),
        TEST(test_flushed_requests_blame_nothing),
        TEST(test_objects_of_a_domain_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
