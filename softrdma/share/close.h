/* SPDX-License-Identifier: MIT */
/*
 * close.h - closes descriptors that another process made, or has filled. The last close of such a descriptor may wait:
 * a TCP socket with SO_LINGER as long as its maker likes, a Unix socket for the descriptors in messages that no process
 * received. So a thread of its own closes them.
 */
#ifndef SOFTRDMA_SHARE_CLOSE_H
#define SOFTRDMA_SHARE_CLOSE_H

#include <stdbool.h>

/*
 * srd_close_foreign - closes such a descriptor, at once or in the thread; no thread may use it any more. It waits only
 * if there is no memory to hand the descriptor over. Any lock may be held.
 */
void srd_close_foreign(int fd);

/*
 * Whether so many descriptors wait to be closed that no more should be received from strangers. Any lock may be held.
 */
bool srd_close_crowded(void);

#endif
