/* SPDX-License-Identifier: MIT */
/*
 * What the log tells of a stream that ends by an error: of the memory that the peer named, of a request of this end,
 * and of a Terminate. The programs of robustness.mistakes have the usual ones; these are those that NetworkDirect's
 * programs do not come to by one call. The words are ours, the codes RFC 5040's, 5041's and 5044's.
 */
#include "softrdma/memory/memory.h"
#include "softrdma/memory/stag.h"
#include "softrdma/wire/fault.h"
#include "tests/unit/softrdma/stream_pair.h"
#include "tests/unit/util/log_catch.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 2 };

/* On a pair that is connected. */
typedef void (*mistake)(struct pair *pair);

static struct ibv_mw *window;

static uint32_t bind_window(struct end *b, struct ibv_qp *qp, size_t octets)
{
    uint32_t rkey;

    window = ibv_alloc_mw(b->pd, IBV_MW_TYPE_2);
    rkey = ibv_inc_rkey(window->rkey);
    assert_int_equal(srd_stag_bind(srd_qp_from(qp), srd_mw_entry(window), rkey,
                         &(struct srd_bind){ .region_key = b->mr->lkey,
                             .addr = at(b, 0),
                             .length = octets,
                             .access = IBV_ACCESS_REMOTE_WRITE }),
        IBV_WC_SUCCESS);
    return rkey;
}

