/* SPDX-License-Identifier: MIT */
/*
 * datapath.h - the usual Send, Receive and GetResults. datapath.c makes a function of each for each version.
 *
 * Usual: one entry, no flags; results polled straight from the device into the caller's array. Everything else takes
 * the general forms; see post.c and completion.c for the full semantics. Each call takes one lock; none allocates or
 * makes a system call of ours. The number of instructions is measured (tests/bench): look at the machine code after a
 * change. always_inline, since the compiler would count a tracing probe as many instructions.
 *
 * Version 1 lists ND_SGE, which name regions by handle; the address of the client's ND_RESULT identifies a request, and
 * GetResults fills it. The kernel flavour's lists have tokens of its facade in the place of keys: the queue keeps the
 * last one's key beside its own entry, and the usual list has one entry with that token. It has results of its own.
 */
#ifndef NDSPI_CORE_QUEUE_DATAPATH_H
#define NDSPI_CORE_QUEUE_DATAPATH_H

#include "ndspi/core/adapter/region_table.h"
#include "ndspi/core/dialect.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/queue/queue.h"

#include "util/probe.h"

#include <string.h>

_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(ND2_SGE) == sizeof(struct ibv_sge) &&
                       offsetof(ND2_SGE, Buffer) == offsetof(struct ibv_sge, addr) &&
                       offsetof(ND2_SGE, BufferLength) == offsetof(struct ibv_sge, length) &&
                       offsetof(ND2_SGE, MemoryRegionToken) == offsetof(struct ibv_sge, lkey)),
    "an ND2_SGE array is an ibv_sge array");
_Static_assert(sizeof(void *) != 8 || (sizeof(ND_SGE) == 24 && offsetof(ND_SGE, Length) == 8 &&
                                          sizeof(struct ibv_sge) == 16),
    "an ND_SGE begins as an ibv_sge does");
_Static_assert(sizeof(void *) != 8 ||
                   (ND_RESULT_SHORT == 24 && sizeof(struct nd_result) == 40 &&
                       offsetof(struct nd_result, token) == sizeof(ND2_RESULT) &&
                       offsetof(struct nd_result, vendor) == offsetof(struct nd_request, special) &&
                       offsetof(ND2_RESULT, RequestType) == ND_RESULT_SHORT &&
                       offsetof(ND2_RESULT, QueuePairContext) == 8 &&
                       offsetof(struct nd_result, qp_context) == 8),
    "both kinds of result begin alike");

/*
 * The rare exits of the functions below. All are tail calls, so no register is saved on the fast path.
 * send, receive  the general form, when the ring gave no record; drops the lock first
 * release        another thread waits for the lock; the count
 * count          none or several completions were polled (negative: the queue failed); how many results
 */
HRESULT nd_queue_send_full(
    struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags);
HRESULT nd_queue_receive_full(struct nd_queue *queue, void *context, const void *list, uint32_t n);
size_t nd_cq_results_count_v1(struct nd_cq_poll *poll, int polled);
unsigned nd_cq_results_count_v2(struct nd_cq_poll *poll, int polled);
unsigned nd_cq_results_count_kernel(struct nd_cq_poll *poll, int polled);
unsigned nd_cq_results_count_kernel_short(struct nd_cq_poll *poll, int polled);
unsigned nd_cq_results_release(struct nd_cq_poll *poll, unsigned count);

/* What the fast path needs of a list's one entry. */
struct nd_usual {
    uint64_t length;
    uint32_t token;
};

/*
 * Measures a list of one entry. Returns false if the general form has to decide. Each condition is a branch of its own:
 * the compiler would gather their values first.
 */
static inline __attribute__((always_inline)) bool nd_queue_usual(enum nd_dialect_index dialect,
    const struct nd_queue *queue, const void *list, struct nd_usual *usual)
{
    const ND_SGE *entry = list;

    if (ND_UNLIKELY(!list))
        return false;
    if (dialect == ND_V2) {
        usual->length = ((const ND2_SGE *)list)->BufferLength;
        return ND_LIKELY((uint32_t)usual->length <= (uint32_t)queue->max_length);
    }
    usual->length = entry->Length;
    return ND_LIKELY(usual->length <= queue->max_length) &&
           ND_LIKELY(nd_region_token(queue->regions, &entry->hMr, &usual->token));
}

/*
 * v1: where the device reads it; send_wr, recv_wr point there. Address and length lie alike in both structures where
 * pointers have 64 bits and the low half of a length comes first: then they are one move. Lock held.
 */
static inline void nd_queue_fill_locked(
    struct nd_queue *queue, const void *list, const struct nd_usual *usual)
{
    const ND_SGE *entry = list;

