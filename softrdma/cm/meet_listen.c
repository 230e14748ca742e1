/* SPDX-License-Identifier: MIT */
/*
 * meet_listen.c - the passive end of meet.h: a listener's Unix socket, the processes that connect to it, and the offers
 * that wait for the Requests of their connections.
 *
 * An offer comes before its Request, mostly together with the Unix connection. A visitor is a Unix connection that has
 * sent no offer yet. Visitors and offers are bounded in number and time; the oldest is dropped first.
 */
#include "softrdma/cm/meet.h"

#include "softrdma/cm/id.h"
#include "softrdma/share/close.h"
#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024, ACCEPTS = 64, PAUSE_MS = 200, AGAIN_MS = 1000 };
/* The limits are generous: a peer sends its offer in the call that connects, and its Request right after that. */
enum { VISITORS_MAX = 64, VISITOR_MS = 500 };
enum { OFFERS_MAX = SRD_CM_HALF_OPEN_FULL, OFFER_MS = SRD_CM_REQUEST_MS };

struct srd_meet {
    struct srd_source source;     /* must be first */
    struct lock lock;             /* LOCK_SRD_MEET: guards the socket and the members below */
    struct sockaddr_storage addr; /* the listener's */
    uint64_t network;
    int error;         /* why it has no socket; 0: it has one, or needs none any more */
    uint64_t again_ms; /* the earliest time of the next try, clock_now_ms() */
    atomic_bool paused;
    struct list_head visitors, offers; /* the oldest first */
    int n_visitors, n_offers;
};

struct visitor {
    struct srd_source source; /* must be first */
    struct srd_meet *meet;    /* holds a reference */
    struct list_node node;    /* not linked: it is served or refused, and has no descriptor */
};

struct waiting {
    struct srd_meet_offer offer;
    struct list_node node;
    uint64_t until_ms; /* clock_now_ms() */
};

static struct srd_meet *meet_of(struct srd_source *source)
{
    return container_of(source, struct srd_meet, source);
}

/* --- offers ------------------------------------------------------------------------------------------------------- */

/* Logs that an offer is refused. pair: the addresses of its connection; NULL: they are not known. */
static void refused(const struct srd_meet_pair *pair, const char *why)
{
    char text[SRD_ADDR_TEXT];

    if (pair)
        log_limited(LOG_INFO, LOG_CM, "an offer of memory by %s is refused: %s",
            srd_addr_text((const struct sockaddr *)&pair->local, text), why);
    else
        log_limited(LOG_INFO, LOG_CM, "an offer of memory is refused: %s", why);
}

static void refused_for(const struct srd_meet_pair *pair, int error)
{
    refused(pair, error == -EACCES                       ? srd_meet_other_user()
                  : error == -ECONNRESET                 ? "the process that came for it has left"
                  : error == -EPROTO                     ? "it is malformed"
                  : error == -ENOTCONN                   ? "its connection has ended"
                  : error == -EMFILE || error == -ENFILE ? "too many descriptors are in use"
                  : error == -ETIMEDOUT                  ? "it does not come"
                  : error == -EBUSY  ? "too many that were refused cannot be closed yet"
                  : error == -EUSERS ? SRD_MEET_TOO_MANY
                                     : strerror(-error));
}

static struct waiting *waiting_of(struct list_node *node)
{
    return list_entry(node, struct waiting, node);
}

/* Takes an offer off the list. */
static void unlist_locked(struct srd_meet *meet, struct waiting *waiting)
{
    lock_assert_held(&meet->lock);
    list_del(&waiting->node);
    meet->n_offers--;
}

static void drop_locked(struct srd_meet *meet, struct waiting *waiting)
{
    unlist_locked(meet, waiting);
    srd_close_foreign(waiting->offer.share.memory_fd);
    srd_close_foreign(waiting->offer.share.wake_fd);
    free(waiting);
}

static struct waiting *oldest_locked(struct srd_meet *meet)
{
    return list_empty(&meet->offers) ? NULL : waiting_of(meet->offers.n.next);
}

