/* SPDX-License-Identifier: MIT */
#include "ndspi/check/returned.h"

#include "ndspi/check/memory.h"
#include "ndspi/check/tables.h"
#include "ndspi/core/status.h"

#include <stdio.h>
#include <string.h>

/* Takes the lock for the report. */
#define REPORT(rule, ...)                                                                          \
    do {                                                                                           \
        lock_acquire(&nd_check_lock);                                                              \
        REPORT_LOCKED(rule, __VA_ARGS__);                                                          \
        lock_release(&nd_check_lock);                                                              \
    } while (0)
/* Lets the program go on, where other rules end it: it has the code, and some find limits in this way. */
#define REPORT_LOCKED(rule, ...)                                                                   \
    nd_check_tell_locked(                                                                          \
        ND_CHECK_##rule, call->name, call->object->kind->name, call->object, __VA_ARGS__)

/* ---- limits ---- */

void nd_check_learn(const void *made)
{
    struct nd_checked *checked;
    IND2Adapter *inner = NULL;
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG size = sizeof(info);

    lock_acquire(&nd_check_lock);
    if ((checked = nd_check_find_locked(made)))
        inner = checked->inner;
    lock_release(&nd_check_lock);
    /* the program has not got it yet, so nothing releases it */
    if (inner && inner->lpVtbl->Query(inner, &info, &size) == ND_SUCCESS)
        checked->info = info;
}

void nd_check_learn1(const void *made)
{
    struct nd_checked *checked;
    INDAdapter *inner = NULL;
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info);

    lock_acquire(&nd_check_lock);
    if ((checked = nd_check_find_locked(made)))
        inner = checked->inner;
    lock_release(&nd_check_lock);
    if (inner && inner->lpVtbl->Query(inner, ND_VERSION_1, &info, &size) == ND_SUCCESS) {
        checked->info.InfoVersion = ND_VERSION_1;
        checked->info1 = info;
    }
}

void nd_check_explain_asked(
    const struct nd_check_call *call, HRESULT hr, const struct nd_check_asked *asked, size_t n)
{
    if (SUCCEEDED(hr) || !call->object->info.InfoVersion)
        return;
    for (size_t i = 0; i < n; i++) {
        if (asked[i].value >= asked[i].least && asked[i].value <= asked[i].most)
            continue;
        REPORT(LIMIT, "%s is %llu, and %llu to %llu are possible (%s)", asked[i].name,
            (unsigned long long)asked[i].value, (unsigned long long)asked[i].least,
            (unsigned long long)asked[i].most, asked[i].limit);
        return;
    }
}

/* ---- IIDs, files, structures ---- */

static const struct nd_check_kind *kind_of(const IID *iid)
{
    static const struct nd_check_kind *const kinds[] = { &nd_check_provider2, &nd_check_adapter2,
        &nd_check_cq2, &nd_check_srq2, &nd_check_qp2, &nd_check_mr2, &nd_check_mw2,
        &nd_check_connector2, &nd_check_listener2, &nd_check_provider1, &nd_check_adapter1,
        &nd_check_cq1, &nd_check_endpoint1, &nd_check_mw1, &nd_check_connector1,
        &nd_check_listen1 };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (memcmp(iid, kinds[i]->iid, sizeof(*iid)) == 0)
            return kinds[i];
    return NULL;
}

void nd_check_explain_iid(
    const struct nd_check_call *call, HRESULT hr, const IID *iid, const struct nd_check_kind *kind)
{
    const struct nd_check_kind *other;

    if (hr != E_NOINTERFACE)
        return;
    if (!iid)
        REPORT(INTERFACE, "an %s was asked for by no IID", kind->name);
    else if ((other = kind_of(iid)))
        REPORT(INTERFACE, "an %s was asked for by IID_%s", kind->name, other->name);
    else
        REPORT(INTERFACE,
            "an %s was asked for by {%08X-%04X-%04X-%02X%02X-...}, which it does not have",
            kind->name, (unsigned)iid->Data1, iid->Data2, iid->Data3, iid->Data4[0], iid->Data4[1]);
}

void nd_check_explain_file(const struct nd_check_call *call, HRESULT hr, HANDLE file)
{
    if (hr != ND_INVALID_HANDLE)
        return;
    if (!file || file == INVALID_HANDLE_VALUE)
        REPORT(FILE, "the file is %s", file ? "INVALID_HANDLE_VALUE" : "NULL");
    else
        REPORT(FILE, "%p is no file of this adapter's, or is closed", file);
}

void nd_check_explain_overlapped(
    const struct nd_check_call *call, HRESULT hr, const OVERLAPPED *overlapped)
{
    if (hr == ND_INVALID_PARAMETER && !overlapped)
        REPORT(OVERLAPPED, "its OVERLAPPED is NULL");
}

void nd_check_explain_query(
    const struct nd_check_call *call, HRESULT hr, const ND2_ADAPTER_INFO *info, ULONG size)
{
    if (hr == ND_NOT_SUPPORTED && info)
        REPORT(SIZE, "InfoVersion is 0x%x, and ND_VERSION_2 is 0x%x", (unsigned)info->InfoVersion,
            ND_VERSION_2);
    else if (hr == ND_BUFFER_OVERFLOW && info && size) /* both absent: it asks for the size */
        REPORT(SIZE, "there are %u bytes, and ND2_ADAPTER_INFO has %zu", (unsigned)size,
            sizeof(*info));
}

