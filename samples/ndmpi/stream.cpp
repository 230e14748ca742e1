// SPDX-License-Identifier: MIT
// stream.cpp - see stream.h.
#include "stream.h"

#include <mswsock.h>

#include <string.h>

#include "failure.h"

namespace ndmpi
{

namespace
{

const DWORD LAST_WORDS_MS = 2000;

HRESULT status_of(int error)
{
    return HRESULT_FROM_WIN32((unsigned)error);
}

// Processes that this one starts do not inherit the socket.
SOCKET overlapped_socket(int family)
{
    return WSASocketW(family, SOCK_STREAM, IPPROTO_TCP, NULL, 0,
        WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
}

// One of the functions that Winsock names by GUIDs.
template <class Function> bool extension(SOCKET socket, GUID which, Function &function)
{
    DWORD bytes = 0;
    return WSAIoctl(socket, SIO_GET_EXTENSION_FUNCTION_POINTER, &which, sizeof(which), &function,
               sizeof(function), &bytes, NULL, NULL) == 0;
}

} // namespace

std::string socket_error(HRESULT status)
{
    const int error = (int)((ULONG)status & 0xffff);
    const char *text = NULL;
    switch (error) {
    case WSAEACCES: text = "permission denied"; break;
    case WSAEMFILE: text = "too many open sockets"; break;
    case WSAEADDRINUSE: text = "the port is taken"; break;
    case WSAEADDRNOTAVAIL: text = "the address is not one of this host"; break;
    case WSAENETUNREACH:
    case WSAEHOSTUNREACH:
    case ERROR_NETWORK_UNREACHABLE:
    case ERROR_HOST_UNREACHABLE: text = "there is no way to that address"; break;
    case WSAECONNABORTED:
    case WSAECONNRESET:
    case ERROR_NETNAME_DELETED:
    case ERROR_CONNECTION_ABORTED: text = "connection reset"; break;
    case WSAETIMEDOUT:
    case ERROR_SEM_TIMEOUT: text = "no answer"; break;
    case WSAECONNREFUSED:
    case ERROR_CONNECTION_REFUSED: text = "connection refused"; break;
    }
    return text ? format("%s (Winsock error %d)", text, error) : format("Winsock error %d", error);
}

// ---- a request ------------------------------------------------------------------------------------------------------

void SocketRequest::start(SOCKET socket)
{
    Request::start(NULL, NULL);
    socket_ = socket;
    bytes_ = 0;
}

// A success at once has queued a packet, too.
void SocketRequest::issued(Executive &executive, bool good)
{
    const int error = good ? 0 : WSAGetLastError();
    if (error && error != WSA_IO_PENDING)
        executive.post(*this, status_of(error));
}

HRESULT SocketRequest::result()
{
    DWORD flags = 0;
    return WSAGetOverlappedResult(socket_, this, &bytes_, FALSE, &flags)
               ? ND_SUCCESS
               : status_of(WSAGetLastError());
}

// ---- connecting -----------------------------------------------------------------------------------------------------

Stream::Stream(Executive &executive, StreamOwner &owner, const SOCKADDR_INET &to)
    : executive_(executive), owner_(&owner), socket_(overlapped_socket(to.si_family)), works_(0),
      last_(*this)
{
    if (socket_ == INVALID_SOCKET)
        fail("a socket cannot be made: %s", socket_error(status_of(WSAGetLastError())).c_str());
    executive_.attach((HANDLE)socket_);
    connect(to);
}

Stream::Stream(Executive &executive, StreamOwner &owner, SOCKET socket)
    : executive_(executive), owner_(&owner), socket_(socket), works_(0), last_(*this)
{
    executive_.attach((HANDLE)socket_);
    read();
}

Stream::~Stream()
{
    if (socket_ != INVALID_SOCKET)
        closesocket(socket_);
    if (last_.hEvent)
        CloseHandle(last_.hEvent);
}

// ConnectEx takes a socket that is bound.
void Stream::connect(const SOCKADDR_INET &to)
{
    LPFN_CONNECTEX connect_ex = NULL;
    SOCKADDR_INET any;
    memset(&any, 0, sizeof(any));
    any.si_family = to.si_family;
    connect_.stream = this;
    connect_.start(socket_);
    ++works_;
    bool good =
        extension(socket_, WSAID_CONNECTEX, connect_ex) &&
        bind(socket_, (const struct sockaddr *)&any, (socklen_t)sample_address_size(&any)) == 0 &&
        connect_ex(socket_, (const struct sockaddr *)&to, (int)sample_address_size(&to), NULL, 0,
            NULL, &connect_);
    connect_.issued(executive_, good);
}

void Stream::connect_ended(HRESULT status)
{
    --works_;
    if (!owner_)
        return;
    if (SUCCEEDED(status) && setsockopt(socket_, SOL_SOCKET, SO_UPDATE_CONNECT_CONTEXT, NULL, 0))
        status = status_of(WSAGetLastError());
    if (FAILED(status)) {
        over(socket_error(status));
        return;
    }
    read();
    owner_->connected(*this);
}

// ---- reading --------------------------------------------------------------------------------------------------------

void Stream::read()
{
    WSABUF room = { sizeof(read_.octets), read_.octets };
    DWORD flags = 0;
    read_.stream = this;
    read_.start(socket_);
    ++works_;
    read_.issued(executive_, WSARecv(socket_, &room, 1, NULL, &flags, &read_, NULL) == 0);
}

void Stream::read_ended(HRESULT status)
{
    --works_;
    if (!owner_)
        return;
    if (FAILED(status)) {
        over(socket_error(status));
    } else if (read_.bytes() == 0) {
        over("the peer has closed the connection");
    } else {
        came_.append(read_.octets, read_.bytes());
        take_lines();
    }
}

void Stream::take_lines()
{
    size_t end;
    while (owner_ && (end = came_.find('\n')) != std::string::npos && end <= LONGEST) {
        const std::string line = came_.substr(0, end);
        came_.erase(0, end + 1);
        owner_->said(*this, line);
    }
    if (!owner_)
        return;
    if (came_.size() > LONGEST)
        over("what came is no line of text");
    else
        read();
}

void Stream::over(const std::string &why)
{
    StreamOwner *owner = owner_;
    close();
    owner->left(*this, why);
}

// ---- writing --------------------------------------------------------------------------------------------------------

// A failure needs no report: the read fails, too.
void Stream::Write::ended(HRESULT)
{
    --stream.works_;
    if (!last)
        delete this;
}

// Whether the call has succeeded at once.
bool Stream::Write::send(const std::string &line)
{
    text = line.substr(0, LONGEST);
    for (size_t i = 0; i < text.size(); ++i)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
    text += '\n';
    WSABUF data = { (ULONG)text.size(), &text[0] };
    ++stream.works_;
    return WSASend(stream.socket_, &data, 1, NULL, 0, this, NULL) == 0;
}

void Stream::write(const std::string &line)
{
    if (!owner_)
        return;
    Write *request = new Write(*this);
    request->start(socket_);
    request->issued(executive_, request->send(line));
}

// Waits for an event of the request's own, since no thread serves the port any more.
void Stream::last_words(const std::string &line)
{
    HANDLE sent = owner_ && !last_.last ? CreateEventA(NULL, TRUE, FALSE, NULL) : NULL;
    if (!sent)
        return;
    last_.last = true;
    last_.start(socket_);
    last_.hEvent = sent;
    bool good = last_.send(line);
    if (good || WSAGetLastError() == WSA_IO_PENDING)
        WaitForSingleObject(sent, LAST_WORDS_MS);
    else
        --works_;
}

void Stream::close()
{
    if (socket_ != INVALID_SOCKET)
        closesocket(socket_);
    socket_ = INVALID_SOCKET;
    owner_ = NULL;
}

// ---- listening ------------------------------------------------------------------------------------------------------

Listener::Listener(Executive &executive, ListenerOwner &owner, const SOCKADDR_INET &address)
    : executive_(executive), owner_(owner), socket_(overlapped_socket(address.si_family)),
      address_(address), works_(0)
{
    socklen_t size = sizeof(address_);
    if (socket_ == INVALID_SOCKET ||
        bind(socket_, (const struct sockaddr *)&address,
            (socklen_t)sample_address_size(&address)) != 0 ||
        ::listen(socket_, SOMAXCONN) != 0 ||
        getsockname(socket_, (struct sockaddr *)&address_, &size) != 0)
        fail("listening for the ranks on %s failed: %s\n  -i names another address of this host, "
             "or with ADDRESS:PORT another port",
            address_text(address).c_str(), socket_error(status_of(WSAGetLastError())).c_str());
    executive_.attach((HANDLE)socket_);
    accept();
}

Listener::~Listener()
{
    if (socket_ != INVALID_SOCKET)
        closesocket(socket_);
}

void Listener::close()
{
    closesocket(socket_);
    socket_ = INVALID_SOCKET;
}

// Without room for data, so that it ends although a stranger sends nothing.
void Listener::accept()
{
    LPFN_ACCEPTEX accept_ex = NULL;
    DWORD bytes = 0;
    accept_.listener = this;
    accept_.socket = overlapped_socket(address_.si_family);
    if (accept_.socket == INVALID_SOCKET)
        fail("a socket for the next rank cannot be made: %s",
            socket_error(status_of(WSAGetLastError())).c_str());
    accept_.start(socket_);
    ++works_;
    bool good = extension(socket_, WSAID_ACCEPTEX, accept_ex) &&
                accept_ex(socket_, accept_.socket, accept_.addresses, 0, Accept::ROOM, Accept::ROOM,
                    &bytes, &accept_);
    accept_.issued(executive_, good);
}

void Listener::accept_ended(HRESULT status)
{
    SOCKET socket = accept_.socket;
    --works_;
    if (SUCCEEDED(status) && socket_ != INVALID_SOCKET &&
        setsockopt(socket, SOL_SOCKET, SO_UPDATE_ACCEPT_CONTEXT, (const char *)&socket_,
            sizeof(socket_)) != 0)
        status = status_of(WSAGetLastError());
    if (FAILED(status) || socket_ == INVALID_SOCKET)
        closesocket(socket);
    if (socket_ == INVALID_SOCKET)
        return;
    const int error = (int)((ULONG)status & 0xffff);
    if (FAILED(status) && error != WSAECONNRESET && error != WSAECONNABORTED &&
        error != WSAENOTCONN && error != ERROR_NETNAME_DELETED) // the peer gave up
        fail("accepting the connection of a rank on %s failed: %s", address_text(address_).c_str(),
            socket_error(status).c_str());
    if (SUCCEEDED(status))
        owner_.came(socket);
    else
        accept();
}

} // namespace ndmpi
