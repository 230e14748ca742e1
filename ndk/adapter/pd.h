/* SPDX-License-Identifier: MIT */
/* pd.h - protection domains. */
#ifndef NDK_ADAPTER_PD_H
#define NDK_ADAPTER_PD_H

#include "ndk/object/adapter.h"

/* NdkCreatePd, as NDK_FN_CREATE_PD describes it. */
NTSTATUS ndk_create_pd(
    NDK_ADAPTER *adapter, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_PD **out);

#endif
