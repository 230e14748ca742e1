/* SPDX-License-Identifier: MIT */
#include "tests/robustness/rush.h"

#include "tests/support/nd_end.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DEPTH = 4,       /* of each queue of a queue pair; so many Receives are posted */
    OCTETS = 64,     /* of a message */
    FAILURES = 32,   /* distinct kinds that are counted */
    WAIT_MS = 30000, /* after this the test counts as hung */
};

/* What ended otherwise than it must. */
struct failure {
    const char *what;
    HRESULT hr;
    unsigned count;
};

/* A thread and its connection of the moment. */
struct worker {
    struct rush *rush;
    pthread_t thread;
    HANDLE done;     /* an overlapped request ended */
    HANDLE progress; /* a message of the connection ended */
    OVERLAPPED overlapped;
    IND2QueuePair *qp;
    IND2Connector *connector;
    unsigned char *memory;
    uint64_t random;
    atomic_uintptr_t round; /* the connection's number: context of its requests */
    unsigned posted;
    atomic_uint ended, sent, received; /* of those: all, and Sends and Receives that succeeded */
};

struct rush {
    unsigned threads;
    struct rush_ways ways;
    USHORT port_be;
    IND2Adapter *adapter;
    HANDLE file;
    IND2CompletionQueue *cq;
    IND2MemoryRegion *mr;
    IND2Listener *listener; /* of a server */
    UINT32 token;
    atomic_bool stop;
    HANDLE failed; /* manual reset */
    pthread_t fetcher;
    atomic_bool fetched_enough;
    HANDLE arrived;
    OVERLAPPED notify;
    pthread_mutex_t lock; /* failures */
    struct failure failures[FAILURES];
    unsigned char memory[RUSH_THREADS_MAX * OCTETS * 2];
    struct worker workers[RUSH_THREADS_MAX];
};

static void fail(struct rush *rush, const char *what, HRESULT hr)
{
    pthread_mutex_lock(&rush->lock);
    for (unsigned i = 0; i < FAILURES; i++) {
        struct failure *failure = &rush->failures[i];

        if (failure->what && (failure->what != what || failure->hr != hr))
            continue;
        *failure = (struct failure){ what, hr, failure->count + 1 };
        break;
    }
    pthread_mutex_unlock(&rush->lock);
    SetEvent(rush->failed);
}

/* ---- the completion queue, fetched by one thread for all ---- */

static void note_result(struct rush *rush, const ND2_RESULT *result)
{
    struct worker *worker = result->QueuePairContext;
    bool receive = result->RequestType == Nd2RequestTypeReceive;

    if ((uintptr_t)result->RequestContext != atomic_load(&worker->round))
        fail(rush, "a result of a connection before", result->Status);
    if (result->Status == ND_SUCCESS)
        atomic_fetch_add(receive ? &worker->received : &worker->sent, 1);
    else if (result->Status != ND_CANCELED)
        fail(rush, receive ? "a Receive" : "a Send", result->Status);
    if (result->Status == ND_SUCCESS && receive && result->BytesTransferred != OCTETS)
        fail(rush, "length of a message", (HRESULT)result->BytesTransferred);
    atomic_fetch_add(&worker->ended, 1);
    SetEvent(worker->progress);
}

/* Returns whether there was anything. */
static bool fetch_some(struct rush *rush)
{
    ND2_RESULT results[16];
    ULONG count = rush->cq->lpVtbl->GetResults(rush->cq, results, 16);

    for (ULONG i = 0; i < count; i++)
        note_result(rush, &results[i]);
    return count;
}

/* Cancels a request that began behind the cancel at the end and reset the event set there. */
static HRESULT notify(struct rush *rush)
{
    IND2CompletionQueue *cq = rush->cq;
    HRESULT hr =
        cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, nd_end_fresh(&rush->notify, rush->arrived));

    if (atomic_load(&rush->fetched_enough))
        cq->lpVtbl->CancelOverlappedRequests(cq);
    return hr;
}

static void *fetch(void *arg)
{
    struct rush *rush = arg;
    IND2CompletionQueue *cq = rush->cq;

    while (!atomic_load(&rush->fetched_enough)) {
        HRESULT hr;

        if (fetch_some(rush))
            continue;
        hr = notify(rush);
        if (hr == ND_PENDING) {
            WaitForSingleObject(rush->arrived, INFINITE);
            hr = cq->lpVtbl->GetOverlappedResult(cq, &rush->notify, FALSE);
        }
        if (FAILED(hr) && !(hr == ND_CANCELED && atomic_load(&rush->fetched_enough))) {
            fail(rush, "Notify", hr);
            break;
        }
    }
    return NULL;
}

