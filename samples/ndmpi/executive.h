// SPDX-License-Identifier: MIT
//
// executive.h - one completion port where every overlapped request of a process ends.
//
// An overlapped call may fail at once, succeed at once with or without a packet, or be pending. The executive hides
// these differences: whatever the call returned, Request::ended runs later, once, from Executive::run.
#ifndef NDMPI_EXECUTIVE_H
#define NDMPI_EXECUTIVE_H

#include <winsock2.h>
#include <ws2tcpip.h>

#include <ndspi.h>

namespace ndmpi
{

class Executive;

// One overlapped request at a time. Must not move until ended was called.
class Request : public OVERLAPPED
{
  public:
    // The final status of a request of object, without waiting.
    typedef HRESULT (*Result)(IUnknown *object, OVERLAPPED *overlapped);

    Request();
    virtual ~Request()
    {
    }
    virtual void ended(HRESULT status) = 0;

    // Call it before the overlapped call.
    void start(IUnknown *object, Result result);

  private:
    friend class Executive;
    // The final status, once the executive has its packet.
    virtual HRESULT result()
    {
        return result_(object_, this);
    }
    Request(const Request &);
    Request &operator=(const Request &);

    IUnknown *object_;
    Result result_;
    HRESULT status_; // when the executive, not the object, ended it
    bool posted_;
};

class Executive
{
  public:
    // A success at once has queued a packet (files of version 1), or has not (files of version 2).
    enum Files { PACKET_ON_SUCCESS, NO_PACKET_ON_SUCCESS };

    Executive();
    ~Executive();

    // From now on requests on this file, an adapter's or a socket, end at this port.
    void attach(HANDLE file);
    // Call it after the overlapped call, which returned hr.
    void issued(Request &request, HRESULT hr, Files files);
    // Ends a request that was issued to no object. For any thread; all other functions of this class are for one.
    void post(Request &request, HRESULT status);

    // Runs Request::ended of requests that have ended; waits for one, or for a packet without a request, if none has.
    // False: the time is over.
    bool run(DWORD timeout_ms);

    // Others wake this process by a packet without a request.
    HANDLE port() const
    {
        return port_;
    }

  private:
    Executive(const Executive &);
    Executive &operator=(const Executive &);

    HANDLE port_;
};

} // namespace ndmpi
#endif