/* Finds the last offer for the connection with these addresses of the passive end. NULL: there is none. */
static struct waiting *find_locked(
    struct srd_meet *meet, const struct sockaddr *local, const struct sockaddr *peer)
{
    for (struct list_node *node = meet->offers.n.prev; node != &meet->offers.n; node = node->prev) {
        const struct srd_meet_pair *pair = &waiting_of(node)->offer.pair;
        const struct sockaddr *from = (const struct sockaddr *)&pair->local,
                              *to = (const struct sockaddr *)&pair->peer;

        if (srd_addr_port(from) == srd_addr_port(peer) && srd_addr_same_host(from, peer) &&
            srd_addr_port(to) == srd_addr_port(local) && srd_addr_same_host(to, local))
            return waiting_of(node);
    }
    return NULL;
}

/* Keeps an offer, and the Unix connection that it came by; or refuses and closes both. */
static void keep_locked(struct srd_meet *meet, const struct srd_meet_offer *offer, int fd)
{
    struct waiting *waiting = NULL;
    int error = 0;

    if (offer->pair.network != meet->network)
        error = -EPROTO;
    else if (!srd_meet_may_keep(fd))
        error = -EMFILE;
    else if (!(waiting = malloc(sizeof(*waiting))))
        error = -ENOMEM;
    if (error) {
        srd_close_foreign(offer->share.memory_fd);
        srd_close_foreign(fd);
        refused_for(&offer->pair, error);
        return;
    }
    if (meet->n_offers == OFFERS_MAX) {
        refused(&oldest_locked(meet)->offer.pair, "too many wait");
        drop_locked(meet, oldest_locked(meet));
    }
    waiting->offer = *offer;
    waiting->offer.share.wake_fd = fd;
    waiting->until_ms = clock_now_ms() + OFFER_MS;
    list_add_tail(&meet->offers, &waiting->node);
    meet->n_offers++;
    srd_source_due(&meet->source, waiting->until_ms);
}

/* --- visitors ----------------------------------------------------------------------------------------------------- */

/* Takes a visitor off the list. Returns its descriptor, which is the caller's. */
static int dismiss_locked(struct srd_meet *meet, struct visitor *visitor)
{
    int fd = visitor->source.fd;

    lock_assert_held(&meet->lock);
    srd_source_remove(&visitor->source);
    visitor->source.fd = -1;
    list_del(&visitor->node);
    meet->n_visitors--;
    srd_source_unref(&visitor->source); /* the list's */
    return fd;
}

/* Reads the offer of a visitor, if it has come. */
static void serve_locked(struct srd_meet *meet, struct visitor *visitor)
{
    struct srd_meet_offer offer;
    int error = srd_meet_receive(visitor->source.fd, &offer), fd;

    if (error == -EAGAIN)
        return;
    fd = dismiss_locked(meet, visitor);
    if (error)
        srd_close_foreign(fd);
    else
        keep_locked(meet, &offer, fd);
    if (error)
        refused_for(NULL, error);
}

static bool visitor_ready(struct srd_source *source, uint32_t events, bool background)
{
    struct visitor *visitor = container_of(source, struct visitor, source);

    (void)events, (void)background;
    lock_acquire(&visitor->meet->lock);
    if (list_linked(&visitor->node))
        serve_locked(visitor->meet, visitor);
    lock_release(&visitor->meet->lock);
    return true;
}

static void visitor_expired(struct srd_source *source)
{
    struct visitor *visitor = container_of(source, struct visitor, source);

    lock_acquire(&visitor->meet->lock);
    if (list_linked(&visitor->node)) {
        refused_for(NULL, -ETIMEDOUT);
        srd_close_foreign(dismiss_locked(visitor->meet, visitor));
    }
    lock_release(&visitor->meet->lock);
}

static uint32_t visitor_interest(struct srd_source *source)
{
    (void)source;
    return EPOLLIN;
}

static void visitor_free(struct srd_source *source)
{
    struct visitor *visitor = container_of(source, struct visitor, source);

    srd_meet_unref(visitor->meet);
    free(visitor);
}

static const struct srd_source_ops visitor_ops = {
    .ready = visitor_ready,
    .expired = visitor_expired,
    .interest = visitor_interest,
    .free = visitor_free,
};

