/* SPDX-License-Identifier: MIT */
/*
 * pointers.c - a Windows program that calls every method with every pointer wrong, one at a time, and looks afterwards
 * whether everything else works and each Release returns. Under Wine alone: natively a wrong pointer is a crash.
 */
#define INITGUID
#include "tests/wine/pointers.h"

#include <ndprovider.h>

#include <stdio.h>

enum { PAGE_OCTETS = 4096, HANGS_MS = 60000 };

enum wrong now_wrong;
static const char *volatile now;

VOID *wrong_pointer(void)
{
    static char *pages[WRONGS];
    DWORD before;

    if (now_wrong == LOW)
        return (VOID *)(ULONG_PTR)0x10;
    if (!pages[now_wrong]) {
        pages[now_wrong] = VirtualAlloc(NULL, 16 * PAGE_OCTETS, MEM_RESERVE, PAGE_READWRITE);
        VirtualAlloc(pages[now_wrong], PAGE_OCTETS, MEM_COMMIT, PAGE_READWRITE);
        if (now_wrong == FREED)
            VirtualFree(pages[now_wrong], PAGE_OCTETS, MEM_DECOMMIT);
        if (now_wrong == READ_ONLY)
            VirtualProtect(pages[now_wrong], PAGE_OCTETS, PAGE_READONLY, &before);
    }
    if (now_wrong != ENDS_EARLY)
        return pages[now_wrong];
    memset(pages[now_wrong] + PAGE_OCTETS - 4, 0, 4); /* what the last call stored */
    return pages[now_wrong] + PAGE_OCTETS - 4;
}

void step(const char *what)
{
    now = what;
}

void require(bool good, const char *what)
{
    if (good)
        return;
    printf("%s: failed after %s\n", what, now);
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), 1);
}

void judge(const char *call, enum use use, HRESULT hr)
{
    bool possible = (now_wrong == READ_ONLY && (use == READS || use == READS_SHORT)) ||
                    (now_wrong == ENDS_EARLY && (use == READS_SHORT || use == STORES_SHORT));

    if (possible || hr == (HRESULT)SPEC_STATUS_ACCESS_VIOLATION)
        return;
    printf("%s returned 0x%08x with wrong pointer %d\n", call, (unsigned)hr, now_wrong);
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), 1);
}

/* ---- exports and providers ---- */

typedef HRESULT(WINAPI *get_class_object)(REFCLSID, REFIID, VOID **);

static void call_v2_provider(IND2Provider *provider)
{
    struct sockaddr_in address = nd_end_address(0, 0);
    UINT64 id = 0;
    ULONG size = 4096;
    VOID *out;

    WRONG(STORES_SHORT, provider->lpVtbl->QueryAddressList(provider, NULL, P));
    WRONG(STORES, provider->lpVtbl->QueryAddressList(provider, P, &size));
    WRONG(READS,
        provider->lpVtbl->ResolveAddress(provider, (struct sockaddr *)P, sizeof(address), &id));
    WRONG(STORES, provider->lpVtbl->ResolveAddress(
                      provider, (struct sockaddr *)&address, sizeof(address), P));
    require(provider->lpVtbl->ResolveAddress(
                provider, (struct sockaddr *)&address, sizeof(address), &id) == ND_SUCCESS,
        "ResolveAddress");
    WRONG(READS, provider->lpVtbl->OpenAdapter(provider, P, id, &out));
    WRONG(STORES, provider->lpVtbl->OpenAdapter(provider, &IID_IND2Adapter, id, P));
    WRONG(READS, provider->lpVtbl->QueryInterface(provider, P, &out));
    WRONG(STORES, provider->lpVtbl->QueryInterface(provider, &IID_IND2Provider, P));
}

static void call_v1_provider(INDProvider *provider)
{
    struct sockaddr_in address = nd_end_address(0, 0);
    SIZE_T size = 4096;
    INDAdapter *adapter;

    WRONG(STORES, provider->lpVtbl->QueryAddressList(provider, NULL, P));
    WRONG(STORES, provider->lpVtbl->QueryAddressList(provider, P, &size));
    WRONG(READS,
        provider->lpVtbl->OpenAdapter(provider, (struct sockaddr *)P, sizeof(address), &adapter));
    WRONG(STORES,
        provider->lpVtbl->OpenAdapter(provider, (struct sockaddr *)&address, sizeof(address), P));
}

static void call_factory(IClassFactory *factory)
{
    VOID *out;

    WRONG(READS, factory->lpVtbl->CreateInstance(factory, NULL, P, &out));
    WRONG(STORES, factory->lpVtbl->CreateInstance(factory, NULL, &IID_IND2Provider, P));
    WRONG(READS, factory->lpVtbl->QueryInterface(factory, P, &out));
    WRONG(STORES, factory->lpVtbl->QueryInterface(factory, &IID_IClassFactory, P));
}

void call_provider(void)
{
    HMODULE library = LoadLibraryA("ndspi.dll");
    get_class_object get = (get_class_object)(VOID *)GetProcAddress(library, "DllGetClassObject");
    IClassFactory *factory;
    IND2Provider *provider;
    INDProvider *older;
    VOID *out;

    require(get != NULL, "DllGetClassObject");
    WRONG(READS, get(P, &IID_IClassFactory, &out));
    WRONG(READS, get(&CLSID_NDSPI_PROVIDER_V2, P, &out));
    WRONG(STORES, get(&CLSID_NDSPI_PROVIDER_V2, &IID_IClassFactory, P));
    require(SUCCEEDED(get(&CLSID_NDSPI_PROVIDER_V2, &IID_IClassFactory, &out)), "a class object");
    factory = out;
    call_factory(factory);
    require(
        SUCCEEDED(factory->lpVtbl->CreateInstance(factory, NULL, &IID_IND2Provider, &out)), "one");
    provider = out;
    call_v2_provider(provider);
    require(SUCCEEDED(get(&CLSID_NDSPI_PROVIDER_V1, &IID_INDProvider, &out)), "version 1");
    older = out;
    call_v1_provider(older);
    require(older->lpVtbl->Release(older) == 0, "Release");
    require(provider->lpVtbl->Release(provider) == 0, "Release");
    require(factory->lpVtbl->Release(factory) == 0, "Release");
}

static DWORD WINAPI call_all(VOID *unused)
{
    (void)unused;
    for (now_wrong = 0; now_wrong < WRONGS; now_wrong++) {
        call_provider();
        call_version_2();
        call_version_1();
    }
    return 0;
}

int main(void)
{
    HANDLE thread;

    require(NdStartup() == ND_SUCCESS, "NdStartup");
    thread = CreateThread(NULL, 0, call_all, NULL, 0, NULL);
    if (WaitForSingleObject(thread, HANGS_MS) == WAIT_OBJECT_0)
        return 0;
    printf("hangs in, with wrong pointer %d: %s\n", now_wrong, now);
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), 1);
}
