/* SPDX-License-Identifier: MIT */
/*
 * socket.h - recv and send without waiting, as bare system calls. The C library's are cancellation points, which costs
 * a process with threads two locked instructions and more per call; a thread that polls feels that. Sanitizers need
 * the library's, to see what they do.
 */
#ifndef SOFTRDMA_CONNECTION_SOCKET_H
#define SOFTRDMA_CONNECTION_SOCKET_H

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SRD_SOCKET_BY_LIBRARY
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !defined(SYS_recvfrom) ||     \
    !defined(SYS_sendto)
#define SRD_SOCKET_BY_LIBRARY
#endif

/* recv with MSG_DONTWAIT. */
static inline ssize_t srd_socket_recv(int fd, void *octets, size_t size)
{
#ifdef SRD_SOCKET_BY_LIBRARY
    return recv(fd, octets, size, MSG_DONTWAIT);
#else
    return syscall(SYS_recvfrom, fd, octets, size, MSG_DONTWAIT, NULL, NULL);
#endif
}

/* send with MSG_DONTWAIT | MSG_NOSIGNAL. */
static inline ssize_t srd_socket_send(int fd, const void *octets, size_t count)
{
#ifdef SRD_SOCKET_BY_LIBRARY
    return send(fd, octets, count, MSG_DONTWAIT | MSG_NOSIGNAL);
#else
    return syscall(SYS_sendto, fd, octets, count, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
#endif
}

#endif
