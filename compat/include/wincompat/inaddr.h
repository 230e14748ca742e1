/* SPDX-License-Identifier: MIT */
/*
 * inaddr.h - <netinet/in.h> and <arpa/inet.h>, with the members that Windows' address structures have besides: the S_un
 * views of in_addr, u.Byte and u.Word of in6_addr. Layout, tags and functions are Linux' own.
 *
 * The system's structures with addresses are read under other names and declared anew. If a program includes the
 * system's headers before any Windows-named one, it gets the system's structures without these members.
 */
#ifndef WINCOMPAT_INADDR_H
#define WINCOMPAT_INADDR_H

#include <wincompat/types.h>

/*
 * With Winsock's functions struct linger has Windows' two u_short (with NDSPI_NO_CRT setsockopt is Linux' own). If a
 * program includes <sys/socket.h> before <winsock2.h> it is Linux', which setsockopt and getsockopt take, too.
 */
#if defined(WINCOMPAT_WINSOCK_H) && !defined(NDSPI_NO_CRT) && !defined(_SYS_SOCKET_H)
#define linger wincompat_system_linger
#define WINCOMPAT_LINGER
#endif

/* socket_calls.h cannot replace recv and recvfrom where they are inline functions of glibc (_FORTIFY_SOURCE). */
#if !defined(NDSPI_NO_CRT) && defined(__USE_FORTIFY_LEVEL)
#pragma push_macro("__USE_FORTIFY_LEVEL")
#undef __USE_FORTIFY_LEVEL
#define __USE_FORTIFY_LEVEL 0
#include <sys/socket.h>
#pragma pop_macro("__USE_FORTIFY_LEVEL")
#else
#include <sys/socket.h>
#endif

#ifdef WINCOMPAT_LINGER
#undef linger
struct linger {
    unsigned short l_onoff;
    unsigned short l_linger;
};
#endif

#ifndef _NETINET_IN_H

#define in_addr          wincompat_system_in_addr
#define in6_addr         wincompat_system_in6_addr
#define sockaddr_in      wincompat_system_sockaddr_in
#define sockaddr_in6     wincompat_system_sockaddr_in6
#define in6addr_any      wincompat_system_in6addr_any
#define in6addr_loopback wincompat_system_in6addr_loopback
#define ip_mreq          wincompat_system_ip_mreq
#define ip_mreq_source   wincompat_system_ip_mreq_source
#define ipv6_mreq        wincompat_system_ipv6_mreq
#define in_pktinfo       wincompat_system_in_pktinfo
#define in6_pktinfo      wincompat_system_in6_pktinfo
#define inet_aton        wincompat_system_inet_aton
#define inet_lnaof       wincompat_system_inet_lnaof
#define inet_makeaddr    wincompat_system_inet_makeaddr
#define inet_netof       wincompat_system_inet_netof
#define inet_ntoa        wincompat_system_inet_ntoa
#include <netinet/in.h>
#include <arpa/inet.h>
#undef in_addr
#undef in6_addr
#undef sockaddr_in
#undef sockaddr_in6
#undef in6addr_any
#undef in6addr_loopback
#undef ip_mreq
#undef ip_mreq_source
#undef ipv6_mreq
#undef in_pktinfo
#undef in6_pktinfo
#undef inet_aton
#undef inet_lnaof
#undef inet_makeaddr
#undef inet_netof
#undef inet_ntoa

struct in_addr {
    __extension__ union {
        in_addr_t s_addr;
        union {
            struct {
                UCHAR s_b1, s_b2, s_b3, s_b4;
            } S_un_b;
            struct {
                USHORT s_w1, s_w2;
            } S_un_w;
            ULONG S_addr;
        } S_un;
    };
};
#define s_net   S_un.S_un_b.s_b1
#define s_host  S_un.S_un_b.s_b2
#define s_lh    S_un.S_un_b.s_b3
#define s_impno S_un.S_un_b.s_b4
#define s_imp   S_un.S_un_w.s_w2

struct in6_addr {
    __extension__ union {
        union {
            UCHAR Byte[16];
            USHORT Word[8];
        } u;
        union { /* what the system's macros use */
#ifdef __GLIBC__
            uint8_t __u6_addr8[16];
            uint16_t __u6_addr16[8];
            uint32_t __u6_addr32[4] __attribute__((packed)); /* alignment 2, as on Windows */
        } __in6_u;
#else /* musl */
            uint8_t __s6_addr[16];
            uint16_t __s6_addr16[8];
            uint32_t __s6_addr32[4] __attribute__((packed));
        } __in6_union;
#endif
    };
};
#undef IN6ADDR_ANY_INIT
#undef IN6ADDR_LOOPBACK_INIT
/* clang-format off */
#define IN6ADDR_ANY_INIT      { { { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } } } }
#define IN6ADDR_LOOPBACK_INIT { { { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 } } } }
/* clang-format on */

struct sockaddr_in {
    sa_family_t sin_family;
    in_port_t sin_port;
    struct in_addr sin_addr;
    unsigned char sin_zero[8];
};

struct sockaddr_in6 {
    sa_family_t sin6_family;
    in_port_t sin6_port;
    uint32_t sin6_flowinfo;
    struct in6_addr sin6_addr;
    uint32_t sin6_scope_id;
};

struct ip_mreq {
    struct in_addr imr_multiaddr;
    struct in_addr imr_interface;
};

struct ip_mreq_source {
    struct in_addr imr_multiaddr;
    struct in_addr imr_interface;
    struct in_addr imr_sourceaddr;
};

struct ipv6_mreq {
    struct in6_addr ipv6mr_multiaddr;
    unsigned int ipv6mr_interface;
};

struct in_pktinfo {
    int ipi_ifindex;
    struct in_addr ipi_spec_dst;
    struct in_addr ipi_addr;
};

struct in6_pktinfo {
    struct in6_addr ipi6_addr;
    unsigned int ipi6_ifindex;
};

#ifdef __USE_MISC /* glibc has them */
C_ASSERT(sizeof(struct ip_mreq) == sizeof(struct wincompat_system_ip_mreq));
C_ASSERT(sizeof(struct ip_mreq_source) == sizeof(struct wincompat_system_ip_mreq_source));
C_ASSERT(sizeof(struct ipv6_mreq) == sizeof(struct wincompat_system_ipv6_mreq));
C_ASSERT(sizeof(struct in_pktinfo) == sizeof(struct wincompat_system_in_pktinfo));
#endif
C_ASSERT(sizeof(struct in_addr) == sizeof(struct wincompat_system_in_addr));
C_ASSERT(sizeof(struct in6_addr) == sizeof(struct wincompat_system_in6_addr));
C_ASSERT(sizeof(struct sockaddr_in) == sizeof(struct wincompat_system_sockaddr_in));
C_ASSERT(sizeof(struct sockaddr_in6) == sizeof(struct wincompat_system_sockaddr_in6));

WINCOMPAT_BEGIN
extern const struct in6_addr in6addr_any;
extern const struct in6_addr in6addr_loopback;
extern int inet_aton(const char *text, struct in_addr *address);
extern in_addr_t inet_lnaof(struct in_addr address);
extern struct in_addr inet_makeaddr(in_addr_t net, in_addr_t host);
extern in_addr_t inet_netof(struct in_addr address);
extern char *inet_ntoa(struct in_addr address);
WINCOMPAT_END

#else
#include <arpa/inet.h>
#endif

#endif
