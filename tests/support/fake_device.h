/* SPDX-License-Identifier: MIT */
/*
 * fake_device.h - an RDMA device without a network, in place of libibverbs and librdmacm.
 *
 * The object library fake_device defines the ibv_* and rdma_* functions that libndspi takes from
 * the system, without versions; linked into an executable that exports its symbols, they win over
 * the shared libraries' ones, so the very libndspi.so that is installed runs on this device. (Set
 * NDSPI_DEVICE=fake0.)
 *
 * One device, fake0, one port, the address 127.0.0.1. The device answers the active side of a connection at once;
 * fake_request makes a request for a listener. It transports nothing: requests end as this header's functions say.
 *
 * It enforces the rules of verbs: a program aborts if it uses up events without acknowledging them, or destroys an
 * object in use. Threads: any.
 */
#ifndef TESTS_SUPPORT_FAKE_DEVICE_H
#define TESTS_SUPPORT_FAKE_DEVICE_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#define FAKE_DEVICE_NAME "fake0"

/* How posted requests end. */
enum fake_mode {
    FAKE_IMMEDIATE, /* each post leaves one completion, status SUCCESS */
    FAKE_HOLD,      /* they wait for fake_complete, or for the queue pair's error state */
};

void fake_set_mode(enum fake_mode mode);

/*
 * fake_complete - end the oldest held request of a queue.
 * qp_num    in: the queue pair; 0: the one created last
 * receive   in: its receive queue, else its send queue
 * status    in: other than SUCCESS moves the queue pair to the error state after it, and flushes the rest
 * byte_len  in: of a receive
 * In a failed completion all members but wr_id, status, vendor_err and qp_num are filled with 0xee. Returns whether a
 * request was held.
 */
bool fake_complete(uint32_t qp_num, bool receive, enum ibv_wc_status status, uint32_t byte_len);

/* Requests held by the queue. */
unsigned fake_held(uint32_t qp_num, bool receive);

/* Raises an asynchronous event of the device. */
void fake_raise_device_fatal(void);
/* Raises an asynchronous event of the completion queue created last (IBV_EVENT_CQ_ERR: it yields no more). */
void fake_raise_cq_error(void);

/* From now on posts, registrations and creations fail with EIO. fake_reset undoes it. */
void fake_remove(void);
/* RDMA_CM_EVENT_DEVICE_REMOVAL for every id. */
void fake_raise_removal(void);

/* A connection event for the id created last, e.g. RDMA_CM_EVENT_DISCONNECTED. */
void fake_raise_cm(enum rdma_cm_event_type event, int status);
/*
 * A connection request for the first id that listens, from a port above that of the one before. False when none does.
 */
bool fake_request(void);
/* Whether rdma_connect, rdma_accept and rdma_disconnect are answered (default) or left without an answer. */
void fake_set_answer(bool answer);
/* How many of the next calls of rdma_resolve_addr time out. */
void fake_set_silent_neighbours(unsigned times);
/* How many of the next calls of rdma_connect fail with EADDRNOTAVAIL: the port does not lead to the peer. */
void fake_set_taken_ports(unsigned times);
/* How often rdma_connect has been called and did not fail so. */
unsigned fake_connects(void);
/* The port, network order, that rdma_bind_addr was asked for last. */
unsigned short fake_bound_port_be(void);

/* Objects of verbs and of the connection manager that live: 0 after everything was released. */
unsigned fake_live(void);

/* Control calls that can be made to fail. */
enum fake_call {
    FAKE_OPEN_DEVICE,
    FAKE_CREATE_QP,
    FAKE_REG_MR,
    FAKE_CREATE_EVENT_CHANNEL,
    FAKE_BIND_ADDR,
    FAKE_CONNECT,
    FAKE_ACCEPT,
    FAKE_CALLS
};
/* From now on the call fails with this errno; 0: it works again. */
void fake_break(enum fake_call call, int error);
/* Sets the port's attributes; at the start it is active, on Ethernet. */
void fake_set_port(enum ibv_port_state state, uint8_t link_layer);
/* Entries that a Read takes; at the start as many as other requests do, 4. */
void fake_set_read_sge(int entries);
/*
 * How many entries all requests of a send queue may have together: in deeper queues each has fewer. 0, as at the start:
 * no limit.
 */
void fake_set_send_entries(unsigned entries);
/* Whether registrations count against RLIMIT_MEMLOCK, as the kernel does for a process without privileges. */
void fake_set_memory_lock(bool counts);

/* Back to the start: immediate mode, device present, answers given, nothing fails. */
void fake_reset(void);

#endif
