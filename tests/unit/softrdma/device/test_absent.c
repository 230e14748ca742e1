/* SPDX-License-Identifier: MIT */
/* The device refuses what it does not have, and logs that: one line for each thing, however often the program asks. */
#include "softrdma/queues/qp.h"
#include "tests/unit/softrdma/pair.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *log_path; /* NDSPI_LOG_FILE, read before main */

/* How many lines of the log have text. */
static int lines_with(const char *text)
{
    FILE *file = fopen(log_path, "r");
    char line[512];
    int count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        count += strstr(line, text) != NULL;
    fclose(file);
    return count;
}

static struct ibv_qp *create(struct end *end, enum ibv_qp_type type)
{
    struct ibv_qp_init_attr init = { .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = type,
        .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };

    errno = 0;
    return srd_create_qp(end->pd, &init);
}

static void datagrams(void **state)
{
    struct rdma_cm_id *id;
    struct end end;

    (void)state;
    end_open(&end);
    for (int i = 0; i < 3; i++) {
        assert_null(create(&end, IBV_QPT_UD));
        assert_int_equal(errno, EOPNOTSUPP);
        assert_int_equal(srd_create_id(end.events, &id, NULL, RDMA_PS_UDP), -1);
        assert_int_equal(errno, EPROTONOSUPPORT);
    }
    assert_int_equal(lines_with("info: soft: datagrams (UD) are not provided"), 1); /* a probe */
    end_close(&end);
}

static void xrc(void **state)
{
    struct ibv_xrcd_init_attr attr = { 0 };
    struct end end;

    (void)state;
    end_open(&end);
    assert_null(create(&end, IBV_QPT_XRC_SEND));
    assert_int_equal(errno, EOPNOTSUPP);
    assert_null(ibv_open_xrcd(end.context, &attr));
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(lines_with("XRC is not provided"), 1);
    assert_null(create(&end, IBV_QPT_UC));
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(lines_with("a type that is not provided"), 1);
    end_close(&end);
}

/*
 * The rest of the table "What stays refused" in docs/softrdma.md. Errors as libibverbs' manual pages have them, and as
 * its inline functions return them for a provider without the operation.
 */
static void what_has_no_line_of_its_own(void **state)
{
    struct ibv_cq_init_attr_ex times = { .cqe = 4,
        .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
    struct ibv_alloc_dm_attr memory = { .length = 64 };
    struct sockaddr_storage infiniband = { .ss_family = AF_IB };
    struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
    struct ibv_flow_attr flow = { .size = sizeof(flow), .port = 1 };
    struct ibv_device_attr_ex device;
    struct rdma_cm_id *id;
    struct end end;

    (void)state;
    end_open(&end);
    end_make_qp(&end);
    errno = 0;
    assert_null(srd_reg_mr(end.pd, end.memory, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(ibv_query_device_ex(end.context, NULL, &device), 0);
    assert_int_equal(device.odp_caps.general_caps, 0);
    assert_int_equal(device.max_dm_size, 0);
    assert_int_equal(device.completion_timestamp_mask, 0);
    errno = 0;
    assert_null(ibv_alloc_dm(end.context, &memory));
    assert_int_equal(errno, EOPNOTSUPP);
    errno = 0;
    assert_null(ibv_create_cq_ex(end.context, &times));
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(ibv_query_rt_values_ex(end.context, &values), EOPNOTSUPP);
    errno = 0;
    assert_null(ibv_create_flow(end.qp, &flow));
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(srd_create_id(end.events, &id, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_bind_addr(id, (struct sockaddr *)&infiniband), -1);
    assert_int_equal(errno, EAFNOSUPPORT);
    assert_int_equal(srd_resolve_addr(id, NULL, (struct sockaddr *)&infiniband, 1000), -1);
    assert_int_equal(errno, EAFNOSUPPORT);
    assert_int_equal(srd_destroy_id(id), 0);
    end_close(&end);
}

/* Towards a peer that is not softrdma (tests/unit/softrdma/stream has the cases). */
static void atomics_and_immediate_data(void **state)
{
    struct ibv_sge sge = { .length = 8 };
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD
    };
    struct ibv_send_wr *bad;
    struct srd_qp *qp;
    struct end end;

    (void)state;
    end_open(&end);
    end_make_qp(&end);
    qp = srd_qp_from(end.qp);
    end.qp->state = IBV_QPS_RTS;
    lock_acquire(&qp->sq.lock);
    srd_sq_plain_peer_locked(&qp->sq);
    lock_release(&qp->sq.lock);
    for (int i = 0; i < 2; i++) {
        wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
        assert_int_equal(ibv_post_send(end.qp, &wr, &bad), EINVAL);
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        assert_int_equal(ibv_post_send(end.qp, &wr, &bad), EINVAL);
    }
    assert_int_equal(lines_with("atomic operations are refused: this peer is not softrdma"), 1);
    assert_int_equal(lines_with("immediate data is refused: this peer is not softrdma"), 1);
    end_close(&end);
}

/* As InfiniBand's examples connect: number, address and sequence number, exchanged over a socket. */
static void a_bootstrap_of_the_program(void **state)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = 0x1234,
        .rq_psn = 1,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 1 } } };
    struct ibv_qp_init_attr init;
    struct end end;

    (void)state;
    end_open(&end);
    end_make_qp(&end);
    for (int i = 0; i < 2; i++)
        assert_int_equal(srd_modify_qp(end.qp, &attr,
                             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
            EINVAL);
    assert_int_equal(srd_query_qp(end.qp, &attr, 0, &init), 0);
    assert_int_equal(attr.qp_state, IBV_QPS_INIT);
    assert_int_equal(lines_with("connects a queue pair by number and address"), 1);
    end_close(&end);
}

/* Attributes of the connection manager are moved by hand as before, and so is a state alone. */
static void attributes_of_the_connection_manager_are_taken(void **state)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
    struct pair pair;

    (void)state;
    pair_connect(&pair, "127.0.0.1"); /* by srd_init_qp_attr */
    pair_close(&pair);
    pair_prepare(&pair, "127.0.0.1");
    assert_int_equal(srd_modify_qp(pair.active.qp, &attr, IBV_QP_STATE), 0);
    pair_close(&pair);
}

/* The log is opened before main, so the process begins anew, with a file that no other run has. */
static int begin_with_own_log(char **argv)
{
    char path[] = "/tmp/ndspi-absent.XXXXXX";
    int fd = mkstemp(path);

    if (fd >= 0 && !close(fd) && !setenv("NDSPI_LOG_FILE", path, 1) &&
        !setenv("NDSPI_LOG", "info,soft", 1))
        execv("/proc/self/exe", argv);
    perror(path);
    return 1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams),
        cmocka_unit_test(xrc),
        cmocka_unit_test(what_has_no_line_of_its_own),
        cmocka_unit_test(atomics_and_immediate_data),
        cmocka_unit_test(a_bootstrap_of_the_program),
        cmocka_unit_test(attributes_of_the_connection_manager_are_taken),
    };

    int failed;

    (void)argc;
    log_path = getenv("NDSPI_LOG_FILE");
    if (!log_path)
        return begin_with_own_log(argv);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(log_path);
    return failed;
}
