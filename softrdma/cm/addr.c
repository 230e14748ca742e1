/* SPDX-License-Identifier: MIT */
/*
 * addr.c - addresses of an id: binding and resolving.
 *
 * A bound id has a bound TCP socket, so the kernel decides which ports are taken. As in TCP servers, SO_REUSEADDR is
 * for ports that earlier connections hold in TIME_WAIT: the first try is without it, and a socket keeps the option only
 * once it listens or ends, so two ids share a port only if both asked for it (RDMA_OPTION_ID_REUSEADDR).
 */
#include "softrdma/cm/id.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/settings.h"

#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The most ports that one call of bind_shared tries; each call begins with another one. */
enum { SHARED_TRIED = 1024 };

static int set_int(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value)) ? errno : 0;
}

void srd_cm_tune(int fd)
{
    set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    /*
     * TCP's keep-alive finds a vanished peer within a minute on an idle connection. With data in flight TCP's own
     * retransmissions have to end first (net.ipv4.tcp_retries2). TCP_USER_TIMEOUT is not used: it also cuts the
     * connection of a peer that lives and keeps its window closed, as one does that lacks a shared receive.
     */
    set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
    set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

bool srd_cm_crc(void)
{
    return setting_on("NDSPI_SOFT_CRC");
}

unsigned srd_cm_retry_ms(void)
{
    return setting_number("NDSPI_SOFT_PATIENCE_MS", 0, INT_MAX);
}

unsigned srd_cm_first_fpdu_ms(void)
{
    return setting_number("NDSPI_SOFT_SPEAK_MS", 0, INT_MAX);
}

uint64_t srd_cm_answer_deadline_ms(void)
{
    unsigned ms = setting_number("NDSPI_SOFT_ANSWER_MS", SRD_CM_ANSWER_MS, INT_MAX);

    return ms ? clock_now_ms() + ms : UINT64_MAX;
}

void srd_id_set_device_locked(struct srd_id *id, struct srd_device *device)
{
    id->device = device;
    id->ibv.verbs = device ? srd_device_shared(device, &id->ibv.pd) : NULL;
    id->ibv.port_num = device ? 1 : 0;
}

void srd_cm_report_files(const char *what, int error)
{
    struct rlimit files = { 0 };

    if (error != EMFILE && error != ENFILE)
        return;
    getrlimit(RLIMIT_NOFILE, &files);
    log_limited(LOG_ERROR, LOG_CM,
        "cannot %s: %s; the limit of open files is %llu: raise it (ulimit -n)", what,
        strerror(error), (unsigned long long)files.rlim_cur);
}

static int try_bind(struct srd_id *id, const struct sockaddr *addr, bool reuse)
{
    int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    int error = 0;

    if (fd < 0) {
        error = errno;
        srd_cm_report_files("open a socket", error);
        return error;
    }
    if (addr->sa_family == AF_INET6)
        set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, id->af_only || !srd_addr_is_any(addr));
    if (id->tos)
        set_int(fd, addr->sa_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP,
            addr->sa_family == AF_INET6 ? IPV6_TCLASS : IP_TOS, id->tos);
    set_int(fd, IPPROTO_TCP, TCP_SYNCNT, 4); /* half a minute */
    if (reuse)
        set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(fd, addr, srd_addr_len(addr)))
        error = errno;
    if (reuse != id->reuse_addr) /* the option says now whether another socket may share the port */
        set_int(fd, SOL_SOCKET, SO_REUSEADDR, id->reuse_addr);
    if (error)
        close(fd);
    else
        id->fd = fd;
    return error;
}

/* Returns the system's range of ephemeral ports. */
static void port_range(unsigned *first, unsigned *count)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    unsigned last;

    if (!file || fscanf(file, "%u %u", first, &last) != 2 || *first > last || last > UINT16_MAX) {
        *first = 32768;
        last = 60999;
    }
    *count = last - *first + 1;
    if (file)
        fclose(file);
}

/*
 * Binds a port that is shared, when every port is taken, some by connections whose sockets allow sharing (TIME_WAIT,
 * mostly). bind(2) chooses none of those by itself, but such a port can connect to a peer that its other connections do
 * not have.
 */
static int bind_shared(struct srd_id *id, const struct sockaddr *addr)
{
    struct sockaddr_storage local = { 0 };
    unsigned first, count, start = (unsigned)clock_now_ns() / 64;
    int error = EADDRINUSE;

    port_range(&first, &count);
    memcpy(&local, addr, srd_addr_len(addr));
    for (unsigned i = 0; i < count && i < SHARED_TRIED && error == EADDRINUSE; i++) {
        srd_addr_set_port(
            (struct sockaddr *)&local, htons((uint16_t)(first + (start + i) % count)));
        error = try_bind(id, (struct sockaddr *)&local, true);
    }
    return error;
}

