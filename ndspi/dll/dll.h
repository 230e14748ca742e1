/* SPDX-License-Identifier: MIT */
/* dll.h - the exports of the provider library, for the layers above that call them by name. */
#ifndef NDSPI_DLL_DLL_H
#define NDSPI_DLL_DLL_H

#include <ndprovider.h>

#include "ndspi/core/exported.h"

struct nd_sink;

/*
 * nd_get_class_object - DllGetClassObject for a host with handles of its own (wine).
 * sink  in: where the adapters of these objects report; good as long as the process lives
 * Everything else is as DllGetClassObject has it, which is this with the sink of winobj.
 */
HRESULT nd_get_class_object(const struct nd_sink *sink, REFCLSID clsid, REFIID iid, void **out);

#endif
