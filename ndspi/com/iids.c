/* SPDX-License-Identifier: MIT */
/* iids.c - the identifiers themselves, for programs that do not define them with INITGUID. Also part of libndutil. */
#include <winsock2.h>
#include <unknwn.h>

#include <initguid.h>

#ifndef _WIN32
#pragma GCC visibility push(default)
#endif
#include <ndprovider.h>
#include <ndspi.h>
