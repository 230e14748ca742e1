/* SPDX-License-Identifier: MIT */
/*
 * class_factory.c - the class object of a version: some programs ask the library for it and create the provider object
 * with it, others ask for the provider directly. It pins the library, as does each LockServer(TRUE).
 *
 * Source: COM, IClassFactory.
 */
#include "ndspi/dll/class_factory.h"

#include "ndspi/com/unknown.h"
#include "ndspi/core/library.h"

#include <ndspi.h>

#include <stdlib.h>

struct nd_class_factory {
    IClassFactory IClassFactory_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    nd_provider_create *create;
    const struct nd_sink *sink;
};

static const IID *const iids[] = { &IID_IUnknown, &IID_IClassFactory, NULL };

static void nd_class_factory_close(struct nd_class_factory *factory)
{
    free(factory);
    nd_library_unpin();
}

ND_COM_UNKNOWN(nd_class_factory, IClassFactory);

static HRESULT STDMETHODCALLTYPE nd_class_factory_CreateInstance(
    IClassFactory *iface, IUnknown *outer, REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (outer)
        return CLASS_E_NOAGGREGATION;
    return impl_from_IClassFactory(iface)->create(impl_from_IClassFactory(iface)->sink, iid, out);
}

static HRESULT STDMETHODCALLTYPE nd_class_factory_LockServer(IClassFactory *iface, BOOL lock)
{
    (void)iface;
    if (lock)
        nd_library_pin();
    else
        nd_library_unpin();
    return S_OK;
}

static const IClassFactoryVtbl nd_class_factory_vtbl = {
    ND_COM_UNKNOWN_SLOTS(nd_class_factory),
    .CreateInstance = nd_class_factory_CreateInstance,
    .LockServer = nd_class_factory_LockServer,
};

HRESULT nd_class_factory_create(
    nd_provider_create *create, const struct nd_sink *sink, REFIID iid, void **out)
{
    struct nd_class_factory *factory;

    *out = NULL;
    if (!nd_com_answers(iids, iid))
        return E_NOINTERFACE;
    factory = malloc(sizeof(*factory));
    if (!factory)
        return E_OUTOFMEMORY;
    factory->IClassFactory_iface.lpVtbl = &nd_class_factory_vtbl;
    atomic_init(&factory->refs, 1);
    factory->create = create;
    factory->sink = sink;
    nd_library_pin();
    *out = factory;
    return S_OK;
}
