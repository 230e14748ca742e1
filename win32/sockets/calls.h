/* SPDX-License-Identifier: MIT */
/* calls.h - what programs call by Linux' names (wincompat/socket_calls.h); with Linux' types, but for sockaddr's. */
#ifndef WIN32_SOCKETS_CALLS_H
#define WIN32_SOCKETS_CALLS_H

#include <winsock2.h>

WINOBJ_API int wincompat_socket(int family, int type, int protocol);
WINOBJ_API int wincompat_bind(int fd, const struct sockaddr *address, socklen_t length);
WINOBJ_API int wincompat_listen(int fd, int backlog);
WINOBJ_API int wincompat_accept(int fd, struct sockaddr *address, socklen_t *length);
WINOBJ_API int wincompat_connect(int fd, const struct sockaddr *address, socklen_t length);
WINOBJ_API ssize_t wincompat_send(int fd, const void *buffer, size_t bytes, int flags);
WINOBJ_API ssize_t wincompat_sendto(int fd, const void *buffer, size_t bytes, int flags,
    const struct sockaddr *to, socklen_t length);
WINOBJ_API ssize_t wincompat_recv(int fd, void *buffer, size_t bytes, int flags);
WINOBJ_API ssize_t wincompat_recvfrom(
    int fd, void *buffer, size_t bytes, int flags, struct sockaddr *from, socklen_t *length);
WINOBJ_API int wincompat_shutdown(int fd, int how);
WINOBJ_API int wincompat_getsockname(int fd, struct sockaddr *address, socklen_t *length);
WINOBJ_API int wincompat_getpeername(int fd, struct sockaddr *address, socklen_t *length);
WINOBJ_API int wincompat_inet_pton(int family, const char *text, void *address);
WINOBJ_API const char *wincompat_inet_ntop(
    int family, const void *address, char *text, socklen_t room);
WINOBJ_API int wincompat_gethostname(char *name, size_t room);
WINOBJ_API struct hostent *wincompat_gethostbyname(const char *name);
WINOBJ_API struct hostent *wincompat_gethostbyaddr(
    const void *address, socklen_t bytes, int family);
WINOBJ_API int wincompat_getaddrinfo(
    const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result);
WINOBJ_API int wincompat_getnameinfo(const struct sockaddr *address, socklen_t length, char *host,
    socklen_t host_room, char *service, socklen_t service_room, int flags);
WINOBJ_API int wincompat_getsockopt(
    int socket, int level, int option, void *value, socklen_t *bytes);

#endif
