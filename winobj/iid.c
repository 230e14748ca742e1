/* SPDX-License-Identifier: MIT */
/* iid.c - the interface ids every COM program needs. */
#include <unknwn.h>

WINOBJ_API const GUID GUID_NULL = { 0 };
WINOBJ_API const IID IID_IUnknown = { 0x00000000, 0, 0, { 0xC0, 0, 0, 0, 0, 0, 0, 0x46 } };
WINOBJ_API const IID IID_IClassFactory = { 0x00000001, 0, 0, { 0xC0, 0, 0, 0, 0, 0, 0, 0x46 } };
