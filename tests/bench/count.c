/* SPDX-License-Identifier: MIT */
/*
 * ndspi-bench-count - one Send, one Receive and their completions, over and over, on the fake
 * device; run under callgrind by ndspi-bench, which collects inside bench_counted only.
 *
 * usage: ndspi-bench-count v2|verbs together|singly
 * v2: through the public vtables of the libndspi as installed. verbs: the same by raw verbs calls.
 */
#include "tests/bench/count.h"

#include "tests/support/fake_device.h"
#include "tests/support/nd2_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OCTETS = 8, DEPTH = 16, WARMUP = 100 };

/* Entered once with the number of rounds to count; what it calls is counted with it. */
__attribute__((noinline, visibility("default"))) void bench_counted(
    void (*rounds)(void *, unsigned), void *context, unsigned count);

void bench_counted(void (*rounds)(void *, unsigned), void *context, unsigned count)
{
    rounds(context, count);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "ndspi-bench-count: %s\n", what);
    exit(1);
}

static void v2_posts(struct nd2_end *end)
{
    ND2_SGE sge = { end->memory, OCTETS, end->lkey };

    if (end->qp->lpVtbl->Receive(end->qp, end, &sge, 1) != ND_SUCCESS ||
        end->qp->lpVtbl->Send(end->qp, end, &sge, 1, 0) != ND_SUCCESS)
        die("a post failed");
}

static void v2_together(void *context, unsigned count)
{
    struct nd2_end *end = context;
    ND2_RESULT results[2];

    while (count-- > 0) {
        v2_posts(end);
        if (end->cq->lpVtbl->GetResults(end->cq, results, 2) != 2)
            die("a completion is missing");
    }
}

static void v2_singly(void *context, unsigned count)
{
    struct nd2_end *end = context;
    ND2_RESULT result;

    while (count-- > 0) {
        v2_posts(end);
        for (int i = 0; i < 2; i++)
            if (end->cq->lpVtbl->GetResults(end->cq, &result, 1) != 1)
                die("a completion is missing");
    }
}

struct verbs_end {
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    char memory[OCTETS];
};

static void verbs_posts(struct verbs_end *end)
{
    struct ibv_sge sge = {
        .addr = (uintptr_t)end->memory, .length = OCTETS, .lkey = end->mr->lkey
    };
    struct ibv_recv_wr receive = { .wr_id = (uintptr_t)end, .sg_list = &sge, .num_sge = 1 },
                       *bad_receive;
    struct ibv_send_wr send = {
        .wr_id = (uintptr_t)end,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
    };
    struct ibv_send_wr *bad_send;

    if (ibv_post_recv(end->qp, &receive, &bad_receive) != 0 ||
        ibv_post_send(end->qp, &send, &bad_send) != 0)
        die("a post failed");
}

static void verbs_together(void *context, unsigned count)
{
    struct verbs_end *end = context;
    struct ibv_wc wc[2];

    while (count-- > 0) {
        verbs_posts(end);
        if (ibv_poll_cq(end->cq, 2, wc) != 2)
            die("a completion is missing");
    }
}

static void verbs_singly(void *context, unsigned count)
{
    struct verbs_end *end = context;
    struct ibv_wc wc;

    while (count-- > 0) {
        verbs_posts(end);
        for (int i = 0; i < 2; i++)
            if (ibv_poll_cq(end->cq, 1, &wc) != 1)
                die("a completion is missing");
    }
}

static void *v2_open(void)
{
    static struct nd2_end end;
    struct nd2_end_options options = { .depth = DEPTH, .memory_octets = 4096 };

    if (NdStartup() != ND_SUCCESS || nd2_end_open(&end, &options) != ND_SUCCESS ||
        nd2_end_connect(&end, htons(7)) != ND_SUCCESS)
        die(end.step ? end.step : "NdStartup");
    return &end;
}

static void *verbs_open(void)
{
    static struct verbs_end end;
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(list[0]);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
    struct ibv_qp_init_attr init = {
        .cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = IBV_QPT_RC,
    };

    end.cq = ibv_create_cq(context, 2 * DEPTH, NULL, NULL, 0);
    end.mr = ibv_reg_mr(pd, end.memory, OCTETS, IBV_ACCESS_LOCAL_WRITE);
    init.send_cq = init.recv_cq = end.cq;
    end.qp = ibv_create_qp(pd, &init);
    if (!end.qp || ibv_modify_qp(end.qp, &attr, IBV_QP_STATE) != 0)
        die("the fake device does not work");
    return &end;
}

int main(int argc, char **argv)
{
    bool v2, singly;
    void (*rounds)(void *, unsigned);
    void *context;

    if (argc != 3) {
        fprintf(stderr, "usage: ndspi-bench-count v2|verbs together|singly\n");
        return 2;
    }
    v2 = strcmp(argv[1], "v2") == 0;
    singly = strcmp(argv[2], "singly") == 0;
    setenv("NDSPI_DEVICE", FAKE_DEVICE_NAME, 1);
    context = v2 ? v2_open() : verbs_open();
    rounds = v2 ? singly ? v2_singly : v2_together : singly ? verbs_singly : verbs_together;
    rounds(context, WARMUP);
    bench_counted(rounds, context, BENCH_COUNT_ROUNDS);
    return 0;
}
