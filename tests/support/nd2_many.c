/* SPDX-License-Identifier: MIT */
#include "tests/support/nd2_many.h"

#include <stddef.h>
#include <stdlib.h>

enum doing { NOTHING, CONNECTING, COMPLETING, REQUESTED, ACCEPTING, DISCONNECTING };

enum { MEMORY_OCTETS = 256 * 1024 };

struct nd2_many_end {
    IND2QueuePair *qp;
    IND2Connector *connector;
    OVERLAPPED call, end; /* the call under way; NotifyDisconnect */
    enum doing doing;
    unsigned index;
};

/* --- the process's own objects ------------------------------------------------------------------------------------ */

static HRESULT wait_packet(struct nd2_many *many, OVERLAPPED **packet)
{
    ULONG_PTR key;
    DWORD octets;

    *packet = NULL;
    GetQueuedCompletionStatus(many->port, &octets, &key, packet, ND_END_WAIT_MS);
    return *packet ? ND_SUCCESS : ND_TIMEOUT;
}

static HRESULT open_region(struct nd2_many *many)
{
    OVERLAPPED *packet;
    HRESULT hr;

    many->memory = nd_end_memory(MEMORY_OCTETS);
    ND_END_STEP(many, "memory", many->memory ? ND_SUCCESS : ND_NO_MEMORY);
    ND_END_STEP(many, "CreateMemoryRegion",
        many->adapter->lpVtbl->CreateMemoryRegion(
            many->adapter, &IID_IND2MemoryRegion, many->file, (void **)&many->mr));
    hr = many->mr->lpVtbl->Register(many->mr, many->memory, MEMORY_OCTETS,
        ND_MR_FLAG_ALLOW_LOCAL_WRITE, nd_end_fresh(&many->region, NULL));
    ND_END_STEP(many, "Register", hr == ND_PENDING ? ND_SUCCESS : hr);
    ND_END_STEP(many, "Register", wait_packet(many, &packet));
    many->lkey = many->mr->lpVtbl->GetLocalToken(many->mr);
    return ND_SUCCESS;
}

static HRESULT open_listener(struct nd2_many *many)
{
    struct sockaddr_in address = nd_end_address(0, 0);
    ULONG octets = sizeof address;

    ND_END_STEP(many, "CreateListener",
        many->adapter->lpVtbl->CreateListener(
            many->adapter, &IID_IND2Listener, many->file, (void **)&many->listener));
    ND_END_STEP(many, "listener Bind",
        many->listener->lpVtbl->Bind(many->listener, (struct sockaddr *)&address, sizeof address));
    ND_END_STEP(many, "Listen", many->listener->lpVtbl->Listen(many->listener, 0));
    ND_END_STEP(many, "GetLocalAddress",
        many->listener->lpVtbl->GetLocalAddress(
            many->listener, (struct sockaddr *)&address, &octets));
    many->port_be = address.sin_port;
    return ND_SUCCESS;
}

HRESULT nd2_many_open(struct nd2_many *many, unsigned count, bool passive)
{
    struct sockaddr_in local = nd_end_address(0, 0);

    *many = (struct nd2_many){ .count = count, .ends = calloc(count, sizeof *many->ends) };
    ND_END_STEP(many, "memory", many->ends ? ND_SUCCESS : ND_NO_MEMORY);
    for (unsigned i = 0; i < count; i++)
        many->ends[i].index = i; /* so its pages are there */
    ND_END_STEP(many, "NdOpenAdapter",
        NdOpenAdapter(
            &IID_IND2Adapter, (struct sockaddr *)&local, sizeof local, (void **)&many->adapter));
    ND_END_STEP(many, "CreateOverlappedFile",
        many->adapter->lpVtbl->CreateOverlappedFile(many->adapter, &many->file));
    many->port = CreateIoCompletionPort(many->file, NULL, 0, 1);
    ND_END_STEP(many, "CreateIoCompletionPort", many->port ? ND_SUCCESS : ND_NO_MEMORY);
    ND_END_STEP(many, "CreateCompletionQueue",
        many->adapter->lpVtbl->CreateCompletionQueue(many->adapter, &IID_IND2CompletionQueue,
            many->file, 2 * ND2_MANY_DEPTH * count, 0, 0, (void **)&many->cq));
    ND_END_STEP(many, "region", open_region(many));
    return passive ? open_listener(many) : ND_SUCCESS;
}

