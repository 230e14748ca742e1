/* SPDX-License-Identifier: MIT */
/* nd2.c - NetworkDirect version 2, by its public headers alone: polling, events, completion ports, enum bench_idiom. */
#include "tests/bench/driver.h"
#include "tests/bench/nd.h"

#include "tests/support/nd2_end.h"

#include <ndspi_linux.h>

#include <pthread.h>
#include <string.h>

/* A queue without results of which a thread awaits some (BENCH_BESIDE). */
struct nd2_idle {
    HANDLE file, event, port;
    IND2CompletionQueue *cq;
    OVERLAPPED overlapped;
    pthread_t sleeper;
};

struct nd2 {
    const struct bench_test *test;
    struct nd2_end end;
    HANDLE port; /* when blocking on one */
    /* Notify that is under way, of each queue; only those of BENCH_LOOK_TWICE and BENCH_TWO_QUEUES outlast a call */
    struct nd2_notify {
        OVERLAPPED overlapped;
        bool pending;
    } results, sends;
    struct nd2_idle idle;
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
        .peer_be = side->place->server.address_be,
        .two_queues = side->test->idiom == BENCH_TWO_QUEUES };

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

/* --- another thread that sleeps ----------------------------------------------------------------------------------- */

static void *nd2_idle_sleep(void *argument)
{
    struct nd2_idle *idle = argument;
    OVERLAPPED *done;
    ULONG_PTR key;
    DWORD octets;

    if (idle->port)
        GetQueuedCompletionStatus(idle->port, &octets, &key, &done, INFINITE);
    if (idle->cq->lpVtbl->GetOverlappedResult(idle->cq, &idle->overlapped, TRUE) != ND_CANCELED)
        bench_die("a queue without requests had a result");
    return NULL;
}

static void nd2_idle_begin(struct nd2 *nd)
{
    struct nd2_idle *idle = &nd->idle;
    IND2Adapter *adapter = nd->end.adapter;
    HRESULT hr;

    nd_check(adapter->lpVtbl->CreateOverlappedFile(adapter, &idle->file), "CreateOverlappedFile");
    nd_check(adapter->lpVtbl->CreateCompletionQueue(
                 adapter, &IID_IND2CompletionQueue, idle->file, 1, 0, 0, (void **)&idle->cq),
        "CreateCompletionQueue");
    idle->port = nd_port(nd->test, idle->file);
    if (!idle->port)
        idle->event = CreateEventA(NULL, FALSE, FALSE, NULL);
    idle->overlapped.hEvent = idle->event;
    hr = idle->cq->lpVtbl->Notify(idle->cq, ND_CQ_NOTIFY_ANY, &idle->overlapped);
    if (hr != ND_PENDING || pthread_create(&idle->sleeper, NULL, nd2_idle_sleep, idle) != 0)
        bench_die("no thread sleeps: 0x%08x", (unsigned)hr);
}

static void nd2_idle_end(struct nd2_idle *idle)
{
    nd_check(idle->cq->lpVtbl->CancelOverlappedRequests(idle->cq), "CancelOverlappedRequests");
    pthread_join(idle->sleeper, NULL);
    idle->cq->lpVtbl->Release(idle->cq);
    CloseHandle(idle->file);
    CloseHandle(idle->port ? idle->port : idle->event);
}

/* --- the connection ----------------------------------------------------------------------------------------------- */

static void nd2_begin(struct nd2 *nd)
{
    nd2_check_path(nd);
    nd->port = nd_port(nd->test, nd->end.file);
    nd->results.overlapped.hEvent = nd->port ? NULL : nd->end.event;
    if (nd->test->idiom == BENCH_BESIDE)
        nd2_idle_begin(nd);
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
    nd2_begin(nd);
}

static void nd2_connect(void *end, uint16_t port_be)
{
    struct nd2 *nd = end;

    nd2_step(nd, nd2_end_connect(&nd->end, port_be));
    nd2_begin(nd);
}

static void nd2_close(void *end)
{
    struct nd2 *nd = end;

    if (nd->test->idiom == BENCH_BESIDE)
        nd2_idle_end(&nd->idle);
    if (nd->port)
        CloseHandle(nd->port);
    nd2_end_close(&nd->end);
    NdCleanup();
}

/* --- results ------------------------------------------------------------------------------------------------------ */

/* Returns how many results there were, at most as many as asked for; received out: Receives. */
BENCH_INLINE unsigned nd2_look(IND2CompletionQueue *cq, unsigned most, unsigned *received)
{
    ND2_RESULT results[BENCH_BATCH];
    unsigned count = cq->lpVtbl->GetResults(cq, results, most);

    *received = 0;
    for (unsigned i = 0; i < count; i++) {
        nd_check(results[i].Status, "result");
        *received += results[i].RequestType == Nd2RequestTypeReceive;
    }
    return count;
}