void nd_check_explain_query1(const struct nd_check_call *call, HRESULT hr, DWORD version,
    const ND_ADAPTER_INFO *info, SIZE_T size)
{
    if (hr == ND_NOT_SUPPORTED)
        REPORT(SIZE, "VersionRequested is 0x%x, and ND_VERSION_1 is 0x%x", (unsigned)version,
            ND_VERSION_1);
    else if (hr == ND_BUFFER_OVERFLOW && info && size)
        REPORT(SIZE, "there are %zu bytes, and ND_ADAPTER_INFO has %zu", size, sizeof(*info));
}

/* ---- addresses, and the order of calls ---- */

static bool is_wildcard(const struct sockaddr *address)
{
    static const struct in6_addr any;

    if (address->sa_family == AF_INET)
        return !((const struct sockaddr_in *)address)->sin_addr.s_addr;
    return !memcmp(&((const struct sockaddr_in6 *)address)->sin6_addr, &any, sizeof(any));
}

/* The first thing that is wrong with an address by itself; returns whether there is one. */
static bool explain_address(
    const struct nd_check_call *call, const struct sockaddr *address, size_t length, bool to)
{
    size_t size = 0;

    if (!address || length < sizeof(address->sa_family)) {
        REPORT(ADDRESS, "there is no address: %p, %zu bytes", (const void *)address, length);
        return true;
    }
    if (address->sa_family == AF_INET)
        size = sizeof(struct sockaddr_in);
    else if (address->sa_family == AF_INET6)
        size = sizeof(struct sockaddr_in6);
    if (!size)
        REPORT(ADDRESS, "its family is %u, and AF_INET is %d, AF_INET6 %d here", address->sa_family,
            AF_INET, AF_INET6);
    else if (length < size)
        REPORT(ADDRESS, "it has %zu bytes, and one of its family %zu", length, size);
    else if (to && is_wildcard(address))
        REPORT(ADDRESS, "the destination is %s, which is no host",
            address->sa_family == AF_INET ? "0.0.0.0" : "::");
    else
        return false;
    return true;
}

void nd_check_bound(
    const struct nd_check_call *call, HRESULT hr, const struct sockaddr *address, size_t length)
{
    if (SUCCEEDED(hr)) {
        lock_acquire(&nd_check_lock);
        call->object->bound = true;
        lock_release(&nd_check_lock);
    } else if (hr == ND_INVALID_ADDRESS) {
        if (!explain_address(call, address, length, false))
            REPORT(ADDRESS, "its adapter does not have the address");
    } else if (hr == ND_STATUS_ADDRESS_ALREADY_ASSOCIATED) {
        REPORT(BOUND, "it is bound already");
    }
}

void nd_check_explain_connect(
    const struct nd_check_call *call, HRESULT hr, const struct sockaddr *address, size_t length)
{
    if (hr == ND_STATUS_ADDRESS_NOT_ASSOCIATED)
        REPORT(BOUND, "Bind was not called");
    else if ((hr == ND_INVALID_ADDRESS || hr == ND_STATUS_BAD_NETWORK_NAME) &&
             !explain_address(call, address, length, true))
        REPORT(ADDRESS, "the destination is of another family than the address bound");
}

void nd_check_explain_listen(const struct nd_check_call *call, HRESULT hr)
{
    if (hr != ND_INVALID_DEVICE_STATE)
        return;
    lock_acquire(&nd_check_lock);
    REPORT_LOCKED(BOUND, "%s", call->object->bound ? "it listens already" : "Bind was not called");
    lock_release(&nd_check_lock);
}

/* ---- regions, completion queues ---- */

void nd_check_explain_register(const struct nd_check_call *call, HRESULT hr, ULONG flags)
{
    const ULONG known = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
                        ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_RDMA_READ_SINK |
                        ND_MR_FLAG_DO_NOT_SECURE_VM;
    const struct nd_check_region *region;
    char place[ND_CHECK_PLACE_OCTETS];

    if (hr == ND_INVALID_PARAMETER && flags & ~known)
        REPORT(FLAGS, "flags 0x%x, and a region has no 0x%x", (unsigned)flags,
            (unsigned)(flags & ~known));
    if (hr != ND_INVALID_DEVICE_STATE)
        return;
    lock_acquire(&nd_check_lock);
    if ((region = nd_check_region_of_locked(call->object, 0)))
        REPORT_LOCKED(ONCE, "it has %zu bytes at %p since %s at %s", region->length,
            (const void *)region->base, region->made_by,
            nd_check_place_text(&region->made_at, place));
    lock_release(&nd_check_lock);
}

void nd_check_explain_notify(const struct nd_check_call *call, HRESULT hr, ULONG type)
{
    if (hr == ND_INVALID_PARAMETER && type > ND_CQ_NOTIFY_SOLICITED)
        REPORT(FLAGS,
            "type %u, and there are ND_CQ_NOTIFY_ERRORS (0), ND_CQ_NOTIFY_ANY (1) and "
            "ND_CQ_NOTIFY_SOLICITED (2)",
            (unsigned)type);
}
