/* SPDX-License-Identifier: MIT */
/*
 * core_fake.h - a device and a sink that the test plays, under real core objects.
 *
 * The device keeps what is posted; the test says when a request completes and how. The sink keeps count of what was
 * started and completed, and aborts the test where a completion comes twice.
 */
#ifndef TESTS_UNIT_NDSPI_CORE_FAKE_H
#define TESTS_UNIT_NDSPI_CORE_FAKE_H

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/memory/mr.h"
#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/queue/srq.h"
#include "tests/support/spec_codes.h"

enum { FAKE_QUEUE = 256 };

struct fake_cq {
    struct ibv_cq ibv; /* first */
    struct ibv_wc entries[FAKE_QUEUE];
    unsigned count;
    bool armed, armed_solicited_only, event;
    unsigned armings;
    void (*before_arming)(
        void *context); /* happens once, just before the next arming takes effect */
    void *before_arming_context;
};

struct fake_request {
    uint64_t wr_id;
    enum ibv_wr_opcode opcode;
    unsigned send_flags;
    int num_sge;
    struct ibv_sge first_sge, second_sge;
    uint8_t data[64]; /* of an inline request, as it was when it was posted */
    uint32_t invalidate_rkey;
    uint64_t remote; /* of a Read or Write */
    struct {         /* a Bind */
        struct ibv_mw *mw;
        struct ibv_mr *mr;
        uint32_t old_rkey, rkey;
        uint64_t addr, length;
        unsigned access;
    } bind;
    struct nd_fast_reg
        fast; /* a fast registration (FAKE_FAST_REG), its pages not to be looked at */
};
enum { FAKE_FAST_REG = 1000 }; /* in place of an opcode */

struct fake_queue {
    struct fake_request requests[FAKE_QUEUE];
    unsigned count;
    unsigned depth; /* of a send queue; further posts return ENOMEM */
};

struct fake_qp {
    struct ibv_qp ibv; /* first */
    struct fake_queue send, receive;
};

struct fake_srq {
    struct ibv_srq ibv; /* first */
    struct fake_queue receive;
    uint32_t limit, depth;
};

/* One device at a time. */
struct fake_device {
    int post_error;                 /* what the next posts return ... */
    unsigned taken;                 /* ... after they took so many requests */
    int wake_error;                 /* what posts that took all return */
    bool refuse_once;               /* and that is over then */
    unsigned post_calls;            /* of either kind */
    struct nd_cq *complete_at_once; /* Sends end when they are posted, there; from any thread */
    int dereg_error, reg_error, qp_error;
    int poll_error;              /* what polling an empty completion queue returns */
    bool marks;                  /* fake_device_marks */
    uint32_t cq_most, srq_most;  /* deeper queues are refused; 0: none is */
    int access;                  /* of the last registration */
    uint64_t iova;               /* of the last one under an address of its own */
    void (*before_dereg)(void);  /* happens once */
    void (*during_error)(void);  /* the same, while a queue pair goes to the error state */
    void (*before_resize)(void); /* the same, before a completion queue gets its new size */
    void (*before_limit)(uint32_t limit); /* before that of a shared receive queue is set */
    unsigned objects;                     /* device objects that exist */
};
extern struct fake_device fake_device;

/* An adapter on the fake device with one application pin; fake_adapter_close checks that nothing is left. */
struct nd_adapter *fake_adapter_open(void);
struct nd_adapter *fake_adapter_open_v1(void);
struct nd_adapter *fake_adapter_open_kernel(void);
void fake_adapter_close(struct nd_adapter *adapter);
/* Puts a shim between the adapter, of which nothing was made yet, and the device; fake_adapter_close takes it away. */
void fake_adapter_shim(struct nd_adapter *adapter, nd_quirk_set quirks);
/* Whether completion queues made from now on mark solicited Receives. */
void fake_device_marks(bool marks);

/* The sink: each OVERLAPPED's Internal has its status. */
struct fake_sink_counts {
    unsigned reserved, started, completed;
    bool no_memory; /* for a request more */
    /* called when a request ends, like a client's thread; NULL: none */
    void (*on_complete)(OVERLAPPED *overlapped);
    OVERLAPPED *order[64]; /* of completion */
};
extern struct fake_sink_counts fake_sink_counts;
extern const struct nd_sink fake_sink;
struct nd_sink_file *fake_file(void);
void fake_file_open(void);  /* once, before anything is made on it; fake_adapter_open does */
void fake_file_close(void); /* its last handle */
unsigned fake_file_pins(void);

/*
 * Runs call in a thread of its own; returns once that thread has ended or sleeps, for a lock that the caller holds.
 * Joined by fake_thread_join. One at a time.
 */
void fake_thread_run(void (*call)(void));
void fake_thread_join(void);

struct fake_cq *fake_cq_of(struct nd_cq *cq);
struct fake_qp *fake_qp_of(struct nd_qp *qp);
struct fake_srq *fake_srq_of(struct nd_srq *srq);

/* A completion becomes visible in the device's queue; raises the event when armed for it. */
void fake_cq_push(struct nd_cq *cq, const struct ibv_wc *wc, bool solicited);
/* Delivers the device's event, if there is one, as the adapter's run does. */
bool fake_cq_deliver(struct nd_cq *cq);

/*
 * Completes the oldest count requests of a queue: signaled or failed ones get a completion, the others only go.
 */
void fake_complete(struct nd_cq *cq, struct fake_queue *queue, struct ibv_qp *qp, unsigned count,
    enum ibv_wc_status status);

/* Core objects around which nothing is; destroyed with their last pin. A queue pair is the context of its results. */
struct nd_cq *fake_make_cq(struct nd_adapter *adapter, uint32_t depth);
struct nd_qp *fake_make_qp_of(struct nd_adapter *adapter, const struct nd_qp_params *params);
struct nd_qp *fake_make_qp(
    struct nd_adapter *adapter, struct nd_cq *cq, struct nd_srq *srq, uint32_t depth);
struct nd_srq *fake_make_srq(struct nd_adapter *adapter, uint32_t depth, uint32_t threshold);
struct nd_mr *fake_make_mr(struct nd_adapter *adapter);
struct nd_mw *fake_make_mw(struct nd_adapter *adapter);

#endif
