// SPDX-License-Identifier: MIT
//
// verbs_v1.cpp - verbs.h over version 1: a peer reads through a window, bound before the offer and invalidated after
// the read; the descriptor of the window travels inside the message.
#include "verbs_versions.h"

#include <string.h>

#include <vector>

#include "failure.h"

namespace ndmpi
{

namespace
{

const INT PROTOCOL = 123; // the library ignores it

HRESULT result_of(IUnknown *object, OVERLAPPED *overlapped)
{
    SIZE_T bytes;
    return static_cast<INDOverlapped *>(object)->GetOverlappedResult(overlapped, &bytes, FALSE);
}

class AdapterV1;

class MemoryV1 : public Memory
{
  public:
    MemoryV1(AdapterV1 &the_adapter, ND_MR_HANDLE the_handle)
        : handle(the_handle), adapter_(the_adapter)
    {
    }
    ~MemoryV1();

    const ND_MR_HANDLE handle;

  private:
    AdapterV1 &adapter_;
};

ND_SGE piece(const void *data, size_t size, Memory &memory)
{
    ND_SGE sge = { (VOID *)data, size, static_cast<MemoryV1 &>(memory).handle };
    return sge;
}

class WindowV1 : public Window
{
  public:
    explicit WindowV1(AdapterV1 &adapter);
    Ref<INDMemoryWindow> window;
};

class AdapterV1 : public Adapter
{
  public:
    AdapterV1(Executive &executive, const SOCKADDR_INET &address, ULONG endpoints);
    ~AdapterV1();

    HRESULT listen(USHORT port);
    Endpoint *create_endpoint();
    void next_request(Endpoint &endpoint, Request &request);
    Memory *register_memory(const void *data, size_t size, Access access, HRESULT &hr);
    void deregister(ND_MR_HANDLE handle);
    bool poll();
    void notify(Request &request);

    Executive &executive;
    ND_ADAPTER_INFO info;
    Ref<INDAdapter> adapter;
    Ref<INDCompletionQueue> cq;

  private:
    HANDLE event_; // of registrations
    Ref<INDListen> listen_;
};

class EndpointV1 : public Endpoint
{
  public:
    explicit EndpointV1(AdapterV1 &adapter);
    ~EndpointV1();

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

    Ref<INDConnector> connector;

  private:
    void issued(Request &request, HRESULT hr)
    {
        adapter_.executive.issued(request, hr, Executive::PACKET_ON_SUCCESS);
    }