/* Binds a socket for an id. device: the device that has the address; NULL: none. Returns 0 or a positive errno. */
static int bind_on(struct srd_id *id, const struct sockaddr *addr, struct srd_device *device)
{
    socklen_t octets = sizeof(id->ibv.route.addr.src_storage);
    char text[SRD_ADDR_TEXT];
    int error;

    lock_assert_held(&id->lock);
    if (!srd_addr_port(addr))
        id->any_port = true;
    /*
     * If the program names no port, prefer one that no socket has: a shared port cannot reach every peer.
     */
    error = try_bind(id, addr, id->reuse_addr && srd_addr_port(addr));
    if (error == EADDRINUSE)
        error = srd_addr_port(addr) ? try_bind(id, addr, true) : bind_shared(id, addr);
    if (error) {
        log_write(LOG_INFO, LOG_CM, "bind to %s: %s", srd_addr_text(addr, text), strerror(error));
        return error;
    }
    if (getsockname(id->fd, &id->ibv.route.addr.src_addr, &octets))
        error = errno;
    srd_id_set_device_locked(id, error ? NULL : device);
    if (!error && device && !id->ibv.verbs)
        error = errno;
    if (error) {
        close(id->fd);
        id->fd = -1;
        srd_id_set_device_locked(id, NULL);
    }
    return error;
}

int srd_id_bind_locked(struct srd_id *id, const struct sockaddr *addr)
{
    struct srd_device *device = srd_addr_is_any(addr) ? NULL : srd_device_by_addr(addr);
    char text[SRD_ADDR_TEXT];

    if (!device && !srd_addr_is_any(addr)) {
        log_write(
            LOG_INFO, LOG_CM, "bind to %s: no device has this address", srd_addr_text(addr, text));
        return EADDRNOTAVAIL;
    }
    return bind_on(id, addr, device);
}

/*
 * The kernel's connection manager treats a loopback address that no device has like the wildcard: an id can bind it,
 * and gets no device. libfabric binds "localhost" like that before it looks at the devices.
 */
static int bind_named(struct srd_id *id, const struct sockaddr *addr)
{
    if (srd_addr_is_loopback(addr) && !srd_device_by_addr(addr))
        return bind_on(id, addr, NULL);
    return srd_id_bind_locked(id, addr);
}

__be16 srd_get_src_port(struct rdma_cm_id *id)
{
    return srd_addr_port(&id->route.addr.src_addr);
}

__be16 srd_get_dst_port(struct rdma_cm_id *id)
{
    return srd_addr_port(&id->route.addr.dst_addr);
}

int srd_bind_addr(struct rdma_cm_id *ibv, struct sockaddr *addr)
{
    struct srd_id *id = srd_id_from(ibv);
    int error;

    if (!addr || !srd_addr_len(addr)) {
        errno = addr ? EAFNOSUPPORT : EINVAL;
        return -1;
    }
    if (!srd_id_enter(ibv))
        return -1;
    error = id->state == SRD_ID_IDLE ? bind_named(id, addr) : EINVAL;
    if (!error)
        id->state = SRD_ID_BOUND;
    return srd_id_leave(ibv, error);
}

/* Finds the local address that the kernel would use towards dst; port 0. Returns 0 or a positive errno. */
static int route_source(const struct sockaddr *dst, struct sockaddr_storage *src)
{
    socklen_t octets = sizeof(*src);
    int fd = socket(dst->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
    int error = 0;

    if (fd < 0) {
        error = errno;
        srd_cm_report_files("open a socket", error);
        return error;
    }
    if (connect(fd, dst, srd_addr_len(dst)) || getsockname(fd, (struct sockaddr *)src, &octets))
        error = errno;
    close(fd);
    if (!error)
        srd_addr_set_port((struct sockaddr *)src, 0);
    return error;
}

/* Replaces a wildcard as destination, which means this host, by the id's own address, or loopback. */
static void concrete(const struct srd_id *id, struct sockaddr *dst)
{
    const struct sockaddr *own = &id->ibv.route.addr.src_addr;
    __be16 port = srd_addr_port(dst);

    if (own->sa_family == dst->sa_family && !srd_addr_is_any(own))
        memcpy(dst, own, srd_addr_len(own));
    else if (dst->sa_family == AF_INET)
        ((struct sockaddr_in *)dst)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)dst)->sin6_addr = in6addr_loopback;
    srd_addr_set_port(dst, port);
}

