/* SPDX-License-Identifier: MIT */
/* adapters.h - what GetAdaptersAddresses (adapters.c, wide) asks of the system (adapter_facts.c). */
#ifndef WIN32_SOCKETS_ADAPTERS_H
#define WIN32_SOCKETS_ADAPTERS_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* A network interface, and what of it is no address. */
struct adapter_facts {
    unsigned index, flags; /* IFF_* */
    char name[IF_NAMESIZE];
    unsigned char physical[8];
    unsigned physical_octets;
    unsigned short hardware; /* ARPHRD_* */
    unsigned mtu;
    uint64_t speed; /* bits a second; UINT64_MAX: not known */
    bool wireless;
};

/* An address of some server: its family is 0 where it is none. */
union adapter_server {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* All but index, flags and physical address, which getifaddrs has told. */
void adapter_find_facts(struct adapter_facts *facts);

/* The which-th name server of /etc/resolv.conf; false: there are no more. */
bool adapter_name_server(unsigned which, union adapter_server *server);
/* The which-th gateway of an interface. */
bool adapter_gateway(
    const struct adapter_facts *facts, unsigned which, union adapter_server *gateway);

#endif
