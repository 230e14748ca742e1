/* SPDX-License-Identifier: MIT */
/*
 * Streams with CRC: the sum goes on while the octets of an FPDU come, nothing is placed before it is right, and large
 * FPDUs are neither moved in staging nor copied to an odd place.
 */
#include "softrdma/wire/crc32c.h"
#include "tests/unit/softrdma/stream_pair.h"

#include <string.h>

/* The payload of the largest FPDU, whole cache lines; and that FPDU of a Write: 16 octets of headers, 4 of the sum. */
enum { LARGEST = 65472, FPDU = 65492 };
enum { SOURCE = 1 << 20, SINK = 2 << 20, ROOM = 1 << 20 };

static uint8_t octets[ROOM];

/* What a's Write of so many octets looks like on the wire; the RTR is out of the way. */
static size_t written(struct pair *pair, uint32_t count)
{
    pair_open(pair, PAIR_SOFT | PAIR_CRC, 0);
    pair_pump(pair);
    fill(pair->a.mem + SOURCE, count, count);
    memset(pair->b.mem + SINK, 0, count);
    post_write(&pair->a, 1, SOURCE, count, at(&pair->b, SINK), pair->b.mr->rkey, 0);
    return end_take(pair, &pair->a, octets, sizeof(octets));
}

static bool is_untouched(const uint8_t *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (p[i])
            return false;
    return true;
}

static void nothing_is_placed_before_the_sum_is_known(void **state)
{
    static const size_t pieces[] = { 1000, 4096, 4100, 20000, 65491, 65492 };

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        struct pair pair;
        size_t count = written(&pair, LARGEST);

        assert_int_equal(count, FPDU);
        end_feed(&pair, &pair.b, octets, count - 1, pieces[i]);
        assert_true(is_untouched(pair.b.mem + SINK, LARGEST));
        end_feed(&pair, &pair.b, octets + count - 1, 1, 0);
        assert_memory_equal(pair.b.mem + SINK, pair.a.mem + SOURCE, LARGEST);
        pair_pump(&pair);
        pair_close(&pair);
    }
}

/* One bit anywhere, the sum itself included, and the octets come in any pieces. */
static void nothing_of_a_wrong_fpdu_is_placed(void **state)
{
    static const size_t pieces[] = { 0, 777, 4096, 30000 };
    static const size_t wrong[] = { 2, 7, 16, 4096, 40000, 65487, 65488, 65491 };

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
        for (size_t j = 0; j < sizeof(wrong) / sizeof(*wrong); j++) {
            struct pair pair;
            size_t count = written(&pair, LARGEST);

            octets[wrong[j]] ^= 0x10;
            end_feed(&pair, &pair.b, octets, count, pieces[i]);
            assert_true(is_untouched(pair.b.mem + SINK, LARGEST));
            assert_true(pair.b.actions & SRD_STREAM_DOWN);
            expect_none(pair.b.rcq);
            pair_pump(&pair);
            expect_wc(pair.a.scq, 1, IBV_WC_WR_FLUSH_ERR);
            pair_close(&pair);
        }
}

static size_t space(struct end *end)
{
    struct srd_qp *qp = srd_qp_from(end->qp);
    struct iovec iov[SRD_RX_IOV];
    size_t total = 0;
    int n;

    lock_acquire(&qp->rx_lock);
    n = srd_stream_rx_space(qp, iov);
    for (int i = 0; i < n; i++)
        total += iov[i].iov_len;
    srd_stream_rx(qp, 0, 0);
    lock_release(&qp->rx_lock);
    return total;
}

/* What is read behind one that is small, or complete, is as much as there is room for. */
static void a_large_fpdu_is_read_to_its_end(void **state)
{
    struct pair pair;
    size_t count = written(&pair, 3 * LARGEST);

    (void)state;
    assert_int_equal(count, 3 * FPDU);
    assert_int_equal(space(&pair.b), 131072);
    end_feed(&pair, &pair.b, octets, 1, 0);
    assert_int_equal(space(&pair.b), 131071);
    end_feed(&pair, &pair.b, octets + 1, 69999, 0);
    assert_int_equal(space(&pair.b), 2 * FPDU - 70000);
    end_feed(&pair, &pair.b, octets + 70000, 2 * FPDU - 70000, 0);
    assert_int_equal(space(&pair.b), 131072);
    end_feed(&pair, &pair.b, octets + 2 * FPDU, 40000, 0);
    assert_int_equal(space(&pair.b), FPDU - 40000);
    end_feed(&pair, &pair.b, octets + 2 * FPDU + 40000, FPDU - 40000, 0);
    assert_memory_equal(pair.b.mem + SINK, pair.a.mem + SOURCE, 3 * LARGEST);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    pair_close(&pair);
}

