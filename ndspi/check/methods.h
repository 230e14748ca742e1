/* SPDX-License-Identifier: MIT */
/*
 * methods.h - how the tables of wrappers are written: a row for each method, which checks, calls the method of the
 * object in the wrapper, and returns what that returns.
 *
 * The macros' parameters and arguments are in parentheses; the first argument is "inner", the object in the wrapper.
 * GIVEN hands on every other object among the arguments.
 */
#ifndef NDSPI_CHECK_METHODS_H
#define NDSPI_CHECK_METHODS_H

#include "ndspi/check/request.h"
#include "ndspi/check/returned.h"

#define GIVEN(object) nd_check_argument(&call, object)

/*
 * The wrapper of one method. It returns refused if the object was released. before and after are statements around the
 * inner call: both can use call, and after can use value, the code that it returned.
 */
#define CHECKED_FULL(result, refused, itype, method, before, after, parameters, arguments)         \
    static result STDMETHODCALLTYPE itype##_##method##_ parameters                                 \
    {                                                                                              \
        struct nd_check_call call;                                                                 \
        itype *inner = nd_check_begin(&call, iface, #itype "::" #method);                          \
        result value;                                                                              \
                                                                                                   \
        if (!inner)                                                                                \
            return refused;                                                                        \
        before;                                                                                    \
        value = inner->lpVtbl->method arguments;                                                   \
        after;                                                                                     \
        nd_check_end(&call);                                                                       \
        return value;                                                                              \
    }

#define CHECKED_AS(result, refused, itype, method, before, parameters, arguments)                  \
    CHECKED_FULL(result, refused, itype, method, before, (void)0, parameters, arguments)

/* A method that begins a request with the OVERLAPPED in the parameter "overlapped". */
#define CHECKED_BEGINS(itype, method, before, after, parameters, arguments)                        \
    CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, itype, method, before,                          \
                 nd_check_explain_overlapped(&call, value, overlapped);                            \
                 after, parameters, arguments)

#define CHECKED(itype, method, parameters, arguments)                                              \
    CHECKED_AS(HRESULT, ND_INVALID_DEVICE_STATE, itype, method, (void)0, parameters, arguments)

/* A method that stores an object of a kind in the pointer "out". */
#define CHECKED_MAKES(itype, method, kind, parameters, arguments)                                  \
    CHECKED_MAKES_OR(itype, method, kind, (void)0, (void)0, parameters, arguments)

/* CHECKED_MAKES with statements that run on success (after) or on failure (failed), and can use call and value. */
#define CHECKED_MAKES_OR(itype, method, kind, after, failed, parameters, arguments)                \
    static HRESULT STDMETHODCALLTYPE itype##_##method##_ parameters                                \
    {                                                                                              \
        struct nd_check_call call;                                                                 \
        itype *inner = nd_check_begin(&call, iface, #itype "::" #method);                          \
        HRESULT value;                                                                             \
                                                                                                   \
        if (!inner) {                                                                              \
            if (out)                                                                               \
                *out = NULL;                                                                       \
            return ND_INVALID_DEVICE_STATE;                                                        \
        }                                                                                          \
        value = inner->lpVtbl->method arguments;                                                   \
        if (SUCCEEDED(nd_check_made(#itype "::" #method, value, &kind, (void **)out))) {           \
            after;                                                                                 \
        } else {                                                                                   \
            failed;                                                                                \
        }                                                                                          \
        nd_check_end(&call);                                                                       \
        return value;                                                                              \
    }

/* A statement for `after` where the method makes a queue: records what the queue was made for. */
#define LIMITS(...) nd_check_limit(*out, &(const struct nd_check_limits){ __VA_ARGS__ })

#define CHECKED_UNKNOWN(itype)                                                                     \
    static HRESULT STDMETHODCALLTYPE itype##_QueryInterface_(itype *iface, REFIID iid, void **out) \
    {                                                                                              \
        return nd_check_query(iface, #itype "::QueryInterface", iid, out);                         \
    }                                                                                              \
                                                                                                   \
    static ULONG STDMETHODCALLTYPE itype##_AddRef_(itype *iface)                                   \
    {                                                                                              \
        return nd_check_addref(iface, #itype "::AddRef");                                          \
    }                                                                                              \
                                                                                                   \
    static ULONG STDMETHODCALLTYPE itype##_Release_(itype *iface)                                  \
    {                                                                                              \
        return nd_check_release(iface, #itype "::Release");                                        \
    }

#define UNKNOWN_SLOTS(itype)                                                                       \
    .QueryInterface = itype##_QueryInterface_, .AddRef = itype##_AddRef_,                          \
    .Release = itype##_Release_

#define CHECKED_OVERLAPPED(itype)                                                                  \
    CHECKED_UNKNOWN(itype)                                                                         \
    CHECKED(itype, CancelOverlappedRequests, (itype * iface), (inner))                             \
    CHECKED_BEGINS(itype, GetOverlappedResult, nd_check_result_of(&call, overlapped), (void)0,     \
        (itype * iface, OVERLAPPED * overlapped, BOOL wait), (inner, overlapped, wait))

/* CHECKED_OVERLAPPED for version 1, whose GetOverlappedResult also returns a number of octets. */
#define CHECKED_OVERLAPPED1(itype)                                                                 \
    CHECKED_UNKNOWN(itype)                                                                         \
    CHECKED(itype, CancelOverlappedRequests, (itype * iface), (inner))                             \
    CHECKED_BEGINS(itype, GetOverlappedResult, nd_check_result_of(&call, overlapped), (void)0,     \
        (itype * iface, OVERLAPPED * overlapped, SIZE_T * octets, BOOL wait),                      \
        (inner, overlapped, octets, wait))

#define OVERLAPPED_SLOTS(itype)                                                                    \
    UNKNOWN_SLOTS(itype), .CancelOverlappedRequests = itype##_CancelOverlappedRequests_,           \
                          .GetOverlappedResult = itype##_GetOverlappedResult_

/* The arguments after base_ initialise the other members of the kind. */
#define CHECKED_KIND(name_, itype, base_, ...)                                                     \
    const struct nd_check_kind name_ = {                                                           \
        .name = #itype, .iid = &IID_##itype, .base = base_, .vtable = &itype##_table, __VA_ARGS__  \
    };

#endif
