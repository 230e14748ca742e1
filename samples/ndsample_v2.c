/* SPDX-License-Identifier: MIT */
/* ndsample_v2.c - see ndsample.h: one connected queue pair of version 2, from its adapter to its end. */
#include "ndsample.h"

/* ---- adapter and objects --------------------------------------------------------------------------------------- */

void sample_open(SAMPLE *sample, ULONG cq_depth)
{
    SOCKADDR_INET local;
    ULONG size = sizeof(sample->info);
    HRESULT hr;

    sample_check(sample, NdStartup(), "NdStartup");
    for (;;) {
        SIZE_T local_size = sample_local_address(sample, &local);
        hr = NdOpenAdapter(
            &IID_IND2Adapter, (struct sockaddr *)&local, local_size, (void **)&sample->adapter);
        if (SUCCEEDED(hr))
            break;
        sample_next_address(sample, "NdOpenAdapter", hr);
    }
    sample->info.InfoVersion = ND_VERSION_2;
    sample_check(
        sample, sample->adapter->lpVtbl->Query(sample->adapter, &sample->info, &size), "Query");
    sample_check(sample,
        sample->adapter->lpVtbl->CreateOverlappedFile(sample->adapter, &sample->file),
        "CreateOverlappedFile");

    sample->overlapped.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    sample->notify.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (!sample->overlapped.hEvent || !sample->notify.hEvent)
        sample_fail(sample, "CreateEvent failed: error %u", (unsigned)GetLastError());
    sample_check(sample,
        sample->adapter->lpVtbl->CreateCompletionQueue(sample->adapter, &IID_IND2CompletionQueue,
            sample->file, cq_depth, 0, 0, (void **)&sample->cq),
        "CreateCompletionQueue");
    sample_check(sample,
        sample->adapter->lpVtbl->CreateConnector(
            sample->adapter, &IID_IND2Connector, sample->file, (void **)&sample->connector),
        "CreateConnector");
}

void sample_create_queue_pair(SAMPLE *sample, ULONG receive_depth, ULONG initiator_depth)
{
    sample_check(sample,
        sample->adapter->lpVtbl->CreateQueuePair(sample->adapter, &IID_IND2QueuePair,
            (IUnknown *)sample->cq, (IUnknown *)sample->cq, NULL, receive_depth, initiator_depth, 1,
            1, 0, (void **)&sample->qp),
        "CreateQueuePair");
}

IND2MemoryRegion *sample_register(SAMPLE *sample, void *buffer, SIZE_T size, ULONG flags)
{
    IND2MemoryRegion *region;
    sample_check(sample,
        sample->adapter->lpVtbl->CreateMemoryRegion(
            sample->adapter, &IID_IND2MemoryRegion, sample->file, (void **)&region),
        "CreateMemoryRegion");
    sample_wait(sample, region,
        region->lpVtbl->Register(region, buffer, size, flags, &sample->overlapped), "Register");
    return region;
}

void sample_deregister(SAMPLE *sample, IND2MemoryRegion *region)
{
    sample_wait(
        sample, region, region->lpVtbl->Deregister(region, &sample->overlapped), "Deregister");
    region->lpVtbl->Release(region);
}

void sample_wait(SAMPLE *sample, void *object, HRESULT hr, const char *what)
{
    IND2Overlapped *overlapped = (IND2Overlapped *)object;
    if (hr == ND_PENDING)
        hr = overlapped->lpVtbl->GetOverlappedResult(overlapped, &sample->overlapped, TRUE);
    sample_check(sample, hr, what);
}

/* ---- connection ------------------------------------------------------------------------------------------------ */

static void take_private_data(SAMPLE *sample, void *data, ULONG size)
{
    ULONG length = size;
    HRESULT hr = sample->connector->lpVtbl->GetPrivateData(sample->connector, data, &length);
    sample_check_private_data(sample, hr, "GetPrivateData", length, size);
}

/* FALSE: it cannot listen there. */
static BOOL serve(SAMPLE *sample, void *data, ULONG size_of_data)
{
    IND2Listener *listener;
    IND2Connector *connector = sample->connector;
    SOCKADDR_INET local;
    ULONG size = sizeof(local);

    sample_check(sample,
        sample->adapter->lpVtbl->CreateListener(
            sample->adapter, &IID_IND2Listener, sample->file, (void **)&listener),
        "CreateListener");
    HRESULT hr = listener->lpVtbl->Bind(listener, (struct sockaddr *)&sample->address,
        (ULONG)sample_address_size(&sample->address));
    if (FAILED(hr)) {
        listener->lpVtbl->Release(listener);
        sample_next_address(sample, "Bind", hr);
        sample->qp->lpVtbl->Flush(sample->qp);
        return FALSE;
    }
    sample_check(sample, listener->lpVtbl->Listen(listener, 0), "Listen");
    sample_check(sample,
        listener->lpVtbl->GetLocalAddress(listener, (struct sockaddr *)&local, &size),
        "GetLocalAddress");
    sample_listening(sample, &local);

    sample_wait(sample, listener,
        listener->lpVtbl->GetConnectionRequest(
            listener, (IUnknown *)connector, &sample->overlapped),
        "GetConnectionRequest");
    listener->lpVtbl->Release(listener);
    take_private_data(sample, data, size_of_data);
    sample_wait(sample, connector,
        connector->lpVtbl->Accept(connector, (IUnknown *)sample->qp,
            sample->info.MaxInboundReadLimit, sample->info.MaxOutboundReadLimit, NULL, 0,
            &sample->overlapped),
        "Accept");
    return TRUE;
}

