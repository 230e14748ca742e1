/* SPDX-License-Identifier: MIT */
/*
 * inlet.h - what other processes post to a completion port of this one: a pipe, of which each process with a duplicate
 * of the port has the writing end (remote_port.h). A record is written whole or not at all, also by a process that is
 * killed; they arrive in the order of their posts. Only a process of the user's gets the writing end, by a parcel. The
 * reading end is here alone: when it is closed, posts fail at once.
 *
 * The reactor says when records have come. The port takes them itself whenever it is used, so that a post which has
 * returned comes before what is posted or taken later.
 */
#ifndef WINOBJ_INLET_H
#define WINOBJ_INLET_H

#include "winobj/handles/handle.h"

struct win_inlet;

/* A packet on its way. */
struct win_inlet_record {
    uint64_t key, overlapped;
    uint32_t bytes, magic;
};

enum { WIN_INLET_MAGIC = 0x68706f72 };

/*
 * win_inlet_open - makes an inlet, which no fork finds half made.
 * place    in and out: of the port, NULL before; set here, and unset by win_inlet_close
 * port     in: by win_object_name
 * ready    in: called without locks when records have come, with port referenced
 * Returns  a Win32 error: ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY, ERROR_NO_SYSTEM_RESOURCES.
 * Threads  the caller holds the port's lock, as for all but win_inlet_forked and win_inlet_stop.
 */
DWORD win_inlet_open(struct win_inlet **place, HANDLE port, void (*ready)(struct win_object *port));

/* win_inlet_stop: ready is not called any more, but may be running. Without the port's lock. Then win_inlet_close. */
void win_inlet_stop(struct win_inlet *inlet);
void win_inlet_close(struct win_inlet **place);

/* Frees the inlet in the child of a fork. */
void win_inlet_forked(struct win_inlet **place);

/* The next record, NULL: none has come. It stays until win_inlet_taken. */
const struct win_inlet_record *win_inlet_next(struct win_inlet *inlet);
void win_inlet_taken(struct win_inlet *inlet);

/* A copy of the writing end, above the standard descriptors; -1 with errno. */
int win_inlet_writer(const struct win_inlet *inlet);

/* Whether a descriptor is a writing end of this inlet. */
bool win_inlet_is_mine(const struct win_inlet *inlet, int writer);

#endif