void nd2_many_release(struct nd2_many *many)
{
    for (unsigned i = 0; i < many->count; i++) {
        ND_END_RELEASE(many->ends[i].connector);
        ND_END_RELEASE(many->ends[i].qp);
    }
    many->begun = many->up = many->told = many->over = many->failed = 0;
}

void nd2_many_close(struct nd2_many *many)
{
    OVERLAPPED *packet;

    nd2_many_release(many);
    ND_END_RELEASE(many->listener);
    ND_END_RELEASE(many->cq);
    if (many->mr &&
        many->mr->lpVtbl->Deregister(many->mr, nd_end_fresh(&many->region, NULL)) == ND_PENDING)
        while (wait_packet(many, &packet) == ND_SUCCESS && packet != &many->region)
            ;
    ND_END_RELEASE(many->mr);
    if (many->file)
        CloseHandle(many->file);
    if (many->port)
        CloseHandle(many->port);
    ND_END_RELEASE(many->adapter);
    if (many->memory)
        nd_end_memory_free(many->memory);
    free(many->ends);
    *many = (struct nd2_many){ 0 };
}

/* --- connections -------------------------------------------------------------------------------------------------- */

static HRESULT receive(struct nd2_many *many, struct nd2_many_end *end)
{
    ND2_SGE sge = { many->memory, MEMORY_OCTETS, many->lkey };

    return end->qp->lpVtbl->Receive(end->qp, end, &sge, 1);
}

static HRESULT make(struct nd2_many *many, struct nd2_many_end *end)
{
    ND_END_STEP(many, "CreateConnector",
        many->adapter->lpVtbl->CreateConnector(
            many->adapter, &IID_IND2Connector, many->file, (void **)&end->connector));
    if (end->qp)
        return ND_SUCCESS;
    ND_END_STEP(many, "CreateQueuePair",
        many->adapter->lpVtbl->CreateQueuePair(many->adapter, &IID_IND2QueuePair,
            (IUnknown *)many->cq, (IUnknown *)many->cq, end, ND2_MANY_DEPTH, ND2_MANY_DEPTH, 1, 1,
            0, (void **)&end->qp));
    for (unsigned i = 0; i < ND2_MANY_DEPTH; i++)
        ND_END_STEP(many, "Receive", receive(many, end));
    return ND_SUCCESS;
}

static OVERLAPPED *fresh_call(struct nd2_many_end *end, enum doing doing)
{
    end->doing = doing;
    return nd_end_fresh(&end->call, NULL);
}

static HRESULT begin(struct nd2_many *many, struct nd2_many_end *end, enum doing doing)
{
    struct sockaddr_in local = nd_end_address(0, 0), peer = nd_end_address(0, many->port_be);
    IND2Connector *connector;
    HRESULT hr = ND_SUCCESS;

    if (doing == CONNECTING || doing == REQUESTED) {
        hr = make(many, end);
        if (FAILED(hr))
            return hr;
    }
    connector = end->connector;
    switch (doing) {
    case CONNECTING:
        ND_END_STEP(many, "connector Bind",
            connector->lpVtbl->Bind(connector, (struct sockaddr *)&local, sizeof local));
        many->step = "Connect";
        hr = connector->lpVtbl->Connect(connector, (IUnknown *)end->qp, (struct sockaddr *)&peer,
            sizeof peer, ND_END_READ_LIMIT, ND_END_READ_LIMIT, NULL, 0, fresh_call(end, doing));
        break;
    case COMPLETING:
        many->step = "CompleteConnect";
        hr = connector->lpVtbl->CompleteConnect(connector, fresh_call(end, doing));
        break;
    case REQUESTED:
        many->step = "GetConnectionRequest";
        hr = many->listener->lpVtbl->GetConnectionRequest(
            many->listener, (IUnknown *)connector, fresh_call(end, doing));
        break;
    case ACCEPTING:
        many->step = "Accept";
        hr = connector->lpVtbl->Accept(connector, (IUnknown *)end->qp, ND_END_READ_LIMIT,
            ND_END_READ_LIMIT, NULL, 0, fresh_call(end, doing));
        break;
    case DISCONNECTING:
        many->step = "Disconnect";
        hr = connector->lpVtbl->Disconnect(connector, fresh_call(end, doing));
        break;
    case NOTHING: break;
    }
    return hr == ND_PENDING ? ND_SUCCESS : hr;
}

