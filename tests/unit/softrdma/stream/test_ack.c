/* SPDX-License-Identifier: MIT */
/*
 * Acknowledgements between softrdma ends that are not what docs/wire.md says: what is not one, and what a peer may
 * not claim.
 */
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/stream_pair.h"

#include <string.h>

enum { ACK_OCTETS = 20 };

static struct pair pair;
static struct end end;

/* A lone initiator, no CRC; what it sends is taken from it by the test. */
static void open_end(bool soft)
{
    struct srd_stream_params params = {
        .initiator = true, .soft_peer = soft, .ird = 4, .ord = 4, .fpdu_max_octets = 1460
    };

    memset(&pair, 0, sizeof(pair));
    end_open(&end, 0);
    end_want(&pair, &end, srd_stream_start(srd_qp_from(end.qp), &params, NULL, 0, 0));
    end_want(&pair, &end, srd_stream_release(srd_qp_from(end.qp)));
}

static void feed_tagged(uint8_t control, uint8_t opcode, uint64_t offset, uint32_t payload)
{
    uint8_t in[64] = { 0 };

    wire_put16(in, (uint16_t)(14 + payload));
    in[2] = control;
    in[3] = 0x40 | opcode;
    wire_put32(in + 4, 0xffffff41);
    wire_put64(in + 8, offset);
    end_feed(&pair, &end, in, srd_fpdu_octets(14 + payload), 0);
}

static void feed_ack(uint64_t count)
{
    feed_tagged(0xc1, 0, count, 0);
}

static bool is_down(void)
{
    return end.actions & SRD_STREAM_DOWN;
}

/* The final acknowledgement, then the Terminate; nothing else. */
static void expect_terminate(uint8_t layer_type, uint8_t code)
{
    uint8_t out[256];

    assert_true(is_down());
    assert_int_equal(end_take(&pair, &end, out, sizeof(out)), ACK_OCTETS + 44);
    assert_int_equal(wire_get32(out + 4), 0xffffff41);
    assert_int_equal(out[ACK_OCTETS + 3], 0x47);
    assert_int_equal(out[ACK_OCTETS + 20], layer_type);
    assert_int_equal(out[ACK_OCTETS + 21], code);
}

static void expect_alive(void)
{
    uint8_t out[64];

    assert_false(is_down());
    assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 0);
}

/* Send 1, Write 2, Send 3, all sent. */
static void send_three(void)
{
    uint8_t out[256];

    post_send(&end, 1, 0, 8, 0);
    post_write(&end, 2, 0, 8, 0x1000, 0x11223344, 0);
    post_send(&end, 3, 0, 8, 0);
    assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 32 + 28 + 32);
}