/* Waits for an event; where threads poll, they look at the completion queue meanwhile. Returns whether it came. */
static bool comes(struct worker *worker, HANDLE event)
{
    struct rush *rush = worker->rush;
    ULONGLONG end_ms = GetTickCount64() + WAIT_MS;

    if (!rush->ways.polls)
        return WaitForSingleObject(event, WAIT_MS) == WAIT_OBJECT_0;
    while (WaitForSingleObject(event, 0) != WAIT_OBJECT_0) {
        if (!fetch_some(rush))
            SwitchToThread();
        if (GetTickCount64() >= end_ms)
            return false;
    }
    return true;
}

/* ---- a connection ---- */

/* The codes that our calls return when the peer breaks off. */
static bool broken_off(HRESULT hr)
{
    return hr == ND_CONNECTION_ABORTED || hr == ND_CONNECTION_REFUSED ||
           hr == ND_CONNECTION_INVALID;
}

/* Waits for the end of an overlapped call; whether that is a success. */
static bool ended(struct worker *worker, void *object, HRESULT hr, const char *what)
{
    const struct rush *rush = worker->rush;
    IND2Overlapped *overlapped = object;

    if (hr == ND_PENDING) {
        if (!comes(worker, worker->done)) {
            fail(worker->rush, what, ND_PENDING);
            overlapped->lpVtbl->CancelOverlappedRequests(overlapped);
            WaitForSingleObject(worker->done, WAIT_MS);
            return false;
        }
        hr = overlapped->lpVtbl->GetOverlappedResult(overlapped, &worker->overlapped, FALSE);
    }
    if (hr != ND_SUCCESS && !(hr == ND_CANCELED && atomic_load(&rush->stop)) &&
        !(rush->ways.breaks_off && broken_off(hr)))
        fail(worker->rush, what, hr);
    return hr == ND_SUCCESS;
}

static OVERLAPPED *fresh(struct worker *worker)
{
    return nd_end_fresh(&worker->overlapped, worker->done);
}

static bool worked(struct worker *worker, const char *what, HRESULT hr)
{
    if (hr != ND_SUCCESS)
        fail(worker->rush, what, hr);
    return hr == ND_SUCCESS;
}

static bool make(struct worker *worker)
{
    struct rush *rush = worker->rush;
    ND2_SGE sge = { worker->memory, OCTETS, rush->token };
    IUnknown *cq = (IUnknown *)rush->cq;
    void *round = (void *)atomic_load(&worker->round);

    if (!worked(worker, "CreateQueuePair",
            rush->adapter->lpVtbl->CreateQueuePair(rush->adapter, &IID_IND2QueuePair, cq, cq,
                worker, DEPTH, DEPTH, 1, 1, 0, (void **)&worker->qp)) ||
        !worked(worker, "CreateConnector",
            rush->adapter->lpVtbl->CreateConnector(
                rush->adapter, &IID_IND2Connector, rush->file, (void **)&worker->connector)))
        return false;
    for (int i = 0; i < DEPTH; i++, worker->posted++)
        if (!worked(worker, "Receive", worker->qp->lpVtbl->Receive(worker->qp, round, &sge, 1)))
            return false;
    return true;
}

static bool send_message(struct worker *worker)
{
    ND2_SGE sge = { worker->memory + OCTETS, OCTETS, worker->rush->token };
    void *round = (void *)atomic_load(&worker->round);
    bool good = worked(worker, "Send", worker->qp->lpVtbl->Send(worker->qp, round, &sge, 1, 0));

    worker->posted += good;
    return good;
}

/* Waits until so many of the requests, counted by count, have ended; or all, whichever way. */
static bool passes(struct worker *worker, atomic_uint *count, unsigned wanted, const char *what)
{
    while (atomic_load(count) < wanted && atomic_load(&worker->ended) < worker->posted)
        if (!comes(worker, worker->progress)) {
            fail(worker->rush, what, ND_PENDING);
            return false;
        }
    if (atomic_load(count) >= wanted)
        return true;
    if (!worker->rush->ways.breaks_off)
        fail(worker->rush, what, ND_CANCELED);
    return false;
}

static bool sent(struct worker *worker)
{
    return passes(worker, &worker->sent, 1, "a Send");
}

static bool received(struct worker *worker)
{
    return passes(worker, &worker->received, 1, "a message");
}

/* Where a client that breaks off does so in this connection, if at all: independent of the other threads' progress. */
static bool goes_on(struct worker *worker)
{
    if (!worker->rush->ways.breaks_off)
        return true;
    worker->random = worker->random * 6364136223846793005u + 1442695040888963407u;
    return worker->random >> 33 & 7;
}

