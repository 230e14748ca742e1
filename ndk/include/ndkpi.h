/* SPDX-License-Identifier: MIT */
/*
 * ndkpi.h - the kernel flavour of NetworkDirect: objects with dispatch tables, versions 1.1, 1.2, 2.0 and 2.1.
 *
 * An object is a structure that begins with NDK_OBJECT_HEADER and ends with a pointer to the table of its functions.
 * Objects come from the object above: adapter (wskndk.h), then protection domain, completion queue, connector,
 * listener, shared endpoint; of a protection domain regions, windows, shared receive queues, queue pairs.
 *
 * Said once for all functions:
 * - The first parameter, in, is the object; it has to be one of this library that is not closed. Of a callback it is
 *   what the consumer gave with the function. These are not named again.
 * - Sizes are in bytes, depths and limits in requests or entries, ports in network order.
 * - Every function may be called at any level up to DISPATCH_LEVEL, from any thread, unless "passive" is said: then at
 *   PASSIVE_LEVEL alone. Callbacks run at up to DISPATCH_LEVEL, and must not block.
 * - "CC": CreateCompletion and RequestContext, both in. The function returns STATUS_SUCCESS with the object stored, or
 *   STATUS_PENDING, or a failure; after STATUS_PENDING, and only then, CreateCompletion is called once, perhaps before
 *   the function has returned, with status and object, and nothing is stored. The object is the caller's until its
 *   close function. All of them return or end with STATUS_INSUFFICIENT_RESOURCES; STATUS_DEVICE_REMOVED: the device is
 *   gone; STATUS_INVALID_PARAMETER: no place for the object.
 * - "RC": RequestCompletion and RequestContext, both in: the same with a status alone.
 * - A completion callback may be NULL if the call can end without it.
 * - "Size query": the length is in: room of the buffer, out: size used or needed. All of them return
 *   STATUS_BUFFER_TOO_SMALL: the room is less than what is needed; STATUS_INVALID_PARAMETER: no place for the length.
 * - Arguments stay the caller's, and are read during the call only, unless the function says otherwise.
 * - The caller serialises calls that post to one queue, and the calls of one completion queue that take results or arm.
 *   Everything else may overlap, NdkFlush and the close of a connector with posting too.
 * - An object must not be used after its close function was called, and not be closed while one of its functions runs,
 *   save in the completion callback of that very call.
 *
 * Where the pages of Microsoft's NDKPI documentation leave open what a call returns, the code is this library's choice.
 * Source: the page that bears the name of the function type or structure.
 */
#ifndef _NDKPI_H_
#define _NDKPI_H_

#include <ndktypes.h>
#include <ndkinfo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* NdkArmCq. A failure of the queue itself notifies with each type. */
#define NDK_CQ_NOTIFY_ERRORS    0 /* nothing else */
#define NDK_CQ_NOTIFY_ANY       1 /* any completion */
#define NDK_CQ_NOTIFY_SOLICITED 2 /* a Receive whose sender asked for it, or a failed request */

/* Requests of a queue pair */
#define NDK_OP_FLAG_SILENT_SUCCESS             0x00000001 /* all: no completion unless it fails */
#define NDK_OP_FLAG_READ_FENCE                 0x00000002 /* all: start only when all earlier Reads are done */
#define NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT     0x00000004 /* Sends: meets the receiver's NDK_CQ_NOTIFY_SOLICITED */
#define NDK_OP_FLAG_ALLOW_REMOTE_READ          0x00000008 /* Bind, FastRegister */
#define NDK_OP_FLAG_ALLOW_LOCAL_WRITE          0x00000010 /* FastRegister */
#define NDK_OP_FLAG_ALLOW_REMOTE_WRITE         0x00000030 /* Bind, FastRegister; with local write: see 0x20 */
#define NDK_OP_FLAG_INLINE                     0x00000040 /* Sends, Write: copy the data now, ignore tokens */
#define NDK_OP_FLAG_RDMA_READ_SINK             0x00000080 /* FastRegister: to be a target of Read */
#define NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE 0x00000100 /* Read: then invalidate the first token; 1.2 */
#define NDK_OP_FLAG_DEFER                      0x00000200 /* all: may wait for one without this flag; 1.2 */

/* NdkRegisterMr. Local reading is always allowed. */
#define NDK_MR_FLAG_ALLOW_LOCAL_READ   0x00000000
#define NDK_MR_FLAG_ALLOW_LOCAL_WRITE  0x00000001 /* target of Receive and Read */
#define NDK_MR_FLAG_ALLOW_REMOTE_READ  0x00000002
#define NDK_MR_FLAG_ALLOW_REMOTE_WRITE 0x00000005 /* includes local write; bit 0x4 tells the two apart */
#define NDK_MR_FLAG_RDMA_READ_SINK     0x00000008 /* target of Read */
/* clang-format on */

/* What an object is. */
typedef enum _NDK_OBJECT_TYPE {
    NdkObjectTypeUndefined = 0,
    NdkObjectTypeAdapter = 1,
    NdkObjectTypeQp = 2,
    NdkObjectTypeCq = 3,
    NdkObjectTypeMr = 4,
    NdkObjectTypeMw = 5,
    NdkObjectTypePd = 6,
    NdkObjectTypeSharedEndpoint = 7,
    NdkObjectTypeConnector = 8,
    NdkObjectTypeListener = 9,
    NdkObjectTypeSrq = 10,
    NdkObjectTypeMax = 11
} NDK_OBJECT_TYPE;

/* A bit for each kind of request; both kinds of Receive have bit 1. Since 1.2. */
typedef enum _NDK_OPERATION_TYPE {
    NdkOperationTypeReceive = 0x0001,
    NdkOperationTypeReceiveAndInvalidate = 0x8001, /* filled by the peer's NdkSendAndInvalidate */
    NdkOperationTypeSend = 0x0002,                 /* NdkSend and NdkSendAndInvalidate */
    NdkOperationTypeFastRegister = 0x0004,
    NdkOperationTypeBind = 0x0008,
    NdkOperationTypeInvalidate = 0x0010,
    NdkOperationTypeRead = 0x0020,
    NdkOperationTypeWrite = 0x0040
} NDK_OPERATION_TYPE;

/* An address that the adapter uses: one page of an NDK_LOGICAL_ADDRESS_MAPPING. */
typedef PHYSICAL_ADDRESS NDK_LOGICAL_ADDRESS;

/* Belongs to the layer above the provider; the provider sets it to zero once. */
typedef struct _NDK_OBJECT_HEADER_RESERVED_BLOCK {
    PVOID rf[4];
} NDK_OBJECT_HEADER_RESERVED_BLOCK;

