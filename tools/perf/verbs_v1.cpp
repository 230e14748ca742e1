/* SPDX-License-Identifier: MIT */
/* verbs_v1.cpp - verbs.h over version 1: the peer writes and reads through memory windows. */
#include "verbs.h"

#include <string.h>

#include <vector>

#include "failure.h"

namespace ndperf
{

namespace
{

const INT PROTOCOL_ANY = 0; // the library ignores it

// Waits for the end of an overlapped request of an object. ND_CANCELED: the event lost came first.
HRESULT finish(INDOverlapped *object, HRESULT hr, Pending &pending, HANDLE lost)
{
    SIZE_T bytes;
    if (hr != ND_PENDING)
        return hr;
    if (await(hr, pending, lost) == ND_PENDING)
        object->CancelOverlappedRequests();
    return object->GetOverlappedResult(&pending, &bytes, TRUE);
}

// A request, from its post until its result, or a later one's, is fetched.
struct Request : ND_RESULT {
    Endpoint *endpoint;
    ULONG_PTR context;
    bool receive;
};

class RegionV1 : public Region
{
  public:
    RegionV1(INDAdapter *adapter, void *data, SIZE_T size) : adapter_(adapter)
    {
        Pending pending;
        check(
            finish(adapter, adapter->RegisterMemory(data, size, &pending, &handle), pending, NULL),
            "RegisterMemory");
    }
    ~RegionV1()
    {
        Pending pending;
        finish(adapter_, adapter_->DeregisterMemory(handle, &pending), pending, NULL);
    }

    ND_MR_HANDLE handle;

  private:
    INDAdapter *adapter_;
};

class QueueV1 : public Queue
{
  public:
    QueueV1(INDAdapter *adapter, ULONG depth) : adapter_(adapter)
    {
        check(adapter->CreateCompletionQueue(depth, queue.out()), "CreateCompletionQueue");
    }
    ~QueueV1()
    {
        queue->CancelOverlappedRequests();
    }
    ULONG poll(Result *results, ULONG count);
    HRESULT notify(Pending &pending)
    {
        return queue->Notify(ND_CQ_NOTIFY_ANY, &pending);
    }
    HRESULT notified(Pending &pending)
    {
        SIZE_T bytes;
        return queue->GetOverlappedResult(&pending, &bytes, TRUE);
    }
    HANDLE file()
    {
        return adapter_->GetFileHandle();
    }

    Ref<INDCompletionQueue> queue;

  private:
    INDAdapter *adapter_;
};

class AdapterV1 : public Adapter
{
  public:
    explicit AdapterV1(const SOCKADDR_INET &local);
    HRESULT open();

    HRESULT listen(USHORT port, bool any);
    SOCKADDR_INET listening();
    HRESULT begin_request(Endpoint &endpoint, Pending &pending);
    HRESULT end_request(Pending &pending, bool cancel);
    Queue *create_queue(ULONG depth);
    SharedReceives *create_shared_receives(ULONG depth);
    Endpoint *create_endpoint();
    Region *register_memory(void *data, SIZE_T size, bool remote);

    Ref<INDAdapter> adapter;

  private:
    SOCKADDR_INET local_;
    Ref<INDListen> listen_;
};

class EndpointV1 : public Endpoint
{
  public:
    explicit EndpointV1(AdapterV1 &adapter);

    void open(Queue &queue, const Depths &depths);
    HRESULT connect(const SOCKADDR_INET &address, const void *data, ULONG size);
    HRESULT complete_connect();
    HRESULT accept(HANDLE lost);
    HRESULT disconnect();
    void reject(const void *data, ULONG size);
    void renew();
    bool private_data(void *data, ULONG size);
    HRESULT notify_disconnect(Pending &pending);
    SOCKADDR_INET peer();
    HRESULT receive(void *data, ULONG size, Region &region, ULONG_PTR context);
    HRESULT post(Operation operation, void *data, ULONG size, Region &region, UINT64 offset,
        ULONG flags, ULONG_PTR context);
    void start_batch()
    {
        endpoint_->StartRequestBatch();
    }
    void submit_batch()
    {
        endpoint_->SubmitRequestBatch();
    }
    ND_MW_DESCRIPTOR grant(Region &region, void *data, SIZE_T size, bool by_window);

    Ref<INDConnector> connector;

  private:
    Request &next(std::vector<Request> &ring, size_t &posted, ULONG_PTR context);

