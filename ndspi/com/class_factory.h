/* SPDX-License-Identifier: MIT */
/* class_factory.h - the class object of the provider. */
#ifndef NDSPI_COM_CLASS_FACTORY_H
#define NDSPI_COM_CLASS_FACTORY_H

#include <windows.h>

#include <unknwn.h>

/* Answers IUnknown and IClassFactory. Returns S_OK, E_NOINTERFACE, E_OUTOFMEMORY; *out is NULL on failure. */
HRESULT nd_class_factory_create(REFIID iid, void **out);

/*
 * nd_provider_create - a provider object of the version that iid belongs to; IUnknown means version 2.
 * Returns S_OK; E_NOINTERFACE: no provider interface; E_OUTOFMEMORY. *out is NULL on failure.
 */
HRESULT nd_provider_create(REFIID iid, void **out);

#endif
