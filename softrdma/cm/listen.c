/* SPDX-License-Identifier: MIT */
/*
 * listen.c - listening: accepts TCP connections, and keeps half-open ids, whose peers have not sent a Request yet.
 *
 * Their number is bounded: beyond SRD_CM_HALF_OPEN_MAX per listener the listener drops the oldest once it has had
 * SRD_CM_HALF_OPEN_MS. A genuine peer sends its Request at once; but where many connect at a time, 128 others may be
 * faster. Beyond SRD_CM_HALF_OPEN_FULL the listener drops the oldest however young it is.
 */
#include "softrdma/cm/id.h"

#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ACCEPTS = 64, TCP_BACKLOG = 1024, PAUSE_MS = 200 };

static struct srd_id *of_source(struct srd_source *source)
{
    return container_of(source, struct srd_id, source);
}

/* Returns SRD_CM_HALF_OPEN_FULL, or a quarter of the files that the process may open if that is less. */
static int half_open_full(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur / 4 >= SRD_CM_HALF_OPEN_FULL)
        return SRD_CM_HALF_OPEN_FULL;
    return files.rlim_cur / 4 > SRD_CM_HALF_OPEN_MAX ? (int)(files.rlim_cur / 4)
                                                     : SRD_CM_HALF_OPEN_MAX;
}

/* Takes the oldest half-open id off the list and returns it, if there are too many; NULL: there are not. */
static struct srd_id *too_many_half_open(struct srd_id *listener)
{
    struct srd_id *oldest = NULL;

    lock_acquire(&listener->lock);
    if (listener->n_half_open > SRD_CM_HALF_OPEN_MAX) {
        oldest = list_entry(listener->half_open.n.next, struct srd_id, half_open_node);
        if (clock_now_ms() < oldest->arrived_ms + SRD_CM_HALF_OPEN_MS &&
            listener->n_half_open <= half_open_full()) {
            oldest = NULL;
        } else {
            list_del(&oldest->half_open_node);
            listener->n_half_open--;
        }
    }
    lock_release(&listener->lock);
    return oldest;
}

/* Closes the connection of a half-open id. No lock held. */
static void drop_half_open(struct srd_id *oldest)
{
    char text[SRD_ADDR_TEXT];

    lock_acquire(&oldest->lock);
    if (oldest->state == SRD_ID_INCOMING) {
        log_limited(LOG_WARN, LOG_CM,
            "more than %d connections without an MPA request; closed the oldest, from %s",
            SRD_CM_HALF_OPEN_MAX, srd_addr_text(&oldest->ibv.route.addr.dst_addr, text));
        oldest->state = SRD_ID_OVER;
        srd_conn_close(oldest->conn);
        atomic_fetch_add_explicit(&oldest->device->half_open_dropped, 1, memory_order_relaxed);
    }
    lock_release(&oldest->lock);
    srd_passive_report(oldest); /* drops the reference to its listener */
    srd_id_unref(oldest);
}

/* Makes an id for an accepted socket; on failure closes the socket and returns NULL. */
static struct srd_id *adopt(struct srd_id *listener, int fd, const struct sockaddr_storage *peer)
{
    struct srd_id *id = srd_id_new(listener->ibv.channel, listener->ibv.context);
    struct rdma_addr *addr = id ? &id->ibv.route.addr : NULL;
    socklen_t octets = sizeof(struct sockaddr_storage);
    struct srd_device *device;
    char text[SRD_ADDR_TEXT];

    if (!id || getsockname(fd, &addr->src_addr, &octets))
        goto close_fd;
    memcpy(&addr->dst_storage, peer, sizeof(addr->dst_storage));
    srd_addr_unmap(&addr->src_storage);
    srd_addr_unmap(&addr->dst_storage);
    device = srd_device_by_addr(&addr->src_addr);
    if (!device || (listener->device && listener->device != device)) {
        log_limited(LOG_WARN, LOG_CM, "connection to %s: no device has this address; closed",
            srd_addr_text(&addr->src_addr, text));
        goto close_fd;
    }
    srd_id_set_device_locked(id, device);
    srd_cm_tune(fd);
    id->conn = srd_conn_create(fd, &srd_passive_conn_ops, id, &id->lock);
    if (!id->conn || !id->ibv.verbs)
        goto close_fd;
    srd_id_ref(id); /* the conn's */
    id->listener = listener;
    srd_id_ref(listener);
    id->state = SRD_ID_INCOMING;
    return id;

close_fd:
    if (id && id->conn)
        srd_id_ref(id), srd_conn_unref(id->conn), id->conn = NULL; /* closes fd */
    else
        close(fd);
    if (id)
        srd_id_unref(id);
    return NULL;
}

static void start_incoming(struct srd_id *listener, struct srd_id *id)
{
    bool request, failed;

    id->arrived_ms = clock_now_ms();
    lock_acquire(&listener->lock);
    srd_id_ref(id); /* the list's */
    list_add_tail(&listener->half_open, &id->half_open_node);
    listener->n_half_open++;
    lock_release(&listener->lock);

    lock_acquire(&id->lock);
    failed = srd_conn_watch(id->conn, true, false) != 0;
    if (failed) {
        id->state = SRD_ID_OVER;
        srd_conn_close(id->conn);
    } else {
        srd_source_deadline(&id->conn->source, id->arrived_ms + SRD_CM_REQUEST_MS);
        srd_passive_ready_locked(id); /* mostly the Request has come already */
    }
    request = id->state != SRD_ID_INCOMING;
    lock_release(&id->lock);
    if (request)
        srd_passive_request(id);
    srd_id_unref(id);
}

