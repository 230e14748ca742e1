/* SPDX-License-Identifier: MIT */
/*
 * id.h - connection manager: one rdma_cm_id, its state and its events.
 *
 *   active    IDLE -> BOUND -> ADDR -> ROUTE -> CONNECTING -> REQUEST_SENT -> RESPONSE -> CONNECTED -> OVER
 *   passive   INCOMING (not shown yet) -> REQUEST -> ACCEPTED -> CONNECTED -> OVER
 *   listening IDLE -> BOUND -> LISTEN
 *
 * The id's lock (LOCK_SRD_CM) guards everything here but refs; it is also its connection's owner_lock. The program has
 * a reference, and so have the id's connection, its listening source, and the list or event that has an incoming id. A
 * destroyed id stays in memory until all references are dropped, and posts no more events.
 */
#ifndef SOFTRDMA_CM_ID_H
#define SOFTRDMA_CM_ID_H

#include "softrdma/device/addr.h"
#include "softrdma/cm/meet.h"
#include "softrdma/connection/conn.h"
#include "softrdma/count.h"
#include "softrdma/device/device.h"

enum srd_id_state {
    SRD_ID_IDLE,
    SRD_ID_BOUND,
    SRD_ID_ADDR,
    SRD_ID_ROUTE,
    SRD_ID_LISTEN,
    SRD_ID_CONNECTING,   /* TCP connects */
    SRD_ID_REQUEST_SENT, /* the MPA Request is sent */
    SRD_ID_RESPONSE,     /* an accepting Reply is received, and nothing is sent since */
    SRD_ID_INCOMING,     /* it waits for the MPA Request */
    SRD_ID_REQUEST,      /* the program has the Request, or is about to have it */
    SRD_ID_ACCEPTED,     /* the Reply is sent; it waits for the first FPDU */
    SRD_ID_CONNECTED,
    SRD_ID_OVER,
};

/* InfiniBand's limits of private data, so that programs for this device also work on InfiniBand. */
enum { SRD_CM_CONNECT_PRIVATE = 56, SRD_CM_ACCEPT_PRIVATE = 148, SRD_CM_REJECT_PRIVATE = 148 };
/* Reasons of REJECTED, InfiniBand's numbers: no listener; the program on the other side rejected. */
enum { SRD_CM_NO_LISTENER = 8, SRD_CM_CONSUMER = 28 };
enum { SRD_CM_PORTS_TRIED = 8 }; /* most ports tried for a connection if the program names none */
enum { SRD_CM_RETRY_MS = 5 };    /* time between attempts with NDSPI_SOFT_PATIENCE_MS */
/* How long an answer may take, as with drivers of iWARP cards, and with InfiniBand's connection manager. */
enum { SRD_CM_ANSWER_MS = 60000 };
/*
 * A TCP peer has SRD_CM_REQUEST_MS for its Request. If more than SRD_CM_HALF_OPEN_MAX take their time, a listener drops
 * the oldest that has had SRD_CM_HALF_OPEN_MS; if more than SRD_CM_HALF_OPEN_FULL do, the oldest in any case.
 */
enum {
    SRD_CM_REQUEST_MS = 5000,
    SRD_CM_HALF_OPEN_MAX = 128,
    SRD_CM_HALF_OPEN_MS = 500,
    SRD_CM_HALF_OPEN_FULL = 1024,
    SRD_CM_BACKLOG_MAX = 1024
};

struct srd_event_channel {
    struct rdma_event_channel ibv; /* must be first */
    uint8_t padding[128];
    struct srd_evq q;
};

/*
 * librdmacm's rsockets read beyond the public struct of their ids: this is the beginning of what they expect there
 * (struct cma_id_private, unchanged since librdmacm 1.0.15).
 */
struct srd_id_tail {
    void *cma_dev, *connect;
    size_t connect_len;
    int events_completed, connect_error;
    /* the id was made without an event channel: it has one of its own, and calls wait for their event */
    int sync;
    uint8_t padding[472];
};

struct srd_cm_event {
    struct rdma_cm_event ibv; /* must be first */
    uint8_t padding[128];
    struct list_node node;
    struct srd_id *owner; /* the id that gets the event and counts it: a request's listener */
    /* the id that contains this record, referenced while the record is used; NULL: it was allocated */
    struct srd_id *record;
    uint8_t private_data[256];
};

/*
 * The unsolicited events of an id: its request, the end of the attempt, the end of the connection. The id contains
 * their records, so the program gets an end that it waits for even without free memory.
 */
enum { SRD_CM_RECORDS = 3 };

/* The timeouts of a queue pair, in the form of IBV_QP_TIMEOUT. */
enum { SRD_CM_ACK_TIMEOUT = 14, SRD_CM_ACK_TIMEOUT_MAX = 31 };