    if (sizeof(void *) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        memcpy(&queue->sge, entry, sizeof(queue->sge));
    } else {
        queue->sge.addr = (uintptr_t)entry->pAddr;
        queue->sge.length = (uint32_t)usual->length;
    }
    queue->sge.lkey = usual->token;
}

/* IND2QueuePair::Send, INDEndpoint::Send; context: v1: the ND_RESULT. */
static inline __attribute__((always_inline)) HRESULT nd_queue_send(enum nd_dialect_index dialect,
    struct nd_queue *queue, void *context, const void *list, size_t n, uint32_t flags)
{
    struct nd_usual usual = { 0 };
    struct nd_request *request;
    int error;

    if (dialect == ND_V2 ? ND_UNLIKELY(((uint32_t)n ^ 1) | flags) : ND_UNLIKELY(n != 1))
        return nd_queue_send_general(queue, context, list, nd_at_most(n), flags);
    if (dialect == ND_V1 && ND_UNLIKELY(flags))
        return nd_queue_send_general(queue, context, list, 1, flags);
    if ((dialect == ND_V1 && ND_UNLIKELY(!context)) ||
        !nd_queue_usual(dialect, queue, list, &usual) ||
        ND_UNLIKELY(!lock_acquire_quick(&queue->lock)))
        return nd_queue_send_general(queue, context, list, 1, flags);
    request = nd_queue_take_locked(queue);
    if (ND_UNLIKELY(!request))
        return nd_queue_send_full(queue, context, list, 1, flags);
    request->result.RequestContext = context;
    queue->octets += usual.length;
    PROBE4(post, queue, request, Nd2RequestTypeSend, usual.length);
    if (dialect == ND_V2) {
        queue->send_wr.sg_list = (struct ibv_sge *)(uintptr_t)list;
    } else {
        request->length = usual.length;
        nd_queue_fill_locked(queue, list, &usual);
    }
    request->kind_and_special = ND_KIND(Nd2RequestTypeSend);
    queue->send_wr.wr_id = (uintptr_t)request;
    error = queue->post_send(queue->ibv, &queue->send_wr, &queue->bad_send);
    if (ND_UNLIKELY(error))
        return nd_queue_refused_send(queue, queue->send_wr.wr_id, error);
    if (ND_UNLIKELY(!lock_release_quick(&queue->lock)))
        return nd_queue_release(queue);
    return ND_SUCCESS;
}

/* IND2QueuePair::Receive, INDEndpoint::Receive. */
static inline __attribute__((always_inline)) HRESULT nd_queue_receive(enum nd_dialect_index dialect,
    struct nd_queue *queue, void *context, const void *list, size_t n)
{
    struct nd_usual usual = { 0 };
    struct nd_request *request;
    int error;

    if (ND_UNLIKELY(n != 1))
        return nd_queue_receive_general(queue, context, list, nd_at_most(n));
    if ((dialect == ND_V1 && ND_UNLIKELY(!context)) ||
        !nd_queue_usual(dialect, queue, list, &usual) ||
        ND_UNLIKELY(!lock_acquire_quick(&queue->lock)))
        return nd_queue_receive_general(queue, context, list, 1);
    request = nd_queue_take_locked(queue);
    if (ND_UNLIKELY(!request))
        return nd_queue_receive_full(queue, context, list, 1);
    request->result.RequestContext = context;
    PROBE4(post, queue, request, Nd2RequestTypeReceive, usual.length);
    if (dialect == ND_V2)
        queue->recv_wr.sg_list = (struct ibv_sge *)(uintptr_t)list;
    else
        nd_queue_fill_locked(queue, list, &usual);
    queue->recv_wr.wr_id = (uintptr_t)request;
    error = queue->post_recv(queue->ibv, &queue->recv_wr, &queue->bad_recv);
    if (ND_UNLIKELY(error))
        return nd_queue_refused(queue, queue->recv_wr.wr_id, error);
    if (ND_UNLIKELY(!lock_release_quick(&queue->lock)))
        return nd_queue_release(queue);
    return ND_SUCCESS;
}

/*
 * The functions that a post of the kernel flavour tail-calls when a request is not usual; each is a constant.
 * other    nothing was done
 * locked   nothing was done but that the lock is held
 * refused  nd_queue_refused has to be called
 */
struct nd_kernel_exits {
    HRESULT(*other)
    (struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags);
    HRESULT(*locked)
    (struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags);
    HRESULT (*refused)(struct nd_queue *queue, uint64_t wr_id, int error);
};

/*
 * The usual list of the kernel flavour: n 1, no flags, and a token whose key the queue knows. sends: it is a Send's, a
 * constant. Returns the record, the lock held; NULL: the list goes to one of the exits, `locked` if *held.
 */
static inline __attribute__((always_inline)) struct nd_request *nd_queue_take_known(
    struct nd_queue *queue, const ND2_SGE *list, bool sends, bool *held)
{
    struct nd_request *request;
    uint32_t length;

