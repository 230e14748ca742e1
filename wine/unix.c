/* SPDX-License-Identifier: MIT */
/* unix.c - the unix calls that are not generated from an interface: class objects, and IUnknown of all objects. */
#include "wine/unix.h"

#include "ndspi/core/board.h"
#include "ndspi/dll/dll.h"
#include "wine/file.h"
#include "wine/nt.h"
#include "wine/sink_wine.h"
#include "util/guard.h"
#include "util/log.h"

#include <string.h>

int32_t nd_call_start(void *args)
{
    struct nd_start_call *call = args;
    const char *build = call && call->build ? call->build : "one without a name";

    if (call)
        call->native_build = ND_CALLS_BUILD;
    if (strcmp(build, ND_CALLS_BUILD) != 0) {
        log_write(LOG_ERROR, LOG_WIN,
            "ndspi.dll is of the build %s, this ndspi.so of %s: \"ndspi-wine install\" makes them "
            "fit",
            build, ND_CALLS_BUILD);
        return -1;
    }
    nd_publish_program(call->program);
    guard_install();
    return nd_nt_init() && nd_deliver_init(nd_wine_files_look) ? 0 : -1;
}

/* The serving thread's call; it never returns. */
int32_t nd_call_serve(void *args)
{
    (void)args;
    nd_wine_enter();
    nd_deliver_serve();
    return -1;
}

/* DllGetClassObject returns objects of three kinds; the first interface that the object has tells its kind. */
static enum nd_kind kind_of(IUnknown *object)
{
    static const struct {
        const IID *iid;
        enum nd_kind kind;
    } kinds[] = {
        { &IID_IClassFactory, ND_KIND_IClassFactory },
        { &IID_IND2Provider, ND_KIND_IND2Provider },
        { &IID_INDProvider, ND_KIND_INDProvider },
    };
    void *found;

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (FAILED(object->lpVtbl->QueryInterface(object, kinds[i].iid, &found)))
            continue;
        object->lpVtbl->Release(object);
        return kinds[i].kind;
    }
    return ND_KINDS;
}

static void describe(struct nd_create_call *call, void *object)
{
    if (FAILED(call->result))
        return;
    call->object = object;
    call->kind = kind_of(object);
}

int32_t nd_call_get_class_object(void *args)
{
    struct nd_create_call *call = args;
    void *object = NULL;

    nd_wine_readable(call->clsid, sizeof(*call->clsid));
    nd_wine_readable(call->iid, sizeof(*call->iid));
    nd_wine_enter();
    call->result = nd_get_class_object(&nd_sink_wine, call->clsid, call->iid, &object);
    describe(call, object);
    nd_wine_leave();
    return 0;
}

int32_t nd_call_create_instance(void *args)
{
    struct nd_create_call *call = args;
    void *object = NULL;

    nd_wine_readable(call->iid, sizeof(*call->iid));
    nd_wine_enter();
    call->result = call->native->lpVtbl->CreateInstance(call->native, NULL, call->iid, &object);
    describe(call, object);
    nd_wine_leave();
    return 0;
}

int32_t nd_call_lock_server(void *args)
{
    struct nd_lock_server_call *call = args;

    call->result = call->native->lpVtbl->LockServer(call->native, call->lock);
    return 0;
}

int32_t nd_call_can_unload(void *args)
{
    struct nd_count_call *call = args;

    call->result = (ULONG)DllCanUnloadNow();
    return 0;
}

int32_t nd_call_query_interface(void *args)
{
    struct nd_query_interface_call *call = args;

    call->result = call->native->lpVtbl->QueryInterface(call->native, call->iid, call->object);
    return 0;
}

int32_t nd_call_add_ref(void *args)
{
    struct nd_count_call *call = args;

    call->result = call->native->lpVtbl->AddRef(call->native);
    return 0;
}

/* Delivers the completions of the object's requests: after the last Release nothing may touch their OVERLAPPEDs. */
int32_t nd_call_release(void *args)
{
    struct nd_count_call *call = args;

    nd_wine_enter();
    call->result = call->native->lpVtbl->Release(call->native);
    if (call->result)
        nd_wine_leave();
    else
        nd_wine_leave_delivered();
    return 0;
}
