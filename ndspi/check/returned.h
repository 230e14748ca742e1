/* SPDX-License-Identifier: MIT */
/*
 * returned.h - explains codes that a call returns because of its arguments, or of the order of calls: the value, the
 * limit, and where that comes from. Each is called after its method, with the code; a success reports nothing.
 */
#ifndef NDSPI_CHECK_RETURNED_H
#define NDSPI_CHECK_RETURNED_H

#include "ndspi/check/object.h"

/* An argument that a limit of the adapter bounds. */
struct nd_check_asked {
    const char *name;
    UINT64 value, least, most;
    const char *limit; /* where most comes from, as "MaxReadSge of the adapter" */
};

/* name: as on the method's page; from: where what the adapter said is found, info or info1 of the call's object. */
#define ASKED_OF(from, name_, value_, least_, limit_)                                              \
    {                                                                                              \
        .name = name_, .value = value_, .least = least_, .most = call.object->from.limit_,         \
        .limit = #limit_ " of the adapter"                                                         \
    }
#define ASKED(name, value, least, limit)  ASKED_OF(info, name, value, least, limit)
#define ASKED1(name, value, least, limit) ASKED_OF(info1, name, value, least, limit)
#define DATA                              "the length of the private data"
#define EXPLAIN_ASKED(hr, ...)                                                                     \
    nd_check_explain_asked(&call, hr, (const struct nd_check_asked[]){ __VA_ARGS__ },              \
        sizeof((const struct nd_check_asked[]){ __VA_ARGS__ }) / sizeof(struct nd_check_asked))
void nd_check_explain_asked(
    const struct nd_check_call *call, HRESULT hr, const struct nd_check_asked *asked, size_t n);

/* OpenAdapter has made this adapter: remembers what its Query returns, also for objects made of it. */
void nd_check_learn(const void *made);
void nd_check_learn1(const void *made);

/* The call asked for an object of this kind by iid. */
void nd_check_explain_iid(
    const struct nd_check_call *call, HRESULT hr, const IID *iid, const struct nd_check_kind *kind);
/* file  in: an overlapped file's handle */
void nd_check_explain_file(const struct nd_check_call *call, HRESULT hr, HANDLE file);
/* Explains a call that begins a request, or asks for its result. */
void nd_check_explain_overlapped(
    const struct nd_check_call *call, HRESULT hr, const OVERLAPPED *overlapped);
/* Explains a Query of version 2. */
void nd_check_explain_query(
    const struct nd_check_call *call, HRESULT hr, const ND2_ADAPTER_INFO *info, ULONG size);

/* Explains a Query of version 1. */
void nd_check_explain_query1(const struct nd_check_call *call, HRESULT hr, DWORD version,
    const ND_ADAPTER_INFO *info, SIZE_T size);

/* Bind; its success is remembered. address, length  in: also of Connect's destination */
void nd_check_bound(
    const struct nd_check_call *call, HRESULT hr, const struct sockaddr *address, size_t length);
void nd_check_explain_connect(
    const struct nd_check_call *call, HRESULT hr, const struct sockaddr *address, size_t length);
void nd_check_explain_listen(const struct nd_check_call *call, HRESULT hr);

void nd_check_explain_register(const struct nd_check_call *call, HRESULT hr, ULONG flags);
void nd_check_explain_notify(const struct nd_check_call *call, HRESULT hr, ULONG type);

#endif
