/* SPDX-License-Identifier: MIT */
/*
 * verbs.h - the adapter as a measurement uses it, for either version of NetworkDirect.
 *
 * verbs_v2.cpp and verbs_v1.cpp implement it; no other file knows a version. One thread at a time uses a queue and its
 * endpoints.
 */
#ifndef TOOLS_PERF_VERBS_H
#define TOOLS_PERF_VERBS_H

#include <winsock2.h>
#include <ws2tcpip.h>

#include <ndsupport.h>

#include <memory>

namespace ndperf
{

// The limits of an adapter.
struct Limits {
    UINT64 max_transfer; // bytes of a request
    UINT64 max_inline;   // bytes
    UINT64 advised_inline;
    UINT64 max_sends, max_receives, max_results, max_shared; // depths of queues
    UINT64 max_reads;                                        // number in flight, each way
    bool in_order; // data is placed in order, so a program may poll for its last byte
};

class Endpoint;

// A finished request.
struct Result {
    HRESULT status;
    Endpoint *endpoint;
    ULONG_PTR context; // the request's
    bool receive;
    ULONG bytes; // a Receive's
};

// An OVERLAPPED with an event, which puts no packet into the port of its file.
class Pending : public OVERLAPPED
{
  public:
    Pending();
    ~Pending();
    HANDLE event() const
    {
        return event_;
    }
    // Makes the next request end with a packet in the port, in place of the event.
    void use_port();

  private:
    Pending(const Pending &);
    Pending &operator=(const Pending &);

    HANDLE event_;
};

// Registered memory. Deleting it takes the registration back.
class Region
{
  public:
    virtual ~Region()
    {
    }
};

class Queue
{
  public:
    virtual ~Queue()
    {
    }
    // Stores at most count results. Returns how many.
    virtual ULONG poll(Result *results, ULONG count) = 0;
    // Begins a notify, which ends when a result arrives that was not there when the last one ended. Returns ND_PENDING.
    virtual HRESULT notify(Pending &pending) = 0;
    // Waits until a notify ends, and returns its status.
    virtual HRESULT notified(Pending &pending) = 0;
    // Returns the file of its notifies, for CreateIoCompletionPort.
    virtual HANDLE file() = 0;
};

// A queue of Receives that several endpoints share.
class SharedReceives
{
  public:
    virtual ~SharedReceives()
    {
    }
    virtual HRESULT receive(void *data, ULONG size, Region &region, ULONG_PTR context) = 0;
};

// The depths of an endpoint's queues, in requests; inline_size in bytes.
struct Depths {
    ULONG sends, receives, inline_size, reads;
    SharedReceives *shared; // NULL: the endpoint has Receives of its own
};

enum Operation { SEND, WRITE, READ };
enum { SILENT = 1, INLINE = 2 };

// One end of a connection: a connector, and the queues it connects.
class Endpoint
{
  public:
    Endpoint() : owner(0)
    {
    }
    virtual ~Endpoint()
    {
    }
    // Makes the queues; Receives may be posted from now on.
    virtual void open(Queue &queue, const Depths &depths) = 0;

    // These wait until the request has ended. lost in: an event that ends the wait, with ND_CANCELED; or NULL
    virtual HRESULT connect(const SOCKADDR_INET &address, const void *data, ULONG size) = 0;
    virtual HRESULT complete_connect() = 0;
    virtual HRESULT accept(HANDLE lost) = 0;
    virtual HRESULT disconnect() = 0;
    // Refuses a request for a connection. data in: private data for the peer
    virtual void reject(const void *data, ULONG size) = 0;
    // Makes another connector after a request was not accepted, since a connector takes only one. The queues stay.
    virtual void renew() = 0;
    // Copies the peer's private data, padded with zeros. False: there is none.
    virtual bool private_data(void *data, ULONG size) = 0;
    // Begins a request that ends when the peer disconnects.
    virtual HRESULT notify_disconnect(Pending &pending) = 0;
    virtual SOCKADDR_INET peer() = 0;

    virtual HRESULT receive(void *data, ULONG size, Region &region, ULONG_PTR context) = 0;
    // Posts a request. size 0: an empty message. offset in: Write and Read: bytes from the beginning of the memory that
    // the peer granted; flags in: SILENT, INLINE
    virtual HRESULT post(Operation operation, void *data, ULONG size, Region &region, UINT64 offset,
        ULONG flags, ULONG_PTR context) = 0;
    // Requests that are posted between these two calls are given to the device together.
    virtual void start_batch()
    {
    }
    virtual void submit_batch()
    {
    }
    // Lets the peer write and read this memory; the endpoint may have no other outstanding request. by_window in: by a
    // memory window, where the version leaves the choice
    virtual ND_MW_DESCRIPTOR grant(Region &region, void *data, SIZE_T size, bool by_window) = 0;
    // Stores the memory that the peer granted.
    void set_peer(const ND_MW_DESCRIPTOR &descriptor)
    {
        remote_ = descriptor;
    }

    size_t owner; // the user's number of this endpoint

  protected:
    ND_MW_DESCRIPTOR remote_;
};

class Adapter
{
  public:
    // Opens the adapter of a local address, whose port is ignored. version in: 1 or 2. Returns NdOpenAdapter's result
    static HRESULT open(int version, const SOCKADDR_INET &local, std::unique_ptr<Adapter> &adapter);
    virtual ~Adapter()
    {
    }
    const Limits &limits() const
    {
        return limits_;
    }
    // Listens on the port (network order; 0: any) of the address; if any is true and the version can, of all addresses
    // of its family that the adapter has.
    virtual HRESULT listen(USHORT port, bool any) = 0;
    // Returns the address where it listens.
    virtual SOCKADDR_INET listening() = 0;
    // Waits for the next request for a connection, and puts it into this endpoint. lost: as for Endpoint::accept
    HRESULT next_request(Endpoint &endpoint, HANDLE lost);
    // next_request in two parts: begin_request returns ND_PENDING; end_request waits for the end, or (cancel) cancels.
    virtual HRESULT begin_request(Endpoint &endpoint, Pending &pending) = 0;
    virtual HRESULT end_request(Pending &pending, bool cancel) = 0;
    virtual Queue *create_queue(ULONG depth) = 0;
    virtual SharedReceives *create_shared_receives(ULONG depth) = 0;
    virtual Endpoint *create_endpoint() = 0;
    virtual Region *register_memory(void *data, SIZE_T size, bool remote) = 0;

  protected:
    Limits limits_;
};

// A reference to a COM object, released at the end.
template <class T> class Ref
{
  public:
    Ref() : object_(NULL)
    {
    }
    ~Ref()
    {
        reset();
    }
    void reset()
    {
        if (object_)
            object_->Release();
        object_ = NULL;
    }
    T **out()
    {
        reset();
        return &object_;
    }
    void **out_void()
    {
        return (void **)out();
    }
    T *get() const
    {
        return object_;
    }
    T *operator->() const
    {
        return object_;
    }

  private:
    Ref(const Ref &);
    Ref &operator=(const Ref &);

    T *object_;
};

HRESULT open_v1(const SOCKADDR_INET &local, std::unique_ptr<Adapter> &adapter);
HRESULT open_v2(const SOCKADDR_INET &local, std::unique_ptr<Adapter> &adapter);
// Waits for an overlapped request that returned hr, or for the event lost (may be NULL). ND_PENDING: lost came first.
HRESULT await(HRESULT hr, Pending &pending, HANDLE lost);
// Converts host order to network order and back.
UINT64 swap64(UINT64 value);

} // namespace ndperf
#endif
