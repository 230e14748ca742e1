// SPDX-License-Identifier: MIT
//
// stream.h - lines of text over TCP, between a rank and ndmpirun. Calls block.
#ifndef NDMPI_STREAM_H
#define NDMPI_STREAM_H

#include <string>

#include "failure.h"

namespace ndmpi
{

// What the last failed socket call met with.
std::string socket_error();

class Stream
{
  public:
    enum { LONGEST = 1000 }; // line

    // Takes the socket over.
    explicit Stream(SOCKET socket);
    ~Stream();

    // NULL: there is no connection, socket_error says why.
    static Stream *connect(const SOCKADDR_INET &address);

    // Without its end. False: the stream has ended, or what came is no line of text.
    bool read(std::string &line);
    // False: the stream has ended. Line ends inside become blanks. Any thread, one at a time.
    bool write(const std::string &line);
    // A thread that reads sees the end of the stream.
    void shut_down();

  private:
    Stream(const Stream &);
    Stream &operator=(const Stream &);

    SOCKET socket_;
    std::string read_;
};

class Listener
{
  public:
    // Listens on a port of the address that is free. Ends the program if it cannot.
    explicit Listener(const SOCKADDR_INET &address);
    ~Listener();
    const SOCKADDR_INET &address() const
    {
        return address_;
    }
    // NULL: the listener is closed.
    Stream *accept();

  private:
    Listener(const Listener &);
    Listener &operator=(const Listener &);

    SOCKET socket_;
    SOCKADDR_INET address_;
};

} // namespace ndmpi
#endif
