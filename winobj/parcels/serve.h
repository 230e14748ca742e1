/* SPDX-License-Identifier: MIT */
/*
 * serve.h - the thread that does what DuplicateHandle asks of this process. It runs from the first handle of a process
 * on, or from the beginning in a process that CreateProcess started; a program that has neither has no such thread. The
 * child of a fork has none until it does so itself.
 */
#ifndef WINOBJ_PARCELS_SERVE_H
#define WINOBJ_PARCELS_SERVE_H

/* Starts it, unless it runs; what prevents that is logged. Any thread, no lock. The last error stays. */
void win_parcels_listen(void);

#endif
