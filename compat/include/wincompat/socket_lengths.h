/* SPDX-License-Identifier: MIT */
/*
 * socket_lengths.h - in C++ accept, getsockname, getpeername, recvfrom and getsockopt take a length by int *, too, as
 * on Windows; socklen_t * is Linux'. Most are templates for int alone, so that no call is ambiguous.
 */
#ifndef WINCOMPAT_SOCKET_LENGTHS_H
#define WINCOMPAT_SOCKET_LENGTHS_H

#include <wincompat/winsock.h>

#ifdef __cplusplus
extern "C++" {

template <class Length> struct wincompat_int_length;
template <> struct wincompat_int_length<int> {
    static socklen_t *of(int *length)
    {
        return reinterpret_cast<socklen_t *>(length);
    }
    typedef int result;
};

inline SOCKET accept(SOCKET listener, struct sockaddr *address, int *length)
{
    return (SOCKET)accept((int)listener, address, wincompat_int_length<int>::of(length));
}

template <class Length>
inline typename wincompat_int_length<Length>::result getsockname(
    SOCKET socket, struct sockaddr *address, Length *length)
{
    return getsockname((int)socket, address, wincompat_int_length<Length>::of(length));
}

template <class Length>
inline typename wincompat_int_length<Length>::result getpeername(
    SOCKET socket, struct sockaddr *address, Length *length)
{
    return getpeername((int)socket, address, wincompat_int_length<Length>::of(length));
}

template <class Length>
inline typename wincompat_int_length<Length>::result recvfrom(
    SOCKET socket, char *buffer, int bytes, int flags, struct sockaddr *from, Length *length)
{
    return (int)recvfrom(
        (int)socket, buffer, (size_t)bytes, flags, from, wincompat_int_length<Length>::of(length));
}

template <class Length>
inline typename wincompat_int_length<Length>::result getsockopt(
    SOCKET socket, int level, int option, char *value, Length *length)
{
    return getsockopt((int)socket, level, option, value, wincompat_int_length<Length>::of(length));
}
}
#endif

#endif
