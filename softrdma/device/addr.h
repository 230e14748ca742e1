/* SPDX-License-Identifier: MIT */
/* addr.h - socket addresses, IPv4 and IPv6 alike, and those of a device. */
#ifndef SOFTRDMA_DEVICE_ADDR_H
#define SOFTRDMA_DEVICE_ADDR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <sys/socket.h>

struct srd_device;

enum { SRD_ADDR_TEXT = 80 };

/* Octets of a sockaddr of this family; 0 for families other than the two. */
socklen_t srd_addr_len(const struct sockaddr *addr);
/* Numeric host, IPv6 with an optional %scope. 0 or EINVAL. */
int srd_addr_parse(const char *text, struct sockaddr_storage *addr);
bool srd_addr_is_any(const struct sockaddr *addr);
bool srd_addr_is_loopback(const struct sockaddr *addr);
/* Same family, host and scope; ports do not count. */
bool srd_addr_same_host(const struct sockaddr *a, const struct sockaddr *b);
/* Network order. */
__be16 srd_addr_port(const struct sockaddr *addr);
void srd_addr_set_port(struct sockaddr *addr, __be16 port);
/* ::ffff:a.b.c.d becomes a.b.c.d, as the peers of a dual-stack listener are shown. */
void srd_addr_unmap(struct sockaddr_storage *addr);
/* For messages: "127.0.0.1:4791", and the same without its port. Returns text. */
const char *srd_addr_text(const struct sockaddr *addr, char text[SRD_ADDR_TEXT]);
const char *srd_addr_host_text(const struct sockaddr *addr, char text[SRD_ADDR_TEXT]);

/* A device's addresses, those of interfaces that are up when it has every address of the host; at
 * least one. */
int srd_addr_count(struct srd_device *device);
/* An address as a GID (IPv4 mapped), and one of the device's. The latter: 0 or EINVAL. */
void srd_addr_to_gid(const struct sockaddr *addr, union ibv_gid *gid);
int srd_addr_gid(struct srd_device *device, int index, union ibv_gid *gid);
/* 0 or EINVAL. */
int srd_addr_at(struct srd_device *device, int index, struct sockaddr_storage *addr);
/* What a GID means to a host that is reached from the address from: IPv4 where it is mapped, else IPv6. Port 0. */
void srd_addr_of_gid(
    const union ibv_gid *gid, const struct sockaddr *from, struct sockaddr_storage *addr);

#endif
