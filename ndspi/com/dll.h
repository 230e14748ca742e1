/* SPDX-License-Identifier: MIT */
/* dll.h - the exports of the provider library, for the helper layer above that calls them by name. */
#ifndef NDSPI_COM_DLL_H
#define NDSPI_COM_DLL_H

#include <ndprovider.h>

#endif
