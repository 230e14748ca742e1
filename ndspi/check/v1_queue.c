/* SPDX-License-Identifier: MIT */
/* v1_queue.c - wrappers of INDCompletionQueue, INDMemoryWindow and INDEndpoint. */
#include "ndspi/check/debt.h"
#include "ndspi/check/methods.h"
#include "ndspi/check/post.h"
#include "ndspi/check/tables.h"
#include "ndspi/v1/nd1.h"

/* ---- INDCompletionQueue ---- */

CHECKED_OVERLAPPED1(INDCompletionQueue)
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, INDCompletionQueue, Resize, (void)0,
    EXPLAIN_ASKED(value, ASKED1("nEntries", entries, 1, MaxCqEntries)),
    (INDCompletionQueue * iface, SIZE_T entries), (inner, entries))
CHECKED_BEGINS(INDCompletionQueue, Notify, (void)0, nd_check_explain_notify(&call, value, type);
               nd_check_notified(&call, value),
               (INDCompletionQueue * iface, DWORD type, OVERLAPPED *overlapped),
               (inner, type, overlapped))
CHECKED_FULL(SIZE_T, 0, INDCompletionQueue, GetResults, nd_check_pays(&call), nd_check_room(&call),
    (INDCompletionQueue * iface, ND_RESULT *results[], SIZE_T room), (inner, results, room))

static const INDCompletionQueueVtbl INDCompletionQueue_table = {
    OVERLAPPED_SLOTS(INDCompletionQueue),
    .Resize = INDCompletionQueue_Resize_,
    .Notify = INDCompletionQueue_Notify_,
    .GetResults = INDCompletionQueue_GetResults_,
};

CHECKED_KIND(nd_check_cq1, INDCompletionQueue, &IID_INDOverlapped, .passed = nd1_cq_passed)

/* ---- INDMemoryWindow ---- */

CHECKED_UNKNOWN(INDMemoryWindow)

static const INDMemoryWindowVtbl INDMemoryWindow_table = { UNKNOWN_SLOTS(INDMemoryWindow) };

CHECKED_KIND(nd_check_mw1, INDMemoryWindow, NULL)

/* ---- INDEndpoint ---- */

/* A method that posts a list, which its parameters list and n give. */
#define CHECKED_POST(method, flags_, use_, parameters, arguments)                                  \
    CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, INDEndpoint, method,                            \
                 const struct nd_check_list given = LIST(list, n, flags_, use_);                   \
                 nd_check_list(&call, &given), nd_check_posted(&call, value, &given), parameters,  \
                 arguments)
#define LIST(list_, n_, flags_, use_)                                                              \
    {                                                                                              \
        .v1 = list_, .n = n_, .flags = flags_, .use = use_                                         \
    }

/* A method that takes a place in the queue without a list, and names this region or none. It has a parameter flags. */
#define CHECKED_PLACED(method, handle_, parameters, arguments)                                     \
    CHECKED_FULL(                                                                                  \
        HRESULT, ND_INVALID_DEVICE_STATE, INDEndpoint, method,                                     \
        const ND_SGE entry = NAMES(handle_);                                                       \
        const struct nd_check_list given = LIST(&entry, 1, flags, ND_CHECK_READS);                 \
        nd_check_order(&call, false), nd_check_taken(&call, value, &given), parameters, arguments)
#define NAMES(handle_)                                                                             \
    {                                                                                              \
        .Length = 1, .hMr = handle_                                                                \
    }

CHECKED_UNKNOWN(INDEndpoint)
CHECKED(INDEndpoint, Flush, (INDEndpoint * iface), (inner))
CHECKED_POST(Send, flags, ND_CHECK_READS,
    (INDEndpoint * iface, ND_RESULT *result, const ND_SGE *list, SIZE_T n, DWORD flags),
    (inner, result, list, n, flags))
CHECKED_POST(SendAndInvalidate, flags, ND_CHECK_READS,
    (INDEndpoint * iface, ND_RESULT *result, const ND_SGE *list, SIZE_T n,
        const ND_MW_DESCRIPTOR *remote, DWORD flags),
    (inner, result, list, n, remote, flags))
CHECKED_POST(Receive, 0, ND_CHECK_RECEIVES,
    (INDEndpoint * iface, ND_RESULT *result, const ND_SGE *list, SIZE_T n),
    (inner, result, list, n))
CHECKED_PLACED(Bind, region,
    (INDEndpoint * iface, ND_RESULT *result, ND_MR_HANDLE region, INDMemoryWindow *window,
        const VOID *buffer, SIZE_T size, DWORD flags, ND_MW_DESCRIPTOR *descriptor),
    (inner, result, region, GIVEN(window), buffer, size, flags, descriptor))
CHECKED_PLACED(Invalidate, NULL,
    (INDEndpoint * iface, ND_RESULT *result, INDMemoryWindow *window, DWORD flags),
    (inner, result, GIVEN(window), flags))
CHECKED_POST(Read, flags, ND_CHECK_FETCHES,
    (INDEndpoint * iface, ND_RESULT *result, const ND_SGE *list, SIZE_T n,
        const ND_MW_DESCRIPTOR *remote, ULONGLONG offset, DWORD flags),
    (inner, result, list, n, remote, offset, flags))
CHECKED_POST(Write, flags, ND_CHECK_READS,
    (INDEndpoint * iface, ND_RESULT *result, const ND_SGE *list, SIZE_T n,
        const ND_MW_DESCRIPTOR *remote, ULONGLONG offset, DWORD flags),
    (inner, result, list, n, remote, offset, flags))

static VOID STDMETHODCALLTYPE INDEndpoint_StartRequestBatch_(INDEndpoint *iface)
{
    struct nd_check_call call;
    INDEndpoint *inner = nd_check_begin(&call, iface, "INDEndpoint::StartRequestBatch");

    if (!inner)
        return;
    inner->lpVtbl->StartRequestBatch(inner);
    nd_check_end(&call);
}

static VOID STDMETHODCALLTYPE INDEndpoint_SubmitRequestBatch_(INDEndpoint *iface)
{
    struct nd_check_call call;
    INDEndpoint *inner = nd_check_begin(&call, iface, "INDEndpoint::SubmitRequestBatch");

    if (!inner)
        return;
    inner->lpVtbl->SubmitRequestBatch(inner);
    nd_check_end(&call);
}

static const INDEndpointVtbl INDEndpoint_table = {
    UNKNOWN_SLOTS(INDEndpoint),
    .Flush = INDEndpoint_Flush_,
    .StartRequestBatch = INDEndpoint_StartRequestBatch_,
    .SubmitRequestBatch = INDEndpoint_SubmitRequestBatch_,
    .Send = INDEndpoint_Send_,
    .SendAndInvalidate = INDEndpoint_SendAndInvalidate_,
    .Receive = INDEndpoint_Receive_,
    .Bind = INDEndpoint_Bind_,
    .Invalidate = INDEndpoint_Invalidate_,
    .Read = INDEndpoint_Read_,
    .Write = INDEndpoint_Write_,
};

CHECKED_KIND(nd_check_endpoint1, INDEndpoint, NULL, .core = nd1_endpoint_core)
