/* SPDX-License-Identifier: MIT */
/* addr.h - socket addresses, IPv4 and IPv6 alike, and a device's addresses. */
#ifndef SOFTRDMA_DEVICE_ADDR_H
#define SOFTRDMA_DEVICE_ADDR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <sys/socket.h>

struct srd_device;

enum { SRD_ADDR_TEXT = 80 };

/* Returns the octets of a sockaddr of this family; 0 for families other than the two. */
socklen_t srd_addr_len(const struct sockaddr *addr);
/* Reads a numeric host, IPv6 with an optional %scope. Returns 0 or EINVAL. */
int srd_addr_parse(const char *text, struct sockaddr_storage *addr);
bool srd_addr_is_any(const struct sockaddr *addr);
bool srd_addr_is_loopback(const struct sockaddr *addr);
/* Whether both have the same family, host and scope; ports do not count. */
bool srd_addr_same_host(const struct sockaddr *a, const struct sockaddr *b);
/* Ports are in network order. */
__be16 srd_addr_port(const struct sockaddr *addr);
void srd_addr_set_port(struct sockaddr *addr, __be16 port);
/* Makes a.b.c.d of ::ffff:a.b.c.d, the form in which a dual-stack listener gets its peers. */
void srd_addr_unmap(struct sockaddr_storage *addr);
/* Write an address for messages, "127.0.0.1:4791", and without its port. Return text. */
const char *srd_addr_text(const struct sockaddr *addr, char text[SRD_ADDR_TEXT]);
const char *srd_addr_host_text(const struct sockaddr *addr, char text[SRD_ADDR_TEXT]);

/*
 * Returns the number of the device's addresses, at least 1. If it has every address of the host, those of interfaces
 * that are up count.
 */
int srd_addr_count(struct srd_device *device);
/* Makes a GID of an address (IPv4 mapped). */
void srd_addr_to_gid(const struct sockaddr *addr, union ibv_gid *gid);
/* Return the device's address at index, as a GID and as it is. Return 0 or EINVAL. */
int srd_addr_gid(struct srd_device *device, int index, union ibv_gid *gid);
int srd_addr_at(struct srd_device *device, int index, struct sockaddr_storage *addr);
/*
 * Makes the address of a peer's GID, for a connection from the address from: IPv4 if it is mapped, else IPv6. Port 0.
 */
void srd_addr_of_gid(
    const union ibv_gid *gid, const struct sockaddr *from, struct sockaddr_storage *addr);

#endif