/* Binds the id to an address towards dst, and keeps a port that it has. Returns 0 or a positive errno. */
static int bind_towards(struct srd_id *id, const struct sockaddr *dst)
{
    struct sockaddr_storage src;
    int error;

    if (id->state == SRD_ID_BOUND && id->device)
        return 0; /* connect finds out whether dst can be reached from this address */
    error = route_source(dst, &src);
    if (error)
        return error;
    if (id->state == SRD_ID_BOUND) {
        /* The id is bound to a port only: binds the same port of the address that the route gives. */
        srd_addr_set_port((struct sockaddr *)&src, srd_get_src_port(&id->ibv));
        close(id->fd);
        id->fd = -1;
        id->state = SRD_ID_IDLE;
    }
    return srd_id_bind_locked(id, (struct sockaddr *)&src);
}

/* Posts the result of resolving, in an event of its own: a program may resolve as often as it likes. */
static void post_result_locked(
    struct srd_id *id, struct srd_cm_event *event, enum rdma_cm_event_type type, int status)
{
    event->ibv.event = type;
    event->ibv.status = status;
    srd_cm_post_locked(id, event);
}

/* Resolves dst and binds the id. Returns 0, and has posted event; or a positive errno, and event is the caller's. */
static int resolve_locked(struct srd_id *id, const struct sockaddr *src, const struct sockaddr *dst,
    struct srd_cm_event *event)
{
    struct sockaddr_storage to;
    char text[SRD_ADDR_TEXT];
    int error = 0;

    if (id->state != SRD_ID_IDLE && id->state != SRD_ID_BOUND)
        return EINVAL;
    if (src && id->state == SRD_ID_IDLE) {
        if (src->sa_family != dst->sa_family)
            return EINVAL;
        error = srd_id_bind_locked(id, src);
        if (error)
            return error;
        id->state = SRD_ID_BOUND;
    }
    if (id->state == SRD_ID_BOUND && id->ibv.route.addr.src_addr.sa_family != dst->sa_family)
        return EINVAL;
    memset(&to, 0, sizeof(to));
    memcpy(&to, dst, srd_addr_len(dst));
    if (srd_addr_is_any(dst))
        concrete(id, (struct sockaddr *)&to);
    error = bind_towards(id, (struct sockaddr *)&to);
    if (error == EADDRINUSE || error == EMFILE || error == ENFILE || error == ENOMEM)
        return error;
    if (error) {
        log_limited(LOG_INFO, LOG_CM, "no route to %s: %s",
            srd_addr_text((struct sockaddr *)&to, text), strerror(error));
        post_result_locked(id, event, RDMA_CM_EVENT_ADDR_ERROR, -error);
        return 0;
    }
    memcpy(&id->ibv.route.addr.dst_storage, &to, sizeof(id->ibv.route.addr.dst_storage));
    id->state = SRD_ID_ADDR;
    post_result_locked(id, event, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    return 0;
}

int srd_resolve_addr(
    struct rdma_cm_id *ibv, struct sockaddr *src_addr, struct sockaddr *dst_addr, int timeout_ms)
{
    struct srd_id *id = srd_id_from(ibv);
    struct srd_cm_event *event;
    int error;

    (void)timeout_ms; /* the routing table answers at once */
    if (!dst_addr || !srd_addr_len(dst_addr) || (src_addr && !srd_addr_len(src_addr))) {
        errno = dst_addr ? EAFNOSUPPORT : EINVAL;
        return -1;
    }
    if (!srd_id_enter(ibv))
        return -1;
    event = srd_cm_event_alloc(id);
    error = event ? resolve_locked(id, src_addr, dst_addr, event) : ENOMEM;
    if (event && error)
        srd_cm_event_free(event);
    return srd_id_complete(ibv, srd_id_leave(ibv, error));
}

int srd_resolve_route(struct rdma_cm_id *ibv, int timeout_ms)
{
    struct srd_id *id = srd_id_from(ibv);
    struct srd_cm_event *event;

    (void)timeout_ms;
    if (!srd_id_enter(ibv))
        return -1;
    if (id->state != SRD_ID_ADDR)
        return srd_id_leave(ibv, EINVAL);
    event = srd_cm_event_alloc(id);
    if (!event)
        return srd_id_leave(ibv, ENOMEM);
    id->state = SRD_ID_ROUTE;
    post_result_locked(id, event, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
    return srd_id_complete(ibv, srd_id_leave(ibv, 0));
}