    AdapterV1 &adapter_;
    QueueV1 *queue_;
    Ref<INDEndpoint> endpoint_;
    Ref<INDMemoryWindow> window_;
    std::vector<Request> sends_, receives_;
    size_t sent_, received_; // numbers of posted Sends and Receives
};

// ---- queue ----------------------------------------------------------------------------------------------------------

ULONG QueueV1::poll(Result *results, ULONG count)
{
    enum { MOST = 32 };
    ND_RESULT *found[MOST];
    SIZE_T n = queue->GetResults(found, count < MOST ? count : (ULONG)MOST);

    for (SIZE_T i = 0; i < n; ++i) {
        Request *request = static_cast<Request *>(found[i]);
        results[i].status = request->Status;
        results[i].endpoint = request->endpoint;
        results[i].context = request->context;
        results[i].receive = request->receive;
        results[i].bytes = (ULONG)request->BytesTransferred;
    }
    return (ULONG)n;
}

// ---- endpoint -------------------------------------------------------------------------------------------------------

EndpointV1::EndpointV1(AdapterV1 &adapter) : adapter_(adapter), queue_(NULL), sent_(0), received_(0)
{
    renew();
}

void EndpointV1::open(Queue &queue, const Depths &depths)
{
    SIZE_T most_inline = depths.inline_size;
    Request blank;

    queue_ = &static_cast<QueueV1 &>(queue);
    INDCompletionQueue *cq = queue_->queue.get();
    check(connector->CreateEndpoint(cq, cq, depths.receives, depths.sends, 1, 1, depths.reads,
              depths.reads, depths.inline_size ? &most_inline : NULL, endpoint_.out()),
        "CreateEndpoint");
    memset(static_cast<void *>(&blank), 0, sizeof(blank));
    blank.endpoint = this;
    sends_.assign(depths.sends, blank);
    blank.receive = true;
    receives_.assign(depths.receives, blank);
}

// Returns the next request of a ring. Requests complete in order, so the one posted a whole ring earlier is over.
Request &EndpointV1::next(std::vector<Request> &ring, size_t &posted, ULONG_PTR context)
{
    Request &request = ring[posted++ % ring.size()];
    request.context = context;
    return request;
}

HRESULT EndpointV1::connect(const SOCKADDR_INET &address, const void *data, ULONG size)
{
    Pending pending;
    HRESULT hr = finish(connector.get(),
        connector->Connect(endpoint_.get(), (const struct sockaddr *)&address,
            address_size(address), PROTOCOL_ANY, 0, data, size, &pending),
        pending, NULL);
    return hr == ND_TIMEOUT ? ND_IO_TIMEOUT : hr; // version 1's ND_TIMEOUT is no failure code
}

HRESULT EndpointV1::complete_connect()
{
    Pending pending;
    return finish(connector.get(), connector->CompleteConnect(&pending), pending, NULL);
}

HRESULT EndpointV1::accept(HANDLE lost)
{
    Pending pending;
    return finish(
        connector.get(), connector->Accept(endpoint_.get(), NULL, 0, &pending), pending, lost);
}

HRESULT EndpointV1::disconnect()
{
    Pending pending;
    return finish(connector.get(), connector->Disconnect(&pending), pending, NULL);
}

void EndpointV1::reject(const void *data, ULONG size)
{
    connector->Reject(data, size);
}

// An endpoint is not tied to the connector that made it: Accept takes it on any connector of the adapter.
void EndpointV1::renew()
{
    check(adapter_.adapter->CreateConnector(connector.out()), "CreateConnector");
}

bool EndpointV1::private_data(void *data, ULONG size)
{
    SIZE_T length = size;
    memset(data, 0, size);
    HRESULT hr = connector->GetConnectionData(NULL, NULL, data, &length);
    return hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW;
}

HRESULT EndpointV1::notify_disconnect(Pending &pending)
{
    return connector->NotifyDisconnect(&pending);
}

SOCKADDR_INET EndpointV1::peer()
{
    SOCKADDR_INET address;
    SIZE_T size = sizeof(address);
    memset(&address, 0, sizeof(address));
    check(connector->GetPeerAddress((struct sockaddr *)&address, &size), "GetPeerAddress");
    return address;
}

HRESULT EndpointV1::receive(void *data, ULONG size, Region &region, ULONG_PTR context)
{
    ND_SGE sge = { data, size, static_cast<RegionV1 &>(region).handle };
    return endpoint_->Receive(&next(receives_, received_, context), &sge, 1);
}

HRESULT EndpointV1::post(Operation operation, void *data, ULONG size, Region &region, UINT64 offset,
    ULONG flags, ULONG_PTR context)
{
    ND_SGE sge = { data, size, flags & INLINE ? NULL : static_cast<RegionV1 &>(region).handle };
    SIZE_T entries = size ? 1 : 0;
    DWORD op = flags & SILENT ? ND_OP_FLAG_SILENT_SUCCESS : 0;
    Request &request = next(sends_, sent_, context);

    switch (operation) {
    case WRITE: return endpoint_->Write(&request, &sge, entries, &remote_, offset, op);
    case READ: return endpoint_->Read(&request, &sge, entries, &remote_, offset, op);
    default: return endpoint_->Send(&request, &sge, entries, op);
    }
}

// The caller knows of no other request of this endpoint, so the next result is that of the Bind.
ND_MW_DESCRIPTOR EndpointV1::grant(Region &region, void *data, SIZE_T size, bool)
{
    ND_MW_DESCRIPTOR descriptor;
    Result result;

    check(adapter_.adapter->CreateMemoryWindow(NULL, window_.out()), "CreateMemoryWindow");
    check(
        endpoint_->Bind(&next(sends_, sent_, 0), static_cast<RegionV1 &>(region).handle,
            window_.get(), data, size, ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE, &descriptor),
        "Bind of a memory window");
    while (queue_->poll(&result, 1) == 0)
        SwitchToThread();
    check(result.status, "Bind of a memory window");
    return descriptor;
}

// ---- adapter --------------------------------------------------------------------------------------------------------

AdapterV1::AdapterV1(const SOCKADDR_INET &local) : local_(local)
{
}

HRESULT AdapterV1::open()
{
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info);

