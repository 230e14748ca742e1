/* SPDX-License-Identifier: MIT */
/*
 * watch.h - the callbacks of checked calls: the checker's own callback records the call that it ends, gives the object
 * to the consumer or compares the MDLs, then calls the consumer's.
 *
 * Without memory for that, the consumer's callback is passed on unchanged.
 */
#ifndef NDK_VERIFIER_WATCH_H
#define NDK_VERIFIER_WATCH_H

#include "ndk/verifier/shadow.h"

/* The record for the callback of a call; freed after the callback, or if none comes. */
struct ndk_watched;

/* A call with a request completion, on its stack. */
struct ndk_watch {
    struct ndk_use *use;
    NDK_FN_REQUEST_COMPLETION completion; /* this and context are given to the plain function */
    PVOID context;
    struct ndk_watched *watched;
};

/* Begins to watch a call, after ndk_use_begin. */
void ndk_watch_begin(struct ndk_watch *watch, struct ndk_use *use,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context);
/* The call has these MDLs until it ends: of the first length bytes. */
void ndk_watch_mdls(struct ndk_watch *watch, const MDL *mdl, SIZE_T length);
/* Ends the use, too. Returns status, what the plain function returned. */
NTSTATUS ndk_watch_end(struct ndk_watch *watch, NTSTATUS status);

/* A call that makes an object, on its stack. */
struct ndk_making {
    struct ndk_use *use;
    NDK_FN_CREATE_COMPLETION completion;
    PVOID context;
    struct ndk_watched *watched;
    void *of_callback;
};

/* of_callback in: of ndk_shadow_give, or NULL; freed where no object is made */
void ndk_making_begin(struct ndk_making *making, struct ndk_use *use,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, void *of_callback);
/* out in: where the plain function stored the object */
NTSTATUS ndk_making_end(struct ndk_making *making, NTSTATUS status, void *const *out);

/* IoFreeMdl is called. */
void ndk_watch_free_mdl(const MDL *mdl);

#endif