/* Makes a visitor of a Unix connection. Returns 0, or a negative errno; then fd is closed. */
static int admit_locked(struct srd_meet *meet, int fd)
{
    struct visitor *visitor = calloc(1, sizeof(*visitor));
    int error;

    if (!visitor) {
        srd_close_foreign(fd);
        return -ENOMEM;
    }
    if (meet->n_visitors == VISITORS_MAX) {
        refused(NULL, "too many come without one");
        srd_close_foreign(
            dismiss_locked(meet, list_entry(meet->visitors.n.next, struct visitor, node)));
    }
    srd_source_init(&visitor->source, &visitor_ops, fd);
    srd_source_ref(&meet->source);
    visitor->meet = meet;
    list_add_tail(&meet->visitors, &visitor->node);
    meet->n_visitors++;
    error = srd_source_add(&visitor->source);
    if (error)
        srd_close_foreign(dismiss_locked(meet, visitor));
    else
        srd_source_deadline(&visitor->source, clock_now_ms() + VISITOR_MS);
    return error;
}

/* --- the listener's socket ---------------------------------------------------------------------------------------- */

/* Stops accepting for a while, as the socket would stay readable; new visitors stay in the backlog. */
static void pause_locked(struct srd_meet *meet, int error)
{
    refused_for(NULL, -error);
    atomic_store(&meet->paused, true);
    srd_source_update(&meet->source);
    srd_source_due(&meet->source, clock_now_ms() + PAUSE_MS);
}

/* Accepts a Unix connection, and reads its offer or makes a visitor of it. False: none is there. */
static bool accept_locked(struct srd_meet *meet)
{
    struct srd_meet_offer offer;
    int fd, error;

    lock_assert_held(&meet->lock);
    if (meet->source.fd < 0)
        return false;
    if (srd_close_crowded()) {
        if (!atomic_load(&meet->paused))
            pause_locked(meet, EBUSY);
        return false;
    }
    fd = accept4(meet->source.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            pause_locked(meet, errno);
        return false;
    }
    error = srd_meet_receive(fd, &offer);
    if (!error)
        keep_locked(meet, &offer, fd);
    else if (error == -EAGAIN)
        error = admit_locked(meet, fd);
    else
        srd_close_foreign(fd);
    if (error)
        refused_for(NULL, error);
    return true;
}

static bool on_ready(struct srd_source *source, uint32_t events, bool background)
{
    struct srd_meet *meet = meet_of(source);

    (void)events, (void)background;
    lock_acquire(&meet->lock);
    for (int i = 0; i < ACCEPTS && accept_locked(meet); i++)
        ;
    lock_release(&meet->lock);
    return true;
}

static void on_expired(struct srd_source *source)
{
    struct srd_meet *meet = meet_of(source);
    uint64_t now_ms = clock_now_ms();
    struct waiting *oldest;

    lock_acquire(&meet->lock);
    if (atomic_exchange(&meet->paused, false))
        srd_source_update(source);
    while ((oldest = oldest_locked(meet)) && oldest->until_ms <= now_ms) {
        refused(&oldest->offer.pair, "its connection does not use it");
        drop_locked(meet, oldest);
    }
    if (oldest)
        srd_source_due(source, oldest->until_ms);
    lock_release(&meet->lock);
}

static uint32_t on_interest(struct srd_source *source)
{
    return atomic_load(&meet_of(source)->paused) ? 0 : EPOLLIN;
}

/*
 * Closes the listener's Unix socket, and first the connections in its queue, which might make its close wait: so the
 * name is free at once.
 */
static void close_socket(int fd)
{
    int visitor;

    shutdown(fd, SHUT_RD); /* the kernel refuses connections after this */
    do {
        visitor = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (visitor >= 0)
            srd_close_foreign(visitor);
    } while (visitor >= 0 || errno == EINTR || errno == ECONNABORTED);
    if (errno == EMFILE || errno == ENFILE)
        srd_close_foreign(fd);
    else
        close(fd);
}

static void on_free(struct srd_source *source)
{
    if (source->fd >= 0)
        close_socket(source->fd);
    free(meet_of(source));
}

static const struct srd_source_ops source_ops = {
    .ready = on_ready,
    .expired = on_expired,
    .interest = on_interest,
    .free = on_free,
};