/* What every object begins with. */
typedef struct _NDK_OBJECT_HEADER {
    NDK_VERSION Version; /* negotiated for the adapter */
    NDK_OBJECT_TYPE ObjectType;
    NDK_OBJECT_HEADER_RESERVED_BLOCK NdkReserved;
} NDK_OBJECT_HEADER;

typedef struct _NDK_ADAPTER NDK_ADAPTER;
typedef struct _NDK_PD NDK_PD;
typedef struct _NDK_CQ NDK_CQ;
typedef struct _NDK_QP NDK_QP;
typedef struct _NDK_MR NDK_MR;
typedef struct _NDK_MW NDK_MW;
typedef struct _NDK_SRQ NDK_SRQ;
typedef struct _NDK_SHARED_ENDPOINT NDK_SHARED_ENDPOINT;
typedef struct _NDK_CONNECTOR NDK_CONNECTOR;
typedef struct _NDK_LISTENER NDK_LISTENER;

/* One piece of a request's local memory. With the protection domain's privileged token: a logical address. */
typedef struct _NDK_SGE {
    __extension__ union {
        PVOID VirtualAddress;
        NDK_LOGICAL_ADDRESS LogicalAddress;
    };
    ULONG Length;
    UINT32 MemoryRegionToken; /* NdkGetLocalTokenFromMr, NdkGetPrivilegedMemoryRegionToken */
} NDK_SGE;

/* A finished request (NdkGetCqResults). */
typedef struct _NDK_RESULT {
    NTSTATUS Status;        /* STATUS_CANCELLED: flushed */
    ULONG BytesTransferred; /* the message's, if a Receive succeeded; undefined otherwise */
    PVOID QPContext;        /* the one given to NdkCreateQp */
    PVOID RequestContext;   /* the one given with the request */
} NDK_RESULT;

/* A finished request with its kind and output (NdkGetCqResultsEx). Since 1.2. */
typedef struct _NDK_RESULT_EX {
    NTSTATUS Status;
    ULONG BytesTransferred;
    PVOID QPContext;
    PVOID RequestContext;
    NDK_OPERATION_TYPE Type;
    /* The device's code of a failed request; 0: none given. NDKPI 2.1 and later; padding before. */
    ULONG ProviderErrorCode;
    /* ReceiveAndInvalidate: the token; undefined otherwise. */
    ULONG_PTR TypeSpecificCompletionOutput;
} NDK_RESULT_EX;

/* Pages of memory as the adapter sees them (NdkBuildLAM): 0x10 + 8 * AdapterPageCount bytes. */
typedef struct _NDK_LOGICAL_ADDRESS_MAPPING {
    PVOID AdapterContext; /* the provider's */
    ULONG AdapterPageCount;
    NDK_LOGICAL_ADDRESS AdapterPageArray[1]; /* AdapterPageCount of them */
} NDK_LOGICAL_ADDRESS_MAPPING;

/* Functions beyond those below (NdkQueryExtension). */
typedef struct _NDK_EXTENSION_INTERFACE {
    const VOID *Dispatch;
} NDK_EXTENSION_INTERFACE;

/* ============================================================================================================
 * Callbacks: the caller's functions. Context is what was given with the function.
 */

/* The object is closed, and no callback of it follows. */
typedef VOID (*NDK_FN_CLOSE_COMPLETION)(PVOID Context);

/* The request has ended. Status in: what its function may end with. */
typedef VOID (*NDK_FN_REQUEST_COMPLETION)(PVOID Context, NTSTATUS Status);

/*
 * The creation has ended.
 * Status      in: what its function may end with
 * pNdkObject  in: on success: the object, the consumer's from here on, to be cast to its type; else NULL
 */
typedef VOID (*NDK_FN_CREATE_COMPLETION)(
    PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *pNdkObject);

/*
 * A result that NdkArmCq asked for has arrived. Calls for one queue never overlap; the callback may arm again.
 * CqStatus  in: STATUS_SUCCESS; STATUS_BUFFER_OVERFLOW: more results than its depth; STATUS_INTERNAL_ERROR: the device
 *           failed. After a failure the queue and its queue pairs are of no further use
 */
typedef VOID (*NDK_FN_CQ_NOTIFICATION_CALLBACK)(PVOID CqNotificationContext, NTSTATUS CqStatus);

/*
 * The shared receive queue holds fewer Receives than its threshold; called once, until NdkModifySrq.
 * SrqStatus  in: STATUS_SUCCESS; STATUS_INTERNAL_ERROR: the device failed
 */
typedef VOID (*NDK_FN_SRQ_NOTIFICATION_CALLBACK)(PVOID SrqNotificationContext, NTSTATUS SrqStatus);

/*
 * A peer wants to connect.
 * pNdkConnector  in: the consumer's from here on, to be accepted or rejected, and closed in any case; the close of one
 *                that was not accepted rejects
 */
typedef VOID (*NDK_FN_CONNECT_EVENT_CALLBACK)(
    PVOID ConnectEventContext, NDK_CONNECTOR *pNdkConnector);

/* The peer or a failed request ended the connection; once at most. The peer's end does not flush the queue pair. */
typedef VOID (*NDK_FN_DISCONNECT_EVENT_CALLBACK)(PVOID DisconnectEventContext);

/*
 * The peer or a failed request ended the connection; the device gives a reason. Called when
 * NDK_FN_DISCONNECT_EVENT_CALLBACK would be. Since 2.1.
 * ProviderDisconnectReason  in: the device's code, 0: none given
 */
typedef VOID (*NDK_FN_DISCONNECT_EVENT_CALLBACK_EX)(
    PVOID DisconnectEventContext, ULONG ProviderDisconnectReason);

/* ============================================================================================================
 * Functions of all objects
 */

/*
 * Closes an object. What is outstanding on it is cancelled; its close completes last, after every callback of it has
 * returned, and after the close of every object that was made from it or uses it.
 * pNdkObject                       in: the header of the object, which must not be used any more
 * CloseCompletion, RequestContext  in: called once after STATUS_PENDING
 * Returns STATUS_SUCCESS: closed; STATUS_PENDING. It does not fail.
 */
typedef NTSTATUS (*NDK_FN_CLOSE_OBJECT)(
    NDK_OBJECT_HEADER *pNdkObject, NDK_FN_CLOSE_COMPLETION CloseCompletion, PVOID RequestContext);

/*
 * Asks for further functions of an object.
 * pNdkObject                in: the header of the object
 * ExtensionInterfaceID      in: which
 * ExtensionInterfaceVersion in: which version of them
 * pExtensionInterface       out: the table, which lives as long as the object
 * Returns STATUS_SUCCESS; STATUS_NOT_SUPPORTED: there are none of that name and version.
 */
typedef NTSTATUS (*NDK_FN_QUERY_EXTENSION_INTERFACE)(NDK_OBJECT_HEADER *pNdkObject,
    GUID *ExtensionInterfaceID, NDK_VERSION ExtensionInterfaceVersion,
    NDK_EXTENSION_INTERFACE *pExtensionInterface);

