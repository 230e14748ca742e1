/* SPDX-License-Identifier: MIT */
/*
 * socket_calls.h - the socket functions that Linux has under the same name: a program that includes a Windows-named
 * header calls libndwin32's, with Windows' codes in the last error. They are no macros, since bind, connect, send and
 * their kind are members of much: the compiler gives the functions other symbols. With NDSPI_NO_CRT they are Linux'
 * own, and WSAGetLastError reads errno.
 */
#ifndef WINCOMPAT_SOCKET_CALLS_H
#define WINCOMPAT_SOCKET_CALLS_H

#include <wincompat/inaddr.h>

#include <netdb.h>

/* as <unistd.h> declares it, which has much else */
#ifdef __cplusplus
extern "C" {
#endif
#ifdef __THROW /* glibc's */
extern int gethostname(char *name, size_t room) __THROW;
#else
extern int gethostname(char *name, size_t room);
#endif
#ifdef __cplusplus
}
#endif

#ifndef NDSPI_NO_CRT
#ifdef __clang__
/* a label is an error there once a function has been called */
#pragma redefine_extname socket wincompat_socket
#pragma redefine_extname bind wincompat_bind
#pragma redefine_extname listen wincompat_listen
#pragma redefine_extname accept wincompat_accept
#pragma redefine_extname connect wincompat_connect
#pragma redefine_extname send wincompat_send
#pragma redefine_extname sendto wincompat_sendto
#pragma redefine_extname recv wincompat_recv
#pragma redefine_extname recvfrom wincompat_recvfrom
#pragma redefine_extname shutdown wincompat_shutdown
#pragma redefine_extname getsockname wincompat_getsockname
#pragma redefine_extname getpeername wincompat_getpeername
#pragma redefine_extname getsockopt wincompat_getsockopt
#pragma redefine_extname inet_pton wincompat_inet_pton
#pragma redefine_extname inet_ntop wincompat_inet_ntop
#pragma redefine_extname gethostname wincompat_gethostname
#pragma redefine_extname gethostbyname wincompat_gethostbyname
#pragma redefine_extname gethostbyaddr wincompat_gethostbyaddr
#else
#define WINCOMPAT_CALL(name) extern __typeof__(name) name __asm__("wincompat_" #name)
#ifdef __cplusplus
extern "C" {
#endif
WINCOMPAT_CALL(socket);
WINCOMPAT_CALL(bind);
WINCOMPAT_CALL(listen);
WINCOMPAT_CALL(accept);
WINCOMPAT_CALL(connect);
WINCOMPAT_CALL(send);
WINCOMPAT_CALL(sendto);
WINCOMPAT_CALL(recv);
WINCOMPAT_CALL(recvfrom);
WINCOMPAT_CALL(shutdown);
WINCOMPAT_CALL(getsockname);
WINCOMPAT_CALL(getpeername);
WINCOMPAT_CALL(getsockopt);
WINCOMPAT_CALL(inet_pton);
WINCOMPAT_CALL(inet_ntop);
WINCOMPAT_CALL(gethostname);
WINCOMPAT_CALL(gethostbyname);
WINCOMPAT_CALL(gethostbyaddr);
#ifdef __cplusplus
}
#endif
#undef WINCOMPAT_CALL
#endif
#endif

#endif
