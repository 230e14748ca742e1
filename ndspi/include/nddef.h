/* SPDX-License-Identifier: MIT */
/*
 * nddef.h - versions, flags and structures of NetworkDirect that know no interface.
 *
 * Source: NetworkDirect SPI versions 1 and 2, structures and enumerations of the same names.
 */
#ifndef _NDDEF_H_
#define _NDDEF_H_

#include <winsock2.h>

#define ND_VERSION_1 0x00000001
#define ND_VERSION_2 0x00020000

/* clang-format off */
/* ND2_ADAPTER_INFO.AdapterFlags */
#define ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED             0x00000001 /* data lands in order: the end may be polled */
#define ND_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED  0x00000004
#define ND_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED             0x00000008 /* completion queues progress in parallel */
#define ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED                0x00000100
#define ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED     0x00010000

/* Notify of a completion queue */
#define ND_CQ_NOTIFY_ERRORS    0 /* errors of the queue itself */
#define ND_CQ_NOTIFY_ANY       1 /* any completion */
#define ND_CQ_NOTIFY_SOLICITED 2 /* a Receive whose sender asked for an event, or a failed request */

/* Register of a memory region. Local reading is always allowed. */
#define ND_MR_FLAG_ALLOW_LOCAL_WRITE  0x00000001 /* target of Receive and Read */
#define ND_MR_FLAG_ALLOW_REMOTE_READ  0x00000002
#define ND_MR_FLAG_ALLOW_REMOTE_WRITE 0x00000005 /* includes local write; test bit 4 alone */
#define ND_MR_FLAG_RDMA_READ_SINK     0x00000008 /* target of Read; some transports need it */
#define ND_MR_FLAG_DO_NOT_SECURE_VM   0x80000000 /* accepted, without effect here */

/* Requests of a queue pair; valid are: Send 0x27, Write 0x23, Read and Invalidate 0x03, Bind 0x1B. */
#define ND_OP_FLAG_SILENT_SUCCESS         0x00000001 /* no completion unless it fails */
#define ND_OP_FLAG_READ_FENCE             0x00000002 /* start only when all earlier Reads are done */
#define ND_OP_FLAG_SEND_AND_SOLICIT_EVENT 0x00000004 /* wake the receiver's ND_CQ_NOTIFY_SOLICITED */
#define ND_OP_FLAG_ALLOW_READ             0x00000008 /* Bind: peers may read through the window */
#define ND_OP_FLAG_ALLOW_WRITE            0x00000010 /* Bind: peers may write through the window */
#define ND_OP_FLAG_INLINE                 0x00000020 /* Send, Write: copy the data now, tokens are not looked at */
/* clang-format on */

/* What an adapter can do (IND2Adapter::Query). Sizes in bytes, depths in requests. */
typedef struct _ND2_ADAPTER_INFO {
    ULONG InfoVersion; /* the version asked for (in, ND_VERSION_2), the version delivered (out) */
    UINT16 VendorId;
    UINT16 DeviceId;
    UINT64 AdapterId; /* what IND2Provider::ResolveAddress returns */
    SIZE_T MaxRegistrationSize;
    SIZE_T MaxWindowSize;
    ULONG MaxInitiatorSge; /* entries of one Send or Write */
    ULONG MaxReceiveSge;
    ULONG MaxReadSge;        /* entries of one Read, at most MaxInitiatorSge */
    ULONG MaxTransferLength; /* bytes of one request */
    ULONG MaxInlineDataSize;
    ULONG MaxInboundReadLimit; /* Reads in flight with this adapter as the target, per queue pair */
    ULONG MaxOutboundReadLimit; /* Reads in flight with this adapter as the initiator */
    ULONG MaxReceiveQueueDepth;
    ULONG MaxInitiatorQueueDepth;
    ULONG MaxSharedReceiveQueueDepth; /* 0: no shared receive queues */
    ULONG MaxCompletionQueueDepth;
    ULONG InlineRequestThreshold; /* the longest data for which inline is advised */
    ULONG LargeRequestThreshold;  /* the shortest data for which Read and Write are advised */
    ULONG MaxCallerData;          /* private data of Connect */
    ULONG MaxCalleeData;          /* private data of Accept and Reject */
    ULONG AdapterFlags;           /* ND_ADAPTER_FLAG_* */
} ND2_ADAPTER_INFO, *PND2_ADAPTER_INFO;

/* ND2_ADAPTER_INFO as a 32-bit program sees it, whatever this one is. */
typedef struct _ND2_ADAPTER_INFO32 {
    ULONG InfoVersion;
    UINT16 VendorId;
    UINT16 DeviceId;
    UINT64 AdapterId;
    UINT32 MaxRegistrationSize; /* both saturate */
    UINT32 MaxWindowSize;
    ULONG MaxInitiatorSge;
    ULONG MaxReceiveSge;
    ULONG MaxReadSge;
    ULONG MaxTransferLength;
    ULONG MaxInlineDataSize;
    ULONG MaxInboundReadLimit;
    ULONG MaxOutboundReadLimit;
    ULONG MaxReceiveQueueDepth;
    ULONG MaxInitiatorQueueDepth;
    ULONG MaxSharedReceiveQueueDepth;
    ULONG MaxCompletionQueueDepth;
    ULONG InlineRequestThreshold;
    ULONG LargeRequestThreshold;
    ULONG MaxCallerData;
    ULONG MaxCalleeData;
    ULONG AdapterFlags;
} ND2_ADAPTER_INFO32, *PND2_ADAPTER_INFO32;

/* What kind of request a result is of. */
typedef enum _ND2_REQUEST_TYPE {
    Nd2RequestTypeReceive,
    Nd2RequestTypeSend,
    Nd2RequestTypeBind,
    Nd2RequestTypeInvalidate,
    Nd2RequestTypeRead,
    Nd2RequestTypeWrite
} ND2_REQUEST_TYPE;

/* A finished request (IND2CompletionQueue::GetResults). Every member is right for failed requests too. */
typedef struct _ND2_RESULT {
    HRESULT Status;
    ULONG BytesTransferred; /* a Receive's; undefined for other requests */
    VOID *QueuePairContext; /* CreateQueuePair's context */
    VOID *RequestContext;   /* the request's context */
    ND2_REQUEST_TYPE RequestType;
} ND2_RESULT, *PND2_RESULT;

/* One piece of a request's local memory. */
typedef struct _ND2_SGE {
    VOID *Buffer;
    ULONG BufferLength;
    UINT32 MemoryRegionToken; /* IND2MemoryRegion::GetLocalToken */
} ND2_SGE, *PND2_SGE;

/* Version 1: what a finished request left; the caller's, from the request until GetResults has returned its address. */
typedef struct _ND_RESULT {
    HRESULT Status;
    SIZE_T BytesTransferred; /* 0 for Bind, Invalidate and failed requests */
} ND_RESULT;

/* One registration (INDAdapter::RegisterMemory); NULL in an ND_SGE: inline data. */
typedef VOID *ND_MR_HANDLE;

/* One piece of a request's local memory. */
typedef struct _ND_SGE {
    VOID *pAddr;
    SIZE_T Length;
    ND_MR_HANDLE hMr;
} ND_SGE;

/* A bound window, to be sent to the peer as it is: packed, every member in network order. */
#pragma pack(push, 1)
typedef struct _ND_MW_DESCRIPTOR {
    UINT64 Base;
    UINT64 Length;
    UINT32 Token;
} ND_MW_DESCRIPTOR;
#pragma pack(pop)

#endif