static void nd2_notify(IND2CompletionQueue *cq, struct nd2_notify *notify)
{
    HRESULT hr;

    if (notify->pending)
        return;
    hr = cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, &notify->overlapped);
    if (FAILED(hr))
        nd_check(hr, "Notify");
    notify->pending = true;
}

/* Sleeps until the Notify of nd->results has ended. */
static void nd2_sleep(struct nd2 *nd)
{
    IND2CompletionQueue *cq = nd->end.cq;

    if (nd->port)
        nd_port_wait(nd->port);
    else
        nd_check(cq->lpVtbl->GetOverlappedResult(cq, &nd->results.overlapped, TRUE),
            "GetOverlappedResult");
    nd->results.pending = false;
}

/* Each of these returns how many Sends have ended; received out: Receives. */

BENCH_INLINE unsigned nd2_wait_most(struct nd2 *nd, unsigned most, bool poll, unsigned *received)
{
    unsigned count;

    while ((count = nd2_look(nd->end.cq, most, received)) == 0) {
        if (poll)
            continue;
        nd2_notify(nd->end.cq, &nd->results);
        nd2_sleep(nd);
    }
    return count - *received;
}

static unsigned nd2_wait(void *end, unsigned *received)
{
    struct nd2 *nd = end;

    return nd2_wait_most(nd, BENCH_BATCH, nd->test->wait == BENCH_POLL, received);
}

static unsigned nd2_wait_one_each(void *end, unsigned *received)
{
    return nd2_wait_most(end, 1, false, received);
}

static unsigned nd2_wait_beside(void *end, unsigned *received)
{
    return nd2_wait_most(end, BENCH_BATCH, true, received);
}

static unsigned nd2_wait_notify_first(void *end, unsigned *received)
{
    struct nd2 *nd = end;
    unsigned count;

    do {
        nd2_notify(nd->end.cq, &nd->results);
        nd2_sleep(nd);
    } while ((count = nd2_look(nd->end.cq, BENCH_BATCH, received)) == 0);
    return count - *received;
}

static unsigned nd2_wait_look_twice(void *end, unsigned *received)
{
    struct nd2 *nd = end;
    unsigned count;

    while ((count = nd2_look(nd->end.cq, BENCH_BATCH, received)) == 0) {
        nd2_notify(nd->end.cq, &nd->results);
        if ((count = nd2_look(nd->end.cq, BENCH_BATCH, received)) > 0)
            break;
        nd2_sleep(nd);
    }
    return count - *received;
}

static unsigned nd2_wait_two_queues(void *end, unsigned *received)
{
    struct nd2 *nd = end;
    unsigned none, sent;

    for (;;) {
        sent = nd2_look(nd->end.sends, BENCH_BATCH, &none);
        if (nd2_look(nd->end.cq, BENCH_BATCH, received) + sent > 0)
            return sent;
        nd2_notify(nd->end.sends, &nd->sends);
        nd2_notify(nd->end.cq, &nd->results);
        if (nd_port_wait(nd->port) == &nd->sends.overlapped)
            nd->sends.pending = false;
        else
            nd->results.pending = false;
    }
}

#define ND2_API(wait_by)                                                                           \
    {                                                                                              \
        .open = nd2_open, .listen = nd2_listen, .accept = nd2_accept, .connect = nd2_connect,      \
        .close = nd2_close, .receive = nd2_receive, .send = nd2_send, .wait = (wait_by)            \
    }

static const struct bench_api nd2_api = ND2_API(nd2_wait),
                              notify_first = ND2_API(nd2_wait_notify_first),
                              look_twice = ND2_API(nd2_wait_look_twice),
                              one_each = ND2_API(nd2_wait_one_each),
                              two_queues = ND2_API(nd2_wait_two_queues),
                              beside = ND2_API(nd2_wait_beside);

uint64_t bench_nd2(const struct bench_side *side)
{
    switch (side->test->idiom) {
    case BENCH_NOTIFY_FIRST: return bench_play(&notify_first, side);
    case BENCH_LOOK_TWICE: return bench_play(&look_twice, side);
    case BENCH_ONE_EACH: return bench_play(&one_each, side);
    case BENCH_TWO_QUEUES: return bench_play(&two_queues, side);
    case BENCH_BESIDE: return bench_play(&beside, side);
    case BENCH_LOOK: break;
    }
    return bench_play(&nd2_api, side);
}
