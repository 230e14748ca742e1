/* SPDX-License-Identifier: MIT */
/*
 * fast_register.c - the group "fast_register": memory registered and taken back by requests on the embedded device,
 * from the post of the first to the completion of the second, on a connection over loopback.
 */
#include "tests/bench/bench.h"
#include "tests/bench/process.h"

#include "softrdma/softrdma.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 200000, MOST = 256, PAGE = SRD_FAST_PAGE_OCTETS };

static void must(int result, const char *what)
{
    if (result)
        bench_die("%s: %s", what, strerror(errno));
}

static struct ibv_qp_init_attr init_attr(void)
{
    return (struct ibv_qp_init_attr){ .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
}

static struct rdma_cm_id *new_id(void)
{
    struct rdma_cm_id *id;

    must(srd_create_id(NULL, &id, NULL, RDMA_PS_TCP), "create_id");
    return id;
}

/* The other end: accepts, and is there. */
static void *accept_main(void *listener)
{
    struct ibv_qp_init_attr attr = init_attr();
    struct rdma_cm_id *id;

    must(srd_get_request(listener, &id), "get_request");
    must(srd_create_id_qp(id, NULL, &attr), "create_qp");
    must(srd_accept(id, NULL), "accept");
    return NULL;
}

static struct rdma_cm_id *connect_loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    struct rdma_cm_id *listener = new_id(), *id = new_id();
    struct ibv_qp_init_attr attr = init_attr();
    pthread_t thread;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(srd_bind_addr(listener, (struct sockaddr *)&address), "bind_addr");
    must(srd_listen(listener, 1), "listen");
    address.sin_port = srd_get_src_port(listener);
    if ((errno = pthread_create(&thread, NULL, accept_main, listener)))
        bench_die("pthread_create: %s", strerror(errno));
    must(srd_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000), "resolve_addr");
    must(srd_resolve_route(id, 2000), "resolve_route");
    must(srd_create_id_qp(id, NULL, &attr), "create_qp");
    must(srd_connect(id, NULL), "connect");
    pthread_join(thread, NULL);
    return id;
}

static void turn(struct rdma_cm_id *id, const struct srd_fast_reg *reg)
{
    struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED }, *bad;
    struct ibv_wc wc;

    wr.invalidate_rkey = reg->mr->rkey;
    if (srd_post_fast_reg(id->qp, reg) || ibv_post_send(id->qp, &wr, &bad))
        bench_die("a request is refused");
    while (ibv_poll_cq(id->send_cq, 1, &wc) == 0)
        ;
    if (wc.status != IBV_WC_SUCCESS)
        bench_die("a request failed with status %d", wc.status);
}

/* The pages are scattered; nothing reaches them. */
static uint64_t register_process(const void *argument)
{
    uint32_t n_pages = *(const uint32_t *)argument;
    struct rdma_cm_id *id = connect_loopback();
    uint64_t pages[MOST], start_ns = 0;
    struct srd_fast_reg reg = { .mr = srd_alloc_fast_mr(id->pd, n_pages),
        .pages = pages,
        .n_pages = n_pages,
        .length = (uint64_t)n_pages * PAGE,
        .base = UINT64_C(0x700000000000),
        .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };

    if (!reg.mr)
        bench_die("alloc_fast_mr: %s", strerror(errno));
    for (uint32_t i = 0; i < n_pages; i++)
        pages[i] = (uint64_t)(i * 3 + 1) * PAGE;
    for (unsigned i = 0; i < COUNT + COUNT / 10; i++) {
        if (i == COUNT / 10)
            start_ns = clock_now_ns();
        turn(id, &reg);
    }
    return clock_now_ns() - start_ns;
}

static const char *const names[] = { "pages_16", "pages_256", NULL };
static const uint32_t sizes[] = { 16, MOST };

static struct bench_figure figures[] = {
    { .key = "soft.fast_register.pages_16.us", .test = "pages_16" },
    { .key = "soft.fast_register.pages_256.us", .test = "pages_256" },
};

static bool measure(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    struct bench_process process = { .run = register_process,
        .argument = &sizes[figure - figures] };
    uint64_t elapsed_ns;

    (void)group, (void)absent;
    snprintf(process.who, sizeof process.who, "ndspi-bench %s", figure->key);
    elapsed_ns = bench_run(&process, 1);
    *value = (double)elapsed_ns / COUNT / 1e3;
    return elapsed_ns != 0;
}

struct bench_group *bench_fast_register(void)
{
    static struct bench_group group = {
        .name = "fast_register",
        .about = "memory registered and taken back by requests on softrdma: us for both",
        .tests = names,
        .figures = figures,
        .figure_count = sizeof figures / sizeof figures[0],
        .measure = measure,
    };

    return &group;
}
