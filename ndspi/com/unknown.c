/* SPDX-License-Identifier: MIT */
#include "ndspi/com/unknown.h"

ULONG nd_com_addref(atomic_uint *refs)
{
    return atomic_fetch_add_explicit(refs, 1, memory_order_relaxed) + 1;
}

ULONG nd_com_release(atomic_uint *refs)
{
    return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) - 1;
}

BOOL nd_com_answers(const IID *const iids[], REFIID iid)
{
    if (!iid)
        return FALSE;
    for (unsigned i = 0; iids[i]; i++)
        if (IsEqualIID(iid, iids[i]))
            return TRUE;
    return FALSE;
}

HRESULT nd_com_query_interface(
    void *object, atomic_uint *refs, const IID *const iids[], REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!nd_com_answers(iids, iid))
        return E_NOINTERFACE;
    nd_com_addref(refs);
    *out = object;
    return S_OK;
}
