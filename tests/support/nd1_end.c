/* SPDX-License-Identifier: MIT */
#include "tests/support/nd1_end.h"

HRESULT nd1_end_wait(struct nd1_end *end, void *object, HRESULT hr, unsigned timeout_ms)
{
    INDOverlapped *overlapped = object;
    SIZE_T octets;

    if (hr != ND_PENDING)
        return hr;
    WaitForSingleObject(end->event, timeout_ms);
    return overlapped->lpVtbl->GetOverlappedResult(overlapped, &end->overlapped, &octets, FALSE);
}

static HRESULT nd1_end_finish(struct nd1_end *end, void *object, HRESULT hr)
{
    return nd1_end_wait(end, object, hr, ND_END_WAIT_MS);
}

static OVERLAPPED *nd1_end_fresh(struct nd1_end *end)
{
    return nd_end_fresh(&end->overlapped, end->event);
}

HRESULT nd1_end_open(struct nd1_end *end, const struct nd1_end_options *options)
{
    struct sockaddr_in local = nd_end_address(options->local_be, 0);

    *end = (struct nd1_end){ .memory_octets = options->memory_octets, .peer_be = options->peer_be };
    end->event = CreateEventA(NULL, FALSE, FALSE, NULL);
    ND_END_STEP(end, "CreateEvent", end->event ? ND_SUCCESS : ND_NO_MEMORY);
    ND_END_STEP(end, "NdOpenV1Adapter",
        NdOpenV1Adapter((struct sockaddr *)&local, sizeof local, &end->adapter));
    end->file = end->adapter->lpVtbl->GetFileHandle(end->adapter);
    ND_END_STEP(
        end, "GetFileHandle", end->file != INVALID_HANDLE_VALUE ? ND_SUCCESS : ND_UNSUCCESSFUL);
    ND_END_STEP(end, "CreateCompletionQueue",
        end->adapter->lpVtbl->CreateCompletionQueue(end->adapter, 2 * options->depth, &end->cq));
    ND_END_STEP(end, "CreateConnector",
        end->adapter->lpVtbl->CreateConnector(end->adapter, &end->connector));
    ND_END_STEP(end, "CreateEndpoint",
        end->connector->lpVtbl->CreateEndpoint(end->connector, end->cq, end->cq, options->depth,
            options->depth, 1, 1, ND_END_READ_LIMIT, ND_END_READ_LIMIT, NULL, &end->endpoint));
    end->memory = nd_end_memory(end->memory_octets);
    ND_END_STEP(end, "mmap", end->memory ? ND_SUCCESS : ND_NO_MEMORY);
    ND_END_STEP(end, "RegisterMemory",
        nd1_end_finish(end, end->adapter,
            end->adapter->lpVtbl->RegisterMemory(
                end->adapter, end->memory, end->memory_octets, nd1_end_fresh(end), &end->mr)));
    return ND_SUCCESS;
}

HRESULT nd1_end_connect(struct nd1_end *end, USHORT port_be)
{
    struct sockaddr_in peer = nd_end_address(end->peer_be, port_be);

    ND_END_STEP(end, "Connect",
        nd1_end_finish(end, end->connector,
            end->connector->lpVtbl->Connect(end->connector, end->endpoint, (struct sockaddr *)&peer,
                sizeof peer, 0, 0, NULL, 0, nd1_end_fresh(end))));
    ND_END_STEP(end, "CompleteConnect",
        nd1_end_finish(end, end->connector,
            end->connector->lpVtbl->CompleteConnect(end->connector, nd1_end_fresh(end))));
    return ND_SUCCESS;
}

HRESULT nd1_end_listen(struct nd1_end *end, USHORT *port_be)
{
    ND_END_STEP(
        end, "Listen", end->adapter->lpVtbl->Listen(end->adapter, 0, 0, 0, port_be, &end->listen));
    return ND_SUCCESS;
}

HRESULT nd1_end_request(struct nd1_end *end)
{
    ND_END_STEP(end, "GetConnectionRequest",
        nd1_end_finish(end, end->listen,
            end->listen->lpVtbl->GetConnectionRequest(
                end->listen, end->connector, nd1_end_fresh(end))));
    return ND_SUCCESS;
}

HRESULT nd1_end_accept(struct nd1_end *end)
{
    ND_END_STEP(end, "Accept",
        nd1_end_finish(end, end->connector,
            end->connector->lpVtbl->Accept(
                end->connector, end->endpoint, NULL, 0, nd1_end_fresh(end))));
    return ND_SUCCESS;
}

HRESULT nd1_end_disconnect(struct nd1_end *end)
{
    ND_END_STEP(end, "Disconnect",
        nd1_end_finish(end, end->connector,
            end->connector->lpVtbl->Disconnect(end->connector, nd1_end_fresh(end))));
    return ND_SUCCESS;
}

void nd1_end_close(struct nd1_end *end)
{
    ND_END_RELEASE(end->listen);
    ND_END_RELEASE(end->endpoint);
    ND_END_RELEASE(end->connector);
    ND_END_RELEASE(end->cq);
    if (end->mr)
        nd1_end_finish(end, end->adapter,
            end->adapter->lpVtbl->DeregisterMemory(end->adapter, end->mr, nd1_end_fresh(end)));
    ND_END_RELEASE(end->adapter);
    if (end->event)
        CloseHandle(end->event);
    if (end->memory)
        nd_end_memory_free(end->memory);
    *end = (struct nd1_end){ 0 };
}

HRESULT nd1_end_send(
    struct nd1_end *end, ND_RESULT *result, size_t offset, size_t octets, DWORD flags)
{
    ND_SGE sge = { end->memory + offset, octets, end->mr };

    return end->endpoint->lpVtbl->Send(end->endpoint, result, &sge, 1, flags);
}

HRESULT nd1_end_receive(struct nd1_end *end, ND_RESULT *result, size_t offset, size_t octets)
{
    ND_SGE sge = { end->memory + offset, octets, end->mr };

    return end->endpoint->lpVtbl->Receive(end->endpoint, result, &sge, 1);
}