/* ============================================================================================================
 * Adapter: closed as it was opened (wskndk.h), not by a function of its own
 */

/*
 * Passive. What the adapter can do.
 * pInfo        out, optional: where to
 * pBufferSize  in and out: size query; 0x60 bytes do before 2.0
 * Returns STATUS_SUCCESS; STATUS_BUFFER_TOO_SMALL.
 */
typedef NTSTATUS (*NDK_FN_QUERY_ADAPTER_INFO)(
    NDK_ADAPTER *pNdkAdapter, NDK_ADAPTER_INFO *pInfo, ULONG *pBufferSize);

/*
 * CC. A completion queue.
 * CqDepth                                in: depth in results
 * CqNotification, CqNotificationContext  in, optional: called as NdkArmCq asks, until the close; NULL: the queue is
 *                                        polled
 * Affinity                               in, optional: processors to call it on
 * ppNdkCq                                out
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_PARAMETER: depth 0 or above MaxCqDepth.
 */
typedef NTSTATUS (*NDK_FN_CREATE_CQ)(NDK_ADAPTER *pNdkAdapter, ULONG CqDepth,
    NDK_FN_CQ_NOTIFICATION_CALLBACK CqNotification, PVOID CqNotificationContext,
    GROUP_AFFINITY *Affinity, NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext,
    NDK_CQ **ppNdkCq);

/* CC. A protection domain, with regions, windows and queue pairs of its own. Ends with STATUS_SUCCESS. */
typedef NTSTATUS (*NDK_FN_CREATE_PD)(NDK_ADAPTER *pNdkAdapter,
    NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_PD **ppNdkPd);

/*
 * CC. A local address for any number of connections.
 * pAddress, AddressLength  in: port 0: choose
 * ppNdkSharedEndpoint      out
 * Returns or ends with STATUS_SUCCESS; STATUS_SHARING_VIOLATION: the address is in use; STATUS_INVALID_ADDRESS: not of
 * this adapter; STATUS_TOO_MANY_ADDRESSES: no port left; STATUS_INVALID_PARAMETER: no address.
 */
typedef NTSTATUS (*NDK_FN_CREATE_SHARED_ENDPOINT)(NDK_ADAPTER *pNdkAdapter,
    CONST PSOCKADDR pAddress, ULONG AddressLength, NDK_FN_CREATE_COMPLETION CreateCompletion,
    PVOID RequestContext, NDK_SHARED_ENDPOINT **ppNdkSharedEndpoint);

/* CC. A connector, which makes and ends one connection. Returns or ends with STATUS_SUCCESS. */
typedef NTSTATUS (*NDK_FN_CREATE_CONNECTOR)(NDK_ADAPTER *pNdkAdapter,
    NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext,
    NDK_CONNECTOR **ppNdkConnector);

/*
 * CC. A listener, which NdkListen starts.
 * ConnectEvent, ConnectEventContext  in: called for each connection request, until the close
 * ppNdkListener                      out
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_PARAMETER: no ConnectEvent.
 */
typedef NTSTATUS (*NDK_FN_CREATE_LISTENER)(NDK_ADAPTER *pNdkAdapter,
    NDK_FN_CONNECT_EVENT_CALLBACK ConnectEvent, PVOID ConnectEventContext,
    NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_LISTENER **ppNdkListener);

/*
 * RC, RequestCompletion optional. The pages of memory, for NdkFastRegister and for entries with the privileged token.
 * Mdl, Length  in: the first Length bytes of the chain, virtually contiguous; resident until NdkReleaseLAM, the MDLs
 *              untouched until the request has ended
 * pNdkLAM      out, optional: the mapping, in memory of the caller
 * pLAMSize     in and out: size query
 * pFBO         out: offset of the first byte in the first page
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_PARAMETER: not contiguous, the chain is shorter, no bytes, or no
 * place for the offset; STATUS_BUFFER_TOO_SMALL: also of a query without a buffer; STATUS_INSUFFICIENT_RESOURCES.
 */
typedef NTSTATUS (*NDK_FN_BUILD_LAM)(NDK_ADAPTER *pNdkAdapter, MDL *Mdl, SIZE_T Length,
    NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext,
    NDK_LOGICAL_ADDRESS_MAPPING *pNdkLAM, ULONG *pLAMSize, ULONG *pFBO);

/* Gives a mapping back. pNdkLAM in: one that no request uses any more; its memory stays the caller's. */
typedef VOID (*NDK_FN_RELEASE_LAM)(NDK_ADAPTER *pNdkAdapter, NDK_LOGICAL_ADDRESS_MAPPING *pNdkLAM);

/*
 * What the adapter can do in a version of NDKPI. No table has this function, so it is not provided.
 * Version      in
 * pInfo        out, optional: where to
 * pBufferSize  in and out: size query
 */
typedef NTSTATUS (*NDK_FN_QUERY_ADAPTER_INFO_EX)(
    NDK_ADAPTER *pNdkAdapter, NDK_VERSION Version, NDK_ADAPTER_INFO *pInfo, ULONG *pBufferSize);

/* The functions of an adapter. */
typedef struct _NDK_ADAPTER_DISPATCH {
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_QUERY_ADAPTER_INFO NdkQueryAdapterInfo;
    NDK_FN_CREATE_CQ NdkCreateCq;
    NDK_FN_CREATE_PD NdkCreatePd;
    NDK_FN_CREATE_SHARED_ENDPOINT NdkCreateSharedEndpoint;
    NDK_FN_CREATE_CONNECTOR NdkCreateConnector;
    NDK_FN_CREATE_LISTENER NdkCreateListener;
    NDK_FN_BUILD_LAM NdkBuildLAM;
    NDK_FN_RELEASE_LAM NdkReleaseLAM;
} NDK_ADAPTER_DISPATCH;

