/* SPDX-License-Identifier: MIT */
#include "tests/support/nd2_end.h"

HRESULT nd2_end_wait(struct nd2_end *end, void *object, HRESULT hr, unsigned timeout_ms)
{
    IND2Overlapped *overlapped = object;

    if (hr != ND_PENDING)
        return hr;
    WaitForSingleObject(end->event, timeout_ms);
    return overlapped->lpVtbl->GetOverlappedResult(overlapped, &end->overlapped, FALSE);
}

static HRESULT nd2_end_finish(struct nd2_end *end, void *object, HRESULT hr)
{
    return nd2_end_wait(end, object, hr, ND_END_WAIT_MS);
}

static OVERLAPPED *nd2_end_fresh(struct nd2_end *end)
{
    return nd_end_fresh(&end->overlapped, end->event);
}

static HRESULT nd2_end_region(struct nd2_end *end)
{
    ULONG flags = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
                  ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_RDMA_READ_SINK;

    end->memory = nd_end_memory(end->memory_octets);
    ND_END_STEP(end, "mmap", end->memory ? ND_SUCCESS : ND_NO_MEMORY);
    ND_END_STEP(end, "CreateMemoryRegion",
        end->adapter->lpVtbl->CreateMemoryRegion(
            end->adapter, &IID_IND2MemoryRegion, end->file, (void **)&end->mr));
    ND_END_STEP(end, "Register",
        nd2_end_finish(end, end->mr,
            end->mr->lpVtbl->Register(
                end->mr, end->memory, end->memory_octets, flags, nd2_end_fresh(end))));
    end->lkey = end->mr->lpVtbl->GetLocalToken(end->mr);
    end->rkey = end->mr->lpVtbl->GetRemoteToken(end->mr);
    return ND_SUCCESS;
}

static HRESULT nd2_end_queue(struct nd2_end *end, ULONG depth, IND2CompletionQueue **cq)
{
    ND_END_STEP(end, "CreateCompletionQueue",
        end->adapter->lpVtbl->CreateCompletionQueue(
            end->adapter, &IID_IND2CompletionQueue, end->file, depth, 0, 0, (void **)cq));
    return ND_SUCCESS;
}

HRESULT nd2_end_open(struct nd2_end *end, const struct nd2_end_options *options)
{
    struct sockaddr_in local = nd_end_address(options->local_be, 0);
    HRESULT hr;

    *end = (struct nd2_end){ .memory_octets = options->memory_octets,
        .local_be = options->local_be,
        .no_reads = options->no_reads,
        .peer_be = options->peer_be };
    end->event = CreateEventA(NULL, FALSE, FALSE, NULL);
    ND_END_STEP(end, "CreateEvent", end->event ? ND_SUCCESS : ND_NO_MEMORY);
    ND_END_STEP(end, "NdOpenAdapter",
        NdOpenAdapter(
            &IID_IND2Adapter, (struct sockaddr *)&local, sizeof local, (void **)&end->adapter));
    ND_END_STEP(end, "CreateOverlappedFile",
        end->adapter->lpVtbl->CreateOverlappedFile(end->adapter, &end->file));
    hr = nd2_end_queue(end, 2 * options->depth, &end->cq);
    if (!FAILED(hr) && options->two_queues)
        hr = nd2_end_queue(end, 2 * options->depth, &end->sends);
    if (FAILED(hr))
        return hr;
    ND_END_STEP(end, "CreateQueuePair",
        end->adapter->lpVtbl->CreateQueuePair(end->adapter, &IID_IND2QueuePair, (IUnknown *)end->cq,
            (IUnknown *)(end->sends ? end->sends : end->cq), end, options->depth, options->depth, 1,
            1, options->inline_octets, (void **)&end->qp));
    ND_END_STEP(end, "CreateConnector",
        end->adapter->lpVtbl->CreateConnector(
            end->adapter, &IID_IND2Connector, end->file, (void **)&end->connector));
    return nd2_end_region(end);
}

HRESULT nd2_end_connect_begin(struct nd2_end *end, USHORT port_be)
{
    struct sockaddr_in local = nd_end_address(end->local_be, 0);
    struct sockaddr_in peer = nd_end_address(end->peer_be, port_be);

    ND_END_STEP(end, "connector Bind",
        end->connector->lpVtbl->Bind(end->connector, (struct sockaddr *)&local, sizeof local));
    ND_END_STEP(end, "Connect",
        nd2_end_finish(end, end->connector,
            end->connector->lpVtbl->Connect(end->connector, (IUnknown *)end->qp,
                (struct sockaddr *)&peer, sizeof peer, ND_END_READ_LIMIT, ND_END_READ_LIMIT, NULL,
                0, nd2_end_fresh(end))));
    return ND_SUCCESS;
}

