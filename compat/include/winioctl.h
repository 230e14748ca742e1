/* SPDX-License-Identifier: MIT */
/*
 * winioctl.h - how the code of a device's request is put together (devioctl.h). Nothing here takes one: DeviceIoControl
 * does not exist.
 */
#ifndef WINCOMPAT_WINIOCTL_H
#define WINCOMPAT_WINIOCTL_H

#include <wincompat/base.h>
#include <wincompat/devioctl.h>

#endif