/* An adapter. */
struct _NDK_ADAPTER {
    NDK_OBJECT_HEADER Header;
    /* Set by the library once, and never read by it: the consumer may replace it. The same in every object. */
    const NDK_ADAPTER_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Protection domain: the regions, windows and queue pairs that may be used together
 */

/*
 * CC. A region without memory.
 * FastRegister  in: TRUE: for NdkInitializeFastRegisterMr and NdkFastRegister alone; FALSE: for NdkRegisterMr alone
 * ppNdkMr       out
 * Returns or ends with STATUS_SUCCESS.
 */
typedef NTSTATUS (*NDK_FN_CREATE_MR)(NDK_PD *pNdkPd, BOOLEAN FastRegister,
    NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_MR **ppNdkMr);

/* CC. A window that is not bound. Returns or ends with STATUS_SUCCESS. */
typedef NTSTATUS (*NDK_FN_CREATE_MW)(NDK_PD *pNdkPd, NDK_FN_CREATE_COMPLETION CreateCompletion,
    PVOID RequestContext, NDK_MW **ppNdkMw);

/*
 * CC. Receives for several queue pairs.
 * SrqDepth, MaxReceiveRequestSge           in: depth in requests, entries of one
 * NotifyThreshold                          in: call SrqNotification when fewer Receives are posted; 0: do not
 * SrqNotification, SrqNotificationContext  in, optional
 * Affinity                                 in, optional: processors to call it on
 * ppNdkSrq                                 out
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_PARAMETER: depth 0, above the adapter's limits, or a threshold
 * above the depth.
 */
typedef NTSTATUS (*NDK_FN_CREATE_SRQ)(NDK_PD *pNdkPd, ULONG SrqDepth, ULONG MaxReceiveRequestSge,
    ULONG NotifyThreshold, NDK_FN_SRQ_NOTIFICATION_CALLBACK SrqNotification,
    PVOID SrqNotificationContext, GROUP_AFFINITY *Affinity,
    NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_SRQ **ppNdkSrq);

/*
 * CC. One end of a connection.
 * pReceiveCq, pInitiatorCq                        in: where results go; may be one
 * QPContext                                       in: given back with each result
 * ReceiveQueueDepth, InitiatorQueueDepth          in: in requests
 * MaxReceiveRequestSge, MaxInitiatorRequestSge    in: entries of one request
 * InlineDataSize                                  in: bytes of one request with NDK_OP_FLAG_INLINE
 * ppNdkQp                                         out
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_PARAMETER: above the adapter's limits, an initiator queue of no
 * depth, or a completion queue that is none of this adapter's.
 */
typedef NTSTATUS (*NDK_FN_CREATE_QP)(NDK_PD *pNdkPd, NDK_CQ *pReceiveCq, NDK_CQ *pInitiatorCq,
    PVOID QPContext, ULONG ReceiveQueueDepth, ULONG InitiatorQueueDepth, ULONG MaxReceiveRequestSge,
    ULONG MaxInitiatorRequestSge, ULONG InlineDataSize, NDK_FN_CREATE_COMPLETION CreateCompletion,
    PVOID RequestContext, NDK_QP **ppNdkQp);

/* CC. A queue pair as of NDK_FN_CREATE_QP; pSrq in: where its Receives come from, of the same domain. */
typedef NTSTATUS (*NDK_FN_CREATE_QP_WITH_SRQ)(NDK_PD *pNdkPd, NDK_CQ *pReceiveCq,
    NDK_CQ *pInitiatorCq, NDK_SRQ *pSrq, PVOID QPContext, ULONG InitiatorQueueDepth,
    ULONG MaxInitiatorRequestSge, ULONG InlineDataSize, NDK_FN_CREATE_COMPLETION CreateCompletion,
    PVOID RequestContext, NDK_QP **ppNdkQp);

/*
 * The token of entries with logical addresses.
 * pToken  out: for local reading and writing, never remote access
 */
typedef VOID (*NDK_FN_GET_PRIVILEGED_MEMORY_REGION_TOKEN)(NDK_PD *pNdkPd, UINT32 *pToken);

/* The functions of a protection domain. */
typedef struct _NDK_PD_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkClosePd;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_CREATE_MR NdkCreateMr;
    NDK_FN_CREATE_MW NdkCreateMw;
    NDK_FN_CREATE_SRQ NdkCreateSrq;
    NDK_FN_CREATE_QP NdkCreateQp;
    NDK_FN_CREATE_QP_WITH_SRQ NdkCreateQpWithSrq;
    NDK_FN_GET_PRIVILEGED_MEMORY_REGION_TOKEN NdkGetPrivilegedMemoryRegionToken;
} NDK_PD_DISPATCH;

