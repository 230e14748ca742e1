// SPDX-License-Identifier: MIT
// verbs_v2.cpp - verbs.h over version 2: memory is read by region tokens, small Sends are inline.
#include "verbs_versions.h"

#include <string.h>

#include "failure.h"

namespace ndmpi
{

namespace
{

const HRESULT CONNECTOR_BOUND = (HRESULT)0xC0000238;

HRESULT result_of(IUnknown *object, OVERLAPPED *overlapped)
{
    return static_cast<IND2Overlapped *>(object)->GetOverlappedResult(overlapped, FALSE);
}

class MemoryV2 : public Memory
{
  public:
    // Takes the region over.
    MemoryV2(IND2MemoryRegion *region, HANDLE event) : region_(region), event_(event)
    {
    }
    ~MemoryV2()
    {
        OVERLAPPED overlapped = tagged_overlapped(event_);
        if (region_->Deregister(&overlapped) == ND_PENDING)
            region_->GetOverlappedResult(&overlapped, TRUE);
        region_->Release();
    }
    UINT32 local() const
    {
        return region_->GetLocalToken();
    }
    UINT32 remote() const
    {
        return region_->GetRemoteToken();
    }

  private:
    IND2MemoryRegion *region_;
    HANDLE event_;
};

UINT32 token_of(Memory &memory)
{
    return static_cast<MemoryV2 &>(memory).local();
}

class AdapterV2 : public Adapter
{
  public:
    AdapterV2(Executive &executive, const SOCKADDR_INET &address, ULONG endpoints);
    ~AdapterV2();

    HRESULT listen(USHORT port);
    Endpoint *create_endpoint();
    void next_request(Endpoint &endpoint, Request &request);
    Memory *register_memory(const void *data, size_t size, Access access, HRESULT &hr);
    bool poll();
    void notify(Request &request);

    Executive &executive;
    ND2_ADAPTER_INFO info;
    Ref<IND2Adapter> adapter;
    Ref<IND2CompletionQueue> cq;
    HANDLE file;

  private:
    HANDLE event_; // of registrations
    Ref<IND2Listener> listener_;
};

class EndpointV2 : public Endpoint
{
  public:
    explicit EndpointV2(AdapterV2 &adapter);

    void open_queues();
    void connect(const SOCKADDR_INET &address, const void *data, ULONG size, Request &request);
    void complete_connect(Request &request);
    void accept(const void *data, ULONG size, Request &request);
    void reject();
    bool private_data(void *data, ULONG size);
    void disconnect(Request &request);
    void flush();
    HRESULT receive(Work &work, void *data, size_t size, Memory &memory);
    HRESULT send(Work &work, const void *data, size_t size, Memory &memory);
    HRESULT read(Work &work, void *data, size_t size, Memory &memory, const Descriptor &from);
    HRESULT grant(const void *data, size_t size, Memory &memory, Descriptor &descriptor,
        Window *&window, Work &work, bool &later);
    HRESULT revoke(Window *window, Work &work, bool &later);
    void reclaim(Window *window);

    Ref<IND2Connector> connector;

  private:
    void issued(Request &request, HRESULT hr)
    {
        adapter_.executive.issued(request, hr, Executive::NO_PACKET_ON_SUCCESS);
    }

