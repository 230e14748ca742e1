/* SPDX-License-Identifier: MIT */
/* nd2.c - NetworkDirect version 2, by its public headers alone; polling, with an event, with a
 * completion port. */
#include "tests/bench/bench.h"

#include "tests/support/nd2_end.h"
#include "util/clock.h"

enum { ND2_DEPTH = 2 * BENCH_WINDOW, ND2_BATCH = 8 };

struct nd2 {
    const struct bench_side *side;
    struct nd2_end end;
    HANDLE port; /* when blocking on one */
};

static void nd2_check(struct nd2 *nd, HRESULT hr, const char *call)
{
    if (FAILED(hr) || hr == ND_PENDING)
        bench_die("%s: 0x%08x", nd->end.step ? nd->end.step : call, (unsigned)hr);
}

static void nd2_post_receive(struct nd2 *nd)
{
    nd2_check(nd, nd2_end_receive(&nd->end, NULL, 0, nd->side->test->octets), "Receive");
}

static void nd2_post_send(struct nd2 *nd, size_t octets)
{
    nd2_check(nd, nd2_end_send(&nd->end, NULL, 0, octets, 0), "Send");
}

static void nd2_connect(struct nd2 *nd)
{
    struct nd2_end_options options = { .depth = ND2_DEPTH,
        .memory_octets = nd->side->test->octets };
    USHORT port_be;

    nd2_check(nd, NdStartup(), "NdStartup");
    nd2_check(nd, nd2_end_open(&nd->end, &options), "open");
    for (unsigned i = 0; i < ND2_DEPTH; i++)
        nd2_post_receive(nd);
    if (nd->side->client) {
        bench_hear(nd->side, &port_be, sizeof port_be);
        nd2_check(nd, nd2_end_connect(&nd->end, port_be), "connect");
    } else {
        nd2_check(nd, nd2_end_listen(&nd->end, &port_be), "listen");
        bench_tell(nd->side, &port_be, sizeof port_be);
        nd2_check(nd, nd2_end_request(&nd->end), "request");
        nd2_check(nd, nd2_end_accept(&nd->end), "accept");
    }
    if (nd->side->test->wait == BENCH_PORT) {
        nd->port = CreateIoCompletionPort(nd->end.file, NULL, 0, 1);
        if (!nd->port)
            bench_die("CreateIoCompletionPort: %u", (unsigned)GetLastError());
    }
}

static void nd2_close(struct nd2 *nd)
{
    char done = 0;

    bench_tell(nd->side, &done, sizeof done);
    bench_hear(nd->side, &done, sizeof done);
    if (nd->port)
        CloseHandle(nd->port);
    nd2_end_close(&nd->end);
    NdCleanup();
}

/* Asks to be told of the next result, and sleeps until then. */
static void nd2_sleep(struct nd2 *nd)
{
    IND2CompletionQueue *cq = nd->end.cq;
    OVERLAPPED *overlapped = &nd->end.overlapped;

    HRESULT hr;

    overlapped->hEvent = nd->port ? NULL : nd->end.event;
    hr = cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, overlapped);
    if (FAILED(hr))
        bench_die("Notify: 0x%08x", (unsigned)hr);
    if (nd->port) {
        OVERLAPPED *done;
        ULONG_PTR key;
        DWORD octets;

        if (!GetQueuedCompletionStatus(nd->port, &octets, &key, &done, INFINITE))
            bench_die("GetQueuedCompletionStatus: %u", (unsigned)GetLastError());
    } else {
        nd2_check(nd, cq->lpVtbl->GetOverlappedResult(cq, overlapped, TRUE), "GetOverlappedResult");
    }
}

/* Fetches results, at least one. */
static unsigned nd2_wait(struct nd2 *nd, ND2_RESULT results[ND2_BATCH])
{
    IND2CompletionQueue *cq = nd->end.cq;

    for (;;) {
        unsigned count = cq->lpVtbl->GetResults(cq, results, ND2_BATCH);

        for (unsigned i = 0; i < count; i++)
            nd2_check(nd, results[i].Status, "result");
        if (count > 0)
            return count;
        if (nd->side->test->wait != BENCH_POLL)
            nd2_sleep(nd);
    }
}

static uint64_t nd2_ping_pong(struct nd2 *nd)
{
    const struct bench_test *test = nd->side->test;
    bool client = nd->side->client;
    unsigned received = 0, sent = 0;
    uint64_t start_ns = 0;

    for (unsigned i = 0; i < test->warmup + test->count; i++) {
        if (i == test->warmup)
            start_ns = clock_now_ns();
        if (client)
            nd2_post_send(nd, test->octets);
        /* The result of a Send may come as late as with the peer's next message; only the queue's
         * depth counts. */
        while (received == i || i - sent == ND2_DEPTH - 1) {
            ND2_RESULT results[ND2_BATCH];
            unsigned count = nd2_wait(nd, results);

            for (unsigned k = 0; k < count; k++) {
                if (results[k].RequestType != Nd2RequestTypeReceive) {
                    sent++;
                    continue;
                }
                received++;
                nd2_post_receive(nd);
            }
        }
        if (!client)
            nd2_post_send(nd, test->octets);
    }
    return clock_now_ns() - start_ns;
}

/* The client keeps BENCH_WINDOW Sends outstanding; the server answers the last of the warm-up, and
 * the last of all. */
static uint64_t nd2_stream(struct nd2 *nd)
{
    const struct bench_test *test = nd->side->test;
    unsigned total = test->warmup + test->count, posted = 0, sent = 0, received = 0, answers = 0;
    bool client = nd->side->client;
    uint64_t start_ns = 0;

    for (unsigned stop = test->warmup;; stop = total) {
        while (client ? answers < (stop == total ? 2u : 1u) : received < stop) {
            ND2_RESULT results[ND2_BATCH];
            unsigned count;

            while (client && posted < stop && posted - sent < BENCH_WINDOW) {
                nd2_post_send(nd, test->octets);
                posted++;
            }
            count = nd2_wait(nd, results);
            for (unsigned k = 0; k < count; k++) {
                if (results[k].RequestType != Nd2RequestTypeReceive) {
                    sent++;
                    continue;
                }
                nd2_post_receive(nd);
                if (client)
                    answers++;
                else
                    received++;
            }
        }
        if (!client)
            nd2_post_send(nd, 1);
        if (stop == total)
            break;
        start_ns = clock_now_ns();
    }
    return clock_now_ns() - start_ns;
}

uint64_t bench_nd2(const struct bench_side *side)
{
    struct nd2 nd = { .side = side };
    uint64_t elapsed_ns;

    nd2_connect(&nd);
    elapsed_ns = side->test->stream ? nd2_stream(&nd) : nd2_ping_pong(&nd);
    nd2_close(&nd);
    return elapsed_ns;
}
