/* SPDX-License-Identifier: MIT */
/*
 * ndkinfo.h - NDKPI: what an adapter is and can do.
 *
 * Source: NDK_VERSION, NDK_ADAPTER_INFO and NDK_RDMA_TECHNOLOGY of the NDKPI documentation.
 */
#ifndef _NDKINFO_H_
#define _NDKINFO_H_

#include <ndktypes.h>

/* clang-format off */
/* NDK_ADAPTER_INFO.AdapterFlags */
#define NDK_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED               0x00000001 /* data lands in order */
#define NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED          0x00000002 /* any local memory may be a target of Read */
#define NDK_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED    0x00000004 /* NdkControlCqInterruptModeration works */
#define NDK_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED               0x00000008 /* several connections may be faster */
#define NDK_ADAPTER_FLAG_RDMA_READ_LOCAL_INVALIDATE_SUPPORTED 0x00000010 /* the flag of NdkRead works; since 1.2 */
#define NDK_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED                  0x00000100 /* NdkResizeCq works */
#define NDK_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED       0x00010000 /* an address may connect to itself */
/* clang-format on */

/*
 * A version. The one asked for when an adapter is opened names a major version and the lowest minor version that the
 * caller accepts; objects and NDK_ADAPTER_INFO have the highest minor version of that major version. Remote
 * invalidation and deferred requests exist from 1.2 on; no flag reports them.
 */
typedef struct _NDK_VERSION {
    USHORT Major;
    USHORT Minor;
} NDK_VERSION;

/* What carries the adapter's connections. Since 2.0. */
typedef enum _NDK_RDMA_TECHNOLOGY {
    NdkUndefined = 0,
    NdkiWarp = 1,
    NdkInfiniBand = 2,
    NdkRoCE = 3,
    NdkRoCEv2 = 4,
    NdkMaxTechnology = 5
} NDK_RDMA_TECHNOLOGY;

/* What an adapter can do (NdkQueryAdapterInfo): 0x68 bytes, 0x60 before 2.0. Sizes in bytes, limits in entries. */
typedef struct _NDK_ADAPTER_INFO {
    NDK_VERSION Version; /* negotiated; before 2.0 the structure ends in front of RdmaTechnology */
    UINT32 VendorId;     /* 24 bits: an OUI */
    UINT32 DeviceId;
    SIZE_T MaxRegistrationSize;
    SIZE_T MaxWindowSize;
    ULONG FRMRPageCount;          /* pages of one fast registration, at least 16 */
    ULONG MaxInitiatorRequestSge; /* entries of one Send or Write */
    ULONG MaxReceiveRequestSge;
    ULONG MaxReadRequestSge; /* entries of one Read, whatever MaxInitiatorRequestSge says */
    ULONG MaxTransferLength; /* bytes of one request */
    ULONG MaxInlineDataSize;
    ULONG MaxInboundReadLimit;  /* Reads in flight of one queue pair, of this adapter's memory */
    ULONG MaxOutboundReadLimit; /* Reads in flight of one queue pair, of the peer's memory */
    ULONG MaxReceiveQueueDepth;
    ULONG MaxInitiatorQueueDepth;
    ULONG MaxSrqDepth; /* 0: no shared receive queues */
    ULONG MaxCqDepth;
    ULONG LargeRequestThreshold;        /* bytes from which on Reads and Writes are advised */
    ULONG MaxCallerData;                /* private data of NdkConnect */
    ULONG MaxCalleeData;                /* private data of NdkAccept and NdkReject */
    ULONG AdapterFlags;                 /* NDK_ADAPTER_FLAG_* */
    NDK_RDMA_TECHNOLOGY RdmaTechnology; /* NDKPI 2.0 and later */
} NDK_ADAPTER_INFO;

#endif
