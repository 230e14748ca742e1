/* SPDX-License-Identifier: MIT */
/*
 * base.h - the Windows base types and NetworkDirect codes the core speaks: HRESULT, HANDLE, OVERLAPPED, ND_*, ND2_*.
 * No interfaces: the core knows no COM.
 */
#ifndef NDSPI_CORE_BASE_H
#define NDSPI_CORE_BASE_H

#include <winsock2.h>
#include <windows.h>

#include <nddef.h>
#include <ndstatus.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#endif
