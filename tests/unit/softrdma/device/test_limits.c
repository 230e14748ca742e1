/* SPDX-License-Identifier: MIT */
/* Limits that a peer names in its Request, and those that a program gives a shared receive queue. */
#include "tests/unit/softrdma/pair.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- read limits of a Request ---- */

/* A Request by hand; reads NULL: of revision 1, which has no limits. */
static int send_request(const struct sockaddr_storage *to, const uint16_t *reads)
{
    uint8_t frame[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F', 'r', 'a', 'm',
        'e', 0x10, 2, 0, 4 };
    const size_t octets = reads ? 24 : 20;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    for (int i = 0; reads && i < 2; i++) {
        frame[20 + 2 * i] = (uint8_t)(0x80 | reads[i] >> 8);
        frame[21 + 2 * i] = (uint8_t)reads[i];
    }
    if (!reads)
        memcpy(frame + 16, (uint8_t[]){ 0, 1, 0, 0 }, 4);
    assert_int_equal(connect(fd, (const struct sockaddr *)to, sizeof(struct sockaddr_in)), 0);
    assert_int_equal(send(fd, frame, octets, MSG_NOSIGNAL), (int)octets);
    return fd;
}

/*
 * IRD and ORD have 14 bits (RFC 6581, 6.3.1 and 9.1), and rdma_conn_param an octet. 0x3fff asks for no negotiation, and
 * revision 1 knows none: then the device's own limit is told, 16.
 */
static void read_limits_of_a_request(void **state)
{
    static const struct {
        uint16_t reads[2]; /* IRD, ORD */
        uint8_t initiator_depth, responder_resources;
    } rows[] = {
        { { 4, 2 }, 4, 2 },
        { { 0, 1 }, 0, 1 },
        { { 255, 254 }, 255, 254 },
        { { 256, 257 }, 255, 255 },
        { { 0x3ffe, 3 }, 255, 3 },
        { { 0x3fff, 5 }, 16, 5 },
        { { 6, 0x3fff }, 6, 16 },
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    for (size_t i = 0; i <= ROWS; i++) {
        int fd = send_request(&pair.address, i < ROWS ? rows[i].reads : NULL);
        struct rdma_cm_event *event =
            test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
        struct rdma_cm_id *id = event->id;

        assert_int_equal(
            event->param.conn.initiator_depth, i < ROWS ? rows[i].initiator_depth : 16);
        assert_int_equal(
            event->param.conn.responder_resources, i < ROWS ? rows[i].responder_resources : 16);
        assert_int_equal(srd_ack_cm_event(event), 0);
        assert_int_equal(srd_destroy_id(id), 0);
        close(fd);
    }
    pair_close(&pair);
}

/* ---- shared receive queues ---- */

/* ibv_modify_srq of rdma-core: what is not valid changes nothing. */
static void attributes_of_a_shared_receive_queue(void **state)
{
    struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
    const struct {
        uint32_t depth, limit;
        int mask, error;
    } rows[] = {
        { 0, 8, IBV_SRQ_LIMIT, 0 },
        { 0, 9, IBV_SRQ_LIMIT, EINVAL },
        { 0, 0, IBV_SRQ_MAX_WR, EINVAL },
        { 16385, 0, IBV_SRQ_MAX_WR, EINVAL },
        { 16, 1, 1 << 2 | IBV_SRQ_MAX_WR, EINVAL },
        { 16, 1, 1 << 3 | IBV_SRQ_LIMIT, EINVAL },
    };
    struct ibv_srq_attr attr;
    struct ibv_srq *srq;
    struct end end;

    (void)state;
    end_open(&end);
    srq = srd_create_srq(end.pd, &init);
    assert_non_null(srq);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        attr = (struct ibv_srq_attr){ .max_wr = rows[i].depth, .srq_limit = rows[i].limit };
        assert_int_equal(srd_modify_srq(srq, &attr, rows[i].mask), rows[i].error);
        assert_int_equal(srd_query_srq(srq, &attr), 0);
        assert_int_equal(attr.max_wr, 8);
        assert_int_equal(attr.max_sge, 1);
        assert_int_equal(
            attr.srq_limit, 0); /* it is empty: the limit is reached at once, and over */
    }
    attr.max_wr = 16;
    assert_int_equal(srd_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
    assert_int_equal(srd_query_srq(srq, &attr), 0);
    assert_int_equal(attr.max_wr, 16);
    assert_int_equal(srd_destroy_srq(srq), 0);
    end_close(&end);
}

static void a_shared_receive_queue_has_limits(void **state)
{
    static const struct {
        uint32_t depth, entries;
        bool made;
    } rows[] = { { 1, 1, true }, { 16384, 1, true }, { 0, 1, false }, { 16385, 1, false } };
    struct end end;

    (void)state;
    end_open(&end);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ibv_srq_init_attr init = { .attr = { .max_wr = rows[i].depth,
                                              .max_sge = rows[i].entries } };
        struct ibv_srq *srq;

        errno = 0;
        srq = srd_create_srq(end.pd, &init);
        assert_int_equal(srq != NULL, rows[i].made);
        assert_int_equal(errno, rows[i].made ? 0 : EINVAL);
        if (srq)
            assert_int_equal(srd_destroy_srq(srq), 0);
    }
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_limits_of_a_request),
        cmocka_unit_test(attributes_of_a_shared_receive_queue),
        cmocka_unit_test(a_shared_receive_queue_has_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
