// SPDX-License-Identifier: MIT
// stream.cpp - see stream.h.
#include "stream.h"

#include <string.h>

#ifndef _WIN32
#include <errno.h>
#endif

#include "platform.h"

namespace ndmpi
{

std::string socket_error()
{
#ifdef _WIN32
    return format("Winsock error %d", WSAGetLastError());
#else
    return strerror(errno);
#endif
}

Stream::Stream(SOCKET socket) : socket_(socket)
{
    keep_private(socket_);
}

Stream::~Stream()
{
    closesocket(socket_);
}

Stream *Stream::connect(const SOCKADDR_INET &address)
{
    SOCKET socket = ::socket(address.si_family, SOCK_STREAM, IPPROTO_TCP);
    if (socket == INVALID_SOCKET)
        return NULL;
    Stream *stream = new Stream(socket);
    if (::connect(socket, (const struct sockaddr *)&address,
            (socklen_t)sample_address_size(&address)) == 0)
        return stream;
    delete stream;
    return NULL;
}

bool Stream::read(std::string &line)
{
    size_t end;
    while ((end = read_.find('\n')) == std::string::npos) {
        char bytes[512];
        if (read_.size() > LONGEST)
            return false;
        int count = (int)recv(socket_, bytes, sizeof(bytes), 0);
        if (count <= 0)
            return false;
        read_.append(bytes, (size_t)count);
    }
    line.assign(read_, 0, end);
    read_.erase(0, end + 1);
    return line.size() <= LONGEST;
}

bool Stream::write(const std::string &line)
{
    std::string text = line.substr(0, LONGEST);
    for (size_t i = 0; i < text.size(); ++i)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
    text += '\n';
    for (size_t sent = 0; sent < text.size();) {
        int count = (int)send(socket_, text.data() + sent, (int)(text.size() - sent), 0);
        if (count <= 0)
            return false;
        sent += (size_t)count;
    }
    return true;
}

void Stream::shut_down()
{
    shutdown(socket_, SD_BOTH);
}

Listener::Listener(const SOCKADDR_INET &address) : address_(address)
{
    socklen_t size = sizeof(address_);
    socket_ = ::socket(address.si_family, SOCK_STREAM, IPPROTO_TCP);
    if (socket_ != INVALID_SOCKET)
        keep_private(socket_);
    if (socket_ == INVALID_SOCKET ||
        bind(socket_, (const struct sockaddr *)&address,
            (socklen_t)sample_address_size(&address)) != 0 ||
        ::listen(socket_, SOMAXCONN) != 0 ||
        getsockname(socket_, (struct sockaddr *)&address_, &size) != 0)
        fail("listening for the ranks on %s failed: %s\n  -i names another address of this host",
            address_text(address).c_str(), socket_error().c_str());
}

Listener::~Listener()
{
    closesocket(socket_);
}

Stream *Listener::accept()
{
    SOCKET socket = ::accept(socket_, NULL, NULL);
    return socket == INVALID_SOCKET ? NULL : new Stream(socket);
}

} // namespace ndmpi