static bool connect_to(struct worker *worker)
{
    struct sockaddr_in local = nd_end_address(0, 0),
                       peer = nd_end_address(0, worker->rush->port_be);
    IND2Connector *connector = worker->connector;
    HRESULT hr;

    if (!worked(worker, "Bind",
            connector->lpVtbl->Bind(connector, (struct sockaddr *)&local, sizeof local)))
        return false;
    hr = connector->lpVtbl->Connect(connector, (IUnknown *)worker->qp, (struct sockaddr *)&peer,
        sizeof peer, 1, 1, NULL, 0, fresh(worker));
    if (!goes_on(worker) || !ended(worker, connector, hr, "Connect") || !goes_on(worker))
        return false;
    hr = connector->lpVtbl->CompleteConnect(connector, fresh(worker));
    return goes_on(worker) && ended(worker, connector, hr, "CompleteConnect");
}

/* Cancels requests begun behind the cancel at the end. */
static HRESULT get_request(struct worker *worker)
{
    IND2Listener *listener = worker->rush->listener;
    HRESULT hr = listener->lpVtbl->GetConnectionRequest(
        listener, (IUnknown *)worker->connector, fresh(worker));

    if (atomic_load(&worker->rush->stop))
        listener->lpVtbl->CancelOverlappedRequests(listener);
    return hr;
}

static bool take_request(struct worker *worker)
{
    IND2Connector *connector = worker->connector;

    return ended(worker, worker->rush->listener, get_request(worker), "GetConnectionRequest") &&
           ended(worker, connector,
               connector->lpVtbl->Accept(
                   connector, (IUnknown *)worker->qp, 1, 1, NULL, 0, fresh(worker)),
               "Accept");
}

/* Both sides' may cross: each may be the answer to the other's. */
static bool disconnect(struct worker *worker)
{
    IND2Connector *connector = worker->connector;

    return ended(
        worker, connector, connector->lpVtbl->Disconnect(connector, fresh(worker)), "Disconnect");
}

static bool once(struct worker *worker)
{
    if (!make(worker))
        return false;
    if (worker->rush->listener)
        return take_request(worker) && received(worker) && send_message(worker) && sent(worker) &&
               disconnect(worker);
    return connect_to(worker) && goes_on(worker) && send_message(worker) && goes_on(worker) &&
           sent(worker) && goes_on(worker) && received(worker) && goes_on(worker) &&
           disconnect(worker);
}

static void *work(void *arg)
{
    struct worker *worker = arg;

    while (!atomic_load(&worker->rush->stop)) {
        worker->posted = 0;
        atomic_store(&worker->ended, 0);
        atomic_store(&worker->sent, 0);
        atomic_store(&worker->received, 0);
        atomic_fetch_add(&worker->round, 1);
        once(worker);
        if (goes_on(worker))
            ND_END_RELEASE(worker->qp);
        ND_END_RELEASE(worker->connector);
        ND_END_RELEASE(worker->qp);
        /* Results outlive their queue pair: each request has one. */
        passes(worker, &worker->ended, worker->posted, "a result after the release");
        ResetEvent(worker->done);
    }
    return NULL;
}

/* ---- a side ---- */

static HRESULT open_memory(struct rush *rush)
{
    OVERLAPPED overlapped = { .hEvent = rush->arrived };
    HRESULT hr = rush->adapter->lpVtbl->CreateMemoryRegion(
        rush->adapter, &IID_IND2MemoryRegion, rush->file, (void **)&rush->mr);

    if (FAILED(hr))
        return hr;
    hr = rush->mr->lpVtbl->Register(
        rush->mr, rush->memory, sizeof rush->memory, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &overlapped);
    if (hr == ND_PENDING)
        hr = rush->mr->lpVtbl->GetOverlappedResult(rush->mr, &overlapped, TRUE);
    ResetEvent(rush->arrived);
    rush->token = rush->mr->lpVtbl->GetLocalToken(rush->mr);
    return hr;
}

static HRESULT open_listener(struct rush *rush)
{
    struct sockaddr_in address = nd_end_address(0, 0);
    ULONG octets = sizeof address;
    HRESULT hr = rush->adapter->lpVtbl->CreateListener(
        rush->adapter, &IID_IND2Listener, rush->file, (void **)&rush->listener);

    if (FAILED(hr) ||
        FAILED(hr = rush->listener->lpVtbl->Bind(
                   rush->listener, (struct sockaddr *)&address, sizeof address)) ||
        FAILED(hr = rush->listener->lpVtbl->Listen(rush->listener, 0)))
        return hr;
    hr = rush->listener->lpVtbl->GetLocalAddress(
        rush->listener, (struct sockaddr *)&address, &octets);
    rush->port_be = address.sin_port;
    return hr;
}

