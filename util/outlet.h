/* SPDX-License-Identifier: MIT */
/*
 * outlet.h - writes whole lines to a descriptor that is not ours, and never waits for the reader.
 *
 * Standard error may be a pipe, a socket or a terminal without a reader. O_NONBLOCK belongs to the open file, which the
 * program and other processes share, so it is never set there.
 */
#ifndef UTIL_OUTLET_H
#define UTIL_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * outlet_write - write a line, or nothing. Raises no SIGPIPE.
 * fd      in: any descriptor open for writing
 * octets  in: PIPE_BUF at most, so that a pipe takes all of it or nothing
 * Returns whether the line was written. False: the reader is slow or gone, or the descriptor is closed.
 * Threads: any. errno may change.
 */
bool outlet_write(int fd, const char *line, size_t octets);

#endif
