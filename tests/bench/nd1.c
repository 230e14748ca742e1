/* SPDX-License-Identifier: MIT */
/* nd1.c - NetworkDirect version 1, by its public headers alone; polling, with an event, with a completion port. */
#include "tests/bench/driver.h"
#include "tests/bench/nd.h"

#include "tests/support/nd1_end.h"

/* The results of one direction, used in turn: requests end in their order. */
struct nd1_ring {
    ND_RESULT results[BENCH_DEPTH_MAX];
    unsigned next;
};

struct nd1 {
    const struct bench_test *test;
    struct nd1_end end;
    HANDLE port; /* when blocking on one */
    struct nd1_ring receives, sends;
};

static void nd1_step(struct nd1 *nd, HRESULT hr)
{
    nd_check(hr, nd->end.step ? nd->end.step : "NetworkDirect v1");
}

static ND_RESULT *nd1_next(struct nd1_ring *ring)
{
    return &ring->results[ring->next++ % BENCH_DEPTH_MAX];
}

static void nd1_receive(void *end)
{
    struct nd1 *nd = end;

    nd_check(nd1_end_receive(&nd->end, nd1_next(&nd->receives), 0, nd->test->octets), "Receive");
}

static void nd1_send(void *end, size_t octets)
{
    struct nd1 *nd = end;

    nd_check(nd1_end_send(&nd->end, nd1_next(&nd->sends), 0, octets, 0), "Send");
}

static void nd1_batch(void *end, bool begin)
{
    struct nd1 *nd = end;
    INDEndpoint *endpoint = nd->end.endpoint;

    if (begin)
        endpoint->lpVtbl->StartRequestBatch(endpoint);
    else
        endpoint->lpVtbl->SubmitRequestBatch(endpoint);
}

static void *nd1_open(const struct bench_side *side)
{
    static struct nd1 nd;
    struct nd1_end_options options = { .depth = bench_depth(side->test),
        .memory_octets = side->test->octets,
        .local_be = bench_local_be(side),
        .peer_be = side->place->server.address_be };

    nd.test = side->test;
    nd_check(NdStartup(), "NdStartup");
    nd1_step(&nd, nd1_end_open(&nd.end, &options));
    for (unsigned i = 0; i < options.depth; i++)
        nd1_receive(&nd);
    return &nd;
}

static uint16_t nd1_listen(void *end)
{
    struct nd1 *nd = end;
    USHORT port_be;

    nd1_step(nd, nd1_end_listen(&nd->end, &port_be));
    return port_be;
}

static void nd1_accept(void *end)
{
    struct nd1 *nd = end;

    nd1_step(nd, nd1_end_request(&nd->end));
    nd1_step(nd, nd1_end_accept(&nd->end));
    nd->port = nd_port(nd->test, nd->end.file);
}

static void nd1_connect(void *end, uint16_t port_be)
{
    struct nd1 *nd = end;

    nd1_step(nd, nd1_end_connect(&nd->end, port_be));
    nd->port = nd_port(nd->test, nd->end.file);
}

static void nd1_close(void *end)
{
    struct nd1 *nd = end;

    if (nd->port)
        CloseHandle(nd->port);
    nd1_end_close(&nd->end);
    NdCleanup();
}

/* Notify, then sleep until the next result. */
static void nd1_sleep(struct nd1 *nd)
{
    INDCompletionQueue *cq = nd->end.cq;
    OVERLAPPED *overlapped = &nd->end.overlapped;
    SIZE_T octets;
    HRESULT hr;

    overlapped->hEvent = nd->port ? NULL : nd->end.event;
    hr = cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, overlapped);
    if (FAILED(hr))
        nd_check(hr, "Notify");
    if (nd->port)
        nd_port_wait(nd->port);
    else
        nd_check(
            cq->lpVtbl->GetOverlappedResult(cq, overlapped, &octets, TRUE), "GetOverlappedResult");
}

static unsigned nd1_wait(void *end, unsigned *received)
{
    struct nd1 *nd = end;
    INDCompletionQueue *cq = nd->end.cq;
    const ND_RESULT *first = nd->receives.results, *last = first + BENCH_DEPTH_MAX;
    ND_RESULT *results[BENCH_BATCH];

    for (;;) {
        unsigned count = (unsigned)cq->lpVtbl->GetResults(cq, results, BENCH_BATCH);

        *received = 0;
        for (unsigned i = 0; i < count; i++) {
            nd_check(results[i]->Status, "result");
            *received += results[i] >= first && results[i] < last;
        }
        if (count > 0)
            return count - *received;
        if (nd->test->wait != BENCH_POLL)
            nd1_sleep(nd);
    }
}

static const struct bench_api nd1_api = {
    .open = nd1_open,
    .listen = nd1_listen,
    .accept = nd1_accept,
    .connect = nd1_connect,
    .close = nd1_close,
    .receive = nd1_receive,
    .send = nd1_send,
    .wait = nd1_wait,
    .batch = nd1_batch,
};

uint64_t bench_nd1(const struct bench_side *side)
{
    return bench_play(&nd1_api, side);
}
