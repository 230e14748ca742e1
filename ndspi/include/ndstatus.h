/* SPDX-License-Identifier: MIT */
/*
 * ndstatus.h - the codes NetworkDirect calls return and requests end with.
 *
 * A code is an HRESULT whose value is that of the NTSTATUS of the same meaning. Test with SUCCEEDED and FAILED or by
 * comparison: ND_TIMEOUT and ND_PENDING count as success, 0x8000xxxx as failure. The header needs HRESULT of windows.h
 * where a code is used, nothing where it is included.
 */
#ifndef _NDSTATUS_
#define _NDSTATUS_

/* clang-format off */
#define ND_SUCCESS                ((HRESULT)0x00000000)  /* done */
#define ND_TIMEOUT                ((HRESULT)0x00000102)  /* timed out, may be tried again (a success code) */
#define ND_PENDING                ((HRESULT)0x00000103)  /* an overlapped request was started */
#define ND_BUFFER_OVERFLOW        ((HRESULT)0x80000005U) /* buffer too small, message too long, CQ overrun */
#define ND_DEVICE_BUSY            ((HRESULT)0x80000011U) /* a memory window is still bound to the region */
#define ND_NO_MORE_ENTRIES        ((HRESULT)0x8000001AU) /* the request queue is full */
#define ND_UNSUCCESSFUL           ((HRESULT)0xC0000001U) /* failed for a reason without a code of its own */
#define ND_ACCESS_VIOLATION       ((HRESULT)0xC0000005U) /* memory, token or access rights do not allow it */
#define ND_INVALID_HANDLE         ((HRESULT)0xC0000008U) /* the handle is none of this adapter's */
#define ND_INVALID_PARAMETER      ((HRESULT)0xC000000DU) /* an argument is out of range */
#define ND_INVALID_DEVICE_REQUEST ((HRESULT)0xC0000010U) /* malformed request, window not bound or bound already */
#define ND_NO_MEMORY              ((HRESULT)0xC0000017U) /* out of host memory */
#define ND_INVALID_PARAMETER_MIX  ((HRESULT)0xC0000030U) /* arguments contradict each other */
#define ND_DATA_OVERRUN           ((HRESULT)0xC000003CU) /* too many scatter/gather entries; local length error */
#define ND_SHARING_VIOLATION      ((HRESULT)0xC0000043U) /* the local address is in use */
#define ND_INSUFFICIENT_RESOURCES ((HRESULT)0xC000009AU) /* out of device resources */
#define ND_DEVICE_NOT_READY       ((HRESULT)0xC00000A3U) /* NdStartup was not called */
#define ND_IO_TIMEOUT             ((HRESULT)0xC00000B5U) /* the peer does not answer */
#define ND_NOT_SUPPORTED          ((HRESULT)0xC00000BBU) /* the adapter cannot do this */
#define ND_INTERNAL_ERROR         ((HRESULT)0xC00000E5U) /* a queue of the device failed */
#define ND_INVALID_PARAMETER_1    ((HRESULT)0xC00000EFU) /* the argument of this position is wrong ... */
#define ND_INVALID_PARAMETER_2    ((HRESULT)0xC00000F0U)
#define ND_INVALID_PARAMETER_3    ((HRESULT)0xC00000F1U)
#define ND_INVALID_PARAMETER_4    ((HRESULT)0xC00000F2U)
#define ND_INVALID_PARAMETER_5    ((HRESULT)0xC00000F3U)
#define ND_INVALID_PARAMETER_6    ((HRESULT)0xC00000F4U)
#define ND_INVALID_PARAMETER_7    ((HRESULT)0xC00000F5U)
#define ND_INVALID_PARAMETER_8    ((HRESULT)0xC00000F6U)
#define ND_INVALID_PARAMETER_9    ((HRESULT)0xC00000F7U)
#define ND_INVALID_PARAMETER_10   ((HRESULT)0xC00000F8U) /* ... counted from 1, the object itself not included */
#define ND_CANCELED               ((HRESULT)0xC0000120U) /* cancelled, or flushed from its queue */
#define ND_REMOTE_ERROR           ((HRESULT)0xC000013DU) /* the request failed at the peer */
#define ND_INVALID_ADDRESS        ((HRESULT)0xC0000141U) /* malformed, or no adapter has this address */
#define ND_INVALID_DEVICE_STATE   ((HRESULT)0xC0000184U) /* the object's state does not allow the call */
#define ND_INVALID_BUFFER_SIZE    ((HRESULT)0xC0000206U) /* private data too long; region of no length */
#define ND_TOO_MANY_ADDRESSES     ((HRESULT)0xC0000209U) /* no port is left */
#define ND_ADDRESS_ALREADY_EXISTS ((HRESULT)0xC000020AU) /* the address is listened on already */
#define ND_CONNECTION_REFUSED     ((HRESULT)0xC0000236U) /* rejected, or no program listens */
#define ND_CONNECTION_INVALID     ((HRESULT)0xC000023AU) /* not connected */
#define ND_CONNECTION_ACTIVE      ((HRESULT)0xC000023BU) /* the object serves another connection already */
#define ND_NETWORK_UNREACHABLE    ((HRESULT)0xC000023CU) /* no route to the network */
#define ND_HOST_UNREACHABLE       ((HRESULT)0xC000023DU) /* no answer to address resolution */
#define ND_CONNECTION_ABORTED     ((HRESULT)0xC0000241U) /* the peer gave up meanwhile */
#define ND_DEVICE_REMOVED         ((HRESULT)0xC00002B6U) /* the adapter is gone */
/* clang-format on */

/* Names of version 1 for two of them. */
#define ND_LOCAL_LENGTH       ND_DATA_OVERRUN
#define ND_INVALIDATION_ERROR ND_INVALID_DEVICE_REQUEST

#endif
