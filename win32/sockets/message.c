/* SPDX-License-Identifier: MIT */
/* message.c - WSARecvMsg, WSASendMsg: datagrams with ancillary data. WSACMSGHDR is Linux' struct cmsghdr. */
#include "win32/sockets/object.h"

#include <mswsock.h>

#include <stdlib.h>
#include <string.h>

C_ASSERT(sizeof(WSACMSGHDR) == sizeof(struct cmsghdr));
C_ASSERT(WSA_CMSG_SPACE(5) == CMSG_SPACE(5) && WSA_CMSG_LEN(5) == CMSG_LEN(5));

static void take_control(struct win_socket_request *request, const WSABUF *control)
{
    request->control = control->len ? control->buf : NULL;
    request->control_bytes = control->len;
}

/*
 * WSARecvMsg - receives into several buffers, and tells who sent, and what socket options have the kernel add
 * (IP_PKTINFO and its kind, Linux' structures). Programs get it by WSAIoctl (WSAID_WSARECVMSG).
 * message     in: lpBuffers as of WSARecvFrom; name, namelen: room, may be NULL and 0; Control: room; dwFlags:
 *             MSG_PEEK, MSG_OOB, others have no effect; out, when the request ends: namelen, Control.len, dwFlags:
 *             MSG_TRUNC, MSG_CTRUNC. It is the request's until that ends
 * received    out: octets, when the call returns 0; may be NULL with overlapped
 * overlapped  NULL: the call waits, unless the socket is non-blocking
 * routine     as in WSARecvFrom
 * Returns     as WSARecvFrom; WSAEMSGSIZE also where Control had too little room: the datagram is there all the same.
 * Threads     any
 * Source      LPFN_WSARECVMSG (WSARecvMsg) callback function (mswsock.h)
 */
INT PASCAL win_receive_message(SOCKET socket, LPWSAMSG message, LPDWORD received,
    LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct win_socket *found = win_socket_checked(socket, message ? message->lpBuffers : NULL,
        message ? message->dwBufferCount : 0, received, overlapped);
    struct win_socket_request *request = NULL;
    DWORD error = 0, flags;
    int result;

    if (!found)
        return SOCKET_ERROR;
    if ((message->name && message->namelen < (INT)win_address_size(found->family)) ||
        (message->Control.len && !message->Control.buf))
        error = WSAEFAULT;
    else if ((message->dwFlags & MSG_OOB) && overlapped)
        error = WSAEOPNOTSUPP;
    else if (!(request = win_socket_request_new(message->lpBuffers, message->dwBufferCount)))
        error = WSAENOBUFS;
    if (error) {
        win_socket_unref(found);
        return win_winsock_fail(error);
    }
    request->flags = (int)message->dwFlags & (MSG_PEEK | MSG_OOB);
    request->message = message;
    request->from = message->name;
    request->from_length = &message->namelen;
    take_control(request, &message->Control);
    result = win_socket_receive(found, request, received, &flags, overlapped, routine);
    win_socket_unref(found);
    return result;
}

/*
 * WSASendMsg - sends from several buffers, with ancillary data.
 * message  in: lpBuffers as of WSASendTo; name, namelen: to whom, NULL and 0: the peer of the connection; Control:
 *          Linux' structures, stays the request's until that ends; dwFlags has no effect
 * flags    MSG_DONTROUTE, MSG_OOB
 * sent, overlapped, routine  as WSASendTo
 * Returns  as WSASendTo; WSAEINVAL (Control), WSAEADDRNOTAVAIL (an interface there).
 * Threads  any
 * Source   WSASendMsg function (winsock2.h)
 */
int WSAAPI WSASendMsg(SOCKET socket, LPWSAMSG message, DWORD flags, LPDWORD sent,
    LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct win_socket *found = win_socket_checked(socket, message ? message->lpBuffers : NULL,
        message ? message->dwBufferCount : 0, sent, overlapped);
    struct win_socket_request *request = NULL;
    DWORD error = 0;
    int result;

    if (!found)
        return SOCKET_ERROR;
    if (flags & ~(DWORD)(MSG_DONTROUTE | MSG_OOB))
        error = WSAEOPNOTSUPP;
    else if ((message->name &&
                 (message->namelen < 0 || (size_t)message->namelen > sizeof(request->to))) ||
             (message->Control.len && !message->Control.buf))
        error = WSAEFAULT;
    else if (!(request = win_socket_request_new(message->lpBuffers, message->dwBufferCount)))
        error = WSAENOBUFS;
    if (error) {
        win_socket_unref(found);
        return win_winsock_fail(error);
    }
    request->flags = (int)flags;
    take_control(request, &message->Control);
    if (message->name && found->type != SOCK_STREAM) {
        memcpy(&request->to, message->name, (size_t)message->namelen);
        request->to_length = (socklen_t)message->namelen;
    }
    result = win_socket_send(found, request, sent, overlapped, routine);
    win_socket_unref(found);
    return result;
}
