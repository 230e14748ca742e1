/* SPDX-License-Identifier: MIT */
/*
 * ndspi_linux.h - what NetworkDirect on Linux offers beyond the Windows interfaces.
 *
 * A completion queue needs no call of its own to be waited for with poll or epoll: give the OVERLAPPED of its Notify an
 * event, and take the event's descriptor from winobj_linux.h.
 */
#ifndef NDSPI_LINUX_H
#define NDSPI_LINUX_H

#include <ndspi.h>

#include <winobj_linux.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One port of one device, used or not. The strings are good during the callback. */
typedef struct _ND_LINUX_DEVICE {
    const char *Name;
    const char *Provider; /* "rdma-core", or "softrdma" for the embedded device */
    ULONG Port;           /* of the device, counted from 1 */
    BOOL Used;            /* NDSPI_DEVICE and the host's addresses decide */
    ULONG AddressCount;   /* local addresses it serves */
    UINT64 AdapterId;     /* as IND2Provider::ResolveAddress tells */
    const char *Reason;   /* in words, why it is used or not */
} ND_LINUX_DEVICE;

typedef VOID (*ND_LINUX_DEVICE_CALLBACK)(VOID *context, const ND_LINUX_DEVICE *device);

/*
 * NdLinuxDescribeDevices - tells every device there is.
 * tell     in: called once for each, on this thread; may call any function
 * context  in: handed to tell
 * Returns ND_SUCCESS; ND_INVALID_PARAMETER_1: tell is NULL. Any thread; needs no NdStartup.
 */
HRESULT NdLinuxDescribeDevices(ND_LINUX_DEVICE_CALLBACK tell, VOID *context);

#ifdef __cplusplus
}
#endif
#endif
