/* SPDX-License-Identifier: MIT */
/* exchange_port.c - the TCP ports that numbers of queue pairs name, and the event channel of all exchanges' ids. */
#include "softrdma/cm/exchange.h"

#include "util/fork.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { PORTS_TRIED = 64 };

static struct {
    struct lock lock;                           /* LOCK_SRD_DEVICE: held while the rest is made */
    struct rdma_event_channel *_Atomic channel; /* never destroyed */
    struct reactor_source source;
} hub = { .lock = LOCK_INIT(LOCK_SRD_DEVICE, "softrdma exchange") };

static void forked(void)
{
    lock_init(&hub.lock, LOCK_SRD_DEVICE, "softrdma exchange");
    atomic_store_explicit(&hub.channel, NULL, memory_order_relaxed);
}

FORK_CHILD(forked);

/* Handles an event, if one is there: destroying an id removes its events. */
static void on_run(struct reactor_source *source, enum reactor_how how)
{
    struct rdma_cm_event *event;

    (void)source, (void)how;
    if (!srd_get_cm_event(srd_exchange_channel(), &event))
        srd_exchange_event(event);
}

static const struct reactor_source_ops hub_ops = { .run = on_run };

/* Makes the channel, unless it is there. The lock is held. Returns 0 or a positive errno. */
static int open_hub(void)
{
    struct rdma_event_channel *channel;
    int error;

    if (atomic_load_explicit(&hub.channel, memory_order_relaxed))
        return 0;
    channel = srd_create_event_channel();
    if (!channel)
        return errno;
    fcntl(channel->fd, F_SETFL, O_NONBLOCK);
    reactor_source_init(&hub.source, &hub_ops, -1);
    error = -reactor_add(&hub.source, 0);
    if (error) {
        srd_destroy_event_channel(channel);
        return error;
    }
    srd_evq_attach(&((struct srd_event_channel *)channel)->q, &hub.source);
    atomic_store_explicit(&hub.channel, channel, memory_order_release);
    return 0;
}

struct rdma_event_channel *srd_exchange_channel(void)
{
    return atomic_load_explicit(&hub.channel, memory_order_acquire);
}

/* Returns an id that is bound to a port (number 0: any); NULL with errno. */
static struct rdma_cm_id *bind_port(uint16_t number)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(number) };
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(number) };
    struct rdma_cm_id *id;
    int error;

    if (srd_create_id(srd_exchange_channel(), &id, NULL, RDMA_PS_TCP))
        return NULL;
    if (!srd_bind_addr(id, (struct sockaddr *)&six))
        return id;
    if ((errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL) && /* the host has no IPv6 */
        !srd_bind_addr(id, (struct sockaddr *)&four))
        return id;
    error = errno;
    srd_destroy_id(id);
    errno = error;
    return NULL;
}

/* Whether a queue pair's number may begin with a port's. */
static bool fits(uint16_t number)
{
    return number >= SRD_QP_PORT_MIN;
}

/* Binds the port that the system chooses, or a random one that fits. Returns 0 or a positive errno. */
static int find_port(struct rdma_cm_id **out)
{
    uint16_t number = 0;

    for (int i = 0; i < PORTS_TRIED; i++) {
        struct rdma_cm_id *id = bind_port(number);

        if (id && fits(ntohs(srd_get_src_port(id)))) {
            *out = id;
            return 0;
        }
        if (id)
            srd_destroy_id(id);
        else if (errno != EADDRINUSE)
            return errno;
        if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
            return errno;
        number |= SRD_QP_PORT_MIN;
    }
    return EADDRINUSE;
}

static int add_port(struct srd_device *device)
{
    struct srd_exchange_port *port = calloc(1, sizeof(*port));
    int error;

    if (!port)
        return ENOMEM;
    error = find_port(&port->id);
    if (error) {
        free(port);
        return error;
    }
    port->base.number = ntohs(srd_get_src_port(port->id));
    srd_device_add_port(device, &port->base);
    return 0;
}

int srd_exchange_join(struct srd_qp *qp, struct srd_exchange_port **port)
{
    struct srd_qp_port *joined;
    int error;

    lock_acquire(&hub.lock);
    error = open_hub();
    lock_release(&hub.lock);
    while (!error && !(joined = srd_device_join_port(qp)))
        error = add_port(srd_device_of(qp->qp.context));
    if (error)
        log_write(LOG_INFO, LOG_CM, "no TCP port for a queue pair's number: %s", strerror(error));
    else
        *port = (struct srd_exchange_port *)joined;
    return error;
}

void srd_exchange_leave(struct srd_device *device, struct srd_exchange_port *port)
{
    if (!srd_device_leave_port(device, &port->base))
        return;
    srd_destroy_id(port->id);
    free(port);
}

static bool is_listening(struct srd_id *id)
{
    bool listening;

    lock_acquire(&id->lock);
    listening = id->state == SRD_ID_LISTEN;
    lock_release(&id->lock);
    return listening;
}

int srd_exchange_listen(struct srd_exchange_port *port)
{
    struct srd_id *id = srd_id_from(port->id);
    int error = 0;

    if (!is_listening(id) && srd_listen(port->id, 0)) {
        error = errno;
        if (is_listening(id)) /* another thread was faster */
            error = 0;
    }
    return error;
}
