/* SPDX-License-Identifier: MIT */
/*
 * serve.h - the thread that serves other processes' DuplicateHandle. It starts with the first handle of a process, with
 * the first object that others fetch (win_handle_offer), or when the library is loaded in a process that CreateProcess
 * started; other programs have no such thread. The child of a fork has none until it makes one of these itself.
 */
#ifndef WIN32_PARCELS_SERVE_H
#define WIN32_PARCELS_SERVE_H

/* Starts it, unless it runs; logs a failure. Any thread, no lock. The last error stays. */
void win_parcels_listen(void);

#endif
