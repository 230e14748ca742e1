/* SPDX-License-Identifier: MIT */
/*
 * calls.h - what the two sides of the bridge agree on: the numbers of the calls and their parameter blocks. MinGW and
 * the native compiler compile it; on x86-64 both lay these structures out alike, and pointers mean the same memory.
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
/* The interface that a proxy stands for; it determines the vtable. */
enum nd_kind { ND_KIND_IClassFactory, ND_INTERFACES(ND_KIND_MEMBER) ND_KINDS };
#undef ND_KIND_MEMBER

/*
 * The first call, whose number and first members are the same in every build: the two sides tell each other their
 * builds, which have to be equal. A side that is older than this check passes no block, or does not set native_build.
 */
struct nd_start_call {
    const char *build;        /* ndspi.dll's ND_CALLS_BUILD */
    const char *native_build; /* out: ndspi.so's ND_CALLS_BUILD; NULL before the call */
    const char *program;      /* the name of the program's file without its path, UTF-8 */
};

/* Parameters of DllGetClassObject, and of native's IClassFactory::CreateInstance, which leaves clsid unused. */
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

/* Parameters of AddRef, Release and DllCanUnloadNow. */
struct nd_count_call {
    IUnknown *native;
    ULONG result;
};

#endif