/* A protection domain. */
struct _NDK_PD {
    NDK_OBJECT_HEADER Header;
    const NDK_PD_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Completion queue
 */

/*
 * RC. Changes the depth; no result is lost.
 * CqDepth  in: new depth in results
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_PARAMETER: 0, above MaxCqDepth, or below the results that wait;
 * STATUS_INSUFFICIENT_RESOURCES: the device cannot.
 */
typedef NTSTATUS (*NDK_FN_RESIZE_CQ)(NDK_CQ *pNdkCq, ULONG CqDepth,
    NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/*
 * Has the notification callback called once, never inside this function, for a result that arrived after its last call;
 * at once if there is one. Of several calls that wait, the strongest type counts: ANY, then SOLICITED, then ERRORS.
 * Type  in: NDK_CQ_NOTIFY_*; another value is taken for NDK_CQ_NOTIFY_ERRORS
 */
typedef VOID (*NDK_FN_ARM_CQ)(NDK_CQ *pNdkCq, ULONG Type);

/*
 * Takes the results of finished requests.
 * Results  out: filled from index 0; those of one queue in their order
 * nResults in: room in entries
 * Returns how many were stored; fewer than nResults: there are no more.
 */
typedef ULONG (*NDK_FN_GET_CQ_RESULTS)(NDK_CQ *pNdkCq, NDK_RESULT Results[], ULONG nResults);

/* Takes results as NDK_FN_GET_CQ_RESULTS, with the kind of request and its output. Since 1.2. */
typedef ULONG (*NDK_FN_GET_CQ_RESULTS_EX)(NDK_CQ *pNdkCq, NDK_RESULT_EX Results[], ULONG nResults);

/*
 * How long notifications may be held back; 0 of either, or a count of 1, means not at all.
 * ModerationInterval  in: microseconds; MAXULONG: no limit
 * ModerationCount     in: results; MAXULONG: no limit
 * Returns STATUS_SUCCESS; STATUS_NOT_SUPPORTED: the device cannot; STATUS_INVALID_PARAMETER_MIX: no interval, and a
 * count above the depth or none; STATUS_INSUFFICIENT_RESOURCES.
 */
typedef NTSTATUS (*NDK_FN_CONTROL_CQ_INTERRUPT_MODERATION)(
    NDK_CQ *pNdkCq, ULONG ModerationInterval, ULONG ModerationCount);

/* The functions of a completion queue. */
typedef struct _NDK_CQ_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkCloseCq;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_RESIZE_CQ NdkResizeCq;
    NDK_FN_ARM_CQ NdkArmCq;
    NDK_FN_GET_CQ_RESULTS NdkGetCqResults;
    NDK_FN_CONTROL_CQ_INTERRUPT_MODERATION NdkControlCqInterruptModeration;
    NDK_FN_GET_CQ_RESULTS_EX NdkGetCqResultsEx; /* NDKPI 1.2 and later */
} NDK_CQ_DISPATCH;

/* A completion queue. */
struct _NDK_CQ {
    NDK_OBJECT_HEADER Header;
    const NDK_CQ_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Queue pair: an initiator queue and a receive queue
 *
 * What requests take: RequestContext (in: given back with the result), pSgl and nSge (in: local memory; the array is
 * read during the call only; the memory is the library's until the result), Flags (in: NDK_OP_FLAG_*; others are not
 * looked at). None returns STATUS_PENDING. All requests return STATUS_SUCCESS: queued, and one result will come, unless
 * it is silent and succeeds; STATUS_CONNECTION_INVALID: not connected; of a Receive: not connected any more, or
 * flushed; STATUS_ACCESS_VIOLATION: an entry's token names nothing, or what it names does not have the memory;
 * STATUS_INVALID_PARAMETER: entries, but no list; an object of another protection domain or type; STATUS_DATA_OVERRUN:
 * more entries than the queue pair's limit; STATUS_INVALID_BUFFER_SIZE: more bytes than the adapter's limit, or than
 * InlineDataSize; STATUS_INSUFFICIENT_RESOURCES: the queue is full, so take results. A request refused in the call
 * changes nothing and makes no result.
 *
 * A result's status is STATUS_SUCCESS; STATUS_CANCELLED: flushed; STATUS_BUFFER_OVERFLOW: of a Receive that was too
 * short; STATUS_ACCESS_VIOLATION: a right or token, here or at the peer; STATUS_REMOTE_RESOURCES: of a Read, a right,
 * token or range at the peer, of a Send: the peer had no Receive; STATUS_IO_TIMEOUT: no answer;
 * STATUS_INVALID_DEVICE_REQUEST: the peer found it malformed; STATUS_INVALID_BUFFER_SIZE: too long;
 * STATUS_INTERNAL_ERROR: the device failed. After a failure the queue pair is flushed.
 */

/*
 * Ends all queued requests with STATUS_CANCELLED, deferred ones too; their results wait in the completion queues. The
 * queue pair is of no further use.
 */
typedef VOID (*NDK_FN_FLUSH)(NDK_QP *pNdkQp);

/* Sends a message, which fills the peer's oldest Receive. NDK_OP_FLAG_INLINE: there may be any number of entries. */
typedef NTSTATUS (*NDK_FN_SEND)(
    NDK_QP *pNdkQp, PVOID RequestContext, const NDK_SGE *pSgl, ULONG nSge, ULONG Flags);

/*
 * Sends a message as NDK_FN_SEND, and invalidates a token at the peer, before that sees its Receive complete. The peer
 * must expect it; a token that it cannot invalidate ends the connection. Its result has the type of a Send. Since 1.2.
 * RemoteToken  in: of a window or fast-registered region of the peer's
 */
typedef NTSTATUS (*NDK_FN_SEND_AND_INVALIDATE)(NDK_QP *pNdkQp, PVOID RequestContext,
    const NDK_SGE *pSgl, ULONG nSge, ULONG Flags, UINT32 RemoteToken);

/* Room for one message; the result tells its length. Allowed before the connection is made. */
typedef NTSTATUS (*NDK_FN_RECEIVE)(
    NDK_QP *pNdkQp, PVOID RequestContext, const NDK_SGE *pSgl, ULONG nSge);

/*
 * Lets the peer access a part of a region through a window, whose token is known when the call returns.
 * pMr, pMw                in: a registered region, a window that is not bound
 * VirtualAddress, Length  in: the part
 * Flags                   in: also NDK_OP_FLAG_ALLOW_REMOTE_READ, NDK_OP_FLAG_ALLOW_REMOTE_WRITE
 * Returns also STATUS_ACCESS_VIOLATION: the region was registered without a right that Flags give;
 * STATUS_INVALID_PARAMETER: the part is not in the region; STATUS_INVALID_DEVICE_STATE: the window is bound already.
 */
typedef NTSTATUS (*NDK_FN_BIND)(NDK_QP *pNdkQp, PVOID RequestContext, NDK_MR *pMr, NDK_MW *pMw,
    PVOID VirtualAddress, SIZE_T Length, ULONG Flags);

/*
 * Gives a region memory, which both sides name by addresses from BaseVirtualAddress on. Its tokens, which it has for
 * life, name that memory when the call returns.
 * pMr                                 in: initialised by NdkInitializeFastRegisterMr, without memory
 * AdapterPageCount, AdapterPageArray  in: pages of live mappings, in any order; at most as many as were initialised
 * FBO                                 in: offset of the first byte in the first page
 * Length                              in: at most AdapterPageCount * PAGE_SIZE - FBO
 * BaseVirtualAddress                  in: FBO and any multiple of PAGE_SIZE
 * Flags                               in: also the ALLOW flags and NDK_OP_FLAG_RDMA_READ_SINK
 * Returns also STATUS_ACCESS_VIOLATION: remote rights, but initialised without RemoteAccess, or a page of no mapping;
 * STATUS_INVALID_PARAMETER: one of the rules above; STATUS_INVALID_DEVICE_STATE: not initialised, or it has memory;
 * STATUS_NOT_SUPPORTED: the device needs pages that follow each other.
 */
typedef NTSTATUS (*NDK_FN_FAST_REGISTER)(NDK_QP *pNdkQp, PVOID RequestContext, NDK_MR *pMr,
    ULONG AdapterPageCount, const NDK_LOGICAL_ADDRESS *AdapterPageArray, ULONG FBO, SIZE_T Length,
    PVOID BaseVirtualAddress, ULONG Flags);

/*
 * Ends the access: the memory is the consumer's when the result has arrived.
 * pNdkMrOrMw  in: the header of a fast-registered region or a bound window; nothing from NdkRegisterMr
 * Returns also STATUS_INVALID_DEVICE_STATE: not registered, not bound, or the peer has invalidated it.
 */
typedef NTSTATUS (*NDK_FN_INVALIDATE)(
    NDK_QP *pNdkQp, PVOID RequestContext, NDK_OBJECT_HEADER *pNdkMrOrMw, ULONG Flags);

/*
 * Fetches from RemoteAddress, an address of the peer that RemoteToken grants; both in.
 * Returns also STATUS_INVALID_DEVICE_REQUEST: the connection has an outbound read limit of 0. If it reaches beyond the
 * end of the peer's memory, its result is STATUS_REMOTE_RESOURCES.
 */
typedef NTSTATUS (*NDK_FN_READ)(NDK_QP *pNdkQp, PVOID RequestContext, const NDK_SGE *pSgl,
    ULONG nSge, UINT64 RemoteAddress, UINT32 RemoteToken, ULONG Flags);

/* Stores at RemoteAddress, which RemoteToken grants as for NdkRead. The peer gets no result. */
typedef NTSTATUS (*NDK_FN_WRITE)(NDK_QP *pNdkQp, PVOID RequestContext, const NDK_SGE *pSgl,
    ULONG nSge, UINT64 RemoteAddress, UINT32 RemoteToken, ULONG Flags);

/* The functions of a queue pair. */
typedef struct _NDK_QP_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkCloseQp;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_FLUSH NdkFlush;
    NDK_FN_SEND NdkSend;
    NDK_FN_RECEIVE NdkReceive;
    NDK_FN_BIND NdkBind;
    NDK_FN_FAST_REGISTER NdkFastRegister;
    NDK_FN_INVALIDATE NdkInvalidate;
    NDK_FN_READ NdkRead;
    NDK_FN_WRITE NdkWrite;
    NDK_FN_SEND_AND_INVALIDATE NdkSendAndInvalidate; /* NDKPI 1.2 and later */
} NDK_QP_DISPATCH;

/* A queue pair. */
struct _NDK_QP {
    NDK_OBJECT_HEADER Header;
    const NDK_QP_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Memory region
 */

/*
 * RC. Registers memory.
 * Mdl, Length  in: the first Length bytes of the chain, virtually contiguous; resident while registered, the MDLs
 *              untouched until the request has ended
 * Flags        in: NDK_MR_FLAG_*
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_PARAMETER: not contiguous, the chain is shorter, or no bytes;
 * STATUS_ACCESS_VIOLATION: the memory is not there, or not writable; STATUS_INVALID_DEVICE_STATE: registered already,
 * or made for fast registration; STATUS_INSUFFICIENT_RESOURCES: also the limit on locked memory.
 */
typedef NTSTATUS (*NDK_FN_REGISTER_MR)(NDK_MR *pNdkMr, MDL *Mdl, SIZE_T Length, ULONG Flags,
    NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/*
 * RC. Takes the registration back: the memory is the consumer's. The region may be registered again.
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_DEVICE_STATE: not registered, a window is bound to it, or made
 * for fast registration.
 */
typedef NTSTATUS (*NDK_FN_DEREGISTER_MR)(
    NDK_MR *pNdkMr, NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/*
 * RC. Prepares a region for NdkFastRegister, once.
 * AdapterPageCount  in: most pages of one registration
 * RemoteAccess      in: whether registrations may give remote rights
 * Returns or ends with STATUS_SUCCESS; STATUS_IMPLEMENTATION_LIMIT: more pages than the adapter's FRMRPageCount;
 * STATUS_INVALID_PARAMETER: no pages; STATUS_INVALID_DEVICE_STATE: done already, or made for NdkRegisterMr;
 * STATUS_NOT_SUPPORTED: the device has no fast registration.
 */
typedef NTSTATUS (*NDK_FN_INITIALIZE_FAST_REGISTER_MR)(NDK_MR *pNdkMr, ULONG AdapterPageCount,
    BOOLEAN RemoteAccess, NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/* The token for the peer, in the byte order of this machine, once the region is registered or initialised; else 0. */
typedef UINT32 (*NDK_FN_GET_REMOTE_TOKEN_FROM_MR)(NDK_MR *pNdkMr);

/* The token for NDK_SGE, once the region is registered or initialised; else 0. */
typedef UINT32 (*NDK_FN_GET_LOCAL_TOKEN_FROM_MR)(NDK_MR *pNdkMr);

/* The functions of a memory region. */
typedef struct _NDK_MR_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkCloseMr;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_REGISTER_MR NdkRegisterMr;
    NDK_FN_DEREGISTER_MR NdkDeregisterMr;
    NDK_FN_INITIALIZE_FAST_REGISTER_MR NdkInitializeFastRegisterMr;
    NDK_FN_GET_REMOTE_TOKEN_FROM_MR NdkGetRemoteTokenFromMr;
    NDK_FN_GET_LOCAL_TOKEN_FROM_MR NdkGetLocalTokenFromMr;
} NDK_MR_DISPATCH;

/* A memory region. */
struct _NDK_MR {
    NDK_OBJECT_HEADER Header;
    const NDK_MR_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Memory window
 */

/* The token for the peer, in the byte order of this machine; another one when NdkBind has returned. */
typedef UINT32 (*NDK_FN_GET_REMOTE_TOKEN_FROM_MW)(NDK_MW *pNdkMw);

/* The functions of a memory window. */
typedef struct _NDK_MW_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkCloseMw;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_GET_REMOTE_TOKEN_FROM_MW NdkGetRemoteTokenFromMw;
} NDK_MW_DISPATCH;

/* A memory window. */
struct _NDK_MW {
    NDK_OBJECT_HEADER Header;
    const NDK_MW_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Shared receive queue
 */

/*
 * RC. Changes depth and threshold; the notification may be called once again.
 * SrqDepth, NotifyThreshold  in: new ones, 0: leave as it is
 * Returns or ends with STATUS_SUCCESS; STATUS_INVALID_PARAMETER: above the adapter's limit, below the Receives that are
 * posted, or a threshold above the depth; STATUS_INSUFFICIENT_RESOURCES: the device cannot.
 */
typedef NTSTATUS (*NDK_FN_MODIFY_SRQ)(NDK_SRQ *pNdkSrq, ULONG SrqDepth, ULONG NotifyThreshold,
    NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/* Posts a Receive as NDK_FN_RECEIVE does, at any time. Its result has the QPContext of the queue pair that took it. */
typedef NTSTATUS (*NDK_FN_SRQ_RECEIVE)(
    NDK_SRQ *pNdkSrq, PVOID RequestContext, const NDK_SGE *pSgl, ULONG nSge);

/* The functions of a shared receive queue. */
typedef struct _NDK_SRQ_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkCloseSrq;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_MODIFY_SRQ NdkModifySrq;
    NDK_FN_SRQ_RECEIVE NdkSrqReceive;
} NDK_SRQ_DISPATCH;

/* A shared receive queue. */
struct _NDK_SRQ {
    NDK_OBJECT_HEADER Header;
    const NDK_SRQ_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Shared endpoint
 */

/*
 * The local address. pAddress out, optional, pAddressLength in and out: size query.
 * Returns STATUS_SUCCESS; STATUS_BUFFER_TOO_SMALL.
 */
typedef NTSTATUS (*NDK_FN_GET_SHARED_ENDPOINT_LOCAL_ADDRESS)(
    NDK_SHARED_ENDPOINT *pNdkSharedEndpoint, SOCKADDR *pAddress, ULONG *pAddressLength);

/* The functions of a shared endpoint. */
typedef struct _NDK_SHARED_ENDPOINT_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkCloseSharedEndpoint;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_GET_SHARED_ENDPOINT_LOCAL_ADDRESS NdkGetLocalAddress;
} NDK_SHARED_ENDPOINT_DISPATCH;

/* A shared endpoint. */
struct _NDK_SHARED_ENDPOINT {
    NDK_OBJECT_HEADER Header;
    const NDK_SHARED_ENDPOINT_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Connector: makes and ends one connection of a queue pair
 *
 * Active side: NdkConnect, NdkCompleteConnect. Passive side: the listener's callback, NdkAccept or NdkReject. The close
 * of a connected connector disconnects and flushes; that of one that waits for an answer rejects. A request that a
 * close interrupts ends with STATUS_CANCELLED. A connector serves one connection; an attempt that failed may be tried
 * again on it.
 */

/*
 * RC. Asks a peer for a connection. Ends when the peer has accepted or rejected; NdkCompleteConnect or NdkReject have
 * to follow a success.
 * pNdkQp                               in: to be connected
 * pSrcAddress, SrcAddressLength        in: an address of this adapter; port 0: choose
 * pDestAddress, DestAddressLength      in: where the peer listens
 * InboundReadLimit, OutboundReadLimit  in: Reads in flight, those of the peer and those of this side; cut silently to
 *                                      what both sides can do
 * pPrivateData, PrivateDataLength      in, optional: for the peer's NdkGetConnectionData; MaxCallerData at most
 * Ends with STATUS_SUCCESS; STATUS_NETWORK_UNREACHABLE: no route; STATUS_HOST_UNREACHABLE: no answer to address
 * resolution; STATUS_CONNECTION_REFUSED: rejected, or no program listens; STATUS_IO_TIMEOUT: no answer;
 * STATUS_SHARING_VIOLATION: the local address is in use; STATUS_INVALID_ADDRESS: it is not of this adapter;
 * STATUS_TOO_MANY_ADDRESSES: no port left; STATUS_ADDRESS_ALREADY_EXISTS: both addresses are connected already;
 * STATUS_INSUFFICIENT_RESOURCES. Returns also STATUS_INVALID_PARAMETER: no queue pair of this adapter, no address, data
 * of no place, or no RequestCompletion; STATUS_INVALID_BUFFER_SIZE: too much private data;
 * STATUS_INVALID_DEVICE_STATE: the connector has been used, or the queue pair was flushed; STATUS_CONNECTION_ACTIVE:
 * the queue pair has a connection. If the call itself returns anything but STATUS_PENDING, the connector can still be
 * used.
 */
typedef NTSTATUS (*NDK_FN_CONNECT)(NDK_CONNECTOR *pNdkConnector, NDK_QP *pNdkQp,
    CONST PSOCKADDR pSrcAddress, ULONG SrcAddressLength, CONST PSOCKADDR pDestAddress,
    ULONG DestAddressLength, ULONG InboundReadLimit, ULONG OutboundReadLimit,
    CONST PVOID pPrivateData, ULONG PrivateDataLength, NDK_FN_REQUEST_COMPLETION RequestCompletion,
    PVOID RequestContext);

/* RC. As NDK_FN_CONNECT, from the address of a shared endpoint (in); none of the codes about the local address. */
typedef NTSTATUS (*NDK_FN_CONNECT_WITH_SHARED_ENDPOINT)(NDK_CONNECTOR *pNdkConnector,
    NDK_QP *pNdkQp, NDK_SHARED_ENDPOINT *pNdkSharedEndpoint, CONST PSOCKADDR pDestAddress,
    ULONG DestAddressLength, ULONG InboundReadLimit, ULONG OutboundReadLimit,
    CONST PVOID pPrivateData, ULONG PrivateDataLength, NDK_FN_REQUEST_COMPLETION RequestCompletion,
    PVOID RequestContext);

/*
 * RC. Makes the connection that the peer has accepted; the peer's NdkAccept ends.
 * DisconnectEvent, DisconnectEventContext  in, optional: called when the peer ends the connection
 * Returns or ends with STATUS_SUCCESS; STATUS_CONNECTION_INVALID: no accepted NdkConnect; STATUS_CONNECTION_ABORTED:
 * the peer gave up; STATUS_IO_TIMEOUT: no answer; STATUS_INVALID_PARAMETER: no RequestCompletion.
 */
typedef NTSTATUS (*NDK_FN_COMPLETE_CONNECT)(NDK_CONNECTOR *pNdkConnector,
    NDK_FN_DISCONNECT_EVENT_CALLBACK DisconnectEvent, PVOID DisconnectEventContext,
    NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/* RC. As NDK_FN_COMPLETE_CONNECT; the callback gets the reason. Since 2.1. */
typedef NTSTATUS (*NDK_FN_COMPLETE_CONNECT_EX)(NDK_CONNECTOR *pNdkConnector,
    NDK_FN_DISCONNECT_EVENT_CALLBACK_EX DisconnectEvent, PVOID DisconnectEventContext,
    NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/*
 * RC. Accepts a connection request. Ends when the peer completes the connection.
 * pNdkQp                                   in: to be connected
 * InboundReadLimit, OutboundReadLimit      in: as of NdkConnect
 * pPrivateData, PrivateDataLength          in, optional: for the peer's NdkGetConnectionData; MaxCalleeData at most
 * DisconnectEvent, DisconnectEventContext  in, optional: called when the peer ends the connection
 * Returns or ends with STATUS_SUCCESS; STATUS_CONNECTION_ABORTED: the peer gave up; STATUS_IO_TIMEOUT: it never
 * completed the connection. Returns also STATUS_CONNECTION_ACTIVE: no request waits in this connector, or the queue
 * pair has a connection; STATUS_INVALID_PARAMETER, STATUS_INVALID_BUFFER_SIZE, STATUS_INVALID_DEVICE_STATE: as
 * NdkConnect.
 */
typedef NTSTATUS (*NDK_FN_ACCEPT)(NDK_CONNECTOR *pNdkConnector, NDK_QP *pNdkQp,
    ULONG InboundReadLimit, ULONG OutboundReadLimit, CONST PVOID pPrivateData,
    ULONG PrivateDataLength, NDK_FN_DISCONNECT_EVENT_CALLBACK DisconnectEvent,
    PVOID DisconnectEventContext, NDK_FN_REQUEST_COMPLETION RequestCompletion,
    PVOID RequestContext);

/* RC. As NDK_FN_ACCEPT; the callback gets the reason. Since 2.1. */
typedef NTSTATUS (*NDK_FN_ACCEPT_EX)(NDK_CONNECTOR *pNdkConnector, NDK_QP *pNdkQp,
    ULONG InboundReadLimit, ULONG OutboundReadLimit, CONST PVOID pPrivateData,
    ULONG PrivateDataLength, NDK_FN_DISCONNECT_EVENT_CALLBACK_EX DisconnectEvent,
    PVOID DisconnectEventContext, NDK_FN_REQUEST_COMPLETION RequestCompletion,
    PVOID RequestContext);

/*
 * Refuses a request, or backs out after NdkConnect. The connector still has to be closed.
 * pPrivateData, PrivateDataLength  in, optional: for the peer's NdkGetConnectionData; MaxCalleeData at most
 * Returns STATUS_SUCCESS; STATUS_CONNECTION_ABORTED: the peer gave up; STATUS_INVALID_DEVICE_STATE: there is nothing to
 * refuse; STATUS_CONNECTION_INVALID: it was refused or disconnected already; STATUS_INVALID_BUFFER_SIZE: too much data;
 * STATUS_INVALID_PARAMETER: data of no place.
 */
typedef NTSTATUS (*NDK_FN_REJECT)(
    NDK_CONNECTOR *pNdkConnector, CONST PVOID pPrivateData, ULONG PrivateDataLength);

/*
 * What was agreed, and what the peer gave with NdkConnect, NdkAccept or NdkReject. Transports may deliver more bytes
 * than were given, filled with zero.
 * pInboundReadLimit, pOutboundReadLimit  out, optional
 * pPrivateData                           out, optional; what fits is stored in any case
 * pPrivateDataLength                     in and out: size query; without a buffer it has to be 0
 * Returns STATUS_SUCCESS, also of a query without a buffer; STATUS_BUFFER_TOO_SMALL; STATUS_INVALID_PARAMETER: length,
 * but no buffer; STATUS_CONNECTION_INVALID: the peer has given nothing yet.
 */
typedef NTSTATUS (*NDK_FN_GET_CONNECTION_DATA)(NDK_CONNECTOR *pNdkConnector,
    ULONG *pInboundReadLimit, ULONG *pOutboundReadLimit, VOID *pPrivateData,
    ULONG *pPrivateDataLength);

/*
 * The local address. pAddress out, optional, pAddressLength in and out: size query.
 * Returns STATUS_SUCCESS; STATUS_BUFFER_TOO_SMALL; STATUS_CONNECTION_INVALID: it has none yet.
 */
typedef NTSTATUS (*NDK_FN_GET_LOCAL_ADDRESS)(
    NDK_CONNECTOR *pNdkConnector, SOCKADDR *pAddress, ULONG *pAddressLength);

/* The peer's address, as NDK_FN_GET_LOCAL_ADDRESS; known from NdkConnect or the request on. */
typedef NTSTATUS (*NDK_FN_GET_PEER_ADDRESS)(
    NDK_CONNECTOR *pNdkConnector, SOCKADDR *pAddress, ULONG *pAddressLength);

/*
 * RC. Ends the connection: tells the peer, then flushes the queue pair.
 * Returns or ends with STATUS_SUCCESS; STATUS_IO_TIMEOUT: disconnected and flushed, without an answer from the peer;
 * STATUS_CONNECTION_INVALID: not connected; STATUS_INVALID_DEVICE_STATE: another NdkDisconnect is under way;
 * STATUS_INVALID_PARAMETER: no RequestCompletion.
 */
typedef NTSTATUS (*NDK_FN_DISCONNECT)(NDK_CONNECTOR *pNdkConnector,
    NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/*
 * Ends the connection as NDK_FN_DISCONNECT does. No table has this function, so it is not provided.
 * Abortive  in: does not wait for the peer
 */
typedef NTSTATUS (*NDK_FN_DISCONNECT_EX)(NDK_CONNECTOR *pNdkConnector, BOOLEAN Abortive,
    NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/* The functions of a connector. */
typedef struct _NDK_CONNECTOR_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkCloseConnector;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_CONNECT NdkConnect;
    NDK_FN_CONNECT_WITH_SHARED_ENDPOINT NdkConnectWithSharedEndpoint;
    NDK_FN_COMPLETE_CONNECT NdkCompleteConnect;
    NDK_FN_ACCEPT NdkAccept;
    NDK_FN_REJECT NdkReject;
    NDK_FN_GET_CONNECTION_DATA NdkGetConnectionData;
    NDK_FN_GET_LOCAL_ADDRESS NdkGetLocalAddress;
    NDK_FN_GET_PEER_ADDRESS NdkGetPeerAddress;
    NDK_FN_DISCONNECT NdkDisconnect;
    NDK_FN_COMPLETE_CONNECT_EX NdkCompleteConnectEx; /* NDKPI 2.1 and later */
    NDK_FN_ACCEPT_EX NdkAcceptEx;                    /* NDKPI 2.1 and later */
} NDK_CONNECTOR_DISPATCH;

/* A connector. */
struct _NDK_CONNECTOR {
    NDK_OBJECT_HEADER Header;
    const NDK_CONNECTOR_DISPATCH *Dispatch;
};

/* ============================================================================================================
 * Listener
 */

/*
 * RC. Takes connection requests for an address from now on, once for a listener.
 * pAddress, AddressLength  in: an address of this adapter; port 0: choose
 * Returns or ends with STATUS_SUCCESS; STATUS_SHARING_VIOLATION: the address is in use; STATUS_INVALID_ADDRESS: not of
 * this adapter, or the wildcard where the adapter has several of the family; STATUS_TOO_MANY_ADDRESSES: no port left;
 * STATUS_INVALID_PARAMETER: no address; STATUS_INVALID_DEVICE_STATE: it listens already; STATUS_INSUFFICIENT_RESOURCES.
 */
typedef NTSTATUS (*NDK_FN_LISTEN)(NDK_LISTENER *pNdkListener, CONST PSOCKADDR pAddress,
    ULONG AddressLength, NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/*
 * The local address. pAddress out, optional, pAddressLength in and out: size query.
 * Returns STATUS_SUCCESS; STATUS_BUFFER_TOO_SMALL; STATUS_INVALID_DEVICE_STATE: it does not listen.
 */
typedef NTSTATUS (*NDK_FN_GET_LISTENER_LOCAL_ADDRESS)(
    NDK_LISTENER *pNdkListener, SOCKADDR *pAddress, ULONG *pAddressLength);

/*
 * Holds connection requests off.
 * Pause  in: TRUE: refuse them as if no program listened; FALSE: take them again
 */
typedef VOID (*NDK_FN_CONTROL_CONNECT_EVENTS)(NDK_LISTENER *pNdkListener, BOOLEAN Pause);

/* The functions of a listener. */
typedef struct _NDK_LISTENER_DISPATCH {
    NDK_FN_CLOSE_OBJECT NdkCloseListener;
    NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
    NDK_FN_LISTEN NdkListen;
    NDK_FN_GET_LISTENER_LOCAL_ADDRESS NdkGetLocalAddress;
    NDK_FN_CONTROL_CONNECT_EVENTS NdkControlConnectEvents;
} NDK_LISTENER_DISPATCH;

/* A listener. */
struct _NDK_LISTENER {
    NDK_OBJECT_HEADER Header;
    const NDK_LISTENER_DISPATCH *Dispatch;
};

#ifdef __cplusplus
}
#endif

#endif