struct srd_id {
    struct rdma_cm_id ibv; /* must be first */
    struct srd_id_tail tail;
    struct lock lock;
    atomic_uint refs;
    unsigned generation;
    enum srd_id_state state;
    bool destroyed;
    bool was_connected;
    bool reuse_addr, af_only;
    /* the program names no port, so another may be chosen until the connection is made */
    bool any_port;
    uint8_t tos;
    uint8_t ack_timeout;       /* 5 bits; for queries alone: TCP has its own timeouts */
    struct srd_device *device; /* NULL: it is not bound to a device */
    int fd;                    /* the bound socket, until conn or source has it; -1: none */
    struct srd_conn *conn;
    struct srd_count unacked; /* number of events that are fetched and not acknowledged */
    struct srd_cm_event records[SRD_CM_RECORDS];
    atomic_bool record_used[SRD_CM_RECORDS];

    /* the connection being made */
    /* the time until which connect retries an address without a listener; clock_now_ms() */
    uint64_t retry_until_ms;
    bool again;     /* the next attempt is made at the connection's deadline */
    uint64_t order; /* number of the call of connect; order.c */
    struct list_node order_node;
    uint64_t answer_by_ms; /* the time at which the wait for the Reply ends */
    uint32_t qp_num;
    uint8_t revision;
    bool unreported; /* the id established itself; ESTABLISHED is reported when the RTR is sent */
    struct srd_mpa_local local;
    struct srd_mpa_frame *request, *reply; /* one allocation; NULL once established */
    /* the offered or taken memory; conn has it once both ends are certain to use it; NULL: none */
    struct srd_share *share;
    struct srd_stream_params params;
    uint8_t rnr_retries;      /* rnr_retry_count of the program's connect or accept; 7 before */
    struct srd_qp *exchanged; /* the queue pair of exchange.c; NULL: the id is the program's */

    /* listening */
    struct srd_source source;
    bool listening; /* source is in use */
    /* takes its peers' offers of memory; set before it listens, kept until it is freed; NULL: takes none */
    struct srd_meet *meet;
    /* attributes of srd_create_ep for queue pairs of requests; NULL: none */
    struct ibv_qp_init_attr *child_attr;
    atomic_bool paused;
    int backlog, queued;
    struct list_head half_open;
    int n_half_open;

    /* incoming */
    struct srd_id *listener; /* referenced until the request is reported */
    struct list_node half_open_node;
    uint64_t arrived_ms; /* clock_now_ms() */
    bool reported;       /* the program has fetched the request */
    bool peer_gone;      /* the peer went away before the request was answered */
    bool may_speak; /* it may send before the first FPDU, once NDSPI_SOFT_SPEAK_MS have passed */
    struct list_node awaited_node; /* place in the list of srd_id_await, whose lock guards it */
};

static inline struct srd_id *srd_id_from(struct rdma_cm_id *id)
{
    return (struct srd_id *)id;
}

/* id.c */
struct srd_id *srd_id_new(struct rdma_event_channel *channel, void *context);
void srd_id_ref(struct srd_id *id);
void srd_id_unref(struct srd_id *id);
/* Frees the startup frames once the connection is established and reported. */
void srd_id_forget_frames_locked(struct srd_id *id);
/* Frees the share, since the connection stays on TCP, or ends before it began. */
void srd_id_drop_share_locked(struct srd_id *id);
/* Takes id->lock for a call of the program; false with errno EIO in the child of a fork. */
bool srd_id_enter(struct rdma_cm_id *id);
/* Drops the lock. Returns 0, or -1 with errno from a positive error. */
int srd_id_leave(struct rdma_cm_id *id, int error);

/*
 * The ids that have accepted and wait for their peer's first FPDU.
 * srd_id_await        puts id on the list
 * srd_id_await_ended  takes it off, if it is there. A freed id leaves by itself
 * srd_id_awaited      returns the number of ids whose sockets are readable, and a reference to each: the last ones, the
 *                     longest waiting first
 * ids                 out: at most SRD_CM_AWAITED_MAX
 * Any lock below LOCK_SRD_CHANNEL may be held.
 */
enum { SRD_CM_AWAITED_MAX = 32 };
void srd_id_await(struct srd_id *id);
void srd_id_await_ended(struct srd_id *id);
int srd_id_awaited(struct srd_id *ids[SRD_CM_AWAITED_MAX]);

/*
 * srd_id_refuse_locked  refuses a request with a Reply
 * srd_id_abandon        ends an id that the program has not seen: rejects its request, if it has one, and drops the
 *                       program's reference. No lock held.
 */
void srd_id_refuse_locked(struct srd_id *id, const void *private_data, uint8_t octets);
void srd_id_abandon(struct srd_id *id);

/*
 * event.c
 * srd_cm_event_record       makes an event in one of the id's records; it cannot fail. The parameters are frame's
 *                           (NULL: none), with the limits swapped to the local view
 * srd_cm_event_alloc        makes an event for a call that can be made any number of times (resolving); NULL: no memory
 * srd_cm_event_free         takes back an event that was not posted, or was acknowledged. No lock held
 * srd_cm_post_locked        queues an event; the owner's lock is held
 * srd_cm_post_event_locked  makes an event in a record and queues it; does nothing once the id is destroyed
 */
