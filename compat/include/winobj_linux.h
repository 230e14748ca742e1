/* SPDX-License-Identifier: MIT */
/*
 * winobj_linux.h - handles as file descriptors, for programs with an event loop of their own. Not on Windows.
 */
#ifndef WINOBJ_LINUX_H
#define WINOBJ_LINUX_H

#include <wincompat/handle.h>

WINCOMPAT_BEGIN

/*
 * WinLinuxGetDescriptor - a descriptor to poll for a handle: of an event or thread, readable while it is signalled; of
 * a completion port, readable while packets are queued.
 *
 * The descriptor is made at the first call, belongs to the object and goes with it: do not close it, and do not use it
 * after CloseHandle (take it out of an epoll set first; a duplicate of yours stays open, but its state no longer
 * changes). Only poll it: its state follows the object by itself. To take the signal of an auto-reset event or a packet
 * of a port, make the Windows call with timeout 0; another thread may have taken it first. If all threads of a program
 * sleep in poll or epoll, the library's background thread does its work.
 *
 * Returns the descriptor, close-on-exec; -1: it failed, with one of these last errors; ERROR_INVALID_HANDLE: not open,
 * or of another kind (a mutex, a file, pipe or socket); ERROR_NO_SYSTEM_RESOURCES: no file descriptor is left, or the
 * object has a name. Any thread.
 */
WINOBJ_API int WinLinuxGetDescriptor(HANDLE handle);

WINCOMPAT_END

#endif
