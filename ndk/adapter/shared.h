/* SPDX-License-Identifier: MIT */
/*
 * shared.h - the open devices. A driver opens an interface once for each of its sockets and uses objects of these opens
 * together, such as a listener's connector with another open's queue pair: so all opens of a device in a process have
 * one adapter of the core.
 */
#ifndef NDK_ADAPTER_SHARED_H
#define NDK_ADAPTER_SHARED_H

#include "ndk/object/adapter.h"

/*
 * ndk_shared_take - the device, opened unless an adapter of it is open already. It blocks.
 * shared  out: the caller's until ndk_shared_give_back
 * Returns STATUS_SUCCESS, STATUS_INSUFFICIENT_RESOURCES, NDIS_STATUS_ADAPTER_NOT_READY.
 */
NTSTATUS ndk_shared_take(const struct nd_device *device, struct ndk_shared **shared);

/* The last one closes the device. It blocks until the core is done with it; no callback may be waited for then. */
void ndk_shared_give_back(struct ndk_shared *shared);

#endif
