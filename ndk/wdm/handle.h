/* SPDX-License-Identifier: MIT */
/*
 * handle.h - handles of ndkwdm.h: numbers of objects, until ZwClose. An object has a struct ndk_handle.
 */
#ifndef NDK_WDM_HANDLE_H
#define NDK_WDM_HANDLE_H

#include <ndkwdm.h>

#include <stdatomic.h>

enum ndk_handle_kind { NDK_HANDLE_THREAD, NDK_HANDLE_KEY, NDK_HANDLE_FILE };

struct ndk_handle {
    LIST_ENTRY link;
    HANDLE number;
    enum ndk_handle_kind kind;
    atomic_int references;
    void (*release)(struct ndk_handle *handle);
};

/* Makes one open; release is called when it is closed and nobody has it any more. Returns its number. */
HANDLE ndk_handle_open(struct ndk_handle *handle, enum ndk_handle_kind kind,
    void (*release)(struct ndk_handle *handle));
/* An open one of that kind, until ndk_handle_put. NULL: there is none. */
struct ndk_handle *ndk_handle_take(HANDLE number, enum ndk_handle_kind kind);
void ndk_handle_put(struct ndk_handle *handle);

#endif
