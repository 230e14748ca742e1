/* SPDX-License-Identifier: MIT */
/* service.h - the thread that serves sources while no thread of the program waits or polls. */
#ifndef WINOBJ_SERVICE_H
#define WINOBJ_SERVICE_H

#include "util/standby.h"

struct win_source_state;

/* Threads of the program that move sources tell here that they do. In use from the first source on. */
extern struct standby win_service_standby;

/* The thread will be a lent one (win_service_lend); -1: not after all. */
void win_service_lend_locked(int fd);

/* Makes its epoll set and starts the thread, unless one is lent. Returns 0 or a negative errno. */
int win_service_open_locked(void);
/* Child of a fork, which has no such thread. */
void win_service_close(void);

/* Arms the descriptor of a new source, or takes it out. Returns 0 or a negative errno. */
int win_service_watch_locked(struct win_source_state *state);
void win_service_unwatch_locked(struct win_source_state *state);

#endif