    AdapterV1 &adapter_;
    Ref<INDEndpoint> endpoint_;
    std::vector<WindowV1 *> windows_, unbound_; // windows_: all, made when they are needed
};

// ---- memory ---------------------------------------------------------------------------------------------------------

MemoryV1::~MemoryV1()
{
    adapter_.deregister(handle);
}

WindowV1::WindowV1(AdapterV1 &adapter)
{
    check(adapter.adapter->CreateMemoryWindow(NULL, window.out()), "CreateMemoryWindow",
        &adapter.address());
}

// ---- endpoint -------------------------------------------------------------------------------------------------------

EndpointV1::EndpointV1(AdapterV1 &adapter) : adapter_(adapter)
{
    check(adapter.adapter->CreateConnector(connector.out()), "CreateConnector", &adapter.address());
}

EndpointV1::~EndpointV1()
{
    endpoint_.reset();
    for (size_t i = 0; i < windows_.size(); ++i)
        delete windows_[i];
}

void EndpointV1::open_queues()
{
    INDCompletionQueue *cq = adapter_.cq.get();
    check(connector->CreateEndpoint(cq, cq, RECEIVES, INITIATORS, 1, 1,
              adapter_.info.MaxInboundReadLimit, adapter_.info.MaxOutboundReadLimit, NULL,
              endpoint_.out()),
        "CreateEndpoint", &adapter_.address());
}

// Connects from the listener's own port, so that one address names a rank to both sides.
void EndpointV1::connect(
    const SOCKADDR_INET &address, const void *data, ULONG size, Request &request)
{
    request.start(connector.get(), result_of);
    issued(request, connector->Connect(endpoint_.get(), (const struct sockaddr *)&address,
                        sample_address_size(&address), PROTOCOL, adapter_.address().Ipv4.sin_port,
                        data, size, &request));
}

void EndpointV1::complete_connect(Request &request)
{
    request.start(connector.get(), result_of);
    issued(request, connector->CompleteConnect(&request));
}

void EndpointV1::accept(const void *data, ULONG size, Request &request)
{
    request.start(connector.get(), result_of);
    issued(request, connector->Accept(endpoint_.get(), data, size, &request));
}

void EndpointV1::reject()
{
    connector->Reject(NULL, 0);
}

bool EndpointV1::private_data(void *data, ULONG size)
{
    SIZE_T length = size;
    memset(data, 0, size);
    HRESULT hr = connector->GetConnectionData(NULL, NULL, data, &length);
    return hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW;
}

void EndpointV1::disconnect(Request &request)
{
    request.start(connector.get(), result_of);
    issued(request, connector->Disconnect(&request));
}

void EndpointV1::flush()
{
    endpoint_->Flush();
}

HRESULT EndpointV1::receive(Work &work, void *data, size_t size, Memory &memory)
{
    ND_SGE sge = piece(data, size, memory);
    return endpoint_->Receive(&work, &sge, 1);
}

HRESULT EndpointV1::send(Work &work, const void *data, size_t size, Memory &memory)
{
    ND_SGE sge = piece(data, size, memory);
    return endpoint_->Send(&work, &sge, 1, ND_OP_FLAG_READ_FENCE);
}

HRESULT EndpointV1::read(
    Work &work, void *data, size_t size, Memory &memory, const Descriptor &from)
{
    ND_SGE sge = piece(data, size, memory);
    // The descriptor may be at any address in the message.
    return endpoint_->Read(&work, &sge, 1, (const ND_MW_DESCRIPTOR *)from.bytes, 0, 0);
}

HRESULT EndpointV1::grant(const void *data, size_t size, Memory &memory, Descriptor &descriptor,
    Window *&window, Work &work, bool &later)
{
    if (unbound_.empty()) {
        windows_.push_back(new WindowV1(adapter_));
        unbound_.push_back(windows_.back());
    }
    WindowV1 *next = unbound_.back();
    HRESULT hr = endpoint_->Bind(&work, static_cast<MemoryV1 &>(memory).handle, next->window.get(),
        data, size, ND_OP_FLAG_ALLOW_READ, (ND_MW_DESCRIPTOR *)descriptor.bytes);
    if (SUCCEEDED(hr))
        unbound_.pop_back();
    window = next;
    later = true;
    return hr;
}

HRESULT EndpointV1::revoke(Window *window, Work &work, bool &later)
{
    later = true;
    return endpoint_->Invalidate(&work, static_cast<WindowV1 *>(window)->window.get(), 0);
}

void EndpointV1::reclaim(Window *window)
{
    unbound_.push_back(static_cast<WindowV1 *>(window));
}

// ---- adapter --------------------------------------------------------------------------------------------------------

AdapterV1::AdapterV1(Executive &the_executive, const SOCKADDR_INET &address, ULONG endpoints)
    : executive(the_executive), event_(open_event())
{
    SIZE_T size = sizeof(info);

    address_ = address;
    check(NdOpenV1Adapter(
              (const struct sockaddr *)&address, sample_address_size(&address), adapter.out()),
        "NdOpenV1Adapter", &address);
    check(adapter->Query(1, &info, &size), "Query of the adapter", &address);
    if (info.MaxInboundRequests < RECEIVES || info.MaxOutboundRequests < INITIATORS)
        fail("the queues of adapter %s are too short: %u receives and %u requests are needed",
            ip_text(address).c_str(), RECEIVES, INITIATORS);
    check_depth(address, info.MaxCqEntries, endpoints);
    executive.attach(adapter->GetFileHandle());
    check(adapter->CreateCompletionQueue(endpoints * RESULTS, cq.out()), "CreateCompletionQueue",
        &address);
    advised_send_ = info.LargeRequestThreshold;
    largest_read_ = info.MaxOutboundLength;
    if (info.MaxWindowSize < largest_read_)
        largest_read_ = info.MaxWindowSize;
    if (info.MaxOutboundReadLimit == 0 || info.MaxInboundReadLimit == 0)
        largest_read_ = 0;
}

AdapterV1::~AdapterV1()
{
    if (listen_.get())
        listen_->CancelOverlappedRequests();
    cq->CancelOverlappedRequests();
    listen_.reset();
    cq.reset();
    adapter.reset();
    CloseHandle(event_);
}

HRESULT AdapterV1::listen(USHORT port)
{
    HRESULT hr = adapter->Listen(0, PROTOCOL, port, &port, listen_.out());
    if (SUCCEEDED(hr))
        address_.Ipv4.sin_port = port;
    return hr == ND_ADDRESS_ALREADY_EXISTS ? ND_SHARING_VIOLATION : hr;
}

Endpoint *AdapterV1::create_endpoint()
{
    return new EndpointV1(*this);
}

void AdapterV1::next_request(Endpoint &endpoint, Request &request)
{
    request.start(listen_.get(), result_of);
    executive.issued(request,
        listen_->GetConnectionRequest(
            static_cast<EndpointV1 &>(endpoint).connector.get(), &request),
        Executive::PACKET_ON_SUCCESS);
}

// Registrations have no rights of their own in version 1; peers get theirs from windows.
Memory *AdapterV1::register_memory(const void *data, size_t size, Access, HRESULT &hr)
{
    OVERLAPPED overlapped = tagged_overlapped(event_);
    ND_MR_HANDLE handle = NULL;
    SIZE_T bytes;

    hr = adapter->RegisterMemory(data, size, &overlapped, &handle);
    if (hr == ND_PENDING)
        hr = adapter->GetOverlappedResult(&overlapped, &bytes, TRUE);
    return SUCCEEDED(hr) ? new MemoryV1(*this, handle) : NULL;
}

void AdapterV1::deregister(ND_MR_HANDLE handle)
{
    OVERLAPPED overlapped = tagged_overlapped(event_);
    SIZE_T bytes;
    if (adapter->DeregisterMemory(handle, &overlapped) == ND_PENDING)
        adapter->GetOverlappedResult(&overlapped, &bytes, TRUE);
}

bool AdapterV1::poll()
{
    ND_RESULT *results[16];
    SIZE_T count = cq->GetResults(results, 16);
    for (SIZE_T i = 0; i < count; ++i)
        static_cast<Work *>(results[i])->done(results[i]->Status, results[i]->BytesTransferred);
    return count > 0;
}

void AdapterV1::notify(Request &request)
{
    request.start(cq.get(), result_of);
    executive.issued(request, cq->Notify(ND_CQ_NOTIFY_ANY, &request), Executive::PACKET_ON_SUCCESS);
}

} // namespace

Adapter *open_v1(Executive &executive, const SOCKADDR_INET &address, ULONG endpoints)
{
    return new AdapterV1(executive, address, endpoints);
}

} // namespace ndmpi
