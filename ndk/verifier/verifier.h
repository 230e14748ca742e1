/* SPDX-License-Identifier: MIT */
/* verifier.h - where the checker of consumers (NDK_VERIFIER) begins and ends. */
#ifndef NDK_VERIFIER_VERIFIER_H
#define NDK_VERIFIER_VERIFIER_H

#include "ndk/object/object.h"

/* An adapter is being opened: if the checker is switched on, its objects will be checked. Before it is initialised. */
void ndk_verifier_start(struct ndk_root *root);

/* The adapter is open, and the consumer's. */
void ndk_verifier_opened(NDK_ADAPTER *adapter);

/* NdklCloseAdapter is called. Returns false: the adapter is closed already; nothing else may be done. */
bool ndk_verifier_closes(NDK_ADAPTER *adapter);

/* IoFreeMdl is called; mdl may be NULL. */
void ndk_verifier_frees(const MDL *mdl);

#endif
