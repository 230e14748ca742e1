/* SPDX-License-Identifier: MIT */
/* fake_internal.h - what the files of the fake device share. */
#ifndef TESTS_SUPPORT_FAKE_INTERNAL_H
#define TESTS_SUPPORT_FAKE_INTERNAL_H

#include "tests/support/fake_device.h"

#include "util/pause.h"

#include <stdatomic.h>

enum { FAKE_QUEUE_MAX = 4096, FAKE_CQ_MAX = 65536, FAKE_SGE_MAX = 4, FAKE_EVENTS_MAX = 64 };

struct fake_state {
    enum fake_mode mode;
    _Atomic bool removed;
    bool no_answer;
    unsigned silent_neighbours;
    unsigned taken_ports;
    unsigned connects; /* calls of rdma_connect */
    unsigned short bound_port_be;
    unsigned live;
    unsigned async_unacked;
    struct ibv_context *context; /* the one opened last, while open */
    int error[FAKE_CALLS];       /* errno with which a call fails; 0: it works */
    enum ibv_port_state port_state;
    uint8_t link_layer;
    bool memory_lock;
    int read_sge;
    unsigned send_entries; /* of all requests of a send queue together; 0: any */
};

extern struct fake_state fake;
extern atomic_flag fake_lock_word;

/* One lock for everything; inline, so that a count of instructions has its cost with the device's. */
static inline void fake_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&fake_lock_word, memory_order_acquire))
        processor_pause();
}

static inline void fake_unlock(void)
{
    atomic_flag_clear_explicit(&fake_lock_word, memory_order_release);
}

/* Whether the device was removed; sets errno then. */
bool fake_gone(void);
/* Whether the device was removed or fake_break broke the call; sets errno then. */
bool fake_fails(enum fake_call call);

_Noreturn void fake_abort(const char *what);

/* Objects of the device: counted, zeroed. Never NULL. */
void *fake_new(size_t octets);
void fake_free(void *object);
/* For a queue of events: readable while one is in it. Never -1. */
int fake_descriptor(void);

/* The context of every id. */
struct ibv_context *fake_cm_context(void);

/* An asynchronous event of the device opened last. */
void fake_async_raise(const struct ibv_async_event *event);

struct fake_cq {
    struct ibv_cq cq;
    struct fake_cq *older;
    struct ibv_wc *entries;
    unsigned size, head, count, users;
    bool armed, solicited_only, dead;
    uint32_t events; /* delivered by get_cq_event */
};

/* A completion arrives; fires when armed for it. The lock is held. */
void fake_cq_push_locked(struct fake_cq *cq, const struct ibv_wc *wc);

/* The calls that libibverbs finds in a context. */
int fake_poll_cq(struct ibv_cq *ibv_cq, int num_entries, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only);
int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
