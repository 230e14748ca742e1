/* SPDX-License-Identifier: MIT */
/*
 * calls.h - what the two sides of the bridge agree on: the numbers of the calls and their parameter blocks. Compiled by
 * MinGW and by the native compiler; on x86-64 both lay these structures out alike, and pointers mean the same memory.
 *
 * All blocks but those below are generated from ndspi.h (forward.pl).
 */
#ifndef WINE_CALLS_H
#define WINE_CALLS_H

#include <winsock2.h>
#include <windows.h>

#include <unknwn.h>

#include <ndprovider.h>
#include <ndspi.h>

#define ND_CALLS_BY_HAND                                                                           \
    ND_CALL_START, ND_CALL_SERVE, ND_CALL_GET_CLASS_OBJECT, ND_CALL_CAN_UNLOAD,                    \
        ND_CALL_CREATE_INSTANCE, ND_CALL_LOCK_SERVER, ND_CALL_QUERY_INTERFACE, ND_CALL_ADD_REF,    \
        ND_CALL_RELEASE,

#include "forward_calls.h"

#define ND_KIND_MEMBER(interface) ND_KIND_##interface,
/* What a proxy stands for, hence its vtable. */
enum nd_kind { ND_KIND_IClassFactory, ND_INTERFACES(ND_KIND_MEMBER) ND_KINDS };
#undef ND_KIND_MEMBER

/*
 * The first call, whose number and first members stay what they are in every build: the two sides tell each other their
 * builds, which have to be the same. One from before there were builds hands over no block, or leaves native_build.
 */
struct nd_start_call {
    const char *build;        /* in: of ndspi.dll, ND_CALLS_BUILD */
    const char *native_build; /* out: of ndspi.so; NULL before the call */
    const char *program;      /* in: the program's name without its path, UTF-8 */
};

/* DllGetClassObject, and IClassFactory::CreateInstance of native with clsid unused. */
struct nd_create_call {
    IClassFactory *native;
    const CLSID *clsid;
    const IID *iid;
    IUnknown *object;  /* out */
    enum nd_kind kind; /* out: what the object is */
    HRESULT result;
};

struct nd_lock_server_call {
    IClassFactory *native;
    BOOL lock;
    HRESULT result;
};

struct nd_query_interface_call {
    IUnknown *native;
    const IID *iid;
    VOID **object;
    HRESULT result;
};

/* AddRef, Release and DllCanUnloadNow. */
struct nd_count_call {
    IUnknown *native;
    ULONG result;
};

#endif
