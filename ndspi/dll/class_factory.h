/* SPDX-License-Identifier: MIT */
/* class_factory.h - the class object of the provider. */
#ifndef NDSPI_DLL_CLASS_FACTORY_H
#define NDSPI_DLL_CLASS_FACTORY_H

#include <windows.h>

#include <unknwn.h>

struct nd_sink;

/*
 * Makes a provider object whose adapters report to the sink. Returns S_OK; E_NOINTERFACE: neither IUnknown nor the
 * provider interface of its version; E_OUTOFMEMORY. *out is NULL on failure.
 */
typedef HRESULT nd_provider_create(const struct nd_sink *sink, REFIID iid, void **out);

/*
 * nd_class_factory_create - a class object that answers IUnknown and IClassFactory.
 * create  in: what its CreateInstance calls, with the sink
 * Returns S_OK, E_NOINTERFACE, E_OUTOFMEMORY; *out is NULL on failure.
 */
HRESULT nd_class_factory_create(
    nd_provider_create *create, const struct nd_sink *sink, REFIID iid, void **out);

#endif
