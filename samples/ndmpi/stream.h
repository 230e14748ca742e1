// SPDX-License-Identifier: MIT
//
// stream.h - lines of text over TCP, between a rank and ndmpirun, by overlapped sockets: their requests end on the
// executive's port, as those of the adapter do. For the executive's thread only.
#ifndef NDMPI_STREAM_H
#define NDMPI_STREAM_H

#include <string>

#include "executive.h"

namespace ndmpi
{

// "connection refused (Winsock error 10061)", of the status with which a SocketRequest ended.
std::string socket_error(HRESULT status);

// An overlapped call of a socket. It ends with ND_SUCCESS, or with Winsock's error as HRESULT_FROM_WIN32.
class SocketRequest : public Request
{
  public:
    SocketRequest() : socket_(INVALID_SOCKET), bytes_(0)
    {
    }
    // Before the call, and after it: what it returned.
    void start(SOCKET socket);
    void issued(Executive &executive, bool good);
    DWORD bytes() const
    {
        return bytes_;
    }

  private:
    HRESULT result();

    SOCKET socket_;
    DWORD bytes_;
};

class Stream;

// Gets the events of a stream; inside them it may be closed, and not be deleted.
class StreamOwner
{
  public:
    virtual ~StreamOwner()
    {
    }
    // connect has succeeded.
    virtual void connected(Stream &)
    {
    }
    // A line has arrived; it is passed without its line end.
    virtual void said(Stream &stream, const std::string &line) = 0;
    // The stream has ended; why: "the peer has closed the connection". The last event.
    virtual void left(Stream &stream, const std::string &why) = 0;
};

class Stream
{
  public:
    enum { LONGEST = 1000 }; // line

    // Connects.
    Stream(Executive &executive, StreamOwner &owner, const SOCKADDR_INET &to);
    // Takes over a socket that was accepted.
    Stream(Executive &executive, StreamOwner &owner, SOCKET socket);
    // Only when idle.
    ~Stream();

    // Sends a line behind earlier ones. Line ends inside become blanks; a line that is too long is cut.
    void write(const std::string &line);
    // The same, once, when the program is about to end: waits until the line is sent, 2 s at most.
    void last_words(const std::string &line);
    // The owner gets no more events, and requests end; what was not sent may be lost.
    void close();
    // No request is under way, so it may be deleted.
    bool idle() const
    {
        return works_ == 0;
    }

  private:
    struct Connect : public SocketRequest {
        void ended(HRESULT status)
        {
            stream->connect_ended(status);
        }
        Stream *stream;
    };
    struct Read : public SocketRequest {
        void ended(HRESULT status)
        {
            stream->read_ended(status);
        }
        Stream *stream;
        char octets[512];
    };
    struct Write : public SocketRequest {
        explicit Write(Stream &the_stream) : stream(the_stream), last(false)
        {
        }
        void ended(HRESULT);
        bool send(const std::string &line);
        Stream &stream;
        std::string text;
        bool last; // the stream's own, for last_words
    };

    Stream(const Stream &);
    Stream &operator=(const Stream &);

    void connect(const SOCKADDR_INET &to);
    void connect_ended(HRESULT status);
    void read();
    void read_ended(HRESULT status);
    void take_lines();
    void over(const std::string &why);

    Executive &executive_;
    StreamOwner *owner_; // NULL: closed
    SOCKET socket_;
    unsigned works_;
    Connect connect_;
    Read read_;
    Write last_;
    std::string came_; // the beginning of a line
};

class ListenerOwner
{
  public:
    virtual ~ListenerOwner()
    {
    }
    // A program has connected. The owner owns the socket. The next connection is accepted when the owner calls accept.
    virtual void came(SOCKET socket) = 0;
};

class Listener
{
  public:
    // Listens on the port of the address; 0: on any free one. Ends the program if it cannot.
    Listener(Executive &executive, ListenerOwner &owner, const SOCKADDR_INET &address);
    // Only when idle.
    ~Listener();
    const SOCKADDR_INET &address() const
    {
        return address_;
    }
    // Begins to wait for the next connection.
    void accept();
    // The owner gets no more events.
    void close();
    bool idle() const
    {
        return works_ == 0;
    }

  private:
    struct Accept : public SocketRequest {
        enum { ROOM = sizeof(SOCKADDR_INET) + 16 }; // for an address
        void ended(HRESULT status)
        {
            listener->accept_ended(status);
        }
        Listener *listener;
        SOCKET socket;
        char addresses[2 * ROOM];
    };

    Listener(const Listener &);
    Listener &operator=(const Listener &);

    void accept_ended(HRESULT status);

    Executive &executive_;
    ListenerOwner &owner_;
    SOCKET socket_;
    SOCKADDR_INET address_;
    unsigned works_;
    Accept accept_;
};

} // namespace ndmpi
#endif