static HRESULT established(struct nd2_many *many, struct nd2_many_end *end)
{
    HRESULT hr =
        end->connector->lpVtbl->NotifyDisconnect(end->connector, nd_end_fresh(&end->end, NULL));

    many->step = "NotifyDisconnect";
    many->up++;
    return hr == ND_PENDING ? ND_SUCCESS : hr;
}

static HRESULT next(struct nd2_many *many, enum doing doing)
{
    struct nd2_many_end *end = &many->ends[many->begun];
    HRESULT hr;

    if (many->begun == many->count)
        return ND_SUCCESS;
    many->begun++;
    hr = begin(many, end, doing);
    if (!FAILED(hr) || doing == DISCONNECTING)
        return hr;
    many->begun--;
    ND_END_RELEASE(end->connector); /* the queue pair has its Receives, and is taken next time */
    return hr;
}

/* A call of a connection has ended. */
static HRESULT call_ended(struct nd2_many *many, struct nd2_many_end *end)
{
    enum doing done = end->doing;
    HRESULT hr = end->connector->lpVtbl->GetOverlappedResult(end->connector, &end->call, FALSE);

    if (done == REQUESTED)
        hr = many->listener->lpVtbl->GetOverlappedResult(many->listener, &end->call, FALSE);
    end->doing = NOTHING;
    many->step = done == CONNECTING   ? "the end of Connect"
                 : done == COMPLETING ? "the end of CompleteConnect"
                 : done == REQUESTED  ? "the end of GetConnectionRequest"
                 : done == ACCEPTING  ? "the end of Accept"
                                      : "the end of Disconnect";
    if (FAILED(hr))
        return hr;
    switch (done) {
    case CONNECTING: return begin(many, end, COMPLETING);
    case REQUESTED: return begin(many, end, ACCEPTING);
    case COMPLETING:
    case ACCEPTING:
        hr = established(many, end);
        return FAILED(hr) ? hr : next(many, done == COMPLETING ? CONNECTING : REQUESTED);
    case DISCONNECTING: many->over++; return many->answers ? ND_SUCCESS : next(many, DISCONNECTING);
    case NOTHING: break;
    }
    return ND_SUCCESS;
}

static HRESULT end_told(struct nd2_many *many, struct nd2_many_end *end)
{
    HRESULT hr = end->connector->lpVtbl->GetOverlappedResult(end->connector, &end->end, FALSE);

    many->told++;
    many->failed += hr != ND_SUCCESS;
    return many->answers ? begin(many, end, DISCONNECTING) : ND_SUCCESS;
}

static HRESULT handle(struct nd2_many *many, OVERLAPPED *packet)
{
    size_t at;

    if (packet == &many->notify) {
        many->woken = true;
        return ND_SUCCESS;
    }
    at = (size_t)((unsigned char *)packet - (unsigned char *)many->ends) % sizeof *many->ends;
    if (at == offsetof(struct nd2_many_end, call))
        return call_ended(many, (struct nd2_many_end *)((unsigned char *)packet - at));
    return end_told(many, (struct nd2_many_end *)((unsigned char *)packet - at));
}

/* Handles packets until the counter has reached all connections. */
static HRESULT until_all(struct nd2_many *many, const unsigned *counter)
{
    OVERLAPPED *packet;
    HRESULT hr;

    while (*counter < many->count) {
        if ((hr = wait_packet(many, &packet)) != ND_SUCCESS || FAILED(hr = handle(many, packet)))
            return hr;
    }
    return ND_SUCCESS;
}

static HRESULT begin_window(struct nd2_many *many, enum doing doing)
{
    HRESULT hr = ND_SUCCESS;

    many->begun = 0;
    for (unsigned i = 0; i < ND2_MANY_WINDOW && !FAILED(hr); i++)
        hr = next(many, doing);
    return hr;
}

HRESULT nd2_many_accept(struct nd2_many *many)
{
    HRESULT hr = begin_window(many, REQUESTED);

    return FAILED(hr) ? hr : until_all(many, &many->up);
}

HRESULT nd2_many_connect(struct nd2_many *many)
{
    HRESULT hr = begin_window(many, CONNECTING);

    return FAILED(hr) ? hr : until_all(many, &many->up);
}

