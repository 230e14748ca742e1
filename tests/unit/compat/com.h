/* SPDX-License-Identifier: MIT */
/* com.h - an interface that the C and the C++ half of the test both see; each implements it for the other. */
#ifndef TESTS_UNIT_COMPAT_COM_H
#define TESTS_UNIT_COMPAT_COM_H

#include <winsock2.h>
#include <unknwn.h>

DEFINE_GUID(IID_ITest, 0x12345678, 0x9abc, 0xdef0, 1, 2, 3, 4, 5, 6, 7, 8);

#undef INTERFACE
#define INTERFACE ITest
DECLARE_INTERFACE_(ITest, IUnknown)
{
    IFACEMETHOD(QueryInterface)(THIS_ REFIID riid, _COM_Outptr_ LPVOID * object) PURE;
    IFACEMETHOD_(ULONG, AddRef)(THIS) PURE;
    IFACEMETHOD_(ULONG, Release)(THIS) PURE;
    STDMETHOD_(ULONG, Add)(THIS_ ULONG a, ULONG b) PURE;
    STDMETHOD_(void, Forget)(THIS) PURE;
};
#undef INTERFACE

EXTERN_C ITest *cxx_object(void);
EXTERN_C int cxx_uses(ITest *object);
EXTERN_C int cxx_min_max(void);
EXTERN_C int address_of_short_text(WCHAR *text, struct sockaddr_in *address, INT *length);

#endif
