/* SPDX-License-Identifier: MIT */
/*
 * tables.h - the checked tables. Their functions check, then call the object's plain ones. On a closed object they do
 * nothing but return STATUS_INVALID_DEVICE_STATE, 0, or, for a close, STATUS_SUCCESS.
 */
#ifndef NDK_VERIFIER_TABLES_H
#define NDK_VERIFIER_TABLES_H

#include "ndk/verifier/shadow.h"

extern const NDK_ADAPTER_DISPATCH ndk_checked_adapter;
extern const NDK_PD_DISPATCH ndk_checked_pd;
extern const NDK_CQ_DISPATCH ndk_checked_cq;
extern const NDK_QP_DISPATCH ndk_checked_qp;
extern const NDK_SRQ_DISPATCH ndk_checked_srq;
extern const NDK_MR_DISPATCH ndk_checked_mr;
extern const NDK_MW_DISPATCH ndk_checked_mw;
extern const NDK_CONNECTOR_DISPATCH ndk_checked_connector;
extern const NDK_LISTENER_DISPATCH ndk_checked_listener;
extern const NDK_SHARED_ENDPOINT_DISPATCH ndk_checked_endpoint;

/* The checked table of a type of objects. */
const void *ndk_checked_table(NDK_OBJECT_TYPE type);

/* The object's own table, of a type. */
#define NDK_PLAIN(use, table) ((const table *)(use)->shadow->plain)

/* Each table begins with these two; the adapter's, which has no close, with the second. */
NTSTATUS ndk_checked_close(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context);
NTSTATUS ndk_checked_query_extension(
    NDK_OBJECT_HEADER *header, GUID *id, NDK_VERSION version, NDK_EXTENSION_INTERFACE *extension);

#endif
