/* SPDX-License-Identifier: MIT */
/*
 * unknown.h - IUnknown, once for all objects of all dialects: counting, QueryInterface, and how an object handed in as
 * IUnknown is recognised as ours.
 *
 * Every object has one interface struct, its first member, so the interface pointer is the object pointer and any
 * interface of one object yields the same IUnknown. refs is the application's count; objects are created with one.
 */
#ifndef NDSPI_COM_UNKNOWN_H
#define NDSPI_COM_UNKNOWN_H

#include <windows.h>

#include <unknwn.h>

#include <stdatomic.h>

/* Returns the new count. Relaxed: whoever adds a reference holds one already. */
ULONG nd_com_addref(atomic_uint *refs);

/*
 * nd_com_release - drop a reference. Returns the new count; on 0 the caller closes the object.
 * Release order publishes this thread's use of the object to the one that closes it, which acquires.
 */
ULONG nd_com_release(atomic_uint *refs);

/*
 * nd_com_query_interface - IUnknown::QueryInterface.
 * object  in: the object = its interface
 * refs    inout: its count, raised on success
 * iids    in: what it answers, ended by NULL: IUnknown, its own, IID_IND2Overlapped where it has that, and the private
 *         IID by which nd_com_reach finds it
 * iid     in: asked for
 * out     out: the object, or NULL on failure
 * Returns S_OK, E_NOINTERFACE (unknown or NULL iid), E_POINTER (out is NULL). Any thread.
 */
HRESULT nd_com_query_interface(
    void *object, atomic_uint *refs, const IID *const iids[], REFIID iid, void **out);

/* Whether an object with this iid list would answer iid: the check at the top of a create call. */
BOOL nd_com_answers(const IID *const iids[], REFIID iid);

/*
 * nd_com_reach - our object behind an IUnknown that a client handed in, found by its private IID, never by a cast.
 * Returns the object with a reference of its own, to be dropped with unknown->lpVtbl->Release(unknown) when the call is done;
 * NULL when unknown is NULL or not ours.
 */
void *nd_com_reach(IUnknown *unknown, REFIID private_iid);

#endif