HRESULT nd2_end_connect_complete(struct nd2_end *end)
{
    ND_END_STEP(end, "CompleteConnect",
        nd2_end_finish(end, end->connector,
            end->connector->lpVtbl->CompleteConnect(end->connector, nd2_end_fresh(end))));
    return ND_SUCCESS;
}

HRESULT nd2_end_connect(struct nd2_end *end, USHORT port_be)
{
    HRESULT hr = nd2_end_connect_begin(end, port_be);

    return FAILED(hr) || hr == ND_PENDING ? hr : nd2_end_connect_complete(end);
}

HRESULT nd2_end_listen(struct nd2_end *end, USHORT *port_be)
{
    struct sockaddr_in address = nd_end_address(end->local_be, 0);
    ULONG address_octets = sizeof address;

    ND_END_STEP(end, "CreateListener",
        end->adapter->lpVtbl->CreateListener(
            end->adapter, &IID_IND2Listener, end->file, (void **)&end->listener));
    ND_END_STEP(end, "listener Bind",
        end->listener->lpVtbl->Bind(end->listener, (struct sockaddr *)&address, sizeof address));
    ND_END_STEP(end, "Listen", end->listener->lpVtbl->Listen(end->listener, 0));
    ND_END_STEP(end, "listener GetLocalAddress",
        end->listener->lpVtbl->GetLocalAddress(
            end->listener, (struct sockaddr *)&address, &address_octets));
    *port_be = address.sin_port;
    return ND_SUCCESS;
}

HRESULT nd2_end_request(struct nd2_end *end)
{
    ND_END_STEP(end, "GetConnectionRequest",
        nd2_end_finish(end, end->listener,
            end->listener->lpVtbl->GetConnectionRequest(
                end->listener, (IUnknown *)end->connector, nd2_end_fresh(end))));
    return ND_SUCCESS;
}

HRESULT nd2_end_accept(struct nd2_end *end)
{
    ND_END_STEP(end, "Accept",
        nd2_end_finish(end, end->connector,
            end->connector->lpVtbl->Accept(end->connector, (IUnknown *)end->qp,
                end->no_reads ? 0 : ND_END_READ_LIMIT, ND_END_READ_LIMIT, NULL, 0,
                nd2_end_fresh(end))));
    return ND_SUCCESS;
}

HRESULT nd2_end_disconnect(struct nd2_end *end)
{
    ND_END_STEP(end, "Disconnect",
        nd2_end_finish(end, end->connector,
            end->connector->lpVtbl->Disconnect(end->connector, nd2_end_fresh(end))));
    return ND_SUCCESS;
}

void nd2_end_close(struct nd2_end *end)
{
    ND_END_RELEASE(end->listener);
    ND_END_RELEASE(end->connector);
    ND_END_RELEASE(end->qp);
    ND_END_RELEASE(end->sends);
    ND_END_RELEASE(end->cq);
    if (end->mr)
        nd2_end_finish(end, end->mr, end->mr->lpVtbl->Deregister(end->mr, nd2_end_fresh(end)));
    ND_END_RELEASE(end->mr);
    if (end->file)
        CloseHandle(end->file);
    ND_END_RELEASE(end->adapter);
    if (end->event)
        CloseHandle(end->event);
    if (end->memory)
        nd_end_memory_free(end->memory);
    *end = (struct nd2_end){ 0 };
}

HRESULT nd2_end_send(struct nd2_end *end, void *context, size_t offset, size_t octets, ULONG flags)
{
    ND2_SGE sge = { end->memory + offset, (ULONG)octets, end->lkey };

    return end->qp->lpVtbl->Send(end->qp, context, &sge, 1, flags);
}

HRESULT nd2_end_receive(struct nd2_end *end, void *context, size_t offset, size_t octets)
{
    ND2_SGE sge = { end->memory + offset, (ULONG)octets, end->lkey };

    return end->qp->lpVtbl->Receive(end->qp, context, &sge, 1);
}

unsigned nd2_end_results(
    struct nd2_end *end, ND2_RESULT *results, unsigned count, unsigned timeout_ms)
{
    uint64_t deadline_ms = GetTickCount64() + timeout_ms, now_ms;
    unsigned have = 0;
    HRESULT hr;

    for (;;) {
        have += end->cq->lpVtbl->GetResults(end->cq, results + have, count - have);
        now_ms = GetTickCount64();
        if (have == count || now_ms >= deadline_ms)
            return have;
        hr = end->cq->lpVtbl->Notify(end->cq, ND_CQ_NOTIFY_ANY, nd2_end_fresh(end));
        hr = nd2_end_wait(end, end->cq, hr, (unsigned)(deadline_ms - now_ms));
        if (hr == ND_PENDING)
            end->cq->lpVtbl->CancelOverlappedRequests(end->cq);
        else if (FAILED(hr))
            return have;
    }
}