/* counts, each an acknowledgement: the last one is refused (1/1/01); complete is what the others said at most. */
static void refused_counts(void **state)
{
    static const struct {
        const char *what;
        uint64_t counts[4];
        unsigned given, complete;
    } rows[] = {
        { "more than was sent", { 4 }, 1, 0 },
        { "more than was sent, after a right one", { 2, 4 }, 2, 2 },
        { "2^32 more", { 0x100000001 }, 1, 0 },
        { "2^63", { 0x8000000000000000 }, 1, 0 },
        { "2^64-1", { UINT64_MAX }, 1, 0 },
        { "one that wraps after the right last one", { 3, UINT64_MAX }, 2, 3 },
        { "fewer than before", { 2, 1 }, 2, 2 },
        { "none after all", { 1, 2, 3, 0 }, 4, 3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        print_message("%s\n", rows[i].what);
        open_end(true);
        send_three();
        for (unsigned k = 0; k < rows[i].given; k++) {
            assert_false(is_down());
            feed_ack(rows[i].counts[k]);
        }
        for (unsigned id = 1; id <= 3; id++)
            expect_wc(end.scq, id, id <= rows[i].complete ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
        expect_none(end.scq);
        expect_terminate(0x11, 0x01);
        end_close(&end);
    }
}

static void before_anything_was_posted(void **state)
{
    (void)state;
    open_end(true);
    feed_ack(0);
    expect_alive();
    feed_ack(1);
    expect_terminate(0x11, 0x01);
    end_close(&end);
}

/* The same count may come again: the last one is repeated at an end. */
static void repeated_count_means_nothing(void **state)
{
    (void)state;
    open_end(true);
    send_three();
    for (int i = 0; i < 1000; i++)
        feed_ack(2);
    expect_wc(end.scq, 1, IBV_WC_SUCCESS);
    expect_wc(end.scq, 2, IBV_WC_SUCCESS);
    expect_none(end.scq);
    expect_alive();
    feed_ack(3);
    expect_wc(end.scq, 3, IBV_WC_SUCCESS);
    end_close(&end);
}

/* A Read is no message that is counted, nor is what was posted and waits behind it. */
static void reads_and_what_waits_are_not_counted(void **state)
{
    struct ibv_wc wc;
    uint8_t out[256];

    (void)state;
    open_end(true);
    post_send(&end, 1, 0, 8, 0);
    post_read(&end, 2, 0, 8, 0x1000, 0x11223344, 0);
    post_write(&end, 3, 0, 8, 0x1000, 0x11223344, IBV_SEND_FENCE);
    assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 32 + 52);
    feed_ack(1);
    expect_wc(end.scq, 1, IBV_WC_SUCCESS);
    assert_int_equal(ibv_poll_cq(end.scq, 1, &wc), 0);
    feed_ack(2);
    expect_wc(end.scq, 2, IBV_WC_WR_FLUSH_ERR);
    expect_wc(end.scq, 3, IBV_WC_WR_FLUSH_ERR);
    expect_terminate(0x11, 0x01);
    end_close(&end);
}

/* No request behind a failed one succeeds, even if the peer had it. */
static void acknowledged_behind_a_failed_read(void **state)
{
    uint8_t out[256];

    (void)state;
    open_end(true);
    post_send(&end, 1, 0, 8, 0);
    post_read(&end, 2, 0, 8, 0x1000, 0x11223344, 0);
    post_write(&end, 3, 0, 8, 0x1000, 0x11223344, 0);
    post_write(&end, 4, 0, 8, 0x1000, 0x11223344, 0);
    assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 32 + 52 + 28 + 28);
    feed_ack(2);
    expect_wc(end.scq, 1, IBV_WC_SUCCESS);
    expect_none(end.scq);
    end_want(&pair, &end, srd_stream_abort(srd_qp_from(end.qp), 0));
    for (unsigned id = 2; id <= 4; id++)
        assert_int_equal(expect_wc(end.scq, id, IBV_WC_WR_FLUSH_ERR).vendor_err, 0);
    end_close(&end);
}

/* An empty Write's key means nothing to the peer, and must not look like an acknowledgement's. */
static void a_write_of_nothing_carries_no_key(void **state)
{
    static const uint32_t keys[] = { 0x11223344, 0xffffff41 };
    uint8_t out[64];

    (void)state;
    open_end(true);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        post_write(&end, 1, 0, 0, 0x1000, keys[i], 0);
        assert_int_equal(end_take(&pair, &end, out, sizeof(out)), 20);
        assert_memory_equal(out, "\0\x0e\xc1\x40\0\0\0\0\0\0\0\0\0\0\x10", 15);
    }
    end_close(&end);
}

/* Lets the transport take so many octets of what is offered. */
static void take_part(size_t octets, size_t offered)
{
    struct srd_qp *qp = srd_qp_from(end.qp);
    struct iovec iov[SRD_TX_IOV];
    unsigned actions = 0;
    size_t total = 0;
    int n;

    lock_acquire(&qp->tx_lock);
    n = srd_stream_tx(qp, iov, 0, &actions);
    for (int i = 0; i < n; i++)
        total += iov[i].iov_len;
    assert_int_equal(total, offered);
    actions |= srd_stream_tx_done(qp, octets, 0);
    lock_release(&qp->tx_lock);
    end_want(&pair, &end, actions);
}

/*
 * What the transport has not taken was not sent: if a peer acknowledged it, the program would change a buffer whose
 * octets are not sent yet.
 */
