/* SPDX-License-Identifier: MIT */
/*
 * ndkwdm.h - the kernel primitives that drivers for NDKPI need besides it, in place of <wdm.h> and <wsk.h>: lists,
 * text, MDLs, levels, locks, events, timers, threads, deferred work, pool memory, the driver's own object, requests,
 * and as much of Winsock Kernel as opens adapters. For Windows it is MinGW's <ddk/wdm.h>, with what that lacks
 * (pool2.h, wsk.h).
 *
 * Levels: an ordinary thread is at PASSIVE_LEVEL. Callbacks of NDKPI and deferred procedures run at DISPATCH_LEVEL; so
 * does a thread that holds a spin lock. The system preempts such a thread like any other, but it must not block: debug
 * builds of the library end the program when it does.
 *
 * Every function may be called at any level, from any thread, unless "passive" is said: then at PASSIVE_LEVEL alone; or
 * "below DISPATCH_LEVEL": then with a fast mutex, too.
 * Objects are the consumer's memory; it must not free one that is in use. Parameters that are not named are in, and
 * what their types say.
 *
 * WCHAR is the compiler's wchar_t: 32 bits, or 16 with -fshort-wchar, as on Windows. Text that passes the wire, or is
 * stored in a file, needs the latter.
 *
 * Source: the pages of the same names in the Windows driver documentation.
 */
#ifndef NDKWDM_H
#define NDKWDM_H

#include <ndktypes.h>

#if !defined(__MINGW32__)
#include <ndkwdm/memory.h>
#include <ndkwdm/string.h>
#include <ndkwdm/strsafe.h>
#include <ndkwdm/mdl.h>
#include <ndkwdm/level.h>
#include <ndkwdm/lock.h>
#include <ndkwdm/seh.h>
#include <ndkwdm/event.h>
#include <ndkwdm/driver.h>
#include <ndkwdm/work.h>
#include <ndkwdm/timer.h>
#include <ndkwdm/thread.h>
#include <ndkwdm/mutex.h>
#include <ndkwdm/irp.h>
#include <ndkwdm/processor.h>
#include <ndkwdm/pool.h>
#include <ndkwdm/lookaside.h>
#include <ndkwdm/luid.h>
#include <wincompat/ip_text.h>
#include <ndkwdm/registry.h>
#include <ndkwdm/file.h>
#endif
#include <ndkwdm/pool2.h>
#include <ndkwdm/wsk.h>

#endif
