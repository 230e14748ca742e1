/* SPDX-License-Identifier: MIT */
/* verbs_v2.cpp - verbs.h over version 2: the peer writes and reads by a region's token or by a window's. */
#include "verbs.h"

#include <string.h>

#include "failure.h"

namespace ndperf
{

namespace
{

// Waits for the end of an overlapped request of an object. ND_CANCELED: the event lost came first.
HRESULT finish(IND2Overlapped *object, HRESULT hr, Pending &pending, HANDLE lost)
{
    if (hr != ND_PENDING)
        return hr;
    if (await(hr, pending, lost) == ND_PENDING)
        object->CancelOverlappedRequests();
    return object->GetOverlappedResult(&pending, TRUE);
}

class RegionV2 : public Region
{
  public:
    // Takes the region over.
    explicit RegionV2(IND2MemoryRegion *region) : region_(region)
    {
    }
    ~RegionV2()
    {
        Pending pending;
        finish(region_, region_->Deregister(&pending), pending, NULL);
        region_->Release();
    }
    IND2MemoryRegion *get() const
    {
        return region_;
    }

  private:
    IND2MemoryRegion *region_;
};

ND2_SGE piece(void *data, ULONG size, Region &region)
{
    ND2_SGE sge = { data, size, static_cast<RegionV2 &>(region).get()->GetLocalToken() };
    return sge;
}

class QueueV2 : public Queue
{
  public:
    // Takes the file over.
    QueueV2(IND2Adapter *adapter, HANDLE file, ULONG depth) : file_(file)
    {
        check(adapter->CreateCompletionQueue(
                  IID_IND2CompletionQueue, file_, depth, 0, 0, queue.out_void()),
            "CreateCompletionQueue");
    }
    ~QueueV2()
    {
        queue->CancelOverlappedRequests();
        queue.reset();
        CloseHandle(file_);
    }
    ULONG poll(Result *results, ULONG count);
    HRESULT notify(Pending &pending)
    {
        return queue->Notify(ND_CQ_NOTIFY_ANY, &pending);
    }
    HRESULT notified(Pending &pending)
    {
        return queue->GetOverlappedResult(&pending, TRUE);
    }
    HANDLE file()
    {
        return file_;
    }

    Ref<IND2CompletionQueue> queue;

  private:
    HANDLE file_;
};

class SharedReceivesV2 : public SharedReceives
{
  public:
    HRESULT receive(void *data, ULONG size, Region &region, ULONG_PTR context)
    {
        ND2_SGE sge = piece(data, size, region);
        return queue->Receive((VOID *)context, &sge, 1);
    }

    Ref<IND2SharedReceiveQueue> queue;
};

class AdapterV2 : public Adapter
{
  public:
    explicit AdapterV2(const SOCKADDR_INET &local);
    HRESULT open();
    ~AdapterV2();

    HRESULT listen(USHORT port, bool any);
    SOCKADDR_INET listening();
    HRESULT begin_request(Endpoint &endpoint, Pending &pending);
    HRESULT end_request(Pending &pending, bool cancel);
    Queue *create_queue(ULONG depth);
    SharedReceives *create_shared_receives(ULONG depth);
    Endpoint *create_endpoint();
    Region *register_memory(void *data, SIZE_T size, bool remote);

    SOCKADDR_INET local; // its port is 0
    Ref<IND2Adapter> adapter;
    HANDLE file;

  private:
    Ref<IND2Listener> listener_;
};

class EndpointV2 : public Endpoint
{
  public:
    explicit EndpointV2(AdapterV2 &adapter);

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
    ND_MW_DESCRIPTOR grant(Region &region, void *data, SIZE_T size, bool by_window);

    Ref<IND2Connector> connector;

  private:
    UINT32 bind_window(RegionV2 &region, void *data, SIZE_T size);

