/* SPDX-License-Identifier: MIT */
/*
 * unix.h - the native side of the bridge: the unix calls, by which threads of a Windows program enter it. They run on
 * Wine's stack for such calls (1 MB), with Wine's signals; so they may use Wine's own system calls (nt.h), which the
 * library's own threads must not.
 */
#ifndef WINE_UNIX_H
#define WINE_UNIX_H

#define CONST_VTABLE
#include "wine/calls.h"

#include "wine/address.h"
#include "wine/argument.h"
#include "wine/deliver.h"

typedef int32_t nd_wine_call(void *args);

nd_wine_call nd_call_start, nd_call_serve, nd_call_get_class_object, nd_call_can_unload,
    nd_call_create_instance, nd_call_lock_server, nd_call_query_interface, nd_call_add_ref,
    nd_call_release;

#define ND_CALL_FUNCTIONS_BY_HAND                                                                  \
    [ND_CALL_START] = nd_call_start, [ND_CALL_SERVE] = nd_call_serve,                              \
    [ND_CALL_GET_CLASS_OBJECT] = nd_call_get_class_object,                                         \
    [ND_CALL_CAN_UNLOAD] = nd_call_can_unload,                                                     \
    [ND_CALL_CREATE_INSTANCE] = nd_call_create_instance,                                           \
    [ND_CALL_LOCK_SERVER] = nd_call_lock_server,                                                   \
    [ND_CALL_QUERY_INTERFACE] = nd_call_query_interface, [ND_CALL_ADD_REF] = nd_call_add_ref,      \
    [ND_CALL_RELEASE] = nd_call_release,

/* Wine looks this table up by its name; forward.pl generates it. */
extern nd_wine_call *const __wine_unix_call_funcs[ND_CALLS];

#endif