static void what_was_built_is_not_sent(void **state)
{
    enum { FPDU = 2 + 18 + 8 + 4 };

    (void)state;
    for (unsigned sent = 0; sent < 3; sent++)
        for (unsigned off = 0; off < 2; off++) {
            open_end(true);
            for (unsigned id = 1; id <= 3; id++)
                post_send(&end, id, 0, 8, 0);
            /* off: the next one all but its last octet */
            take_part(sent * FPDU + off * (FPDU - 1), 3 * FPDU);
            feed_ack(sent);
            assert_false(is_down());
            for (unsigned id = 1; id <= sent; id++)
                expect_wc(end.scq, id, IBV_WC_SUCCESS);
            expect_none(end.scq);
            feed_ack(sent + 1);
            assert_true(is_down());
            for (unsigned id = sent + 1; id <= 3; id++)
                expect_wc(end.scq, id, IBV_WC_WR_FLUSH_ERR);
            end_close(&end);
        }
}

/* The same by a Terminate that names a later request: the peer cannot have placed a request not wholly sent. */
static void a_terminate_completes_nothing_that_was_not_sent(void **state)
{
    enum { FPDU = 2 + 18 + 8 + 4, CULPRIT = 3 };
    static const struct srd_segment about = {
        .last = true, .opcode = SRD_OP_SEND, .qn = SRD_QN_SEND, .msn = CULPRIT
    };

    (void)state;
    for (unsigned sent = 0; sent < 3; sent++)
        for (unsigned off = 0; off < 2; off++) {
            uint8_t fpdu[64], out[SRD_TERMINATE_FPDU_MAX];

            open_end(true);
            for (unsigned id = 1; id <= 4; id++)
                post_send(&end, id, 0, 8, 0);
            take_part(sent * FPDU + off * (FPDU - 1), 4 * FPDU);
            srd_fpdu_begin(fpdu, &about, 8);
            end_feed(&pair, &end, out,
                srd_terminate_build(SRD_FAULT(1, 2, 5), fpdu + 2, 18 + 8, false, out), 0);
            assert_true(is_down());
            for (unsigned id = 1; id <= 4; id++)
                expect_wc(end.scq, id,
                    id == CULPRIT ? IBV_WC_REM_INV_REQ_ERR
                    : id <= sent  ? IBV_WC_SUCCESS
                                  : IBV_WC_WR_FLUSH_ERR);
            expect_none(end.scq);
            end_close(&end);
        }
}

/* Between the segments of a message of ours: that message is not complete, those before it are. */
static void in_the_middle_of_a_message_of_ours(void **state)
{
    enum { SEGMENT = 1460 - 24, OCTETS = 3 * SEGMENT };

    (void)state;
    open_end(true);
    post_send(&end, 1, 0, 8, 0);
    post_send(&end, 2, 4096, OCTETS, 0);
    take_part(32 + 1460, 32 + 3 * 1460);
    feed_ack(1);
    expect_wc(end.scq, 1, IBV_WC_SUCCESS);
    assert_false(is_down());
    take_part(2 * 1460 - 1, 2 * 1460);
    feed_ack(2);
    assert_true(is_down());
    expect_wc(end.scq, 2, IBV_WC_WR_FLUSH_ERR);
    end_close(&end);
}

/* Towards others, too, a message is complete when it has been taken, not when all that was built with it has. */
static void hand_over_is_counted_by_message(void **state)
{
    (void)state;
    open_end(false);
    for (unsigned id = 1; id <= 3; id++)
        post_send(&end, id, 0, 8, 0);
    take_part(32 + 31, 3 * 32);
    expect_wc(end.scq, 1, IBV_WC_SUCCESS);
    expect_none(end.scq);
    take_part(1, 33);
    expect_wc(end.scq, 2, IBV_WC_SUCCESS);
    expect_none(end.scq);
    take_part(32, 32);
    expect_wc(end.scq, 3, IBV_WC_SUCCESS);
    end_close(&end);
}

