/* SPDX-License-Identifier: MIT */
/* v2_queue.c - wrappers of IND2CompletionQueue, IND2SharedReceiveQueue and IND2QueuePair. */
#include "ndspi/check/debt.h"
#include "ndspi/check/methods.h"
#include "ndspi/check/post.h"
#include "ndspi/check/returned.h"
#include "ndspi/check/tables.h"
#include "ndspi/v2/nd2.h"

/* ---- IND2CompletionQueue ---- */

CHECKED_OVERLAPPED(IND2CompletionQueue)
CHECKED(IND2CompletionQueue, GetNotifyAffinity,
    (IND2CompletionQueue * iface, USHORT *group, KAFFINITY *affinity), (inner, group, affinity))
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, IND2CompletionQueue, Resize, (void)0,
    EXPLAIN_ASKED(value, ASKED("queueDepth", depth, 1, MaxCompletionQueueDepth)),
    (IND2CompletionQueue * iface, ULONG depth), (inner, depth))
CHECKED_BEGINS(IND2CompletionQueue, Notify, (void)0, nd_check_explain_notify(&call, value, type);
               nd_check_notified(&call, value),
               (IND2CompletionQueue * iface, ULONG type, OVERLAPPED *overlapped),
               (inner, type, overlapped))
CHECKED_FULL(ULONG, 0, IND2CompletionQueue, GetResults, nd_check_pays(&call), nd_check_room(&call),
    (IND2CompletionQueue * iface, ND2_RESULT results[], ULONG room), (inner, results, room))

static const IND2CompletionQueueVtbl IND2CompletionQueue_table = {
    OVERLAPPED_SLOTS(IND2CompletionQueue),
    .GetNotifyAffinity = IND2CompletionQueue_GetNotifyAffinity_,
    .Resize = IND2CompletionQueue_Resize_,
    .Notify = IND2CompletionQueue_Notify_,
    .GetResults = IND2CompletionQueue_GetResults_,
};

CHECKED_KIND(nd_check_cq2, IND2CompletionQueue, &IID_IND2Overlapped, .passed = nd2_cq_passed)

/* A method that posts a list, which its parameters sge and n give. */
#define CHECKED_POST(itype, method, flags_, use_, parameters, arguments)                           \
    CHECKED_FULL(                                                                                  \
        HRESULT, ND_INVALID_DEVICE_STATE, itype, method,                                           \
        const struct nd_check_list list = LIST(sge, n, flags_, use_);                              \
        nd_check_list(&call, &list), nd_check_posted(&call, value, &list), parameters, arguments)
#define LIST(sge_, n_, flags_, use_)                                                               \
    {                                                                                              \
        .v2 = sge_, .n = n_, .flags = flags_, .use = use_                                          \
    }

/* ---- IND2SharedReceiveQueue ---- */

CHECKED_OVERLAPPED(IND2SharedReceiveQueue)
CHECKED(IND2SharedReceiveQueue, GetNotifyAffinity,
    (IND2SharedReceiveQueue * iface, USHORT *group, KAFFINITY *affinity), (inner, group, affinity))
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, IND2SharedReceiveQueue, Modify, (void)0,
             EXPLAIN_ASKED(value, ASKED("queueDepth", depth, 0, MaxSharedReceiveQueueDepth));
             nd_check_resized(&call, value, depth),
             (IND2SharedReceiveQueue * iface, ULONG depth, ULONG threshold),
             (inner, depth, threshold))
CHECKED_BEGINS(IND2SharedReceiveQueue, Notify, (void)0, (void)0,
    (IND2SharedReceiveQueue * iface, OVERLAPPED *overlapped), (inner, overlapped))
CHECKED_POST(IND2SharedReceiveQueue, Receive, 0, ND_CHECK_RECEIVES,
    (IND2SharedReceiveQueue * iface, VOID *context, const ND2_SGE sge[], ULONG n),
    (inner, context, sge, n))

static const IND2SharedReceiveQueueVtbl IND2SharedReceiveQueue_table = {
    OVERLAPPED_SLOTS(IND2SharedReceiveQueue),
    .GetNotifyAffinity = IND2SharedReceiveQueue_GetNotifyAffinity_,
    .Modify = IND2SharedReceiveQueue_Modify_,
    .Notify = IND2SharedReceiveQueue_Notify_,
    .Receive = IND2SharedReceiveQueue_Receive_,
};

CHECKED_KIND(nd_check_srq2, IND2SharedReceiveQueue, &IID_IND2Overlapped)

/* ---- IND2QueuePair ---- */

/* A method that takes a place in the queue without a list, and names this region or none. It has a parameter flags. */
#define CHECKED_PLACED(method, name_, parameters, arguments)                                       \
    CHECKED_FULL(                                                                                  \
        HRESULT, ND_INVALID_DEVICE_STATE, IND2QueuePair, method,                                   \
        const ND2_SGE entry = NAMES(name_);                                                        \
        const struct nd_check_list list = LIST(&entry, 1, flags, ND_CHECK_READS);                  \
        nd_check_order(&call, false), nd_check_taken(&call, value, &list), parameters, arguments)
#define NAMES(name_)                                                                               \
    {                                                                                              \
        .BufferLength = 1, .MemoryRegionToken = (UINT32)(name_)                                    \
    }

CHECKED_UNKNOWN(IND2QueuePair)
CHECKED(IND2QueuePair, Flush, (IND2QueuePair * iface), (inner))
CHECKED_POST(IND2QueuePair, Send, flags, ND_CHECK_READS,
    (IND2QueuePair * iface, VOID *context, const ND2_SGE sge[], ULONG n, ULONG flags),
    (inner, context, sge, n, flags))
CHECKED_POST(IND2QueuePair, Receive, 0, ND_CHECK_RECEIVES,
    (IND2QueuePair * iface, VOID *context, const ND2_SGE sge[], ULONG n), (inner, context, sge, n))
CHECKED_PLACED(Bind, nd_check_name_of(region),
    (IND2QueuePair * iface, VOID *context, IUnknown *region, IUnknown *window, const VOID *buffer,
        SIZE_T length, ULONG flags),
    (inner, context, GIVEN(region), GIVEN(window), buffer, length, flags))
CHECKED_PLACED(Invalidate, 0, (IND2QueuePair * iface, VOID *context, IUnknown *window, ULONG flags),
    (inner, context, GIVEN(window), flags))
CHECKED_POST(IND2QueuePair, Read, flags, ND_CHECK_FETCHES,
    (IND2QueuePair * iface, VOID *context, const ND2_SGE sge[], ULONG n, UINT64 address,
        UINT32 token, ULONG flags),
    (inner, context, sge, n, address, token, flags))
CHECKED_POST(IND2QueuePair, Write, flags, ND_CHECK_READS,
    (IND2QueuePair * iface, VOID *context, const ND2_SGE sge[], ULONG n, UINT64 address,
        UINT32 token, ULONG flags),
    (inner, context, sge, n, address, token, flags))

static const IND2QueuePairVtbl IND2QueuePair_table = {
    UNKNOWN_SLOTS(IND2QueuePair),
    .Flush = IND2QueuePair_Flush_,
    .Send = IND2QueuePair_Send_,
    .Receive = IND2QueuePair_Receive_,
    .Bind = IND2QueuePair_Bind_,
    .Invalidate = IND2QueuePair_Invalidate_,
    .Read = IND2QueuePair_Read_,
    .Write = IND2QueuePair_Write_,
};

CHECKED_KIND(nd_check_qp2, IND2QueuePair, NULL, .core = nd2_qp_core)
