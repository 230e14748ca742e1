// SPDX-License-Identifier: MIT
//
// verbs.h - the functions of an adapter that message passing needs, for either version of NetworkDirect.
//
// verbs_v2.cpp and verbs_v1.cpp implement it; no other file depends on the version. For one thread.
#ifndef NDMPI_VERBS_H
#define NDMPI_VERBS_H

#include "executive.h"

#include <string>

namespace ndmpi
{

// Limits of one endpoint, in requests. GRANTS are those that grant a peer to read, and that revoke it.
enum {
    RECEIVES = 32,
    SENDS = 16,
    READS = 4,
    GRANTS = 8,
    INITIATORS = SENDS + READS + GRANTS,
    RESULTS = RECEIVES + INITIATORS
};

// One request on an endpoint's queues; done runs from Adapter::poll. Base of the results of version 1.
class Work : public ND_RESULT
{
  public:
    Work()
    {
        Status = ND_SUCCESS;
        BytesTransferred = 0;
    }
    virtual ~Work()
    {
    }
    // bytes: of a receive
    virtual void done(HRESULT status, size_t bytes) = 0;
};

// Registered memory. Deleting it deregisters the memory.
class Memory
{
  public:
    virtual ~Memory()
    {
    }
};

enum Access {
    SOURCE, // of Send, or of a peer's Read
    SINK    // of Receive and Read, and all that SOURCE is
};

// Where a peer may read: 20 bytes in network order, in both versions laid out as an ND_MW_DESCRIPTOR.
struct Descriptor {
    enum { SIZE = 20 };
    unsigned char bytes[SIZE];
};

// A grant to read, which must be revoked (version 1), or nothing (version 2).
class Window
{
  public:
    virtual ~Window()
    {
    }
};

// One end of a connection: a connector, and the queues it connects. A function that takes a Request reports its end
// there.
class Endpoint
{
  public:
    virtual ~Endpoint()
    {
    }
    // Makes the queues; receives may be posted from now on.
    virtual void open_queues() = 0;

    // Active: Connect, then CompleteConnect or reject; may be repeated after a failure. address: of a listener
    virtual void connect(
        const SOCKADDR_INET &address, const void *data, ULONG size, Request &request) = 0;
    virtual void complete_connect(Request &request) = 0;
    // Passive: for an endpoint that Adapter::next_request filled.
    virtual void accept(const void *data, ULONG size, Request &request) = 0;
    // Either side; no error if the peer has given up before.
    virtual void reject() = 0;
    // The peer's private data, padded with zeros. False: the attempt is over.
    virtual bool private_data(void *data, ULONG size) = 0;
    virtual void disconnect(Request &request) = 0;
    // Everything posted ends with ND_CANCELED.
    virtual void flush() = 0;

    virtual HRESULT receive(Work &work, void *data, size_t size, Memory &memory) = 0;
    virtual HRESULT send(Work &work, const void *data, size_t size, Memory &memory) = 0;
    virtual HRESULT read(
        Work &work, void *data, size_t size, Memory &memory, const Descriptor &from) = 0;
    // Lets the peer read from now on. window out: for revoke; later out: whether work completes later; false: the grant
    // is made
    virtual HRESULT grant(const void *data, size_t size, Memory &memory, Descriptor &descriptor,
        Window *&window, Work &work, bool &later) = 0;
    // The peer may no longer read when work is done, or (later false) at once.
    virtual HRESULT revoke(Window *window, Work &work, bool &later) = 0;
    // The window has been revoked: another grant may use it.
    virtual void reclaim(Window *window) = 0;
};

// Makes registrations: an adapter, or a test's object.
class Registrar
{
  public:
    virtual ~Registrar()
    {
    }
    // NULL: hr says why.
    virtual Memory *register_memory(const void *data, size_t size, Access access, HRESULT &hr) = 0;
};

class Adapter : public Registrar
{
  public:
    // Opens the adapter of a local address, with a completion queue for so many endpoints. Ends the program if it
    // cannot. version in: 1 or 2
    static Adapter *open(
        int version, Executive &executive, const SOCKADDR_INET &address, ULONG endpoints);
    // Listens. port: network order, 0 = any. ND_SHARING_VIOLATION: it is taken.
    virtual HRESULT listen(USHORT port) = 0;
    // Where it listens.
    const SOCKADDR_INET &address() const
    {
        return address_;
    }
    // Largest message: for Send as advised by the adapter, for Read as it is able to.
    size_t advised_send() const
    {
        return advised_send_;
    }
    size_t largest_read() const
    {
        return largest_read_;
    }

    virtual Endpoint *create_endpoint() = 0;
    // Ends when this fresh endpoint has got a connection request.
    virtual void next_request(Endpoint &endpoint, Request &request) = 0;

    // Calls done of some finished works. False: there was none.
    virtual bool poll() = 0;
    // Ends when results have arrived after the last poll.
    virtual void notify(Request &request) = 0;

  protected:
    Adapter() : advised_send_(0), largest_read_(0)
    {
    }

    SOCKADDR_INET address_;
    size_t advised_send_, largest_read_;

  private:
    Adapter(const Adapter &);
    Adapter &operator=(const Adapter &);
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

} // namespace ndmpi
#endif
