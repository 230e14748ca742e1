/* SPDX-License-Identifier: MIT */
/*
 * close.h - descriptors that another process made, or has filled. The last close of one may wait: of a TCP socket with
 * SO_LINGER as long as its maker likes, and of a Unix socket for those that are in messages which nobody received. So a
 * thread that has nothing else to do closes them.
 */
#ifndef SOFTRDMA_SHARE_CLOSE_H
#define SOFTRDMA_SHARE_CLOSE_H

#include <stdbool.h>

/*
 * srd_close_foreign - closes such a descriptor, at once or in a thread; nobody may use it any more. Never waits, unless
 * there is no memory to note it. Any lock may be held.
 */
void srd_close_foreign(int fd);

/* Whether so many wait to be closed that no further ones should be taken from strangers. Any lock may be held. */
bool srd_close_crowded(void);

#endif