/* What a softrdma end sends at most with CRC. */
static void so_is_one_of_32_kib(void **state)
{
    struct pair pair;
    size_t count = written(&pair, 32704);

    (void)state;
    assert_int_equal(count, 32724);
    end_feed(&pair, &pair.b, octets, 20000, 0);
    assert_int_equal(space(&pair.b), 12724);
    end_feed(&pair, &pair.b, octets + 20000, 12724, 0);
    assert_memory_equal(pair.b.mem + SINK, pair.a.mem + SOURCE, 32704);
    pair_pump(&pair);
    pair_close(&pair);
}

/* Headers are 16 octets (tagged) and 20; smaller payloads stand behind theirs without a gap. */
static void large_payloads_are_copied_to_a_cache_line(void **state)
{
    struct pair pair;
    struct srd_qp *qp;
    struct iovec iov[SRD_TX_IOV];
    unsigned actions = 0;
    int n;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_CRC, 0);
    pair_pump(&pair);
    qp = srd_qp_from(pair.a.qp);
    post_send(&pair.a, 1, SOURCE, 100, 0);
    post_send(&pair.a, 2, SOURCE, 8192, 0);
    post_send(&pair.a, 3, SOURCE + 3, 8200, 0);
    post_write(&pair.a, 4, SOURCE, 9000, at(&pair.b, SINK), pair.b.mr->rkey, 0);
    lock_acquire(&qp->tx_lock);
    n = srd_stream_tx(qp, iov, pair.now_ms, &actions);
    assert_int_equal(n, 3);
    assert_int_equal(iov[0].iov_len, 20 + 100 + 4 + 20 + 8192 + 4);
    assert_int_equal(iov[1].iov_len, 20 + 8200 + 4);
    assert_int_equal(((uintptr_t)iov[1].iov_base + 20) % 64, 0);
    assert_int_equal(iov[2].iov_len, 16 + 9000 + 4);
    assert_int_equal(((uintptr_t)iov[2].iov_base + 16) % 64, 0);
    for (int i = 1; i < n; i++)
        assert_int_equal(srd_crc32c(0, iov[i].iov_base, iov[i].iov_len), 0x48674bc7);
    srd_stream_tx_done(qp, 0, pair.now_ms);
    lock_release(&qp->tx_lock);
    pair_close(&pair);
}

/* What four of them take is still in the cache when the kernel copies it. */
static void four_large_fpdus_are_sent_in_one_call(void **state)
{
    const size_t expected[] = { 4 * FPDU, FPDU + 16 + 100 + 4 };
    struct pair pair;
    struct srd_qp *qp;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_CRC, 0);
    pair_pump(&pair);
    qp = srd_qp_from(pair.a.qp);
    post_write(&pair.a, 1, SOURCE, 5 * LARGEST + 100, at(&pair.b, SINK), pair.b.mr->rkey, 0);
    lock_acquire(&qp->tx_lock);
    for (int call = 0; call < 2; call++) {
        struct iovec iov[SRD_TX_IOV];
        unsigned actions = 0;
        size_t octets = 0;

        for (int n = srd_stream_tx(qp, iov, pair.now_ms, &actions); n > 0; n--)
            octets += iov[n - 1].iov_len;
        assert_int_equal(octets, expected[call]);
        srd_stream_tx_done(qp, octets, pair.now_ms);
    }
    lock_release(&qp->tx_lock);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_placed_before_the_sum_is_known),
        cmocka_unit_test(nothing_of_a_wrong_fpdu_is_placed),
        cmocka_unit_test(a_large_fpdu_is_read_to_its_end),
        cmocka_unit_test(so_is_one_of_32_kib),
        cmocka_unit_test(large_payloads_are_copied_to_a_cache_line),
        cmocka_unit_test(four_large_fpdus_are_sent_in_one_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
