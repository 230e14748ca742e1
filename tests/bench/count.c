/* SPDX-License-Identifier: MIT */
/*
 * ndspi-bench-count - one Send, one Receive and their completions, over and over, on the fake device; run under
 * callgrind by ndspi-bench, which collects inside bench_counted only.
 *
 * usage: ndspi-bench-count v1|v2|ndk|verbs together|singly
 * v1, v2: through the public vtables of the libndspi as installed. ndk: through the public tables of libndk. verbs: the
 * same by raw verbs calls.
 */
#include "tests/bench/count.h"

#include "tests/support/fake_device.h"
#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"
#include "tests/support/ndk_end.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OCTETS = 8, DEPTH = 16, WARMUP = 100, MEMORY_OCTETS = 4096 };

struct count_api {
    const char *name;
    void *(*open)(void);
    void (*posts)(void *end);                   /* one Receive, one Send */
    unsigned (*fetch)(void *end, unsigned max); /* completions, max of them 1 or 2 */
};

/* Entered once with the number of rounds to count; what it calls is counted with it. */
__attribute__((noinline, visibility("default"))) void bench_counted(
    const struct count_api *api, void *end, bool singly, unsigned count);

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "ndspi-bench-count: %s\n", what);
    exit(1);
}

void bench_counted(const struct count_api *api, void *end, bool singly, unsigned count)
{
    while (count-- > 0) {
        api->posts(end);
        if (singly ? api->fetch(end, 1) != 1 || api->fetch(end, 1) != 1 : api->fetch(end, 2) != 2)
            die("a completion is missing");
    }
}

/* ---- version 1 ------------------------------------------------------------------------------------------------- */

struct v1_end {
    struct nd1_end end;
    ND_RESULT receive, send;
};

static void *v1_open(void)
{
    static struct v1_end v1;
    struct nd1_end_options options = { .depth = DEPTH, .memory_octets = MEMORY_OCTETS };

    if (NdStartup() != ND_SUCCESS || nd1_end_open(&v1.end, &options) != ND_SUCCESS ||
        nd1_end_connect(&v1.end, htons(7)) != ND_SUCCESS)
        die(v1.end.step ? v1.end.step : "NdStartup");
    return &v1;
}

static void v1_posts(void *end)
{
    struct v1_end *v1 = end;
    INDEndpoint *endpoint = v1->end.endpoint;
    ND_SGE sge = { v1->end.memory, OCTETS, v1->end.mr };

    if (endpoint->lpVtbl->Receive(endpoint, &v1->receive, &sge, 1) != ND_SUCCESS ||
        endpoint->lpVtbl->Send(endpoint, &v1->send, &sge, 1, 0) != ND_SUCCESS)
        die("a post failed");
}

static unsigned v1_fetch(void *end, unsigned max)
{
    struct v1_end *v1 = end;
    ND_RESULT *results[2];

    return (unsigned)v1->end.cq->lpVtbl->GetResults(v1->end.cq, results, max);
}

/* ---- version 2 ------------------------------------------------------------------------------------------------- */

static void *v2_open(void)
{
    static struct nd2_end v2;
    struct nd2_end_options options = { .depth = DEPTH, .memory_octets = MEMORY_OCTETS };

    if (NdStartup() != ND_SUCCESS || nd2_end_open(&v2, &options) != ND_SUCCESS ||
        nd2_end_connect(&v2, htons(7)) != ND_SUCCESS)
        die(v2.step ? v2.step : "NdStartup");
    return &v2;
}

static void v2_posts(void *end)
{
    struct nd2_end *v2 = end;
    ND2_SGE sge = { v2->memory, OCTETS, v2->lkey };

    if (v2->qp->lpVtbl->Receive(v2->qp, v2, &sge, 1) != ND_SUCCESS ||
        v2->qp->lpVtbl->Send(v2->qp, v2, &sge, 1, 0) != ND_SUCCESS)
        die("a post failed");
}