static void queue_pair_forbids(struct pair *pair)
{
    struct ibv_qp_attr attr = { .qp_access_flags = IBV_ACCESS_LOCAL_WRITE };

    assert_int_equal(srd_modify_qp(pair->b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
    post_write(&pair->a, 1, 0, 8, at(&pair->b, 0), pair->b.mr->rkey, 0);
}

static void window_of_another(struct pair *pair)
{
    struct ibv_qp_init_attr attr = { .send_cq = pair->b.scq,
        .recv_cq = pair->b.rcq,
        .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = IBV_QPT_RC };
    struct ibv_qp *other = srd_create_qp(pair->b.pd, &attr);

    assert_non_null(other);
    post_write(&pair->a, 1, 0, 8, at(&pair->b, 0), bind_window(&pair->b, other, 64), 0);
    pair_pump(pair);
    assert_int_equal(srd_destroy_qp(other), 0);
}

static void window_too_short(struct pair *pair)
{
    post_write(&pair->a, 1, 0, 65, at(&pair->b, 0), bind_window(&pair->b, pair->b.qp, 64), 0);
}

static void earlier_key_of_a_window(struct pair *pair)
{
    uint32_t rkey = bind_window(&pair->b, pair->b.qp, 64);

    post_write(&pair->a, 1, 0, 8, at(&pair->b, 0), (rkey & ~0xffu) | ((rkey - 1) & 0xff), 0);
}

static void in_front(struct pair *pair)
{
    post_read(&pair->a, 1, 0, 8, at(&pair->b, 0) - 16, pair->b.mr->rkey, 0);
}

static void far_behind(struct pair *pair)
{
    post_read(&pair->a, 1, 0, 8, at(&pair->b, MEM_OCTETS) + 100, pair->b.mr->rkey, 0);
}

static void region_invalidated_by_the_peer(struct pair *pair)
{
    post_recv(&pair->b, 10, 0, 8);
    post_send_inv(&pair->a, 1, pair->b.mr->rkey);
}

static void atomic_between(struct pair *pair)
{
    post_atomic(
        &pair->a, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, at(&pair->b, 4), pair->b.mr->rkey, 1, 0, 0);
}

static void window_in_an_entry(struct pair *pair)
{
    uint32_t key = bind_window(&pair->a, pair->a.qp, 64);
    struct ibv_sge sge = { .addr = at(&pair->a, 0), .length = 8, .lkey = key };
    struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

    assert_int_equal(srd_post_send(pair->a.qp, &wr, &bad), 0);
}

static void bind_beyond_the_region(struct pair *pair)
{
    window = ibv_alloc_mw(pair->a.pd, IBV_MW_TYPE_2);
    post_bind(&pair->a, 1, window, ibv_inc_rkey(window->rkey), pair->a.mr, 0, MEM_OCTETS + 1,
        IBV_ACCESS_REMOTE_READ);
}

static void invalidate_of_nothing(struct pair *pair)
{
    post_local_inv(&pair->a, 1, pair->a.mr->rkey);
}

static const struct row {
    mistake make;
    const char *lines[LINES]; /* parts of them: at the end that finds it, at the other one */
} rows[] = {
    { queue_pair_forbids,
        { ": the memory allows it, the queue pair does not: remote write is missing in its access "
          "flags "
          "(Terminate 0/1/02)",
            ": its region or window does not allow remote writes (Terminate 0/1/02)" } },
    { window_of_another, { ": its window belongs to another queue pair (Terminate 1/1/02)",
                             ": the token belongs to another protection domain, or to a window of "
                             "another queue pair "
                             "(Terminate 1/1/02)" } },
    { window_too_short,
        { " the range ends 1 bytes behind its end (Terminate 1/1/01)",
            ": the range is not inside of the region or window (Terminate 1/1/01)" } },
    { earlier_key_of_a_window, { ": the token is of an earlier Bind of its window, which has "
                                 "another now (Terminate 1/1/00)",
                                   "the peer refused the Write of 8 bytes to token 0x" } },
    { in_front, { " the range begins 16 bytes in front of it (Terminate 0/1/01)",
                    "the peer refused the Read of 8 bytes from token 0x" } },
    { far_behind, { " the range begins 100 bytes behind its end (Terminate 0/1/01)",
                      ": the range is not inside of the region or window (Terminate 0/1/01)" } },
    { region_invalidated_by_the_peer,
        { "refuses the peer's Send of 0 bytes that invalidates token 0x",
            ": the token is not one that a peer may invalidate: no bound window of type 2, no fast "
            "region "
            "(Terminate 0/2/09)" } },
    { atomic_between, { "refuses the peer's atomic operation on token 0x",
                          "the peer refused the fetch-and-add of 8 bytes to token 0x" } },
    { window_in_an_entry,
        { ": the token is a window's, which is for peers: use its region's (Terminate 0/0/00)",
            ": the peer ended the connection: RDMAP: local catastrophic error: " } },
    { bind_beyond_the_region, { " fails: the window is bound already, or its region or range does "
                                "not allow it (Terminate 0/0/00)",
                                  "(Terminate 0/0/00)" } },
    { invalidate_of_nothing, { " fails: no window of this queue pair, and no fast region, has this "
                               "token now (Terminate 0/0/00)",
                                 "(Terminate 0/0/00)" } },
};

static void both_ends_tell(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pair pair;
        const char *told;

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        log_catch();
        rows[i].make(&pair);
        pair_pump(&pair);
        told = log_caught();
        for (int line = 0; line < LINES; line++)
            if (!strstr(told, rows[i].lines[line]))
                fail_msg("row %zu has no \"%s\" but:\n%s", i, rows[i].lines[line], told);
        if (window)
            assert_int_equal(ibv_dealloc_mw(window), 0);
        window = NULL;
        pair_close(&pair);
    }
}

/* Octets changed on the way have no header that could be told of. */
static void a_wrong_checksum_is_told_by_its_name(void **state)
{
    uint8_t fpdu[4096];
    struct pair pair;
    const char *told;
    size_t octets;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_CRC, 0);
    pair_pump(&pair);
    log_catch();
    post_write(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    octets = end_take(&pair, &pair.a, fpdu, sizeof(fpdu));
    fpdu[20] ^= 1;
    end_feed(&pair, &pair.b, fpdu, octets, 0);
    pair_pump(&pair);
    told = log_caught();
    assert_non_null(
        strstr(told, " ends its connection: MPA: CRC does not match (Terminate 2/0/02)"));
    assert_non_null(strstr(told,
        ": the peer ended the connection: MPA: CRC does not match: octets were changed on the way "
        "(Terminate 2/0/02)"));
    pair_close(&pair);
}

/* Numbers of RFC 5040 section 4.8, RFC 5041 section 8, RFC 5044 section 8; in order, so each once. */
static void every_error_of_the_rfcs_has_its_row(void **state)
{
    static const int codes[] = { 0x0000, 0x0100, 0x0101, 0x0102, 0x0103, 0x0104, 0x0109, 0x01ff,
        0x0205, 0x0206, 0x0207, 0x0208, 0x0209, 0x02ff, 0x1000, 0x1100, 0x1101, 0x1102, 0x1103,
        0x1104, 0x1201, 0x1202, 0x1203, 0x1204, 0x1205, 0x1206, 0x2001, 0x2002, 0x2003, 0x2004,
        0x2005, 0x2006, 0x2007 };

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        assert_int_equal(srd_fault_row(codes[i])->fault, codes[i]);
    assert_int_equal(srd_fault_row(0x1777)->fault, SRD_FAULT_NONE);
    for (const struct srd_fault_row *row = srd_fault_rows; row[1].fault != SRD_FAULT_NONE; row++)
        assert_true(row[0].fault < row[1].fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_tell),
        cmocka_unit_test(a_wrong_checksum_is_told_by_its_name),
        cmocka_unit_test(every_error_of_the_rfcs_has_its_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