    HRESULT hr =
        NdOpenV1Adapter((const struct sockaddr *)&local_, address_size(local_), adapter.out());
    if (FAILED(hr))
        return hr;
    check(adapter->Query(1, &info, &size), "Query of the adapter");
    limits_.max_transfer = info.MaxOutboundLength < info.MaxInboundLength ? info.MaxOutboundLength
                                                                          : info.MaxInboundLength;
    limits_.max_inline = limits_.advised_inline = info.MaxInlineData;
    limits_.max_sends = info.MaxOutboundRequests;
    limits_.max_receives = info.MaxInboundRequests;
    limits_.max_shared = 0;
    limits_.max_results = info.MaxCqEntries;
    limits_.max_reads = info.MaxOutboundReadLimit < info.MaxInboundReadLimit
                            ? info.MaxOutboundReadLimit
                            : info.MaxInboundReadLimit;
    limits_.in_order = true; // version 1 does not report it
    return ND_SUCCESS;
}

// Version 1 opens an adapter for one address, and listens only there.
HRESULT AdapterV1::listen(USHORT port, bool)
{
    HRESULT hr = adapter->Listen(0, PROTOCOL_ANY, port, &port, listen_.out());
    local_.Ipv4.sin_port = port; // both families have the port at the same offset
    return hr;
}

SOCKADDR_INET AdapterV1::listening()
{
    return local_;
}

HRESULT AdapterV1::begin_request(Endpoint &endpoint, Pending &pending)
{
    return listen_->GetConnectionRequest(
        static_cast<EndpointV1 &>(endpoint).connector.get(), &pending);
}

HRESULT AdapterV1::end_request(Pending &pending, bool cancel)
{
    SIZE_T bytes;
    if (cancel)
        listen_->CancelOverlappedRequests();
    return listen_->GetOverlappedResult(&pending, &bytes, TRUE);
}

Queue *AdapterV1::create_queue(ULONG depth)
{
    return new QueueV1(adapter.get(), depth);
}

SharedReceives *AdapterV1::create_shared_receives(ULONG)
{
    fail("version 1 has no shared receive queue"); // contradiction() has refused it
}

Endpoint *AdapterV1::create_endpoint()
{
    return new EndpointV1(*this);
}

Region *AdapterV1::register_memory(void *data, SIZE_T size, bool)
{
    return new RegionV1(adapter.get(), data, size);
}

} // namespace

HRESULT open_v1(const SOCKADDR_INET &local, std::unique_ptr<Adapter> &adapter)
{
    std::unique_ptr<AdapterV1> opened(new AdapterV1(local));
    HRESULT hr = opened->open();
    if (SUCCEEDED(hr))
        adapter = std::move(opened);
    return hr;
}

} // namespace ndperf