HRESULT nd2_many_connect_rest(struct nd2_many *many)
{
    HRESULT hr = ND_SUCCESS;

    for (unsigned i = many->begun - many->up; i < ND2_MANY_WINDOW && !FAILED(hr); i++)
        hr = next(many, CONNECTING);
    return FAILED(hr) ? hr : until_all(many, &many->up);
}

HRESULT nd2_many_disconnect(struct nd2_many *many)
{
    HRESULT hr = begin_window(many, DISCONNECTING);

    if (!FAILED(hr))
        hr = until_all(many, &many->over);
    if (hr == ND_SUCCESS) /* canceled by the Disconnect */
        hr = until_all(many, &many->told);
    if (hr == ND_SUCCESS)
        nd2_many_release(many);
    return hr;
}

HRESULT nd2_many_follow(struct nd2_many *many)
{
    HRESULT hr;

    many->answers = true;
    hr = until_all(many, &many->over);
    many->answers = false;
    if (hr == ND_SUCCESS)
        nd2_many_release(many);
    return hr;
}

HRESULT nd2_many_lose(struct nd2_many *many)
{
    return until_all(many, &many->told);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

HRESULT nd2_many_send(struct nd2_many *many, unsigned index, size_t octets)
{
    struct nd2_many_end *end = &many->ends[index];
    ND2_SGE sge = { many->memory, (ULONG)octets, many->lkey };

    many->step = "Send";
    return end->qp->lpVtbl->Send(end->qp, NULL, &sge, 1, 0);
}

static HRESULT sleep_for_results(struct nd2_many *many)
{
    OVERLAPPED *packet;
    HRESULT hr;

    many->step = "Notify";
    many->woken = false;
    hr = many->cq->lpVtbl->Notify(many->cq, ND_CQ_NOTIFY_ANY, nd_end_fresh(&many->notify, NULL));
    while (!FAILED(hr) && !many->woken)
        if ((hr = wait_packet(many, &packet)) == ND_SUCCESS)
            hr = handle(many, packet);
        else
            return hr;
    return FAILED(hr) ? hr : ND_SUCCESS;
}

HRESULT nd2_many_receives(struct nd2_many *many, bool sleep, unsigned *indices, unsigned *count)
{
    ND2_RESULT results[ND2_MANY_WINDOW];
    ULONG got;
    HRESULT hr;

    *count = 0;
    got = many->cq->lpVtbl->GetResults(many->cq, results, ND2_MANY_WINDOW);
    if (!got && sleep)
        return sleep_for_results(many);
    for (ULONG i = 0; i < got; i++) {
        struct nd2_many_end *end = results[i].RequestContext;

        ND_END_STEP(many, "result", results[i].Status);
        if (results[i].RequestType != Nd2RequestTypeReceive)
            continue;
        indices[(*count)++] = end->index;
        many->step = "Receive";
        if (FAILED(hr = receive(many, end)))
            return hr;
    }
    return ND_SUCCESS;
}

HRESULT nd2_many_echo(struct nd2_many *many, bool sleep, unsigned count, size_t octets)
{
    unsigned indices[ND2_MANY_WINDOW], got;

    for (unsigned done = 0; done < count; done += got) {
        HRESULT hr = nd2_many_receives(many, sleep, indices, &got);

        for (unsigned i = 0; i < got && hr == ND_SUCCESS; i++)
            hr = nd2_many_send(many, indices[i], octets);
        if (hr != ND_SUCCESS)
            return hr;
    }
    return ND_SUCCESS;
}

HRESULT nd2_many_ping(
    struct nd2_many *many, bool sleep, unsigned busy, unsigned each, size_t octets)
{
    unsigned indices[ND2_MANY_WINDOW], got, sent, all = busy * each;
    HRESULT hr = ND_SUCCESS;

    for (sent = 0; sent < busy && hr == ND_SUCCESS; sent++)
        hr = nd2_many_send(many, sent, octets);
    for (unsigned done = 0; done < all && hr == ND_SUCCESS; done += got) {
        hr = nd2_many_receives(many, sleep, indices, &got);
        for (unsigned i = 0; i < got && sent < all && hr == ND_SUCCESS; i++, sent++)
            hr = nd2_many_send(many, indices[i], octets);
    }
    return hr;
}
