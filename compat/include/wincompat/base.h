/* SPDX-License-Identifier: MIT */
/*
 * base.h - everything <windows.h> offers apart from annotations of the first kind. Our public headers include this
 * through <winsock2.h> or <unknwn.h>; the Windows-named headers forward to it.
 */
#ifndef WINCOMPAT_BASE_H
#define WINCOMPAT_BASE_H

#include <wincompat/types.h>
#include <wincompat/sal.h>
#include <wincompat/sal_rpc.h>
#include <wincompat/pointers.h>
#include <wincompat/error.h>
#include <wincompat/guid.h>
#include <wincompat/ole.h>
#include <wincompat/overlapped.h>
#include <wincompat/interlocked.h>
#include <wincompat/bits.h>
#include <wincompat/handle.h>
#include <wincompat/process.h>
#include <wincompat/file.h>
#include <wincompat/console.h>
#include <wincompat/pipe.h>
#include <wincompat/processor.h>
#include <wincompat/text.h>
#include <wincompat/mapping.h>
#include <wincompat/objects.h>
#include <wincompat/seh.h>
#include <wincompat/sync.h>
#include <wincompat/system.h>
#ifndef WIN32_LEAN_AND_MEAN
#include <wincompat/multimedia.h>
#endif
#include <wincompat/stdio.h>
#include <wincompat/string.h>
#include <wincompat/stdlib.h>

#endif