/* The device's greatest depth, which programs ask for that do not count entries. */
static ULONG greatest_depth(struct rush *rush)
{
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG octets = sizeof info;

    return SUCCEEDED(rush->adapter->lpVtbl->Query(rush->adapter, &info, &octets))
               ? info.MaxCompletionQueueDepth
               : 0;
}

static HRESULT open_side(struct rush *rush, bool server)
{
    struct sockaddr_in local = nd_end_address(0, 0);
    HRESULT hr;

    if (FAILED(hr = NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&local, sizeof local,
                   (void **)&rush->adapter)) ||
        FAILED(hr = rush->adapter->lpVtbl->CreateOverlappedFile(rush->adapter, &rush->file)) ||
        FAILED(hr = rush->adapter->lpVtbl->CreateCompletionQueue(rush->adapter,
                   &IID_IND2CompletionQueue, rush->file, greatest_depth(rush), 0, 0,
                   (void **)&rush->cq)) ||
        FAILED(hr = open_memory(rush)))
        return hr;
    return server ? open_listener(rush) : ND_SUCCESS;
}

static void close_side(struct rush *rush)
{
    ND_END_RELEASE(rush->listener);
    ND_END_RELEASE(rush->cq);
    ND_END_RELEASE(rush->mr);
    if (rush->file)
        CloseHandle(rush->file);
    ND_END_RELEASE(rush->adapter);
    CloseHandle(rush->failed);
    CloseHandle(rush->arrived);
    free(rush);
}

static void start(struct rush *rush)
{
    if (!rush->ways.polls)
        pthread_create(&rush->fetcher, NULL, fetch, rush);
    for (unsigned i = 0; i < rush->threads; i++) {
        struct worker *worker = &rush->workers[i];

        worker->rush = rush;
        worker->random = i;
        worker->memory = rush->memory + (size_t)i * 2 * OCTETS;
        worker->done = CreateEventA(NULL, FALSE, FALSE, NULL);
        worker->progress = CreateEventA(NULL, FALSE, FALSE, NULL);
        pthread_create(&worker->thread, NULL, work, worker);
    }
}

struct rush *rush_begin(unsigned threads, struct rush_ways ways, USHORT port_be)
{
    struct rush *rush = calloc(1, sizeof(*rush));
    HRESULT hr;

    if (!rush)
        return NULL;
    rush->threads = threads;
    rush->ways = ways;
    rush->port_be = port_be;
    pthread_mutex_init(&rush->lock, NULL);
    rush->failed = CreateEventA(NULL, TRUE, FALSE, NULL);
    rush->arrived = CreateEventA(NULL, FALSE, FALSE, NULL);
    hr = open_side(rush, !port_be);
    if (FAILED(hr)) {
        fprintf(stderr, "rush: not opened: 0x%08x\n", (unsigned)hr);
        close_side(rush);
        return NULL;
    }
    start(rush);
    return rush;
}

USHORT rush_port_be(const struct rush *rush)
{
    return rush->port_be;
}

void rush_wait(struct rush *rush, unsigned ms)
{
    WaitForSingleObject(rush->failed, ms);
}

bool rush_end(struct rush *rush, const char *name)
{
    unsigned long connections = 0;
    bool good = true;

    atomic_store(&rush->stop, true);
    if (rush->listener)
        rush->listener->lpVtbl->CancelOverlappedRequests(rush->listener);
    for (unsigned i = 0; i < rush->threads; i++) {
        struct worker *worker = &rush->workers[i];

        pthread_join(worker->thread, NULL);
        connections += atomic_load(&worker->round);
        good = good && atomic_load(&worker->round);
        CloseHandle(worker->done);
        CloseHandle(worker->progress);
    }
    atomic_store(&rush->fetched_enough, true);
    rush->cq->lpVtbl->CancelOverlappedRequests(rush->cq);
    SetEvent(rush->arrived);
    if (!rush->ways.polls)
        pthread_join(rush->fetcher, NULL);
    printf("%s: %lu connections\n", name, connections);
    for (unsigned i = 0; i < FAILURES && rush->failures[i].what; i++) {
        printf("%s: %s: 0x%08x, %u times\n", name, rush->failures[i].what,
            (unsigned)rush->failures[i].hr, rush->failures[i].count);
        good = false;
    }
    fflush(stdout);
    close_side(rush);
    return good;
}
