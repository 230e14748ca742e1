/* SPDX-License-Identifier: MIT */
/*
 * ndk_end.h - one end of a connection through NDKPI, the kernel flavour, for test programs that are about something
 * else than making one. Public interfaces only.
 */
#ifndef TESTS_SUPPORT_NDK_END_H
#define TESTS_SUPPORT_NDK_END_H

#include <ndkl.h>
#include <ndkwdm.h>

#include <netinet/in.h>

/* A wait ends after NDK_END_WAIT_MS, with STATUS_PENDING. */
enum { NDK_END_WAIT_MS = 20000, NDK_END_READ_LIMIT = 8 };

struct ndk_end_options {
    ULONG depth; /* of either queue of the queue pair; the completion queue is twice as deep */
    SIZE_T memory_octets; /* one region of so much, page by page, with all rights */
    ULONG inline_octets;
    ULONG local_be,
        peer_be; /* IPv4 addresses, network order, 0: 127.0.0.1; peer_be: to connect to */
};

/* A function that one callback ends: a request, a creation, a close. */
struct ndk_end_wait {
    KEVENT event; /* auto-reset */
    NTSTATUS status;
    NDK_OBJECT_HEADER *object;
};

struct ndk_end {
    NDK_ADAPTER *adapter;
    NDK_PD *pd;
    NDK_CQ *cq; /* of both queues */
    NDK_QP *qp;
    NDK_CONNECTOR *connector; /* passive end: from the request on */
    NDK_LISTENER *listener;   /* passive end */
    NDK_MR *mr;
    struct ndk_end_wait call;     /* of the request under way */
    struct ndk_end_wait notified; /* of the completion queue */
    struct ndk_end_wait incoming; /* of the listener */
    struct ndk_end_wait left;     /* passive end: of the peer's disconnect */
    unsigned char *memory;
    SIZE_T memory_octets;
    UINT32 token, remote_token; /* of memory */
    ULONG local_be, peer_be;
    const char *step; /* the step a failed call of this file was at */
};

/* The interface that has an IPv4 address, network order; 0: none. */
NET_IFINDEX ndk_end_interface(ULONG address_be);

/* A call that may end by its callback: how it ended; STATUS_PENDING if it hangs. */
void ndk_end_wait_begin(struct ndk_end_wait *wait);
NTSTATUS ndk_end_wait_for(struct ndk_end_wait *wait, NTSTATUS status);
/* The callbacks; the context is a struct ndk_end_wait. */
VOID ndk_end_requested(PVOID context, NTSTATUS status);
VOID ndk_end_created(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object);
VOID ndk_end_closed(PVOID context);

/* All of these return STATUS_SUCCESS, or the code of the step that failed, named in end->step. */

/* Opens the adapter of local_be, version 2.1 or what it has, and makes everything but the connection. */
NTSTATUS ndk_end_open(struct ndk_end *end, const struct ndk_end_options *options);

/* Active side: connects to port (network order) of peer_be. */
NTSTATUS ndk_end_connect(struct ndk_end *end, USHORT port_be);

/* Passive side: listens on a port of the system's choice, then takes one connection. */
NTSTATUS ndk_end_listen(struct ndk_end *end, USHORT *port_be);
NTSTATUS ndk_end_request(struct ndk_end *end);
NTSTATUS ndk_end_accept(struct ndk_end *end);

/* Both ends are open, in this process: connects active to passive. The step of a failure is in the end that failed. */
NTSTATUS ndk_end_join(struct ndk_end *active, struct ndk_end *passive);

/* Closes everything, in any state. */
void ndk_end_close(struct ndk_end *end);

/* Posts, on a part of the region. */
NTSTATUS ndk_end_send(
    struct ndk_end *end, void *context, SIZE_T offset, SIZE_T octets, ULONG flags);
NTSTATUS ndk_end_receive(struct ndk_end *end, void *context, SIZE_T offset, SIZE_T octets);

/* A region for fast registration of this many pages, which peers may reach; the caller closes it. */
NTSTATUS ndk_end_fast_region(struct ndk_end *end, ULONG pages, NDK_MR **mr);
/* The logical addresses of so many pages of memory; the caller releases the mapping, then frees it. */
NTSTATUS ndk_end_map(
    struct ndk_end *end, void *memory, ULONG pages, NDK_LOGICAL_ADDRESS_MAPPING **mapping);

/* Sleeps (NdkArmCq) until count results are there. Returns how many of them came within the time. */
unsigned ndk_end_results(
    struct ndk_end *end, NDK_RESULT_EX *results, unsigned count, unsigned timeout_ms);

#endif