/* Stops accepting for a while, as the socket would stay readable; the peers stay in TCP's backlog. */
static void pause_accepting(struct srd_id *listener, int error)
{
    char text[SRD_ADDR_TEXT];

    srd_cm_report_files("accept", error);
    if (error != EMFILE && error != ENFILE)
        log_limited(LOG_ERROR, LOG_CM, "cannot accept on %s: %s; trying again every %d ms",
            srd_addr_text(&listener->ibv.route.addr.src_addr, text), strerror(error), PAUSE_MS);
    atomic_store(&listener->paused, true);
    srd_source_update(&listener->source);
    srd_source_deadline(&listener->source, clock_now_ms() + PAUSE_MS);
}

static bool on_ready(struct srd_source *source, uint32_t events, bool background)
{
    struct srd_id *listener = of_source(source);

    (void)events, (void)background;
    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage peer = { 0 };
        socklen_t octets = sizeof(peer);
        struct srd_id *id;
        int fd = -1;

        errno = 0;
        lock_acquire(&listener->lock); /* srd_listen_stop closes the socket under it */
        if (listener->listening)
            fd = accept4(
                source->fd, (struct sockaddr *)&peer, &octets, SOCK_CLOEXEC | SOCK_NONBLOCK);
        lock_release(&listener->lock);
        if (fd < 0) {
            if (errno && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                pause_accepting(listener, errno);
            break;
        }
        id = adopt(listener, fd, &peer);
        if (!id)
            continue;
        start_incoming(listener, id);
        while ((id = too_many_half_open(listener)))
            drop_half_open(id);
    }
    return true;
}

static void on_expired(struct srd_source *source)
{
    atomic_store(&of_source(source)->paused, false);
    srd_source_update(source);
}

static uint32_t on_interest(struct srd_source *source)
{
    return atomic_load(&of_source(source)->paused) ? 0 : EPOLLIN;
}

static void on_free(struct srd_source *source)
{
    srd_id_unref(of_source(source));
}

static const struct srd_source_ops source_ops = {
    .ready = on_ready,
    .expired = on_expired,
    .interest = on_interest,
    .free = on_free,
};

/* Drops the meet of an id that could not begin to listen. */
static void drop_meet(struct srd_id *id)
{
    if (!id->meet)
        return;
    srd_meet_stop(id->meet);
    srd_meet_unref(id->meet);
    id->meet = NULL;
}

static int start_locked(struct srd_id *id, int backlog)
{
    const struct sockaddr_in any = { .sin_family = AF_INET };
    int error, on = 1, off = id->reuse_addr;

    if (id->state == SRD_ID_IDLE) {
        error = srd_id_bind_locked(id, (const struct sockaddr *)&any);
        if (error)
            return error;
        id->state = SRD_ID_BOUND;
    }
    if (id->state != SRD_ID_BOUND)
        return EINVAL;
    id->backlog = backlog > 0 && backlog < SRD_CM_BACKLOG_MAX ? backlog : SRD_CM_BACKLOG_MAX;
    /* Lets a later socket bind the port while our connections are in TIME_WAIT. See addr.c. */
    setsockopt(id->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (listen(id->fd, TCP_BACKLOG)) {
        error = errno;
        setsockopt(id->fd, SOL_SOCKET, SO_REUSEADDR, &off, sizeof(off));
        return error;
    }
    id->meet = srd_meet_listen(id->fd);
    srd_source_init(&id->source, &source_ops, id->fd);
    srd_id_ref(id); /* the source's */
    error = -srd_source_add(&id->source);
    if (error) {
        drop_meet(id);
        srd_source_unref(&id->source);
        return error;
    }
    id->fd = -1;
    id->listening = true;
    id->state = SRD_ID_LISTEN;
    return 0;
}

int srd_listen(struct rdma_cm_id *ibv, int backlog)
{
    struct srd_id *id = srd_id_from(ibv);
    char text[SRD_ADDR_TEXT];
    int error;

    if (!srd_id_enter(ibv))
        return -1;
    error = start_locked(id, backlog);
    if (error)
        log_write(LOG_INFO, LOG_CM, "listen on %s: %s",
            srd_addr_text(&ibv->route.addr.src_addr, text), strerror(error));
    return srd_id_leave(ibv, error);
}

void srd_listen_stop(struct srd_id *id)
{
    struct list_node *node;

    if (!id->listening)
        return;
    srd_source_remove(&id->source);
    if (id->meet)
        srd_meet_stop(id->meet); /* comes first, so that the name is free when the port is */
    lock_acquire(&id->lock);
    id->listening = false;
    close(id->source.fd);
    id->source.fd = -1;
    for (;;) {
        struct srd_id *half;
        node = list_pop(&id->half_open);
        if (!node)
            break;
        id->n_half_open--;
        lock_release(&id->lock);
        half = list_entry(node, struct srd_id, half_open_node);
        lock_acquire(&half->lock);
        if (half->state == SRD_ID_INCOMING) {
            half->state = SRD_ID_OVER;
            srd_conn_close(half->conn);
        }
        lock_release(&half->lock);
        srd_passive_report(half);
        srd_id_unref(half);
        lock_acquire(&id->lock);
    }
    lock_release(&id->lock);
    srd_source_unref(&id->source);
}