struct srd_cm_event *srd_cm_event_record(
    struct srd_id *id, enum rdma_cm_event_type type, int status, const struct srd_mpa_frame *frame);
struct srd_cm_event *srd_cm_event_alloc(struct srd_id *id);
void srd_cm_event_free(struct srd_cm_event *event);
void srd_cm_post_locked(struct srd_id *owner, struct srd_cm_event *event);
void srd_cm_post_event_locked(
    struct srd_id *id, enum rdma_cm_event_type type, int status, const struct srd_mpa_frame *frame);
/* Posts REJECTED if the peer has closed and the program has fetched the request. */
void srd_cm_post_gone_locked(struct srd_id *id);
/* Removes the queued events of an id that is being destroyed; abandons the ids of requests among them. No lock held. */
void srd_cm_drop_events(struct srd_id *id);
/* Acknowledges the event kept last (srd_id_complete). */
void srd_id_forget_event(struct rdma_cm_id *ibv);

/*
 * srd_id_complete - ends a call that succeeded (result 0): if the id has no event channel of the program's, waits for
 * the call's event and keeps it in ibv.event. Returns result as it is if the id has such a channel; else 0, or -1 with
 * errno from the event's status (ECONNREFUSED for REJECTED). No lock held.
 */
int srd_id_complete(struct rdma_cm_id *ibv, int result);

/* Both sides have these in their srd_conn_owner_ops. */
void srd_id_on_established(void *owner, struct srd_conn *conn);
void srd_id_on_down(void *owner, struct srd_conn *conn, int status);
void srd_id_on_unref(void *owner);

/* addr.c */
/*
 * Binds a socket to addr; sets the id's source address and, if that is concrete, its device. Returns 0 or a positive
 * errno.
 */
int srd_id_bind_locked(struct srd_id *id, const struct sockaddr *addr);
void srd_id_set_device_locked(struct srd_id *id, struct srd_device *device);
/*
 * Logs that no descriptor is left for a connection, and the limit; does nothing for other errors.
 * what  "accept", "open a socket"
 */
void srd_cm_report_files(const char *what, int error);
/* Sets the options of a connected socket. */
void srd_cm_tune(int fd);
/* Whether to ask for CRC, also of softrdma peers (NDSPI_SOFT_CRC=1). It is always used when the peer asks. */
bool srd_cm_crc(void);
/* Returns how long connect retries an address without a listener (NDSPI_SOFT_PATIENCE_MS=N); 0, the default: not. */
unsigned srd_cm_retry_ms(void);
/*
 * Returns how long a responder waits for the first FPDU if its initiator announced no ready-to-receive frame
 * (NDSPI_SOFT_SPEAK_MS=N); then it is established and may send. 0, the default: it does not send before the first FPDU,
 * as RFC 5044 section 7.1.2 demands.
 */
unsigned srd_cm_first_fpdu_ms(void);
/*
 * Returns when a wait that begins now ends, of a Request for its Reply, or of a Reply for the first FPDU
 * (NDSPI_SOFT_ANSWER_MS=N; default SRD_CM_ANSWER_MS; 0: no limit); clock_now_ms() units; UINT64_MAX: never.
 */
uint64_t srd_cm_answer_deadline_ms(void);

/*
 * qp.c: makes the state changes that librdmacm makes for a queue pair on the id. The lock may be held. Returns 0 or a
 * positive errno.
 */
int srd_id_qp_ready(struct srd_id *id);
/* Takes the queue pair number from a call's parameters. Returns 0 or EINVAL. */
int srd_id_pick_qp_locked(struct srd_id *id, const struct rdma_conn_param *param);
/* Takes the read limits from a call's parameters (NULL: the most). Returns 0, or EINVAL: above the device's. */
int srd_id_pick_limits_locked(struct srd_id *id, const struct rdma_conn_param *param);
uint32_t srd_id_fpdu_octets(const struct srd_id *id);
/* Completes id->params before the connection is attached. */
void srd_id_complete_params_locked(struct srd_id *id);

/*
 * passive.c
 * srd_passive_ready_locked  goes on with a connection in startup. Returns actions for srd_conn_started
 * srd_passive_report        reports a complete request to the listener's program, or refuses it. No lock held
 * srd_passive_request       reports a request, after those of connections that came shortly before. No lock held
 */
unsigned srd_passive_ready_locked(struct srd_id *id);
void srd_passive_report(struct srd_id *id);
void srd_passive_request(struct srd_id *id);
extern const struct srd_conn_owner_ops srd_passive_conn_ops;

/*
 * active.c
 * Takes back an attempt whose Request is not sent. False: it was sent, and the peer's answer counts.
 */
bool srd_id_withdraw(struct rdma_cm_id *ibv);

/* listen.c */
void srd_listen_stop(struct srd_id *id); /* no lock held */

#endif