/* A server at the only address may just be starting. */
static HRESULT connect_patiently(SAMPLE *sample, const void *data, ULONG size)
{
    IND2Connector *connector = sample->connector;
    HRESULT hr;

    do {
        hr = connector->lpVtbl->Connect(connector, (IUnknown *)sample->qp,
            (struct sockaddr *)&sample->address, (ULONG)sample_address_size(&sample->address),
            sample->info.MaxInboundReadLimit, sample->info.MaxOutboundReadLimit, data, size,
            &sample->overlapped);
        if (hr == ND_PENDING)
            hr = connector->lpVtbl->GetOverlappedResult(connector, &sample->overlapped, TRUE);
    } while (hr == ND_CONNECTION_REFUSED && sample->addresses.count == 1 &&
             sample_try_again(&sample->rounds));
    return hr;
}

BOOL sample_connect(SAMPLE *sample, void *data, ULONG size)
{
    IND2Connector *connector = sample->connector;
    SOCKADDR_INET local;
    HRESULT hr;

    if (sample->server)
        return serve(sample, data, size);
    SIZE_T local_size = sample_local_address(sample, &local);
    sample_check(sample,
        connector->lpVtbl->Bind(connector, (struct sockaddr *)&local, (ULONG)local_size), "Bind");
    hr = connect_patiently(sample, data, size);
    if (FAILED(hr)) {
        sample_next_address(sample, "Connect", hr);
        sample->qp->lpVtbl->Flush(sample->qp);
        return FALSE;
    }
    sample_wait(sample, connector,
        connector->lpVtbl->CompleteConnect(connector, &sample->overlapped), "CompleteConnect");
    return TRUE;
}

void sample_disconnect(SAMPLE *sample)
{
    IND2Connector *connector = sample->connector;
    if (sample->server)
        sample_wait(sample, connector,
            connector->lpVtbl->NotifyDisconnect(connector, &sample->overlapped),
            "NotifyDisconnect");
    sample_wait(sample, connector, connector->lpVtbl->Disconnect(connector, &sample->overlapped),
        "Disconnect");
}

void sample_close(SAMPLE *sample)
{
    sample->qp->lpVtbl->Release(sample->qp);
    sample->connector->lpVtbl->Release(sample->connector);
    sample->cq->lpVtbl->Release(sample->cq);
    CloseHandle(sample->file);
    sample->adapter->lpVtbl->Release(sample->adapter);
    CloseHandle(sample->overlapped.hEvent);
    CloseHandle(sample->notify.hEvent);
    NdCleanup();
}

/* ---- results --------------------------------------------------------------------------------------------------- */

static const char *request_name(ND2_REQUEST_TYPE type)
{
    static const char *const names[] = { "Receive", "Send", "Bind", "Invalidate", "Read", "Write" };
    return (unsigned)type < sizeof(names) / sizeof(names[0]) ? names[type] : "request";
}

BOOL sample_try_next(SAMPLE *sample, ND2_RESULT *result)
{
    if (sample->cq->lpVtbl->GetResults(sample->cq, result, 1) == 0)
        return FALSE;
    sample_check(sample, result->Status, request_name(result->RequestType));
    return TRUE;
}

/* Sleeps until a request may have completed. A Notify may miss results that arrived before it, so poll once more. */
static BOOL sleep_for_result(SAMPLE *sample, ND2_RESULT *result)
{
    IND2CompletionQueue *cq = sample->cq;
    HRESULT hr = ND_PENDING;

    if (!sample->notified)
        hr = cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, &sample->notify);
    sample_check(sample, hr, "Notify");
    sample->notified = hr == ND_PENDING;
    if (sample_try_next(sample, result))
        return TRUE;
    if (sample->notified)
        sample_check(sample, cq->lpVtbl->GetOverlappedResult(cq, &sample->notify, TRUE), "Notify");
    sample->notified = FALSE;
    return sample_try_next(sample, result);
}

void sample_next(SAMPLE *sample, ND2_RESULT *result)
{
    while (!sample_try_next(sample, result))
        if (sample->blocking && sleep_for_result(sample, result))
            return;
}