    AdapterV2 &adapter_;
    QueueV2 *queue_;
    ULONG reads_;
    Ref<IND2QueuePair> qp_;
    Ref<IND2MemoryWindow> window_;
};

// ---- queue ----------------------------------------------------------------------------------------------------------

ULONG QueueV2::poll(Result *results, ULONG count)
{
    enum { MOST = 32 };
    ND2_RESULT found[MOST];
    ULONG n = queue->GetResults(found, count < MOST ? count : (ULONG)MOST);

    for (ULONG i = 0; i < n; ++i) {
        results[i].status = found[i].Status;
        results[i].endpoint = static_cast<EndpointV2 *>(found[i].QueuePairContext);
        results[i].context = (ULONG_PTR)found[i].RequestContext;
        results[i].receive = found[i].RequestType == Nd2RequestTypeReceive;
        results[i].bytes = found[i].BytesTransferred;
    }
    return n;
}

// ---- endpoint -------------------------------------------------------------------------------------------------------

EndpointV2::EndpointV2(AdapterV2 &adapter) : adapter_(adapter), queue_(NULL), reads_(0)
{
    renew();
}

void EndpointV2::open(Queue &queue, const Depths &depths)
{
    queue_ = &static_cast<QueueV2 &>(queue);
    reads_ = depths.reads;
    IND2CompletionQueue *cq = queue_->queue.get();
    if (depths.shared)
        check(adapter_.adapter->CreateQueuePairWithSrq(IID_IND2QueuePair, cq, cq,
                  static_cast<SharedReceivesV2 *>(depths.shared)->queue.get(), this, depths.sends,
                  1, depths.inline_size, qp_.out_void()),
            "CreateQueuePairWithSrq");
    else
        check(adapter_.adapter->CreateQueuePair(IID_IND2QueuePair, cq, cq, this, depths.receives,
                  depths.sends, 1, 1, depths.inline_size, qp_.out_void()),
            "CreateQueuePair");
}

HRESULT EndpointV2::connect(const SOCKADDR_INET &address, const void *data, ULONG size)
{
    Pending pending;
    HRESULT hr = connector->Bind(
        (const struct sockaddr *)&adapter_.local, (ULONG)address_size(adapter_.local));
    if (FAILED(hr))
        return hr;
    return finish(connector.get(),
        connector->Connect(qp_.get(), (const struct sockaddr *)&address,
            (ULONG)address_size(address), reads_, reads_, data, size, &pending),
        pending, NULL);
}

HRESULT EndpointV2::complete_connect()
{
    Pending pending;
    return finish(connector.get(), connector->CompleteConnect(&pending), pending, NULL);
}

HRESULT EndpointV2::accept(HANDLE lost)
{
    Pending pending;
    return finish(connector.get(), connector->Accept(qp_.get(), reads_, reads_, NULL, 0, &pending),
        pending, lost);
}

HRESULT EndpointV2::disconnect()
{
    Pending pending;
    return finish(connector.get(), connector->Disconnect(&pending), pending, NULL);
}

void EndpointV2::reject(const void *data, ULONG size)
{
    connector->Reject(data, size);
}

void EndpointV2::renew()
{
    check(adapter_.adapter->CreateConnector(IID_IND2Connector, adapter_.file, connector.out_void()),
        "CreateConnector");
}

bool EndpointV2::private_data(void *data, ULONG size)
{
    memset(data, 0, size);
    HRESULT hr = connector->GetPrivateData(data, &size);
    return hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW;
}

HRESULT EndpointV2::notify_disconnect(Pending &pending)
{
    return connector->NotifyDisconnect(&pending);
}

SOCKADDR_INET EndpointV2::peer()
{
    SOCKADDR_INET address;
    ULONG size = sizeof(address);
    memset(&address, 0, sizeof(address));
    check(connector->GetPeerAddress((struct sockaddr *)&address, &size), "GetPeerAddress");
    return address;
}

HRESULT EndpointV2::receive(void *data, ULONG size, Region &region, ULONG_PTR context)
{
    ND2_SGE sge = piece(data, size, region);
    return qp_->Receive((VOID *)context, &sge, 1);
}

HRESULT EndpointV2::post(Operation operation, void *data, ULONG size, Region &region, UINT64 offset,
    ULONG flags, ULONG_PTR context)
{
    ND2_SGE sge = piece(data, size, region);
    ULONG entries = size ? 1 : 0;
    ULONG op = (flags & SILENT ? ND_OP_FLAG_SILENT_SUCCESS : 0) |
               (flags & INLINE && size ? ND_OP_FLAG_INLINE : 0);
    VOID *tag = (VOID *)context;

    switch (operation) {
    case WRITE:
        return qp_->Write(tag, &sge, entries, swap64(remote_.Base) + offset, remote_.Token, op);
    case READ:
        return qp_->Read(tag, &sge, entries, swap64(remote_.Base) + offset, remote_.Token, op);
    default: return qp_->Send(tag, &sge, entries, op);
    }
}

// The caller knows of no other request of this endpoint, so the next result is that of the Bind.
UINT32 EndpointV2::bind_window(RegionV2 &region, void *data, SIZE_T size)
{
    Result result;
    check(adapter_.adapter->CreateMemoryWindow(IID_IND2MemoryWindow, window_.out_void()),
        "CreateMemoryWindow");
    check(qp_->Bind(NULL, region.get(), window_.get(), data, size,
              ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE),
        "Bind of a memory window");
    while (queue_->poll(&result, 1) == 0)
        SwitchToThread();
    check(result.status, "Bind of a memory window");
    return window_->GetRemoteToken();
}

ND_MW_DESCRIPTOR EndpointV2::grant(Region &region, void *data, SIZE_T size, bool by_window)
{
    RegionV2 &from = static_cast<RegionV2 &>(region);
    ND_MW_DESCRIPTOR descriptor;
    descriptor.Base = swap64((UINT64)(ULONG_PTR)data);
    descriptor.Length = swap64(size);
    descriptor.Token = by_window ? bind_window(from, data, size) : from.get()->GetRemoteToken();
    return descriptor;
}

// ---- adapter --------------------------------------------------------------------------------------------------------

AdapterV2::AdapterV2(const SOCKADDR_INET &address) : local(address), file(NULL)
{
    local.Ipv4.sin_port = 0; // both families have the port at the same offset
}

HRESULT AdapterV2::open()
{
    ND2_ADAPTER_INFO info;
    ULONG size = sizeof(info);

    HRESULT hr = NdOpenAdapter(
        IID_IND2Adapter, (const struct sockaddr *)&local, address_size(local), adapter.out_void());
    if (FAILED(hr))
        return hr;
    info.InfoVersion = ND_VERSION_2;
    check(adapter->Query(&info, &size), "Query of the adapter");
    check(adapter->CreateOverlappedFile(&file), "CreateOverlappedFile");
    limits_.max_transfer = info.MaxTransferLength;
    limits_.max_inline = info.MaxInlineDataSize;
    limits_.advised_inline = info.InlineRequestThreshold;
    limits_.max_sends = info.MaxInitiatorQueueDepth;
    limits_.max_receives = info.MaxReceiveQueueDepth;
    limits_.max_shared = info.MaxSharedReceiveQueueDepth;
    limits_.max_results = info.MaxCompletionQueueDepth;
    limits_.max_reads = info.MaxOutboundReadLimit < info.MaxInboundReadLimit
                            ? info.MaxOutboundReadLimit
                            : info.MaxInboundReadLimit;
    limits_.in_order = info.AdapterFlags & ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED;
    return ND_SUCCESS;
}

AdapterV2::~AdapterV2()
{
    listener_.reset();
    if (file)
        CloseHandle(file);
}

HRESULT AdapterV2::listen(USHORT port, bool any)
{
    SOCKADDR_INET address = local;

    if (any && address.si_family == AF_INET)
        address.Ipv4.sin_addr.s_addr = htonl(INADDR_ANY);
    else if (any)
        memset(&address.Ipv6.sin6_addr, 0, sizeof(address.Ipv6.sin6_addr));
    address.Ipv4.sin_port = port;
    check(adapter->CreateListener(IID_IND2Listener, file, listener_.out_void()), "CreateListener");
    HRESULT hr = listener_->Bind((const struct sockaddr *)&address, (ULONG)address_size(address));
    return SUCCEEDED(hr) ? listener_->Listen(0) : hr;
}

SOCKADDR_INET AdapterV2::listening()
{
    SOCKADDR_INET address;
    ULONG size = sizeof(address);
    memset(&address, 0, sizeof(address));
    check(listener_->GetLocalAddress((struct sockaddr *)&address, &size), "GetLocalAddress");
    return address;
}

HRESULT AdapterV2::begin_request(Endpoint &endpoint, Pending &pending)
{
    return listener_->GetConnectionRequest(
        static_cast<EndpointV2 &>(endpoint).connector.get(), &pending);
}

HRESULT AdapterV2::end_request(Pending &pending, bool cancel)
{
    if (cancel)
        listener_->CancelOverlappedRequests();
    return listener_->GetOverlappedResult(&pending, TRUE);
}

Queue *AdapterV2::create_queue(ULONG depth)
{
    HANDLE own;
    check(adapter->CreateOverlappedFile(&own), "CreateOverlappedFile");
    return new QueueV2(adapter.get(), own, depth);
}

SharedReceives *AdapterV2::create_shared_receives(ULONG depth)
{
    SharedReceivesV2 *shared = new SharedReceivesV2;
    check(adapter->CreateSharedReceiveQueue(
              IID_IND2SharedReceiveQueue, file, depth, 1, 0, 0, 0, shared->queue.out_void()),
        "CreateSharedReceiveQueue");
    return shared;
}

Endpoint *AdapterV2::create_endpoint()
{
    return new EndpointV2(*this);
}

Region *AdapterV2::register_memory(void *data, SIZE_T size, bool remote)
{
    IND2MemoryRegion *region;
    Pending pending;
    ULONG flags = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK;

    if (remote)
        flags |= ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_ALLOW_REMOTE_WRITE;
    check(adapter->CreateMemoryRegion(IID_IND2MemoryRegion, file, (void **)&region),
        "CreateMemoryRegion");
    check(finish(region, region->Register(data, size, flags, &pending), pending, NULL), "Register");
    return new RegionV2(region);
}

} // namespace

HRESULT open_v2(const SOCKADDR_INET &local, std::unique_ptr<Adapter> &adapter)
{
    std::unique_ptr<AdapterV2> opened(new AdapterV2(local));
    HRESULT hr = opened->open();
    if (SUCCEEDED(hr))
        adapter = std::move(opened);
    return hr;
}

} // namespace ndperf
