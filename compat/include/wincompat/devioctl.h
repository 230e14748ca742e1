/* SPDX-License-Identifier: MIT */
/*
 * devioctl.h - how the code of a device's request is put together, which <winioctl.h> and the headers for drivers have
 * in common. The codes themselves are those of Windows' devices.
 */
#ifndef WINCOMPAT_DEVIOCTL_H
#define WINCOMPAT_DEVIOCTL_H

#include <wincompat/types.h>

typedef DWORD DEVICE_TYPE;

#define CTL_CODE(device, function, method, access)                                                 \
    (((device) << 16) | ((access) << 14) | ((function) << 2) | (method))
#define DEVICE_TYPE_FROM_CTL_CODE(code) (((ULONG)((code)&0xffff0000)) >> 16)

#define METHOD_BUFFERED   0
#define METHOD_IN_DIRECT  1
#define METHOD_OUT_DIRECT 2
#define METHOD_NEITHER    3
#define FILE_ANY_ACCESS   0
#define FILE_READ_ACCESS  0x0001
#define FILE_WRITE_ACCESS 0x0002

#define FILE_DEVICE_FILE_SYSTEM 0x09
#define FILE_DEVICE_NETWORK     0x12
#define FILE_DEVICE_NULL        0x15
#define FILE_DEVICE_TRANSPORT   0x21
#define FILE_DEVICE_UNKNOWN     0x22

#endif