    AdapterV2 &adapter_;
    Ref<IND2QueuePair> qp_;
};

// ---- endpoint -------------------------------------------------------------------------------------------------------

EndpointV2::EndpointV2(AdapterV2 &adapter) : adapter_(adapter)
{
    check(adapter.adapter->CreateConnector(IID_IND2Connector, adapter.file, connector.out_void()),
        "CreateConnector", &adapter.address());
}

void EndpointV2::open_queues()
{
    IUnknown *cq = adapter_.cq.get();
    check(adapter_.adapter->CreateQueuePair(IID_IND2QueuePair, cq, cq, NULL, RECEIVES, INITIATORS,
              1, 1, adapter_.info.InlineRequestThreshold, qp_.out_void()),
        "CreateQueuePair", &adapter_.address());
}

// Connects from the listener's own port, so that one address names a rank to both sides.
void EndpointV2::connect(
    const SOCKADDR_INET &address, const void *data, ULONG size, Request &request)
{
    const SOCKADDR_INET &own = adapter_.address();
    HRESULT hr = connector->Bind((const struct sockaddr *)&own, (ULONG)sample_address_size(&own));
    check(hr == CONNECTOR_BOUND ? ND_SUCCESS : hr, "Bind of a connector", &own);
    request.start(connector.get(), result_of);
    issued(request, connector->Connect(qp_.get(), (const struct sockaddr *)&address,
                        (ULONG)sample_address_size(&address), adapter_.info.MaxInboundReadLimit,
                        adapter_.info.MaxOutboundReadLimit, data, size, &request));
}

void EndpointV2::complete_connect(Request &request)
{
    request.start(connector.get(), result_of);
    issued(request, connector->CompleteConnect(&request));
}

void EndpointV2::accept(const void *data, ULONG size, Request &request)
{
    request.start(connector.get(), result_of);
    issued(request, connector->Accept(qp_.get(), adapter_.info.MaxInboundReadLimit,
                        adapter_.info.MaxOutboundReadLimit, data, size, &request));
}

void EndpointV2::reject()
{
    connector->Reject(NULL, 0);
}

bool EndpointV2::private_data(void *data, ULONG size)
{
    memset(data, 0, size);
    HRESULT hr = connector->GetPrivateData(data, &size);
    return hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW;
}

void EndpointV2::disconnect(Request &request)
{
    request.start(connector.get(), result_of);
    issued(request, connector->Disconnect(&request));
}

void EndpointV2::flush()
{
    qp_->Flush();
}

HRESULT EndpointV2::receive(Work &work, void *data, size_t size, Memory &memory)
{
    ND2_SGE sge = { data, (ULONG)size, token_of(memory) };
    return qp_->Receive(&work, &sge, 1);
}

HRESULT EndpointV2::send(Work &work, const void *data, size_t size, Memory &memory)
{
    ND2_SGE sge = { (void *)data, (ULONG)size, token_of(memory) };
    ULONG flags = size <= adapter_.info.InlineRequestThreshold ? ND_OP_FLAG_INLINE : 0;
    return qp_->Send(&work, &sge, 1, flags);
}

HRESULT EndpointV2::read(
    Work &work, void *data, size_t size, Memory &memory, const Descriptor &from)
{
    ND_MW_DESCRIPTOR remote;
    memcpy(&remote, from.bytes, sizeof(remote));
    ND2_SGE sge = { data, (ULONG)size, token_of(memory) };
    return qp_->Read(&work, &sge, 1, swap64(remote.Base), remote.Token, 0);
}

HRESULT EndpointV2::grant(const void *data, size_t size, Memory &memory, Descriptor &descriptor,
    Window *&window, Work &, bool &later)
{
    ND_MW_DESCRIPTOR local;
    local.Base = swap64((UINT64)(ULONG_PTR)data);
    local.Length = swap64(size);
    local.Token = static_cast<MemoryV2 &>(memory).remote();
    memcpy(descriptor.bytes, &local, sizeof(local));
    window = NULL;
    later = false;
    return ND_SUCCESS;
}

// A peer may read the region as long as it is registered: peers of the same job are trusted with tokens.
HRESULT EndpointV2::revoke(Window *, Work &, bool &later)
{
    later = false;
    return ND_SUCCESS;
}

void EndpointV2::reclaim(Window *)
{
}

// ---- adapter --------------------------------------------------------------------------------------------------------

AdapterV2::AdapterV2(Executive &the_executive, const SOCKADDR_INET &address, ULONG endpoints)
    : executive(the_executive), event_(open_event())
{
    ULONG size = sizeof(info);

    address_ = address;
    check(NdOpenAdapter(IID_IND2Adapter, (const struct sockaddr *)&address,
              sample_address_size(&address), adapter.out_void()),
        "NdOpenAdapter", &address);
    info.InfoVersion = ND_VERSION_2;
    check(adapter->Query(&info, &size), "Query of the adapter", &address);
    if (info.MaxReceiveQueueDepth < RECEIVES || info.MaxInitiatorQueueDepth < INITIATORS)
        fail("the queues of adapter %s are too short: %u receives and %u requests are needed",
            ip_text(address).c_str(), RECEIVES, INITIATORS);
    check_depth(address, info.MaxCompletionQueueDepth, endpoints);
    check(adapter->CreateOverlappedFile(&file), "CreateOverlappedFile", &address);
    executive.attach(file);
    check(adapter->CreateCompletionQueue(
              IID_IND2CompletionQueue, file, endpoints * RESULTS, 0, 0, cq.out_void()),
        "CreateCompletionQueue", &address);
    advised_send_ = info.LargeRequestThreshold;
    largest_read_ = info.MaxTransferLength < info.MaxRegistrationSize ? info.MaxTransferLength
                                                                      : info.MaxRegistrationSize;
    if (info.MaxOutboundReadLimit == 0 || info.MaxInboundReadLimit == 0)
        largest_read_ = 0;
}

AdapterV2::~AdapterV2()
{
    if (listener_.get())
        listener_->CancelOverlappedRequests();
    cq->CancelOverlappedRequests();
    listener_.reset();
    cq.reset();
    CloseHandle(file);
    adapter.reset();
    CloseHandle(event_);
}

// After a failed Bind the next port gets a new listener.
HRESULT AdapterV2::listen(USHORT port)
{
    ULONG size = sizeof(address_);
    SOCKADDR_INET address = address_;

    address.Ipv4.sin_port = port;
    check(adapter->CreateListener(IID_IND2Listener, file, listener_.out_void()), "CreateListener",
        &address_);
    HRESULT hr =
        listener_->Bind((const struct sockaddr *)&address, (ULONG)sample_address_size(&address));
    if (SUCCEEDED(hr))
        hr = listener_->Listen(0);
    if (SUCCEEDED(hr))
        hr = listener_->GetLocalAddress((struct sockaddr *)&address, &size);
    if (SUCCEEDED(hr))
        address_.Ipv4.sin_port = address.Ipv4.sin_port;
    return hr;
}

Endpoint *AdapterV2::create_endpoint()
{
    return new EndpointV2(*this);
}

void AdapterV2::next_request(Endpoint &endpoint, Request &request)
{
    request.start(listener_.get(), result_of);
    executive.issued(request,
        listener_->GetConnectionRequest(
            static_cast<EndpointV2 &>(endpoint).connector.get(), &request),
        Executive::NO_PACKET_ON_SUCCESS);
}

Memory *AdapterV2::register_memory(const void *data, size_t size, Access access, HRESULT &hr)
{
    IND2MemoryRegion *region;
    OVERLAPPED overlapped = tagged_overlapped(event_);
    ULONG flags = ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_DO_NOT_SECURE_VM;

    if (access == SINK)
        flags |= ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK;
    hr = adapter->CreateMemoryRegion(IID_IND2MemoryRegion, file, (void **)&region);
    if (FAILED(hr))
        return NULL;
    hr = region->Register(data, size, flags, &overlapped);
    if (hr == ND_PENDING)
        hr = region->GetOverlappedResult(&overlapped, TRUE);
    if (FAILED(hr)) {
        region->Release();
        return NULL;
    }
    return new MemoryV2(region, event_);
}

bool AdapterV2::poll()
{
    ND2_RESULT results[16];
    ULONG count = cq->GetResults(results, 16);
    for (ULONG i = 0; i < count; ++i)
        static_cast<Work *>(results[i].RequestContext)
            ->done(results[i].Status, results[i].BytesTransferred);
    return count > 0;
}

void AdapterV2::notify(Request &request)
{
    request.start(cq.get(), result_of);
    executive.issued(
        request, cq->Notify(ND_CQ_NOTIFY_ANY, &request), Executive::NO_PACKET_ON_SUCCESS);
}

} // namespace

Adapter *open_v2(Executive &executive, const SOCKADDR_INET &address, ULONG endpoints)
{
    return new AdapterV2(executive, address, endpoints);
}

} // namespace ndmpi