/* Makes the socket, with its name. Returns a descriptor or a negative errno. */
static int open_socket(const struct sockaddr *addr)
{
    struct sockaddr_un name;
    socklen_t octets = srd_meet_name(addr, 0, &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;

    if (fd < 0)
        return -errno;
    if (!bind(fd, (struct sockaddr *)&name, octets) && !listen(fd, BACKLOG))
        return fd;
    error = errno;
    close(fd);
    return -error;
}

/* Logs why there is no socket, each reason once. */
static void say_closed(const struct srd_meet *meet, int error)
{
    char text[SRD_ADDR_TEXT];

    if (!error || error == meet->error)
        return;
    srd_addr_text((const struct sockaddr *)&meet->addr, text);
    if (error == -EADDRINUSE)
        log_limited(LOG_WARN, LOG_CM,
            "connections to %s share no memory: another process has taken the name for it", text);
    else
        log_limited(
            LOG_INFO, LOG_CM, "connections to %s share no memory: %s", text, strerror(-error));
}

/*
 * Opens the socket. If that fails, connections stay on TCP, and a later one tries again: the resource may be free then.
 */
static void open_locked(struct srd_meet *meet)
{
    int fd = open_socket((struct sockaddr *)&meet->addr), error = fd < 0 ? fd : 0;

    lock_assert_held(&meet->lock);
    if (!error) {
        /* The source is not added, so no other thread uses it. */
        srd_source_init(&meet->source, &source_ops, fd);
        error = srd_source_add(&meet->source);
    }
    if (error && fd >= 0) {
        close(fd);
        meet->source.fd = -1;
    }
    say_closed(meet, error);
    meet->error = error;
    meet->again_ms = clock_now_ms() + AGAIN_MS;
}

struct srd_meet *srd_meet_listen(int fd)
{
    struct sockaddr_storage addr = { 0 };
    socklen_t octets = sizeof(addr);
    struct srd_meet *meet;

    if (!srd_meet_wanted() || getsockname(fd, (struct sockaddr *)&addr, &octets))
        return NULL;
    meet = calloc(1, sizeof(*meet));
    if (!meet)
        return NULL;
    srd_addr_unmap(&addr);
    lock_init(&meet->lock, LOCK_SRD_MEET, "softrdma meeting");
    meet->addr = addr;
    meet->network = srd_meet_network(fd);
    list_init(&meet->visitors);
    list_init(&meet->offers);
    srd_source_init(&meet->source, &source_ops, -1);
    lock_acquire(&meet->lock);
    open_locked(meet);
    lock_release(&meet->lock);
    return meet;
}

void srd_meet_stop(struct srd_meet *meet)
{
    struct waiting *waiting;

    lock_acquire(&meet->lock);
    meet->error = 0;
    lock_release(&meet->lock);
    srd_source_remove(&meet->source);
    lock_acquire(&meet->lock);
    if (meet->source.fd >= 0)
        close_socket(meet->source.fd);
    meet->source.fd = -1;
    while (!list_empty(&meet->visitors))
        srd_close_foreign(
            dismiss_locked(meet, list_entry(meet->visitors.n.next, struct visitor, node)));
    while ((waiting = oldest_locked(meet)))
        drop_locked(meet, waiting);
    lock_release(&meet->lock);
}

void srd_meet_unref(struct srd_meet *meet)
{
    srd_source_unref(&meet->source);
}

/* --- calls of the connection manager ------------------------------------------------------------------------------ */

/* Reads all offers that have been sent until now. */
static void collect_locked(struct srd_meet *meet)
{
    struct list_node *next;

    for (int i = 0; i < BACKLOG && accept_locked(meet); i++)
        ;
    for (struct list_node *node = meet->visitors.n.next; node != &meet->visitors.n; node = next) {
        next = node->next;
        serve_locked(meet, list_entry(node, struct visitor, node));
    }
}

struct srd_share *srd_meet_claim(
    struct srd_meet *meet, const struct sockaddr *local, const struct sockaddr *peer)
{
    struct srd_share *share = NULL;
    struct waiting *waiting;
    int error;

    if (!meet)
        return NULL;
    lock_acquire(&meet->lock);
    collect_locked(meet);
    waiting = find_locked(meet, local, peer);
    if (waiting)
        unlist_locked(meet, waiting);
    lock_release(&meet->lock);
    if (!waiting)
        return NULL;
    error = srd_share_take(&waiting->offer.share, false, &share);
    if (error)
        refused_for(&waiting->offer.pair, error);
    free(waiting);
    return share;
}

void srd_meet_forget(
    struct srd_meet *meet, const struct sockaddr *local, const struct sockaddr *peer)
{
    struct waiting *waiting;

    if (!meet)
        return;
    lock_acquire(&meet->lock);
    if (meet->error && clock_now_ms() >= meet->again_ms)
        open_locked(meet);
    while ((waiting = find_locked(meet, local, peer)))
        drop_locked(meet, waiting);
    lock_release(&meet->lock);
}