static unsigned v2_fetch(void *end, unsigned max)
{
    struct nd2_end *v2 = end;
    ND2_RESULT results[2];

    return v2->cq->lpVtbl->GetResults(v2->cq, results, max);
}

/* ---- the kernel flavour ---------------------------------------------------------------------------------------- */

static void *ndk_open(void)
{
    static struct ndk_end ndk;
    struct ndk_end_options options = { .depth = DEPTH, .memory_octets = MEMORY_OCTETS };

    if (ndk_end_open(&ndk, &options) != STATUS_SUCCESS ||
        ndk_end_connect(&ndk, htons(7)) != STATUS_SUCCESS)
        die(ndk.step);
    return &ndk;
}

static void ndk_posts(void *end)
{
    struct ndk_end *ndk = end;
    NDK_SGE sge = {
        .VirtualAddress = ndk->memory, .Length = OCTETS, .MemoryRegionToken = ndk->token
    };

    if (ndk->qp->Dispatch->NdkReceive(ndk->qp, ndk, &sge, 1) != STATUS_SUCCESS ||
        ndk->qp->Dispatch->NdkSend(ndk->qp, ndk, &sge, 1, 0) != STATUS_SUCCESS)
        die("a post failed");
}

static unsigned ndk_fetch(void *end, unsigned max)
{
    struct ndk_end *ndk = end;
    NDK_RESULT_EX results[2];

    return ndk->cq->Dispatch->NdkGetCqResultsEx(ndk->cq, results, max);
}

/* ---- verbs ----------------------------------------------------------------------------------------------------- */

struct verbs_end {
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    char memory[OCTETS];
};

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

static void verbs_posts(void *end)
{
    struct verbs_end *verbs = end;
    struct ibv_sge sge = {
        .addr = (uintptr_t)verbs->memory, .length = OCTETS, .lkey = verbs->mr->lkey
    };
    struct ibv_recv_wr receive = { .wr_id = (uintptr_t)verbs, .sg_list = &sge, .num_sge = 1 },
                       *bad_receive;
    struct ibv_send_wr send = {
        .wr_id = (uintptr_t)verbs,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
    };
    struct ibv_send_wr *bad_send;

    if (ibv_post_recv(verbs->qp, &receive, &bad_receive) != 0 ||
        ibv_post_send(verbs->qp, &send, &bad_send) != 0)
        die("a post failed");
}

static unsigned verbs_fetch(void *end, unsigned max)
{
    struct verbs_end *verbs = end;
    struct ibv_wc wc[2];

    return (unsigned)ibv_poll_cq(verbs->cq, (int)max, wc);
}

/* ---------------------------------------------------------------------------------------------------------------- */

static const struct count_api apis[] = {
    { "v1", v1_open, v1_posts, v1_fetch },
    { "v2", v2_open, v2_posts, v2_fetch },
    { "ndk", ndk_open, ndk_posts, ndk_fetch },
    { "verbs", verbs_open, verbs_posts, verbs_fetch },
};

int main(int argc, char **argv)
{
    const struct count_api *api = NULL;
    bool singly;
    void *end;

    for (unsigned i = 0; argc == 3 && i < sizeof apis / sizeof apis[0]; i++)
        if (strcmp(argv[1], apis[i].name) == 0)
            api = &apis[i];
    if (!api) {
        fprintf(stderr, "usage: ndspi-bench-count v1|v2|ndk|verbs together|singly\n");
        return 2;
    }
    singly = strcmp(argv[2], "singly") == 0;
    setenv("NDSPI_DEVICE", FAKE_DEVICE_NAME, 1);
    end = api->open();
    for (unsigned i = 0; i < WARMUP; i++) {
        api->posts(end);
        if (api->fetch(end, 2) != 2)
            die("a completion is missing");
    }
    bench_counted(api, end, singly, BENCH_COUNT_ROUNDS);
    return 0;
}
