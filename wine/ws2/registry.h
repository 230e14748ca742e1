/* SPDX-License-Identifier: MIT */
/*
 * registry.h - where ndspi-wine registers the provider: a key for each version below HKEY_LOCAL_MACHINE, whose value
 * Path names the library (a reader expands environment strings in it). The script ndspi-wine has the same names.
 */
#ifndef WINE_WS2_REGISTRY_H
#define WINE_WS2_REGISTRY_H

#define ND_REGISTRY    L"Software\\ndspi\\Providers"
#define ND_REGISTRY_V2 ND_REGISTRY L"\\{78C684C4-5FBB-4819-A594-C8BAE7604C0D}"
#define ND_REGISTRY_V1 ND_REGISTRY L"\\{119514F9-3890-404D-A12A-04C1BC8740B0}"

#endif
