/* SPDX-License-Identifier: MIT */
/* iid.c - the interface ids that every COM program needs; the order of UUIDs. */
#include <unknwn.h>

WINOBJ_API const GUID GUID_NULL = { 0 };
WINOBJ_API const IID IID_IUnknown = { 0x00000000, 0, 0, { 0xC0, 0, 0, 0, 0, 0, 0, 0x46 } };
WINOBJ_API const IID IID_IClassFactory = { 0x00000001, 0, 0, { 0xC0, 0, 0, 0, 0, 0, 0, 0x46 } };

static int order(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

/* UuidCompare - the order of two UUIDs, NULL being the nil one: -1, 0, 1. status: out, RPC_S_OK always. */
int UuidCompare(UUID *a, UUID *b, RPC_STATUS *status)
{
    const UUID *x = a ? a : &GUID_NULL, *y = b ? b : &GUID_NULL;
    int result = order(x->Data1, y->Data1);

    *status = RPC_S_OK;
    result = result ? result : order(x->Data2, y->Data2);
    result = result ? result : order(x->Data3, y->Data3);
    for (int i = 0; i < 8 && !result; i++)
        result = order(x->Data4[i], y->Data4[i]);
    return result;
}
