/* SPDX-License-Identifier: MIT */
/* nd2.c - NetworkDirect version 2, by its public headers alone; polling, with an event, with a completion port. */
#include "tests/bench/driver.h"
#include "tests/bench/nd.h"

#include "tests/support/nd2_end.h"

#include <ndspi_linux.h>

#include <string.h>

struct nd2 {
    const struct bench_test *test;
    struct nd2_end end;
    HANDLE port;      /* when blocking on one */
    const char *path; /* by which the connection has to go; NULL: the device does not say */
};

static void nd2_step(struct nd2 *nd, HRESULT hr)
{
    nd_check(hr, nd->end.step ? nd->end.step : "NetworkDirect v2");
}

static void nd2_receive(void *end)
{
    struct nd2 *nd = end;

    nd_check(nd2_end_receive(&nd->end, NULL, 0, nd->test->octets), "Receive");
}

static void nd2_send(void *end, size_t octets)
{
    struct nd2 *nd = end;

    nd_check(nd2_end_send(&nd->end, NULL, 0, octets, 0), "Send");
}

static void *nd2_open(const struct bench_side *side)
{
    static struct nd2 nd;
    struct nd2_end_options options = { .depth = bench_depth(side->test),
        .memory_octets = side->test->octets,
        .local_be = bench_local_be(side),
        .peer_be = side->place->server.address_be };

    nd.test = side->test;
    nd.path = side->place->kernel ? NULL : side->test->shared ? "shm" : "tcp";
    nd_check(NdStartup(), "NdStartup");
    nd2_step(&nd, nd2_end_open(&nd.end, &options));
    for (unsigned i = 0; i < options.depth; i++)
        nd2_receive(&nd);
    return &nd;
}

/* A figure of shared memory must not be one of TCP, nor the other way round. */
static void nd2_check_path(const struct nd2 *nd)
{
    const char *path = NdLinuxConnectionPath(nd->end.qp);

    if (nd->path && (!path || strcmp(path, nd->path) != 0))
        bench_die("the connection's path is %s, not %s", path ? path : "unknown", nd->path);
}

static uint16_t nd2_listen(void *end)
{
    struct nd2 *nd = end;
    USHORT port_be;

    nd2_step(nd, nd2_end_listen(&nd->end, &port_be));
    return port_be;
}

static void nd2_accept(void *end)
{
    struct nd2 *nd = end;

    nd2_step(nd, nd2_end_request(&nd->end));
    nd2_step(nd, nd2_end_accept(&nd->end));
    nd2_check_path(nd);
    nd->port = nd_port(nd->test, nd->end.file);
}

static void nd2_connect(void *end, uint16_t port_be)
{
    struct nd2 *nd = end;

    nd2_step(nd, nd2_end_connect(&nd->end, port_be));
    nd2_check_path(nd);
    nd->port = nd_port(nd->test, nd->end.file);
}

static void nd2_close(void *end)
{
    struct nd2 *nd = end;

    if (nd->port)
        CloseHandle(nd->port);
    nd2_end_close(&nd->end);
    NdCleanup();
}

/* Notify, then sleep until the next result. */
static void nd2_sleep(struct nd2 *nd)
{
    IND2CompletionQueue *cq = nd->end.cq;
    OVERLAPPED *overlapped = &nd->end.overlapped;
    HRESULT hr;

    overlapped->hEvent = nd->port ? NULL : nd->end.event;
    hr = cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, overlapped);
    if (FAILED(hr))
        nd_check(hr, "Notify");
    if (nd->port)
        nd_port_wait(nd->port);
    else
        nd_check(cq->lpVtbl->GetOverlappedResult(cq, overlapped, TRUE), "GetOverlappedResult");
}

static unsigned nd2_wait(void *end, unsigned *received)
{
    struct nd2 *nd = end;
    IND2CompletionQueue *cq = nd->end.cq;
    ND2_RESULT results[BENCH_BATCH];

    for (;;) {
        unsigned count = cq->lpVtbl->GetResults(cq, results, BENCH_BATCH);

        *received = 0;
        for (unsigned i = 0; i < count; i++) {
            nd_check(results[i].Status, "result");
            *received += results[i].RequestType == Nd2RequestTypeReceive;
        }
        if (count > 0)
            return count - *received;
        if (nd->test->wait != BENCH_POLL)
            nd2_sleep(nd);
    }
}

static const struct bench_api nd2_api = {
    .open = nd2_open,
    .listen = nd2_listen,
    .accept = nd2_accept,
    .connect = nd2_connect,
    .close = nd2_close,
    .receive = nd2_receive,
    .send = nd2_send,
    .wait = nd2_wait,
};

uint64_t bench_nd2(const struct bench_side *side)
{
    return bench_play(&nd2_api, side);
}
