/* SPDX-License-Identifier: MIT */
/* streams.h - the C library's streams at the end of the process. */
#ifndef WIN32_PROCESS_STREAMS_H
#define WIN32_PROCESS_STREAMS_H

/*
 * Writes all streams out, without waiting for a thread that holds one. Where the C library only can wait (musl), for at
 * most a second: streams opened before one that is held are not written then.
 */
void win_streams_write_out(void);

#endif
