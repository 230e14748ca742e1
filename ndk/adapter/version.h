/* SPDX-License-Identifier: MIT */
/*
 * version.h - which version an adapter is opened with.
 *
 * The version tells consumers whether peers can invalidate this adapter's memory: with 1.2 or more they rely on it. So
 * a device whose peers cannot offers 1.1 only.
 */
#ifndef NDK_ADAPTER_VERSION_H
#define NDK_ADAPTER_VERSION_H

#include <ndkinfo.h>
#include <stdbool.h>

/*
 * ndk_version_choose - the highest minor version of the major version asked for.
 * asked        in: major version, and the lowest minor version that will do
 * invalidates  in: peers can invalidate memory of the device, and it reports that
 * chosen       out: on success
 * Returns STATUS_SUCCESS or NDIS_STATUS_BAD_VERSION.
 */
NTSTATUS ndk_version_choose(NDK_VERSION asked, bool invalidates, NDK_VERSION *chosen);

#endif
