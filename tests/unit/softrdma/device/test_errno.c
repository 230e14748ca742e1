/* SPDX-License-Identifier: MIT */
/*
 * Verbs that return an error number set errno to it: ibv_modify_qp(3) and its kind return "the value of errno on
 * failure", and programs print that (perror). Source: rdma-core's manual pages.
 */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/queues/qp.h"
#include "softrdma/queues/cq.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define EXPECT(error, call)                                                                        \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_int_equal((call), error);                                                           \
        assert_int_equal(errno, error);                                                            \
    } while (0)

static struct end end;
static struct ibv_srq *srq;

static int open_all(void **state)
{
    struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

    (void)state;
    end_open(&end);
    end_make_qp(&end);
    srq = srd_create_srq(end.pd, &init);
    return srq ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    assert_int_equal(srd_destroy_srq(srq), 0);
    end_close(&end);
    return 0;
}

static void modify_qp(void **state)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD };

    (void)state;
    attr.port_num = 2;
    EXPECT(EINVAL, srd_modify_qp(end.qp, &attr, IBV_QP_PORT));
    EXPECT(EINVAL, srd_modify_qp(end.qp, &attr, IBV_QP_CUR_STATE));
    EXPECT(EINVAL, srd_modify_qp(end.qp, &attr, IBV_QP_STATE)); /* not from RESET */
    attr.dest_qp_num = 1;                                       /* only for an exchange */
    EXPECT(EINVAL, srd_modify_qp(end.qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN));
}

static void requests(void **state)
{
    struct ibv_recv_wr receive = { .num_sge = -1 }, *bad_receive;
    struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
    struct ibv_mw *mw = ibv_alloc_mw(end.pd, IBV_MW_TYPE_1);
    struct ibv_mw_bind bind = { .bind_info.mr = end.mr };

    (void)state;
    EXPECT(EINVAL, ibv_post_send(end.qp, &send, &bad_send)); /* in RESET */
    assert_ptr_equal(bad_send, &send);
    EXPECT(EINVAL, ibv_bind_mw(end.qp, mw, &bind));
    assert_int_equal(ibv_dealloc_mw(mw), 0);
    EXPECT(EINVAL, ibv_post_recv(end.qp, &receive, &bad_receive));
    EXPECT(EINVAL, ibv_post_srq_recv(srq, &receive, &bad_receive));
    receive.num_sge = 0;
    assert_int_equal(ibv_post_srq_recv(srq, &receive, &bad_receive), 0);
    EXPECT(ENOMEM, ibv_post_srq_recv(srq, &receive, &bad_receive)); /* it has room for one */
    for (int i = 0; i < END_DEPTH; i++)
        assert_int_equal(ibv_post_recv(end.qp, &receive, &bad_receive), 0);
    EXPECT(ENOMEM, ibv_post_recv(end.qp, &receive, &bad_receive));
}

static void extended_requests(void **state)
{
    struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_RC,
        .send_cq = end.cq,
        .recv_cq = end.cq,
        .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .pd = end.pd,
        .send_ops_flags = IBV_QP_EX_WITH_SEND };
    struct ibv_cq_init_attr_ex queue = { .cqe = 1 };
    struct ibv_poll_cq_attr poll = { .comp_mask = 1 };
    struct ibv_qp *qp = srd_create_qp_ex(end.context, &init);
    struct ibv_cq_ex *cq = srd_create_cq_ex(end.context, &queue);
    struct ibv_qp_ex *ex;

    (void)state;
    assert_non_null(qp);
    assert_non_null(cq);
    ex = srd_qp_to_qp_ex(qp);
    ibv_wr_start(ex);
    ibv_wr_send(ex);
    EXPECT(EINVAL, ibv_wr_complete(ex)); /* in RESET */
    EXPECT(EINVAL, ibv_start_poll(cq, &poll));
    assert_int_equal(srd_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    assert_int_equal(srd_destroy_qp(qp), 0);
}

static void queues(void **state)
{
    struct ibv_modify_cq_attr cq = { .attr_mask = 0 };
    struct ibv_srq_attr attr = { .max_wr = 0, .srq_limit = 2 };

    (void)state;
    EXPECT(EINVAL, srd_resize_cq(end.cq, 0));
    EXPECT(EINVAL, srd_modify_cq(end.cq, &cq));
    EXPECT(EINVAL, srd_modify_srq(srq, &attr, 1 << 30));
    EXPECT(EINVAL, srd_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
    EXPECT(EINVAL, srd_modify_srq(srq, &attr, IBV_SRQ_LIMIT)); /* more than it has */
}

static void the_port(void **state)
{
    struct ibv_port_attr port;
    struct ibv_gid_entry gid;

    (void)state;
    EXPECT(EINVAL, srd_query_port(end.context, 2, &port));
    EXPECT(EINVAL, srd_query_gid_ex(end.context, 2, 0, &gid, 0, sizeof(gid)));
    EXPECT(EOPNOTSUPP, srd_query_gid_ex(end.context, 1, 0, &gid, 1, sizeof(gid)));
    EXPECT(ENODATA, srd_query_gid_ex(end.context, 1, SRD_MAX_GID - 1, &gid, 0, sizeof(gid)));
}

/* Its number in the child, or 0. */
static int first_that_differs(void)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
    struct ibv_qp_init_attr init;
    struct ibv_srq_attr srq_attr = { .max_wr = 1 };
    struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad;
    struct ibv_modify_cq_attr cq = { .attr_mask = IBV_CQ_ATTR_MODERATE };
    int at = 0;

#define IS_STALE(call) (++at, errno = 0, (call) == EIO && errno == EIO)
    if (IS_STALE(srd_modify_qp(end.qp, &attr, IBV_QP_STATE)) &&
        IS_STALE(srd_query_qp(end.qp, &attr, 0, &init)) &&
        IS_STALE(ibv_post_send(end.qp, &send, &bad)) && IS_STALE(srd_resize_cq(end.cq, 8)) &&
        IS_STALE(srd_modify_cq(end.cq, &cq)) && IS_STALE(ibv_req_notify_cq(end.cq, 0)) &&
        IS_STALE(srd_query_srq(srq, &srq_attr)) &&
        IS_STALE(srd_modify_srq(srq, &srq_attr, IBV_SRQ_MAX_WR)))
        return 0;
    return at;
}

/* A forked child has objects that do not work (softrdma/context/context.h). */
static void in_a_child(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    if (!child)
        _exit(first_that_differs());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(modify_qp, open_all, close_all),
        cmocka_unit_test_setup_teardown(requests, open_all, close_all),
        cmocka_unit_test_setup_teardown(extended_requests, open_all, close_all),
        cmocka_unit_test_setup_teardown(queues, open_all, close_all),
        cmocka_unit_test_setup_teardown(the_port, open_all, close_all),
        cmocka_unit_test_setup_teardown(in_a_child, open_all, close_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
