// SPDX-License-Identifier: MIT
// socket_lengths.cpp - C++ as programs of Windows have it: lengths of addresses and options are int.
#include <winsock2.h>
#include <ws2tcpip.h>

#include <cstddef>
#include <cstring>

#include "tests/unit/win32/sockets/socket_lengths.h"

// What a program keeps in a table of functions.
typedef SOCKET(WSAAPI *accept_function)(SOCKET, struct sockaddr *, int *);

bool lengths_are_int(struct lengths *lengths)
{
    struct sockaddr_in address = {};
    int bytes = sizeof(address), size = sizeof(int), type = 0;
    const accept_function accepts = accept;
    SOCKET listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    char octets[4] = "";

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, bytes) ||
        getsockname(listener, (struct sockaddr *)&address, &bytes) || listen(listener, 3) ||
        connect(client, (struct sockaddr *)&address, bytes))
        return false;
    lengths->own = bytes;
    bytes = sizeof(address);
    SOCKET accepted = accept(listener, (struct sockaddr *)&address, &bytes);
    lengths->accepted = bytes;
    bytes = sizeof(address);
    lengths->found = !getpeername(accepted, (struct sockaddr *)&address, &bytes);
    lengths->peer = bytes;
    lengths->found &= !getsockopt(accepted, SOL_SOCKET, SO_TYPE, (char *)&type, &size);
    lengths->option = size;
    lengths->found &= type == SOCK_STREAM && send(client, "abc", 3, 0) == 3;
    bytes = sizeof(address);
    lengths->received = recvfrom(accepted, octets, 2, 0, (struct sockaddr *)&address, &bytes);
    lengths->found &= recvfrom(accepted, octets, 2, 0, NULL, NULL) == 1;
    u_long on = 1;
    lengths->found &= !ioctlsocket(listener, FIONBIO, &on);
    lengths->none = accept(listener, NULL, NULL) == INVALID_SOCKET &&
                    accepts(listener, NULL, NULL) == INVALID_SOCKET;
    bytes = 3;
    lengths->failed = getsockname(accepted, (struct sockaddr *)&address, &bytes);
    lengths->left = bytes;
    lengths->error = WSAGetLastError();
    closesocket(accepted);
    closesocket(client);
    closesocket(listener);
    return true;
}
