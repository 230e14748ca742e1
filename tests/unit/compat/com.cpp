/* SPDX-License-Identifier: MIT */
/* com.cpp - the C++ half: Windows headers first, the standard library behind them, as ported sources have it. */
#include <windows.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#define INITGUID
#include "tests/unit/compat/com.h"

class Object : public ITest
{
  public:
    STDMETHODIMP QueryInterface(__in REFIID riid, __deref_out void **object)
    {
        if (!object)
            return E_POINTER;
        *object = NULL;
        if (riid != IID_ITest && !IsEqualIID(riid, IID_IUnknown))
            return E_NOINTERFACE;
        AddRef();
        *object = static_cast<ITest *>(this);
        return S_OK;
    }
    STDMETHODIMP_(ULONG) AddRef()
    {
        return (ULONG)InterlockedIncrement(&m_refs);
    }
    STDMETHODIMP_(ULONG) Release()
    {
        ULONG refs = (ULONG)InterlockedDecrement(&m_refs);
        if (!refs)
            delete this;
        return refs;
    }
    STDMETHODIMP_(ULONG) Add(ULONG a, ULONG b)
    {
        return a + b;
    }
    STDMETHODIMP_(void) Forget()
    {
    }
    virtual ~Object()
    {
    }

  private:
    volatile LONG m_refs = 1;
};

ITest *cxx_object(void)
{
    return new Object;
}

/* Returns 0, or the number of the step that failed. */
int cxx_uses(ITest *object)
{
    IUnknown *unknown = NULL;

    if (object->QueryInterface(IID_IUnknown, (void **)&unknown) != S_OK || !unknown)
        return 1;
    if (unknown->AddRef() != 3 || unknown->Release() != 2 || unknown->Release() != 1)
        return 2;
    if (object->QueryInterface(IID_IClassFactory, (void **)&unknown) != E_NOINTERFACE || unknown)
        return 3;
    if (object->Add(2, 40) != 42)
        return 4;
    object->Forget();
    return 0;
}

/* Derived from the structure, as programs do. */
struct Request : public OVERLAPPED {
    std::vector<int> values;
};

int cxx_min_max(void)
{
    using namespace std;
    Request request;
    vector<int> v(3, 1);
    SIZE_T size = 7;
    ULONG five = 5;

    request.Offset = 1;
    request.Pointer = &v;
    if (min(size, five) != 5 || max(five, size) != 7 || min(3, 4) != 3 || (max)(2.5, 1) != 2.5)
        return 1;
    if (numeric_limits<int>::max() != 2147483647 || std::min<int>(1, 2) != 1 ||
        (std::max)(1, 2) != 2)
        return 2;
    static_assert(min(1, 2u) == 1, "a constant");
    static_assert(sizeof(min('a', 'b')) == 1, "of the operands' type, as ?: has it");
    if (min(string("b"), string("a")) != "a" || *max(&v[0], &v[1]) != 1 ||
        &v[1] != max(&v[0], &v[1]))
        return 4;
    return CONTAINING_RECORD(&request.Pointer, OVERLAPPED, Pointer) == &request ? 0 : 3;
}