    *held = false;
    if (ND_UNLIKELY(!list))
        return NULL;
    length = list->BufferLength;
    if (ND_UNLIKELY(length > (uint32_t)queue->max_length) ||
        ND_UNLIKELY(!lock_acquire_quick(&queue->lock)))
        return NULL;
    *held = true;
    if (ND_UNLIKELY(list->MemoryRegionToken != queue->known))
        return NULL;
    request = nd_queue_take_locked(queue);
    if (ND_UNLIKELY(!request))
        return NULL;
    queue->sge.addr = (uintptr_t)list->Buffer;
    queue->sge.length = length;
    PROBE4(post, queue, request, sends ? Nd2RequestTypeSend : Nd2RequestTypeReceive, length);
    if (sends)
        queue->octets += length;
    return request;
}

/* NdkSend; list: NDK_SGEs, which are ND2_SGEs with tokens in the place of keys. */
static inline __attribute__((always_inline)) HRESULT nd_queue_send_known(struct nd_queue *queue,
    void *context, const void *list, uint32_t n, uint32_t flags,
    const struct nd_kernel_exits *exits)
{
    struct nd_request *request;
    bool held;
    int error;

    if (ND_UNLIKELY((n ^ 1) | flags))
        return exits->other(queue, context, list, n, flags);
    request = nd_queue_take_known(queue, list, true, &held);
    if (ND_UNLIKELY(!request))
        return held ? exits->locked(queue, context, list, 1, 0)
                    : exits->other(queue, context, list, 1, 0);
    request->result.RequestContext = context;
    request->kind_and_special = ND_KIND(Nd2RequestTypeSend);
    request->operation = ND_OPERATION_SEND;
    queue->send_wr.wr_id = (uintptr_t)request;
    error = queue->post_send(queue->ibv, &queue->send_wr, &queue->bad_send);
    if (ND_UNLIKELY(error))
        return exits->refused(queue, queue->send_wr.wr_id, error);
    if (ND_UNLIKELY(!lock_release_quick(&queue->lock)))
        return nd_queue_release(queue);
    return ND_SUCCESS;
}

/* NdkReceive, with a list as in NdkSend. */
static inline __attribute__((always_inline)) HRESULT nd_queue_receive_known(struct nd_queue *queue,
    void *context, const void *list, uint32_t n, const struct nd_kernel_exits *exits)
{
    struct nd_request *request;
    bool held;
    int error;

    if (ND_UNLIKELY(n != 1))
        return exits->other(queue, context, list, n, 0);
    request = nd_queue_take_known(queue, list, false, &held);
    if (ND_UNLIKELY(!request))
        return held ? exits->locked(queue, context, list, 1, 0)
                    : exits->other(queue, context, list, 1, 0);
    request->result.RequestContext = context;
    queue->recv_wr.wr_id = (uintptr_t)request;
    error = queue->post_recv(queue->ibv, &queue->recv_wr, &queue->bad_recv);
    if (ND_UNLIKELY(error))
        return exits->refused(queue, queue->recv_wr.wr_id, error);
    if (ND_UNLIKELY(!lock_release_quick(&queue->lock)))
        return nd_queue_release(queue);
    return ND_SUCCESS;
}

/*
 * Stores one completion in the caller's slot, an ND2_RESULT; v1: a pointer. Returns false if it needs the general way:
 * nothing was done. CQ lock held. Only Receives report a peer's invalidation. In version 2 only their lengths have a
 * meaning, and testing the kind would cost more than it saves; in version 1 the other records have their own lengths.
 */
static inline __attribute__((always_inline)) bool nd_cq_translate_locked(
    enum nd_dialect_index dialect, const struct ibv_wc *wc, void *slot)
{
    struct nd_request *request = (struct nd_request *)(uintptr_t)wc->wr_id;
    struct nd_queue *queue;
    uint64_t octets;

    if (ND_UNLIKELY(
            (uint32_t)wc->status | request->special | (wc->wc_flags & (uint32_t)IBV_WC_WITH_INV)))
        return false;
    if (dialect == ND_V2) {
        ND2_RESULT *result = slot;

        *result = request->result;
        octets = wc->byte_len;
        result->BytesTransferred = (uint32_t)octets;
        queue = request->queue;
        queue->received += octets;
    } else {
        ND_RESULT *result = request->result.RequestContext;

        octets = wc->byte_len & request->wc_length;
        queue = request->queue;
        queue->received += octets;
        octets += request->length;
        result->Status = ND_SUCCESS;
        result->BytesTransferred = (size_t)octets;
        *(ND_RESULT **)slot = result;
    }
    PROBE4(completion, queue, request, IBV_WC_SUCCESS, octets);
    /* Release: the record is the posting side's again; pairs with nd_queue_take_locked. */
    atomic_store_explicit(&queue->freed, request->next, memory_order_release);
    return true;
}

