/* SPDX-License-Identifier: MIT */
/*
 * com.h - the macros that declare interfaces; IUnknown and IClassFactory.
 *
 * One declaration gives C a struct with lpVtbl and C++ a struct with virtual methods; slot order and object layout are
 * the same. In C with COBJMACROS, IUnknown_Release(p) and the like exist.
 */
#ifndef WINCOMPAT_COM_H
#define WINCOMPAT_COM_H

#include <wincompat/error.h>
#include <wincompat/guid.h>
#include <wincompat/sal.h>

#ifndef interface
#define interface struct
#endif

#define STDAPI                EXTERN_C HRESULT STDAPICALLTYPE
#define STDAPI_(type)         EXTERN_C type STDAPICALLTYPE
#define STDMETHODIMP          HRESULT STDMETHODCALLTYPE
#define STDMETHODIMP_(type)   type STDMETHODCALLTYPE
#define IFACEMETHODIMP        STDMETHODIMP
#define IFACEMETHODIMP_(type) STDMETHODIMP_(type)

#if defined(__cplusplus) && !defined(CINTERFACE)

#define STDMETHOD(method)        virtual HRESULT STDMETHODCALLTYPE method
#define STDMETHOD_(type, method) virtual type STDMETHODCALLTYPE method
#define PURE                     = 0
#define THIS_
#define THIS                                 void
#define DECLARE_INTERFACE(iface)             struct DECLSPEC_NOVTABLE iface
#define DECLARE_INTERFACE_(iface, baseiface) struct DECLSPEC_NOVTABLE iface : public baseiface

#else

/* Vtables are const through lpVtbl always; the type name itself is with CONST_VTABLE, as in the Windows headers. */
#ifdef CONST_VTABLE
#define WINCOMPAT_VTBL_CONST const
#else
#define WINCOMPAT_VTBL_CONST
#endif
#define STDMETHOD(method)        HRESULT(STDMETHODCALLTYPE *method)
#define STDMETHOD_(type, method) type(STDMETHODCALLTYPE *method)
#define PURE
#define THIS_ INTERFACE *This,
#define THIS  INTERFACE *This
#define DECLARE_INTERFACE(iface)                                                                   \
    typedef struct iface {                                                                         \
        const struct iface##Vtbl *lpVtbl;                                                          \
    } iface;                                                                                       \
    typedef WINCOMPAT_VTBL_CONST struct iface##Vtbl iface##Vtbl;                                   \
    struct iface##Vtbl
#define DECLARE_INTERFACE_(iface, baseiface) DECLARE_INTERFACE(iface)

#endif

/* Repeats a method of a base interface, or adds one. */
#define IFACEMETHOD(method)        STDMETHOD(method)
#define IFACEMETHOD_(type, method) STDMETHOD_(type, method)
#define BEGIN_INTERFACE
#define END_INTERFACE
#define CONST_VTBL                                    const
#define DECLARE_INTERFACE_IID_(iface, baseiface, iid) DECLARE_INTERFACE_(iface, baseiface)

WINCOMPAT_BEGIN
/* 00000000-0000-0000-C000-000000000046 and 00000001-...; exported by libwinobj. */
extern const IID IID_IUnknown;
extern const IID IID_IClassFactory;
WINCOMPAT_END

#undef INTERFACE
#define INTERFACE IUnknown
DECLARE_INTERFACE(IUnknown)
{
    STDMETHOD(QueryInterface)(THIS_ REFIID riid, void **object) PURE;
    STDMETHOD_(ULONG, AddRef)(THIS) PURE;
    STDMETHOD_(ULONG, Release)(THIS) PURE;
};
typedef IUnknown *LPUNKNOWN;

#undef INTERFACE
#define INTERFACE IClassFactory
DECLARE_INTERFACE_(IClassFactory, IUnknown)
{
    IFACEMETHOD(QueryInterface)(THIS_ REFIID riid, void **object) PURE;
    IFACEMETHOD_(ULONG, AddRef)(THIS) PURE;
    IFACEMETHOD_(ULONG, Release)(THIS) PURE;
    STDMETHOD(CreateInstance)(THIS_ IUnknown * outer, REFIID riid, void **object) PURE;
    STDMETHOD(LockServer)(THIS_ BOOL lock) PURE;
};
typedef IClassFactory *LPCLASSFACTORY;
#undef INTERFACE

#if !defined(__cplusplus) || defined(CINTERFACE)
#ifdef COBJMACROS
#define IUnknown_QueryInterface(This, riid, object)                                                \
    ((This)->lpVtbl->QueryInterface(This, riid, object))
#define IUnknown_AddRef(This)  ((This)->lpVtbl->AddRef(This))
#define IUnknown_Release(This) ((This)->lpVtbl->Release(This))
#define IClassFactory_QueryInterface(This, riid, object)                                           \
    ((This)->lpVtbl->QueryInterface(This, riid, object))
#define IClassFactory_AddRef(This)  ((This)->lpVtbl->AddRef(This))
#define IClassFactory_Release(This) ((This)->lpVtbl->Release(This))
#define IClassFactory_CreateInstance(This, outer, riid, object)                                    \
    ((This)->lpVtbl->CreateInstance(This, outer, riid, object))
#define IClassFactory_LockServer(This, lock) ((This)->lpVtbl->LockServer(This, lock))
#endif
#endif

#endif