/* The STag alone makes no acknowledgement. */
static void what_is_no_acknowledgement(void **state)
{
    static const struct {
        const char *what;
        bool soft;
        uint8_t control, opcode;
        uint32_t payload;
        int terminate; /* -1: an ordinary Write of nothing */
    } rows[] = {
        { "without the extension", false, 0xc1, 0, 0, -1 },
        { "not the last segment", true, 0x81, 0, 0, -1 },
        { "with a payload", true, 0xc1, 0, 8, 0x1100 },
        { "with a payload, not the last segment", true, 0x81, 0, 8, 0x1100 },
        { "a Read Response", true, 0xc1, 2, 0, 0x1100 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        print_message("%s\n", rows[i].what);
        open_end(rows[i].soft);
        if (rows[i].soft)
            send_three();
        feed_tagged(rows[i].control, rows[i].opcode, 3, rows[i].payload);
        if (rows[i].terminate >= 0) {
            for (unsigned id = 1; id <= 3; id++)
                expect_wc(end.scq, id, IBV_WC_WR_FLUSH_ERR);
            expect_terminate((uint8_t)(rows[i].terminate >> 8), (uint8_t)rows[i].terminate);
        } else {
            assert_false(is_down());
            expect_none(end.scq);
        }
        end_close(&end);
    }
}

/*
 * A large payload is placed as it comes. Its message counts with the last octet of its FPDU: before that the peer has
 * not sent the whole message, and would take an acknowledgement of it for one of too many.
 */
static void a_message_counts_with_the_last_octet_of_its_fpdu(void **state)
{
    enum { LONGEST_HEADER = 20, PAYLOAD = 8192, CRC = 4 };
    struct ibv_wc wc;

    (void)state;
    for (int send = 0; send < 2; send++) {
        size_t header = send ? 20 : 16, total = header + PAYLOAD + CRC;
        uint8_t fpdu[LONGEST_HEADER + PAYLOAD + CRC] = { 0 };

        open_end(true);
        wire_put16(fpdu, (uint16_t)(header - 2 + PAYLOAD));
        fpdu[2] = send ? 0x41 : 0xc1;
        fpdu[3] = send ? 0x43 : 0x40;
        if (send) {
            wire_put32(fpdu + 12, 1);
            post_recv(&end, 1, 4096, PAYLOAD);
        } else {
            wire_put32(fpdu + 4, end.mr->rkey);
            wire_put64(fpdu + 8, at(&end, 4096));
        }
        fill(fpdu + header, PAYLOAD, 1);
        end_feed(&pair, &end, fpdu, 1000, 0);
        end_feed(&pair, &end, fpdu + 1000, total - CRC - 1000, 0);
        assert_memory_equal(end.mem + 4096, fpdu + header, PAYLOAD);
        end_feed(&pair, &end, fpdu + total - CRC, CRC - 1, 0);
        assert_false(srd_stream_owes_ack(srd_qp_from(end.qp)));
        assert_int_equal(ibv_poll_cq(end.rcq, 1, &wc), 0);
        end_feed(&pair, &end, fpdu + total - 1, 1, 0);
        assert_true(srd_stream_owes_ack(srd_qp_from(end.qp)));
        if (send)
            assert_int_equal(expect_wc(end.rcq, 1, IBV_WC_SUCCESS).byte_len, PAYLOAD);
        end_close(&end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_counts_with_the_last_octet_of_its_fpdu),
        cmocka_unit_test(refused_counts),
        cmocka_unit_test(before_anything_was_posted),
        cmocka_unit_test(repeated_count_means_nothing),
        cmocka_unit_test(reads_and_what_waits_are_not_counted),
        cmocka_unit_test(acknowledged_behind_a_failed_read),
        cmocka_unit_test(a_write_of_nothing_carries_no_key),
        cmocka_unit_test(what_was_built_is_not_sent),
        cmocka_unit_test(a_terminate_completes_nothing_that_was_not_sent),
        cmocka_unit_test(in_the_middle_of_a_message_of_ours),
        cmocka_unit_test(hand_over_is_counted_by_message),
        cmocka_unit_test(what_is_no_acknowledgement),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
