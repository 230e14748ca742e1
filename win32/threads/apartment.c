/* SPDX-License-Identifier: MIT */
/* apartment.c - threads say that they use COM: counted, and nothing else, since no object needs it. */
#include <objbase.h>

static _Thread_local struct {
    unsigned long count;
    DWORD model;
} apartment;

/*
 * CoInitialize, CoInitializeEx - the calling thread uses COM, until as many calls of CoUninitialize.
 * flags    of COINIT; CoInitialize's is COINIT_APARTMENTTHREADED
 * Returns  S_OK for the thread's first, S_FALSE for further ones, RPC_E_CHANGED_MODE where the model is not that of the
 *          first, E_INVALIDARG for other flags.
 */
HRESULT WINAPI CoInitializeEx(LPVOID reserved, DWORD flags)
{
    DWORD model = flags & COINIT_APARTMENTTHREADED;

    (void)reserved;
    if (flags &
        ~(DWORD)(COINIT_APARTMENTTHREADED | COINIT_DISABLE_OLE1DDE | COINIT_SPEED_OVER_MEMORY))
        return E_INVALIDARG;
    if (apartment.count && apartment.model != model)
        return RPC_E_CHANGED_MODE;
    apartment.model = model;
    return apartment.count++ ? S_FALSE : S_OK;
}

HRESULT WINAPI CoInitialize(LPVOID reserved)
{
    return CoInitializeEx(reserved, COINIT_APARTMENTTHREADED);
}

/* CoUninitialize - ends one CoInitialize or CoInitializeEx of the calling thread; without one it does nothing. */
void WINAPI CoUninitialize(void)
{
    if (apartment.count)
        apartment.count--;
}