/*
 * GetResults of both versions. A polling program mostly finds one completion: that case has a path of its own.
 * results  out: an array of room ND2_RESULTs; v1: of ND_RESULT pointers
 */
static inline __attribute__((always_inline)) size_t nd_cq_results(
    enum nd_dialect_index dialect, struct nd_cq_poll *poll, void *results, size_t room)
{
    int polled;

    if (ND_UNLIKELY(!lock_acquire_quick(&poll->lock)))
        return nd_cq_results_general(poll, results, nd_at_most(room));
    if (ND_UNLIKELY(dialect == ND_V2 ? (uint32_t)room > (uint32_t)poll->usual_room
                                     : room > poll->usual_room))
        return nd_cq_results_deep(poll, results, nd_at_most(room));
    poll->results = results;
    poll->room = (uint32_t)room;
    polled = poll->poll_cq(poll->ibv, (int)room, poll->wc);
    if (ND_UNLIKELY(polled != 1))
        return dialect == ND_V2 ? nd_cq_results_count_v2(poll, polled)
                                : nd_cq_results_count_v1(poll, polled);
    if (!nd_cq_translate_locked(dialect, poll->wc, poll->results))
        return nd_cq_results_rest(poll, 1, 1);
    if (ND_UNLIKELY(!lock_release_quick(&poll->lock)))
        return nd_cq_results_release(poll, 1);
    return 1;
}

/* type, vendor and token of a struct nd_result: one load, one store. */
typedef uint32_t nd_result_end __attribute__((vector_size(16)));

_Static_assert(
    sizeof(void *) != 8 || sizeof(struct nd_result) == ND_RESULT_SHORT + sizeof(nd_result_end),
    "they end a result");

/* nd_cq_translate_locked for the kernel flavour. slot has room for size octets of a struct nd_result. */
static inline __attribute__((always_inline)) bool nd_cq_translate_kernel_locked(
    const struct ibv_wc *wc, struct nd_result *slot, uint32_t size)
{
    struct nd_request *request = (struct nd_request *)(uintptr_t)wc->wr_id;
    struct nd_queue *queue;
    uint64_t octets;

    if (ND_UNLIKELY(
            (uint32_t)wc->status | request->special | (wc->wc_flags & (uint32_t)IBV_WC_WITH_INV)))
        return false;
    memcpy(slot, &request->result, ND_RESULT_SHORT);
    if (size > ND_RESULT_SHORT) {
        const nd_result_end end = { request->operation };

        memcpy(&slot->type, &end, sizeof(end));
    }
    octets = wc->byte_len & request->wc_length;
    slot->octets = (uint32_t)octets;
    queue = request->queue;
    queue->received += octets;
    PROBE4(completion, queue, request, IBV_WC_SUCCESS, octets);
    /* Release: the record is the posting side's again; pairs with nd_queue_take_locked. */
    atomic_store_explicit(&queue->freed, request->next, memory_order_release);
    return true;
}

/* size in: a constant */
static inline unsigned nd_cq_results_rest_of_size(
    struct nd_cq_poll *poll, unsigned polled, unsigned left, uint32_t size)
{
    return size == ND_RESULT_SHORT ? nd_cq_results_rest_kernel_short(poll, polled, left)
                                   : nd_cq_results_rest_kernel(poll, polled, left);
}

/*
 * GetResults of the kernel flavour.
 * results  out: of room results of size octets each
 * size     in: a constant: ND_RESULT_SHORT, or that of struct nd_result; each has code of its own
 */
static inline __attribute__((always_inline)) uint32_t nd_cq_results_sized(
    struct nd_cq_poll *poll, void *results, uint32_t room, uint32_t size)
{
    int polled;

    if (ND_UNLIKELY(!lock_acquire_quick(&poll->lock)))
        return nd_cq_results_general_kernel(poll, results, room, size);
    if (ND_UNLIKELY(room > (uint32_t)poll->usual_room))
        return nd_cq_results_deep_kernel(poll, results, room, size);
    poll->results = results;
    poll->room = room;
    polled = poll->poll_cq(poll->ibv, (int)room, poll->wc);
    if (ND_UNLIKELY(polled != 1))
        return size == ND_RESULT_SHORT ? nd_cq_results_count_kernel_short(poll, polled)
                                       : nd_cq_results_count_kernel(poll, polled);
    if (!nd_cq_translate_kernel_locked(poll->wc, poll->results, size))
        return nd_cq_results_rest_of_size(poll, 1, 1, size);
    if (ND_UNLIKELY(!lock_release_quick(&poll->lock)))
        return nd_cq_results_release(poll, 1);
    return 1;
}

#endif
